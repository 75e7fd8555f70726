//! The comparison itself.

use crate::inputs;
use crate::judgement::judge;
use crate::matching::match_rows;
use crate::releases::{choose, side};
use crate::request::{Error, Input, Options};
use crate::result::{Comparison, Side};
use crate::table::Table;
use crate::warnings::{dependent, describe, other_units, uneven, warnings};
use recording::Header;
use std::collections::BTreeSet;

/// Compares recordings with the first of them.
///
/// # Errors
/// Fewer than two; a release or a measure that is not there; nothing in common.
pub fn compare(inputs: &[Input<'_>], options: &Options) -> Result<Comparison, Error> {
    if inputs.len() < 2 {
        return Err(Error::TooFew);
    }
    let chosen = choose(inputs)?;
    let tables: Vec<Table> = inputs
        .iter()
        .enumerate()
        .map(|(side, input)| {
            Table::of(input.recording, |variant| chosen.key(variant).filter(|_| chosen.takes(side, variant)))
        })
        .collect();
    let known: BTreeSet<&str> =
        tables.iter().flat_map(|table| &table.rows).map(|(key, _)| key.metric.as_str()).collect();
    if let Some(metric) = options.metrics.iter().find(|metric| !known.contains(metric.as_str())) {
        let known = known.into_iter().collect::<Vec<_>>().join(", ");
        return Err(Error::NoSuchMetric { metric: metric.clone(), known });
    }
    let headers: Vec<&Header> = inputs.iter().map(|input| &input.recording.header).collect();
    let sides: Vec<Side> = inputs.iter().enumerate().map(|(place, input)| side(place, input, &chosen)).collect();

    let mut rules_used = BTreeSet::new();
    let (mut rows, unmatched) = match_rows(&tables, &headers, options, &mut rules_used);
    if rows.is_empty() {
        return Err(Error::NoRowInCommon);
    }
    let tests = judge(&mut rows, &options.policy);
    let mut warnings = warnings(&sides, &headers, &tables);
    warnings.extend(other_units(&tables));
    for (index, rule) in options.policy.rules.iter().enumerate().filter(|(index, _)| !rules_used.contains(index)) {
        warnings.push(format!("rule {} of the policy ({}) matches no row", index + 1, describe(rule)));
    }
    warnings.extend(dependent(&rows));
    warnings.extend(
        sides
            .iter()
            .zip(&tables)
            .zip(&headers)
            .filter(|(_, header)| !header.is_repeatable())
            .filter_map(|((side, table), _)| uneven(&side.name, table)),
    );
    // With several releases in each recording, the first that they share speaks for the inputs.
    let variants: Vec<&str> = sides.iter().map(|side| side.variants.first().map_or("", String::as_str)).collect();
    Ok(Comparison {
        differences: inputs::differences(&headers, &variants),
        warnings,
        rows: rows.into_iter().map(|pending| pending.row).collect(),
        unmatched,
        tests,
        alpha: options.policy.alpha,
        threshold: options.policy.threshold,
        sides,
    })
}
