//! The share of what a quantity does over the points of a sweep that goes with each key.

use itertools::Itertools;
use random::SplitMix64;
use recording::{stats, total_order};
use std::cmp::Reverse;
use std::collections::HashMap;
use sweep::{Summary, Value};

/// A key of more values than this is looked at in parts of its range.
const MOST_VALUES: usize = 16;
/// That many parts, with as many points each.
const PARTS: usize = 8;

/// Keys that say which draw of chance a point is, and nothing that one could choose.
pub fn is_chance(key: &str) -> bool {
    key == "seed" || key == "repetition"
}

/// The points of a sweep in groups by the value of one key.
pub struct Groups {
    /// The key.
    pub key: String,
    /// The groups, in order.
    pub groups: Vec<Group>,
}

/// Points that have one value of a key in common, or one part of its range.
pub struct Group {
    /// The value, or from where to where.
    pub name: String,
    /// The mean of the values, where they are numbers.
    pub at: Option<f64>,
    /// Places of the points among those of the summary.
    pub points: Vec<usize>,
}

/// The number that a value is, without its unit.
fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Whole(number) => Some(*number as f64),
        Value::Number(number) | Value::Quantity(number, _) => Some(*number),
        Value::Text(_) => None,
    }
}

impl Effect {
    /// True if it can be told from chance, where this many keys are looked at: at a level of 5 % for
    /// all of them together.
    pub fn is_told(&self, keys: usize) -> bool {
        self.share >= 0.005 && self.by_chance * keys as f64 <= 0.05
    }
}

impl Groups {
    /// The points by a key's values; `None` where it has one value alone, or too many that are no
    /// numbers to say anything of each.
    pub fn new(summary: &Summary, key: usize) -> Option<Self> {
        let mut groups: Vec<Group> = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        for (place, point) in summary.points.iter().enumerate() {
            let Some(value) = &point.settings[key] else {
                continue;
            };
            let name = value.text();
            let at = *places.entry(name.clone()).or_insert_with(|| {
                groups.push(Group {
                    name,
                    at: number(value),
                    points: Vec::new(),
                });
                groups.len() - 1
            });
            groups[at].points.push(place);
        }
        let are_numbers = groups.iter().all(|group| group.at.is_some());
        if are_numbers {
            groups.sort_by(|a, b| {
                a.at.unwrap_or_default()
                    .total_cmp(&b.at.unwrap_or_default())
            });
        }
        if groups.len() > MOST_VALUES {
            if !are_numbers {
                return None;
            }
            groups = parts(groups);
        }
        (groups.len() > 1).then(|| Self {
            key: summary.keys[key].clone(),
            groups,
        })
    }

    /// The mean of a quantity in each group that has it.
    pub fn means(&self, summary: &Summary, quantity: usize) -> Vec<(&Group, f64)> {
        let mean = |group: &Group| mean(summary, quantity, group.points.iter());
        self.groups
            .iter()
            .filter_map(|group| Some((group, mean(group)?)))
            .collect()
    }
}

/// The mean of a quantity over some points, by their places; `None` where none has it.
pub fn mean<'p>(
    summary: &Summary,
    quantity: usize,
    points: impl Iterator<Item = &'p usize>,
) -> Option<f64> {
    let values = points.map(|&place| summary.points[place].figures[quantity]);
    stats::mean(&values.filter(|value| value.is_finite()).collect_vec())
}

/// Groups in order, put together to parts of about as many points each.
fn parts(groups: Vec<Group>) -> Vec<Group> {
    let all: usize = groups.iter().map(|group| group.points.len()).sum();
    let mut merged: Vec<(Vec<Group>, usize)> = Vec::new();
    let mut before = 0;
    for group in groups {
        let part = before * PARTS / all.max(1);
        before += group.points.len();
        match merged.last_mut() {
            Some((members, of)) if *of == part => members.push(group),
            _ => merged.push((vec![group], part)),
        }
    }
    let merge = |(members, _): (Vec<Group>, usize)| {
        let mean = members
            .iter()
            .filter_map(|group| group.at)
            .clone()
            .sum::<f64>()
            / members.len() as f64;
        let name = match &members[..] {
            [one] => one.name.clone(),
            [first, .., last] => format!("{} to {}", first.name, last.name),
            [] => String::new(),
        };
        Group {
            name,
            at: Some(mean),
            points: members.into_iter().flat_map(|group| group.points).collect(),
        }
    };
    merged.into_iter().map(merge).collect()
}

/// The effect of a key on a quantity.
#[derive(Debug)]
pub struct Effect {
    /// The key.
    pub key: String,
    /// The part of the quantity's variance that lies between the key's groups, from 0 to 1, less
    /// what chance alone would put there.
    pub share: f64,
    /// The probability with which chance alone puts as much between groups of these sizes: of 199
    /// orders of the points by lot, the part in which it does.
    pub by_chance: f64,
    /// The number of points.
    pub points: usize,
    /// The group with the least mean, and that mean.
    pub least: (String, f64),
    /// The group with the greatest.
    pub greatest: (String, f64),
}

/// The effects of all keys on a quantity, the largest share first.
pub fn effects(summary: &Summary, by_key: &[Groups], quantity: usize) -> Vec<Effect> {
    let mut all = by_key
        .iter()
        .filter(|groups| !is_chance(&groups.key))
        .filter_map(|groups| effect(summary, groups, quantity))
        .collect_vec();
    all.sort_by_key(|of| Reverse(total_order(of.share)));
    all
}

