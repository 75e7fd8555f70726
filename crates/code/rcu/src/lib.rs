//! Read-copy update (RCU): lists of callbacks, and the grace periods that they wait for.
//!
//! Readers of shared data take no lock. Whoever replaces an object must not free it while a reader
//! may still see it, so the freeing is queued as a *callback*. It is invoked after a *grace
//! period*: a time in which every CPU has passed a *quiescent state*, a moment at which it has no
//! reader. All of that is work that RCU does later, and somewhere: where and when decides what it
//! costs in energy.
//!
//! The crate is the mechanism of Linux, described in its own words and code, in two forms: that of
//! 3.10 to 3.12 ([`Form::Y2013`]) and that of today ([`Form::Modern`]). It needs an allocator and a
//! [`Platform`], which stands for the kernel under it: interrupts, threads and time are the
//! kernel's. What two CPUs share is a cell of the platform's, so that each access can be a choice
//! point of an explorer.
//!
//! # How a kernel calls it
//! Every call is made with the CPU's interrupts off, and RCU is not entered a second time on that
//! CPU meanwhile, but through [`Platform::invoke`].
//!
//! * **Interrupt:** [`Rcu::irq_enter`], the handler, then softirqs that are pending ([`Rcu::core`],
//!   again for as long as it returns true and the kernel wants to), then, if the CPU is idle and
//!   stays so, [`Rcu::idle_need`], then [`Rcu::irq_exit`].
//! * **Tick:** a handler that calls [`Rcu::tick`].
//! * **Into idle:** [`Rcu::context_switch`] to the idle task, [`Rcu::idle_need`]; if that raised
//!   the softirq, run it and ask again; stop the tick or set a timer as it says;
//!   [`Rcu::idle_enter`]; sleep.
//! * **Out of idle:** [`Rcu::idle_exit`], then softirqs that are pending.
//! * **Switch of tasks:** [`Rcu::context_switch`] with the task that leaves.
//! * **Threads:** those of [`Rcu::threads`], stepped by [`Rcu::grace_period_thread`] and
//!   [`Rcu::offload_thread`]. Between two steps the CPU may take interrupts, switch to another task
//!   or move the thread to another CPU.
//! * **Going off:** [`Rcu::context_switch`], [`Rcu::cpu_offline`] on the CPU, then
//!   [`Rcu::migrate_callbacks`] on one that stays. **Coming up:** [`Rcu::cpu_online`] on the CPU.
//!
//! # Example
//! A kernel of one CPU on which nothing happens at the same time. A callback is invoked after a
//! grace period, and a reader holds the grace period up:
//!
//! ```
//! use ::points::{Point, Sink};
//! use rcu::*;
//! use std::cell::{Cell, RefCell};
//!
//! #[derive(Default)]
//! struct Kernel {
//!     jiffies: Cell<u64>,
//!     invoked: RefCell<Vec<Callback>>,
//! }
//!
//! struct Word<T>(Cell<T>);
//!
//! impl<T: Scalar> SharedWord<T, Kernel> for Word<T> {
//!     fn new(value: T) -> Self { Self(Cell::new(value)) }
//!     fn load(&self, _: &Kernel) -> T { self.0.get() }
//!     fn store(&self, _: &Kernel, value: T) { self.0.set(value) }
//!     fn fetch_add(&self, _: &Kernel, value: T) -> T {
//!         let sum = self.0.get().to_word().wrapping_add(value.to_word());
//!         self.0.replace(T::from_word(sum))
//!     }
//! }
//!
//! impl<T: Scalar> SharedCell<T, Kernel> for Word<T> {
//!     fn compare_exchange(&self, _: &Kernel, current: T, new: T, _: Order) -> bool {
//!         let is_same = self.0.get() == current;
//!         self.0.set(if is_same { new } else { self.0.get() });
//!         is_same
//!     }
//! }
//!
//! impl Sink for Kernel {
//!     fn now(&self) -> u64 { self.jiffies.get() }
//!     fn capture(&self, _: Point, _: u32, _: u64) {}
//! }
//!
//! impl Platform for Kernel {
//!     type Shared<T: Scalar> = Word<T>;
//!     type Watch = ();
//!
//!     fn barrier(&self) {}
//!     fn this_cpu(&self) -> usize { 0 }
//!     fn jiffies(&self) -> u64 { self.jiffies.get() }
//!     // Softirqs run at the end of each tick, and the thread runs after it.
//!     fn raise_softirq(&self) {}
//!     fn wake(&self, _: Thread) {}
//!     fn resched(&self, _: usize) {}
//!     fn set_timer(&self, _: RcuTimer, _: u64) {}
//!     fn cancel_timer(&self, _: RcuTimer) {}
//!     fn invoke(&self, callback: Callback) { self.invoked.borrow_mut().push(callback) }
//! }
//!
//! let (kernel, task) = (Kernel::default(), Reader::new(1));
//! let rcu = Rcu::new(Settings::new(1, 250, Form::Modern))?;
//! let ticks = |number| for _ in 0..number {
//!     kernel.jiffies.set(kernel.jiffies.get() + 1);
//!     rcu.irq_enter(&kernel);
//!     rcu.tick(&kernel, InterruptedCode::Kernel, &task);
//!     while rcu.core(&kernel) {}
//!     rcu.irq_exit(&kernel);
//!     rcu.grace_period_thread(&kernel);
//! };
//!
//! let free = Callback { function: 1, argument: 0x8000, urgency: Urgency::Plain };
//! rcu.read_lock(&task);
//! rcu.call(&kernel, free);
//! ticks(20);
//! assert_eq!((rcu.callbacks(0), kernel.invoked.borrow().len()), (1, 0));
//! rcu.read_unlock(&kernel, &task);
//! ticks(20);
//! assert_eq!(*kernel.invoked.borrow(), [free]);
//! # Ok::<(), SettingsError>(())
//! ```
//!
//! | file | what it is about |
//! |---|---|
//! | `cell.rs`, `platform.rs`, `lock.rs`, `plain.rs` | what RCU asks of the kernel; shared words; a lock made of one; plain data that is watched |
//! | `settings.rs`, `callback.rs`, `counters.rs`, `points.rs`, `stall_report.rs` | what goes in and what comes out |
//! | `sequence.rs`, `segments.rs` | numbers of grace periods; the list of callbacks |
//! | `node.rs`, `cpu.rs`, `group.rs`, `state.rs` | the tree, what is kept per CPU and per group of CPUs, and all together |
//! | `request.rs` | asking for a grace period, learning of it, reporting a quiescent state |
//! | `reader.rs`, `dyntick.rs` | readers and their preemption; idle CPUs |
//! | `grace_period.rs` | the grace-period thread, and its look at who holds a grace period up |
//! | `call.rs`, `softirq.rs`, `idle.rs` | queueing; tick and softirq; what an idle CPU may do |
//! | `offload_2013.rs`, `bypass.rs`, `group_wake.rs`, `offload_threads.rs` | offloading, then and now |
//! | `stall.rs`, `hotplug.rs` | grace periods that take too long; CPUs that go off |
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod bypass;
mod call;
mod callback;
mod cell;
mod counters;
mod cpu;
mod dyntick;
mod grace_period;
mod group;
mod group_wake;
mod hotplug;
mod idle;
mod lock;
mod node;
mod offload_2013;
mod offload_threads;
mod plain;
mod platform;
pub mod points;
mod reader;
mod request;
mod segments;
mod sequence;
mod settings;
mod softirq;
mod stall;
mod stall_report;
mod state;

pub use callback::{Callback, Urgency};
pub use cell::{Order, Scalar, SharedCell, SharedWord, Watch};
pub use counters::{Counters, GracePeriodCounters};
pub use hotplug::Refusal;
pub use idle::{IDLE_DELAY, IDLE_LAZY_DELAY_S, IdleNeed};
pub use platform::{Platform, RcuTimer, Step, Thread};
pub use reader::Reader;
pub use settings::{Form, Settings, SettingsError};
pub use softirq::InterruptedCode;
pub use stall_report::Stall;
pub use state::Rcu;
