//! `find-rate`: rates and latencies between interfaces, driver by driver.

use crate::rows::{measures_of, role, subject};
use crate::spread::{Spread, Steadiness, apart};
use crate::{Leaders, Run};
use recording::facts::{self, FactsError};
use recording::metrics::{self, Metric};
use recording::{Measure, Recording, grouped, stats};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

const FULL_LOAD: &str = "full-load";

const LATENCY: &str = "latency";

/// Rates and latencies of some drivers.
#[derive(Serialize, JsonSchema)]
pub struct Rates<'r> {
    /// The graph's name.
    pub graph: String,
    /// True if header checksums were verified.
    pub checksum_verified: bool,
    /// Packets of a frame, at least 1.
    pub frame_size: u64,
    /// Rates and latencies of each driver.
    pub drivers: Vec<Driver<'r>>,
    /// Whether the windows at full load agree.
    pub steadiness: Steadiness,
    /// The rate of each worker of each driver.
    pub threads: Vec<Thread<'r>>,
    /// Percentiles of the first driver at the load in the middle.
    pub latency_us: Option<BTreeMap<&'r str, f64>>,
    /// The recording's folder, as it was named on the command line.
    pub recording: &'r str,
    /// The settings of the run.
    #[serde(skip)]
    pub facts: facts::Rates,
}

/// A driver's rates and latencies.
#[derive(Serialize, JsonSchema)]
pub struct Driver<'r> {
    /// The driver's name.
    pub name: String,
    /// The mode that the driver works in, in words; may be empty.
    pub mode: String,
    /// The CPUs that its generator ran on.
    pub generates_on: String,
    /// The CPUs that its forwarder ran on.
    pub forwards_on: String,
    /// Median of the offered rate at full load, in millions of packets per second.
    pub offered_mpps: Option<f64>,
    /// Median of the forwarded rate at full load, in millions of packets per second.
    pub mpps: Option<f64>,
    /// The forwarded rates of the windows, in millions of packets per second.
    pub windows: Option<Spread>,
    /// Median share of the packets lost at full load, from 0 to 1.
    pub loss_ratio: Option<f64>,
    /// Packets that were lost for good, at full load.
    pub lost: f64,
    /// The same by what counted them, the most first.
    pub lost_at: Vec<Loss<'r>>,
    /// Lower and upper bound of the highest rate without loss, in millions of packets per second.
    pub ndr_mpps: [Option<f64>; 2],
    /// Lower and upper bound of the highest rate with little loss, in millions of packets per
    /// second.
    pub pdr_mpps: [Option<f64>; 2],
    /// Latencies in microseconds by the load, in percent of the highest rate with little loss.
    pub latency_us_at_percent_of_pdr: BTreeMap<String, LoadLatency<'r>>,
    /// The offered rates of the windows, in millions of packets per second.
    #[serde(skip)]
    pub offered: Option<Spread>,
    /// The shares of packets lost in each window, from 0 to 1.
    #[serde(skip)]
    pub losses: Vec<f64>,
    /// The number of rates that were tried.
    #[serde(skip)]
    pub trials: usize,
}

/// Packets that did not come out, as one counter tells it.
#[derive(Serialize, JsonSchema)]
pub struct Loss<'r> {
    /// The interface or node that has the counter; empty for packets that no counter tells of.
    pub place: &'r str,
    /// The reason, in the counter's words.
    pub reason: &'r str,
    /// The number of packets over all windows.
    pub packets: f64,
}

/// Percentiles of latency at a load.
#[derive(Serialize, JsonSchema)]
pub struct LoadLatency<'r> {
    /// The offered rate in millions of packets per second.
    pub load_mpps: f64,
    /// Latencies in microseconds by the name of the percentile, such as `p99`.
    #[serde(flatten)]
    pub percentiles: BTreeMap<&'r str, f64>,
    /// The load in percent of the highest rate with little loss.
    #[serde(skip)]
    pub share: u64,
}

/// A worker of a driver.
#[derive(Serialize, JsonSchema)]
pub struct Thread<'r> {
    /// The worker's name.
    pub name: &'r str,
    /// The driver's name.
    pub driver: String,
    /// Median of its rate in millions of packets per second.
    pub mpps: Option<f64>,
}

/// Reads the rates.
pub fn read<'r>(run: &Run<'r>) -> Result<Rates<'r>, FactsError> {
    let recording = run.recording;
    let facts: facts::Rates = recording.header.facts()?;
    let threads = facts.drivers.iter().flat_map(|driver| {
        let workers = by_subject(recording, &driver.name, FULL_LOAD, metrics::RATE).into_iter();
        workers.map(|(name, rates)| Thread {
            name,
            driver: driver.name.clone(),
            mpps: stats::median(&rates),
        })
    });
    let middle = facts.loads.len() as u32 / 2;
    let windows =
        |driver: &facts::Driver| apart(&all(recording, &driver.name, FULL_LOAD, metrics::RATE));
    let steadiness = Steadiness::new(
        facts.drivers.iter().map(windows),
        facts.drivers.iter().map(windows),
    );
    Ok(Rates {
        graph: facts.graph.clone(),
        checksum_verified: facts.checksum,
        frame_size: facts.frame_size,
        threads: threads.collect(),
        steadiness,
        latency_us: facts
            .drivers
            .first()
            .map(|driver| latency(recording, &driver.name, middle)),
        drivers: facts
            .drivers
            .iter()
            .map(|of| driver(recording, &facts, of))
            .collect(),
        recording: run.folder,
        facts,
    })
}

