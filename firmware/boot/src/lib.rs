//! What the EL3 image decides before anything runs: its options, its idle states, and the device tree that the normal
//! world is handed.
//!
//! All of it is input that someone else wrote, so it is read here, in safe code that the host can test.
#![no_std]
#![forbid(unsafe_code)]

#[cfg(any(feature = "device-tree", test))]
extern crate alloc;

#[cfg(feature = "device-tree")]
pub mod device_tree;
pub mod options;
pub mod states;

pub use options::Options;
