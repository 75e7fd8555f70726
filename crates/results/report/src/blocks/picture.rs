//! Pictures before they are drawn.

use super::flame::Flame;
use super::lanes::Lanes;
use super::number::quantity;
use super::text::Text;
use evidence::Leaders;
use itertools::Itertools;
use recording::facts::CALLS;
use recording::{grouped, total_order};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// An axis whose ends are further apart than this ratio is logarithmic.
const LOGARITHMIC: f64 = 100.0;

/// True if an axis with these ends is logarithmic: what lies tenfolds apart, such as latencies, is
/// drawn by its ratios.
pub fn is_logarithmic((least, most): (f64, f64)) -> bool {
    least > 0.0 && most > LOGARITHMIC * least
}

/// The least and the greatest of some values.
pub fn ends(values: impl IntoIterator<Item = f64>) -> (f64, f64) {
    let values = values.into_iter();
    values.fold((f64::MAX, f64::MIN), |(low, high), value| {
        (low.min(value), high.max(value))
    })
}

/// The distance of a value from the lower of two ends, in parts of the distance between them.
pub fn between(value: f64, (from, to): (f64, f64)) -> f64 {
    (value - from) / (to - from).max(f64::MIN_POSITIVE)
}

/// The distance of a value from the lower end of an axis, in parts of its length.
pub fn on_axis(value: f64, ends: (f64, f64)) -> f64 {
    let scale = |value: f64| {
        if is_logarithmic(ends) {
            value.ln()
        } else {
            value
        }
    };
    between(scale(value), (scale(ends.0), scale(ends.1)))
}

/// A picture of the values of one quantity.
#[derive(Clone, Debug)]
pub struct Picture {
    /// The words above it, a line.
    pub title: String,
    /// The quantity that is drawn.
    pub quantity: String,
    /// The unit of all its values; "1" for a share or a count.
    pub unit: String,
    /// The values and how they are drawn.
    pub drawing: Drawing,
    /// The way to read it; may be empty.
    pub note: Text,
}

/// An axis with places that may have names.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// Its key in the recording.
    pub key: String,
    /// Its name in words.
    pub words: String,
    /// Names of its places by their numbers.
    places: BTreeMap<u32, String>,
}

impl Axis {
    /// The axis of a key, with its words where the recording has some.
    pub fn new(key: &str, words: Option<&recording::Axis>) -> Self {
        let (title, places) = words
            .cloned()
            .map_or_else(Default::default, |axis| (axis.title, axis.places));
        let words = if title.is_empty() {
            axis_words(key)
        } else {
            title
        };
        Self {
            key: key.to_owned(),
            words,
            places,
        }
    }

    /// A place on the axis in words.
    pub fn place(&self, number: f64) -> String {
        let named = || {
            self.places
                .get(&(number as u32))
                .filter(|_| number.fract() == 0.0 && number >= 0.0)
        };
        named().cloned().unwrap_or_else(|| number.to_string())
    }
}

/// The values of a picture and how they are drawn.
#[derive(Clone, Debug, PartialEq)]
pub enum Drawing {
    /// A bar for each variant, made of its subjects.
    Bars(Vec<Bar>),
    /// Curves over one axis.
    Curves {
        /// Name of the axis that runs to the right.
        x: String,
        /// The curves, in the order of the recording.
        curves: Vec<Curve>,
    },
    /// Fields over two axes.
    HeatMap {
        /// The axis that runs to the right.
        x: Axis,
        /// The axis that runs upwards.
        y: Axis,
        /// True if less is better, so that the least field is worth a frame.
        is_cost: bool,
        /// One map for each combination of what is not an axis, in the order of the recording.
        maps: Vec<HeatMap>,
    },
    /// An interval on each row of one axis, with the published value as a mark.
    Intervals(Vec<IntervalRow>),
    /// Dots over two quantities, each with an interval in both.
    Dots {
        /// Quantity and unit of the axis that runs to the right; the picture's own are those of the
        /// axis that runs upwards.
        x: (String, String),
        /// The dots.
        dots: Vec<Dot>,
    },
    /// The values of some samples, a row each, with their quartiles and their median.
    Samples(Vec<Sample>),
    /// Functions below those that called them.
    Flames(Vec<Flame>),
    /// Idle states, tasks, calls and marks of each CPU over a part of the time.
    Lanes(Box<Lanes>),
    /// The timeline of a PSCI case, which pages alone can draw.
    Timeline {
        /// The release.
        release: String,
        /// The case.
        case: String,
        /// The mode.
        mode: String,
        /// The answer for each metric, which formats without a timeline show in its place.
        answers: Vec<String>,
    },
}

