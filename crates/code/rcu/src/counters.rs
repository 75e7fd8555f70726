//! The counts of RCU.

/// The counts of one CPU for RCU, since boot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counters {
    /// Callbacks queued here.
    pub queued: u64,
    /// Callbacks among the queued that could be put off: [`Urgency::Lazy`](crate::Urgency::Lazy),
    /// or made lazy by `RCU_LAZY`.
    pub queued_lazy: u64,
    /// Callbacks among the queued that went to the bypass list.
    pub queued_bypass: u64,
    /// Callbacks invoked here, in the softirq.
    pub invoked_softirq: u64,
    /// Callbacks of this CPU that its thread invoked, wherever that ran.
    pub invoked_thread: u64,
    /// Callbacks taken over from CPUs that went off.
    pub adopted: u64,
    /// Softirqs that RCU raised here.
    pub softirqs_raised: u64,
    /// Runs of [`Rcu::core`](crate::Rcu::core) here.
    pub core_runs: u64,
    /// Quiescent states that this CPU reported.
    pub quiescent_reported: u64,
    /// Quiescent states that were reported for this CPU because it was idle.
    pub quiescent_forced: u64,
    /// The number of times that this CPU woke the grace-period thread.
    pub grace_period_wakes: u64,
    /// The number of times that this CPU woke a thread of offloaded CPUs.
    pub offload_wakes: u64,
    /// Wake-ups of those threads that this CPU put off to a timer.
    pub deferred_wakes: u64,
    /// Interrupts sent here because this CPU held a grace period up.
    pub resched: u64,
}

/// The counts of the grace-period thread, since boot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct GracePeriodCounters {
    /// Grace periods that ended.
    pub grace_periods: u64,
    /// Looks at all CPUs that held one up.
    pub force_quiescent_states: u64,
}
