//! `eas-energy`: more and more equal tasks with the energy model of Linux and without.

use super::story::Story;
use crate::blocks::{Blocks, Cell, Curve, Drawing, Figure, Picture, Table, Text, figure, fixed, name, text, whole};
use findings::Run;
use findings::rows::{Row, named};
use published::EasReference;
use recording::facts::{self, FactsError};
use recording::metrics::{self, Metric};
use serde::Serialize;

/// The rules that the published runs had.
const MEASURED: &str = "eas";
const OFF: &str = "off";
/// The places of round trips into idle states within their ranges, of 1024: the lowest, the usual,
/// the highest.
const ROUND_TRIPS: [&str; 3] = ["0", "300", "1024"];
const USUAL: usize = 1;
/// A CPU is full when it is used by this part, in percent.
const FULL: f64 = 80.0;

/// Numbers of equal tasks on some boards.
#[derive(Serialize)]
pub(super) struct EasEnergy<'r> {
    boards: Vec<Board<'r>>,
    tasks: Vec<u32>,
    period_ms: u64,
    duty_percent: u64,
    seconds: u64,
    seeds: u32,
    /// The source of the published figures, if there are any for this workload.
    published_source: Option<&'r str>,
    published_conditions: Option<&'r str>,
    recording: &'r str,
}

/// A board.
#[derive(Serialize)]
struct Board<'r> {
    name: &'r str,
    title: String,
    /// `J`, or `unit s` where nobody says how many watts a unit is.
    unit: &'static str,
    rules: Vec<Rules<'r>>,
    published: Vec<Option<f64>>,
    predictors: Vec<Predictor>,
    #[serde(skip)]
    big: String,
}

/// Rules of placement on a board; lists are by number of tasks.
#[derive(Serialize)]
struct Rules<'r> {
    name: &'r str,
    /// Means over the seeds, with the cheapest round trip into an idle state, the usual and the
    /// dearest.
    energy: [Vec<f64>; ROUND_TRIPS.len()],
    /// The share of the energy that the energy model gains, in percent, with the same round trips.
    gain_percent: [Vec<f64>; ROUND_TRIPS.len()],
    big_runs_percent: Vec<f64>,
    p95_ms: Vec<f64>,
    moves: Vec<f64>,
}

