//! `forward --find-rate`: rates and latencies over real interfaces.

use super::rows::{median, of, setting, subject, subjects, values};
use super::run::Run;
use crate::Style;
use crate::grid::{DIM, PLAIN, fitted, paragraph, right, table};
use comfy_table::Cell;
use recording::metrics::{self, Metric};
use recording::{Measure, Recording, stats};
use serde_json::{Map, Value, json};
use std::fmt::Write;

const FULL_LOAD: &str = "full-load";
const LATENCY: &str = "latency";
/// Windows that lie apart by more than this share of their median have no figure that stands for all of them.
const SCATTER: f64 = 0.1;

/// Windows of a rate, and whether one figure may stand for them.
pub(super) struct Spread {
    /// The smallest, the median and the largest.
    values: [f64; 3],
    /// Width of the range as a share of the median.
    width: f64,
}

impl Spread {
    /// Of some values; `None` of none.
    pub(super) fn of(values: &[f64]) -> Option<Self> {
        let summary = stats::summary(values)?;
        let width = (summary.max - summary.min) / summary.median.max(f64::MIN_POSITIVE);
        Some(Self { values: [summary.min, summary.median, summary.max], width })
    }

    /// Whether they lie too far apart for one figure.
    pub(super) fn scatters(&self) -> bool {
        self.width > SCATTER
    }

    /// In words, without a single figure where they scatter.
    pub(super) fn words(&self, decimals: usize) -> String {
        let [least, middle, most] = self.values.map(|value| format!("{value:.decimals$}"));
        match self.scatters() {
            true => format!("{least} to {most}, scatters"),
            false => format!("{middle} ({least} to {most})"),
        }
    }

    /// As JSON has it.
    pub(super) fn json(&self) -> Value {
        json!({ "range": [self.values[0], self.values[2]], "relative_width": self.width, "scatters": self.scatters() })
    }
}

/// Whether a recording is of this kind.
pub(super) fn is_of(recording: &Recording) -> bool {
    setting(recording, "find_rate") == "true"
}

fn drivers(recording: &Recording) -> Vec<&str> {
    setting(recording, "drivers").split(',').map(str::trim).collect()
}

/// The measures of a driver in a case.
fn of_driver<'r>(
    recording: &'r Recording,
    driver: &'r str,
    case: &'r str,
    metric: Metric,
) -> impl Iterator<Item = &'r Measure> {
    of(recording, case, metric).filter(move |measure| recording.series_texts(measure.series).0 == driver)
}

fn all(recording: &Recording, driver: &str, case: &str, metric: Metric) -> Vec<f64> {
    let of = of_driver(recording, driver, case, metric).filter(|measure| measure.subject.is_none());
    of.map(|measure| measure.value).collect()
}

/// Values of a driver by their subjects, added up over iterations.
fn by_subject<'r>(
    recording: &'r Recording,
    driver: &'r str,
    case: &'r str,
    metric: Metric,
) -> Vec<(&'r str, Vec<f64>)> {
    let mut found: Vec<(&str, Vec<f64>)> = Vec::new();
    for measure in of_driver(recording, driver, case, metric) {
        let name = subject(recording, measure);
        match found.iter_mut().find(|(there, _)| *there == name) {
            _ if name.is_empty() => {}
            Some((_, values)) => values.push(measure.value),
            None => found.push((name, vec![measure.value])),
        }
    }
    found
}

/// Packets that counters tell of, most first, and those that none does.
fn lost(recording: &Recording, driver: &str) -> (f64, Vec<(String, f64)>) {
    let lost: f64 = all(recording, driver, FULL_LOAD, metrics::DROPPED).iter().sum();
    let told = by_subject(recording, driver, FULL_LOAD, metrics::PACKETS);
    let mut told: Vec<(String, f64)> =
        told.into_iter().map(|(name, counts)| (name.to_owned(), counts.iter().sum())).collect();
    told.sort_by(|a, b| b.1.total_cmp(&a.1));
    let named: f64 = told.iter().map(|(_, count)| count).sum();
    if lost > named {
        told.push(("no counter tells".to_owned(), lost - named));
    }
    (lost, told)
}

