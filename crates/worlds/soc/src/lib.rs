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

pub mod config;
mod interrupts;
mod log;
mod memory;
mod normal_world;
mod order;
mod platform;
mod port;
pub mod quantity;
mod scp;
mod system;

pub use log::{Event, point_name, points, stamp_at};
pub use memory::Word;
pub use system::{Conditions, CpuState, Explore, Measured, RunError, RunOutcome, Soc, run};
