//! The meter: energy and time of each owner, from a trace's events.
//!
//! The power of a CPU is its owner's. What a domain shares goes to the CPUs that run, in equal
//! parts, since they keep it up; while all are idle, to the domain's state.

use crate::amount::Amount;
use crate::machine::{Domain, Machine, Range, Running, State, hull};
use crate::owner::Owner;
use crate::told::Told;
use crate::wakes::{Awake, Cause, Wakes};
use import::ftrace::Point;
use recording::Event;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::num::NonZero;

/// Equal parts of the trace in which energy is counted by owner.
pub const PARTS: usize = 12;
/// The most changes of owners that are kept for a picture.
const MOST_CHANGES: usize = 100_000;

/// What belongs to an owner in a domain.
#[derive(Clone, Debug)]
pub struct Share {
    /// The owner.
    pub owner: Owner,
    /// The number of the domain.
    pub domain: usize,
    /// Its energy, time and work.
    pub of: Amount,
    /// Energy in each part of the trace: the sum of the least and the most.
    pub parts: [u128; PARTS],
}

/// What a CPU is at.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Phase {
    #[default]
    Untold,
    Running,
    Idle(Option<u8>),
    Offline,
    Suspended,
}

/// What goes on within a task, or within the idle loop.
#[derive(Default)]
struct Within {
    interrupts: Vec<u32>,
    softirq: Option<u32>,
    callback: Option<u32>,
}

#[derive(Default)]
struct Cpu {
    number: u16,
    domain: usize,
    phase: Phase,
    /// Why nothing is known.
    why: &'static str,
    task: Option<u32>,
    within: Within,
    /// True on the way to being offline.
    leaves: bool,
    /// Up to when its energy is counted, and what upkeep was then.
    since_ns: u64,
    kept_up: [u128; 2],
    /// Energy by which running would have taken more since the CPU fell asleep.
    room: u128,
    awake: Awake,
    /// The place of the owner among the shares.
    share: usize,
    events: u64,
    /// Events of the CPU, by their number, behind which others were lost.
    gaps: VecDeque<u64>,
}

struct DomainNow {
    since_ns: u64,
    cpus: Vec<usize>,
    /// Its clock, where that is known.
    khz: Option<u32>,
    running: Running,
    /// Shared energy of a CPU that ran at all times when one did, and what did not divide yet.
    upkeep: [u128; 2],
    rest: [u128; 2],
    /// The state in which all CPUs sleep, and the energy by which running would have taken more.
    asleep: Option<(Option<u8>, u128)>,
}

/// The meter of a trace.
pub struct Meter<'m> {
    machine: &'m Machine,
    told: &'m Told,
    cpus: Vec<Cpu>,
    places: HashMap<u16, usize>,
    domains: Vec<DomainNow>,
    owners: BTreeMap<(Owner, usize), usize>,
    /// What belongs to each owner.
    pub shares: Vec<Share>,
    /// All energy, integrated beside the owners' shares.
    pub total: Amount,
    /// What woke the CPUs, and what that took.
    pub wakes: Wakes,
    /// Owners of CPUs as they follow each other: time, CPU, place of the share.
    pub changes: Vec<(u64, u16, usize)>,
    span_ns: [u64; 2],
    part: usize,
}

impl<'m> Meter<'m> {
    /// A meter at the beginning of a trace.
    pub fn new(machine: &'m Machine, told: &'m Told) -> Self {
        let span_ns = told.span_ns.unwrap_or_default();
        let mut meter = Self {
            cpus: Vec::new(),
            places: HashMap::new(),
            domains: Vec::new(),
            owners: BTreeMap::new(),
            shares: Vec::new(),
            total: Amount::default(),
            wakes: Wakes::new(machine.domains.len()),
            changes: Vec::new(),
            part: 0,
            machine,
            told,
            span_ns,
        };
        for (number, domain) in machine.domains.iter().enumerate() {
            let first = meter.cpus.len();
            for &cpu in &domain.cpus {
                meter.places.insert(cpu, meter.cpus.len());
                meter.add_cpu(cpu, number);
            }
            meter.domains.push(DomainNow {
                since_ns: span_ns[0],
                cpus: (first..meter.cpus.len()).collect(),
                khz: None,
                running: domain.running(None),
                upkeep: [0; 2],
                rest: [0; 2],
                asleep: None,
            });
        }
        for cpu in 0..meter.cpus.len() {
            meter.own(cpu, span_ns[0]);
        }
        meter.look_beside(span_ns[0]);
        meter
    }

