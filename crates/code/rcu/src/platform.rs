//! The interface of the kernel under RCU.

use crate::callback::Callback;
use crate::cell::{Scalar, SharedCell, Watch};
use crate::stall_report::Stall;

/// A thread that works for RCU. The kernel makes those that [`Rcu::threads`](crate::Rcu::threads)
/// lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Thread {
    /// Starts and ends grace periods: `rcu_preempt` of Linux.
    GracePeriod,
    /// Waits for grace periods and invokes the callbacks of this CPU, in the form of 2013: `rcuo`.
    Offload(usize),
    /// Waits for grace periods on behalf of the CPUs of this group, in the modern form: `rcuog`.
    OffloadGp(usize),
    /// Invokes the callbacks of this CPU, in the modern form: `rcuop`.
    OffloadCb(usize),
}

/// When a thread takes its next step: at once, or after a sleep.
///
/// ```
/// use rcu::Step;
///
/// /// The jiffy of the next step, where nobody wakes the thread before.
/// fn next(step: Step, now: u64) -> Option<u64> {
///     match step {
///         Step::Again => Some(now),
///         Step::Sleep { until } => until,
///     }
/// }
/// assert_eq!(next(Step::Sleep { until: Some(12) }, 9), Some(12));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The next step, when the thread's turn comes.
    Again,
    /// To sleep until it is woken, or until a jiffy.
    ///
    /// A wake-up that came while the step ran, or since the thread last slept, must not be lost:
    /// the thread is then stepped again at once.
    Sleep {
        /// The jiffy at which it is to be stepped even if nobody woke it.
        until: Option<u64>,
    },
}

/// A timer of RCU's own: it wakes the thread of this group of offloaded CPUs, later than the
/// callback that wants it. There is one per group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RcuTimer {
    /// Number of the group, as in [`Thread::OffloadGp`].
    pub group: usize,
}

/// The kernel under RCU.
///
/// One value stands for the whole machine and is shared by all CPUs; a method acts on the CPU that
/// calls it. RCU calls none of them while it borrows a list, so each may let other CPUs run. Of
/// them all, only [`Platform::invoke`] may call RCU: the others may come while RCU holds a lock.
pub trait Platform: points::Sink + Sized {
    /// One word shared between CPUs. Each access is an operation, at which an explorer can choose
    /// who goes next.
    type Shared<T: Scalar>: SharedCell<T, Self>;

    /// A mark on plain data: `()`, or what tells the platform who touches it. RCU's locks, and the
    /// kernel's own when it hands a thread on, must order those accesses.
    type Watch: Watch<Self>;

    /// Orders all accesses before it and all behind it, as every CPU sees them: `smp_mb()`, on Arm
    /// `DMB ISH`. Nothing where nothing happens at the same time.
    fn barrier(&self);

    /// The CPU that executes the call, from 0.
    fn this_cpu(&self) -> usize;

    /// The time in jiffies since boot. It may stand still in a callback, but never goes back.
    fn jiffies(&self) -> u64;

    /// This CPU is to run [`Rcu::core`](crate::Rcu::core) soon: at the end of the interrupt, or
    /// before it goes idle.
    fn raise_softirq(&self);

    /// Makes a thread runnable, or does nothing if it is. See [`Step::Sleep`] for what may not be
    /// lost.
    fn wake(&self, thread: Thread);

    /// Interrupts another CPU so that it passes through its scheduler: it holds a grace period up.
    fn resched(&self, cpu: usize);

    /// Sets the timer, or moves it if it was set. At that jiffy, on any CPU,
    /// [`Rcu::timer`](crate::Rcu::timer) is to be called.
    fn set_timer(&self, timer: RcuTimer, at_jiffy: u64);

    /// The timer is not wanted any more. A call of [`Rcu::timer`](crate::Rcu::timer) that comes all
    /// the same does no harm.
    fn cancel_timer(&self, timer: RcuTimer);

    /// Runs a callback. What it takes is the kernel's business. It may queue others.
    fn invoke(&self, callback: Callback);

    /// True if the caller of [`Rcu::call`](crate::Rcu::call) could take interrupts. If not, it may
    /// hold a lock that a wake-up needs, and the modern form defers the wake-up.
    fn may_wake(&self) -> bool {
        true
    }

    /// A lock of RCU is held by another CPU; returns when it is worth looking again. `lock` names
    /// it. In simulated time, something must happen here or in the accesses to cells that lets the
    /// other CPU go on.
    fn lock_wait(&self, lock: u32) {
        let _ = lock;
        core::hint::spin_loop();
    }

    /// The lock is free again.
    fn lock_released(&self, lock: u32) {
        let _ = lock;
    }

    /// A grace period takes too long. By default only the stamp tells of it.
    fn stall(&self, stall: &Stall) {
        let _ = stall;
    }
}