/// A predictor of the published figures.
#[derive(Serialize)]
struct Predictor {
    name: String,
    fitted: u32,
    rms_percent: f64,
    /// The scale by which it is multiplied.
    scale: Option<f64>,
    errors_percent: Vec<f64>,
    /// The number of tasks at which a task takes least.
    least_at: Option<u32>,
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// Predictions beside figures: the scale with the least relative error, its root mean square, and
/// the errors. None without two figures.
fn scaled(name: String, predicted: &[f64], published: &[(u32, f64)]) -> Option<Predictor> {
    let ratios = || predicted.iter().zip(published).map(|(own, (_, figure))| own / figure);
    let squares: f64 = ratios().map(|ratio| ratio * ratio).sum();
    if published.len() < 2 || squares == 0.0 {
        return None;
    }
    let scale = ratios().sum::<f64>() / squares;
    let fits: Vec<f64> = predicted.iter().map(|own| own * scale).collect();
    Some(Predictor { scale: Some(scale), ..judged(name, 1, &fits, published) })
}

fn judged(name: String, fitted: u32, predicted: &[f64], published: &[(u32, f64)]) -> Predictor {
    let errors: Vec<f64> =
        predicted.iter().zip(published).map(|(own, (_, figure))| 100.0 * (own / figure - 1.0)).collect();
    let per_task = predicted.iter().zip(published).map(|(own, (tasks, _))| (own / f64::from(*tasks), *tasks));
    let is_constant =
        per_task.clone().all(|(own, _)| (own / (predicted[0] / f64::from(published[0].0)) - 1.0).abs() < 1e-9);
    let least = per_task.min_by(|a, b| a.0.total_cmp(&b.0)).filter(|_| !is_constant);
    Predictor {
        name,
        fitted,
        rms_percent: mean(&errors.iter().map(|error| error * error).collect::<Vec<_>>()).sqrt(),
        scale: None,
        errors_percent: errors,
        least_at: least.map(|(_, tasks)| tasks),
    }
}

/// A line with the least relative error.
fn line(published: &[(u32, f64)]) -> Option<Predictor> {
    // Weights of 1 / figure^2 make errors relative.
    let sum = |of: &dyn Fn(f64, f64) -> f64| -> f64 {
        published.iter().map(|&(tasks, figure)| of(f64::from(tasks), figure) / (figure * figure)).sum()
    };
    let (w, x, xx) = (sum(&|_, _| 1.0), sum(&|tasks, _| tasks), sum(&|tasks, _| tasks * tasks));
    let (y, xy) = (sum(&|_, figure| figure), sum(&|tasks, figure| tasks * figure));
    let determinant = w * xx - x * x;
    if published.len() < 3 || determinant == 0.0 {
        return None;
    }
    let (slope, offset) = ((w * xy - x * y) / determinant, (y * xx - x * xy) / determinant);
    let fits: Vec<f64> = published.iter().map(|&(tasks, _)| offset + slope * f64::from(tasks)).collect();
    Some(judged("a line".to_owned(), 2, &fits, published))
}

/// Energy as use times capacity, if tasks fill the slow CPUs first.
fn by_capacity(board: &facts::TaskBoard, duty_percent: u64, published: &[(u32, f64)]) -> Option<Predictor> {
    let mut domains = board.domains.clone();
    domains.sort_by_key(|&(_, capacity)| capacity);
    let top = f64::from(domains.last()?.1);
    let energy = |tasks: u32| {
        let mut left = f64::from(tasks) * duty_percent as f64 / 100.0 * top;
        let mut sum = 0.0;
        for (at, &(cpus, capacity)) in domains.iter().enumerate() {
            let holds = f64::from(cpus) * f64::from(capacity) * FULL / 100.0;
            let here = if at + 1 == domains.len() { left } else { left.min(holds) };
            sum += here * f64::from(capacity);
            left -= here;
        }
        sum
    };
    let predicted: Vec<f64> = published.iter().map(|&(tasks, _)| energy(tasks)).collect();
    scaled("capacity-weighted utilisation".to_owned(), &predicted, published)
}

/// Reads the boards.
pub(super) fn read<'r>(run: &Run<'r>) -> Result<EasEnergy<'r>, FactsError> {
    let recording = run.recording;
    let facts: facts::ManyTasks = recording.header.facts()?;
    let rows = named(recording);
    let reference = run.published.eas.as_ref().filter(|reference| {
        (reference.period_ms, reference.duty_percent, reference.seconds)
            == (facts.period_ms, facts.duty_percent, facts.seconds)
    });
    let boards: Vec<Board<'r>> = facts.boards.iter().map(|board| read_board(&rows, board, &facts, reference)).collect();
    let has_published = boards.iter().any(|board| board.published.iter().any(Option::is_some));
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
        recording: run.folder,
    })
}

