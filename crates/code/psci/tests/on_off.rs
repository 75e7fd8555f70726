//! CPU_ON, CPU_OFF, AFFINITY_INFO.

mod fake;

use fake::{ON, Options, RESUME, Ran, Rig, SUCCESS, code, mpidr, returned};
use psci::{EntryPoint, Error, MessageOrder, Outcome, PowerUp, TrustedOs, id};

/// PSCI DEN0022, 5.6: the target enters at the given address, with the context id.
#[test]
fn cpu_on_enters_at_its_entry_point() {
    let rig = Rig::new(Options::default());
    assert_eq!(rig.cpu_on(0, 4, ON), SUCCESS);
    assert_eq!(rig.wake(4), EntryPoint { pc: ON.0, context_id: ON.1, after: PowerUp::On });
    assert_eq!(rig.last("powered_up"), "powered_up [2, 2, 3, 0] On", "the first of its cluster and group");
    rig.turn_on(3);
    assert_eq!(rig.last("powered_up"), "powered_up [2, 0, 0, 0] On", "the second");
}

/// PSCI DEN0022, 5.6.2: the error for each state of the target, and for arguments that mean nothing.
#[test]
fn cpu_on_rejects_by_the_targets_state() {
    let rig = Rig::new(Options::default());
    assert_eq!(rig.cpu_on(0, 0, ON), code(Error::AlreadyOn));
    assert_eq!(rig.cpu_on(0, 1, ON), SUCCESS);
    assert_eq!(rig.cpu_on(0, 1, ON), code(Error::OnPending));
    rig.wake(1);
    assert_eq!(rig.cpu_on(0, 1, ON), code(Error::AlreadyOn));
    assert_eq!(rig.cpu_on(0, 2, (0x10, 0)), code(Error::InvalidAddress));
    for bad in [0x5, 0x1_0000_0000, 0xff_00ff_ffff, 1 << 31, u64::MAX] {
        let entry = id::CPU_ON | id::SMC64;
        assert_eq!(rig.call(0, entry, [bad, ON.0, 0]), code(Error::InvalidParameters), "{bad:#x}");
    }
    // SMCCC DEN0028, 3.1: a 32-bit call's arguments end at bit 31.
    let high = 0xdead_0000_0000_0000;
    assert_eq!(rig.call(0, id::CPU_ON, [high | mpidr(2), high | ON.0, high | 7]), SUCCESS);
    assert_eq!(rig.wake(2).context_id, 7);
}

/// PSCI DEN0022, 5.6: a CPU that is suspended is on, and a CPU_ON that is rejected does not change where it resumes.
#[test]
fn a_rejected_cpu_on_leaves_a_suspended_cpu_its_resume_address() {
    for options in [Options::default(), Options { coherent: true, ..Options::default() }] {
        let rig = Rig::running(options, 2);
        rig.suspend(1, [2, 0, 0]).powered_down();
        assert_eq!(rig.cpu_on(0, 1, (0x6666_0000, 0xbad)), code(Error::AlreadyOn));
        assert_eq!(rig.wake(1), EntryPoint { pc: RESUME.0, context_id: RESUME.1, after: PowerUp::Resume });
    }
}

/// The same for a CPU that is about to enter: the first CPU_ON counts.
#[test]
fn a_cpu_on_while_one_is_pending_does_not_change_the_entry_point() {
    let rig = Rig::new(Options::default());
    assert_eq!(rig.cpu_on(0, 1, ON), SUCCESS);
    assert_eq!(rig.cpu_on(0, 1, (0x6666_0000, 0xbad)), code(Error::OnPending));
    assert_eq!(rig.wake(1).pc, ON.0);
}

/// PSCI DEN0022, 5.6.2: INTERNAL_FAILURE, after which the target is off as before.
#[test]
fn a_power_controller_that_refuses_leaves_the_target_off() {
    let rig = Rig::new(Options::default());
    *rig.fake.power_on_error.lock().unwrap() = Some(Error::InternalFailure);
    assert_eq!(rig.cpu_on(0, 1, ON), code(Error::InternalFailure));
    assert_eq!(rig.affinity(1), 1);
    *rig.fake.power_on_error.lock().unwrap() = None;
    rig.turn_on(1);
}

/// PSCI DEN0022, 5.5: the last CPU of a domain takes it down.
#[test]
fn cpu_off_takes_down_what_nobody_needs() {
    let rig = Rig::running(Options::default(), 6);
    rig.off(1).powered_down();
    assert_eq!(rig.message(), "power_down [2, 0, 0, 0] Off");
    rig.off(2).powered_down();
    assert_eq!(rig.message(), "power_down [2, 2, 0, 0] Off", "CPU 0 keeps the group");
    for cpu in [3, 5] {
        rig.off(cpu).powered_down();
        assert_eq!(rig.message(), "power_down [2, 0, 0, 0] Off");
    }
    rig.off(4).powered_down();
    assert_eq!(rig.message(), "power_down [2, 2, 3, 0] Off");
    assert_eq!(rig.last("flushed"), "flushed 2");
}

