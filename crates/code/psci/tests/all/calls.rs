//! The SMC entry: ids, widths, PSCI_FEATURES, PMF, and whatever else may come in.

use crate::fake::{Ending, Harness, Options, SUCCESS, code, mpidr};
use psci::{CpuIndex, Error, OptionalCalls, Outcome, PowerStateFormat, Service, TrustedOs, id};
use std::sync::atomic::Ordering::SeqCst;

const NOT_SUPPORTED: u64 = -1i64 as u64;

fn everything() -> Options {
    Options {
        optional: OptionalCalls {
            cpu_freeze: true,
            node_hw_state: true,
            os_initiated: true,
            system_reset2: true,
            mem_protect: true,
            mem_protect_check_range: true,
            system_off2: true,
        },
        default_suspend: true,
        trusted_os: TrustedOs::Migratable(CpuIndex(1)),
        ..Options::default()
    }
}

fn nothing() -> Options {
    Options {
        optional: OptionalCalls::NONE,
        system_suspend: false,
        ..Options::default()
    }
}

/// PSCI DEN0022, 5.3 and SMCCC DEN0028, 7.2.
#[test]
fn versions() {
    let harness = Harness::new(Options::default());
    assert_eq!(harness.call(0, id::PSCI_VERSION, [0; 3]), 0x1_0003);
    assert_eq!(harness.call(0, id::SMCCC_VERSION, [0; 3]), 0x1_0002);
    assert_eq!(
        harness.call(
            0,
            id::SMCCC_ARCH_FEATURES,
            [u64::from(id::SMCCC_VERSION), 0, 0]
        ),
        SUCCESS
    );
    assert_eq!(
        harness.call(0, id::SMCCC_ARCH_FEATURES, [0x8000_8000, 0, 0]),
        SUCCESS,
        "the platform's answer"
    );
    assert_eq!(
        harness.call(0, id::SMCCC_ARCH_FEATURES, [0x8000_7fff, 0, 0]),
        NOT_SUPPORTED
    );
    for function in [id::SMCCC_VERSION, id::SMCCC_ARCH_FEATURES] {
        let wide = harness.call(
            0,
            function | id::SMC64,
            [u64::from(id::SMCCC_VERSION), 0, 0],
        );
        assert_eq!(wide, NOT_SUPPORTED, "{function:#x} has no 64-bit form");
    }
}

/// PSCI DEN0022, 5.2.2: an operating system tells errors apart by these numbers, sign-extended to
/// the width of the register.
#[test]
fn return_codes() {
    let codes = [
        Error::NotSupported,
        Error::InvalidParameters,
        Error::Denied,
        Error::AlreadyOn,
        Error::OnPending,
        Error::InternalFailure,
        Error::NotPresent,
        Error::Disabled,
        Error::InvalidAddress,
    ];
    for (number, error) in (1..).zip(codes) {
        assert_eq!(
            (error.code(), code(error)),
            (-number, u64::MAX - number as u64 + 1),
            "{error:?}"
        );
    }
}

/// PSCI DEN0022, 5.1: the calls with a 64-bit form are those of the specification's list and no
/// others.
#[test]
fn which_calls_have_a_64_bit_form() {
    let harness = Harness::new(everything());
    let wide: Vec<u32> = (0..0x20)
        .filter(|n| {
            let call = 0xc400_0000 + n;
            harness.call(0, id::PSCI_FEATURES, [call, 0, 0]) != NOT_SUPPORTED
        })
        .map(|n| n as u32)
        .collect();
    assert_eq!(
        wide,
        [
            0x1, 0x3, 0x4, 0x5, 0x7, 0xc, 0xd, 0xe, 0x10, 0x11, 0x12, 0x14, 0x15
        ]
    );
}

