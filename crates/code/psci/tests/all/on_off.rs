//! CPU_ON, CPU_OFF, AFFINITY_INFO.

#![allow(clippy::disallowed_types)]

use crate::fake::{
    Board, CPU_ON_ENTRY, Ending, Harness, Options, RESUME, SUCCESS, code, leak, mpidr, returned,
};
use psci::{
    CompositeState, CpuDesc, CpuIndex, DomainDesc, Endianness, EntryPoint, Error, Level,
    LocalState, MessageOrder, OptionalCalls, Outcome, PowerStateFormat, PowerUp, SuspendRequest,
    Topology, TrustedOs, id,
};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

/// PSCI DEN0022, 5.6: the target enters at the given address, with the context id.
#[test]
fn cpu_on_enters_at_its_entry_point() {
    let harness = Harness::new(Options::default());
    assert_eq!(harness.cpu_on(0, 4, CPU_ON_ENTRY), SUCCESS);
    assert_eq!(
        harness.wake(4),
        EntryPoint {
            pc: CPU_ON_ENTRY.0,
            context_id: CPU_ON_ENTRY.1,
            after: PowerUp::On,
            endianness: Endianness::Little
        }
    );
    assert_eq!(
        harness.last_logged("powered_up"),
        "powered_up [2, 2, 3, 0] On",
        "the first of its cluster and group"
    );
    harness.turn_on(3);
    assert_eq!(
        harness.last_logged("powered_up"),
        "powered_up [2, 0, 0, 0] On",
        "the second"
    );
}

/// PSCI DEN0022, 5.6.2: the error for each state of the target, and for arguments that mean
/// nothing.
#[test]
fn cpu_on_rejects_by_the_targets_state() {
    let harness = Harness::new(Options::default());
    assert_eq!(harness.cpu_on(0, 0, CPU_ON_ENTRY), code(Error::AlreadyOn));
    assert_eq!(harness.cpu_on(0, 1, CPU_ON_ENTRY), SUCCESS);
    assert_eq!(harness.cpu_on(0, 1, CPU_ON_ENTRY), code(Error::OnPending));
    harness.wake(1);
    assert_eq!(harness.cpu_on(0, 1, CPU_ON_ENTRY), code(Error::AlreadyOn));
    assert_eq!(harness.cpu_on(0, 2, (0x10, 0)), code(Error::InvalidAddress));
    for bad in [0x5, 0x1_0000_0000, 0xff_00ff_ffff, 1 << 31 | 5, u64::MAX] {
        let entry = id::CPU_ON | id::SMC64;
        assert_eq!(
            harness.call(0, entry, [bad, CPU_ON_ENTRY.0, 0]),
            code(Error::InvalidParameters),
            "{bad:#x}"
        );
    }
    // SMCCC DEN0028, 3.1: a 32-bit call's arguments end at bit 31.
    let high = 0xdead_0000_0000_0000;
    assert_eq!(
        harness.call(
            0,
            id::CPU_ON,
            [high | mpidr(2), high | CPU_ON_ENTRY.0, high | 7]
        ),
        SUCCESS
    );
    assert_eq!(harness.wake(2).context_id, 7);
}

/// PSCI DEN0022, 5.6: a CPU that is suspended is on, and a CPU_ON that is rejected does not change
/// where it resumes.
#[test]
fn a_rejected_cpu_on_leaves_a_suspended_cpu_its_resume_address() {
    for options in [
        Options::default(),
        Options {
            coherent: true,
            ..Options::default()
        },
    ] {
        let harness = Harness::running(options, 2);
        harness.suspend(1, [2, 0, 0]).powered_down();
        assert_eq!(
            harness.cpu_on(0, 1, (0x6666_0000, 0xbad)),
            code(Error::AlreadyOn)
        );
        assert_eq!(
            harness.wake(1),
            EntryPoint {
                pc: RESUME.0,
                context_id: RESUME.1,
                after: PowerUp::Resume,
                endianness: Endianness::Little
            }
        );
    }
}

/// The same for a CPU that is about to enter: the first CPU_ON counts.
#[test]
fn a_cpu_on_while_one_is_pending_does_not_change_the_entry_point() {
    let harness = Harness::new(Options::default());
    assert_eq!(harness.cpu_on(0, 1, CPU_ON_ENTRY), SUCCESS);
    assert_eq!(
        harness.cpu_on(0, 1, (0x6666_0000, 0xbad)),
        code(Error::OnPending)
    );
    assert_eq!(harness.wake(1).pc, CPU_ON_ENTRY.0);
}

