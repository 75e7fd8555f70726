//! The integration tests of this crate: one program, which is linked once.

mod law;
mod laws;
