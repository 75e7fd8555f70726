//! Fits costs to declared reference cells.
//!
//! A calibration takes a platform, a release, the reference cells that a fit may use and priors; it simulates the cases until
//! the used cells are met as well as they can be, by least squares (Levenberg-Marquardt). It says what is left over, and
//! which parameters the data cannot tell apart. No cell outside the declared set is looked at.
//!
//! Only additions, multiplications, divisions and square roots are used, so every machine fits the same costs.
#![forbid(unsafe_code)]

mod error;
mod fit;
mod parameters;
mod report;
mod strides;

pub use error::Error;
pub use fit::{Calibration, CellFit, Indistinct, fit};
pub use parameters::{Parameter, Plan, Prior};
pub use strides::{fit_strides, usable_strides};
