//! The states of a CPU.

use crate::number::Number;
use core::fmt;

/// The most states that a CPU can have, as in Linux (`CPUIDLE_STATE_MAX`).
pub const MAX_STATES: usize = 10;

/// An idle state. Times are nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// The time that leaving it takes at worst; where entering cannot be broken off, entering
    /// counts too.
    pub exit_latency_ns: u64,
    /// The time that a stay must last to pay.
    pub target_residency_ns: u64,
    /// True if the CPU polls in it instead of waiting for an interrupt.
    pub polling: bool,
    /// True if the CPU's own timer stops in it, so that a broadcast timer must wake the CPU.
    pub stops_timer: bool,
    /// True if governors must not choose it.
    pub disabled: bool,
}

impl State {
    /// A state that waits for an interrupt and keeps its timer.
    pub const fn new(exit_latency_ns: u64, target_residency_ns: u64) -> Self {
        Self {
            exit_latency_ns,
            target_residency_ns,
            polling: false,
            stops_timer: false,
            disabled: false,
        }
    }

    /// A state that polls.
    pub const fn polling() -> Self {
        Self {
            polling: true,
            ..Self::new(0, 0)
        }
    }

    /// The same state, disabled.
    pub const fn disabled(self) -> Self {
        Self {
            disabled: true,
            ..self
        }
    }
}

/// Why states are no table of states.
#[derive(Debug)]
pub enum StatesError {
    /// There are none, or more than [`MAX_STATES`].
    Count(usize),
    /// The state of this number has a smaller target residency than the one before it.
    Order(usize),
}

impl fmt::Display for StatesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(count) => write!(f, "{count} idle states; there must be 1 to {MAX_STATES}"),
            Self::Order(at) => {
                write!(
                    f,
                    "idle state {at} has a smaller target residency than state {}: the order is from shallow to deep",
                    at - 1
                )
            }
        }
    }
}

impl core::error::Error for StatesError {}

/// The states of a CPU, from shallow to deep.
#[derive(Clone, Copy, Debug)]
pub struct States {
    states: [State; MAX_STATES],
    count: usize,
}

impl States {
    /// A table of states, from shallow to deep.
    ///
    /// # Errors
    /// There are none or too many; target residencies fall.
    pub fn new(states: &[State]) -> Result<Self, StatesError> {
        if states.is_empty() || states.len() > MAX_STATES {
            return Err(StatesError::Count(states.len()));
        }
        if let Some(at) = states
            .windows(2)
            .position(|pair| pair[1].target_residency_ns < pair[0].target_residency_ns)
        {
            return Err(StatesError::Order(at + 1));
        }
        let mut table = [State::default(); MAX_STATES];
        table[..states.len()].copy_from_slice(states);
        Ok(Self {
            states: table,
            count: states.len(),
        })
    }

    /// The number of states that there are, at least 1.
    #[expect(clippy::len_without_is_empty, reason = "there is always one")]
    pub const fn len(&self) -> usize {
        self.count
    }

    /// The states, from shallow to deep.
    #[inline]
    pub fn all(&self) -> &[State] {
        &self.states[..self.count]
    }

    /// The number of the deepest state.
    #[inline]
    pub const fn last(&self) -> usize {
        self.count - 1
    }

    /// A state by its number; a number beyond the last is the last.
    #[inline]
    pub fn get(&self, state: usize) -> &State {
        &self.states[state.min(self.last())]
    }

    /// The number of the shallowest state that is not disabled; 0 where all are.
    pub fn first_enabled(&self) -> usize {
        self.all()
            .iter()
            .position(|state| !state.disabled)
            .unwrap_or(0)
    }

    /// The number of the deepest state that is not disabled and takes at most so many nanoseconds
    /// to leave; that of the shallowest that is not disabled where none is.
    pub fn deepest_within(&self, latency_ns: u64) -> usize {
        self.all()
            .iter()
            .rposition(|state| !state.disabled && state.exit_latency_ns <= latency_ns)
            .unwrap_or_else(|| self.first_enabled())
    }

    /// True if a state may not be chosen.
    #[inline]
    pub fn is_disabled(&self, state: usize) -> bool {
        self.get(state).disabled
    }

    /// The nearest state shallower than `from` that is enabled and fits a time; the shallowest
    /// enabled one where none fits, and `from` where none is shallower.
    pub(crate) fn shallower<N: Number>(&self, from: usize, fits_ns: N, no_polling: bool) -> usize {
        let mut found = from;
        for (number, state) in self.all()[..from].iter().enumerate().rev() {
            if state.disabled || (no_polling && state.polling) {
                continue;
            }
            found = number;
            if fits_ns >= state.target_residency_ns {
                break;
            }
        }
        found
    }
}
