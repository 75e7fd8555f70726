//! The PSCI library compiled a second time, with faults that can be switched on: what the explorer is tried against.
//!
//! The build script copies the sources of `psci` and applies the changes of `faults/*.toml`, each behind a switch of its own. With every
//! switch off the copy does what the library does. It is a crate of its own, and not a feature of `psci`, since Cargo unifies
//! features: the firmware's image and the library that is measured would hold the faults as well.

/// A place that a fault changes asks whether it is on.
macro_rules! fault {
    ($name:literal) => {
        crate::switch::is_on(const { crate::switch::number($name) })
    };
}

mod switch;

pub use switch::{FAULTS, Fault, SOURCES, find, set};

include!(concat!(env!("OUT_DIR"), "/library.rs"));
