//! Latencies of PSCI calls: each case's CPUs beside published figures, and how good the predictions
//! are.

use crate::Findings;
use crate::accuracy::Accuracy;
use crate::compared::{ComparedCell, Mode, Spread};
use attribution::Cause;
use itertools::Itertools;
use recording::TimerOwners;
use recording::stats::to_millionths;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// Latencies of PSCI calls. Times are in microseconds.
#[derive(Serialize, JsonSchema)]
pub struct Latency<'f> {
    /// The experiment's name.
    pub experiment: &'static str,
    /// The recording's folder, as it was named on the command line.
    pub recording: &'f str,
    /// Each case by the longest of each iteration.
    pub cases: Vec<CaseFacts<'f>>,
    /// Each recorded latency.
    pub cells: Vec<CellFacts<'f>>,
    /// The accuracy of predictions, by release; empty for what was measured.
    pub accuracy: &'f [Accuracy],
    /// Other sessions that weigh the modes of a release's cells; a release and case that no session
    /// speaks of is not among them, and has all CPUs alike.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub timer_owners: &'f [TimerOwners],
    /// The scatter of free-running seeds.
    pub free_running: &'f [Spread],
    /// Doubts about the costs that were used, a sentence each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// The recording with all that is read from it.
    #[serde(skip)]
    pub findings: &'f Findings<'f>,
}

/// A case of a release by what it is about: the longest of each iteration, whichever CPU it is.
#[derive(Serialize, JsonSchema)]
pub struct CaseFacts<'f> {
    /// The release or configuration.
    pub release: &'f str,
    /// The case.
    pub case: &'f str,
    /// The mode; may be empty.
    pub mode: &'f str,
    /// The interval that the case is about: `powerdown`, or `latency` of a call.
    pub metric: &'static str,
    /// The longest of an iteration in microseconds: the median over the iterations (of an even
    /// number the lower of the middle two).
    pub longest: f64,
    /// The smallest and the largest of that over the iterations, in microseconds.
    pub range: [f64; 2],
    /// The number of iterations.
    pub iterations: usize,
    /// The CPUs, as cluster.core, that took longest in the iteration with the median: several where
    /// they took the same time.
    pub cpus: Vec<String>,
    /// True if the same CPU takes longest in each iteration, and no other takes as long.
    pub always_one: bool,
}

/// A cell with what was published, the error, and the causes in microseconds, which add up to the
/// simulated value.
#[derive(Serialize, JsonSchema)]
pub struct CellFacts<'f> {
    /// The release or configuration.
    pub release: &'f str,
    /// The case.
    pub case: &'f str,
    /// The mode; may be empty.
    pub mode: &'f str,
    /// The cluster's number.
    pub cluster: u16,
    /// The core's number in its cluster.
    pub core: u16,
    /// The CPU's number.
    pub cpu: u16,
    /// The CPU's part, in words.
    pub role: String,
    /// The interval that was measured.
    pub metric: &'f str,
    /// The unit of the figures: `us` or `ns`.
    pub unit: &'static str,
    /// The published figure; `None` where none was published.
    pub published: Option<f64>,
    /// The median over the iterations.
    pub simulated: f64,
    /// Error against the published figure in percent, signed.
    pub error_percent: Option<f64>,
    /// True if a fit used the published figure.
    pub used_in_fit: bool,
    /// Both ends of the 90 % interval in microseconds; `None` where nothing was drawn.
    pub interval: Option<[f64; 2]>,
    /// The intervals by who owns the timer, where that decides the figure: the figure if it is not
    /// known is that of the first.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub modes: &'f [Mode],
    /// The number of iterations.
    pub iterations: usize,
    /// The least over the iterations.
    pub min: f64,
    /// The greatest over the iterations.
    pub max: f64,
    /// Microseconds by cause.
    pub causes: BTreeMap<&'static str, f64>,
    /// Waits for other CPUs.
    pub waits: Vec<WaitFacts>,
}

