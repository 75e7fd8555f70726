//! The kinds of a process's frames.

/// The first CPU boots.
pub const BOOT: u32 = 0;
/// A CPU that runs makes its calls; the power controller serves.
pub const SCRIPT: u32 = 1;
/// A CPU gets power and starts at its reset vector.
pub const DOWN: u32 = 2;
