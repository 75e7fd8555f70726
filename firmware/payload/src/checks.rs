//! Checks on the machine that the host's tests of the library cannot make: registers that the
//! vector keeps, stamps of real calls, a real power-down beside a real CPU_ON.

use crate::cpu::{self, Starts};
use crate::{interrupts, traps};
use boot::states::STATES;
use core::arch::asm;
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
const ALREADY_ON: i64 = -4;
const INVALID_ADDRESS: i64 = -9;
const OFF: i64 = 1;

/// The next step of the second CPU, and its result.
static STEP: AtomicU64 = AtomicU64::new(0);
static DONE: AtomicU64 = AtomicU64::new(0);
/// Address to which a rejected CPU_ON pointed; nobody may ever come there.
static ASTRAY: AtomicU64 = AtomicU64::new(0);
static EXTENDED: AtomicU64 = AtomicU64::new(0);

static SECOND: Starts = cpu::starts_of(second);
static STRAY: Starts = cpu::starts_of(astray);

/// A list of what went wrong.
struct Checks {
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

    fn stamps(&mut self, what: &str, hold: bool, stamps: &[u64]) {
        self.that(what, hold);
        if !hold {
            say!("  {stamps:?}");
        }
    }

    fn that(&mut self, what: &str, holds: bool) {
        self.check(what, i64::from(holds), 1);
    }
}

/// Makes all checks; true if all hold.
pub fn run(cpus: usize, format: PowerStateFormat, memory_end: u64) -> bool {
    EXTENDED.store(u64::from(format == PowerStateFormat::Extended), Ordering::Release);
    let mut checks = Checks { failed: 0, made: 0 };
    answers(&mut checks, cpus);
    traps::run(|what, got, expected| checks.check(what, got, expected));
    checks.check("PSCI_VERSION after all traps", call(id::PSCI_VERSION, [0; 3]), 0x1_0003);
    checks.that("an SMC keeps X4 to X30", registers_are_kept());
    entry_points(&mut checks, memory_end);
    stamps(&mut checks);
    statistics(&mut checks);
    if cpus > 1 {
        byte_order(&mut checks);
        rejected_cpu_on(&mut checks);
    }
    say!("@checks {} {}", checks.made, checks.failed);
    checks.failed == 0
}

fn call(function: u32, arguments: [u64; 3]) -> i64 {
    cpu::smc(function, arguments)[0] as i64
}

fn state(index: usize) -> u32 {
    let format =
        if EXTENDED.load(Ordering::Acquire) != 0 { PowerStateFormat::Extended } else { PowerStateFormat::Original };
    STATES[index].power_state(format, 0)
}

