//! Whose services these are.

/// A service of the calling convention that the library is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
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
    /// Grows with changes that callers notice.
    pub major: u32,
    /// Grows with changes that they do not.
    pub minor: u32,
}

const STANDARD_UID: [u32; 4] = [0xcfd0_a72e, 0xf244_797c, 0x5a2d_4abc, 0x9f3b_75b3];
const VENDOR_UID: [u32; 4] = [0xeed3_323c, 0xe84b_f014, 0x72c6_f7ac, 0x8314_d2b2];

impl Service {
    /// This library's own: standard service `2ea7d0cf-7c79-44f2-bc4a-2d5ab3753b9f`, vendor service
    /// `3c32d3ee-14f0-4be8-acf7-c672b2d21483`, revision 0.1.
    pub const fn identity(self) -> Identity {
        let uid = match self {
            Self::Standard => STANDARD_UID,
            Self::VendorEl3 => VENDOR_UID,
        };
        Identity { uid, major: 0, minor: 1 }
    }
}
