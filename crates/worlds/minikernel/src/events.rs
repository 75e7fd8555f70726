//! The points that the kernel stamps, so that a recording has lanes.

pub use self::minikernel::*;

points::points! {
    /// Points of the small kernel.
    pub mod minikernel {
        /// The CPU switches to a task; the argument is its number plus 1, and 0 is the idle loop.
        TASK_SWITCH = 0x0300, "task-switch", "task";
        /// A task is woken on this CPU, or for it.
        TASK_WAKE = 0x0301, "task-wake", "task";
        /// The CPU enters an idle state.
        IDLE_ENTER = 0x0302, "idle-enter", "idle-state";
        /// The CPU leaves the idle state; the argument is what woke it.
        IDLE_LEAVE = 0x0303, "idle-leave", "wake-cause";
        /// The scheduler's tick; the argument is 1 where the CPU keeps it for its callbacks alone.
        TICK = 0x0304, "tick", "kept-for-callbacks";
        /// Callbacks are queued.
        CALLBACKS_QUEUED = 0x0305, "callbacks-queued", "callbacks";
        /// Callbacks are invoked.
        CALLBACKS_INVOKED = 0x0306, "callbacks-invoked", "callbacks";
        /// The domain of the CPU changes to an operating point.
        OPERATING_POINT = 0x0307, "operating-point", "operating-point";
    }
}
