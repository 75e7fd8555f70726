//! CPU_SUSPEND, SYSTEM_SUSPEND, coordination.

use crate::fake::{
    Board, CPU_ON_ENTRY, Ending, Harness, Options, RESUME, SUCCESS, code, mpidr, returned,
};
use psci::{
    CompositeState, CpuDesc, CpuIndex, DomainDesc, Endianness, EntryPoint, Error, Level,
    LocalState, MessageOrder, OptionalCalls, PowerStateFormat, PowerUp, SuspendModeChange,
    SuspendRequest, Topology, id,
};
use std::sync::atomic::Ordering::SeqCst;

const RESUMED: EntryPoint = EntryPoint {
    pc: RESUME.0,
    context_id: RESUME.1,
    after: PowerUp::Resume,
    endianness: Endianness::Little,
};

fn coherent() -> Options {
    Options {
        coherent: true,
        ..Options::default()
    }
}

/// PSCI DEN0022, 4.2.3.1: a domain takes the shallowest of the states that its CPUs ask for; CPUs
/// that are off ask for the deepest.
#[test]
fn the_last_man_takes_the_domain_down_as_deep_as_all_allow() {
    for options in [Options::default(), coherent()] {
        let harness = Harness::running(options, 6);
        harness.suspend(3, [2, 2, 2]).powered_down();
        assert_eq!(harness.last_power_down(), "power_down [2, 0, 0, 0] Suspend");
        harness.suspend(5, [2, 1, 0]).powered_down();
        assert_eq!(harness.last_power_down(), "power_down [2, 0, 0, 0] Suspend");
        harness.suspend(4, [2, 2, 3]).powered_down();
        assert_eq!(
            harness.last_power_down(),
            "power_down [2, 1, 0, 0] Suspend",
            "CPU 5 allows retention of the cluster only"
        );
        // CPU 5 wakes and asks for more.
        assert_eq!(harness.wake(5), RESUMED);
        assert_eq!(
            harness.last_logged("powered_up"),
            "powered_up [2, 1, 0, 0] Resume"
        );
        harness.suspend(5, [2, 2, 3]).powered_down();
        assert_eq!(
            harness.last_power_down(),
            "power_down [2, 2, 2, 0] Suspend",
            "CPU 3 asked for 2 at level 2"
        );
        harness.wake(3);
        assert_eq!(
            harness.last_logged("powered_up"),
            "powered_up [2, 2, 2, 0] Resume"
        );
        harness.wake(4);
        assert_eq!(
            harness.last_logged("powered_up"),
            "powered_up [2, 0, 0, 0] Resume"
        );
        // A cluster of one CPU is always its last man's; CPUs 1 and 2 keep the group.
        harness.suspend(0, [2, 2, 3]).powered_down();
        assert_eq!(harness.last_power_down(), "power_down [2, 2, 0, 0] Suspend");
    }
}

/// PSCI DEN0022, 4.2.3.1: CPUs that are off do not keep a domain up.
#[test]
fn a_cpu_that_is_off_does_not_keep_its_cluster() {
    let harness = Harness::running(Options::default(), 3);
    harness.turn_off(1).powered_down();
    harness.suspend(2, [2, 2, 0]).powered_down();
    assert_eq!(harness.last_power_down(), "power_down [2, 2, 0, 0] Suspend");
    harness.turn_on(1);
    assert_eq!(
        harness.last_logged("powered_up"),
        "powered_up [2, 2, 0, 0] On",
        "the CPU that is turned on brings the cluster up"
    );
    harness.wake(2);
    assert_eq!(
        harness.last_logged("powered_up"),
        "powered_up [2, 0, 0, 0] Resume"
    );
}

/// The whole way down and up, step by step.
#[test]
fn the_order_of_operations() {
    let harness = Harness::running(Options::default(), 3);
    harness.suspend(1, [2, 2, 0]).powered_down();
    harness.clear_log();
    harness.suspend(2, [2, 2, 0]).powered_down();
    let steps = |log: Vec<String>| -> Vec<String> {
        let detail: Vec<_> = psci::points::psci::ALL
            .iter()
            .filter(|p| p.id() >= 0x10)
            .map(|p| p.name())
            .collect();
        log.into_iter()
            .filter(|line| !detail.contains(&line.split(' ').next().unwrap()))
            .collect()
    };
    assert_eq!(
        steps(harness.log()),
        [
            "enter-psci 0xc4000001",
            "context on",
            "enter-cflush 0x1",
            "caches off",
            "flushed 1",
            "exit-cflush 0x1",
            "interrupts off",
            "power_down [2, 2, 0, 0] Suspend",
            "enter-hw-low-pwr 0x0",
            "wfi"
        ]
    );
    harness.clear_log();
    harness.wake(1);
    assert_eq!(
        steps(harness.log()),
        [
            "exit-hw-low-pwr 0x0",
            "reset",
            "powered_up [2, 2, 0, 0] Resume",
            "caches on",
            "interrupts on",
            "context off",
            "exit-psci 0x0"
        ]
    );
    harness.clear_log();
    harness.turn_off(1).powered_down();
    harness.turn_on(1);
    assert!(
        steps(harness.log()).ends_with(
            &[
                "exit-hw-low-pwr 0x0",
                "reset",
                "powered_up [2, 2, 0, 0] On",
                "caches on",
                "interrupts init",
                "interrupts on",
                "exit-psci 0x0"
            ]
            .map(String::from)
        )
    );
}

