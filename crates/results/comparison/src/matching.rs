//! The rows that recordings have in common, and how each changed.

use crate::dependence::{corrected_p, values_per_independent, widened};
use crate::policy::Policy;
use crate::policy::Rule;
use crate::request::Options;
use crate::result::{Basis, CauseChange, Cell, Change, Row, Test, Verdict, interval_level};
use crate::statistics::{FEWEST_RUNS, interval_of_change, least_p, rank_test};
use crate::student::{Student, logarithms, variance};
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

impl Pending<'_> {
    /// The change in percent below which one does not matter.
    pub(crate) fn threshold(&self, policy: &Policy) -> f64 {
        self.rule
            .and_then(|rule| rule.threshold)
            .unwrap_or(policy.threshold)
    }

    /// True if a change does not matter.
    pub(crate) fn is_below(&self, change: &Change, policy: &Policy) -> bool {
        let least = self.rule.map_or(0.0, |rule| rule.least);
        change
            .percent
            .is_some_and(|percent| percent.abs() < self.threshold(policy))
            || change.absolute.abs() < least
    }
}

/// The rows that recordings share, before their verdicts.
pub(crate) struct MatchedRows<'o> {
    pub(crate) rows: Vec<Pending<'o>>,
    /// The rows of one recording alone, with its place among the sides.
    pub(crate) unmatched: Vec<(usize, Key)>,
    /// The number of tests.
    pub(crate) tests: usize,
    /// The level at which they are read.
    pub(crate) row_alpha: f64,
}

/// True if the values of a side and of the base are runs of which at least one was measured.
pub(crate) fn has_runs(headers: &[&Header], one_run: &[bool], side: usize) -> bool {
    let repeatable = headers[0].is_repeatable() && headers[side].is_repeatable();
    !repeatable && !one_run[0] && !one_run[side]
}

/// A row of the base, with the rule that it goes by.
type BaseRow<'r> = (&'r Key, &'r Samples, Option<&'r Rule>);

/// Parts the rows of the base that another side has from those that one side alone has.
fn pair<'r>(
    tables: &'r [Table],
    find: &[HashMap<&Key, &Samples>],
    options: &'r Options,
    rules_used: &mut BTreeSet<usize>,
) -> (Vec<BaseRow<'r>>, Vec<(usize, Key)>) {
    let wanted = |key: &Key| match options.metrics.as_slice() {
        [] => !metrics::by_name(&key.metric).is_some_and(|metric| metric.derived),
        named => named.contains(&key.metric),
    };
    let mut matched = Vec::new();
    let mut unmatched = Vec::new();
    for (key, samples) in tables[0].rows.iter().filter(|(key, _)| wanted(key)) {
        let rule = options.policy.rule(key);
        rules_used.extend(rule.map(|(index, _)| index));
        let rule = rule.map(|(_, rule)| rule);
        if rule.is_some_and(|rule| rule.ignore) {
            continue;
        }
        match find[1..]
            .iter()
            .any(|rows| rows.get(key).is_some_and(comparable_with(samples)))
        {
            true => matched.push((key, samples, rule)),
            false => unmatched.push((0, key.clone())),
        }
    }
    for (side, table) in tables.iter().enumerate().skip(1) {
        let alone = table
            .rows
            .iter()
            .map(|(key, _)| key)
            .filter(|key| wanted(key) && !find[0].contains_key(key));
        for key in alone {
            let rule = options.policy.rule(key);
            rules_used.extend(rule.map(|(index, _)| index));
            if !rule.is_some_and(|(_, rule)| rule.ignore) {
                unmatched.push((side, key.clone()));
            }
        }
    }
    (matched, unmatched)
}

