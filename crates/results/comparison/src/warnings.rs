//! What to know before reading a comparison.

use crate::matching::factor;
use crate::policy::Rule;
use crate::result::Side;
use crate::table::{Key, Table};
use recording::Header;
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

pub(crate) fn describe(rule: &Rule) -> String {
    let parts = [("case", &rule.case), ("mode", &rule.mode), ("metric", &rule.metric), ("row", &rule.row)];
    let named: Vec<_> =
        parts.iter().filter_map(|(name, value)| Some(format!("{name} = {}", value.as_ref()?))).collect();
    if named.is_empty() { "for all rows".to_owned() } else { named.join(", ") }
}
