//! `eas-energy`: more and more equal tasks with the energy model of Linux and without.

use crate::beside::beside;
use crate::rows::{Row, named};
use crate::{Findings, Interval};
use evidence::Leaders;
use itertools::Itertools;
use published::EasReference;
use recording::facts::{self, FactsError};
use recording::metrics::{self, Metric};
use recording::{distinct, stats};
use schemars::JsonSchema;
use serde::Serialize;

/// The rules that the published runs had.
pub const MEASURED: &str = "eas";

const OFF: &str = "off";

/// The mode with the usual assumptions: a round trip into an idle state takes 300 of 1024 parts of
/// its range.
const USUAL: &str = "300";

/// Numbers of equal tasks on some boards.
#[derive(Serialize, JsonSchema)]
pub struct EasEnergy<'r> {
    /// The boards, in the order in which they were asked for.
    pub boards: Vec<Board<'r>>,
    /// The numbers of equal tasks, each at least 1; lists of a board are in this order.
    pub tasks: Vec<u32>,
    /// Period of each task in milliseconds.
    pub period_ms: u64,
    /// CPU time of each task on the fastest core, in percent of its period.
    pub duty_percent: u64,
    /// Length of a run in seconds.
    pub seconds: u64,
    /// The number of seeds.
    pub seeds: u32,
    /// The source of the published figures, if there are any for this workload.
    pub published_source: Option<&'r str>,
    /// The conditions under which the published figures were measured.
    pub published_conditions: Option<&'r str>,
    /// The recording's folder, as it was named on the command line.
    pub recording: &'r str,
}

/// A board.
#[derive(Serialize, JsonSchema)]
pub struct Board<'r> {
    /// The board's name.
    pub name: &'r str,
    /// The board's name as a title.
    pub title: String,
    /// `J`, or `unit s` where nobody says how many watts a unit is.
    pub unit: &'static str,
    /// What was assumed, a run each: numbers are round trips into idle states in parts of 1024 of
    /// their range.
    pub assumed: Vec<&'r str>,
    /// The gains of all rules with an energy model over all seeds, numbers of tasks and
    /// assumptions; `None` without rules to compare.
    pub gain_percent: Option<Interval>,
    /// True if more than one seed ran and what no source says was varied: without either the gains
    /// are no interval of anything.
    pub is_varied: bool,
    /// Each of the rules of placement that ran.
    pub rules: Vec<Rules<'r>>,
    /// Published energy in joules by number of tasks; `None` where none was published.
    pub published: Vec<Option<f64>>,
    /// Predictors of the published energies; none without published figures.
    pub predictors: Vec<Predictor>,
    /// The name of the domain of the fastest CPUs.
    pub big: String,
    /// The place of the usual assumptions among them.
    pub usual: usize,
}

/// Rules of placement on a board; lists are by number of tasks.
#[derive(Serialize, JsonSchema)]
pub struct Rules<'r> {
    /// The name of the rules.
    pub name: &'r str,
    /// Means over the seeds, by what is assumed, in the order of the board's list.
    pub energy: Vec<Vec<f64>>,
    /// The share of the energy that the energy model gains, in percent: the least and the most over
    /// all seeds and all that is assumed, and the mean with the usual assumptions. Empty for the
    /// rules without an energy model, and where those did not run.
    pub gain_percent: Vec<Interval>,
    /// The share of the time in which the fastest domain runs, in percent.
    pub big_runs_percent: Vec<f64>,
    /// The 95th percentile of the tasks' response in milliseconds.
    pub p95_ms: Vec<f64>,
    /// Moves of tasks between CPUs, means over the seeds.
    pub moves: Vec<f64>,
}

