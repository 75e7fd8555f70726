//! teo: the next timer, unless wake-ups by anything else came earlier in most cases of late.

use crate::number::Number;
use crate::rules::{Rule, Rules};
use crate::situation::{Choice, Outcome, Situation, SleepLength};
use crate::states::{MAX_STATES, State, States};
use crate::{NEVER_NS, SHALLOW_NS};

const PULSE: u64 = 1024;
const DECAY_SHIFT: u64 = 3;
/// Adding this to a number of 32 bits subtracts one.
const MINUS_ONE: u64 = u32::MAX as u64;
const RECENT: usize = 9;
/// With a smaller latency limit, 6.18 does not ask for the timer before it chooses a shallow state.
const LATENCY_THRESHOLD_NS: u64 = SHALLOW_NS / 2;

/// The stays that fell between the target residencies of a state and of the next.
#[derive(Clone, Copy, PartialEq)]
struct Bin<N> {
    /// Stays that ended in the bin in which the timer lay.
    hits: N,
    /// Stays that ended here, while the timer lay in a later bin.
    intercepts: N,
    /// Number of the last stays that count as intercepts. Wraps around below 0, as the kernel's
    /// does.
    recent: N,
}

#[derive(Clone, PartialEq)]
pub struct Teo<N> {
    rules: Rules,
    tick_ns: u64,
    sleep_length_ns: N,
    bins: [Bin<N>; MAX_STATES],
    total: N,
    /// Hits beyond the tick (6.6 to 6.14).
    tick_hits: N,
    /// Intercepts before the tick (from 6.15).
    tick_intercepts: N,
    /// Wake-ups by the tick (from 6.19).
    tick_wakeups: N,
    /// Short stays (from 6.15).
    short_idles: N,
    /// Bins of the recent intercepts, from 1 on, the oldest first; 0 for none (up to 6.10).
    recent: [N; RECENT],
}

/// A count with one pulse more.
fn pulsed<N: Number>(count: N) -> N {
    count.map(|count| count + PULSE)
}

fn times<N: Number>(factor: u64, count: N) -> N {
    count.map(|count| factor * count)
}

/// The sum over some bins.
fn sum<N: Number>(bins: &[Bin<N>], of: impl Fn(&Bin<N>) -> N) -> N {
    bins.iter().map(of).fold(N::from(0), N::plus)
}

/// The states that are not disabled, with their numbers.
fn enabled(states: &States) -> impl DoubleEndedIterator<Item = (usize, &State)> {
    states
        .all()
        .iter()
        .enumerate()
        .filter(|(_, state)| !state.disabled)
}

impl<N: Number> Teo<N> {
    pub fn new(rules: Rules, tick_ns: u64) -> Self {
        let none = N::from(0);
        Self {
            rules,
            tick_ns,
            sleep_length_ns: NEVER_NS.into(),
            bins: [Bin {
                hits: none,
                intercepts: none,
                recent: none,
            }; MAX_STATES],
            total: none,
            tick_hits: none,
            tick_intercepts: none,
            tick_wakeups: none,
            short_idles: none,
            recent: [none; RECENT],
        }
    }

    /// Sets everything that it remembers to the whole range that is possible.
    pub fn blur(&mut self) {
        let any = N::from(0).join(MINUS_ONE.into());
        // Each update takes an eighth off a sum and adds at most a pulse, so it stays below this.
        let sum = N::from(0).join(N::from((PULSE + 1) << (DECAY_SHIFT + 1)));
        self.numbers().for_each(|number| *number = sum);
        self.bins.iter_mut().for_each(|bin| bin.recent = any);
        self.recent = [N::from(0).join(N::from(MAX_STATES as u64)); RECENT];
    }

