//! `tune`: distances and batch of a loop that somebody wrote.

use super::story::Story;
use crate::blocks::{Axis, Blocks, Cell, Curve, Drawing, Figure, HeatMap, Picture, Table, fixed, name, percent, whole};
use findings::Run;
use findings::rows::{counter, named, tick_ns};
use recording::facts::{self, FactsError};
use recording::{Recording, metrics, stats};
use serde::Serialize;

/// The share of the least clocks within which distances are as good as the best.
const NEAR: f64 = 0.02;

/// The distance of the predictor that knows nothing.
const ALWAYS: u32 = 8;

/// The distances of the predictor that knows nothing and measures them.
const FEW: [u32; 4] = [4, 8, 16, 32];

/// The rounds of a cell that a pick by measurements may look at: those that the choice of `tune`
/// looks at.
const LOOKED_AT: usize = 5;

/// The story of a loop.
#[derive(Serialize)]
pub(super) struct Tune<'r> {
    #[serde(rename = "loop")]
    facts: facts::Tuned,
    counter: String,
    tick_ns: f64,
    /// The best of the largest working set at the batch that was asked for.
    best: Option<Best>,
    /// Each working set and batch.
    groups: Vec<Group>,
    predictors: Vec<Predictor>,
    /// Median error of the model's clocks over the cells that it was not fitted to, in percent.
    model_error_percent: Option<f64>,
    /// Median error of the clocks that the choice expects, over the cells that it did not measure,
    /// in percent.
    expected_error_percent: Option<f64>,
    cells: Vec<TunedCell>,
    recording: &'r str,
}

/// A cell, measured.
#[derive(Clone, Serialize)]
struct TunedCell {
    set: String,
    batch: u64,
    /// A value for each knob.
    values: Vec<u32>,
    /// The median of its rounds; without a sweep, what is expected of a cell that has none.
    clocks: f64,
    /// The median of its first few rounds.
    #[serde(skip)]
    first_clocks: f64,
    rounds: usize,
    modelled: Option<f64>,
    used_in_fit: bool,
    /// Ticks as the choice from few measurements knows them.
    expected: Option<f64>,
    probed: bool,
}

/// The best values, and what is nearly as good.
#[derive(Clone, Serialize)]
struct Best {
    values: Vec<u32>,
    clocks: f64,
    /// For each knob the least and the greatest value of a cell within 2 % of the best, the other
    /// knobs being as in the best.
    near: Vec<[u32; 2]>,
    none: Option<f64>,
    today: Option<f64>,
    /// The values that are to be pasted into a source.
    defines: Vec<String>,
}

/// A working set with a batch.
#[derive(Default, Serialize)]
struct Group {
    set: String,
    batch: u64,
    values: Vec<u32>,
    clocks: f64,
    none: Option<f64>,
    /// The choice from a tenth of the measurements, and by how much more than the best it takes, in
    /// percent.
    chosen: Option<Pick>,
    /// The pick of the model alone.
    model: Option<Pick>,
    always: Option<Pick>,
    longest: Option<Pick>,
    /// The best of few distances, each of which is measured.
    few: Option<Pick>,
}

/// The pick of a predictor.
#[derive(Clone, Serialize)]
struct Pick {
    values: Vec<u32>,
    loss_percent: f64,
}

/// The score of a predictor over all groups.
#[derive(Serialize)]
struct Predictor {
    name: &'static str,
    groups: usize,
    mean_loss_percent: f64,
    worst_loss_percent: f64,
    /// Groups in which it loses at most 2 %.
    within_2_percent: usize,
}

