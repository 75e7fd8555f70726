//! The begin of EL3's stack, and where it is forgotten: at a reset, real or emulated, and into the
//! normal world.

use core::arch::naked_asm;

use psci::EntryPoint;

use crate::layout::STACK_SIZE;
use crate::registers::{set_endianness, spsr_of_normal_world};

/// Sets TPIDR_EL3 to the CPU's index and SP to the top of its stack; clobbers X19 to X23.
macro_rules! identify {
    () => {
        "mrs x19, mpidr_el1
         ubfx x20, x19, #0, #8
         ubfx x21, x19, #8, #8
         mov x22, {cluster}
         madd x20, x21, x22, x20
         cmp x20, {max_cpus}
         b.hs 99f
         msr tpidr_el3, x20
         add x21, x20, #1
         mov x22, {stack_size}
         adrp x23, stacks_begin
         add x23, x23, :lo12:stacks_begin
         madd x21, x21, x22, x23
         mov sp, x21"
    };
}
pub(crate) use identify;

/// Enters the normal world, and forgets EL3's stack.
pub fn enter(entry: EntryPoint) -> ! {
    set_endianness(entry.endianness);
    // SAFETY: the entry point was checked when it was given; the normal world cannot reach our
    // memory.
    unsafe { leave(entry.context_id, entry.pc, spsr_of_normal_world()) }
}

/// # Safety
/// `spsr` must be that of a lower exception level.
#[unsafe(naked)]
unsafe extern "C" fn leave(x0: u64, pc: u64, spsr: u64) -> ! {
    naked_asm!(
        "msr elr_el3, x1",
        "msr spsr_el3, x2",
        // SErrors are the normal world's again.
        "dsb sy
         mrs x1, scr_el3
         bic x1, x1, #8
         msr scr_el3, x1",
        "mrs x20, tpidr_el3",
        "add x21, x20, #1",
        "mov x22, {stack_size}",
        "adrp x23, stacks_begin",
        "add x23, x23, :lo12:stacks_begin",
        "madd x21, x21, x22, x23",
        "mov sp, x21",
        // Nothing of ours is left in registers.
        "mov x1, xzr
         mov x2, xzr
         mov x3, xzr
         mov x4, xzr
         mov x5, xzr
         mov x6, xzr
         mov x7, xzr
         mov x8, xzr
         mov x9, xzr
         mov x10, xzr
         mov x11, xzr
         mov x12, xzr
         mov x13, xzr
         mov x14, xzr
         mov x15, xzr
         mov x16, xzr
         mov x17, xzr
         mov x18, xzr
         mov x19, xzr
         mov x20, xzr
         mov x21, xzr
         mov x22, xzr
         mov x23, xzr
         mov x24, xzr
         mov x25, xzr
         mov x26, xzr
         mov x27, xzr
         mov x28, xzr
         mov x29, xzr
         mov x30, xzr
         eret
         dsb nsh
         isb",
        stack_size = const STACK_SIZE,
    )
}
