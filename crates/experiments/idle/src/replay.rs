//! A governor replayed on a trace, in open loop: what woke a CPU stays where it was. A deeper state
//! delays the work by its exit latency, and nothing else moves.

use crate::platform::{Platform, StateCost};
use crate::trace::TracedIntervals;
use idle::{Accounting, Clock, Governor, Kind, KnownSituation, MAX_STATES, NEVER_NS, Outcome, SleepLength};
use sleeps::{Sleep, SleepLength as Known};
use std::collections::BTreeMap;

/// The value that is taken for the sleep length where a trace does not say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unsaid {
    /// The interval's own length: a timer was about to fire.
    Interval,
    /// No end: no timer was set.
    Endless,
}

impl Unsaid {
    /// Both.
    pub const BOTH: [Self; 2] = [Self::Interval, Self::Endless];

    /// The name of it in recordings.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Interval => "timer-at-end",
            Self::Endless => "no-timer",
        }
    }
}

/// The one who chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chooser {
    /// The traced kernel, as recorded.
    Recorded,
    /// A governor.
    Governor(Kind),
}

/// The effect of reading the clock, and of the division after it, on a stay.
pub trait Reading {
    /// The time that the two reads of the clock around a stay take, in nanoseconds: before it, and
    /// after it.
    fn reads_ns(&mut self) -> [u64; 2];

    /// Clock with which the kernel makes a residency of the difference.
    fn clock(&self) -> Clock;
}

/// Reads that take no time, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ideal;

impl Reading for Ideal {
    fn reads_ns(&mut self) -> [u64; 2] {
        [0, 0]
    }

    fn clock(&self) -> Clock {
        Clock::Nanoseconds
    }
}

/// The choices of a governor on a trace.
#[derive(Clone, Debug)]
pub struct GovernorReplay {
    /// For each interval of each CPU the state in which it ended.
    pub chosen: Vec<Vec<u8>>,
    /// Sums over all CPUs, by state.
    pub states: Vec<idle::Usage>,
    /// The time that work was delayed.
    pub delays: Delays,
    /// Entries into each state, by domain of the platform.
    pub entries: Vec<[u64; MAX_STATES]>,
    /// Energy of the cores while they idled, without round trips, in units times nanoseconds.
    pub core_energy: u128,
    /// Energy of the reads of the clock, at active power, likewise.
    pub read_energy: u128,
}

/// The number of times that work was delayed by how many microseconds.
#[derive(Clone, Debug, Default)]
pub struct Delays(Vec<u64>);

impl Delays {
    /// Counts the end of some stays: the state is left, after an entry that has begun is finished.
    pub fn count(&mut self, state: &StateCost, stay_ns: u64, stays: u64) {
        let delay_ns = state.exit_ns + state.entry_ns.saturating_sub(stay_ns);
        let delay_us = delay_ns.div_ceil(1000) as usize;
        if self.0.len() <= delay_us {
            self.0.resize(delay_us + 1, 0);
        }
        self.0[delay_us] += stays;
    }

    /// The delay in microseconds that `percent` of the stays do not exceed; 0 where there are none.
    pub fn quantile_us(&self, percent: u64) -> u64 {
        let all: u64 = self.0.iter().sum();
        let rank = (all * percent).div_ceil(100).max(1);
        let mut below = 0;
        let reached = self.0.iter().position(|count| {
            below += count;
            below >= rank
        });
        reached.unwrap_or(0) as u64
    }
}

/// Replays a trace.
pub fn replay(
    platform: &Platform,
    traced: &TracedIntervals,
    chooser: Chooser,
    unsaid: Unsaid,
    tick_ns: u64,
    reading: &mut impl Reading,
) -> GovernorReplay {
    let mut replayed = GovernorReplay {
        chosen: Vec::with_capacity(traced.cpus.len()),
        states: vec![idle::Usage::default(); platform.domains[0].states.len()],
        delays: Delays::default(),
        entries: vec![[0; MAX_STATES]; platform.domains.len()],
        core_energy: 0,
        read_energy: 0,
    };
    for (cpu, sleeps) in traced.cpus.iter().enumerate() {
        let (domain, _) = platform.place(cpu as u16);
        let mut of_cpu = Cpu::new(platform, domain, chooser, unsaid, tick_ns, reading.clock());
        let chosen = sleeps.iter().map(|sleep| of_cpu.sleep(sleep, &mut replayed, reading) as u8).collect();
        replayed.chosen.push(chosen);
        for (state, sum) in replayed.states.iter_mut().enumerate() {
            let usage = of_cpu.accounting.usage(state);
            sum.entered += usage.entered;
            sum.time_ns += usage.time_ns;
            sum.above += usage.above;
            sum.below += usage.below;
            replayed.entries[domain][state] += usage.entered;
        }
    }
    replayed
}