/// A value of a picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure {
    /// The median of the recorded values.
    pub value: f64,
    /// The published value beside it.
    pub published: Option<f64>,
}

impl Figure {
    /// A figure that nothing was published of.
    pub fn new(value: f64) -> Self {
        let published = None;
        Self { value, published }
    }
}

/// A stacked bar.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// Its name: variant, and case and mode as far as they tell bars apart.
    pub name: String,
    /// Its parts with their subjects, in the order of the recording.
    pub parts: Vec<(String, f64)>,
}

impl Bar {
    /// A bar of some parts.
    pub fn new<N: Into<String>>(
        name: impl Into<String>,
        parts: impl IntoIterator<Item = (N, f64)>,
    ) -> Self {
        Self {
            name: name.into(),
            parts: parts
                .into_iter()
                .map(|(name, value)| (name.into(), value))
                .collect(),
        }
    }

    /// The sum of its parts.
    pub fn total(&self) -> f64 {
        self.parts.iter().map(|(_, value)| value).sum()
    }
}

/// A curve.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    /// Its name; may be empty where there is only one.
    pub name: String,
    /// Places on the axis, in order, with their values.
    pub points: Vec<(f64, Figure)>,
    /// The places between which the curve is near its best value, both included.
    pub best: Option<(f64, f64)>,
}

impl Curve {
    /// A curve of values of which none was published.
    pub fn new(name: impl Into<String>, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        let points = points.into_iter();
        Self {
            name: name.into(),
            points: points.map(|(at, value)| (at, Figure::new(value))).collect(),
            best: None,
        }
    }

    /// The points with the least value, as far as three digits tell them apart.
    pub fn least(&self) -> Option<Leaders<(f64, Figure)>> {
        Leaders::least(self.points.iter().copied(), |(_, figure)| {
            Some([figure.value; 2])
        })
    }

    /// The curve with the places between which it is within a share of its least value, where its
    /// points go on to both sides.
    pub fn with_best(mut self, share: f64) -> Self {
        let (least, _) = ends(self.points.iter().map(|(_, figure)| figure.value));
        let is_near = |figure: &Figure| figure.value <= least * (1.0 + share);
        let at = self
            .points
            .iter()
            .position(|(_, figure)| figure.value == least);
        self.best = at.map(|at| {
            let from = (0..=at)
                .rev()
                .take_while(|&other| is_near(&self.points[other].1))
                .last()
                .unwrap_or(at);
            let to = (at..self.points.len())
                .take_while(|&other| is_near(&self.points[other].1))
                .last()
                .unwrap_or(at);
            (self.points[from].0, self.points[to].0)
        });
        self
    }
}

/// A map of fields.
#[derive(Clone, Debug, PartialEq)]
pub struct HeatMap {
    /// Its name; may be empty where there is only one.
    pub name: String,
    /// Places on the axis that runs to the right, in order.
    pub xs: Vec<f64>,
    /// Places on the axis that runs upwards, in order.
    pub ys: Vec<f64>,
    /// For each place of `ys`, a field for each place of `xs`, where there is one.
    pub fields: Vec<Vec<Option<Figure>>>,
}

/// A row of intervals.
#[derive(Clone, Debug, PartialEq)]
pub struct IntervalRow {
    /// Its name.
    pub name: String,
    /// The name that its colour stands for; rows of one series have the same.
    pub series: String,
    /// The lower end.
    pub low: f64,
    /// The value in the middle.
    pub middle: f64,
    /// The upper end.
    pub high: f64,
    /// The published value.
    pub published: Option<f64>,
}

impl IntervalRow {
    /// A row whose name is its series as well: lower end, middle and upper end.
    pub fn new(name: impl Into<String>, [low, middle, high]: [f64; 3]) -> Self {
        let name = name.into();
        Self {
            series: name.clone(),
            name,
            low,
            middle,
            high,
            published: None,
        }
    }

    /// The middle with its ends, where they are others, and the published value.
    pub fn words(&self, unit: &str) -> String {
        let [low, middle, high] = [self.low, self.middle, self.high].map(|at| quantity(at, unit));
        let ends = if self.low == self.high {
            String::new()
        } else {
            format!(" ({low}\u{2013}{high})")
        };
        let published = self.published.map_or_else(String::new, |value| {
            format!(", publ. {}", quantity(value, unit))
        });
        format!("{middle}{ends}{published}")
    }

    /// The same row with the name of a series.
    pub fn of(self, series: impl Into<String>) -> Self {
        let series = series.into();
        Self { series, ..self }
    }
}

