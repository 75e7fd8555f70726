//! Checks on the machine that the host's tests of the library cannot make: registers that the
//! vector keeps, stamps of real calls, a real power-down beside a real CPU_ON.

use crate::cpu::{self, Starts, call};
use crate::{interrupts, traps};
use boot::states::STATES;
use core::sync::atomic::{AtomicU64, Ordering};
use machine::{CLUSTER, mpidr_of, say};
use psci::{PowerStateFormat, id};

const SUSPEND: u32 = id::CPU_SUSPEND | id::SMC64;
const ON: u32 = id::CPU_ON | id::SMC64;
const INFO: u32 = id::AFFINITY_INFO | id::SMC64;
const NODE: u32 = id::NODE_HW_STATE | id::SMC64;
const HW_ON: i64 = 0;
const HW_OFF: i64 = 1;
const HW_STANDBY: i64 = 2;
const STAMP: u32 = id::PMF_GET_TIMESTAMP | id::SMC64;
const STAMP_ID: u64 = 0x41 << 24 | 1 << 10;
const MAINTAIN: u64 = 1;
const TRUSTED_OS_CALL_COUNT: u32 = 0xbf00_ff00;

const SUCCESS: i64 = 0;
const NOT_SUPPORTED: i64 = -1;
const INVALID_PARAMETERS: i64 = -2;
const DENIED: i64 = -3;
const ALREADY_ON: i64 = -4;
const INVALID_ADDRESS: i64 = -9;
const OFF: i64 = 1;

/// The number of the sleep that the sleeper is to begin, [`ENOUGH`] to turn off; the state; and the
/// number of the one that it came back from.
static STEP: AtomicU64 = AtomicU64::new(0);
static POWER_STATE: AtomicU64 = AtomicU64::new(0);
static DONE: AtomicU64 = AtomicU64::new(0);
const ENOUGH: u64 = u64::MAX;
/// The same, to freeze.
const FREEZE: u64 = u64::MAX - 1;

static SLEEPER: Starts = cpu::starts_of(sleeper);
static STRAY: Starts = cpu::starts_of(astray);

/// A list of what went wrong.
struct Checks {
    format: PowerStateFormat,
    failed: u32,
    made: u32,
}

impl Checks {
    fn check(&mut self, what: &str, got: i64, expected: i64) {
        self.made += 1;
        if got != expected {
            self.failed += 1;
            say!("@failure {what}: {got}, expected {expected}");
        }
    }

    /// Makes a call.
    fn call(&mut self, what: &str, function: u32, arguments: [u64; 3], expected: i64) {
        self.check(what, call(function, arguments), expected);
    }

    fn that(&mut self, what: &str, holds: bool) {
        self.check(what, i64::from(holds), 1);
    }

    /// The `power_state` of a state.
    fn state(&self, index: usize, last_at_level: u8) -> u32 {
        STATES[index].power_state(self.format, last_at_level)
    }
}

/// Makes all checks; true if all hold.
pub fn run(cpus: usize, format: PowerStateFormat, memory_end: u64) -> bool {
    let mut checks = Checks {
        format,
        failed: 0,
        made: 0,
    };
    answers(&mut checks, cpus);
    traps::run(|what, got, expected| checks.check(what, got, expected));
    checks.call(
        "PSCI_VERSION after all traps",
        id::PSCI_VERSION,
        [0; 3],
        0x1_0003,
    );
    let kept = cpu::smc_keeps_registers(id::PSCI_FEATURES.into(), SUSPEND.into(), 0, 0);
    checks.that("an SMC keeps X4 to X30", kept);
    entry_points(&mut checks, memory_end);
    _ = stamps(&mut checks);
    (0..STATES.len()).for_each(|index| sleep(&mut checks, index, 0));
    if cpus > 1 {
        entries(&mut checks, cpus);
        rejected_cpu_on(&mut checks);
    }
    if cpus > CLUSTER {
        sibling_cluster(&mut checks);
    }
    say!("@checks {} {}", checks.made, checks.failed);
    checks.failed == 0
}

