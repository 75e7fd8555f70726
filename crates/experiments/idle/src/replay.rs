//! A governor replayed on a trace, in open loop: what woke a CPU stays where it was. A deeper state
//! delays the work by its exit latency, and nothing else moves.

use crate::platform::{Platform, StateCost};
use crate::trace::TracedIntervals;
use idle::{
    Accounting, Choice, Clock, Governor, Kind, KnownSituation, MAX_STATES, NEVER_NS, Outcome,
    SleepLength,
};
use sleeps::{Sleep, SleepLength as Known};

/// The assumptions for what a trace does not say; each value is one end of what is possible.
#[derive(Clone, Copy, Debug)]
pub struct Unsaid {
    /// True if no timer was set where the sleep length is not known; else a timer was about to fire
    /// at the interval's end.
    pub is_endless: bool,
    /// True if the tick stood still already where its state is not known; else it ran.
    pub tick_stopped: bool,
    /// True if the CPU was utilised where that is not known, a task of it waited for input or
    /// output, and one was ready at the last tick.
    pub is_busy: bool,
    /// True if the governor's past is the traced kernel's own choices, before the trace as in it;
    /// else its own in the replay, and nothing before.
    pub is_taught: bool,
}

impl Unsaid {
    /// A timer was about to fire, the tick ran, and no task but the running one mattered.
    pub const TIMER: Self = Self {
        is_endless: false,
        tick_stopped: false,
        is_busy: false,
        is_taught: false,
    };
    /// The same without a timer.
    pub const ENDLESS: Self = Self {
        is_endless: true,
        ..Self::TIMER
    };

    /// The ends of what a trace does not say, and a governor asks for. `own` is true for the
    /// governor of the traced kernel.
    pub fn of(kind: Kind, traced: &TracedIntervals, own: bool) -> Vec<Self> {
        let is_unknown =
            |of: fn(&Sleep) -> Option<bool>| traced.all().any(|sleep| of(sleep).is_none());
        let asks_tasks = kind == Kind::Menu310 || kind.asks_waiters() && !traced.has_no_waiters;
        let is_busy = asks_tasks || kind.asks_utilisation() && is_unknown(|sleep| sleep.utilised);
        type End = fn(Unsaid) -> Unsaid;
        [
            (
                traced.summary.bounded + traced.summary.all_unknown() > 0,
                (|one| Self {
                    is_endless: true,
                    ..one
                }) as End,
            ),
            (is_unknown(|sleep| sleep.tick_stopped), |one| Self {
                tick_stopped: true,
                ..one
            }),
            (is_busy, |one| Self {
                is_busy: true,
                ..one
            }),
            (own, |one| Self {
                is_taught: true,
                ..one
            }),
        ]
        .into_iter()
        .filter(|(is_open, _)| *is_open)
        .fold(vec![Self::TIMER], |mut all, (_, end)| {
            all.extend_from_within(..);
            let half = all.len() / 2;
            all[half..].iter_mut().for_each(|one| *one = end(*one));
            all
        })
    }

    /// The name of it in recordings. What stands before a semicolon is of the trace, and the rest
    /// of the governor.
    pub fn name(self) -> String {
        let mut name = if self.is_endless {
            "no-timer"
        } else {
            "timer-at-end"
        }
        .to_owned();
        for (is_so, word) in [
            (self.tick_stopped, ", tick-stopped"),
            (self.is_busy, "; busy"),
            (self.is_taught, "; past as traced"),
        ] {
            name.push_str(if is_so { word } else { "" });
        }
        name
    }
}

