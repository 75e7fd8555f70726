//! Linux's counts of idle states.

use crate::states::{MAX_STATES, States};

/// Unit in which a stay's length is counted. Linux counts nanoseconds today; before 2019 it counted
/// microseconds in an `int`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Clock {
    /// Nanoseconds.
    #[default]
    Nanoseconds,
    /// Microseconds, by an integer division by 1000, at most `INT_MAX`.
    DivideBy1000,
    /// "Microseconds" of 1024 ns, by a shift of 10 bits, at most `INT_MAX`: 2.34375 % too few.
    ShiftBy10,
}

/// The greatest number that a C `int` holds.
const INT_MAX: u64 = i32::MAX as u64;

impl Clock {
    /// The number that this clock makes of a stay: nanoseconds or microseconds.
    pub const fn count(self, stay_ns: u64) -> u64 {
        let microseconds = match self {
            Self::Nanoseconds => return stay_ns,
            Self::DivideBy1000 => stay_ns / 1000,
            Self::ShiftBy10 => stay_ns >> 10,
        };
        if microseconds > INT_MAX {
            INT_MAX
        } else {
            microseconds
        }
    }

    /// The stay in nanoseconds as the kernel takes it to be: the number of [`Clock::count`] in its
    /// own unit.
    pub const fn residency_ns(self, stay_ns: u64) -> u64 {
        match self {
            Self::Nanoseconds => stay_ns,
            Self::DivideBy1000 | Self::ShiftBy10 => self.count(stay_ns) * 1000,
        }
    }
}

/// Counts of a state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Times that it was entered.
    pub entered: u64,
    /// Time that CPUs stayed in it, in nanoseconds.
    pub time_ns: u64,
    /// Stays shorter than its target residency, while a shallower state was enabled.
    pub above: u64,
    /// Stays for which the next deeper enabled state would have paid.
    pub below: u64,
    /// Times that it was asked for and the hardware refused.
    pub rejected: u64,
}

impl core::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.entered += other.entered;
        self.time_ns += other.time_ns;
        self.above += other.above;
        self.below += other.below;
        self.rejected += other.rejected;
    }
}

/// The counts of a CPU's states.
#[derive(Default)]
pub struct Accounting {
    clock: Clock,
    usage: [Usage; MAX_STATES],
}

impl Accounting {
    /// Empty counts, with a clock.
    pub fn new(clock: Clock) -> Self {
        Self {
            clock,
            ..Self::default()
        }
    }

    /// The counts of a state; a number beyond the last that there can be is that one's.
    pub fn usage(&self, state: usize) -> &Usage {
        &self.usage[state.min(MAX_STATES - 1)]
    }

    /// Counts a stay in the state that was entered, and returns its length in nanoseconds as a
    /// governor is told it.
    #[inline]
    pub fn leave(&mut self, states: &States, entered: usize, stay_ns: u64) -> u64 {
        let entered = entered.min(states.last());
        let residency_ns = self.clock.residency_ns(stay_ns);
        let state = states.get(entered);
        let usage = &mut self.usage[entered];
        usage.entered += 1;
        usage.time_ns = usage.time_ns.saturating_add(residency_ns);
        if residency_ns < state.target_residency_ns {
            if states.all()[..entered]
                .iter()
                .any(|shallower| !shallower.disabled)
            {
                usage.above += 1;
            }
        } else if residency_ns > state.exit_latency_ns {
            // Only the next deeper state counts, however deep the best would have been.
            let deeper = states.all()[entered + 1..]
                .iter()
                .find(|deeper| !deeper.disabled);
            if deeper.is_some_and(|deeper| {
                residency_ns - state.exit_latency_ns >= deeper.target_residency_ns
            }) {
                usage.below += 1;
            }
        }
        residency_ns
    }

    /// Counts a state that was asked for and that the hardware refused.
    pub fn refused(&mut self, states: &States, requested: usize) {
        self.usage[requested.min(states.last())].rejected += 1;
    }
}