/// PSCI DEN0022, 5.5: CPU_OFF saves nothing, and the CPU is off only once it can be turned on again.
#[test]
fn cpu_off_then_on() {
    for order in [MessageOrder::InsideLocks, MessageOrder::OutsideLocks] {
        let rig = Rig::running(Options { order, ..Options::default() }, 2);
        rig.off(1).powered_down();
        assert!(!rig.log().iter().any(|line| line.starts_with("context")));
        assert_eq!(rig.affinity(1), 1);
        rig.turn_on(1);
        assert_eq!(rig.affinity(1), 0);
    }
}

/// PSCI DEN0022, 5.5.2: DENIED where the Trusted OS lives, or by the platform's veto.
#[test]
fn cpu_off_can_be_denied() {
    let rig = Rig::running(Options { trusted_os: TrustedOs::Fixed(psci::CpuIndex(1)), ..Options::default() }, 3);
    assert_eq!(rig.off(1), returned(code(Error::Denied)));
    rig.off(2).powered_down();
    rig.fake.veto.store(true, std::sync::atomic::Ordering::SeqCst);
    assert_eq!(rig.off(0), returned(code(Error::Denied)));
    assert_eq!(rig.suspend(0, [2, 0, 0]), returned(code(Error::Denied)));
}

/// PSCI DEN0022, 5.7: ON before ON_PENDING before OFF; fields below the level are ignored.
#[test]
fn affinity_info_at_every_level() {
    let rig = Rig::new(Options::default());
    let info = |affinity: u64, level: u64| rig.call(0, id::AFFINITY_INFO | id::SMC64, [affinity, level, 0]);
    assert_eq!((info(0x0, 1), info(0x100, 1), info(0x1_0000, 2), info(0, 2), info(0, 3)), (0, 1, 1, 0, 0));
    assert_eq!(rig.cpu_on(0, 5, ON), SUCCESS);
    assert_eq!((info(0x1_0002, 0), info(0x1_0000, 0), info(0x1_00ff, 1), info(0x1_ffff, 2)), (2, 1, 2, 2));
    rig.wake(5);
    assert_eq!((info(0x1_0000, 0), info(0x1_0000, 1), info(0x1_0000, 2)), (1, 0, 0));
    for (affinity, level) in [(0x7, 0), (0x200, 1), (0x2_0000, 2), (1 << 32, 3), (0, 4), (0, u64::MAX), (1 << 24, 1)] {
        assert_eq!(info(affinity, level), code(Error::InvalidParameters), "{affinity:#x} {level}");
    }
}

/// PSCI DEN0022, 5.5: CPU_OFF returns only if it fails; everything is as before it.
#[test]
fn an_abandoned_cpu_off_is_denied_and_undone() {
    let rig = Rig::running(Options::default(), 3);
    rig.off(1).powered_down();
    rig.fake.refuse.store(true, std::sync::atomic::Ordering::SeqCst);
    assert_eq!(rig.off(2), returned(code(Error::Denied)));
    assert_eq!(rig.last("abandoned ["), "abandoned [2, 2, 0, 0]");
    assert_eq!(rig.affinity(2), 0);
    rig.fake.refuse.store(false, std::sync::atomic::Ordering::SeqCst);
    // The cluster runs again, the requests are gone, locks and interrupts are as before: all of it works once more.
    rig.turn_on(1);
    assert_eq!(rig.last("powered_up"), "powered_up [2, 0, 0, 0] On");
    rig.suspend(1, [2, 2, 0]).powered_down();
    assert_eq!(rig.message(), "power_down [2, 0, 0, 0] Suspend");
    rig.off(2).powered_down();
    assert_eq!(rig.message(), "power_down [2, 2, 0, 0] Off");
}

/// A CPU_ON that succeeded while the target's CPU_OFF was about to fail still takes place.
#[test]
fn a_cpu_on_that_meets_an_abandoned_cpu_off_is_honoured() {
    let rig: &'static Rig = fake::leak(Rig::running(Options::default(), 2));
    rig.fake.refuse.store(true, std::sync::atomic::Ordering::SeqCst);
    *rig.fake.at_wfi.lock().unwrap() = Some(Box::new(|| assert_eq!(rig.cpu_on(0, 1, (0x6123_0000, 9)), SUCCESS)));
    let entry = EntryPoint { pc: 0x6123_0000, context_id: 9, after: PowerUp::On };
    assert_eq!(rig.off(1), Ran::Returned(Outcome::Enter(entry)));
    assert_eq!(rig.affinity(1), 0);
}

/// A CPU that comes out of reset without a CPU_ON does not enter the normal world.
#[test]
fn a_cpu_that_nobody_turned_on_stays_down() {
    let rig = Rig::new(Options::default());
    rig.fake.set_cache(3, false);
    rig.on(3, || rig.psci.warm_boot()).powered_down();
    rig.turn_on(3);
}
