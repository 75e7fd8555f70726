//! A governor on a trace of another, in closed loop: what would the machine have done?
//!
//! Sleeps that only ticks parted are taken for one, since a governor that stops the tick would have
//! seen one. Then each CPU lives through its sleeps again with the other governor. A tick that it
//! keeps ends sleeps. A deeper state delays the work, and with it the timers that the work arms and
//! the other CPUs that it wakes; a timer that is due before its CPU has fallen asleep saves that
//! sleep. A CPU that goes down as the last of its domain holds what the CPUs share, and the one
//! that it has woken before waits. What the work itself is, and its order on each CPU, stays as it
//! was traced.

use crate::platform::Platform;
use crate::replay::{Unsaid, asked};
use crate::trace::TracedIntervals;
use idle::{Accounting, Governor, Kind, Outcome, Usage};
use sleeps::{Sleep, SleepLength, Waker};

/// Counts of a run, by state, over all CPUs.
#[derive(Clone, Debug)]
pub struct Counts {
    /// Usage of each state.
    pub states: Vec<Usage>,
    /// The time that they were counted in, in nanoseconds.
    pub span_ns: u64,
}

impl Counts {
    /// Stays in all states.
    pub fn stays(&self) -> u64 {
        self.states.iter().map(|usage| usage.entered).sum()
    }

    /// The share of the stays that are in a state, in percent.
    pub fn share(&self, state: usize) -> f64 {
        100.0 * self.states[state].entered as f64 / self.stays().max(1) as f64
    }

    /// Stays that were too deep or too shallow, per second.
    pub fn misses(&self) -> f64 {
        let misses: u64 = self
            .states
            .iter()
            .map(|usage| usage.above + usage.below)
            .sum();
        misses as f64 * 1e9 / self.span_ns.max(1) as f64
    }

    /// The distance of these from observed counts: the largest difference of a state's share in
    /// points, and the difference of the misses in percent of the observed ones.
    pub fn errors(&self, observed: &Self) -> (f64, f64) {
        let shares =
            (0..self.states.len()).map(|state| (self.share(state) - observed.share(state)).abs());
        let (misses, seen) = (self.misses(), observed.misses());
        let off = if seen > 0.0 {
            100.0 * (misses - seen) / seen
        } else {
            100.0 * f64::from(misses > 0.0)
        };
        (shares.fold(0.0, f64::max), off)
    }
}

/// The time from the first sleep of a trace to the end of the last, in nanoseconds.
pub fn span_ns(traced: &TracedIntervals) -> u64 {
    let from = traced
        .cpus
        .iter()
        .filter_map(|sleeps| sleeps.first())
        .map(|sleep| sleep.enter_ns)
        .min();
    let to = traced
        .cpus
        .iter()
        .filter_map(|sleeps| sleeps.last())
        .map(|sleep| sleep.exit_ns)
        .max();
    to.unwrap_or(0) - from.unwrap_or(0)
}

/// The counts of the traced kernel, by the lengths that it saw itself:
/// [`TracedIntervals::tracing_ns`] is taken off, and states that the hardware refused are not
/// entered.
pub fn recorded(platform: &Platform, traced: &TracedIntervals) -> Counts {
    let tracing_ns = traced.tracing_ns().unwrap_or(0);
    let mut counts = Counts {
        states: vec![Usage::default(); platform.domains[0].states.len()],
        span_ns: span_ns(traced),
    };
    for (cpu, sleeps) in traced.cpus.iter().enumerate() {
        let table = &platform.domains[platform.place(cpu as u16).0].table;
        let mut accounting = Accounting::default();
        for (number, sleep) in sleeps.iter().enumerate() {
            let state = usize::from(sleep.state).min(table.last());
            match traced.refused[cpu].binary_search(&number) {
                Ok(_) => accounting.refused(table, state),
                Err(_) => drop(accounting.leave(
                    table,
                    state,
                    sleep.interval_ns().saturating_sub(tracing_ns),
                )),
            }
        }
        add(&mut counts.states, &accounting);
    }
    counts
}

fn add(states: &mut [Usage], accounting: &Accounting) {
    for (state, sum) in states.iter_mut().enumerate() {
        *sum += *accounting.usage(state);
    }
}

/// A CPU that is idle again this soon after a wake-up had nothing to do, in nanoseconds: handling a
/// traced tick takes less, and a task's work more.
const NOTHING_NS: u64 = 50_000;

/// Fewer samples say too little.
const FEWEST: usize = 10;

/// The latencies of the states that are taken where a trace does not show them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Latencies {
    /// An entry delays no wake-up; an exit takes as much longer than that of the next shallower
    /// state as the platform says.
    Short,
    /// The platform's: a wake-up in the middle of an entry waits for the rest of it.
    Platform,
}

