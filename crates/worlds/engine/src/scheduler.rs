//! Simulated time, and the operations of the processes that wait for it.

use crate::process::ProcessId;
use crate::queue::{MOST_PROCESSES, Queue};
use crate::running::is_running;
use crate::time::Time;
use corosensei::Yielder;
use std::cell::Cell;

/// The end of a [`Scheduler::wait`].
///
/// ```
/// use engine::{Runner, Scheduler, Wake};
///
/// let scheduler = Scheduler::new(1);
/// let main = |_, _| assert_eq!(scheduler.wait(Some(5)), Wake::Deadline);
/// let mut runner = Runner::new(&scheduler, &main);
/// runner.start(0, 0);
/// runner.run().unwrap();
/// assert_eq!(scheduler.now(), 5);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wake {
    /// Another process called [`Scheduler::wake`].
    Called,
    /// The deadline came.
    Deadline,
}

/// The request that a process makes of the runner when it yields.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Request {
    /// Go on with whoever is next; the process has queued itself if it wants to.
    #[default]
    Next,
    /// Put a frame on top of this process and run it.
    Call(u32),
    /// Cut another process down to `keep` frames and start it anew.
    Restart {
        process: ProcessId,
        keep: usize,
        entry: u32,
    },
}

pub type Yield = Yielder<(), ()>;

pub(crate) struct Process {
    waiting: Cell<bool>,
    woken: Cell<bool>,
    /// The time that after the wake-up the process goes on.
    delay: Cell<Time>,
    daemon: Cell<bool>,
    /// The top frame's way back to the runner. Null while the process has not started.
    pub(crate) yielder: Cell<*const Yield>,
}

/// Simulated time, shared by all processes of a run.
///
/// Cheap where it can be: an operation that leaves its process the earliest is an addition and a
/// comparison.
pub struct Scheduler {
    now: Cell<Time>,
    /// Time of the earliest other process, or earlier: an operation that ends before it needs no
    /// switch.
    horizon: Cell<Time>,
    current: Cell<ProcessId>,
    operations: Cell<u64>,
    queue: Queue,
    /// The request of the process that yielded last. It stands here, since what a yield hands over
    /// goes through memory in any case, and nearly all ask for nothing.
    request: Cell<Request>,
    pub(crate) processes: Vec<Process>,
}

impl Scheduler {
    /// A scheduler for processes `0..processes`, at time 0.
    ///
    /// # Panics
    /// With more than 65536 processes: a stamp has 16 bits for its CPU, and the queue's key needs
    /// the others.
    pub fn new(processes: usize) -> Self {
        assert!(
            processes <= MOST_PROCESSES,
            "at most {MOST_PROCESSES} processes, not {processes}"
        );
        Self {
            now: Cell::new(0),
            horizon: Cell::new(Time::MAX),
            current: Cell::new(0),
            operations: Cell::new(0),
            queue: Queue::new(processes),
            request: Cell::default(),
            processes: (0..processes)
                .map(|_| Process {
                    waiting: Cell::new(false),
                    woken: Cell::new(false),
                    delay: Cell::new(0),
                    daemon: Cell::new(false),
                    yielder: Cell::new(std::ptr::null()),
                })
                .collect(),
        }
    }

    /// The present time.
    #[inline(always)]
    pub fn now(&self) -> Time {
        self.now.get()
    }

    /// The process that runs.
    #[inline(always)]
    pub fn current(&self) -> ProcessId {
        self.current.get()
    }

    /// The number of operations that were made so far.
    pub fn operations(&self) -> u64 {
        self.operations.get()
    }

    /// Says whether `process` is a daemon, which serves others: it is no deadlock when a daemon
    /// waits for ever.
    ///
    /// ```
    /// # use engine::{Runner, Scheduler};
    /// let scheduler = Scheduler::new(1);
    /// scheduler.set_daemon(0, true);
    /// let main = |_, _| {
    ///     scheduler.wait(None);
    /// };
    /// let mut runner = Runner::new(&scheduler, &main);
    /// runner.start(0, 0);
    /// assert!(runner.run().is_ok());
    /// ```
    pub fn set_daemon(&self, process: ProcessId, daemon: bool) {
        self.processes[process].daemon.set(daemon);
    }

    /// An operation: the running process takes `duration`, and earlier processes go first.
    ///
    /// ```
    /// # use engine::{Runner, Scheduler};
    /// let scheduler = Scheduler::new(1);
    /// let main = |_, _| (0..3).for_each(|_| scheduler.advance(10));
    /// let mut runner = Runner::new(&scheduler, &main);
    /// runner.start(0, 0);
    /// runner.run().unwrap();
    /// assert_eq!((scheduler.now(), scheduler.operations()), (30, 3));
    /// ```
    #[inline(always)]
    pub fn advance(&self, duration: Time) {
        self.operations.set(self.operations.get() + 1);
        let time = self.now.get().saturating_add(duration);
        if time < self.horizon.get() {
            self.now.set(time);
        } else if self.queues_up(time) {
            self.give_way();
        }
    }

