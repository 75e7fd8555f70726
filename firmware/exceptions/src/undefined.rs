//! Hands an exception that EL3 took from a lower level back to that level, as an undefined
//! instruction: what the core itself would have done if it lacked what was tried.

use crate::controls::Features;

/// The exception as EL3 finds it, and the level that it came from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TrappedException {
    /// ELR_EL3: the instruction.
    pub elr: u64,
    /// SPSR_EL3.
    pub spsr: u64,
    /// HCR_EL2; without EL2, [`RW`](TrappedException::hcr) as SCR_EL3 has it.
    pub hcr: u64,
    /// SCTLR_EL1, VBAR_EL1.
    pub el1: Level,
    /// SCTLR_EL2, VBAR_EL2; 0 without EL2.
    pub el2: Level,
}

/// The registers that decide how a level takes an exception.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Level {
    /// SCTLR.
    pub sctlr: u64,
    /// VBAR.
    pub vbar: u64,
}

/// Exception level that takes the exception, and how EL3 enters it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UndefinedInstruction {
    /// The writes on the target's behalf.
    pub target: Target,
    /// New ELR_EL3: the vector.
    pub elr: u64,
    /// New SPSR_EL3: the state in which the vector runs.
    pub spsr: u64,
}

/// The level that takes the exception.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// EL1 in AArch64: these go to ESR_EL1, ELR_EL1 and SPSR_EL1.
    El1(Syndrome),
    /// EL2: these go to ESR_EL2, ELR_EL2 and SPSR_EL2.
    El2(Syndrome),
    /// EL1 in AArch32.
    Mode32 {
        /// LR_und, which is X22.
        lr: u64,
        /// SPSR_und.
        spsr: u64,
    },
}

/// The syndrome of the exception in the target's own registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Syndrome {
    /// ESR: an instruction of 32 bits, of unknown reason.
    pub esr: u64,
    /// ELR.
    pub elr: u64,
    /// SPSR.
    pub spsr: u64,
}

const IL: u64 = 1 << 25;
const HCR_TGE: u64 = 1 << 27;
const HCR_RW: u64 = 1 << 31;
const HCR_E2H: u64 = 1 << 34;

const SPSR_AARCH32: u64 = 1 << 4;
const SPSR_THUMB: u64 = 1 << 5;
const SPSR_I: u64 = 1 << 7;
const SPSR_DAIF: u64 = 0b1111 << 6;
/// Kept over an exception: condition flags, DIT, PAN.
const SPSR_KEPT: u64 = 0b1111 << 28 | 1 << 24 | SPSR_PAN;
const SPSR_SSBS: u64 = 1 << 12;
const SPSR_PAN: u64 = 1 << 22;
const SPSR_TCO: u64 = 1 << 25;
const USER_MODE: u64 = 0x10;
const UNDEFINED_MODE: u64 = 0x1b;

const SCTLR_V: u64 = 1 << 13;
const SCTLR_SPAN: u64 = 1 << 23;
const SCTLR_EE: u64 = 1 << 25;
const SCTLR_TE: u64 = 1 << 30;
const SCTLR_DSSBS: u64 = 1 << 44;
const SCTLR_DSSBS_32: u64 = 1 << 31;

