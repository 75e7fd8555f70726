//! The result of a comparison.

use crate::bounds::Bounded;
use crate::inputs::Difference;
use crate::policy::Unjudged;
use crate::table::{Key, TableName, Who};
use attribution::{Cause, Spent};
use findings::InOrder;
use recording::facts::Changed;
use recording::idle::{IdleSum, percent_of};
use recording::metrics::Better;
use recording::total_order;
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// The facts about a recording as a whole.
#[derive(Debug, Serialize)]
pub struct Side {
    /// The name.
    pub name: String,
    /// The number of its runs; a recording that was given again counts once.
    pub runs: usize,
    /// How often a recording was given again.
    pub given_again: usize,
    /// The releases that are compared.
    #[serde(rename = "releases")]
    pub variants: Vec<String>,
    /// The world it was made in.
    pub world: String,
    /// True if the same inputs give the same values there.
    pub repeatable: bool,
    /// The platform's name.
    pub platform: Option<String>,
    /// The machine that ran it.
    pub machine: Option<String>,
    /// The seed.
    pub seed: u64,
}

/// A node of a recording whose rows are compared with those of another node of the base.
#[derive(Debug, Serialize)]
pub struct StandIn {
    /// The recording.
    pub side: usize,
    /// The base's node, which has no rows there.
    pub base: String,
    /// The node there, which has no rows in the base.
    pub other: String,
}

/// Recordings side by side.
#[derive(Debug)]
pub struct Comparison {
    /// The recordings; the first is the base.
    pub sides: Vec<Side>,
    /// The warnings to read first.
    pub warnings: Vec<String>,
    /// Nodes that are compared with one of another name.
    pub stand_ins: Vec<StandIn>,
    /// What a side lacks and another has.
    pub missing: Vec<Missing>,
    /// Runs that are unlike the others of their side.
    pub odd_runs: Vec<OddRun>,
    /// Conditions that differ, so that rows are not judged.
    pub conditions: Vec<Differing>,
    /// Inputs that differ.
    pub differences: Vec<Difference>,
    /// The rows that the base shares with at least one other, in the order of the base.
    pub rows: Vec<Row>,
    /// The common changes of measures, where enough runs were measured.
    pub shifts: Vec<Shift>,
    /// The critical paths of the slowest CPUs, for each table of rows whose events tell it in the
    /// base and in another recording.
    pub paths: Vec<TablePaths>,
    /// Two sessions of a board, where costs of simulations were fitted to two.
    pub sessions: Vec<Sessions>,
    /// The functions of calls that were counted by function in all recordings, in the order of the
    /// base.
    pub functions: Vec<CallFunctions>,
    /// Kernels' counts of their idle states, where that is what is compared.
    pub idle: Vec<IdleTest>,
    /// Sleeps in which a governor's file chose otherwise than in the base.
    pub choices: Vec<Changed>,
    /// A change of PSCI calls' instructions in time of a board, where one was asked for.
    pub on_board: Option<OnBoard>,
    /// What recordings come to beside the policy's bounds; empty where it has none.
    pub bounds: Vec<Bounded>,
    /// The level of false alarms in the whole.
    pub alpha: f64,
    /// What becomes of what cannot be judged.
    pub unjudged: Unjudged,
    /// The change in percent below which one does not matter, where no rule says otherwise.
    pub threshold: f64,
}

/// What is known of instructions in time of a board.
#[derive(Debug, Serialize)]
pub struct OnBoard {
    /// The board's platform.
    pub platform: String,
    /// How well a price of an instruction foretold a release; `None` where nothing tries one.
    pub trial: Option<Trial>,
}

/// A price of an instruction beside what a board's releases took.
#[derive(Debug, Serialize)]
pub struct Trial {
    /// The call.
    pub call: String,
    /// The releases.
    pub releases: [String; 2],
    /// Instructions that the call has more in the later one.
    pub instructions: f64,
    /// The least that an instruction of the call took in the first one, in nanoseconds.
    pub ns: f64,
    /// Two sessions of a release are as near as that, in microseconds.
    pub within_us: f64,
    /// Changes that the price meets.
    pub met: usize,
    /// Changes that "as before" meets.
    pub as_before: usize,
    /// Changes.
    pub of: usize,
}