/// Which locks each way takes, in which order, and what they enclose.
#[cfg(feature = "detail")]
#[test]
fn locks_lowest_first_and_released_highest_first() {
    let locks = |harness: &Harness| -> Vec<String> {
        let keep = [
            "lock-acquired",
            "lock-released",
            "power_down",
            "caches ",
            "enter-hw-low-pwr",
            "power_on",
        ];
        harness
            .log()
            .into_iter()
            .filter(|line| keep.iter().any(|k| line.starts_with(k)))
            .collect()
    };
    let order = |order| {
        Harness::running(
            Options {
                order,
                ..Options::default()
            },
            3,
        )
    };
    let harness = order(MessageOrder::InsideLocks);
    harness.suspend(1, [2, 2, 0]).powered_down();
    assert_eq!(
        locks(&harness),
        [
            "lock-acquired 0x4",
            "caches off",
            "power_down [2, 0, 0, 0] Suspend",
            "lock-released 0x4",
            "enter-hw-low-pwr 0x0"
        ]
    );
    harness.clear_log();
    harness.wake(1);
    assert_eq!(
        locks(&harness),
        ["lock-acquired 0x4", "caches on", "lock-released 0x4"]
    );

    harness.clear_log();
    harness.turn_off(1).powered_down();
    assert_eq!(
        locks(&harness),
        [
            "lock-acquired 0x4",
            "lock-acquired 0x1",
            "lock-acquired 0x0",
            "caches off",
            "power_down [2, 0, 0, 0] Off",
            "lock-released 0x0",
            "lock-released 0x1",
            "lock-released 0x4",
            "enter-hw-low-pwr 0x0"
        ]
    );
    harness.clear_log();
    harness.turn_on(1);
    assert_eq!(
        locks(&harness),
        [
            "lock-acquired 0x4001",
            "power_on 1",
            "lock-released 0x4001",
            "lock-acquired 0x4",
            "lock-acquired 0x1",
            "lock-acquired 0x0",
            "caches on",
            "lock-acquired 0x4001",
            "lock-released 0x4001",
            "lock-released 0x0",
            "lock-released 0x1",
            "lock-released 0x4"
        ]
    );
    // Level 0 alone locks nothing, down or up.
    harness.clear_log();
    harness.suspend(1, [2, 0, 0]).powered_down();
    harness.wake(1);
    harness.suspend(1, [1, 0, 0]).returned();
    assert_eq!(
        locks(&harness),
        [
            "caches off",
            "power_down [2, 0, 0, 0] Suspend",
            "enter-hw-low-pwr 0x0",
            "caches on",
            "enter-hw-low-pwr 0x0"
        ]
    );

    let harness = order(MessageOrder::OutsideLocks);
    harness.suspend(1, [2, 2, 0]).powered_down();
    assert_eq!(
        locks(&harness),
        [
            "lock-acquired 0x4",
            "caches off",
            "lock-released 0x4",
            "power_down [2, 0, 0, 0] Suspend",
            "enter-hw-low-pwr 0x0"
        ]
    );
}

/// With coherent power-down nothing is flushed and no line maintained (the cells check that).
#[test]
fn coherent_power_down_flushes_nothing() {
    let harness = Harness::running(coherent(), 3);
    harness.suspend(1, [2, 2, 0]).powered_down();
    harness.wake(1);
    assert!(!harness.log().iter().any(|line| line.starts_with("caches ")));
}

/// A CPU comes out of reset with its caches off where machines stay coherent, too. The fake
/// machine's cells panic at a store that an old line would undo, and the stamp that others read is
/// that of the last wakeup.
#[test]
fn on_a_coherent_machine_each_wakeup_leaves_its_own_stamp() {
    let harness = Harness::running(coherent(), 3);
    let mut before = 0;
    for _ in 0..3 {
        harness.suspend(1, [2, 2, 0]).powered_down();
        harness.wake(1);
        let (slept, woke) = (harness.time_stamp(1, 2), harness.time_stamp(1, 3));
        assert!(before < slept && slept < woke, "{before} {slept} {woke}");
        before = woke;
    }
}