/// A CPU of a replay.
struct Cpu<'p> {
    platform: &'p Platform,
    domain: usize,
    governor: Option<Governor>,
    accounting: Accounting,
    unsaid: Unsaid,
    tick_ns: u64,
}

impl<'p> Cpu<'p> {
    fn new(
        platform: &'p Platform,
        domain: usize,
        chooser: Chooser,
        unsaid: Unsaid,
        tick_ns: u64,
        clock: Clock,
    ) -> Self {
        let table = &platform.domains[domain].table;
        let governor = match chooser {
            Chooser::Recorded => None,
            Chooser::Governor(kind) => Some(Governor::new(kind, table, tick_ns)),
        };
        Self { platform, domain, governor, accounting: Accounting::new(clock), unsaid, tick_ns }
    }

    /// Lives through an interval, and returns the state in which it ended.
    fn sleep(&mut self, sleep: &Sleep, sums: &mut GovernorReplay, reading: &mut impl Reading) -> usize {
        let domain = &self.platform.domains[self.domain];
        let mut asked = asked(sleep, self.unsaid, self.tick_ns);
        let mut left_ns = sleep.interval_ns();
        loop {
            let (state, limit_ns) = match &mut self.governor {
                None => (usize::from(sleep.state).min(domain.table.last()), u64::MAX),
                Some(governor) => {
                    let state = governor.select(&domain.table, &mut asked).state;
                    let polls = domain.states[state].polling;
                    // A limit of 0 would never end.
                    let limit_ns = match polls {
                        true => governor.poll_limit_ns(&domain.table, self.tick_ns),
                        false => governor.ask_again_ns().unwrap_or(u64::MAX),
                    };
                    (state, limit_ns.max(1))
                }
            };
            let cost = &domain.states[state];
            let stay_ns = left_ns.min(limit_ns);
            let to_limit = stay_ns < left_ns;
            // The first read delays the stay; the kernel sees the stay and one of the two reads.
            let [before_ns, after_ns] = reading.reads_ns();
            let idle_ns = stay_ns.saturating_sub(before_ns);
            let residency_ns = self.accounting.leave(&domain.table, state, idle_ns + after_ns);
            sums.core_energy += u128::from(cost.core_power) * u128::from(idle_ns);
            sums.read_energy += u128::from(domain.core_active) * u128::from(before_ns.min(stay_ns) + after_ns);
            if let Some(governor) = &mut self.governor {
                let got_tick = !to_limit && sleep.got_tick;
                let (polled_to_limit, asked_again) = (to_limit && cost.polling, to_limit && !cost.polling);
                let since_choice_ns = stay_ns + after_ns;
                let entered = Some(state);
                let outcome =
                    Outcome { entered, residency_ns, since_choice_ns, got_tick, polled_to_limit, asked_again };
                governor.reflect(&domain.table, &outcome);
            }
            if !to_limit {
                sums.delays.count(cost, stay_ns, 1);
                return state;
            }
            left_ns -= stay_ns;
            asked = later(asked, stay_ns);
        }
    }
}

/// The facts that a governor can find out at the beginning of an interval.
pub(crate) fn asked(sleep: &Sleep, unsaid: Unsaid, tick_ns: u64) -> KnownSituation {
    let tick_stopped = sleep.tick_stopped.unwrap_or(false);
    let to_tick = |timer_ns: u64| if tick_stopped { timer_ns } else { timer_ns.min(tick_ns) };
    let sleep_length = match sleep.length {
        Known::Known { timer_ns, tick_ns } => {
            SleepLength { timer_ns, event_ns: tick_ns.map_or(timer_ns, |tick_ns| tick_ns.min(timer_ns)) }
        }
        Known::Equal => {
            let timer_ns = sleep.interval_ns();
            SleepLength { timer_ns, event_ns: to_tick(timer_ns) }
        }
        Known::Bounded { .. } | Known::Unknown { .. } => {
            let timer_ns = match unsaid {
                Unsaid::Interval => sleep.interval_ns(),
                Unsaid::Endless => NEVER_NS,
            };
            SleepLength { timer_ns, event_ns: to_tick(timer_ns) }
        }
    };
    // No timer is one at the end of time, as in the kernel, whose products of it wrap around.
    let end_ns = NEVER_NS - sleep.enter_ns.min(NEVER_NS);
    let SleepLength { timer_ns, event_ns } = sleep_length;
    let sleep_length = SleepLength { timer_ns: timer_ns.min(end_ns), event_ns: event_ns.min(end_ns) };
    KnownSituation { tick_stopped, ..KnownSituation::new(sleep_length) }
}

