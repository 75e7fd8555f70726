//! The comparison itself.

use crate::inputs::{self, Difference};
use crate::policy::{Policy, Rule};
use crate::statistics::{holm, interval_of_change, rank_test};
use crate::table::{Key, Samples, Table};
use attribution::Cause;
use rayon::prelude::*;
use recording::metrics::Better;
use recording::{Header, Recording, metrics, stats};
use std::collections::{BTreeSet, HashMap};

/// A recording that is to be compared.
#[derive(Clone, Debug)]
pub struct Input<'r> {
    /// What it is called in tables.
    pub name: String,
    /// The recording.
    pub recording: &'r Recording,
    /// Which of its releases or configurations; `None`: its only one, or all that the recordings have in common.
    pub variant: Option<String>,
}

/// How recordings are compared.
#[derive(Clone, Debug)]
pub struct Options {
    /// What counts as a regression.
    pub policy: Policy,
    /// Measures to compare; all but those that follow from others (`time_in_state`) where none is named.
    pub metrics: Vec<String>,
    /// Resamples of each bootstrap interval, at least; more are drawn where many tests ask for wide intervals.
    pub resamples: usize,
    /// Seed of the resampling.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { policy: Policy::default(), metrics: Vec::new(), resamples: 2000, seed: 1 }
    }
}

/// Why recordings cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// One recording says nothing.
    #[error("there must be at least two recordings to compare")]
    TooFew,
    /// A release that is not there.
    #[error("{name} has no release `{variant}`; it has: {known}")]
    NoSuchVariant {
        /// The recording.
        name: String,
        /// What was asked for.
        variant: String,
        /// What is there.
        known: String,
    },
    /// It is not clear what to compare with what.
    #[error("the recordings have no release in common; say which to compare, as in RECORDING@RELEASE: {known}")]
    NothingInCommon {
        /// What each has.
        known: String,
    },
    /// A measure that was asked for is in no recording.
    #[error("no recording has the measure `{metric}`; they have: {known}")]
    NoSuchMetric {
        /// What was asked for.
        metric: String,
        /// What is there.
        known: String,
    },
    /// No row of the one is in the other.
    #[error("the recordings have no row in common: no measure of the same case for the same CPU or role")]
    NoRowInCommon,
}

/// What is known of a recording as a whole.
#[derive(Clone, Debug, PartialEq)]
pub struct Side {
    /// What it is called.
    pub name: String,
    /// The releases that are compared.
    pub variants: Vec<String>,
    /// The world it was made in.
    pub world: String,
    /// Whether the same inputs give the same values there.
    pub repeatable: bool,
    /// The platform's name.
    pub platform: Option<String>,
    /// The machine that ran it.
    pub machine: Option<String>,
    /// The seed.
    pub seed: u64,
}

/// Recordings side by side.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The recordings; the first is the base.
    pub sides: Vec<Side>,
    /// What to know before reading on.
    pub warnings: Vec<String>,
    /// Inputs that differ.
    pub differences: Vec<Difference>,
    /// The rows that the base shares with at least one other, in the order of the base.
    pub rows: Vec<Row>,
    /// Labels of rows that only one recording has, with its place among the sides.
    pub unmatched: Vec<(usize, Key)>,
    /// How many rank tests were made, which is what p-values and intervals are corrected for.
    pub tests: usize,
    /// The level at which they are read.
    pub alpha: f64,
    /// The change in percent below which one does not matter, where no rule says otherwise.
    pub threshold: f64,
}

/// One row.
#[derive(Clone, Debug)]
pub struct Row {
    /// Its label.
    pub key: Key,
    /// The unit of all its values: the base's.
    pub unit: String,
    /// Which way is better.
    pub better: Better,
    /// The values in each recording, where it has the row.
    pub cells: Vec<Option<Cell>>,
    /// The change of each recording but the base, where both have the row.
    pub changes: Vec<Option<Change>>,
}

