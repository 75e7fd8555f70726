//! `find-rate`: rates and latencies between interfaces, driver by driver.

use super::spread::Spread;
use super::story::Story;
use crate::blocks::{Blocks, Cell, Drawing, IntervalRow, Picture, Table, fixed, name, percent, text, whole};
use findings::Run;
use findings::rows::{measures_of, subject};
use recording::facts::{self, FactsError};
use recording::metrics::{self, Metric};
use recording::{Measure, Recording, stats};
use serde::Serialize;
use std::collections::BTreeMap;

const FULL_LOAD: &str = "full-load";
const LATENCY: &str = "latency";

/// Rates and latencies of some drivers.
#[derive(Serialize)]
pub(super) struct Rates<'r> {
    graph: String,
    checksum_verified: bool,
    frame_size: u64,
    drivers: Vec<Driver<'r>>,
    threads: Vec<Thread<'r>>,
    /// Percentiles of the first driver at the load in the middle.
    latency_us: Option<BTreeMap<&'r str, f64>>,
    recording: &'r str,
    #[serde(skip)]
    facts: facts::Rates,
}

#[derive(Serialize)]
struct Driver<'r> {
    name: String,
    mode: String,
    generates_on: String,
    forwards_on: String,
    offered_mpps: Option<f64>,
    mpps: Option<f64>,
    windows: Option<Spread>,
    loss_ratio: Option<f64>,
    lost: f64,
    lost_at: BTreeMap<String, f64>,
    ndr_mpps: [Option<f64>; 2],
    pdr_mpps: [Option<f64>; 2],
    latency_us_at_percent_of_pdr: BTreeMap<String, AtLoad<'r>>,
    #[serde(skip)]
    offered: Option<Spread>,
    #[serde(skip)]
    losses: Vec<f64>,
    #[serde(skip)]
    trials: usize,
    /// Places where packets were lost, those with most first.
    #[serde(skip)]
    places: Vec<(String, f64)>,
}

/// Percentiles of latency at a load.
#[derive(Serialize)]
struct AtLoad<'r> {
    load_mpps: f64,
    #[serde(flatten)]
    percentiles: BTreeMap<&'r str, f64>,
    #[serde(skip)]
    share: u64,
}

#[derive(Serialize)]
struct Thread<'r> {
    name: &'r str,
    driver: String,
    mpps: Option<f64>,
}

/// Reads the rates.
pub(super) fn read<'r>(run: &Run<'r>) -> Result<Rates<'r>, FactsError> {
    let recording = run.recording;
    let facts: facts::Rates = recording.header.facts()?;
    let threads = facts.drivers.iter().flat_map(|driver| {
        let workers = by_subject(recording, &driver.name, FULL_LOAD, metrics::RATE).into_iter();
        workers.map(|(name, rates)| Thread { name, driver: driver.name.clone(), mpps: stats::median(&rates) })
    });
    let middle = facts.loads.len() as u32 / 2;
    Ok(Rates {
        graph: facts.graph.clone(),
        checksum_verified: facts.checksum,
        frame_size: facts.frame_size,
        threads: threads.collect(),
        latency_us: facts.drivers.first().map(|driver| latency(recording, &driver.name, middle)),
        drivers: facts.drivers.iter().map(|of| driver(recording, &facts, of)).collect(),
        recording: run.folder,
        facts,
    })
}

