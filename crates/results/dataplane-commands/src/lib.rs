//! The data plane's part of the `stopwatt` command line.
//!
//! Published figures are read here and nowhere below: the experiments cannot see them, and a fit sees the cells that the
//! reference declares as usable.
#![forbid(unsafe_code)]
#![deny(clippy::print_stdout)]

pub mod arguments;
pub mod data;
pub mod error;
#[cfg(target_os = "linux")]
pub mod forward;
pub mod graphs;
pub mod host;
pub mod prefetch;
