//! Cores, by their instructions for atomics.

/// The instructions for atomics that a core has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Core {
    /// `LDADD`, `SWP`, `CAS` and their like (FEAT_LSE). Without them a read-modify-write is a load
    /// and a store that are exclusive, which order less and may fail.
    pub lse: bool,
    /// `LDAPR` (FEAT_LRCPC), which orders less than `LDAR`. Compilers use it where they are told
    /// that they may.
    pub rcpc: bool,
}

impl Core {
    /// The cores that compiled code may meet: with LSE, with exclusives, and with LSE and RCpc.
    pub const ALL: [Self; 3] = [
        Self::LSE,
        Self {
            lse: false,
            rcpc: false,
        },
        Self {
            lse: true,
            rcpc: true,
        },
    ];
    /// A core with LSE and without RCpc, which orders most.
    pub const LSE: Self = Self {
        lse: true,
        rcpc: false,
    };
}

impl std::fmt::Display for Core {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{}{}",
            if self.lse { "LSE" } else { "LL/SC" },
            if self.rcpc { " and RCpc" } else { "" }
        )
    }
}
