//! teo: the next timer, unless wake-ups by anything else came earlier in most cases of late.

use crate::rules::{Rule, Rules};
use crate::situation::{Choice, Outcome, Situation, SleepLength};
use crate::states::{MAX_STATES, State, States};
use crate::{NEVER_NS, SHALLOW_NS};

const PULSE: u32 = 1024;
const DECAY_SHIFT: u32 = 3;
const RECENT: usize = 9;
/// With a smaller latency limit, 6.18 does not ask for the timer before it chooses a shallow state.
const LATENCY_THRESHOLD_NS: u64 = SHALLOW_NS / 2;

/// The stays that fell between the target residencies of a state and of the next.
#[derive(Clone, Copy, Default)]
struct Bin {
    /// Stays that ended in the bin in which the timer lay.
    hits: u32,
    /// Stays that ended here, while the timer lay in a later bin.
    intercepts: u32,
    /// Number of the last stays that count as intercepts. Wraps around below 0, as the kernel's
    /// does.
    recent: u32,
}

pub struct Teo {
    rules: Rules,
    tick_ns: u64,
    sleep_length_ns: u64,
    bins: [Bin; MAX_STATES],
    total: u32,
    /// Hits beyond the tick (6.6 to 6.14).
    tick_hits: u32,
    /// Intercepts before the tick (from 6.15).
    tick_intercepts: u32,
    /// Wake-ups by the tick (from 6.19).
    tick_wakeups: u32,
    /// Short stays (from 6.15).
    short_idles: u32,
    /// Bins of the recent intercepts (up to 6.10).
    recent: [Option<u8>; RECENT],
    oldest: usize,
}

/// The states that are not disabled, with their numbers.
fn enabled(states: &States) -> impl DoubleEndedIterator<Item = (usize, &State)> {
    states
        .all()
        .iter()
        .enumerate()
        .filter(|(_, state)| !state.disabled)
}

impl Teo {
    pub fn new(rules: Rules, tick_ns: u64) -> Self {
        Self {
            rules,
            tick_ns,
            sleep_length_ns: NEVER_NS,
            bins: [Bin::default(); MAX_STATES],
            total: 0,
            tick_hits: 0,
            tick_intercepts: 0,
            tick_wakeups: 0,
            short_idles: 0,
            recent: [None; RECENT],
            oldest: 0,
        }
    }

