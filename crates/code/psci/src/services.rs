//! Whose services these are: the queries of a service's UID and revision (SMCCC DEN0028, 6.2), and the calls of the Arm architecture
//! service that the firmware answers.
//!
//! The count of a service's calls is deprecated (DEN0028, 6.2) and not supported.

use crate::call::Outcome;
use crate::error::Error;
use crate::id;
use crate::platform::Platform;
use crate::psci::Psci;

/// A service of the calling convention that the library is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// Standard Secure Service: PSCI.
    Standard,
    /// Vendor Specific EL3 Monitor Service: PMF.
    VendorEl3,
}

/// What a service answers about itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The UUID, as W0 to W3 return it: bytes 0 to 3 in the first, the lowest in the lowest bits.
    pub uid: [u32; 4],
    /// Grows with changes that callers notice.
    pub major: u32,
    /// Grows with changes that they do not.
    pub minor: u32,
}

const STANDARD_UID: [u32; 4] = [0xcfd0_a72e, 0xf244_797c, 0x5a2d_4abc, 0x9f3b_75b3];
const VENDOR_UID: [u32; 4] = [0xeed3_323c, 0xe84b_f014, 0x72c6_f7ac, 0x8314_d2b2];

impl Service {
    /// This library's own: standard service `2ea7d0cf-7c79-44f2-bc4a-2d5ab3753b9f`, vendor service `3c32d3ee-14f0-4be8-acf7-c672b2d21483`, revision 0.1.
    pub const fn identity(self) -> Identity {
        let uid = match self {
            Self::Standard => STANDARD_UID,
            Self::VendorEl3 => VENDOR_UID,
        };
        Identity { uid, major: 0, minor: 1 }
    }
}

impl<P: Platform> Psci<'_, P> {
    /// What is neither PSCI nor PMF, in its 32-bit form.
    #[cold]
    pub(crate) fn other_call(&self, function: u32, args: [u64; 3]) -> Outcome {
        let identity = |service| self.platform.service_identity(service);
        match function {
            id::STANDARD_SERVICE_UID => uid(identity(Service::Standard)),
            id::STANDARD_SERVICE_REVISION => revision(identity(Service::Standard)),
            // Without stamps there is no such service.
            id::VENDOR_EL3_SERVICE_UID if !cfg!(feature = "off") => uid(identity(Service::VendorEl3)),
            id::VENDOR_EL3_SERVICE_REVISION if !cfg!(feature = "off") => revision(identity(Service::VendorEl3)),
            0x8000_0002..=0x8000_ffff => match self.platform.smccc_arch_call(function, args) {
                Some(values) => Outcome::Return(values),
                None => Outcome::error(Error::NotSupported),
            },
            _ => Outcome::error(Error::NotSupported),
        }
    }
}

fn uid(identity: Identity) -> Outcome {
    Outcome::Return(identity.uid.map(u64::from))
}

fn revision(identity: Identity) -> Outcome {
    Outcome::Return([u64::from(identity.major), u64::from(identity.minor), 0, 0])
}
