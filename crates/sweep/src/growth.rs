//! A plan that grows: the points that a plan has in common with an earlier one, and whether it has
//! all of them.

use crate::axis::{Axis, PART, Values};
use crate::fits::Fitting;
use crate::plan::{Plan, Point};
use recording::RowKinds;
use std::collections::HashMap;

/// The settings of a point that are not at their defaults anyway, in the order of their names: two
/// points with the same ones are the same run.
type Settings = Vec<(String, String)>;

/// A plan whose points are found by their settings.
pub(crate) struct Places<'p> {
    plan: &'p Plan,
    /// Says of each key what it is where nobody sets it.
    usual: &'p dyn Fn(&str) -> Option<String>,
    /// For each axis that lists its values: the place of each.
    listed: Vec<HashMap<String, u64>>,
}

/// The settings of a point of a plan.
fn settings(plan: &Plan, usual: &dyn Fn(&str) -> Option<String>, point: &Point) -> Settings {
    let fixed = plan
        .settings
        .iter()
        .map(|(key, it)| (key.clone(), it.value.text()));
    let varied = point
        .varied
        .iter()
        .map(|(key, value)| (key.clone(), value.text()));
    let mut all: Settings = fixed
        .chain(varied)
        .filter(|(key, text)| usual(key).as_ref() != Some(text))
        .collect();
    // Values of a list stay in their order.
    all.sort_by(|one, other| one.0.cmp(&other.0));
    all
}

impl<'p> Places<'p> {
    pub(crate) fn new(plan: &'p Plan, usual: &'p dyn Fn(&str) -> Option<String>) -> Self {
        let listed = plan.axes.iter().map(|axis| match axis {
            Axis::Grid {
                values: Values::Each(values),
                ..
            } => (0..)
                .zip(values)
                .map(|(place, it)| (it.value.text(), place))
                .collect(),
            Axis::List(rows) => {
                let keys: Vec<&str> = axis.keys().into_iter().map(|(key, _)| key).collect();
                let row = |row: &Vec<(String, _)>| {
                    let of = |key: &str| row.iter().find(|(name, _)| name == key);
                    joined(&keys, |key| {
                        of(key).map(|(_, it): &(String, crate::axis::PlacedValue)| it.value.text())
                    })
                };
                // Of rows that are alike the first.
                rows.iter()
                    .enumerate()
                    .rev()
                    .map(|(place, it)| (row(it), place as u64))
                    .collect()
            }
            _ => HashMap::new(),
        });
        Self {
            plan,
            usual,
            listed: listed.collect(),
        }
    }

    /// The number here of a point of another plan, if this plan has it.
    pub(crate) fn number_of(&self, other: &Plan, number: u64) -> Option<u64> {
        let point = other.point(number);
        let wanted = settings(other, self.usual, &point);
        let text = |key: &str| {
            let at = wanted.partition_point(|(name, _)| name.as_str() < key);
            let there = wanted
                .get(at)
                .filter(|(name, _)| name == key)
                .map(|(_, text)| text.clone());
            there.or_else(|| (self.usual)(key))
        };
        let places = other.places(number);
        // Draws are the same only if they have the same number.
        let draw = places
            .iter()
            .zip(&other.axes)
            .find(|(_, axis)| matches!(axis, Axis::Draws { .. }));
        let mut found = 0_u64;
        for (axis, listed) in self.plan.axes.iter().zip(&self.listed) {
            let place = match axis {
                Axis::Grid {
                    key,
                    values: Values::Each(_),
                    ..
                } => *listed.get(&text(key)?)?,
                Axis::Grid {
                    key,
                    values: Values::Range { first, .. },
                    ..
                } => text(key)?.parse::<u64>().ok()?.checked_sub(*first)?,
                Axis::List(_) => {
                    let keys: Vec<&str> = axis.keys().into_iter().map(|(key, _)| key).collect();
                    *listed.get(&joined(&keys, text))?
                }
                Axis::Draws { .. } => *draw?.0,
                Axis::Parts { .. } => text(PART)?
                    .split('/')
                    .next()?
                    .parse::<u64>()
                    .ok()?
                    .checked_sub(1)?,
                Axis::Repetitions(_) => point.repetition,
            };
            if place >= axis.count() {
                return None;
            }
            found = found * axis.count() + place;
        }
        let here = self.plan.point(found);
        let same =
            here.repetition == point.repetition && settings(self.plan, self.usual, &here) == wanted;
        same.then_some(found)
    }
}

