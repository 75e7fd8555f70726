//! The procedures' normal world, on this machine.

use crate::cpu::{self, Starts};
use crate::interrupts::{self, Taken};
use boot::states::STATES;
use core::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use machine::{CLUSTER, MAX_CPUS, mpidr_of, say};
use psci::{PowerStateFormat, id};
use psci_cases::{CASES, Case, Depth, Failure, Mode, NormalWorld, STAMPS, Stamps, Word};

static WORDS: [AtomicU64; Word::COUNT] = [const { AtomicU64::new(0) }; Word::COUNT];
static CASE: AtomicUsize = AtomicUsize::new(0);
static CPUS: AtomicUsize = AtomicUsize::new(1);
static EXTENDED: AtomicBool = AtomicBool::new(false);
static PUBLISHED: [[AtomicU64; STAMPS]; MAX_CPUS] =
    [const { [const { AtomicU64::new(0) }; STAMPS] }; MAX_CPUS];

static STARTS: Starts = cpu::starts_of(start);

/// This machine; what it knows is in statics, because CPUs that are turned on bring nothing along.
pub struct Qemu(());

impl Qemu {
    /// The machine with `cpus` CPUs.
    pub fn new(cpus: usize, format: PowerStateFormat) -> Self {
        CPUS.store(cpus, Ordering::Release);
        EXTENDED.store(format == PowerStateFormat::Extended, Ordering::Release);
        Self(())
    }
}

impl NormalWorld for Qemu {
    fn this_cpu(&self) -> usize {
        cpu::this()
    }

    fn cpu_count(&self) -> usize {
        CPUS.load(Ordering::Acquire)
    }

    fn mpidr(&self, cpu: usize) -> u64 {
        mpidr_of(cpu)
    }

    fn power_state(&self, depth: Depth) -> u32 {
        let name = match depth {
            Depth::Level0 => "core-off",
            Depth::Deepest => "cluster-off",
        };
        let extended = EXTENDED.load(Ordering::Acquire);
        let format = if extended {
            PowerStateFormat::Extended
        } else {
            PowerStateFormat::Original
        };
        STATES
            .iter()
            .find(|state| state.name == name)
            .map_or(0, |state| state.power_state(format, 0))
    }

    fn smc(&self, function: u32, arguments: [u64; 3]) -> [u64; 4] {
        cpu::smc(function, arguments)
    }

    fn suspend(&self, power_state: u32) -> i64 {
        let code = cpu::suspend(id::CPU_SUSPEND | id::SMC64, power_state);
        interrupts::init_cpu();
        code
    }

    fn cpu_on(&self, cpu: usize) -> i64 {
        cpu::turn_on(cpu, &STARTS)
    }

    fn load(&self, word: Word) -> u64 {
        WORDS[word as usize].load(Ordering::Acquire)
    }

    fn store(&self, word: Word, value: u64) {
        WORDS[word as usize].store(value, Ordering::Release);
    }

    fn fetch_add(&self, word: Word, value: u64) -> u64 {
        WORDS[word as usize].fetch_add(value, Ordering::AcqRel)
    }

    /// If CPUs act one by one, a CPU that waits must not execute: with `-icount`, the instructions
    /// of all CPUs are counted together, and QEMU's WFE only yields. There the CPU looks again
    /// after a sleep.
    fn wait_event(&self) {
        match current_case().mode {
            Mode::Parallel => cpu::wait_for_event(),
            Mode::Serial => cpu::nap(NAP_US),
        }
    }

    fn send_event(&self) {
        cpu::send_event();
    }

    fn relax(&self, moments: u32) {
        (0..moments).for_each(|_| core::hint::spin_loop());
    }

    fn start_timer(&self, microseconds: u64) {
        cpu::start_timer(microseconds);
    }

    fn interrupt(&self, cpu: usize) {
        interrupts::send(cpu);
    }

    fn take_interrupt(&self) -> bool {
        let mut timer = false;
        while let Some(taken) = interrupts::take() {
            timer |= taken == Taken::Timer;
        }
        timer
    }

    fn publish(&self, stamps: Stamps) {
        if let Some(own) = PUBLISHED.get(cpu::this()) {
            for (slot, stamp) in own.iter().zip(stamps) {
                slot.store(stamp, Ordering::Release);
            }
        }
    }
}

/// The time that a CPU that waits sleeps before it looks again.
const NAP_US: u64 = 5_000;

fn current_case() -> Case {
    CASES[CASE.load(Ordering::Acquire) % CASES.len()]
}

/// First code of a CPU that was turned on.
extern "C" fn start(_: u64) -> ! {
    interrupts::init_cpu();
    let world = Qemu(());
    let case = current_case();
    if let Err(failure) = psci_cases::secondary(&world, case) {
        fail(case, &failure);
    }
    loop {
        cpu::wait_for_interrupt();
    }
}

fn fail(case: Case, failure: &Failure) {
    say!(
        "@failure {} {} CPU {}: {failure}",
        case.name,
        case.mode.name(),
        cpu::this()
    );
}

/// Runs every case `iterations` times and prints each CPU's stamps.
pub fn run_procedures(world: &Qemu, iterations: u64) -> bool {
    for iteration in 0..iterations {
        for (index, case) in CASES.into_iter().enumerate() {
            CASE.store(index, Ordering::Release);
            if let Err(failure) = psci_cases::lead(world, case) {
                fail(case, &failure);
                return false;
            }
            for (cpu, stamps) in PUBLISHED.iter().enumerate().take(world.cpu_count()) {
                print(case, iteration, cpu, stamps);
            }
        }
    }
    true
}

fn print(case: Case, iteration: u64, cpu: usize, stamps: &[AtomicU64; STAMPS]) {
    let [enter, exit, low, awake, flush, flushed] =
        core::array::from_fn(|i| stamps[i].load(Ordering::Acquire));
    let (cluster, core, name, mode) = (cpu / CLUSTER, cpu % CLUSTER, case.name, case.mode.name());
    say!(
        "@stamps {name} {mode} {iteration} {cluster} {core} {enter} {exit} {low} {awake} {flush} {flushed}"
    );
}