/// A row's values in one recording.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    /// How many.
    pub n: usize,
    /// Their median; where everything is exact the lower of the middle two, a value that occurred.
    pub median: f64,
    /// The smallest.
    pub min: f64,
    /// The largest.
    pub max: f64,
}

/// A change against the base.
#[derive(Clone, Debug)]
pub struct Change {
    /// In the row's unit.
    pub absolute: f64,
    /// In percent of the base; `None` where that is 0.
    pub percent: Option<f64>,
    /// What it rests on.
    pub how: How,
    /// What it comes to.
    pub verdict: Verdict,
    /// Microseconds by cause in the median, before and after; empty where one of the two has no events.
    pub causes: Vec<CauseChange>,
}

/// What a change rests on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum How {
    /// Both worlds repeat themselves: the difference is what it is, to a tick of the counter.
    Exact,
    /// Samples.
    Sampled {
        /// p-value of the rank test.
        p: f64,
        /// The same, corrected for the number of tests (Holm).
        corrected: f64,
        /// Bootstrap interval of the change of the median in percent, at [`Comparison::interval_level`].
        interval: Option<(f64, f64)>,
    },
}

/// What a change comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// No change: equal to a tick, or the interval lies within the threshold.
    Same,
    /// Nothing can be said.
    Unclear,
    /// A change, but below the threshold.
    Small,
    /// A change of something of which neither way is better.
    Changed,
    /// A change for the better.
    Better,
    /// A regression.
    Worse,
}

/// A cause in the base and in the other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CauseChange {
    /// The cause.
    pub cause: Cause,
    /// Microseconds in the base's median.
    pub base: f64,
    /// Microseconds in the other's.
    pub other: f64,
}

impl CauseChange {
    /// Microseconds that it became longer.
    pub fn absolute(&self) -> f64 {
        self.other - self.base
    }
}

impl Change {
    /// The cause that changed most in the direction of the whole.
    pub fn main_cause(&self) -> Option<Cause> {
        let sign = self.absolute.signum();
        let most = self.causes.iter().max_by(|a, b| (a.absolute() * sign).total_cmp(&(b.absolute() * sign)))?;
        (most.absolute() * sign > 0.0).then_some(most.cause)
    }
}

impl Comparison {
    /// The level of each interval, from 0 to 1: widened for the number of tests as Bonferroni has it, so that all intervals of the comparison
    /// together hold the changes with probability 1 - alpha, as the corrected p-values do.
    pub fn interval_level(&self) -> f64 {
        interval_level(self.alpha, self.tests)
    }

    /// Whether any row became worse.
    pub fn has_regression(&self) -> bool {
        self.changes().any(|(_, change)| change.verdict == Verdict::Worse)
    }

    /// All changes with their rows.
    pub fn changes(&self) -> impl Iterator<Item = (&Row, &Change)> {
        self.rows.iter().flat_map(|row| row.changes.iter().flatten().map(move |change| (row, change)))
    }

    /// How many changes come to a verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.changes().filter(|(_, change)| change.verdict == verdict).count()
    }
}

impl Verdict {
    /// The verdict's name in output for machines.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Unclear => "unclear",
            Self::Small => "below-threshold",
            Self::Changed => "changed",
            Self::Better => "better",
            Self::Worse => "worse",
        }
    }
}

/// Fewer values than this on both sides can never come to a verdict: all of one sample above all of the other happens by
/// chance once in 35 with four values each, once in 10 with three.
pub const SMALLEST_SAMPLE: usize = 4;

/// So many resamples lie outside an interval at each end, which tells how well its ends are known.
const RESAMPLES_OUTSIDE: f64 = 10.0;

/// No interval is drawn from more resamples than this unless asked for: it is reached with 250 tests at a level of 0.05.
const MOST_RESAMPLES: usize = 100_000;

fn interval_level(alpha: f64, tests: usize) -> f64 {
    1.0 - alpha / tests.max(1) as f64
}

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

