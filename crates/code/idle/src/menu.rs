//! menu: the time to the next timer, corrected by how far off it used to be, or the length that
//! recent stays have in common.

use crate::number::Number;
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
/// The kernel's number for stays without end, in microseconds.
const MOST_US: u64 = u32::MAX as u64;
/// The products of a further timer wrap around.
const FAR_NS: u64 = 1 << 50;

#[derive(Clone, PartialEq)]
pub struct Menu<N> {
    rules: Rules,
    tick_ns: u64,
    /// True until the first choice: nothing was entered yet, as after a refusal.
    is_fresh: bool,
    /// The time to the next timer at the last choice.
    next_timer_ns: N,
    bucket: usize,
    /// One factor a decade; up to 6.12 twice as many, the upper half for when tasks wait for input
    /// or output.
    factors: [N; 2 * DECADES],
    /// The last stays, in microseconds; the oldest is the first.
    intervals: [N; INTERVALS],
}

impl<N: Number> Menu<N> {
    pub fn new(rules: Rules, tick_ns: u64) -> Self {
        Self {
            rules,
            tick_ns,
            is_fresh: true,
            next_timer_ns: N::from(0),
            bucket: 0,
            factors: [N::from(RESOLUTION * DECAY); 2 * DECADES],
            intervals: [N::from(0); INTERVALS],
        }
    }