/// PSCI DEN0022, 5.16: PSCI_FEATURES says NOT_SUPPORTED of exactly the calls that return it.
#[test]
fn features_agree_with_the_calls() {
    for (options, missing) in [
        (everything(), &[][..]),
        (
            Options::default(),
            &[0x5, 0x7, 0xb, 0xc, 0xd, 0x12, 0x13, 0x14, 0x15],
        ),
        (
            nothing(),
            &[0x5, 0x7, 0xb, 0xc, 0xd, 0xe, 0xf, 0x12, 0x13, 0x14, 0x15],
        ),
        (
            Options {
                trusted_os: TrustedOs::Fixed(CpuIndex(1)),
                ..everything()
            },
            &[],
        ),
    ] {
        let mut found = Vec::new();
        for n in 0..0x20u32 {
            for base in [0x8400_0000, 0xc400_0000] {
                let harness = Harness::new(options);
                let claimed = harness.call(0, id::PSCI_FEATURES, [u64::from(base + n), 0, 0]);
                // PSCI_FEATURES itself has something to answer about PSCI_VERSION.
                let x1 = if n == 0xa {
                    u64::from(id::PSCI_VERSION)
                } else {
                    0
                };
                let works = match harness.smc(0, base + n, [x1, 0, 0]) {
                    Ending::PoweredDown => true,
                    Ending::Returned(Outcome::Enter(_)) => true,
                    Ending::Returned(Outcome::Return([x0, ..])) => x0 != NOT_SUPPORTED,
                };
                assert_eq!(claimed != NOT_SUPPORTED, works, "{:#x}", base + n);
                if base == 0x8400_0000 && n < 0x16 && !works {
                    found.push(n);
                }
            }
        }
        assert_eq!(found, missing);
    }
}

/// PSCI DEN0022, 5.16.2: the flags of CPU_SUSPEND and SYSTEM_OFF2.
#[test]
fn feature_flags() {
    let flags = |options, call: u32| {
        Harness::new(options).call(0, id::PSCI_FEATURES, [u64::from(call), 0, 0])
    };
    let extended = |options| Options {
        format: PowerStateFormat::Extended,
        ..options
    };
    assert_eq!(flags(nothing(), id::CPU_SUSPEND), 0);
    assert_eq!(flags(everything(), id::CPU_SUSPEND | id::SMC64), 1);
    assert_eq!(flags(extended(nothing()), id::CPU_SUSPEND), 2);
    assert_eq!(flags(extended(everything()), id::CPU_SUSPEND), 3);
    assert_eq!(flags(everything(), id::SYSTEM_OFF2), 1);
    assert_eq!(flags(everything(), id::SMCCC_VERSION), 0);
}

/// PSCI DEN0022, 5.8 to 5.15 and 5.19: argument checks of the calls that the platform answers.
#[test]
fn calls_that_the_platform_answers() {
    let harness = Harness::running(everything(), 2);
    let invalid = code(Error::InvalidParameters);
    let call = |function, args| harness.call(0, function, args);
    assert_eq!(call(id::MIGRATE_INFO_TYPE, [0; 3]), 0);
    assert_eq!(call(id::MIGRATE_INFO_UP_CPU, [0; 3]), mpidr(1));
    let migrate = |caller, target| harness.call(caller, id::MIGRATE, [target, 0, 0]);
    assert_eq!(migrate(1, mpidr(0)), SUCCESS);
    assert_eq!(
        migrate(0, mpidr(1)),
        code(Error::NotPresent),
        "the caller is not where it lives"
    );
    assert_eq!(
        migrate(1, mpidr(5)),
        code(Error::Denied),
        "the target is off"
    );
    assert_eq!(migrate(1, 0x99), invalid);
    let fixed = Harness::running(
        Options {
            trusted_os: TrustedOs::Fixed(CpuIndex(1)),
            ..everything()
        },
        2,
    );
    assert_eq!(
        fixed.call(1, id::MIGRATE, [mpidr(0), 0, 0]),
        code(Error::Denied),
        "it cannot be moved"
    );
    assert_eq!(call(id::NODE_HW_STATE, [mpidr(5), 3, 0]), 2);
    assert_eq!(call(id::NODE_HW_STATE, [mpidr(5), 4, 0]), invalid);
    for (enable, told) in [(1, "mem_protect true"), (0, "mem_protect false")] {
        assert_eq!(call(id::MEM_PROTECT, [enable, 0, 0]), 1);
        assert_eq!(harness.last_logged("mem_protect"), told);
    }
    assert_eq!(call(id::MEM_PROTECT, [2, 0, 0]), invalid);
    let range = id::MEM_PROTECT_CHECK_RANGE | id::SMC64;
    assert_eq!(call(range, [0x8000_0000, 0x1000, 0]), SUCCESS);
    assert_eq!(
        call(range, [0x8000_0000, 0x8000_0000_u64.wrapping_neg(), 0]),
        SUCCESS,
        "up to the last address"
    );
    for (base, length) in [
        (0x8000_0000, 0),
        (0x8000_0000, u64::MAX),
        (u64::MAX, 2),
        (0, 1),
    ] {
        assert_eq!(
            call(range, [base, length, 0]),
            code(Error::Denied),
            "{base:#x} {length:#x}"
        );
    }
    assert_eq!(call(id::SYSTEM_RESET2, [1, 0, 0]), invalid);
    assert_eq!(
        call(id::SYSTEM_RESET2, [0x8000_0001, 0, 0]),
        code(Error::InternalFailure)
    );
    assert_eq!(call(id::SYSTEM_OFF2, [2, 0, 0]), invalid);
    assert_eq!(call(id::SYSTEM_OFF2, [1, 1, 0]), invalid);
    assert_eq!(
        call(id::SYSTEM_OFF2, [1, 0, 0]),
        code(Error::InternalFailure)
    );
    assert_eq!(call(id::SYSTEM_OFF, [0; 3]), code(Error::InternalFailure));
    assert_eq!(
        Harness::new(nothing()).call(0, id::MIGRATE_INFO_TYPE, [0; 3]),
        2
    );
}