/// The undefined instruction that the level below takes.
pub fn undefined(trapped: &TrappedException, features: &Features) -> UndefinedInstruction {
    let from32 = trapped.spsr & SPSR_AARCH32 != 0;
    let from_el0 = if from32 {
        trapped.spsr & 0x1f == USER_MODE
    } else {
        trapped.spsr >> 2 & 0b11 == 0
    };
    let from_el2 = !from32 && trapped.spsr >> 2 & 0b11 == 2;
    let to_el2 = from_el2 || from_el0 && features.has_el2() && trapped.hcr & HCR_TGE != 0;
    if from32 && !to_el2 && !(from_el0 && trapped.hcr & HCR_RW != 0) {
        return undefined32(trapped, features);
    }
    let level = if to_el2 { trapped.el2 } else { trapped.el1 };
    let offset = match (from32, from_el0) {
        (true, _) => 0x600,
        (false, true) => 0x400,
        (false, false) => (trapped.spsr & 1) * 0x200,
    };
    let mode = if to_el2 { 0b1001 } else { 0b0101 };
    let mut spsr = trapped.spsr & SPSR_KEPT | SPSR_DAIF | mode;
    if from32 {
        // The flags alone: the other bits mean other things in AArch32.
        spsr = trapped.spsr & (0b1111 << 28 | SPSR_PAN) | SPSR_DAIF | mode;
    }
    let host = trapped.hcr & (HCR_E2H | HCR_TGE) == HCR_E2H | HCR_TGE;
    if has(features.mmfr1, 20) && level.sctlr & SCTLR_SPAN == 0 && (!to_el2 || host) {
        spsr |= SPSR_PAN;
    }
    if has(features.pfr1, 4) && level.sctlr & SCTLR_DSSBS != 0 {
        spsr |= SPSR_SSBS;
    }
    if has(features.pfr1, 8) {
        spsr |= SPSR_TCO;
    }
    let syndrome = Syndrome {
        esr: IL,
        elr: trapped.elr,
        spsr: trapped.spsr,
    };
    UndefinedInstruction {
        target: if to_el2 {
            Target::El2(syndrome)
        } else {
            Target::El1(syndrome)
        },
        elr: level.vbar.wrapping_add(offset),
        spsr,
    }
}

/// EL1 in AArch32 takes it in its undefined mode.
fn undefined32(trapped: &TrappedException, features: &Features) -> UndefinedInstruction {
    let sctlr = trapped.el1.sctlr;
    let base = if sctlr & SCTLR_V != 0 {
        0xffff_0000
    } else {
        trapped.el1.vbar & 0xffff_ffe0
    };
    let thumb = trapped.spsr & SPSR_THUMB != 0;
    // Flags, saturation, GE, A and F stay; IT, J and T are cleared, E is SCTLR's.
    let mut spsr = trapped.spsr & (0b1_1111 << 27 | SPSR_PAN | 0b1111 << 16 | 1 << 8 | 1 << 6);
    spsr |= SPSR_I | UNDEFINED_MODE;
    spsr |= if sctlr & SCTLR_TE != 0 { SPSR_THUMB } else { 0 };
    spsr |= if sctlr & SCTLR_EE != 0 { 1 << 9 } else { 0 };
    if has(features.mmfr1, 20) && sctlr & SCTLR_SPAN == 0 {
        spsr |= SPSR_PAN;
    }
    if has(features.pfr1, 4) && sctlr & SCTLR_DSSBS_32 != 0 {
        spsr |= 1 << 23;
    }
    UndefinedInstruction {
        target: Target::Mode32 {
            lr: trapped.elr.wrapping_add(if thumb { 2 } else { 4 }),
            spsr: trapped.spsr,
        },
        elr: base + 4,
        spsr,
    }
}

