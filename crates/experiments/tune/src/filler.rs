//! Two lines from memory with instructions between them, by which the core's window is found.
//!
//! While both lines fit the window, they come at once. With more instructions between them than the
//! window holds, the second waits for the first (H. Wong, "Measuring Reorder Buffer Capacity",
//! 2013).
#![expect(unsafe_code, reason = "the number of instructions between two loads has to be exact")]

/// Counts of instructions between two loads.
pub const COUNTS: [u32; 24] =
    [8, 16, 24, 32, 48, 64, 80, 96, 112, 128, 144, 160, 192, 224, 256, 288, 320, 352, 384, 448, 512, 640, 768, 1024];

/// Instructions that do nothing of use, four at a time. Each has a result, as most of a program's
/// have: a core may keep those without one in less room.
#[cfg(target_arch = "x86_64")]
macro_rules! fill {
    ($count:literal) => {
        // SAFETY: the instructions change no more than the registers that are named.
        unsafe {
            core::arch::asm!(
                concat!(".rept ", $count, " / 4"),
                "lea {0}, [{0} + 1]", "lea {1}, [{1} + 1]", "lea {2}, [{2} + 1]", "lea {3}, [{3} + 1]",
                ".endr",
                inout(reg) 0_u64 => _, inout(reg) 0_u64 => _, inout(reg) 0_u64 => _, inout(reg) 0_u64 => _,
                options(nomem, nostack, preserves_flags)
            );
        }
    };
}
#[cfg(target_arch = "aarch64")]
macro_rules! fill {
    ($count:literal) => {
        // SAFETY: the instructions change no more than the registers that are named.
        unsafe {
            core::arch::asm!(
                concat!(".rept ", $count, " / 4"),
                "add {0}, {0}, #1", "add {1}, {1}, #1", "add {2}, {2}, #1", "add {3}, {3}, #1",
                ".endr",
                inout(reg) 0_u64 => _, inout(reg) 0_u64 => _, inout(reg) 0_u64 => _, inout(reg) 0_u64 => _,
                options(nomem, nostack, preserves_flags)
            );
        }
    };
}

macro_rules! pairs {
    ($($count:literal)*) => {
        /// Goes along two chains at once, `steps` times, with `count` instructions after each load.
        /// Returns where they are.
        ///
        /// # Panics
        /// A count that is not one of [`COUNTS`].
        pub fn walk(count: u32, chains: &[u32], mut at: [u32; 2], steps: usize) -> [u32; 2] {
            match count {
                $($count => for _ in 0..steps {
                    at[0] = chains[at[0] as usize];
                    fill!($count);
                    at[1] = chains[at[1] as usize];
                    fill!($count);
                },)*
                _ => panic!("{count} is not one of the counts"),
            }
            at
        }
    };
}

pairs! { 8 16 24 32 48 64 80 96 112 128 144 160 192 224 256 288 320 352 384 448 512 640 768 1024 }