fn answers(checks: &mut Checks, cpus: usize) {
    let me = mpidr_of(cpu::this());
    let entry = 0x6000_0000;
    let nobody = mpidr_of(cpus);
    checks.check("PSCI_VERSION", call(id::PSCI_VERSION, [0; 3]), 0x1_0003);
    checks.check("AFFINITY_INFO of the caller", call(INFO, [me, 0, 0]), SUCCESS);
    checks.check("AFFINITY_INFO of nobody", call(INFO, [nobody, 0, 0]), INVALID_PARAMETERS);
    checks.check("CPU_ON of the caller", call(ON, [me, entry, 0]), ALREADY_ON);
    checks.check("CPU_ON of nobody", call(ON, [nobody, entry, 0]), INVALID_PARAMETERS);
    if cpus > 1 {
        for wild in [0, 0x0e00_0000, 0x0900_0000, 0x6000_0002, u64::MAX] {
            checks.check("CPU_ON to a wild address", call(ON, [mpidr_of(1), wild, 0]), INVALID_ADDRESS);
        }
        checks.check("AFFINITY_INFO after all that", call(INFO, [mpidr_of(1), 0, 0]), OFF);
    }
    checks.check("CPU_SUSPEND to a wild address", call(SUSPEND, [u64::from(state(1)), 4, 0]), INVALID_ADDRESS);
    checks.check("CPU_SUSPEND to no state", call(SUSPEND, [0x0fff_0fff, entry, 0]), INVALID_PARAMETERS);
    // In the original format StateID counts up to the power level; in the extended one bit 16 is
    // part of it.
    let original = EXTENDED.load(Ordering::Acquire) == 0;
    let accepted = if original { INVALID_ADDRESS } else { INVALID_PARAMETERS };
    checks.check(
        "CPU_SUSPEND of level 0 with all states, to a wild address",
        call(SUSPEND, [0x0001_2222, 4, 0]),
        accepted,
    );
    let node = |cpu: usize, level| call(NODE, [mpidr_of(cpu), level, 0]);
    for level in 0..3 {
        checks.check("NODE_HW_STATE of the caller and its domains", node(cpu::this(), level), HW_ON);
    }
    checks.check("NODE_HW_STATE of no level", node(cpu::this(), 3), INVALID_PARAMETERS);
    if cpus > 1 {
        checks.check("NODE_HW_STATE of a CPU that is off", node(1, 0), HW_OFF);
    }
    if cpus > CLUSTER {
        checks.check("NODE_HW_STATE of a cluster that is off", node(CLUSTER, 1), HW_OFF);
    }
    // The plain build has no PMF, and neither service of which it would be part.
    let pmf = cpu::smc(id::PMF_VERSION, [0; 3])[0] as i64 == SUCCESS;
    for (count, there) in [
        (id::ARCHITECTURE_SERVICE_CALL_COUNT, true),
        (id::SILICON_SERVICE_CALL_COUNT, pmf),
        (id::STANDARD_SERVICE_CALL_COUNT, true),
        (id::VENDOR_EL3_SERVICE_CALL_COUNT, pmf),
        (TRUSTED_OS_CALL_COUNT, false),
    ] {
        let [calls, uid, revision] = [count, count | 1, count | 3].map(|query| cpu::smc(query, [0; 3]));
        checks.check("a service has calls", (calls[0] as i64 > 0).into(), there.into());
        checks.that("a service that is not there has 0", calls[0] as i64 >= 0);
        checks.check("UID", (uid[0] as i64 != NOT_SUPPORTED && uid[1] != 0).into(), there.into());
        checks.check("revision", revision[0] as i64, if there { 0 } else { NOT_SUPPORTED });
    }
    for workaround in [id::SMCCC_ARCH_WORKAROUND_1, id::SMCCC_ARCH_WORKAROUND_3] {
        let answer = call(id::SMCCC_ARCH_FEATURES, [workaround.into(), 0, 0]);
        checks.check(
            "a workaround that is there can be called",
            call(workaround, [0; 3]),
            if answer >= 0 { 0 } else { -1 },
        );
    }
    checks.check("AFFINITY_INFO by MPIDR_EL1", call(INFO, [cpu::mpidr(), 0, 0]), SUCCESS);
    for unknown in [0x8400_001f, 0x8400_0020, 0xc400_0000, 0x0400_0000, 0x8600_0000, 0, u32::MAX] {
        checks.check("an unknown function", call(unknown, [0; 3]), NOT_SUPPORTED);
    }
}

/// Patterns in X4 to X17, X19 to X28 and X30 through a call; the others are the results, X18 with
/// them, and the frame.
fn registers_are_kept() -> bool {
    let sum: u64;
    // SAFETY: every register that is written is named.
    unsafe {
        asm!(
            "mov x4, #4", "mov x5, #5", "mov x6, #6", "mov x7, #7", "mov x8, #8", "mov x9, #9", "mov x10, #10",
            "mov x11, #11", "mov x12, #12", "mov x13, #13", "mov x14, #14", "mov x15, #15", "mov x16, #16",
            "mov x17, #17", "mov x18, #18", "mov x20, #20", "mov x21, #21", "mov x22, #22", "mov x30, #30",
            "smc #0",
            "eor x4, x4, #4", "cmp x5, #5", "cset x5, ne", "orr x4, x4, x5",
            "eor x6, x6, #6", "orr x4, x4, x6", "eor x7, x7, #7", "orr x4, x4, x7", "eor x8, x8, #8", "orr x4, x4, x8",
            "cmp x9, #9", "cset x9, ne", "orr x4, x4, x9", "cmp x10, #10", "cset x10, ne", "orr x4, x4, x10",
            "cmp x11, #11", "cset x11, ne", "orr x4, x4, x11", "eor x12, x12, #12", "orr x4, x4, x12",
            "cmp x13, #13", "cset x13, ne", "orr x4, x4, x13", "eor x14, x14, #14", "orr x4, x4, x14",
            "eor x15, x15, #15", "orr x4, x4, x15", "eor x16, x16, #16", "orr x4, x4, x16",
            "cmp x17, #17", "cset x17, ne", "orr x4, x4, x17", "cmp x18, #18", "cset x18, ne", "orr x4, x4, x18",
            "cmp x20, #20", "cset x20, ne", "orr x4, x4, x20", "cmp x21, #21", "cset x21, ne", "orr x4, x4, x21",
            "cmp x22, #22", "cset x22, ne", "orr x4, x4, x22", "eor x30, x30, #30", "orr x4, x4, x30",
            inout("x0") u64::from(id::PSCI_FEATURES) => _,
            inout("x1") u64::from(SUSPEND) => _,
            out("x2") _, out("x3") _, out("x4") sum, out("x5") _, out("x6") _, out("x7") _, out("x8") _,
            out("x9") _, out("x10") _, out("x11") _, out("x12") _, out("x13") _, out("x14") _, out("x15") _,
            out("x16") _, out("x17") _, out("x18") _, out("x20") _, out("x21") _, out("x22") _, out("x30") _,
            options(nostack),
        );
    }
    sum == 0
}

