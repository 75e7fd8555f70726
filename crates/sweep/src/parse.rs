//! The text of a plan.

use crate::axis::{Axis, PlacedValue, RandomKey, Span, Value, Values};
use crate::draw::Stream;
use crate::plan::Plan;
use document::{DeTable, DeValue, Document, Result, Spanned, nearest};
use itertools::Itertools;
use recording::{RowKinds, metrics};
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::collections::BTreeSet;
use std::num::NonZero;
use std::ops::Range;

/// What a plan may have; what varies is read by [`Parser`], for its order and its places count.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlanRead {
    experiment: Spanned<String>,
    world: Option<Spanned<String>>,
    chunk: Option<NonZero<u32>>,
    repetitions: Option<NonZero<u32>>,
    #[serde(default = "measures")]
    keep: Vec<Kept>,
    #[serde(default)]
    metrics: Vec<Spanned<String>>,
    seeds: Option<Spanned<SeedsRead>>,
    random: Option<RandomRead>,
    #[serde(rename = "settings")]
    _settings: Option<IgnoredAny>,
    #[serde(rename = "grid")]
    _grid: Option<IgnoredAny>,
    #[serde(rename = "list")]
    _list: Option<IgnoredAny>,
}

#[derive(Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Kept {
    Measures,
    Events,
    Causes,
}