    fn add_cpu(&mut self, number: u16, domain: usize) {
        let beginning = self.told.cpus.get(&number);
        let why = match beginning {
            Some(_) => "before the first event",
            None => "CPUs without events",
        };
        let (phase, task) = match beginning.and_then(|beginning| beginning.owner) {
            Some(Owner::Task(0)) if !self.told.has_idle() => (Phase::Untold, None),
            Some(Owner::Task(pid)) => (Phase::Running, Some(pid)),
            Some(_) => (Phase::Idle(None), Some(0)),
            None => (Phase::Untold, None),
        };
        self.cpus.push(Cpu {
            number,
            domain,
            phase,
            why,
            task,
            since_ns: self.span_ns[0],
            gaps: beginning.map_or_else(VecDeque::new, |of| of.gaps.clone()),
            ..Cpu::default()
        });
    }

    /// Takes the next event.
    pub fn event(&mut self, point: Point, event: &Event) {
        self.reach(event.time);
        let Some(&cpu) = self.places.get(&event.cpu) else {
            return;
        };
        let domain = self.cpus[cpu].domain;
        match point {
            Point::Frequency => {
                self.settle_all(domain, event.time);
                self.domains[domain].khz = Some(event.argument);
                self.domains[domain].running =
                    self.machine.domains[domain].running(Some(event.argument));
                self.look_beside(event.time);
            }
            Point::Suspend => {
                let phase = match event.argument {
                    0 => Phase::Untold,
                    _ => Phase::Suspended,
                };
                for cpu in 0..self.cpus.len() {
                    let state = &mut self.cpus[cpu];
                    (state.task, state.why) = (None, "behind a suspend");
                    self.put_to(cpu, event.time, phase);
                }
            }
            _ if matters(point) => {
                self.settle(domain, event.time);
                self.settle_cpu(cpu, event.time);
                self.change(cpu, point, event);
                self.own(cpu, event.time);
                self.look_beside(event.time);
            }
            _ => {}
        }
        let cause = self.cause(point, event);
        let state = &mut self.cpus[cpu];
        state.awake.causes |= cause.map_or(0, |cause| cause as u8);
        state.events += 1;
        if state.gaps.front() == Some(&state.events) {
            state.gaps.pop_front();
            (state.task, state.why) = (None, "lost events");
            self.put_to(cpu, event.time, Phase::Untold);
        }
    }

    /// Finds what cores take whose power depends on the clock of another domain.
    fn look_beside(&mut self, time_ns: u64) {
        for number in 0..self.domains.len() {
            let domain = &self.machine.domains[number];
            if domain.beside.is_empty() {
                continue;
            }
            self.settle_all(number, time_ns);
            let has = |of: usize, phase: Phase| {
                let mut cpus = self.domains[of].cpus.iter();
                cpus.any(|cpu| self.cpus[*cpu].phase == phase)
            };
            let runs = |of: usize| has(of, Phase::Running) || has(of, Phase::Untold);
            let others = domain.beside.iter().map(|(other, _)| *other);
            let others = others.filter(|other| runs(*other));
            let most = others.max_by_key(|other| {
                let khz = self.domains[*other].khz;
                self.machine.domains[*other].running(khz).core[1]
            });
            let other = most.map(|other| {
                let khz = self.domains[other].khz;
                (other, khz.filter(|_| has(other, Phase::Running)))
            });
            let now = &mut self.domains[number];
            now.running = domain.running_beside(now.khz, other);
        }
    }

    /// A CPU is at something else, whatever it was at before.
    fn put_to(&mut self, cpu: usize, time_ns: u64, phase: Phase) {
        self.settle(self.cpus[cpu].domain, time_ns);
        self.settle_cpu(cpu, time_ns);
        self.wake(cpu);
        (self.cpus[cpu].phase, self.cpus[cpu].within) = (phase, Within::default());
        self.own(cpu, time_ns);
        self.look_beside(time_ns);
    }

