//! Power levels and the states of power domains.

use crate::cell::Scalar;

/// A power level: 0 for a CPU, 1 for its parent domain, up to [`crate::MAX_LEVEL`].
pub type Level = u8;

/// Power level number of the CPUs themselves.
pub const CPU_LEVEL: Level = 0;

/// The state of one power domain, as the platform numbers its states.
///
/// 0 is running; the platform's own numbers grow with the depth of the state. Which of them are
/// retention and which power-down is said by
/// [`Platform::is_power_down`](crate::Platform::is_power_down).
///
/// ```
/// use psci::LocalState;
///
/// const RETENTION: LocalState = LocalState(1);
/// const OFF: LocalState = LocalState(2);
/// // The shallowest state is the least.
/// assert_eq!([OFF, RETENTION, LocalState::RUN].into_iter().min(), Some(LocalState::RUN));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct LocalState(pub u8);

impl LocalState {
    /// The domain runs.
    pub const RUN: Self = Self(0);
}

impl Scalar for LocalState {
    #[inline(always)]
    fn to_word(self) -> u64 {
        u64::from(self.0)
    }
    #[inline(always)]
    fn from_word(word: u64) -> Self {
        Self(word as u8)
    }
}

/// Number of power levels that a tree may have, CPUs included (PSCI DEN0022, 5.4.2.1: the field
/// PowerLevel has two bits).
pub const LEVELS: usize = 4;

/// Highest power level that a tree may have.
///
/// ```
/// // CPUs, clusters, groups of clusters, the system.
/// assert_eq!((psci::CPU_LEVEL, psci::MAX_LEVEL, psci::LEVELS), (0, 3, 4));
/// ```
pub const MAX_LEVEL: Level = LEVELS as Level - 1;

/// A local state for each power level, lowest first: what one CPU asks for, or what coordination
/// made of it.
///
/// ```
/// use psci::{CPU_LEVEL, CompositeState, LocalState};
///
/// let mut state = CompositeState::RUN;
/// state.set(CPU_LEVEL, LocalState(2));
/// state.set(1, LocalState(1));
/// assert_eq!((state.at(1), state.highest()), (LocalState(1), 1));
/// ```
// A word, so that it is copied and looked at as one.
#[repr(align(4))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct CompositeState {
    /// State of the CPU (0) and of its ancestors (1..). Levels that the tree lacks are
    /// [`LocalState::RUN`].
    pub levels: [LocalState; LEVELS],
}

impl CompositeState {
    /// Every level runs.
    pub const RUN: Self = Self {
        levels: [LocalState::RUN; LEVELS],
    };

    /// The state at `level`; [`LocalState::RUN`] at a level that no tree has.
    #[inline(always)]
    pub fn at(&self, level: Level) -> LocalState {
        self.levels
            .get(usize::from(level))
            .copied()
            .unwrap_or(LocalState::RUN)
    }

    /// Sets the state at `level`; does nothing at a level that no tree has.
    #[inline(always)]
    pub fn set(&mut self, level: Level, state: LocalState) {
        if let Some(slot) = self.levels.get_mut(usize::from(level)) {
            *slot = state;
        }
    }

    /// The highest level that does not run; 0 when none does.
    #[inline(always)]
    pub fn highest(&self) -> Level {
        // A byte a level: the highest that is set, without a loop. The lowest bit makes 0 of "all
        // run".
        let packed = u32::from_le_bytes(self.levels.map(|state| state.0));
        ((packed | 1).ilog2() / u8::BITS) as Level
    }

    /// True if no level leaves the running state above one that keeps it: a parent cannot be off
    /// while a child is on.
    pub(crate) fn is_without_gaps(&self) -> bool {
        self.levels.windows(2).all(|pair| match pair {
            [below, above] => *below != LocalState::RUN || *above == LocalState::RUN,
            _ => true,
        })
    }
}

/// The answer of NODE_HW_STATE about a power domain (PSCI DEN0022, 5.19).
///
/// ```
/// use psci::HwState;
///
/// assert_eq!([HwState::On, HwState::Off, HwState::Standby].map(|state| state as u64), [0, 1, 2]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HwState {
    /// HW_ON: the domain is on.
    On = 0,
    /// HW_OFF: the domain is off.
    Off = 1,
    /// HW_STANDBY: the domain is in standby or retention.
    Standby = 2,
}
