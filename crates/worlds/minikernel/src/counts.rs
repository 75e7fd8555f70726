//! The kernel's counts beside energy.

use std::collections::BTreeMap;

/// The cause that woke an idle CPU.
#[derive(Clone, Copy)]
pub enum WakeCause {
    /// A precise timer.
    Timer,
    /// A timer of the wheel.
    WheelTimer,
    /// The tick, kept for another reason than callbacks.
    Tick,
    /// The tick, kept for callbacks.
    TickForRcu,
    /// A wake-up that callbacks asked for, the tick being stopped.
    RcuTimer,
    /// Another CPU, for a task.
    Task,
    /// Another CPU, for a thread that looks after callbacks.
    RcuThread,
    /// Another CPU, because a grace period waits for this one.
    GracePeriod,
    /// The always-on timer, on behalf of another CPU.
    Broadcast,
    /// A device.
    Device,
    /// Another CPU that has set a timer here.
    RemoteTimer,
    /// Nothing of the above: polling reached its limit, or the governor wanted to be asked again.
    Limit,
}

impl WakeCause {
    /// Their names in recordings, in the order of the causes above.
    pub const NAMES: [&str; 12] = [
        "timer",
        "wheel-timer",
        "tick",
        "tick-for-rcu",
        "rcu-timer",
        "task",
        "rcu-thread",
        "grace-period",
        "broadcast",
        "device",
        "remote-timer",
        "limit",
    ];
}

/// Counts of a CPU.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CpuCounts {
    /// Wake-ups from idle, in the order of [`WakeCause::NAMES`].
    pub wake_ups: [u64; WakeCause::NAMES.len()],
    /// Ticks while busy.
    pub busy_ticks: u64,
    /// Ticks while idle.
    pub idle_ticks: u64,
    /// Ticks that were kept for callbacks alone.
    pub ticks_for_rcu: u64,
    /// Context switches, those to and from the idle loop included.
    pub switches: u64,
    /// Interrupts that were taken.
    pub interrupts: u64,
    /// Callbacks queued here.
    pub queued: u64,
    /// Callbacks invoked here, in the softirq.
    pub invoked_in_softirq: u64,
    /// Callbacks invoked here, in threads.
    pub invoked_in_threads: u64,
    /// Idle states by number: how often entered, how long in ns, and whether they were right. A
    /// stay that is not over counts up to the end.
    pub idle: Vec<idle::Usage>,
}

impl CpuCounts {
    /// The number of times that this cause woke the CPU.
    pub fn woken_by(&self, cause: WakeCause) -> u64 {
        self.wake_ups[cause as usize]
    }
}

/// Counts of a task.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TaskCounts {
    /// Time that it ran, in ps.
    pub ran: u64,
    /// Time that the task ran, by CPU and number of the operating point, in ps.
    pub ran_at: BTreeMap<(usize, usize), u64>,
    /// The number of times that it was woken.
    pub wake_ups: u64,
    /// The number of times that it was put on a CPU.
    pub switches: u64,
    /// The number of times that it moved to another CPU.
    pub moves: u64,
    /// From when a timer should have woken it until it ran, each time, in ns.
    pub latencies: Vec<u64>,
    /// From the beginning of each period of a timer until the task waits for the next, in ns: how
    /// long a frame took.
    pub responses: Vec<u64>,
    /// Periods that were over when the task came to wait for the next one.
    pub misses: u64,
    /// Periods that were left out because of that: a timer of mode `relative` starts anew.
    pub skipped: u64,
    /// When it ended, in ps from the beginning; `None` if it did not.
    pub ended: Option<u64>,
    /// The number of times that it went through its phases.
    pub loops: u64,
}
