//! A small simulated kernel on the simulated SoC, in which every unit of energy has an owner.
//!
//! Tasks are data ([`Workload`]): step machines that compute, sleep, wait for each other. Each CPU is a process of the engine that runs the
//! kernel: run queues, timers, tick, interrupts, idle loop. The idle loop asks a governor of the crate `idle` and goes down through the
//! firmware's PSCI library, or straight into the hardware. What costs time is simulated, what costs power is integrated in integers, and
//! each unit belongs to a task, a callback, a tick, a state: see [`Owner`].
//!
//! ```text
//!  Workload ─▶ tasks ─▶ run queues ─▶ Do::Run ─▶ Scheduler::wait, which an interrupt ends
//!                            │
//!                            └─▶ idle loop ─▶ governor ─▶ Do::Idle ─▶ WFI, or CPU_SUSPEND ─▶ psci ─▶ power controller
//! ```
//!
//! | file | what it is about |
//! |---|---|
//! | `random.rs` | lengths drawn from a task's own stream |
//! | `task.rs` | tasks, devices and what they do, as data |
//! | `settings.rs` | what the kernel is built with, and what its own work takes |
//! | `hardware.rs` | the machine as the kernel knows it |
//! | `owners.rs` | who owns energy |
//! | `counts.rs` | what is counted beside energy |
//! | `events.rs` | points that the kernel stamps |
//! | `callbacks.rs` | what the kernel asks of the code that puts callbacks off |
//! | `placement.rs` | what it asks of the policy that says who runs where; simple policies |
//! | `timers.rs`, `runqueue.rs`, `objects.rs`, `program.rs` | parts of the kernel |
//! | `kernel.rs` | the kernel's state, and a CPU's next step |
//! | `schedule.rs`, `run_task.rs`, `interrupts.rs`, `idle_loop.rs`, `frequency.rs`, `rcu_glue.rs` | what a step is made of |
//! | `machine.rs` | builds a machine, runs it, reads it |
#![forbid(unsafe_code)]

pub mod callbacks;
mod counts;
pub mod events;
mod frequency;
mod hardware;
mod idle_loop;
mod interrupts;
mod kernel;
mod machine;
mod objects;
mod owners;
pub mod placement;
mod program;
mod random;
mod rcu_glue;
mod run_task;
mod runqueue;
mod schedule;
mod settings;
mod task;
mod timers;

pub use counts::{CpuCounts, TaskCounts, WakeCause};
pub use hardware::{Domain, Hardware, IdleState};
pub use machine::{DomainOutcome, Error, Outcome, TaskOutcome, run};
pub use owners::{Owner, Owners};
pub use random::Draw;
pub use settings::{Broadcast, Costs, Fairness, Form, Frequency, IdlePath, Settings};
pub use task::{Action, CpuSet, DeviceSpec, Phase, Policy, Start, TaskId, TaskSpec, Workload};