    /// What an event says of a wake-up's cause.
    fn cause(&self, point: Point, event: &Event) -> Option<Cause> {
        match point {
            Point::HrtimerExpire | Point::TimerExpire => Some(Cause::Timer),
            Point::Ipi => Some(Cause::Other),
            Point::RcuInvokeCallback | Point::RcuBatchStart => Some(Cause::Rcu),
            Point::IrqEnter if !self.told.timers.contains(&event.argument) => Some(Cause::Other),
            Point::SoftirqEnter => match event.argument {
                // TIMER, SCHED and HRTIMER come with the tick.
                1 | 7 | 8 => None,
                9 => Some(Cause::Rcu),
                _ => Some(Cause::Other),
            },
            Point::SchedSwitch if event.argument == 0 => None,
            Point::SchedSwitch if self.told.rcu.contains(&event.argument) => Some(Cause::Rcu),
            Point::SchedSwitch if self.told.low.contains(&event.argument) => Some(Cause::Low),
            Point::SchedSwitch => Some(Cause::Other),
            _ => None,
        }
    }

    fn change(&mut self, cpu: usize, point: Point, event: &Event) {
        let argument = event.argument;
        if matches!(point, Point::IdleExit | Point::SchedSwitch) {
            self.wake(cpu);
        }
        let state = &mut self.cpus[cpu];
        let within = &mut state.within;
        match point {
            Point::IdleEnter => self.sleep(cpu, argument as u8),
            Point::IdleExit => {
                let from = match state.phase {
                    Phase::Idle(from) => from,
                    _ => None,
                };
                state.awake = Awake::new(state.domain, from);
                (state.phase, state.task) = (Phase::Running, Some(0));
                if !self.told.has(&[Point::SchedSwitch]) {
                    (state.task, state.why) = (None, "what ran, without sched_switch");
                }
            }
            Point::SchedSwitch => {
                state.within = Within::default();
                (state.phase, state.task) = (Phase::Running, Some(argument));
                if argument != 0 {
                    state.leaves = false;
                } else if !self.told.has_idle() {
                    state.phase = Phase::Untold;
                    state.why = "whether the CPU slept, without cpu_idle";
                } else if state.leaves {
                    state.phase = Phase::Offline;
                }
            }
            Point::IrqEnter => within.interrupts.push(argument),
            Point::IrqExit => _ = within.interrupts.pop(),
            Point::SoftirqEnter => within.softirq = Some(argument),
            Point::SoftirqExit => (within.softirq, within.callback) = (None, None),
            Point::RcuInvokeCallback => within.callback = Some(argument),
            Point::RcuBatchEnd => within.callback = None,
            _ => state.leaves = argument == 0,
        }
    }

    /// A CPU goes to sleep in a state.
    fn sleep(&mut self, cpu: usize, state: u8) {
        let state = Some(state);
        let of = &mut self.cpus[cpu];
        let (number, was_running) = (of.domain, of.phase == Phase::Running);
        (of.phase, of.task) = (Phase::Idle(state), Some(0));
        of.within = Within::default();
        let awake = std::mem::take(&mut of.awake);
        if was_running {
            self.wakes.add(&awake, &self.machine.domains);
        }
        if let Some(level) = self.level(number) {
            self.domains[number].asleep.get_or_insert((level, 0));
        }
    }

    /// A CPU leaves its state: the round trip is paid, and the domain's where that was asleep. It
    /// takes no more than running would have taken in that time.
    fn wake(&mut self, cpu: usize) {
        let of = &mut self.cpus[cpu];
        let (number, room) = (of.domain, std::mem::take(&mut of.room));
        if let Phase::Idle(state) = of.phase {
            self.pay_trip(Owner::Idle(state), number, (state, room), |state| {
                state.core_trip
            });
        }
        if let Some((state, room)) = self.domains[number].asleep.take() {
            self.pay_trip(Owner::Cluster(state), number, (state, room), |state| {
                state.shared_trip
            });
        }
    }