/// PSCI DEN0022, 5.6.2: INTERNAL_FAILURE, after which the target is off as before.
#[test]
fn a_power_controller_that_refuses_leaves_the_target_off() {
    let harness = Harness::new(Options::default());
    *harness.fake.power_on_error.lock().unwrap() = Some(Error::InternalFailure);
    assert_eq!(
        harness.cpu_on(0, 1, CPU_ON_ENTRY),
        code(Error::InternalFailure)
    );
    assert_eq!(harness.affinity(1), 1);
    *harness.fake.power_on_error.lock().unwrap() = None;
    harness.turn_on(1);
}

/// PSCI DEN0022, 5.5: the last CPU of a domain takes it down.
#[test]
fn cpu_off_takes_down_what_nobody_needs() {
    let harness = Harness::running(Options::default(), 6);
    harness.turn_off(1).powered_down();
    assert_eq!(harness.last_power_down(), "power_down [2, 0, 0, 0] Off");
    harness.turn_off(2).powered_down();
    assert_eq!(
        harness.last_power_down(),
        "power_down [2, 2, 0, 0] Off",
        "CPU 0 keeps the group"
    );
    for cpu in [3, 5] {
        harness.turn_off(cpu).powered_down();
        assert_eq!(harness.last_power_down(), "power_down [2, 0, 0, 0] Off");
    }
    harness.turn_off(4).powered_down();
    assert_eq!(harness.last_power_down(), "power_down [2, 2, 3, 0] Off");
    assert_eq!(harness.last_logged("flushed"), "flushed 2");
}

/// PSCI DEN0022, 5.5: CPU_OFF saves nothing, and the CPU is off only once it can be turned on
/// again.
#[test]
fn cpu_off_then_on() {
    for order in [MessageOrder::InsideLocks, MessageOrder::OutsideLocks] {
        let harness = Harness::running(
            Options {
                order,
                ..Options::default()
            },
            2,
        );
        harness.turn_off(1).powered_down();
        assert!(!harness.log().iter().any(|line| line.starts_with("context")));
        assert_eq!(harness.affinity(1), 1);
        harness.turn_on(1);
        assert_eq!(harness.affinity(1), 0);
    }
}

/// PSCI DEN0022, 5.17: a frozen CPU is off to AFFINITY_INFO and CPU_ON, and keeps its power and its
/// domains', through whatever the others do.
#[test]
fn a_frozen_cpu_holds_its_domains_until_it_is_turned_on() {
    for options in [
        Options::default(),
        Options {
            coherent: true,
            ..Options::default()
        },
    ] {
        let optional = OptionalCalls {
            cpu_freeze: true,
            ..OptionalCalls::NONE
        };
        let harness = Harness::running(
            Options {
                optional,
                ..options
            },
            3,
        );
        harness.smc(1, id::CPU_FREEZE, [0; 3]).powered_down();
        assert_eq!(harness.last_power_down(), "power_down [0, 0, 0, 0] Off");
        assert_eq!(harness.affinity(1), 1);
        harness.turn_off(2).powered_down();
        assert_eq!(
            harness.last_power_down(),
            "power_down [2, 0, 0, 0] Off",
            "CPU 1 keeps the cluster"
        );
        let suspended = harness.call(0, id::SYSTEM_SUSPEND | id::SMC64, [RESUME.0, RESUME.1, 0]);
        assert_eq!(suspended, code(Error::Denied), "and the system");
        harness.turn_on(1);
        assert_eq!(
            harness.last_logged("powered_up"),
            "powered_up [0, 0, 0, 0] On"
        );
        assert_eq!(harness.affinity(1), 0);
        harness.fake.refuse.store(true, SeqCst);
        assert_eq!(
            harness.call(1, id::CPU_FREEZE, [0; 3]),
            code(Error::Denied),
            "what the machine refuses is undone"
        );
        assert_eq!(harness.affinity(1), 0);
    }
}