/// The values of some keys as one text.
fn joined(keys: &[&str], text: impl Fn(&str) -> Option<String>) -> String {
    keys.iter()
        .map(|key| text(key).map_or_else(String::new, |text| format!("={text}")) + "\n")
        .collect()
}

/// Says why a plan is another one than the earlier one, rather than the same with more points;
/// `None` if it has every point of the earlier one. `fitting` has the plan, and the world that the
/// earlier one ran in is `world`.
pub(crate) fn differs(fitting: &Fitting, earlier: &Plan, world: &str) -> Option<String> {
    let plan = &fitting.plan;
    if plan.experiment != earlier.experiment {
        return Some(format!(
            "the plan there is of {}, and this one of {}",
            earlier.experiment, plan.experiment
        ));
    }
    if fitting.world.name() != world {
        return Some(format!(
            "the plan there is for the world {world}, and this one for {}",
            fitting.world.name()
        ));
    }
    if plan.keep != earlier.keep {
        return Some(format!(
            "the plan there keeps {}, and this one {}",
            kept(earlier.keep),
            kept(plan.keep)
        ));
    }
    if plan.metrics != earlier.metrics {
        let of = |plan: &Plan| match plan.metrics.is_empty() {
            true => "all metrics".to_owned(),
            false => plan.metrics.join(", "),
        };
        return Some(format!(
            "the plan there keeps the measures of {}, and this one of {}",
            of(earlier),
            of(plan)
        ));
    }
    let latin = |plan: &Plan| {
        plan.axes.iter().find_map(|axis| match axis {
            Axis::Draws {
                count,
                is_latin: true,
                ..
            } => Some(*count),
            _ => None,
        })
    };
    if let (Some(before), Some(now)) = (latin(earlier), latin(plan))
        && before != now
    {
        return Some(format!(
            "a Latin hypercube of {now} points has none of the points of one of {before}; draws of [random] can grow"
        ));
    }
    let parts = |plan: &Plan| {
        plan.axes.iter().find_map(|axis| match axis {
            Axis::Parts { count, .. } => Some(*count),
            _ => None,
        })
    };
    if parts(earlier) != parts(plan) {
        let words = |parts: Option<u64>| {
            parts.map_or_else(
                || "runs whole".to_owned(),
                |parts| format!("in {parts} parts"),
            )
        };
        return Some(format!(
            "its points are {}, and those of this plan {}",
            words(parts(earlier)),
            words(parts(plan))
        ));
    }
    let usual = |key: &str| fitting.usual(key);
    let places = Places::new(plan, &usual);
    let lost =
        (0..earlier.points()?).find(|number| places.number_of(earlier, *number).is_none())?;
    Some(lacks(plan, earlier, &usual, lost))
}

/// Words for a point of the earlier plan that a plan lacks.
fn lacks(plan: &Plan, earlier: &Plan, usual: &dyn Fn(&str) -> Option<String>, lost: u64) -> String {
    let point = earlier.point(lost);
    let before = settings(earlier, usual, &point);
    let fixed = |key: &str| -> Vec<String> {
        plan.settings
            .iter()
            .filter(|(name, _)| name == key)
            .map(|(_, it)| it.value.text())
            .collect()
    };
    let varies = |key: &str| plan.keys().iter().any(|(name, _)| name == key);
    let of = |key: &str| -> Vec<&str> {
        before
            .iter()
            .filter(|(name, _)| name == key)
            .map(|(_, text)| text.as_str())
            .collect()
    };
    for (key, text) in &before {
        if !varies(key) && fixed(key).is_empty() {
            return format!("`{key}` is {text} there, and this plan does not set it");
        }
        if !varies(key) && fixed(key) != of(key) {
            return format!(
                "`{key}` is {} there, and {} in this plan",
                of(key).join(", "),
                fixed(key).join(", ")
            );
        }
    }
    let set = plan
        .settings
        .iter()
        .map(|(key, it)| (key.clone(), it.value.text()));
    for (key, text) in set.filter(|(key, text)| usual(key).as_ref() != Some(text)) {
        if of(&key).is_empty() {
            return format!("`{key}` is {text} in this plan, and not set there");
        }
    }
    if let Some((key, _)) = plan
        .keys()
        .iter()
        .find(|(key, _)| of(key).is_empty() && usual(key).is_none())
    {
        return format!("`{key}` varies in this plan, and is not set there");
    }
    let mut words: Vec<String> = point
        .varied
        .iter()
        .map(|(key, value)| format!("{key}={}", value.text()))
        .collect();
    if earlier.repeats() {
        words.push(format!("repetition {}", point.repetition));
    }
    format!("this plan lacks its point {lost} ({})", words.join(" "))
}