/// Which releases are compared.
enum Chosen {
    /// One of each recording, whatever they are called.
    One(Vec<String>),
    /// Those that all have.
    Common(Vec<String>),
}

impl Chosen {
    fn takes(&self, side: usize, variant: &str) -> bool {
        match self {
            Self::One(by_side) => by_side[side] == variant,
            Self::Common(names) => names.iter().any(|name| name == variant),
        }
    }

    fn key(&self, variant: &str) -> Option<String> {
        match self {
            Self::One(_) => Some(String::new()),
            Self::Common(_) => Some(variant.to_owned()),
        }
    }
}

fn variants(recording: &Recording) -> Vec<String> {
    let used: BTreeSet<_> = recording.measures().iter().map(|measure| measure.series).collect();
    let mut names: Vec<String> = Vec::new();
    for series in used {
        let (variant, _, _) = recording.series_texts(series);
        if !names.iter().any(|name| name == variant) {
            names.push(variant.to_owned());
        }
    }
    names
}

fn choose(inputs: &[Input<'_>]) -> Result<Chosen, Error> {
    let mut all: Vec<Vec<String>> = Vec::new();
    for input in inputs {
        let names = variants(input.recording);
        all.push(match &input.variant {
            None => names,
            Some(variant) if names.contains(variant) => vec![variant.clone()],
            Some(variant) => {
                return Err(Error::NoSuchVariant {
                    name: input.name.clone(),
                    variant: variant.clone(),
                    known: names.join(", "),
                });
            }
        });
    }
    if all.iter().all(|names| names.len() == 1) {
        return Ok(Chosen::One(all.into_iter().flatten().collect()));
    }
    let common: Vec<String> =
        all[0].iter().filter(|name| all.iter().all(|names| names.contains(name))).cloned().collect();
    match common.as_slice() {
        [] => Err(Error::NothingInCommon {
            known: inputs
                .iter()
                .zip(&all)
                .map(|(input, names)| format!("{} has {}", input.name, names.join(", ")))
                .collect::<Vec<_>>()
                .join("; "),
        }),
        [one] => Ok(Chosen::One(vec![one.clone(); inputs.len()])),
        _ => Ok(Chosen::Common(common)),
    }
}

fn side(place: usize, input: &Input<'_>, chosen: &Chosen) -> Side {
    let header = &input.recording.header;
    let names = variants(input.recording).into_iter().filter(|variant| chosen.takes(place, variant)).collect();
    Side {
        name: input.name.clone(),
        variants: names,
        world: header.world.clone(),
        repeatable: header.is_repeatable(),
        platform: header.platform.as_ref().map(|platform| platform.name.clone()),
        machine: header.run.machine.clone(),
        seed: header.seed,
    }
}

/// A row before its verdict.
struct Pending<'o> {
    row: Row,
    rule: Option<&'o Rule>,
    /// A tick of the coarser counter, in the row's unit, for each change.
    ticks: Vec<f64>,
}

