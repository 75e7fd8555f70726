//! The integration tests of this crate: one program, which is linked once.

mod costs;
mod laws;
mod samples;