    /// All that it remembers.
    pub fn numbers(&mut self) -> impl Iterator<Item = &mut N> {
        let sums = [
            &mut self.total,
            &mut self.tick_hits,
            &mut self.tick_intercepts,
            &mut self.tick_wakeups,
            &mut self.short_idles,
        ];
        let bins = self.bins.iter_mut();
        bins.flat_map(|bin| [&mut bin.hits, &mut bin.intercepts, &mut bin.recent])
            .chain(sums)
            .chain(&mut self.recent)
    }

    fn decay(&self, metric: N) -> N {
        let to_zero = self.rules.has(Rule::TeoDecayToZero);
        metric.map(|metric| match metric >> DECAY_SHIFT {
            0 if to_zero => 0,
            less => metric - less,
        })
    }

    /// True if the total is the sum of all bins.
    fn is_sum(&self) -> bool {
        !self.rules.has(Rule::TeoShortIdles) || self.rules.has(Rule::TeoDecayToZero)
    }

    pub fn reflect(&mut self, states: &States, outcome: &Outcome) {
        let Some(entered) = outcome.entered else {
            return;
        };
        // Polling's limit and the tick are safety nets: the CPU might have stayed for as long as it
        // liked.
        let by_tick = outcome.got_tick && self.sleep_length_ns > self.tick_ns;
        let net = outcome.polled_to_limit || (by_tick && !self.rules.has(Rule::TeoTickWakeups));
        let is_short_counted = self.rules.has(Rule::TeoShortIdles);
        if is_short_counted {
            self.short_idles = self.decay(self.short_idles);
        }
        let measured_ns =
            if net || !is_short_counted && self.sleep_length_ns <= outcome.since_choice_ns {
                // Of two kernels, one has the largest number without and one that with a sign; no state
                // and no tick is that long.
                NEVER_NS
            } else {
                let measured_ns = self.measured(states, entered, outcome);
                let early = outcome.residency_ns < states.get(entered).exit_latency_ns;
                if is_short_counted && (early || measured_ns < SHALLOW_NS) {
                    self.short_idles = pulsed(self.short_idles);
                }
                measured_ns
            };
        self.update(
            states,
            states.get(entered).exit_latency_ns,
            measured_ns,
            outcome.got_tick,
        );
        // Ways that end alike are the same again.
        self.sleep_length_ns = NEVER_NS.into();
    }

    /// The time that the CPU was idle, less half of the exit latency, for it seldom takes its
    /// worst.
    fn measured(&self, states: &States, entered: usize, outcome: &Outcome) -> u64 {
        let (stay_ns, latency_ns) = (outcome.residency_ns, states.get(entered).exit_latency_ns);
        if stay_ns >= latency_ns {
            stay_ns - latency_ns / 2
        } else {
            stay_ns / 2
        }
    }

    /// Takes the oldest of the recent intercepts out; the next one gets its place, the last.
    fn forget_oldest(&mut self) {
        if self.rules.has(Rule::TeoRecent) {
            self.recent.rotate_left(1);
            let oldest = self.recent[RECENT - 1];
            let mut bins = (1..).zip(&mut self.bins);
            if oldest > 0
                && let Some((_, bin)) = bins.find(|(number, _)| oldest <= *number)
            {
                bin.recent = bin.recent.plus(MINUS_ONE.into()).low_half();
            }
        }
    }

    /// Lets all bins decay. Returns the bin of the timer, that of the stay, and the sum of all.
    fn decay_bins(&mut self, states: &States, measured_ns: u64) -> (usize, usize, N) {
        let (mut of_timer, mut of_stay) = (0, 0);
        let mut sum = N::from(0);
        for (number, state) in states.all().iter().enumerate() {
            let Bin {
                hits,
                intercepts,
                recent,
            } = self.bins[number];
            let bin = Bin {
                hits: self.decay(hits),
                intercepts: self.decay(intercepts),
                recent,
            };
            self.bins[number] = bin;
            sum = sum.plus(bin.hits).plus(bin.intercepts);
            if self.sleep_length_ns >= state.target_residency_ns {
                of_timer = number;
                if state.target_residency_ns <= measured_ns {
                    of_stay = number;
                }
            }
        }
        (of_timer, of_stay, sum)
    }

