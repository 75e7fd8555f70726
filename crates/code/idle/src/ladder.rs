//! ladder: one step deeper after stays that were long enough, one step back after one that was not.
//!
//! Linux subtracts the exit latency from the stay and compares the difference, which may be
//! negative, with an unsigned number. So a stay shorter than the exit latency counts as a very long
//! one and leads deeper; one step back is only for stays from one to two latencies. Traces of Linux
//! 6.1 show it.

use crate::situation::{Choice, Outcome, Situation};
use crate::states::{MAX_STATES, States};

/// Long stays before the next deeper state is tried.
const PROMOTIONS: u32 = 4;

#[derive(Clone, PartialEq)]
pub struct Ladder {
    state: usize,
    last_residency_ns: u64,
    /// Long stays since the step was last taken, by state.
    promotions: [u32; MAX_STATES],
}

impl Ladder {
    pub fn new(states: &States) -> Self {
        Self {
            state: first(states),
            last_residency_ns: 0,
            promotions: [0; MAX_STATES],
        }
    }

    pub fn select<N>(&mut self, states: &States, situation: &impl Situation<N>) -> Choice {
        let limit_ns = situation.latency_limit_ns();
        let choice = |state| Choice {
            state,
            stop_tick: true,
        };
        if limit_ns == 0 {
            return choice(self.step(0));
        }
        let (first, last) = (first(states), self.state);
        let latency_ns = states.get(last).exit_latency_ns;
        let stay_ns = self.last_residency_ns.wrapping_sub(latency_ns);
        if let Some(deeper) = states.all().get(last + 1)
            && !deeper.disabled
            && stay_ns > latency_ns
            && deeper.exit_latency_ns <= limit_ns
        {
            self.promotions[last] += 1;
            if self.promotions[last] >= PROMOTIONS {
                return choice(self.step(last + 1));
            }
        }
        if last > first && (states.is_disabled(last) || latency_ns > limit_ns) {
            let fits = (first + 1..last)
                .rev()
                .find(|&state| states.get(state).exit_latency_ns <= limit_ns);
            return choice(self.step(fits.unwrap_or(first)));
        }
        if last > first && stay_ns < latency_ns {
            return choice(self.step(last - 1));
        }
        choice(last)
    }

    fn step(&mut self, to: usize) -> usize {
        self.promotions[self.state] = 0;
        self.state = to;
        to
    }

    pub fn reflect(&mut self, outcome: &Outcome) {
        self.last_residency_ns = outcome.residency_ns;
        if let Some(entered) = outcome.entered.filter(|&entered| entered > 0) {
            self.state = entered;
        }
    }
}

/// The lowest step: polling is left out.
fn first(states: &States) -> usize {
    usize::from(states.get(0).polling).min(states.last())
}
