//! The rows of a run.

use crate::board::Board;
use crate::configuration::Configuration;
use crate::plan::{Kind, PointResults};
use crate::runs::{LATENCIES, OWNERS, RunResult};
use crate::suite::{Class, Suite};
use crate::unknown::Value;
use experiment::World;
use itertools::Itertools;
use minikernel::WakeCause;
use recording::{Header, Recording, Series, facts, metrics};

/// The variant of runs in which nobody queues callbacks.
pub const SILENT: &str = "no-callbacks";
/// The case of the values that were drawn.
pub const UNKNOWNS: &str = "unknowns";

const TICKS: [&str; 3] = ["busy", "idle", "idle, kept for RCU"];
const QUEUED: [&str; 2] = ["big", "LITTLE"];
const CLUSTERS: [&str; 2] = ["big", "LITTLE"];
const INVOKED: [&str; 4] = [
    "softirq on big",
    "softirq on LITTLE",
    "thread on big",
    "thread on LITTLE",
];

/// The header of a run of so many draws, with the unknowns that were set.
pub fn header(
    experiment: &str,
    suite: &Suite,
    board: &Board,
    set: &[(String, Value)],
    draws: u32,
) -> Header {
    let mut header = Header::new(experiment, World::Sim.name(), "ns");
    (header.seed, header.iterations) = (suite.seed, draws);
    header.settings = set
        .iter()
        .map(|(name, value)| (name.clone(), value.to_string()))
        .collect();
    let (name, text) = (board.name.clone(), board.text.clone());
    header.platform = Some(recording::Platform {
        name,
        text,
        figures: toml::Table::new(),
    });
    header
}