    fn update(&mut self, states: &States, latency_ns: u64, measured_ns: u64, got_tick: bool) {
        let (mut of_timer, of_stay, sum) = self.decay_bins(states, measured_ns);
        self.forget_oldest();
        self.total = pulsed(if self.is_sum() {
            sum
        } else {
            self.decay(self.total)
        });
        if self.rules.has(Rule::TeoShortIdles) {
            self.tick_intercepts = self.decay(self.tick_intercepts);
        }
        if self.rules.has(Rule::TeoTickWakeups) {
            self.tick_wakeups = self.decay(self.tick_wakeups);
            if got_tick && self.is_hit_by_tick(states, of_timer, sum) {
                return;
            }
        }
        // If the deepest state's target residency is below a tick, sleeps of a tick and more are
        // counted in a bin of their own.
        if self.rules.has(Rule::TeoTickBin)
            && states.get(states.last()).target_residency_ns < self.tick_ns
        {
            self.tick_hits = self.decay(self.tick_hits);
            self.total = self.total.plus(self.tick_hits);
            if self.sleep_length_ns >= self.tick_ns {
                of_timer = states.len();
                if self.tick_ns <= measured_ns {
                    // 6.10 does not advance the index of recent intercepts here, so the next call
                    // subtracts the same intercept a second time.
                    self.tick_hits = pulsed(self.tick_hits);
                    return;
                }
            }
        }
        let is_close = !self.rules.has(Rule::TeoCloseHit)
            || self.sleep_length_ns < measured_ns + latency_ns / 2;
        let hit = of_timer == of_stay && is_close;
        let bin = &mut self.bins[of_stay];
        if hit {
            bin.hits = pulsed(bin.hits);
        } else {
            bin.intercepts = pulsed(bin.intercepts);
        }
        if self.rules.has(Rule::TeoRecent) {
            if !hit {
                bin.recent = bin.recent.plus(N::from(1)).low_half();
            }
            let number = if hit { 0 } else { of_stay as u64 + 1 };
            self.recent[RECENT - 1] = number.into();
        }
        let before_tick = if self.rules.has(Rule::TeoTickIntercepts) {
            measured_ns <= self.tick_ns
        } else {
            self.tick_ns <= measured_ns
        };
        if self.rules.has(Rule::TeoShortIdles) && !hit && before_tick {
            self.tick_intercepts = pulsed(self.tick_intercepts);
        }
    }

    /// Counts a wake-up by the tick; returns true if it was a hit, and nothing else is counted.
    fn is_hit_by_tick(&mut self, states: &States, of_timer: usize, sum: N) -> bool {
        self.tick_wakeups = pulsed(self.tick_wakeups);
        if times(3, self.tick_wakeups) > times(2, self.total) {
            let hits = &mut self.bins[states.last()].hits;
            *hits = pulsed(*hits);
            return true;
        }
        let is_rare =
            self.rules.has(Rule::TeoTickHit) && times(3, self.tick_intercepts) < times(2, sum);
        if is_rare {
            let hits = &mut self.bins[of_timer].hits;
            *hits = pulsed(*hits);
        }
        is_rare
    }

