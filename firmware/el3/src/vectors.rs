//! Exceptions that EL3 takes: SMCs; what the normal world tried and may not; and what should not
//! happen.
//!
//! # What a product needs on this way, and what it costs
//! * **Speculation past ERET**: a barrier stands behind each, which is never executed.
//! * **SErrors** (feature `serror`): those that are pending when an SMC comes in are the normal
//!   world's, whose they stay (SCR_EL3.EA is 0 while it runs): if it has them unmasked, the SMC is
//!   started again after it took them. While EL3 works, SErrors come to EL3 (EA is 1, A is open),
//!   which reports them as its own; before it leaves, it waits for those of its own accesses.
//! * **Trained branch predictors** (feature `predictor`): a table of vectors for each kind of core,
//!   see [`exceptions::cores`].

use crate::entry;
use crate::gic::Gic;
use crate::layout::{STACK_STRIDE, is_guard};
use crate::library::PSCI;
use crate::platform::stop;
use crate::registers::{self, FEATURES};
use core::arch::global_asm;
use exceptions::undefined::undefined;
use machine::say;
use psci::{Call, Outcome};

// An SMC keeps X4 to X30 (SMCCC DEN0028, 2.6: all but the result registers). The function below
// keeps X19 to X29 by itself, so 16 registers are saved, and the results are laid beside them.
#[cfg(feature = "plain")]
macro_rules! read_counter {
    () => {
        "mov x4, xzr"
    };
}
#[cfg(not(feature = "plain"))]
macro_rules! read_counter {
    () => {
        "isb\n mrs x4, cntpct_el0"
    };
}

// What the normal world left pending goes back to it; from here on SErrors are EL3's.
#[cfg(feature = "serror")]
macro_rules! serror_entry {
    () => {
        "dsb sy
         mrs x6, isr_el1
         tbnz x6, #8, serror_is_pending
         mrs x6, scr_el3
         orr x6, x6, #8
         msr scr_el3, x6
         msr daifclr, #4
    serror_stays_pending:"
    };
}
#[cfg(feature = "serror")]
macro_rules! serror_exit {
    () => {
        entry::hand_serrors_back!("x6")
    };
}
#[cfg(not(feature = "serror"))]
macro_rules! serror_entry {
    () => {
        "serror_stays_pending:"
    };
}
#[cfg(not(feature = "serror"))]
macro_rules! serror_exit {
    () => {
        ""
    };
}

