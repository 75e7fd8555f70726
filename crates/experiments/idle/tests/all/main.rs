//! The integration tests of this crate: one program, which is linked once.

mod guest;
mod platforms;
mod predict;
mod replay;
mod unsaid;