/// Reads the story.
pub(super) fn read<'r>(run: &Run<'r>) -> Result<Tune<'r>, FactsError> {
    let facts: facts::Tuned = run.recording.header.facts()?;
    let cells = cells(run.recording, &facts);
    let far = facts.sets.last().map_or("", |set| &set.name);
    let best = best(&facts, &cells, far);
    let groups = groups(&facts, &cells);
    type Ticks = fn(&TunedCell) -> Option<f64>;
    let error = |is_known: fn(&TunedCell) -> bool, ticks: Ticks| {
        let errors = cells.iter().filter(|cell| !is_known(cell));
        let errors: Vec<f64> =
            errors.filter_map(|cell| Some((ticks(cell)? / cell.clocks - 1.0).abs() * 100.0)).collect();
        stats::median(&errors)
    };
    Ok(Tune {
        counter: counter(run.recording).to_owned(),
        tick_ns: tick_ns(run.recording),
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

fn cells(recording: &Recording, facts: &facts::Tuned) -> Vec<TunedCell> {
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
            modelled,
            used_in_fit: is_among(used),
            expected,
            probed: is_among(probed),
        })
    };
    found.into_iter().filter_map(cell).collect()
}

/// Each line at half the distance of the one that leads to it, and choices as they are today.
fn spread(facts: &facts::Tuned, ahead: u32) -> Vec<u32> {
    let values = facts.knobs.iter().zip(all(facts, ahead));
    values
        .map(|(knob, value)| if knob.is_distance { value.checked_shr(knob.depth).unwrap_or(0) } else { value })
        .collect()
}

/// All distances alike, and choices as they are today.
fn all(facts: &facts::Tuned, ahead: u32) -> Vec<u32> {
    facts.knobs.iter().map(|knob| if knob.is_distance { ahead } else { knob.today as u32 }).collect()
}

/// Bytes in words.
fn size(bytes: u64) -> String {
    if bytes >= 1 << 20 { format!("{} MB", bytes >> 20) } else { format!("{} kB", bytes >> 10) }
}

fn least<'c>(cells: impl Iterator<Item = &'c TunedCell>) -> Option<&'c TunedCell> {
    cells.min_by(|a, b| a.clocks.total_cmp(&b.clocks))
}

fn clocks(cells: &[&TunedCell], values: &[u32]) -> Option<f64> {
    cells.iter().find(|cell| cell.values == values).map(|cell| cell.clocks)
}

