//! `trace-energy`: the energy of a recorded trace, with an owner for each unit of it.
//!
//! | file | what it is about |
//! |---|---|
//! | `amount.rs` | energy, work and time |
//! | `machine.rs` | what CPUs and domains of a platform take, as ranges |
//! | `owner.rs` | the owners |
//! | `told.rs` | what a whole trace tells |
//! | `wakes.rs` | why CPUs woke up |
//! | `meter.rs` | energy and time of each owner |
//! | `what_if.rs` | what would have gone otherwise |
//! | `trace_energy.rs` | the experiment and its recording |
#![forbid(unsafe_code)]

pub mod amount;
pub mod machine;
pub mod meter;
pub mod owner;
pub mod told;
mod trace_energy;
mod wakes;
mod what_if;

pub use trace_energy::TraceEnergy;
