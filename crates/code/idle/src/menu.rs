//! menu: the time to the next timer, corrected by how far off it used to be, or the length that
//! recent stays have in common.

use crate::rules::{Rule, Rules};
use crate::situation::{Choice, Outcome, Situation, SleepLength};
use crate::states::States;
use crate::{NEVER_NS, SHALLOW_NS};

pub const INTERVALS: usize = 8;
/// Decades of the time to the next timer, from under 10 us to 100 ms and more.
pub const DECADES: usize = 6;
/// The scale of the correction factors, and the weight of their past.
pub const RESOLUTION: u64 = 1024;
pub const DECAY: u64 = 8;
/// Longer stays count as perfectly predicted.
pub const LONG_NS: u64 = 50_000_000;
pub const US: u64 = 1_000;

pub struct Menu {
    rules: Rules,
    tick_ns: u64,
    /// True until the first choice: nothing was entered yet, as after a refusal.
    is_fresh: bool,
    /// The time to the next timer at the last choice.
    next_timer_ns: u64,
    bucket: usize,
    /// One factor a decade; up to 6.12 twice as many, the upper half for when tasks wait for input
    /// or output.
    factors: [u32; 2 * DECADES],
    /// The last stays, in microseconds, and the place of the oldest.
    intervals: [u32; INTERVALS],
    oldest: usize,
}

impl Menu {
    pub fn new(rules: Rules, tick_ns: u64) -> Self {
        Self {
            rules,
            tick_ns,
            is_fresh: true,
            next_timer_ns: 0,
            bucket: 0,
            factors: [(RESOLUTION * DECAY) as u32; 2 * DECADES],
            intervals: [0; INTERVALS],
            oldest: 0,
        }
    }

    pub fn select(&mut self, states: &States, situation: &mut impl Situation) -> Choice {
        if core::mem::take(&mut self.is_fresh) && self.rules.has(Rule::MenuRefusals) {
            self.remember(u32::MAX);
        }
        let Prediction {
            mut predicted_ns,
            event_ns,
        } = if self.rules.has(Rule::MenuTimersOnDemand) {
            self.predict_on_demand(situation)
        } else {
            self.predict_from_timer(situation)
        };
        let mut limit_ns = situation.latency_limit_ns();
        let first = states.get(0);
        let next = states.get(1);
        let only_first = (self.next_timer_ns < next.target_residency_ns
            || limit_ns < next.exit_latency_ns)
            && !first.disabled;
        if states.len() < 2 || limit_ns == 0 || only_first {
            return Choice {
                state: 0,
                stop_tick: !first.polling,
            };
        }
        let stopped = situation.tick_stopped();
        if !self.rules.has(Rule::MenuStoppedAsks) {
            // A wrong guess costs more once the tick is stopped, for then nothing soon corrects it.
            if stopped && predicted_ns < self.tick_ns {
                let to_timer = self.rules.has(Rule::MenuStoppedToTimer);
                predicted_ns = if to_timer {
                    self.next_timer_ns
                } else {
                    event_ns
                };
            } else if !stopped && !self.rules.has(Rule::MenuLatencyFirst) {
                let waiters = if self.rules.has(Rule::MenuNoWaiters) {
                    0
                } else {
                    situation.io_waiters()
                };
                limit_ns = limit_ns.min(predicted_ns / (1 + 10 * u64::from(waiters)));
            }
        }
        self.choose(states, predicted_ns, limit_ns, event_ns, stopped)
    }

    fn predict_from_timer(&mut self, situation: &mut impl Situation) -> Prediction {
        let event_ns = self.ask(situation);
        let corrected = self.corrected_us();
        let predicted_us = corrected.min(self.typical(corrected));
        Prediction {
            predicted_ns: u64::from(predicted_us) * US,
            event_ns,
        }
    }

    fn predict_on_demand(&mut self, situation: &mut impl Situation) -> Prediction {
        let typical_ns = u64::from(self.typical(u32::MAX)) * US;
        let always = self.rules.has(Rule::MenuStoppedAsks) && situation.tick_stopped();
        if typical_ns <= SHALLOW_NS && !always {
            // The timer is far enough, whenever it is.
            self.next_timer_ns = NEVER_NS;
            self.bucket = self.bucket_of(NEVER_NS, situation);
            return Prediction {
                predicted_ns: typical_ns,
                event_ns: self.tick_ns / 2,
            };
        }
        let event_ns = self.ask(situation);
        let mut predicted_ns = typical_ns.min(u64::from(self.corrected_us()) * US);
        let is_safe = self.rules.has(Rule::MenuSafeTimer) && self.next_timer_ns <= 2 * self.tick_ns;
        if always && predicted_ns < self.tick_ns && !is_safe {
            predicted_ns = self.next_timer_ns;
        }
        Prediction {
            predicted_ns,
            event_ns,
        }
    }

