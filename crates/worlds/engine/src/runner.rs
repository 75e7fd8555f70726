//! The coroutines and the loop that runs them: the only place that makes stacks and throws them
//! away.

use crate::process::ProcessId;
use crate::running::Running;
use crate::scheduler::{Request, Scheduler, Yield};
use crate::stack;
use crate::time::Time;
use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult};

type Frame = Coroutine<(), (), (), DefaultStack>;

/// A process that waits in a deadlock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Waiter {
    /// Number of the process.
    pub process: ProcessId,
}

/// No process can go, and at least one that is no daemon waits.
///
/// ```
/// use engine::{Runner, Scheduler};
///
/// let scheduler = Scheduler::new(1);
/// let main = |_, _| {
///     scheduler.advance(5);
///     scheduler.wait(None);
/// };
/// let mut runner = Runner::new(&scheduler, &main);
/// runner.start(0, 0);
/// let deadlock = runner.run().unwrap_err();
/// assert_eq!((deadlock.time, deadlock.waiters[0].process), (5, 0));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("deadlock at {time} ps: processes {waiters:?} wait and nobody is left to wake them")]
#[non_exhaustive]
pub struct Deadlock {
    /// Time at which the last process stopped.
    pub time: Time,
    /// The processes that wait.
    pub waiters: Vec<Waiter>,
}

/// Owns the processes' stacks and runs them.
///
/// `main(process, entry)` is what every frame runs; `entry` tells what it is to be.
///
/// ```
/// use engine::{Runner, Scheduler};
/// use std::cell::Cell;
///
/// let (scheduler, entered) = (Scheduler::new(1), Cell::new(0));
/// let main = |_process, entry| entered.set(entry);
/// let mut runner = Runner::new(&scheduler, &main);
/// runner.start(0, 7);
/// runner.run().unwrap();
/// assert_eq!(entered.get(), 7);
/// ```
pub struct Runner<'w, M: Fn(ProcessId, u32)> {
    scheduler: &'w Scheduler,
    main: &'w M,
    frames: Vec<Vec<(Frame, *const Yield)>>,
    chooser: Option<Box<dyn FnMut() -> Option<ProcessId> + 'w>>,
}

impl<'w, M: Fn(ProcessId, u32)> Runner<'w, M> {
    /// A runner in which the earliest process goes next.
    pub fn new(scheduler: &'w Scheduler, main: &'w M) -> Self {
        let frames = scheduler.processes.iter().map(|_| Vec::new()).collect();
        Self {
            scheduler,
            main,
            frames,
            chooser: None,
        }
    }

    /// A runner in which `chooser` says which process goes next, each time that one yields
    /// ([`Scheduler::give_way`]); `None` ends the run where it stands.
    pub fn with_chooser(
        scheduler: &'w Scheduler,
        main: &'w M,
        chooser: impl FnMut() -> Option<ProcessId> + 'w,
    ) -> Self {
        let mut runner = Self::new(scheduler, main);
        runner.chooser = Some(Box::new(chooser));
        runner
    }

    /// Starts `process` with `entry`, at the present time. What it ran before is thrown away.
    pub fn start(&mut self, process: ProcessId, entry: u32) {
        self.stop(process);
        self.push(process, entry);
        self.queue_up(process);
    }

    /// A process that a chooser chooses waits in no queue.
    fn queue_up(&self, process: ProcessId) {
        if self.chooser.is_none() {
            self.scheduler.enqueue_started(process);
        }
    }

    /// Throws away what `process` runs.
    pub fn stop(&mut self, process: ProcessId) {
        self.discard_frames(process, 0);
    }

    /// Runs until no process can go.
    ///
    /// # Errors
    /// A [`Deadlock`], when a process that is no daemon still waits.
    pub fn run(&mut self) -> Result<(), Deadlock> {
        let _running = Running::enter(self.scheduler);
        while let Some(process) = self.next() {
            self.resume(process);
        }
        let waiters: Vec<_> = self
            .scheduler
            .deadlocked()
            .into_iter()
            .map(|process| Waiter { process })
            .collect();
        if waiters.is_empty() {
            Ok(())
        } else {
            Err(Deadlock {
                time: self.scheduler.now(),
                waiters,
            })
        }
    }

    fn next(&mut self) -> Option<ProcessId> {
        let Some(chooser) = &mut self.chooser else {
            return self.scheduler.next_earliest();
        };
        // Between two frames only a chooser runs code that is not ours, and no process runs
        // meanwhile.
        let _nobody = Running::none();
        let process = chooser()?;
        self.scheduler.goes(process);
        Some(process)
    }

    /// Runs one process until it yields to others.
    fn resume(&mut self, process: ProcessId) {
        while let Some((frame, _)) = self.frames[process].last_mut() {
            if let CoroutineResult::Return(()) = frame.resume(()) {
                let depth = self.frames[process].len() - 1;
                self.discard_frames(process, depth);
                continue;
            }
            match self.scheduler.take_request() {
                Request::Next => return,
                Request::Call(entry) => self.push(process, entry),
                Request::Restart {
                    process: other,
                    keep,
                    entry,
                } => {
                    self.discard_frames(other, keep);
                    self.push(other, entry);
                    self.queue_up(other);
                }
            }
        }
    }

    fn push(&mut self, process: ProcessId, entry: u32) {
        let (scheduler, main) = (self.scheduler, self.main);
        let below = scheduler.processes[process].yielder.get();
        let body = move |yielder: &Yield, ()| {
            scheduler.processes[process].yielder.set(yielder);
            main(process, entry);
        };
        // SAFETY: `body` borrows `scheduler` and `main` for 'w only. The frame is owned by
        // `self.frames`, and both `discard_frames` and `drop` finish it (`force_reset`) before 'w
        // can end; it is never forgotten or handed out.
        let frame = unsafe { Coroutine::with_stack_unchecked(stack::take(), body) };
        self.frames[process].push((frame, below));
    }

    /// Throws away the frames of a process above the first `keep`.
    fn discard_frames(&mut self, process: ProcessId, keep: usize) {
        while self.frames[process].len() > keep {
            let Some((mut frame, below)) = self.frames[process].pop() else {
                return;
            };
            self.scheduler.processes[process].yielder.set(below);
            if !frame.done() {
                // SAFETY: the crate's contract (see the crate's documentation) is that no value
                // whose `Drop` matters lives across an operation, and a suspended frame is always
                // inside one; `main` is a shared borrow that the closure does not own.
                unsafe { frame.force_reset() };
            }
            stack::give(frame.into_stack());
        }
    }
}

impl<M: Fn(ProcessId, u32)> Drop for Runner<'_, M> {
    fn drop(&mut self) {
        for process in 0..self.frames.len() {
            self.discard_frames(process, 0);
        }
    }
}
