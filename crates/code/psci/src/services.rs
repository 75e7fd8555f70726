//! Whose services these are: the queries that every service has (SMCCC DEN0028, 6.2), and the calls
//! of the Arm architecture service that the firmware answers.
//!
//! | query | a range with a service | the firmware's other ranges | ranges of hypervisors and applications |
//! |---|---|---|---|
//! | call count | its calls | 0: no calls | NOT_SUPPORTED |
//! | UID, revision | [`Identity`] | NOT_SUPPORTED | NOT_SUPPORTED |
//!
//! Later issues of DEN0028 deprecate the call count. It is answered all the same: callers written
//! to the earlier ones ask, and a deprecated query that is answered harms nobody. A call counts
//! once for each form that it has, 32-bit and 64-bit; the queries themselves do not count.

use crate::call::Outcome;
use crate::error::Error;
use crate::id;
use crate::identity::{Identity, Service};
use crate::platform::Platform;
use crate::psci::Psci;

/// The upper half of an id of the Arm architecture service.
const ARCHITECTURE: u32 = 0x8000;
/// The lower half of the id of a query.
const CALL_COUNT: u32 = 0xff00;
const UID: u32 = 0xff01;
const REVISION: u32 = 0xff03;

/// The calls of the Arm architecture service that a platform may have.
const ARCHITECTURE_CALLS: [u32; 4] = [
    id::SMCCC_ARCH_SOC_ID,
    id::SMCCC_ARCH_WORKAROUND_1,
    id::SMCCC_ARCH_WORKAROUND_2,
    id::SMCCC_ARCH_WORKAROUND_3,
];

impl<P: Platform> Psci<'_, P> {
    /// The answer to a call that is neither PSCI nor PMF, in its 32-bit form.
    #[cold]
    pub(crate) fn other_call(&self, function: u32, args: [u64; 3]) -> Outcome {
        // The commonest of what is left: nothing at all.
        if function & 0xffff < CALL_COUNT && function >> 16 != ARCHITECTURE {
            return Outcome::error(Error::NotSupported);
        }
        // Without stamps there is no PMF.
        let service = match function >> 16 {
            ARCHITECTURE => Some(Service::Architecture),
            0x8200 if !cfg!(feature = "off") => Some(Service::Silicon),
            0x8400 => Some(Service::Standard),
            0x8700 if !cfg!(feature = "off") => Some(Service::VendorEl3),
            // Cores, silicon, manufacturer, vendor of EL3, Trusted OS: ranges of the firmware's.
            0x8100 | 0x8200 | 0x8300 | 0x8700 | 0xbf00 => None,
            _ => return Outcome::error(Error::NotSupported),
        };
        let answer = match (function & 0xffff, service) {
            (CALL_COUNT, service) => Some([
                service.map_or(0, |service| self.call_count(service)),
                0,
                0,
                0,
            ]),
            (UID, Some(service)) => {
                Some(self.platform.service_identity(service).uid.map(u64::from))
            }
            (REVISION, Some(service)) => {
                let Identity { major, minor, .. } = self.platform.service_identity(service);
                Some([u64::from(major), u64::from(minor), 0, 0])
            }
            (2.., Some(Service::Architecture)) => self.platform.smccc_arch_call(function, args),
            _ => None,
        };
        answer.map_or(Outcome::error(Error::NotSupported), Outcome::Return)
    }

    /// The same in its 64-bit form: only the Arm architecture service's calls have one.
    #[cold]
    pub(crate) fn wide_call(&self, function: u32, args: [u64; 3]) -> Outcome {
        let arch = matches!(function, 0x8000_0002..0x8000_ff00);
        let answer = arch
            .then(|| self.platform.smccc_arch_call(function | id::SMC64, args))
            .flatten();
        answer.map_or(Outcome::error(Error::NotSupported), Outcome::Return)
    }

    /// The number of calls that a service has.
    fn call_count(&self, service: Service) -> u64 {
        let count = match service {
            Service::Architecture => {
                let there = |function: &u32| self.platform.smccc_arch_feature(*function) >= 0;
                let forms = ARCHITECTURE_CALLS
                    .iter()
                    .flat_map(|&function| [function, function | id::SMC64]);
                [id::SMCCC_VERSION, id::SMCCC_ARCH_FEATURES].len() + forms.filter(there).count()
            }
            Service::Standard => [false, true]
                .iter()
                .map(|&wide| {
                    id::PSCI_FUNCTIONS
                        .iter()
                        .filter(|&&function| self.offers(function, wide))
                        .count()
                })
                .sum(),
            Service::Silicon => 2 * [id::PMF_GET_TIMESTAMP_OLD].len(),
            Service::VendorEl3 => 2 * [id::PMF_GET_TIMESTAMP, id::PMF_VERSION].len(),
        };
        count as u64
    }
}
