//! Exceptions that EL3 takes: SMCs, and what should not happen.

use core::arch::global_asm;

use psci::{Call, Outcome};

use crate::platform::stop;
use crate::{PSCI, reset};
use machine::say;

// An SMC keeps X4 to X30 (SMCCC DEN0028, 2.6: all but the result registers). The function below keeps X19 to X29 by
// itself, so 16 registers are saved, and the results are laid beside them.
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

global_asm!(
    r#"
    .macro unexpected kind
        .balign 128
        stp x0, x1, [sp, #-16]!
        stp x2, x30, [sp, #-16]!
        mov x0, \kind
        b report_exception
    .endm

    .macro save_and_call
        stp x4, x5, [sp, #-160]!
        stp x6, x7, [sp, #16]
        stp x8, x9, [sp, #32]
        stp x10, x11, [sp, #48]
    .endm

    .section .text.vectors, "ax"
    .balign 2048
    .global vectors
vectors:
    unexpected 0            // from EL3 with SP_EL0
    unexpected 1
    unexpected 2
    unexpected 3
    unexpected 4            // from EL3
    unexpected 5
    unexpected 6
    unexpected 7

    .balign 128             // from a lower level in AArch64: synchronous
    save_and_call
    mrs x5, esr_el3
    lsr x5, x5, #26
    cmp x5, #0x17
    b.ne 2f
"#,
    read_counter!(),
    r#"
    b handle_smc64
2:  ldp x10, x11, [sp, #48]
    ldp x8, x9, [sp, #32]
    ldp x6, x7, [sp, #16]
    ldp x4, x5, [sp], #160
    stp x0, x1, [sp, #-16]!
    stp x2, x30, [sp, #-16]!
    mov x0, #8
    b report_exception
    unexpected 9
    unexpected 10
    unexpected 11

    unexpected 12           // from a lower level in AArch32: the normal world is AArch64
    unexpected 13
    unexpected 14
    unexpected 15

    .balign 64
handle_smc64:
    stp x12, x13, [sp, #64]
    stp x14, x15, [sp, #80]
    stp x16, x17, [sp, #96]
    stp x18, x30, [sp, #112]
    add x8, sp, #128
    bl {smc}
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
    eret

report_exception:
    ldp x2, x3, [sp], #16       // X2 and X30
    stp x2, x3, [sp, #-16]!
    mov x1, sp
    bl {report}
"#,
    smc = sym smc,
    report = sym report,
);

/// The results of an SMC; returned in memory, which the vector provides.
#[repr(C)]
struct Results([u64; 4]);

extern "C" fn smc(function: u64, x1: u64, x2: u64, x3: u64, entered: u64) -> Results {
    let Some(psci) = PSCI.get() else { return Results([u64::MAX, 0, 0, 0]) };
    match psci.handle_smc(Call { function: function as u32, args: [x1, x2, x3], entered }) {
        Outcome::Return(values) => Results(values),
        Outcome::Enter(entry) => reset::enter(entry),
    }
}

/// What the vector could save of an exception that should not have happened.
#[repr(C)]
struct Saved {
    x2: u64,
    x30: u64,
    x0: u64,
    x1: u64,
}

/// Prints the registers and stops the CPU.
extern "C" fn report(kind: u64, saved: &Saved) -> ! {
    const KINDS: [&str; 4] = ["synchronous exception", "IRQ", "FIQ", "SError"];
    const ORIGINS: [&str; 4] = ["EL3 on SP_EL0", "EL3", "a lower level", "AArch32"];
    let pick = |names: &[&'static str; 4], index: u64| names.get(index as usize).copied().unwrap_or("?");
    let (esr, elr, far, spsr) = crate::registers::syndrome();
    say!(
        "stopwatt: EL3: {} from {} on CPU {}, which stops here",
        pick(&KINDS, kind % 4),
        pick(&ORIGINS, kind / 4),
        crate::registers::this_cpu(),
    );
    say!("  ESR {esr:#018x}  ELR {elr:#018x}  FAR {far:#018x}  SPSR {spsr:#010x}");
    say!("  X0 {:#018x}  X1 {:#018x}  X2 {:#018x}  X30 {:#018x}", saved.x0, saved.x1, saved.x2, saved.x30);
    stop()
}