/// What one side lacks and another has.
#[derive(Debug, PartialEq)]
pub struct Missing {
    /// The place of the side that lacks it.
    pub side: usize,
    /// The row.
    pub key: Key,
    /// What of it.
    pub lack: Lack,
}

/// What of a row a side lacks.
#[derive(Debug, PartialEq)]
pub enum Lack {
    /// All of it.
    Row,
    /// Some runs: so many have it, of so many.
    Runs(usize, usize),
    /// A unit that can be compared: its own, and the base's.
    Unit(String, String),
}

/// A run that is unlike the other runs of its side in most rows.
#[derive(Debug)]
pub struct OddRun {
    /// The side.
    pub side: usize,
    /// Its number in the side, from 1.
    pub run: usize,
    /// Its values as a multiple of the others', in the median of the rows.
    pub factor: f64,
    /// The number of rows.
    pub rows: usize,
}

/// A condition of a run that differs, or that chance had, and that decides rows.
#[derive(Debug)]
pub struct Differing {
    /// What it is.
    pub condition: Condition,
    /// The recording's place among the sides.
    pub side: usize,
    /// What it is in the base and in the recording.
    pub values: [String; 2],
    /// Release, case and mode of the table that it decides, as in [`Key`]; `None`: all rows.
    pub table: Option<TableName>,
    /// The way to compare all the same, where there is one.
    pub remedy: Option<String>,
}

/// What was not the thing under test and can move a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Condition {
    /// The machine that was measured.
    Machine,
    /// What whoever imported a measurement said of it.
    Given,
    /// The order in which CPUs came.
    Order,
    /// The CPU whose timer wakes the others.
    Timer,
    /// The session of a board that costs were fitted to.
    Session,
}

impl Condition {
    /// The condition's name in output for machines.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Machine => "machine",
            Self::Given => "given",
            Self::Order => "order",
            Self::Timer => "timer",
            Self::Session => "session",
        }
    }
}

/// Two sessions of a board behind the costs of two recordings.
#[derive(Clone, Debug, PartialEq)]
pub struct Sessions {
    /// The recording's place among the sides.
    pub side: usize,
    /// The session of the base's costs, and of the recording's.
    pub names: [String; 2],
    /// The costs that no firmware decides, and that differ by more than their fits leave open.
    pub moved: Vec<BoardCost>,
    /// The floors in percent, by mode (or none) and metric: changes below them are not judged.
    /// Empty where no release was measured twice on the platform.
    pub floors: Vec<([String; 2], f64)>,
    /// What the fits of both grant a cell, in percent; it is added to each floor.
    pub granted: f64,
    /// The release that was measured twice, and the platform.
    pub measured: [String; 2],
    /// The fits that miss their figures by more than they may.
    pub bad_fits: Vec<String>,
}

/// A cost of the board in two sessions, in microseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct BoardCost {
    /// The cost's key.
    pub key: String,
    /// Microseconds in the base's session and in the other.
    pub us: [f64; 2],
}

/// A test that kernels counted their idle states in, summed over CPUs.
#[derive(Debug)]
pub struct IdleTest {
    /// The kernel; empty where the recordings' only ones are compared, whatever they are called.
    pub variant: String,
    /// The test.
    pub case: String,
    /// The sum of all states in each recording, where it has the test.
    pub sums: Vec<Option<IdleSum>>,
    /// The states, each with its share in each recording, in percent.
    pub states: Vec<IdleShare>,
    /// True if shares are of the idle time; of the entries where a recording has no times.
    pub by_time: bool,
}

/// A state's share in each recording.
#[derive(Debug, Serialize)]
pub struct IdleShare {
    /// Name of the idle share.
    pub state: String,
    /// The share in percent, where the recording has the state and entered any.
    #[serde(rename = "share_percent")]
    pub shares: Vec<Option<f64>>,
}

