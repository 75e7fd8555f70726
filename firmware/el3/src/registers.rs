//! System registers: EL3's own, and those that the normal world finds when it is entered.

use arm_sysregs::el1::accessors::{read_id_aa64pfr0_el1, read_isr_el1};
use core::arch::asm;
use core::sync::atomic::{AtomicBool, Ordering};
use exceptions::controls::{Controls, Features, controls};
use exceptions::cores::{self, Core, Predictor, StoreBypass};
use exceptions::undefined::{Level, Syndrome, Target, TrappedException, UndefinedInstruction};
use psci::Endianness;
use spin::Once;

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

/// True if the CPUs have EL2.
pub fn has_el2() -> bool {
    read_id_aa64pfr0_el1().el2() != 0
}

/// True if the interrupt controller's CPU interface is in system registers (GICv3).
pub fn has_gic_registers() -> bool {
    read_id_aa64pfr0_el1().gic() != 0
}

/// Says at which exception level the normal world starts: 1 or 2. Once, on the first CPU, which has
/// looked around.
pub fn choose_exception_level(level: u8) {
    AT_EL1.store(level == 1, Ordering::Release);
    CONTROLS.call_once(|| controls(FEATURES.get().unwrap_or(&Features::default()), level == 1));
}

/// True if an interrupt is signalled to this CPU.
#[inline(always)]
pub fn interrupt_signalled() -> bool {
    read_isr_el1().bits() != 0
}

/// The features of this machine's cores; they are all alike.
pub static FEATURES: Once<Features> = Once::new();
static CONTROLS: Once<Controls> = Once::new();

/// The kind of this core.
pub fn core() -> Core {
    cores::core(
        read!("midr_el1"),
        FEATURES.get().unwrap_or(&Features::default()),
    )
}

/// Finds out what the cores have, and makes exceptions of EL3 visible. Once, on the first CPU.
pub fn look_around() {
    FEATURES.call_once(|| Features {
        pfr0: read!("id_aa64pfr0_el1"),
        pfr1: read!("id_aa64pfr1_el1"),
        pfr2: read!("s3_0_c0_c4_2"),
        dfr0: read!("id_aa64dfr0_el1"),
        isar1: read!("id_aa64isar1_el1"),
        isar2: read!("s3_0_c0_c6_2"),
        mmfr0: read!("id_aa64mmfr0_el1"),
        mmfr1: read!("id_aa64mmfr1_el1"),
        mmfr3: read!("s3_0_c0_c7_3"),
        smfr0: read!("s3_0_c0_c4_5"),
    });
    write!("vbar_el3", vector_table(core().predictor));
}

/// Address of the vectors that a core with that branch predictor needs.
fn vector_table(predictor: Predictor) -> u64 {
    // In `vectors.rs`, which is above: EL3 comes there by this address alone.
    unsafe extern "C" {
        fn vectors();
        fn vectors_mmu();
        fn vectors_history24();
        fn vectors_history32();
    }
    let table: unsafe extern "C" fn() = match predictor {
        _ if !cfg!(feature = "predictor") => vectors,
        Predictor::Mmu => vectors_mmu,
        Predictor::History(0..=24) => vectors_history24,
        Predictor::History(_) => vectors_history32,
        Predictor::Safe | Predictor::Unknown => vectors,
    };
    table as *const () as u64
}

/// Sets EL3's own registers but those of the MMU.
pub fn set_up_el3() {
    let (core, Some(controls)) = (core(), CONTROLS.get()) else {
        return;
    };
    write!("vbar_el3", vector_table(core.predictor));
    write!("scr_el3", controls.scr);
    write!("cptr_el3", controls.cptr);
    write!("mdcr_el3", controls.mdcr);
    synchronize();
    if let Some(length) = controls.zcr {
        write!("s3_6_c1_c2_0", length); // ZCR_EL3
    }
    if let Some(length) = controls.smcr {
        write!("s3_6_c1_c2_6", length); // SMCR_EL3
    }
    if let Some(mpam) = controls.mpam {
        write!("s3_6_c10_c5_0", mpam); // MPAM3_EL3
    }
    if core.store_bypass == StoreBypass::OffByFirmware {
        const DISABLE_LOAD_PASS_STORE: u64 = 1 << 55;
        // CPUACTLR_EL1 of Cortex-A57 and A72, by their manuals.
        write!(
            "s3_1_c15_c2_0",
            read!("s3_1_c15_c2_0") | DISABLE_LOAD_PASS_STORE
        );
    }
}

fn synchronize() {
    // SAFETY: only waits.
    unsafe { asm!("isb", options(nostack, preserves_flags)) }
}

const SCTLR_EL1_RESET: u64 = 0x30d0_0800;
const SCTLR_EL2_RESET: u64 = 0x30c5_0830;
const SCTLR_EE: u64 = 1 << 25;
const CNTHCTL_EL1_COUNTER_AND_TIMER: u64 = 0b11;