/// SMCCC DEN0028, 6.2: how many calls a service has, who implements it and which revision, in the
/// 32-bit form only.
#[test]
fn services_say_whose_they_are() {
    let services = [
        (Service::Architecture, 0x8000_ff00),
        (Service::Silicon, 0x8200_ff00),
        (Service::Standard, 0x8400_ff00),
        (Service::VendorEl3, 0x8700_ff00),
    ];
    for options in [everything(), nothing()] {
        let harness = Harness::new(options);
        let call = |function, argument: u32| match harness
            .smc(0, function, [argument.into(), 0, 0])
            .returned()
        {
            Outcome::Return(values) => values,
            other => panic!("{other:?}"),
        };
        for (service, count) in services {
            let (uid, reserved, revision) = (count | 1, count | 2, count | 3);
            let identity = service.identity();
            assert_eq!(call(uid, 0), identity.uid.map(u64::from));
            assert_ne!(identity.uid[0], u32::MAX, "that would be NOT_SUPPORTED");
            assert_eq!(
                call(revision, 0),
                [u64::from(identity.major), u64::from(identity.minor), 0, 0]
            );
            for function in [
                count | id::SMC64,
                uid | id::SMC64,
                reserved,
                revision | id::SMC64,
            ] {
                assert_eq!(call(function, 0)[0], NOT_SUPPORTED, "{function:#x}");
            }
        }
        // PSCI_FEATURES knows each form of a call.
        let forms = id::PSCI_FUNCTIONS
            .iter()
            .flat_map(|&function| [function, function | id::SMC64]);
        let psci = forms
            .filter(|&form| call(id::PSCI_FEATURES, form)[0] != NOT_SUPPORTED)
            .count() as u64;
        assert!(psci > 11, "{psci}");
        // Version, features, and the workaround and the 64-bit call of this platform; GET_TIMESTAMP
        // in two forms; and VERSION in two more.
        for ((_, count), expected) in services.into_iter().zip([4, 2, psci, 4]) {
            assert_eq!(call(count, 0), [expected, 0, 0, 0], "{count:#x}");
        }
        for nobody in [0x8100_ff00, 0x8300_ff00, 0xbf00_ff00] {
            assert_eq!(call(nobody, 0), [0; 4], "{nobody:#x}: no calls");
            assert_eq!(
                [call(nobody | 1, 0)[0], call(nobody | 3, 0)[0]],
                [NOT_SUPPORTED; 2]
            );
        }
        for not_ours in [0x8500_ff00, 0x8600_ff00, 0xb000_ff00, 0x8401_ff00] {
            assert_eq!(call(not_ours, 0)[0], NOT_SUPPORTED, "{not_ours:#x}");
        }
    }
    let uids: std::collections::BTreeSet<_> =
        services.map(|(service, _)| service.identity().uid).into();
    assert_eq!(uids.len(), services.len());
}