global_asm!(
    r#"
    // Nothing behind an ERET runs, not even in speculation.
    .macro leave_el3
        eret
        dsb nsh
        isb
    .endm

    // Against what the normal world may have taught the branch predictor; X5 and X6 are free.
    .macro mitigate_none
    .endm
    .macro mitigate_mmu
        mrs x5, sctlr_el3
        bic x6, x5, #1
        msr sctlr_el3, x6
        isb
        msr sctlr_el3, x5
        isb
    .endm
    .macro mitigate_history branches
        mov x5, #\branches
    1:  b 2f
    2:  subs x5, x5, #1
        b.ne 1b
        dsb sy
        isb
    .endm
    .macro mitigate_history24
        mitigate_history 24
    .endm
    .macro mitigate_history32
        mitigate_history 32
    .endm

    // One of EL3's own: nothing can be saved but what the report shows, and not on the stack, which
    // may be what is wrong.
    .macro unexpected kind
        .balign 128
        msr tpidr_el0, x0
        mov x0, \kind
        b report_exception
    .endm

    // From a lower level, and no SMC of AArch64: all registers are saved.
    .macro from_lower kind, mitigation
        .balign 128
        sub sp, sp, #256
        stp x0, x1, [sp]
        stp x4, x5, [sp, #32]
        stp x6, x7, [sp, #48]
        \mitigation
        mov x1, \kind
        b other_exception
    .endm

    .macro vector_table name, mitigation
    .balign 2048
    .global \name
\name:
    unexpected 0            // from EL3 with SP_EL0
    unexpected 1
    unexpected 2
    unexpected 3
    unexpected 4            // from EL3
    unexpected 5
    unexpected 6
    unexpected 7

    .balign 128             // from a lower level in AArch64: synchronous
    stp x4, x5, [sp, #-160]!
    stp x6, x7, [sp, #16]
    \mitigation
    mrs x5, esr_el3
    mov w6, #0x5e000000     // SMC of AArch64 with 0 as its immediate
    cmp x5, x6
    b.eq handle_smc64
    b not_smc64
    from_lower 9, \mitigation
    from_lower 10, \mitigation
    from_lower 11, \mitigation

    from_lower 12, \mitigation // from a lower level in AArch32
    from_lower 13, \mitigation
    from_lower 14, \mitigation
    from_lower 15, \mitigation
    .endm

    .section .text.vectors, "ax"
    vector_table vectors, mitigate_none
    vector_table vectors_mmu, mitigate_mmu
    vector_table vectors_history24, mitigate_history24
    vector_table vectors_history32, mitigate_history32

    .balign 64
    // Its size tells who counts by function that the labels inside are no functions.
    .type handle_smc64, %function
handle_smc64:
    stp x8, x9, [sp, #32]
    stp x10, x11, [sp, #48]
    stp x12, x13, [sp, #64]
    stp x14, x15, [sp, #80]
    stp x16, x17, [sp, #96]
    stp x18, x30, [sp, #112]
"#,
    serror_entry!(),
    read_counter!(),
    r#"
    add x8, sp, #128
    bl {smc}
"#,
    serror_exit!(),
    r#"
    ldp x0, x1, [sp, #128]
    ldp x2, x3, [sp, #144]
    ldp x18, x30, [sp, #112]
    ldp x16, x17, [sp, #96]
    ldp x14, x15, [sp, #80]
    ldp x12, x13, [sp, #64]
    ldp x10, x11, [sp, #48]
    ldp x8, x9, [sp, #32]
    ldp x6, x7, [sp, #16]
    ldp x4, x5, [sp], #160
    leave_el3
    .size handle_smc64, . - handle_smc64

    // A caller at EL1 with SErrors open takes it, and calls again. One that masks them, or an EL2
    // to which it may not go, has its call first.
serror_is_pending:
    mrs x6, spsr_el3
    tbnz x6, #8, serror_stays_pending
    tbnz x6, #3, serror_stays_pending
    mrs x6, elr_el3
    sub x6, x6, #4
    msr elr_el3, x6
    ldp x6, x7, [sp, #16]
    ldp x4, x5, [sp], #160
    leave_el3

not_smc64:
    ldp x6, x7, [sp, #16]
    ldp x4, x5, [sp], #160
    sub sp, sp, #256
    stp x0, x1, [sp]
    stp x4, x5, [sp, #32]
    stp x6, x7, [sp, #48]
    mov x1, #8
other_exception:
    stp x2, x3, [sp, #16]
    stp x8, x9, [sp, #64]
    stp x10, x11, [sp, #80]
    stp x12, x13, [sp, #96]
    stp x14, x15, [sp, #112]
    stp x16, x17, [sp, #128]
    stp x18, x19, [sp, #144]
    stp x20, x21, [sp, #160]
    stp x22, x23, [sp, #176]
    stp x24, x25, [sp, #192]
    stp x26, x27, [sp, #208]
    stp x28, x29, [sp, #224]
    str x30, [sp, #240]
    mov x0, sp
    bl {other}
    ldr x30, [sp, #240]
    ldp x28, x29, [sp, #224]
    ldp x26, x27, [sp, #208]
    ldp x24, x25, [sp, #192]
    ldp x22, x23, [sp, #176]
    ldp x20, x21, [sp, #160]
    ldp x18, x19, [sp, #144]
    ldp x16, x17, [sp, #128]
    ldp x14, x15, [sp, #112]
    ldp x12, x13, [sp, #96]
    ldp x10, x11, [sp, #80]
    ldp x8, x9, [sp, #64]
    ldp x6, x7, [sp, #48]
    ldp x4, x5, [sp, #32]
    ldp x2, x3, [sp, #16]
    ldp x0, x1, [sp], #256
    leave_el3

    // This CPU goes nowhere from here: X0 to X2 go into registers of the normal world,
    // and the report is made on the stack, from its top on again.
report_exception:
    msr tpidrro_el0, x1
    msr tpidr_el1, x2
    mov x1, sp
    mrs x2, tpidr_el3
    add x2, x2, #1
    mov x3, {stack_stride}
    mul x2, x2, x3
    adrp x3, stacks_begin
    add x3, x3, :lo12:stacks_begin
    add x2, x2, x3
    sub sp, x2, #48
    str x1, [sp, #32]
    mrs x1, tpidr_el0
    mrs x2, tpidrro_el0
    stp x1, x2, [sp]
    mrs x1, tpidr_el1
    stp x1, x30, [sp, #16]
    mov x1, sp
    bl {report}
"#,
    stack_stride = const STACK_STRIDE,
    smc = sym smc,
    other = sym other,
    report = sym report,
);

/// The results of an SMC; returned in memory, which the vector provides.
#[repr(C)]
struct Results([u64; 4]);

extern "C" fn smc(function: u64, x1: u64, x2: u64, x3: u64, entered: u64) -> Results {
    let Some(psci) = PSCI.get() else {
        return Results([u64::MAX, 0, 0, 0]);
    };
    match psci.handle_smc(Call {
        function: function as u32,
        args: [x1, x2, x3],
        entered,
    }) {
        Outcome::Return(values) => Results(values),
        Outcome::Enter(point) => entry::enter(point),
    }
}

/// X0 to X30 of the level below.
type Registers = [u64; 31];

/// Exception classes of ESR.
const CLASS_SMC32: u64 = 0x13;
const CLASS_SMC64: u64 = 0x17;
const CLASS_DATA_ABORT: u64 = 0x25;
const NOT_SUPPORTED: u64 = u64::MAX;

/// The kind of a synchronous exception that EL3 takes from itself.
const EL3_SYNCHRONOUS: u64 = 4;

/// Handles whatever the normal world did other than an SMC of AArch64. It may cost the normal world
/// what it asked for, and never the CPU.
extern "C" fn other(registers: &mut Registers, kind: u64) {
    match kind % 4 {
        0 => match registers::syndrome().0 >> 26 & 0x3f {
            // From AArch32: there is nobody to serve there. With an immediate: another convention
            // (SMCCC DEN0028, 2.4).
            CLASS_SMC32 => registers[0] = NOT_SUPPORTED & 0xffff_ffff,
            CLASS_SMC64 => registers[0] = NOT_SUPPORTED,
            _ => {
                let taken = undefined(
                    &registers::trapped(),
                    FEATURES.get().unwrap_or(&Default::default()),
                );
                registers::hand_back(&taken, registers);
            }
        },
        // A CPU_ON that found the CPU still on its way down: nothing is left to do.
        2 => drop(Gic::find().take_power_on()),
        // IRQs and SErrors of the normal world are not routed to EL3.
        _ => {
            let [x0, x1, x2, .., x30] = *registers;
            report(
                kind,
                &SavedRegisters {
                    x0,
                    x1,
                    x2,
                    x30,
                    sp: core::ptr::from_ref(registers) as u64,
                },
            )
        }
    }
}

/// The registers that the vector could save of an exception that should not have happened.
#[repr(C)]
struct SavedRegisters {
    x0: u64,
    x1: u64,
    x2: u64,
    x30: u64,
    sp: u64,
}

/// Prints the registers and stops the CPU.
extern "C" fn report(kind: u64, saved: &SavedRegisters) -> ! {
    const KINDS: [&str; 4] = ["synchronous exception", "IRQ", "FIQ", "SError"];
    const ORIGINS: [&str; 4] = ["EL3 on SP_EL0", "EL3", "a lower level", "AArch32"];
    let pick =
        |names: &[&'static str; 4], index: u64| names.get(index as usize).copied().unwrap_or("?");
    let (esr, elr, far, spsr) = crate::registers::syndrome();
    let cpu = crate::registers::this_cpu();
    if kind == EL3_SYNCHRONOUS && esr >> 26 & 0x3f == CLASS_DATA_ABORT && is_guard(far as usize) {
        say!("stopwatt: EL3: stack overflow on CPU {cpu}, which stops here");
    } else {
        let (what, origin) = (pick(&KINDS, kind % 4), pick(&ORIGINS, kind / 4));
        say!("stopwatt: EL3: {what} from {origin} on CPU {cpu}, which stops here");
    }
    say!("  ESR {esr:#018x}  ELR {elr:#018x}  FAR {far:#018x}  SPSR {spsr:#010x}");
    say!(
        "  X0 {:#018x}  X1 {:#018x}  X2 {:#018x}  X30 {:#018x}",
        saved.x0,
        saved.x1,
        saved.x2,
        saved.x30
    );
    say!("  SP {:#018x}", saved.sp);
    stop()
}