fn has(register: u64, field: u32) -> bool {
    register >> field & 0xf != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    const A57: Features = Features {
        pfr0: 0x0100_2222,
        pfr1: 0,
        pfr2: 0,
        dfr0: 0x1030_5106,
        isar1: 0,
        isar2: 0,
        mmfr0: 0x1124,
        mmfr1: 0,
        mmfr3: 0,
        smfr0: 0,
    };
    /// Later registers of the same kind: PAN, SSBS, MTE.
    const LATER: Features = Features {
        pfr1: 0x220,
        mmfr1: 2 << 20,
        ..A57
    };
    const FLAGS: u64 = 0b1010 << 28;

    fn trapped(spsr: u64, hcr: u64) -> TrappedException {
        let (el1, el2) = (
            Level {
                sctlr: SCTLR_SPAN,
                vbar: 0x1000,
            },
            Level {
                sctlr: 0,
                vbar: 0x8000,
            },
        );
        TrappedException {
            elr: 0x6000_0100,
            spsr: FLAGS | spsr,
            hcr,
            el1,
            el2,
        }
    }

    fn syndrome(spsr: u64) -> Syndrome {
        Syndrome {
            esr: 0x0200_0000,
            elr: 0x6000_0100,
            spsr: FLAGS | spsr,
        }
    }

    #[test]
    fn the_level_itself_takes_it_or_the_one_that_looks_after_el0() {
        let el1 = |spsr| Target::El1(syndrome(spsr));
        let el2 = |spsr| Target::El2(syndrome(spsr));
        for (spsr, hcr, target, vector, mode) in [
            (0x5, HCR_RW, el1(0x5), 0x1200, 0x3c5),
            (0x4, HCR_RW, el1(0x4), 0x1000, 0x3c5),
            (0x9, 0, el2(0x9), 0x8200, 0x3c9),
            (0x8, 0, el2(0x8), 0x8000, 0x3c9),
            (0x0, HCR_RW, el1(0x0), 0x1400, 0x3c5),
            (0x0, HCR_RW | HCR_TGE, el2(0x0), 0x8400, 0x3c9),
            // A program in AArch32 under a kernel in AArch64, and under a hypervisor that is a
            // kernel.
            (0x10, HCR_RW, el1(0x10), 0x1600, 0x3c5),
            (0x10, HCR_RW | HCR_TGE, el2(0x10), 0x8600, 0x3c9),
            (0x10, HCR_TGE, el2(0x10), 0x8600, 0x3c9),
        ] {
            let taken = undefined(&trapped(spsr, hcr), &A57);
            assert_eq!(
                taken,
                UndefinedInstruction {
                    target,
                    elr: vector,
                    spsr: FLAGS | mode
                },
                "{spsr:#x} {hcr:#x}"
            );
        }
    }

    #[test]
    fn a_kernel_in_aarch32_takes_it_in_its_undefined_mode() {
        // Supervisor mode, A32, with A masked and I open; then T32 in a system with high vectors,
        // in Thumb, big-endian.
        let taken = undefined(&trapped(0x113, 0), &A57);
        let target = Target::Mode32 {
            lr: 0x6000_0104,
            spsr: FLAGS | 0x113,
        };
        assert_eq!(
            taken,
            UndefinedInstruction {
                target,
                elr: 0x1004,
                spsr: FLAGS | 0x19b
            }
        );
        let mut thumb = trapped(0x0600_fc33, 0);
        thumb.el1.sctlr |= SCTLR_V | SCTLR_TE | SCTLR_EE;
        let taken = undefined(&thumb, &A57);
        let target = Target::Mode32 {
            lr: 0x6000_0102,
            spsr: FLAGS | 0x0600_fc33,
        };
        assert_eq!(
            taken,
            UndefinedInstruction {
                target,
                elr: 0xffff_0004,
                spsr: FLAGS | 0x2bb
            }
        );
        // Its programs too, unless a hypervisor is their kernel.
        assert!(matches!(
            undefined(&trapped(0x10, 0), &A57).target,
            Target::Mode32 { .. }
        ));
    }

    #[test]
    fn state_bits_are_those_of_an_exception() {
        let taken = |spsr, sctlr| {
            let mut trapped = trapped(spsr, HCR_RW);
            trapped.el1.sctlr = sctlr;
            undefined(&trapped, &LATER).spsr & !FLAGS
        };
        assert_eq!(taken(0x5, SCTLR_SPAN), 0x3c5 | SPSR_TCO);
        assert_eq!(taken(0x5, 0), 0x3c5 | SPSR_TCO | SPSR_PAN);
        assert_eq!(
            taken(0x5, SCTLR_SPAN | SCTLR_DSSBS),
            0x3c5 | SPSR_TCO | SPSR_SSBS
        );
        // Single step, illegal state, BTYPE, UAO and SSBS of the caller are gone; PAN and DIT stay.
        assert_eq!(
            taken(
                1 << 21 | 1 << 20 | 3 << 10 | 1 << 23 | 1 << 12 | 5,
                SCTLR_SPAN
            ),
            0x3c5 | SPSR_TCO
        );
        assert_eq!(
            taken(1 << 22 | 1 << 24 | 5, SCTLR_SPAN),
            0x3c5 | SPSR_TCO | 1 << 22 | 1 << 24
        );
        // At EL2, PAN is for hosts.
        let mut guest = trapped(0x9, 0);
        assert_eq!(undefined(&guest, &LATER).spsr & SPSR_PAN, 0);
        guest.hcr = HCR_E2H | HCR_TGE;
        assert_ne!(undefined(&guest, &LATER).spsr & SPSR_PAN, 0);
    }
}
