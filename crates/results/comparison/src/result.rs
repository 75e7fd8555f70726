//! The result of a comparison.

use crate::inputs::Difference;
use crate::policy::Unjudged;
use crate::statistics::runs_for_ranks;
use crate::table::{Key, Who};
use attribution::{Cause, Spent};
use recording::idle::{IdleSum, percent_of};
use recording::metrics::Better;
use std::collections::{BTreeMap, BTreeSet};

/// The facts about a recording as a whole.
#[derive(Clone, Debug, PartialEq)]
pub struct Side {
    /// The name.
    pub name: String,
    /// The number of its recordings, each of a run.
    pub runs: usize,
    /// The releases that are compared.
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

/// Recordings side by side.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The recordings; the first is the base.
    pub sides: Vec<Side>,
    /// The warnings to read first.
    pub warnings: Vec<String>,
    /// Inputs that differ.
    pub differences: Vec<Difference>,
    /// The rows that the base shares with at least one other, in the order of the base.
    pub rows: Vec<Row>,
    /// The common changes of measures, where enough runs were measured.
    pub shifts: Vec<Shift>,
    /// The critical paths of the slowest CPUs, for each table of rows whose events tell it in the
    /// base and in another recording.
    pub paths: Vec<TablePaths>,
    /// Tables whose rows the order of the CPUs decides, so that they are not judged.
    pub orders: Vec<OtherOrder>,
    /// Two sessions of a board, where costs of simulations were fitted to two.
    pub sessions: Vec<Sessions>,
    /// The functions of calls that were counted by function in all recordings, in the order of the
    /// base.
    pub functions: Vec<CallFunctions>,
    /// Kernels' counts of their idle states, where that is what is compared.
    pub idle: Vec<IdleTest>,
    /// A change of PSCI calls' instructions in time of a board, where one was asked for.
    pub on_board: Option<OnBoard>,
    /// Labels of rows that only one recording has, with its place among the sides.
    pub unmatched: Vec<(usize, Key)>,
    /// The number of rank tests that were made, which is what p-values and intervals are corrected
    /// for.
    pub tests: usize,
    /// The level at which the whole is read.
    pub alpha: f64,
    /// The level at which rows are read: half of the other where common changes have the other
    /// half.
    pub row_alpha: f64,
    /// What becomes of changes that too few runs stand behind.
    pub unjudged: Unjudged,
    /// The change in percent below which one does not matter, where no rule says otherwise.
    pub threshold: f64,
}

/// A change of a PSCI call: its instructions more in the other recording, and how many of them are
/// barriers and cache maintenance; 0 where they were not counted by function.
pub type CallChange = (String, f64, f64);

/// A change of PSCI calls' instructions in time of a board.
#[derive(Clone, Debug, PartialEq)]
pub struct OnBoard {
    /// The board's platform.
    pub platform: String,
    /// Instructions of PSCI_VERSION in the base.
    pub version: f64,
    /// Types of cores, each with the least and the most that an instruction takes, in nanoseconds.
    pub cores: Vec<(String, [f64; 2])>,
    /// The most that a barrier or a line of cache maintenance takes, in nanoseconds: an access to
    /// memory. `None` where the calls were not counted by function.
    pub memory_ns: Option<f64>,
    /// The calls that changed.
    pub calls: Vec<CallChange>,
    /// The cases whose call changed: case, mode, and the time by which the slowest CPU is later,
    /// in microseconds.
    pub cases: Vec<(String, String, [f64; 2])>,
}

impl OnBoard {
    /// The least and the most that a change takes, in microseconds, where an instruction takes
    /// `ns`. A barrier and a line's maintenance take an instruction's time at least, and at most an
    /// access to memory's.
    pub fn us(&self, (_, instructions, slow): &CallChange, ns: [f64; 2]) -> [f64; 2] {
        let [one, other] = ns.map(|ns| instructions * ns);
        let memory = slow * self.memory_ns.unwrap_or(0.0);
        [
            one.min(other) + memory.min(0.0),
            one.max(other) + memory.max(0.0),
        ]
        .map(|ns| ns / 1e3)
    }
}

/// A table of roles in which the CPUs came otherwise than in the base, or as chance had it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherOrder {
    /// As in [`Key`].
    pub variant: String,
    /// The case.
    pub case: String,
    /// The mode.
    pub mode: String,
    /// The recording's place among the sides.
    pub side: usize,
    /// The clusters in the order in which their CPUs went down, in the base and in the recording.
    pub clusters: [Vec<u16>; 2],
    /// Which of the two left the order to chance.
    pub by_chance: [bool; 2],
    /// True if both have the case in a mode whose iterations are draws of the order.
    pub drawn_as_well: bool,
}

