//! Fits costs to declared reference cells.
//!
//! A calibration takes a platform, a release, the reference cells that a fit may use and priors; it
//! simulates the cases until the used cells are met as well as they can be, by least squares
//! (Levenberg-Marquardt). It says what is left over, and which parameters the data cannot tell
//! apart, and whether the fit can be trusted at all. No cell outside the declared set is looked at.
//!
//! Only additions, multiplications, divisions and square roots are used, so every machine fits the
//! same costs.
#![forbid(unsafe_code)]

mod cell_fit;
mod fit;
mod gate;
mod parameters;
mod report;

pub use cell_fit::CellFit;
pub use fit::{Calibration, Indistinct, fit, usable_cells};
pub use gate::{Gate, LeaveOneOut};
pub use parameters::{Parameter, Plan, Prior};
