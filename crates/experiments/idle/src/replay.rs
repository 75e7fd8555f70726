//! A governor replayed on a trace, in open loop: what woke a CPU stays where it was. A deeper state
//! delays the work by its exit latency, and nothing else moves.

use crate::platform::{Domain, Platform};
use crate::trace::TracedIntervals;
use idle::{
    Accounting, Choice, Clock, Governor, Kind, KnownSituation, MAX_STATES, NEVER_NS, Number,
    Outcome, SleepLength,
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
    /// The same with the traced kernel's past.
    pub const TAUGHT: Self = Self {
        is_taught: true,
        ..Self::TIMER
    };

    /// The ends of what a trace does not say, and a governor asks for. `own` is true for the
    /// governor of the traced kernel.
    pub fn of(kind: Kind, traced: &TracedIntervals, own: bool) -> Vec<Self> {
        let asks = [asks_tasks(kind, traced), kind.asks_utilisation()];
        Self::ends(asks, traced, own)
    }

    /// The same of a governor that asks for tasks of which the trace does not tell, or for the
    /// CPU's utilisation.
    pub fn ends([tasks, utilisation]: [bool; 2], traced: &TracedIntervals, own: bool) -> Vec<Self> {
        let is_unknown =
            |of: fn(&Sleep) -> Option<bool>| traced.all().any(|sleep| of(sleep).is_none());
        let is_busy = tasks || utilisation && is_unknown(|sleep| sleep.utilised);
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

/// True if a governor asks for tasks of which the trace does not tell.
pub(crate) fn asks_tasks(kind: Kind, traced: &TracedIntervals) -> bool {
    kind == Kind::Menu310 || kind.asks_waiters() && !traced.has_no_waiters
}

/// The one who chooses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Chooser<'l> {
    /// The traced kernel, as recorded.
    Recorded,
    /// A governor.
    Governor(Kind),
    /// One that was asked before: what came of each interval of each CPU.
    Asked(&'l [Vec<Lived>]),
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
    pub events: Vec<Vec<u64>>,
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
    /// Time and entries that may have to be added, by state; empty if the trace leaves nothing open.
    pub more: Vec<idle::Usage>,
    /// When it was in which state.
    pub(crate) stays: Vec<DomainStay>,
}

/// A stay of a domain.
#[derive(Clone)]
pub(crate) struct DomainStay {
    pub from_ns: u64,
    pub to_ns: u64,
    /// `None` where that is not known.
    pub state: Option<usize>,
}

/// The number of times that work was delayed by how many microseconds.
#[derive(Default)]
pub struct Delays(Vec<u64>);

impl Delays {
    /// Counts the end of a stay.
    pub fn count(&mut self, delay_ns: u64) {
        let delay_us = delay_ns.div_ceil(1000) as usize;
        if self.0.len() <= delay_us {
            self.0.resize(delay_us + 1, 0);
        }
        self.0[delay_us] += 1;
    }

    /// One stay takes longer to end, which was counted.
    pub fn lengthen(&mut self, delay_ns: u64, by_ns: u64) {
        if let Some(counted) = self.0.get_mut(delay_ns.div_ceil(1000) as usize) {
            *counted = counted.saturating_sub(1);
        }
        self.count(delay_ns + by_ns);
    }

    /// The delays in microseconds that 50 and 99 of 100 stays do not exceed.
    pub fn quantiles_us(&self) -> [u64; 2] {
        [50, 99].map(|percent| self.quantile_us(percent))
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
    chooser: Chooser<'_>,
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
        let of_cpu = Sleeper::new(platform, cpu, tick_ns);
        let table = &of_cpu.domain().table;
        let mut governor = match chooser {
            Chooser::Recorded | Chooser::Asked(_) => None,
            Chooser::Governor(kind) => Some(Governor::new(kind, table, tick_ns)),
        };
        let past = |number| {
            unsaid
                .is_taught
                .then(|| seen(traced, (cpu, number), table.last(), tracing_ns))
        };
        if let Some(governor) = &mut governor {
            for (sleep, outcome) in sleeps.iter().zip((0..).map_while(past)) {
                governor.select(table, &mut asked(platform, sleep, unsaid, tick_ns));
                governor.reflect(table, &outcome);
            }
        }
        let mut accounting = Accounting::new(reading.clock());
        let (mut chosen, mut events) = (Vec::new(), Vec::new());
        for (number, sleep) in sleeps.iter().enumerate() {
            let asked = asked(platform, sleep, unsaid, tick_ns);
            let lived = match (chooser, &mut governor) {
                (Chooser::Asked(lived), _) => lived[cpu][number].clone(),
                (_, None) => of_cpu.recorded(sleep, &asked, reading),
                (_, Some(governor)) => of_cpu.lives(governor, sleep, asked, past(number), reading),
            };
            for stay in &lived.stays {
                stay.count(of_cpu.domain(), &mut accounting, &mut replayed);
            }
            let Some(last) = lived.stays.last() else {
                continue;
            };
            replayed.delays.count(last.delay_ns(of_cpu.domain()));
            chosen.push(last.state as u8);
            if !platform.power_domains.is_empty() {
                let from_ns = sleep.exit_ns - last.stay_ns;
                events.push(from_ns.saturating_add(lived.event_ns));
            }
        }
        replayed.chosen.push(chosen);
        replayed.events.push(events);
        for (state, sum) in replayed.states.iter_mut().enumerate() {
            let usage = accounting.usage(state);
            *sum += *usage;
            replayed.entries[of_cpu.domain][state] += usage.entered;
        }
    }
    replayed
}

/// The outcome of a recorded choice; a state that the platform lacks is its deepest, `last`. A stay
/// is as long as the kernel took it to be, as far as that is known: the time of tracing is taken
/// off.
pub(crate) fn seen(
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
        got_tick: sleep.got_tick.unwrap_or(false),
        ..stay
    }
}

/// A CPU of a replay.
pub(crate) struct Sleeper<'p> {
    platform: &'p Platform,
    domain: usize,
    tick_ns: u64,
}