/// PSCI DEN0022, 5.4: standby keeps the context and returns; at level 0 nobody else notices.
#[test]
fn standby_returns_success() {
    let harness = Harness::running(Options::default(), 6);
    assert_eq!(harness.suspend(3, [1, 0, 0]), returned(SUCCESS));
    assert_eq!(harness.last_logged("standby"), "standby [1, 0, 0, 0]");
    // The retention cluster: only the last of its three CPUs takes it along.
    for cpu in [3, 4] {
        harness.suspend(cpu, [2, 1, 0]).powered_down();
    }
    assert_eq!(harness.suspend(5, [1, 1, 0]), returned(SUCCESS));
    assert_eq!(harness.last_logged("standby"), "standby [1, 1, 0, 0]");
    harness.wake(3);
    assert_eq!(
        harness.last_logged("powered_up"),
        "powered_up [2, 0, 0, 0] Resume",
        "CPU 5 has brought the cluster back"
    );
    assert_eq!(harness.suspend(5, [1, 1, 0]), returned(SUCCESS));
    assert_eq!(harness.last_logged("standby"), "standby [1, 0, 0, 0]");
}

/// PSCI DEN0022, 5.4.2: what is not a state of this CPU is INVALID_PARAMETERS, in both formats, and
/// so is a reserved bit; the entry point matters only where it is used.
#[test]
fn arguments_of_cpu_suspend() {
    for format in [PowerStateFormat::Original, PowerStateFormat::Extended] {
        let harness = Harness::running(
            Options {
                format,
                ..Options::default()
            },
            6,
        );
        let call =
            |cpu, raw: u32, entry| harness.smc(cpu, id::CPU_SUSPEND, [u64::from(raw), entry, 0]);
        let invalid = returned(code(Error::InvalidParameters));
        for (cpu, levels) in [
            (0, [2, 1, 0]),
            (0, [0, 0, 0]),
            (3, [2, 0, 3]),
            (3, [1, 2, 0]),
            (3, [2, 1, 3]),
            (3, [3, 0, 0]),
        ] {
            assert_eq!(harness.suspend(cpu, levels), invalid, "{levels:?}");
        }
        let good = harness.power_state([2, 2, 0], 0);
        for bit in (0..32).filter(|bit| match format {
            PowerStateFormat::Original => (17..24).contains(bit) || *bit >= 26,
            PowerStateFormat::Extended => matches!(bit, 28 | 29 | 31),
        }) {
            assert_eq!(
                call(0, good | 1 << bit, RESUME.0),
                invalid,
                "{format:?} reserved bit {bit}"
            );
        }
        let down = match format {
            PowerStateFormat::Original => 1 << 16,
            PowerStateFormat::Extended => 1 << 30,
        };
        assert_eq!(
            call(0, good ^ down, RESUME.0),
            invalid,
            "the type is not that of the state"
        );
        assert_eq!(call(0, good, 0x10), returned(code(Error::InvalidAddress)));
        assert_eq!(
            call(0, harness.power_state([1, 0, 0], 0), 0x10),
            returned(SUCCESS),
            "no entry point in standby"
        );
        call(0, good, RESUME.0).powered_down();
    }
}

/// PSCI DEN0022, 5.4: an interrupt that is pending ends the suspend; nothing has happened.
#[test]
fn an_early_exit_changes_nothing_and_leaves_no_stale_stamp() {
    let harness = Harness::running(Options::default(), 3);
    harness.suspend(1, [2, 2, 0]).powered_down();
    harness.wake(1);
    for id in 0..6 {
        assert_ne!(harness.time_stamp(1, id), 0, "{id}");
    }
    harness.fake.interrupt[1].store(true, SeqCst);
    assert_eq!(harness.suspend(1, [2, 2, 0]), returned(SUCCESS));
    assert_eq!(
        [2, 3, 4, 5].map(|id| harness.time_stamp(1, id)),
        [0; 4],
        "stamps of the suspend before"
    );
    assert!(harness.time_stamp(1, 1) > harness.time_stamp(1, 0));
    // The request is gone as well, and the lock is free.
    harness.suspend(2, [2, 2, 0]).powered_down();
    assert_eq!(harness.last_power_down(), "power_down [2, 0, 0, 0] Suspend");
}

/// PSCI DEN0022, 5.4: an abandoned power-down returns SUCCESS, with all as it was.
#[test]
fn an_abandoned_suspend_is_undone() {
    for options in [
        Options::default(),
        coherent(),
        Options {
            order: MessageOrder::OutsideLocks,
            ..Options::default()
        },
    ] {
        let harness = Harness::running(options, 3);
        harness.suspend(1, [2, 2, 0]).powered_down();
        harness.fake.refuse.store(true, SeqCst);
        harness.clear_log();
        assert_eq!(harness.suspend(2, [2, 2, 0]), returned(SUCCESS));
        assert_eq!(harness.last_logged("abandoned ["), "abandoned [2, 2, 0, 0]");
        assert!(
            !harness.log().contains(&"context off".into()),
            "the registers were never lost"
        );
        harness.fake.refuse.store(false, SeqCst);
        harness.wake(1);
        assert_eq!(
            harness.last_logged("powered_up"),
            "powered_up [2, 0, 0, 0] Resume",
            "the cluster was up again"
        );
        harness.suspend(1, [2, 2, 0]).powered_down();
        assert_eq!(
            harness.last_power_down(),
            "power_down [2, 0, 0, 0] Suspend",
            "CPU 2's request is gone"
        );
        let stamps = [0, 4, 5, 2, 3, 1].map(|id| harness.time_stamp(2, id));
        assert!(stamps.is_sorted() && stamps[0] > 0, "{stamps:?}");
    }
}

