//! The target of the images.

/// The target of the images.
pub(crate) const TARGET: &str = "aarch64-unknown-none-softfloat";