    /// Asks for the next timer, and returns the time to the next event, which the tick counts to.
    fn ask(&mut self, situation: &mut impl Situation) -> u64 {
        let SleepLength { timer_ns, event_ns } = situation.sleep_length();
        self.next_timer_ns = timer_ns;
        self.bucket = self.bucket_of(timer_ns, situation);
        event_ns
    }

    fn bucket_of(&self, timer_ns: u64, situation: &impl Situation) -> usize {
        let is_upper = !self.rules.has(Rule::MenuNoWaiters) && situation.io_waiters() > 0;
        decade(timer_ns) + if is_upper { DECADES } else { 0 }
    }

    /// The time to the next timer times its correction, rounded to microseconds. A timer that never
    /// comes wraps around, as the kernel's products of 64 bits and quotients of 32 do.
    fn corrected_us(&self) -> u32 {
        let scale = RESOLUTION * DECAY * US;
        let product = self
            .next_timer_ns
            .wrapping_mul(u64::from(self.factors[self.bucket]));
        (product.wrapping_add(scale / 2) / scale) as u32
    }

    /// The value that recent stays have in common, without those that stick out; `u32::MAX` where
    /// they have none, or where all are `below_us` or more.
    fn typical(&self, below_us: u32) -> u32 {
        let both_ends = self.rules.has(Rule::MenuBothEnds);
        let (mut over, mut under) = (
            -1,
            if both_ends {
                i64::from(u32::MAX)
            } else {
                1 << 31
            },
        );
        loop {
            let kept = |value: u32| i64::from(value) > over && i64::from(value) < under;
            let some = Sample::new(&self.intervals, kept);
            let is_nothing = if self.rules.has(Rule::MenuTimersOnDemand) {
                some.max == 0
            } else {
                some.min >= below_us
            };
            if is_nothing {
                return u32::MAX;
            }
            if some.agrees(self.variance(&some, kept)) {
                return some.mean;
            }
            if 4 * some.count <= 3 * INTERVALS as u128 {
                let is_prediction =
                    self.rules.has(Rule::MenuLargestLeft) && 2 * some.count >= INTERVALS as u128;
                return if is_prediction { some.max } else { u32::MAX };
            }
            if both_ends && some.mean - some.min > some.max - some.mean {
                over = i64::from(some.min);
            } else {
                under = i64::from(some.max);
            }
        }
    }

    fn variance(&self, some: &Sample, kept: impl Fn(u32) -> bool) -> u128 {
        let kept = self.intervals.iter().copied().filter(|&value| kept(value));
        if self.rules.has(Rule::MenuBothEnds) {
            // The mean is rounded down before it is squared.
            return kept.map(|value| u128::from(value).pow(2)).sum::<u128>() / some.count
                - u128::from(some.mean).pow(2);
        }
        kept.map(|value| u128::from(value.abs_diff(some.mean)).pow(2))
            .sum::<u128>()
            / some.count
    }