/// PSCI DEN0022, 5.20: only the last CPU that is on; the only call that takes level 3 down here.
#[test]
fn system_suspend() {
    let harness = Harness::running(Options::default(), 3);
    let call = |entry| harness.smc(0, id::SYSTEM_SUSPEND | id::SMC64, [entry, 42, 0]);
    assert_eq!(call(RESUME.0), returned(code(Error::Denied)));
    harness.turn_off(1).powered_down();
    harness.suspend(2, [2, 2, 0]).powered_down();
    assert_eq!(
        call(RESUME.0),
        returned(code(Error::Denied)),
        "a suspended CPU is on"
    );
    harness.wake(2);
    harness.turn_off(2).powered_down();
    assert_eq!(harness.cpu_on(0, 1, CPU_ON_ENTRY), SUCCESS);
    assert_eq!(
        call(RESUME.0),
        returned(code(Error::Denied)),
        "one is about to be on"
    );
    harness.wake(1);
    harness.turn_off(1).powered_down();
    assert_eq!(call(0x10), returned(code(Error::InvalidAddress)));
    harness.fake.interrupt[0].store(true, SeqCst);
    assert_eq!(call(RESUME.0), returned(SUCCESS));
    harness.fake.interrupt[0].store(false, SeqCst);
    call(RESUME.0).powered_down();
    assert_eq!(harness.last_power_down(), "power_down [2, 2, 3, 1] Suspend");
    assert_eq!(
        harness.wake(0),
        EntryPoint {
            pc: RESUME.0,
            context_id: 42,
            after: PowerUp::Resume,
            endianness: Endianness::Little
        }
    );
    assert_eq!(
        harness.last_logged("powered_up"),
        "powered_up [2, 2, 3, 1] Resume"
    );
    harness.turn_on(1);
}

/// The request that the caller of an OS-initiated suspend made for its cluster stands until it
/// wakes: a CPU_OFF, which the platform always coordinates, takes the cluster down beside it (PSCI
/// DEN0022, 4.2.3 and 5.5).
#[test]
fn an_os_initiated_request_stands_while_its_cpu_sleeps() {
    let harness = os_initiated(3);
    harness.suspend_as_last(1, [2, 0, 0], 0).powered_down();
    harness.suspend_as_last(2, [2, 2, 0], 1).powered_down();
    harness.wake(1);
    harness.turn_off(1).powered_down();
    assert_eq!(
        harness.last_power_down(),
        "power_down [2, 2, 0, 0] Off",
        "CPU 2 still allows it"
    );
}

/// Two CPUs whose SYSTEM_SUSPEND has a state that means nothing, each in its own way.
struct Unsound([u8; 3]);

impl Board for Unsound {
    fn topology(&self) -> Topology<'static> {
        Topology {
            domains: &[DomainDesc {
                parent: None,
                level: 1,
            }],
            cpus: &[
                CpuDesc {
                    mpidr: 0,
                    parent: 0,
                },
                CpuDesc {
                    mpidr: 1,
                    parent: 0,
                },
            ],
        }
    }
    fn is_power_down(&self, _: Level, state: LocalState) -> bool {
        state.0 >= 2
    }
    fn decode_power_state(
        &self,
        _: CpuIndex,
        _: PowerStateFormat,
        _: u32,
    ) -> Result<SuspendRequest, Error> {
        Err(Error::InvalidParameters)
    }
    fn off_state(&self) -> CompositeState {
        CompositeState {
            levels: [2, 2, 0, 0].map(LocalState),
        }
    }
    fn system_suspend_state(&self) -> Option<CompositeState> {
        Some(CompositeState {
            levels: [self.0[0], self.0[1], self.0[2], 0].map(LocalState),
        })
    }
}

/// PSCI DEN0022, 5.20: a state in which the CPU keeps its contents, or which the tree cannot have,
/// is the platform's mistake.
#[test]
fn a_state_of_system_suspend_that_means_nothing_is_an_internal_failure() {
    for levels in [
        [1, 1, 0],
        [2, 0, 0],
        [1, 0, 0],
        [1, 2, 0],
        [0, 2, 0],
        [2, 0, 2],
        [2, 2, 2],
    ] {
        let harness = Harness::on_board(Unsound(levels), Options::default()).unwrap();
        let ended = harness.smc(0, id::SYSTEM_SUSPEND | id::SMC64, [RESUME.0, 0, 0]);
        if levels == [2, 0, 0] {
            ended.powered_down(); // sound: the CPU alone goes down
        } else {
            assert_eq!(ended, returned(code(Error::InternalFailure)), "{levels:?}");
        }
    }
}

