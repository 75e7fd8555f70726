//! The axes of a plan: grids, lists, draws and repetitions.

use crate::draw::Stream;
use std::ops::Range;

/// A value of a key.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A text.
    Text(String),
    /// A whole number.
    Whole(i64),
    /// A number.
    Number(f64),
    /// A number with its unit, as a platform file has it: `87.5 us`.
    Quantity(f64, String),
}

impl Value {
    /// The number, if it is one without a unit.
    pub(crate) fn as_number(&self) -> Option<f64> {
        match self {
            Self::Whole(number) => Some(*number as f64),
            Self::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// The value as a setting takes it.
    pub fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Whole(number) => number.to_string(),
            Self::Number(number) => number.to_string(),
            Self::Quantity(number, unit) => format!("{number} {unit}"),
        }
    }
}

/// The values of a key, over all points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Whole,
    Number,
    Text,
}

impl Kind {
    fn of_value(value: &Value) -> Self {
        match value {
            Value::Whole(_) => Self::Whole,
            Value::Number(_) | Value::Quantity(..) => Self::Number,
            Value::Text(_) => Self::Text,
        }
    }
}

/// A value and its place in the plan's text.
#[derive(Clone, Debug)]
pub struct PlacedValue {
    pub value: Value,
    pub place: Range<usize>,
}

/// The values of one key of a grid.
#[derive(Clone, Debug)]
pub enum Values {
    /// One by one.
    Each(Vec<PlacedValue>),
    /// Whole numbers, both ends included.
    Range { first: u64, last: u64 },
}

/// From where to where a key is drawn.
#[derive(Clone, Debug)]
pub enum Span {
    /// Numbers, rounded to the given number of digits behind the point, if one is given.
    Numbers {
        from: f64,
        to: f64,
        digits: Option<u32>,
        unit: Option<String>,
    },
    /// Whole numbers, both ends included.
    Whole { from: i64, to: i64 },
    /// One of some values.
    Choice(Vec<PlacedValue>),
}

/// A key that is drawn.
#[derive(Clone, Debug)]
pub struct RandomKey {
    pub key: String,
    pub place: Range<usize>,
    pub span: Span,
    pub stream: Stream,
}

/// One axis of a plan; its points are all combinations of the axes' values.
#[derive(Clone, Debug)]
pub enum Axis {
    /// Each value of a key.
    Grid {
        key: String,
        place: Range<usize>,
        values: Values,
    },
    /// Settings that go together, a row a point.
    List(Vec<Vec<(String, PlacedValue)>>),
    /// Draws of some keys.
    Draws { count: u64, keys: Vec<RandomKey> },
    /// The same again.
    Repetitions(u64),
}

impl Axis {
    /// The number of those of it.
    pub fn count(&self) -> u64 {
        match self {
            Self::Grid { values, .. } => match values {
                Values::Each(values) => values.len() as u64,
                Values::Range { first, last } => (last - first).saturating_add(1),
            },
            Self::List(rows) => rows.len() as u64,
            Self::Draws { count, .. } => *count,
            Self::Repetitions(count) => *count,
        }
    }

    /// The keys that it sets, with what their values are, and where each stands in the plan.
    pub fn keys(&self) -> Vec<(&str, Kind, &Range<usize>)> {
        let widest = |values: &[PlacedValue]| {
            values
                .iter()
                .map(|it| Kind::of_value(&it.value))
                .max()
                .unwrap_or(Kind::Text)
        };
        match self {
            Self::Grid { key, place, values } => {
                let kind = match values {
                    Values::Each(values) => widest(values),
                    Values::Range { .. } => Kind::Whole,
                };
                vec![(key, kind, place)]
            }
            Self::List(rows) => {
                let mut keys: Vec<(&str, Kind, _)> = Vec::new();
                for (key, it) in rows.iter().flatten() {
                    let kind = Kind::of_value(&it.value);
                    match keys.iter_mut().find(|(known, ..)| known == key) {
                        Some((_, known, _)) => *known = kind.max(*known),
                        None => keys.push((key, kind, &it.place)),
                    }
                }
                keys
            }
            Self::Draws { keys, .. } => {
                let kind = |drawn: &RandomKey| match &drawn.span {
                    Span::Numbers { .. } => Kind::Number,
                    Span::Whole { .. } => Kind::Whole,
                    Span::Choice(values) => widest(values),
                };
                keys.iter()
                    .map(|drawn| (drawn.key.as_str(), kind(drawn), &drawn.place))
                    .collect()
            }
            Self::Repetitions(_) => Vec::new(),
        }
    }

    /// Adds what it sets at an index below its count.
    pub fn at(&self, index: u64, settings: &mut Vec<(String, Value)>) {
        match self {
            Self::Grid { key, values, .. } => {
                let value = match values {
                    Values::Each(values) => values[index as usize].value.clone(),
                    Values::Range { first, .. } => {
                        let number = first + index;
                        // Seeds go up to 2^64 - 1, and Arrow's whole numbers to half of that.
                        i64::try_from(number)
                            .map_or_else(|_| Value::Text(number.to_string()), Value::Whole)
                    }
                };
                settings.push((key.clone(), value));
            }
            Self::List(rows) => {
                settings.extend(
                    rows[index as usize]
                        .iter()
                        .map(|(key, it)| (key.clone(), it.value.clone())),
                );
            }
            Self::Draws { keys, .. } => {
                settings.extend(
                    keys.iter()
                        .map(|drawn| (drawn.key.clone(), drawn.value(index))),
                );
            }
            Self::Repetitions(_) => {}
        }
    }
}

impl RandomKey {
    fn value(&self, index: u64) -> Value {
        let unit = self.stream.unit(index);
        match &self.span {
            Span::Numbers {
                from,
                to,
                digits,
                unit: of,
            } => {
                let number = from + (to - from) * unit;
                let number = digits.map_or(number, |digits| {
                    let ten = (0..digits).fold(1.0, |ten, _| ten * 10.0);
                    (number * ten).round() / ten
                });
                match of {
                    Some(unit) => Value::Quantity(number, unit.clone()),
                    None => Value::Number(number),
                }
            }
            Span::Whole { from, to } => Value::Whole(
                from.wrapping_add_unsigned(
                    self.stream
                        .below(index, to.abs_diff(*from).saturating_add(1)),
                ),
            ),
            Span::Choice(values) => {
                let length = values.len();
                values[((unit * length as f64) as usize).min(length - 1)]
                    .value
                    .clone()
            }
        }
    }
}