/// A wait for another CPU.
#[derive(Serialize, JsonSchema)]
pub struct WaitFacts {
    /// The cause of the wait.
    pub cause: &'static str,
    /// The number of the lock or resource.
    pub on: u32,
    /// The number of the CPU that held it.
    pub holder: u16,
    /// Length in microseconds.
    pub us: f64,
}

impl<'f> CellFacts<'f> {
    fn new(compared: &'f ComparedCell) -> Self {
        let recorded = &compared.recorded;
        // A published cell is told in its own unit; what was recorded follows it.
        let published = compared.published.as_ref();
        let (unit, factor) = match published {
            Some(cell) if cell.unit == "ns" => ("ns", 1e3),
            _ => ("us", 1.0),
        };
        let us = |ticks: u64| to_millionths(ticks as f64 * recorded.tick_us);
        let causes = Cause::ALL.into_iter().filter_map(|cause| {
            let ticks = recorded.split.causes.get(&cause)?;
            Some((cause.name(), us(*ticks)))
        });
        let waits = recorded.split.waits.iter().map(|wait| WaitFacts {
            cause: wait.cause.name(),
            on: wait.on,
            holder: wait.holder,
            us: us(wait.ticks),
        });
        Self {
            release: &recorded.variant,
            case: &recorded.case,
            mode: &recorded.mode,
            cluster: published.map_or(recorded.cluster, |cell| cell.cluster),
            core: published.map_or(recorded.core, |cell| cell.core),
            cpu: recorded.cpu,
            role: compared.role(),
            metric: &recorded.metric,
            unit,
            published: published.map(|cell| cell.published),
            simulated: to_millionths(recorded.value * factor),
            error_percent: compared.error_percent(),
            used_in_fit: compared.used_in_fit(),
            interval: compared.interval.map(|(low, high)| [low, high]),
            modes: &compared.modes,
            iterations: recorded.count,
            min: to_millionths(recorded.min * factor),
            max: to_millionths(recorded.max * factor),
            causes: causes.collect(),
            waits: waits.collect(),
        }
    }
}

impl<'f> CaseFacts<'f> {
    /// The case that a cell is of; `None` where no CPU has what a case is about.
    fn new(findings: &'f Findings<'f>, cell: &'f ComparedCell) -> Option<Self> {
        let of = &cell.recorded;
        let (release, case, mode) = (&*of.variant, &*of.case, &*of.mode);
        let series = findings.series([release, case, mode])?;
        let chosen = findings.timelines.chosen(series)?;
        let longest = chosen.longest;
        Some(Self {
            release,
            case,
            mode,
            metric: chosen.metric,
            longest: to_millionths(longest.median),
            range: longest.ends.map(to_millionths),
            iterations: longest.each.len(),
            cpus: longest
                .who
                .iter()
                .filter_map(|cpu| {
                    let mut cells = findings.compared().iter().map(|cell| &cell.recorded);
                    let cell = cells.find(|cell| cell.cpu == *cpu)?;
                    Some(format!("{}.{}", cell.cluster, cell.core))
                })
                .collect(),
            always_one: longest.ever.len() == 1,
        })
    }
}

/// Reads the latencies.
pub fn read<'f>(findings: &'f Findings<'f>) -> Latency<'f> {
    let cells = findings.compared().iter().unique_by(|cell| {
        let of = &cell.recorded;
        (&of.variant, &of.case, &of.mode)
    });
    Latency {
        experiment: "psci-latency",
        recording: findings.folder,
        cases: cells
            .filter_map(|cell| CaseFacts::new(findings, cell))
            .collect(),
        cells: findings.compared().iter().map(CellFacts::new).collect(),
        accuracy: findings.accuracy(),
        timer_owners: &findings.recording.header.timer_owners,
        free_running: findings.spreads(),
        warnings: findings.doubts(),
        findings,
    }
}