fn read_board<'r>(
    rows: &[Row<'r>],
    board: &facts::TaskBoard,
    facts: &facts::ManyTasks,
    reference: Option<&EasReference>,
) -> Board<'r> {
    let own: Vec<&Row<'r>> = rows.iter().filter(|row| row.variant == board.name).collect();
    let watts = board.watts_per_unit;
    let by_tasks = |case: &str, mode: &str, metric: Metric, role: &str| -> Vec<f64> {
        let of = |tasks: &u32| {
            let subject = format!("{tasks} tasks");
            let is_it = |row: &&&Row<'_>| {
                row.is_of(case, metric) && (row.mode, row.subject, row.role) == (mode, &*subject, role)
            };
            mean(&own.iter().filter(is_it).map(|row| row.value).collect::<Vec<_>>())
        };
        facts.tasks.iter().map(of).collect()
    };
    let mut cases: Vec<&'r str> = Vec::new();
    own.iter().for_each(|row| {
        if !cases.contains(&row.case) {
            cases.push(row.case);
        }
    });
    let energy = |case: &str| {
        ROUND_TRIPS.map(|mode| -> Vec<f64> {
            by_tasks(case, mode, metrics::ENERGY, "").into_iter().map(|units| units * watts.unwrap_or(1.0)).collect()
        })
    };
    let without = cases.contains(&OFF).then(|| energy(OFF));
    let rules = |case: &&'r str| {
        let energy = energy(case);
        let gain = |at: usize| match &without {
            Some(without) if *case != OFF => {
                energy[at].iter().zip(&without[at]).map(|(own, other)| 100.0 * (1.0 - own / other)).collect()
            }
            _ => Vec::new(),
        };
        let percent = |share: f64| 100.0 * share;
        Rules {
            name: case,
            gain_percent: [gain(0), gain(1), gain(2)],
            energy,
            big_runs_percent: by_tasks(case, ROUND_TRIPS[USUAL], metrics::RUNNING, &board.big)
                .into_iter()
                .map(percent)
                .collect(),
            p95_ms: by_tasks(case, ROUND_TRIPS[USUAL], metrics::RESPONSE, "p95"),
            moves: by_tasks(case, ROUND_TRIPS[USUAL], metrics::MIGRATIONS, ""),
        }
    };
    let rules: Vec<Rules<'r>> = cases.iter().map(rules).collect();
    let reference = reference.filter(|reference| reference.platforms.contains(&board.name) && watts.is_some());
    let figure = |tasks: &u32| reference.and_then(|reference| reference.figure(*tasks)).map(|figure| figure.energy_j);
    let published: Vec<Option<f64>> = facts.tasks.iter().map(figure).collect();
    Board {
        name: own.first().map_or("", |row| row.variant),
        title: board.title.clone(),
        unit: if watts.is_some() { "J" } else { "unit s" },
        predictors: predictors(&rules, board, facts, &published),
        rules,
        published,
        big: board.big.clone(),
    }
}

/// The model with each end of what is assumed, and predictors that know nothing of schedulers.
fn predictors(
    rules: &[Rules<'_>],
    board: &facts::TaskBoard,
    facts: &facts::ManyTasks,
    published: &[Option<f64>],
) -> Vec<Predictor> {
    let known: Vec<(u32, f64)> =
        facts.tasks.iter().zip(published).filter_map(|(tasks, figure)| Some((*tasks, (*figure)?))).collect();
    let of_known = |values: &[f64]| -> Vec<f64> {
        values.iter().zip(published).filter(|(_, figure)| figure.is_some()).map(|(value, _)| *value).collect()
    };
    let mut all = Vec::new();
    for rules in rules {
        for (energy, part) in rules.energy.iter().zip(ROUND_TRIPS) {
            all.extend(scaled(format!("{}, trip {part}", rules.name), &of_known(energy), &known));
        }
    }
    let tasks: Vec<f64> = known.iter().map(|(tasks, _)| f64::from(*tasks)).collect();
    all.extend(scaled("a constant per task".to_owned(), &tasks, &known));
    all.extend(line(&known));
    all.extend(by_capacity(board, facts.duty_percent, &known));
    all
}

impl Story for EasEnergy<'_> {
    fn tell(&self, told: &mut Blocks) {
        told.answer(self.answer());
        if let Some(picture) = self.picture() {
            told.picture(picture);
        }
        for board in &self.boards {
            told.table(self.energies(board));
            if !board.predictors.is_empty() {
                told.table(self.predictors(board));
            }
        }
        if let (Some(source), Some(conditions)) = (self.published_source, self.published_conditions) {
            told.note(format!("Published: {source}; {conditions}."));
        }
        told.note(format!(
            "Tasks of {} ms and {} % of the fastest core, {} s, {} seeds; frequencies follow the load.",
            self.period_ms, self.duty_percent, self.seconds, self.seeds
        ));
        told.rest();
        for board in &self.boards {
            told.table(self.behaviour(board));
        }
    }
}

