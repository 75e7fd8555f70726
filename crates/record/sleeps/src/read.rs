//! From a recording to its idle intervals.

use crate::clock::{Jiffies, Offset};
use crate::cpu::{Cpu, Interval, Known, Phase};
use crate::sleep::{LEAVING_NS, Reason, Sleep, SleepLength, Summary, WAKING_NS, Waker};
use crate::told::{Telling, Told};
use import::ftrace::Point;
use recording::facts::KernelTrace;
use recording::{Event, Reader, Recording};
use std::collections::HashSet;
use std::path::Path;

/// Why a recording has no idle intervals to read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The recording cannot be read.
    #[error(transparent)]
    Recording(#[from] recording::Error),
    /// The recording is not one of a trace.
    #[error(
        "a recording of `{experiment}` whose time counts {unit} holds no idle intervals; expected a trace, as `stopwatt import` makes it, in ns"
    )]
    NotATrace {
        /// Experiment of the recording.
        experiment: String,
        /// The unit of its time.
        unit: String,
    },
}

/// Hands over each idle interval of the recording of a trace in a folder: for each CPU in the order
/// of time.
///
/// What is held does not grow with the trace, but for the timers that are armed at a time.
///
/// # Errors
/// The recording is damaged, or is not one of a trace.
pub fn sleeps(folder: &Path, mut each: impl FnMut(Sleep)) -> Result<Summary, Error> {
    let header = Reader::open(folder)?.header().clone();
    if header.time.unit != "ns" {
        return Err(Error::NotATrace {
            experiment: header.experiment,
            unit: header.time.unit,
        });
    }
    // What the trace leaves out is known at its end.
    let mut telling = Telling::default();
    events(folder, |point, event| telling.event(point, event))?;
    // A trace that another program recorded says nothing of its kernel.
    let kernel = header.facts().unwrap_or_default();
    let mut walk = Walk::new(&kernel, telling.told(), &mut each);
    events(folder, |point, event| walk.event(point, event))?;
    Ok(walk.finish())
}

/// Hands over each event of the recording of a trace with its point, in the order of time.
///
/// # Errors
/// The recording is damaged.
pub fn events(folder: &Path, mut each: impl FnMut(Point, &Event)) -> Result<(), Error> {
    let mut reader = Reader::open(folder)?;
    let mut rows = Recording::new(reader.header().clone());
    let mut points = Vec::new();
    while reader.next_events(&mut rows)? {
        for event in rows.events() {
            // Points are numbered as they come.
            let point = event.point.index();
            while points.len() <= point {
                points.push(None);
            }
            let point =
                *points[point].get_or_insert_with(|| Point::named(rows.point_text(event.point)));
            if let Some(point) = point {
                each(point, event);
            }
        }
        rows.clear();
    }
    Ok(())
}

/// A timer that is armed.
#[derive(Clone, Copy)]
struct ArmedTimer {
    cpu: u16,
    at: u64,
    is_wheel: bool,
    /// When it was armed, by the trace's clock.
    armed_ns: u64,
}

struct Walk<'a> {
    each: &'a mut dyn FnMut(Sleep),
    told: Told,
    summary: Summary,
    cpus: Vec<Cpu>,
    /// Armed timers, by the timer's number.
    armed: Vec<Option<ArmedTimer>>,
    offset: Offset,
    jiffies: Jiffies,
    /// Exit latencies of the idle states in nanoseconds, by number, where the trace says them.
    latencies: Vec<Option<u64>>,
    /// Interrupts that are a timer's.
    timer_interrupts: HashSet<u32>,
}

/// More timers are not armed at a time; what is beyond is forgotten.
const MOST_TIMERS: u32 = 1 << 20;

impl<'a> Walk<'a> {
    fn new(kernel: &KernelTrace, told: Told, each: &'a mut dyn FnMut(Sleep)) -> Self {
        let timers = kernel
            .interrupts
            .iter()
            .filter(|(_, name)| name.contains("timer"));
        let latency_ns = |us: u64| us.saturating_mul(1000).min(LEAVING_NS);
        Self {
            each,
            told,
            summary: Summary::default(),
            cpus: Vec::new(),
            armed: Vec::new(),
            offset: Offset::default(),
            jiffies: Jiffies::default(),
            latencies: kernel
                .states
                .iter()
                .map(|state| state.exit_latency_us.map(latency_ns))
                .collect(),
            timer_interrupts: timers.map(|(number, _)| *number).collect(),
        }
    }

