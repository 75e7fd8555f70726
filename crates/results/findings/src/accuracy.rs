//! The accuracy of predictions.

use crate::compared::ComparedCell;
use itertools::Itertools;
use recording::metrics::{CACHE_FLUSH, LATENCY, POWERDOWN, WAKEUP};
use recording::{distinct, stats};
use schemars::JsonSchema;
use serde::Serialize;

/// Errors over some cells, in percent of the published values.
#[derive(Clone, Copy, Serialize, JsonSchema)]
pub struct Errors {
    /// Number of cells.
    pub cells: usize,
    /// Median of the absolute errors.
    pub median_error_percent: f64,
    /// The number of cells whose error is within 10 %, or within half of the last printed digit or
    /// a tick of the counter where those are more.
    pub within_10_percent: usize,
    /// The largest absolute error.
    pub worst_error_percent: f64,
}

/// Errors of the predicted cells of a release.
#[derive(Clone, Serialize, JsonSchema)]
pub struct Accuracy {
    /// The release.
    pub release: String,
    /// Which cells, as a table says it.
    pub what: &'static str,
    /// Errors of the model, over the predicted cells in the parallel suspend tables.
    #[serde(flatten)]
    pub model: Errors,
    /// Errors over the same cells of what a reader would guess from the tables alone; `None` where
    /// the tables do not say enough.
    pub guess: Option<Errors>,
    /// The 90 % intervals of the same cells; `None` where nothing was drawn.
    pub intervals: Option<Intervals>,
}

/// The counts of intervals that are to hold nine of ten published values.
#[derive(Clone, Copy, Serialize, JsonSchema)]
pub struct Intervals {
    /// The number that hold the published value.
    pub held: usize,
    /// The number of the guess's that do; `None` where it has none.
    pub guess_held: Option<usize>,
    /// Median of the widths, each as a multiple of that of the guess's.
    pub width_against_guess: Option<f64>,
}

/// Rows of the table: what is counted, which metrics, and of which case. Wakeups from the deepest
/// level stand apart: there it decides who wakes first, which no table says.
const ROWS: [(&str, &[&str], Option<&str>, Said); 6] = [
    (
        "powerdown and cache flush",
        &[POWERDOWN.name, CACHE_FLUSH.name],
        None,
        Said::Recorded,
    ),
    (
        "wakeup, level 0",
        &[WAKEUP.name],
        Some("suspend-level0"),
        Said::Recorded,
    ),
    (
        "wakeup, deepest",
        &[WAKEUP.name],
        Some("suspend-deepest"),
        Said::Recorded,
    ),
    (
        "- timer unknown",
        &[WAKEUP.name],
        Some("suspend-deepest"),
        Said::TimerUnknown,
    ),
    (
        "cpu-off",
        &[POWERDOWN.name],
        Some("cpu-off"),
        Said::Recorded,
    ),
    (
        "PSCI_VERSION",
        &[LATENCY.name],
        Some("psci-version"),
        Said::Recorded,
    ),
];

/// The value that a row holds against the published one.
#[derive(Clone, Copy)]
enum Said {
    /// The recorded one, under the conditions that the published run declares.
    Recorded,
    /// That of the likeliest owner of the timer, with the intervals of each owner: what the model
    /// says that does not know who wakes first.
    TimerUnknown,
}

/// The row over all kinds of cells of the parallel suspend tables.
pub const SUSPENDS: &str = "parallel suspends";

/// Name of the rows over all releases.
pub const ALL: &str = "all";

