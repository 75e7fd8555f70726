//! The interface of a governor: its questions, its answer, and what it is told afterwards.

use crate::number::Number;
use crate::{NEVER_NS, NO_LIMIT_NS};

/// The time that a CPU could sleep, in nanoseconds from now.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SleepLength<N = u64> {
    /// To the next timer, the scheduler's tick left out; [`NEVER_NS`] or more where no timer is
    /// set.
    pub timer_ns: N,
    /// To the next event for which the timer hardware is programmed now: the tick too, unless it is
    /// stopped.
    pub event_ns: N,
}

/// The questions that a governor may ask about the CPU that is about to idle.
pub trait Situation<N = u64> {
    /// The time that the CPU could sleep. On a real CPU asking takes time, so that some governors
    /// do without.
    fn sleep_length(&mut self) -> SleepLength<N>;

    /// The longest exit latency that is allowed, in nanoseconds.
    fn latency_limit_ns(&self) -> u64 {
        NO_LIMIT_NS
    }

    /// Tasks of this CPU that wait for input or output.
    fn io_waiters(&self) -> u32 {
        0
    }

    /// The weight of the tasks that were ready to run on this CPU at its last tick, in the
    /// scheduler's unit: 1024 is one task of default priority. 0 after a stay without ticks.
    /// Governors of 2013 ask.
    fn load(&self) -> u32 {
        0
    }

    /// True if the scheduler's tick is stopped already.
    fn tick_stopped(&self) -> bool {
        false
    }

    /// True if the CPU's average utilisation is over the threshold of teo, which is 1/64 of the
    /// CPU's capacity.
    fn is_utilised(&self) -> bool {
        false
    }
}

/// A situation that is known beforehand.
#[derive(Clone, Copy, Debug)]
pub struct KnownSituation<N = u64> {
    /// The time that the CPU could sleep.
    pub sleep_length: SleepLength<N>,
    /// The longest exit latency that is allowed, in nanoseconds.
    pub latency_limit_ns: u64,
    /// Tasks that wait for input or output.
    pub io_waiters: u32,
    /// Weight of the tasks that were ready at the last tick.
    pub load: u32,
    /// True if the tick is stopped already.
    pub tick_stopped: bool,
    /// True if the CPU is utilised.
    pub utilised: bool,
    /// True if the governor asked for the sleep length.
    pub asked: bool,
}

impl<N> KnownSituation<N> {
    /// A situation in which nothing is limited and the tick runs.
    pub const fn new(sleep_length: SleepLength<N>) -> Self {
        Self {
            sleep_length,
            latency_limit_ns: NO_LIMIT_NS,
            io_waiters: 0,
            load: 0,
            tick_stopped: false,
            utilised: false,
            asked: false,
        }
    }
}

impl<N: Number> Situation<N> for KnownSituation<N> {
    fn sleep_length(&mut self) -> SleepLength<N> {
        self.asked = true;
        let SleepLength { timer_ns, event_ns } = self.sleep_length;
        SleepLength {
            timer_ns: timer_ns.map(|timer_ns| timer_ns.min(NEVER_NS)),
            event_ns: event_ns.map(|event_ns| event_ns.min(NEVER_NS)),
        }
    }

    fn latency_limit_ns(&self) -> u64 {
        self.latency_limit_ns
    }

    fn io_waiters(&self) -> u32 {
        self.io_waiters
    }

    fn load(&self) -> u32 {
        self.load
    }

    fn tick_stopped(&self) -> bool {
        self.tick_stopped
    }

    fn is_utilised(&self) -> bool {
        self.utilised
    }
}

/// The choice of a governor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice {
    /// The state, by its number.
    pub state: usize,
    /// True if the scheduler's tick is to be stopped; means nothing where it is stopped already.
    pub stop_tick: bool,
}

/// The outcome of a choice.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// The state that was entered, by its number; `None` where the hardware refused.
    pub entered: Option<usize>,
    /// The time that the CPU stayed, in nanoseconds, as the accounting's clock saw it; 0 where the
    /// hardware refused.
    pub residency_ns: u64,
    /// From the choice until now, in nanoseconds: the stay, and what led to it.
    pub since_choice_ns: u64,
    /// True if the tick's interrupt came while the CPU was idle.
    pub got_tick: bool,
    /// True if the CPU polled until polling's time limit.
    pub polled_to_limit: bool,
    /// True if the governor's own timer ended the stay, because it wanted to be asked again.
    pub asked_again: bool,
}

impl Outcome {
    /// A stay that nothing but its own end marks.
    pub const fn stay(state: usize, residency_ns: u64) -> Self {
        Self {
            entered: Some(state),
            residency_ns,
            since_choice_ns: residency_ns,
            got_tick: false,
            polled_to_limit: false,
            asked_again: false,
        }
    }

    /// A state that the hardware refused to enter.
    pub const fn refused() -> Self {
        Self {
            entered: None,
            ..Self::stay(0, 0)
        }
    }
}