    pub fn select(&mut self, states: &States, situation: &mut impl Situation<N>) -> Choice {
        let limit_ns = situation.latency_limit_ns();
        self.sleep_length_ns = NEVER_NS.into();
        let keep_tick = |state| Choice {
            state,
            stop_tick: false,
        };
        if states.len() < 2 || enabled(states).next().is_none() {
            return keep_tick(0);
        }
        let utilised = self.rules.has(Rule::TeoUtilised) && situation.is_utilised();
        if !self.rules.has(Rule::TeoTimersOnDemand) {
            return self.select_from_timer(states, situation, limit_ns, utilised);
        }
        if states.len() < 3 && utilised {
            let usable = !states.is_disabled(0)
                && !states.get(0).polling
                && self.deep_enough(states, situation, 0);
            if usable || states.is_disabled(1) {
                return keep_tick(0);
            }
            let stay_ns = states.get(1).target_residency_ns.into();
            return self.finish(states, situation, 1, 0, stay_ns, self.half_tick());
        }
        let first = states.first_enabled();
        let mut candidate = states.deepest_within(u64::MAX);
        if candidate == first {
            let stay_ns = states.get(first).target_residency_ns.into();
            return self.finish(states, situation, first, first, stay_ns, self.half_tick());
        }
        let constraint = enabled(states)
            .skip_while(|(number, _)| *number == 0)
            .filter(|(_, state)| state.exit_latency_ns <= limit_ns)
            .map(|(number, _)| number)
            .last();
        let fits = |number| self.deep_enough(states, situation, number);
        candidate = self.intercepted(states, situation, candidate, &fits);
        if self.rules.has(Rule::TeoAskAtZero) && candidate == 0 {
            self.sleep_length_ns = situation.sleep_length().timer_ns;
            return keep_tick(0);
        }
        candidate = candidate.min(constraint.unwrap_or(0));
        if utilised {
            let shallower = states.shallower(candidate, N::from(NEVER_NS), true);
            if self.deep_enough(states, situation, shallower) {
                candidate = shallower;
            }
        }
        if !self.asks_timer(states, situation, candidate, limit_ns) {
            return keep_tick(candidate);
        }
        self.select_for_length(states, situation, candidate, constraint.unwrap_or(0))
    }

    /// Corrects the candidate by the sleep length, up to the deepest state that the limit allows.
    fn select_for_length(
        &mut self,
        states: &States,
        situation: &mut impl Situation<N>,
        mut candidate: usize,
        constraint: usize,
    ) -> Choice {
        let length = situation.sleep_length();
        self.sleep_length_ns = length.timer_ns;
        let is_far = situation.tick_stopped() && length.timer_ns > 2 * self.tick_ns;
        if self.rules.has(Rule::TeoSafeTimer)
            && is_far
            && states.get(candidate).target_residency_ns < self.tick_ns
        {
            let deeper = enabled(states)
                .filter(|&(number, state)| {
                    number > candidate
                        && number <= constraint
                        && length.timer_ns >= state.target_residency_ns
                })
                .map(|(number, _)| number)
                .next_back();
            return Choice {
                state: deeper.unwrap_or(candidate),
                stop_tick: true,
            };
        }
        if candidate == 0 {
            return Choice {
                state: 0,
                stop_tick: false,
            };
        }
        let mut duration_ns = length.timer_ns;
        if duration_ns < states.get(candidate).target_residency_ns {
            let shallower = states.shallower(candidate, duration_ns, false);
            if self.rules.has(Rule::TeoAnyShallower)
                || self.deep_enough(states, situation, shallower)
            {
                candidate = shallower;
            }
        }
        let is_most = self.are_short(states);
        if states.get(candidate).target_residency_ns < self.tick_ns && is_most {
            duration_ns = self.half_tick();
        }
        self.finish(
            states,
            situation,
            candidate,
            states.first_enabled(),
            duration_ns,
            length.event_ns,
        )
    }

    fn half_tick(&self) -> N {
        N::from(self.tick_ns / 2)
    }

    /// True if most recent stays ended before a tick.
    fn are_short(&self, states: &States) -> bool {
        let before_tick = if self.rules.has(Rule::TeoShortIdles) {
            self.tick_intercepts
        } else {
            sum(&self.bins[..states.len()], |bin| bin.intercepts)
        };
        if self.rules.has(Rule::TeoTwoThirds) {
            times(3, before_tick) >= times(2, self.total)
        } else {
            before_tick > self.total.map(|total| total / 2 + total / 8)
        }
    }