fn match_rows<'o>(
    tables: &[Table],
    headers: &[&Header],
    options: &'o Options,
    rules_used: &mut BTreeSet<usize>,
) -> (Vec<Pending<'o>>, Vec<(usize, Key)>) {
    let wanted = |key: &Key| match options.metrics.as_slice() {
        [] => !metrics::find(&key.metric).is_some_and(|metric| metric.derived),
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
        let ignored = |key: &Key| options.policy.rule(key).is_some_and(|(_, rule)| rule.ignore);
        unmatched.extend(alone.filter(|key| !ignored(key)).map(|key| (side, key.clone())));
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
    let needed = (2.0 * RESAMPLES_OUTSIDE / (1.0 - level)).ceil() as usize;
    let resamples = options.resamples.max(needed.min(MOST_RESAMPLES));
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

/// Length of a unit of time in nanoseconds.
fn nanoseconds(unit: &str) -> Option<f64> {
    Some(match unit {
        "ps" => 1e-3,
        "ns" => 1.0,
        "us" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        _ => return None,
    })
}

/// What a value of one unit is multiplied with to be of another; `None` where that cannot be.
fn factor(from: &str, to: &str) -> Option<f64> {
    if from == to { Some(1.0) } else { Some(nanoseconds(from)? / nanoseconds(to)?) }
}

/// Whether values of a row can be compared with those of another recording.
fn comparable_with(base: &Samples) -> impl Fn(&&Samples) -> bool {
    |other| factor(&other.unit, &base.unit).is_some()
}

/// Whether a side's rows of a mode are compared with the base's exactly: both repeat themselves, from the same seed.
fn is_exact(headers: &[&Header], side: usize, mode: &str) -> bool {
    let (base, other) = (headers[0], headers[side]);
    let drawn = |header: &Header| header.drawn_modes.iter().any(|drawn| drawn == mode);
    base.is_repeatable() && other.is_repeatable() && base.seed == other.seed && !drawn(base) && !drawn(other)
}

/// What all rows are compared with alike.
struct Plan<'a> {
    headers: &'a [&'a Header],
    /// Level of each interval.
    level: f64,
    /// Resamples of each interval.
    resamples: usize,
    seed: u64,
}

fn pend<'o>(
    number: usize,
    key: &Key,
    base: &Samples,
    others: &[Option<&Samples>],
    rule: Option<&'o Rule>,
    plan: &Plan<'_>,
) -> Pending<'o> {
    let headers = plan.headers;
    let exact = |side: usize| is_exact(headers, side, &key.mode);
    // With a world that repeats itself a median is a value that occurred, so that its causes add up to it.
    let all_exact = (1..headers.len()).all(exact);
    let median = |samples: &Samples, values: &[f64]| match all_exact {
        true => samples.occurred(),
        false => stats::median(values).unwrap_or(f64::NAN),
    };
    let base_median = median(base, &base.values);
    let mut cells = vec![Some(cell(&base.values, base_median))];
    let (mut changes, mut ticks) = (Vec::new(), Vec::new());
    for (side, other) in (1..).zip(others) {
        let other = other.and_then(|other| Some((other, factor(&other.unit, &base.unit)?)));
        let Some((other, factor)) = other else {
            cells.push(None);
            changes.push(None);
            ticks.push(0.0);
            continue;
        };
        let values: Vec<f64> = other.values.iter().map(|value| value * factor).collect();
        let after = median(other, &values) * if all_exact { factor } else { 1.0 };
        cells.push(Some(cell(&values, after)));
        let how = if exact(side) {
            How::Exact
        } else {
            // Each row draws on its own, so that a verdict does not depend on which other rows there are.
            let mut random = fastrand::Rng::with_seed(plan.seed.wrapping_add((number * others.len() + side) as u64));
            How::Sampled {
                p: rank_test(&base.values, &values),
                corrected: 1.0,
                interval: interval_of_change(&base.values, &values, plan.level, plan.resamples, &mut random),
            }
        };
        let tick_ns = |header: &Header| header.time.counter_hz.map_or(0.0, |hz| 1e9 / hz as f64);
        let tick = tick_ns(headers[0]).max(tick_ns(headers[side]));
        ticks.push(nanoseconds(&base.unit).map_or(0.0, |unit| tick / unit));
        let absolute = after - base_median;
        changes.push(Some(Change {
            absolute,
            percent: (base_median != 0.0).then(|| absolute / base_median.abs() * 100.0),
            how,
            // Equal samples are equal whatever a test makes of them.
            verdict: if base.values == values { Verdict::Same } else { Verdict::Unclear },
            causes: cause_changes(base, other),
        }));
    }
    let better = rule.and_then(|rule| rule.better).unwrap_or_else(|| metrics::better(&key.metric, &base.unit));
    Pending { row: Row { key: key.clone(), unit: base.unit.clone(), better, cells, changes }, rule, ticks }
}

