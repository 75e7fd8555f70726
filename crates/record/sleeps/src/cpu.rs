//! The knowledge about a CPU while its events go by.

use crate::sleep::{Reason, Sleep, Waker};
use crate::told::Told;
use placement::{CAPACITY, Doing, Pelt};
use std::collections::BTreeSet;

/// A CPU of the trace.
#[derive(Default)]
pub struct Cpu {
    pub(crate) phase: Phase,
    pub(crate) tick: Tick,
    /// Timers of high resolution that are armed here: expiry in CLOCK_MONOTONIC, and number.
    pub(crate) timers: BTreeSet<(u64, u32)>,
    /// Timers of the wheel that are armed here: jiffy in which they fire, and number.
    pub(crate) wheel: BTreeSet<(u64, u32)>,
    /// Events were lost, and too little was seen since.
    pub(crate) lost: bool,
    /// A task was made ready for this CPU, by another, since it fell idle.
    pub(crate) called: bool,
    /// Timers were seen here.
    pub(crate) has_timers: bool,
    /// A task ran since the CPU was idle last.
    pub(crate) ran: bool,
    /// The load of what the trace shows here; `None` before the first switch.
    load: Option<Load>,
}

/// The tracked load of a CPU, at both ends of what ran before the trace.
struct Load {
    /// The time from which the trackers count, by the trace's clock.
    from_ns: u64,
    /// Had nothing run before, and had something always run.
    ends: [Pelt; 2],
    /// A task runs now.
    runs: bool,
}

impl Load {
    fn new(from_ns: u64) -> Self {
        Self {
            from_ns,
            ends: [Pelt::new(0), Pelt::full(0, CAPACITY)],
            runs: false,
        }
    }

    /// Both ends, brought up to a time.
    fn at(&self, time_ns: u64) -> [Pelt; 2] {
        let doing = if self.runs {
            Doing::Running
        } else {
            Doing::Nothing
        };
        self.ends.map(|mut end| {
            end.update(
                time_ns.saturating_sub(self.from_ns).saturating_mul(1000),
                doing,
                CAPACITY,
            );
            end
        })
    }
}

/// The scheduler's tick.
#[derive(Clone, Copy, Default)]
pub struct Tick {
    /// True if it is stopped; `None` where the trace did not say yet.
    pub(crate) stopped: Option<bool>,
    /// It was stopped after the governor chose, on the way into the state that is entered next.
    pub(crate) just_stopped: bool,
    /// The time that its timer was armed for before it was stopped.
    pub(crate) before_stop_ns: Option<u64>,
    /// The time that its timer is armed for, in CLOCK_MONOTONIC; of a stopped tick the wheel's next
    /// timer.
    pub(crate) expires_ns: Option<u64>,
    /// The time that a stopped tick's timer was armed for last, in CLOCK_MONOTONIC: the wheel has a
    /// timer then, even if it was armed before the trace began.
    pub(crate) wheel_ns: Option<u64>,
}

/// Phase of a CPU on its way through an idle interval.
#[derive(Clone, Debug, Default)]
pub enum Phase {
    /// Not idle.
    #[default]
    Running,
    /// Idle.
    Idle(Interval),
    /// Awake again; what woke it is still to come, or is not certain yet.
    Waking(Interval),
}

/// An interval that is not handed over yet.
#[derive(Clone, Copy, Debug)]
pub struct Interval {
    /// The interval as far as it is known: its end and its length are not yet.
    pub(crate) sleep: Sleep,
    pub(crate) exit_ns: Option<u64>,
    pub(crate) known: Known,
    /// When a timer that is not the tick fired first in the interrupt that ended the interval.
    pub(crate) fired_ns: Option<u64>,
    /// The time to the timer that ended the interval, where it was seen to be armed.
    pub(crate) announced_ns: Option<u64>,
    /// CLOCK_MONOTONIC when the state was entered.
    pub(crate) offset: Option<i64>,
    /// The handler of the interrupt that ended the interval is through.
    pub(crate) handled: bool,
}

