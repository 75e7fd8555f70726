//! Recorded cells beside published ones.

use attribution::lock_order_decides as by_rank;
use attribution::{CellResult, microseconds};
use evidence::{Iterations, Rank};
use itertools::Itertools;
use published::{Cell, PsciReference};
use recording::metrics::{POWERDOWN, WAKEUP};
use recording::{Interval, Recording, Series, TimerMode, total_order};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// A recorded cell and the published one that it is compared with, if there is one.
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
    /// Intervals apart from each other, by who owns the timer: first that of the likeliest owner,
    /// then by weight. Empty where the owner decides nothing.
    pub modes: Vec<Mode>,
}

/// The place of a figure with a probability of 90 %, if one of some CPUs owns the timer that wakes
/// the others.
#[derive(PartialEq, Serialize, JsonSchema)]
pub struct Mode {
    /// The CPUs, as cluster.core.
    pub timers: Vec<String>,
    /// The probability that one of them owns the timer, from 0 to 1.
    pub weight: f64,
    /// The figure in microseconds, if the likeliest of them owns it.
    pub figure: f64,
    /// Both ends of the interval in microseconds.
    pub interval: (f64, f64),
}

impl ComparedCell {
    /// The figure if it is not known who owns the timer: that of the likeliest owner.
    pub fn timer_unknown(&self) -> Option<f64> {
        self.modes.first().map(|mode| mode.figure).or(self.middle)
    }

    /// Intervals apart from each other that together hold the figure with a probability of 90 %.
    pub fn places(&self) -> Vec<(f64, f64)> {
        if self.modes.is_empty() {
            self.interval.into_iter().collect()
        } else {
            self.modes.iter().map(|mode| mode.interval).collect()
        }
    }

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
            format!(
                "{} of cluster {}",
                ordinal(cell.rank_in_cluster),
                cell.cluster
            )
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
            let published = reference
                .and_then(|reference| find(reference, &recorded))
                .cloned();
            let both = reference.zip(published.as_ref());
            ComparedCell {
                guess: both.and_then(|(reference, cell)| reference.guess(cell)),
                guess_interval: both.and_then(|(reference, cell)| reference.guess_interval(cell)),
                recorded,
                published,
                interval: None,
                middle: None,
                modes: Vec::new(),
            }
        })
        .collect()
}

/// Puts the recording's intervals to the cells that they are of, and widens each by what the
/// intervals of the *other* releases miss: what the model leaves out shows in no draw. The factor
/// holds nine of ten of their cells of the same kind. A release alone keeps what was drawn.
pub fn with_intervals(compared: &mut [ComparedCell], intervals: &[Interval]) {
    let by_place: BTreeMap<_, _> = intervals
        .iter()
        .map(|it| ((&it.variant, &it.case, &it.mode, it.cpu, &it.metric), it))
        .collect();
    for cell in compared.iter_mut() {
        let of = &cell.recorded;
        let place = (&of.variant, &of.case, &of.mode, of.cpu, &of.metric);
        let Some(drawn) = by_place.get(&place) else {
            continue;
        };
        cell.interval = Some((drawn.low, drawn.high));
        cell.middle = Some(drawn.middle);
        cell.modes = drawn.modes.iter().map(Mode::new).collect();
    }
    let whole = widths(compared, |cell| cell.interval.into_iter().collect());
    let apart = widths(compared, ComparedCell::places);
    for (cell, (whole, apart)) in compared.iter_mut().zip(whole.into_iter().zip(apart)) {
        let widen =
            |interval: &mut (f64, f64), by: f64| *interval = (interval.0 / by, interval.1 * by);
        cell.interval
            .iter_mut()
            .for_each(|interval| widen(interval, whole));
        cell.modes
            .iter_mut()
            .for_each(|mode| widen(&mut mode.interval, apart));
        cell.modes = Mode::apart(std::mem::take(&mut cell.modes));
    }
}

/// The factor by which the intervals of each cell are widened.
fn widths(
    compared: &[ComparedCell],
    intervals: impl Fn(&ComparedCell) -> Vec<(f64, f64)>,
) -> Vec<f64> {
    let kind = |cell: &ComparedCell| {
        (cell.recorded.metric == WAKEUP.name).then(|| cell.recorded.case.clone())
    };
    let off = |cell: &ComparedCell| {
        let published = cell
            .published
            .as_ref()
            .filter(|cell| !cell.used_in_fit)?
            .value_us;
        intervals(cell)
            .into_iter()
            .map(|(low, high)| (low / published).max(published / high).max(1.0))
            .min_by(f64::total_cmp)
    };
    // The same for all cells of a release and kind, of which a large machine has thousands.
    let mut by_kind = BTreeMap::new();
    let mut factors = Vec::with_capacity(compared.len());
    for cell in compared {
        let factor = by_kind
            .entry((&cell.recorded.variant, kind(cell)))
            .or_insert_with(|| {
                let mut missed = compared
                    .iter()
                    .filter(|other| {
                        other.recorded.variant != cell.recorded.variant && kind(other) == kind(cell)
                    })
                    .filter_map(off)
                    .collect_vec();
                missed.sort_by(f64::total_cmp);
                missed
                    .get((missed.len() * 9).div_ceil(10).checked_sub(1)?)
                    .copied()
            });
        factors.push(factor.unwrap_or(1.0));
    }
    factors
}

impl Mode {
    fn new(
        TimerMode {
            timer,
            weight,
            figure,
            low,
            high,
        }: &TimerMode,
    ) -> Self {
        Self {
            timers: vec![timer.clone()],
            weight: *weight,
            figure: *figure,
            interval: (*low, *high),
        }
    }