fn node(cpu: usize, level: u64) -> i64 {
    call(NODE, [mpidr_of(cpu), level, 0])
}

fn answers(checks: &mut Checks, cpus: usize) {
    let me = mpidr_of(cpu::this());
    let entry = 0x6000_0000;
    let nobody = mpidr_of(cpus);
    checks.call("PSCI_VERSION", id::PSCI_VERSION, [0; 3], 0x1_0003);
    checks.call("AFFINITY_INFO of the caller", INFO, [me, 0, 0], SUCCESS);
    checks.call(
        "AFFINITY_INFO of nobody",
        INFO,
        [nobody, 0, 0],
        INVALID_PARAMETERS,
    );
    checks.call("CPU_ON of the caller", ON, [me, entry, 0], ALREADY_ON);
    checks.call(
        "CPU_ON of nobody",
        ON,
        [nobody, entry, 0],
        INVALID_PARAMETERS,
    );
    if cpus > 1 {
        for wild in [0, 0x0e00_0000, 0x0900_0000, 0x6000_0002, u64::MAX] {
            checks.call(
                "CPU_ON to a wild address",
                ON,
                [mpidr_of(1), wild, 0],
                INVALID_ADDRESS,
            );
        }
        checks.call(
            "AFFINITY_INFO after all that",
            INFO,
            [mpidr_of(1), 0, 0],
            OFF,
        );
    }
    checks.call(
        "CPU_SUSPEND to a wild address",
        SUSPEND,
        [u64::from(checks.state(1, 0)), 4, 0],
        INVALID_ADDRESS,
    );
    checks.call(
        "CPU_SUSPEND to no state",
        SUSPEND,
        [0x0fff_0fff, entry, 0],
        INVALID_PARAMETERS,
    );
    // In the original format StateID counts up to the power level; in the extended one bit 16 is
    // part of it.
    let accepted = if checks.format == PowerStateFormat::Original {
        INVALID_ADDRESS
    } else {
        INVALID_PARAMETERS
    };
    checks.call(
        "CPU_SUSPEND of level 0 with all states, to a wild address",
        SUSPEND,
        [0x0001_2222, 4, 0],
        accepted,
    );
    nodes(checks, cpus);
    services(checks);
    unknown_functions(checks);
}

/// NODE_HW_STATE of what there is, and of what there is not.
fn nodes(checks: &mut Checks, cpus: usize) {
    for level in 0..3 {
        checks.check(
            "NODE_HW_STATE of the caller and its domains",
            node(cpu::this(), level),
            HW_ON,
        );
    }
    checks.check(
        "NODE_HW_STATE of no level",
        node(cpu::this(), 3),
        INVALID_PARAMETERS,
    );
    if cpus > 1 {
        checks.check("NODE_HW_STATE of a CPU that is off", node(1, 0), HW_OFF);
    }
    if cpus > CLUSTER {
        checks.check(
            "NODE_HW_STATE of a cluster that is off",
            node(CLUSTER, 1),
            HW_OFF,
        );
    }
}

/// Calls and identities of the services.
fn services(checks: &mut Checks) {
    // The plain build has no PMF, and neither service of which it would be part.
    let pmf = call(id::PMF_VERSION, [0; 3]) == SUCCESS;
    for (count, there) in [
        (id::ARCHITECTURE_SERVICE_CALL_COUNT, true),
        (id::SILICON_SERVICE_CALL_COUNT, pmf),
        (id::STANDARD_SERVICE_CALL_COUNT, true),
        (id::VENDOR_EL3_SERVICE_CALL_COUNT, pmf),
        (TRUSTED_OS_CALL_COUNT, false),
    ] {
        let [calls, uid, revision] =
            [count, count | 1, count | 3].map(|query| cpu::smc(query, [0; 3]));
        checks.check(
            "a service has calls",
            (calls[0] as i64 > 0).into(),
            there.into(),
        );
        checks.that("a service that is not there has 0", calls[0] as i64 >= 0);
        checks.check(
            "UID",
            (uid[0] as i64 != NOT_SUPPORTED && uid[1] != 0).into(),
            there.into(),
        );
        checks.check(
            "revision",
            revision[0] as i64,
            if there { 0 } else { NOT_SUPPORTED },
        );
    }
}

