//! Whose services these are.

/// A service of the calling convention that the library is part of.
///
/// ```
/// use psci::{Identity, Service};
///
/// // Firmware with calls of its own in a service answers for itself.
/// let own = Identity { uid: [1, 2, 3, 4], ..Service::Standard.identity() };
/// assert_eq!((own.major, own.minor), (0, 1));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Service {
    /// Arm Architecture Service: SMCCC_VERSION and its kin.
    Architecture,
    /// Silicon Provider Service: PMF, as older readers call it.
    Silicon,
    /// Standard Secure Service: PSCI.
    Standard,
    /// Vendor Specific EL3 Monitor Service: PMF.
    VendorEl3,
}

/// The identity that a service answers with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The UUID, as W0 to W3 return it: bytes 0 to 3 in the first, the lowest in the lowest bits.
    pub uid: [u32; 4],
    /// Major revision: grows with changes that break callers.
    pub major: u32,
    /// Minor revision: grows with all other changes.
    pub minor: u32,
}

const ARCHITECTURE_UID: [u32; 4] = [0x13a1_fe97, 0x9042_bce9, 0x800b_62b0, 0xd623_28f3];
const SILICON_UID: [u32; 4] = [0x6eb4_2bc6, 0x2341_872d, 0x9458_498e, 0x81f3_dfcc];
const STANDARD_UID: [u32; 4] = [0xcfd0_a72e, 0xf244_797c, 0x5a2d_4abc, 0x9f3b_75b3];
const VENDOR_UID: [u32; 4] = [0xeed3_323c, 0xe84b_f014, 0x72c6_f7ac, 0x8314_d2b2];

impl Service {
    /// This library's own, all of revision 0.1.
    ///
    /// | service | UUID |
    /// |---|---|
    /// | [`Self::Architecture`] | `97fea113-e9bc-4290-b062-0b80f32823d6` |
    /// | [`Self::Silicon`] | `c62bb46e-2d87-4123-8e49-5894ccdff381` |
    /// | [`Self::Standard`] | `2ea7d0cf-7c79-44f2-bc4a-2d5ab3753b9f` |
    /// | [`Self::VendorEl3`] | `3c32d3ee-14f0-4be8-acf7-c672b2d21483` |
    pub const fn identity(self) -> Identity {
        let uid = match self {
            Self::Architecture => ARCHITECTURE_UID,
            Self::Silicon => SILICON_UID,
            Self::Standard => STANDARD_UID,
            Self::VendorEl3 => VENDOR_UID,
        };
        Identity {
            uid,
            major: 0,
            minor: 1,
        }
    }
}