/// The sum of squares between groups of some sizes, of values in the order of the groups.
fn between(values: &[f64], sizes: &[usize], mean: f64) -> f64 {
    let mut rest = values;
    sizes
        .iter()
        .map(|&size| {
            let (group, others) = rest.split_at(size);
            rest = others;
            (group.iter().sum::<f64>() / size as f64 - mean).powi(2) * size as f64
        })
        .sum()
}

/// Of more points than these chance puts less than half a percent between groups.
const MANY: usize = 4000;
/// Orders by lot.
const ORDERS: usize = 199;

/// The part of some orders by lot, and of the order as it is, in which as much lies between groups.
fn by_chance(mut values: Vec<f64>, sizes: &[usize], mean: f64) -> f64 {
    if values.len() > MANY {
        return 0.0;
    }
    let mut random = SplitMix64::fork(1, 0);
    let seen = between(&values, sizes, mean) * (1.0 - 1e-12);
    let mut as_much = 1;
    for _ in 0..ORDERS {
        for at in (1..values.len()).rev() {
            values.swap(at, random.below(at as u64 + 1) as usize);
        }
        as_much += usize::from(between(&values, sizes, mean) >= seen);
    }
    as_much as f64 / (ORDERS + 1) as f64
}

fn effect(summary: &Summary, groups: &Groups, quantity: usize) -> Option<Effect> {
    let means = groups.means(summary, quantity);
    let value = |place: usize| summary.points[place].figures[quantity];
    let all = means
        .iter()
        .map(|(group, _)| {
            group
                .points
                .iter()
                .map(|&place| value(place))
                .filter(|value| value.is_finite())
                .collect_vec()
        })
        .collect_vec();
    let (sizes, values) = (all.iter().map(Vec::len).collect_vec(), all.concat());
    let count = values.len();
    let mean = stats::mean(&values)?;
    let whole: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let between = between(&values, &sizes, mean);
    // Between groups of a few points each lies some of what varies within them.
    let free = count.saturating_sub(means.len()).max(1);
    let expected = (whole - between) / free as f64 * (means.len() - 1) as f64;
    // What is the same but for the last bits does not vary.
    let least = (1e-9 * mean).powi(2).max(f64::MIN_POSITIVE) * count as f64;
    let share = ((between - expected) / whole.max(least)).max(0.0);
    let by_mean = |a: &&(&Group, f64), b: &&(&Group, f64)| a.1.total_cmp(&b.1);
    let named = |(group, mean): &(&Group, f64)| (group.name.clone(), *mean);
    let (least, greatest) = (means.iter().min_by(by_mean)?, means.iter().max_by(by_mean)?);
    Some(Effect {
        key: groups.key.clone(),
        share,
        by_chance: by_chance(values, &sizes, mean),
        points: count,
        least: named(least),
        greatest: named(greatest),
    })
}

#[cfg(test)]
#[path = "../tests/support/swept.rs"]
mod swept;

#[cfg(test)]
mod tests {
    use super::swept::swept;
    use super::*;

    fn grouped(summary: &Summary) -> Vec<Groups> {
        (0..summary.keys.len())
            .filter_map(|key| Groups::new(summary, key))
            .collect()
    }

    #[test]
    fn the_key_that_moves_a_quantity_most_comes_first_and_chance_is_no_key() {
        let summary = swept();
        let by_key = grouped(&summary);
        let found = effects(&summary, &by_key, 0);
        let keys: Vec<&str> = found.iter().map(|effect| effect.key.as_str()).collect();
        assert_eq!(keys, ["scp.channels", "topology.clusters"]);
        assert!(found[0].share > 0.4 && found[1].share > 0.3, "{found:?}");
        assert!(
            found[0].share + found[1].share < 1.0,
            "what keys do together is no key's: {found:?}"
        );
        assert_eq!(
            (found[0].least.0.as_str(), found[0].greatest.0.as_str()),
            ("4", "1")
        );
        assert_eq!(
            (found[1].least.0.as_str(), found[1].greatest.0.as_str()),
            ("1", "16")
        );
        let nothing = effects(&summary, &by_key, 1);
        assert!(
            nothing.iter().all(|effect| effect.share == 0.0),
            "{nothing:?}"
        );
    }

    #[test]
    fn a_key_of_many_numbers_is_looked_at_in_parts_and_one_of_many_words_not_at_all() {
        let mut summary = swept();
        for (number, point) in summary.points.iter_mut().enumerate() {
            point.settings[1] = Some(Value::Quantity(number as f64, "us".to_owned()));
            point.settings[2] = Some(Value::Text(format!("word {number}")));
        }
        let by_key = grouped(&summary);
        let names: Vec<&str> = by_key[1]
            .groups
            .iter()
            .map(|group| group.name.as_str())
            .collect();
        assert_eq!(
            (names.len(), names[0], names[7]),
            (8, "0 us to 59 us", "420 us to 479 us")
        );
        assert_eq!(by_key.len(), 2);
    }

    #[test]
    fn what_chance_puts_between_groups_is_no_effect() {
        let mut summary = swept();
        // Figures that go with nothing but the order of the points.
        for (number, point) in summary.points.iter_mut().enumerate() {
            point.figures[0] = ((number * 7919) % 101) as f64;
        }
        let found = effects(&summary, &grouped(&summary), 0);
        assert!(found.iter().all(|effect| effect.share < 0.05), "{found:?}");
    }
}
