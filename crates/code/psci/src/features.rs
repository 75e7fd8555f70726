//! PSCI_FEATURES and SMCCC_ARCH_FEATURES (PSCI DEN0022, 5.16; SMCCC DEN0028, 7.3).

use crate::call::Outcome;
use crate::error::Error;
use crate::id;
use crate::platform::Platform;
use crate::power_state::PowerStateFormat;
use crate::psci::Psci;
use crate::trusted_os::TrustedOs;

/// CPU_SUSPEND's flags: OS-initiated mode is there.
const OS_INITIATED: u64 = 1 << 0;
/// CPU_SUSPEND's flags: extended `power_state`.
const EXTENDED_FORMAT: u64 = 1 << 1;
/// SYSTEM_OFF2's flags: HIBERNATE_OFF is there.
const HIBERNATE_OFF: u64 = 1 << 0;

impl<P: Platform> Psci<'_, P> {
    /// True if the platform has the call.
    #[inline]
    pub(crate) fn implements(&self, function: u32) -> bool {
        match function {
            id::PSCI_VERSION
            | id::CPU_SUSPEND
            | id::CPU_OFF
            | id::CPU_ON
            | id::AFFINITY_INFO
            | id::MIGRATE_INFO_TYPE
            | id::SYSTEM_OFF
            | id::SYSTEM_RESET
            | id::PSCI_FEATURES
            | id::PSCI_STAT_RESIDENCY
            | id::PSCI_STAT_COUNT => true,
            id::MIGRATE | id::MIGRATE_INFO_UP_CPU => {
                self.platform.trusted_os() != TrustedOs::Absent
            }
            id::CPU_FREEZE => self.platform.optional_calls().cpu_freeze,
            id::CPU_DEFAULT_SUSPEND => self.platform.default_suspend_state().is_some(),
            id::NODE_HW_STATE => self.platform.optional_calls().node_hw_state,
            id::SYSTEM_SUSPEND => self.platform.system_suspend_state().is_some(),
            id::PSCI_SET_SUSPEND_MODE => self.platform.optional_calls().os_initiated,
            id::SYSTEM_RESET2 => self.platform.optional_calls().system_reset2,
            id::MEM_PROTECT => self.platform.optional_calls().mem_protect,
            id::MEM_PROTECT_CHECK_RANGE => self.platform.optional_calls().mem_protect_check_range,
            id::SYSTEM_OFF2 => self.platform.optional_calls().system_off2,
            _ => false,
        }
    }

    /// PSCI_FEATURES: flags if there is a call with exactly this id.
    pub(crate) fn features(&self, function: u32) -> u64 {
        let wide = function & id::SMC64 != 0;
        let flags = match function & !id::SMC64 {
            id::SMCCC_VERSION => (!wide).then_some(0),
            call if !self.offers(call, wide) => None,
            id::CPU_SUSPEND => {
                let mode = if self.platform.optional_calls().os_initiated {
                    OS_INITIATED
                } else {
                    0
                };
                Some(match self.platform.power_state_format() {
                    PowerStateFormat::Original => mode,
                    PowerStateFormat::Extended => mode | EXTENDED_FORMAT,
                })
            }
            id::SYSTEM_OFF2 => Some(HIBERNATE_OFF),
            _ => Some(0),
        };
        flags.unwrap_or(Error::NotSupported.register())
    }

    /// SMCCC_ARCH_FEATURES.
    pub(crate) fn smccc_arch_features(&self, function: u32) -> Outcome {
        let answer = match function {
            id::SMCCC_VERSION | id::SMCCC_ARCH_FEATURES => 0,
            other => self.platform.smccc_arch_feature(other),
        };
        Outcome::value(i64::from(answer) as u64)
    }
}
