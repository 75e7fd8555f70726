//! The points that the kernel stamps, so that a recording has lanes.

pub use self::minikernel::*;

points::points! {
    /// Points of the small kernel.
    pub mod minikernel {
        /// The CPU switches to a task; the argument is its number plus 1, and 0 is the idle loop.
        TASK_SWITCH = 0x0400, "task-switch", "task";
        /// A task is woken on this CPU, or for it.
        TASK_WAKE = 0x0401, "task-wake", "task";
        /// The CPU enters an idle state.
        IDLE_ENTER = 0x0402, "idle-enter", "idle-state";
        /// The CPU leaves the idle state; the argument is what woke it.
        IDLE_LEAVE = 0x0403, "idle-leave", "wake-cause";
        /// The scheduler's tick; the argument is 1 where the CPU keeps it for its callbacks alone.
        TICK = 0x0404, "tick", "kept-for-callbacks";
        /// Callbacks are queued.
        CALLBACKS_QUEUED = 0x0405, "callbacks-queued", "callbacks";
        /// Callbacks are invoked.
        CALLBACKS_INVOKED = 0x0406, "callbacks-invoked", "callbacks";
        /// The domain of the CPU changes to an operating point.
        OPERATING_POINT = 0x0407, "operating-point", "operating-point";
    }
}