/// SMCCC DEN0028, 7: workarounds are the firmware's to answer.
#[test]
fn the_platform_answers_for_workarounds() {
    let harness = Harness::new(Options::default());
    let call = |function| harness.smc(0, function, [7, 0, 0]).returned();
    for function in [
        id::SMCCC_ARCH_WORKAROUND_1,
        id::SMCCC_ARCH_SOC_ID | id::SMC64,
    ] {
        assert_eq!(call(function), Outcome::Return([0, 7, 0, 0]));
    }
    let not_there = [
        id::SMCCC_ARCH_WORKAROUND_1 | id::SMC64,
        id::SMCCC_ARCH_SOC_ID,
        id::SMCCC_ARCH_WORKAROUND_3,
    ];
    for function in
        not_there
            .into_iter()
            .chain([0x8001_0000, id::SMCCC_VERSION | id::SMC64, 0xc000_ff01])
    {
        assert_eq!(
            call(function),
            Outcome::Return([NOT_SUPPORTED, 0, 0, 0]),
            "{function:#x}"
        );
    }
}

/// PSCI DEN0022, 5.1: parameters of 32 bits are the lower halves of their registers, in the 64-bit
/// form too.
#[test]
fn the_upper_half_of_a_32_bit_parameter_does_not_count() {
    let harness = Harness::new(everything());
    const HIGH: u64 = 0xdead_beef << 32;
    let call = |function: u32, args| harness.call(0, function | id::SMC64, args);
    assert_eq!(call(id::AFFINITY_INFO, [mpidr(0), HIGH, 0]), 0);
    assert_eq!(call(id::NODE_HW_STATE, [mpidr(0), HIGH | 1, 0]), 2);
    assert_eq!(
        call(id::SYSTEM_OFF2, [HIGH | 1, 0, 0]),
        code(Error::InternalFailure)
    );
    assert_eq!(
        call(id::SYSTEM_RESET2, [HIGH, 0, 0]),
        code(Error::InternalFailure)
    );
    assert_eq!(
        call(
            id::PSCI_STAT_COUNT,
            [
                mpidr(0),
                HIGH | u64::from(harness.power_state([1, 0, 0], 0)),
                0
            ]
        ),
        0
    );
    assert_eq!(
        call(id::PMF_GET_TIMESTAMP, [HIGH | 0x4100_0400, mpidr(0), HIGH]),
        0
    );
    assert_eq!(
        harness.smc(0, id::CPU_SUSPEND | id::SMC64, [HIGH | 1, 0, 0]),
        Ending::Returned(Outcome::Return([0; 4]))
    );
}

/// PSCI DEN0022, 5.1.4: what is no affinity field of an MPIDR must be 0. Some pass `MPIDR_EL1` as it
/// is, to calls that do no harm.
#[test]
fn cpu_on_and_affinity_info_take_affinity_fields_alone() {
    let harness = Harness::running(everything(), 2);
    // RES1, U, MT, and the reserved bits above Aff3.
    for raw in [1 << 31, 1 << 30, 1 << 24, 1 << 40, 0xffff_ff00_ff00_0000] {
        let call = |function: u32, args| harness.call(0, function | id::SMC64, args);
        let mpidr = mpidr(1) | raw;
        let bad = code(Error::InvalidParameters);
        for level in [0, 1] {
            let info = call(id::AFFINITY_INFO, [mpidr, level, 0]);
            assert_eq!(info, bad, "{raw:#x}");
        }
        assert_eq!(call(id::CPU_ON, [mpidr, 0x6000_0000, 0]), bad);
        assert_eq!(
            harness.call(1, id::MIGRATE | id::SMC64, [mpidr, 0, 0]),
            SUCCESS
        );
        assert_eq!(call(id::NODE_HW_STATE, [mpidr, 0, 0]), 2);
        assert_eq!(call(id::PMF_GET_TIMESTAMP, [0x4100_0400, mpidr, 1]), 0);
        let stay = u64::from(harness.power_state([2, 0, 0], 0));
        assert_eq!(
            call(id::PSCI_STAT_COUNT, [mpidr, stay, 0]),
            call(id::PSCI_STAT_COUNT, [crate::fake::mpidr(1), stay, 0])
        );
    }
}