fn os_initiated(running: u16) -> Harness {
    let harness = Harness::running(Options::default(), running);
    assert_eq!(
        harness.call(0, id::PSCI_SET_SUSPEND_MODE, [1, 0, 0]),
        SUCCESS
    );
    harness
}

/// PSCI DEN0022, 4.2.3.2: the last CPU's request decides, whatever the others asked for.
#[test]
fn os_initiated_the_last_cpu_decides() {
    let harness = os_initiated(6);
    for cpu in [4, 5] {
        harness.suspend_as_last(cpu, [2, 0, 0], 0).powered_down();
    }
    harness.suspend_as_last(3, [2, 2, 3], 2).powered_down();
    assert_eq!(harness.last_power_down(), "power_down [2, 2, 3, 0] Suspend");
    harness.wake(5);
    assert_eq!(
        harness.last_logged("powered_up"),
        "powered_up [2, 2, 3, 0] Resume",
        "though CPU 5 only asked for level 0"
    );
    harness.wake(4);
    assert_eq!(
        harness.last_logged("powered_up"),
        "powered_up [2, 0, 0, 0] Resume"
    );
}

/// PSCI DEN0022, 4.2.3.2: DENIED if a CPU or a domain below runs, INVALID_PARAMETERS if the request
/// does not fit itself or the states below; and then nothing has changed.
#[test]
fn a_rejected_os_initiated_request_changes_nothing() {
    let harness = os_initiated(6);
    let denied = returned(code(Error::Denied));
    let invalid = returned(code(Error::InvalidParameters));
    harness.suspend_as_last(4, [2, 0, 0], 0).powered_down();
    assert_eq!(
        harness.suspend_as_last(3, [2, 2, 0], 1),
        denied,
        "CPU 5 runs"
    );
    assert_eq!(
        harness.suspend_as_last(3, [2, 2, 3], 1),
        invalid,
        "deeper than where it is the last"
    );
    assert_eq!(harness.suspend_as_last(3, [2, 0, 0], 4), invalid);
    // Had the rejected request stayed, CPU 5 would now be granted one that CPU 3 does not back.
    assert_eq!(
        harness.suspend_as_last(5, [2, 2, 0], 1),
        denied,
        "CPU 3 runs"
    );
    harness.suspend_as_last(5, [2, 0, 0], 0).powered_down();
    harness.suspend_as_last(3, [2, 1, 0], 1).powered_down();
    assert_eq!(harness.last_power_down(), "power_down [2, 1, 0, 0] Suspend");
    // A domain that keeps its contents cannot lie below one that loses them.
    harness.wake(3);
    for cpu in [0, 1] {
        harness.suspend_as_last(cpu, [2, 0, 0], 0).powered_down();
    }
    assert_eq!(
        harness.suspend_as_last(2, [2, 2, 3], 2),
        denied,
        "CPU 0's cluster was left running"
    );
    assert_eq!(
        harness.suspend_as_last(2, [2, 2, 1], 2),
        denied,
        "nor may it run in a group in retention"
    );
    harness.suspend_as_last(2, [2, 2, 0], 2).powered_down();
    assert_eq!(harness.last_power_down(), "power_down [2, 2, 0, 0] Suspend");
}

/// PSCI DEN0022, 4.2.3.2: a CPU in retention would lose its contents with its cluster.
#[test]
fn os_initiated_power_down_above_retention_is_invalid() {
    let harness: &'static Harness = crate::fake::leak(os_initiated(6));
    for cpu in [4, 5] {
        harness.suspend_as_last(cpu, [2, 0, 0], 0).powered_down();
    }
    let others = || {
        harness.wake(4);
        assert_eq!(
            harness.suspend_as_last(4, [2, 2, 0], 1),
            returned(code(Error::InvalidParameters))
        );
        harness.suspend_as_last(4, [2, 1, 0], 1).powered_down();
    };
    *harness.fake.in_standby.lock().unwrap() = Some(Box::new(others));
    assert_eq!(harness.suspend_as_last(3, [1, 1, 0], 1), returned(SUCCESS));
    assert_eq!(harness.last_power_down(), "power_down [2, 1, 0, 0] Suspend");
}

