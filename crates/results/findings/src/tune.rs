//! `tune`: distances and batch of a loop that somebody wrote.

use crate::Run;
use crate::rows::named;
use crate::spread::{Steadiness, apart};
use crate::ticks::Ticks;
use recording::facts::{self, FactsError};
use recording::{Recording, metrics, stats};
use schemars::JsonSchema;
use serde::Serialize;

/// The share of the least clocks within which distances are as good as the best.
pub const NEAR: f64 = 0.02;

/// The distance of the predictor that knows nothing.
const ALWAYS: u32 = 8;

/// The distances of the predictor that knows nothing and measures them.
const FEW: [u32; 4] = [4, 8, 16, 32];

/// The rounds of a cell that a pick by measurements may look at: those that the choice of `tune`
/// looks at.
const LOOKED_AT: usize = 5;

/// The story of a loop.
#[derive(Serialize, JsonSchema)]
pub struct Tune<'r> {
    /// The settings of the run and of its loop.
    #[serde(rename = "loop")]
    pub facts: facts::TunedLoop,
    /// The counter whose ticks are clocks.
    #[serde(flatten)]
    pub ticks: Ticks,
    /// Whether the machine repeats itself.
    pub steadiness: Steadiness,
    /// The best of the largest working set at the batch that was asked for.
    pub best: Option<Best>,
    /// Each working set and batch.
    pub groups: Vec<Group>,
    /// The loss of each predictor, over all groups.
    pub predictors: Vec<Predictor>,
    /// Median error of the model's clocks over the cells that it was not fitted to, in percent.
    pub model_error_percent: Option<f64>,
    /// Median error of the clocks that the choice expects, over the cells that it did not measure,
    /// in percent.
    pub expected_error_percent: Option<f64>,
    /// Each cell that was measured or is expected.
    pub cells: Vec<TunedCell>,
    /// The recording's folder, as it was named on the command line.
    pub recording: &'r str,
}

/// A cell, measured.
#[derive(Clone, Serialize, JsonSchema)]
pub struct TunedCell {
    /// The working set's name.
    pub set: String,
    /// Records of a batch, at least 1.
    pub batch: u64,
    /// A value for each knob.
    pub values: Vec<u32>,
    /// The median of its rounds; without a sweep, what is expected of a cell that has none.
    pub clocks: f64,
    /// The median of its first few rounds.
    #[serde(skip)]
    pub first_clocks: f64,
    /// The number of rounds that were measured; 0 for a cell that was not.
    pub rounds: usize,
    /// Ticks per record in each of them.
    #[serde(skip)]
    pub measured: Vec<f64>,
    /// Ticks per record by the model; `None` without a model.
    pub modelled: Option<f64>,
    /// True if the model was fitted to this cell.
    pub used_in_fit: bool,
    /// Ticks as the choice from few measurements knows them.
    pub expected: Option<f64>,
    /// True if the choice from few measurements measured this cell.
    pub probed: bool,
}

/// The best values, and what is nearly as good.
#[derive(Clone, Serialize, JsonSchema)]
pub struct Best {
    /// The best value of each knob.
    pub values: Vec<u32>,
    /// Ticks per record there.
    pub clocks: f64,
    /// For each knob the least and the greatest value of a cell within 2 % of the best, the other
    /// knobs being as in the best.
    pub near: Vec<[u32; 2]>,
    /// Ticks per record without prefetch; `None` where that was not measured.
    pub none: Option<f64>,
    /// Ticks per record with the loop's present values; `None` where those were not measured.
    pub today: Option<f64>,
    /// The values that are to be pasted into a source.
    pub defines: Vec<String>,
}