fn driver<'r>(recording: &'r Recording, facts: &facts::Rates, of: &facts::Driver) -> Driver<'r> {
    let name = &of.name;
    let rates = all(recording, name, FULL_LOAD, metrics::RATE);
    let offered = all(recording, name, FULL_LOAD, metrics::OFFERED);
    let losses = all(recording, name, FULL_LOAD, metrics::LOSS_RATIO);
    let (lost, places) = lost(recording, name);
    let [generates_on, forwards_on] = processors(recording, name);
    let loads = facts.loads.iter().zip(all(recording, name, LATENCY, metrics::OFFERED)).zip(0..);
    let at_load = |((share, load_mpps), iteration): ((&u64, f64), u32)| {
        let percentiles = latency(recording, name, iteration);
        (share.to_string(), AtLoad { load_mpps, percentiles, share: *share })
    };
    Driver {
        name: name.clone(),
        mode: of.mode.clone(),
        generates_on,
        forwards_on,
        offered_mpps: stats::median(&offered),
        mpps: stats::median(&rates),
        windows: Spread::new(&rates),
        loss_ratio: stats::median(&losses),
        lost,
        lost_at: places.iter().cloned().collect(),
        ndr_mpps: bounds(recording, name, "ndr"),
        pdr_mpps: bounds(recording, name, "pdr"),
        latency_us_at_percent_of_pdr: loads.map(at_load).collect(),
        offered: Spread::new(&offered),
        losses,
        trials: all(recording, name, "trials", metrics::OFFERED).len(),
        places,
    }
}

/// The measures of a driver in a case.
fn of_driver<'r>(
    recording: &'r Recording,
    driver: &str,
    case: &'static str,
    metric: Metric,
) -> impl Iterator<Item = &'r Measure> {
    measures_of(recording, case, metric).filter(move |measure| recording.series_texts(measure.series).0 == driver)
}

fn all(recording: &Recording, driver: &str, case: &'static str, metric: Metric) -> Vec<f64> {
    let of = of_driver(recording, driver, case, metric).filter(|measure| measure.subject.is_none());
    of.map(|measure| measure.value).collect()
}

/// Values of a driver by their subjects.
fn by_subject<'r>(
    recording: &'r Recording,
    driver: &str,
    case: &'static str,
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

/// Packets that were lost, and where: by counters, most first, and those that no counter tells of.
fn lost(recording: &Recording, driver: &str) -> (f64, Vec<(String, f64)>) {
    let lost: f64 = all(recording, driver, FULL_LOAD, metrics::DROPPED).iter().sum();
    let counted = by_subject(recording, driver, FULL_LOAD, metrics::PACKETS);
    let mut counted: Vec<(String, f64)> =
        counted.into_iter().map(|(name, counts)| (name.to_owned(), counts.iter().sum())).collect();
    counted.sort_by(|a, b| b.1.total_cmp(&a.1));
    let named: f64 = counted.iter().map(|(_, count)| count).sum();
    if lost > named {
        counted.push(("no counter tells".to_owned(), lost - named));
    }
    (lost, counted)
}

/// Lower and upper bound in millions of packets per second.
fn bounds(recording: &Recording, driver: &str, case: &'static str) -> [Option<f64>; 2] {
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
fn latency<'r>(recording: &'r Recording, driver: &str, iteration: u32) -> BTreeMap<&'r str, f64> {
    let of = of_driver(recording, driver, LATENCY, metrics::PACKET_LATENCY);
    let of = of.filter(|measure| measure.iteration == iteration);
    of.map(|measure| (subject(recording, measure), measure.value)).collect()
}

/// The CPUs that a driver's generator and forwarder ran on.
fn processors(recording: &Recording, driver: &str) -> [String; 2] {
    let found = by_subject(recording, driver, FULL_LOAD, metrics::PROCESSOR);
    ["generates", "forwards"].map(|role| {
        let values = found.iter().filter(|(there, _)| *there == role).flat_map(|(_, values)| values);
        values.map(f64::to_string).collect::<Vec<_>>().join(", ")
    })
}

impl Driver<'_> {
    /// The losses of the windows: none, or from the least to the most.
    fn loss(&self) -> Cell {
        let share = |share: f64| if share == 0.0 { fixed(0.0, 0) } else { percent(share, 2) };
        match stats::summary(&self.losses) {
            None => Cell::Empty,
            Some(loss) if loss.max == 0.0 => "none".into(),
            Some(loss) => Cell::Range(share(loss.min), share(loss.max)),
        }
    }
}