impl IdleTest {
    /// Entries that a recording counted as too deep, as too shallow, and both, in percent.
    pub fn misses(&self, side: usize) -> [Option<f64>; 3] {
        let sum = self.sums.get(side).copied().flatten().unwrap_or_default();
        [sum.above, sum.below, sum.misses()].map(|count| percent_of(count, sum.entered))
    }

    /// The changes of these against the base, in points.
    pub fn changes(&self, side: usize) -> [Option<f64>; 3] {
        let (base, other) = (self.misses(0), self.misses(side));
        [0, 1, 2].map(|which| Some(other[which]? - base[which]?))
    }
}

/// One row.
#[derive(Clone, Debug)]
pub struct Row {
    /// Label of the row.
    pub key: Key,
    /// The unit of all its values: the base's.
    pub unit: String,
    /// Which way is better.
    pub better: Better,
    /// The values in each recording, where it has the row.
    pub cells: Vec<Option<Cell>>,
    /// The values themselves, a list for each recording in the order of its iterations, in the
    /// row's unit; empty where it has no row.
    pub values: Vec<Vec<f64>>,
    /// The change of each recording but the base, where both have the row.
    pub changes: Vec<Option<Change>>,
}

/// A row's values in one recording.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Cell {
    /// The count.
    pub n: usize,
    /// The value that stands for them: of what is exact the lower median, a value that occurred; of
    /// runs their geometric mean, or their mean where one of the row's values is not above 0.
    pub value: f64,
    /// The smallest.
    pub min: f64,
    /// The largest.
    pub max: f64,
}

/// A change against the base.
#[derive(Clone, Debug)]
pub struct Change {
    /// Change in the row's unit.
    pub absolute: f64,
    /// Change in percent of the base; `None` where the base is 0.
    pub percent: Option<f64>,
    /// The basis.
    pub basis: Basis,
    /// The verdict.
    pub verdict: Verdict,
    /// True if it is below the threshold of its row.
    pub below: bool,
    /// Microseconds by cause in the median, before and after; empty where one of the two has no
    /// events.
    pub causes: Vec<CauseChange>,
}

/// The basis of a change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Basis {
    /// Both worlds repeat themselves: the difference is what it is, to a tick of the counter.
    Exact,
    /// Runs of both, by the test of [`evidence::test`].
    Runs {
        /// The p-value, corrected for the number of tests (Holm).
        p: f64,
        /// Interval of the change in percent, as strict as the row's test.
        interval: [f64; 2],
        /// The change in percent that would have been told in 80 of 100.
        seen_from: f64,
    },
    /// Fewer runs than tell anything of how runs scatter.
    TooFew,
}

/// The common change of all rows of a measure, run against run.
#[derive(Debug)]
pub struct Shift {
    /// The recording's place among the sides.
    pub side: usize,
    /// The measure.
    pub metric: String,
    /// The number of rows.
    pub rows: usize,
    /// The change in percent: the ratio of the geometric means over rows and runs.
    pub percent: f64,
    /// Its interval in percent.
    pub interval: [f64; 2],
    /// p-value, corrected for the number of measures (Holm).
    pub p: f64,
    /// The verdict; none of rows that did not move alike.
    pub verdict: Verdict,
}

/// What a comparison comes to.
#[derive(Debug, PartialEq)]
pub enum Outcome {
    /// Something became worse.
    Regression,
    /// Nothing did, as far as can be told from chance.
    NoRegression,
    /// A side lacks something, a condition differs, or too few runs stand behind it.
    Unjudged,
    /// A bound surely does not hold.
    Exceeded,
    /// All bounds surely hold.
    Held,
}

impl Outcome {
    /// The outcome's name in output for machines.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Regression => "regression",
            Self::NoRegression => "no-regression",
            Self::Unjudged => "cannot-be-judged",
            Self::Exceeded => "exceeded",
            Self::Held => "held",
        }
    }
}