impl OtherOrder {
    /// True if it is the table of a row, in a recording.
    pub(crate) fn holds(&self, key: &Key, side: usize) -> bool {
        (&self.variant, &self.case, &self.mode, self.side)
            == (&key.variant, &key.case, &key.mode, side)
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
    pub floors: Vec<([String; 2], f64)>,
    /// What the fits of both grant a cell, in percent; it is added to each floor.
    pub granted: f64,
    /// The release that was measured twice, and its platform.
    pub measured: [String; 2],
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
#[derive(Clone, Debug, PartialEq)]
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
#[derive(Clone, Debug, PartialEq)]
pub struct IdleShare {
    /// Name of the idle share.
    pub state: String,
    /// The share in percent, where the recording has the state and entered any.
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
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    /// The count.
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
    /// Change in the row's unit.
    pub absolute: f64,
    /// Change in percent of the base; `None` where the base is 0.
    pub percent: Option<f64>,
    /// The basis.
    pub basis: Basis,
    /// The verdict.
    pub verdict: Verdict,
    /// The number of runs a side behind it, of the side with fewer.
    pub runs: usize,
    /// True if that is too few for a verdict on a change that matters, or on any.
    pub too_few: bool,
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
    /// Samples.
    Sampled {
        /// The test.
        test: Test,
        /// Its p-value.
        p: f64,
        /// The same, corrected for the number of tests (Holm).
        corrected: f64,
        /// Interval of the change in percent, at [`Comparison::interval_level`]: of the median by
        /// bootstrap, and in Student's test of the mean of logarithms.
        interval: Option<(f64, f64)>,
        /// The number of iterations that say as much as one that is independent of the others, from
        /// 1; `p` and `interval` are corrected for it.
        values_per_independent: f64,
    },
}

/// The test of samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Test {
    /// Of ranks, by Mann and Whitney.
    Ranks,
    /// Student's, of logarithms: where too few runs leave the ranks no verdict.
    Student,
}

/// The common change of all rows of a measure, run against run.
#[derive(Clone, Debug, PartialEq)]
pub struct Shift {
    /// The recording's place among the sides.
    pub side: usize,
    /// The measure.
    pub metric: String,
    /// The number of rows.
    pub rows: usize,
    /// The number of rows that moved the same way by at least their threshold.
    pub moved: usize,
    /// The number of runs of the base and of the other side.
    pub runs: [usize; 2],
    /// The change in percent: the ratio of the geometric means over rows and runs.
    pub percent: f64,
    /// Its interval in percent; those of all measures together hold with 1 - alpha / 2.
    pub interval: (f64, f64),
    /// p-value of Student's test of the runs' means of logarithms.
    pub p: f64,
    /// The same, corrected for the number of measures (Holm); read at alpha / 2.
    pub corrected: f64,
    /// Which way is better.
    pub better: Better,
    /// The verdict.
    pub verdict: Verdict,
}

/// What all rows of each measure come to in the base, by measure and unit.
pub struct Totals<'c>(BTreeMap<(&'c str, &'c str), f64>);

impl Totals<'_> {
    /// The size of a change of a row as a share of its measure's total, from 0.
    pub fn share(&self, row: &Row, change: &Change) -> f64 {
        match self.0.get(&(row.key.metric.as_str(), row.unit.as_str())) {
            Some(total) if *total > 0.0 => change.absolute.abs() / total,
            _ => 0.0,
        }
    }
}

/// What a comparison comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Something became worse.
    Regression,
    /// Nothing did, as far as can be told from chance.
    NoRegression,
    /// Too few runs or sessions stand behind it.
    Unjudged,
}

impl Outcome {
    /// The outcome's name in output for machines.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Regression => "regression",
            Self::NoRegression => "no-regression",
            Self::Unjudged => "cannot-be-judged",
        }
    }
}

/// The verdict on a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// No change: equal to a tick, or the interval lies within the threshold.
    Same,
    /// Nothing can be said.
    Unclear,
    /// The order in which CPUs came decides, and is another one or was left to chance: a condition
    /// of the run and no result, so nothing is judged.
    Order,
    /// Costs were fitted to two sessions of a board, and the change is no larger than what two
    /// sessions of one firmware differ by.
    Session,
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

/// The critical paths of the CPUs that took longest in a table of rows, each in the iteration that
/// stands for its case.
#[derive(Clone, Debug, PartialEq)]
pub struct TablePaths {
    /// As in [`Key`].
    pub variant: String,
    /// The case.
    pub case: String,
    /// The mode.
    pub mode: String,
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

/// A part of the base's critical path and of another's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathChange {
    /// Activity that takes the time.
    pub spent: Spent,
    /// Microseconds on the base's path.
    pub base: f64,
    /// Microseconds on the other's.
    pub other: f64,
}

