//! Whose services these are: the queries of a service's UID and revision (SMCCC DEN0028, 6.2), and
//! the calls of the Arm architecture service that the firmware answers.
//!
//! The count of a service's calls is deprecated (DEN0028, 6.2) and not supported.

use crate::call::Outcome;
use crate::error::Error;
use crate::id;
use crate::identity::{Identity, Service};
use crate::platform::Platform;
use crate::psci::Psci;

impl<P: Platform> Psci<'_, P> {
    /// The answer to a call that is neither PSCI nor PMF, in its 32-bit form.
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
