//! Vector packet processing.
#![deny(unsafe_code)]

pub mod buffers;
pub mod frame;
pub mod machine;
pub mod memory;
pub mod study;
pub mod walk;
