//! teo: the next timer, unless wake-ups by anything else came earlier in most cases of late.

use crate::situation::{Choice, Outcome, Situation};
use crate::states::{MAX_STATES, States};
use crate::{NEVER_NS, SHALLOW_NS};

/// Which teo.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Version {
    /// As in Linux 6.10, before the changes of June 2024: it also counts recent intercepts, whose
    /// counts can fall below 0, and minds the CPU's utilisation.
    Linux610,
    /// As in Linux 6.11, after them: where it takes state 0 because of intercepts it still asks for
    /// the next timer, so that it can tell later whether it was right.
    Linux611,
    /// As in Linux 6.18: it counts short stays, and intercepts by the tick's length, the latter
    /// with the comparison the wrong way round.
    Linux618,
    /// The same with the fix of November 2025 ("Fix tick_intercepts handling in teo_update()").
    Fixed618,
}

const PULSE: u32 = 1024;
const DECAY_SHIFT: u32 = 3;
const RECENT: usize = 9;
/// With a smaller latency limit, 6.18 does not ask for the timer before it chooses a shallow state.
const LATENCY_THRESHOLD_NS: u64 = SHALLOW_NS / 2;

fn decay(metric: &mut u32) {
    *metric -= *metric >> DECAY_SHIFT;
}

/// The stays that fell between the target residencies of a state and of the next.
#[derive(Clone, Copy, Debug, Default)]
struct Bin {
    /// Stays that ended in the bin in which the timer lay.
    hits: u32,
    /// Stays that ended here, while the timer lay in a later bin.
    intercepts: u32,
    /// Of the last stays those that count as intercepts. Wraps around below 0, as the kernel's
    /// does.
    recent: u32,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Teo {
    version: Version,
    tick_ns: u64,
    sleep_length_ns: u64,
    bins: [Bin; MAX_STATES],
    total: u32,
    /// Hits beyond the tick (up to 6.11).
    tick_hits: u32,
    /// Intercepts before the tick (from 6.18).
    tick_intercepts: u32,
    /// Short stays (from 6.18).
    short_idles: u32,
    /// In which bin recent intercepts fell (6.10).
    recent: [Option<u8>; RECENT],
    oldest: usize,
}

impl Teo {
    pub(crate) fn new(version: Version, tick_ns: u64) -> Self {
        Self {
            version,
            tick_ns,
            sleep_length_ns: NEVER_NS,
            bins: [Bin::default(); MAX_STATES],
            total: 0,
            tick_hits: 0,
            tick_intercepts: 0,
            short_idles: 0,
            recent: [None; RECENT],
            oldest: 0,
        }
    }

    pub(crate) fn reflect(&mut self, states: &States, outcome: &Outcome) {
        let Some(entered) = outcome.entered else { return };
        // Polling's limit and the tick are safety nets: the CPU might have stayed for as long as it
        // liked.
        let net = outcome.polled_to_limit || (outcome.got_tick && self.sleep_length_ns > self.tick_ns);
        let measured_ns = match self.version {
            Version::Linux610 | Version::Linux611 => {
                let to_timer = net || outcome.since_choice_ns >= self.sleep_length_ns;
                if to_timer { u64::MAX } else { self.measured(states, entered, outcome) }
            }
            Version::Linux618 | Version::Fixed618 => {
                decay(&mut self.short_idles);
                if net {
                    u64::MAX
                } else {
                    let measured_ns = self.measured(states, entered, outcome);
                    let early = outcome.residency_ns < states.get(entered).exit_latency_ns;
                    if early || measured_ns < SHALLOW_NS {
                        self.short_idles += PULSE;
                    }
                    measured_ns
                }
            }
        };
        self.update(states, measured_ns);
    }

    /// The time that the CPU was idle, less half of the exit latency, for it seldom takes its
    /// worst.
    fn measured(&self, states: &States, entered: usize, outcome: &Outcome) -> u64 {
        let (stay_ns, latency_ns) = (outcome.residency_ns, states.get(entered).exit_latency_ns);
        if stay_ns >= latency_ns { stay_ns - latency_ns / 2 } else { stay_ns / 2 }
    }

    fn update(&mut self, states: &States, measured_ns: u64) {
        let (mut of_timer, mut of_stay) = (0, 0);
        let mut sum = 0;
        for (number, state) in states.all().iter().enumerate() {
            let bin = &mut self.bins[number];
            decay(&mut bin.hits);
            decay(&mut bin.intercepts);
            sum += bin.hits + bin.intercepts;
            if state.target_residency_ns <= self.sleep_length_ns {
                of_timer = number;
                if state.target_residency_ns <= measured_ns {
                    of_stay = number;
                }
            }
        }
        let by_tick = self.version <= Version::Linux611;
        let place = self.oldest;
        if self.version == Version::Linux610 {
            self.oldest = (self.oldest + 1) % RECENT;
            if let Some(bin) = self.recent[place] {
                let recent = &mut self.bins[usize::from(bin)].recent;
                *recent = recent.wrapping_sub(1);
            }
        }
        if by_tick {
            self.total = sum;
        } else {
            decay(&mut self.tick_intercepts);
            decay(&mut self.total);
        }
        self.total += PULSE;
        // Where the deepest state pays within a tick, a bin of its own begins at the tick's length.
        if by_tick && states.get(states.last()).target_residency_ns < self.tick_ns {
            decay(&mut self.tick_hits);
            self.total += self.tick_hits;
            if self.tick_ns <= self.sleep_length_ns {
                of_timer = states.len();
                if self.tick_ns <= measured_ns {
                    // 6.10 leaves the place of the recent intercepts as it was, so that it counts
                    // down twice for one.
                    self.tick_hits += PULSE;
                    return;
                }
            }
        }
        let hit = of_timer == of_stay;
        let bin = &mut self.bins[of_stay];
        if hit {
            bin.hits += PULSE;
        } else {
            bin.intercepts += PULSE;
        }
        match self.version {
            Version::Linux610 if hit => self.recent[place] = None,
            Version::Linux610 => {
                bin.recent = bin.recent.wrapping_add(1);
                self.recent[place] = Some(of_stay as u8);
            }
            Version::Linux618 if !hit && self.tick_ns <= measured_ns => self.tick_intercepts += PULSE,
            Version::Fixed618 if !hit && measured_ns <= self.tick_ns => self.tick_intercepts += PULSE,
            _ => {}
        }
    }

