//! The integration tests of this crate: one program, which is linked once.

mod machine;
mod mechanisms;
mod stalls;
