//! The integration tests of this crate: one program, which is linked once.

mod guest;
mod kernel_file;
mod limits;
mod platforms;
mod power_domains;
mod replay;
mod unsaid;