    /// Several operations in one: the running process takes `duration` for all of them, if nobody
    /// else would go before the last of them ends. Otherwise nothing happens, and the value is
    /// false: they are to be made one by one.
    ///
    /// ```
    /// # use engine::{Runner, Scheduler};
    /// let scheduler = Scheduler::new(2);
    /// let main = |process, _| match process {
    ///     // The other process goes at 50.
    ///     0 => assert!(scheduler.advance_alone(4, 40) && !scheduler.advance_alone(4, 40)),
    ///     _ => scheduler.advance(50),
    /// };
    /// # let mut runner = Runner::new(&scheduler, &main);
    /// # runner.start(1, 0);
    /// # runner.start(0, 0);
    /// # runner.run().unwrap();
    /// ```
    #[inline(always)]
    pub fn advance_alone(&self, operations: u64, duration: Time) -> bool {
        let time = self.now.get().saturating_add(duration);
        if time >= self.horizon.get() && !self.is_alone_until(time) {
            return false;
        }
        self.operations.set(self.operations.get() + operations);
        self.now.set(time);
        true
    }

    /// True if nobody goes up to `time`. Whoever set the horizon may have left the queue since.
    #[inline(never)]
    fn is_alone_until(&self, time: Time) -> bool {
        let earliest = self.queue.earliest();
        if time >= earliest {
            return false;
        }
        self.horizon.set(earliest);
        true
    }

    /// Puts the running process in the queue. False if it is the earliest after all, and goes on.
    #[inline(never)]
    fn queues_up(&self, time: Time) -> bool {
        let process = self.current.get();
        self.queue.put(process, time);
        if !self.queue.take_if_earliest(process) {
            return true;
        }
        self.horizon.set(self.queue.earliest());
        self.now.set(time);
        false
    }

    /// An operation: the running process waits until another calls [`Scheduler::wake`] for it, or
    /// until `deadline`.
    ///
    /// A wake-up that came since the last wait is not lost: the wait then ends at once.
    pub fn wait(&self, deadline: Option<Time>) -> Wake {
        self.operations.set(self.operations.get() + 1);
        let process = &self.processes[self.current.get()];
        if process.woken.replace(false) {
            return Wake::Called;
        }
        process.waiting.set(true);
        if let Some(deadline) = deadline {
            self.enqueue(self.current.get(), deadline.max(self.now.get()));
        }
        self.give_way();
        process.waiting.set(false);
        if process.woken.replace(false) {
            Wake::Called
        } else {
            Wake::Deadline
        }
    }

    /// Two operations in one: a [`Scheduler::wait`] for a wake-up, and `delay` after it. The
    /// process is switched to once, when both are over.
    ///
    /// ```
    /// # use engine::{Runner, Scheduler};
    /// let scheduler = Scheduler::new(2);
    /// let main = |process, _| match process {
    ///     0 => {
    ///         scheduler.wait_and_advance(3);
    ///         assert_eq!(scheduler.now(), 10);
    ///     }
    ///     _ => {
    ///         scheduler.advance(7);
    ///         scheduler.wake(0);
    ///     }
    /// };
    /// # let mut runner = Runner::new(&scheduler, &main);
    /// # runner.start(0, 0);
    /// # runner.start(1, 0);
    /// # runner.run().unwrap();
    /// ```
    pub fn wait_and_advance(&self, delay: Time) {
        let process = &self.processes[self.current.get()];
        if process.woken.get() {
            self.wait(None);
            self.advance(delay);
            return;
        }
        self.operations.set(self.operations.get() + 1);
        process.delay.set(delay);
        self.wait(None);
        process.delay.set(0);
    }

    /// Ends the wait of `process`, or its next one. Takes no time.
    ///
    /// ```
    /// # use engine::{Runner, Scheduler, Wake};
    /// let scheduler = Scheduler::new(2);
    /// let main = |process, _| match process {
    ///     0 => assert_eq!((scheduler.wait(None), scheduler.now()), (Wake::Called, 7)),
    ///     _ => {
    ///         scheduler.advance(7);
    ///         scheduler.wake(0);
    ///     }
    /// };
    /// # let mut runner = Runner::new(&scheduler, &main);
    /// # runner.start(0, 0);
    /// # runner.start(1, 0);
    /// # runner.run().unwrap();
    /// ```
    pub fn wake(&self, process: ProcessId) {
        let woken = &self.processes[process];
        if !woken.woken.replace(true) && woken.waiting.get() {
            self.enqueue(process, self.now.get().saturating_add(woken.delay.get()));
        }
    }

