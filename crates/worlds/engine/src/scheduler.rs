//! Simulated time and the queue of the processes that wait for it.

use crate::choose::{Candidate, Chooser};
use crate::process::ProcessId;
use crate::running::is_running;
use crate::time::Time;
use corosensei::Yielder;
use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

/// What ended a [`Scheduler::wait`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wake {
    /// Another process called [`Scheduler::wake`].
    Called,
    /// The deadline came.
    Deadline,
}

/// What a process asks of the runner when it yields.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Request {
    /// Go on with whoever is next; the process has queued itself if it wants to.
    Next,
    /// Put a frame on top of this process and run it.
    Call(u32),
    /// Cut another process down to `keep` frames and start it anew.
    Restart { process: ProcessId, keep: usize, entry: u32 },
}

pub(crate) type Yield = Yielder<(), Request>;

/// The queue's key: time, then order of arrival, then process, in one comparison.
type Key = u128;

const PROCESS_BITS: u32 = 16;
const SEQUENCE_BITS: u32 = 48;

fn key(time: Time, sequence: u64, process: ProcessId) -> Key {
    (Key::from(time) << 64) | (Key::from(sequence) << PROCESS_BITS) | process as Key
}

fn key_time(key: Key) -> Time {
    (key >> 64) as Time
}

fn key_process(key: Key) -> ProcessId {
    (key & ((1 << PROCESS_BITS) - 1)) as ProcessId
}

/// A key that is never queued: the process runs, or waits without a deadline, or is done.
const NOT_QUEUED: Key = Key::MAX;

pub(crate) struct Process {
    /// The one valid key of this process in the queue; others of it there are stale.
    key: Cell<Key>,
    waiting: Cell<bool>,
    woken: Cell<bool>,
    daemon: Cell<bool>,
    /// The top frame's way back to the runner. Null while the process has not started.
    pub(crate) yielder: Cell<*const Yield>,
}

/// Simulated time, shared by all processes of a run.
///
/// Cheap where it can be: an operation that leaves its process the earliest is an addition and a comparison.
pub struct Scheduler {
    now: Cell<Time>,
    /// Time of the earliest other process, or earlier: an operation that ends before it needs no switch.
    horizon: Cell<Time>,
    current: Cell<ProcessId>,
    sequence: Cell<u64>,
    operations: Cell<u64>,
    queue: RefCell<BinaryHeap<Reverse<Key>>>,
    /// Key of the process that goes next and has left the queue already; [`NOT_QUEUED`] if none has.
    chosen: Cell<Key>,
    /// Whether a chooser decides, at every operation.
    choosing: Cell<bool>,
    /// Those who could go at the choice that is being made; kept, so that a choice allocates nothing.
    candidates: RefCell<Vec<Candidate>>,
    pub(crate) processes: Vec<Process>,
}

