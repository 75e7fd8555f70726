//! A simulated Arm SoC.
//!
//! The PSCI library runs on it unchanged: [`Soc`] implements [`psci::Platform`], and what each of
//! its operations takes comes from a platform file (hardware facts) and a costs file (fitted). The
//! measured procedures run in its normal world, the firmware in frames on top of it, as exception
//! levels do.
//!
//! ```text
//!  procedures (normal world) ──smc──▶ psci (EL3) ──message──▶ SCP channel ──power──▶ CPU
//!        ▲                                │                                           │
//!        └────────── entry point ─────────┴────────── warm boot ◀──── reset ◀─────────┘
//! ```
//!
//! Instead of the measured procedures another system may run in the normal world ([`run_system`]):
//! a kernel, for which there are interrupts of many sources, an always-on timer, operating points
//! and a meter of energy.
//!
//! Processes of the engine: one for each CPU, one for each SCP channel, one for the timers.

mod cpu;
mod deadlock;
mod declared_order;
mod entry;
mod event;
mod firmware;
mod interrupt_source;
mod interrupts;
mod log;
mod mailbox;
mod memory;
pub mod meter;
mod normal_world;
mod order;
mod platform;
pub mod points;
mod port;
mod run;
mod scp;
mod soc;
mod system;
mod timers;
mod work;

pub use cpu::CpuState;
pub use declared_order::Order;
pub use event::{Event, ProcedureStamps};
pub use interrupt_source::{Interrupts, MAX_DEVICES, MAX_IPIS, Source};
pub use memory::Word;
pub use points::{point, point_name, stamp_at};
pub use run::{Conditions, RunError, RunOutcome, SETTLED, run, run_and_tell};
pub use soc::Soc;
pub use soc_config::{self as config, OperatingPoint, quantity};
pub use system::{System, run_system};
pub use work::Work;
