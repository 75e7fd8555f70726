//! Recorded cells beside published ones.

use attribution::CellResult;
use attribution::lock_order_decides as by_rank;
use published::{Cell, PsciReference};
use recording::metrics::{POWERDOWN, WAKEUP};
use recording::{Interval, Recording, stats};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// A recorded cell and the published one that it is compared with, if there is one.
#[derive(Clone, Debug)]
pub struct ComparedCell {
    /// The recording.
    pub recorded: CellResult,
    /// The published value.
    pub published: Option<Cell>,
    /// The guess of the published cell that a reader of the tables would make, in microseconds,
    /// without a model.
    pub guess: Option<f64>,
    /// The interval that this reader would give with a probability of 90 %.
    pub guess_interval: Option<(f64, f64)>,
    /// The place of the recorded value with a probability of 90 %, by what is declared to be
    /// uncertain.
    pub interval: Option<(f64, f64)>,
    /// The middle of what was drawn, among it who wakes first.
    pub middle: Option<f64>,
}

impl ComparedCell {
    /// Error of the recorded value against the published one, in percent.
    pub fn error_percent(&self) -> Option<f64> {
        let published = self.published.as_ref()?.value_us;
        (published > 0.0).then(|| (self.recorded.value - published) / published * 100.0)
    }

    /// True if a fit used the published cell: then the error is a residual, not a prediction's.
    pub fn used_in_fit(&self) -> bool {
        self.published.as_ref().is_some_and(|cell| cell.used_in_fit)
    }

    /// The CPU's part: its place where lock order decides, `lead` or `non-lead` elsewhere;
    /// `last-man` when it took the cluster down.
    pub fn role(&self) -> String {
        let cell = &self.recorded;
        let mut role = if by_rank(&cell.case, &cell.mode) {
            format!("{} of cluster {}", ordinal(cell.rank_in_cluster), cell.cluster)
        } else {
            cell.role.clone()
        };
        if cell.last_man {
            role.push_str(", last-man");
        }
        role
    }
}

/// "1st", "2nd", ...
pub fn ordinal(n: usize) -> String {
    let suffix = match (n % 10, n % 100) {
        (1, tens) if tens != 11 => "st",
        (2, tens) if tens != 12 => "nd",
        (3, tens) if tens != 13 => "rd",
        _ => "th",
    };
    format!("{n}{suffix}")
}

/// Puts recorded cells beside the published ones of the same release, case and metric: by CPU in
/// the serial tables, by rank of powerdown within the cluster in the parallel suspend tables.
pub fn compare(cells: Vec<CellResult>, reference: Option<&PsciReference>) -> Vec<ComparedCell> {
    cells
        .into_iter()
        .map(|recorded| {
            let published = reference.and_then(|reference| find(reference, &recorded)).cloned();
            let guess = reference.zip(published.as_ref()).and_then(|(reference, cell)| reference.guess(cell));
            let guess_interval =
                reference.zip(published.as_ref()).and_then(|(reference, cell)| reference.guess_interval(cell));
            ComparedCell { recorded, published, guess, guess_interval, interval: None, middle: None }
        })
        .collect()
}

/// Puts the recording's intervals to the cells that they are of, and widens each by what the
/// intervals of the *other* releases miss: what the model leaves out shows in no draw. The factor
/// holds nine of ten of their cells of the same kind. A release alone keeps what was drawn.
pub fn with_intervals(compared: &mut [ComparedCell], intervals: &[Interval]) {
    let place = |interval: &Interval| {
        let Interval { variant, case, mode, cpu, metric, .. } = interval;
        (variant.clone(), case.clone(), mode.clone(), *cpu, metric.clone())
    };
    let by_place: BTreeMap<_, _> = intervals.iter().map(|it| (place(it), ((it.low, it.high), it.middle))).collect();
    for cell in compared.iter_mut() {
        let CellResult { variant, case, mode, cpu, metric, .. } = &cell.recorded;
        let place = (variant.clone(), case.clone(), mode.clone(), *cpu, metric.clone());
        let drawn = by_place.get(&place);
        cell.interval = drawn.map(|&(interval, _)| interval);
        cell.middle = drawn.and_then(|&(_, middle)| middle);
    }
    let kind = |cell: &ComparedCell| (cell.recorded.metric == WAKEUP.name).then(|| cell.recorded.case.clone());
    let off = |cell: &ComparedCell| {
        let (low, high) = cell.interval?;
        let published = cell.published.as_ref().filter(|cell| !cell.used_in_fit)?.value_us;
        Some((low / published).max(published / high).max(1.0))
    };
    // The same for all cells of a release and kind, of which a large machine has thousands.
    let mut by_kind = BTreeMap::new();
    let mut factors = Vec::with_capacity(compared.len());
    for cell in compared.iter() {
        let factor = by_kind.entry((&cell.recorded.variant, kind(cell))).or_insert_with(|| {
            let others = compared
                .iter()
                .filter(|other| other.recorded.variant != cell.recorded.variant && kind(other) == kind(cell));
            let mut missed: Vec<f64> = others.filter_map(off).collect();
            missed.sort_by(f64::total_cmp);
            missed.get((missed.len() * 9).div_ceil(10).checked_sub(1)?).copied()
        });
        factors.push(*factor);
    }
    for (cell, factor) in compared.iter_mut().zip(factors) {
        if let (Some((low, high)), Some(factor)) = (&mut cell.interval, factor) {
            (*low, *high) = (*low / factor, *high * factor);
        }
    }
}

