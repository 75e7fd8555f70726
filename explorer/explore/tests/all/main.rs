//! The integration tests of this crate: one program, which is linked once.

mod axioms;
mod faults;
mod litmus;
mod model;
mod platform;
mod program;
mod rcu;
