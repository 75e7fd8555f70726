//! Tries what EL3 traps: each thing either works, because the core has it, or is an undefined
//! instruction here; and the CPU lives on.

use crate::cpu;
use aarch64_rt::RegisterStateRef;
use core::arch::{asm, naked_asm};
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// An instruction that may be undefined is about to run.
static EXPECTED: AtomicBool = AtomicBool::new(false);
/// ESR of the exception that it took; all ones if it took none.
static CAUGHT: AtomicU64 = AtomicU64::new(NOTHING);
const NOTHING: u64 = u64::MAX;

/// For the exception handler: true if the exception was expected; then the instruction is skipped.
pub fn catch(state: &mut RegisterStateRef<'_>) -> bool {
    if !EXPECTED.swap(false, Ordering::AcqRel) {
        return false;
    }
    CAUGHT.store(cpu::syndrome(), Ordering::Release);
    // SAFETY: what is tried has no effect that is counted on.
    unsafe { state.get_mut().elr += 4 };
    true
}

/// Runs `attempt`, one instruction of which may take an exception; the exception's class, if it
/// did.
fn class_of(attempt: fn()) -> Option<u64> {
    CAUGHT.store(NOTHING, Ordering::Release);
    EXPECTED.store(true, Ordering::Release);
    attempt();
    EXPECTED.store(false, Ordering::Release);
    match CAUGHT.load(Ordering::Acquire) {
        NOTHING => None,
        esr => Some(esr >> 26 & 0x3f),
    }
}

/// Reads a system register of this name into nowhere.
macro_rules! read {
    ($register:literal) => {
        || {
            // SAFETY: reading these has no effect; an exception is caught.
            unsafe { asm!(concat!("mrs x9, ", $register), out("x9") _, options(nostack)) }
        }
    };
}

macro_rules! instruction {
    ($encoding:literal) => {
        || {
            // SAFETY: as above.
            unsafe { asm!(concat!(".inst ", $encoding), out("x9") _, options(nostack)) }
        }
    };
}

macro_rules! id {
    ($register:literal) => {{
        let value: u64;
        // SAFETY: ID registers may be read, those that a core lacks too.
        unsafe { asm!(concat!("mrs {}, ", $register), out(reg) value, options(nomem, nostack, preserves_flags)) }
        value
    }};
}

