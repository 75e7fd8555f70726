//! A data set summed up, point by point: one figure for each measure of a point, so that the
//! rows of a hundred thousand points need not be held.

use crate::axis::Value;
use crate::dataset::Dataset;
use crate::error::Error;
use crate::manifest::FailedPoint;
use evidence::{Iterations, Rank};
use itertools::Itertools;
use recording::metrics::{self, Better};
use recording::{Measure, Reader, Recording};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// The measures of a point at most that have figures; a point with more has the first of them.
const MOST_FIGURES: usize = 256;

/// The file of a chunk that a summary reads.
const MEASURES_FILE: &str = "measures.parquet";

/// A data set, summed up.
#[derive(Clone)]
pub struct Summary {
    /// The experiment's name.
    pub experiment: String,
    /// The world's name.
    pub world: String,
    /// The keys that vary, in the plan's order; `repetition` comes last.
    pub keys: Vec<String>,
    /// The quantities of which each point has a figure.
    pub quantities: Vec<Quantity>,
    /// The points that have rows, in the plan's order.
    pub points: Vec<PointSummary>,
    /// The number of points that the plan has.
    pub planned: u64,
    /// The number of chunks that are there, and of those that are to be.
    pub chunks: (u64, u64),
    /// Points without rows.
    pub failed: Vec<FailedPoint>,
    /// Points whose experiment found something that should not be.
    pub complaints: Vec<FailedPoint>,
}

/// A quantity of which each point has a figure.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Quantity {
    /// Release or configuration.
    pub variant: String,
    /// Case.
    pub case: String,
    /// Mode; empty where the case has none.
    pub mode: String,
    /// The subject that it is a measure of besides; empty where there is none.
    pub subject: String,
    /// The metric.
    pub metric: String,
    /// Unit of the quantity.
    pub unit: String,
}

/// A point, summed up.
#[derive(Clone)]
pub struct PointSummary {
    /// Number of the point in the plan.
    pub number: u64,
    /// The values of the keys that vary; `None` where the point has none for a key.
    pub settings: Vec<Option<Value>>,
    /// For each quantity its figure: the worst over the CPUs of an iteration, and of that the
    /// median over the iterations (of an even number the lower one). NaN where the point has none.
    pub figures: Vec<f64>,
}

impl Summary {
    /// True if several points have figures.
    pub fn has_points_to_compare(&self) -> bool {
        !self.quantities.is_empty() && !self.keys.is_empty()
    }
}

/// Sums a data set up. Where some quantities are what their cases are about, the others are left
/// out.
///
/// # Errors
/// It is no data set, or is damaged.
pub fn summary(folder: &Path) -> Result<Summary, Error> {
    let dataset = Dataset::open(folder)?;
    let plan = &dataset.plan;
    let mut keys = plan.keys().into_iter().map(|(key, _)| key).collect_vec();
    if plan.repeats() {
        keys.push("repetition".to_owned());
    }
    let (planned, chunks) = dataset.size();
    let mut found = Found::default();
    let (mut there, mut failed, mut complaints) = (0, Vec::new(), Vec::new());
    for chunk in 0..chunks {
        let Some(mut said) = dataset.chunk(chunk)? else {
            continue;
        };
        there += 1;
        failed.append(&mut said.failed);
        complaints.append(&mut said.complaints);
        let Some(header) = said.header else { continue };
        said.files.retain(|name, _| name == MEASURES_FILE);
        let damaged = |error| Error::of_rows(&dataset.folder, error);
        let mut reader =
            Reader::open_part(&dataset.chunk_folder(chunk), header.clone(), &said.files)
                .map_err(damaged)?;
        let mut rows = Recording::new(header);
        let mut known = HashMap::new();
        while reader.next_measures(&mut rows).map_err(damaged)? {
            for (measure, number) in rows.measures().iter().zip(reader.points()) {
                found.take(&rows, measure, *number, &mut known);
            }
            rows.clear();
        }
        found.end_point();
    }
    let kept = found.kept();
    let points = std::mem::take(&mut found.points)
        .into_iter()
        .map(|(number, figures)| {
            let settings = settings_at(plan, &keys, number);
            let figures = kept
                .iter()
                .map(|&at| figures.get(at).copied().unwrap_or(f64::NAN))
                .collect();
            PointSummary {
                number,
                settings,
                figures,
            }
        })
        .collect();
    Ok(Summary {
        experiment: dataset.experiment().to_owned(),
        world: dataset.world().to_owned(),
        quantities: kept
            .iter()
            .map(|&at| found.quantities[at].clone())
            .collect(),
        points,
        planned,
        chunks: (there, chunks),
        failed,
        complaints,
        keys,
    })
}

