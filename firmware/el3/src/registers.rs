//! System registers: EL3's own, and those that the normal world finds when it is entered.

use core::arch::asm;
use core::sync::atomic::{AtomicBool, Ordering};

use arm_sysregs::el1::accessors::{read_id_aa64pfr0_el1, read_isr_el1};

/// Writes a system register.
macro_rules! write {
    ($register:literal, $value:expr) => {{
        let value: u64 = $value;
        // SAFETY: every use below sets a register for a normal world that is not running yet.
        unsafe { asm!(concat!("msr ", $register, ", {}"), in(reg) value, options(nostack, preserves_flags)) }
    }};
}

/// Reads a system register.
macro_rules! read {
    ($register:literal) => {{
        let value: u64;
        // SAFETY: reading these has no effect.
        unsafe { asm!(concat!("mrs {}, ", $register), out(reg) value, options(nostack, preserves_flags)) }
        value
    }};
}
pub(crate) use read;

/// The normal world is entered at EL1 although there is an EL2, or because there is none.
static AT_EL1: AtomicBool = AtomicBool::new(false);

/// Whether the CPUs have EL2.
pub fn has_el2() -> bool {
    read_id_aa64pfr0_el1().el2() != 0
}

/// Whether the interrupt controller's CPU interface is in system registers (GICv3).
pub fn has_gic_registers() -> bool {
    read_id_aa64pfr0_el1().gic() != 0
}

/// Says at which exception level the normal world runs: 1 or 2.
pub fn choose_exception_level(level: u8) {
    AT_EL1.store(level == 1, Ordering::Release);
}

/// Whether an interrupt is signalled to this CPU.
#[inline(always)]
pub fn interrupt_signalled() -> bool {
    read_isr_el1().bits() != 0
}

const SCR_NON_SECURE: u64 = 1 << 0;
/// Group 0 is taken at EL3. It is enabled only while EL3 masks it, so it never is.
const SCR_FIQ_TO_EL3: u64 = 1 << 2;
const SCR_RESERVED_ONES: u64 = 0b11 << 4;
const SCR_HVC: u64 = 1 << 8;
const SCR_AARCH64_BELOW: u64 = 1 << 10;

/// Sets EL3's own registers but those of the MMU.
pub fn set_up_el3() {
    unsafe extern "C" {
        fn vectors();
    }
    write!("vbar_el3", vectors as *const () as u64);
    write!(
        "scr_el3",
        SCR_NON_SECURE | SCR_FIQ_TO_EL3 | SCR_RESERVED_ONES | SCR_AARCH64_BELOW | if has_el2() { SCR_HVC } else { 0 }
    );
    // Floating point and trace are the normal world's, untrapped; no debug trap either.
    write!("cptr_el3", 0);
    write!("mdcr_el3", 0);
}

const SCTLR_EL1_RESET: u64 = 0x30d0_0800;
const SCTLR_EL2_RESET: u64 = 0x30c5_0830;
const HCR_AARCH64: u64 = 1 << 31;
const CPTR_EL2_RESERVED_ONES: u64 = 0x33ff;
const CNTHCTL_EL1_COUNTER_AND_TIMER: u64 = 0b11;

/// Sets the registers that the normal world may count on at its first instruction: MMU and caches off.
pub fn set_up_normal_world() {
    let at_el1 = AT_EL1.load(Ordering::Acquire);
    if has_el2() {
        write!("sctlr_el2", SCTLR_EL2_RESET);
        write!("hcr_el2", if at_el1 { HCR_AARCH64 } else { 0 });
        write!("cptr_el2", CPTR_EL2_RESERVED_ONES);
        write!("cnthctl_el2", CNTHCTL_EL1_COUNTER_AND_TIMER);
        write!("cntvoff_el2", 0);
        write!("vttbr_el2", 0);
        write!("vpidr_el2", read!("midr_el1"));
        write!("vmpidr_el2", read!("mpidr_el1"));
    }
    if at_el1 || !has_el2() {
        write!("sctlr_el1", SCTLR_EL1_RESET);
    }
}

/// SPSR_EL3 for the first entry: EL2h or EL1h, all exceptions masked.
pub fn spsr_of_normal_world() -> u64 {
    const MASKED: u64 = 0b1111 << 6;
    const EL1H: u64 = 0b0101;
    const EL2H: u64 = 0b1001;
    MASKED | if AT_EL1.load(Ordering::Acquire) || !has_el2() { EL1H } else { EL2H }
}

/// Index of this CPU.
pub fn this_cpu() -> u64 {
    read!("tpidr_el3")
}

/// What the last exception was: ESR, ELR, FAR and SPSR of EL3.
pub fn syndrome() -> (u64, u64, u64, u64) {
    (read!("esr_el3"), read!("elr_el3"), read!("far_el3"), read!("spsr_el3"))
}
