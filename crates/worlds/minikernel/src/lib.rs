//! A small simulated kernel on the simulated SoC, in which every unit of energy has an owner.
//!
//! Tasks are data ([`Workload`]): step machines that compute, sleep, wait for each other. Each CPU
//! is a process of the engine that runs the kernel: run queues, timers, tick, interrupts, idle
//! loop. The idle loop asks a governor of the crate `idle` and goes down through the firmware's
//! PSCI library, or straight into the hardware. What costs time is simulated, what costs power is
//! integrated in integers, and each unit belongs to a task, a callback, a tick, a state: see
//! [`Owner`].
//!
//! ```text
//!  Workload ─▶ tasks ─▶ run queues ─▶ Do::Run ─▶ Scheduler::wait, which an interrupt ends
//!                            │
//!                            └─▶ idle loop ─▶ governor ─▶ Do::Idle ─▶ WFI, or CPU_SUSPEND ─▶ psci ─▶ power controller
//! ```
//!
//! ```
//! use document::Document;
//! use minikernel::{Action, CpuSet, Draw, Hardware, Owner, Settings, TaskSpec, Workload, placement::EvenSpread, run};
//! use soc::config::{IdlePlatform, Sources};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let platforms = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../data/platforms");
//! let open = |name: &str| Document::open(&platforms.join(name));
//! let sources = Sources {
//!     platform: open("tc2.toml")?,
//!     release: open("tc2/releases/tc2-borrowed.toml")?,
//!     costs: open("tc2/costs/tc2-borrowed.toml")?,
//! };
//! let idle = IdlePlatform::read(&open("idle/tc2.toml")?)?;
//! // Round trips cost 29 % (300/1024) of the range between the lowest and the highest source.
//! let hardware = Hardware::new(&sources.machine()?, &idle, 300)?;
//!
//! // 1 ms of a LITTLE core's work every 6 ms, on the LITTLE CPUs.
//! let actions = vec![
//!     Action::Timer { timer: 0, period: 6_000_000, relative: false },
//!     Action::Run { time: Draw::Fixed(1_000_000), capacity: 430 },
//! ];
//! let tasks = vec![TaskSpec::forever("music", actions).on(CpuSet::from_cpus([2, 3, 4]))];
//! let workload = Workload { tasks, ..Workload::default() };
//!
//! let outcome = run(&hardware, &Settings::default(), &workload, Box::new(EvenSpread::new(1)), None, 1_000_000_000)?;
//! assert_eq!(outcome.total(), outcome.integral);
//! assert!(outcome.energy(Owner::Task(0)) > outcome.energy(Owner::Kernel));
//! # Ok(())
//! # }
//! ```
//!
//! | file | what it is about |
//! |---|---|
//! | `random.rs` | lengths drawn from a task's own stream |
//! | `task.rs` | tasks, devices and what they do, as data |
//! | `settings.rs`, `costs.rs` | what the kernel is built with, and what its own work takes |
//! | `hardware.rs` | the machine as the kernel knows it |
//! | `owners.rs` | who owns energy |
//! | `counts.rs` | what is counted beside energy |
//! | `events.rs` | points that the kernel stamps |
//! | `callbacks.rs` | what the kernel asks of the code that puts callbacks off |
//! | `checks.rs` | whether all of it makes sense |
//! | `timers.rs`, `runqueue.rs`, `objects.rs`, `program.rs` | parts of the kernel |
//! | `cpu.rs`, `kernel.rs` | the kernel's state, and a CPU's next step |
//! | `building.rs`, `view.rs` | how it is built; what policies of placement see of it |
//! | `schedule.rs`, `groups.rs`, `run_task.rs`, `interrupts.rs`, `idle_loop.rs`, `frequency.rs`, `rcu_glue.rs` | what a step is made of |
//! | `rcu_port.rs` | the crate `rcu` as such code |
//! | `machine.rs` | builds a machine, runs it, reads it |
#![forbid(unsafe_code)]

mod building;
pub mod callbacks;
mod checks;
mod costs;
mod counts;
mod cpu;
pub mod events;
mod frequency;
mod groups;
mod hardware;
mod idle_loop;
mod interrupts;
mod kernel;
mod machine;
mod objects;
mod owners;
mod power_domains;
mod program;
mod random;
mod rcu_glue;
mod rcu_port;
mod run_task;
mod runqueue;
mod schedule;
mod settings;
mod task;
mod timers;
mod view;

pub use costs::{Cost, Costs, MOST_NS};
pub use counts::{CpuCounts, TaskCounts, WakeCause};
pub use hardware::{Domain, Hardware, IdleState, SwitchedDomain};
pub use machine::{DomainOutcome, Error, Outcome, TaskOutcome, run};
pub use owners::{Owner, Owners};
pub use placement;
pub use random::Draw;
pub use rcu_port::{Affinities, Rcu};
pub use settings::{Form, Frequency, Settings};
pub use task::{
    Action, CpuSet, DeviceSpec, GroupSpec, Phase, Policy, Start, TaskId, TaskSpec, Workload,
};