pub(crate) fn match_rows<'o>(
    tables: &'o [Table],
    (headers, one_run): (&[&Header], &[bool]),
    options: &'o Options,
    rules_used: &mut BTreeSet<usize>,
) -> MatchedRows<'o> {
    let find: Vec<HashMap<&Key, &Samples>> = tables.iter().map(Table::by_key).collect();
    let (matched, unmatched) = pair(tables, &find, options, rules_used);
    // What intervals are widened for is known before the first is drawn.
    let tests = matched
        .iter()
        .map(|(key, samples, _)| {
            let is_test = |(side, rows): &(usize, &HashMap<&Key, &Samples>)| {
                rows.get(key).is_some_and(comparable_with(samples))
                    && !is_exact(headers, *side, &key.mode)
            };
            (1..).zip(&find[1..]).filter(is_test).count()
        })
        .sum();
    let row_alpha = row_alpha(&matched, headers, one_run, options.policy.alpha);
    let level = interval_level(row_alpha, tests);
    let resamples = resamples(options.resamples, level);
    let mut plan = Plan {
        headers,
        one_run,
        tests,
        row_alpha,
        level,
        resamples,
        seed: options.seed,
        variances: HashMap::new(),
    };
    let others = |key: &Key| -> Vec<Option<&Samples>> {
        find[1..]
            .iter()
            .map(|rows| rows.get(key).copied())
            .collect()
    };
    plan.variances = variances(
        &matched
            .iter()
            .map(|(key, base, _)| (*key, *base, others(key)))
            .collect::<Vec<_>>(),
        &plan,
    );
    let rows = matched
        .into_par_iter()
        .enumerate()
        .map(|(number, (key, samples, rule))| pend(number, key, samples, &others(key), rule, &plan))
        .collect();
    MatchedRows {
        rows,
        unmatched,
        tests,
        row_alpha,
    }
}

