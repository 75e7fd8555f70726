//! Unknowns, which were not published: a range each, and how a value is drawn from it.

use engine::SplitMix64;
use itertools::Itertools;
use serde::Deserialize;
use std::fmt;

/// A value of an unknown.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// A number, in the unknown's unit.
    Number(u64),
    /// A word.
    Word(String),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Word(word) => word.fmt(f),
        }
    }
}

/// The range of an unknown.
#[derive(Clone, Debug, PartialEq)]
pub enum Range {
    /// One of these, each as likely as the others.
    Values(Vec<Value>),
    /// A whole number from `low` to `high`.
    Numbers {
        /// The lowest.
        low: u64,
        /// The highest.
        high: u64,
        /// True if equal ratios are equally likely, rather than equal differences.
        log: bool,
    },
}

/// Something that was not published.
#[derive(Debug, Deserialize)]
#[serde(try_from = "UnknownRead")]
pub struct Unknown {
    /// Name of the unknown.
    pub name: String,
    /// The value.
    pub about: String,
    /// The unit of its numbers; empty where there is none.
    pub unit: String,
    /// The range.
    pub range: Range,
    /// The value at the central point.
    pub central: Value,
    /// The source of the range, or that it is assumed.
    pub source: String,
}

/// The greatest value that an unknown can have.
pub const MOST: u64 = 10_000_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UnknownRead {
    name: String,
    about: String,
    values: Option<Vec<Value>>,
    low: Option<u64>,
    high: Option<u64>,
    #[serde(default)]
    spread: Spread,
    #[serde(default)]
    unit: String,
    central: Value,
    source: String,
}

#[derive(Default, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Spread {
    #[default]
    Even,
    Log,
}

impl TryFrom<UnknownRead> for Unknown {
    type Error = String;

    fn try_from(read: UnknownRead) -> Result<Self, String> {
        let UnknownRead {
            name,
            about,
            unit,
            central,
            source,
            ..
        } = read;
        let log = read.spread == Spread::Log;
        let (range, is_sound, is_inside) = match (read.values, read.low, read.high, &central) {
            (Some(values), None, None, central) => {
                let (is_sound, is_inside) = (!values.is_empty(), values.contains(central));
                (Range::Values(values), is_sound, is_inside)
            }
            (None, Some(low), Some(high), Value::Number(central)) => (
                Range::Numbers { low, high, log },
                low <= high && high <= MOST && !(log && low == 0),
                (low..=high).contains(central),
            ),
            _ => (Range::Values(Vec::new()), false, false),
        };
        let wrong = if !is_sound {
            format!(
                "give it `values`, or numbers: `low` is not above `high`, `high` at most {MOST}, and with equal ratios \
                 `low` above 0"
            )
        } else if source.trim().is_empty() {
            "it has no source: say where the range is from, or that it is assumed".to_owned()
        } else if !is_inside {
            format!("`central` is {central}, which is outside its range")
        } else {
            return Ok(Self {
                name,
                about,
                unit,
                range,
                central,
                source,
            });
        };
        Err(format!("unknown `{name}`: {wrong}"))
    }
}

impl Unknown {
    /// True if its values are numbers.
    pub fn is_number(&self) -> bool {
        matches!(self.central, Value::Number(_))
    }

    /// Draws a value.
    pub fn draw(&self, random: &mut SplitMix64) -> Value {
        match &self.range {
            Range::Values(values) => values[random.below(values.len() as u64) as usize].clone(),
            Range::Numbers {
                low,
                high,
                log: false,
            } => Value::Number(low + random.below(high - low + 1)),
            Range::Numbers {
                low,
                high,
                log: true,
            } => Value::Number(between(*low, *high, (random.next() >> 32) as u32)),
        }
    }

    /// The value that a text stands for; a number may lie outside the range, for whoever wants to
    /// know what would be then.
    ///
    /// # Errors
    /// The advice: what would be right.
    pub fn parse(&self, text: &str) -> Result<Value, String> {
        match &self.range {
            Range::Values(values) => {
                let known = values.iter().map(Value::to_string).collect_vec();
                let at = known.iter().position(|value| value == text);
                at.map(|at| values[at].clone())
                    .ok_or_else(|| format!("one of {}", known.join(", ")))
            }
            Range::Numbers { .. } => match text.parse() {
                Ok(number) if number <= MOST => Ok(Value::Number(number)),
                _ => Err(format!("a whole number up to {MOST}")),
            },
        }
    }

    /// The value as a place on an axis: the number itself, or which of the words it is.
    pub fn place(&self, value: &Value) -> f64 {
        match (value, &self.range) {
            (Value::Number(number), _) => *number as f64,
            (word, Range::Values(values)) => {
                values.iter().position(|other| other == word).unwrap_or(0) as f64
            }
            (Value::Word(_), Range::Numbers { .. }) => 0.0,
        }
    }
}

/// The number at a place on the way from `low` to `high`, on which equal ratios are equally long;
/// the place in parts of 2^32. By square roots, in integers, so that every machine draws the same.
fn between(low: u64, high: u64, place: u32) -> u64 {
    const ONE: u128 = 1 << 32;
    let mut root = u128::from(high) * ONE / u128::from(low.max(1));
    let mut ratio = ONE;
    for bit in (0..32).rev() {
        root = (root * ONE).isqrt();
        if place >> bit & 1 == 1 {
            ratio = ratio * root / ONE;
        }
    }
    let number = (u128::from(low.max(1)) * ratio + ONE / 2) / ONE;
    (number as u64).clamp(low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_ratios_are_equally_long() {
        assert_eq!(between(5, 250, 0), 5);
        assert_eq!(between(5, 250, u32::MAX), 250);
        assert_eq!(between(1_000, 1_000_000, 1 << 31), 31_623);
        let places = [between(100, 10_000, 1 << 30), between(100, 10_000, 3 << 30)];
        assert_eq!(places, [316, 3162]);
    }

    #[test]
    fn draws_stay_in_their_range_and_reach_its_ends() {
        let mut random = SplitMix64::new(1);
        for log in [false, true] {
            let range = Range::Numbers {
                low: 3,
                high: 6,
                log,
            };
            let unknown = Unknown {
                name: String::new(),
                about: String::new(),
                unit: String::new(),
                range,
                central: Value::Number(3),
                source: String::new(),
            };
            let mut seen: Vec<u64> = (0..1000)
                .map(|_| match unknown.draw(&mut random) {
                    Value::Number(number) => number,
                    Value::Word(_) => 0,
                })
                .collect();
            seen.sort_unstable();
            seen.dedup();
            assert_eq!(seen, [3, 4, 5, 6], "log {log}");
        }
    }
}
