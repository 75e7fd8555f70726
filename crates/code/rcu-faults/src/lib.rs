//! The RCU library compiled a second time, with faults that can be switched on: what the explorer is tried against. See [`seeded`].

/// A place that a fault changes asks whether it is on.
macro_rules! fault {
    ($name:literal) => {
        seeded::is_on(const { seeded::id(crate::FAULTS, $name) })
    };
}

use seeded::Fault;

/// The fault of this name.
pub fn find(name: &str) -> Option<&'static Fault> {
    seeded::find(FAULTS, name)
}

include!(concat!(env!("OUT_DIR"), "/faults.rs"));
include!(concat!(env!("OUT_DIR"), "/library.rs"));
