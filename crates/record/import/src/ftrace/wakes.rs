//! Who woke the CPUs: the cause of each wake-up, who called, what ran first, and how long it took.
//!
//! A wake-up goes from the end of an idle state to the first task, or to the next entry. The first
//! interrupt in it is the cause, and what its handler turns out to do says more: a timer's
//! function, a call from another CPU. Where nothing is seen, that is what is told.

use super::event::{Event, Point};
use super::residency::grown;
use crate::error::printable_bytes;
use crate::text::contains;
use recording::facts::{KernelTrace, WakeRow, WakeUps};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

/// What a line says beside the event that a recording keeps: the number of a name (a timer's
/// function, the reason of a call), and the task that ran.
pub type Detail = (u32, Option<u32>);

/// Its kind, and the number of its name; of an interrupt its own number.
type Cause = (&'static str, u32);

/// The wake-ups that are counted together: their cause and what it came by; the CPU, its state, the
/// CPU that called, the task there, the task that ran first. `None` for what does not matter, or is
/// not known.
type Key = (Cause, Option<Cause>, [Option<u32>; 5]);

#[derive(Default)]
struct Tally {
    count: u64,
    /// From the cause to the end of idle, and from there to the first handler or task.
    delays_ns: [Vec<u64>; 2],
}

/// A call of another CPU, or a task made ready.
#[derive(Clone, Copy)]
struct Call {
    at_ns: u64,
    cpu: u16,
    task: Option<u32>,
    name: u32,
}

/// An idle state and the wake-up from it, as far as they are known.
#[derive(Default)]
struct Wake {
    state: u8,
    entered_ns: u64,
    exit_ns: Option<u64>,
    cause: Option<Cause>,
    /// The interrupt by which the cause came.
    way: Option<Cause>,
    by: Option<Call>,
    /// When the timer that is the cause was due.
    due_ns: Option<u64>,
    handled_ns: Option<u64>,
    /// Another interrupt came, so that what follows says nothing more of the cause.
    is_over: bool,
    is_tick: bool,
    was_called_before: bool,
}

#[derive(Default)]
struct Cpu {
    /// `None` while a task runs.
    wake: Option<Wake>,
    /// Handlers of interrupts that are not through.
    depth: u32,
    /// Calls that were not answered yet.
    calls: Vec<Call>,
    tick_stopped: bool,
    task: Option<u32>,
    /// Wake-ups after which there was nothing before the next entry, by state.
    nothing: Vec<u64>,
}

/// All wake-ups of a trace while it is read.
#[derive(Default)]
pub struct Wakes {
    names: Vec<Vec<u8>>,
    numbers: HashMap<Vec<u8>, u32>,
    cpus: Vec<Cpu>,
    /// When each timer of high resolution is due.
    due: HashMap<u32, u64>,
    /// Who made each task ready.
    ready: HashMap<u32, Call>,
    tallies: HashMap<Key, Tally>,
    called_before: u64,
    /// The points that were seen, as bits.
    seen: u64,
}

const MOST_NAMES: usize = 1 << 16;
const MOST_CALLS: usize = 16;
/// Rows of wake-ups that a recording keeps, the commonest.
const MOST_ROWS: usize = 2_000;
/// A call that is told twice, by what it is for and by the kind of interrupt, is told in this time.
const TOGETHER_NS: u64 = 10_000;

const NOTHING: &[u8] = b"nothing seen, and back to sleep";
const RAN: &[u8] = b"nothing seen before a task ran";
const CUT: &[u8] = b"nothing seen before the trace ended or lost events";

/// Events, and what is not known where the trace has none of them.
const WANTED: [(&[Point], &str); 6] = [
    (
        &[Point::IrqEnter],
        "irq_handler_entry: interrupts are not known",
    ),
    (
        &[Point::Ipi],
        "ipi_entry (x86: reschedule_entry, call_function_*): whether a call arrived is not known",
    ),
    (
        &[Point::IpiRaise],
        "ipi_raise, ipi_send_cpu: senders are not known",
    ),
    (
        &[Point::HrtimerExpire, Point::TickExpire, Point::TimerExpire],
        "hrtimer_expire_entry: timers are not known",
    ),
    (
        &[Point::SchedSwitch],
        "sched_switch: what ran first is not known",
    ),
    (
        &[Point::SchedWaking, Point::SchedWakeup],
        "sched_waking: who made a task ready is not known",
    ),
];

impl Wakes {
    /// A number for a name, from 1; 0 for none, or where there are too many.
    pub fn name(&mut self, name: &[u8]) -> u32 {
        match self.numbers.get(name) {
            Some(number) => *number,
            None if name.is_empty() || self.names.len() >= MOST_NAMES => 0,
            None => {
                self.names.push(name.to_vec());
                self.numbers.insert(name.to_vec(), self.names.len() as u32);
                self.names.len() as u32
            }
        }
    }

    fn text(&self, number: u32) -> &[u8] {
        self.names
            .get((number as usize).wrapping_sub(1))
            .map_or(b"without a name", Vec::as_slice)
    }

    fn has_seen(&self, points: &[Point]) -> bool {
        points
            .iter()
            .any(|point| self.seen & 1 << *point as u32 != 0)
    }

    fn cpu(&mut self, number: u16) -> &mut Cpu {
        grown(&mut self.cpus, number.into())
    }

    /// Takes the next event.
    #[inline]
    pub fn event(&mut self, event: &Event, detail: Detail) {
        self.seen |= 1 << event.point as u32;
        match event.point {
            Point::IdleEnter => {
                if !self.cpu(event.cpu).slept_again() {
                    self.settle(event.cpu, None, NOTHING);
                }
                let wake = Wake {
                    state: event.argument as u8,
                    entered_ns: event.time_ns,
                    ..Wake::default()
                };
                let cpu = self.cpu(event.cpu);
                (cpu.wake, cpu.depth) = (Some(wake), 0);
            }
            Point::IdleExit => {
                if let Some(wake) = &mut self.cpu(event.cpu).wake {
                    wake.exit_ns
                        .get_or_insert(wake.handled_ns.unwrap_or(event.time_ns));
                }
            }
            _ => self.other(event, detail),
        }
    }

    /// Takes an event that is not of the idle states themselves.
    fn other(&mut self, event: &Event, (name, task): Detail) {
        if self.ready.len() >= MOST_NAMES {
            // No system has as many tasks that are ready and do not run.
            self.ready.clear();
        }
        let cpu = self.cpu(event.cpu);
        let call = Call {
            at_ns: event.time_ns,
            cpu: event.cpu,
            task: task.or(cpu.task),
            name,
        };
        match event.point {
            Point::IrqEnter => {
                cpu.depth += 1;
                match &mut cpu.wake {
                    Some(wake) if wake.cause.is_some() => wake.is_over |= cpu.depth == 1,
                    _ => drop(cpu.caused(event.time_ns, ("interrupt", event.argument))),
                }
            }
            Point::IrqExit => cpu.depth = cpu.depth.saturating_sub(1),
            Point::Ipi => self.answered(event, name),
            Point::IpiRaise => self.called(event.argument as u16, call),
            Point::HrtimerStart | Point::TickStart => {
                _ = self.due.insert(event.argument, event.ticks);
            }
            Point::HrtimerExpire | Point::TickExpire | Point::TimerExpire => {
                self.expired(event, name)
            }
            Point::TickStop => cpu.tick_stopped = event.argument != 0,
            Point::SchedWaking => drop(self.ready.insert(event.argument, call)),
            Point::SchedWakeup => _ = self.ready.entry(event.argument).or_insert(call),
            Point::SchedSwitch => {
                cpu.task = Some(event.argument);
                cpu.tick_stopped &= event.argument == 0;
                let waker = self.ready.remove(&event.argument);
                if event.argument != 0 {
                    self.settle(event.cpu, Some((event.time_ns, event.argument, waker)), RAN);
                }
            }
            Point::Lost => {
                self.settle(event.cpu, None, CUT);
                let cpu = self.cpu(event.cpu);
                *cpu = Cpu {
                    nothing: std::mem::take(&mut cpu.nothing),
                    ..Cpu::default()
                };
            }
            _ => {}
        }
    }

    /// A timer fires. A tick that stands still lends its timer to the wheel, whose timer follows.
    fn expired(&mut self, event: &Event, name: u32) {
        let due = self
            .due
            .get(&event.argument)
            .filter(|_| event.point != Point::TimerExpire);
        let due_ns = due.map(|due| {
            event
                .time_ns
                .saturating_sub(event.ticks.saturating_sub(*due))
        });
        let of_broadcast = self
            .cpu(event.cpu)
            .wake
            .as_ref()
            .and_then(|wake| wake.cause)
            .filter(|(kind, number)| *kind == "IPI" && contains(self.text(*number), b"broadcast"));
        let cpu = self.cpu(event.cpu);
        let stands_for_wheel = event.point == Point::TimerExpire && cpu.tick_stopped;
        if let Some(wake) = cpu.caused(event.time_ns, ("timer", name)) {
            (wake.due_ns, wake.is_tick) = (due_ns, event.point == Point::TickExpire);
        } else if let Some(wake) = cpu.wake.as_mut().filter(|wake| !wake.is_over) {
            if of_broadcast.is_some() {
                (wake.cause, wake.way, wake.by) = (Some(("timer", name)), of_broadcast, None);
                (wake.due_ns, wake.is_tick) = (due_ns, event.point == Point::TickExpire);
            } else if wake.is_tick && stands_for_wheel {
                (wake.cause, wake.is_tick) = (Some(("timer", name)), false);
            }
        }
    }

    /// A CPU is to be interrupted.
    fn called(&mut self, target: u16, call: Call) {
        let kind = self.is_reschedule(call.name);
        let is_same = |of: &Call| of.cpu == call.cpu && self.is_reschedule(of.name) == kind;
        let is_told = |of: &Call| is_same(of) && call.at_ns.saturating_sub(of.at_ns) <= TOGETHER_NS;
        if self
            .cpus
            .get(usize::from(target))
            .is_some_and(|cpu| cpu.calls.iter().any(is_told))
        {
            return;
        }
        let calls = &mut self.cpu(target).calls;
        if calls.len() >= MOST_CALLS {
            calls.remove(0);
        }
        calls.push(call);
    }

    /// True for the names of a call that only makes the scheduler look: `Rescheduling interrupts`,
    /// `reschedule`, `from CALLSITE`.
    fn is_reschedule(&self, name: u32) -> bool {
        let name = self.text(name);
        name.starts_with(b"from ") || contains(name, b"eschedul")
    }

    /// An interrupt from another CPU arrived: that of a call of its name, or else of its kind.
    fn answered(&mut self, event: &Event, name: u32) {
        let mut calls = std::mem::take(&mut self.cpu(event.cpu).calls);
        let kind = self.is_reschedule(name);
        let of_kind = |call: &&Call| name == 0 || self.is_reschedule(call.name) == kind;
        let call = calls
            .iter()
            .find(|call| call.name == name)
            .or_else(|| calls.iter().find(of_kind))
            .copied();
        calls.retain(|of| call.is_none_or(|call| of.name != call.name));
        // The caller's word says more of what it is for.
        let name = match call.map(|call| call.name) {
            Some(of) if of != name && of != 0 => {
                self.name(&[self.text(name), b", ", self.text(of)].concat())
            }
            _ => name,
        };
        let cpu = self.cpu(event.cpu);
        cpu.calls = calls;
        if let Some(wake) = cpu.caused(event.time_ns, ("IPI", name)) {
            wake.by = call;
        }
        if let Some(wake) = &mut cpu.wake
            && call.is_some_and(|call| call.at_ns < wake.entered_ns)
            && !std::mem::replace(&mut wake.was_called_before, true)
        {
            self.called_before += 1;
        }
    }

    /// A wake-up is over: a task ran (when, which, and who made it ready), or what `end` says.
    fn settle(&mut self, number: u16, ran: Option<(u64, u32, Option<Call>)>, end: &[u8]) {
        let can_arrive = self.has_seen(&[Point::Ipi]);
        let cpu = self.cpu(number);
        let Some(mut wake) = cpu.wake.take_if(|wake| wake.exit_ns.is_some()) else {
            return;
        };
        let exit_ns = wake.exit_ns.unwrap_or_default();
        let within = |call: &&Call| (wake.entered_ns..=exit_ns).contains(&call.at_ns);
        if wake.cause.is_none() && !can_arrive {
            wake.by = cpu.calls.iter().find(within).copied();
            wake.cause = wake.by.map(|call| ("IPI", call.name));
        }
        if wake.by.is_none() && wake.cause.is_none_or(|cause| cause.0 == "IPI") {
            let waker = ran.as_ref().and_then(|(.., waker)| waker.as_ref());
            wake.by = waker
                .filter(within)
                .filter(|waker| waker.cpu != number)
                .copied();
        }
        let cause = match (wake.cause, wake.by) {
            (Some(cause), _) => cause,
            (None, Some(_)) => ("task", 0),
            (None, None) => ("unknown:", self.name(end)),
        };
        let (by_cpu, by) = (
            wake.by.map(|call| call.cpu.into()),
            wake.by.and_then(|call| call.task),
        );
        let parts = [
            Some(number.into()),
            Some(wake.state.into()),
            by_cpu,
            by,
            ran.map(|(_, task, _)| task),
        ];
        let tally = self.tallies.entry((cause, wake.way, parts)).or_default();
        tally.count += 1;
        let since_ns = wake.due_ns.or(wake.by.map(|call| call.at_ns));
        let run_ns = wake.handled_ns.or(ran.map(|(at_ns, ..)| at_ns));
        tally.delays_ns[0].extend(since_ns.map(|since_ns| exit_ns.saturating_sub(since_ns)));
        tally.delays_ns[1].extend(run_ns.map(|run_ns| run_ns.saturating_sub(exit_ns)));
    }

    /// What is known in the end.
    pub fn finish(mut self, kernel: &KernelTrace) -> WakeUps {
        let nothing = self.name(NOTHING);
        for number in 0..self.cpus.len() as u16 {
            self.settle(number, None, CUT);
            for (state, count) in (0..)
                .zip(std::mem::take(&mut self.cpu(number).nothing))
                .filter(|(_, count)| *count > 0)
            {
                let parts = [Some(number.into()), Some(state), None, None, None];
                self.tallies
                    .entry((("unknown:", nothing), None, parts))
                    .or_default()
                    .count += count;
            }
        }
        let mut callers = self.rows(kernel, |(cause, _, [_, _, of @ ..])| {
            (cause, None, [None, None, of[0], of[1], of[2]])
        });
        callers.retain(|row| row.by_cpu.is_some() || row.first.is_some());
        let can_tell = self.has_seen(WANTED[1].0) && self.has_seen(WANTED[2].0);
        let unseen = WANTED.iter().filter(|(points, _)| !self.has_seen(points));
        WakeUps {
            causes: self.rows(kernel, |(cause, way, _)| (cause, way, [None; 5])),
            cpus: self.rows(kernel, |(cause, _, [cpu, state, ..])| {
                (cause, None, [cpu, state, None, None, None])
            }),
            callers,
            called_before: can_tell.then_some(self.called_before),
            unseen: unseen.map(|(_, what)| (*what).to_owned()).collect(),
        }
    }

    /// The wake-ups summed by a part of what is known of them, the commonest first.
    fn rows(&self, kernel: &KernelTrace, part: fn(Key) -> Key) -> Vec<WakeRow> {
        let mut sums: BTreeMap<Key, Tally> = BTreeMap::new();
        for (key, tally) in &self.tallies {
            let sum = sums.entry(part(*key)).or_default();
            sum.count += tally.count;
            sum.delays_ns
                .iter_mut()
                .zip(&tally.delays_ns)
                .for_each(|(sum, of)| sum.extend(of));
        }
        let mut sums: Vec<(Key, Tally)> = sums.into_iter().collect();
        sums.sort_by_key(|(_, sum)| Reverse(sum.count));
        sums.truncate(MOST_ROWS);
        sums.into_iter()
            .map(|(key, sum)| self.row(key, sum, kernel))
            .collect()
    }

    fn row(&self, (cause, way, parts): Key, sum: Tally, kernel: &KernelTrace) -> WakeRow {
        let title = |(kind, number): Cause| match (kind, kernel.interrupts.get(&number)) {
            ("interrupt", Some(name)) => format!("{kind} {number} {name}"),
            ("interrupt", None) => format!("{kind} {number}"),
            ("task", _) => "task made ready by another CPU".to_owned(),
            _ => format!("{kind} {}", printable_bytes(self.text(number))),
        };
        let task = |task: u32| match (task, kernel.tasks.get(&task)) {
            (0, _) => "the idle task".to_owned(),
            (_, Some(name)) => name.clone(),
            (_, None) => format!("task {task}"),
        };
        // The median and the largest.
        let [to_exit_ns, to_run_ns] = sum.delays_ns.map(|mut all| {
            all.sort_unstable();
            Some([*all.get(all.len().saturating_sub(1) / 2)?, *all.last()?])
        });
        let ([cpu, state, by_cpu, by, first], count) = (parts, sum.count);
        let [cpu, by_cpu] = [cpu, by_cpu].map(|cpu| cpu.map(|cpu| cpu as u16));
        let state = state.map(|state| kernel.state_name(state as usize));
        let (cause, way, by, first) = (title(cause), way.map(title), by.map(task), first.map(task));
        WakeRow {
            cause,
            way,
            cpu,
            state,
            by_cpu,
            by,
            first,
            count,
            to_exit_ns,
            to_run_ns,
        }
    }
}

impl Cpu {
    /// Counts a wake-up in which nothing was seen, if this is one: by far the commonest where only
    /// idle states were traced.
    #[inline]
    fn slept_again(&mut self) -> bool {
        let is_seen =
            |wake: &Wake| wake.exit_ns.is_none() || wake.cause.is_some() || !self.calls.is_empty();
        let Some(wake) = self.wake.as_ref().filter(|wake| !is_seen(wake)) else {
            return false;
        };
        *grown(&mut self.nothing, wake.state.into()) += 1;
        true
    }

    /// Takes a cause, if the CPU wakes up and none is known, or if it says more of the interrupt
    /// that is.
    fn caused(&mut self, time_ns: u64, cause: Cause) -> Option<&mut Wake> {
        let wake = self.wake.as_mut()?;
        wake.way = match wake.cause {
            None => None,
            Some(irq @ ("interrupt", _)) if self.depth == 1 && !wake.is_over => Some(irq),
            Some(_) => return None,
        };
        wake.handled_ns.get_or_insert(time_ns);
        wake.cause = Some(cause);
        Some(wake)
    }
}
