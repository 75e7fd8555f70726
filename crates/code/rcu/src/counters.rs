//! The counts of RCU.

/// The counts of one CPU for RCU, since boot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counters {
    /// Callbacks queued on this CPU.
    pub queued: u64,
    /// Callbacks among the queued that could be put off: [`Urgency::Lazy`](crate::Urgency::Lazy),
    /// or made lazy by `RCU_LAZY`.
    pub queued_lazy: u64,
    /// Callbacks among the queued that went to the bypass list.
    pub queued_bypass: u64,
    /// Callbacks invoked on this CPU, in the softirq.
    pub invoked_softirq: u64,
    /// Callbacks of this CPU that its thread invoked, wherever that ran.
    pub invoked_thread: u64,
    /// Callbacks taken over from CPUs that went off.
    pub adopted: u64,
    /// Softirqs that RCU raised on this CPU.
    pub softirqs_raised: u64,
    /// Runs of [`Rcu::core`](crate::Rcu::core) on this CPU.
    pub core_runs: u64,
    /// Quiescent states that this CPU reported.
    pub quiescent_reported: u64,
    /// Quiescent states that were reported for this CPU because it was idle.
    pub quiescent_forced: u64,
    /// Wake-ups of the grace-period thread by this CPU.
    pub grace_period_wakes: u64,
    /// Wake-ups of threads of offloaded CPUs by this CPU.
    pub offload_wakes: u64,
    /// Wake-ups of threads of offloaded CPUs that this CPU put off to a timer.
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
    /// Looks at the CPUs that held a grace period up.
    pub force_quiescent_states: u64,
}