impl Latencies {
    /// Both.
    pub const BOTH: [Self; 2] = [Self::Short, Self::Platform];

    /// The name of it in recordings.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Short => "short latencies",
            Self::Platform => "platform's latencies",
        }
    }
}

/// The values that are taken for what a trace does not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unknown {
    /// For the timers.
    pub unsaid: Unsaid,
    /// For entries, and for exits from states that the trace rarely has.
    pub latencies: Latencies,
}

/// Facts about the traced machine that its trace shows.
#[derive(Clone, Debug)]
pub struct Machine {
    /// The time from what wakes a CPU to the stamp of its exit, by state, in nanoseconds.
    pub leaving_ns: Vec<u64>,
    /// A wake-up that comes sooner than this after the entry waits until then.
    pub entering_ns: Vec<u64>,
    /// The time between a tick that has nothing to do and the next sleep.
    pub ticking_ns: u64,
}

fn median(mut values: Vec<u64>) -> Option<u64> {
    values.sort_unstable();
    values.get(values.len() / 2).copied()
}

impl Machine {
    /// Measures them.
    pub fn new(platform: &Platform, traced: &TracedIntervals, latencies: Latencies) -> Self {
        let costs = &platform.domains[0].states;
        let mut late = vec![Vec::new(); costs.len()];
        let mut gaps = Vec::new();
        for (cpu, sleeps) in traced.cpus.iter().enumerate() {
            for (number, sleep) in sleeps.iter().enumerate() {
                let state = usize::from(sleep.state).min(costs.len() - 1);
                if traced.refused[cpu].binary_search(&number).is_err()
                    && let (SleepLength::Known { timer_ns, .. }, Waker::Timer) =
                        (sleep.length, sleep.waker)
                    && let Some(ns) = sleep.interval_ns().checked_sub(timer_ns)
                {
                    late[state].push(ns);
                }
            }
            gaps.extend(
                sleeps
                    .windows(2)
                    .filter(|two| is_tick_alone(&two[0], &two[1]))
                    .map(|two| two[1].enter_ns - two[0].exit_ns),
            );
        }
        let mut leaving_ns: Vec<u64> = Vec::new();
        for (state, late) in late.into_iter().enumerate() {
            let measured = if late.len() >= FEWEST {
                median(late)
            } else {
                None
            };
            let shallower = leaving_ns.last().filter(|_| latencies == Latencies::Short);
            let scaled =
                shallower.map(|ns| ns * costs[state].exit_ns / costs[state - 1].exit_ns.max(1));
            leaving_ns.push(measured.or(scaled).unwrap_or(costs[state].exit_ns));
        }
        let entering_ns = costs
            .iter()
            .map(|state| {
                if latencies == Latencies::Platform {
                    state.entry_ns
                } else {
                    0
                }
            })
            .collect();
        Self {
            leaving_ns,
            entering_ns,
            ticking_ns: median(gaps).unwrap_or(5_000),
        }
    }
}

/// True if a tick woke the CPU and had nothing to do.
fn is_tick_alone(sleep: &Sleep, next: &Sleep) -> bool {
    sleep.waker == Waker::Tick && next.enter_ns.saturating_sub(sleep.exit_ns) <= NOTHING_NS
}

/// A sleep that the work would have made under any governor.
#[derive(Clone, Copy, Debug)]
struct Nap {
    first: Sleep,
    last: Sleep,
    /// When it was woken, without the time that leaving its state took.
    wake_ns: u64,
    /// Nothing ran between the nap before and this one.
    idle_before: bool,
}

fn naps(sleeps: &[Sleep], machine: &Machine) -> Vec<Nap> {
    let mut naps: Vec<Nap> = Vec::new();
    let mut at = 0;
    while at < sleeps.len() {
        let first = sleeps[at];
        while at + 1 < sleeps.len() && is_tick_alone(&sleeps[at], &sleeps[at + 1]) {
            at += 1;
        }
        let last = sleeps[at];
        let state = usize::from(last.state).min(machine.leaving_ns.len() - 1);
        let left = last
            .exit_ns
            .saturating_sub(machine.leaving_ns[state])
            .max(last.enter_ns);
        let wake_ns = match (last.length, last.waker) {
            (SleepLength::Known { timer_ns, .. }, Waker::Timer)
                if timer_ns <= last.interval_ns() =>
            {
                last.enter_ns + timer_ns
            }
            _ => left,
        };
        let idle_before = naps.last().is_some_and(|nap| {
            first.tick_stopped == Some(true)
                || first.enter_ns.saturating_sub(nap.last.exit_ns) <= NOTHING_NS
        });
        naps.push(Nap {
            first,
            last,
            wake_ns,
            idle_before,
        });
        at += 1;
    }
    naps
}

