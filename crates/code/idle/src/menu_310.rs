//! menu as it was in Linux 3.10: asked after the tick was stopped or kept, it knows of one event
//! only. It sets a timer of its own where it chose a shallow state for what may become a long stay,
//! to be asked again.

use crate::menu::{DECADES, DECAY, INTERVALS, LONG_NS, RESOLUTION, Sample, US, decade};
use crate::number::Number;
use crate::situation::{Choice, Outcome, Situation};
use crate::states::States;

/// A typical stay may be this much longer before the governor is asked again, in microseconds.
const DEVIATION_US: u64 = 60;
/// A shallow state is looked at again if the next event is further away than this, in microseconds.
const FAR_US: u64 = 30_000;
/// Longer than any stay, and short enough to be computed with.
const MOST_US: u64 = u64::MAX / (8 * US);
const NEUTRAL: u64 = RESOLUTION * DECAY;

#[derive(Clone, PartialEq)]
pub struct Menu310 {
    /// The time to the next event at the last choice, in microseconds.
    expected_us: u64,
    /// The exit latency of the state that was chosen because it fitted, in microseconds.
    exit_us: u64,
    bucket: usize,
    /// One factor a decade; the upper half for when tasks wait for input or output.
    factors: [u64; 2 * DECADES],
    /// The last stays, in microseconds, and the place of the oldest.
    intervals: [u32; INTERVALS],
    oldest: usize,
    watch: Option<Watch>,
}

/// The governor's own timer.
#[derive(Clone, Copy, PartialEq)]
struct Watch {
    after_us: u64,
    /// True if recent stays had a length in common. Where they had not, and the timer fires, the
    /// correction is forgotten.
    typical: bool,
}

impl Menu310 {
    pub const fn new() -> Self {
        Self {
            expected_us: 0,
            exit_us: 0,
            bucket: 0,
            factors: [NEUTRAL; 2 * DECADES],
            intervals: [0; INTERVALS],
            oldest: 0,
            watch: None,
        }
    }

    pub fn select<N: Number>(
        &mut self,
        states: &States,
        situation: &mut impl Situation<N>,
    ) -> Choice {
        (self.exit_us, self.watch) = (0, None);
        let limit_ns = situation.latency_limit_ns();
        if limit_ns == 0 {
            return Choice {
                state: 0,
                stop_tick: true,
            };
        }
        self.expected_us = situation.sleep_length().event_ns.ends()[0] / US;
        let upper = if situation.io_waiters() > 0 {
            DECADES
        } else {
            0
        };
        self.bucket = upper + decade(self.expected_us * US);
        let typical_us = self.typical_us();
        // The typical length of recent stays is the prediction, even if it exceeds the time to the
        // next event: this version does not take the smaller of both.
        let predicted_us = typical_us.unwrap_or_else(|| self.corrected_us());
        // A loaded CPU should not be slow to answer.
        let multiplier =
            1 + 2 * load_average(situation.load()) + 10 * u64::from(situation.io_waiters());
        let mut chosen = states.first_enabled();
        let mut too_deep = false;
        for (number, state) in states
            .all()
            .iter()
            .enumerate()
            .filter(|(_, state)| !state.disabled)
        {
            if state.target_residency_ns > predicted_us * US {
                too_deep = true;
                continue;
            }
            if state.exit_latency_ns <= limit_ns
                && state.exit_latency_ns.saturating_mul(multiplier) <= predicted_us * US
            {
                chosen = number;
                self.exit_us = state.exit_latency_ns / US;
            }
        }
        if too_deep {
            let after_us = 2 * (predicted_us + DEVIATION_US);
            let typical = typical_us.is_some() && after_us < self.expected_us / 4;
            if typical || self.expected_us > FAR_US {
                self.watch = Some(Watch { after_us, typical });
            }
        }
        Choice {
            state: chosen,
            stop_tick: true,
        }
    }

    /// After how long the governor wants to be asked again, in nanoseconds.
    pub fn ask_again_ns(&self) -> Option<u64> {
        self.watch.map(|watch| watch.after_us * US)
    }

    /// The time to the next event times its correction, rounded.
    fn corrected_us(&self) -> u64 {
        let product = u128::from(self.expected_us) * u128::from(self.factors[self.bucket]);
        let corrected = (product + u128::from(NEUTRAL / 2)) / u128::from(NEUTRAL);
        u64::try_from(corrected).unwrap_or(u64::MAX).min(MOST_US)
    }

    /// The value that recent stays have in common, without the longest that stick out.
    fn typical_us(&self) -> Option<u64> {
        let mut most = u32::MAX;
        loop {
            let some = Sample::new(&self.intervals, |value| value <= most);
            let sum: u128 = self
                .intervals
                .iter()
                .filter(|&&value| value <= most)
                .map(|&value| u128::from(value.abs_diff(some.mean)).pow(2))
                .sum();
            let deviation = (sum / some.count).isqrt();
            let most_of_them = 4 * some.count >= 3 * INTERVALS as u128;
            if deviation <= 20 || (u128::from(some.mean) > 6 * deviation && most_of_them) {
                return Some(u64::from(some.mean));
            }
            if 4 * some.count <= 3 * INTERVALS as u128 {
                return None;
            }
            // Stays that differ have a longest above 0.
            most = some.max - 1;
        }
    }

    pub fn reflect(&mut self, outcome: &Outcome) {
        let watch = self.watch.take();
        if outcome.asked_again && watch.is_some_and(|watch| !watch.typical) {
            self.factors[self.bucket] = NEUTRAL;
        }
        if outcome.entered.is_none() {
            return;
        }
        let stay_us = outcome.residency_ns / US;
        let measured_us = if stay_us > self.exit_us {
            stay_us - self.exit_us
        } else {
            stay_us
        };
        let factor = &mut self.factors[self.bucket];
        *factor = *factor * (DECAY - 1) / DECAY;
        *factor += match self.expected_us {
            1.. if measured_us < LONG_NS / US => RESOLUTION * measured_us / self.expected_us,
            _ => RESOLUTION,
        };
        *factor = (*factor).max(1);
        self.intervals[self.oldest] = u32::try_from(stay_us).unwrap_or(u32::MAX);
        self.oldest = (self.oldest + 1) % INTERVALS;
    }
}

/// Ten times a load, in units of two tasks of default priority: the kernel prints it in the scale
/// of its load average.
const fn load_average(load: u32) -> u64 {
    const SHIFT: u32 = 11;
    let fraction = ((load & ((1 << SHIFT) - 1)) as u64 * 100) >> SHIFT;
    (load >> SHIFT) as u64 * 10 + fraction / 10
}