/// PMF: both generations of ids, both widths, both services.
#[test]
fn pmf() {
    let harness = Harness::running(Options::default(), 2);
    harness.suspend(1, [2, 0, 0]).powered_down();
    harness.wake(1);
    let pmf = |function, args| harness.smc(0, function, args).returned();
    let enter = harness.time_stamp(1, 0);
    assert!(enter > 0);
    let regs = |x1, x2| Outcome::Return([0, x1, x2, 0]);
    let args = [0x4100_0400, mpidr(1), 1];
    assert_eq!(pmf(0xc700_0020, args), regs(enter, 0));
    assert_eq!(pmf(0xc200_0010, args), regs(enter, 0));
    for function in [0x8700_0020, 0x8200_0010] {
        assert_eq!(pmf(function, args), regs(enter & 0xffff_ffff, enter >> 32));
    }
    assert_eq!(
        pmf(0xc700_0020, [0x4100_0001, mpidr(1), 1]),
        regs(harness.time_stamp(1, 3), 0),
        "PSCI_STAT's exit"
    );
    assert_eq!(
        pmf(0xc700_0020, [0x4100_0000, mpidr(1), 1]),
        regs(harness.time_stamp(1, 2), 0),
        "and its entry"
    );
    assert_eq!(pmf(0x8700_0021, [0; 3]), regs(1, 0));
    let invalid = Outcome::Return([code(Error::InvalidParameters), 0, 0, 0]);
    for id in [0x4100_0406, 0x4000_0400, 0x4100_0002, 0x4100_0800, u64::MAX] {
        assert_eq!(pmf(0xc700_0020, [id, mpidr(1), 1]), invalid, "{id:#x}");
    }
    assert_eq!(pmf(0xc700_0020, [0x4100_0400, 0x1234, 1]), invalid);
    assert_eq!(harness.time_stamp(1, 0), enter, "reading opens no call");
}

/// The upper half of a stamp comes back in a 32-bit call's third register.
#[test]
fn pmf_halves() {
    let harness = Harness::new(Options::default());
    let entered = 0x1234_5678_9abc_def0;
    let call = psci::Call {
        function: id::PSCI_VERSION,
        args: [0; 3],
        entered,
    };
    harness
        .run_on(0, || harness.psci.handle_smc(call))
        .returned();
    let args = [0x4100_0400, mpidr(0), 0];
    assert_eq!(
        harness.smc(0, 0x8700_0020, args).returned(),
        Outcome::Return([0, 0x9abc_def0, 0x1234_5678, 0])
    );
    assert_eq!(
        harness.smc(0, 0xc700_0020, args).returned(),
        Outcome::Return([0, entered, 0, 0]),
        "whole in one of 64 bits"
    );
}

/// A reader that does not ask for maintenance of the cache gets none: it is quick, and may see what
/// its cache has kept.
#[test]
fn pmf_maintains_the_cache_if_it_is_asked_to() {
    let harness = Harness::running(Options::default(), 2);
    harness.fake.strict.store(false, SeqCst);
    let sleep = || {
        harness.suspend(1, [2, 0, 0]).powered_down();
        harness.wake(1);
    };
    let woke_at = |flags| match harness
        .smc(0, 0xc700_0020, [0x4100_0403, mpidr(1), flags])
        .returned()
    {
        Outcome::Return([0, ticks, ..]) => ticks,
        other => panic!("{other:?}"),
    };
    sleep();
    let first = woke_at(0);
    assert!(first > 0);
    sleep();
    assert_eq!(
        woke_at(0),
        0,
        "the stamp in the cache is from before the call"
    );
    assert!(woke_at(1) > first);
}