impl Story for Rates<'_> {
    fn tell(&self, told: &mut Blocks) {
        let facts = &self.facts;
        let best = self.drivers.iter().filter_map(|driver| Some((driver, driver.ndr_mpps[0]?)));
        if let Some((driver, _)) = best.max_by(|a, b| a.1.total_cmp(&b.1)) {
            told.answer(text![
                "The highest rate without loss is that of ",
                name(driver.name.as_str()),
                format!(": {} Mpps.", bounds_words(driver.ndr_mpps))
            ]);
        }
        let row = |driver: &Driver<'_>| {
            let [low, high] = driver.ndr_mpps;
            let (low, high) = (low.or(high)?, high.or(low)?);
            let (name, series) = (driver.name.clone(), driver.name.clone());
            Some(IntervalRow { name, series, low, middle: low, high, published: None })
        };
        let rows: Vec<IntervalRow> = self.drivers.iter().filter_map(row).collect();
        if !rows.is_empty() {
            told.picture(Picture::new("Highest rate without loss", "bounds", "Mpps", Drawing::Intervals(rows)));
        }
        let spread = |spread: Option<Spread>| spread.map(|spread| spread.cell(3));
        let table = Table::with_rows(&self.drivers)
            .words("driver", |driver| name(driver.name.as_str()))
            .numbers("CPU sends", "", |driver| driver.generates_on.as_str())
            .numbers("CPU forwards", "", |driver| driver.forwards_on.as_str())
            .numbers("offered", "", |driver| spread(driver.offered))
            .numbers("forwarded", "", |driver| spread(driver.windows))
            .numbers("loss", "", Driver::loss);
        told.table(table.done().titled("At full load, Mpps"));
        for driver in self.drivers.iter().filter(|driver| driver.lost > 0.0) {
            let places: Vec<_> = driver.places.iter().map(|(name, count)| format!("{name} {count}")).collect();
            let words = format!(": {} packets lost for good. {}", driver.lost, places.join("; "));
            told.note(text![name(driver.name.as_str()), words]);
        }
        let table = Table::with_rows(&self.drivers)
            .words("driver", |driver| name(driver.name.as_str()))
            .numbers("no loss", "", |driver| bounds_words(driver.ndr_mpps))
            .numbers(format!("loss of {} % or less", facts.loss), "", |driver| bounds_words(driver.pdr_mpps))
            .numbers("trials", "", |driver| whole(driver.trials as f64));
        told.table(table.done().titled("Highest rate, Mpps"));
        let times: Vec<(&str, &AtLoad<'_>)> = self
            .drivers
            .iter()
            .flat_map(|driver| {
                let mut loads: Vec<_> = driver.latency_us_at_percent_of_pdr.values().collect();
                loads.sort_by_key(|load| load.share);
                loads.into_iter().map(|load| (driver.name.as_str(), load))
            })
            .collect();
        let shown = [("p50", "p50"), ("p99", "p99"), ("p99.9", "p999"), ("p99.99", "p9999"), ("max", "max")];
        let table = Table::with_rows(&times)
            .words("driver", |(driver, _)| name(*driver))
            .numbers("load", "", |(_, load)| format!("{} %", load.share))
            .numbers("Mpps", "", |(_, load)| fixed(load.load_mpps, 3))
            .each(shown, |table, (heading, key)| {
                table.numbers(heading, "", move |(_, load)| load.percentiles.get(key).map(|us| fixed(*us, 1)))
            });
        let title = format!("Latency in us at parts of the rate with a loss of {} % or less", facts.loss);
        told.table(table.done().titled(title));
        let checksum = if facts.checksum { "verified" } else { "not verified" };
        let windows = self.drivers.first().map_or(0, |driver| driver.losses.len());
        told.note(format!(
            "64-byte packets over veth; flows: {}, routes: {}, workers: {}, header checksum {checksum}; {windows} windows of {} ms at \
             full load for each driver, in turn.",
            facts.flows, facts.routes, facts.workers, facts.window_ms
        ));
        for driver in self.drivers.iter().filter(|driver| !driver.mode.is_empty()) {
            told.note(text![name(driver.name.as_str()), format!(": {}", driver.mode)]);
        }
    }
}