/// PSCI DEN0022, 5.5: until the power controller has been told, the CPU is on. A CPU_ON that came
/// before would send its message first, and the CPU would stay off.
#[test]
fn a_cpu_that_turns_off_is_on_until_its_message_is_sent() {
    for order in [MessageOrder::InsideLocks, MessageOrder::OutsideLocks] {
        let harness: &'static Harness = leak(Harness::running(
            Options {
                order,
                ..Options::default()
            },
            2,
        ));
        let asked = &*leak(AtomicBool::new(false));
        let others = move || {
            asked.store(true, SeqCst);
            assert_eq!(harness.affinity(1), 0, "{order:?}");
            assert_eq!(
                harness.cpu_on(0, 1, CPU_ON_ENTRY),
                code(Error::AlreadyOn),
                "{order:?}"
            );
        };
        *harness.fake.at_message.lock().unwrap() = Some(Box::new(others));
        harness.turn_off(1).powered_down();
        assert!(asked.load(SeqCst));
        assert_eq!(harness.affinity(1), 1);
    }
}

/// The panic that ends a CPU which waits for a lock whose holder waits for it.
struct Waits;

/// A CPU may come up before the CPU_ON that it comes from has ended. It then waits for the caller
/// to let its lock go, or it could store "on" where the caller stores "off" after an error.
#[test]
fn a_cpu_that_comes_up_early_waits_for_the_caller_of_cpu_on() {
    let harness: &'static Harness = leak(Harness::new(Options::default()));
    let waited = &*leak(AtomicBool::new(false));
    let up_early = move || {
        *harness.fake.at_wait.lock().unwrap() = Some(Box::new(|| resume_unwind(Box::new(Waits))));
        let ended = catch_unwind(AssertUnwindSafe(|| harness.wake(1)));
        waited.store(ended.is_err_and(|payload| payload.is::<Waits>()), SeqCst);
    };
    *harness.fake.at_power_on.lock().unwrap() = Some(Box::new(up_early));
    assert_eq!(harness.cpu_on(0, 1, CPU_ON_ENTRY), SUCCESS);
    assert!(
        waited.load(SeqCst),
        "CPU 1 went on while CPU 0 held its lock"
    );
}

/// PSCI DEN0022, 5.5.2: DENIED where the Trusted OS lives, or by the platform's veto.
#[test]
fn cpu_off_can_be_denied() {
    let harness = Harness::running(
        Options {
            trusted_os: TrustedOs::Fixed(psci::CpuIndex(1)),
            ..Options::default()
        },
        3,
    );
    assert_eq!(harness.turn_off(1), returned(code(Error::Denied)));
    harness.turn_off(2).powered_down();
    harness
        .fake
        .veto
        .store(true, std::sync::atomic::Ordering::SeqCst);
    assert_eq!(harness.turn_off(0), returned(code(Error::Denied)));
    assert_eq!(harness.suspend(0, [2, 0, 0]), returned(code(Error::Denied)));
}

/// PSCI DEN0022, 5.7: one CPU that is about to be on counts before others that are off, wherever it
/// stands among them.
#[test]
fn affinity_info_of_a_cluster_in_which_one_cpu_is_about_to_be_on() {
    for pending in [3, 4, 5] {
        let harness = Harness::new(Options::default());
        assert_eq!(harness.cpu_on(0, pending, CPU_ON_ENTRY), SUCCESS);
        assert_eq!(
            harness.call(0, id::AFFINITY_INFO, [mpidr(3), 1, 0]),
            2,
            "CPU {pending}"
        );
    }
}

/// PSCI DEN0022, 5.7: ON before ON_PENDING before OFF; fields below the level are ignored.
#[test]
fn affinity_info_at_every_level() {
    let harness = Harness::new(Options::default());
    let info = |affinity: u64, level: u64| {
        harness.call(0, id::AFFINITY_INFO | id::SMC64, [affinity, level, 0])
    };
    assert_eq!(
        (
            info(0x0, 1),
            info(0x100, 1),
            info(0x1_0000, 2),
            info(0, 2),
            info(0, 3)
        ),
        (0, 1, 1, 0, 0)
    );
    assert_eq!(harness.cpu_on(0, 5, CPU_ON_ENTRY), SUCCESS);
    assert_eq!(
        (
            info(0x1_0002, 0),
            info(0x1_0000, 0),
            info(0x1_00ff, 1),
            info(0x1_ffff, 2)
        ),
        (2, 1, 2, 2)
    );
    harness.wake(5);
    assert_eq!(
        (info(0x1_0000, 0), info(0x1_0000, 1), info(0x1_0000, 2)),
        (1, 0, 0)
    );
    for (affinity, level) in [
        (0x7, 0),
        (0x200, 1),
        (0x2_0000, 2),
        (1 << 32, 3),
        (0, 4),
        (0, u64::MAX),
    ] {
        assert_eq!(
            info(affinity, level),
            code(Error::InvalidParameters),
            "{affinity:#x} {level}"
        );
    }
}