/// A dot over two quantities.
#[derive(Clone, Debug, PartialEq)]
pub struct Dot {
    /// Its name.
    pub name: String,
    /// Lower end, middle and upper end to the right.
    pub x: [f64; 3],
    /// Lower end, middle and upper end upwards.
    pub y: [f64; 3],
}

/// The values of a sample.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// Its name.
    pub name: String,
    /// The name that its colour stands for.
    pub series: String,
    /// Its values, in any order.
    pub values: Vec<f64>,
}

impl Picture {
    /// A picture without a note.
    pub fn new(
        title: impl Into<String>,
        quantity: impl Into<String>,
        unit: &str,
        drawing: Drawing,
    ) -> Self {
        let (title, quantity, unit) = (title.into(), quantity.into(), unit.to_owned());
        Self {
            title,
            quantity,
            unit,
            drawing,
            note: Text::default(),
        }
    }

    /// With a note.
    pub fn noted(mut self, note: impl Into<Text>) -> Self {
        self.note = note.into();
        self
    }

    /// The names that a colour stands for, those that take most of the picture first; none where
    /// the picture's rows say all names. A name has one colour on a whole page.
    pub fn names(&self) -> Vec<&str> {
        let all = match &self.drawing {
            Drawing::Bars(bars) if bars.iter().all(|bar| bar.parts.len() < 2) => Vec::new(),
            Drawing::Bars(bars) => bars
                .iter()
                .flat_map(|bar| &bar.parts)
                .map(|(subject, value)| (subject.as_str(), *value))
                .collect(),
            Drawing::Curves { curves, .. } => curves
                .iter()
                .map(|curve| (curve.name.as_str(), 0.0))
                .collect(),
            Drawing::Intervals(rows) => rows.iter().map(|row| (row.series.as_str(), 0.0)).collect(),
            Drawing::Samples(samples) => samples
                .iter()
                .map(|sample| (sample.series.as_str(), 0.0))
                .collect(),
            Drawing::Flames(flames) => flames
                .iter()
                .flat_map(|flame| &flame.stacks)
                .flat_map(|(stack, value)| stack.iter().map(|name| (name.as_str(), *value)))
                .collect(),
            Drawing::Lanes(lanes) => {
                // The calls of an explored run are told by their text.
                lanes
                    .rows
                    .iter()
                    .filter(|row| !lanes.is_order || row.title != CALLS)
                    .flat_map(|row| &row.stretches)
                    .map(|of| (of.what.as_str(), (of.to - of.from) as f64))
                    .collect()
            }
            Drawing::Dots { .. } | Drawing::HeatMap { .. } | Drawing::Timeline { .. } => Vec::new(),
        };
        let sum = |(name, shares): (_, Vec<f64>)| (name, shares.iter().sum::<f64>());
        let mut names = grouped(all.iter().copied())
            .into_iter()
            .map(sum)
            .collect_vec();
        let is_told = matches!(self.drawing, Drawing::Intervals(_) | Drawing::Samples(_))
            && names.len() == all.len();
        if is_told || names.len() == 1 && !matches!(self.drawing, Drawing::Lanes(_)) {
            return Vec::new();
        }
        names.sort_by_key(|of| Reverse(total_order(of.1)));
        names.into_iter().map(|(name, _)| name).collect()
    }
}

impl From<Lanes> for Picture {
    fn from(lanes: Lanes) -> Self {
        let (titles, note) = (lanes.titles(), lanes.left_out());
        let length = lanes.span();
        let window = if lanes.is_order {
            length
        } else {
            format!("{length} from {:.6} s on", lanes.zero_s())
        };
        let picture = Self::new(titles, window, "", Drawing::Lanes(Box::new(lanes)));
        match note {
            Some(note) => picture.noted(note),
            None => picture,
        }
    }
}

/// An axis' name in words: `stride_first` is "stride first".
pub fn axis_words(axis: &str) -> String {
    axis.replace(['_', '-'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(values: &[f64]) -> Curve {
        let points = (0..)
            .zip(values)
            .map(|(x, &value)| {
                (
                    f64::from(x),
                    Figure {
                        value,
                        published: None,
                    },
                )
            })
            .collect();
        Curve {
            name: String::new(),
            points,
            best: None,
        }
    }

    #[test]
    fn the_best_range_is_where_a_curve_is_near_its_least_without_a_gap() {
        assert_eq!(
            curve(&[9.0, 5.0, 4.05, 4.0, 4.07, 6.0, 4.0])
                .with_best(0.02)
                .best,
            Some((2.0, 4.0))
        );
        assert_eq!(curve(&[4.0]).with_best(0.02).best, Some((0.0, 0.0)));
        assert_eq!(curve(&[]).with_best(0.02).best, None);
    }
}