/// Workarounds, and functions that nobody has.
fn unknown_functions(checks: &mut Checks) {
    for workaround in [id::SMCCC_ARCH_WORKAROUND_1, id::SMCCC_ARCH_WORKAROUND_3] {
        let answer = call(id::SMCCC_ARCH_FEATURES, [workaround.into(), 0, 0]);
        checks.call(
            "a workaround that is there can be called",
            workaround,
            [0; 3],
            if answer >= 0 { 0 } else { -1 },
        );
    }
    checks.call(
        "AFFINITY_INFO by MPIDR_EL1, whose bit 31 is no affinity field",
        INFO,
        [cpu::mpidr(), 0, 0],
        INVALID_PARAMETERS,
    );
    for unknown in [
        0x8400_001f,
        0x8400_0020,
        0xc400_0000,
        0x0400_0000,
        0x8600_0000,
        0,
        u32::MAX,
    ] {
        checks.call("an unknown function", unknown, [0; 3], NOT_SUPPORTED);
    }
}

/// Enter, exit, low power, awake, flush, flushed, of the calling CPU.
fn read_stamps() -> Option<[u64; 6]> {
    let mut stamps = [0; 6];
    for (index, stamp) in (0..).zip(&mut stamps) {
        let [code, value, ..] =
            cpu::smc(STAMP, [STAMP_ID | index, mpidr_of(cpu::this()), MAINTAIN]);
        if code as i64 == NOT_SUPPORTED {
            return None;
        }
        *stamp = value;
    }
    Some(stamps)
}

/// Every word of memory may be where the normal world is entered, and none behind it. A suspend
/// that an interrupt ends at once enters nowhere.
fn entry_points(checks: &mut Checks, memory_end: u64) {
    interrupts::send(cpu::this());
    let power_state = checks.state(1, 0).into();
    let to = |entry| call(SUSPEND, [power_state, entry, 0]);
    for entry in (0x4000_0000..memory_end)
        .step_by(1 << 29)
        .chain([memory_end - 4])
    {
        checks.check("CPU_SUSPEND to an address in memory", to(entry), SUCCESS);
    }
    checks.check(
        "CPU_SUSPEND to an address behind memory",
        to(memory_end),
        INVALID_ADDRESS,
    );
    while interrupts::take().is_some() {}
}

/// The stamps of each way through CPU_SUSPEND: in order, and none of an earlier call. `None` where
/// the firmware has none.
fn stamps(checks: &mut Checks) -> Option<()> {
    let me = cpu::this();
    for _ in 0..3 {
        let begin = cpu::counter();
        checks.check(
            "power-down",
            sleep_until(checks.state(1, 0), || {
                read_stamps().is_none_or(|[_, _, low, ..]| low != 0)
            }),
            SUCCESS,
        );
        let [enter, exit, low, awake, flush, flushed] = read_stamps()?;
        let ways = [
            begin,
            enter,
            flush,
            flushed,
            low,
            awake,
            exit,
            cpu::counter(),
        ];
        checks.that("stamps of a power-down", ways.is_sorted());

        // Early exit: the stamps of the power-down before must not show.
        interrupts::send(me);
        checks.check(
            "early exit",
            cpu::suspend(SUSPEND, checks.state(3, 0)),
            SUCCESS,
        );
        let [enter, exit, rest @ ..] = read_stamps()?;
        checks.that(
            "stamps of an early exit",
            [begin, enter, exit].is_sorted() && rest == [0; 4],
        );

        checks.call(
            "standby, pending",
            SUSPEND,
            [u64::from(checks.state(0, 0)), 0, 0],
            SUCCESS,
        );
        let [enter, exit, low, awake, flush, flushed] = read_stamps()?;
        let ways = [begin, enter, low, awake, exit, flush, flushed];
        checks.that(
            "stamps of a standby",
            ways[..5].is_sorted() && ways[5..] == [0; 2],
        );
        while interrupts::take().is_some() {}

        checks.call(
            "a call that suspends nothing",
            id::PSCI_VERSION,
            [0; 3],
            0x1_0003,
        );
        let [enter, exit, rest @ ..] = read_stamps()?;
        checks.that(
            "stamps of PSCI_VERSION",
            [begin, enter, exit].is_sorted() && rest == [0; 4],
        );
    }
    Some(())
}