/// The one who chooses.
#[derive(Clone, Copy, Debug, PartialEq)]
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
#[derive(Default)]
pub struct GovernorReplay {
    /// For each interval of each CPU the state in which it ended.
    pub chosen: Vec<Vec<u8>>,
    /// When the timer hardware was programmed to end each interval of each CPU, in nanoseconds.
    /// Nothing where the platform has no power domains.
    pub(crate) events: Vec<Vec<u64>>,
    /// The states and times of each power domain.
    pub domains: Vec<DomainReplay>,
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

/// The states and times of a power domain in a replay.
#[derive(Clone, Default)]
pub struct DomainReplay {
    /// By state of the domain.
    pub states: Vec<idle::Usage>,
    /// The time in which all of its CPUs were idle, in nanoseconds.
    pub together_ns: u64,
    /// When it was in which state.
    pub(crate) stays: Vec<DomainStay>,
}

/// A stay of a domain.
#[derive(Clone)]
pub(crate) struct DomainStay {
    pub from_ns: u64,
    pub to_ns: u64,
    pub state: usize,
}

/// The number of times that work was delayed by how many microseconds.
#[derive(Default)]
pub struct Delays(Vec<u64>);

impl Delays {
    /// Counts the end of a stay: the state is left, after an entry that has begun is finished.
    pub fn count(&mut self, state: &StateCost, stay_ns: u64) {
        let delay_ns = state.exit_ns + state.entry_ns.saturating_sub(stay_ns);
        let delay_us = delay_ns.div_ceil(1000) as usize;
        if self.0.len() <= delay_us {
            self.0.resize(delay_us + 1, 0);
        }
        self.0[delay_us] += 1;
    }

    /// One stay takes longer to end, which was counted.
    pub fn lengthen(&mut self, state: &StateCost, stay_ns: u64, by_ns: u64) {
        let of = |more_ns: u64| {
            ((state.exit_ns + state.entry_ns.saturating_sub(stay_ns) + more_ns).div_ceil(1000))
                as usize
        };
        if let Some(counted) = self.0.get_mut(of(0)) {
            *counted = counted.saturating_sub(1);
        }
        self.0.resize(self.0.len().max(of(by_ns) + 1), 0);
        self.0[of(by_ns)] += 1;
    }

