//! A simulated Arm SoC.
//!
//! The PSCI library runs on it unchanged: [`Soc`] implements [`psci::Platform`], and what each of its operations takes comes
//! from a platform file (hardware facts) and a costs file (fitted). The measured procedures run in its normal
//! world, the firmware in frames on top of it, as exception levels do.
//!
//! ```text
//!  procedures (normal world) ──smc──▶ psci (EL3) ──message──▶ SCP channel ──power──▶ CPU
//!        ▲                                │                                           │
//!        └────────── entry point ─────────┴────────── warm boot ◀──── reset ◀─────────┘
//! ```
//!
//! Processes of the engine: one for each CPU, one for each SCP channel, one for the shared timer.

mod chooser;
pub mod config;
mod cpu;
mod deadlock;
mod declared_order;
mod entry;
mod event;
mod firmware;
mod interrupts;
mod log;
mod mailbox;
mod memory;
mod normal_world;
mod order;
mod platform;
pub mod points;
mod port;
pub mod quantity;
mod run;
mod scp;
mod soc;

pub use chooser::Explore;
pub use cpu::CpuState;
pub use event::{Event, Measured};
pub use memory::Word;
pub use points::{point, point_name, stamp_at};
pub use run::{Conditions, RunError, RunOutcome, run};
pub use soc::Soc;
