//! The begin of EL3's stack, and where it is forgotten: at a reset, real or emulated, and into the
//! normal world.

use crate::layout::STACK_STRIDE;
use crate::registers::{set_endianness, spsr_of_normal_world};
use core::arch::naked_asm;
use psci::EntryPoint;

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
         mov x22, {stack_stride}
         adrp x23, stacks_begin
         add x23, x23, :lo12:stacks_begin
         madd x21, x21, x22, x23
         mov sp, x21"
    };
}
pub(crate) use identify;

/// Gives SErrors back to the normal world (SCR_EL3.EA is 0 from here on), after EL3 has taken those
/// of its own accesses. Clobbers the given register.
///
/// DSB completes the accesses; a core whose errors come as they do raises them by then, but nothing
/// says that it has *taken* them. ISB synchronises the context: an SError that is pending and open
/// is taken before what follows, so while EA is still 1. A core with the RAS extension may keep an
/// error to itself until an error synchronisation event: ESB is one. It stands here without a test,
/// since it lies in the space of hints and does nothing on other cores (Arm ARM, C6.2, ESB), and a
/// test and a branch take more instructions than it does. The assembler knows it by its number
/// alone.
macro_rules! hand_serrors_back {
    ($register:literal) => {
        concat!(
            "dsb sy
         hint #16
         isb
         mrs ",
            $register,
            ", scr_el3
         bic ",
            $register,
            ", ",
            $register,
            ", #8
         msr scr_el3, ",
            $register
        )
    };
}
#[cfg(feature = "serror")]
pub(crate) use hand_serrors_back;

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
        hand_serrors_back!("x1"),
        "mrs x20, tpidr_el3",
        "add x21, x20, #1",
        "mov x22, {stack_stride}",
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
        stack_stride = const STACK_STRIDE,
    )
}