/// A predictor of the published figures.
#[derive(Serialize, JsonSchema)]
pub struct Predictor {
    /// The predictor, in words.
    pub name: String,
    /// Root mean square of the relative errors, in percent.
    pub rms_percent: f64,
    /// The scale by which it is multiplied.
    pub scale: f64,
    /// The relative errors in percent, by published figure, signed.
    pub errors_percent: Vec<f64>,
    /// The number of tasks at which a task takes least; `None` where several are alike.
    pub least_at: Option<u32>,
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// Predictions beside figures: the scale with the least relative error, its root mean square, and
/// the errors. None without two figures.
fn scaled(name: String, predicted: &[f64], published: &[(u32, f64)]) -> Option<Predictor> {
    let ratios = predicted
        .iter()
        .zip(published)
        .map(|(own, (_, figure))| own / figure)
        .collect_vec();
    let squares: f64 = ratios.iter().map(|ratio| ratio * ratio).sum();
    if published.len() < 2 || squares == 0.0 {
        return None;
    }
    let scale = ratios.iter().sum::<f64>() / squares;
    let errors_percent = ratios
        .iter()
        .map(|ratio| 100.0 * (scale * ratio - 1.0))
        .collect_vec();
    let per_task = predicted
        .iter()
        .zip(published)
        .map(|(own, (tasks, _))| (*tasks, own / f64::from(*tasks)))
        .collect_vec();
    let least = Leaders::least(per_task, |(_, own)| Some([*own; 2]));
    Some(Predictor {
        name,
        rms_percent: stats::rms(&errors_percent)?,
        scale,
        errors_percent,
        least_at: least.and_then(|least| Some(least.alone()?.0)),
    })
}

/// Reads the boards.
pub fn read<'r>(findings: &Findings<'r>) -> Result<EasEnergy<'r>, FactsError> {
    let recording = findings.recording;
    let facts: facts::ManyTasks = recording.header.facts()?;
    let rows = named(recording);
    let reference = findings.published.eas.as_ref().filter(|reference| {
        (
            reference.period_ms,
            reference.duty_percent,
            reference.seconds,
        ) == (facts.period_ms, facts.duty_percent, facts.seconds)
            && beside(&recording.header)
    });
    let boards = facts
        .boards
        .iter()
        .map(|board| read_board(&rows, board, &facts, reference))
        .collect_vec();
    let has_published = boards
        .iter()
        .any(|board| board.published.iter().any(Option::is_some));
    let source = reference.filter(|_| has_published);
    Ok(EasEnergy {
        boards,
        tasks: facts.tasks,
        period_ms: facts.period_ms,
        duty_percent: facts.duty_percent,
        seconds: facts.seconds,
        seeds: recording.header.iterations,
        published_source: source.map(|reference| reference.source.as_str()),
        published_conditions: source.map(|reference| reference.conditions.as_str()),
        recording: findings.folder,
    })
}

/// The rows of a board.
struct BoardRows<'r, 'b> {
    board: &'b facts::TaskBoard,
    tasks: &'b [u32],
    own: Vec<&'b Row<'r>>,
    assumed: Vec<&'r str>,
}