/// Warnings about runs that did not end, and grace periods that took too long.
fn complaints(suite: &Suite, visited: &[PointResults<'_>]) -> Vec<String> {
    let mut complaints = Vec::new();
    for benchmark in &suite.benchmarks {
        let runs = visited
            .iter()
            .filter(|visited| visited.visit.benchmark.name == benchmark.name)
            .flat_map(|visited| visited.configurations.iter().chain([&visited.silent]));
        let unfinished = runs.clone().filter(|ran| !ran.ended).count();
        if let (Some(most), 1..) = (benchmark.at_most_seconds, unfinished) {
            let name = &benchmark.name;
            complaints.push(format!(
                "{unfinished} runs of {name} did not end within {most} s"
            ));
        }
        let stalls: u64 = runs.map(|ran| ran.stalls).sum();
        if stalls > 0 {
            let name = &benchmark.name;
            complaints.push(format!("{stalls} grace periods took too long in {name}"));
        }
    }
    complaints
}

/// The recording of points that were visited.
pub fn recording(
    header: Header,
    suite: &Suite,
    board: &Board,
    visited: &[PointResults<'_>],
) -> Recording {
    let mut recording = Recording::new(header);
    recording.header.complaints = complaints(suite, visited);
    unknowns(&mut recording, suite, visited);
    let has_draws = visited
        .iter()
        .any(|visited| visited.visit.kind == Kind::Draws);
    let counted = if has_draws {
        Kind::Draws
    } else {
        Kind::Central
    };
    for at in visited {
        let kind = at.visit.kind;
        let name = &at.visit.benchmark.name;
        for (variant, ran) in Configuration::ALL
            .iter()
            .map(|of| of.name())
            .zip(&at.configurations)
            .chain([(SILENT, &at.silent)])
        {
            let series = recording.series(variant, name, kind.name());
            energy(&mut recording, series, at.visit.number, ran);
            // Owners are recorded for one kind of points: a chart over both kinds would count
            // their energy twice.
            if kind == counted {
                counts(&mut recording, series, at.visit.number, ran);
            }
        }
    }
    describe(&mut recording.header, suite, board, visited);
    recording
}

/// The values that were drawn: the same for all benchmarks.
fn unknowns(recording: &mut Recording, suite: &Suite, visited: &[PointResults<'_>]) {
    let series = recording.series("", UNKNOWNS, Kind::Draws.name());
    let first = visited.first().map(|visited| &visited.visit.benchmark.name);
    for at in visited
        .iter()
        .filter(|visited| visited.visit.kind == Kind::Draws)
        .filter(|visited| Some(&visited.visit.benchmark.name) == first)
    {
        for (unknown, value) in suite.unknowns.iter().zip(at.visit.point.values()) {
            recording.add(
                series,
                at.visit.number,
                metrics::UNKNOWN,
                &unknown.name,
                unknown.place(value),
            );
        }
    }
}

fn energy(recording: &mut Recording, series: Series, iteration: u32, ran: &RunResult) {
    let time_s = ran.time as f64 / 1e12;
    recording.add(series, iteration, metrics::ENERGY, "", units(ran.energy));
    recording.add(series, iteration, metrics::RUN_TIME, "", time_s);
}

fn counts(recording: &mut Recording, series: Series, iteration: u32, ran: &RunResult) {
    let mut all = |metric: metrics::Metric, names: &[&str], values: &[f64]| {
        // A cause that woke nobody has no row, nor has a place where nothing was invoked.
        let is_told = ![metrics::WAKE_UPS, metrics::CALLBACKS_INVOKED].contains(&metric);
        for (name, value) in names.iter().zip(values) {
            if is_told || *value > 0.0 {
                recording.add(series, iteration, metric, name, *value);
            }
        }
    };
    let count = |count: u64| count as f64;
    let share = |time: u64, of: u64| count(time) / count(of.max(1));
    all(metrics::OWNED_ENERGY, &OWNERS, &ran.owners.map(units));
    all(
        metrics::WAKE_UPS,
        &WakeCause::NAMES,
        &ran.wake_ups.map(count),
    );
    all(metrics::TICKS, &TICKS, &ran.ticks.map(count));
    all(metrics::CALLBACKS_QUEUED, &QUEUED, &ran.queued.map(count));
    all(
        metrics::CALLBACKS_INVOKED,
        &INVOKED,
        &ran.invoked.map(count),
    );
    let asleep = ran.asleep.map(|time| share(time, ran.time));
    all(metrics::ASLEEP, &CLUSTERS, &asleep);
    let of_all = ran.residency.iter().map(|(_, time)| time).sum();
    for (name, time) in &ran.residency {
        all(metrics::RESIDENCY, &[name], &[share(*time, of_all)]);
    }
    for ((name, _), ns) in LATENCIES.iter().zip(ran.latency_ns.into_iter().flatten()) {
        all(metrics::WAKE_LATENCY, &[name], &[count(ns) / 1e3]);
    }
}

/// Units of power times seconds.
fn units(energy: u128) -> f64 {
    energy as f64 / 1e12
}

/// The pictures of a benchmark.
fn pictures(header: &mut Header, name: &str) {
    for (what, metric) in [
        ("energy by owner", &metrics::OWNED_ENERGY),
        ("where the time of the clusters went", &metrics::RESIDENCY),
        ("wake-ups of idle CPUs by cause", &metrics::WAKE_UPS),
    ] {
        header
            .pictures
            .push(metric.bars(&format!("{name}: {what}"), Some(name)));
    }
}

fn describe(header: &mut Header, suite: &Suite, board: &Board, visited: &[PointResults<'_>]) {
    let names = suite
        .benchmarks
        .iter()
        .map(|benchmark| &benchmark.name)
        .filter(|name| {
            visited
                .iter()
                .any(|visited| visited.visit.benchmark.name == **name)
        })
        .collect_vec();
    for name in &names {
        pictures(header, name);
    }
    let benchmarks = suite
        .benchmarks
        .iter()
        .filter(|benchmark| names.contains(&&benchmark.name))
        .map(|benchmark| facts::Benchmark {
            name: benchmark.name.clone(),
            busy: benchmark.class == Class::Busy,
            fixed_time: benchmark.seconds.is_some(),
            source: benchmark.source.clone(),
        });
    let unknowns = suite.unknowns.iter().map(|unknown| facts::Unknown {
        name: unknown.name.clone(),
        about: unknown.about.clone(),
        unit: unknown.unit.clone(),
        central: unknown.central.to_string(),
        values: match &unknown.range {
            crate::unknown::Range::Values(values) => {
                values.iter().map(ToString::to_string).collect()
            }
            _ => Vec::new(),
        },
    });
    let [little, big] = board.work_of_cores();
    header.set_facts(&facts::Energy {
        title: suite.title.clone(),
        little,
        big,
        benchmarks: benchmarks.collect(),
        unknowns: unknowns.collect(),
    });
    header
        .texts
        .insert("benchmarks".to_owned(), suite.text.clone());
}