fn cell(values: &[f64], median: f64) -> Cell {
    let min = values.iter().copied().fold(f64::INFINITY, f64::min);
    let max = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    Cell { n: values.len(), median, min, max }
}

fn cause_changes(base: &Samples, other: &Samples) -> Vec<CauseChange> {
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

/// Corrects p-values over all rows, and gives each change its verdict. Returns how many tests there were.
fn judge(rows: &mut [Pending<'_>], policy: &Policy) -> usize {
    let sampled = |change: &Option<Change>| match change.as_ref()?.how {
        How::Sampled { p, .. } => Some(p),
        How::Exact => None,
    };
    let p_values: Vec<f64> = rows.iter().flat_map(|pending| pending.row.changes.iter().filter_map(sampled)).collect();
    let mut corrected_values = holm(&p_values).into_iter();
    for Pending { row, rule, ticks } in rows {
        let threshold = rule.and_then(|rule| rule.threshold).unwrap_or(policy.threshold);
        let least = rule.map_or(0.0, |rule| rule.least);
        for (change, tick) in row.changes.iter_mut().zip(ticks) {
            let Some(change) = change else { continue };
            if let How::Sampled { corrected, .. } = &mut change.how {
                *corrected = corrected_values.next().unwrap_or(1.0);
            }
            if change.verdict == Verdict::Same {
                continue;
            }
            let differs = match change.how {
                // Each of the two stamps of a span is rounded down to a tick: two spans of the same length can differ by one.
                How::Exact if change.absolute.abs() <= *tick * (1.0 + 1e-6) => {
                    change.verdict = Verdict::Same;
                    continue;
                }
                How::Exact => true,
                How::Sampled { corrected, interval, .. } => {
                    corrected < policy.alpha && interval.is_some_and(|(low, high)| low > 0.0 || high < 0.0)
                }
            };
            let below =
                change.percent.is_some_and(|percent| percent.abs() < threshold) || change.absolute.abs() < least;
            let within = |(low, high): (f64, f64)| low > -threshold && high < threshold;
            change.verdict = match (differs, change.how) {
                (false, How::Sampled { interval: Some(interval), .. })
                    if row.cells.iter().flatten().all(|cell| cell.n >= SMALLEST_SAMPLE) && within(interval) =>
                {
                    Verdict::Same
                }
                (false, _) => Verdict::Unclear,
                (true, _) if below => Verdict::Small,
                (true, _) => match row.better {
                    Better::Neither => Verdict::Changed,
                    Better::Lower if change.absolute < 0.0 => Verdict::Better,
                    Better::Higher if change.absolute > 0.0 => Verdict::Better,
                    Better::Lower | Better::Higher => Verdict::Worse,
                },
            };
        }
    }
    p_values.len()
}

fn warnings(sides: &[Side], headers: &[&Header], tables: &[Table]) -> Vec<String> {
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
fn other_units(tables: &[Table]) -> Option<String> {
    let base: HashMap<&Key, &str> = tables[0].rows.iter().map(|(key, samples)| (key, samples.unit.as_str())).collect();
    let others = tables[1..].iter().flat_map(|table| &table.rows);
    let mut wrong = others.filter_map(|(key, samples)| {
        let unit = base.get(key)?;
        factor(&samples.unit, unit).is_none().then(|| format!("{} is in {unit} and in {}", key.label(), samples.unit))
    });
    let first = wrong.next()?;
    Some(format!("rows of units that cannot be compared are left out: {first}, and {} more", wrong.count()))
}

fn describe(rule: &Rule) -> String {
    let parts = [("case", &rule.case), ("mode", &rule.mode), ("metric", &rule.metric), ("row", &rule.row)];
    let named: Vec<_> =
        parts.iter().filter_map(|(name, value)| Some(format!("{name} = {}", value.as_ref()?))).collect();
    if named.is_empty() { "for all rows".to_owned() } else { named.join(", ") }
}