/// A working set with a batch.
#[derive(Default, Serialize, JsonSchema)]
pub struct Group {
    /// The working set's name.
    pub set: String,
    /// Records of a batch, at least 1.
    pub batch: u64,
    /// The best value of each knob.
    pub values: Vec<u32>,
    /// Ticks per record at the best.
    pub clocks: f64,
    /// Ticks per record without prefetch; `None` where that was not measured.
    pub none: Option<f64>,
    /// The choice from a tenth of the measurements, and by how much more than the best it takes, in
    /// percent.
    pub chosen: Option<Pick>,
    /// The pick of the model alone.
    pub model: Option<Pick>,
    /// All distances at 8.
    pub always: Option<Pick>,
    /// All distances at the longest that was tried.
    pub longest: Option<Pick>,
    /// The best of few distances, each of which is measured.
    pub few: Option<Pick>,
}

/// The pick of a predictor.
#[derive(Clone, Serialize, JsonSchema)]
pub struct Pick {
    /// The value of each knob.
    pub values: Vec<u32>,
    /// Clocks above those of the best, in percent, at least 0.
    pub loss_percent: f64,
}

/// The score of a predictor over all groups.
#[derive(Serialize, JsonSchema)]
pub struct Predictor {
    /// The predictor, in words.
    pub name: &'static str,
    /// The number of groups that it was judged on.
    pub groups: usize,
    /// The mean loss over the groups, in percent.
    pub mean_loss_percent: f64,
    /// The greatest loss over the groups, in percent.
    pub worst_loss_percent: f64,
    /// Groups in which it loses at most 2 %.
    pub within_2_percent: usize,
}

/// Reads the story.
pub fn read<'r>(run: &Run<'r>) -> Result<Tune<'r>, FactsError> {
    let facts: facts::TunedLoop = run.recording.header.facts()?;
    let cells = cells(run.recording, &facts);
    let far = facts.sets.last().map_or("", |set| &set.name);
    let best = best(&facts, &cells, far);
    let groups = groups(&facts, &cells);
    type Clocks = fn(&TunedCell) -> Option<f64>;
    let error = |is_known: fn(&TunedCell) -> bool, ticks: Clocks| {
        let errors = cells.iter().filter(|cell| !is_known(cell));
        let errors: Vec<f64> =
            errors.filter_map(|cell| Some((ticks(cell)? / cell.clocks - 1.0).abs() * 100.0)).collect();
        stats::median(&errors)
    };
    Ok(Tune {
        ticks: Ticks::new(run.recording),
        steadiness: steadiness(&facts, &cells, best.as_ref()),
        best,
        predictors: predictors(&groups),
        groups,
        model_error_percent: error(|cell| cell.used_in_fit, |cell| cell.modelled),
        expected_error_percent: error(|cell| cell.probed, |cell| cell.expected),
        cells,
        facts,
        recording: run.folder,
    })
}

/// A cell's rows.
struct Rows<'r> {
    set: &'r str,
    subject: &'r str,
    rounds: Vec<f64>,
    modelled: Option<f64>,
    expected: Option<f64>,
}

fn cells(recording: &Recording, facts: &facts::TunedLoop) -> Vec<TunedCell> {
    let mut found: Vec<Rows<'_>> = Vec::new();
    for row in named(recording) {
        let (set, subject) = (row.variant, row.subject);
        let at = found.iter().rposition(|rows| (rows.set, rows.subject) == (set, subject)).unwrap_or_else(|| {
            found.push(Rows { set, subject, rounds: Vec::new(), modelled: None, expected: None });
            found.len() - 1
        });
        if row.metric == metrics::CLOCKS_PER_PACKET.name {
            found[at].rounds.push(row.value);
        } else if row.metric == metrics::MODELLED_CLOCKS.name {
            found[at].modelled = Some(row.value);
        } else if row.metric == metrics::EXPECTED_CLOCKS.name {
            found[at].expected = Some(row.value);
        }
    }
    let [used, probed] = facts.model.as_ref().map_or([&[][..]; 2], |model| [&model.used, &model.probed]);
    let cell = |Rows { set, subject, rounds, modelled, expected }: Rows<'_>| {
        let is_among = |cells: &[[String; 2]]| cells.iter().any(|[of, name]| of == set && name == subject);
        let place = recording.header.coordinates.get(subject)?;
        let number = |key: &str| place.get(key)?.as_integer();
        let knobs = facts.knobs.iter().map(|knob| Some(number(&knob.name)? as u32));
        Some(TunedCell {
            set: set.to_owned(),
            batch: number("batch")? as u64,
            values: knobs.collect::<Option<_>>()?,
            clocks: stats::median(&rounds).or(expected)?,
            first_clocks: stats::median(&rounds[..rounds.len().min(LOOKED_AT)]).or(expected)?,
            rounds: rounds.len(),
            measured: rounds,
            modelled,
            used_in_fit: is_among(used),
            expected,
            probed: is_among(probed),
        })
    };
    found.into_iter().filter_map(cell).collect()
}

