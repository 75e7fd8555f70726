//! The power controller, emulated.
//!
//! The machine has none: with `secure=on` QEMU leaves power to the firmware. A CPU that is told to
//! go down therefore waits in WFI and then takes the way of a reset: MMU and caches off, stack
//! forgotten, from the first instruction of the warm boot path. What is not lost, because nothing
//! loses power, is said in the table.
//!
//! | | a board | here |
//! |---|---|---|
//! | core, cluster off | registers and caches lost | WFI, then the warm boot path; registers of EL1 and EL2 are set as after a reset |
//! | woken by | a wake request of the interrupt controller, whose interface is off | the interface, opened again for the WFI |
//! | turned on by | the power controller | a software interrupt of Group 0 |
//! | a cold reset | everything | a pin; what lies in memory stays, and the machine loads its images anew |
//! | a warm reset | cores and devices, not memory | the same pin; a mark in memory that stays tells the boot of it |
//! | retention | contents kept at low voltage | WFI |
//! | timers | stop with the power domain | run on |

use crate::entry::identify;
use crate::gic::Gic;
use crate::layout::STACK_STRIDE;
use crate::memory::SCTLR_RESET;
use crate::registers::interrupt_signalled;
use boot::states;
use core::arch::{asm, naked_asm};
use core::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use machine::{CLUSTER, MAX_CPUS, SECURE_GPIO};
use psci::{CompositeState, HwState, Level, LocalState};

/// The interrupts that a CPU which goes down waits for; in a line of its own, because it is stored
/// with the cache off.
#[repr(align(64))]
struct WaitsForInterrupt(AtomicBool);

/// False: it is off, and waits for a CPU_ON.
static SUSPENDED: [WaitsForInterrupt; MAX_CPUS] =
    [const { WaitsForInterrupt(AtomicBool::new(false)) }; MAX_CPUS];

/// A domain's power, in a line of its own.
#[repr(align(64))]
struct Power(AtomicU8);

const POWER_OFF: u8 = 0;
const POWER_ON: u8 = 1;
const POWER_STANDBY: u8 = 2;

/// Power states of the cores, the clusters, the system.
static CORES: [Power; MAX_CPUS] = [const { Power(AtomicU8::new(POWER_OFF)) }; MAX_CPUS];
static CLUSTERS: [Power; MAX_CPUS / CLUSTER] =
    [const { Power(AtomicU8::new(POWER_OFF)) }; MAX_CPUS / CLUSTER];
static SYSTEM: Power = Power(AtomicU8::new(POWER_OFF));

/// The domain of a CPU at a level.
#[inline(always)]
fn domain(cpu: usize, level: Level) -> Option<&'static Power> {
    match level {
        0 => CORES.get(cpu),
        1 => CLUSTERS.get(cpu / CLUSTER),
        states::TOP => Some(&SYSTEM),
        _ => None,
    }
}

/// Notes what becomes of the domains of a CPU that leave the running state.
#[inline(always)]
fn note(cpu: usize, state: &CompositeState, becomes: impl Fn(LocalState) -> u8) {
    for level in 0..=state.highest() {
        if let Some(domain) = domain(cpu, level) {
            domain.0.store(becomes(state.at(level)), Ordering::Release);
        }
    }
}

/// The controller's state of a domain.
pub fn state_of(cpu: usize, level: Level) -> Option<HwState> {
    Some(match domain(cpu, level)?.0.load(Ordering::Acquire) {
        POWER_ON => HwState::On,
        POWER_STANDBY => HwState::Standby,
        _ => HwState::Off,
    })
}

/// The message to the controller: this CPU and what goes down with it go down at its next [`wait`].
pub fn prepare(cpu: usize, state: &CompositeState, suspends: bool) {
    if let Some(own) = SUSPENDED.get(cpu) {
        own.0.store(suspends, Ordering::Release);
    }
    note(cpu, state, |local| {
        if local == states::OFF {
            POWER_OFF
        } else {
            POWER_STANDBY
        }
    });
}

/// The domains of this CPU that were in `state`, and those of the first CPU at its boot, have
/// power.
pub fn up(cpu: usize, state: &CompositeState) {
    note(cpu, state, |_| POWER_ON);
}

/// Standby until an interrupt is signalled: contents kept.
#[inline(always)]
pub fn stand_by(cpu: usize, state: &CompositeState) {
    note(cpu, state, |_| POWER_STANDBY);
    wait_for_interrupt();
    note(cpu, state, |_| POWER_ON);
}