/// Enters a state until the timer ends it, which is counted.
fn sleep(checks: &mut Checks, index: usize, last_at_level: u8) {
    let me = mpidr_of(cpu::this());
    let state = checks.state(index, 0).into();
    let count = || call(id::PSCI_STAT_COUNT | id::SMC64, [me, state, 0]);
    let before = count();
    let code = sleep_until(checks.state(index, last_at_level), || count() != before);
    checks.check(STATES[index].name, code, SUCCESS);
    checks.check("PSCI_STAT_COUNT", count(), before + 1);
}

/// Suspends until the timer ends it; the value is PSCI's return code. On a busy host the timer may
/// come before the CPU is down, so that it never `slept`; then it tries again, with twice the time.
pub fn sleep_until(power_state: u32, slept: impl Fn() -> bool) -> i64 {
    for doublings in 0..16 {
        cpu::start_timer(200 << doublings);
        let code = cpu::suspend(SUSPEND, power_state);
        interrupts::init_cpu();
        while interrupts::take().is_some() {}
        if code != SUCCESS || slept() {
            return code;
        }
    }
    SUCCESS
}

/// Another CPU, which sleeps when it is told to.
struct Sleeper {
    cpu: usize,
    sleeps: u64,
}

impl Sleeper {
    /// Turns the CPU on and waits until it is.
    fn start(checks: &mut Checks, cpu: usize) -> Self {
        STEP.store(0, Ordering::Release);
        DONE.store(0, Ordering::Release);
        checks.check("CPU_ON", cpu::turn_on(cpu, &SLEEPER), SUCCESS);
        while call(INFO, [mpidr_of(cpu), 0, 0]) != SUCCESS {
            cpu::nap(100);
        }
        Self { cpu, sleeps: 0 }
    }

    fn send_to_sleep(&mut self, power_state: u32) {
        self.sleeps += 1;
        POWER_STATE.store(power_state.into(), Ordering::Release);
        STEP.store(self.sleeps, Ordering::Release);
        cpu::send_event();
    }

    fn wait_until_asleep(&self) {
        while node(self.cpu, 0) == HW_ON {
            cpu::nap(100);
        }
    }

    fn wake(&self) {
        while DONE.load(Ordering::Acquire) < self.sleeps {
            interrupts::send(self.cpu);
            cpu::nap(100);
        }
    }

    fn turn_off(self, how: u64) {
        STEP.store(how, Ordering::Release);
        cpu::send_event();
        cpu::wait_until_off(self.cpu);
    }
}

/// Rounds of the second CPU; the last is a standby.
const ROUNDS: u64 = 20;