/// Each line at half the distance of the one that leads to it, and choices as they are today.
pub fn spread(facts: &facts::TunedLoop, ahead: u32) -> Vec<u32> {
    let values = facts.knobs.iter().zip(all(facts, ahead));
    values
        .map(|(knob, value)| if knob.is_distance { value.checked_shr(knob.depth).unwrap_or(0) } else { value })
        .collect()
}

/// All distances alike, and choices as they are today.
fn all(facts: &facts::TunedLoop, ahead: u32) -> Vec<u32> {
    facts.knobs.iter().map(|knob| if knob.is_distance { ahead } else { knob.today as u32 }).collect()
}

/// Bytes in words.
pub fn size(bytes: u64) -> String {
    if bytes >= 1 << 20 { format!("{} MB", bytes >> 20) } else { format!("{} kB", bytes >> 10) }
}

fn least<'c>(cells: impl Iterator<Item = &'c TunedCell>) -> Option<&'c TunedCell> {
    cells.min_by(|a, b| a.clocks.total_cmp(&b.clocks))
}

fn clocks(cells: &[&TunedCell], values: &[u32]) -> Option<f64> {
    cells.iter().find(|cell| cell.values == values).map(|cell| cell.clocks)
}

fn best(facts: &facts::TunedLoop, cells: &[TunedCell], far: &str) -> Option<Best> {
    let group: Vec<&TunedCell> = cells.iter().filter(|cell| cell.set == far && cell.batch == facts.batch).collect();
    let best = least(group.iter().copied())?;
    let near = (0..best.values.len()).map(|knob| {
        let same_but =
            |cell: &&&TunedCell| (0..best.values.len()).all(|at| at == knob || cell.values[at] == best.values[at]);
        let near = group.iter().filter(same_but).filter(|cell| cell.clocks <= best.clocks * (1.0 + NEAR));
        let values = || near.clone().map(|cell| cell.values[knob]);
        [values().min().unwrap_or(best.values[knob]), values().max().unwrap_or(best.values[knob])]
    });
    let define = |(knob, value): (&facts::TunedKnob, &u32)| Some(format!("#define {} {value}", knob.define.as_ref()?));
    let today: Vec<u32> = facts.knobs.iter().map(|knob| knob.today as u32).collect();
    Some(Best {
        values: best.values.clone(),
        clocks: best.clocks,
        near: near.collect(),
        none: clocks(&group, &all(facts, 0)),
        today: clocks(&group, &today),
        defines: facts.knobs.iter().zip(&best.values).filter_map(define).collect(),
    })
}

/// Whether the machine repeats itself, above all at the best values and those that stand beside
/// them.
fn steadiness(facts: &facts::TunedLoop, cells: &[TunedCell], best: Option<&Best>) -> Steadiness {
    let today: Vec<u32> = facts.knobs.iter().map(|knob| knob.today as u32).collect();
    let told = [best.map_or_else(Vec::new, |best| best.values.clone()), all(facts, 0), today];
    let far = facts.sets.last().map_or("", |set| &set.name);
    let is_decisive = |cell: &&TunedCell| cell.set == far && cell.batch == facts.batch && told.contains(&cell.values);
    let apart = |cell: &TunedCell| apart(&cell.measured);
    Steadiness::new(cells.iter().map(apart), cells.iter().filter(is_decisive).map(apart))
}