    fn cpu(&mut self, number: u16) -> &mut Cpu {
        let number = usize::from(number);
        if number >= self.cpus.len() {
            self.cpus.resize_with(number + 1, Cpu::default);
        }
        &mut self.cpus[number]
    }

    fn event(&mut self, point: Point, event: &Event) {
        let (time, number) = (event.time, event.cpu);
        match point {
            Point::IdleEnter => self.enter(event),
            Point::IdleExit => exit(self.cpu(number), time),
            Point::IdleRefused => self.summary.refused.push((number, time)),
            Point::IrqEnter => {
                let waker = if self.timer_interrupts.contains(&event.argument) {
                    Waker::Timer
                } else {
                    Waker::Interrupt(event.argument)
                };
                self.woke(number, time, waker, false);
            }
            Point::Ipi => self.woke(number, time, Waker::Ipi, false),
            Point::HrtimerExpire | Point::TickExpire => self.expired(point, event),
            Point::TimerExpire => {
                self.disarm(event.argument);
                self.learn_jiffies(time, event.ticks);
                self.woke(number, time, Waker::Timer, true);
                self.fired(number, point, event.argument);
            }
            Point::IrqExit => self.handled(number),
            Point::SchedSwitch => {
                let is_task = event.argument != 0;
                if is_task {
                    self.settle(number);
                }
                let told = self.told;
                let cpu = self.cpu(number);
                cpu.called &= !is_task;
                cpu.switched(time, is_task, told);
            }
            Point::SchedWakeup => self.called(number, event),
            Point::HrtimerStart | Point::TimerStart => self.arm(
                event,
                ArmedTimer {
                    cpu: number,
                    at: event.ticks,
                    is_wheel: point == Point::TimerStart,
                    armed_ns: time,
                },
            ),
            Point::HrtimerCancel => self.disarm(event.argument),
            Point::TimerCancel => {
                // It may be the one that the tick's timer showed.
                if event.argument >= MOST_TIMERS {
                    self.cpu(number).tick.wheel_ns = None;
                }
                self.disarm(event.argument);
            }
            Point::TickStart => self.tick_started(event),
            Point::TickCancel => {
                let tick = &mut self.cpu(number).tick;
                tick.before_stop_ns = tick.expires_ns;
                tick.expires_ns = None;
            }
            Point::TickStop if event.argument != 0 => {
                let tick = &mut self.cpu(number).tick;
                tick.before_stop_ns = tick.expires_ns;
                (tick.stopped, tick.just_stopped) = (Some(true), true);
            }
            Point::Jiffies => self.learn_jiffies(time, event.ticks),
            Point::Lost => self.lost(number),
            _ => {}
        }
    }

    /// A high-resolution timer expires, or the one that stands for a tick.
    fn expired(&mut self, point: Point, event: &Event) {
        let (time, number) = (event.time, event.cpu);
        self.offset.learn(time, event.ticks);
        let armed = self.armed.get(event.argument as usize).copied().flatten();
        self.disarm(event.argument);
        let (mut waker, told) = (Waker::Timer, self.told);
        if point == Point::TickExpire {
            let cpu = self.cpu(number);
            cpu.ticked(time, told);
            (cpu.tick.expires_ns, cpu.has_timers, cpu.lost) = (None, true, false);
            // Of a stopped tick the timer stands for the wheel.
            if cpu.tick.stopped != Some(true) {
                waker = Waker::Tick;
            }
        } else if let Some(armed) = armed.filter(|armed| armed.cpu == number) {
            self.announced(armed, time);
        }
        self.woke(number, time, waker, waker == Waker::Timer);
        self.fired(number, point, event.argument);
    }

    /// A timer fires that was seen to be armed. If it ended the interval, no other was to come before
    /// it, whatever the tick did.
    fn announced(&mut self, armed: ArmedTimer, time_ns: u64) {
        let offset = self.offset.ns();
        if let Phase::Idle(interval) | Phase::Waking(interval) = &mut self.cpu(armed.cpu).phase
            && (interval.fired_ns, interval.sleep.got_tick) == (None, Some(false))
            && armed.armed_ns <= interval.sleep.enter_ns
            && let Some(offset) = interval.offset.or(offset)
        {
            let due_ns = armed.at.saturating_add_signed(offset);
            interval.announced_ns = (due_ns <= interval.exit_ns.unwrap_or(time_ns))
                .then_some(due_ns.saturating_sub(interval.sleep.enter_ns));
        }
    }