/// Lower and upper bound in millions of packets a second.
fn bounds(recording: &Recording, driver: &str, case: &str) -> [Option<f64>; 2] {
    let found = by_subject(recording, driver, case, metrics::RATE);
    ["lower", "upper"]
        .map(|name| found.iter().find(|(there, _)| *there == name).and_then(|(_, values)| values.first().copied()))
}

fn bounds_words([lower, upper]: [Option<f64>; 2]) -> String {
    match (lower, upper) {
        (Some(lower), Some(upper)) => format!("{lower:.3} to {upper:.3}"),
        (Some(lower), None) => format!("{lower:.3} or more"),
        (None, Some(upper)) => format!("below {upper:.3}"),
        (None, None) => "none".to_owned(),
    }
}

/// Percentiles of one iteration by name.
fn latency(recording: &Recording, driver: &str, iteration: u32) -> Map<String, Value> {
    let of = of_driver(recording, driver, LATENCY, metrics::PACKET_LATENCY);
    let of = of.filter(|measure| measure.iteration == iteration);
    of.map(|measure| (subject(recording, measure).to_owned(), json!(measure.value))).collect()
}

/// Loads at which latency was measured: as a percentage, and in millions of packets a second.
fn loads<'r>(recording: &'r Recording, driver: &'r str) -> impl Iterator<Item = (&'r str, f64)> {
    let shares = setting(recording, "loads").split(',');
    shares.zip(all(recording, driver, LATENCY, metrics::OFFERED))
}

fn processors(recording: &Recording, driver: &str) -> [String; 2] {
    let found = by_subject(recording, driver, FULL_LOAD, metrics::PROCESSOR);
    ["generates", "forwards"].map(|role| {
        let values = found.iter().filter(|(there, _)| *there == role).flat_map(|(_, values)| values);
        values.map(f64::to_string).collect::<Vec<_>>().join(", ")
    })
}

pub(super) fn json(run: &Run<'_>) -> Value {
    let recording = run.recording;
    let names = drivers(recording);
    let of = |driver: &&str| {
        let rates = all(recording, driver, FULL_LOAD, metrics::RATE);
        let (lost, told) = lost(recording, driver);
        let at: Map<String, Value> = loads(recording, driver)
            .zip(0..)
            .map(|((share, load), iteration)| {
                let mut there = latency(recording, driver, iteration);
                there.insert("load_mpps".to_owned(), json!(load));
                (share.to_owned(), Value::Object(there))
            })
            .collect();
        let [generates, forwards] = processors(recording, driver);
        json!({
            "name": driver,
            "mode": setting(recording, &format!("driver_{driver}")),
            "generates_on": generates,
            "forwards_on": forwards,
            "offered_mpps": stats::median(&all(recording, driver, FULL_LOAD, metrics::OFFERED)),
            "mpps": stats::median(&rates),
            "windows": Spread::of(&rates).map(|spread| spread.json()),
            "loss_ratio": stats::median(&all(recording, driver, FULL_LOAD, metrics::LOSS_RATIO)),
            "lost": lost,
            "lost_at": told.into_iter().map(|(name, count)| (name, json!(count))).collect::<Map<_, _>>(),
            "ndr_mpps": bounds(recording, driver, "ndr"),
            "pdr_mpps": bounds(recording, driver, "pdr"),
            "latency_us_at_percent_of_pdr": at,
        })
    };
    let threads = names.iter().flat_map(|driver| {
        let workers = by_subject(recording, driver, FULL_LOAD, metrics::RATE).into_iter();
        workers.map(move |(worker, rates)| json!({ "name": worker, "driver": driver, "mpps": stats::median(&rates) }))
    });
    // Of the first driver, at the load in the middle.
    let middle = setting(recording, "loads").split(',').count() as u32 / 2;
    json!({
        "graph": setting(recording, "graph"),
        "checksum_verified": setting(recording, "checksum") == "true",
        "frame_size": setting(recording, "frame_size").parse::<u64>().unwrap_or(0),
        "drivers": names.iter().map(of).collect::<Vec<_>>(),
        "threads": threads.collect::<Vec<_>>(),
        "latency_us": names.first().map(|driver| latency(recording, driver, middle)),
        "recording": run.folder,
    })
}

/// A share in percent, with as many digits as it needs.
fn percent(share: f64) -> String {
    if share == 0.0 { "0".to_owned() } else { format!("{:.2} %", share * 100.0) }
}