    fn choose(
        &self,
        states: &States,
        mut predicted_ns: u64,
        limit_ns: u64,
        event_ns: u64,
        stopped: bool,
    ) -> Choice {
        let mut chosen = None;
        for (number, state) in states.all().iter().enumerate() {
            if state.disabled {
                continue;
            }
            let so_far = *chosen.get_or_insert(number);
            if self.rules.has(Rule::MenuLatencyFirst) && state.exit_latency_ns > limit_ns {
                break;
            }
            if state.target_residency_ns > predicted_ns {
                let fits_timer = state.target_residency_ns <= self.next_timer_ns;
                let better_than_polling = (self.rules.has(Rule::MenuLatencyFirst)
                    || state.exit_latency_ns <= limit_ns)
                    && (!self.rules.has(Rule::MenuPollingLatency)
                        || state.exit_latency_ns <= predicted_ns)
                    && (!self.rules.has(Rule::MenuPollingShallow)
                        || state.target_residency_ns < SHALLOW_NS);
                if states.get(so_far).polling && better_than_polling && fits_timer {
                    predicted_ns = state.target_residency_ns;
                    chosen = Some(number);
                    break;
                }
                if predicted_ns < self.tick_ns {
                    break;
                }
                if !stopped {
                    // A shallow state does no harm as long as the tick runs and lets the governor
                    // choose again.
                    predicted_ns = states.get(so_far).target_residency_ns;
                    break;
                }
                let shallow = states.get(so_far).target_residency_ns < self.tick_ns;
                let deeper = shallow && state.target_residency_ns <= event_ns;
                return Choice {
                    state: if deeper { number } else { so_far },
                    stop_tick: true,
                };
            }
            if state.exit_latency_ns > limit_ns {
                break;
            }
            chosen = Some(number);
        }
        let chosen = chosen.unwrap_or(0);
        if stopped || (!states.get(chosen).polling && predicted_ns >= self.tick_ns) {
            return Choice {
                state: chosen,
                stop_tick: true,
            };
        }
        // The tick stays, so the state must fit the time to it.
        let fits = chosen == 0 || states.get(chosen).target_residency_ns <= event_ns;
        Choice {
            state: if fits {
                chosen
            } else {
                states.shallower(chosen, event_ns, false)
            },
            stop_tick: false,
        }
    }

    pub fn reflect(&mut self, states: &States, outcome: &Outcome) {
        let Some(entered) = outcome.entered else {
            if self.rules.has(Rule::MenuRefusals) {
                self.remember(u32::MAX);
            }
            return;
        };
        let state = states.get(entered);
        let measured_ns = if outcome.got_tick && self.next_timer_ns > self.tick_ns {
            // The tick ended what might have become a long stay.
            LONG_NS * 9 / 10
        } else if state.polling && outcome.polled_to_limit {
            self.next_timer_ns
        } else if outcome.residency_ns > 2 * state.exit_latency_ns {
            outcome.residency_ns - state.exit_latency_ns
        } else {
            outcome.residency_ns / 2
        };
        let measured_ns = measured_ns.min(self.next_timer_ns);
        let factor = &mut self.factors[self.bucket];
        *factor -= *factor / DECAY as u32;
        *factor += if self.next_timer_ns > 0 && measured_ns < LONG_NS {
            (RESOLUTION * measured_ns / self.next_timer_ns) as u32
        } else {
            RESOLUTION as u32
        };
        // Cut to 32 bits, as the kernel cuts it.
        self.remember((measured_ns / US) as u32);
    }

    fn remember(&mut self, interval_us: u32) {
        self.intervals[self.oldest] = interval_us;
        self.oldest = (self.oldest + 1) % INTERVALS;
    }
}

/// The time that is predicted, and the time to the next event, which the tick counts to.
struct Prediction {
    predicted_ns: u64,
    event_ns: u64,
}

/// Some of the recent stays, in microseconds.
pub struct Sample {
    pub(crate) min: u32,
    pub(crate) max: u32,
    pub(crate) mean: u32,
    /// At least 1, so that it divides.
    pub(crate) count: u128,
}

impl Sample {
    pub fn new(intervals: &[u32], kept: impl Fn(u32) -> bool) -> Self {
        let (mut min, mut max, mut sum, mut count) = (u32::MAX, 0, 0, 0);
        for value in intervals.iter().copied().filter(|&value| kept(value)) {
            (min, max) = (min.min(value), max.max(value));
            sum += u64::from(value);
            count += 1;
        }
        let mean = sum.checked_div(count).unwrap_or(0) as u32;
        Self {
            min,
            max,
            mean,
            count: u128::from(count.max(1)),
        }
    }

    /// True if they lie close together: a standard deviation of 20 us at most, or of a sixth of the
    /// mean if they are most of the stays.
    fn agrees(&self, variance: u128) -> bool {
        let close =
            u128::from(self.mean).pow(2) > 36 * variance && 4 * self.count >= 3 * INTERVALS as u128;
        variance <= 400 || (variance <= u128::from(u64::MAX / 36) && close)
    }
}

/// The decade of a time: under 10 us, 100 us, 1 ms, 10 ms, 100 ms, or more.
pub fn decade(time_ns: u64) -> usize {
    let mut edge_ns = 10 * US;
    for decade in 0..DECADES - 1 {
        if time_ns < edge_ns {
            return decade;
        }
        edge_ns *= 10;
    }
    DECADES - 1
}
