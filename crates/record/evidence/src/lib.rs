//! What may be said of measurements: the one place that decides it, for every story and comparison.
#![forbid(unsafe_code)]

mod order;

pub use order::Leaders;
