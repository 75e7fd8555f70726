//! A board that is asymmetric on purpose.

use super::board::Board;
use psci::CpuIndex;
use psci::Error;
use psci::SuspendRequest;
use psci::{CompositeState, Level, LocalState};
use psci::{CpuDesc, DomainDesc, Topology};
use psci::{PowerState, PowerStateFormat};

/// Number of CPUs of [`Asymmetric`].
pub const CPUS: usize = 6;

/// The power domains of [`Asymmetric`].
pub const DOMAINS: [DomainDesc; 6] = [
    DomainDesc {
        parent: None,
        level: 3,
    },
    DomainDesc {
        parent: Some(0),
        level: 2,
    },
    DomainDesc {
        parent: Some(0),
        level: 2,
    },
    DomainDesc {
        parent: Some(1),
        level: 1,
    },
    DomainDesc {
        parent: Some(1),
        level: 1,
    },
    DomainDesc {
        parent: Some(2),
        level: 1,
    },
];

/// The CPUs of [`Asymmetric`].
pub const CPU_TABLE: [CpuDesc; CPUS] = [
    CpuDesc {
        mpidr: 0x0_0000,
        parent: 3,
    },
    CpuDesc {
        mpidr: 0x0_0100,
        parent: 4,
    },
    CpuDesc {
        mpidr: 0x0_0101,
        parent: 4,
    },
    CpuDesc {
        mpidr: 0x1_0000,
        parent: 5,
    },
    CpuDesc {
        mpidr: 0x1_0001,
        parent: 5,
    },
    CpuDesc {
        mpidr: 0x1_0002,
        parent: 5,
    },
];

/// The tree of [`Asymmetric`].
pub const TOPOLOGY: Topology<'static> = Topology {
    domains: &DOMAINS,
    cpus: &CPU_TABLE,
};

/// Affinity fields of a CPU of [`Asymmetric`].
pub fn mpidr(cpu: u16) -> u64 {
    CPU_TABLE[usize::from(cpu)].mpidr
}

/// The composite state with these local states, lowest level first.
pub fn state(levels: [u8; 4]) -> CompositeState {
    CompositeState {
        levels: levels.map(LocalState),
    }
}

/// A board that is asymmetric on purpose.
///
/// ```text
/// level 3                  0 (system)
/// level 2         1                      2
/// level 1     3       4                  5 (has retention)
/// CPUs        0      1 2               3 4 5
/// ```
///
/// States: a CPU's 1 is retention, 2 off. A cluster's 2 is off; cluster 5 also has 1, retention. At
/// level 2, 1 is retention, 2 and 3 are off, and CPU_OFF asks for 3. Level 3 goes down (state 1) in
/// SYSTEM_SUSPEND only.
///
/// `power_state`, both formats: a nibble of the StateID for the state of each of the levels 0 to 2,
/// then one for the level at which the caller is the last.
#[derive(Clone, Copy, Debug, Default)]
pub struct Asymmetric;

impl Board for Asymmetric {
    fn topology(&self) -> Topology<'static> {
        TOPOLOGY
    }

    fn is_power_down(&self, level: Level, state: LocalState) -> bool {
        state.0 >= if level == 3 { 1 } else { 2 }
    }

    fn decode_power_state(
        &self,
        cpu: CpuIndex,
        format: PowerStateFormat,
        raw: u32,
    ) -> Result<SuspendRequest, Error> {
        let fields = PowerState::parse(format, raw).ok_or(Error::InvalidParameters)?;
        let nibble = |n: u32| (fields.state_id >> (4 * n) & 0xf) as u8;
        let state = state([nibble(0), nibble(1), nibble(2), 0]);
        let retains = cpu.get() >= 3;
        let known = matches!(nibble(0), 1 | 2)
            && (matches!(nibble(1), 0 | 2) || nibble(1) == 1 && retains)
            && nibble(2) <= 3
            && fields.state_id >> 16 == 0;
        if !known || fields.level.is_some_and(|level| level != state.highest()) {
            return Err(Error::InvalidParameters);
        }
        Ok(SuspendRequest {
            state,
            last_at_level: nibble(3),
        })
    }

    fn off_state(&self) -> CompositeState {
        state([2, 2, 3, 0])
    }

    fn system_suspend_state(&self) -> Option<CompositeState> {
        Some(state([2, 2, 3, 1]))
    }

    fn default_suspend_state(&self) -> Option<CompositeState> {
        Some(state([2, 0, 0, 0]))
    }

    fn is_valid_entry_point(&self, address: u64) -> bool {
        address >= 0x6000_0000
    }
}