    /// The delay in microseconds that `percent` of the stays do not exceed; 0 where there are none.
    pub fn quantile_us(&self, percent: u64) -> u64 {
        let all: u64 = self.0.iter().sum();
        let rank = (all * percent).div_ceil(100).max(1);
        let mut below = 0;
        self.0
            .iter()
            .position(|count| {
                below += count;
                below >= rank
            })
            .unwrap_or(0) as u64
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
        states: vec![idle::Usage::default(); platform.domains[0].states.len()],
        entries: vec![[0; MAX_STATES]; platform.domains.len()],
        ..GovernorReplay::default()
    };
    let tracing_ns = traced.tracing_ns().unwrap_or(0);
    for (cpu, sleeps) in traced.cpus.iter().enumerate() {
        let (domain, _) = platform.place(cpu as u16);
        let mut of_cpu = Cpu::new(platform, domain, chooser, unsaid, tick_ns, reading.clock());
        let last = platform.domains[domain].table.last();
        let past = |number| {
            unsaid
                .is_taught
                .then(|| seen(traced, (cpu, number), last, tracing_ns))
        };
        if let Some(governor) = &mut of_cpu.governor {
            let table = &platform.domains[domain].table;
            for (sleep, outcome) in sleeps.iter().zip((0..).map_while(past)) {
                governor.select(table, &mut asked(platform, sleep, unsaid, tick_ns));
                governor.reflect(table, &outcome);
            }
        }
        let one = |(number, sleep)| of_cpu.sleep(sleep, past(number), &mut replayed, reading) as u8;
        let chosen = sleeps.iter().enumerate().map(one).collect();
        replayed.chosen.push(chosen);
        replayed.events.push(of_cpu.events);
        for (state, sum) in replayed.states.iter_mut().enumerate() {
            let usage = of_cpu.accounting.usage(state);
            *sum += *usage;
            replayed.entries[domain][state] += usage.entered;
        }
    }
    replayed
}

/// The outcome of a recorded choice; a state that the platform lacks is its deepest, `last`. A stay
/// is as long as the kernel took it to be, as far as that is known: the time of tracing is taken
/// off.
fn seen(
    traced: &TracedIntervals,
    (cpu, number): (usize, usize),
    last: usize,
    tracing_ns: u64,
) -> Outcome {
    let sleep = &traced.cpus[cpu][number];
    let stay = match traced.refused[cpu].binary_search(&number) {
        Ok(_) => Outcome::refused(),
        Err(_) => Outcome::stay(
            usize::from(sleep.state).min(last),
            sleep.interval_ns().saturating_sub(tracing_ns),
        ),
    };
    Outcome {
        got_tick: sleep.got_tick,
        ..stay
    }
}

/// A CPU of a replay.
struct Cpu<'p> {
    platform: &'p Platform,
    domain: usize,
    governor: Option<Governor>,
    accounting: Accounting,
    unsaid: Unsaid,
    tick_ns: u64,
    /// When the timer hardware was programmed to end each interval.
    events: Vec<u64>,
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
        Self {
            platform,
            domain,
            governor,
            accounting: Accounting::new(clock),
            unsaid,
            tick_ns,
            events: Vec::new(),
        }
    }

    /// Lives through an interval, and returns the state in which it ended. With the outcome that
    /// the kernel saw the governor is asked once and learns that.
    fn sleep(
        &mut self,
        sleep: &Sleep,
        seen: Option<Outcome>,
        sums: &mut GovernorReplay,
        reading: &mut impl Reading,
    ) -> usize {
        let domain = &self.platform.domains[self.domain];
        let mut asked = asked(self.platform, sleep, self.unsaid, self.tick_ns);
        let mut left_ns = sleep.interval_ns();
        loop {
            let SleepLength {
                timer_ns,
                mut event_ns,
            } = asked.sleep_length;
            let (state, limit_ns) = match &mut self.governor {
                None => {
                    if sleep.sleeps_without_tick == Some(true) {
                        event_ns = timer_ns;
                    }
                    (usize::from(sleep.state).min(domain.table.last()), u64::MAX)
                }
                Some(governor) => {
                    let Choice { state, stop_tick } = governor.select(&domain.table, &mut asked);
                    event_ns = if stop_tick { timer_ns } else { event_ns };
                    let polls = domain.states[state].polling;
                    // A limit of 0 would never end.
                    let limit_ns = match polls {
                        _ if seen.is_some() => u64::MAX,
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
            let residency_ns = self
                .accounting
                .leave(&domain.table, state, idle_ns + after_ns);
            sums.core_energy += u128::from(cost.core_power) * u128::from(idle_ns);
            sums.read_energy +=
                u128::from(domain.core_active) * u128::from(before_ns.min(stay_ns) + after_ns);
            let outcome = Outcome {
                entered: Some(state),
                residency_ns,
                since_choice_ns: stay_ns + after_ns,
                got_tick: !to_limit && sleep.got_tick,
                polled_to_limit: to_limit && cost.polling,
                asked_again: to_limit && !cost.polling,
            };
            if let Some(governor) = &mut self.governor {
                governor.reflect(&domain.table, &seen.unwrap_or(outcome));
            }
            if !to_limit {
                if !self.platform.power_domains.is_empty() {
                    self.events
                        .push((sleep.exit_ns - left_ns).saturating_add(event_ns));
                }
                sums.delays.count(cost, stay_ns);
                return state;
            }
            left_ns -= stay_ns;
            asked = later(asked, stay_ns);
        }
    }
}

/// The facts that a governor can find out at the beginning of an interval.
pub(crate) fn asked(
    platform: &Platform,
    sleep: &Sleep,
    unsaid: Unsaid,
    tick_ns: u64,
) -> KnownSituation {
    let tick_stopped = sleep.tick_stopped.unwrap_or(unsaid.tick_stopped);
    let to_tick = |timer_ns: u64| {
        if tick_stopped {
            timer_ns
        } else {
            timer_ns.min(tick_ns)
        }
    };
    let sleep_length = match sleep.length {
        Known::Known { timer_ns, tick_ns } => SleepLength {
            timer_ns,
            event_ns: tick_ns.map_or(timer_ns, |tick_ns| tick_ns.min(timer_ns)),
        },
        Known::Equal => {
            let timer_ns = sleep.interval_ns();
            SleepLength {
                timer_ns,
                event_ns: to_tick(timer_ns),
            }
        }
        Known::Bounded { .. } | Known::Unknown { .. } => {
            let timer_ns = if unsaid.is_endless {
                NEVER_NS
            } else {
                sleep.interval_ns()
            };
            SleepLength {
                timer_ns,
                event_ns: to_tick(timer_ns),
            }
        }
    };
    // No timer is one at the end of time, as in the kernel, whose products of it wrap around.
    let end_ns = NEVER_NS - sleep.enter_ns.min(NEVER_NS);
    let SleepLength { timer_ns, event_ns } = sleep_length;
    let sleep_length = SleepLength {
        timer_ns: timer_ns.min(end_ns),
        event_ns: event_ns.min(end_ns),
    };
    KnownSituation {
        tick_stopped,
        latency_limit_ns: platform.latency_limit_ns(sleep.cpu),
        io_waiters: unsaid.is_busy.into(),
        load: if unsaid.is_busy { 1024 } else { 0 },
        utilised: sleep.utilised.unwrap_or(unsaid.is_busy),
        ..KnownSituation::new(sleep_length)
    }
}

fn later(asked: KnownSituation, by_ns: u64) -> KnownSituation {
    let SleepLength { timer_ns, event_ns } = asked.sleep_length;
    let less = |time_ns: u64| time_ns.saturating_sub(by_ns);
    KnownSituation {
        sleep_length: SleepLength {
            timer_ns: less(timer_ns),
            event_ns: less(event_ns),
        },
        ..asked
    }
}

/// The choices that a governor would have made beside those of the traced kernel, its past being
/// the kernel's own choices.
pub struct Agreement {
    /// Intervals with a known sleep length, after the first of each CPU: by recorded state and by
    /// the governor's.
    pub counts: Vec<Vec<u64>>,
}

/// Intervals at the beginning of each CPU's that do not count: the kernel's governor had a past
/// there that the trace does not show.
pub const FIRST: usize = 50;

impl Agreement {
    /// Compares a governor with the traced kernel, whose past it has.
    pub fn new(platform: &Platform, traced: &TracedIntervals, kind: Kind, tick_ns: u64) -> Self {
        let past = Unsaid {
            is_taught: true,
            ..Unsaid::TIMER
        };
        let replayed = replay(
            platform,
            traced,
            Chooser::Governor(kind),
            past,
            tick_ns,
            &mut Ideal,
        );
        let states = platform.domains[0].states.len();
        let mut counts = vec![vec![0; states]; states];
        for (sleeps, chosen) in traced.cpus.iter().zip(&replayed.chosen) {
            for (sleep, &chosen) in sleeps.iter().zip(chosen).skip(FIRST) {
                let (recorded, chosen) = (
                    usize::from(sleep.state).min(states - 1),
                    usize::from(chosen),
                );
                if matches!(sleep.length, Known::Known { .. }) {
                    counts[recorded][chosen] += 1;
                }
            }
        }
        Self { counts }
    }

    /// Intervals that were compared.
    pub fn all(&self) -> u64 {
        self.counts.iter().flatten().sum()
    }

    /// The share in which both chose the same; `None` where nothing was compared.
    pub fn same(&self) -> Option<f64> {
        let same: u64 = self
            .counts
            .iter()
            .enumerate()
            .map(|(state, row)| row[state])
            .sum();
        share(same, self.all())
    }

    /// The mean over the recorded states of the share in which the governor chose the same.
    pub fn balanced(&self) -> Option<f64> {
        let shares = self
            .counts
            .iter()
            .enumerate()
            .filter_map(|(state, row)| share(row[state], row.iter().sum()));
        let shares: Vec<f64> = shares.collect();
        (!shares.is_empty()).then(|| shares.iter().sum::<f64>() / shares.len() as f64)
    }

    /// The share of a governor that always says the commonest state: the floor.
    pub fn commonest(&self) -> Option<f64> {
        share(
            self.counts
                .iter()
                .map(|row| row.iter().sum())
                .max()
                .unwrap_or(0),
            self.all(),
        )
    }
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}