    /// Runs `entry` on a frame on top of the running process; returns when that frame is done.
    ///
    /// ```
    /// # use engine::{Runner, Scheduler};
    /// # use std::cell::RefCell;
    /// let (scheduler, log) = (Scheduler::new(1), RefCell::new(Vec::new()));
    /// let main = |_, entry| {
    ///     if entry == 0 {
    ///         scheduler.call(1);
    ///     }
    ///     log.borrow_mut().push(entry);
    /// };
    /// let mut runner = Runner::new(&scheduler, &main);
    /// runner.start(0, 0);
    /// runner.run().unwrap();
    /// assert_eq!(*log.borrow(), [1, 0]);
    /// ```
    pub fn call(&self, entry: u32) {
        self.suspend(Request::Call(entry));
    }

    /// Throws the frames of `process` above the first `keep` away, without unwinding, and starts
    /// `entry` in their place, now.
    ///
    /// ```
    /// # use engine::{Runner, Scheduler};
    /// # use std::cell::Cell;
    /// let (scheduler, ended) = (Scheduler::new(2), Cell::new(0));
    /// let main = |process, entry| match (process, entry) {
    ///     (0, _) => {
    ///         scheduler.advance(5);
    ///         scheduler.restart(1, 0, 9);
    ///     }
    ///     (_, 0) => scheduler.advance(100),
    ///     (_, entry) => ended.set(entry),
    /// };
    /// let mut runner = Runner::new(&scheduler, &main);
    /// runner.start(0, 0);
    /// runner.start(1, 0);
    /// runner.run().unwrap();
    /// assert_eq!((ended.get(), scheduler.now()), (9, 5));
    /// ```
    ///
    /// # Panics
    /// When `process` is the one that runs: a process cannot pull its own stack away.
    pub fn restart(&self, process: ProcessId, keep: usize, entry: u32) {
        assert_ne!(
            process,
            self.current.get(),
            "a process cannot restart itself"
        );
        self.suspend(Request::Restart {
            process,
            keep,
            entry,
        });
    }

    /// The request of the process that yielded last.
    #[inline(always)]
    pub(crate) fn take_request(&self) -> Request {
        self.request.take()
    }

    /// Yields from the running process to its runner, and asks for something.
    fn suspend(&self, request: Request) {
        self.request.set(request);
        self.give_way();
    }

    /// Lets others go, as a chooser says; a process that nobody wakes and that no chooser chooses
    /// does not go on.
    ///
    /// Inlined where it can be: a processor that predicts returns predicts none right on a stack
    /// that was switched to, so what calls this should have few returns to make.
    ///
    /// # Panics
    /// Outside of a process of this scheduler.
    #[inline(always)]
    pub fn give_way(&self) {
        assert!(
            is_running(self),
            "an operation was called outside of a process of this scheduler"
        );
        let yielder = self.processes[self.current()].yielder.get();
        // SAFETY: this scheduler's runner is the innermost one on this thread (asserted above) and
        // it runs nothing but frames of the current process, whose top frame set `yielder` on entry
        // and keeps it on its stack until it ends (the runner's `discard_frames` then restores the
        // one below). So the pointer is valid and belongs to the stack that we are on.
        let yielder = unsafe { &*yielder };
        yielder.suspend(());
    }

    /// Queues a process that starts or starts anew, now.
    pub(crate) fn enqueue_started(&self, process: ProcessId) {
        self.processes[process].waiting.set(false);
        self.processes[process].woken.set(false);
        self.processes[process].delay.set(0);
        self.enqueue(process, self.now.get());
    }

    fn enqueue(&self, process: ProcessId, time: Time) {
        self.queue.put(process, time);
        if time < self.horizon.get() {
            self.horizon.set(time);
        }
    }

    #[inline(always)]
    pub(crate) fn next_earliest(&self) -> Option<ProcessId> {
        let (time, process) = self.queue.take_earliest()?;
        self.now.set(time);
        self.current.set(process);
        self.horizon.set(self.queue.earliest());
        Some(process)
    }

    /// The process that a chooser has chosen goes.
    #[inline(always)]
    pub(crate) fn goes(&self, process: ProcessId) {
        self.current.set(process);
    }

    /// Processes that wait for a wake-up which no process is left to give.
    pub(crate) fn deadlocked(&self) -> Vec<ProcessId> {
        (0..self.processes.len())
            .filter(|&process| {
                self.processes[process].waiting.get() && !self.processes[process].daemon.get()
            })
            .collect()
    }
}
