//! The PSCI story's experiments: latencies of the six cases, instructions of each call, and Linux
//! on the firmware.
//!
//! An experiment is told its conditions and never a published figure: published figures lie on a
//! floor above this one.
#![forbid(unsafe_code)]

pub mod firmware;
mod functions;
mod latency;
mod linux_boot;
mod machine;
mod psci_calls;
pub mod psci_latency;
pub mod timer_owners;
pub mod uncertainty;

pub use latency::PsciLatency;
pub use linux_boot::LinuxBoot;
pub use psci_calls::PsciCalls;