/// Accuracy of every release that has published figures, over its predicted cells; and where there
/// are several, over all cells of their parallel suspend tables.
/// A tick of the counter is `tick_us` microseconds.
pub fn accuracy(compared: &[ComparedCell], tick_us: f64) -> Vec<Accuracy> {
    let with_published = compared.iter().filter(|cell| cell.published.is_some());
    let releases = distinct(with_published.map(|cell| cell.recorded.variant.as_str()));
    let several = releases.len() > 1;
    let rows = releases
        .into_iter()
        .flat_map(|release| ROWS.map(|row| (Some(release), row)));
    let last = (
        None,
        (
            SUSPENDS,
            &[POWERDOWN.name, CACHE_FLUSH.name, WAKEUP.name][..],
            None,
            Said::Recorded,
        ),
    );
    let mut all = Vec::new();
    let pooled = ROWS
        .map(|row| (None, row))
        .into_iter()
        .chain([last])
        .filter(|_| several);
    for (release, (what, metrics, case, said)) in rows.chain(pooled) {
        let predicted = compared.iter().filter(|cell| {
            release.is_none_or(|release| cell.recorded.variant == release)
                && (case.is_some() || cell.recorded.mode == "parallel")
                && metrics.contains(&cell.recorded.metric.as_str())
                && case.is_none_or(|case| case == cell.recorded.case)
                && !cell.used_in_fit()
        });
        let published = |cell: &ComparedCell| {
            let cell = cell.published.as_ref()?;
            Some((cell.value_us, cell.resolution_us.max(tick_us)))
        };
        let value = |cell: &ComparedCell| match said {
            Said::Recorded => Some(cell.recorded.value),
            Said::TimerUnknown => cell.timer_unknown(),
        };
        let model = predicted
            .clone()
            .filter_map(|cell| Some((value(cell)?, published(cell)?)));
        let guesses = predicted
            .clone()
            .map(|cell| Some((cell.guess?, published(cell)?)));
        let intervals = intervals(&predicted.clone().collect_vec(), said);
        let Some(model) = errors(model) else { continue };
        let guess = guesses.collect::<Option<Vec<_>>>().and_then(errors);
        all.push(Accuracy {
            release: release.unwrap_or(ALL).to_owned(),
            what,
            model,
            guess,
            intervals,
        });
    }
    all
}

/// The counts of some cells' intervals; `None` unless each has one. Where a row does not know who
/// wakes first, a cell's interval is several, and together they are as wide as their sum.
fn intervals(cells: &[&ComparedCell], said: Said) -> Option<Intervals> {
    let cells = cells
        .iter()
        .filter_map(|cell| Some((cell, cell.published.as_ref()?.value_us)))
        .collect_vec();
    let holds = |interval: (f64, f64), value: f64| (interval.0..=interval.1).contains(&value);
    let places = |cell: &ComparedCell| match said {
        Said::Recorded => Some(vec![cell.interval?]),
        Said::TimerUnknown => cell.interval.map(|_| cell.places()),
    };
    let own = cells
        .iter()
        .map(|(cell, value)| Some(places(cell)?.into_iter().any(|place| holds(place, *value))));
    let guessed = cells
        .iter()
        .map(|(cell, value)| Some(holds(cell.guess_interval?, *value)));
    let width = |interval: (f64, f64)| interval.1 - interval.0;
    let all = |places: Vec<(f64, f64)>| places.into_iter().map(width).sum::<f64>();
    let widths = cells
        .iter()
        .map(|(cell, _)| Some(all(places(cell)?) / width(cell.guess_interval?)));
    let count = |held: Vec<bool>| held.into_iter().filter(|&held| held).count();
    Some(Intervals {
        held: count(own.collect::<Option<_>>()?),
        guess_held: guessed.collect::<Option<_>>().map(count),
        width_against_guess: widths
            .collect::<Option<Vec<_>>>()
            .and_then(|widths| stats::median(&widths)),
    })
}

/// Errors of pairs of what was said, and what was published with how far it is known; `None` of no
/// pairs.
fn errors(pairs: impl IntoIterator<Item = (f64, (f64, f64))>) -> Option<Errors> {
    let mut errors = Vec::new();
    let mut within = 0;
    for (said, (published, known)) in pairs
        .into_iter()
        .filter(|(_, (published, _))| *published > 0.0)
    {
        let error = ((said - published) / published * 100.0).abs();
        errors.push(error);
        within += usize::from((said - published).abs() <= (0.1 * published).max(known));
    }
    Some(Errors {
        cells: errors.len(),
        median_error_percent: stats::median(&errors)?,
        within_10_percent: within,
        worst_error_percent: errors.iter().copied().max_by(f64::total_cmp)?,
    })
}
