//! The SMC entry: dispatch.

use crate::call::{Call, Outcome};
use crate::error::{Error, status};
use crate::id;
use crate::platform::Platform;
use crate::points::psci as point;
use crate::power_down::Abandonment;
use crate::psci::Psci;
use crate::stat_calls::Statistic;
use crate::tree::Caller;

/// PSCI 1.3, as PSCI_VERSION returns it.
///
/// ```
/// let (major, minor) = (psci::PSCI_VERSION >> 16, psci::PSCI_VERSION & 0xffff);
/// assert_eq!((major, minor), (1, 3));
/// ```
pub const PSCI_VERSION: u32 = 1 << 16 | 3;

/// SMCCC 1.2, as SMCCC_VERSION returns it.
pub const SMCCC_VERSION: u32 = 1 << 16 | 2;

/// The calls that have a 64-bit form, by the low bits of their id.
const WIDE: u32 = {
    use id::*;
    const fn bit(id: u32) -> u32 {
        1 << (id & 31)
    }
    bit(CPU_SUSPEND)
        | bit(CPU_ON)
        | bit(AFFINITY_INFO)
        | bit(MIGRATE)
        | bit(MIGRATE_INFO_UP_CPU)
        | bit(CPU_DEFAULT_SUSPEND)
        | bit(NODE_HW_STATE)
        | bit(SYSTEM_SUSPEND)
        | bit(PSCI_STAT_RESIDENCY)
        | bit(PSCI_STAT_COUNT)
        | bit(SYSTEM_RESET2)
        | bit(MEM_PROTECT_CHECK_RANGE)
        | bit(SYSTEM_OFF2)
};

impl<'a, P: Platform> Psci<'a, P> {
    /// Handles an SMC of the calling CPU. Anything may come in: what is not known returns
    /// NOT_SUPPORTED.
    #[inline]
    pub fn handle_smc(&self, call: Call) -> Outcome {
        let wide = call.function & id::SMC64 != 0;
        let args = if wide {
            call.args
        } else {
            call.args.map(|arg| u64::from(arg as u32))
        };
        let Some(me) = self.caller() else {
            return Outcome::error(Error::InternalFailure);
        };
        match call.function & !id::SMC64 {
            function @ 0x8400_0000..=0x8400_001f => {
                self.stamp_at(me, point::ENTER_PSCI, call.function, call.entered);
                let outcome = self.dispatch(me, function, wide, args);
                self.stamp(me, point::EXIT_PSCI, call.function);
                outcome
            }
            id::SMCCC_VERSION if !wide => Outcome::value(u64::from(SMCCC_VERSION)),
            id::SMCCC_ARCH_FEATURES if !wide => self.smccc_arch_features(args[0] as u32),
            // Kept in the older range, too: TF-A's test framework of releases before 2.12, and the
            // readers that were made for it, ask nowhere else.
            id::PMF_GET_TIMESTAMP | id::PMF_GET_TIMESTAMP_OLD => self.pmf_get_timestamp(wide, args),
            id::PMF_VERSION => self.pmf_version(),
            function if !wide => self.other_call(function, args),
            function => self.wide_call(function, args),
        }
    }

    /// A parameter of 32 bits is the lower half of its register, in the 64-bit form of a call as
    /// well (SMCCC DEN0028, 3.1).
    #[inline]
    fn dispatch(
        &self,
        me: Caller<'a, P>,
        function: u32,
        wide: bool,
        [x1, x2, x3]: [u64; 3],
    ) -> Outcome {
        if !self.offers(function, wide) {
            return Outcome::error(Error::NotSupported);
        }
        let x0 = match function {
            id::PSCI_VERSION => u64::from(PSCI_VERSION),
            id::CPU_SUSPEND => status(self.cpu_suspend(me, x1 as u32, (x2, x3))),
            id::CPU_OFF | id::CPU_FREEZE => match self.turn_off(me, function == id::CPU_FREEZE) {
                Ok(Abandonment::Undone) => Error::Denied.register(),
                Ok(Abandonment::TurnedOn(entry)) => return Outcome::Enter(entry),
                Err(error) => error.register(),
            },
            id::CPU_ON => status(self.cpu_on(me, x1, (x2, x3))),
            id::AFFINITY_INFO => value(self.affinity_info(x1, x2 as u32)),
            id::MIGRATE => status(self.migrate(me.cpu, x1)),
            id::MIGRATE_INFO_TYPE => self.migrate_info_type(),
            id::MIGRATE_INFO_UP_CPU => self.migrate_info_up_cpu(),
            id::SYSTEM_OFF => self.system_off(),
            id::SYSTEM_RESET => self.system_reset(),
            id::PSCI_FEATURES => self.features(x1 as u32),
            id::CPU_DEFAULT_SUSPEND => status(self.cpu_default_suspend(me, (x1, x2))),
            id::NODE_HW_STATE => value(self.node_hw_state(x1, x2 as u32)),
            id::SYSTEM_SUSPEND => status(self.system_suspend(me, (x1, x2))),
            id::PSCI_SET_SUSPEND_MODE => status(self.set_suspend_mode(me, x1 as u32)),
            id::PSCI_STAT_RESIDENCY => self.statistic(x1, x2 as u32, Statistic::Residency),
            id::PSCI_STAT_COUNT => self.statistic(x1, x2 as u32, Statistic::Count),
            id::SYSTEM_RESET2 => self.system_reset2(x1 as u32, x2),
            id::MEM_PROTECT => value(self.mem_protect(x1 as u32)),
            id::MEM_PROTECT_CHECK_RANGE => status(self.mem_protect_check_range(x1, x2)),
            id::SYSTEM_OFF2 => self.system_off2(x1 as u32, x2),
            _ => Error::NotSupported.register(),
        };
        Outcome::value(x0)
    }

    /// True if there is a call with this id (its 32-bit form) and width. Dispatch and PSCI_FEATURES
    /// both ask.
    #[inline]
    pub(crate) fn offers(&self, function: u32, wide: bool) -> bool {
        (!wide || WIDE >> (function & 31) & 1 != 0) && self.implements(function)
    }
}

/// X0 of a call that returns a value or an error.
#[inline(always)]
fn value(result: Result<u64, Error>) -> u64 {
    result.unwrap_or_else(Error::register)
}
