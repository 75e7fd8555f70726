//! The integration tests of this crate: one program, which is linked once.

mod disk;
mod metrics;
mod other_readers;
