//! What the images are built for.

/// What the images are built for.
pub(crate) const TARGET: &str = "aarch64-unknown-none-softfloat";