/// Enter, exit, low power, awake, flush, flushed, of the calling CPU.
fn read_stamps() -> Option<[u64; 6]> {
    let mut stamps = [0; 6];
    for (index, stamp) in (0..).zip(&mut stamps) {
        let [code, value, ..] = cpu::smc(STAMP, [STAMP_ID | index, mpidr_of(cpu::this()), MAINTAIN]);
        if code as i64 == NOT_SUPPORTED {
            return None;
        }
        *stamp = value;
    }
    Some(stamps)
}

fn ordered(moments: &[u64]) -> bool {
    moments.windows(2).all(|pair| pair[0] <= pair[1])
}

/// Every word of memory may be where the normal world is entered, and none behind it. A suspend
/// that an interrupt ends at once enters nowhere.
fn entry_points(checks: &mut Checks, memory_end: u64) {
    interrupts::send(cpu::this());
    let to = |entry| call(SUSPEND, [u64::from(state(1)), entry, 0]);
    for entry in (0x4000_0000..memory_end).step_by(1 << 29).chain([memory_end - 4]) {
        checks.check("CPU_SUSPEND to an address in memory", to(entry), SUCCESS);
    }
    checks.check("CPU_SUSPEND to an address behind memory", to(memory_end), INVALID_ADDRESS);
    while interrupts::take().is_some() {}
}

/// The stamps of each way through CPU_SUSPEND: in order, and none of an earlier call.
fn stamps(checks: &mut Checks) {
    let me = cpu::this();
    for _ in 0..3 {
        let begin = cpu::counter();
        cpu::start_timer(200);
        checks.check("power-down", cpu::suspend(SUSPEND, state(1)), SUCCESS);
        interrupts::init_cpu();
        while interrupts::take().is_some() {}
        let Some([enter, exit, low, awake, flush, flushed]) = read_stamps() else { return };
        checks
            .that("stamps of a power-down", ordered(&[begin, enter, flush, flushed, low, awake, exit, cpu::counter()]));

        // Early exit: the stamps of the power-down before must not show.
        interrupts::send(me);
        checks.check("early exit", cpu::suspend(SUSPEND, state(3)), SUCCESS);
        let Some([enter, exit, low, awake, flush, flushed]) = read_stamps() else { return };
        checks
            .that("stamps of an early exit", ordered(&[begin, enter, exit]) && [low, awake, flush, flushed] == [0; 4]);

        checks.check("standby, pending", call(SUSPEND, [u64::from(state(0)), 0, 0]), SUCCESS);
        let Some([enter, exit, low, awake, flush, flushed]) = read_stamps() else { return };
        let ways = [begin, enter, low, awake, exit, flush, flushed];
        checks.stamps("stamps of a standby", ordered(&ways[..5]) && ways[5..] == [0; 2], &ways);
        while interrupts::take().is_some() {}

        checks.check("a call that suspends nothing", call(id::PSCI_VERSION, [0; 3]), 0x1_0003);
        let Some([enter, exit, rest @ ..]) = read_stamps() else { return };
        checks.stamps("stamps of PSCI_VERSION", ordered(&[begin, enter, exit]) && rest == [0; 4], &rest);
    }
}

