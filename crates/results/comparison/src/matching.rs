//! The rows that recordings have in common, and how each changed.

use crate::dependence::{corrected_p, values_per_independent, widened};
use crate::policy::Rule;
use crate::request::Options;
use crate::result::{Basis, CauseChange, Cell, Change, Row, Verdict, interval_level};
use crate::statistics::{interval_of_change, rank_test};
use crate::table::{Key, Samples, Table};
use attribution::Cause;
use rayon::prelude::*;
use recording::{Header, metrics, stats};
use std::collections::{BTreeSet, HashMap};

/// The number of resamples outside an interval at each end, which tells how well its ends are
/// known.
pub(crate) const RESAMPLES_OUTSIDE: f64 = 10.0;

/// No interval is drawn from more resamples than this unless asked for: it is reached with 250
/// tests at a level of 0.05.
pub(crate) const MOST_RESAMPLES: usize = 100_000;

/// A row before its verdict.
pub(crate) struct Pending<'o> {
    pub(crate) row: Row,
    pub(crate) rule: Option<&'o Rule>,
    /// A tick of the coarser counter, in the row's unit, for each change.
    pub(crate) ticks: Vec<f64>,
}

pub(crate) fn match_rows<'o>(
    tables: &[Table],
    headers: &[&Header],
    options: &'o Options,
    rules_used: &mut BTreeSet<usize>,
) -> (Vec<Pending<'o>>, Vec<(usize, Key)>) {
    let wanted = |key: &Key| match options.metrics.as_slice() {
        [] => !metrics::by_name(&key.metric).is_some_and(|metric| metric.derived),
        named => named.contains(&key.metric),
    };
    let find: Vec<HashMap<&Key, &Samples>> =
        tables.iter().map(|table| table.rows.iter().map(|(key, samples)| (key, samples)).collect()).collect();
    let mut matched = Vec::new();
    let mut unmatched = Vec::new();
    for (key, samples) in tables[0].rows.iter().filter(|(key, _)| wanted(key)) {
        let rule = options.policy.rule(key);
        rules_used.extend(rule.map(|(index, _)| index));
        let rule = rule.map(|(_, rule)| rule);
        if rule.is_some_and(|rule| rule.ignore) {
            continue;
        }
        match find[1..].iter().any(|rows| rows.get(key).is_some_and(comparable_with(samples))) {
            true => matched.push((key, samples, rule)),
            false => unmatched.push((0, key.clone())),
        }
    }
    for (side, table) in tables.iter().enumerate().skip(1) {
        let alone = table.rows.iter().map(|(key, _)| key).filter(|key| wanted(key) && !find[0].contains_key(key));
        for key in alone {
            let rule = options.policy.rule(key);
            rules_used.extend(rule.map(|(index, _)| index));
            if !rule.is_some_and(|(_, rule)| rule.ignore) {
                unmatched.push((side, key.clone()));
            }
        }
    }
    // What intervals are widened for is known before the first is drawn.
    let tests = matched
        .iter()
        .map(|(key, samples, _)| {
            let is_test = |(side, rows): &(usize, &HashMap<&Key, &Samples>)| {
                rows.get(key).is_some_and(comparable_with(samples)) && !is_exact(headers, *side, &key.mode)
            };
            (1..).zip(&find[1..]).filter(is_test).count()
        })
        .sum();
    let level = interval_level(options.policy.alpha, tests);
    let resamples = resamples(options.resamples, level);
    let plan = Plan { headers, level, resamples, seed: options.seed };
    let rows = matched
        .into_par_iter()
        .enumerate()
        .map(|(number, (key, samples, rule))| {
            let others: Vec<Option<&Samples>> = find[1..].iter().map(|rows| rows.get(key).copied()).collect();
            pend(number, key, samples, &others, rule, &plan)
        })
        .collect();
    (rows, unmatched)
}

/// The number of resamples that an interval of a level needs, and at least as many as were asked
/// for.
fn resamples(asked: usize, level: f64) -> usize {
    let needed = (2.0 * RESAMPLES_OUTSIDE / (1.0 - level)).ceil() as usize;
    asked.max(needed.min(MOST_RESAMPLES))
}

