//! The decisions of the EL3 image before anything runs: its options and its idle states.
//!
//! All of it is input that someone else wrote, so it is read here, in safe code that the host can
//! test.
#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate alloc;

pub mod options;
pub mod protection;
pub mod states;

pub use options::Options;
