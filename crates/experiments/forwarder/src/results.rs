//! Results as recordings.

use dataplane::graph::{Balance, Report};
use dataplane::show::worker_name;
use dataplane_experiments::graphs::ErrorCount;
use dataplane_experiments::results::{LATENCY_CASE, balance, errors, latencies, node_measures, run_measures};
use recording::{Header, Recording, metrics};

use crate::rates::find::DriverRates;

/// The case of drivers at full load.
const FULL_LOAD_CASE: &str = "full-load";

/// The counters of a forwarder from its start, or since they were cleared: its nodes, its
/// interfaces, why packets were dropped or punted, and which worker did how much. `variant` says
/// which forwarder.
pub fn forwarder(header: Header, variant: &str, reports: &[Report]) -> Recording {
    let mut recording = Recording::new(header);
    let Some(all) = Report::sum(reports) else { return recording };
    let series = recording.series(variant, "forward", "");
    for node in all.runtime.iter().filter(|node| node.counters.calls + node.counters.empty_polls > 0) {
        node_measures(&mut recording, series, 0, node);
    }
    run_measures(&mut recording, series, 0, all.seconds, all.loops);
    balance(&mut recording, series, &all.balance);
    let series = recording.series(variant, "interfaces", "");
    for interface in &all.interfaces {
        let subject = recording.name(&interface.name);
        for (metric, count) in interface.counters() {
            let unit = if metric.ends_with("bytes") { "bytes" } else { "packets" };
            recording.measure(series, 0, metric, unit, count as f64).subject = Some(subject);
        }
    }
    let rows = all.errors.iter().filter(|row| row.count > 0).cloned();
    errors(&mut recording, variant, &rows.map(ErrorCount::from).collect::<Vec<_>>());
    let series = recording.series(variant, "threads", "");
    for (number, report) in reports.iter().enumerate() {
        let subject = recording.name(&worker_name(number));
        let Balance { received, sent, .. } = report.balance;
        for (metric, count) in [(metrics::RECEIVED, received), (metrics::SENT, sent)] {
            recording.measure(series, 0, metric.name, metric.unit, count as f64).subject = Some(subject);
        }
        recording.measure(series, 0, metrics::LOOPS.name, metrics::LOOPS.unit, report.loops as f64).subject =
            Some(subject);
    }
    recording
}

/// Rates of drivers: what they did at full load, the bounds that were found, and latencies at parts
/// of them.
pub fn rates(header: Header, found: &[DriverRates]) -> Recording {
    let mut recording = Recording::new(header);
    for found in found {
        let variant = found.driver.name();
        let series = recording.series(variant, FULL_LOAD_CASE, "");
        for (iteration, trial) in found.full.iter().enumerate() {
            for (metric, value) in [
                (metrics::OFFERED, trial.offered() / 1e6),
                (metrics::RATE, trial.forwarded() / 1e6),
                (metrics::LOSS_RATIO, trial.loss()),
                (metrics::SENT, trial.sent.packets as f64),
                (metrics::DROPPED, trial.lost() as f64),
            ] {
                recording.measure(series, iteration as u32, metric.name, metric.unit, value);
            }
            for (name, count) in &trial.lost_at {
                let subject = recording.name(name);
                let metric = metrics::PACKETS;
                recording.measure(series, iteration as u32, metric.name, metric.unit, *count as f64).subject =
                    Some(subject);
            }
            for (name, count) in &trial.workers {
                let subject = recording.name(name);
                let (metric, rate) = (metrics::RATE, *count as f64 / trial.sent.seconds / 1e6);
                recording.measure(series, iteration as u32, metric.name, metric.unit, rate).subject = Some(subject);
            }
        }
        let (generator, workers) = &found.processors;
        let places = [("generates", generator)].into_iter().chain(workers.iter().map(|cpu| ("forwards", cpu)));
        for (role, cpu) in places {
            let (subject, metric) = (recording.name(role), metrics::PROCESSOR);
            recording.measure(series, 0, metric.name, metric.unit, *cpu as f64).subject = Some(subject);
        }
        for (case, bounds) in [("ndr", found.none), ("pdr", found.partial)] {
            let series = recording.series(variant, case, "");
            for (name, bound) in [("lower", bounds.lower), ("upper", bounds.upper)] {
                let (subject, metric) = (recording.name(name), metrics::RATE);
                if let Some(bound) = bound {
                    recording.measure(series, 0, metric.name, metric.unit, bound / 1e6).subject = Some(subject);
                }
            }
        }
        let series = recording.series(variant, "trials", "");
        let outcomes = found.tried.iter().flat_map(|tried| tried.outcomes.iter());
        for (iteration, outcome) in outcomes.enumerate() {
            for (metric, value) in [(metrics::OFFERED, outcome.offered / 1e6), (metrics::LOSS_RATIO, outcome.loss)] {
                recording.measure(series, iteration as u32, metric.name, metric.unit, value);
            }
        }
        for (iteration, (load, percentiles)) in found.latencies.iter().enumerate() {
            latencies(&mut recording, variant, iteration as u32, percentiles);
            let series = recording.series(variant, LATENCY_CASE, "");
            let metric = metrics::OFFERED;
            recording.measure(series, iteration as u32, metric.name, metric.unit, load / 1e6);
        }
    }
    recording
}
