//! An idle interval, and what is known of it.

use std::collections::BTreeMap;

/// An idle interval of a CPU. Times count nanoseconds of the trace's clock.
#[derive(Clone, Copy, Debug)]
pub struct Sleep {
    /// The CPU, by the trace's number.
    pub cpu: u16,
    /// When the CPU entered the idle state.
    pub enter_ns: u64,
    /// When it was awake again; at or after `enter_ns`.
    pub exit_ns: u64,
    /// The state that the traced kernel chose, by its number.
    pub state: u8,
    /// The time that the CPU could have slept, as the kernel knew when it chose.
    pub length: SleepLength,
    /// The event that ended the interval.
    pub waker: Waker,
    /// True if the scheduler's tick stood still already when the kernel chose; `None` where the
    /// trace does not say.
    pub tick_stopped: Option<bool>,
    /// The same after the choice: true if the scheduler's tick stood still while the CPU slept.
    pub sleeps_without_tick: Option<bool>,
    /// True if the CPU's utilisation was over 1/64 of its capacity when the kernel chose, as it
    /// tracks the load of tasks ([`placement::Pelt`]) at a constant frequency; `None` where the
    /// trace does not show enough of what ran.
    pub utilised: Option<bool>,
    /// True if the tick's timer came before the kernel looked at what had woken it, be it beside
    /// another interrupt (`tick_nohz_idle_got_tick`); `None` where the trace does not say.
    pub got_tick: Option<bool>,
    /// When the timer of [`SleepLength::Known`] was armed, by the trace's clock: work that is
    /// delayed arms it later. `None` where the trace does not say, and for timers of the wheel,
    /// which count jiffies.
    pub timer_armed_ns: Option<u64>,
}

impl SleepLength {
    /// The least and the most that the time to the next timer may have been, in nanoseconds.
    pub const fn ends_ns(self) -> [u64; 2] {
        match self {
            Self::Known { timer_ns, .. } => [timer_ns; 2],
            Self::Bounded {
                at_least_ns,
                at_most_ns,
                ..
            } => [at_least_ns, at_most_ns],
            Self::Unknown { at_least_ns, .. } => [at_least_ns, u64::MAX],
        }
    }

    /// The time to the next tick in nanoseconds; `None` where the tick stood still or where the
    /// trace does not say.
    pub const fn tick_ns(self) -> Option<u64> {
        match self {
            Self::Known { tick_ns, .. } | Self::Bounded { tick_ns, .. } => tick_ns,
            Self::Unknown { .. } => None,
        }
    }
}

impl Sleep {
    /// The time that the CPU was idle, in nanoseconds.
    pub const fn interval_ns(&self) -> u64 {
        self.exit_ns.saturating_sub(self.enter_ns)
    }
}

/// The time that a CPU could have slept: the time from entering the idle state to the next timer
/// event, the tick left out. A governor asks for it when it chooses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SleepLength {
    /// The events of the timers say so.
    Known {
        /// To the next timer's event without the tick, in nanoseconds from `enter_ns`; `u64::MAX`
        /// where no timer was set.
        timer_ns: u64,
        /// To the next tick, likewise; `None` where the tick stood still or where the trace does
        /// not say.
        tick_ns: Option<u64>,
    },
    /// No timer had fired when the CPU began to leave its state.
    Bounded {
        /// The interval's length in nanoseconds, less what leaving may have taken: the exit latency
        /// of the state where the trace says it, or [`LEAVING_NS`], and [`WAKING_NS`]. More where
        /// timers say so.
        at_least_ns: u64,
        /// To the first timer that the trace shows, or to the one that ended the interval, in
        /// nanoseconds; `u64::MAX` where it shows none.
        at_most_ns: u64,
        /// As in [`SleepLength::Known`].
        tick_ns: Option<u64>,
    },
    /// Nothing is known.
    Unknown {
        /// Why not.
        reason: Reason,
        /// As in [`SleepLength::Bounded`]; 0 where the interval itself is not certain.
        at_least_ns: u64,
    },
}

/// The time that an interrupt takes from a timer's time to the stamp of a CPU that is awake, in
/// nanoseconds, without the state's own exit latency. On traces of a guest at most 6 us were seen.
pub const WAKING_NS: u64 = 10_000;

/// The time that leaving a state may take where the trace does not say, in nanoseconds: more than
/// any idle state in Linux's device trees for Arm.
pub const LEAVING_NS: u64 = 5_000_000;

/// Why nothing is known about a sleep length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// The trace shows nothing that ended the interval.
    NoWaker,
    /// Events of this CPU were lost during the interval or before it.
    LostEvents,
    /// The trace ends, or the CPU goes offline, before the interval does.
    Unfinished,
}

impl Reason {
    /// The reason in words.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NoWaker => "no waker was seen",
            Self::LostEvents => "events were lost",
            Self::Unfinished => "the interval has no end in the trace",
        }
    }
}

/// The event that ended an idle interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Waker {
    /// A timer's interrupt, other than the next one.
    Timer,
    /// The timer of the scheduler's tick (`tick_sched_timer`). A tick that stands still lends its
    /// timer to the timer wheel, and the kernel takes that for a tick too
    /// (`tick_nohz_idle_got_tick`).
    Tick,
    /// Another interrupt, by the kernel's number.
    Interrupt(u32),
    /// An interrupt from another CPU.
    Ipi,
    /// A task that became ready while the CPU polled.
    Scheduler,
    /// The trace does not say.
    Unknown,
}

impl Waker {
    /// The kind of waker in a word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Timer => "timer",
            Self::Tick => "tick",
            Self::Interrupt(_) => "interrupt",
            Self::Ipi => "ipi",
            Self::Scheduler => "scheduler",
            Self::Unknown => "unknown",
        }
    }
}

/// Counts of a whole trace.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// CPUs that have idle intervals: one more than the greatest number.
    pub cpus: u16,
    /// Intervals whose sleep length is known from timers' events.
    pub known: u64,
    /// Intervals whose sleep length is bounded.
    pub bounded: u64,
    /// Intervals of whose sleep length nothing is known, by reason.
    pub unknown: BTreeMap<Reason, u64>,
    /// When the kernel learned, after an interval, that the hardware had refused the state: CPU,
    /// and nanoseconds of the trace's clock.
    pub refused: Vec<(u16, u64)>,
}

impl Summary {
    /// Counts an interval.
    pub fn count(&mut self, sleep: &Sleep) {
        self.cpus = self.cpus.max(sleep.cpu.saturating_add(1));
        match sleep.length {
            SleepLength::Known { .. } => self.known += 1,
            SleepLength::Bounded { .. } => self.bounded += 1,
            SleepLength::Unknown { reason, .. } => *self.unknown.entry(reason).or_default() += 1,
        }
    }

    /// Intervals of whose sleep length nothing is known.
    pub fn all_unknown(&self) -> u64 {
        self.unknown.values().sum()
    }
}
