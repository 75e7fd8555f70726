//! Tables of PSCI latencies before they are drawn: a case's CPUs with their figures, and with what
//! their time went to.

use crate::words::{capital, place};
use attribution::Cause;
use attribution::lock_order_decides as by_rank;
use findings::compared::{ComparedCell, ordinal};
use recording::grouped;
use recording::metrics::{self, CACHE_FLUSH, Metric};

/// A case of a release: the rows of one table.
pub(crate) struct Group<'a> {
    pub(crate) release: &'a str,
    pub(crate) case: &'a str,
    pub(crate) mode: &'a str,
    pub(crate) cells: Vec<&'a ComparedCell>,
}

impl Group<'_> {
    /// The anchor of the case's heading.
    pub(crate) fn anchor(&self) -> String {
        crate::blocks::anchor(&format!("{} {} {}", self.release, self.case, self.mode))
    }

    /// The case and the mode in words.
    pub(crate) fn title(&self) -> String {
        format!("{}, {}", crate::words::case_title(self.case), self.mode)
    }
}

/// Tables in the order of the recording, each sorted by rank.
pub(crate) fn groups(compared: &[ComparedCell]) -> Vec<Group<'_>> {
    let keyed = compared.iter().map(|cell| {
        let recorded = &cell.recorded;
        ((&recorded.variant, &recorded.case, &recorded.mode), cell)
    });
    let groups = grouped(keyed)
        .into_iter()
        .map(|((release, case, mode), mut cells)| {
            cells.sort_by_key(|cell: &&ComparedCell| (cell.recorded.rank, cell.recorded.cpu));
            Group {
                release,
                case,
                mode,
                cells,
            }
        });
    groups.collect()
}

/// The metrics that a group has figures for, in the order of the table of metrics.
pub(crate) fn metrics_of(group: &Group<'_>) -> Vec<Metric> {
    metrics::intervals()
        .filter(|metric| {
            group
                .cells
                .iter()
                .any(|cell| cell.recorded.metric == metric.name)
        })
        .collect()
}

/// A CPU's part in few letters: its place in the cluster, or whether it leads.
pub(crate) fn short_role(cell: &ComparedCell) -> String {
    let recorded = &cell.recorded;
    let mut role = match by_rank(&recorded.case, &recorded.mode) {
        true => ordinal(recorded.rank_in_cluster),
        false => recorded.role.clone(),
    };
    if recorded.last_man {
        role.push_str(", last");
    }
    role
}

/// CPUs of a group in their order, once each.
pub(crate) fn cpus<'a>(group: &Group<'a>) -> Vec<&'a ComparedCell> {
    let mut cpus: Vec<&ComparedCell> = Vec::new();
    for cell in &group.cells {
        if cpus
            .iter()
            .all(|other| other.recorded.cpu != cell.recorded.cpu)
        {
            cpus.push(cell);
        }
    }
    cpus
}

pub(crate) fn cell_of<'a>(group: &Group<'a>, cpu: u16, metric: &str) -> Option<&'a ComparedCell> {
    group
        .cells
        .iter()
        .find(|cell| cell.recorded.cpu == cpu && cell.recorded.metric == metric)
        .copied()
}

/// True if the CPUs of a case went down in different orders.
pub(crate) fn order_varies(group: &Group<'_>) -> bool {
    group.cells.iter().any(|cell| cell.recorded.order_varies)
}

/// The metrics that a group has figures for, with the heading that the later documents give them:
/// every word with a capital.
pub(crate) fn columns(group: &Group<'_>) -> Vec<(&'static str, String)> {
    let heading = |title: &str| title.split(' ').map(capital).collect::<Vec<_>>().join(" ");
    metrics_of(group)
        .iter()
        .map(|metric| (metric.name, heading(metric.title)))
        .collect()
}

/// The recorded value of a CPU, in microseconds.
pub(crate) fn value_of(group: &Group<'_>, cpu: u16, metric: &str) -> Option<f64> {
    cell_of(group, cpu, metric).map(|cell| cell.recorded.value)
}

/// The metrics of a group that are not a part of another: those that have an axis of the timeline
/// and a table of causes.
pub(crate) fn whole_metrics(group: &Group<'_>) -> Vec<Metric> {
    metrics_of(group)
        .into_iter()
        .filter(|&metric| metric != CACHE_FLUSH)
        .collect()
}

/// The metric that a case is about.
pub(crate) fn principal_metric(group: &Group<'_>) -> Metric {
    metrics_of(group)
        .into_iter()
        .find(|metric| metric.principal)
        .unwrap_or(metrics::LATENCY)
}