/// The plan by which all rows are compared alike.
pub(crate) struct Plan<'a> {
    pub(crate) headers: &'a [&'a Header],
    /// Level of each interval.
    pub(crate) level: f64,
    /// Resamples of each interval.
    pub(crate) resamples: usize,
    pub(crate) seed: u64,
}

pub(crate) fn pend<'o>(
    number: usize,
    key: &Key,
    base: &Samples,
    others: &[Option<&Samples>],
    rule: Option<&'o Rule>,
    plan: &Plan<'_>,
) -> Pending<'o> {
    let headers = plan.headers;
    let exact = |side: usize| is_exact(headers, side, &key.mode);
    // With a world that repeats itself a median is a value that occurred, so that its causes add up
    // to it.
    let all_exact = (1..headers.len()).all(exact);
    let median = |samples: &Samples, values: &[f64]| match all_exact {
        true => samples.occurred(),
        false => stats::median(values).unwrap_or(f64::NAN),
    };
    let base_median = median(base, &base.values);
    let mut cells = vec![Some(cell(&base.values, base_median))];
    let mut all_values = vec![base.values.clone()];
    let (mut changes, mut ticks) = (Vec::new(), Vec::new());
    for (side, other) in (1..).zip(others) {
        let other = other.and_then(|other| Some((other, factor(&other.unit, &base.unit)?)));
        let Some((other, factor)) = other else {
            cells.push(None);
            all_values.push(Vec::new());
            changes.push(None);
            ticks.push(0.0);
            continue;
        };
        let values: Vec<f64> = other.values.iter().map(|value| value * factor).collect();
        let after = median(other, &values) * if all_exact { factor } else { 1.0 };
        cells.push(Some(cell(&values, after)));
        let basis = if exact(side) {
            Basis::Exact
        } else {
            // Each row draws on its own, so that a verdict does not depend on which other rows
            // there are.
            let mut random = fastrand::Rng::with_seed(plan.seed.wrapping_add((number * others.len() + side) as u64));
            let per = values_per_independent(&base.values, &values);
            let interval = interval_of_change(&base.values, &values, plan.level, plan.resamples, &mut random);
            let (p, n) = (rank_test(&base.values, &values), (base.values.len(), values.len()));
            match per > 1.0 {
                false => Basis::Sampled { p, corrected: 1.0, interval, values_per_independent: 1.0 },
                true => Basis::Sampled {
                    p: corrected_p(p, per, n.0, n.1),
                    corrected: 1.0,
                    interval: interval.map(|interval| {
                        let change = (after - base_median) / base_median.abs() * 100.0;
                        widened(interval, change, per)
                    }),
                    values_per_independent: per,
                },
            }
        };
        let tick_ns = |header: &Header| header.time.counter_hz.map_or(0.0, |hz| 1e9 / hz as f64);
        let tick = tick_ns(headers[0]).max(tick_ns(headers[side]));
        ticks.push(nanoseconds(&base.unit).map_or(0.0, |unit| tick / unit));
        let absolute = after - base_median;
        changes.push(Some(Change {
            absolute,
            percent: (base_median != 0.0).then(|| absolute / base_median.abs() * 100.0),
            basis,
            // Equal samples are equal whatever a test makes of them.
            verdict: if base.values == values { Verdict::Same } else { Verdict::Unclear },
            causes: cause_changes(base, other),
        }));
        all_values.push(values);
    }
    let better = rule.and_then(|rule| rule.better).unwrap_or_else(|| metrics::better(&key.metric, &base.unit));
    let row = Row { key: key.clone(), unit: base.unit.clone(), better, cells, values: all_values, changes };
    Pending { row, rule, ticks }
}

/// True if a side's rows of a mode are compared with the base's exactly: both repeat themselves,
/// from the same seed.
pub(crate) fn is_exact(headers: &[&Header], side: usize, mode: &str) -> bool {
    let (base, other) = (headers[0], headers[side]);
    let drawn = |header: &Header| header.seeded_modes.iter().any(|drawn| drawn == mode);
    base.is_repeatable() && other.is_repeatable() && base.seed == other.seed && !drawn(base) && !drawn(other)
}

