//! `find-rate`: the highest rate without loss of each driver, the rate at full load, and how long
//! packets are on their way.

use super::bench::{Bench, Driver, Trial};
use super::search::{Bounds, LoadTrials, Outcome, Precision, bounds};
use crate::graphs::Load;
use crate::latency::Percentiles;
use experiment::{Error, Progress};
use recording::stats;
use std::sync::Arc;
use std::time::Duration;

/// The way to measure.
#[derive(Clone, Debug)]
pub struct Search {
    /// The programs that forward, one after the other.
    pub drivers: Vec<Driver>,
    /// The command line of the program that forwards for [`Driver::Command`].
    pub command: String,
    /// The packets, and the graph through which ours takes them.
    pub load: Load,
    /// Trials at full load.
    pub windows: usize,
    /// Length of a trial.
    pub window: Duration,
    /// Share of loss that the partial drop rate allows.
    pub loss: f64,
    /// The precision of the search.
    pub precision: Precision,
}

/// Shares of the partial drop rate at which latency is measured, in percent, as FD.io's tests have
/// them. The one in the middle stands for all where there is room for one.
pub const LOADS: [u32; 3] = [10, 50, 90];

/// Packets a second that carry a time.
const TIMED: u32 = 20_000;
/// A latency is measured for this number of windows.
const LATENCY_WINDOWS: u32 = 3;

/// The result for a driver.
pub struct DriverRates {
    /// The program that forwards.
    pub driver: Driver,
    /// Driver and mode by which packets come in; the command line of a program; empty for the
    /// kernel.
    pub hardware: String,
    /// Trials at full load.
    pub full: Vec<Trial>,
    /// The rate without loss.
    pub none: Bounds,
    /// The rate with no more than the loss that is allowed.
    pub partial: Bounds,
    /// All loads that were tried.
    pub tried: Vec<LoadTrials>,
    /// Latencies: load in packets a second, and what was seen.
    pub latencies: Vec<(f64, Percentiles)>,
    /// Packets with a time that were lost, or whose time made no sense because the clock was set.
    pub untimed: u64,
}

/// Measures all drivers. Their trials at full load are made in turn, so that what else the machine
/// does meets all of them.
///
/// # Errors
/// This needs root; or the run is to stop.
pub fn find(search: &Search, progress: &Arc<Progress>) -> Result<Vec<DriverRates>, Error> {
    let Search {
        drivers,
        command,
        load,
        windows,
        window,
        ..
    } = search;
    let benches = drivers
        .iter()
        .map(|driver| Bench::new(*driver, *load, command, progress))
        .collect::<Result<Vec<_>, _>>()?;
    progress.expect((windows * drivers.len()) as u64, "trials at full load");
    for bench in &benches {
        // Warm-up, which is not counted.
        bench.trial(None, *window / 4, 0, progress)?;
    }
    let mut full: Vec<Vec<Trial>> = drivers.iter().map(|_| Vec::new()).collect();
    for _ in 0..*windows {
        for (bench, full) in benches.iter().zip(&mut full) {
            full.push(bench.trial(None, *window, 0, progress)?);
            progress.step();
        }
    }
    benches
        .into_iter()
        .zip(full)
        .map(|(bench, full)| of_driver(search, &bench, full, progress))
        .collect()
}

fn of_driver(
    search: &Search,
    bench: &Bench,
    full: Vec<Trial>,
    progress: &Arc<Progress>,
) -> Result<DriverRates, Error> {
    let name = bench.driver().name();
    let of = |what: fn(&Trial) -> f64| {
        stats::median(&full.iter().map(what).collect::<Vec<_>>()).unwrap_or(0.0)
    };
    let start = (of(Trial::offered), of(Trial::forwarded));
    let mut tried = Vec::new();
    let mut searched = |goal: f64, words: &str| {
        bounds(goal, start, search.precision, &mut tried, |load| {
            progress.say(&format!("{name}, {words}: trial at {:.3} Mpps", load / 1e6));
            let trial = bench.trial(Some(load), search.window, 0, progress)?;
            Ok::<_, Error>(Outcome {
                offered: trial.offered(),
                loss: trial.loss(),
                held_up: trial.held_up,
            })
        })
    };
    // The second search uses the trials of the first: a load without loss is within any limit.
    let none = searched(0.0, "rate without loss")?;
    let partial = searched(search.loss, "partial drop rate")?;
    let (mut latencies, mut untimed) = (Vec::new(), 0);
    for share in LOADS {
        let load = partial.lower.unwrap_or(start.1) * f64::from(share) / 100.0;
        progress.say(&format!("{name}, latency: trial at {:.3} Mpps", load / 1e6));
        let trial = bench.trial(Some(load), search.window * LATENCY_WINDOWS, TIMED, progress)?;
        untimed += trial.latencies.missed + trial.latencies.impossible;
        latencies.push((
            trial.offered(),
            Percentiles::new(&trial.latencies.histogram, 1e-3),
        ));
    }
    let hardware = full
        .last()
        .map(|trial| trial.hardware.clone())
        .unwrap_or_default();
    Ok(DriverRates {
        driver: bench.driver(),
        hardware,
        full,
        none,
        partial,
        tried,
        latencies,
        untimed,
    })
}
