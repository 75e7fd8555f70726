//! What to know before reading a comparison.

use crate::matching::{Pending, factor};
use crate::policy::Rule;
use crate::result::{Basis, Change, Side};
use crate::statistics::rank_test;
use crate::table::{Key, Table};
use recording::{Header, stats};
use std::collections::HashMap;

pub(crate) fn warnings(sides: &[Side], headers: &[&Header], tables: &[Table]) -> Vec<String> {
    let mut warnings = Vec::new();
    let mut differ = |what: &str, of: &dyn Fn(&Side) -> Option<String>, then: &str| {
        let values: Vec<_> = sides.iter().map(of).collect();
        if values.iter().any(|value| *value != values[0]) {
            let shown: Vec<_> = sides
                .iter()
                .zip(&values)
                .map(|(side, value)| format!("{} ({})", value.as_deref().unwrap_or("unknown"), side.name))
                .collect();
            warnings.push(format!("{what} differ: {}{then}", shown.join(", ")));
        }
    };
    differ("platforms", &|side| side.platform.clone(), "; what changed may be the hardware");
    differ("worlds", &|side| Some(side.world.clone()), "; a figure of one is no measurement of the other");
    // Who ran a simulation does not matter; a machine that was measured does.
    if sides.iter().any(|side| !side.repeatable && side.world != "import") {
        differ("machines", &|side| side.machine.clone(), "; what changed may be the machine");
    }
    if headers.iter().any(|header| header.experiment != headers[0].experiment) {
        let names: Vec<_> = headers.iter().map(|header| header.experiment.as_str()).collect();
        warnings.push(format!("experiments differ: {}", names.join(", ")));
    }
    if sides.iter().all(|side| side.repeatable) && sides.iter().any(|side| side.seed != sides[0].seed) {
        let seeds: Vec<_> = sides.iter().map(|side| side.seed.to_string()).collect();
        warnings.push(format!("seeds differ ({}): rows are compared as samples, not exactly", seeds.join(", ")));
    }
    for ((variant, case, mode), order) in &tables[0].orders {
        for (side, table) in sides.iter().zip(tables).skip(1) {
            let other = table.orders.get(&(variant.clone(), case.clone(), mode.clone()));
            if let Some(other) = other.filter(|other| *other != order) {
                let text = |order: &[u16]| order.iter().map(u16::to_string).collect::<Vec<_>>().join(" ");
                warnings.push(format!(
                    "{case} {mode}: the clusters' CPUs went down in another order in {} ({}) than in {} ({}); part of each change \
                     there is that order",
                    side.name,
                    text(other),
                    sides[0].name,
                    text(order),
                ));
            }
        }
    }
    warnings
}

/// Rows that match but for their unit.
pub(crate) fn other_units(tables: &[Table]) -> Option<String> {
    let base: HashMap<&Key, &str> = tables[0].rows.iter().map(|(key, samples)| (key, samples.unit.as_str())).collect();
    let others = tables[1..].iter().flat_map(|table| &table.rows);
    let mut wrong = others.filter_map(|(key, samples)| {
        let unit = base.get(key)?;
        factor(&samples.unit, unit).is_none().then(|| format!("{} is in {unit} and in {}", key.label(), samples.unit))
    });
    let first = wrong.next()?;
    Some(format!("rows of units that cannot be compared are left out: {first}, and {} more", wrong.count()))
}

/// Rows whose iterations are not independent.
pub(crate) fn dependent(rows: &[Pending<'_>]) -> Option<String> {
    let per = |change: &Change| match change.basis {
        Basis::Sampled { values_per_independent, .. } => Some(values_per_independent).filter(|per| *per > 1.0),
        Basis::Exact => None,
    };
    let of_rows =
        rows.iter().flat_map(|row| row.row.changes.iter().flatten().filter_map(per).map(|per| (per, &row.row.key)));
    let count = of_rows.clone().count();
    let (most, key) = of_rows.max_by(|a, b| a.0.total_cmp(&b.0))?;
    Some(format!(
        "iterations of {count} changes depend on the one before (autocorrelation): their p-values and intervals are those of as many \
         independent values as they are worth, one of {most:.1} where it is worst ({})",
        key.label()
    ))
}

/// Fewer iterations than this have no beginning to tell from the rest.
const FEWEST_IN_TIME: usize = 12;

/// Distance from the median, in robust standard deviations, from which a value is an outlier.
const OUTLYING: f64 = 5.0;

/// Rows of a recording with outliers, that begin otherwise than they go on, or that drift.
pub(crate) fn uneven(side: &str, table: &Table) -> Option<String> {
    let (mut outliers, mut warm_up, mut drift) = (Vec::new(), Vec::new(), Vec::new());
    for (key, samples) in table.rows.iter().filter(|(_, samples)| samples.values.len() >= FEWEST_IN_TIME) {
        let values = &samples.values;
        let (tenth, third) = ((values.len() / 10).max(1), values.len() / 3);
        let median = |values: &[f64]| stats::median(values).unwrap_or(f64::NAN);
        let far = |value: f64, from: &[f64]| {
            let middle = median(from);
            let apart: Vec<f64> = from.iter().map(|value| (value - middle).abs()).collect();
            // 1.4826 medians of the distances are a standard deviation where values are normal.
            let sd = 1.4826 * median(&apart);
            sd > 0.0 && (value - middle).abs() > OUTLYING * sd
        };
        let (first, rest) = values.split_at(tenth);
        if first.iter().all(|&value| far(value, rest)) {
            warm_up.push(key);
        } else if values.iter().any(|&value| far(value, values)) {
            outliers.push(key);
        }
        // The first third beside the last, with the beginning left out.
        let early = &values[tenth..third + tenth];
        if rank_test(early, &values[values.len() - third..]) < 0.001 {
            drift.push(key);
        }
    }
    let said = |rows: &[&Key], what: &str| {
        let first = rows.first()?;
        Some(format!("{what} in {} rows, such as {}", rows.len(), first.label()))
    };
    let parts = [
        said(&outliers, "outliers (5 standard deviations and more from the median)"),
        said(&warm_up, "a first tenth that is unlike the rest (warm-up)"),
        said(&drift, "a drift from the first third to the last"),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| format!("{side} has {}", parts.join("; ")))
}

pub(crate) fn describe(rule: &Rule) -> String {
    let parts = [("case", &rule.case), ("mode", &rule.mode), ("metric", &rule.metric), ("row", &rule.row)];
    let named: Vec<_> =
        parts.iter().filter_map(|(name, value)| Some(format!("{name} = {}", value.as_ref()?))).collect();
    if named.is_empty() { "for all rows".to_owned() } else { named.join(", ") }
}