    /// Modes that do not overlap, of some in the order of their owners: those that do are one, with
    /// the figure of the likeliest.
    fn apart(modes: Vec<Self>) -> Vec<Self> {
        let mut ranked = modes.into_iter().enumerate().collect_vec();
        ranked.sort_by_key(|of| total_order(of.1.interval.0));
        let mut apart: Vec<(usize, Self)> = Vec::new();
        for (rank, mut mode) in ranked {
            match apart
                .last_mut()
                .filter(|(_, last)| mode.interval.0 <= last.interval.1)
            {
                Some((first, last)) => {
                    if rank < *first {
                        (*first, last.figure) = (rank, mode.figure);
                    }
                    last.timers.append(&mut mode.timers);
                    last.timers.sort();
                    last.weight += mode.weight;
                    last.interval.1 = last.interval.1.max(mode.interval.1);
                }
                None => apart.push((rank, mode)),
            }
        }
        apart.sort_by(|(a, one), (b, other)| {
            (*a > 0)
                .cmp(&(*b > 0))
                .then(other.weight.total_cmp(&one.weight))
        });
        apart.into_iter().map(|(_, mode)| mode).collect()
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
        let mut powerdowns = table(POWERDOWN.name).collect_vec();
        powerdowns.sort_by_key(|of| (total_order(of.value_us), of.core));
        powerdowns
            .get(recorded.rank_in_cluster.checked_sub(1)?)?
            .core
    } else {
        recorded.core
    };
    table(&recorded.metric).find(|cell| cell.core == core)
}

/// The powerdown of the n-th CPU to finish, where its order is left to chance.
#[derive(Clone, Serialize, JsonSchema)]
pub struct Spread {
    /// Release or configuration.
    pub release: String,
    /// Case.
    pub case: String,
    /// Number of seeds, or of iterations in different orders.
    pub seeds: usize,
    /// The powerdown of the n-th CPU to finish, in microseconds.
    pub powerdown_by_rank: Vec<Range>,
    /// The number of different orders of CPUs that there were.
    pub orders: usize,
    /// The most by which the powerdown of one CPU differs from order to order, in microseconds.
    pub interchanged_us: f64,
}

/// The range of some values.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Range {
    /// The smallest.
    pub min: f64,
    /// The median, one that occurred.
    pub median: f64,
    /// The largest.
    pub max: f64,
}

/// The powerdowns of a series by rank; `None` where it has none.
pub fn spread(recording: &Recording, series: Series) -> Option<Spread> {
    let (release, case, _) = recording.series_texts(series);
    let of = recording.measures().iter().filter(|measure| {
        measure.series == series && recording.text(measure.metric) == POWERDOWN.name
    });
    let iterations: Iterations<_, _> = of
        .filter_map(|of| Some((of.iteration, of.cpu?, microseconds(recording, of)?)))
        .collect();
    let ranks = (0..iterations.places()).map_while(|place| {
        let found = iterations.ranked(Rank::Nth(place))?;
        let [min, max] = found.ends;
        Some(Range {
            min,
            median: found.median,
            max,
        })
    });
    let each = iterations.all().flat_map(|(_, values)| values);
    let by_cpu = each.map(|(us, cpu)| (*cpu, *us)).into_group_map();
    let apart = by_cpu.values().filter_map(|us| {
        let (least, most) = us.iter().minmax_by(|a, b| a.total_cmp(b)).into_option()?;
        Some(most - least)
    });
    (iterations.places() > 0).then(|| Spread {
        interchanged_us: apart.fold(0.0, f64::max),
        release: release.to_owned(),
        case: case.to_owned(),
        seeds: iterations.all().count(),
        powerdown_by_rank: ranks.collect(),
        orders: iterations.orders().len(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Modes of the CPUs `0.0`, `0.1` and so on, each of some weight, figure, low and high.
    fn apart(modes: &[(f64, f64, f64, f64)]) -> Vec<Mode> {
        let drawn = |(core, &(weight, figure, low, high)): (usize, &(f64, f64, f64, f64))| {
            Mode::new(&TimerMode {
                timer: format!("0.{core}"),
                weight,
                figure,
                low,
                high,
            })
        };
        Mode::apart(modes.iter().enumerate().map(drawn).collect())
    }

    #[test]
    fn modes_that_overlap_are_one_and_the_likeliest_owner_comes_first() {
        let modes = [
            (0.3, 20.0, 19.0, 21.0),
            (0.2, 90.0, 85.0, 95.0),
            (0.2, 93.0, 91.0, 99.0),
            (0.3, 50.0, 49.0, 51.0),
        ];
        let apart = apart(&modes);
        let timers: Vec<String> = apart.iter().map(|mode| mode.timers.join("/")).collect();
        assert_eq!(timers, ["0.0", "0.1/0.2", "0.3"]);
        assert_eq!(
            (apart[1].weight, apart[1].figure, apart[1].interval),
            (0.4, 90.0, (85.0, 99.0))
        );
        assert!(
            apart
                .iter()
                .all(|mode| (mode.interval.0..=mode.interval.1).contains(&mode.figure))
        );
    }

    #[test]
    fn an_interval_that_spans_others_takes_them_in() {
        let apart = apart(&[
            (0.5, 10.0, 9.0, 11.0),
            (0.25, 30.0, 29.0, 31.0),
            (0.25, 20.0, 5.0, 40.0),
        ]);
        assert_eq!((apart.len(), apart[0].weight), (1, 1.0));
        assert_eq!((apart[0].figure, apart[0].interval), (10.0, (5.0, 40.0)));
    }
}
