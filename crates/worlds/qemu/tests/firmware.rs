//! The EL3 image on a real emulator. Needs `qemu-system-aarch64` and the Rust target of the
//! firmware.

use elf::ElfBytes;
use elf::endian::AnyEndian;
use qemu::payload::{self, Options, Report, Run};
use qemu::{
    Build, Error, Gic, Guest, Images, Kind, Load, Machine, OtherFirmware, Placement, Symbols, linux,
};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// One build and one fetch at a time, also of tests in other processes; the second finds the first
/// one's result.
fn building() -> File {
    let lock = File::create(Path::new(env!("CARGO_TARGET_TMPDIR")).join("firmware.lock")).unwrap();
    lock.lock().unwrap();
    lock
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

fn images(build: Build) -> Images {
    let _one = building();
    Images::find(Some(&root()), build).unwrap_or_else(|error| panic!("{error}"))
}

fn fetched() -> linux::Linux {
    let _one = building();
    linux::fetch(None, &root().join("target/linux")).unwrap_or_else(|error| panic!("{error}"))
}

fn machine(cpus: usize, gic: Gic, virtualization: bool, icount: Option<u8>) -> Machine {
    Machine {
        gic,
        virtualization,
        icount,
        ..Machine::new(cpus)
    }
}

fn run(images: &Images, machine: &Machine, options: &Options) -> Report {
    payload::run(images, machine, options).unwrap_or_else(|error| panic!("{machine:?}: {error}"))
}

/// Mean instructions of each call.
fn counts(build: Build) -> BTreeMap<String, f64> {
    let machine = machine(2, Gic::V3, false, Some(0));
    let report = run(&images(build), &machine, &Options::new(Run::Calls, 1000));
    report
        .calls
        .iter()
        .map(|calls| {
            (
                calls.name.clone(),
                machine.instructions(calls.ticks) / calls.count as f64,
            )
        })
        .collect()
}

/// Counts by function are of the calls and nothing else: they add up to what the machine's clock
/// says, and what is known of a call is in them.
#[test]
fn functions_add_up_to_the_clock() {
    let images = images(Build::Plain);
    let machine = machine(1, Gic::V3, false, Some(0));
    let options = Options {
        by_instruction: true,
        ..Options::new(Run::Calls, 1000)
    };
    let report = run(&images, &machine, &options);
    assert_eq!(report.calls.len(), report.passages.len());
    let symbols = Symbols::read(&images.firmware_elf()).unwrap();
    let name = |address: u64| symbols.at(address).unwrap_or("caller");
    for (calls, passages) in report.calls.iter().zip(&report.passages) {
        let clock = machine.instructions(calls.ticks) / 1000.0;
        assert_eq!(
            passages.instructions(),
            1000 * clock.round() as u64,
            "{}: {clock}",
            calls.name
        );
        let functions = passages.functions(name);
        assert_eq!(
            functions.values().map(|of| of.instructions).sum::<u64>(),
            passages.instructions()
        );
        assert_eq!(
            passages.stacks(name).values().sum::<u64>(),
            passages.instructions()
        );
        // The caller's loop: four arguments, SMC, count, branch; and its SMC is one exception, from
        // which one ERET leads back.
        let caller = &functions["caller"];
        assert_eq!(
            (caller.instructions, caller.kinds[&Kind::Exception]),
            (7000, 1000),
            "{}",
            calls.name
        );
        assert_eq!(
            caller.taken,
            BTreeMap::from([("synchronous from a lower level".to_owned(), 1000)])
        );
        let of_kind = |kind: Kind| {
            functions
                .values()
                .filter_map(|of| of.kinds.get(&kind))
                .sum::<u64>()
        };
        assert_eq!(of_kind(Kind::Exception), 2000, "{}", calls.name);
        // A standby waits once, and an interrupt is pending; nothing else does.
        assert_eq!(
            of_kind(Kind::Wait),
            if calls.name.starts_with("standby") {
                1000
            } else {
                0
            },
            "{}",
            calls.name
        );
    }
    let features = report
        .calls
        .iter()
        .position(|calls| calls.name == "PSCI_FEATURES")
        .unwrap();
    let stacks = report.passages[features].stacks(name);
    let last = stacks.keys().max_by_key(|stack| stack.len()).unwrap();
    assert!(
        last[0] == "caller" && last.last().unwrap().contains("features"),
        "{last:?}"
    );
}

#[test]
fn calls_stay_within_their_limits() {
    let (plain, instrumented) = (counts(Build::Plain), counts(Build::Instrumented));
    // Limit without stamps, and stamps that an instrumented call takes.
    for (call, limit, stamps) in [
        ("PSCI_VERSION", 150.0, 2.0),
        ("PSCI_FEATURES", 180.0, 2.0),
        ("AFFINITY_INFO(self)", 220.0, 2.0),
        ("CPU_ON, already on", 300.0, 2.0),
        ("CPU_SUSPEND, invalid state", 200.0, 2.0),
        ("standby level 0, interrupt pending", 250.0, 4.0),
    ] {
        let (plain, instrumented) = (plain[call], instrumented[call]);
        assert!(
            plain <= limit,
            "{call}: {plain} instructions, more than {limit}"
        );
        // The mean resolves to 16 nanoseconds of 1000 calls.
        let each = (instrumented - plain) / stamps;
        assert!(
            each <= 10.02,
            "{call}: a stamp takes {each} instructions, {plain} without and {instrumented} with"
        );
        assert!(
            each > 1.0,
            "{call}: no stamp seems to be taken: {plain} without, {instrumented} with"
        );
    }
}

#[test]
fn counts_repeat_to_the_instruction() {
    assert_eq!(counts(Build::Instrumented), counts(Build::Instrumented));
}

/// Machines of every kind: both controllers, with and without EL2, one CPU to two clusters.
const MACHINES: [(usize, Gic, bool); 6] = [
    (1, Gic::V3, false),
    (2, Gic::V2, true),
    (4, Gic::V3, true),
    (4, Gic::V2, false),
    (8, Gic::V2, true),
    (17, Gic::V3, false),
];

#[test]
fn what_must_hold_holds_on_every_machine() {
    let images = images(Build::Instrumented);
    for (cpus, gic, virtualization) in MACHINES {
        // All CPUs in one thread by instructions, and each in a thread of its own.
        for icount in [Some(4), None] {
            let machine = machine(cpus, gic, virtualization, icount);
            let report = run(&images, &machine, &Options::new(Run::Checks, 1));
            let summary = report
                .lines
                .iter()
                .find_map(|line| line.strip_prefix("@checks "))
                .expect("a summary");
            let made: u32 = summary.split(' ').next().unwrap().parse().unwrap();
            let least = [45, 110, 230][usize::from(cpus > 1) + usize::from(cpus > 16)];
            assert!(made >= least, "{machine:?}: only {made} checks");
            assert!(summary.ends_with(" 0"), "{machine:?}: {summary}");
        }
    }
}

/// From the oldest core to everything that the emulator has: what EL3 traps costs the normal world
/// an undefined instruction.
#[test]
fn what_must_hold_holds_on_every_core() {
    let images = images(Build::Instrumented);
    for core in ["cortex-a53", "cortex-a72", "cortex-a76", "a64fx", "max"] {
        for virtualization in [false, true] {
            let machine = Machine {
                cpu: core.to_owned(),
                ..machine(2, Gic::V3, virtualization, Some(4))
            };
            run(&images, &machine, &Options::new(Run::Checks, 1));
        }
    }
}

/// With 4 GiB, an entry point may be above what 32 bits address.
#[test]
fn what_must_hold_holds_with_much_memory() {
    let machine = Machine {
        memory_mib: 4096,
        ..machine(2, Gic::V3, true, Some(4))
    };
    run(
        &images(Build::Instrumented),
        &machine,
        &Options::new(Run::Checks, 1),
    );
}

#[test]
fn the_plain_build_keeps_what_must_hold() {
    run(
        &images(Build::Plain),
        &machine(4, Gic::V3, false, Some(4)),
        &Options::new(Run::Checks, 1),
    );
}

#[test]
fn procedures_run_on_every_machine() {
    let images = images(Build::Instrumented);
    for (cpus, gic, virtualization) in MACHINES {
        let report = run(
            &images,
            &machine(cpus, gic, virtualization, Some(4)),
            &Options::new(Run::Latency, 2),
        );
        assert_eq!(report.stamps.len(), 6 * cpus * 2, "{cpus} CPUs");
        for taken in &report.stamps {
            let [enter, exit, low, awake, flush, flushed] = taken.stamps;
            let ways: &[u64] = match taken.case.as_str() {
                "psci-version" => &[enter, exit],
                _ => &[enter, flush, flushed, low, awake, exit],
            };
            assert!(ways.is_sorted() && enter > 0, "{taken:?}");
        }
    }
}

#[test]
fn spans_measured_one_by_one_hold_nobody_elses_instructions() {
    // If they did, the CPU that goes first would differ from those that follow, and one iteration
    // from the next.
    let report = run(
        &images(Build::Instrumented),
        &machine(4, Gic::V3, false, Some(4)),
        &Options::new(Run::Latency, 3),
    );
    let spans: Vec<_> = report
        .stamps
        .iter()
        .filter(|taken| taken.mode == "serial" && taken.case == "suspend-level0")
        .map(|taken| {
            (
                taken.stamps[2] - taken.stamps[0],
                taken.stamps[1] - taken.stamps[3],
            )
        })
        .collect();
    assert_eq!(spans.len(), 12);
    assert!(spans.iter().all(|span| span == &spans[0]), "{spans:?}");
}

#[test]
fn either_exception_level_and_either_format() {
    let images = images(Build::Instrumented);
    for (exception_level, extended) in [(1, true), (2, false)] {
        let mut options = Options::new(Run::Latency, 1);
        (options.exception_level, options.extended) = (Some(exception_level), extended);
        let report = run(&images, &machine(2, Gic::V3, true, Some(4)), &options);
        assert!(
            report
                .lines
                .iter()
                .any(|line| *line == format!("@payload EL{exception_level} 2 CPUs"))
        );
    }
}

/// SYSTEM_RESET2 keeps memory and MEM_PROTECT, SYSTEM_RESET overwrites what is protected; after
/// each, the image is as it was loaded, and all CPUs are there.
#[test]
fn resets_keep_and_overwrite_memory() {
    let images = images(Build::Instrumented);
    let large = Machine {
        memory_mib: 4096,
        ..machine(2, Gic::V3, true, None)
    };
    for machine in MACHINES
        .map(|(cpus, gic, el2)| machine(cpus, gic, el2, None))
        .into_iter()
        .chain([large])
    {
        let report = run(&images, &machine, &Options::new(Run::Resets, 1));
        let steps: Vec<_> = report
            .lines
            .iter()
            .filter_map(|line| line.strip_prefix("@step "))
            .collect();
        assert_eq!(steps, ["0", "1", "2", "3"], "{machine:?}");
    }
}

#[test]
fn random_calls_neither_hang_nor_crash() {
    let images = images(Build::Instrumented);
    // By instructions there are more of them, since no CPU of the host turns in a lock.
    for (cpus, gic, seed, icount, count) in [
        (4, Gic::V3, 1, None, 20_000),
        (8, Gic::V2, 2, None, 20_000),
        (18, Gic::V3, 3, None, 20_000),
        (17, Gic::V3, 4, Some(4), 200_000),
    ] {
        let mut options = Options::new(Run::Fuzz, count);
        (options.seed, options.limit) = (seed, Duration::from_secs(300));
        let report = run(&images, &machine(cpus, gic, false, icount), &options);
        let done = report
            .lines
            .iter()
            .find(|line| line.starts_with("@fuzz "))
            .expect("a summary");
        let starts: u64 = done.split(' ').nth(3).unwrap().parse().unwrap();
        // Else nobody went down, and the calls were of no interest.
        assert!(starts > 100, "{done}");
    }
}

/// Our own image, as if it were another's: what is counted is the same.
#[test]
fn firmware_of_others_is_measured_as_ours_is() {
    let images = images(Build::Instrumented);
    let machine = machine(2, Gic::V3, false, Some(0));
    let options = Options::new(Run::Calls, 100);
    let own = OtherFirmware {
        image: images.firmware.clone(),
        at: None,
        placement: Placement::InMemory,
    };
    let boot = own.boot(Some(&images.payload)).unwrap();
    let report =
        payload::run_on(&boot, &machine, &options).unwrap_or_else(|error| panic!("{error}"));
    // A machine without our options boots in other time, so that a count may begin or end within
    // another tick.
    for (others, ours) in report
        .calls
        .iter()
        .zip(&run(&images, &machine, &options).calls)
    {
        assert_eq!((&others.name, others.returned), (&ours.name, ours.returned));
        assert!(
            others.ticks.abs_diff(ours.ticks) <= 2,
            "{others:?} {ours:?}"
        );
    }
    let pmf: Vec<_> = report
        .calls
        .iter()
        .filter(|calls| calls.name.starts_with("PMF"))
        .map(|c| c.returned)
        .collect();
    assert_eq!(pmf, [0, 0], "both ranges of function ids");
}

/// A program without any firmware's manners prints that it is done, from where it was loaded.
#[test]
fn firmware_is_entered_where_it_is_loaded() {
    // Of CPU 0: each byte of the text behind the program to the UART, then WFI.
    let program: [u32; 11] = [
        0xd53800a0, 0x92401c00, 0xb50000e0, 0xd2a12001, 0x100000e2, 0x38401443, 0x34000063,
        0x39000023, 0x17fffffd, 0xd503207f, 0x17ffffff,
    ];
    let mut image: Vec<u8> = program.iter().flat_map(|word| word.to_le_bytes()).collect();
    image.extend(b"@done\n\0\0");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("image");
    std::fs::write(&path, image).unwrap();
    let own = OtherFirmware {
        image: path,
        at: Some(0x4800_0000),
        placement: Placement::Packed,
    };
    let options = Options {
        limit: Duration::from_secs(10),
        ..Options::new(Run::Calls, 1)
    };
    let report = payload::run_on(
        &own.boot(None).unwrap(),
        &machine(2, Gic::V3, false, None),
        &options,
    )
    .unwrap();
    assert_eq!(report.lines, ["@done"]);
}

fn boot(options: &str, silence: Duration) -> (Vec<String>, Result<(), Error>) {
    let images = images(Build::Instrumented);
    let machine = machine(1, Gic::V3, false, None);
    let options = [("opt/stopwatt/firmware", options)];
    let mut guest = Guest::start(
        &machine,
        &images.firmware,
        &[],
        &options,
        None,
        silence,
        Duration::from_secs(60),
    )
    .unwrap();
    let mut lines = Vec::new();
    loop {
        match guest.line() {
            Ok(Some(line)) => lines.push(line),
            Ok(None) => return (lines, Ok(())),
            Err(error) => return (lines, Err(error)),
        }
    }
}

#[test]
fn boot_options_that_are_wrong_are_named() {
    for (options, expected) in [
        (
            "entry=0x100",
            "entry 0x100 should be in memory, 0x40000000..0x80000000",
        ),
        (
            "power-state=big",
            "line 1: power-state cannot be `big`, it should be original or extended",
        ),
        ("\nspeed=1", "line 2: there is no option `speed`"),
        (
            "exception-level=2",
            "the machine was started without virtualization=on",
        ),
    ] {
        let (lines, ended) = boot(options, Duration::from_secs(30));
        assert!(ended.is_ok(), "{ended:?}");
        assert!(
            lines.iter().any(|line| line.contains(expected)),
            "{options}: {lines:?}"
        );
    }
}

#[test]
fn a_guest_that_hangs_is_ended_and_shows_its_last_output() {
    // Nothing is at the entry point: the normal world takes one exception after the other, in
    // silence.
    let (_, ended) = boot("entry=0x60000000", Duration::from_secs(2));
    let error = ended.expect_err("a hang").to_string();
    assert!(error.contains("it printed nothing for 2 s"), "{error}");
    assert!(
        error.contains("| stopwatt: 1 CPUs, V3, normal world at EL1"),
        "{error}"
    );
}

#[test]
fn a_payload_that_is_none_is_reported() {
    let images = images(Build::Instrumented);
    let machine = machine(1, Gic::V3, false, None);
    let options = [
        ("opt/stopwatt/firmware", ""),
        ("opt/stopwatt/payload", "run=nothing"),
    ];
    let loads = [Load {
        file: &images.payload,
        address: Images::ENTRY,
    }];
    let (silence, limit) = (Duration::from_secs(30), Duration::from_secs(60));
    let mut guest = Guest::start(
        &machine,
        &images.firmware,
        &loads,
        &options,
        None,
        silence,
        limit,
    )
    .unwrap();
    let mut lines = Vec::new();
    while let Some(line) = guest.line().unwrap() {
        lines.push(line);
    }
    assert!(
        lines
            .iter()
            .any(|line| line == "@failed: run should be calls, latency, checks, fuzz or resets"),
        "{lines:?}"
    );
}

#[test]
fn linux_boots_idles_unplugs_reboots_and_powers_off() {
    let images = images(Build::Instrumented);
    let linux = fetched();
    // The second on everything that the emulator has, so that the kernel uses what EL3 lets it; its
    // pointers signed by what is quick to emulate. It lies where CPUs are turned on, and wake,
    // above 4 GiB.
    for (os_initiated, cpu, memory_mib) in [
        (false, Machine::CPU, 1024),
        (true, "max,pauth-impdef=on", 4096),
    ] {
        let machine = Machine {
            cpu: cpu.to_owned(),
            memory_mib,
            ..machine(4, Gic::V3, true, None)
        };
        let options = linux::Options {
            cycles: 3,
            stay: 1,
            os_initiated,
            exception_level: None,
            trace: None,
        };
        let report = linux::run(&images, &linux, &machine, &options, |_| ())
            .unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(report.complaints(&machine), Vec::<String>::new());
        assert_eq!(report.hotplug, (3, 0));
        assert!(
            report.randomized && report.kernel_at > machine.memory_end() - (512 << 20),
            "{:#x}",
            report.kernel_at
        );
        assert!(
            report.psci.iter().any(|line| line.contains("OSI")),
            "{:?}",
            report.psci
        );
        assert!(
            report
                .events
                .0
                .iter()
                .any(|event| event == "power/cpu_idle"),
            "{:?}",
            report.events
        );
        let [trace] = &report.traces[..] else {
            panic!("{} traces", report.traces.len())
        };
        assert!(
            trace.iter().any(|line| line.contains("cpu_idle: state=")),
            "{} lines",
            trace.len()
        );
        assert_eq!(!report.domains.is_empty(), os_initiated);
    }
}

/// No emulator raises a physical SError, so the image is read: before SCR_EL3.EA is cleared, which
/// gives SErrors to the normal world, EL3 has completed its accesses, synchronised their errors and
/// taken them.
#[test]
fn serrors_of_the_firmware_are_taken_before_the_normal_world_gets_its_own() {
    // Instructions with any register in bits 9:0 left out.
    const BIC_EA: u32 = 0x927c_f800; // and xN, xN, #!8
    const READ_SCR: u32 = 0xd53e_1100;
    const WRITE_SCR: u32 = 0xd51e_1100;
    let [dsb, esb, isb] = [0xd503_3f9f, 0xd503_221f, 0xd503_3fdf];
    for build in [Build::Instrumented, Build::Plain] {
        let image = std::fs::read(images(build).firmware).unwrap();
        let words: Vec<u32> = image
            .chunks_exact(4)
            .map(|word| u32::from_le_bytes(word.try_into().unwrap()))
            .collect();
        let clears: Vec<&[u32]> = words
            .windows(6)
            .filter(|six| six[4] & !0x3ff == BIC_EA && six[5] & !0x1f == WRITE_SCR)
            .collect();
        assert_eq!(
            clears.len(),
            2,
            "one on the way back to a caller, one into the first entry: {build:?}"
        );
        for six in clears {
            assert_eq!(
                (&six[..3], six[3] & !0x1f),
                (&[dsb, esb, isb][..], READ_SCR),
                "{build:?}: {six:08x?}"
            );
        }
    }
}

/// The address of a symbol of the firmware.
fn symbol(images: &Images, wanted: &str) -> usize {
    let elf = std::fs::read(images.firmware.with_extension("")).unwrap();
    let elf = ElfBytes::<AnyEndian>::minimal_parse(&elf).unwrap();
    let (symbols, names) = elf.symbol_table().unwrap().expect("the image has symbols");
    let named = symbols.iter().find(|symbol| {
        names
            .get(symbol.st_name as usize)
            .is_ok_and(|name| name == wanted)
    });
    named.unwrap_or_else(|| panic!("no {wanted}")).st_value as usize
}

/// The vector at which a Cortex-A57 in EL3 takes a call.
fn call_vector(images: &Images) -> usize {
    symbol(images, "vectors_mmu") + 0x400
}

/// Nothing that the normal world can do brings EL3 into an exception of its own, so the image is
/// spoilt: calls begin with these instructions, which come behind the image, and go on if the last
/// of them is reached. Returns the address of the first, and what became of a run.
fn run_spoilt(of: Run, cpus: usize, code: &[u32]) -> (usize, Result<Report, qemu::Error>) {
    let good = images(Build::Plain);
    let vector = call_vector(&good);
    let mut flat = std::fs::read(&good.firmware).unwrap();
    let place = flat.len().next_multiple_of(0x1000);
    let branch =
        |from: usize, to: usize| 5 << 26 | (to.wrapping_sub(from) >> 2) as u32 & 0x3ff_ffff;
    let displaced: [u8; 4] = flat[vector..vector + 4].try_into().unwrap();
    flat[vector..vector + 4].copy_from_slice(&branch(vector, place).to_le_bytes());
    flat.resize(place, 0);
    flat.extend(code.iter().flat_map(|word| word.to_le_bytes()));
    flat.extend(displaced);
    flat.extend(branch(flat.len(), vector + 4).to_le_bytes());

    let folder = tempfile::tempdir().unwrap();
    let spoilt = Images {
        firmware: folder.path().join("spoilt.bin"),
        ..good
    };
    std::fs::write(&spoilt.firmware, flat).unwrap();
    let options = Options {
        limit: Duration::from_secs(20),
        ..Options::new(of, 1)
    };
    (
        place,
        payload::run(&spoilt, &machine(cpus, Gic::V3, false, None), &options),
    )
}

/// The same of the checks, which fail with a report.
fn spoilt(cpus: usize, code: &[u32]) -> (usize, String) {
    let (place, result) = run_spoilt(Run::Checks, cpus, code);
    (place, result.unwrap_err().to_string())
}

#[test]
fn stamps_may_be_closed_to_callers_below_el2() {
    let images = images(Build::Instrumented);
    let options = Options::new(Run::Calls, 1);
    for (virtualization, expected) in [(false, -1), (true, 0)] {
        let mut boot = payload::Boot::ours(&images, &options);
        boot.options = boot.options.map(|options| options + "stamps=el2\n");
        let machine = machine(1, Gic::V3, virtualization, Some(0));
        let report = payload::run_on(&boot, &machine, &options).unwrap();
        let of_pmf = report
            .calls
            .iter()
            .filter(|calls| calls.name.starts_with("PMF"));
        assert_eq!(
            of_pmf.map(|calls| calls.returned).collect::<Vec<_>>(),
            [expected; 2]
        );
    }
}

#[test]
fn what_was_counted_before_a_hang_is_kept_and_the_call_is_named() {
    // W3, which the call does not use, becomes the id of PSCI_FEATURES; if that is called, WFI for
    // ever.
    let code = [
        0x5280_0143,
        0x72b0_8003,
        0x6b03_001f,
        0x5400_0061,
        0xd503_207f,
        0x17ff_ffff,
    ];
    let (_, report) = run_spoilt(Run::Calls, 1, &code);
    let report = report.unwrap();
    let counted: Vec<_> = report
        .calls
        .iter()
        .map(|calls| calls.name.as_str())
        .collect();
    assert_eq!(counted, ["SMCCC_VERSION", "PSCI_VERSION"]);
    assert!(
        report
            .gap
            .as_ref()
            .is_some_and(|gap| gap.starts_with("PSCI_FEATURES ")),
        "{:?}",
        report.gap
    );
}

/// Asserts that a report has these parts.
fn says(report: &str, parts: &[&str]) {
    for part in parts {
        assert!(report.contains(part), "`{part}` is not in:\n{report}");
    }
}

#[test]
fn an_exception_in_the_firmware_is_reported_with_its_registers() {
    let (place, report) = spoilt(1, &[0]);
    // An instruction that is not defined, in 32 bits: exception class 0, IL set (Arm ARM, ESR_EL3).
    let elr = format!("ELR {place:#018x}");
    says(
        &report,
        &[
            "synchronous exception from EL3 on CPU 0",
            "ESR 0x0000000002000000",
            &elr,
            "X30 0x",
            "SP 0x",
        ],
    );
}

/// X0 to X2 are those that the exception found, although the report takes them to save others.
#[test]
fn a_report_shows_the_registers_of_the_exception() {
    // X0 to X2 become 0x11, 0x22, 0x33; then an instruction that there is not.
    let (_, report) = spoilt(1, &[0xd280_0220, 0xd280_0441, 0xd280_0662, 0]);
    says(
        &report,
        &["X0 0x0000000000000011  X1 0x0000000000000022  X2 0x0000000000000033"],
    );
}

#[test]
fn a_stack_that_overflows_is_reported_with_its_cpu() {
    // The second CPU alone: keep X4 and X5 below what is on the stack, as the vector does; if
    // TPIDR_EL3 is not 0, again.
    let (_, report) = spoilt(2, &[0xa9b6_17e4, 0xd53e_d044, 0xb5ff_ffc4, 0xa8ca_17e4]);
    // The guard of the second stack begins where the first stack ends.
    says(
        &report,
        &["EL3: stack overflow on CPU 1", "FAR 0x000000000e005f"],
    );
    // The first CPU has one exception less to tell of.
    let (_, report) = spoilt(1, &[0xa9b6_17e4, 0xd53e_d044, 0xb4ff_ffc4, 0xa8ca_17e4]);
    says(
        &report,
        &["EL3: stack overflow on CPU 0", "FAR 0x000000000e000f"],
    );
}

/// EL3 sees nothing of the normal world's memory after the boot: neither the device tree, nor the
/// payload, nor the rest.
#[test]
fn the_firmware_cannot_touch_the_normal_worlds_memory() {
    // movz x4, ADDRESS >> 16, lsl 16; a load from there, or a store.
    for (address, access) in [
        (0x4000, 0xf940_0085),
        (0x6000, 0xf940_0085),
        (0x6000, 0xf900_0085),
        (0x8000, 0xf900_0085),
    ] {
        let (_, report) = spoilt(1, &[0xd2a0_0004 | address << 5, access]);
        let far = format!("FAR 0x00000000{address:04x}0000");
        says(&report, &["synchronous exception from EL3 on CPU 0", &far]);
        // A data abort of EL3's own, by a translation fault of level 1.
        says(
            &report,
            &[if access == 0xf900_0085 {
                "ESR 0x0000000096000045"
            } else {
                "ESR 0x0000000096000005"
            }],
        );
    }
}

/// The guest's first process, which measures wake-ups.
const WAKE_INIT: &str = "#!/bin/busybox sh
/bin/busybox mount -t sysfs sys /sys
/bin/wake_probe 6 20 5000
/bin/busybox poweroff -f
";

/// The probe, as a program of the guest.
fn wake_probe() -> PathBuf {
    let _one = building();
    let folder = root().join("target/wake");
    let target = "aarch64-unknown-linux-gnu";
    let built = std::process::Command::new(env!("CARGO"))
        .current_dir(root())
        .env_remove("RUSTFLAGS")
        .env(
            "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER",
            "aarch64-linux-gnu-gcc",
        )
        .env(
            "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUSTFLAGS",
            "-Ctarget-feature=+crt-static",
        )
        .args([
            "build",
            "--release",
            "--locked",
            "--quiet",
            "-p",
            "wake",
            "--example",
            "wake_probe",
        ])
        .args(["--target", target, "--target-dir"])
        .arg(&folder)
        .status()
        .unwrap();
    assert!(built.success());
    folder.join(target).join("release/examples/wake_probe")
}

/// Microseconds from the timer to the thread, by the number of the idle state: medians.
fn wake_ups(build: Build) -> Vec<f64> {
    let linux = fetched();
    let busybox = root().join("target/linux/unpacked/bin/busybox");
    let folder = tempfile::tempdir().unwrap();
    let archive = folder.path().join("initramfs");
    let mut file = File::create(&archive).unwrap();
    let read = |path: PathBuf| std::fs::read(path).unwrap();
    for (name, mode, contents) in [
        ("bin", 0o040_755, Vec::new()),
        ("sys", 0o040_755, Vec::new()),
        ("bin/busybox", 0o100_755, read(busybox)),
        ("bin/wake_probe", 0o100_755, read(wake_probe())),
        ("init", 0o100_755, WAKE_INIT.into()),
    ] {
        let entry = cpio::newc::Builder::new(name).mode(mode).nlink(1);
        let mut writer = entry.write(&mut file, contents.len() as u32);
        std::io::Write::write_all(&mut writer, &contents).unwrap();
        writer.finish().unwrap();
    }
    cpio::newc::trailer(&mut file).unwrap();
    let machine = machine(1, Gic::V3, true, Some(0));
    let entry = machine.memory_end() - (512 << 20);
    let initrd = entry + (128 << 20);
    let end = initrd + std::fs::metadata(&archive).unwrap().len();
    let load = |file, address| Load { file, address };
    let limit = Duration::from_secs(300);
    let mut guest = Guest::start(
        &machine,
        &images(build).firmware,
        &[load(&linux.kernel, entry), load(&archive, initrd)],
        &[(
            "opt/stopwatt/firmware",
            &format!("entry={entry:#x}\ninitrd={initrd:#x}..{end:#x}\nbootargs=console=ttyAMA0 panic=1 loglevel=1\n"),
        )],
        None,
        limit,
        limit,
    )
    .unwrap();
    let mut late: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    while let Some(line) = guest.line().unwrap() {
        let words: Vec<&str> = line.split(' ').collect();
        if let ["@wake", _, _, state, us] = words[..]
            && let Ok(us) = us.parse()
        {
            late.entry(state.parse().unwrap()).or_default().push(us);
        }
    }
    let median = |mut values: Vec<f64>| {
        assert!(values.len() >= 10, "tries that count: {values:?}");
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    late.into_values().map(median).collect()
}

/// A firmware that leaves its states 300 us late is found out, and Linux's own state is not.
#[test]
fn a_planted_exit_latency_is_measured_within_a_hundredth() {
    let [soon, late] = [Build::Instrumented, Build::Late].map(wake_ups);
    println!("us by state: {soon:?}, 300 us later {late:?}");
    assert_eq!((soon.len(), late.len()), (6, 6));
    let within = |us: f64| (297.0..=303.0).contains(&us);
    for (state, (soon, late)) in soon.iter().zip(&late).enumerate() {
        match state {
            0 => assert!((soon - late).abs() < 3.0, "WFI: {soon}, {late}"),
            _ => assert!(within(late - soon), "state {state}: {soon}, {late}"),
        }
    }
    // Retention has hardly a way out of its own, so that what is measured is what was planted.
    assert!(within(late[1] - late[0]), "{late:?}");
}
