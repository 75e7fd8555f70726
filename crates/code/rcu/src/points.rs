//! The points that RCU stamps.

pub use self::rcu::*;

::points::points! {
    /// Points of RCU.
    ///
    /// ```
    /// use rcu::points;
    ///
    /// let grace_period = [points::GRACE_PERIOD_START, points::GRACE_PERIOD_END];
    /// assert!(grace_period.iter().all(|point| point.argument() == Some("grace-period")));
    /// ```
    pub mod rcu {
        /// A callback is queued; the argument is its function.
        CALL = 0x0300, "rcu-call", "function";
        /// A grace period starts; the argument is its number, from 1.
        GRACE_PERIOD_START = 0x0301, "rcu-grace-period-start", "grace-period";
        /// A grace period has ended; the argument is its number, from 1.
        GRACE_PERIOD_END = 0x0302, "rcu-grace-period-end", "grace-period";
        /// Callbacks are about to be invoked; the argument is how many are ready.
        BATCH_START = 0x0303, "rcu-batch-start", "callbacks";
        /// Callbacks were invoked; the argument is how many.
        BATCH_END = 0x0304, "rcu-batch-end", "callbacks";
        /// A callback's queueing wakes a thread that serves an offloaded CPU; the argument is that
        /// CPU.
        OFFLOAD_WAKE = 0x0305, "rcu-offload-wake", "cpu";
        /// A look at all CPUs that hold the grace period up; the argument is its number.
        FORCE_QUIESCENT_STATE = 0x0306, "rcu-force-quiescent-state", "grace-period";
        /// A grace period takes too long; the argument is its number.
        STALL = 0x0307, "rcu-stall", "grace-period";
    }
}
