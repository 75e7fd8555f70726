//! The image's layout and what EL3 sees of the machine.

use core::ops::Range;
use machine::{MAX_CPUS, SECURE_RAM};

/// Bytes below each stack that are not mapped, so that a stack which overflows meets an exception
/// and not its neighbour. Where the MMU is off, as in `power::hold`, nothing guards.
pub const GUARD_SIZE: usize = 0x1000;
/// EL3 stack of a CPU with its guard, in bytes; `image.ld` has it too.
pub const STACK_STRIDE: usize = GUARD_SIZE + 0x4000;
/// The stacks, that of the first CPU lowest. The translation table is made for this place.
pub const STACKS: Range<usize> = SECURE_RAM.start..SECURE_RAM.start + MAX_CPUS * STACK_STRIDE;

/// True if this address is in the guard of a stack.
pub const fn is_guard(address: usize) -> bool {
    address >= STACKS.start
        && address < STACKS.end
        && (address - STACKS.start) % STACK_STRIDE < GUARD_SIZE
}

/// Software interrupt of the secure world by which the emulated power controller turns a CPU on.
pub const POWER_ON_SGI: u32 = 8;