/// The verdict on a change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// No change: equal to a tick, or the interval lies within the threshold.
    Same,
    /// No change that can be told from chance.
    Unclear,
    /// Too few runs for any verdict.
    TooFew,
    /// Twice as much or half, and too few runs to tell that from chance.
    Large,
    /// A condition decides it, so nothing is judged.
    Unjudged(Condition),
    /// A change, but below the threshold.
    Small,
    /// A change of something of which neither way is better.
    Changed,
    /// A change for the better.
    Better,
    /// A regression.
    Worse,
}

/// A part of what is compared, in the base and in the other.
#[derive(Clone, Debug)]
pub struct PartChange<P> {
    /// What takes the time.
    pub part: P,
    /// Microseconds in the base.
    pub base: f64,
    /// Microseconds in the other.
    pub other: f64,
}

/// A cause in the medians.
pub type CauseChange = PartChange<Cause>;

/// An activity on the critical paths.
pub type PathChange = PartChange<Spent>;

/// The critical paths of the CPUs that took longest in a table of rows, each in the iteration that
/// stands for its case.
#[derive(Debug, PartialEq)]
pub struct TablePaths {
    /// The table.
    pub table: TableName,
    /// The quantity that was measured.
    pub metric: String,
    /// The path in each recording, where it has events of the case.
    pub paths: Vec<Option<CriticalPath>>,
}

/// The critical path of a CPU's figure.
#[derive(Clone, Debug, PartialEq)]
pub struct CriticalPath {
    /// The CPU by its place, or by its number.
    pub who: Who,
    /// Microseconds by what they are spent on, the longest first.
    pub parts: Vec<(Spent, f64)>,
}

impl<P> PartChange<P> {
    /// Microseconds that it became longer.
    pub fn absolute(&self) -> f64 {
        self.other - self.base
    }

    /// The changes, the largest first.
    pub fn sorted(mut changes: Vec<Self>) -> Vec<Self> {
        changes.sort_by_key(|of| Reverse(total_order(of.absolute().abs())));
        changes
    }
}

impl CriticalPath {
    /// Microseconds of all parts.
    pub fn total(&self) -> f64 {
        self.parts.iter().map(|(_, us)| us).sum()
    }

    fn time_on(&self, wanted: Spent) -> f64 {
        self.parts
            .iter()
            .find(|(spent, _)| *spent == wanted)
            .map_or(0.0, |(_, us)| *us)
    }

    /// Each part of this path or of another's against this one, what changed most first; they add
    /// up to the change of the whole.
    pub fn changes(&self, other: &Self) -> Vec<PathChange> {
        let both = self.parts.iter().chain(&other.parts);
        let spent: BTreeSet<Spent> = both.map(|(spent, _)| *spent).collect();
        let change = |part| PartChange {
            part,
            base: self.time_on(part),
            other: other.time_on(part),
        };
        PartChange::sorted(spent.into_iter().map(change).collect())
    }
}

impl Change {
    /// True if nothing is judged, though more runs or another condition would tell.
    pub fn is_open(&self) -> bool {
        matches!(
            self.verdict,
            Verdict::TooFew | Verdict::Large | Verdict::Unjudged(_)
        )
    }

    /// Its size by the logarithm of the ratio, or 0 where there is none.
    pub fn size(&self) -> f64 {
        self.percent.map_or(0.0, |percent| {
            (percent / 100.0).max(-1.0 + 1e-9).ln_1p().abs()
        })
    }

    /// The cause that changed most in the direction of the whole.
    pub fn main_cause(&self) -> Option<Cause> {
        let sign = self.absolute.signum();
        let most = self
            .causes
            .iter()
            .max_by_key(|of| total_order(of.absolute() * sign))?;
        (most.absolute() * sign > 0.0).then_some(most.part)
    }
}

impl Comparison {
    /// True if any row became worse, or a measure in common.
    pub fn has_regression(&self) -> bool {
        let shifts = self.shifts.iter().map(|shift| shift.verdict);
        self.changes()
            .map(|(_, change)| change.verdict)
            .chain(shifts)
            .any(|verdict| verdict == Verdict::Worse)
    }

