//! The interface between the kernel and the code that puts callbacks off until a grace period is
//! over.
//!
//! The code under test owns lists and grace periods; the kernel owns time, interrupts and threads.
//! Nothing here takes time by itself: what is asked for is collected in [`Requests`] and carried
//! out by the kernel when the call has returned.

use crate::task::CpuSet;
use points::Point;
pub use rcu::{IdleNeed, InterruptedCode, Step};

/// A callback that was queued.
#[derive(Clone, Copy, PartialEq)]
pub struct Callback {
    /// The task that queued it.
    pub by: u32,
    /// True if it may wait.
    pub lazy: bool,
}

/// A kernel thread of the code under test, by its place in [`Callbacks::threads`].
pub type ThreadNumber = usize;

/// A kernel thread.
pub struct Thread {
    /// Name of the thread.
    pub name: String,
    /// CPUs on which the thread may run.
    pub cpus: CpuSet,
}

/// The CPU that a call comes from, and its time.
#[derive(Clone, Copy)]
pub struct CpuTime {
    /// The CPU.
    pub cpu: usize,
    /// Jiffies since boot.
    pub jiffy: u64,
}

/// The requests that the code under test makes of the kernel during a call.
#[derive(Default, PartialEq)]
pub struct Requests {
    /// This CPU is to run [`Callbacks::softirq`] soon.
    pub softirq: bool,
    /// Threads to wake.
    pub wake: Vec<ThreadNumber>,
    /// CPUs that are to pass through their schedulers: an interrupt to each.
    pub reschedule: Vec<usize>,
    /// Timers by number, with the jiffy at which [`Callbacks::timer`] is to be called on this CPU;
    /// each replaces the one of its number on whatever CPU that was set. `None` only takes it back.
    pub timers: Vec<(u32, Option<u64>)>,
    /// Callbacks that are to be invoked now, on this CPU.
    pub invoke: Vec<Callback>,
    /// Stamps of the code's own points.
    pub stamps: Vec<(Point, u32)>,
    /// Reports of grace periods that take too long, in words.
    pub stalls: Vec<String>,
}

impl Requests {
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The code that puts callbacks off.
pub trait Callbacks {
    /// Kernel threads that the code needs. They all sleep at first.
    fn threads(&self) -> Vec<Thread> {
        Vec::new()
    }

    /// A callback is queued.
    fn call(&mut self, place: CpuTime, callback: Callback, requests: &mut Requests);

    /// The CPU passes through its scheduler.
    fn context_switch(&mut self, place: CpuTime, requests: &mut Requests);

    /// The CPU's tick.
    fn tick(&mut self, place: CpuTime, interrupted: InterruptedCode, requests: &mut Requests);

    /// The softirq that was asked for; whether it is to run again.
    fn softirq(&mut self, place: CpuTime, requests: &mut Requests) -> bool;

    /// The CPU is about to idle. May ask for the softirq, and then the CPU does not idle yet.
    fn idle_need(&mut self, place: CpuTime, requests: &mut Requests) -> IdleNeed;

    /// The CPU idles from now on.
    fn idle_enter(&mut self, place: CpuTime, requests: &mut Requests);

    /// The CPU no longer idles.
    fn idle_exit(&mut self, place: CpuTime, requests: &mut Requests);

    /// A thread takes a step on the CPU.
    fn thread(&mut self, thread: ThreadNumber, place: CpuTime, requests: &mut Requests) -> Step;

    /// A timer that was asked for.
    fn timer(&mut self, number: u32, place: CpuTime, requests: &mut Requests) {
        let _ = (number, place, requests);
    }
}