    /// A state is too shallow where the tick is stopped and nothing soon corrects the choice.
    fn deep_enough(&self, states: &States, situation: &impl Situation<N>, state: usize) -> bool {
        !situation.tick_stopped() || states.get(state).target_residency_ns >= self.tick_ns
    }

    /// True if the sleep length is asked for before the candidate is taken.
    fn asks_timer(
        &self,
        states: &States,
        situation: &impl Situation<N>,
        candidate: usize,
        limit_ns: u64,
    ) -> bool {
        let shallow = states.get(candidate).target_residency_ns < SHALLOW_NS;
        if !self.rules.has(Rule::TeoShortIdles) {
            return candidate != 0 && !(states.get(0).polling && shallow);
        }
        if self.rules.has(Rule::TeoSafeTimer) && situation.tick_stopped() {
            return true;
        }
        let mostly_short = times(2, self.short_idles) >= self.total;
        !((candidate == 0 || shallow) && (mostly_short || limit_ns < LATENCY_THRESHOLD_NS))
    }

    /// The choice where timers are asked for first: the deepest state that fits the timer, unless
    /// stays were intercepted.
    fn select_from_timer(
        &mut self,
        states: &States,
        situation: &mut impl Situation<N>,
        limit_ns: u64,
        utilised: bool,
    ) -> Choice {
        let SleepLength { timer_ns, event_ns } = situation.sleep_length();
        self.sleep_length_ns = timer_ns;
        let first = states.first_enabled();
        let usable = |&(_, state): &(usize, &State)| !state.disabled && !state.polling;
        if states.len() < 3 && utilised {
            let state = states
                .all()
                .iter()
                .enumerate()
                .find(usable)
                .map(|(number, _)| number);
            if let Some(state) = state {
                return self.finish(states, situation, state, 0, timer_ns, event_ns);
            }
        }
        if !states.is_disabled(0) && timer_ns < states.get(1).target_residency_ns {
            return self.finish(states, situation, 0, 0, timer_ns, event_ns);
        }
        let candidate = states
            .all()
            .iter()
            .enumerate()
            .filter(|&(number, state)| {
                number == first || !state.disabled && timer_ns >= state.target_residency_ns
            })
            .map(|(number, _)| number)
            .next_back()
            .unwrap_or(first);
        if candidate == first {
            return self.finish(states, situation, first, first, timer_ns, event_ns);
        }
        let middle_ns = |number| {
            let to_ns = |number| states.get(number).target_residency_ns;
            (to_ns(number) + to_ns(number + 1)) / 2
        };
        let fits = |number| !situation.tick_stopped() || middle_ns(number) >= self.tick_ns;
        let mut chosen = self.intercepted(states, situation, candidate, &fits);
        let duration_ns = if chosen < candidate {
            N::from(middle_ns(chosen))
        } else {
            timer_ns
        };
        let constraint = states
            .all()
            .iter()
            .enumerate()
            .take(candidate + 1)
            .skip(1)
            .filter(|(_, state)| {
                !state.disabled
                    && state.exit_latency_ns <= limit_ns
                    && timer_ns >= state.target_residency_ns
            })
            .map(|(number, _)| number)
            .next_back();
        chosen = chosen.min(constraint.unwrap_or(0));
        if utilised {
            chosen = states.shallower(chosen, duration_ns, true);
        }
        self.finish(states, situation, chosen, first, duration_ns, event_ns)
    }

