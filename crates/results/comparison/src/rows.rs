//! The rows that recordings have in common, with the runs behind each, and what a side lacks.

use crate::policy::{Iterations, Policy, Rule};
use crate::request::{Input, Options};
use crate::result::{Lack, Missing};
use crate::shares::{divide, fill};
use crate::table::{Key, Samples, Table};
use findings::Findings;
use itertools::Itertools;
use recording::units::factor;
use recording::{Header, Recording, metrics, stats};
use std::collections::{BTreeSet, HashMap};

/// The runs of some recordings, and the number of recordings that were given again. A measurement is
/// what it says: given twice it says no more than once. Runs in one recording, such as boots of a
/// log, are runs.
pub fn runs_of(given: Vec<Recording>) -> (Vec<Recording>, usize) {
    let count = given.len();
    let distinct = given.into_iter().unique_by(Recording::digest).collect_vec();
    let again = count - distinct.len();
    let runs = distinct.into_iter().flat_map(|recording| {
        if recording.header.run_begins.is_empty() {
            vec![recording]
        } else {
            recording.runs()
        }
    });
    (runs.collect(), again)
}

/// The rows of a side: of its recording, or of several runs.
pub struct SideRows {
    pub table: Table,
    /// The number of runs.
    pub runs: usize,
    /// True if each value of a row is of a run that was measured.
    pub has_runs: bool,
}

impl SideRows {
    /// Puts the runs of a side together, each with one value of a row: the median of its
    /// iterations. Where iterations are runs, and of what repeats itself, all of them are values.
    pub fn new(input: &Input<'_>, policy: &Policy, read: impl Fn(&Findings<'_>) -> Table) -> Self {
        let runs = input.runs.len();
        let has_runs = policy.iterations == Iterations::OfOneRun
            && (runs > 1 || !input.header().is_repeatable());
        let is_idle = findings::cpuidle::is_of(input.runs[0].recording);
        let tables = input.runs.iter().map(|findings| {
            let mut table = read(findings);
            if is_idle {
                divide(&mut table.rows);
            }
            for (_, samples) in table.rows.iter_mut().filter(|_| has_runs) {
                samples.values = stats::median(&samples.values).into_iter().collect();
            }
            table
        });
        let mut table = tables.reduce(joined).unwrap_or_default();
        if has_runs && is_idle {
            fill(&mut table.rows, runs);
        }
        Self {
            table,
            runs,
            has_runs,
        }
    }
}

/// The rows of two tables of runs.
fn joined(mut whole: Table, table: Table) -> Table {
    let places = whole.rows.iter().map(|(key, _)| key.clone()).zip(0..);
    let places: HashMap<Key, usize> = places.collect();
    // An order that is not that of all runs is no condition of theirs.
    whole
        .orders
        .retain(|name, order| table.orders.get(name) == Some(order));
    for (key, samples) in table.rows {
        let Some(known) = places.get(&key).map(|&place| &mut whole.rows[place].1) else {
            whole.rows.push((key, samples));
            continue;
        };
        let by = factor(&samples.unit, &known.unit);
        let values = by
            .into_iter()
            .flat_map(|by| samples.values.iter().map(move |value| value * by));
        known.values.extend(values);
    }
    whole
}

/// A row of the base that another side has: the other sides' samples, with the factors to the
/// base's unit.
pub struct Matched<'r> {
    pub key: &'r Key,
    pub base: &'r Samples,
    pub others: Vec<Option<(&'r Samples, f64)>>,
    pub rule: Option<&'r Rule>,
}

/// The rows that recordings share, and what each lacks.
#[derive(Default)]
pub struct MatchedRows<'r> {
    pub rows: Vec<Matched<'r>>,
    pub missing: Vec<Missing>,
    /// The places of the policy's rules that matched a row.
    pub rules_used: BTreeSet<usize>,
}

/// Matches the rows of the sides by their keys; those that a rule ignores are left out.
pub fn match_rows<'r>(sides: &'r [SideRows], options: &'r Options) -> MatchedRows<'r> {
    let find = sides.iter().map(|side| side.table.by_key()).collect_vec();
    let mut found = MatchedRows::default();
    let mut seen = BTreeSet::new();
    for (place, side) in sides.iter().enumerate() {
        for (key, samples) in &side.table.rows {
            let wanted = match options.metrics.as_slice() {
                [] => !metrics::by_name(&key.metric).is_some_and(|metric| metric.derived),
                named => named.contains(&key.metric),
            };
            if !wanted || !seen.insert(key) {
                continue;
            }
            let rule = options.policy.rule(key);
            found.rules_used.extend(rule.map(|(index, _)| index));
            let rule = rule.map(|(_, rule)| rule);
            if rule.is_some_and(|rule| rule.ignore) {
                continue;
            }
            found
                .missing
                .extend(lacking(sides, &find, key, &samples.unit));
            let others = find[1..]
                .iter()
                .map(|rows| {
                    let other = *rows.get(key)?;
                    Some((other, factor(&other.unit, &samples.unit)?))
                })
                .collect_vec();
            if place == 0 && others.iter().any(Option::is_some) {
                found.rows.push(Matched {
                    key,
                    base: samples,
                    others,
                    rule,
                });
            }
        }
    }
    found.missing.sort_by_key(|missing| missing.side);
    found
}

/// The sides that lack a row, or runs of it, or have it in another kind of unit.
fn lacking(
    sides: &[SideRows],
    find: &[HashMap<&Key, &Samples>],
    key: &Key,
    unit: &str,
) -> Vec<Missing> {
    let lack = |(side, rows): (&SideRows, &HashMap<&Key, &Samples>)| {
        let Some(samples) = rows.get(key) else {
            return Some(Lack::Row);
        };
        if factor(&samples.unit, unit).is_none() {
            return Some(Lack::Unit(samples.unit.clone(), unit.to_owned()));
        }
        let has = samples.values.len();
        (side.has_runs && has < side.runs).then_some(Lack::Runs(has, side.runs))
    };
    sides
        .iter()
        .zip(find)
        .map(lack)
        .enumerate()
        .filter_map(|(side, lack)| {
            Some(Missing {
                side,
                key: key.clone(),
                lack: lack?,
            })
        })
        .collect()
}

/// True if a side's rows of a mode are compared with the base's exactly: both repeat themselves,
/// from the same seed.
pub fn is_exact(headers: &[&Header], side: usize, mode: &str) -> bool {
    let (base, other) = (headers[0], headers[side]);
    let drawn = |header: &Header| header.seeded_modes.iter().any(|drawn| drawn == mode);
    base.is_repeatable()
        && other.is_repeatable()
        && base.seed == other.seed
        && !drawn(base)
        && !drawn(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_repeats_itself_from_one_seed_is_exact() {
        let header = |repeatable, seed, drawn: &[&str]| {
            let mut header = Header::new("e", "sim", "ps");
            (header.repeatable, header.seed) = (Some(repeatable), seed);
            header.seeded_modes = drawn.iter().map(|&mode| mode.to_owned()).collect();
            header
        };
        for (base, other, expected) in [
            (header(true, 1, &["parallel"]), header(true, 1, &[]), true),
            (header(false, 1, &[]), header(true, 1, &[]), false),
            (header(true, 1, &[]), header(false, 1, &[]), false),
            (header(true, 1, &[]), header(true, 2, &[]), false),
            (header(true, 1, &["serial"]), header(true, 1, &[]), false),
            (header(true, 1, &[]), header(true, 1, &["serial"]), false),
        ] {
            assert_eq!(
                is_exact(&[&base, &other], 1, "serial"),
                expected,
                "{base:?} {other:?}"
            );
        }
    }
}
