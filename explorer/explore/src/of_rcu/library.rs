//! The RCU library as a kernel sees it.

use super::scenario::Urgency;
use super::thread::Thread;
use interleavings::subject::Counter;

/// The activity of a CPU when an interrupt came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Activity {
    User,
    Kernel,
    Idle,
}

/// The need of RCU from a CPU that wants to go idle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    Nothing,
    Tick,
    /// To wake at this jiffy.
    WakeAt(u64),
}

/// The wish of a thread after a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    Again,
    Sleep(Option<u64>),
}

/// The calls of either compilation, on a kernel of a kind. Readers have numbers: the tasks, then
/// one for each CPU that stands for its idle task and for threads.
pub(crate) trait Library<K> {
    fn threads(&self) -> Vec<Thread>;
    fn step(&self, kernel: &K, thread: Thread) -> Wish;
    fn call(&self, kernel: &K, number: usize, urgency: Urgency);
    fn read_lock(&self, reader: usize);
    fn read_unlock(&self, kernel: &K, reader: usize);
    fn is_reading(&self, reader: usize) -> bool;
    fn context_switch(&self, kernel: &K, from: usize);
    fn irq_enter(&self, kernel: &K);
    fn irq_exit(&self, kernel: &K);
    /// The library's own counts, in the order of [`COUNTED`].
    fn counts(&self) -> [u64; COUNTED.len()];
    fn tick(&self, kernel: &K, interrupted: Activity, current: usize);
    fn timer(&self, kernel: &K, group: usize);
    fn core(&self, kernel: &K) -> bool;
    fn idle_enter(&self, kernel: &K);
    fn idle_exit(&self, kernel: &K);
    fn idle_need(&self, kernel: &K) -> Need;
    /// True if the CPU went off.
    fn offline(&self, kernel: &K) -> bool;
    fn online(&self, kernel: &K);
    fn migrate_callbacks(&self, kernel: &K, cpu: usize);
    /// Callbacks that this CPU, which has gone off, leaves to the one that calls
    /// [`Library::migrate_callbacks`].
    fn takes_over(&self, gone: usize) -> usize;
    /// The list that holds a callback: its CPU, and which one.
    fn list_of(&self, number: usize) -> Option<(usize, &'static str)>;
    /// Callbacks in the list of a CPU that invokes its own, whose grace period has ended.
    fn ready(&self, cpu: usize) -> usize;
}

/// Counters that the library keeps.
pub(crate) const COUNTED: [Counter; 17] = [
    counted("callbacks", "queued"),
    counted("callbacks", "invoked by the softirq"),
    counted("callbacks", "invoked by a thread"),
    counted("callbacks", "left"),
    counted("callbacks", "queued at leisure"),
    counted("callbacks", "queued in a bypass list"),
    counted("callbacks", "taken over from a CPU that is off"),
    counted("grace periods", "ended"),
    counted("grace periods", "with a look at who holds them up"),
    counted("quiescent states", "reported by the CPU"),
    counted("quiescent states", "reported for an idle CPU"),
    counted("quiescent states", "asked for by an interrupt"),
    counted("wake-ups", "of the grace-period thread"),
    counted("wake-ups", "of offload threads"),
    counted("wake-ups", "put off"),
    counted("softirqs", "raised"),
    counted("softirqs", "run"),
];

/// Places of what the kernel sees as well.
pub(crate) const QUEUED: usize = 0;
pub(crate) const BY_SOFTIRQ: usize = 1;
pub(crate) const BY_THREAD: usize = 2;
pub(crate) const LAZY: usize = 4;
pub(crate) const ADOPTED: usize = 6;
pub(crate) const ENDED: usize = 7;
pub(crate) const LOOKS: usize = 8;
pub(crate) const INTERRUPTS: usize = 11;
pub(crate) const GRACE_PERIOD_WAKES: usize = 12;
pub(crate) const OFFLOAD_WAKES: usize = 13;
pub(crate) const SOFTIRQS: usize = 15;
pub(crate) const SOFTIRQ_RUNS: usize = 16;

const fn counted(of: &'static str, what: &'static str) -> Counter {
    Counter {
        group: "what RCU did",
        of,
        what,
    }
}

/// Jiffies in a second.
pub(crate) const HZ: u64 = 24;
