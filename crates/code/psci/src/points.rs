//! The points that the library stamps.

pub use self::psci::*;

::points::points! {
    /// Points of the PSCI library.
    ///
    /// The first six bound what is published (powerdown, wakeup, cache flush); their ids are those
    /// of the PMF time stamps. The rest explain, and are taken with the feature `detail` only.
    ///
    /// ```
    /// use psci::points;
    ///
    /// assert_eq!(points::ENTER_PSCI.argument(), Some("smc-function"));
    /// assert!((0..6).all(|id| points::ALL[usize::from(id)].id() == id));
    /// ```
    pub mod psci {
        /// Exception entry of a PSCI call, as the vector read it; the argument is the function id.
        ENTER_PSCI = 0, "enter-psci", "smc-function";
        /// Last thing before the return to the normal world; the argument is the function id, 0
        /// after a reset.
        EXIT_PSCI = 1, "exit-psci", "smc-function";
        /// Last thing before the WFI of a power-down or standby.
        ENTER_HW_LOW_PWR = 2, "enter-hw-low-pwr";
        /// First thing after a reset, or after a WFI that returned.
        EXIT_HW_LOW_PWR = 3, "exit-hw-low-pwr";
        /// Before the caches are flushed; the argument is the highest level that powers down.
        ENTER_CFLUSH = 4, "enter-cflush", "level";
        /// After the caches are flushed and off; the argument is the highest level that powers
        /// down.
        EXIT_CFLUSH = 5, "exit-cflush", "level";

        /// A CPU asks for a lock; the argument is the lock's id.
        LOCK_WAIT = 0x0010, "lock-wait", "lock";
        /// The CPU has the lock.
        LOCK_ACQUIRED = 0x0011, "lock-acquired", "lock";
        /// The CPU has released the lock.
        LOCK_RELEASED = 0x0012, "lock-released", "lock";
        /// Before the power controller is told of a power-down; the argument is the highest level
        /// of it.
        MESSAGE_BEGIN = 0x0013, "message-begin", "level";
        /// After the power controller was told.
        MESSAGE_END = 0x0014, "message-end", "level";
        /// Before the power controller is asked to turn a CPU on; the argument is the CPU.
        POWER_ON_BEGIN = 0x0015, "power-on-begin", "cpu";
        /// After the power controller was asked to turn a CPU on.
        POWER_ON_END = 0x0016, "power-on-end", "cpu";
        /// An interrupt was pending: the suspend leaves before it changed anything.
        LEFT_EARLY = 0x0017, "left-early";
        /// Coordination is done; the argument is the highest level that leaves the running state.
        COORDINATED = 0x0018, "coordinated", "level";
        /// The system registers are saved.
        CONTEXT_SAVED = 0x0019, "context-saved";
        /// The interrupt controller interface is off.
        INTERRUPTS_OFF = 0x001a, "interrupts-off";
        /// The WFI of a power-down returned; the argument is the highest level that was locked.
        ABANDONED = 0x001b, "abandoned", "level";
        /// After a reset: EL3 can run code again.
        RESET_DONE = 0x001c, "reset-done";
        /// The finisher starts, with its locks held; the argument is 0 after a CPU_ON, 1 after a
        /// suspend.
        FINISHER = 0x001d, "finisher", "after-suspend";
        /// The levels that lost power are open again.
        POWERED_UP = 0x001e, "powered-up";
        /// The caches are on.
        CACHES_ON = 0x001f, "caches-on";
        /// The interrupt controller interface is on.
        INTERRUPTS_ON = 0x0020, "interrupts-on";
        /// The system registers are restored.
        CONTEXT_RESTORED = 0x0021, "context-restored";
    }
}
