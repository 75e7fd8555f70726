//! A cell beside what a fit makes of it.

use published::Cell;

/// A used cell and what the fit makes of it.
pub struct CellFit {
    /// The published cell.
    pub cell: Cell,
    /// The simulated value in microseconds.
    pub fitted: f64,
}