    /// A CPU wakes a task that is to run on another one: a sleeping CPU is called.
    fn called(&mut self, number: u16, event: &Event) {
        let target = u16::try_from(event.ticks).unwrap_or(number);
        if target != number
            && let Some(cpu) = self.cpus.get_mut(usize::from(target))
            && matches!(cpu.phase, Phase::Idle(_))
        {
            cpu.called = true;
        }
    }

    /// Events of a CPU were lost: nothing is known of its timers any more.
    fn lost(&mut self, number: u16) {
        if let Phase::Waking(Interval { handled: true, .. }) = self.cpu(number).phase {
            self.settle(number);
        }
        for armed in self
            .armed
            .iter_mut()
            .filter(|armed| armed.is_some_and(|armed| armed.cpu == number))
        {
            *armed = None;
        }
        self.cpu(number).forget();
    }

    fn learn_jiffies(&mut self, time_ns: u64, jiffies: u64) {
        if let Some(monotonic) = self.offset.to_monotonic(time_ns) {
            self.jiffies.learn(monotonic, jiffies);
        }
    }

    fn arm(&mut self, event: &Event, armed: ArmedTimer) {
        self.disarm(event.argument);
        if event.argument >= MOST_TIMERS {
            return;
        }
        let index = event.argument as usize;
        if index >= self.armed.len() {
            self.armed.resize(index + 1, None);
        }
        self.armed[index] = Some(armed);
        let cpu = self.cpu(armed.cpu);
        let queue = if armed.is_wheel {
            &mut cpu.wheel
        } else {
            &mut cpu.timers
        };
        queue.insert((armed.at, event.argument));
    }

    fn disarm(&mut self, timer: u32) {
        if let Some(armed) = self.armed.get_mut(timer as usize).and_then(Option::take) {
            let cpu = self.cpu(armed.cpu);
            let queue = if armed.is_wheel {
                &mut cpu.wheel
            } else {
                &mut cpu.timers
            };
            queue.remove(&(armed.at, timer));
        }
    }

    fn tick_started(&mut self, event: &Event) {
        self.jiffies.tick(event.ticks);
        let tick_ns = self.jiffies.tick_ns;
        let soon = self
            .offset
            .to_monotonic(event.time)
            .map(|now| now.saturating_add(tick_ns));
        let is_told = self.told.timers;
        let cpu = self.cpu(event.cpu);
        let tick = &mut cpu.tick;
        if is_told && !tick.just_stopped {
            // A stopped tick's timer is armed for the wheel's next timer, which is more than a tick
            // away; one that runs again, for the next tick.
            let runs = tick.stopped != Some(true)
                || tick_ns == 0
                || soon.is_none_or(|soon| event.ticks <= soon);
            tick.stopped = Some(!runs);
        } else if tick.stopped == Some(true) && !tick.just_stopped {
            // It may run again, or stand for another timer.
            tick.stopped = None;
        }
        tick.expires_ns = Some(event.ticks);
        if tick.stopped == Some(true) {
            tick.wheel_ns = Some(event.ticks);
        }
        (cpu.has_timers, cpu.lost) = (true, false);
    }

    fn enter(&mut self, event: &Event) {
        let number = event.cpu;
        self.settle(number);
        if let Phase::Idle(_) = self.cpu(number).phase {
            *self.summary.unknown.entry(Reason::Unfinished).or_default() += 1;
        }
        let known = self.next_timer(number, event.time);
        let timer_armed_ns = self.armed_ns(number, event.time, known);
        let (told, offset) = (self.told, self.offset.ns());
        let cpu = self.cpu(number);
        let (tick_stopped, utilised) = (cpu.is_tick_stopped(told), cpu.is_utilised(event.time));
        let sleeps_without_tick = cpu.tick.stopped.or(tick_stopped);
        cpu.tick.just_stopped = false;
        (cpu.called, cpu.ran) = (false, false);
        let sleep = Sleep {
            cpu: number,
            enter_ns: event.time,
            exit_ns: event.time,
            state: event.argument as u8,
            length: SleepLength::Unknown {
                reason: Reason::Unfinished,
                at_least_ns: 0,
            },
            waker: Waker::Unknown,
            tick_stopped,
            sleeps_without_tick,
            utilised,
            got_tick: told.expiries.then_some(false),
            timer_armed_ns,
        };
        cpu.phase = Phase::Idle(Interval {
            sleep,
            exit_ns: None,
            known,
            fired_ns: None,
            announced_ns: None,
            offset,
            handled: false,
        });
    }

