//! What a comparison warns of: recordings of different kinds, and rules that match nothing.

use crate::policy::{Policy, Rule};
use crate::result::Side;
use itertools::Itertools;
use recording::Header;
use std::collections::BTreeSet;

/// Facts that differ between the sides and that no verdict is withheld for.
pub fn warnings(sides: &[Side], headers: &[&Header]) -> Vec<String> {
    let mut warnings = Vec::new();
    let mut differ = |what: &str, of: &dyn Fn(usize) -> Option<String>, then: &str| {
        let values = (0..sides.len()).map(of).collect_vec();
        if values.iter().any(|value| *value != values[0]) {
            let mut shown = sides.iter().zip(&values).map(|(side, value)| {
                format!("{} ({})", value.as_deref().unwrap_or("unknown"), side.name)
            });
            let shown = shown.join(", ");
            warnings.push(format!("{what} differ: {shown}{then}"));
        }
    };
    let hardware = "; what changed may be the hardware";
    differ("platforms", &|side| sides[side].platform.clone(), hardware);
    let worlds = "; a figure of one is no measurement of the other";
    differ("worlds", &|side| Some(sides[side].world.clone()), worlds);
    differ(
        "experiments",
        &|side| {
            Some(
                format!("{} {}", headers[side].experiment, headers[side].form)
                    .trim()
                    .to_owned(),
            )
        },
        "",
    );
    if sides.iter().all(|side| side.repeatable) {
        let seeds = ": rows are compared as samples, not exactly";
        differ("seeds", &|side| Some(sides[side].seed.to_string()), seeds);
    }
    warnings
}

/// Warnings about the rules of a policy that match no row.
pub fn idle_rules<'p>(
    policy: &'p Policy,
    used: &'p BTreeSet<usize>,
) -> impl Iterator<Item = String> + 'p {
    policy
        .rules
        .iter()
        .enumerate()
        .filter(|(index, _)| !used.contains(index))
        .map(|(index, rule)| {
            let rule = describe(rule);
            format!("rule {} of the policy ({rule}) matches no row", index + 1)
        })
}

fn describe(rule: &Rule) -> String {
    let named = [
        ("case", &rule.case),
        ("mode", &rule.mode),
        ("metric", &rule.metric),
        ("row", &rule.row),
    ]
    .iter()
    .filter_map(|(name, value)| Some(format!("{name} = {}", value.as_ref()?)))
    .join(", ");
    if named.is_empty() {
        "for all rows".to_owned()
    } else {
        named
    }
}