fn driver<'r>(recording: &'r Recording, facts: &facts::Rates, of: &facts::Driver) -> Driver<'r> {
    let name = &of.name;
    let rates = all(recording, name, FULL_LOAD, metrics::RATE);
    let offered = all(recording, name, FULL_LOAD, metrics::OFFERED);
    let losses = all(recording, name, FULL_LOAD, metrics::LOSS_RATIO);
    let (lost, lost_at) = lost(recording, name);
    let [generates_on, forwards_on] = processors(recording, name);
    let loads = facts
        .loads
        .iter()
        .zip(all(recording, name, LATENCY, metrics::OFFERED))
        .zip(0..);
    let at_load = |((share, load_mpps), iteration): ((&u64, f64), u32)| {
        let percentiles = latency(recording, name, iteration);
        (
            share.to_string(),
            LoadLatency {
                load_mpps,
                percentiles,
                share: *share,
            },
        )
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
        lost_at,
        ndr_mpps: bounds(recording, name, "ndr"),
        pdr_mpps: bounds(recording, name, "pdr"),
        latency_us_at_percent_of_pdr: loads.map(at_load).collect(),
        offered: Spread::new(&offered),
        losses,
        trials: all(recording, name, "trials", metrics::OFFERED).len(),
    }
}

/// The measures of a driver in a case.
fn of_driver<'r>(
    recording: &'r Recording,
    driver: &str,
    case: &'static str,
    metric: Metric,
) -> impl Iterator<Item = &'r Measure> {
    measures_of(recording, case, metric)
        .filter(move |measure| recording.series_texts(measure.series).0 == driver)
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
    let named =
        of_driver(recording, driver, case, metric).map(|of| (subject(recording, of), of.value));
    grouped(named.filter(|(name, _)| !name.is_empty()))
}

/// Packets that were lost, and where: by counters, most first, and those that no counter tells of.
fn lost<'r>(recording: &'r Recording, driver: &str) -> (f64, Vec<Loss<'r>>) {
    let lost: f64 = all(recording, driver, FULL_LOAD, metrics::DROPPED)
        .iter()
        .sum();
    let counts = of_driver(recording, driver, FULL_LOAD, metrics::PACKETS);
    let counts =
        grouped(counts.map(|of| ((subject(recording, of), role(recording, of)), of.value)));
    let loss = |((place, reason), packets): (_, Vec<f64>)| Loss {
        place,
        reason,
        packets: packets.iter().sum(),
    };
    let mut counted: Vec<Loss<'r>> = counts.into_iter().map(loss).collect();
    counted.sort_by(|a, b| b.packets.total_cmp(&a.packets));
    let named: f64 = counted.iter().map(|loss| loss.packets).sum();
    if lost > named {
        counted.push(Loss {
            place: "",
            reason: "no counter tells",
            packets: lost - named,
        });
    }
    (lost, counted)
}

/// Lower and upper bound in millions of packets per second.
fn bounds(recording: &Recording, driver: &str, case: &'static str) -> [Option<f64>; 2] {
    let found = by_subject(recording, driver, case, metrics::RATE);
    ["lower", "upper"].map(|name| {
        found
            .iter()
            .find(|(there, _)| *there == name)
            .and_then(|(_, values)| values.first().copied())
    })
}

/// Percentiles of one iteration by name.
fn latency<'r>(recording: &'r Recording, driver: &str, iteration: u32) -> BTreeMap<&'r str, f64> {
    let of = of_driver(recording, driver, LATENCY, metrics::PACKET_LATENCY);
    let of = of.filter(|measure| measure.iteration == iteration);
    of.map(|measure| (subject(recording, measure), measure.value))
        .collect()
}

/// The CPUs that a driver's generator and forwarder ran on.
fn processors(recording: &Recording, driver: &str) -> [String; 2] {
    let found = by_subject(recording, driver, FULL_LOAD, metrics::PROCESSOR);
    ["generates", "forwards"].map(|role| {
        let values = found
            .iter()
            .filter(|(there, _)| *there == role)
            .flat_map(|(_, values)| values);
        values.map(f64::to_string).collect::<Vec<_>>().join(", ")
    })
}

impl<'r> Rates<'r> {
    /// The drivers with the highest rates without loss, as far as their bounds tell them apart.
    pub fn best(&self) -> Option<Leaders<&Driver<'r>>> {
        let ends = |driver: &&Driver<'_>| {
            let [low, high] = driver.ndr_mpps;
            Some([low?, high.or(low)?])
        };
        Leaders::most(&self.drivers, ends)
    }
}

impl Driver<'_> {
    /// The least and the greatest share of packets lost in a window, from 0 to 1; `None` without
    /// windows.
    pub fn loss_ends(&self) -> Option<[f64; 2]> {
        stats::summary(&self.losses).map(|loss| [loss.min, loss.max])
    }
}
