//! Options of a board.

/// Options of a machine: its coherency, locks and atomics.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MachineOptions {
    /// The power controller is told after the locks are released.
    pub outside_locks: bool,
    /// CPUs stay coherent while they power down: the hardware cleans their caches.
    pub coherent: bool,
    /// Ticket locks instead of bakeries; only where CPUs stay coherent.
    pub ticket: bool,
    /// A read-modify-write is one instruction of LSE, rather than a pair of exclusives whose store
    /// may fail.
    #[serde(default)]
    pub lse: bool,
    /// Words that share a cache line; the firmware's image has 1.
    pub cells_per_line: usize,
}

impl MachineOptions {
    /// The kinds of machine that the library supports: CPUs that leave coherency, and CPUs that
    /// stay coherent, with bakeries and with ticket locks, those on cores without LSE and with it.
    pub fn all() -> Vec<Self> {
        let own = Self::default();
        let ticket = Self {
            coherent: true,
            ticket: true,
            ..own
        };
        vec![
            own,
            Self {
                coherent: true,
                ..own
            },
            ticket,
            Self {
                lse: true,
                ..ticket
            },
        ]
    }
}

impl Default for MachineOptions {
    fn default() -> Self {
        Self {
            outside_locks: false,
            coherent: false,
            ticket: false,
            lse: false,
            cells_per_line: 1,
        }
    }
}