/// A CPU that lives through its sleeps again.
struct Cpu<'p> {
    platform: &'p Platform,
    domain: usize,
    governor: Governor,
    accounting: Accounting,
    stopped: bool,
    /// The state of its last stay.
    state: usize,
    /// A time at which the tick came, by the trace's clock.
    phase_ns: u64,
    /// Since when, by the trace, the CPU's work is how much later than it was traced.
    shifts: Vec<(u64, i64)>,
}

impl Cpu<'_> {
    /// Delay of what was traced at a time, in nanoseconds.
    fn shift_at(&self, traced_ns: u64) -> i64 {
        let before = self
            .shifts
            .partition_point(|(from_ns, _)| *from_ns <= traced_ns);
        before.checked_sub(1).map_or(0, |at| self.shifts[at].1)
    }
}

/// The counts that a governor would have had on the machine of a trace.
pub fn predict(
    platform: &Platform,
    traced: &TracedIntervals,
    kind: Kind,
    unknown: Unknown,
    tick_ns: u64,
) -> Counts {
    let Unknown { unsaid, latencies } = unknown;
    let machine = Machine::new(platform, traced, latencies);
    let tracing_ns = traced.tracing_ns().unwrap_or(0);
    let mut cpus: Vec<Cpu<'_>> = (0..traced.cpus.len())
        .map(|cpu| {
            let domain = platform.place(cpu as u16).0;
            let governor = Governor::new(kind, &platform.domains[domain].table, tick_ns);
            Cpu {
                platform,
                domain,
                governor,
                accounting: Accounting::default(),
                stopped: false,
                state: 0,
                phase_ns: 0,
                shifts: Vec::new(),
            }
        })
        .collect();
    let mut all: Vec<Nap> = traced
        .cpus
        .iter()
        .flat_map(|sleeps| naps(sleeps, &machine))
        .collect();
    all.sort_by_key(|nap| (nap.wake_ns, nap.first.cpu));
    let mut end_ns = 0;
    for nap in &all {
        let number = usize::from(nap.first.cpu);
        let waker = waker(traced, nap);
        let wake_ns = woken(&cpus, nap, waker);
        let held_ns = waker.and_then(|(waker, next)| goes_down(&cpus, nap, waker, next?));
        let cpu = &mut cpus[number];
        end_ns = cpu
            .sleep(nap, wake_ns, held_ns, unsaid, tick_ns, tracing_ns, &machine)
            .max(end_ns);
    }
    let from_ns = all.iter().map(|nap| nap.first.enter_ns).min().unwrap_or(0);
    let states = vec![Usage::default(); platform.domains[0].states.len()];
    let mut counts = Counts {
        states,
        span_ns: end_ns.saturating_sub(from_ns),
    };
    for cpu in &cpus {
        add(&mut counts.states, &cpu.accounting);
    }
    counts
}

/// The CPU that ended a nap, and its next sleep: of the others, the one that was awake last. It may
/// be asleep again before the other's wake-up is seen.
fn waker<'t>(traced: &'t TracedIntervals, nap: &Nap) -> Option<(usize, Option<&'t Sleep>)> {
    if !matches!(nap.last.waker, Waker::Ipi | Waker::Scheduler) {
        return None;
    }
    let others = traced
        .cpus
        .iter()
        .enumerate()
        .filter(|(other, _)| *other != usize::from(nap.first.cpu));
    let since = others.filter_map(|(other, sleeps)| {
        let before = sleeps
            .partition_point(|sleep| sleep.exit_ns <= nap.wake_ns)
            .checked_sub(1)?;
        Some((sleeps[before].exit_ns, other, before))
    });
    since
        .max()
        .map(|(_, other, before)| (other, traced.cpus[other].get(before + 1)))
}

