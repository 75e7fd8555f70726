//! Random SMCs from all CPUs at once, for as long as it takes.
//!
//! CPU 0 is the watchdog: it wakes CPUs that sleep, turns on those that are off, and says so if one
//! of them makes no more calls. The others call: ids at and near the valid ones, wild arguments,
//! among them what goes down and what turns others on. SYSTEM_OFF, SYSTEM_RESET and their kin are
//! left out; they end the run when they work.
//!
//! An entry point is either this program's or one that must be refused: a CPU that the firmware
//! sends to a wild address in the normal world's memory, as it was told, is no fault of the
//! firmware.

use crate::cpu;
use crate::interrupts;
use boot::states::STATES;
use core::arch::naked_asm;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use machine::{CLUSTER, MAX_CPUS, mpidr_of, say};
use psci::{PowerStateFormat, id};

/// The progress of each CPU, in a line of its own.
#[repr(align(64))]
struct Progress {
    calls: AtomicU64,
    random: AtomicU64,
    starts: AtomicU64,
}

static PROGRESS: [Progress; MAX_CPUS] = [const {
    Progress {
        calls: AtomicU64::new(0),
        random: AtomicU64::new(0),
        starts: AtomicU64::new(0),
    }
}; MAX_CPUS];
static STOP: AtomicBool = AtomicBool::new(false);
static CPUS: AtomicU64 = AtomicU64::new(1);

const ON: u32 = id::CPU_ON | id::SMC64;

/// Looks without progress before a CPU counts as lost; each look is [`LOOK_US`] apart, and wakes
/// and turns on.
const PATIENCE: u32 = 20_000;
const LOOK_US: u64 = 200;

/// Makes `count` random calls; true if no CPU was lost.
pub fn run(cpus: usize, count: u64, seed: u64) -> bool {
    CPUS.store(cpus as u64, Ordering::Release);
    for (cpu, progress) in PROGRESS.iter().enumerate() {
        progress
            .random
            .store(seed ^ (cpu as u64) << 32, Ordering::Release);
    }
    let done = || {
        PROGRESS
            .iter()
            .take(cpus)
            .map(|progress| progress.calls.load(Ordering::Acquire))
            .sum::<u64>()
    };
    let mut seen = [0; MAX_CPUS];
    let mut idle = [0u32; MAX_CPUS];
    while done() < count && cpus > 1 {
        cpu::nap(LOOK_US);
        for cpu in 1..cpus {
            turn_on(cpu);
            interrupts::send(cpu);
            let calls = PROGRESS[cpu].calls.load(Ordering::Acquire);
            idle[cpu] = if calls == seen[cpu] { idle[cpu] + 1 } else { 0 };
            seen[cpu] = calls;
            if idle[cpu] > PATIENCE {
                say!("@failure CPU {cpu} makes no more calls, after {calls}");
                return false;
            }
        }
    }
    STOP.store(true, Ordering::Release);
    let mut looks = 0;
    for cpu in 1..cpus {
        while !cpu::is_off(cpu) {
            interrupts::send(cpu);
            cpu::nap(LOOK_US);
            looks += 1;
            if looks > PATIENCE {
                say!("@failure CPU {cpu} does not turn off");
                return false;
            }
        }
    }
    let starts: u64 = PROGRESS
        .iter()
        .map(|progress| progress.starts.load(Ordering::Acquire))
        .sum();
    say!(
        "@fuzz {} calls, {starts} starts and resumes, {cpus} CPUs",
        done()
    );
    true
}

fn turn_on(cpu: usize) {
    cpu::smc(ON, [mpidr_of(cpu), enter as *const () as u64, 0]);
}

/// Entry of CPUs that start or resume, with any context id: everything is found by the CPU's own
/// number.
///
/// # Safety
/// Only the firmware comes here.
#[unsafe(naked)]
unsafe extern "C" fn enter() -> ! {
    naked_asm!(
        "bl enable_mmu",
        "mrs x19, mpidr_el1",
        "ubfx x20, x19, #0, #8",
        "ubfx x21, x19, #8, #8",
        "mov x22, {cluster}",
        "madd x0, x21, x22, x20",
        "adrp x1, {stacks}",
        "add x1, x1, :lo12:{stacks}",
        "add x2, x0, #1",
        "mov x3, {stack}",
        "madd x1, x2, x3, x1",
        "mov sp, x1",
        "mov x19, x0",
        "bl {vectors}",
        "mov x0, x19",
        "b {call}",
        cluster = const CLUSTER,
        stacks = sym cpu::STACKS,
        stack = const cpu::STACK,
        vectors = sym aarch64_rt::set_exception_vector,
        call = sym call_at_random,
    )
}

