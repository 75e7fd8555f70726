//! PSCI for EL3 firmware (work in progress: the platform trait comes first).
#![no_std]
#![forbid(unsafe_code)]

pub mod platform;

pub use platform::*;

/// A PSCI return code other than success (PSCI DEN0022, 5.2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// NOT_SUPPORTED (-1).
    NotSupported,
    /// INVALID_PARAMETERS (-2).
    InvalidParameters,
    /// DENIED (-3).
    Denied,
    /// ALREADY_ON (-4).
    AlreadyOn,
    /// ON_PENDING (-5).
    OnPending,
    /// INTERNAL_FAILURE (-6).
    InternalFailure,
    /// NOT_PRESENT (-7).
    NotPresent,
    /// DISABLED (-8).
    Disabled,
    /// INVALID_ADDRESS (-9).
    InvalidAddress,
}

/// Highest power level that a tree may have.
pub const MAX_LEVEL: Level = LEVELS as Level - 1;
