//! The measured procedures.
//!
//! They are what the runtime instrumentation tests of the Trusted Firmware-A test framework do
//! (procedure described in "PSCI Performance Measurements on Arm Juno Development Platform", 2017,
//! section Method): plain normal-world code that starts CPUs, calls PSCI through SMCs and reads the
//! firmware's time stamps through the PMF calls. They know neither the firmware nor the machine: a
//! [`NormalWorld`] supplies both, in simulation and on QEMU alike.
//!
//! ```text
//! parallel   lead: CPU_ON every other CPU ─▶ all meet at a barrier ─▶ all call ─▶ one timer wakes its owner,
//!            whose handler wakes the rest by software interrupt ─▶ each reads its stamps ─▶ non-leads CPU_OFF
//! serial     for each other CPU: CPU_ON, call, stamps, CPU_OFF; then the lead itself
//! cpu-off    for each other CPU: CPU_ON, CPU_OFF; the lead suspends; each other CPU: CPU_ON, stamps, CPU_OFF
//! ```
#![no_std]
#![forbid(unsafe_code)]

mod cases;
mod world;

pub use cases::{Action, CASES, Case, MANY_CPUS, Mode, lead, secondary};
pub use world::{Depth, Failure, NormalWorld, STAMPS, Stamps, Word};
