//! Where CPUs come out of reset, real or emulated, and where they leave for the normal world.

use core::arch::naked_asm;

use crate::layout::STACK_SIZE;
use crate::memory::{SCTLR_RESET, enable_mmu_and_caches};
use crate::registers::{set_endianness, spsr_of_normal_world};
use machine::{CLUSTER, MAX_CPUS};
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
         mov x22, {stack_size}
         adrp x23, stacks_begin
         add x23, x23, :lo12:stacks_begin
         madd x21, x21, x22, x23
         mov sp, x21"
    };
}

/// First instruction of every CPU. All start at once: the first boots, the others are off until a CPU_ON.
///
/// # Safety
/// Only the machine comes here.
#[unsafe(naked)]
#[unsafe(no_mangle)]
#[unsafe(link_section = ".init.reset")]
unsafe extern "C" fn reset() -> ! {
    naked_asm!(
        identify!(),
        "cbnz x20, 4f",
        // Only the first CPU touches data; the held ones have registers and their stacks.
        "adrp x0, data_begin
         add x0, x0, :lo12:data_begin
         adrp x1, data_end
         add x1, x1, :lo12:data_end
         ldr x2, =data_source
     1:  cmp x0, x1
         b.hs 2f
         ldp x3, x4, [x2], #16
         stp x3, x4, [x0], #16
         b 1b
     2:  adrp x0, bss_begin
         add x0, x0, :lo12:bss_begin
         adrp x1, bss_end
         add x1, x1, :lo12:bss_end
     3:  cmp x0, x1
         b.hs 5f
         stp xzr, xzr, [x0], #16
         b 3b
     4:  bl {hold}
     5:  bl {enable_mmu_and_caches}
         bl {cold_boot}
     99: wfi
         b 99b",
        cluster = const CLUSTER,
        max_cpus = const MAX_CPUS,
        stack_size = const STACK_SIZE,
        hold = sym crate::power::hold,
        enable_mmu_and_caches = sym enable_mmu_and_caches,
        cold_boot = sym crate::cold_boot,
    )
}

/// Stops this CPU for a warm reset: the first waits until all others are off, and boots; the others are off.
///
/// # Safety
/// Nothing that the caller has on its stack may be needed again.
#[unsafe(naked)]
pub unsafe extern "C" fn restart() -> ! {
    naked_asm!(
        "msr daifset, #0xf",
        "ldr x0, ={sctlr}",
        "msr sctlr_el3, x0",
        "isb",
        identify!(),
        "cbnz x20, 1f",
        "bl {wait_for_the_others}",
        "1: b {reset}",
        "99: wfi",
        "b 99b",
        sctlr = const SCTLR_RESET,
        cluster = const CLUSTER,
        max_cpus = const MAX_CPUS,
        stack_size = const STACK_SIZE,
        wait_for_the_others = sym crate::power::wait_for_the_others,
        reset = sym reset,
    )
}

/// Off: with the MMU off, where nothing in memory is needed, until a CPU_ON.
///
/// # Safety
/// Nothing that the caller has on its stack may be needed again.
#[unsafe(naked)]
pub unsafe extern "C" fn hold_without_memory() -> ! {
    naked_asm!(
        "msr daifset, #0xf",
        "ldr x0, ={sctlr}",
        "msr sctlr_el3, x0",
        "isb",
        identify!(),
        "bl {hold}",
        "99: wfi",
        "b 99b",
        sctlr = const SCTLR_RESET,
        cluster = const CLUSTER,
        max_cpus = const MAX_CPUS,
        stack_size = const STACK_SIZE,
        hold = sym crate::power::hold,
    )
}

/// An emulated reset: MMU and caches off, stack forgotten, and on as after a real one.
///
/// # Safety
/// Nothing that the caller has on its stack may be needed again.
#[unsafe(naked)]
pub unsafe extern "C" fn emulated_reset() -> ! {
    naked_asm!(
        "msr daifset, #0xf",
        "ldr x0, ={sctlr}",
        "msr sctlr_el3, x0",
        "isb",
        identify!(),
        "bl {warm_boot}",
        "99: wfi",
        "b 99b",
        sctlr = const SCTLR_RESET,
        cluster = const CLUSTER,
        max_cpus = const MAX_CPUS,
        stack_size = const STACK_SIZE,
        warm_boot = sym crate::warm_boot,
    )
}

/// Enters the normal world, and forgets EL3's stack.
pub fn enter(entry: EntryPoint) -> ! {
    set_endianness(entry.endianness);
    // SAFETY: the entry point was checked when it was given; the normal world cannot reach our memory.
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