fn best(facts: &facts::Tuned, cells: &[TunedCell], far: &str) -> Option<Best> {
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

fn groups(facts: &facts::Tuned, cells: &[TunedCell]) -> Vec<Group> {
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
    /// Values of knobs in words.
    fn words(&self, values: &[u32]) -> String {
        let words: Vec<String> =
            self.facts.knobs.iter().zip(values).map(|(knob, value)| format!("{} {value}", knob.name)).collect();
        words.join(", ")
    }

    fn far(&self) -> &str {
        self.facts.sets.last().map_or("", |set| &set.name)
    }

    /// The sentences about the best.
    fn answer(&self, best: &Best, told: &mut Blocks) {
        let facts = &self.facts;
        let mut words = format!(
            "`{}` takes the fewest clocks with {}: {} per record, with {} MB of lines, in batches of {}",
            facts.name,
            self.words(&best.values),
            fixed(best.clocks, 1),
            facts.sets.last().map_or(0, |set| set.bytes >> 20),
            facts.batch
        );
        if let Some(none) = best.none {
            words.push_str(&format!("; without prefetch it takes {}", fixed(none, 1)));
        }
        if let Some(today) = best.today {
            words.push_str(&format!(", and with today's values {}", fixed(today, 1)));
        }
        words.push('.');
        told.answer(words);
        let near: Vec<String> = facts
            .knobs
            .iter()
            .zip(&best.near)
            .map(|(knob, [from, to])| match from == to {
                true => format!("{} {from}", knob.name),
                false => format!("{} {from} to {to}", knob.name),
            })
            .collect();
        told.answer(format!("Within 2 % of it: {}.", near.join(", ")));
        if facts.at_the_end {
            told.answer(
                "The best is at the end of what can be tried: a record's work is so short against a line from memory that a whole \
                 batch should be asked for first.",
            );
        }
        if let Some(model) = &facts.model {
            let ahead = (model.line / model.work).ceil();
            told.answer(format!(
                "Why: a line from memory takes {} ticks and a record's work {}, so a line that is asked for {} records ahead is there in \
                 time; {} lines can be on their way at once, and {} records fit the core's window.",
                fixed(model.line, 0),
                fixed(model.work, 1),
                ahead,
                model.fills,
                fixed(model.window_records, 1)
            ));
        }
        if facts.repeats_percent.is_none_or(|percent| percent > 1.0) {
            let percent = facts.repeats_percent.map_or("an unknown share".to_owned(), |by| format!("{by:.1} %"));
            told.note(format!(
                "This machine repeats itself within {percent} only: differences below that mean nothing. Is something else running?"
            ));
        }
        if !best.defines.is_empty() {
            told.verbatim(format!("{}\n", best.defines.join("\n")));
        }
    }

    fn pictures(&self, told: &mut Blocks) {
        let facts = &self.facts;
        let Some(first) = facts.knobs.iter().position(|knob| knob.is_distance) else { return };
        let alike = |cell: &TunedCell| cell.values == spread(facts, cell.values[first]);
        let x = match facts.knobs.iter().any(|knob| knob.depth > 0) {
            true => {
                format!("records ahead of `{}`; each line that another leads to at half of it", facts.knobs[first].name)
            }
            false => "records ahead, all lines alike".to_owned(),
        };
        let figure = |cell: &TunedCell| Figure { value: cell.clocks, published: None };
        let curve = |name: String, of: &dyn Fn(&TunedCell) -> bool| {
            let mut points: Vec<(f64, Figure)> = self
                .cells
                .iter()
                .filter(|cell| of(cell) && alike(cell))
                .map(|cell| (f64::from(cell.values[first]), figure(cell)))
                .collect();
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            Curve { name, points, best: None }.with_best(NEAR)
        };
        let sets = facts.sets.iter().map(|set| {
            let words =
                if set.name == "warm" { "warm".to_owned() } else { format!("{}, {}", set.name, size(set.bytes)) };
            curve(words, &|cell| cell.set == set.name && cell.batch == facts.batch)
        });
        let drawn = |curves: Vec<Curve>| {
            let curves = curves.into_iter().filter(|curve| curve.points.len() > 1).collect();
            Drawing::Curves { x: x.clone(), curves }
        };
        let note = "Shaded: within 2 % of the least.";
        let title = format!("Clocks per record, batches of {}", facts.batch);
        told.picture(Picture::new(&title, "loop", "ticks", drawn(sets.collect())).noted(note));
        if let [x, y, ..] = facts
            .knobs
            .iter()
            .enumerate()
            .filter(|(_, knob)| knob.is_distance)
            .map(|(at, _)| at)
            .collect::<Vec<_>>()[..]
        {
            self.map(x, y, told);
        }
        let mut batches: Vec<u64> = self.cells.iter().map(|cell| cell.batch).collect();
        batches.sort_unstable();
        batches.dedup();
        let far = self.far();
        let by_batch: Vec<Curve> = batches
            .into_iter()
            .map(|batch| curve(format!("batch {batch}"), &|cell| cell.set == far && cell.batch == batch))
            .collect();
        told.picture(
            Picture::new("Clocks per record from memory, by batch", "loop", "ticks", drawn(by_batch)).noted(note),
        );
    }

    /// The map over two distances, the others as in the best.
    fn map(&self, x: usize, y: usize, told: &mut Blocks) {
        let Some(best) = &self.best else { return };
        let here = |cell: &&TunedCell| {
            let others = (0..cell.values.len()).filter(|at| ![x, y].contains(at));
            cell.set == self.far()
                && cell.batch == self.facts.batch
                && others.into_iter().all(|at| cell.values[at] == best.values[at])
        };
        let cells: Vec<&TunedCell> = self.cells.iter().filter(here).collect();
        let places = |knob: usize| {
            let mut places: Vec<u32> = cells.iter().map(|cell| cell.values[knob]).collect();
            places.sort_unstable();
            places.dedup();
            places
        };
        let (xs, ys) = (places(x), places(y));
        let field = |to: u32, up: u32| {
            let cell = cells.iter().find(|cell| cell.values[x] == to && cell.values[y] == up)?;
            Some(Figure { value: cell.clocks, published: None })
        };
        let map = HeatMap {
            name: String::new(),
            fields: ys.iter().map(|up| xs.iter().map(|to| field(*to, *up)).collect()).collect(),
            xs: xs.into_iter().map(f64::from).collect(),
            ys: ys.into_iter().map(f64::from).collect(),
        };
        let axis = |knob: usize| Axis::new(&self.facts.knobs[knob].name, None);
        let drawing = Drawing::HeatMap { x: axis(x), y: axis(y), is_cost: true, maps: vec![map] };
        told.picture(Picture::new("Clocks per record from memory, over two distances", "loop", "ticks", drawing));
    }
}

impl Tune<'_> {
    /// The rest of the answer where only the cells of the choice were measured.
    fn without_sweep(&self, table: Table, told: &mut Blocks) {
        let measured = self.cells.iter().filter(|cell| cell.rounds > 0).count();
        told.table(table.noted(format!(
            "Ticks of the {} ({} ns each) per record. No sweep: {measured} of {} cells were measured, {} rounds each; the others are what \
             the model expects, corrected by these. Leave --quick out to measure all of them.",
            self.counter,
            fixed(self.tick_ns, 3),
            self.cells.len(),
            self.facts.rounds
        )));
    }
}