/// Arm's compliance tests expect DENIED as long as anything runs, whatever sleeps beside it.
#[test]
fn a_sleeper_hides_no_runner() {
    let harness: &'static Harness = crate::fake::leak(os_initiated(6));
    // CPU 4 keeps its contents in standby, which a cluster without power would lose; CPU 5 runs.
    let others = || {
        assert_eq!(
            harness.suspend_as_last(3, [2, 2, 0], 1),
            returned(code(Error::Denied)),
            "CPU 5 runs"
        );
        harness.suspend_as_last(5, [2, 0, 0], 0).powered_down();
        assert_eq!(
            harness.suspend_as_last(3, [2, 2, 0], 1),
            returned(code(Error::InvalidParameters))
        );
    };
    *harness.fake.in_standby.lock().unwrap() = Some(Box::new(others));
    assert_eq!(harness.suspend_as_last(4, [1, 0, 0], 0), returned(SUCCESS));
}

/// A CPU that will wake without a level's lock keeps that level up, whatever the mode is by now.
#[test]
fn a_sleeper_that_takes_no_locks_keeps_its_cluster_up() {
    let harness = Harness::running(
        Options {
            default_suspend: true,
            ..Options::default()
        },
        3,
    );
    harness
        .smc(1, id::CPU_DEFAULT_SUSPEND, [RESUME.0, RESUME.1, 0])
        .powered_down();
    assert_eq!(
        harness.call(0, id::PSCI_SET_SUSPEND_MODE, [1, 0, 0]),
        SUCCESS
    );
    assert_eq!(
        harness.suspend_as_last(2, [2, 2, 0], 1),
        returned(code(Error::Denied))
    );
    harness.wake(1);
    harness.suspend_as_last(1, [2, 0, 0], 0).powered_down();
    harness.suspend_as_last(2, [2, 2, 0], 1).powered_down();
}

/// The same in what other calls see: the requests after a rejection are what they were before.
#[test]
fn a_rejected_os_initiated_request_leaves_the_requested_states() {
    let harness = os_initiated(3);
    assert_eq!(
        harness.suspend_as_last(1, [2, 2, 0], 1),
        returned(code(Error::Denied))
    );
    harness.turn_off(2).powered_down();
    assert_eq!(
        harness.last_power_down(),
        "power_down [2, 0, 0, 0] Off",
        "CPU 1 runs and asks for nothing"
    );
}

/// PSCI DEN0022, 5.21.
#[test]
fn set_suspend_mode() {
    let harness = Harness::running(Options::default(), 2);
    let set = |cpu, mode| harness.call(cpu, id::PSCI_SET_SUSPEND_MODE, [mode, 0, 0]);
    assert_eq!(set(0, 2), code(Error::InvalidParameters));
    assert_eq!(set(0, 0), SUCCESS);
    assert_eq!(set(0, 1), SUCCESS);
    assert_eq!(set(0, 0), code(Error::Denied), "CPU 1 is on");
    harness.turn_off(1).powered_down();
    assert_eq!(set(0, 0), SUCCESS);
    assert_eq!(harness.suspend(0, [1, 0, 0]), returned(SUCCESS));
    assert_eq!(
        set(0, 1),
        SUCCESS,
        "somebody has called CPU_SUSPEND, but nobody is in it"
    );
    assert_eq!(set(0, 0), SUCCESS);
    harness.turn_on(1);
    harness.suspend(1, [2, 0, 0]).powered_down();
    assert_eq!(set(0, 1), code(Error::Denied), "CPU 1 is in CPU_SUSPEND");
    harness.wake(1);
    harness.turn_off(1).powered_down();
    // In platform-coordinated mode a request above level 0 needs no claim to be the last.
    harness.suspend_as_last(0, [2, 2, 0], 0).powered_down();

    let plain = Harness::new(Options {
        optional: OptionalCalls::NONE,
        ..Options::default()
    });
    assert_eq!(
        plain.call(0, id::PSCI_SET_SUSPEND_MODE, [1, 0, 0]),
        code(Error::NotSupported)
    );
}

/// PSCI DEN0022, 5.21, to the letter: not "since the last change of mode or boot".
#[test]
fn a_platform_may_keep_to_the_letter_of_set_suspend_mode() {
    let strict = SuspendModeChange::BeforeAnySuspend;
    let harness = Harness::running(
        Options {
            suspend_mode_change: strict,
            ..Options::default()
        },
        1,
    );
    let set = |mode| harness.call(0, id::PSCI_SET_SUSPEND_MODE, [mode, 0, 0]);
    assert_eq!(set(1), SUCCESS);
    assert_eq!(harness.suspend(0, [1, 0, 0]), returned(SUCCESS));
    assert_eq!(set(0), SUCCESS);
    assert_eq!(set(1), SUCCESS, "the change of mode begins anew");
    assert_eq!(set(0), SUCCESS);
    assert_eq!(harness.suspend(0, [1, 0, 0]), returned(SUCCESS));
    assert_eq!(
        set(1),
        code(Error::Denied),
        "somebody has called CPU_SUSPEND"
    );
}