    /// What it comes to, whatever the policy makes of that.
    pub fn outcome(&self) -> Outcome {
        if !self.bounds.is_empty() {
            let has = |verdict| self.bounds.iter().any(|of| of.holds == verdict);
            return match () {
                () if has(Some(false)) => Outcome::Exceeded,
                () if has(None) => Outcome::Unjudged,
                () => Outcome::Held,
            };
        }
        let is_open =
            !self.missing.is_empty() || self.changes().any(|(_, change)| change.is_open());
        match is_open {
            _ if self.has_regression() => Outcome::Regression,
            true => Outcome::Unjudged,
            false => Outcome::NoRegression,
        }
    }

    /// All changes with their rows.
    pub fn changes(&self) -> impl Iterator<Item = (&Row, &Change)> {
        (1..self.sides.len()).flat_map(|side| self.of_side(side))
    }

    /// The rows that a side shares with the base, each with its change.
    pub fn of_side(&self, side: usize) -> impl Iterator<Item = (&Row, &Change)> {
        self.rows
            .iter()
            .filter_map(move |row| Some((row, row.changes[side - 1].as_ref()?)))
    }

    /// The number of changes that come to a verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.changes()
            .filter(|(_, change)| change.verdict == verdict)
            .count()
    }
}

impl Row {
    /// True if it is of a time that had better be short.
    pub fn is_time(&self) -> bool {
        self.better == Better::Lower && recording::units::nanoseconds(&self.unit).is_some()
    }
}

impl Verdict {
    /// True if something changed, and that can be said.
    pub const fn is_change(self) -> bool {
        matches!(self, Self::Worse | Self::Better | Self::Changed)
    }

    /// The verdict's name in output for machines.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Unclear => "unclear",
            Self::TooFew => "too-few-runs",
            Self::Large => "large-and-unproven",
            Self::Unjudged(condition) => condition.name(),
            Self::Small => "below-threshold",
            Self::Changed => "changed",
            Self::Better => "better",
            Self::Worse => "worse",
        }
    }
}

/// A call by function, in each recording.
#[derive(Debug, PartialEq, Serialize)]
pub struct CallFunctions {
    /// The build; empty where one build of each recording is compared.
    pub build: String,
    /// The call.
    pub call: String,
    /// Instructions of one call in each recording.
    pub instructions: Vec<f64>,
    /// The functions of which something changed, the one with the largest change first.
    pub changed: Vec<FunctionRow>,
}

/// A function of a call, in each recording; 0 where it was not executed.
#[derive(Debug, PartialEq, Serialize)]
pub struct FunctionRow {
    /// The name.
    #[serde(rename = "function")]
    pub name: String,
    /// Instructions of the function in one call.
    pub instructions: Vec<f64>,
    /// The other counts of one call that changed, by their names.
    pub others: InOrder<'static, Vec<f64>>,
}

impl FunctionRow {
    /// The change of its instructions in a recording, against the base.
    pub fn change(&self, side: usize) -> f64 {
        self.instructions[side] - self.instructions[0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(absolute: f64, causes: &[(Cause, f64, f64)]) -> Change {
        let causes = causes
            .iter()
            .map(|&(part, base, other)| CauseChange { part, base, other })
            .collect();
        Change {
            absolute,
            percent: None,
            basis: Basis::Exact,
            verdict: Verdict::Worse,
            below: false,
            causes,
        }
    }

    /// The main cause that a table names beside a change went the same way, and most.
    #[test]
    fn the_main_cause_goes_the_way_of_the_whole() {
        let causes = [
            (Cause::Code, 10.0, 13.0),
            (Cause::LockWait, 50.0, 45.0),
            (Cause::FlushL1, 5.0, 6.0),
        ];
        assert_eq!(change(4.0, &causes).main_cause(), Some(Cause::Code));
        assert_eq!(change(-1.0, &causes).main_cause(), Some(Cause::LockWait));
        assert_eq!(
            change(2.0, &causes[1..2]).main_cause(),
            None,
            "it went the other way"
        );
        assert_eq!(
            change(2.0, &[(Cause::Code, 3.0, 3.0)]).main_cause(),
            None,
            "it did not change"
        );
        assert_eq!(change(2.0, &[]).main_cause(), None);
    }
}
