//! Experiments of the data plane.
#![forbid(unsafe_code)]

pub mod fit;
pub mod graphs;
pub mod model;