/// The knowledge about the next timer when the state was entered.
#[derive(Clone, Copy, Debug)]
pub enum Known {
    /// Nothing, as the trace has no timers, or not enough of them yet.
    Nothing,
    /// Nothing, and not even the interval is certain.
    Not(Reason),
    /// The least and the most to the next timer, and to the next tick.
    Next {
        timer_ns: [u64; 2],
        tick_ns: Option<u64>,
    },
}

/// Interrupts that are pending together are handled one after the other; what comes later than this
/// after a wake-up is another matter, in nanoseconds.
const TOGETHER_NS: u64 = 50_000;

impl Tick {
    /// True if its timer was seen.
    fn is_shown(&self) -> bool {
        self.expires_ns
            .or(self.before_stop_ns)
            .or(self.wheel_ns)
            .is_some()
    }
}

impl Cpu {
    /// The CPU switches to a task, or to its idle loop.
    pub fn switched(&mut self, time_ns: u64, is_task: bool, told: Told) {
        let load = self.load.get_or_insert_with(|| Load::new(time_ns));
        (load.ends, load.runs) = (load.at(time_ns), is_task);
        self.ran |= is_task;
        // A tick starts again before a task runs. Its timer shows that, where timers are traced.
        if is_task && self.tick.stopped == Some(true) && !(told.timers && self.tick.is_shown()) {
            self.tick.stopped = Some(false);
        }
    }

    /// True if the tick stands still, as a governor is told now; `None` where that is not known.
    pub fn is_tick_stopped(&self, told: Told) -> Option<bool> {
        let is_told = told.tick && (told.tasks || self.tick.is_shown())
            || told.stops && !told.timers && self.tick.stopped == Some(true);
        match self.tick.stopped {
            Some(stopped) if is_told || self.tick.just_stopped => {
                Some(stopped && !self.tick.just_stopped)
            }
            _ => self.ran.then_some(false),
        }
    }

    /// True if the utilisation is over teo's threshold. An idle kernel brings its load up to date
    /// at times that no event shows, so it may know that of the last switch or that of now.
    pub fn is_utilised(&self, time_ns: u64) -> Option<bool> {
        let load = self.load.as_ref()?;
        let is_over = |end: &Pelt| end.utilisation() > CAPACITY >> 6;
        match (is_over(&load.at(time_ns)[0]), is_over(&load.ends[1])) {
            (true, _) => Some(true),
            (_, false) => Some(false),
            _ => None,
        }
    }

    /// The tick's timer came.
    pub fn ticked(&mut self, time_ns: u64, told: Told) {
        match &mut self.phase {
            Phase::Idle(interval) => interval.sleep.got_tick = Some(true),
            Phase::Waking(interval) => {
                let together = interval
                    .exit_ns
                    .is_none_or(|exit_ns| time_ns <= exit_ns + TOGETHER_NS);
                // Without the events in between, the tick may be another matter.
                let may_see = told.interrupts && !interval.handled;
                let within = may_see && interval.sleep.waker != Waker::Unknown;
                let got_tick = &mut interval.sleep.got_tick;
                if within || told.tasks && (together || may_see) {
                    *got_tick = Some(true);
                } else if (together || !interval.handled) && *got_tick == Some(false) {
                    *got_tick = None;
                }
            }
            Phase::Running => {}
        }
    }

    /// Forgets what lost events may have changed.
    pub fn forget(&mut self) {
        self.timers.clear();
        self.wheel.clear();
        (self.tick, self.has_timers, self.lost) = (Tick::default(), false, true);
        (self.load, self.ran) = (None, false);
        match &mut self.phase {
            Phase::Idle(interval) | Phase::Waking(interval) => {
                interval.known = Known::Not(Reason::LostEvents)
            }
            Phase::Running => {}
        }
    }
}