/// Every state of the table is entered and counted.
fn statistics(checks: &mut Checks) {
    let me = mpidr_of(cpu::this());
    for (index, described) in STATES.iter().enumerate() {
        let count = || call(id::PSCI_STAT_COUNT | id::SMC64, [me, u64::from(state(index)), 0]);
        let before = count();
        cpu::start_timer(200);
        checks.check(described.name, cpu::suspend(SUSPEND, state(index)), SUCCESS);
        interrupts::init_cpu();
        while interrupts::take().is_some() {}
        checks.check("PSCI_STAT_COUNT", count(), before + 1);
    }
}

/// Rounds of the second CPU; the last is a standby.
const ROUNDS: u64 = 20;

/// A CPU_ON that is rejected must not reach a CPU that sleeps: it resumes where its own CPU_SUSPEND
/// said.
fn rejected_cpu_on(checks: &mut Checks) {
    checks.check("CPU_ON", cpu::turn_on(1, &SECOND), SUCCESS);
    while call(INFO, [mpidr_of(1), 0, 0]) != SUCCESS {
        nap(100);
    }
    for round in 1..=ROUNDS {
        STEP.store(round, Ordering::Release);
        cpu::send_event();
        // Long enough for it to be down, and some of the rounds before it is.
        nap(if round % 2 == 0 { 300 } else { 1 });
        for _ in 0..3 {
            if round % 2 == 0 && round != ROUNDS {
                checks.check("NODE_HW_STATE of a CPU that sleeps", call(NODE, [mpidr_of(1), 0, 0]), HW_OFF);
            }
            if round == ROUNDS {
                checks.check("NODE_HW_STATE in standby", call(NODE, [mpidr_of(1), 0, 0]), HW_STANDBY);
            }
            checks.check("CPU_ON of a CPU that sleeps", cpu::turn_on(1, &STRAY), ALREADY_ON);
        }
        while DONE.load(Ordering::Acquire) < round {
            interrupts::send(1);
            nap(100);
        }
    }
    STEP.store(u64::MAX, Ordering::Release);
    cpu::send_event();
    while call(INFO, [mpidr_of(1), 0, 0]) != OFF {
        nap(100);
    }
    checks.check("resumed at the rejected address", ASTRAY.load(Ordering::Acquire) as i64, 0);
}

/// A CPU that is turned on by a big-endian caller starts big-endian, and by a little-endian one
/// little-endian.
fn byte_order(checks: &mut Checks) {
    for (big, expected) in [(true, 1), (false, 0), (true, 1)] {
        ORDER.store(u64::MAX, Ordering::Release);
        checks.check(
            "CPU_ON",
            cpu::turn_on_in_order(big, mpidr_of(1), cpu::report_order as *const () as u64, (&raw const ORDER) as u64),
            SUCCESS,
        );
        while ORDER.load(Ordering::Acquire) == u64::MAX || call(INFO, [mpidr_of(1), 0, 0]) != OFF {
            nap(100);
        }
        checks.check("byte order of a CPU that is turned on", ORDER.load(Ordering::Acquire) as i64, expected);
    }
}

/// The byte order that the CPU which was turned on found: 1 for big-endian.
static ORDER: AtomicU64 = AtomicU64::new(0);

fn nap(microseconds: u64) {
    cpu::start_timer(microseconds);
    cpu::wait_for_interrupt();
    cpu::stop_timer();
}

extern "C" fn second(_: u64) -> ! {
    interrupts::init_cpu();
    for round in 1.. {
        while STEP.load(Ordering::Acquire) < round {
            cpu::wait_for_event();
        }
        if STEP.load(Ordering::Acquire) == u64::MAX {
            break;
        }
        let index = match round {
            ROUNDS => 0,
            _ if round % 3 == 0 => 3,
            _ => 1,
        };
        cpu::suspend(SUSPEND, state(index));
        interrupts::init_cpu();
        while interrupts::take().is_some() {}
        DONE.store(round, Ordering::Release);
    }
    call(id::CPU_OFF, [0; 3]);
    loop {
        cpu::wait_for_interrupt();
    }
}

extern "C" fn astray(_: u64) -> ! {
    ASTRAY.fetch_add(1, Ordering::AcqRel);
    say!("@failure CPU 1 resumed at the address of a rejected CPU_ON");
    loop {
        cpu::wait_for_interrupt();
    }
}
