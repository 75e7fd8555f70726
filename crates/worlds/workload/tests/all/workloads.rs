//! The workloads that come with Stopwatt run, and do what their notes say.

use document::Document;
use minikernel::{Frequency, Hardware, Outcome, Settings, run};
use placement::Kind;
use soc::config::{IdlePlatform, Sources};
use std::fs;
use std::path::{Path, PathBuf};
use workload::{File, Options, read};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

fn tc2() -> Hardware {
    let open = |name: &str| Document::open(&root().join("data/platforms").join(name)).unwrap();
    let sources = Sources {
        platform: open("tc2.toml"),
        release: open("tc2/releases/tc2-borrowed.toml"),
        costs: open("tc2/costs/tc2-borrowed.toml"),
    };
    let idle = IdlePlatform::read(&open("idle/tc2.toml")).unwrap();
    Hardware::new(&sources.machine().unwrap(), &idle, 300).unwrap()
}

fn file(name: &str, settings: &[(&str, i64)]) -> File {
    let path = root()
        .join("data/workloads")
        .join(name)
        .with_extension("json");
    let settings = settings
        .iter()
        .map(|&(name, value)| (name.to_owned(), value))
        .collect();
    let options = Options {
        settings,
        ..Options::default()
    };
    read(&Document::open(&path).unwrap(), &options).unwrap_or_else(|error| panic!("{error}"))
}

fn run_for(file: &File, ms: u64) -> Outcome {
    let hardware = tc2();
    let policy = Kind::Hmp.policy(&hardware.energy_model().unwrap(), 1);
    run(
        &hardware,
        &Settings::default(),
        &file.workload,
        policy,
        None,
        ms * 1_000_000,
    )
    .unwrap()
}

#[test]
fn each_has_a_note_with_source_and_assumptions() {
    let files = fs::read_dir(root().join("data/workloads"))
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let workloads: Vec<_> = files
        .filter(|path| path.extension().is_some_and(|end| end == "json"))
        .collect();
    assert_eq!(workloads.len(), 9);
    for path in workloads {
        let note = fs::read_to_string(path.with_extension("md")).unwrap_or_default();
        assert!(
            note.contains("**Source**") && note.contains("**Assumed"),
            "{}",
            path.display()
        );
    }
}

#[test]
fn audio_decodes_after_every_fifth_tick() {
    let outcome = run_for(&file("audio", &[("tick_cpu", 2)]), 3_015);
    let ran = |name: &str| outcome.task(name).unwrap().counts.clone();
    // 3 s are 100 buffers; the last one is still on its way.
    assert_eq!(ran("tick").loops, 100);
    let decoded = ran("decode").ran / 1_000_000_000;
    assert!(
        (220..=535).contains(&decoded),
        "100 times 5.3 ms of a LITTLE core, part of it on a faster one: {decoded} ms"
    );
    assert!(ran("fill").loops >= 99 && ran("write").loops >= 99);
}

#[test]
fn the_browser_loads_scrolls_and_reads() {
    let outcome = run_for(&file("audio-bbench", &[("pause", 100_000)]), 5_000);
    let loops = |name: &str| outcome.task(name).unwrap().counts.loops;
    assert!(loops("browser") >= 2, "{}", loops("browser"));
    assert!(
        loops("render") > 71 && loops("display") > 71,
        "{} {}",
        loops("render"),
        loops("display")
    );
    assert!(loops("display") <= loops("render"));
}

#[test]
fn cyclictests_threads_have_periods_of_their_own() {
    let outcome = run_for(&file("cyclictest", &[]), 3_001);
    for (number, wakes) in [3_000, 2_000, 1_500, 1_200, 1_000].into_iter().enumerate() {
        let counts = &outcome
            .task(&format!("cyclictest-{number}"))
            .unwrap()
            .counts;
        assert!(
            counts.latencies.len().abs_diff(wakes) <= 1,
            "{number}: {}",
            counts.latencies.len()
        );
        assert_eq!(counts.moves, 0);
    }
    assert_eq!(
        file("cyclictest", &[("threads", 9)]).workload.tasks.len(),
        9
    );
}

#[test]
fn fixed_work_ends_the_run() {
    for (name, threads) in [("sysbench", 5), ("andebench2", 2), ("andebench8", 8)] {
        let outcome = run_for(&file(name, &[("pieces", 20)]), 10_000);
        assert!(outcome.time < 10_000_000_000_000, "{name}");
        let ended = outcome
            .tasks
            .iter()
            .filter(|task| task.counts.ended.is_some())
            .count();
        assert_eq!(ended, threads, "{name}");
    }
}

#[test]
fn files_are_closed_so_many_a_second() {
    let outcome = run_for(&file("closes", &[("period", 1_000)]), 1_000);
    let loops = outcome.task("closes").unwrap().counts.loops;
    assert!((998..=1_000).contains(&loops), "{loops}");
    // The kernel's own test shows that each of them is a callback.
    let closes = |files| {
        let file = file("closes", &[("files", files)]);
        let actions = &file.workload.tasks[0].phases[0].actions;
        actions
            .iter()
            .filter(|&&action| action == minikernel::Action::FileClose)
            .count()
    };
    assert_eq!([closes(1), closes(7)], [1, 7]);
}

#[test]
fn eight_busy_threads_keep_all_cpus_busy_under_hmp_and_two_the_big_ones() {
    let running = |name: &str| {
        let outcome = run_for(&file(name, &[("pieces", 1_000_000)]), 2_000);
        let ran: u64 = outcome.tasks.iter().map(|task| task.counts.ran).sum();
        let of = |part: u64, all: u64| (part * 100 + all / 2) / all;
        (
            of(ran, outcome.time),
            outcome
                .domains
                .iter()
                .map(|domain| of(domain.running, outcome.time))
                .collect::<Vec<_>>(),
        )
    };
    let (cpus, domains) = running("andebench8");
    assert!(
        cpus > 490 && domains.iter().all(|&running| running >= 99),
        "{cpus} % of a CPU, {domains:?}"
    );
    let (cpus, domains) = running("andebench2");
    assert!(
        cpus > 195 && domains == [100, 0],
        "{cpus} % of a CPU, {domains:?}"
    );
}

#[test]
fn all_workloads_run_under_all_policies_and_their_owners_energy_is_the_integral() {
    let hardware = tc2();
    let names = [
        "audio",
        "audio-bbench",
        "cyclictest",
        "sysbench",
        "andebench2",
        "andebench8",
        "ui-render",
        "closes",
    ];
    for name in names {
        for kind in Kind::ALL {
            for frequency in [
                Frequency::Highest,
                Frequency::Schedutil {
                    rate_limit_ns: 1_000_000,
                },
            ] {
                let settings = Settings {
                    frequency,
                    ..Settings::default()
                };
                let policy = || kind.policy(&hardware.energy_model().unwrap(), 7);
                let once = || {
                    run(
                        &hardware,
                        &settings,
                        &file(name, &[]).workload,
                        policy(),
                        None,
                        300_000_000,
                    )
                    .unwrap()
                };
                let outcome = once();
                assert_eq!(outcome.total(), outcome.integral, "{name} under {kind}");
                assert!(
                    outcome.tasks.iter().any(|task| task.counts.ran > 0),
                    "{name} under {kind}"
                );
                let moves: u64 = outcome.tasks.iter().map(|task| task.counts.moves).sum();
                assert!(
                    moves < 1_000,
                    "{name} under {kind}: {moves} moves in 300 ms"
                );
                assert_eq!(once(), outcome, "{name} under {kind}: twice the same");
            }
        }
    }
}