    /// The next timer that a governor would have been told just before.
    fn next_timer(&self, number: u16, now_ns: u64) -> Known {
        let Some(cpu) = self.cpus.get(usize::from(number)) else {
            return Known::Nothing;
        };
        if cpu.lost {
            return Known::Not(Reason::LostEvents);
        }
        if !cpu.has_timers || !self.told.timers {
            return Known::Nothing;
        }
        let away = |monotonic_ns| Some(self.offset.to_trace(monotonic_ns)?.saturating_sub(now_ns));
        let tick = &cpu.tick;
        let stopped_before = tick.stopped == Some(true) && !tick.just_stopped;
        let next = cpu.timers.first().map_or(u64::MAX, |(expires, _)| *expires);
        let at = self.of_wheel(cpu, now_ns).map(|wheel| wheel.min(next));
        let [Some(least_ns), Some(most_ns)] = at.map(|at| match at {
            u64::MAX => Some(u64::MAX),
            at => away(at),
        }) else {
            return Known::Nothing;
        };
        let tick_at = match (stopped_before, tick.just_stopped) {
            (true, _) => None,
            (false, true) => tick.before_stop_ns,
            (false, false) => tick.expires_ns,
        };
        Known::Next {
            timer_ns: [least_ns, most_ns],
            tick_ns: tick_at.filter(|_| self.told.tick).and_then(away),
        }
    }

    /// The earliest and the latest time, in CLOCK_MONOTONIC, of the wheel's next timer; `u64::MAX`
    /// where it has none.
    fn of_wheel(&self, cpu: &Cpu, now_ns: u64) -> [u64; 2] {
        let tick = &cpu.tick;
        // Of a stopped tick the timer stands for the wheel. A running one drives the wheel: no
        // timer of it fires before the next tick, even where its jiffy has begun.
        let stopped = tick.expires_ns.unwrap_or(u64::MAX);
        let seen = cpu
            .wheel
            .first()
            .and_then(|(jiffies, _)| self.jiffies.begins_ns(*jiffies));
        let shown = tick.wheel_ns.filter(|wheel_ns| {
            self.offset
                .to_monotonic(now_ns)
                .is_some_and(|now| *wheel_ns > now)
        });
        let begins = seen.into_iter().chain(shown).min();
        let tick_ns = tick.expires_ns.unwrap_or(0);
        let runs = if self.told.wheel {
            [begins.map_or(u64::MAX, |begins| begins.max(tick_ns)); 2]
        } else {
            [tick_ns, u64::MAX]
        };
        match tick.stopped {
            Some(true) if self.told.tick => [stopped; 2],
            _ if self.told.tick => runs,
            _ => [runs[0].min(stopped), runs[1].max(stopped)],
        }
    }

    /// When the next timer was armed, if it is one of high resolution.
    fn armed_ns(&self, number: u16, now_ns: u64, known: Known) -> Option<u64> {
        let Known::Next {
            timer_ns: [timer_ns, _],
            ..
        } = known
        else {
            return None;
        };
        let (expires_ns, timer) = *self.cpus.get(usize::from(number))?.timers.first()?;
        let is_next = self.offset.to_trace(expires_ns)?.saturating_sub(now_ns) == timer_ns;
        self.armed
            .get(timer as usize)
            .copied()
            .flatten()
            .filter(|_| is_next)
            .map(|armed| armed.armed_ns)
    }

    /// Something that ends idle intervals came.
    fn woke(&mut self, number: u16, time_ns: u64, waker: Waker, timer_fired: bool) {
        match &mut self.cpu(number).phase {
            Phase::Running | Phase::Waking(Interval { handled: true, .. }) => {}
            // Without a driver for idle states the interrupt is handled before the CPU is said to
            // leave its state.
            Phase::Idle(interval) | Phase::Waking(interval) => {
                let sleep = &mut interval.sleep;
                interval.exit_ns.get_or_insert(time_ns.max(sleep.enter_ns));
                // The first interrupt counts; what it turns out to be is told by the events within.
                sleep.waker = match (sleep.waker, waker) {
                    (Waker::Unknown | Waker::Interrupt(_), waker) => waker,
                    (Waker::Timer, Waker::Tick) if interval.fired_ns.is_none() => Waker::Tick,
                    (known, _) => known,
                };
                if timer_fired {
                    interval.fired_ns.get_or_insert(time_ns);
                }
            }
        }
    }

