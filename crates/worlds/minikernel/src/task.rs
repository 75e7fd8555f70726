//! Tasks as data: who they are, and what they do. The actions are those of rt-app's files, and a
//! few that only a kernel sees.

use crate::random::Draw;
pub use placement::{CpuSet, Policy, TaskId};

/// The actions of a task. Objects (mutexes, conditions, semaphores, barriers) go by their numbers
/// in the [`Workload`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Computes what a core of `capacity` does in the drawn time: rt-app's `run` for the core it
    /// was calibrated on.
    Run {
        /// The time that it takes there.
        time: Draw,
        /// That core's capacity, in units of the platform's table.
        capacity: u32,
    },
    /// Computes for a time, however fast the core is: rt-app's `runtime`.
    RunTime(Draw),
    /// Sleeps.
    Sleep(Draw),
    /// Waits for the next period of one of the task's own timers. The first period starts when the
    /// task starts.
    Timer {
        /// The timer, from 0.
        timer: usize,
        /// Period in nanoseconds.
        period: u64,
        /// True if a period that is over already starts the periods anew; otherwise the task
        /// catches up.
        relative: bool,
    },
    /// Locks a mutex.
    Lock(usize),
    /// Unlocks a mutex.
    Unlock(usize),
    /// Unlocks the mutex and waits for the condition; then locks the mutex again.
    Wait {
        /// The condition.
        condition: usize,
        /// The mutex.
        mutex: usize,
    },
    /// Wakes one that waits for the condition.
    Signal(usize),
    /// Wakes all that wait for the condition.
    Broadcast(usize),
    /// Wakes one that waits for the condition, then waits for it: rt-app's `sync`.
    Sync {
        /// The condition.
        condition: usize,
        /// The mutex.
        mutex: usize,
    },
    /// Waits until all parties of the barrier are there.
    Barrier(usize),
    /// Waits for the next period of a timer that several tasks move on: rt-app's `timer` with a
    /// name that is not `unique`.
    SharedTimer {
        /// The timer.
        timer: usize,
        /// The period in nanoseconds.
        period: u64,
        /// True if late periods start anew, and are not caught up with.
        relative: bool,
    },
    /// Waits for the condition, without a mutex: rt-app's `suspend`.
    Suspend(usize),
    /// Wakes all that wait for the condition; lost if nobody does: rt-app's `resume`.
    Resume(usize),
    /// Adds one to a semaphore.
    SemPost(usize),
    /// Takes one from a semaphore, waiting until there is one.
    SemWait(usize),
    /// Lets others run.
    Yield,
    /// Starts another task of the same specification as this one of the workload, which may be one
    /// that never starts by itself.
    Fork(TaskId),
    /// Queues callbacks to be invoked after a grace period.
    Callbacks {
        /// The count.
        count: u16,
        /// True if they may wait.
        lazy: bool,
    },
    /// Closes a file: one callback.
    FileClose,
    /// The callbacks that a fork, an exec and an exit of a small program queue, as measured: 14 as
    /// of 2013, 21 with the maple tree.
    ProcessLife,
    /// Ends the task.
    Exit,
}

/// A part of what a task does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phase {
    /// The number of times; `None` for ever.
    pub loops: Option<u32>,
    /// The actions, in order.
    pub actions: Vec<Action>,
    /// The CPUs from then on, if they change.
    pub cpus: Option<CpuSet>,
    /// The task group from then on, if it changes: a number of [`Workload::groups`], counted from
    /// 1; 0 is the root.
    pub group: Option<usize>,
}

impl Phase {
    /// Actions that are taken once, on the CPUs and in the group that the task has.
    pub fn once(actions: Vec<Action>) -> Self {
        Self {
            loops: Some(1),
            actions,
            cpus: None,
            group: None,
        }
    }
}

/// When a task starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// At this time, in nanoseconds from the beginning.
    At(u64),
    /// Only as a copy, by [`Action::Fork`].
    ByFork,
}

/// A task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskSpec {
    /// Name of the task.
    pub name: String,
    /// The policy, which says who runs first.
    pub policy: Policy,
    /// CPUs on which the task may run.
    pub cpus: CpuSet,
    /// When it starts.
    pub start: Start,
    /// The number of times that it goes through its phases; `None` for ever.
    pub loops: Option<u32>,
    /// The phases.
    pub phases: Vec<Phase>,
    /// True if the run is over when this task and all others of the kind have ended.
    pub main: bool,
}

impl TaskSpec {
    /// A fair task that may run anywhere, starts at once and does this for ever.
    pub fn forever(name: &str, actions: Vec<Action>) -> Self {
        Self {
            name: name.to_owned(),
            policy: Policy::Fair { nice: 0 },
            cpus: CpuSet::ALL,
            start: Start::At(0),
            loops: None,
            phases: vec![Phase::once(actions)],
            main: false,
        }
    }

    /// The same task on these CPUs only.
    #[must_use]
    pub fn on(self, cpus: CpuSet) -> Self {
        Self { cpus, ..self }
    }

    /// The same task, this often through its phases, and with it the run ends.
    #[must_use]
    pub fn times(self, loops: u32) -> Self {
        Self {
            loops: Some(loops),
            main: true,
            ..self
        }
    }
}

/// Interrupts of a device.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceSpec {
    /// Name of the device.
    pub name: String,
    /// The gap between its interrupts.
    pub gap: Draw,
    /// The CPU that they go to.
    pub cpu: usize,
    /// The time that the handler takes at capacity 1024, in nanoseconds.
    pub handler_ns: u64,
}

/// Everything that is to run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Workload {
    /// The tasks.
    pub tasks: Vec<TaskSpec>,
    /// Devices that interrupt.
    pub devices: Vec<DeviceSpec>,
    /// The mutexes, by name.
    pub mutexes: Vec<String>,
    /// The number of conditions that there are.
    pub conditions: usize,
    /// Semaphores, with what they start with.
    pub semaphores: Vec<u32>,
    /// Barriers, with the number of their parties.
    pub barriers: Vec<usize>,
    /// The number of timers that tasks share.
    pub timers: usize,
    /// Task groups below the root. A group comes after the one that it is in.
    pub groups: Vec<GroupSpec>,
}

/// A group of tasks, which has one share of what it is in, however many tasks it has: a task group
/// of Linux with its usual 1024 shares.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupSpec {
    /// Name of the group.
    pub name: String,
    /// The group that it is in, counted as in [`Phase::group`].
    pub parent: usize,
}