/// The outcome of an idle interval: the states that were entered in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Lived {
    pub(crate) stays: Vec<Stay>,
    /// The time from the last choice on after which the timer hardware was programmed to fire.
    pub(crate) event_ns: u64,
}

/// A stay in a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Stay {
    pub state: usize,
    /// The time from the choice to the end, in nanoseconds.
    pub stay_ns: u64,
    /// The time that reads of the clock take, before it and after it.
    reads_ns: [u64; 2],
}

impl Stay {
    pub fn new(state: usize, stay_ns: u64, reading: &mut impl Reading) -> Self {
        let reads_ns = reading.reads_ns();
        Self {
            state,
            stay_ns,
            reads_ns,
        }
    }

    /// The time by which it delays the work after it.
    pub fn delay_ns(&self, domain: &Domain) -> u64 {
        domain.states[self.state].delay_ns(self.stay_ns)
    }

    /// The first read delays the stay.
    const fn idle_ns(&self) -> u64 {
        self.stay_ns.saturating_sub(self.reads_ns[0])
    }

    /// The kernel sees the stay and one of the two reads.
    const fn seen_ns(&self) -> u64 {
        self.idle_ns() + self.reads_ns[1]
    }

    fn count(&self, domain: &Domain, accounting: &mut Accounting, sums: &mut GovernorReplay) {
        accounting.leave(&domain.table, self.state, self.seen_ns());
        let cost = &domain.states[self.state];
        sums.core_energy += u128::from(cost.core_power) * u128::from(self.idle_ns());
        let read_ns = self.reads_ns[0].min(self.stay_ns) + self.reads_ns[1];
        sums.read_energy += u128::from(domain.core_active) * u128::from(read_ns);
    }
}

impl<'p> Sleeper<'p> {
    pub fn new(platform: &'p Platform, cpu: usize, tick_ns: u64) -> Self {
        Self {
            platform,
            domain: platform.place(cpu as u16).0,
            tick_ns,
        }
    }