extern "C" fn call_at_random(cpu: usize) -> ! {
    interrupts::init_cpu();
    let progress = &PROGRESS[cpu % MAX_CPUS];
    progress.starts.fetch_add(1, Ordering::AcqRel);
    loop {
        if STOP.load(Ordering::Acquire) {
            cpu::smc(id::CPU_OFF, [0; 3]);
            continue;
        }
        let mut random = Random(progress.random.load(Ordering::Acquire));
        if random.one_in(4) {
            while interrupts::take().is_some() {}
        }
        let (function, arguments) = draw(&mut random);
        // Before the call: from some of them there is no way back.
        progress.random.store(random.0, Ordering::Release);
        progress.calls.fetch_add(1, Ordering::AcqRel);
        let [x1, x2, x3] = arguments;
        if !cpu::smc_keeps_registers(function.into(), x1, x2, x3) {
            say!("@failure CPU {cpu}: {function:#x} with {arguments:x?} does not keep X4 to X30");
        }
    }
}

/// A function id and arguments.
fn draw(random: &mut Random) -> (u32, [u64; 3]) {
    let function = loop {
        let base = match random.below(8) {
            0 => id::PMF_GET_TIMESTAMP,
            1 => id::SMCCC_VERSION,
            2 => random.next() as u32,
            _ => id::PSCI_VERSION,
        };
        let mut function = base.wrapping_add(random.below(0x24) as u32);
        if random.one_in(2) {
            function |= id::SMC64;
        }
        if random.one_in(16) {
            function ^= 1 << random.below(32);
        }
        if !ends_the_run(function) {
            break function;
        }
    };
    let mut arguments = [(); 3].map(|()| argument(random));
    // Most calls that go down or turn on get an entry that is right; others none that could be
    // taken.
    let entry = if random.one_in(4) {
        bad_entry(random)
    } else {
        enter as *const () as u64
    };
    let power_state = if random.one_in(4) {
        random.next()
    } else {
        let state = STATES[random.below(STATES.len() as u64) as usize];
        let format = if random.one_in(8) {
            PowerStateFormat::Extended
        } else {
            PowerStateFormat::Original
        };
        u64::from(state.power_state(format, random.below(4) as u8))
    };
    match function & !id::SMC64 {
        id::CPU_ON => arguments[1] = entry,
        id::CPU_SUSPEND => (arguments[0], arguments[1]) = (power_state, entry),
        id::CPU_DEFAULT_SUSPEND | id::SYSTEM_SUSPEND => arguments[0] = entry,
        id::PSCI_STAT_COUNT | id::PSCI_STAT_RESIDENCY => arguments[1] = power_state,
        _ => {}
    }
    (function, arguments)
}

/// Calls that power off or reset when they work.
fn ends_the_run(function: u32) -> bool {
    matches!(
        function & !id::SMC64,
        id::SYSTEM_OFF | id::SYSTEM_RESET | id::SYSTEM_RESET2 | id::SYSTEM_OFF2
    )
}

fn argument(random: &mut Random) -> u64 {
    match random.below(5) {
        0 => random.next(),
        1 => random.below(4),
        2 => mpidr_of(random.below(MAX_CPUS as u64) as usize),
        3 => u64::from(id::PSCI_VERSION) + random.below(0x20),
        _ => mpidr_of(random.below(CPUS.load(Ordering::Acquire)) as usize),
    }
}

/// An address that is not the normal world's memory, or not of an instruction.
fn bad_entry(random: &mut Random) -> u64 {
    match random.below(3) {
        0 => random.below(0x4000_0000) & !3,
        1 => 0x6000_0001 + 4 * random.below(1000),
        // Odd, because a 32-bit call sees the lower half only.
        _ => random.next() | 1 << 63 | 1,
    }
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
}