impl EasEnergy<'_> {
    /// The distance of the model from what was published, and that of the constant beside it;
    /// otherwise what the energy model gains.
    fn answer(&self) -> Text {
        let mut words = Text::default();
        for board in &self.boards {
            let find = |wanted: &str| board.predictors.iter().find(|predictor| predictor.name == wanted);
            let usual = format!("{MEASURED}, trip {}", ROUND_TRIPS[USUAL]);
            if !words.is_empty() {
                words.push(" ");
            }
            if let (Some(model), Some(constant)) = (find(&usual), find("a constant per task")) {
                words.extend(text![
                    "On ",
                    name(board.name),
                    format!(
                        " the energies are within {:.1} % (rms) of the published ones with one scale, {:.3}; a constant per task is within \
                         {:.1} %.",
                        model.rms_percent,
                        model.scale.unwrap_or(1.0),
                        constant.rms_percent
                    )
                ]);
                continue;
            }
            let gains = board.rules.first().map(|rules| (rules.name, &rules.gain_percent[USUAL]));
            if let Some((rules, gains)) = gains.filter(|(_, gains)| !gains.is_empty()) {
                let (low, high) = ends(gains);
                words.extend(text![
                    "On ",
                    name(board.name),
                    format!(" the energy model saves {low:.1} to {high:.1} % under "),
                    name(rules),
                    "."
                ]);
            } else {
                words.extend(text!["On ", name(board.name), " there is nothing to compare with: add rules."]);
            }
        }
        words
    }

    /// Energy per task against the number of tasks.
    fn picture(&self) -> Option<Picture> {
        let per_task = |value: f64, tasks: u32| Figure { value: value / f64::from(tasks), published: None };
        let curve = |name: String, values: &[f64]| Curve {
            name,
            points: self
                .tasks
                .iter()
                .zip(values)
                .map(|(&tasks, &value)| (f64::from(tasks), per_task(value, tasks)))
                .collect(),
            best: None,
        };
        let unit = self.boards.first()?.unit;
        let mut curves = Vec::new();
        for board in self.boards.iter().filter(|board| board.unit == unit) {
            for rules in &board.rules {
                curves.push(curve(format!("{}, {}", board.name, rules.name), &rules.energy[USUAL]));
            }
        }
        let published: Option<Vec<f64>> =
            self.boards.iter().find_map(|board| board.published.iter().copied().collect::<Option<Vec<f64>>>());
        curves.extend(published.map(|published| curve("published".to_owned(), &published)));
        let drawing = Drawing::Curves { x: "tasks".to_owned(), curves };
        Some(Picture::new("Energy per task against the number of tasks", "energy", unit, drawing))
    }

    fn numbered(&self) -> Vec<(usize, u32)> {
        self.tasks.iter().copied().enumerate().collect()
    }

    /// Energies by number of tasks.
    fn energies(&self, board: &Board<'_>) -> Table {
        let has_published = board.published.iter().any(Option::is_some);
        let unit = board.unit;
        let rows = self.numbered();
        let table = Table::with_rows(&rows)
            .words("tasks", |(_, tasks)| tasks.to_string())
            .when(has_published, |table| {
                let of = |at: usize, tasks: u32| Some(board.published[at]? / f64::from(tasks));
                table.numbers("published", "J", |&(at, _)| board.published[at].map(|energy| fixed(energy, 2))).numbers(
                    "published per task",
                    "J",
                    move |&(at, tasks)| of(at, tasks).map(|energy| fixed(energy, 3)),
                )
            })
            .each(&board.rules, |table, rules| {
                let table = table.numbers(rules.name, unit, |&(at, _)| figure(rules.energy[USUAL][at])).numbers(
                    "per task",
                    unit,
                    |&(at, tasks)| figure(rules.energy[USUAL][at] / f64::from(tasks)),
                );
                table.when(!rules.gain_percent[USUAL].is_empty(), |table| {
                    table.numbers("saves, %", "", |&(at, _)| {
                        let all = rules.gain_percent.each_ref().map(|gains| gains[at]);
                        let (low, high) = ends(&all);
                        Cell::Range(fixed(low, 1), fixed(high, 1))
                    })
                })
            });
        let saved = match board.rules.iter().any(|rules| !rules.gain_percent[USUAL].is_empty()) {
            true => {
                " What is saved against the same kernel without an energy model: from the least to the most with the cheapest round trip, \
                 the usual and the dearest."
            }
            false => "",
        };
        let note = format!("Energies: means over the seeds, with the usual round trip into an idle state.{saved}");
        table.done().titled(board.title.clone()).noted(note)
    }

    /// The errors of the model and of others.
    fn predictors(&self, board: &Board<'_>) -> Table {
        let known: Vec<(usize, u32)> =
            self.numbered().into_iter().filter(|(at, _)| board.published[*at].is_some()).collect();
        let columns: Vec<(usize, u32)> = known.iter().enumerate().map(|(at, (_, tasks))| (at, *tasks)).collect();
        Table::with_rows(&board.predictors)
            .words("predictor", |predictor| predictor.name.clone())
            .numbers("fitted", "", |predictor| whole(f64::from(predictor.fitted)))
            .numbers("scale", "", |predictor| {
                predictor.scale.filter(|scale| (0.01..100.0).contains(scale)).map(|scale| fixed(scale, 3))
            })
            .numbers("rms, %", "", |predictor| fixed(predictor.rms_percent, 2))
            .each(&columns, |table, &(at, tasks)| {
                table.numbers(format!("{tasks}"), "%", move |predictor: &Predictor| {
                    predictor.errors_percent.get(at).map(|error| fixed(*error, 1))
                })
            })
            .numbers("least per task at", "", |predictor| predictor.least_at.map(|tasks| whole(f64::from(tasks))))
            .done()
            .titled(format!("{}: errors against the published energies", board.name))
            .noted("A trip is what a round trip into an idle state costs, within the range of the platform's sources: 0 is the least, 1024 the most.")
    }

    /// The share of time in which big CPUs run, latencies, and moves.
    fn behaviour(&self, board: &Board<'_>) -> Table {
        let rows = self.numbered();
        Table::with_rows(&rows)
            .words("tasks", |(_, tasks)| tasks.to_string())
            .each(&board.rules, |table, rules| {
                table
                    .numbers(format!("{}: {} runs, %", rules.name, board.big), "", |&(at, _)| {
                        fixed(rules.big_runs_percent[at], 1)
                    })
                    .numbers("p95", "ms", |&(at, _)| figure(rules.p95_ms[at]))
                    .numbers("moves", "", |&(at, _)| fixed(rules.moves[at], 0))
            })
            .done()
            .titled(format!("{}: what the CPUs do", board.name))
    }
}

fn ends(values: &[f64]) -> (f64, f64) {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    (low, values.iter().copied().fold(f64::NEG_INFINITY, f64::max))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scale_has_the_least_relative_error() {
        let published = [(10, 10.0), (20, 22.0), (30, 33.0)];
        let exact = scaled("twice".to_owned(), &[20.0, 44.0, 66.0], &published).unwrap();
        assert!((exact.scale.unwrap() - 0.5).abs() < 1e-12 && exact.rms_percent < 1e-9);
        assert_eq!(exact.least_at, Some(10));
        let constant = scaled("constant".to_owned(), &[10.0, 20.0, 30.0], &published).unwrap();
        assert!(constant.rms_percent > 3.0 && constant.least_at.is_none());
        let line = line(&published).unwrap();
        assert!(line.rms_percent < constant.rms_percent, "a line has a parameter more");
        assert!(scaled("one".to_owned(), &[1.0], &published[..1]).is_none());
    }
}