pub(crate) fn cell(values: &[f64], median: f64) -> Cell {
    let min = values.iter().copied().fold(f64::INFINITY, f64::min);
    let max = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    Cell { n: values.len(), median, min, max }
}

pub(crate) fn cause_changes(base: &Samples, other: &Samples) -> Vec<CauseChange> {
    if base.causes.is_empty() || other.causes.is_empty() {
        return Vec::new();
    }
    let of = |samples: &Samples, cause| samples.causes.get(&cause).copied().unwrap_or(0.0);
    Cause::ALL
        .into_iter()
        .map(|cause| CauseChange { cause, base: of(base, cause), other: of(other, cause) })
        .filter(|change| change.base != 0.0 || change.other != 0.0)
        .collect()
}

/// Length of a unit of time in nanoseconds.
pub(crate) fn nanoseconds(unit: &str) -> Option<f64> {
    Some(match unit {
        "ps" => 1e-3,
        "ns" => 1.0,
        "us" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        _ => return None,
    })
}

/// The factor that makes a value of one unit one of another; `None` where that cannot be.
pub(crate) fn factor(from: &str, to: &str) -> Option<f64> {
    if from == to { Some(1.0) } else { Some(nanoseconds(from)? / nanoseconds(to)?) }
}

/// True if values of a row can be compared with those of another recording.
pub(crate) fn comparable_with(base: &Samples) -> impl Fn(&&Samples) -> bool {
    |other| factor(&other.unit, &base.unit).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A log in nanoseconds is compared with a simulation in microseconds; what is no time is
    /// compared with its own kind only.
    #[test]
    fn values_are_converted_between_units_of_time_alone() {
        for (from, to, expected) in [
            ("ps", "ns", Some(1e-3)),
            ("ns", "us", Some(1e-3)),
            ("us", "ns", Some(1e3)),
            ("us", "ms", Some(1e-3)),
            ("s", "ms", Some(1e3)),
            ("s", "us", Some(1e6)),
            ("ticks", "ticks", Some(1.0)),
            ("ticks", "us", None),
            ("us", "ticks", None),
        ] {
            let found = factor(from, to);
            let close = match (found, expected) {
                (Some(found), Some(expected)) => (found / expected - 1.0).abs() < 1e-12,
                (found, expected) => found == expected,
            };
            assert!(close, "{from} to {to}: {found:?}");
        }
    }

    /// Ten on each side of the interval, so that its ends are known; and not more than can be drawn
    /// in a moment.
    #[test]
    fn a_wide_interval_is_drawn_from_more_resamples() {
        assert_eq!((resamples(100, 0.5), resamples(100, 0.75), resamples(2000, 0.75)), (100, 100, 2000));
        assert_eq!((resamples(10, 0.5), resamples(10, 0.75), resamples(10, 0.9999999)), (40, 80, 100_000));
    }

    #[test]
    fn a_cell_has_the_range_of_its_values() {
        let cell = cell(&[3.0, -1.0, 7.0], 3.0);
        assert_eq!((cell.n, cell.median, cell.min, cell.max), (3, 3.0, -1.0, 7.0));
    }

    /// A cause that only one side has is a change too; one that neither has is none.
    #[test]
    fn causes_of_either_side_are_set_against_each_other() {
        let samples = |causes: &[(Cause, f64)]| {
            let mut samples = Samples::default();
            samples.causes = causes.iter().copied().collect();
            samples
        };
        let one = samples(&[(Cause::Code, 4.0), (Cause::FlushL1, 0.0), (Cause::LockWait, 2.0)]);
        let other = samples(&[(Cause::Code, 4.0), (Cause::FlushL1, 0.0), (Cause::ScpWait, 3.0)]);
        let found: Vec<_> = cause_changes(&one, &other).iter().map(|it| (it.cause, it.base, it.other)).collect();
        assert_eq!(found, [(Cause::Code, 4.0, 4.0), (Cause::LockWait, 2.0, 0.0), (Cause::ScpWait, 0.0, 3.0)]);
        assert!(cause_changes(&one, &samples(&[])).is_empty() && cause_changes(&samples(&[]), &one).is_empty());
    }

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
            assert_eq!(is_exact(&[&base, &other], 1, "serial"), expected, "{base:?} {other:?}");
        }
    }
}