    pub fn select(&mut self, states: &States, situation: &mut impl Situation<N>) -> Choice {
        if core::mem::take(&mut self.is_fresh) && self.rules.has(Rule::MenuRefusals) {
            self.remember(MOST_US.into());
        }
        let Prediction {
            mut predicted_ns,
            event_ns,
        } = if self.rules.has(Rule::MenuTimersOnDemand) {
            self.predict_on_demand(situation)
        } else {
            self.predict_from_timer(situation)
        };
        let mut limit_ns = N::from(situation.latency_limit_ns());
        let first = states.get(0);
        let next = states.get(1);
        let only_first = (self.next_timer_ns < next.target_residency_ns
            || limit_ns < next.exit_latency_ns)
            && !first.disabled;
        if states.len() < 2 || limit_ns < 1 || only_first {
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
                let share = 1 + 10 * u64::from(waiters);
                limit_ns = limit_ns.with(predicted_ns, |limit, predicted| {
                    limit.min(predicted / share)
                });
            }
        }
        self.choose(states, predicted_ns, limit_ns, event_ns, stopped)
    }

    fn predict_from_timer(&mut self, situation: &mut impl Situation<N>) -> Prediction<N> {
        let event_ns = self.ask(situation);
        let corrected = self.corrected_us();
        let predicted_us = corrected.with(self.typical(corrected), u64::min);
        Prediction {
            predicted_ns: predicted_us.map(|us| us * US),
            event_ns,
        }
    }

    fn predict_on_demand(&mut self, situation: &mut impl Situation<N>) -> Prediction<N> {
        let typical_ns = self.typical(MOST_US.into()).map(|us| us * US);
        let always = self.rules.has(Rule::MenuStoppedAsks) && situation.tick_stopped();
        if typical_ns <= SHALLOW_NS && !always {
            // The timer is far enough, whenever it is.
            self.next_timer_ns = NEVER_NS.into();
            self.bucket = self.bucket_of(self.next_timer_ns, situation);
            return Prediction {
                predicted_ns: typical_ns,
                event_ns: N::from(self.tick_ns / 2),
            };
        }
        let event_ns = self.ask(situation);
        let corrected = self.corrected_us();
        let mut predicted_ns = typical_ns.with(corrected, |typical, us| typical.min(us * US));
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
    fn ask(&mut self, situation: &mut impl Situation<N>) -> N {
        let SleepLength { timer_ns, event_ns } = situation.sleep_length();
        self.next_timer_ns = timer_ns;
        self.bucket = self.bucket_of(timer_ns, situation);
        event_ns
    }

    fn bucket_of(&self, timer_ns: N, situation: &impl Situation<N>) -> usize {
        let is_upper = !self.rules.has(Rule::MenuNoWaiters) && situation.io_waiters() > 0;
        decade(timer_ns) + if is_upper { DECADES } else { 0 }
    }

    /// The time to the next timer times its correction, rounded to microseconds. A timer that never
    /// comes wraps around, as the kernel's products of 64 bits and quotients of 32 do.
    fn corrected_us(&self) -> N {
        let scale = RESOLUTION * DECAY * US;
        let (timer, factor) = (self.next_timer_ns, self.factors[self.bucket]);
        let [[_, most_ns], [least, most]] = [timer.ends(), factor.ends()];
        if most_ns > FAR_NS && (timer.ends()[0] < most_ns || least < most) {
            // A product that wraps around does not rise with its factors, so the ends say nothing.
            return N::from(0).join(MOST_US.into());
        }
        let corrected =
            |timer: u64, factor: u64| timer.wrapping_mul(factor).wrapping_add(scale / 2) / scale;
        timer.with(factor, corrected).low_half()
    }

    /// The value that recent stays have in common, without those that stick out; `u32::MAX` where
    /// they have none, or where all are `below_us` or more.
    fn typical(&self, below_us: N) -> N {
        let both_ends = self.rules.has(Rule::MenuBothEnds);
        let under = if both_ends { MOST_US } else { 1 << 31 };
        let mut stays = self.intervals;
        stays.sort_unstable_by_key(|stay| stay.ends());
        let mut kept = &stays[..];
        while let Some((last, rest)) = kept.split_last()
            && *last >= under
        {
            kept = rest;
        }
        if kept.iter().any(|stay| stay.ends()[1] >= under) {
            // It may count or not.
            let all = kept.iter().copied().reduce(N::join);
            return all.filter(|_| is_either::<N>()).unwrap_or(MOST_US.into());
        }
        while let [first, .., last] | [first @ last] = kept {
            let (min, max) = kept.iter().fold((*first, *last), |(min, max), stay| {
                (min.with(*stay, u64::min), max.with(*stay, u64::max))
            });
            let is_nothing = if self.rules.has(Rule::MenuTimersOnDemand) {
                max < 1
            } else {
                min >= below_us
            };
            if is_nothing {
                break;
            }
            let count = kept.len() as u64;
            let mean = kept.iter().copied().fold(N::from(0), N::plus);
            let mean = mean.map(|sum| sum / count);
            if agrees(kept, mean, both_ends) {
                return mean;
            }
            if 4 * kept.len() <= 3 * INTERVALS {
                let is_prediction = self.rules.has(Rule::MenuLargestLeft);
                return if is_prediction && 2 * kept.len() >= INTERVALS {
                    max
                } else {
                    break;
                };
            }
            let drops_least = both_ends && mean.map(|mean| 2 * mean) > min.plus(max);
            let end = if drops_least { min } else { max };
            let is_end = |stay: &&N| {
                stay.ends()[usize::from(!drops_least)] == end.ends()[usize::from(!drops_least)]
            };
            let dropped = kept.iter().filter(is_end).count();
            let rest = if drops_least {
                &kept[dropped..]
            } else {
                &kept[..kept.len() - dropped]
            };
            // Of two that lie across each other either may be the one that sticks out.
            let [low, high] = end.ends();
            let crosses = |stay: &N| stay.ends()[0] <= high && low <= stay.ends()[1];
            if rest.iter().any(crosses) || low < high && dropped > 1 {
                return if is_either::<N>() {
                    min.join(max)
                } else {
                    break;
                };
            }
            kept = rest;
        }
        MOST_US.into()
    }

    fn choose(
        &self,
        states: &States,
        mut predicted_ns: N,
        limit_ns: N,
        event_ns: N,
        stopped: bool,
    ) -> Choice {
        let mut chosen = None;
        for (number, state) in states.all().iter().enumerate() {
            if state.disabled {
                continue;
            }
            let so_far = *chosen.get_or_insert(number);
            if self.rules.has(Rule::MenuLatencyFirst) && limit_ns < state.exit_latency_ns {
                break;
            }
            if predicted_ns < state.target_residency_ns {
                let fits_timer = self.next_timer_ns >= state.target_residency_ns;
                let better_than_polling = (self.rules.has(Rule::MenuLatencyFirst)
                    || limit_ns >= state.exit_latency_ns)
                    && (!self.rules.has(Rule::MenuPollingLatency)
                        || predicted_ns >= state.exit_latency_ns)
                    && (!self.rules.has(Rule::MenuPollingShallow)
                        || state.target_residency_ns < SHALLOW_NS);
                if states.get(so_far).polling && better_than_polling && fits_timer {
                    predicted_ns = state.target_residency_ns.into();
                    chosen = Some(number);
                    break;
                }
                if predicted_ns < self.tick_ns {
                    break;
                }
                if !stopped {
                    // A shallow state does no harm as long as the tick runs and lets the governor
                    // choose again.
                    predicted_ns = states.get(so_far).target_residency_ns.into();
                    break;
                }
                let shallow = states.get(so_far).target_residency_ns < self.tick_ns;
                let deeper = shallow && event_ns >= state.target_residency_ns;
                return Choice {
                    state: if deeper { number } else { so_far },
                    stop_tick: true,
                };
            }
            if limit_ns < state.exit_latency_ns {
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
        let fits = chosen == 0 || event_ns >= states.get(chosen).target_residency_ns;
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
                self.remember(MOST_US.into());
            }
            return;
        };
        let state = states.get(entered);
        let measured_ns = if outcome.got_tick && self.next_timer_ns > self.tick_ns {
            // The tick ended what might have become a long stay.
            LONG_NS * 9 / 10
        } else if state.polling && outcome.polled_to_limit {
            NEVER_NS
        } else if outcome.residency_ns > 2 * state.exit_latency_ns {
            outcome.residency_ns - state.exit_latency_ns
        } else {
            outcome.residency_ns / 2
        };
        let share = |timer_ns: u64| match timer_ns {
            1.. if measured_ns.min(timer_ns) < LONG_NS => {
                RESOLUTION * measured_ns.min(timer_ns) / timer_ns
            }
            _ => RESOLUTION,
        };
        let factor = &mut self.factors[self.bucket];
        let decayed = factor.map(|factor| factor - factor / DECAY);
        *factor = decayed.plus(self.next_timer_ns.map(share));
        // Cut to 32 bits, as the kernel cuts it.
        let measured_us = self
            .next_timer_ns
            .map(|timer_ns| measured_ns.min(timer_ns) / US);
        self.remember(measured_us.low_half());
        // Ways that end alike are the same again.
        (self.next_timer_ns, self.bucket) = (N::from(0), 0);
    }

    fn remember(&mut self, interval_us: N) {
        self.intervals.rotate_left(1);
        self.intervals[INTERVALS - 1] = interval_us;
    }

    /// Sets everything that it remembers to the whole range that is possible.
    pub fn blur(&mut self) {
        let any = N::from(0).join(MOST_US.into());
        self.is_fresh = false;
        self.intervals = [any; INTERVALS];
        // Each update takes an eighth off a factor and adds at most 1024, so it stays below this.
        self.factors = [N::from(0).join(N::from((RESOLUTION + 1) * DECAY)); 2 * DECADES];
    }

    /// All that it remembers.
    pub fn numbers(&mut self) -> impl Iterator<Item = &mut N> {
        self.intervals.iter_mut().chain(&mut self.factors)
    }
}