    /// The candidate, or a shallower one that fits where most stays that could have been as long
    /// were intercepted before.
    fn intercepted(
        &self,
        states: &States,
        situation: &impl Situation<N>,
        candidate: usize,
        fits: &dyn Fn(usize) -> bool,
    ) -> usize {
        let (shallower, deeper) = self.bins.split_at(candidate);
        let intercepts = sum(shallower, |bin| bin.intercepts);
        let recent = sum(shallower, |bin| bin.recent).low_half();
        let by_intercepts = if self.is_sum() {
            let others = sum(deeper, |bin| bin.hits.plus(bin.intercepts));
            intercepts > others.plus(self.tick_hits)
        } else {
            // The kernel's difference wraps around where hits have decayed more slowly than the total.
            let hits = sum(shallower, |bin| bin.hits);
            let others = |total: u64, hits: u64| total + (1 << 32) - hits;
            times(2, intercepts) > self.total.with(hits, others).low_half()
        };
        let by_recent = self.rules.has(Rule::TeoRecent) && recent > RECENT as u64 / 2;
        if !by_intercepts && !by_recent {
            return candidate;
        }
        if self.rules.has(Rule::TeoSimpleLookup) {
            return self.first_with_most(states, situation, candidate, intercepts);
        }
        let mut suitable = candidate;
        for number in (0..candidate).rev() {
            let so_far = &self.bins[number..candidate];
            let recent_so_far = sum(so_far, |bin| bin.recent).low_half();
            let most_recent = !by_recent || times(2, recent_so_far).low_half() > recent;
            let most = || times(2, sum(so_far, |bin| bin.intercepts)) > intercepts;
            if most_recent && (!by_intercepts || most()) {
                return if fits(number) && !states.is_disabled(number) {
                    number
                } else {
                    suitable
                };
            }
            if states.is_disabled(number) {
                continue;
            }
            if fits(number) {
                suitable = number;
            } else if suitable == candidate {
                return candidate;
            }
        }
        candidate
    }

    /// The deepest state down to which most of the intercepts lie.
    fn first_with_most(
        &self,
        states: &States,
        situation: &impl Situation<N>,
        candidate: usize,
        intercepts: N,
    ) -> usize {
        let first = states.first_enabled();
        let is_long = |state: &State| state.target_residency_ns >= self.tick_ns;
        let lowest = if situation.tick_stopped() && !self.rules.has(Rule::TeoSafeTimer) {
            (first..candidate)
                .find(|&number| is_long(states.get(number)))
                .unwrap_or(candidate)
        } else {
            first
        };
        let to_ns = |number: usize| states.get(number).target_residency_ns;
        if self.rules.has(Rule::TeoKeepEqual)
            && situation.tick_stopped()
            && to_ns(lowest) == to_ns(candidate)
        {
            return candidate;
        }
        // Of bins with the same count the one of the deepest state.
        let of = |number: usize| self.bins[number].intercepts;
        let more = |most, number| if of(number) >= of(most) { number } else { most };
        let most = (1..states.last()).fold(0, more);
        let goes_down = self.rules.has(Rule::TeoMostIntercepts);
        if goes_down
            && !self.rules.has(Rule::TeoSafeTimer)
            && lowest >= most
            && !states.is_disabled(lowest)
        {
            return lowest;
        }
        let mut found = candidate;
        for number in (lowest..candidate).rev() {
            if states.is_disabled(number) {
                continue;
            }
            found = number;
            let so_far = sum(&self.bins[number..candidate], |bin| bin.intercepts);
            if times(2, so_far) > intercepts && (!goes_down || number <= most) {
                break;
            }
        }
        found
    }

    /// The choice, made to fit the time to the tick where that is not stopped.
    fn finish(
        &self,
        states: &States,
        situation: &impl Situation<N>,
        candidate: usize,
        first: usize,
        duration_ns: N,
        event_ns: N,
    ) -> Choice {
        let state = states.get(candidate);
        if (!state.polling && duration_ns >= self.tick_ns) || situation.tick_stopped() {
            return Choice {
                state: candidate,
                stop_tick: true,
            };
        }
        let fits = candidate <= first || event_ns >= state.target_residency_ns;
        Choice {
            state: if fits {
                candidate
            } else {
                states.shallower(candidate, event_ns, false)
            },
            stop_tick: false,
        }
    }
}
