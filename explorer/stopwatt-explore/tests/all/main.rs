//! The integration tests of this crate: one program, which is linked once.

#[path = "../../../../crates/stopwatt/tests/all/common.rs"]
#[allow(dead_code, reason = "the tests of `stopwatt` use the rest")]
mod common;
mod damaged;
mod explore;
mod explore_hooks;
mod program;