impl Story for Tune<'_> {
    fn tell(&self, told: &mut Blocks) {
        if let Some(best) = &self.best {
            self.answer(best, told);
        }
        self.pictures(told);
        let loss =
            |pick: Option<&Pick>| pick.map_or(Cell::from(""), |pick| percent(pick.loss_percent / 100.0, 1).into());
        let table = Table::with_rows(&self.groups)
            .words("records", |group| name(&group.set))
            .numbers("batch", "", |group| whole(group.batch as f64))
            .words("best", |group| Cell::from(self.words(&group.values)))
            .numbers("clocks", "", |group| fixed(group.clocks, 1))
            .numbers("none", "", |group| group.none.map_or(Cell::from(""), |none| fixed(none, 1).into()));
        if self.facts.quick {
            self.without_sweep(table.done(), told);
            return;
        }
        let table = match self.facts.model {
            Some(_) => table.numbers("few measurements lose", "", |group| loss(group.chosen.as_ref())).numbers(
                "model alone loses",
                "",
                |group| loss(group.model.as_ref()),
            ),
            None => table,
        };
        let table = table.numbers("always 8 loses", "", |group| loss(group.always.as_ref())).numbers(
            "longest loses",
            "",
            |group| loss(group.longest.as_ref()),
        );
        told.table(table.done().noted(format!(
            "Ticks of the {} ({} ns each) per record; medians of up to {} rounds. warm: the same batch again and again.",
            self.counter,
            fixed(self.tick_ns, 3),
            self.facts.rounds
        )));
        let table = Table::with_rows(&self.predictors)
            .words("picks", |of| Cell::from(of.name))
            .numbers("working sets and batches", "", |of| whole(of.groups as f64))
            .numbers("mean loss", "", |of| percent(of.mean_loss_percent / 100.0, 2))
            .numbers("worst", "", |of| percent(of.worst_loss_percent / 100.0, 1))
            .numbers("within 2 %", "", |of| whole(of.within_2_percent as f64));
        let mut note = "Loss: clocks above those of the best that was measured.".to_owned();
        if let (Some(model), Some(error)) = (&self.facts.model, self.model_error_percent) {
            note.push_str(&format!(
                " The model ({}) was fitted to {} of {} cells ({:.1} % rms); its clocks of the others are off by {:.1} % in the median.",
                model.core,
                model.used.len(),
                self.cells.len(),
                model.rms_percent,
                error
            ));
        }
        if let (Some(model), Some(error)) = (&self.facts.model, self.expected_error_percent) {
            let [looked_at, all] = model.probe_rounds;
            note.push_str(&format!(
                " Few measurements: {} of {} cells, {looked_at} of {all} rounds; the clocks that are expected of the other cells are off by \
                 {error:.1} % in the median.",
                model.probed.len(),
                self.cells.len(),
            ));
        }
        told.table(table.done().noted(note));
    }
}