impl PathChange {
    /// Microseconds that it became longer.
    pub fn absolute(&self) -> f64 {
        self.other - self.base
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
        let spent: BTreeSet<Spent> = self
            .parts
            .iter()
            .chain(&other.parts)
            .map(|(spent, _)| *spent)
            .collect();
        let mut changes: Vec<PathChange> = spent
            .into_iter()
            .map(|spent| PathChange {
                spent,
                base: self.time_on(spent),
                other: other.time_on(spent),
            })
            .collect();
        changes.sort_by(|a, b| b.absolute().abs().total_cmp(&a.absolute().abs()));
        changes
    }
}

impl CauseChange {
    /// Microseconds that it became longer.
    pub fn absolute(&self) -> f64 {
        self.other - self.base
    }
}

impl Change {
    /// True if more runs, or more sessions of the board, are needed to tell what it comes to.
    pub fn is_open(&self) -> bool {
        self.too_few || self.verdict == Verdict::Session
    }

    /// The cause that changed most in the direction of the whole.
    pub fn main_cause(&self) -> Option<Cause> {
        let sign = self.absolute.signum();
        let most = self
            .causes
            .iter()
            .max_by(|a, b| (a.absolute() * sign).total_cmp(&(b.absolute() * sign)))?;
        (most.absolute() * sign > 0.0).then_some(most.cause)
    }
}

impl Comparison {
    /// The level of each interval, from 0 to 1: widened for the number of tests as Bonferroni has
    /// it, so that all intervals of the comparison together hold the changes with probability 1 -
    /// alpha, as the corrected p-values do.
    pub fn interval_level(&self) -> f64 {
        interval_level(self.row_alpha, self.tests)
    }

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
        match () {
            () if self.has_regression() => Outcome::Regression,
            () if self.changes().any(|(_, change)| change.is_open()) => Outcome::Unjudged,
            () => Outcome::NoRegression,
        }
    }

    /// The runs a side from which ranks alone can judge each row.
    pub fn runs_for_ranks(&self) -> usize {
        // With several rows, half of the level goes to what they have in common.
        runs_for_ranks(
            self.tests,
            if self.tests > 1 {
                self.alpha / 2.0
            } else {
                self.alpha
            },
        )
    }

    /// What all rows of each measure come to in the base, by measure and unit.
    pub fn totals(&self) -> Totals<'_> {
        let mut totals = BTreeMap::new();
        for row in &self.rows {
            let median = row.cells[0].map_or(0.0, |cell| cell.median.abs());
            *totals
                .entry((row.key.metric.as_str(), row.unit.as_str()))
                .or_default() += median;
        }
        Totals(totals)
    }

    /// All changes with their rows.
    pub fn changes(&self) -> impl Iterator<Item = (&Row, &Change)> {
        self.rows.iter().flat_map(|row| {
            row.changes
                .iter()
                .flatten()
                .map(move |change| (row, change))
        })
    }

    /// The number of changes that come to a verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.changes()
            .filter(|(_, change)| change.verdict == verdict)
            .count()
    }
}

impl Verdict {
    /// The verdict's name in output for machines.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Unclear => "unclear",
            Self::Order => "order",
            Self::Session => "session",
            Self::Small => "below-threshold",
            Self::Changed => "changed",
            Self::Better => "better",
            Self::Worse => "worse",
        }
    }
}

pub(crate) fn interval_level(alpha: f64, tests: usize) -> f64 {
    1.0 - alpha / tests.max(1) as f64
}

/// A call by function, in each recording.
#[derive(Clone, Debug, PartialEq)]
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
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionRow {
    /// The name.
    pub name: String,
    /// Instructions of the function in one call.
    pub instructions: Vec<f64>,
    /// The other counts of one call that changed, by their names.
    pub others: Vec<(&'static str, Vec<f64>)>,
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
            .map(|&(cause, base, other)| CauseChange { cause, base, other })
            .collect();
        Change {
            absolute,
            percent: None,
            basis: Basis::Exact,
            verdict: Verdict::Worse,
            runs: 1,
            too_few: false,
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

    /// Scripts read these.
    #[test]
    fn verdicts_have_names() {
        use Verdict::{Better, Changed, Order, Same, Session, Small, Unclear, Worse};
        let names =
            [Same, Unclear, Order, Session, Small, Changed, Better, Worse].map(Verdict::name);
        assert_eq!(
            names,
            [
                "same",
                "unclear",
                "order",
                "session",
                "below-threshold",
                "changed",
                "better",
                "worse"
            ]
        );
    }

    #[test]
    fn intervals_are_wider_the_more_there_are() {
        let close = |a: f64, b: f64| (a - b).abs() < 1e-12;
        assert!(close(interval_level(0.05, 1), 0.95) && close(interval_level(0.05, 10), 0.995));
        assert!(
            close(interval_level(0.05, 0), 0.95),
            "without a test there is no correction"
        );
    }
}
