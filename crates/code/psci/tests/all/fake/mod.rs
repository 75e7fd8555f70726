//! A fake machine, on which the library is tested on a host with the standard library.
//!
//! A test says what its CPUs do, one at a time: [`Harness::suspend`], [`Harness::wake`],
//! [`Harness::turn_off`], or any call by [`Harness::smc`]. A CPU that powers down unwinds and so
//! loses its stack, as hardware does; the test then decides when it wakes, and what other CPUs do
//! meanwhile. What the library asked of the machine stands in [`Harness::log`].
//!
//! Memory is modelled with what makes caches dangerous: see [`memory::Cell`]. A word that is
//! touched with the wrong maintenance makes the test panic, so the same library code that runs on
//! the board is tried against the least helpful cache that the architecture allows.
//!
//! What it cannot show is what a port's drivers do to hardware: barriers, interrupt controller and
//! power controller are entries of the log here.

// The machine under the library may use what the library itself may not.
#![allow(clippy::disallowed_types)]

mod asymmetric;
mod asymmetric_harness;
mod board;
mod harness;
mod machine;
mod memory;
mod platform;

pub use asymmetric::{Asymmetric, CPU_TABLE, CPUS, DOMAINS, TOPOLOGY, mpidr, state};
pub use asymmetric_harness::RESUME;
pub use board::Board;
pub use harness::{CPU_ON_ENTRY, Ending, Harness, SUCCESS, code, leak, returned, storage};
pub use machine::{Fake, Options};
