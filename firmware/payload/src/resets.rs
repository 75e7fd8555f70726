//! Warm and cold resets, and what they leave of memory: each step ends in a reset, and the next one
//! finds it in memory that no reset touches.

use crate::checks::sleep_until;
use crate::cpu::{self, Starts, call};
use crate::interrupts;
use boot::states::STATES;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use machine::{mpidr_of, say};
use psci::{PowerStateFormat, id};

/// Step of the test, in memory that the machine fills at each reset and that MEM_PROTECT leaves
/// alone; behind the image, so that the machine does.
const STEP: *mut u64 = 0x6300_0000 as *mut u64;
const A_SECRET: u64 = 0x5ec2_e75e_c2e7_5ec2;
/// The step is in the lowest byte of a word that is no accident.
const MARK: u64 = 0x7374_6570_2061_6200;

const CHECK_RANGE: u32 = id::MEM_PROTECT_CHECK_RANGE | id::SMC64;
const DENIED: i64 = -3;

static STARTS: Starts = cpu::starts_of(other);

/// The image is loaded anew at each reset, so that a program need not be made to be entered twice.
static IS_CLEAN: AtomicBool = AtomicBool::new(true);
/// CPUs that came to their first instruction.
static ARRIVED: AtomicU64 = AtomicU64::new(0);
/// The last CPU calls SYSTEM_RESET2, and so stays awake.
static LAST: AtomicU64 = AtomicU64::new(0);
/// The others are where they should be: now the last one may.
static READY: AtomicBool = AtomicBool::new(false);

/// Has memory protected, and sees that what is in use is not.
fn protect(
    check: &mut impl FnMut(&str, i64, i64),
    first: *mut u64,
    last: *mut u64,
    memory_end: u64,
) {
    check("MEM_PROTECT was off", call(id::MEM_PROTECT, [1, 0, 0]), 0);
    for place in [first, last] {
        check(
            "memory is protected",
            call(CHECK_RANGE, [place as u64, 0x1000, 0]),
            0,
        );
    }
    for (base, length) in [
        (STEP as u64, 8),
        (0x4000_0000, 8),
        (last as u64, 0x1001),
        (0x0e00_0000, 8),
        (memory_end, 8),
    ] {
        check(
            "memory is not protected",
            call(CHECK_RANGE, [base, length, 0]),
            DENIED,
        );
    }
}

/// Goes through all steps, a reset after each; true if all was as it should be.
pub fn run(cpus: usize, memory_end: u64) -> bool {
    // In memory that MEM_PROTECT protects, as far up as there is any.
    let last = (memory_end - 0x1000) as *mut u64;
    const FIRST: *mut u64 = 0x5000_0000 as *mut u64;
    // SAFETY: nobody else uses these words.
    let (step, secrets) = unsafe {
        (
            STEP.read_volatile(),
            [FIRST.read_volatile(), last.read_volatile()],
        )
    };
    let step = if step & !0xff == MARK { step & 0xff } else { 0 };
    say!("@step {step}");
    let mut well = true;
    let mut check = |what: &str, got: i64, expected: i64| {
        if got != expected {
            say!("@failure step {step}, {what}: {got}, expected {expected}");
            well = false;
        }
    };
    let next = |secret: u64| {
        // SAFETY: as above.
        unsafe {
            STEP.write_volatile(MARK | (step + 1));
            FIRST.write_volatile(secret);
            last.write_volatile(secret);
        }
    };
    let state = STATES[1].power_state(PowerStateFormat::Original, 0);
    let me = mpidr_of(cpu::this());
    let sleeps = || call(id::PSCI_STAT_COUNT | id::SMC64, [me, state.into(), 0]);
    check("statistics begin with a reset", sleeps(), 0);
    check("CPU_SUSPEND", sleep_until(state, || sleeps() != 0), 0);
    check("PSCI_STAT_COUNT", sleeps(), 1);
    let is_clean = IS_CLEAN.swap(false, Ordering::AcqRel);
    check("the image is loaded anew", is_clean.into(), 1);
    let is_kept = secrets == [A_SECRET; 2];
    match step {
        0 => {
            protect(&mut check, FIRST, last, memory_end);
            next(A_SECRET);
            reset_from_another(cpus)
        }
        1 => {
            check("a warm reset keeps memory", is_kept.into(), 1);
            let was_on = call(id::MEM_PROTECT, [1, 0, 0]);
            check("a warm reset keeps MEM_PROTECT", was_on, 1);
            turn_all_on(cpus, &mut check);
            next(A_SECRET);
            call(id::SYSTEM_RESET, [0; 3]);
        }
        2 => {
            let is_empty = secrets == [0; 2];
            check("a cold reset overwrites memory", is_empty.into(), 1);
            check("then MEM_PROTECT is off", call(id::MEM_PROTECT, [0; 3]), 0);
            next(A_SECRET);
            // By the first CPU, too.
            call(id::SYSTEM_RESET2 | id::SMC64, [0; 3]);
        }
        _ => {
            check("a warm reset keeps memory", is_kept.into(), 1);
            turn_all_on(cpus, &mut check);
            return well;
        }
    }
    say!("@failure step {step}: there was no reset");
    false
}

/// Brings the other CPUs into each state that there is: running, asleep with the cluster, off; and
/// lets the last of them reset.
fn reset_from_another(cpus: usize) {
    LAST.store(cpus as u64 - 1, Ordering::Release);
    for cpu in 1..cpus {
        cpu::turn_on(cpu, &STARTS);
    }
    while ARRIVED.load(Ordering::Acquire) + 1 < cpus as u64 {
        cpu::nap(200);
    }
    cpu::nap(200);
    if cpus == 1 {
        cpu::smc(id::SYSTEM_RESET2 | id::SMC64, [0; 3]);
        return;
    }
    READY.store(true, Ordering::Release);
    cpu::send_event();
    // However long a busy host takes.
    loop {
        cpu::nap(200);
    }
}

extern "C" fn other(cpu: u64) -> ! {
    interrupts::init_cpu();
    ARRIVED.fetch_add(1, Ordering::AcqRel);
    loop {
        if cpu == LAST.load(Ordering::Acquire) {
            if READY.load(Ordering::Acquire) {
                cpu::smc(id::SYSTEM_RESET2 | id::SMC64, [0; 3]);
            }
        } else if cpu % 3 == 1 {
            cpu::suspend(
                id::CPU_SUSPEND | id::SMC64,
                STATES[3].power_state(PowerStateFormat::Original, 0),
            );
            interrupts::init_cpu();
        } else if cpu % 3 == 2 {
            cpu::smc(id::CPU_OFF, [0; 3]);
        }
        cpu::wait_for_event();
    }
}

/// Every CPU can be turned on, and off again.
fn turn_all_on(cpus: usize, check: &mut dyn FnMut(&str, i64, i64)) {
    for cpu in 1..cpus {
        check(
            "the start of a CPU",
            cpu::turn_on_and_off(false, cpu, 0).err().unwrap_or(0),
            0,
        );
    }
}
