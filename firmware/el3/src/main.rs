//! EL3 firmware for QEMU's `virt` machine: the PSCI library on real exception vectors.
//!
//! ```text
//! reset ─┬─ first CPU ──▶ cold_boot: options, device tree, interrupt controller, PSCI ──▶ normal world
//!        └─ others ─────▶ power::hold ◀── off ──┐                                            │ SMC
//!                             │ CPU_ON           │                                            ▼
//!                             ▼                  └────────── power::wait ◀── psci ◀── vectors::smc
//!                  power::emulated_reset ◀── wake-up ────────────┘                            │
//!                             ▼                                                               ▼
//!                         warm_boot ──▶ normal world                                   back to the caller
//! ```
//!
//! To port the library to a board, read `platform.rs` first: it is the whole of what the library
//! asks for.
#![no_std]
#![no_main]

extern crate alloc;

mod entry;
mod gic;
mod heap;
mod layout;
mod library;
mod memory;
mod platform;
mod power;
mod registers;
mod start;
mod vectors;

use core::panic::PanicInfo;
use machine::say;
use platform::stop;

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    say!("stopwatt: EL3 on CPU {}: {info}", registers::this_cpu());
    stop()
}