/// PSCI_VERSION's latency is published: every PSCI call is stamped at both ends, whatever it
/// returns.
#[test]
fn every_call_is_stamped() {
    let harness = Harness::new(Options::default());
    for function in [
        id::PSCI_VERSION,
        id::CPU_FREEZE,
        0x8400_001f,
        id::CPU_ON | id::SMC64,
    ] {
        harness.clear_log();
        harness.smc(0, function, [0x7777, 0, 0]).returned();
        let log = harness.log();
        assert_eq!(log.first().unwrap(), &format!("enter-psci {function:#x}"));
        assert_eq!(log.last().unwrap(), &format!("exit-psci {function:#x}"));
        assert!(harness.time_stamp(0, 1) > harness.time_stamp(0, 0));
    }
}

/// SMCCC DEN0028, 5.2: what is not known is NOT_SUPPORTED; and nothing that comes in makes the
/// library panic.
#[test]
fn any_call_at_all() {
    let mut numbers = fastrand::Rng::with_seed(0x2545_f491_4f6c_dd1d);
    let mut random = || numbers.u64(..);
    for options in [
        everything(),
        nothing(),
        Options {
            coherent: true,
            ..everything()
        },
    ] {
        let harness = Harness::running(options, 6);
        let mut down = [false; 6];
        for round in 0..70_000 {
            let cpu = (random() % 6) as u16;
            let i = usize::from(cpu);
            if down[i] {
                if random() % 4 != 0 {
                    continue;
                }
                // An interrupt, or, if it is off, somebody's CPU_ON.
                match harness.affinity_of(cpu) {
                    0 => {
                        harness.wake(cpu);
                    }
                    state => {
                        let caller = (0..6u16).find(|&c| !down[usize::from(c)]);
                        let Some(caller) = caller else { continue };
                        if state == 1 {
                            assert_eq!(
                                harness.cpu_on(caller, cpu, crate::fake::CPU_ON_ENTRY),
                                SUCCESS
                            );
                        }
                        harness.wake(cpu);
                    }
                }
                down[i] = false;
                continue;
            }
            let function = match random() % 8 {
                0 => random() as u32,
                1 => [
                    0x8000_0000,
                    0x8000_0001,
                    0x8700_0020,
                    0xc700_0020,
                    0x8200_0010,
                ][(random() % 5) as usize],
                n => {
                    (if n % 2 == 0 { 0x8400_0000 } else { 0xc400_0000 }) + (random() % 0x18) as u32
                }
            };
            let mut arg = || match random() % 8 {
                0 => random(),
                1 => u64::MAX,
                2 => mpidr((random() % 6) as u16),
                3 => 0x6000_0000,
                4 => u64::from(harness.power_state(
                    [2, [0, 2][(random() % 2) as usize], 0],
                    (random() % 4) as u8,
                )),
                5 => u64::from(id::PSCI_FUNCTIONS[(random() % 22) as usize]),
                6 => 0x4100_0400 + random() % 8,
                _ => random() % 8,
            };
            let mut args = [arg(), arg(), arg()];
            if matches!(function, 0x8700_0020 | 0xc700_0020 | 0x8200_0010) {
                args[2] |= 1; // without maintenance a reader may see an old stamp, as documented
            }
            harness.fake.interrupt[i].store(random() % 4 == 0, SeqCst);
            harness.fake.refuse.store(random() % 4 == 0, SeqCst);
            // All asleep and none to wake them by CPU_ON: not for this test.
            if down.iter().filter(|&&d| d).count() == 5 {
                harness.fake.refuse.store(true, SeqCst);
            }
            down[i] = harness.smc(cpu, function, args) == Ending::PoweredDown;
            harness.fake.refuse.store(false, SeqCst);
            if round % 256 == 0 {
                harness.clear_log();
            }
        }
    }
    let harness = Harness::new(nothing());
    for function in [
        0,
        0x8300_0000,
        0x8400_0016,
        0xc400_0000,
        0x8700_0022,
        0xffff_ffff,
        0xc000_0000,
    ] {
        assert_eq!(
            harness.call(0, function, [0; 3]),
            NOT_SUPPORTED,
            "{function:#x}"
        );
    }
}