    pub(crate) fn select(&mut self, states: &States, situation: &mut impl Situation) -> Choice {
        let limit_ns = situation.latency_limit_ns();
        self.sleep_length_ns = NEVER_NS;
        let keep_tick = |state| Choice { state, stop_tick: false };
        let enabled = || states.all().iter().enumerate().filter(|(_, state)| !state.disabled);
        if states.len() < 2 || enabled().next().is_none() {
            return keep_tick(0);
        }
        let utilised = self.version == Version::Linux610 && situation.is_utilised();
        if states.len() < 3 && utilised {
            let usable = !states.is_disabled(0) && !states.get(0).polling && self.deep_enough(states, situation, 0);
            if usable || states.is_disabled(1) {
                return keep_tick(0);
            }
            return self.finish(states, situation, 1, 0, states.get(1).target_residency_ns, self.tick_ns / 2);
        }
        let first = states.first_enabled();
        let mut candidate = states.deepest_enabled();
        if candidate == first {
            return self.finish(
                states,
                situation,
                first,
                first,
                states.get(first).target_residency_ns,
                self.tick_ns / 2,
            );
        }
        let allowed = enabled().skip_while(|(number, _)| *number == 0);
        let constraint =
            allowed.filter(|(_, state)| state.exit_latency_ns <= limit_ns).map(|(number, _)| number).last();
        candidate = self.intercepted(states, situation, candidate);
        if self.version == Version::Linux611 && candidate == 0 {
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
        if !self.asks_timer(states, candidate, limit_ns) {
            return keep_tick(candidate);
        }
        let length = situation.sleep_length();
        self.sleep_length_ns = length.timer_ns;
        if candidate == 0 {
            return keep_tick(0);
        }
        let mut duration_ns = length.timer_ns;
        if states.get(candidate).target_residency_ns > duration_ns {
            let shallower = states.shallower(candidate, duration_ns, false);
            if self.deep_enough(states, situation, shallower) {
                candidate = shallower;
            }
        }
        let before_tick = match self.version {
            Version::Linux610 | Version::Linux611 => self.bins[..states.len()].iter().map(|bin| bin.intercepts).sum(),
            Version::Linux618 | Version::Fixed618 => self.tick_intercepts,
        };
        if states.get(candidate).target_residency_ns < self.tick_ns && before_tick > self.total / 2 + self.total / 8 {
            duration_ns = self.tick_ns / 2;
        }
        self.finish(states, situation, candidate, first, duration_ns, length.event_ns)
    }

    /// A state is too shallow where the tick is stopped and nothing soon corrects the choice.
    fn deep_enough(&self, states: &States, situation: &impl Situation, state: usize) -> bool {
        !situation.tick_stopped() || states.get(state).target_residency_ns >= self.tick_ns
    }

    /// True if the sleep length is asked for before the candidate is taken.
    fn asks_timer(&self, states: &States, candidate: usize, limit_ns: u64) -> bool {
        let shallow = states.get(candidate).target_residency_ns < SHALLOW_NS;
        match self.version {
            Version::Linux610 | Version::Linux611 => candidate != 0 && !(states.get(0).polling && shallow),
            Version::Linux618 | Version::Fixed618 => {
                let mostly_short = 2 * self.short_idles >= self.total;
                !((candidate == 0 || shallow) && (mostly_short || limit_ns < LATENCY_THRESHOLD_NS))
            }
        }
    }

    /// The candidate, or a shallower one where most stays that could have been as long were
    /// intercepted before.
    fn intercepted(&self, states: &States, situation: &impl Situation, candidate: usize) -> usize {
        let shallower = &self.bins[..candidate];
        let intercepts: u32 = shallower.iter().map(|bin| bin.intercepts).sum();
        let hits: u32 = shallower.iter().map(|bin| bin.hits).sum();
        let recent = shallower.iter().fold(0_u32, |sum, bin| sum.wrapping_add(bin.recent));
        // The kernel's difference wraps around where hits have decayed more slowly than the total.
        let by_intercepts = 2 * intercepts > self.total.wrapping_sub(hits);
        let by_recent = self.version == Version::Linux610 && recent > RECENT as u32 / 2;
        if !by_intercepts && !by_recent {
            return candidate;
        }
        let mut suitable = candidate;
        let (mut intercepts_so_far, mut recent_so_far) = (0, 0_u32);
        for number in (0..candidate).rev() {
            intercepts_so_far += self.bins[number].intercepts;
            recent_so_far = recent_so_far.wrapping_add(self.bins[number].recent);
            let fits = self.deep_enough(states, situation, number);
            let most_recent = !by_recent || recent_so_far.wrapping_mul(2) > recent;
            if most_recent && (!by_intercepts || 2 * intercepts_so_far > intercepts) {
                return if fits && !states.is_disabled(number) { number } else { suitable };
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
            return Choice { state: candidate, stop_tick: true };
        }
        let fits = candidate <= first || state.target_residency_ns <= event_ns;
        Choice { state: if fits { candidate } else { states.shallower(candidate, event_ns, false) }, stop_tick: false }
    }
}