/// The terminal WFI: comes back through the warm boot path, never here.
pub fn wait(gic: Gic, cpu: usize) -> ! {
    if SUSPENDED
        .get(cpu)
        .is_some_and(|own| own.0.load(Ordering::Acquire))
    {
        gic.listen_for_interrupts();
        while !interrupt_signalled() {
            wait_for_interrupt();
        }
        gic.stop_listening();
        // SAFETY: the library expects a CPU that went down to be seen next in the warm boot path.
        unsafe { emulated_reset() }
    }
    // SAFETY: as above.
    unsafe { hold_without_memory() }
}

/// Holding pen of CPUs that are off: the others than the first, from their reset on. The MMU is
/// off, and no data may be touched: the first CPU may be making it.
pub extern "C" fn hold() -> ! {
    let gic = Gic::find();
    gic.init_interface();
    while !gic.take_power_on() {
        wait_for_interrupt();
    }
    // SAFETY: nothing is on the stack.
    unsafe { emulated_reset() }
}

// In `start.rs`, which is above: a power controller knows where CPUs start by this address alone.
unsafe extern "C" {
    fn warm_boot() -> !;
}

/// The body of a function that forgets the stack, turns MMU and caches off, and goes to another
/// one.
macro_rules! forget_and_go_to {
    ($target:path) => {
        naked_asm!(
            "msr daifset, #0xf",
            "ldr x0, ={sctlr}",
            "msr sctlr_el3, x0",
            "isb",
            identify!(),
            "bl {target}",
            "99: wfi",
            "b 99b",
            sctlr = const SCTLR_RESET,
            cluster = const CLUSTER,
            max_cpus = const MAX_CPUS,
            stack_stride = const STACK_STRIDE,
            target = sym $target,
        )
    };
}

/// Off: with the MMU off, where nothing in memory is needed, until a CPU_ON.
///
/// # Safety
/// Nothing that the caller has on its stack may be needed again.
#[unsafe(naked)]
unsafe extern "C" fn hold_without_memory() -> ! {
    forget_and_go_to!(hold)
}

/// An emulated reset: on as after a real one.
///
/// # Safety
/// Nothing that the caller has on its stack may be needed again.
#[unsafe(naked)]
unsafe extern "C" fn emulated_reset() -> ! {
    forget_and_go_to!(warm_boot)
}

/// The state that a reset leaves as it was. A value that is not one of the marks is as good as 0:
/// memory holds anything when power comes.
#[repr(C, align(64))]
struct Kept {
    resetting: AtomicU64,
    protects: AtomicU64,
}

#[unsafe(link_section = ".kept")]
static KEPT: Kept = Kept {
    resetting: AtomicU64::new(0),
    protects: AtomicU64::new(0),
};

/// A warm reset is going on.
const RESETTING: u64 = 0x7761_726d_2072_6573;
/// Memory is overwritten at the next cold reset.
const PROTECTS: u64 = 0x6d65_6d20_7072_6f74;

/// True if this boot is that of a warm reset, which is over with it.
pub fn was_warm_reset() -> bool {
    KEPT.resetting.swap(0, Ordering::SeqCst) == RESETTING
}

/// MEM_PROTECT: says whether memory is overwritten at the next cold reset, and returns whether it
/// would have been.
pub fn protect_memory(enable: bool) -> bool {
    KEPT.protects
        .swap(if enable { PROTECTS } else { 0 }, Ordering::SeqCst)
        == PROTECTS
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

/// Resets the machine: all CPUs and devices. What lies in memory stays, but for the images and the
/// device tree, which the machine loads anew. A warm reset tells the next boot to keep the rest.
pub fn reset(is_warm: bool) {
    KEPT.resetting
        .store(if is_warm { RESETTING } else { 0 }, Ordering::SeqCst);
    crate::memory::barrier();
    pull(PIN_RESET);
}

/// Makes a pin of the secure GPIO an output that is high (PL061: the address selects the bits of
/// the data register).
fn pull(pin: usize) {
    const DIRECTION: usize = 0x400;
    // SAFETY: mapped as a device; what follows ends this image's run.
    unsafe {
        ((SECURE_GPIO + (4 << pin)) as *mut u32).write_volatile(0);
        ((SECURE_GPIO + DIRECTION) as *mut u32).write_volatile(1 << pin);
        ((SECURE_GPIO + (4 << pin)) as *mut u32).write_volatile(1 << pin);
    }
}
