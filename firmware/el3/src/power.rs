//! The power controller, emulated.
//!
//! The machine has none: with `secure=on` QEMU leaves power to the firmware. A CPU that is told to go down therefore waits
//! in WFI and then takes the way of a reset: MMU and caches off, stack forgotten, from the first instruction of the warm
//! boot path. What is not lost, because nothing loses power, is said in the table.
//!
//! | | a board | here |
//! |---|---|---|
//! | core, cluster off | registers and caches lost | WFI, then the warm boot path; registers of EL1 and EL2 are set as after a reset |
//! | woken by | a wake request of the interrupt controller, whose interface is off | the interface, opened again for the WFI |
//! | turned on by | the power controller | a software interrupt of Group 0 |
//! | retention | contents kept at low voltage | WFI |
//! | timers | stop with the power domain | run on |

use core::arch::asm;
use core::sync::atomic::{AtomicBool, Ordering};

use crate::gic::Gic;
use crate::registers::interrupt_signalled;
use crate::reset::emulated_reset;
use machine::{MAX_CPUS, SECURE_GPIO};

/// What a CPU that goes down waits for; in a line of its own, because it is stored with the cache off.
#[repr(align(64))]
struct WaitsForInterrupt(AtomicBool);

/// False: it is off, and waits for a CPU_ON.
static SUSPENDED: [WaitsForInterrupt; MAX_CPUS] = [const { WaitsForInterrupt(AtomicBool::new(false)) }; MAX_CPUS];

/// The message to the controller: this CPU goes down at its next [`wait`].
pub fn prepare(cpu: usize, suspends: bool) {
    if let Some(own) = SUSPENDED.get(cpu) {
        own.0.store(suspends, Ordering::Release);
    }
}

/// The terminal WFI: comes back through the warm boot path, never here.
pub fn wait(gic: Gic, cpu: usize) -> ! {
    if SUSPENDED.get(cpu).is_some_and(|own| own.0.load(Ordering::Acquire)) {
        gic.listen_for_interrupts();
        while !interrupt_signalled() {
            wait_for_interrupt();
        }
        gic.stop_listening();
    } else {
        wait_until_on(gic);
    }
    // SAFETY: the library expects a CPU that went down to be seen next in the warm boot path.
    unsafe { emulated_reset() }
}

/// Where CPUs other than the first go from reset. Touches no data: the first CPU is still making it.
pub extern "C" fn hold() -> ! {
    wait_until_on(Gic::find());
    // SAFETY: nothing is on the stack.
    unsafe { emulated_reset() }
}

fn wait_until_on(gic: Gic) {
    gic.listen_for_power_on();
    while !gic.take_power_on() {
        wait_for_interrupt();
    }
}

/// Waits until an interrupt is signalled, masked or not.
pub fn wait_for_interrupt() {
    // SAFETY: only waits.
    unsafe { asm!("dsb sy", "wfi", options(nostack, preserves_flags)) }
}

const PIN_POWER_OFF: usize = 0;
const PIN_RESET: usize = 1;

/// Powers the machine off.
pub fn off() {
    pull(PIN_POWER_OFF);
}

/// Resets the machine.
pub fn reset() {
    pull(PIN_RESET);
}

/// Makes a pin of the secure GPIO an output that is high (PL061: the address selects the bits of the data register).
fn pull(pin: usize) {
    const DIRECTION: usize = 0x400;
    // SAFETY: mapped as a device; what follows ends this image's run.
    unsafe {
        ((SECURE_GPIO + (4 << pin)) as *mut u32).write_volatile(0);
        ((SECURE_GPIO + DIRECTION) as *mut u32).write_volatile(1 << pin);
        ((SECURE_GPIO + (4 << pin)) as *mut u32).write_volatile(1 << pin);
    }
}

/// Takes the interrupt that asks this CPU to reset; called on the way back to the normal world.
pub fn take_reset_request() {}
