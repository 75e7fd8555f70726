//! The integration tests of this crate: one program, which is linked once.

mod common;
mod fair;
mod hmp;
mod policies;
mod random;
