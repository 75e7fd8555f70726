//! The PSCI library compiled a second time, with faults that can be switched on: what the explorer
//! is tried against. See [`seeded`].

include!(concat!(env!("OUT_DIR"), "/library.rs"));