impl<'r, 'b> BoardRows<'r, 'b> {
    fn new(rows: &'b [Row<'r>], board: &'b facts::TaskBoard, facts: &'b facts::ManyTasks) -> Self {
        let own = rows
            .iter()
            .filter(|row| row.variant == board.name)
            .collect_vec();
        let modes = own.iter().map(|row| row.mode);
        let assumed = distinct(modes.filter(|name| !name.is_empty()));
        Self {
            board,
            tasks: &facts.tasks,
            own,
            assumed,
        }
    }

    /// The rules, by their names.
    fn cases(&self) -> Vec<&'r str> {
        let cases = self.own.iter().map(|row| row.case);
        distinct(cases.filter(|name| !name.is_empty()))
    }

    /// The values of a rule under an assumption with a number of tasks, by seed.
    fn values(&self, case: &str, mode: &str, metric: Metric, role: &str, tasks: u32) -> Vec<f64> {
        let subject = format!("{tasks} tasks");
        self.own
            .iter()
            .filter(|row| {
                row.is_of(case, metric)
                    && (row.mode, row.subject, row.role) == (mode, &*subject, role)
            })
            .map(|row| row.value)
            .collect()
    }

    /// The mean over seeds for each number of tasks.
    fn by_tasks(&self, case: &str, mode: &str, metric: Metric, role: &str) -> Vec<f64> {
        self.tasks
            .iter()
            .map(|tasks| mean(&self.values(case, mode, metric, role, *tasks)))
            .collect()
    }

    /// What a rule saves against no energy model, in percent, seed by seed.
    fn gains(&self, case: &str, mode: &str, tasks: u32) -> Vec<f64> {
        let energy = |case: &str| self.values(case, mode, metrics::ENERGY, "", tasks);
        energy(case)
            .into_iter()
            .zip(energy(OFF))
            .map(|(own, other)| 100.0 * (1.0 - own / other))
            .collect()
    }

    /// The same with the range over all assumptions.
    fn gain(&self, case: &str, tasks: u32) -> Option<Interval> {
        let all = self
            .assumed
            .iter()
            .flat_map(|mode| self.gains(case, mode, tasks))
            .collect_vec();
        Some(Interval {
            median: mean(&self.gains(case, USUAL, tasks)),
            ..Interval::of_all(&all)?
        })
    }

    fn rules(&self, case: &'r str) -> Rules<'r> {
        let watts = self.board.watts_per_unit.unwrap_or(1.0);
        let energy = |mode: &&str| -> Vec<f64> {
            let units = self.by_tasks(case, mode, metrics::ENERGY, "").into_iter();
            units.map(|units| units * watts).collect()
        };
        let of_usual = |metric, role: &str| self.by_tasks(case, USUAL, metric, role);
        let tasks = self.tasks.iter().filter(|_| case != OFF);
        let big = of_usual(metrics::RUNNING, &self.board.big).into_iter();
        Rules {
            name: case,
            gain_percent: tasks.filter_map(|tasks| self.gain(case, *tasks)).collect(),
            energy: self.assumed.iter().map(energy).collect(),
            big_runs_percent: big.map(|share| 100.0 * share).collect(),
            p95_ms: of_usual(metrics::RESPONSE, "p95"),
            moves: of_usual(metrics::MIGRATIONS, ""),
        }
    }
}

fn read_board<'r>(
    rows: &[Row<'r>],
    board: &facts::TaskBoard,
    facts: &facts::ManyTasks,
    reference: Option<&EasReference>,
) -> Board<'r> {
    let rows = BoardRows::new(rows, board, facts);
    let watts = board.watts_per_unit;
    let rules = rows
        .cases()
        .into_iter()
        .map(|case| rows.rules(case))
        .collect_vec();
    let (own, assumed) = (&rows.own, rows.assumed.clone());
    let reference =
        reference.filter(|reference| reference.platforms.contains(&board.name) && watts.is_some());
    let published = facts
        .tasks
        .iter()
        .map(|tasks| {
            reference
                .and_then(|reference| reference.figure(*tasks))
                .map(|figure| figure.energy_j)
        })
        .collect_vec();
    Board {
        name: own.first().map_or("", |row| row.variant),
        title: board.title.clone(),
        unit: if watts.is_some() { "J" } else { "unit s" },
        predictors: predictors(&rules, &assumed, facts, &published),
        gain_percent: all_gains(&rules),
        is_varied: assumed.len() > 1 && own.iter().any(|row| row.iteration > 0),
        usual: assumed.iter().position(|mode| *mode == USUAL).unwrap_or(0),
        assumed,
        rules,
        published,
        big: board.big.clone(),
    }
}

