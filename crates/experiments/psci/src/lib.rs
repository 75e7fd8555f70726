//! Experiments: a procedure, a world and a platform tied into a recording.
//!
//! An experiment is told its conditions and never a published figure: this crate cannot depend on `references`, and a test
//! on the dependency graph keeps it so.
#![forbid(unsafe_code)]

pub mod psci_latency;
pub mod qemu;
pub mod what_if;