    fn pay_trip(
        &mut self,
        owner: Owner,
        number: usize,
        (state, room): (Option<u8>, u128),
        trip: fn(&State) -> Range,
    ) {
        let mut amount = Amount::of(self.machine.domains[number].idle(state, trip), 1);
        amount.energy = amount.energy.map(|energy| energy.min(room));
        self.total.add(&amount);
        let place = self.place(owner, number);
        self.pay(place, &amount);
    }

    /// The state of a domain whose CPUs all sleep, the shallowest of theirs; `None` while one runs
    /// or is not known.
    fn level(&self, domain: usize) -> Option<Option<u8>> {
        let mut level = Some(u8::MAX);
        for &cpu in &self.domains[domain].cpus {
            level = match self.cpus[cpu].phase {
                Phase::Idle(state) => level.zip(state).map(|(level, state)| level.min(state)),
                Phase::Offline | Phase::Suspended => level,
                Phase::Running | Phase::Untold => return None,
            };
        }
        Some(level)
    }

    fn place(&mut self, owner: Owner, domain: usize) -> usize {
        let shares = &mut self.shares;
        *self.owners.entry((owner, domain)).or_insert_with(|| {
            shares.push(Share {
                owner,
                domain,
                of: Amount::default(),
                parts: [0; PARTS],
            });
            shares.len() - 1
        })
    }

    fn pay(&mut self, place: usize, amount: &Amount) {
        let share = &mut self.shares[place];
        share.of.add(amount);
        share.parts[self.part] += amount.energy.iter().sum::<u128>();
    }

    /// Finds the owner of a CPU from now on.
    fn own(&mut self, cpu: usize, time_ns: u64) {
        let of = &self.cpus[cpu];
        let within = &of.within;
        let thread = || match of.task {
            None => Owner::Untold(of.why),
            Some(0) => Owner::IdleLoop,
            Some(task) => Owner::Task(task),
        };
        let place = |softirq: Option<u32>| match of.task {
            _ if softirq.is_some() => ", in softirq",
            Some(task) if self.told.offloaded.contains(&task) => ", offloaded",
            _ => "",
        };
        let owner = match of.phase {
            Phase::Untold => Owner::Untold(of.why),
            Phase::Idle(state) => Owner::Idle(state),
            Phase::Offline => Owner::Offline,
            Phase::Suspended => Owner::Suspended,
            Phase::Running => match (within.interrupts.last(), within.callback, within.softirq) {
                (Some(interrupt), ..) => Owner::Interrupt(*interrupt),
                (_, Some(function), softirq) => Owner::Callback(function, place(softirq)),
                (_, None, Some(softirq)) => Owner::Softirq(softirq),
                _ => thread(),
            },
        };
        let (domain, number) = (of.domain, of.number);
        let place = self.place(owner, domain);
        let is_new = std::mem::replace(&mut self.cpus[cpu].share, place) != place;
        if (is_new || self.changes.len() < self.cpus.len()) && self.changes.len() < MOST_CHANGES {
            self.changes.push((time_ns, number, place));
        }
    }

    /// Reaches a time: parts of the trace end on the way.
    fn reach(&mut self, time_ns: u64) {
        let [first, last] = self.span_ns;
        while self.part + 1 < PARTS {
            let end =
                first + (u128::from(last - first) * (self.part as u128 + 1) / PARTS as u128) as u64;
            if time_ns < end {
                return;
            }
            for domain in 0..self.domains.len() {
                self.settle_all(domain, end);
            }
            self.part += 1;
        }
    }

    /// Counts the energy of a domain and of its CPUs up to a time.
    fn settle_all(&mut self, number: usize, now_ns: u64) {
        self.settle(number, now_ns);
        for at in 0..self.domains[number].cpus.len() {
            self.settle_cpu(self.domains[number].cpus[at], now_ns);
        }
    }