    pub fn domain(&self) -> &'p Domain {
        &self.platform.domains[self.domain]
    }

    /// The stay that the traced kernel chose.
    fn recorded(&self, sleep: &Sleep, asked: &KnownSituation, reading: &mut impl Reading) -> Lived {
        let SleepLength { timer_ns, event_ns } = asked.sleep_length;
        let state = usize::from(sleep.state).min(self.domain().table.last());
        let without_tick = sleep.sleeps_without_tick == Some(true);
        Lived {
            stays: vec![Stay::new(state, sleep.interval_ns(), reading)],
            event_ns: if without_tick { timer_ns } else { event_ns },
        }
    }

    /// Asks a governor once in an interval of which some time is left, and tells it what came of
    /// that. With the outcome that the kernel saw it learns that, and is not asked again.
    pub fn asks<N: Number>(
        &self,
        governor: &mut Governor<N>,
        mut asked: KnownSituation<N>,
        (left_ns, got_tick): (u64, bool),
        seen: Option<Outcome>,
        reading: &mut impl Reading,
    ) -> (Stay, bool) {
        let table = &self.domain().table;
        let Choice { state, stop_tick } = governor.select(table, &mut asked);
        let polls = table.get(state).polling;
        let limit_ns = match governor.ask_again_ns() {
            _ if seen.is_some() => u64::MAX,
            _ if polls => governor.poll_limit_ns(table, self.tick_ns),
            limit_ns => limit_ns.unwrap_or(u64::MAX),
        };
        // A limit of 0 would never end.
        let stay = Stay::new(state, left_ns.min(limit_ns.max(1)), reading);
        let to_limit = stay.stay_ns < left_ns;
        let outcome = Outcome {
            entered: Some(state),
            residency_ns: reading.clock().residency_ns(stay.seen_ns()),
            since_choice_ns: stay.stay_ns + stay.reads_ns[1],
            got_tick: !to_limit && got_tick,
            polled_to_limit: to_limit && polls,
            asked_again: to_limit && !polls,
        };
        governor.reflect(table, &seen.unwrap_or(outcome));
        (stay, stop_tick)
    }

    /// Lives through an interval with a governor.
    fn lives(
        &self,
        governor: &mut Governor,
        sleep: &Sleep,
        mut asked: KnownSituation,
        seen: Option<Outcome>,
        reading: &mut impl Reading,
    ) -> Lived {
        let mut left_ns = sleep.interval_ns();
        let mut stays = Vec::with_capacity(1);
        loop {
            let SleepLength { timer_ns, event_ns } = asked.sleep_length;
            let left = (left_ns, sleep.got_tick == Some(true));
            let (stay, stop_tick) = self.asks(governor, asked, left, seen, reading);
            stays.push(stay);
            if stay.stay_ns == left_ns {
                let event_ns = if stop_tick { timer_ns } else { event_ns };
                return Lived { stays, event_ns };
            }
            left_ns -= stay.stay_ns;
            asked = later(asked, stay.stay_ns);
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
    let [least_ns, most_ns] = sleep.length.ends_ns();
    let timer_ns = if unsaid.is_endless {
        most_ns
    } else {
        sleep.interval_ns().clamp(least_ns, most_ns)
    };
    let event_ns = match sleep.length {
        Known::Bounded { .. } | Known::Unknown { .. } if !tick_stopped => {
            sleep.length.tick_ns().unwrap_or(tick_ns)
        }
        length => length.tick_ns().unwrap_or(u64::MAX),
    };
    // No timer is one at the end of time, as in the kernel, whose products of it wrap around.
    let end_ns = NEVER_NS - sleep.enter_ns.min(NEVER_NS);
    let timer_ns = timer_ns.min(end_ns);
    let sleep_length = SleepLength {
        timer_ns,
        event_ns: event_ns.min(timer_ns),
    };
    situation(platform, sleep, unsaid, sleep_length)
}

/// The same with a sleep length.
pub(crate) fn situation<N>(
    platform: &Platform,
    sleep: &Sleep,
    unsaid: Unsaid,
    sleep_length: SleepLength<N>,
) -> KnownSituation<N> {
    KnownSituation {
        tick_stopped: sleep.tick_stopped.unwrap_or(unsaid.tick_stopped),
        latency_limit_ns: platform.latency_limit_ns(sleep.cpu),
        io_waiters: unsaid.is_busy.into(),
        load: if unsaid.is_busy { 1024 } else { 0 },
        utilised: sleep.utilised.unwrap_or(unsaid.is_busy),
        ..KnownSituation::new(sleep_length)
    }
}

pub(crate) fn later<N: Number>(asked: KnownSituation<N>, by_ns: u64) -> KnownSituation<N> {
    let SleepLength { timer_ns, event_ns } = asked.sleep_length;
    let less = |time_ns: N| time_ns.map(|time_ns| time_ns.saturating_sub(by_ns));
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
    /// Compares a governor with the traced kernel, whose past it had ([`Unsaid::TAUGHT`]).
    pub fn new(platform: &Platform, traced: &TracedIntervals, replayed: &GovernorReplay) -> Self {
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