fn groups(facts: &facts::TunedLoop, cells: &[TunedCell]) -> Vec<Group> {
    let mut names: Vec<(&str, u64)> = Vec::new();
    for cell in cells {
        if !names.contains(&(&cell.set, cell.batch)) {
            names.push((&cell.set, cell.batch));
        }
    }
    let place = |set: &str| facts.sets.iter().position(|other| other.name == set);
    names.sort_by_key(|(set, batch)| (place(set), *batch));
    let group = |(set, batch): (&str, u64)| {
        let of: Vec<&TunedCell> = cells.iter().filter(|cell| cell.set == set && cell.batch == batch).collect();
        // Where nothing but the loop without prefetch was measured, there is nothing to pick.
        if of.len() < 3 {
            return None;
        }
        let best = least(of.iter().copied())?;
        let pick = |cell: &TunedCell| Pick {
            values: cell.values.clone(),
            loss_percent: (cell.clocks / best.clocks - 1.0) * 100.0,
        };
        let of_values = |values: &[u32]| of.iter().find(|cell| cell.values == values).map(|cell| pick(cell));
        let least_of = |ticks: fn(&TunedCell) -> Option<f64>| {
            let known = of.iter().filter_map(|cell| Some((cell, ticks(cell)?)));
            known.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(cell, _)| pick(cell))
        };
        let few = of.iter().filter(|cell| FEW.iter().any(|ahead| cell.values == spread(facts, *ahead)));
        let alike = |cell: &&&TunedCell| {
            facts.knobs.iter().zip(&cell.values).all(|(knob, value)| {
                let first = facts.knobs.iter().position(|knob| knob.is_distance);
                if knob.is_distance {
                    first.is_some_and(|first| *value == cell.values[first])
                } else {
                    u64::from(*value) == knob.today
                }
            })
        };
        Some(Group {
            set: set.to_owned(),
            batch,
            values: best.values.clone(),
            clocks: best.clocks,
            none: clocks(&of, &all(facts, 0)),
            // Without a sweep nobody knows what a pick loses.
            ..if facts.quick {
                Group::default()
            } else {
                Group {
                    chosen: least_of(|cell| cell.expected),
                    model: least_of(|cell| cell.modelled),
                    always: of_values(&all(facts, ALWAYS)),
                    longest: of
                        .iter()
                        .filter(alike)
                        .max_by_key(|cell| cell.values.iter().max().copied())
                        .map(|cell| pick(cell)),
                    few: few.min_by(|a, b| a.first_clocks.total_cmp(&b.first_clocks)).map(|cell| pick(cell)),
                    ..Group::default()
                }
            }
        })
    };
    names.into_iter().filter_map(group).collect()
}

fn predictors(groups: &[Group]) -> Vec<Predictor> {
    type Picks = fn(&Group) -> Option<&Pick>;
    let all: [(&str, Picks); 5] = [
        ("the model and few measurements", |group| group.chosen.as_ref()),
        ("the model alone", |group| group.model.as_ref()),
        ("always 8", |group| group.always.as_ref()),
        ("the longest tried", |group| group.longest.as_ref()),
        ("the best of 4, 8, 16 and 32, measured", |group| group.few.as_ref()),
    ];
    // All on the same groups.
    let same: Vec<&Group> = groups.iter().filter(|group| group.always.is_some() && group.longest.is_some()).collect();
    let predictor = |(name, pick): (&'static str, Picks)| {
        let losses: Vec<f64> = same.iter().filter_map(|group| Some(pick(group)?.loss_percent)).collect();
        Some(Predictor {
            name,
            groups: losses.len(),
            mean_loss_percent: stats::mean(&losses)?,
            worst_loss_percent: losses.iter().copied().fold(0.0, f64::max),
            within_2_percent: losses.iter().filter(|loss| **loss <= NEAR * 100.0).count(),
        })
    };
    all.into_iter().filter_map(predictor).collect()
}

impl Tune<'_> {
    /// The name of the largest working set; empty if there is none.
    pub fn far(&self) -> &str {
        self.facts.sets.last().map_or("", |set| &set.name)
    }
}
