//! The integration tests of this crate: one program, which is linked once.

mod faults;
mod model;
mod rcu;
