//! From a recording to its idle intervals.

use crate::clock::{Jiffies, Offset};
use crate::cpu::{Cpu, Interval, Known, Phase};
use crate::point::Point;
use crate::sleep::{LEAVING_NS, Reason, Sleep, SleepLength, Summary, WAKING_NS, Waker};
use recording::facts::KernelTrace;
use recording::{Event, Reader, Recording};
use std::collections::HashSet;

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

/// Hands over each idle interval of a trace: for each CPU in the order of time.
///
/// What is held does not grow with the trace, but for the timers that are armed at a time.
///
/// # Errors
/// The recording is damaged, or is not one of a trace.
pub fn sleeps(reader: &mut Reader, mut each: impl FnMut(Sleep)) -> Result<Summary, Error> {
    let header = reader.header().clone();
    if header.time.unit != "ns" {
        return Err(Error::NotATrace {
            experiment: header.experiment,
            unit: header.time.unit,
        });
    }
    // A trace that another program recorded says nothing of its kernel.
    let kernel = header.facts().unwrap_or_default();
    let mut walk = Walk::new(&kernel, &mut each);
    let mut rows = Recording::new(header);
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
            walk.event(point, event);
        }
        rows.clear();
    }
    Ok(walk.finish())
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
    fn new(kernel: &KernelTrace, each: &'a mut dyn FnMut(Sleep)) -> Self {
        let timers = kernel
            .interrupts
            .iter()
            .filter(|(_, name)| name.contains("timer"));
        let latency_ns = |us: u64| us.saturating_mul(1000).min(LEAVING_NS);
        Self {
            each,
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
                let cpu = self.cpu(number);
                cpu.called &= !is_task;
                cpu.switched(time, is_task);
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
            Point::TickStop | Point::Other => {}
        }
    }

    /// A high-resolution timer expires, or the one that stands for a tick.
    fn expired(&mut self, point: Point, event: &Event) {
        let (time, number) = (event.time, event.cpu);
        self.offset.learn(time, event.ticks);
        self.disarm(event.argument);
        let mut waker = Waker::Timer;
        if point == Point::TickExpire {
            let cpu = self.cpu(number);
            cpu.ticked(time);
            (cpu.tick.expires_ns, cpu.has_timers, cpu.lost) = (None, true, false);
            // Of a stopped tick the timer stands for the wheel.
            if cpu.tick.stopped != Some(true) {
                waker = Waker::Tick;
            }
        }
        self.woke(number, time, waker, waker == Waker::Timer);
        self.fired(number, point, event.argument);
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
        let cpu = self.cpu(event.cpu);
        let tick = &mut cpu.tick;
        if !tick.just_stopped {
            // A stopped tick's timer is armed for the wheel's next timer, which is more than a tick
            // away; one that runs again, for the next tick.
            let runs = tick.stopped != Some(true)
                || tick_ns == 0
                || soon.is_none_or(|soon| event.ticks <= soon);
            tick.stopped = Some(!runs);
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
        let cpu = self.cpu(number);
        let (tick_stopped, utilised) = (cpu.is_tick_stopped(), cpu.is_utilised(event.time));
        let sleeps_without_tick = cpu.tick.stopped.or(tick_stopped);
        cpu.tick.just_stopped = false;
        (cpu.called, cpu.ran) = (false, false);
        cpu.phase = Phase::Idle(Interval {
            enter_ns: event.time,
            exit_ns: None,
            state: event.argument as u8,
            known,
            timer_armed_ns,
            tick_stopped,
            sleeps_without_tick,
            utilised,
            waker: None,
            timer_fired: false,
            got_tick: false,
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
        if !cpu.has_timers {
            return Known::Nothing;
        }
        let away = |monotonic_ns| Some(self.offset.to_trace(monotonic_ns)?.saturating_sub(now_ns));
        let tick = &cpu.tick;
        let stopped_before = tick.stopped == Some(true) && !tick.just_stopped;
        // Of a stopped tick the timer stands for the wheel. A running one drives the wheel: no
        // timer of it fires before the next tick, even where its jiffy has begun.
        let from_wheel = match tick.stopped {
            Some(true) => tick.expires_ns,
            _ => {
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
                begins.map(|begins| begins.max(tick.expires_ns.unwrap_or(begins)))
            }
        };
        let next = cpu
            .timers
            .first()
            .map(|(expires, _)| *expires)
            .into_iter()
            .chain(from_wheel)
            .min();
        let timer_ns = match next {
            None => u64::MAX,
            Some(next) => match away(next) {
                Some(away) => away,
                None => return Known::Nothing,
            },
        };
        let tick_at = match (stopped_before, tick.just_stopped) {
            (true, _) => None,
            (false, true) => tick.before_stop_ns,
            (false, false) => tick.expires_ns,
        };
        Known::Next {
            timer_ns,
            tick_ns: tick_at.and_then(away),
        }
    }

    /// When the next timer was armed, if it is one of high resolution.
    fn armed_ns(&self, number: u16, now_ns: u64, known: Known) -> Option<u64> {
        let Known::Next { timer_ns, .. } = known else {
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
                interval
                    .exit_ns
                    .get_or_insert(time_ns.max(interval.enter_ns));
                // The first interrupt counts; what it turns out to be is told by the events within.
                interval.waker = match (interval.waker, waker) {
                    (None | Some(Waker::Interrupt(_)), waker) => Some(waker),
                    (Some(Waker::Timer), Waker::Tick) if !interval.timer_fired => Some(Waker::Tick),
                    (known, _) => known,
                };
                interval.timer_fired |= timer_fired;
            }
        }
    }

    /// A timer fired. If it was armed before the trace began, nobody could know of it; that it came
    /// tells when it was to come.
    fn fired(&mut self, number: u16, point: Point, timer: u32) {
        if let Phase::Idle(interval) | Phase::Waking(interval) = &mut self.cpu(number).phase
            && timer >= MOST_TIMERS
            && point != Point::TickExpire
            && let (Known::Next { timer_ns, .. }, Some(exit_ns)) =
                (&mut interval.known, interval.exit_ns)
        {
            *timer_ns = (*timer_ns).min(exit_ns - interval.enter_ns);
        }
    }

    /// An interrupt's handler is through: what ended the interval is known if the CPU left its
    /// state before. Another interrupt may follow at once, before the kernel looks at what
    /// happened.
    fn handled(&mut self, number: u16) {
        if let Phase::Waking(interval) = &mut self.cpu(number).phase {
            interval.handled |= interval.waker.is_some();
        }
    }

    /// Whatever comes now has nothing to do with the wake-up. If no interrupt came, or nobody
    /// traced them, a task may have ended the interval.
    fn settle(&mut self, number: u16) {
        let cpu = self.cpu(number);
        if let Phase::Waking(mut interval) = cpu.phase {
            if interval.waker.is_none() && cpu.called {
                interval.waker = Some(Waker::Scheduler);
            }
            self.hand_over(number, interval);
        }
    }

    fn hand_over(&mut self, number: u16, interval: Interval) {
        self.cpu(number).phase = Phase::Running;
        let exit_ns = interval.exit_ns.unwrap_or(interval.enter_ns);
        let interval_ns = exit_ns - interval.enter_ns;
        let waker = interval.waker.unwrap_or(Waker::Unknown);
        let length = match (interval.known, waker) {
            (Known::Not(reason), _) => SleepLength::Unknown { reason },
            (Known::Next { timer_ns, tick_ns }, _) => SleepLength::Known { timer_ns, tick_ns },
            (Known::Nothing, Waker::Unknown) => SleepLength::Unknown {
                reason: Reason::NoWaker,
            },
            (Known::Nothing, Waker::Timer) if interval.timer_fired => SleepLength::Equal,
            // Without the timers' events a timer's interrupt may as well be the tick's, and that is
            // left out of the sleep length.
            (Known::Nothing, _) => {
                let latency_ns = self
                    .latencies
                    .get(usize::from(interval.state))
                    .copied()
                    .flatten()
                    .unwrap_or(LEAVING_NS);
                SleepLength::Bounded {
                    at_least_ns: interval_ns.saturating_sub(latency_ns + WAKING_NS),
                }
            }
        };
        let sleep = Sleep {
            cpu: number,
            enter_ns: interval.enter_ns,
            exit_ns,
            state: interval.state,
            length,
            waker,
            tick_stopped: interval.tick_stopped,
            sleeps_without_tick: interval.sleeps_without_tick,
            utilised: interval.utilised,
            got_tick: interval.got_tick,
            timer_armed_ns: interval.timer_armed_ns,
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
    if let Phase::Idle(interval) = cpu.phase {
        let exit_ns = interval.exit_ns.unwrap_or(time.max(interval.enter_ns));
        cpu.phase = Phase::Waking(Interval {
            exit_ns: Some(exit_ns),
            ..interval
        });
    }
}