impl Scheduler {
    /// A scheduler for processes `0..processes`, at time 0.
    ///
    /// # Panics
    /// With more than 65535 processes: the queue's key has 16 bits for them.
    pub fn new(processes: usize) -> Self {
        assert!(processes < 1 << PROCESS_BITS, "at most 65535 processes, not {processes}");
        Self {
            now: Cell::new(0),
            horizon: Cell::new(Time::MAX),
            current: Cell::new(0),
            sequence: Cell::new(0),
            operations: Cell::new(0),
            chosen: Cell::new(NOT_QUEUED),
            choosing: Cell::new(false),
            candidates: RefCell::new(Vec::with_capacity(processes)),
            queue: RefCell::new(BinaryHeap::with_capacity(2 * processes)),
            processes: (0..processes)
                .map(|_| Process {
                    key: Cell::new(NOT_QUEUED),
                    waiting: Cell::new(false),
                    woken: Cell::new(false),
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

    /// How many operations were made so far.
    pub fn operations(&self) -> u64 {
        self.operations.get()
    }

    /// Says whether `process` is a daemon, which serves others: it is no deadlock when a daemon waits for ever.
    pub fn set_daemon(&self, process: ProcessId, daemon: bool) {
        self.processes[process].daemon.set(daemon);
    }

    /// An operation: the running process takes `duration`; whoever is earlier goes first.
    #[inline(always)]
    pub fn advance(&self, duration: Time) {
        self.operations.set(self.operations.get() + 1);
        let time = self.now.get().saturating_add(duration);
        if time < self.horizon.get() {
            self.now.set(time);
        } else {
            self.advance_behind_others(time);
        }
    }

    #[inline(never)]
    fn advance_behind_others(&self, time: Time) {
        if self.choosing.get() {
            self.enqueue(self.current.get(), time);
        } else if !self.give_way(time) {
            self.now.set(time);
            return;
        }
        self.suspend(Request::Next);
    }

    /// Puts the running process in the queue at `time`, in the place of the earliest, who goes next: one sift where a
    /// push and a pop take two. False if nobody is earlier after all: what looked so was stale.
    fn give_way(&self, time: Time) -> bool {
        let mut queue = self.queue.borrow_mut();
        while let Some(mut top) = queue.peek_mut() {
            let earliest = top.0;
            if self.processes[key_process(earliest)].key.get() != earliest {
                PeekMut::pop(top);
                continue;
            }
            if time < key_time(earliest) {
                drop(top);
                self.horizon.set(key_time(earliest));
                return false;
            }
            let process = self.current.get();
            let key = key(time, self.next_sequence(), process);
            self.processes[process].key.set(key);
            top.0 = key;
            drop(top);
            self.chosen.set(earliest);
            return true;
        }
        self.horizon.set(Time::MAX);
        false
    }

    fn next_sequence(&self) -> u64 {
        let sequence = self.sequence.get();
        debug_assert!(sequence < 1 << SEQUENCE_BITS);
        self.sequence.set(sequence + 1);
        sequence
    }

    /// An operation: the running process waits until another calls [`Scheduler::wake`] for it, or until `deadline`.
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
        self.suspend(Request::Next);
        process.waiting.set(false);
        if process.woken.replace(false) { Wake::Called } else { Wake::Deadline }
    }

    /// Ends the wait of `process`, or its next one. Takes no time.
    pub fn wake(&self, process: ProcessId) {
        let woken = &self.processes[process];
        if !woken.woken.replace(true) && woken.waiting.get() {
            self.enqueue(process, self.now.get());
        }
    }

    /// Runs `entry` on a frame on top of the running process; returns when that frame is done.
    pub fn call(&self, entry: u32) {
        self.suspend(Request::Call(entry));
    }

    /// Throws the frames of `process` above the first `keep` away, without unwinding, and starts
    /// `entry` in their place, now.
    ///
    /// # Panics
    /// When `process` is the one that runs: a process cannot pull its own stack away.
    pub fn restart(&self, process: ProcessId, keep: usize, entry: u32) {
        assert_ne!(process, self.current.get(), "a process cannot restart itself");
        self.suspend(Request::Restart { process, keep, entry });
    }

    /// Yields from the running process to its runner.
    fn suspend(&self, request: Request) {
        assert!(is_running(self), "an operation was called outside of a process of this scheduler");
        let yielder = self.processes[self.current()].yielder.get();
        // SAFETY: this scheduler's runner is the innermost one on this thread (asserted above) and it runs nothing but frames of the
        // current process, whose top frame set `yielder` on entry and keeps it on its stack until it ends (the runner's `discard_frames` then
        // restores the one below). So the pointer is valid and belongs to the stack that we are on.
        let yielder = unsafe { &*yielder };
        yielder.suspend(request);
    }

    /// Queues a process that starts or starts anew, now.
    pub(crate) fn enqueue_started(&self, process: ProcessId) {
        self.processes[process].waiting.set(false);
        self.processes[process].woken.set(false);
        self.enqueue(process, self.now.get());
    }

    fn enqueue(&self, process: ProcessId, time: Time) {
        let key = key(time, self.next_sequence(), process);
        self.processes[process].key.set(key);
        self.queue.borrow_mut().push(Reverse(key));
        if time < self.horizon.get() {
            self.horizon.set(time);
        }
    }

    /// Makes the process that goes next the running one, if any can go.
    pub(crate) fn next(&self, chooser: &mut Option<Box<dyn Chooser + '_>>) -> Option<ProcessId> {
        match chooser {
            None => self.next_earliest(),
            Some(chooser) => self.next_chosen(&mut **chooser),
        }
    }

    fn next_earliest(&self) -> Option<ProcessId> {
        let mut queue = self.queue.borrow_mut();
        loop {
            let key = match self.chosen.replace(NOT_QUEUED) {
                NOT_QUEUED => queue.pop()?.0,
                chosen => chosen,
            };
            let process = key_process(key);
            if self.processes[process].key.get() == key {
                self.processes[process].key.set(NOT_QUEUED);
                self.now.set(key_time(key));
                self.current.set(process);
                self.horizon.set(queue.peek().map_or(Time::MAX, |&Reverse(key)| key_time(key)));
                return Some(process);
            }
        }
    }

    fn next_chosen(&self, chooser: &mut dyn Chooser) -> Option<ProcessId> {
        self.choosing.set(true);
        // Keys are read from the processes; what the queue holds only grows stale, so it is emptied.
        self.queue.borrow_mut().clear();
        let mut candidates = self.candidates.borrow_mut();
        candidates.clear();
        candidates.extend(self.processes.iter().enumerate().filter_map(|(process, state)| {
            let key = state.key.get();
            (key != NOT_QUEUED).then(|| Candidate { process, time: key_time(key) })
        }));
        let last = candidates.len().checked_sub(1)?;
        let chosen = candidates[chooser.choose(&candidates).min(last)];
        self.processes[chosen.process].key.set(NOT_QUEUED);
        self.now.set(self.now.get().max(chosen.time));
        self.current.set(chosen.process);
        // Every operation comes back here to be chosen.
        self.horizon.set(0);
        Some(chosen.process)
    }

    /// Processes that wait for a wake-up which no process is left to give.
    pub(crate) fn deadlocked(&self) -> Vec<ProcessId> {
        (0..self.processes.len())
            .filter(|&process| self.processes[process].waiting.get() && !self.processes[process].daemon.get())
            .collect()
    }
}
