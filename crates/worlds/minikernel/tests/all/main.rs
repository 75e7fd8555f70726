//! The integration tests of this crate: one program, which is linked once.

mod callbacks;
mod common;
mod energy;
mod events;
mod idle;
mod random;
mod rcu;
mod scheduling;
mod waiting;