/// The time that is predicted, and the time to the next event, which the tick counts to.
struct Prediction<N> {
    predicted_ns: N,
    event_ns: N,
}

/// Some of the recent stays, in microseconds.
pub struct Sample {
    pub(crate) max: u32,
    pub(crate) mean: u32,
    /// At least 1, so that it divides.
    pub(crate) count: u128,
}

impl Sample {
    pub fn new(intervals: &[u32], kept: impl Fn(u32) -> bool) -> Self {
        let (mut max, mut sum, mut count) = (0, 0, 0);
        for value in intervals.iter().copied().filter(|&value| kept(value)) {
            max = max.max(value);
            sum += u64::from(value);
            count += 1;
        }
        let mean = sum.checked_div(count).unwrap_or(0) as u32;
        Self {
            max,
            mean,
            count: u128::from(count.max(1)),
        }
    }
}

/// A comparison whose answer may be yes or no; both ways are searched.
fn is_either<N: Number>() -> bool {
    N::from(0).join(N::from(1)) > 0
}

/// True if stays lie close together: a standard deviation of 20 us at most, or of a sixth of the mean
/// if they are most of the stays.
fn agrees<N: Number>(kept: &[N], mean: N, both_ends: bool) -> bool {
    let (count, [mean_low, mean_high]) = (kept.len() as u128, mean.ends().map(u128::from));
    let square = |stay: &N, is_most: bool| {
        let [low, high] = stay.ends().map(u128::from);
        let apart = [mean_high.saturating_sub(low), high.saturating_sub(mean_low)];
        let gap = low.saturating_sub(mean_high) + mean_low.saturating_sub(high);
        match (both_ends, is_most) {
            (false, true) => apart
                .map(|apart| apart.pow(2))
                .into_iter()
                .max()
                .unwrap_or(0),
            (false, false) => gap.pow(2),
            (true, true) => high.pow(2),
            (true, false) => low.pow(2),
        }
    };
    let variance = |is_most: bool| {
        let sum: u128 = kept.iter().map(|stay| square(stay, is_most)).sum();
        // The mean is rounded down before it is squared.
        let mean = if is_most { mean_low } else { mean_high };
        let less = if both_ends { mean.pow(2) } else { 0 };
        (sum / count).saturating_sub(less)
    };
    let agree = |mean: u128, variance: u128| {
        let close = mean.pow(2) > 36 * variance && 4 * kept.len() >= 3 * INTERVALS;
        variance <= 400 || variance <= u128::from(u64::MAX / 36) && close
    };
    agree(mean_low, variance(true)) || agree(mean_high, variance(false)) && is_either::<N>()
}

/// The decade of a time: under 10 us, 100 us, 1 ms, 10 ms, 100 ms, or more.
pub fn decade<N: Number>(time_ns: N) -> usize {
    let mut edge_ns = 10 * US;
    for decade in 0..DECADES - 1 {
        if time_ns < edge_ns {
            return decade;
        }
        edge_ns *= 10;
    }
    DECADES - 1
}
