//! haltpoll: poll for a while before halting, for guests, where waking up from a halt is dear.

use crate::situation::{Choice, Outcome, Situation};
use crate::states::States;

/// The longest time of polling.
const LIMIT_NS: u64 = 200_000;
/// The first time of polling that is not 0.
const START_NS: u64 = 50_000;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Haltpoll {
    poll_ns: u64,
    last: usize,
    polled_to_limit: bool,
}

impl Haltpoll {
    pub(crate) fn select(&self, states: &States, situation: &impl Situation) -> Choice {
        if situation.latency_limit_ns() == 0 {
            return Choice { state: 0, stop_tick: false };
        }
        let halt = self.poll_ns == 0 || (self.last == 0 && self.polled_to_limit);
        match halt {
            true => Choice { state: 1.min(states.last()), stop_tick: true },
            false => Choice { state: 0, stop_tick: false },
        }
    }

    /// The time that it polls at most.
    pub(crate) const fn poll_limit_ns(&self) -> u64 {
        self.poll_ns
    }

    pub(crate) fn reflect(&mut self, outcome: &Outcome) {
        let Some(entered) = outcome.entered else { return };
        (self.last, self.polled_to_limit) = (entered, outcome.polled_to_limit);
        if entered == 0 {
            return;
        }
        let halted_ns = outcome.residency_ns;
        if halted_ns > self.poll_ns && halted_ns <= LIMIT_NS {
            self.poll_ns = (2 * self.poll_ns).clamp(START_NS, LIMIT_NS);
        } else if halted_ns > LIMIT_NS {
            self.poll_ns /= 2;
        }
    }
}