/// The CPU of a group that took longest, by a metric.
pub(crate) fn slowest<'a>(group: &Group<'a>, metric: &str) -> Option<&'a ComparedCell> {
    let cells = group
        .cells
        .iter()
        .filter(|cell| cell.recorded.metric == metric);
    // Of several that took as long, the one that headlines and timelines take as well.
    cells.copied().max_by(|a, b| {
        a.recorded
            .value
            .total_cmp(&b.recorded.value)
            .then(a.recorded.cpu.cmp(&b.recorded.cpu))
    })
}

/// The figures of a case: a row per CPU, a column per metric.
pub(crate) struct FigureTable<'a> {
    /// Its columns.
    pub(crate) metrics: Vec<Metric>,
    /// True if any figure has a published one beside it.
    pub(crate) has_published: bool,
    /// Its rows, in the order of the CPUs' ranks.
    pub(crate) rows: Vec<FigureRow<'a>>,
    /// True if CPUs went down in different orders, of which a note must warn.
    pub(crate) order_varies: bool,
}

/// A CPU's row.
pub(crate) struct FigureRow<'a> {
    /// The CPU by its place.
    pub(crate) name: String,
    /// Its part, in few letters.
    pub(crate) role: String,
    /// Any of its figures: what it says of the CPU holds for all.
    pub(crate) cpu: &'a ComparedCell,
    /// A figure for each column, where it has one.
    pub(crate) figures: Vec<Option<&'a ComparedCell>>,
}

impl<'a> FigureTable<'a> {
    pub(crate) fn new(group: &Group<'a>) -> Self {
        let metrics = metrics_of(group);
        let row = |cpu: &'a ComparedCell| FigureRow {
            name: place(&cpu.recorded),
            role: short_role(cpu),
            cpu,
            figures: metrics
                .iter()
                .map(|metric| cell_of(group, cpu.recorded.cpu, metric.name))
                .collect(),
        };
        Self {
            rows: cpus(group).into_iter().map(row).collect(),
            metrics: metrics.clone(),
            has_published: group.cells.iter().any(|cell| cell.published.is_some()),
            order_varies: order_varies(group),
        }
    }
}

/// The causes of a metric's time: a row per CPU, a column per cause.
pub(crate) struct CauseTable<'a> {
    /// Its columns: the causes that any row has, what took most of the time first.
    pub(crate) causes: Vec<Cause>,
    /// Its rows, in the order of the CPUs' ranks.
    pub(crate) rows: Vec<CauseTableRow<'a>>,
}

/// A CPU's row.
pub(crate) struct CauseTableRow<'a> {
    /// The CPU by its place.
    pub(crate) name: String,
    /// Its figure.
    pub(crate) cell: &'a ComparedCell,
    /// Microseconds for each column, where the CPU has the cause.
    pub(crate) parts: Vec<Option<f64>>,
}

impl<'a> CauseTable<'a> {
    /// The last `most` rows at most: the slowest CPUs. `None` where no events tell causes.
    pub(crate) fn new(group: &Group<'a>, metric: &str, most: usize) -> Option<Self> {
        let cells: Vec<&'a ComparedCell> = cpus(group)
            .into_iter()
            .filter_map(|cpu| cell_of(group, cpu.recorded.cpu, metric))
            .collect();
        let cells = &cells[cells.len().saturating_sub(most)..];
        let causes = used_causes(cells.iter().copied());
        let row = |cell: &&'a ComparedCell| CauseTableRow {
            name: place(&cell.recorded),
            cell,
            parts: causes
                .iter()
                .map(|cause| cell.recorded.microseconds_of(*cause))
                .collect(),
        };
        (!causes.is_empty()).then(|| Self {
            rows: cells.iter().map(row).collect(),
            causes: causes.clone(),
        })
    }
}

/// The causes that any of these figures has, what took most of the time first.
pub(crate) fn used_causes<'a>(cells: impl Iterator<Item = &'a ComparedCell>) -> Vec<Cause> {
    let mut sums: std::collections::BTreeMap<Cause, f64> = std::collections::BTreeMap::new();
    for (&cause, &ticks) in cells.flat_map(|cell| &cell.recorded.split.causes) {
        *sums.entry(cause).or_default() += ticks as f64;
    }
    let mut causes: Vec<(Cause, f64)> = sums.into_iter().collect();
    // Equal ones stay in the order of the table of causes.
    causes.sort_by(|a, b| b.1.total_cmp(&a.1));
    causes.into_iter().map(|(cause, _)| cause).collect()
}