/// The values of `keys` at a point, of which the last may be its repetition.
fn settings_at(plan: &crate::plan::Plan, keys: &[String], number: u64) -> Vec<Option<Value>> {
    let at = plan.point(number);
    let mut settings = keys
        .iter()
        .map(|key| {
            let mut varied = at.varied.iter();
            let (_, value) = varied.find(|(name, _)| name == key)?;
            Some(value.clone())
        })
        .collect_vec();
    if plan.repeats()
        && let Some(last) = settings.last_mut()
    {
        *last = i64::try_from(at.repetition).ok().map(Value::Whole);
    }
    settings
}

/// A measure's quantity, by the names of the chunk that it is in.
type Place = (
    recording::Series,
    Option<recording::Name>,
    recording::Name,
    recording::Name,
);

/// The figures as they are found.
#[derive(Default)]
struct Found {
    quantities: Vec<Quantity>,
    /// Which way is better, for each quantity.
    better: Vec<Better>,
    by_name: HashMap<Quantity, usize>,
    /// The point at hand, and the values of each quantity with their iteration.
    point: Option<u64>,
    values: Vec<Vec<(u32, (), f64)>>,
    points: BTreeMap<u64, Vec<f64>>,
}

impl Found {
    /// Takes a measure; those of a point come one after another.
    fn take(
        &mut self,
        rows: &Recording,
        measure: &Measure,
        point: u64,
        known: &mut HashMap<Place, Option<usize>>,
    ) {
        if self.point != Some(point) {
            self.end_point();
            self.point = Some(point);
        }
        let place = (
            measure.series,
            measure.subject,
            measure.metric,
            measure.unit,
        );
        let at = *known
            .entry(place)
            .or_insert_with(|| self.quantity(rows, measure));
        let Some(at) = at else { return };
        self.values[at].push((measure.iteration, (), measure.value));
    }

    /// The place of a measure's quantity; `None` for one too many.
    fn quantity(&mut self, rows: &Recording, measure: &Measure) -> Option<usize> {
        let (variant, case, mode) = rows.series_texts(measure.series);
        let [metric, unit] = [measure.metric, measure.unit].map(|name| rows.text(name).to_owned());
        let subject = measure
            .subject
            .map_or_else(String::new, |name| rows.text(name).to_owned());
        let better = metrics::better(&metric, &unit);
        let (variant, case, mode) = (variant.to_owned(), case.to_owned(), mode.to_owned());
        let quantity = Quantity {
            variant,
            case,
            mode,
            subject,
            metric,
            unit,
        };
        if let Some(at) = self.by_name.get(&quantity) {
            return Some(*at);
        }
        let at = self.quantities.len();
        if at == MOST_FIGURES {
            return None;
        }
        self.by_name.insert(quantity.clone(), at);
        self.quantities.push(quantity);
        self.better.push(better);
        self.values.push(Vec::new());
        Some(at)
    }

    /// The point at hand is over.
    fn end_point(&mut self) {
        let Some(point) = self.point.take() else {
            return;
        };
        let figures = self
            .values
            .iter_mut()
            .zip(&self.better)
            .map(|(values, better)| {
                let iterations: Iterations<_, _> = std::mem::take(values).into_iter().collect();
                let worst = match better {
                    Better::Higher => Rank::Shortest,
                    Better::Lower | Better::Neither => Rank::Longest,
                };
                iterations
                    .ranked(worst)
                    .map_or(f64::NAN, |worst| worst.median)
            })
            .collect();
        self.points.insert(point, figures);
    }

    /// Places of the quantities that are kept: those that their cases are about, or else those
    /// without a subject, or else all.
    fn kept(&self) -> Vec<usize> {
        let which = |is_kept: &dyn Fn(&Quantity) -> bool| -> Vec<usize> {
            (0..self.quantities.len())
                .filter(|&at| is_kept(&self.quantities[at]))
                .collect()
        };
        [
            which(&|quantity| {
                metrics::by_name(&quantity.metric).is_some_and(|metric| metric.principal)
            }),
            which(&|quantity| quantity.subject.is_empty()),
            which(&|_| true),
        ]
        .into_iter()
        .find(|kept| !kept.is_empty())
        .unwrap_or_default()
    }
}