/// The level of the rows' tests. What rows of a measure have in common is tested as well, where
/// there are runs.
fn row_alpha(matched: &[BaseRow<'_>], headers: &[&Header], one_run: &[bool], alpha: f64) -> f64 {
    let mut metrics = BTreeSet::new();
    let several = matched.iter().any(|(key, ..)| !metrics.insert(&key.metric));
    let in_common = several && (1..headers.len()).any(|side| has_runs(headers, one_run, side));
    if in_common { alpha / 2.0 } else { alpha }
}

/// The variances of logarithms within sides, a mean over the rows of each measure that Student's
/// test is for.
fn variances(
    rows: &[(&Key, &Samples, Vec<Option<&Samples>>)],
    plan: &Plan<'_>,
) -> HashMap<(usize, String), f64> {
    let mut sums: HashMap<(usize, String), (f64, f64)> = HashMap::new();
    for (key, base, others) in rows {
        for (side, other) in (1..).zip(others) {
            let Some(other) = other.filter(|other| plan.is_for_student(side, key, base, other))
            else {
                continue;
            };
            if let Some((base, other)) = logarithms(&base.values).zip(logarithms(&other.values)) {
                let (sum, count) = sums.entry((side, key.metric.clone())).or_default();
                (*sum, *count) = (*sum + variance(&base, &other), *count + 1.0);
            }
        }
    }
    sums.into_iter()
        .map(|(of, (sum, count))| (of, sum / count))
        .collect()
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
    /// Of each side, whether its values are iterations of one run that was measured.
    pub(crate) one_run: &'a [bool],
    /// The number of tests, and the level at which they are read.
    pub(crate) tests: usize,
    pub(crate) row_alpha: f64,
    /// The mean variance of logarithms in the rows of a side and a measure.
    pub(crate) variances: HashMap<(usize, String), f64>,
    /// Level of each interval.
    pub(crate) level: f64,
    /// Resamples of each interval.
    pub(crate) resamples: usize,
    pub(crate) seed: u64,
}

impl Plan<'_> {
    /// True if ranks of so many values can come to a verdict.
    fn can_rank(&self, base: &[f64], other: &[f64]) -> bool {
        least_p(base.len(), other.len()) * (self.tests as f64) < self.row_alpha
    }

    /// True if a row's values are too few for ranks, but enough for Student's test.
    fn is_for_student(&self, side: usize, key: &Key, base: &Samples, other: &Samples) -> bool {
        let enough = base.values.len().min(other.values.len()) >= FEWEST_RUNS;
        let is_one_run = self.one_run[0] || self.one_run[side];
        enough
            && !is_one_run
            && !is_exact(self.headers, side, &key.mode)
            && !self.can_rank(&base.values, &other.values)
    }

    /// Tests a row's samples, the other in the unit of the base; `number` is the draw's own.
    fn sampled(
        &self,
        number: usize,
        (side, key): (usize, &Key),
        (base, other): (&[f64], &[f64]),
        change: f64,
    ) -> Basis {
        let least = self.variances.get(&(side, key.metric.clone()));
        let logs = least.and_then(|least| Some((least, logarithms(base)?, logarithms(other)?)));
        let student = logs
            .filter(|_| !self.can_rank(base, other) && base.len().min(other.len()) >= FEWEST_RUNS);
        if let Some(Student { p, interval, .. }) =
            student.and_then(|(least, base, other)| Student::new(&base, &other, *least, self.level))
        {
            let interval = Some(interval);
            return Basis::Sampled {
                test: Test::Student,
                p,
                corrected: 1.0,
                interval,
                values_per_independent: 1.0,
            };
        }
        // Each row draws on its own, so that a verdict does not depend on which other rows there
        // are.
        let mut random = fastrand::Rng::with_seed(self.seed.wrapping_add(number as u64));
        let per = values_per_independent(base, other);
        let interval = interval_of_change(base, other, self.level, self.resamples, &mut random);
        let (p, interval) = match (rank_test(base, other), per > 1.0) {
            (p, false) => (p, interval),
            (p, true) => (
                corrected_p(p, per, base.len(), other.len()),
                interval.map(|interval| widened(interval, change, per)),
            ),
        };
        Basis::Sampled {
            test: Test::Ranks,
            p,
            corrected: 1.0,
            interval,
            values_per_independent: per,
        }
    }

    /// True if too few runs stand behind a change for any verdict, whatever its size.
    fn is_too_few(&self, side: usize, basis: Basis, (base, other): (&[f64], &[f64])) -> bool {
        match basis {
            _ if base == other => false,
            Basis::Exact
            | Basis::Sampled {
                test: Test::Student,
                ..
            } => false,
            _ if self.one_run[0]
                || self.one_run[side]
                || base.len().min(other.len()) < FEWEST_RUNS =>
            {
                true
            }
            // The ranks lie as far apart as they can, and that is not enough.
            Basis::Sampled { p, .. } => {
                !self.can_rank(base, other) && p <= least_p(base.len(), other.len()) * (1.0 + 1e-9)
            }
        }
    }
}

/// Nanoseconds of a tick of a recording's counter; 0 where it is not known.
fn tick_ns(header: &Header) -> f64 {
    header.time.counter_hz.map_or(0.0, |hz| 1e9 / hz as f64)
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
        let change = (after - base_median) / base_median.abs() * 100.0;
        let samples = (&base.values[..], &values[..]);
        let basis = match exact(side) {
            true => Basis::Exact,
            false => plan.sampled(number * others.len() + side, (side, key), samples, change),
        };
        let tick = tick_ns(headers[0]).max(tick_ns(headers[side]));
        ticks.push(nanoseconds(&base.unit).map_or(0.0, |unit| tick / unit));
        let absolute = after - base_median;
        changes.push(Some(Change {
            absolute,
            percent: (base_median != 0.0).then(|| absolute / base_median.abs() * 100.0),
            basis,
            // Equal samples are equal whatever a test makes of them.
            verdict: match base.values == values {
                true => Verdict::Same,
                false => Verdict::Unclear,
            },
            runs: match plan.one_run[0] || plan.one_run[side] {
                true => 1,
                false => base.values.len().min(values.len()),
            },
            too_few: plan.is_too_few(side, basis, samples),
            below: false,
            causes: cause_changes(base, other),
        }));
        all_values.push(values);
    }
    let better = rule.and_then(|rule| rule.better);
    let row = Row {
        key: key.clone(),
        unit: base.unit.clone(),
        better: better.unwrap_or_else(|| metrics::better(&key.metric, &base.unit)),
        cells,
        values: all_values,
        changes,
    };
    Pending { row, rule, ticks }
}

