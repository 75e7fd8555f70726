//! The text of a plan.

use crate::axis::{Axis, PlacedValue, RandomKey, Span, Value, Values};
use crate::draw::Stream;
use crate::plan::Plan;
use document::{DeTable, DeValue, Document, Result, Spanned, nearest};
use itertools::Itertools;
use recording::{RowKinds, metrics};
use std::collections::BTreeSet;
use std::ops::Range;

/// The keys that a plan may have.
const KEYS: [&str; 11] = [
    "experiment",
    "world",
    "chunk",
    "repetitions",
    "keep",
    "metrics",
    "settings",
    "grid",
    "list",
    "random",
    "seeds",
];

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

struct Parser<'s> {
    source: &'s Document,
}

impl Parser<'_> {
    fn plan(&self) -> Result<Plan> {
        let table = self
            .source
            .table()
            .map_err(|error| error.with_help("a plan is a TOML file; docs/sweeps.md has one"))?;
        let table = table.get_ref();
        if let Some(key) = table
            .keys()
            .find(|key| !KEYS.contains(&key.get_ref().as_ref()))
        {
            let near = nearest(key.get_ref(), KEYS);
            let near = near.map_or_else(String::new, |near| format!("did you mean `{near}`? "));
            return Err(self.source.wrong(
                key.span(),
                format!("unknown key `{}`", key.get_ref()),
                format!("{near}a plan has {}", KEYS.join(", ")),
            ));
        }
        let Some(experiment) = table.get("experiment") else {
            return Err(self.source.wrong_as_a_whole(
                "the plan names no experiment",
                "say experiment = \"psci-latency\"; `stopwatt list` names them",
            ));
        };
        let (axes, settings) = (self.axes(table)?, self.settings(table)?);
        self.no_key_twice(&axes, &settings)?;
        let metrics = table
            .get("metrics")
            .map_or(Ok(Vec::new()), |value| self.texts(value, "metrics"))?;
        let chunk = table
            .get("chunk")
            .map(|value| self.number(value, "chunk", 1..=1_000_000))
            .transpose()?;
        let world = table
            .get("world")
            .map(|value| self.text(value, "world"))
            .transpose()?;
        Ok(Plan {
            experiment: self.text(experiment, "experiment")?,
            experiment_place: experiment.span(),
            world_place: table.get("world").map_or(0..0, Spanned::span),
            world,
            settings,
            axes,
            chunk,
            keep: self.keep(table.get("keep"))?,
            metrics: self.metrics(metrics)?,
            source: self.source.clone(),
        })
    }

    /// The metrics that are kept; something measures each.
    fn metrics(&self, given: Vec<(String, Range<usize>)>) -> Result<Vec<String>> {
        let known = || metrics::METRICS.iter().map(|metric| metric.name);
        for (name, place) in &given {
            if known().all(|known| known != name) {
                let near = nearest(name, known());
                let help = near.map_or_else(
                    || format!("there are: {}", known().join(", ")),
                    |near| format!("did you mean {near}?"),
                );
                return self.wrong(place.clone(), format!("nothing measures `{name}`"), help);
            }
        }
        Ok(given.into_iter().map(|(name, _)| name).collect())
    }

    /// The axes of a plan, in the order in which its points count them.
    fn axes(&self, table: &DeTable<'_>) -> Result<Vec<Axis>> {
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
        if let Some(draws) = table.get("random") {
            axes.push(self.draws(draws)?);
        }
        if let Some(seeds) = table.get("seeds") {
            axes.push(self.seeds(seeds)?);
        }
        if let Some(repetitions) = table.get("repetitions") {
            let count = self.number(repetitions, "repetitions", 1..=1_000_000)?;
            if count > 1 {
                axes.push(Axis::Repetitions(count));
            }
        }
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

    /// Refuses a key that is none of these.
    fn known_keys(&self, table: &DeTable<'_>, keys: &[&str], of: &str, help: &str) -> Result {
        match table
            .keys()
            .find(|key| !keys.contains(&AsRef::as_ref(key.get_ref())))
        {
            Some(key) => self.wrong(
                key.span(),
                format!("unknown key `{}` {of}", key.get_ref()),
                help,
            ),
            None => Ok(()),
        }
    }

    /// A table of the plan that may have these keys.
    fn section<'a, 'i>(
        &self,
        value: &'a Spanned<DeValue<'i>>,
        name: &str,
        keys: &[&str],
        help: &str,
    ) -> Result<&'a DeTable<'i>> {
        let DeValue::Table(table) = value.get_ref() else {
            return self.wrong(value.span(), format!("`{name}` is no table"), help);
        };
        self.known_keys(table, keys, &format!("in [{name}]"), help)?;
        Ok(table)
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
        let of = match value.get_ref() {
            DeValue::String(text) => Value::Text(text.to_string()),
            DeValue::Boolean(is) => Value::Text(is.to_string()),
            DeValue::Integer(digits) => {
                match i64::from_str_radix(digits.as_str(), digits.radix()) {
                    Ok(number) => Value::Whole(number),
                    Err(_) => {
                        return self.wrong(
                            place,
                            "a whole number of more than 64 bits",
                            "write it as a text, in quotes",
                        );
                    }
                }
            }
            DeValue::Float(digits) => match digits.as_str().parse::<f64>() {
                Ok(number) if number.is_finite() => Value::Number(number),
                _ => return self.wrong(place, "no finite number", "write a number such as 2.5"),
            },
            other => {
                return self.wrong(
                    place,
                    format!("{} where a value must be", other.type_str()),
                    "a value is a text, a number, true or false",
                );
            }
        };
        Ok(PlacedValue { value: of, place })
    }

    fn text(&self, value: &Spanned<DeValue<'_>>, name: &str) -> Result<String> {
        match value.get_ref() {
            DeValue::String(text) if !text.is_empty() => Ok(text.to_string()),
            _ => self.wrong(
                value.span(),
                format!("`{name}` is no text"),
                "write it in quotes",
            ),
        }
    }

    fn texts(
        &self,
        value: &Spanned<DeValue<'_>>,
        name: &str,
    ) -> Result<Vec<(String, Range<usize>)>> {
        let DeValue::Array(all) = value.get_ref() else {
            return self.wrong(
                value.span(),
                format!("`{name}` is no list of texts"),
                format!("write it as {name} = [\"...\"]"),
            );
        };
        all.iter()
            .map(|value| Ok((self.text(value, name)?, value.span())))
            .collect()
    }

    fn number(
        &self,
        value: &Spanned<DeValue<'_>>,
        name: &str,
        range: std::ops::RangeInclusive<u64>,
    ) -> Result<u64> {
        let number = match value.get_ref() {
            DeValue::Integer(digits) => u64::from_str_radix(digits.as_str(), digits.radix()).ok(),
            _ => None,
        };
        let help = format!("a whole number from {} to {}", range.start(), range.end());
        match number.filter(|number| range.contains(number)) {
            Some(number) => Ok(number),
            None => self.wrong(value.span(), format!("no value of `{name}`"), help),
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

    fn draws(&self, value: &Spanned<DeValue<'_>>) -> Result<Axis> {
        const HELP: &str = "[random] has points = N, seed = N, and a table [random.ranges] of keys such as\n\"costs.scp.core_off\" = { from = \
                            80.0, to = 95.0, unit = \"us\" }";
        let table = self.section(value, "random", &["points", "seed", "ranges"], HELP)?;
        let (Some(points), Some(ranges)) = (table.get("points"), table.get("ranges")) else {
            return self.wrong(value.span(), "[random] lacks `points` or `ranges`", HELP);
        };
        let count = self.number(points, "points", 1..=u64::from(u32::MAX))?;
        let seed = table
            .get("seed")
            .map_or(Ok(1), |value| self.number(value, "seed", 0..=u64::MAX))?;
        let mut keys = Vec::new();
        for (key, place, value) in self.leaves(ranges, "ranges")? {
            let span = self.span(&key, value)?;
            keys.push(RandomKey {
                stream: Stream::new(seed, &key),
                key,
                place,
                span,
            });
        }
        if keys.is_empty() {
            return self.wrong(ranges.span(), "there is no range to draw from", HELP);
        }
        Ok(Axis::Draws { count, keys })
    }

    fn span(&self, key: &str, value: &Spanned<DeValue<'_>>) -> Result<Span> {
        const HELP: &str = "{ from = 80.0, to = 95.0 } draws numbers, with whole ends whole numbers; `unit` and `digits` (behind the \
                            point) may be added; a list draws one of its values";
        let table = match value.get_ref() {
            DeValue::Array(all) if !all.is_empty() => {
                return all
                    .iter()
                    .map(|value| self.value(value))
                    .collect::<Result<_, _>>()
                    .map(Span::Choice);
            }
            DeValue::Table(table) => table,
            _ => return self.wrong(value.span(), format!("no range for `{key}`"), HELP),
        };
        self.known_keys(table, &["from", "to", "unit", "digits"], "of a range", HELP)?;
        let end = |name: &str| match table.get(name) {
            Some(value) => self.value(value),
            None => self.wrong(
                value.span(),
                format!("the range of `{key}` lacks `{name}`"),
                HELP,
            ),
        };
        let (from, to) = (end("from")?, end("to")?);
        let unit = table
            .get("unit")
            .map(|value| self.text(value, "unit"))
            .transpose()?;
        let digits = match table.get("digits") {
            Some(value) => Some(self.number(value, "digits", 0..=15)? as u32),
            None => None,
        };
        let goes_up = |is: bool| {
            if is {
                Ok(())
            } else {
                self.wrong(
                    value.span(),
                    format!("the range of `{key}` does not go up"),
                    HELP,
                )
            }
        };
        match (&from.value, &to.value) {
            (Value::Whole(from), Value::Whole(to)) if unit.is_none() && digits.is_none() => {
                goes_up(from <= to)?;
                Ok(Span::Whole {
                    from: *from,
                    to: *to,
                })
            }
            (low, high) => match (low.as_number(), high.as_number()) {
                (Some(from), Some(to)) => {
                    goes_up(from <= to)?;
                    Ok(Span::Numbers {
                        from,
                        to,
                        digits,
                        unit,
                    })
                }
                _ => self.wrong(
                    value.span(),
                    format!("the ends of the range of `{key}` are no numbers"),
                    HELP,
                ),
            },
        }
    }

    fn seeds(&self, value: &Spanned<DeValue<'_>>) -> Result<Axis> {
        const HELP: &str = "[seeds] has count = N, and first = N (1 where it is left out)";
        let table = self.section(value, "seeds", &["first", "count"], HELP)?;
        let Some(count) = table.get("count") else {
            return self.wrong(value.span(), "[seeds] lacks `count`", HELP);
        };
        let count = self.number(count, "count", 1..=u64::MAX)?;
        let first = table
            .get("first")
            .map_or(Ok(1), |value| self.number(value, "first", 0..=u64::MAX))?;
        match first.checked_add(count - 1) {
            Some(last) => Ok(Axis::Grid {
                key: "seed".to_owned(),
                place: value.span(),
                values: Values::Range { first, last },
            }),
            None => self.wrong(value.span(), "seeds above 2^64 - 1", HELP),
        }
    }

    fn keep(&self, value: Option<&Spanned<DeValue<'_>>>) -> Result<RowKinds> {
        let Some(value) = value else {
            return Ok(RowKinds {
                measures: true,
                ..RowKinds::default()
            });
        };
        let mut kept = RowKinds::default();
        for (text, place) in self.texts(value, "keep")? {
            match text.as_str() {
                "events" => kept.events = true,
                "measures" => kept.measures = true,
                "causes" => kept.causes = true,
                _ => {
                    return self.wrong(
                        place,
                        format!("`{text}` cannot be kept"),
                        "any of \"measures\", \"events\", \"causes\" can",
                    );
                }
            }
        }
        Ok(kept)
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
