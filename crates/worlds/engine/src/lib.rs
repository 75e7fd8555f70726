//! Processes in simulated time.
//!
//! A *process* is code that runs on a stack of its own. Time moves only where a process says so: in
//! [`Scheduler::advance`], [`Scheduler::wait`] and the calls built on them, the *operations*.
//! Between two operations a process runs alone, and every operation is a choice point: which process
//! goes next. The answer is "the earliest" (timed simulation), or whatever a chooser says
//! ([`Runner::with_chooser`]: exploration of interleavings, in which time stands still).
//!
//! ```text
//!   Runner::run ──resume──▶ process 0: frame 0 ▷ frame 1      frame 1 called by frame 0,
//!       ▲                   process 1: frame 0                as an exception level is entered
//!       └──── an operation that is not the earliest yields ────┘
//! ```
//!
//! A process holds a pile of *frames*, each a coroutine: [`Scheduler::call`] puts one on top, and
//! [`Scheduler::restart`] throws away the frames above a depth **without unwinding** and starts
//! anew, as a reset does to a CPU. So no value whose `Drop` matters may live across an operation.
//!
//! Time is an integer number of picoseconds. Nothing here draws random numbers or reads a clock:
//! the same inputs give the same run, on every machine.
//!
//! ```
//! use engine::{Runner, Scheduler};
//! use std::cell::RefCell;
//!
//! let log = RefCell::new(Vec::new());
//! let scheduler = Scheduler::new(2);
//! let main = |process, _entry| {
//!     for _ in 0..2 {
//!         scheduler.advance(if process == 0 { 3 } else { 5 });
//!         log.borrow_mut().push((scheduler.now(), process));
//!     }
//! };
//! let mut runner = Runner::new(&scheduler, &main);
//! runner.start(0, 0);
//! runner.start(1, 0);
//! runner.run().unwrap();
//! drop(runner);
//! assert_eq!(*log.borrow(), [(3, 0), (5, 1), (6, 0), (10, 1)]);
//! ```

mod process;
mod queue;
mod runner;
mod running;
mod scheduler;
mod stack;
mod time;

pub use process::ProcessId;
pub use random::SplitMix64;
pub use runner::{Deadlock, Runner, Waiter};
pub use scheduler::{Scheduler, Wake};
pub use time::{PS_PER_US, Time};

/// The examples of the README are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