fn measures() -> Vec<Kept> {
    vec![Kept::Measures]
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SeedsRead {
    #[serde(default = "one")]
    first: u64,
    count: NonZero<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RandomRead {
    points: NonZero<u32>,
    #[serde(default = "one")]
    seed: u64,
    #[serde(rename = "ranges")]
    _ranges: IgnoredAny,
}

const fn one() -> u64 {
    1
}

/// A range that a key is drawn from.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a range is a table or a list")]
struct SpanRead {
    from: End,
    to: End,
    unit: Option<String>,
    digits: Option<u32>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(untagged, expecting = "an end of a range is a number")]
enum End {
    Whole(i64),
    Number(f64),
}

impl End {
    fn number(self) -> f64 {
        match self {
            Self::Whole(number) => number as f64,
            Self::Number(number) => number,
        }
    }
}

type Item<'a, 'i> = (String, Range<usize>, &'a Spanned<DeValue<'i>>);

impl Plan {
    /// Reads a plan.
    ///
    /// # Errors
    /// What is wrong in it, with its line and what would be right.
    pub fn read(document: &Document) -> Result<Self> {
        Parser { source: document }.plan()
    }
}

/// How a range is written.
const SPAN: &str = "{ from = 80.0, to = 95.0 } draws numbers, with whole ends whole numbers; `unit` and `digits` (behind the point) may \
                    be added; a list draws one of its values";

struct Parser<'s> {
    source: &'s Document,
}

impl Parser<'_> {
    fn plan(&self) -> Result<Plan> {
        let read: PlanRead = self
            .source
            .read()
            .map_err(|error| error.with_help("a plan is a TOML file; docs/sweeps.md has one"))?;
        let table = self.source.table()?;
        let table = table.get_ref();
        let (axes, settings) = (self.axes(&read, table)?, self.settings(table)?);
        self.no_key_twice(&axes, &settings)?;
        Ok(Plan {
            experiment_place: read.experiment.span(),
            experiment: read.experiment.into_inner(),
            world_place: read.world.as_ref().map_or(0..0, Spanned::span),
            world: read.world.map(Spanned::into_inner),
            settings,
            axes,
            chunk: read.chunk.map(|chunk| chunk.get().into()),
            keep: RowKinds {
                events: read.keep.contains(&Kept::Events),
                measures: read.keep.contains(&Kept::Measures),
                causes: read.keep.contains(&Kept::Causes),
            },
            metrics: self.metrics(read.metrics)?,
            source: self.source.clone(),
        })
    }

    /// The metrics that are kept; something measures each.
    fn metrics(&self, given: Vec<Spanned<String>>) -> Result<Vec<String>> {
        let known = || metrics::METRICS.iter().map(|metric| metric.name);
        let is_known = |name: &&Spanned<String>| known().any(|known| known == name.get_ref());
        if let Some(unknown) = given.iter().find(|name| !is_known(name)) {
            let name = unknown.get_ref();
            let help = nearest(name, known()).map_or_else(
                || format!("there are: {}", known().join(", ")),
                |near| format!("did you mean {near}?"),
            );
            return self.wrong(unknown.span(), format!("nothing measures `{name}`"), help);
        }
        Ok(given.into_iter().map(Spanned::into_inner).collect())
    }

    /// The axes of a plan, in the order in which its points count them.
    fn axes(&self, read: &PlanRead, table: &DeTable<'_>) -> Result<Vec<Axis>> {
        let mut axes = Vec::new();
        if let Some(rows) = table.get("list") {
            axes.push(self.list(rows)?);
        }
        if let Some(grid) = table.get("grid") {
            for (key, place, value) in self.leaves(grid, "grid")? {
                let values = self.values(&key, value)?;
                axes.push(Axis::Grid { key, place, values });
            }
        }
        let ranges = table
            .get("random")
            .and_then(|of| of.get_ref().get("ranges"));
        if let (Some(random), Some(ranges)) = (&read.random, ranges) {
            axes.push(self.draws(random, ranges)?);
        }
        if let Some(seeds) = &read.seeds {
            let SeedsRead { first, count } = *seeds.get_ref();
            let Some(last) = first.checked_add(count.get() - 1) else {
                let help = "[seeds] has count = N, and first = N (1 where it is left out)";
                return self.wrong(seeds.span(), "seeds above 2^64 - 1", help);
            };
            axes.push(Axis::Grid {
                key: "seed".to_owned(),
                place: seeds.span(),
                values: Values::Range { first, last },
            });
        }
        let repetitions = read.repetitions.map_or(1, NonZero::get);
        axes.extend((repetitions > 1).then(|| Axis::Repetitions(repetitions.into())));
        Ok(axes)
    }

    /// The settings of every point. A list gives a setting several times.
    fn settings(&self, table: &DeTable<'_>) -> Result<Vec<(String, PlacedValue)>> {
        let mut settings = Vec::new();
        if let Some(given) = table.get("settings") {
            for (key, _, value) in self.leaves(given, "settings")? {
                match value.get_ref() {
                    DeValue::Array(all) => {
                        for value in all {
                            settings.push((key.clone(), self.value(value)?));
                        }
                    }
                    _ => settings.push((key, self.value(value)?)),
                }
            }
        }
        Ok(settings)
    }

    fn wrong<T>(
        &self,
        place: Range<usize>,
        message: impl AsRef<str>,
        help: impl Into<String>,
    ) -> Result<T> {
        Err(self.source.wrong(place, message, help))
    }

    /// The keys of a table with their values, in the order of the text. A table in it is a dotted
    /// key: `scp.channels` is the same as `"scp.channels"`. One with a key `from` is a range.
    fn leaves<'a, 'i>(
        &self,
        value: &'a Spanned<DeValue<'i>>,
        name: &str,
    ) -> Result<Vec<Item<'a, 'i>>> {
        let DeValue::Table(table) = value.get_ref() else {
            return self.wrong(
                value.span(),
                format!("`{name}` is {}", value.get_ref().type_str()),
                format!(
                    "write it as a table: [{name}], and keys with their values on the lines below"
                ),
            );
        };
        let mut found = Vec::new();
        collect(table, "", &mut found);
        found.sort_by_key(|(_, place, _)| place.start);
        Ok(found)
    }

    fn value(&self, value: &Spanned<DeValue<'_>>) -> Result<PlacedValue> {
        let place = value.span();
        let read = match value.get_ref() {
            DeValue::String(text) => Some(Value::Text(text.to_string())),
            DeValue::Boolean(is) => Some(Value::Text(is.to_string())),
            DeValue::Integer(digits) => i64::from_str_radix(digits.as_str(), digits.radix())
                .map(Value::Whole)
                .ok(),
            DeValue::Float(digits) => digits.as_str().parse().map(Value::Number).ok(),
            _ => None,
        };
        match read {
            Some(value) => Ok(PlacedValue { value, place }),
            None => self.wrong(
                place,
                format!("{} where a value must be", value.get_ref().type_str()),
                "a value is a text, a number of at most 64 bits, true or false",
            ),
        }
    }

    /// The values of a key of a grid: a list, one value, or a text such as `1..16`.
    fn values(&self, key: &str, value: &Spanned<DeValue<'_>>) -> Result<Values> {
        const RANGE: &str =
            "a range is \"FIRST..LAST\" of whole numbers, FIRST not above LAST, both included";
        match value.get_ref() {
            DeValue::Array(all) if all.is_empty() => self.wrong(
                value.span(),
                format!("`{key}` has no value"),
                "name one at least, or take the key out",
            ),
            DeValue::Array(all) => {
                let mut values = Vec::new();
                let mut seen = BTreeSet::new();
                for value in all {
                    let next = self.value(value)?;
                    if !seen.insert(next.value.text()) {
                        return self.wrong(
                            next.place,
                            format!(
                                "`{}` stands twice among the values of `{key}`",
                                next.value.text()
                            ),
                            "name each value once; `repetitions` repeats points",
                        );
                    }
                    values.push(next);
                }
                Ok(Values::Each(values))
            }
            DeValue::String(text) if let Some((first, last)) = text.split_once("..") => {
                match (first.trim().parse::<u64>(), last.trim().parse::<u64>()) {
                    (Ok(first), Ok(last)) if first <= last => Ok(Values::Range { first, last }),
                    _ => self.wrong(value.span(), format!("`{text}` is no range"), RANGE),
                }
            }
            _ => Ok(Values::Each(vec![self.value(value)?])),
        }
    }

    fn list(&self, value: &Spanned<DeValue<'_>>) -> Result<Axis> {
        const HELP: &str =
            "write each row as a table of its own: [[list]], and keys with their values below";
        let DeValue::Array(rows) = value.get_ref() else {
            return self.wrong(value.span(), "`list` is no list of tables", HELP);
        };
        if rows.is_empty() {
            return self.wrong(value.span(), "the list has no row", HELP);
        }
        Ok(Axis::List(
            rows.iter()
                .map(|row| {
                    if !row.get_ref().is_table() {
                        return self.wrong(row.span(), "a row of the list is no table", HELP);
                    }
                    self.leaves(row, "list")?
                        .into_iter()
                        .map(|(key, _, value)| Ok((key, self.value(value)?)))
                        .collect()
                })
                .collect::<Result<_, _>>()?,
        ))
    }

    fn draws(&self, read: &RandomRead, ranges: &Spanned<DeValue<'_>>) -> Result<Axis> {
        let mut keys = Vec::new();
        for (key, place, value) in self.leaves(ranges, "ranges")? {
            let span = self.span(&key, value)?;
            keys.push(RandomKey {
                stream: Stream::new(read.seed, &key),
                key,
                place,
                span,
            });
        }
        if keys.is_empty() {
            return self.wrong(ranges.span(), "there is no range to draw from", SPAN);
        }
        let count = read.points.get().into();
        Ok(Axis::Draws { count, keys })
    }

    fn span(&self, key: &str, value: &Spanned<DeValue<'_>>) -> Result<Span> {
        if let DeValue::Array(all) = value.get_ref()
            && !all.is_empty()
        {
            let values = all.iter().map(|value| self.value(value));
            return values.collect::<Result<_, _>>().map(Span::Choice);
        }
        let read: SpanRead = self
            .source
            .read_value(value)
            .map_err(|error| error.with_help(SPAN))?;
        let (from, to) = (read.from.number(), read.to.number());
        if from > to {
            let message = format!("the range of `{key}` does not go up");
            return self.wrong(value.span(), message, SPAN);
        }
        Ok(match (read.from, read.to, read.unit, read.digits) {
            (End::Whole(from), End::Whole(to), None, None) => Span::Whole { from, to },
            (_, _, unit, digits) => Span::Numbers {
                from,
                to,
                digits: digits.map(|digits| digits.min(15)),
                unit,
            },
        })
    }

    fn no_key_twice(&self, axes: &[Axis], settings: &[(String, PlacedValue)]) -> Result {
        let mut seen: BTreeSet<&str> = settings.iter().map(|(key, _)| key.as_str()).collect();
        for axis in axes {
            for (key, _, place) in axis.keys() {
                if ["sweep_point", "repetition", "status", "why", "counter_hz"].contains(&key) {
                    return self.wrong(place.clone(), format!("`{key}` cannot be varied"), "the table of points has a column of that name; no experiment has a setting of it");
                }
                if !seen.insert(key) {
                    return self.wrong(
                        place.clone(),
                        format!("`{key}` is set twice"),
                        "leave it in one place; [settings] hold in every point",
                    );
                }
            }
        }
        Ok(())
    }
}

fn collect<'a, 'i>(table: &'a DeTable<'i>, before: &str, found: &mut Vec<Item<'a, 'i>>) {
    for (key, value) in table {
        let name = if before.is_empty() {
            key.get_ref().to_string()
        } else {
            format!("{before}.{}", key.get_ref())
        };
        match value.get_ref() {
            DeValue::Table(below) if below.get("from").is_none() && below.get("to").is_none() => {
                collect(below, &name, found);
            }
            _ => found.push((name, key.span(), value)),
        }
    }
}
