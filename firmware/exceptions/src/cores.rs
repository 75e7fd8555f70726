//! Which core needs which mitigation against speculation, as far as firmware has a part in it
//! (SMCCC DEN0028, 7.5 to 7.7; Arm's notes on speculative processor vulnerabilities and on
//! Spectre-BHB name the cores).

use crate::controls::Features;

/// The barrier of the vectors before they branch anywhere by what the normal world may have
/// trained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Predictor {
    /// Nothing: the core is not affected.
    Safe,
    /// The MMU is turned off and on, which on these cores drops the branch predictor's contents:
    /// against CVE-2017-5715 and CVE-2022-23960.
    Mmu,
    /// The number of taken branches after which nothing of the normal world's is left in the branch
    /// history: against CVE-2022-23960.
    History(u8),
    /// The core may be affected, and nothing is known here that helps.
    Unknown,
}

/// True if loads pass older stores to the same address (CVE-2018-3639).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreBypass {
    /// The core is not affected, or the normal world decides for itself by PSTATE.SSBS.
    NotOurs,
    /// Turned off for good by a bit of the core's auxiliary control register.
    OffByFirmware,
    /// The core may be affected, and nothing is known here that helps.
    Unknown,
}

/// A core as these mitigations see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Core {
    /// For the vectors.
    pub predictor: Predictor,
    /// For the start of a CPU.
    pub store_bypass: StoreBypass,
    /// The predictor's targets are kept apart by context: CSV2.
    pub targets_apart: bool,
}

/// The mitigations that a core needs, by MIDR_EL1 and ID registers.
pub fn core(midr: u64, features: &Features) -> Core {
    const ARM: u64 = 0x41;
    let (implementer, part) = (midr >> 24 & 0xff, midr >> 4 & 0xfff);
    let csv2 = features.pfr0 >> 56 & 0xf;
    let own_bypass_control = features.pfr1 >> 4 & 0xf != 0;
    let (predictor, store_bypass) = match (implementer, part) {
        // Cortex-A35, A53, A55, A510, A520: in order.
        (ARM, 0xd04 | 0xd03 | 0xd05 | 0xd46 | 0xd80) => (Predictor::Safe, StoreBypass::NotOurs),
        // Cortex-A57, A72.
        (ARM, 0xd07 | 0xd08) => (Predictor::Mmu, StoreBypass::OffByFirmware),
        // Cortex-A76, A76AE, A77, Neoverse N1.
        (ARM, 0xd0b..=0xd0e) => (Predictor::History(24), StoreBypass::Unknown),
        // Cortex-A78, A78AE, A78C, X1, X1C, A710, X2; Neoverse V1, N2.
        (ARM, 0xd41 | 0xd42 | 0xd4b | 0xd44 | 0xd4c | 0xd47 | 0xd48 | 0xd40 | 0xd49) => {
            (Predictor::History(32), StoreBypass::Unknown)
        }
        // CSV2 of 3: the history is kept apart by context, too.
        _ if csv2 >= 3 => (Predictor::Safe, StoreBypass::Unknown),
        _ => (Predictor::Unknown, StoreBypass::Unknown),
    };
    let store_bypass = if own_bypass_control {
        StoreBypass::NotOurs
    } else {
        store_bypass
    };
    Core {
        predictor,
        store_bypass,
        targets_apart: csv2 >= 1,
    }
}

/// Answers of SMCCC_ARCH_FEATURES.
const NOT_SUPPORTED: i32 = -1;
const NOT_REQUIRED: i32 = -2;
/// The call is there, and this core needs it.
const NEEDED: i32 = 0;
/// The call is there, and this core does not need it.
const NOT_NEEDED: i32 = 1;

impl Core {
    /// SMCCC_ARCH_FEATURES of SMCCC_ARCH_WORKAROUND_1 (CVE-2017-5715), where the vectors do what
    /// [`Predictor`] says.
    pub fn workaround_1(&self) -> i32 {
        match self.predictor {
            Predictor::Mmu => NEEDED,
            Predictor::Safe => NOT_NEEDED,
            _ if self.targets_apart => NOT_NEEDED,
            Predictor::History(_) | Predictor::Unknown => NOT_SUPPORTED,
        }
    }

    /// SMCCC_ARCH_FEATURES of SMCCC_ARCH_WORKAROUND_2 (CVE-2018-3639).
    pub fn workaround_2(&self) -> i32 {
        match self.store_bypass {
            StoreBypass::NotOurs | StoreBypass::OffByFirmware => NOT_REQUIRED,
            StoreBypass::Unknown => NOT_SUPPORTED,
        }
    }

    /// SMCCC_ARCH_FEATURES of SMCCC_ARCH_WORKAROUND_3 (CVE-2022-23960), where the vectors do what
    /// [`Predictor`] says.
    pub fn workaround_3(&self) -> i32 {
        match self.predictor {
            Predictor::Mmu | Predictor::History(_) => NEEDED,
            Predictor::Safe => NOT_NEEDED,
            Predictor::Unknown => NOT_SUPPORTED,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers(midr: u64, pfr0: u64, pfr1: u64) -> [i32; 3] {
        let core = core(
            midr,
            &Features {
                pfr0,
                pfr1,
                ..Features::default()
            },
        );
        [
            core.workaround_1(),
            core.workaround_2(),
            core.workaround_3(),
        ]
    }

    #[test]
    fn each_kind_of_core_gets_its_answers() {
        assert_eq!(answers(0x410f_d034, 0, 0), [1, -2, 1], "Cortex-A53");
        assert_eq!(answers(0x411f_d070, 0, 0), [0, -2, 0], "Cortex-A57");
        assert_eq!(answers(0x410f_d083, 0, 0), [0, -2, 0], "Cortex-A72");
        assert_eq!(
            answers(0x414f_d0b1, 1 << 56, 1 << 4),
            [1, -2, 0],
            "Cortex-A76"
        );
        assert_eq!(
            answers(0x410f_d0b0, 0, 0),
            [-1, -1, 0],
            "an early one, whose targets are not kept apart"
        );
        assert_eq!(
            answers(0x410f_d091, 0, 0),
            [-1, -1, -1],
            "Cortex-A73, for which nothing is done"
        );
        assert_eq!(
            answers(0x000f_0510, 2 << 56, 2 << 4),
            [1, -2, -1],
            "QEMU's max"
        );
        assert_eq!(
            answers(0x410f_d4f0, 3 << 56, 2 << 4),
            [1, -2, 1],
            "a core that keeps the history apart"
        );
    }
}