/// Sets the registers that the normal world may count on at its first instruction: MMU and caches
/// off.
pub fn set_up_normal_world() {
    let at_el1 = AT_EL1.load(Ordering::Acquire);
    let Some((controls, features)) = CONTROLS.get().zip(FEATURES.get()) else {
        return;
    };
    if features.has_el2() {
        write!("sctlr_el2", SCTLR_EL2_RESET);
        write!("hcr_el2", controls.hcr_el2);
        write!("cptr_el2", controls.cptr_el2);
        // HPMN: all counters are EL1's, too.
        let counters = if features.has_counters() {
            read!("pmcr_el0") >> 11 & 0x1f
        } else {
            0
        };
        write!("mdcr_el2", controls.mdcr_el2 | counters);
        write!("hstr_el2", 0);
        write!("cnthctl_el2", CNTHCTL_EL1_COUNTER_AND_TIMER);
        write!("cntvoff_el2", 0);
        write!("vttbr_el2", 0);
        write!("vpidr_el2", read!("midr_el1"));
        write!("vmpidr_el2", read!("mpidr_el1"));
        if at_el1 {
            synchronize();
            if let Some(length) = controls.zcr {
                write!("s3_4_c1_c2_0", length); // ZCR_EL2
            }
            if let Some(length) = controls.smcr {
                write!("s3_4_c1_c2_6", length); // SMCR_EL2
            }
            if controls.mpam.is_some() {
                write!("s3_4_c10_c5_0", 0); // MPAM2_EL2: EL1 is not trapped
            }
        }
    }
    if at_el1 || !features.has_el2() {
        write!("sctlr_el1", SCTLR_EL1_RESET);
    }
}

/// Byte order of the normal world's data, at the level at which it was entered.
#[inline(always)]
pub fn endianness() -> Endianness {
    let sctlr = if enters_at_el1() {
        read!("sctlr_el1")
    } else {
        read!("sctlr_el2")
    };
    if sctlr & SCTLR_EE != 0 {
        Endianness::Big
    } else {
        Endianness::Little
    }
}

/// Sets the byte order in which the normal world is about to be entered.
pub fn set_endianness(endianness: Endianness) {
    let with = |sctlr: u64| {
        if endianness == Endianness::Big {
            sctlr | SCTLR_EE
        } else {
            sctlr & !SCTLR_EE
        }
    };
    if enters_at_el1() {
        write!("sctlr_el1", with(read!("sctlr_el1")));
    } else {
        write!("sctlr_el2", with(read!("sctlr_el2")));
    }
}

#[inline(always)]
fn enters_at_el1() -> bool {
    AT_EL1.load(Ordering::Relaxed)
}

/// An exception from a lower level, and what its handing back depends on.
pub fn trapped() -> TrappedException {
    const HCR_RW: u64 = 1 << 31;
    let (_, elr, _, spsr) = syndrome();
    let el1 = Level {
        sctlr: read!("sctlr_el1"),
        vbar: read!("vbar_el1"),
    };
    let (hcr, el2) = if has_el2() {
        (
            read!("hcr_el2"),
            Level {
                sctlr: read!("sctlr_el2"),
                vbar: read!("vbar_el2"),
            },
        )
    } else {
        (HCR_RW, Level::default())
    };
    TrappedException {
        elr,
        spsr,
        hcr,
        el1,
        el2,
    }
}

/// Lets the level below take an undefined instruction when EL3 returns.
pub fn hand_back(taken: &UndefinedInstruction, registers: &mut [u64; 31]) {
    match taken.target {
        Target::El1(Syndrome { esr, elr, spsr }) => {
            write!("esr_el1", esr);
            write!("elr_el1", elr);
            write!("spsr_el1", spsr);
        }
        Target::El2(Syndrome { esr, elr, spsr }) => {
            write!("esr_el2", esr);
            write!("elr_el2", elr);
            write!("spsr_el2", spsr);
        }
        Target::Mode32 { lr, spsr } => {
            const LR_UND: usize = 22;
            registers[LR_UND] = lr;
            write!("spsr_und", spsr);
        }
    }
    write!("elr_el3", taken.elr);
    write!("spsr_el3", taken.spsr);
}

/// True if the call that EL3 serves came from EL2.
pub fn is_called_from_el2() -> bool {
    read!("spsr_el3") & 0b1100 == 0b1000
}

/// SPSR_EL3 for the first entry: EL2h or EL1h, all exceptions masked.
pub fn spsr_of_normal_world() -> u64 {
    const MASKED: u64 = 0b1111 << 6;
    const EL1H: u64 = 0b0101;
    const EL2H: u64 = 0b1001;
    MASKED | if enters_at_el1() { EL1H } else { EL2H }
}

/// Index of this CPU.
pub fn this_cpu() -> u64 {
    read!("tpidr_el3")
}

/// The syndrome of the last exception: ESR, ELR, FAR and SPSR of EL3.
pub fn syndrome() -> (u64, u64, u64, u64) {
    (
        read!("esr_el3"),
        read!("elr_el3"),
        read!("far_el3"),
        read!("spsr_el3"),
    )
}