/// The attempts: name, whether the core has it, and how.
type Attempt = (&'static str, bool, fn());

/// Calls `check` with each attempt's name, and what came of it and should have: an exception's
/// class, 0 for undefined, -1 for none.
pub fn run(mut check: impl FnMut(&str, i64, i64)) {
    let at_least = |register: u64, field: u32, least: u64| register >> field & 0xf >= least;
    let (pfr0, pfr1) = (id!("id_aa64pfr0_el1"), id!("id_aa64pfr1_el1"));
    let (dfr0, isar0) = (id!("id_aa64dfr0_el1"), id!("id_aa64isar0_el1"));
    let (isar1, isar2) = (id!("id_aa64isar1_el1"), id!("s3_0_c0_c6_2"));
    let (mmfr0, mmfr1, mmfr3) = (
        id!("id_aa64mmfr0_el1"),
        id!("id_aa64mmfr1_el1"),
        id!("s3_0_c0_c7_3"),
    );
    let el2 = cpu::exception_level() == 2;
    let pauth = [4, 8, 24, 28]
        .iter()
        .any(|&field| at_least(isar1, field, 1))
        || [8, 12].iter().any(|&field| at_least(isar2, field, 1));
    let counters = at_least(dfr0, 8, 1) && !at_least(dfr0, 8, 0xf);
    let contexts = at_least(pfr0, 56, 2) || at_least(pfr1, 32, 2);
    let (sve, sme) = (at_least(pfr0, 32, 1), at_least(pfr1, 24, 1));
    open_vectors(el2, sve, sme);

    let attempts: [Attempt; 24] = [
        ("ICC_IAR0_EL1", false, read!("s3_0_c12_c8_0")),
        ("ICC_HPPIR0_EL1", false, read!("s3_0_c12_c8_2")),
        ("ICC_IGRPEN0_EL1", false, read!("s3_0_c12_c12_6")),
        ("CNTPS_CTL_EL1", false, read!("s3_7_c14_c2_1")),
        ("SCR_EL3", false, read!("scr_el3")),
        ("ERXPFGF_EL1", false, read!("s3_0_c5_c4_4")),
        ("APIAKeyLo_EL1", pauth, read!("s3_0_c2_c1_0")),
        ("RDVL", sve, instruction!("0x04bf5029")),
        ("ZCR_EL1", sve, read!("s3_0_c1_c2_0")),
        ("RDSVL", sme, instruction!("0x04bf5829")),
        ("SMCR_EL1", sme, read!("s3_0_c1_c2_6")),
        ("TPIDR2_EL0", sme, read!("s3_3_c13_c0_5")),
        ("SCXTNUM_EL1", contexts, read!("s3_0_c13_c0_7")),
        ("GCR_EL1", at_least(pfr1, 8, 2), read!("s3_0_c1_c0_6")),
        ("PMCR_EL0", counters, read!("pmcr_el0")),
        ("PMSCR_EL1", at_least(dfr0, 32, 1), read!("s3_0_c9_c9_0")),
        (
            "TRBLIMITR_EL1",
            at_least(dfr0, 44, 1),
            read!("s3_0_c9_c11_0"),
        ),
        ("BRBCR_EL1", at_least(dfr0, 52, 1), read!("s2_1_c9_c0_0")),
        ("AMCR_EL0", at_least(pfr0, 44, 1), read!("s3_3_c13_c2_0")),
        ("RNDR", at_least(isar0, 60, 1), read!("s3_3_c2_c4_0")),
        ("TCR2_EL1", at_least(mmfr3, 0, 1), read!("s3_0_c2_c0_3")),
        (
            "HCRX_EL2",
            el2 && at_least(mmfr1, 40, 1),
            read!("s3_4_c1_c2_2"),
        ),
        (
            "HFGRTR_EL2",
            el2 && at_least(mmfr0, 56, 1),
            read!("s3_4_c1_c1_4"),
        ),
        ("OSLSR_EL1", true, read!("oslsr_el1")),
    ];
    for (name, is_there, attempt) in attempts {
        let class = class_of(attempt).map_or(-1, |class| class as i64);
        check(name, class, if is_there { -1 } else { 0 });
    }
    check("SMC #1", smc_one() as i64, -1);

    if el2 && at_least(pfr0, 4, 2) {
        let [answer, how] = in_aarch32();
        check("SMC of AArch32", answer as i64, 0xffff_ffff);
        check("ICC_IAR0 of AArch32", how as i64, UNDEFINED_32 as i64);
    }
}

/// The answer to an SMC with an immediate.
fn smc_one() -> u64 {
    let answer: u64;
    // SAFETY: an SMC with an immediate is of no convention that the firmware knows; it keeps X4 and
    // up all the same.
    unsafe {
        asm!("smc #1", inout("x0") 0x8400_0000u64 => answer, out("x1") _, out("x2") _, out("x3") _, options(nostack))
    }
    answer
}

/// Opens floating point and vectors, as far as they are this level's to open.
fn open_vectors(el2: bool, sve: bool, sme: bool) {
    const FP: u64 = 0b11 << 20;
    let cpacr = FP | if sve { 0b11 << 16 } else { 0 } | if sme { 0b11 << 24 } else { 0 };
    let cptr = 0x33ff & !(if sve { 1 << 8 } else { 0 }) & !(if sme { 1 << 12 } else { 0u64 });
    // SAFETY: nothing here uses these units but what is tried.
    unsafe {
        asm!("msr cpacr_el1, {}", in(reg) cpacr, options(nostack));
        if el2 {
            asm!("msr cptr_el2, {}", in(reg) cptr, options(nostack));
        }
        asm!("isb", options(nostack));
    }
}

/// HVC's immediate at the end of the program, and in its vector for undefined instructions.
const END_32: u64 = 1;
const UNDEFINED_32: u64 = 2;

/// A program for EL1 in AArch32, with its vectors: `smc #0` with PSCI_VERSION, keeps the answer in
/// R1, reads ICC_IAR0.
#[repr(C, align(64))]
struct Program([u32; 16]);

static PROGRAM: Program = Program([
    0xe140_0071, // reset: hvc #1
    0xe140_0072, // undefined instruction: hvc #2
    0xe140_0071,
    0xe140_0071,
    0xe140_0071,
    0xe140_0071,
    0xe140_0071,
    0xe140_0071,
    0xe3a0_0321, // mov r0, #0x84000000
    0xe160_0070, // smc #0
    0xe1a0_1000, // mov r1, r0
    0xee1c_2f18, // mrc p15, 0, r2, c12, c8, 0
    0xe140_0071, // hvc #1
    0,
    0,
    0,
]);

/// The value that the program left in R1, and the immediate of the HVC that ended it.
static LEFT: [AtomicU64; 2] = [AtomicU64::new(0), AtomicU64::new(0)];

/// For the handler of exceptions from EL1: ends the program.
pub fn ended_32(state: &mut RegisterStateRef<'_>) {
    const EL2H_MASKED: u64 = 0x3c9;
    LEFT[0].store(state.registers[1], Ordering::Release);
    LEFT[1].store(cpu::syndrome() & 0xffff, Ordering::Release);
    // SAFETY: the way back that `enter_32` left its stack for.
    unsafe {
        let state = state.get_mut();
        state.elr = back_from_32 as *const () as usize;
        state.spsr = EL2H_MASKED;
    }
}

fn in_aarch32() -> [u64; 2] {
    let hcr: u64;
    // SAFETY: EL1 is not used by anything else; what `enter_32` changes of EL2 is put back.
    unsafe {
        asm!("mrs {}, hcr_el2", out(reg) hcr, options(nostack));
        enter_32((&raw const PROGRAM) as u64);
        asm!("msr hcr_el2, {}", "isb", in(reg) hcr, options(nostack));
    }
    LEFT.each_ref().map(|word| word.load(Ordering::Acquire))
}

/// # Safety
/// At EL2, with `program` below 4 GiB.
#[unsafe(naked)]
unsafe extern "C" fn enter_32(program: u64) {
    naked_asm!(
        "stp x29, x30, [sp, #-96]!
         stp x27, x28, [sp, #16]
         stp x25, x26, [sp, #32]
         stp x23, x24, [sp, #48]
         stp x21, x22, [sp, #64]
         stp x19, x20, [sp, #80]
         msr vbar_el1, x0
         add x0, x0, #32
         msr elr_el2, x0
         msr hcr_el2, xzr            // EL1 is in AArch32
         mov x1, #0x0838
         movk x1, #0x00c5, lsl #16
         msr sctlr_el1, x1
         mov x1, #0x1d3              // supervisor mode, masked
         msr spsr_el2, x1
         isb
         eret"
    )
}

/// Continuation of the program after an exception, on the stack that [`enter_32`] left.
#[unsafe(naked)]
unsafe extern "C" fn back_from_32() {
    naked_asm!(
        "ldp x19, x20, [sp, #80]
         ldp x21, x22, [sp, #64]
         ldp x23, x24, [sp, #48]
         ldp x25, x26, [sp, #32]
         ldp x27, x28, [sp, #16]
         ldp x29, x30, [sp], #96
         ret"
    )
}

const _: () = assert!(END_32 != UNDEFINED_32);