/// When a nap is ended now.
fn woken(cpus: &[Cpu<'_>], nap: &Nap, waker: Option<(usize, Option<&Sleep>)>) -> u64 {
    let shift = match (nap.last.waker, waker) {
        (Waker::Timer, _) => nap.last.timer_armed_ns.map_or(0, |armed_ns| {
            cpus[usize::from(nap.first.cpu)].shift_at(armed_ns)
        }),
        (_, Some((waker, _))) => cpus[waker].shift_at(nap.wake_ns),
        _ => 0,
    };
    nap.wake_ns.saturating_add_signed(shift)
}

/// When the CPU that ended a nap goes to sleep next, if that is at once, and if it goes down as the
/// last of its domain should the napping CPU be down: all others are in a state in which the domain
/// may go down, and it is taken to choose its last state again.
fn goes_down(cpus: &[Cpu<'_>], nap: &Nap, waker: usize, next: &Sleep) -> Option<u64> {
    let number = usize::from(nap.first.cpu);
    let domain = cpus[number].domain;
    let may_go_down = |cpu: &Cpu<'_>| cpu.platform.domains[domain].states[cpu.state].coupled;
    let mut others = cpus
        .iter()
        .enumerate()
        .filter(|(other, cpu)| *other != number && cpu.domain == domain);
    let at_once = next.enter_ns.saturating_sub(nap.wake_ns) <= NOTHING_NS;
    (cpus[waker].domain == domain && at_once && others.all(|(_, cpu)| may_go_down(cpu))).then(
        || {
            next.enter_ns
                .saturating_add_signed(cpus[waker].shift_at(nap.wake_ns))
        },
    )
}

impl Cpu<'_> {
    /// When the timer is due that a nap waits for, moved as much as what armed it; `None` if there
    /// is none.
    fn due_ns(&self, nap: &Nap) -> Option<u64> {
        let armed = nap
            .first
            .timer_armed_ns
            .map_or(0, |armed_ns| self.shift_at(armed_ns));
        match nap.first.length {
            SleepLength::Known { timer_ns, .. } if timer_ns < u64::MAX / 2 => {
                Some((nap.first.enter_ns + timer_ns).saturating_add_signed(armed))
            }
            _ => None,
        }
    }

    /// Lives through a nap, and returns when it ends. With `held_ns` the CPU that ends it goes down
    /// then.
    #[expect(clippy::too_many_arguments, reason = "what is known of one nap")]
    fn sleep(
        &mut self,
        nap: &Nap,
        wake_ns: u64,
        held_ns: Option<u64>,
        unsaid: Unsaid,
        tick_ns: u64,
        tracing_ns: u64,
        machine: &Machine,
    ) -> u64 {
        let domain = &self.platform.domains[self.domain];
        let shift = self.shift_at(nap.first.enter_ns);
        let mut now = nap.first.enter_ns.saturating_add_signed(shift);
        if let SleepLength::Known {
            tick_ns: Some(to_tick_ns),
            ..
        } = nap.first.length
        {
            self.phase_ns = (nap.first.enter_ns + to_tick_ns) % tick_ns;
        }
        if !nap.idle_before {
            self.stopped = unsaid.tick_stopped && nap.first.tick_stopped.is_none();
        }
        let due_ns = self.due_ns(nap);
        while now < wake_ns {
            let tick_at = now + tick_ns - (now + tick_ns - self.phase_ns) % tick_ns;
            let length = match (nap.first.length, due_ns) {
                (SleepLength::Known { .. }, due_ns) => SleepLength::Known {
                    timer_ns: due_ns.map_or(u64::MAX, |due_ns| due_ns.saturating_sub(now)),
                    tick_ns: (!self.stopped).then_some(tick_at - now),
                },
                (length, _) => length,
            };
            let moved = Sleep {
                enter_ns: now,
                exit_ns: wake_ns,
                length,
                tick_stopped: Some(self.stopped),
                ..nap.first
            };
            let mut situation = asked(self.platform, &moved, unsaid, tick_ns);
            let choice = self.governor.select(&domain.table, &mut situation);
            self.stopped |= choice.stop_tick;
            let state = choice.state;
            let leaving_ns = machine.leaving_ns[state];
            let ticks = !self.stopped && tick_at < wake_ns;
            let limit_ns = match domain.states[state].polling {
                true => now + self.governor.poll_limit_ns(&domain.table, tick_ns).max(1),
                false => self
                    .governor
                    .ask_again_ns()
                    .map_or(u64::MAX, |ns| now + ns.max(1)),
            };
            let event_ns = if ticks { tick_at } else { wake_ns };
            let to_limit = limit_ns < event_ns;
            let event_ns = event_ns.min(limit_ns);
            let mut left_ns = event_ns.max(now + machine.entering_ns[state]) + leaving_ns;
            let last_entry_ns = domain.states[state].last_entry_ns;
            if let Some(held_ns) = held_ns.filter(|_| event_ns >= wake_ns && last_entry_ns > 0) {
                left_ns = left_ns.max(held_ns + last_entry_ns);
            }
            self.state = state;
            let stay_ns = (left_ns - now).saturating_sub(tracing_ns);
            let mut outcome =
                Outcome::stay(state, self.accounting.leave(&domain.table, state, stay_ns));
            // The tick's timer may come beside another interrupt.
            outcome.got_tick = !to_limit
                && match self.stopped {
                    false => tick_at <= left_ns,
                    true => nap.last.got_tick && nap.last.waker == Waker::Timer,
                };
            outcome.polled_to_limit = to_limit && domain.states[state].polling;
            outcome.asked_again = to_limit && !domain.states[state].polling;
            self.governor.reflect(&domain.table, &outcome);
            now = left_ns;
            if event_ns < wake_ns {
                now += if to_limit { 0 } else { machine.ticking_ns };
            }
        }
        self.shifts.push((
            nap.last.exit_ns,
            now.cast_signed() - nap.last.exit_ns.cast_signed(),
        ));
        now
    }
}
