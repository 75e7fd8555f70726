//! The world `qemu`: the PSCI library as EL3 firmware of an emulated machine.
//!
//! ```text
//! Images::find  ──▶ el3.bin, payload.bin ─┐
//! linux::fetch  ──▶ kernel, initramfs ────┤
//!                                         ▼
//!                    Guest::start ── console lines ──▶ payload::Report, linux::Report
//! ```
//!
//! With `-icount` the machine's time is instructions: `shift=4` makes one tick of the 62.5 MHz
//! counter one instruction. Instructions of all CPUs are counted together.
#![forbid(unsafe_code)]

mod carried;
mod counts;
mod debian;
mod debian_programs;
mod error;
mod guest;
mod images;
mod initramfs;
pub mod kernel;
pub mod linux;
mod machine;
mod opcodes;
mod own;
pub mod payload;
mod symbols;
mod target;

pub use counts::{Function, Passages, Plugin};
pub use error::{Error, Result};
pub use guest::{Guest, Load};
pub use images::{Build, Images};
pub use machine::{Gic, Machine};
pub use opcodes::Kind;
pub use own::{OtherFirmware, Placement};
pub use symbols::Symbols;