    /// A timer fired. If it was armed before the trace began, nobody could know of it; that it came
    /// tells when it was to come.
    fn fired(&mut self, number: u16, point: Point, timer: u32) {
        let told = self.told;
        if let Phase::Idle(interval) | Phase::Waking(interval) = &mut self.cpu(number).phase
            && timer >= MOST_TIMERS
            && point != Point::TickExpire
            && let (Known::Next { timer_ns, .. }, Some(exit_ns)) =
                (&mut interval.known, interval.exit_ns)
        {
            let interval_ns = exit_ns - interval.sleep.enter_ns;
            timer_ns[0] = timer_ns[0].min(interval_ns);
            if told.tasks {
                timer_ns[1] = timer_ns[1].min(interval_ns);
            }
        }
    }

    /// An interrupt's handler is through: what ended the interval is known if the CPU left its
    /// state before. Another interrupt may follow at once, before the kernel looks at what
    /// happened.
    fn handled(&mut self, number: u16) {
        if let Phase::Waking(interval) = &mut self.cpu(number).phase {
            interval.handled |= interval.sleep.waker != Waker::Unknown;
        }
    }

    /// Whatever comes now has nothing to do with the wake-up. If no interrupt came, or nobody
    /// traced them, a task may have ended the interval.
    fn settle(&mut self, number: u16) {
        let cpu = self.cpu(number);
        if let Phase::Waking(mut interval) = cpu.phase {
            if interval.sleep.waker == Waker::Unknown && cpu.called {
                interval.sleep.waker = Waker::Scheduler;
            }
            self.hand_over(number, interval);
        }
    }

    fn hand_over(&mut self, number: u16, interval: Interval) {
        self.cpu(number).phase = Phase::Running;
        let sleep = interval.sleep;
        let (enter_ns, waker) = (sleep.enter_ns, sleep.waker);
        let exit_ns = interval.exit_ns.unwrap_or(enter_ns);
        let interval_ns = exit_ns - enter_ns;
        let latency_ns = self
            .latencies
            .get(usize::from(sleep.state))
            .copied()
            .flatten()
            .unwrap_or(LEAVING_NS);
        let at_least_ns = interval_ns.saturating_sub(latency_ns + WAKING_NS);
        let length = match (interval.known, interval.announced_ns) {
            (Known::Not(reason), _) => SleepLength::Unknown {
                reason,
                at_least_ns: 0,
            },
            (Known::Next { timer_ns, tick_ns }, _) if timer_ns[0] == timer_ns[1] => {
                SleepLength::Known {
                    timer_ns: timer_ns[0],
                    tick_ns,
                }
            }
            (Known::Next { tick_ns, .. }, Some(timer_ns)) => {
                SleepLength::Known { timer_ns, tick_ns }
            }
            (
                Known::Next {
                    timer_ns: [low, high],
                    tick_ns,
                },
                _,
            ) => SleepLength::Bounded {
                at_least_ns: low.max(at_least_ns.min(high)),
                at_most_ns: high,
                tick_ns,
            },
            (Known::Nothing, Some(timer_ns)) => SleepLength::Known {
                timer_ns,
                tick_ns: None,
            },
            (Known::Nothing, _) if waker == Waker::Unknown => SleepLength::Unknown {
                reason: Reason::NoWaker,
                at_least_ns,
            },
            // Without the timers' events a timer's interrupt may as well be the tick's, and that is
            // left out of the sleep length.
            (Known::Nothing, _) => {
                let is_whole = self.told.tasks && self.told.interrupts && waker == Waker::Timer;
                let fired_ns = interval.fired_ns.filter(|_| is_whole);
                let at_most_ns = fired_ns.map_or(u64::MAX, |at| at - enter_ns);
                SleepLength::Bounded {
                    at_least_ns,
                    at_most_ns,
                    tick_ns: None,
                }
            }
        };
        let sleep = Sleep {
            exit_ns,
            length,
            ..sleep
        };
        self.summary.count(&sleep);
        (self.each)(sleep);
    }

    fn finish(mut self) -> Summary {
        for number in 0..self.cpus.len() {
            self.settle(number as u16);
            if let Phase::Idle(_) = self.cpus[number].phase {
                *self.summary.unknown.entry(Reason::Unfinished).or_default() += 1;
            }
        }
        self.summary
    }
}

/// A CPU leaves idle: what woke it is still to be seen.
fn exit(cpu: &mut Cpu, time: u64) {
    if let Phase::Idle(mut interval) = cpu.phase {
        let awake_ns = time.max(interval.sleep.enter_ns);
        interval.exit_ns.get_or_insert(awake_ns);
        cpu.phase = Phase::Waking(interval);
    }
}