    fn decay(&self, metric: u32) -> u32 {
        let less = metric >> DECAY_SHIFT;
        if less == 0 && self.rules.has(Rule::TeoDecayToZero) {
            0
        } else {
            metric - less
        }
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
            if net || !is_short_counted && outcome.since_choice_ns >= self.sleep_length_ns {
                // Of two kernels, one has the largest number without and one that with a sign; no state
                // and no tick is that long.
                NEVER_NS
            } else {
                let measured_ns = self.measured(states, entered, outcome);
                let early = outcome.residency_ns < states.get(entered).exit_latency_ns;
                if is_short_counted && (early || measured_ns < SHALLOW_NS) {
                    self.short_idles += PULSE;
                }
                measured_ns
            };
        self.update(
            states,
            states.get(entered).exit_latency_ns,
            measured_ns,
            outcome.got_tick,
        );
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

    /// Takes the oldest of the recent intercepts out; returns its place, which the next one gets.
    fn forget_oldest(&mut self) -> usize {
        let place = self.oldest;
        if self.rules.has(Rule::TeoRecent) {
            self.oldest = (self.oldest + 1) % RECENT;
            if let Some(bin) = self.recent[place] {
                let recent = &mut self.bins[usize::from(bin)].recent;
                *recent = recent.wrapping_sub(1);
            }
        }
        place
    }

    /// Lets all bins decay. Returns the bin of the timer, that of the stay, and the sum of all.
    fn decay_bins(&mut self, states: &States, measured_ns: u64) -> (usize, usize, u32) {
        let (mut of_timer, mut of_stay) = (0, 0);
        let mut sum = 0;
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
            sum += bin.hits + bin.intercepts;
            if state.target_residency_ns <= self.sleep_length_ns {
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
        let place = self.forget_oldest();
        let is_sum = !self.rules.has(Rule::TeoShortIdles) || self.rules.has(Rule::TeoDecayToZero);
        self.total = PULSE + if is_sum { sum } else { self.decay(self.total) };
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
            self.total += self.tick_hits;
            if self.tick_ns <= self.sleep_length_ns {
                of_timer = states.len();
                if self.tick_ns <= measured_ns {
                    // 6.10 does not advance the index of recent intercepts here, so the next call
                    // subtracts the same intercept a second time.
                    self.tick_hits += PULSE;
                    return;
                }
            }
        }
        let late_ns = self.sleep_length_ns.cast_signed() - measured_ns.cast_signed();
        let is_close =
            !self.rules.has(Rule::TeoCloseHit) || late_ns < (latency_ns / 2).cast_signed();
        let hit = of_timer == of_stay && is_close;
        let bin = &mut self.bins[of_stay];
        if hit {
            bin.hits += PULSE;
        } else {
            bin.intercepts += PULSE;
        }
        if self.rules.has(Rule::TeoRecent) {
            if !hit {
                bin.recent = bin.recent.wrapping_add(1);
            }
            self.recent[place] = (!hit).then_some(of_stay as u8);
        }
        let before_tick = if self.rules.has(Rule::TeoTickIntercepts) {
            measured_ns <= self.tick_ns
        } else {
            self.tick_ns <= measured_ns
        };
        if self.rules.has(Rule::TeoShortIdles) && !hit && before_tick {
            self.tick_intercepts += PULSE;
        }
    }

    /// Counts a wake-up by the tick; returns true if it was a hit, and nothing else is counted.
    fn is_hit_by_tick(&mut self, states: &States, of_timer: usize, sum: u32) -> bool {
        self.tick_wakeups += PULSE;
        if 3 * self.tick_wakeups > 2 * self.total {
            self.bins[states.last()].hits += PULSE;
            return true;
        }
        let is_rare = self.rules.has(Rule::TeoTickHit) && 3 * self.tick_intercepts < 2 * sum;
        if is_rare {
            self.bins[of_timer].hits += PULSE;
        }
        is_rare
    }

    pub fn select(&mut self, states: &States, situation: &mut impl Situation) -> Choice {
        let limit_ns = situation.latency_limit_ns();
        self.sleep_length_ns = NEVER_NS;
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
            let (stay_ns, event_ns) = (states.get(1).target_residency_ns, self.tick_ns / 2);
            return self.finish(states, situation, 1, 0, stay_ns, event_ns);
        }
        let first = states.first_enabled();
        let mut candidate = states.deepest_within(u64::MAX);
        if candidate == first {
            let (stay_ns, event_ns) = (states.get(first).target_residency_ns, self.tick_ns / 2);
            return self.finish(states, situation, first, first, stay_ns, event_ns);
        }
        let constraint = enabled(states)
            .skip_while(|(number, _)| *number == 0)
            .filter(|(_, state)| state.exit_latency_ns <= limit_ns)
            .map(|(number, _)| number)
            .last();
        candidate = self.intercepted(states, situation, candidate);
        if self.rules.has(Rule::TeoAskAtZero) && candidate == 0 {
            self.sleep_length_ns = situation.sleep_length().timer_ns;
            return keep_tick(0);
        }
        candidate = candidate.min(constraint.unwrap_or(0));
        if utilised {
            let shallower = states.shallower(candidate, NEVER_NS, true);
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
        situation: &mut impl Situation,
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
                        && state.target_residency_ns <= length.timer_ns
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
        if states.get(candidate).target_residency_ns > duration_ns {
            let shallower = states.shallower(candidate, duration_ns, false);
            if self.rules.has(Rule::TeoAnyShallower)
                || self.deep_enough(states, situation, shallower)
            {
                candidate = shallower;
            }
        }
        let is_most = self.are_short(states);
        if states.get(candidate).target_residency_ns < self.tick_ns && is_most {
            duration_ns = self.tick_ns / 2;
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

    /// True if most recent stays ended before a tick.
    fn are_short(&self, states: &States) -> bool {
        let before_tick = if self.rules.has(Rule::TeoShortIdles) {
            self.tick_intercepts
        } else {
            self.bins[..states.len()]
                .iter()
                .map(|bin| bin.intercepts)
                .sum()
        };
        if self.rules.has(Rule::TeoTwoThirds) {
            3 * before_tick >= 2 * self.total
        } else {
            before_tick > self.total / 2 + self.total / 8
        }
    }

    /// A state is too shallow where the tick is stopped and nothing soon corrects the choice.
    fn deep_enough(&self, states: &States, situation: &impl Situation, state: usize) -> bool {
        !situation.tick_stopped() || states.get(state).target_residency_ns >= self.tick_ns
    }

    /// True if the sleep length is asked for before the candidate is taken.
    fn asks_timer(
        &self,
        states: &States,
        situation: &impl Situation,
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
        let mostly_short = 2 * self.short_idles >= self.total;
        !((candidate == 0 || shallow) && (mostly_short || limit_ns < LATENCY_THRESHOLD_NS))
    }

    /// The choice where timers are asked for first: the deepest state that fits the timer, unless
    /// stays were intercepted.
    fn select_from_timer(
        &mut self,
        states: &States,
        situation: &mut impl Situation,
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
        if !states.is_disabled(0) && states.get(1).target_residency_ns > timer_ns {
            return self.finish(states, situation, 0, 0, timer_ns, event_ns);
        }
        let candidate = states
            .all()
            .iter()
            .enumerate()
            .filter(|&(number, state)| {
                number == first || !state.disabled && state.target_residency_ns <= timer_ns
            })
            .map(|(number, _)| number)
            .next_back()
            .unwrap_or(first);
        if candidate == first {
            return self.finish(states, situation, first, first, timer_ns, event_ns);
        }
        let (mut chosen, mut duration_ns) =
            self.intercepted_span(states, situation, candidate, timer_ns);
        let constraint = states
            .all()
            .iter()
            .enumerate()
            .take(candidate + 1)
            .skip(1)
            .filter(|(_, state)| {
                !state.disabled
                    && state.exit_latency_ns <= limit_ns
                    && state.target_residency_ns <= timer_ns
            })
            .map(|(number, _)| number)
            .next_back();
        chosen = chosen.min(constraint.unwrap_or(0));
        if utilised {
            chosen = states.shallower(chosen, duration_ns, true);
        }
        duration_ns = duration_ns.min(NEVER_NS);
        self.finish(states, situation, chosen, first, duration_ns, event_ns)
    }

    /// The candidate and the time to its timer, or a shallower state and the middle of its bin
    /// where most stays were intercepted before.
    fn intercepted_span(
        &self,
        states: &States,
        situation: &impl Situation,
        candidate: usize,
        timer_ns: u64,
    ) -> (usize, u64) {
        let shallower = &self.bins[..candidate];
        let intercepts = shallower.iter().map(|bin| bin.intercepts).sum();
        let hits = shallower.iter().map(|bin| bin.hits).sum();
        let recent = shallower
            .iter()
            .fold(0_u32, |sum, bin| sum.wrapping_add(bin.recent));
        let by_intercepts = 2 * intercepts > self.total.wrapping_sub(hits);
        let by_recent = recent > RECENT as u32 / 2;
        let none = (candidate, timer_ns);
        if !by_intercepts && !by_recent {
            return none;
        }
        let mut suitable = none;
        let (mut intercepts_so_far, mut recent_so_far) = (0, 0_u32);
        for number in (0..candidate).rev() {
            intercepts_so_far += self.bins[number].intercepts;
            recent_so_far = recent_so_far.wrapping_add(self.bins[number].recent);
            let (from_ns, to_ns) = (
                states.get(number).target_residency_ns,
                states.get(number + 1).target_residency_ns,
            );
            let span_ns = (from_ns + to_ns) / 2;
            let is_long = !situation.tick_stopped() || span_ns >= self.tick_ns;
            let most_recent = !by_recent || recent_so_far.wrapping_mul(2) > recent;
            if most_recent && (!by_intercepts || 2 * intercepts_so_far > intercepts) {
                return if is_long && !states.is_disabled(number) {
                    (number, span_ns)
                } else {
                    suitable
                };
            }
            if states.is_disabled(number) {
                continue;
            }
            if is_long {
                suitable = (number, span_ns);
            } else if suitable.0 == candidate {
                return none;
            }
        }
        none
    }

    /// The candidate, or a shallower one where most stays that could have been as long were
    /// intercepted before.
    fn intercepted(&self, states: &States, situation: &impl Situation, candidate: usize) -> usize {
        let shallower = &self.bins[..candidate];
        let intercepts = shallower.iter().map(|bin| bin.intercepts).sum();
        let hits = shallower.iter().map(|bin| bin.hits).sum();
        let recent = shallower
            .iter()
            .fold(0_u32, |sum, bin| sum.wrapping_add(bin.recent));
        // The kernel's difference wraps around where hits have decayed more slowly than the total.
        let by_intercepts = 2 * intercepts > self.total.wrapping_sub(hits);
        let by_recent = self.rules.has(Rule::TeoRecent) && recent > RECENT as u32 / 2;
        if !by_intercepts && !by_recent {
            return candidate;
        }
        if self.rules.has(Rule::TeoSimpleLookup) {
            return self.first_with_most(states, situation, candidate, intercepts);
        }
        let mut suitable = candidate;
        let (mut intercepts_so_far, mut recent_so_far) = (0, 0_u32);
        for number in (0..candidate).rev() {
            intercepts_so_far += self.bins[number].intercepts;
            recent_so_far = recent_so_far.wrapping_add(self.bins[number].recent);
            let fits = self.deep_enough(states, situation, number);
            let most_recent = !by_recent || recent_so_far.wrapping_mul(2) > recent;
            if most_recent && (!by_intercepts || 2 * intercepts_so_far > intercepts) {
                return if fits && !states.is_disabled(number) {
                    number
                } else {
                    suitable
                };
            }
            if states.is_disabled(number) {
                continue;
            }
            if fits {
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
        situation: &impl Situation,
        candidate: usize,
        intercepts: u32,
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
        let most = self.bins[..states.last()]
            .iter()
            .enumerate()
            .max_by_key(|(_, bin)| bin.intercepts)
            .map_or(0, |(number, _)| number);
        let goes_down = self.rules.has(Rule::TeoMostIntercepts);
        if goes_down
            && !self.rules.has(Rule::TeoSafeTimer)
            && lowest >= most
            && !states.is_disabled(lowest)
        {
            return lowest;
        }
        let (mut found, mut sum) = (candidate, 0);
        for number in (lowest..candidate).rev() {
            sum += self.bins[number].intercepts;
            if states.is_disabled(number) {
                continue;
            }
            found = number;
            if 2 * sum > intercepts && (!goes_down || number <= most) {
                break;
            }
        }
        found
    }

    /// The choice, made to fit the time to the tick where that is not stopped.
    fn finish(
        &self,
        states: &States,
        situation: &impl Situation,
        candidate: usize,
        first: usize,
        duration_ns: u64,
        event_ns: u64,
    ) -> Choice {
        let state = states.get(candidate);
        if (!state.polling && duration_ns >= self.tick_ns) || situation.tick_stopped() {
            return Choice {
                state: candidate,
                stop_tick: true,
            };
        }
        let fits = candidate <= first || state.target_residency_ns <= event_ns;
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