/// PSCI DEN0022, 4.2.3.2: a CPU in standby sleeps, so that the last one may ask for its cluster's
/// retention; not for its power-down, which the CPU in standby would not survive.
#[test]
fn os_initiated_standby_counts_as_sleep() {
    for (states, ended) in [
        ([1, 1, 0], SUCCESS),
        ([2, 2, 0], code(Error::InvalidParameters)),
    ] {
        let harness: &'static Harness = crate::fake::leak(os_initiated(5));
        assert_eq!(
            harness.suspend_as_last(4, states, 1),
            returned(code(Error::Denied)),
            "CPU 3 runs"
        );
        let other = move || assert_eq!(harness.suspend_as_last(4, states, 1), returned(ended));
        *harness.fake.in_standby.lock().unwrap() = Some(Box::new(other));
        assert_eq!(harness.suspend_as_last(3, [1, 0, 0], 0), returned(SUCCESS));
        assert!(harness.fake.in_standby.lock().unwrap().is_none());
        assert_eq!(
            harness.suspend_as_last(4, states, 1),
            returned(code(Error::Denied)),
            "CPU 3 runs again"
        );
    }
}

/// PSCI DEN0022, 5.18.
#[test]
fn default_suspend() {
    let harness = Harness::running(
        Options {
            default_suspend: true,
            ..Options::default()
        },
        2,
    );
    harness
        .smc(1, id::CPU_DEFAULT_SUSPEND, [RESUME.0, RESUME.1, 0])
        .powered_down();
    assert_eq!(harness.last_power_down(), "power_down [2, 0, 0, 0] Suspend");
    assert_eq!(harness.wake(1), RESUMED);
    assert_eq!(
        harness.call(0, id::PSCI_SET_SUSPEND_MODE, [1, 0, 0]),
        SUCCESS,
        "it is no CPU_SUSPEND"
    );
}

/// PSCI DEN0022, 5.22: microseconds and number of stays, of the CPU and of the domains.
#[test]
fn statistics() {
    let harness = Harness::running(Options::default(), 3);
    let count = |cpu, levels| {
        harness.call(
            0,
            id::PSCI_STAT_COUNT | id::SMC64,
            [mpidr(cpu), u64::from(harness.power_state(levels, 0)), 0],
        )
    };
    let residency = |cpu, levels| {
        harness.call(
            0,
            id::PSCI_STAT_RESIDENCY | id::SMC64,
            [mpidr(cpu), u64::from(harness.power_state(levels, 0)), 0],
        )
    };
    assert_eq!(
        (count(1, [2, 0, 0]), residency(1, [2, 0, 0])),
        (0, 0),
        "CPUs were off before the first CPU_ON"
    );
    for _ in 0..3 {
        harness.suspend(1, [1, 0, 0]).returned();
    }
    assert_eq!((count(1, [1, 0, 0]), residency(1, [1, 0, 0])), (3, 3000));
    harness.suspend(1, [2, 2, 0]).powered_down();
    harness.suspend(0, [1, 0, 0]).returned(); // lets 1 ms pass
    harness.suspend(2, [2, 2, 0]).powered_down();
    assert_eq!(count(1, [2, 2, 0]), 0, "not before the wake-up");
    harness.suspend(0, [1, 0, 0]).returned();
    harness.wake(2);
    harness.wake(1);
    assert_eq!(
        (
            count(1, [2, 0, 0]),
            count(2, [2, 0, 0]),
            count(1, [2, 2, 0]),
            count(2, [2, 2, 0])
        ),
        (1, 1, 1, 1)
    );
    assert_eq!(
        (
            residency(1, [2, 0, 0]) / 1000,
            residency(2, [2, 2, 0]) / 1000
        ),
        (2, 1)
    );
    harness.fake.refuse.store(true, SeqCst);
    harness.suspend(1, [2, 0, 0]).returned();
    assert_eq!(
        count(1, [2, 0, 0]),
        1,
        "an abandoned power-down does not count"
    );
    assert_eq!(
        harness.call(0, id::PSCI_STAT_COUNT, [0x77, 0x10002, 0]),
        0,
        "no error: 0"
    );
    assert_eq!(harness.call(0, id::PSCI_STAT_COUNT, [0, 0xffff_ffff, 0]), 0);
}

/// PSCI DEN0022, 5.22: a domain's stay counts for the state that it was in, whatever the CPU that
/// wakes first had asked for.
#[test]
fn a_stay_counts_for_the_state_that_the_domain_was_in() {
    let harness = Harness::running(Options::default(), 6);
    let count = |levels| {
        harness.call(
            3,
            id::PSCI_STAT_COUNT | id::SMC64,
            [mpidr(3), u64::from(harness.power_state(levels, 0)), 0],
        )
    };
    harness.suspend(3, [2, 2, 0]).powered_down();
    harness.suspend(4, [2, 1, 0]).powered_down();
    harness.suspend(5, [2, 2, 0]).powered_down();
    assert_eq!(
        harness.last_power_down(),
        "power_down [2, 1, 0, 0] Suspend",
        "CPU 4 allows retention only"
    );
    harness.wake(3);
    assert_eq!((count([2, 1, 0]), count([2, 2, 0])), (1, 0));
}

