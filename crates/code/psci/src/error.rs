//! Return codes.

/// A PSCI return code other than success (PSCI DEN0022, 5.2.2).
///
/// ```
/// use psci::Error;
///
/// assert_eq!(Error::Denied.code(), -3);
/// // The caller of a 64-bit call sees the code in X0.
/// assert_eq!(Error::Denied.code() as i64 as u64, 0xffff_ffff_ffff_fffd);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
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

impl Error {
    /// The number that the caller sees.
    pub const fn code(self) -> i32 {
        match self {
            Self::NotSupported => -1,
            Self::InvalidParameters => -2,
            Self::Denied => -3,
            Self::AlreadyOn => -4,
            Self::OnPending => -5,
            Self::InternalFailure => -6,
            Self::NotPresent => -7,
            Self::Disabled => -8,
            Self::InvalidAddress => -9,
        }
    }

    /// The code as the caller's X0 holds it, sign-extended; W0 of a 32-bit caller is right as well.
    pub(crate) const fn register(self) -> u64 {
        self.code() as i64 as u64
    }
}

/// X0 of a call that returns a status.
#[inline(always)]
pub(crate) fn status(result: Result<(), Error>) -> u64 {
    match result {
        Ok(()) => 0,
        Err(error) => error.register(),
    }
}