/// The gains of all rules and numbers of tasks, with the mean of the usual ones.
fn all_gains(rules: &[Rules<'_>]) -> Option<Interval> {
    let gains = || rules.iter().flat_map(|rules| &rules.gain_percent);
    let usual = gains().map(|gain| gain.median).collect_vec();
    let all = gains().flat_map(|gain| [gain.low, gain.high]).collect_vec();
    Some(Interval {
        median: mean(&usual),
        ..Interval::of_all(&all)?
    })
}

/// The model with each end of what is assumed, and predictors that know nothing of schedulers.
pub fn predictors(
    rules: &[Rules<'_>],
    assumed: &[&str],
    facts: &facts::ManyTasks,
    published: &[Option<f64>],
) -> Vec<Predictor> {
    let known = facts
        .tasks
        .iter()
        .zip(published)
        .filter_map(|(tasks, figure)| Some((*tasks, (*figure)?)))
        .collect_vec();
    let of_known = |values: &[f64]| -> Vec<f64> {
        values
            .iter()
            .zip(published)
            .filter(|(_, figure)| figure.is_some())
            .map(|(value, _)| *value)
            .collect()
    };
    let mut all = Vec::new();
    for rules in rules {
        for (energy, part) in rules
            .energy
            .iter()
            .zip(assumed)
            .filter(|(_, part)| part.parse::<u32>().is_ok())
        {
            all.extend(scaled(
                predictor_name(rules.name, part),
                &of_known(energy),
                &known,
            ));
        }
    }
    let tasks = known
        .iter()
        .map(|(tasks, _)| f64::from(*tasks))
        .collect_vec();
    all.extend(scaled("a constant per task".to_owned(), &tasks, &known));
    all
}

impl EasEnergy<'_> {
    /// The numbers of tasks with their places in the lists of a board.
    pub fn numbered(&self) -> Vec<(usize, u32)> {
        self.tasks.iter().copied().enumerate().collect()
    }
}

/// The name of rules with something assumed, as a predictor.
pub fn predictor_name(rules: &str, assumed: &str) -> String {
    format!("{rules}, {assumed}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scale_has_the_least_relative_error() {
        let published = [(10, 10.0), (20, 22.0), (30, 33.0)];
        let exact = scaled("twice".to_owned(), &[20.0, 44.0, 66.0], &published).unwrap();
        assert!((exact.scale - 0.5).abs() < 1e-12 && exact.rms_percent < 1e-9);
        assert_eq!(exact.least_at, Some(10));
        let constant = scaled("constant".to_owned(), &[10.0, 20.0, 30.0], &published).unwrap();
        assert!(constant.rms_percent > 3.0 && constant.least_at.is_none());
        assert!(scaled("one".to_owned(), &[1.0], &published[..1]).is_none());
    }

    #[test]
    fn gains_span_all_that_is_assumed() {
        let facts = facts::ManyTasks {
            boards: vec![facts::TaskBoard {
                name: "board".to_owned(),
                ..Default::default()
            }],
            tasks: vec![24],
            ..Default::default()
        };
        let mut header = recording::Header::new("placement", "sim", "ns");
        header.form = "tasks".to_owned();
        header.set_facts(&facts);
        let mut recording = recording::Recording::new(header);
        let subject = recording.name("24 tasks");
        for (mode, seed, eas, off) in [
            ("300", 0, 96.0, 100.0),
            ("300", 1, 94.0, 100.0),
            ("other", 0, 110.0, 100.0),
        ] {
            for (case, value) in [("eas", eas), ("off", off)] {
                let series = recording.series("board", case, mode);
                recording
                    .measure(
                        series,
                        seed,
                        metrics::ENERGY.name,
                        metrics::ENERGY.unit,
                        value,
                    )
                    .subject = Some(subject);
            }
        }
        let found = read(&Findings::new(&recording, "", None)).unwrap();
        let gain = found.boards[0].gain_percent.unwrap();
        let rounded = gain.all().map(f64::round);
        assert_eq!(rounded, [-10.0, 5.0, 6.0], "its sign is not known");
        assert_eq!(
            (found.boards[0].usual, found.boards[0].assumed.len()),
            (0, 2)
        );
    }
}