fn later(asked: KnownSituation, by_ns: u64) -> KnownSituation {
    let SleepLength { timer_ns, event_ns } = asked.sleep_length;
    let less = |time_ns: u64| time_ns.saturating_sub(by_ns);
    KnownSituation { sleep_length: SleepLength { timer_ns: less(timer_ns), event_ns: less(event_ns) }, ..asked }
}

/// The choices that a governor would have made beside those of the traced kernel, its past being
/// the kernel's own choices.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Agreement {
    /// Intervals with a known sleep length, after the first of each CPU: by recorded state and by
    /// the governor's.
    pub counts: Vec<Vec<u64>>,
    /// Those in which the two differ: by recorded state, the governor's, and whether the tick was
    /// stopped when the kernel chose.
    pub differing: BTreeMap<(usize, usize, Option<bool>), u64>,
}

/// Intervals at the beginning of each CPU's that do not count: the kernel's governor had a past
/// there that the trace does not show.
pub const FIRST: usize = 50;

impl Agreement {
    /// Compares a governor with the traced kernel. It learns from stays that are as long as the
    /// kernel took them to be, as far as that is known: [`TracedIntervals::tracing_ns`] is taken
    /// off.
    pub fn new(platform: &Platform, traced: &TracedIntervals, kind: Kind, tick_ns: u64) -> Self {
        let tracing_ns = traced.tracing_ns().unwrap_or(0);
        let states = platform.domains[0].states.len();
        let mut counts = vec![vec![0; states]; states];
        let mut differing = BTreeMap::new();
        for (cpu, sleeps) in traced.cpus.iter().enumerate() {
            let table = &platform.domains[platform.place(cpu as u16).0].table;
            let mut governor = Governor::new(kind, table, tick_ns);
            for (number, sleep) in sleeps.iter().enumerate() {
                let recorded = usize::from(sleep.state).min(table.last());
                let chosen = governor.select(table, &mut asked(sleep, Unsaid::Interval, tick_ns)).state;
                if number >= FIRST && matches!(sleep.length, Known::Known { .. }) {
                    counts[recorded][chosen] += 1;
                    if recorded != chosen {
                        *differing.entry((recorded, chosen, sleep.tick_stopped)).or_default() += 1;
                    }
                }
                let stay = match traced.refused[cpu].binary_search(&number) {
                    Ok(_) => Outcome::refused(),
                    Err(_) => Outcome::stay(recorded, sleep.interval_ns().saturating_sub(tracing_ns)),
                };
                governor.reflect(table, &Outcome { got_tick: sleep.got_tick, ..stay });
            }
        }
        Self { counts, differing }
    }

    /// Intervals that were compared.
    pub fn all(&self) -> u64 {
        self.counts.iter().flatten().sum()
    }

    /// The share in which both chose the same; `None` where nothing was compared.
    pub fn same(&self) -> Option<f64> {
        let same: u64 = self.counts.iter().enumerate().map(|(state, row)| row[state]).sum();
        share(same, self.all())
    }

    /// The mean over the recorded states of the share in which the governor chose the same.
    pub fn balanced(&self) -> Option<f64> {
        let shares = self.counts.iter().enumerate().filter_map(|(state, row)| share(row[state], row.iter().sum()));
        let shares: Vec<f64> = shares.collect();
        (!shares.is_empty()).then(|| shares.iter().sum::<f64>() / shares.len() as f64)
    }

    /// The share of a governor that always says the commonest state: the floor.
    pub fn commonest(&self) -> Option<f64> {
        share(self.counts.iter().map(|row| row.iter().sum()).max().unwrap_or(0), self.all())
    }
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}