/// Stamps of a suspend are in the order in which things happen.
#[test]
fn stamps_are_in_order() {
    for options in [Options::default(), coherent()] {
        let harness = Harness::running(options, 2);
        harness.suspend(1, [2, 2, 0]).powered_down();
        harness.wake(1);
        let stamps = [0, 4, 5, 2, 3, 1].map(|id| harness.time_stamp(1, id));
        assert!(
            stamps.windows(2).all(|pair| pair[0] < pair[1]) && stamps[0] > 0,
            "{stamps:?}"
        );
        harness.turn_off(1).powered_down();
        let stamps = [0, 4, 5, 2].map(|id| harness.time_stamp(1, id));
        assert!(
            stamps.windows(2).all(|pair| pair[0] < pair[1]),
            "{stamps:?}"
        );
        assert_eq!(
            [3, 1].map(|id| harness.time_stamp(1, id)),
            [0, 0],
            "of the suspend before"
        );
        harness.suspend(0, [1, 0, 0]).returned();
        assert_eq!(
            [4, 5].map(|id| harness.time_stamp(0, id)),
            [0, 0],
            "standby flushes nothing"
        );
        let stamps = [0, 2, 3, 1].map(|id| harness.time_stamp(0, id));
        assert!(
            stamps.windows(2).all(|pair| pair[0] < pair[1]),
            "{stamps:?}"
        );
    }
}

/// The cells of the fake machine panic where a CPU with its caches off would see, or destroy, what
/// another one wrote; so this long life of six CPUs shows that it never does.
#[test]
fn nothing_stale_is_ever_seen() {
    let harness = Harness::running(Options::default(), 6);
    let mut numbers = fastrand::Rng::with_seed(0x9e37_79b9_7f4a_7c15);
    let mut random = |n: u64| numbers.u64(..n);
    let mut down = [false; 6];
    let mut off = [false; 6];
    let mut suspends = 0;
    for _ in 0..20_000 {
        let cpu = random(6) as u16;
        let i = usize::from(cpu);
        match (off[i], down[i]) {
            (true, _) if random(2) == 0 => {
                harness.turn_on(cpu);
                off[i] = false;
            }
            (true, _) => {}
            (_, true) => {
                assert_eq!(harness.wake(cpu), RESUMED);
                down[i] = false;
            }
            _ => {
                let levels =
                    [[2, 0, 0], [2, 2, 0], [2, 2, 3], [1, 0, 0], [2, 2, 2]][random(5) as usize];
                harness.fake.refuse.store(random(4) == 0, SeqCst);
                if cpu != 0 && random(4) == 0 {
                    off[i] = harness.turn_off(cpu) == Ending::PoweredDown;
                } else if cpu != 0 || levels[0] == 1 {
                    down[i] = harness.suspend(cpu, levels) == Ending::PoweredDown;
                    suspends += 1;
                }
                harness.fake.refuse.store(false, SeqCst);
            }
        }
        let other = random(6) as u16;
        assert_eq!(harness.affinity(other), u64::from(off[usize::from(other)]));
        harness.time_stamp(other, random(6));
    }
    assert!(suspends > 1000);
}

/// PSCI DEN0022, 4.2.2: a domain cannot leave the running state above one that keeps it.
#[test]
fn a_state_that_skips_a_level_is_none() {
    let harness = Harness::new(Options::default());
    for levels in [[1, 0, 1], [2, 0, 1], [2, 0, 3]] {
        assert_eq!(
            harness.suspend(0, levels),
            returned(code(Error::InvalidParameters)),
            "{levels:?}"
        );
    }
}

/// Cluster 5 keeps its contents in state 1: only the CPU's own cache is flushed.
#[test]
fn a_flush_goes_as_far_as_contents_are_lost() {
    let harness = Harness::new(Options::default());
    harness.turn_on(3);
    harness.suspend(3, [2, 1, 0]).powered_down();
    assert_eq!(harness.last_logged("flushed"), "flushed 0");
    harness.wake(3);
    harness.suspend(3, [2, 2, 0]).powered_down();
    assert_eq!(harness.last_logged("flushed"), "flushed 1");
}

/// PSCI DEN0022, 4.2.3.2: the last CPU of the machine may say so, up to the level at the top, and
/// not beyond.
#[test]
fn the_last_of_all_is_the_last_at_the_top() {
    let harness = os_initiated(1);
    assert_eq!(
        harness.suspend_as_last(0, [2, 2, 3], 4),
        returned(code(Error::InvalidParameters))
    );
    harness.suspend_as_last(0, [2, 2, 3], 3).powered_down();
}