fn kept(kinds: RowKinds) -> String {
    let all = [
        (kinds.measures, "measures"),
        (kinds.events, "events"),
        (kinds.causes, "causes"),
    ];
    let kept: Vec<&str> = all
        .into_iter()
        .filter(|(is, _)| *is)
        .map(|(_, name)| name)
        .collect();
    if kept.is_empty() {
        "no rows".to_owned()
    } else {
        kept.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use document::Document;

    fn plan(text: &str) -> Plan {
        Plan::read(&Document::new(
            "p.toml",
            format!("experiment = \"e\"\n{text}"),
        ))
        .unwrap()
    }

    /// The numbers that the points of a plan have in another one.
    fn moved(earlier: &str, later: &str) -> Vec<Option<u64>> {
        let (earlier, later) = (plan(earlier), plan(later));
        let usual = |key: &str| (key == "seed").then(|| "1".to_owned());
        let places = Places::new(&later, &usual);
        let moved: Vec<_> = (0..earlier.points().unwrap())
            .map(|number| places.number_of(&earlier, number))
            .collect();
        // And back.
        let back = Places::new(&earlier, &usual);
        for (number, there) in (0..).zip(&moved) {
            assert!(there.is_none_or(|there| back.number_of(&later, there) == Some(number)));
        }
        moved
    }

    #[test]
    fn points_are_found_by_their_settings_whatever_grows() {
        let some = |numbers: &[u64]| numbers.iter().copied().map(Some).collect::<Vec<_>>();
        let grid = |a: &str, seeds: u64| format!("[grid]\na = {a}\n[seeds]\ncount = {seeds}\n");
        assert_eq!(
            moved(&grid("[1, 2]", 2), &grid("[1, 2]", 3)),
            some(&[0, 1, 3, 4]),
            "seeds"
        );
        assert_eq!(
            moved(&grid("[1, 2]", 2), &grid("[2, 7, 1]", 2)),
            some(&[4, 5, 0, 1]),
            "values, in another order"
        );
        assert_eq!(
            moved(
                "[settings]\na = 1\n[seeds]\ncount = 2\n",
                &grid("\"0..1\"", 2)
            ),
            some(&[2, 3]),
            "a new axis"
        );
        assert_eq!(
            moved("[grid]\na = [1, 2]\n", &grid("[1, 2]", 3)),
            some(&[0, 3]),
            "the usual seed"
        );
        let list = "[[list]]\na = 1\nb = 2\n[[list]]\na = 2\n";
        assert_eq!(
            moved(list, &format!("{list}[[list]]\na = 0\n")),
            some(&[0, 1]),
            "rows"
        );
        assert_eq!(
            moved(list, &format!("[[list]]\na = 0\n{list}")),
            some(&[1, 2]),
            "rows before them"
        );
        let draws = |count: u32, more: &str| {
            format!(
                "[random]\npoints = {count}\n[random.ranges]\nx = {{ from = 0.0, to = 1.0 }}\n{more}"
            )
        };
        assert_eq!(
            moved(&draws(3, ""), &draws(9, "")),
            some(&[0, 1, 2]),
            "draws"
        );
        assert_eq!(
            moved(&draws(2, ""), &draws(2, "y = [1]\n")),
            [None, None],
            "another key"
        );
        assert_eq!(
            moved("[grid]\nb = [5]\n", "repetitions = 3\n[grid]\nb = [4, 5]\n"),
            some(&[3]),
            "repetitions"
        );
        let latin = |count: u32| draws(count, "").replace("random", "latin-hypercube");
        assert_eq!(
            moved(&latin(3), &latin(4)),
            [None; 3],
            "a hypercube is another one"
        );
        assert_eq!(
            moved("parts = 2\n", "parts = 4\n"),
            [None; 2],
            "as are parts"
        );
        assert_eq!(
            moved(&grid("[1, 2]", 2), &grid("[1]", 2)),
            [Some(0), Some(1), None, None],
            "a value less"
        );
        assert_eq!(
            moved("[settings]\nl = [1, 2]\n", "[settings]\nl = [2, 1]\n"),
            [None],
            "a list has an order"
        );
    }
}