    /// Counts the energy of a CPU up to a time, with its part of what its domain shared: the CPU
    /// was at one thing since, at one clock.
    fn settle_cpu(&mut self, cpu: usize, now_ns: u64) {
        let of = &mut self.cpus[cpu];
        let ns = now_ns.saturating_sub(std::mem::replace(&mut of.since_ns, now_ns));
        let now = &self.domains[of.domain];
        let before = std::mem::replace(&mut of.kept_up, now.upkeep);
        if ns == 0 {
            return;
        }
        let (running, domain) = (now.running, &self.machine.domains[of.domain]);
        let power = match of.phase {
            Phase::Running => running.core,
            Phase::Idle(state) => domain.idle(state, |state| state.core),
            Phase::Offline | Phase::Suspended => asleep(domain, |state| state.core),
            Phase::Untold => hull([domain.idle(None, |state| state.core), running.core]),
        };
        let mut amount = Amount::of(power, ns);
        amount.ns = ns;
        self.total.add(&amount);
        match of.phase {
            Phase::Running => {
                amount.work = Amount::of(running.capacity, ns).energy;
                for (end, before) in before.into_iter().enumerate() {
                    amount.energy[end] += now.upkeep[end] - before;
                }
                of.awake.all.add(&amount);
                if let Owner::Callback(..) | Owner::Softirq(9) = self.shares[of.share].owner {
                    of.awake.rcu.add(&amount);
                }
            }
            Phase::Idle(_) => of.room += room(running.core, power, ns),
            _ => {}
        }
        let share = of.share;
        self.pay(share, &amount);
    }

    /// Counts what a domain shares up to a time.
    fn settle(&mut self, number: usize, now_ns: u64) {
        let now = &mut self.domains[number];
        let ns = now_ns.saturating_sub(std::mem::replace(&mut now.since_ns, now_ns));
        if ns == 0 {
            return;
        }
        let running = now.running;
        let domain = &self.machine.domains[number];
        let cpus = || self.domains[number].cpus.iter().map(|cpu| &self.cpus[*cpu]);
        let runners = cpus().filter(|cpu| cpu.phase == Phase::Running).count();
        let runners = NonZero::new(runners as u128);
        let untold = cpus().find(|cpu| cpu.phase == Phase::Untold);
        let other = untold
            .unwrap_or(&self.cpus[self.domains[number].cpus[0]])
            .share;
        let level = self.level(number);
        let shared = |state: &State| state.shared;
        let power = match level {
            None if runners.is_some() => running.shared,
            None => hull([domain.idle(None, shared), running.shared]),
            Some(Some(u8::MAX)) => asleep(domain, shared),
            Some(level) => domain.idle(level, shared),
        };
        let shared = Amount::of(power, ns);
        self.total.add(&shared);
        let now = &mut self.domains[number];
        if let Some((_, left)) = &mut now.asleep {
            *left += room(running.shared, power, ns);
        }
        if let Some(runners) = runners {
            for (end, energy) in shared.energy.into_iter().enumerate() {
                let all = energy + now.rest[end];
                now.upkeep[end] += all / runners;
                now.rest[end] = all % runners;
            }
            return;
        }
        let place = match level {
            Some(level) if level != Some(u8::MAX) => self.place(Owner::Cluster(level), number),
            _ => other,
        };
        self.pay(place, &shared);
    }

    /// The trace is over.
    pub fn finish(&mut self) {
        self.reach(self.span_ns[1]);
        for domain in 0..self.domains.len() {
            self.settle_all(domain, self.span_ns[1]);
            let first = self.domains[domain].cpus[0];
            let rest = Amount {
                energy: self.domains[domain].rest,
                ..Amount::default()
            };
            self.pay(self.cpus[first].share, &rest);
        }
        for cpu in 0..self.cpus.len() {
            self.wake(cpu);
        }
    }
}

/// Energy by which running takes more than sleeping, both at most.
fn room(running: Range, asleep: Range, ns: u64) -> u128 {
    u128::from(running[1].saturating_sub(asleep[1])) * u128::from(ns)
}

/// The power of what is off, or sleeps as deeply as nobody says: between nothing and that of the
/// shallowest state.
fn asleep(domain: &Domain, of: fn(&State) -> Range) -> Range {
    [0, domain.states.first().map_or(0, |state| of(state)[1])]
}

/// True for points that change the owner of a CPU.
const fn matters(point: Point) -> bool {
    matches!(
        point,
        Point::IdleEnter
            | Point::IdleExit
            | Point::SchedSwitch
            | Point::IrqEnter
            | Point::IrqExit
            | Point::SoftirqEnter
            | Point::SoftirqExit
            | Point::RcuInvokeCallback
            | Point::RcuBatchEnd
            | Point::Hotplug
    )
}
