//! What may be said of measurements: the one place that decides it, for every story and comparison.
#![forbid(unsafe_code)]

mod gamma;
mod order;
mod rank;
mod size;
mod test;

pub use order::{ALIKE, Leaders};
pub use rank::{Iterations, Rank, Ranked, median};
pub use size::share_less;
pub use test::{FEWEST_RUNS, Runs, Tested, TestedMeasure, test, test_pairs};