/// True if a side's rows of a mode are compared with the base's exactly: both repeat themselves,
/// from the same seed.
pub(crate) fn is_exact(headers: &[&Header], side: usize, mode: &str) -> bool {
    let (base, other) = (headers[0], headers[side]);
    let drawn = |header: &Header| header.seeded_modes.iter().any(|drawn| drawn == mode);
    base.is_repeatable()
        && other.is_repeatable()
        && base.seed == other.seed
        && !drawn(base)
        && !drawn(other)
}

pub(crate) fn cell(values: &[f64], median: f64) -> Cell {
    let min = values.iter().copied().fold(f64::INFINITY, f64::min);
    let max = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    Cell {
        n: values.len(),
        median,
        min,
        max,
    }
}

pub(crate) fn cause_changes(base: &Samples, other: &Samples) -> Vec<CauseChange> {
    if base.causes.is_empty() || other.causes.is_empty() {
        return Vec::new();
    }
    let of = |samples: &Samples, cause| samples.causes.get(&cause).copied().unwrap_or(0.0);
    Cause::ALL
        .into_iter()
        .map(|cause| CauseChange {
            cause,
            base: of(base, cause),
            other: of(other, cause),
        })
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
    if from == to {
        Some(1.0)
    } else {
        Some(nanoseconds(from)? / nanoseconds(to)?)
    }
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
        assert_eq!(
            (
                resamples(100, 0.5),
                resamples(100, 0.75),
                resamples(2000, 0.75)
            ),
            (100, 100, 2000)
        );
        assert_eq!(
            (
                resamples(10, 0.5),
                resamples(10, 0.75),
                resamples(10, 0.9999999)
            ),
            (40, 80, 100_000)
        );
    }

    #[test]
    fn a_cell_has_the_range_of_its_values() {
        let cell = cell(&[3.0, -1.0, 7.0], 3.0);
        assert_eq!(
            (cell.n, cell.median, cell.min, cell.max),
            (3, 3.0, -1.0, 7.0)
        );
    }

    /// A cause that only one side has is a change too; one that neither has is none.
    #[test]
    fn causes_of_either_side_are_set_against_each_other() {
        let samples = |causes: &[(Cause, f64)]| {
            let mut samples = Samples::default();
            samples.causes = causes.iter().copied().collect();
            samples
        };
        let one = samples(&[
            (Cause::Code, 4.0),
            (Cause::FlushL1, 0.0),
            (Cause::LockWait, 2.0),
        ]);
        let other = samples(&[
            (Cause::Code, 4.0),
            (Cause::FlushL1, 0.0),
            (Cause::ScpWait, 3.0),
        ]);
        let found: Vec<_> = cause_changes(&one, &other)
            .iter()
            .map(|it| (it.cause, it.base, it.other))
            .collect();
        assert_eq!(
            found,
            [
                (Cause::Code, 4.0, 4.0),
                (Cause::LockWait, 2.0, 0.0),
                (Cause::ScpWait, 0.0, 3.0)
            ]
        );
        assert!(
            cause_changes(&one, &samples(&[])).is_empty()
                && cause_changes(&samples(&[]), &one).is_empty()
        );
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
            assert_eq!(
                is_exact(&[&base, &other], 1, "serial"),
                expected,
                "{base:?} {other:?}"
            );
        }
    }
}