/// Two CPUs in one domain.
struct Flat;

impl Board for Flat {
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
        state == LocalState(1)
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
            levels: [1, 1, 0, 0].map(LocalState),
        }
    }
}

/// PSCI DEN0022, 5.7.2: a level that the tree lacks is no level.
#[test]
fn affinity_info_of_a_level_that_is_not_there() {
    let harness = Harness::on_board(Flat, Options::default()).unwrap();
    let info = |level| harness.call(0, id::AFFINITY_INFO, [0, level, 0]);
    assert_eq!([info(0), info(1)], [SUCCESS; 2]);
    assert_eq!(
        [info(2), info(3), info(4)],
        [code(Error::InvalidParameters); 3]
    );
}

/// PSCI DEN0022, 5.5: CPU_OFF returns only if it fails; everything is as before it.
#[test]
fn an_abandoned_cpu_off_is_denied_and_undone() {
    let harness = Harness::running(Options::default(), 3);
    harness.turn_off(1).powered_down();
    harness
        .fake
        .refuse
        .store(true, std::sync::atomic::Ordering::SeqCst);
    assert_eq!(harness.turn_off(2), returned(code(Error::Denied)));
    assert_eq!(harness.last_logged("abandoned ["), "abandoned [2, 2, 0, 0]");
    assert_eq!(harness.affinity(2), 0);
    harness
        .fake
        .refuse
        .store(false, std::sync::atomic::Ordering::SeqCst);
    // The cluster runs again, the requests are gone, locks and interrupts are as before: all of it
    // works once more.
    harness.turn_on(1);
    assert_eq!(
        harness.last_logged("powered_up"),
        "powered_up [2, 0, 0, 0] On"
    );
    harness.suspend(1, [2, 2, 0]).powered_down();
    assert_eq!(harness.last_power_down(), "power_down [2, 0, 0, 0] Suspend");
    harness.turn_off(2).powered_down();
    assert_eq!(harness.last_power_down(), "power_down [2, 2, 0, 0] Off");
}

/// A CPU_ON that succeeded while the target's CPU_OFF was about to fail still takes place.
#[test]
fn a_cpu_on_that_meets_an_abandoned_cpu_off_is_honoured() {
    let harness: &'static Harness = crate::fake::leak(Harness::running(Options::default(), 2));
    harness
        .fake
        .refuse
        .store(true, std::sync::atomic::Ordering::SeqCst);
    *harness.fake.at_wfi.lock().unwrap() = Some(Box::new(|| {
        assert_eq!(harness.cpu_on(0, 1, (0x6123_0000, 9)), SUCCESS)
    }));
    let entry = EntryPoint {
        pc: 0x6123_0000,
        context_id: 9,
        after: PowerUp::On,
        endianness: Endianness::Little,
    };
    assert_eq!(harness.turn_off(1), Ending::Returned(Outcome::Enter(entry)));
    assert_eq!(harness.affinity(1), 0);
}

/// A CPU that comes out of reset without a CPU_ON does not enter the normal world.
#[test]
fn a_cpu_that_nobody_turned_on_stays_down() {
    let harness = Harness::new(Options::default());
    harness.fake.set_cache(3, false);
    harness
        .run_on(3, || harness.psci.warm_boot())
        .powered_down();
    harness.turn_on(3);
}

/// PSCI DEN0022, 6.4: a CPU starts, and resumes, in the byte order of the caller.
#[test]
fn the_byte_order_of_the_caller_is_inherited() {
    let harness = Harness::new(Options::default());
    for endianness in [Endianness::Big, Endianness::Little] {
        let set = |endianness| *harness.fake.endianness.lock().unwrap() = endianness;
        set(Some(endianness));
        assert_eq!(harness.cpu_on(0, 1, CPU_ON_ENTRY), SUCCESS);
        assert_eq!(harness.wake(1).endianness, endianness);
        harness.suspend(1, [2, 0, 0]).powered_down();
        assert_eq!(harness.wake(1).endianness, endianness);
        harness.turn_off(1).powered_down();
    }
}
