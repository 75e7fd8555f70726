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