fn find<'r>(reference: &'r PsciReference, recorded: &CellResult) -> Option<&'r Cell> {
    let table = |metric: &str| {
        let metric = metric.to_owned();
        reference.cells.iter().filter(move |cell| {
            cell.release == recorded.variant
                && cell.case == recorded.case
                && cell.mode == recorded.mode
                && cell.cluster == recorded.cluster
                && cell.metric == metric
        })
    };
    let core = if by_rank(&recorded.case, &recorded.mode) {
        let mut powerdowns: Vec<_> = table(POWERDOWN.name).collect();
        powerdowns.sort_by(|a, b| a.value_us.total_cmp(&b.value_us).then(a.core.cmp(&b.core)));
        powerdowns.get(recorded.rank_in_cluster.checked_sub(1)?)?.core
    } else {
        recorded.core
    };
    table(&recorded.metric).find(|cell| cell.core == core)
}

/// The scatter of free-running seeds: the powerdown of the n-th CPU over all seeds.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Spread {
    /// Release or configuration.
    pub release: String,
    /// Case.
    pub case: String,
    /// Number of seeds.
    pub seeds: usize,
    /// The powerdown of the n-th CPU to finish, in microseconds.
    pub powerdown_by_rank: Vec<Range>,
    /// The number of different orders of CPUs that there were.
    pub orders: usize,
}

/// The range of some values.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct Range {
    /// The smallest.
    pub min: f64,
    /// The median.
    pub median: f64,
    /// The largest.
    pub max: f64,
}

/// The spread of the free-running seeds of every release and case that has them.
pub fn spread(recording: &Recording, free_running_mode: &str) -> Vec<Spread> {
    let mut spreads = Vec::new();
    for series in recording.all_series() {
        let (variant, case, mode) = recording.series_texts(series);
        if mode != free_running_mode {
            continue;
        }
        let mut by_seed: std::collections::BTreeMap<u32, Vec<(f64, u16)>> = std::collections::BTreeMap::new();
        for measure in recording.measures().iter().filter(|measure| measure.series == series) {
            if recording.text(measure.metric) == POWERDOWN.name {
                by_seed.entry(measure.iteration).or_default().push((measure.value, measure.cpu.unwrap_or(0)));
            }
        }
        let mut orders = std::collections::BTreeSet::new();
        let mut by_rank: Vec<Vec<f64>> = Vec::new();
        for run in by_seed.values_mut() {
            run.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            orders.insert(run.iter().map(|&(_, cpu)| cpu).collect::<Vec<_>>());
            by_rank.resize(by_rank.len().max(run.len()), Vec::new());
            for (rank, &(value, _)) in run.iter().enumerate() {
                by_rank[rank].push(value);
            }
        }
        let by_rank = by_rank
            .iter()
            .filter_map(|values| stats::summary(values))
            .map(|of| Range { min: of.min, median: of.median, max: of.max })
            .collect();
        spreads.push(Spread {
            release: variant.to_owned(),
            case: case.to_owned(),
            seeds: by_seed.len(),
            powerdown_by_rank: by_rank,
            orders: orders.len(),
        });
    }
    spreads
}