pub(super) fn text(run: &Run<'_>, style: Style) -> String {
    let recording = run.recording;
    let said = |key| setting(recording, key);
    let checksum = if said("checksum") == "true" { "verified" } else { "not verified" };
    let windows = all(recording, drivers(recording)[0], FULL_LOAD, metrics::RATE).len();
    let head = format!(
        "64-byte packets over veth; flows: {}, routes: {}, workers: {}, header checksum {checksum}; {windows} windows of {} ms at full \
         load for each driver, in turn",
        said("flows"),
        said("routes"),
        said("workers"),
        said("window"),
    );
    let mut text = String::new();
    paragraph(&mut text, &head, ("", "  "), PLAIN, style);
    let mut rates = table(style);
    rates.set_header(["Driver", "CPU sends", "CPU forwards", "Offered", "Forwarded", "Loss"]);
    let mut found = table(style);
    found.set_header(["Driver", "No loss", &format!("Loss of {} % or less", said("loss")), "Trials"]);
    let mut times = table(style);
    times.set_header(["Driver", "Load", "Mpps", "p50", "p99", "p99.9", "p99.99", "max"]);
    let mut where_lost = String::new();
    for driver in drivers(recording) {
        let [generates, forwards] = processors(recording, driver);
        let of = |metric| Spread::of(&all(recording, driver, FULL_LOAD, metric));
        let loss = all(recording, driver, FULL_LOAD, metrics::LOSS_RATIO);
        let words = |spread: Option<Spread>| spread.map_or(String::new(), |spread| spread.words(3));
        let loss = stats::summary(&loss).map_or(String::new(), |loss| {
            if loss.max == 0.0 { "none".to_owned() } else { format!("{} to {}", percent(loss.min), percent(loss.max)) }
        });
        rates.add_row(vec![
            Cell::new(driver),
            right(generates),
            right(forwards),
            right(words(of(metrics::OFFERED))),
            right(words(of(metrics::RATE))),
            right(loss),
        ]);
        found.add_row(vec![
            Cell::new(driver),
            right(bounds_words(bounds(recording, driver, "ndr"))),
            right(bounds_words(bounds(recording, driver, "pdr"))),
            right(all(recording, driver, "trials", metrics::OFFERED).len().to_string()),
        ]);
        for ((share, load), iteration) in loads(recording, driver).zip(0..) {
            let at = latency(recording, driver, iteration);
            let mut row = vec![Cell::new(driver), right(format!("{share} %")), right(format!("{load:.3}"))];
            for name in ["p50", "p99", "p999", "p9999", "max"] {
                row.push(right(at.get(name).and_then(Value::as_f64).map_or(String::new(), |us| format!("{us:.1}"))));
            }
            times.add_row(row);
        }
        let (lost, told) = lost(recording, driver);
        if lost > 0.0 {
            let told: Vec<_> = told.iter().map(|(name, count)| format!("{name} {count}")).collect();
            let _ = writeln!(where_lost, "{driver}: {lost} packets lost for good. {}", told.join("; "));
        }
    }
    let _ = writeln!(text, "At full load, Mpps\n{}", fitted(rates, style));
    for line in where_lost.lines() {
        paragraph(&mut text, line, ("", "  "), DIM, style);
    }
    let _ = writeln!(text, "\nHighest rate, Mpps\n{}", fitted(found, style));
    let _ = writeln!(
        text,
        "\nLatency in us at parts of the rate with a loss of {} % or less\n{}",
        said("loss"),
        fitted(times, style)
    );
    for driver in drivers(recording) {
        let mode = setting(recording, &format!("driver_{driver}"));
        if !mode.is_empty() {
            paragraph(&mut text, &format!("{driver}: {mode}"), ("", "  "), DIM, style);
        }
    }
    text
}

/// The percentiles of a graph's rounds, which has no driver.
pub(super) fn of_rounds(recording: &Recording) -> Map<String, Value> {
    let names = subjects(recording, LATENCY, metrics::PACKET_LATENCY).into_iter();
    names
        .map(|name| (name.to_owned(), json!(median(recording, LATENCY, metrics::PACKET_LATENCY, name))))
        .chain([("packets".to_owned(), json!(values(recording, LATENCY, metrics::PACKETS, "").first()))])
        .collect()
}
