//! Counts calls: with QEMU's `-icount`, the counter's ticks are instructions.

use crate::cpu::{self, Starts, counter};
use crate::interrupts;
use boot::states::STATES;
use core::arch::asm;
use core::sync::atomic::{AtomicU64, Ordering};
use machine::{mpidr_of, say};
use psci::{PowerStateFormat, id};

/// Marks for a plugin of the emulator that counts by function (`crates/worlds/tcg-plugin`): hints
/// that mean nothing to a core. A passage begins, ends, and passages of another kind follow.
const BEGIN: u32 = 0x70;
const END: u32 = 0x71;
const NEXT: u32 = 0x72;

#[inline(always)]
fn mark<const NUMBER: u32>() {
    // SAFETY: a hint that no core knows does nothing.
    unsafe { asm!("hint #{}", const NUMBER) };
}

/// Makes `count` calls and returns the ticks that they took, the caller's loop included: each turn
/// loads the four arguments anew. The marks stand at the loop itself: what is between them is the
/// calls and nothing else.
#[inline(never)]
fn ticks_of(count: u64, function: u32, [x1, x2, x3]: [u64; 3]) -> (u64, u64) {
    let begin = counter();
    let last: u64;
    // SAFETY: the firmware keeps X4 and up.
    unsafe {
        asm!(
            "hint #{begin}",
            "1: mov x0, {function}",
            "mov x1, {x1}",
            "mov x2, {x2}",
            "mov x3, {x3}",
            "smc #0",
            "subs {count}, {count}, #1",
            "b.ne 1b",
            "hint #{end}",
            begin = const BEGIN,
            end = const END,
            function = in(reg) u64::from(function),
            x1 = in(reg) x1,
            x2 = in(reg) x2,
            x3 = in(reg) x3,
            count = inout(reg) count => _,
            out("x0") last,
            out("x1") _,
            out("x2") _,
            out("x3") _,
        );
    }
    let ticks = counter() - begin;
    mark::<NEXT>();
    (ticks, last)
}

/// When the CPU that was turned on came to its first instructions; 0 until then.
static ARRIVED: AtomicU64 = AtomicU64::new(0);

static START: Starts = cpu::starts_of(arrive);

extern "C" fn arrive(_: u64) -> ! {
    ARRIVED.store(counter(), Ordering::Release);
    cpu::smc(id::CPU_OFF, [0; 3]);
    loop {
        cpu::wait_for_interrupt();
    }
}

/// Turns the second CPU on and off `count` times: ticks of the call, and until the CPU is in the
/// normal world. The caller sleeps meanwhile; its few instructions before that are counted too.
fn turn_on(count: u64) -> Option<(u64, u64)> {
    let (mut call, mut arrival) = (0, 0);
    for _ in 0..count {
        ARRIVED.store(0, Ordering::Release);
        let begin = counter();
        mark::<BEGIN>();
        let code = cpu::turn_on(1, &START);
        mark::<END>();
        call += counter() - begin;
        if code != 0 {
            return None;
        }
        while ARRIVED.load(Ordering::Acquire) == 0 {
            cpu::nap(100);
        }
        arrival += ARRIVED.load(Ordering::Acquire) - begin;
        cpu::wait_until_off(1);
    }
    mark::<NEXT>();
    Some((call, arrival))
}

/// Prints, for each call, its ticks for `count` calls and what the last one returned.
pub fn run(count: u64, cpus: usize, format: PowerStateFormat, states: [Option<u32>; 2]) {
    const WIDE: u32 = id::SMC64;
    let me = mpidr_of(cpu::this());
    let entry = 0x6000_0000;
    let state =
        |index: usize| u64::from(states[index].unwrap_or(STATES[index].power_state(format, 0)));
    say!("@frequency {}", cpu::counter_frequency());
    for (name, function, arguments) in [
        ("SMCCC_VERSION", id::SMCCC_VERSION, [0; 3]),
        ("PSCI_VERSION", id::PSCI_VERSION, [0; 3]),
        (
            "PSCI_FEATURES",
            id::PSCI_FEATURES,
            [u64::from(id::CPU_SUSPEND | WIDE), 0, 0],
        ),
        ("AFFINITY_INFO(self)", id::AFFINITY_INFO | WIDE, [me, 0, 0]),
        ("CPU_ON, already on", id::CPU_ON | WIDE, [me, entry, 0]),
        (
            "CPU_SUSPEND, invalid state",
            id::CPU_SUSPEND | WIDE,
            [0xffff_ffff, entry, 0],
        ),
        (
            "PMF get timestamp",
            id::PMF_GET_TIMESTAMP | WIDE,
            [0x41 << 24 | 1 << 10, me, 0],
        ),
        (
            "PMF get timestamp, older range",
            id::PMF_GET_TIMESTAMP_OLD | WIDE,
            [0x41 << 24 | 1 << 10, me, 0],
        ),
        ("unknown function", 0x8400_01ff, [0; 3]),
    ] {
        say!("@calling {name}");
        let (ticks, last) = ticks_of(count, function, arguments);
        say!("@call {name}: {ticks} {count} {}", last as i64);
    }
    // With an interrupt pending: standby does not wait, power-down leaves early.
    interrupts::send(cpu::this());
    for (name, index) in [
        ("standby level 0, interrupt pending", 0),
        ("power-down level 0, early out", 1),
    ] {
        say!("@calling {name}");
        let (ticks, last) = ticks_of(count, id::CPU_SUSPEND | WIDE, [state(index), entry, 0]);
        say!("@call {name}: {ticks} {count} {}", last as i64);
    }
    while interrupts::take().is_some() {}
    say!("@calling CPU_ON");
    if cpus > 1
        && let Some((call, arrival)) = turn_on(count.min(100))
    {
        let count = count.min(100);
        say!("@call CPU_ON: {call} {count} 0");
        say!("@call CPU_ON until the CPU is in the normal world: {arrival} {count} 0");
    }
}
