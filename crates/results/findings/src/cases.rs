//! The cases of PSCI latencies: each with its CPUs, their figures, and what their time went to.

use crate::compared::ComparedCell;
use attribution::Cause;
use itertools::Itertools;
use recording::metrics::{self, CACHE_FLUSH, Metric};
use recording::{grouped, total_order};
use std::cmp::Reverse;

/// A case of a release: the rows of one table.
pub struct Group<'a> {
    /// The release or configuration.
    pub release: &'a str,
    /// The case.
    pub case: &'a str,
    /// The mode; may be empty.
    pub mode: &'a str,
    /// Its cells, sorted by rank.
    pub cells: Vec<&'a ComparedCell>,
}

/// Tables in the order of the recording, each sorted by rank.
pub fn groups(compared: &[ComparedCell]) -> Vec<Group<'_>> {
    let keyed = compared.iter().map(|cell| {
        let recorded = &cell.recorded;
        ((&recorded.variant, &recorded.case, &recorded.mode), cell)
    });
    grouped(keyed)
        .into_iter()
        .map(|((release, case, mode), mut cells)| {
            cells.sort_by_key(|cell: &&ComparedCell| (cell.recorded.rank, cell.recorded.cpu));
            Group {
                release,
                case,
                mode,
                cells,
            }
        })
        .collect()
}

/// The metrics that a group has figures for, in the order of the table of metrics.
pub fn metrics_of(group: &Group<'_>) -> Vec<Metric> {
    metrics::intervals()
        .filter(|metric| {
            group
                .cells
                .iter()
                .any(|cell| cell.recorded.metric == metric.name)
        })
        .collect()
}

/// CPUs of a group in their order, once each.
pub fn cpus<'a>(group: &Group<'a>) -> Vec<&'a ComparedCell> {
    let cells = group.cells.iter().copied();
    cells.unique_by(|cell| cell.recorded.cpu).collect()
}

/// The cell of a CPU and a metric.
pub fn cell_of<'a>(group: &Group<'a>, cpu: u16, metric: &str) -> Option<&'a ComparedCell> {
    group
        .cells
        .iter()
        .find(|cell| cell.recorded.cpu == cpu && cell.recorded.metric == metric)
        .copied()
}

/// The metrics of a group that are not a part of another: those that have an axis of the timeline
/// and a table of causes.
pub fn whole_metrics(group: &Group<'_>) -> Vec<Metric> {
    metrics_of(group)
        .into_iter()
        .filter(|&metric| metric != CACHE_FLUSH)
        .collect()
}

/// The causes that any of these figures has, what took most of the time first.
pub fn used_causes<'a>(cells: impl Iterator<Item = &'a ComparedCell>) -> Vec<Cause> {
    let mut sums: std::collections::BTreeMap<Cause, f64> = std::collections::BTreeMap::new();
    for (&cause, &ticks) in cells.flat_map(|cell| &cell.recorded.split.causes) {
        *sums.entry(cause).or_default() += ticks as f64;
    }
    let mut causes: Vec<(Cause, f64)> = sums.into_iter().collect();
    // Equal ones stay in the order of the table of causes.
    causes.sort_by_key(|of| Reverse(total_order(of.1)));
    causes.into_iter().map(|(cause, _)| cause).collect()
}