/// A CPU_ON that is rejected must not reach a CPU that sleeps: it resumes where its own CPU_SUSPEND
/// said.
fn rejected_cpu_on(checks: &mut Checks) {
    let mut second = Sleeper::start(checks, 1);
    for round in 1..=ROUNDS {
        let (index, power) = match round {
            ROUNDS => (0, HW_STANDBY),
            _ if round % 3 == 0 => (3, HW_OFF),
            _ => (1, HW_OFF),
        };
        second.send_to_sleep(checks.state(index, 0));
        cpu::nap(1);
        // In the other rounds it may be on its way down.
        let asleep = round % 2 == 0;
        if asleep {
            second.wait_until_asleep();
        }
        for _ in 0..3 {
            if asleep {
                checks.check("NODE_HW_STATE of a CPU that sleeps", node(1, 0), power);
            }
            checks.check(
                "CPU_ON of a CPU that sleeps",
                cpu::turn_on(1, &STRAY),
                ALREADY_ON,
            );
        }
        second.wake();
    }
    second.turn_off(FREEZE);
    checks.check("NODE_HW_STATE of a frozen CPU", node(1, 0), HW_STANDBY);
    Sleeper::start(checks, 1).turn_off(ENOUGH);
    checks.check("NODE_HW_STATE of a CPU that is off", node(1, 0), HW_OFF);
}

/// In OS-initiated mode the system goes down with the last of its CPUs, if the other cluster's
/// state goes with that.
fn sibling_cluster(checks: &mut Checks) {
    let [core_off, cluster_retain, cluster_off, system_off] = [1, 2, 3, 4];
    let set_mode = |mode| call(id::PSCI_SET_SUSPEND_MODE, [mode, 0, 0]);
    let system = checks.state(system_off, 2);
    let take_system_down = || cpu::suspend(SUSPEND, system);
    checks.check("to OS-initiated mode", set_mode(1), SUCCESS);
    let mut sibling = Sleeper::start(checks, CLUSTER);
    checks.check(
        "system-off while a sibling cluster runs",
        take_system_down(),
        DENIED,
    );
    sleep(checks, cluster_off, 1);
    for (index, last_at_level, expected) in [
        (core_off, 0, DENIED),
        (cluster_retain, 1, INVALID_PARAMETERS),
        (cluster_off, 1, SUCCESS),
    ] {
        sibling.send_to_sleep(checks.state(index, last_at_level));
        sibling.wait_until_asleep();
        if expected == SUCCESS {
            sleep(checks, system_off, 2);
        } else {
            checks.check(
                "system-off beside a sibling cluster that stays up",
                take_system_down(),
                expected,
            );
        }
        sibling.wake();
        checks.check("system-off after it woke", take_system_down(), DENIED);
    }
    sibling.turn_off(ENOUGH);
    sleep(checks, system_off, 2);
    checks.check("back to platform-coordinated mode", set_mode(0), SUCCESS);
}

/// Each CPU starts where its CPU_ON says, another address each time, and in the byte order of the
/// caller.
fn entries(checks: &mut Checks, cpus: usize) {
    for number in 0..cpu::ENTRIES.max(2 * cpus) {
        let started = cpu::turn_on_and_off(
            number % 2 == 0,
            1 + number % (cpus - 1),
            number % cpu::ENTRIES,
        );
        checks.check(
            "the start of a CPU",
            started.err().unwrap_or(SUCCESS),
            SUCCESS,
        );
    }
}

extern "C" fn sleeper(_: u64) -> ! {
    interrupts::init_cpu();
    let mut step = 0;
    loop {
        step += 1;
        while STEP.load(Ordering::Acquire) < step {
            cpu::wait_for_event();
        }
        match STEP.load(Ordering::Acquire) {
            ENOUGH => _ = call(id::CPU_OFF, [0; 3]),
            FREEZE => _ = call(id::CPU_FREEZE, [0; 3]),
            _ => {}
        }
        // One that was sent when it was awake already.
        while interrupts::take().is_some() {}
        cpu::suspend(SUSPEND, POWER_STATE.load(Ordering::Acquire) as u32);
        interrupts::init_cpu();
        while interrupts::take().is_some() {}
        DONE.store(step, Ordering::Release);
    }
}

/// The address to which a rejected CPU_ON points; nobody may ever come here.
extern "C" fn astray(_: u64) -> ! {
    say!("@failure CPU 1 resumed at the address of a rejected CPU_ON");
    loop {
        cpu::wait_for_interrupt();
    }
}
