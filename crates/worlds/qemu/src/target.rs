//! The target of the images.

/// The target of the images.
pub const TARGET: &str = "aarch64-unknown-none-softfloat";
