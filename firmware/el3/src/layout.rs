//! The image's layout and what EL3 sees of the machine.

use core::ops::Range;

/// The part of the normal world's memory that EL3 maps: the first two gigabytes.
pub const MAPPED_MEMORY: Range<u64> = 0x4000_0000..0xc000_0000;
/// EL3 stack of a CPU, in bytes; `image.ld` has it too.
pub const STACK_SIZE: usize = 0x4000;
/// Software interrupt of the secure world by which the emulated power controller turns a CPU on.
pub const POWER_ON_SGI: u32 = 8;
/// Software interrupt of the secure world by which a warm reset asks each CPU to stop.
pub const RESET_SGI: u32 = 9;
