//! A CPU of the kernel, and what its process does between two steps.

use crate::counts::{CpuCounts, WakeCause};
use crate::runqueue::RunQueue;
use crate::task::{DeviceSpec, TaskId};
use crate::timers::{Precise, Wheel};
use engine::{SplitMix64, Time};
use idle::{Accounting, Governor};
use placement::Pelt;
use soc::meter::OwnerId;
use soc::{Interrupts, Work};
use std::collections::VecDeque;

/// The activity of a CPU until its next step.
pub enum Do {
    /// It is busy for a time, with interrupts off.
    Busy(Time),
    /// It computes until a time, with interrupts on.
    Run(Time),
    /// It idles.
    Idle(Stay),
    /// It is done.
    Stop,
}

/// A stay in an idle state.
#[derive(Clone, Copy)]
pub struct Stay {
    pub(crate) state: usize,
    /// The owner of what the CPU needs in it.
    pub(crate) owner: OwnerId,
    /// When it was chosen.
    pub(crate) since: Time,
    /// When the CPU's next timer fires.
    pub(crate) timer: Time,
    /// True if that timer stops in the state, or with the CPU's power, so that an always-on line
    /// stands in.
    pub(crate) alarm: bool,
    /// True if the CPU polls, until this time at most.
    pub(crate) polls_until: Option<Time>,
    /// True if power domains follow, so that the firmware is asked for more than the CPU's state.
    pub(crate) with_domains: bool,
}

/// The action of a precise timer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Alarm {
    /// Wakes a task, if it still is in that sleep; the time is when it should be woken.
    Wake {
        task: TaskId,
        sleep: u64,
        expected: Time,
    },
    /// Starts a task.
    Start(TaskId),
}

/// The action of a timer of the wheel.
#[derive(Clone, Copy, PartialEq)]
pub enum WheelAlarm {
    /// Wakes a task, if it still is in that sleep.
    Wake { task: TaskId, sleep: u64 },
    /// A timer of the code that looks after callbacks.
    Callbacks(u32),
}

/// Softirqs.
pub const SOFTIRQ_TIMER: u8 = 1;
pub const SOFTIRQ_CALLBACKS: u8 = 2;

/// Kinds of interrupts between CPUs.
pub const IPI_RESCHEDULE: u8 = 0;
pub const IPI_TIMER: u8 = 1;

/// A CPU.
pub struct Cpu {
    pub(crate) domain: usize,
    pub(crate) capacity: u32,
    pub(crate) queue: RunQueue,
    pub(crate) current: Option<TaskId>,
    pub(crate) reschedule: bool,
    /// CPU to which the running task moves when it is preempted.
    pub(crate) push: Option<usize>,
    /// Work to be done before anything else, with its owner.
    pub(crate) debts: VecDeque<(OwnerId, Work)>,
    /// Since when the current task computes.
    pub(crate) computing: Option<Time>,
    /// Interrupts that were taken and not handled yet.
    pub(crate) taken: Option<Interrupts>,
    pub(crate) softirqs: u8,
    pub(crate) precise: Precise<Alarm>,
    pub(crate) wheel: Wheel<WheelAlarm>,
    /// The next tick; `None` while the tick is stopped.
    pub(crate) tick: Option<Time>,
    /// True if the tick goes on only because of callbacks.
    pub(crate) tick_for_callbacks: bool,
    /// When callbacks want the CPU awake.
    pub(crate) callbacks_at: Option<Time>,
    /// When the governor wants to be asked again about its choice, if nothing wakes the CPU before.
    pub(crate) ask_again: Option<Time>,
    /// Tracked load of what ran between stays in idle states.
    pub(crate) tracked: Pelt,
    /// Weight of the fair tasks that were ready at the last tick; 0 after a stay of a tick or
    /// longer without one.
    pub(crate) load: u32,
    pub(crate) governor: Governor,
    pub(crate) accounting: Accounting,
    /// The owner who pays for the next turn of the idle loop, and whether it has paid.
    pub(crate) turn_owner: OwnerId,
    pub(crate) turn_paid: bool,
    pub(crate) stay: Option<Stay>,
    /// The time of all stays that are over, and what it was, with the stay that was not, at the
    /// last look at the domain's load.
    pub(crate) idled: Time,
    pub(crate) idled_before: Time,
    /// When the always-on timer fires for it; it has fired if that is over.
    pub(crate) alarm: Option<Time>,
    /// Why another CPU sent an interrupt.
    pub(crate) ipi_cause: Option<WakeCause>,
    pub(crate) counts: CpuCounts,
}

/// A device.
pub struct Device {
    pub(crate) spec: DeviceSpec,
    pub(crate) next: Time,
    pub(crate) random: SplitMix64,
}
