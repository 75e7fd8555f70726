//! `eas-energy`: more and more equal tasks with the energy model of Linux and without.

use super::story::Story;
use crate::blocks::{Blocks, Cell, Curve, Drawing, Picture, Table, figure, fixed, whole};
use crate::words::energy as words;
use findings::eas_energy::{Board, EasEnergy, Predictor};
use itertools::Itertools;

impl Story for EasEnergy<'_> {
    fn tell(&self, told: &mut Blocks) {
        told.answer(words::eas(self));
        if self.boards.iter().any(|board| !board.is_varied) {
            told.warning(words::not_varied(self));
        }
        told.picture(picture(self));
        for board in &self.boards {
            told.table(energies(self, board));
            told.table(predictor_table(self, board));
        }
        if let (Some(source), Some(conditions)) = (self.published_source, self.published_conditions)
        {
            told.note(format!("Published: {source}; {conditions}."));
        }
        told.note(format!(
            "Tasks of {} ms and {} % of the fastest core, {} s, {}; frequencies follow the load.",
            self.period_ms,
            self.duty_percent,
            self.seconds,
            words::seeds(self)
        ));
        for board in &self.boards {
            told.table(behaviour(self, board));
        }
    }
}

/// The unit of a board's energies, and how many of it theirs is: percent of the first rules' with
/// the fewest tasks where nobody says how many watts a unit is.
fn unit(eas_energy: &EasEnergy<'_>, board: &Board<'_>) -> (String, f64) {
    let first = board
        .rules
        .first()
        .and_then(|rules| Some((rules.name, *rules.energy.get(board.usual)?.first()?)));
    match (board.unit, first, eas_energy.tasks.first()) {
        ("unit s", Some((name, energy)), Some(tasks)) if energy > 0.0 => {
            (format!("% of {name}'s with {tasks} tasks"), 100.0 / energy)
        }
        (unit, ..) => (unit.to_owned(), 1.0),
    }
}

/// Energy per task against the number of tasks.
fn picture(eas_energy: &EasEnergy<'_>) -> Option<Picture> {
    let (unit, scale) = unit(eas_energy, eas_energy.boards.first()?);
    let curve = |name: String, values: &[f64]| {
        Curve::new(
            name,
            eas_energy
                .tasks
                .iter()
                .zip(values)
                .map(|(&tasks, &value)| (f64::from(tasks), scale * value / f64::from(tasks))),
        )
    };
    let mut curves = Vec::new();
    for board in eas_energy
        .boards
        .iter()
        .filter(|board| board.unit == eas_energy.boards[0].unit)
    {
        for rules in &board.rules {
            curves.push(curve(
                format!("{}, {}", board.name, rules.name),
                &rules.energy[board.usual],
            ));
        }
    }
    let published = eas_energy.boards.iter().find_map(|board| {
        board
            .published
            .iter()
            .copied()
            .collect::<Option<Vec<f64>>>()
    });
    curves.extend(published.map(|published| curve("published".to_owned(), &published)));
    let drawing = Drawing::Curves {
        x: "tasks".to_owned(),
        curves,
    };
    Some(Picture::new(
        "Energy per task against the number of tasks",
        "energy per task",
        &unit,
        drawing,
    ))
}

/// Energies by number of tasks.
fn energies(eas_energy: &EasEnergy<'_>, board: &Board<'_>) -> Table {
    let (unit, scale) = unit(eas_energy, board);
    let rows = eas_energy.numbered();
    let table = Table::with_rows(&rows)
        .words("tasks", |(_, tasks)| tasks.to_string())
        .numbers("published, J", |&(at, _)| board.published[at].map(figure))
        .numbers("published per task, J", |&(at, tasks)| {
            Some(figure(board.published[at]? / f64::from(tasks)))
        })
        .each(&board.rules, |table, rules| {
            let energy = |at: usize| scale * rules.energy[board.usual][at];
            let table = table
                .numbers(format!("{}, {unit}", rules.name), |&(at, _)| {
                    figure(energy(at))
                })
                .numbers(format!("per task, {unit}"), |&(at, tasks)| {
                    figure(energy(at) / f64::from(tasks))
                });
            table.when(!rules.gain_percent.is_empty(), |table| {
                table.numbers("saves, %", |&(at, _)| {
                    let gain = rules.gain_percent.get(at).copied().unwrap_or_default();
                    Cell::Spread(figure(gain.median), figure(gain.low), figure(gain.high))
                })
            })
        });
    let saved = match board.gain_percent {
        Some(_) => format!(
            " What is saved against the same kernel without an energy model: the mean, and from the least to the most over seeds and what is \
             assumed ({}).",
            board.assumed.join(", ")
        ),
        None => String::new(),
    };
    let note = format!(
        "Energies: means over the seeds, with the usual round trip into an idle state.{saved}"
    );
    table.titled(board.title.clone()).noted(note)
}

/// The errors of the model and of others.
fn predictor_table(eas_energy: &EasEnergy<'_>, board: &Board<'_>) -> Table {
    let columns = eas_energy
        .numbered()
        .into_iter()
        .filter(|(at, _)| board.published[*at].is_some())
        .enumerate()
        .map(|(at, (_, tasks))| (at, tasks))
        .collect_vec();
    Table::with_rows(&board.predictors)
        .words("predictor", |predictor| predictor.name.clone())
        .numbers("scale", |predictor| figure(predictor.scale))
        .numbers("rms, %", |predictor| fixed(predictor.rms_percent, 2))
        .each(&columns, |table, &(at, tasks)| {
            table.numbers(format!("{tasks}, %"), move |predictor: &Predictor| {
                predictor.errors_percent.get(at).map(|error| fixed(*error, 1))
            })
        })
        .numbers("least per task at", |predictor| predictor.least_at.map(|tasks| whole(f64::from(tasks))))
        .titled(format!("{}: errors against the published energies", board.name))
        .noted("A trip is what a round trip into an idle state costs, within the range of the platform's sources: 0 is the least, 1024 the most.")
}

/// The share of time in which big CPUs run, latencies, and moves.
fn behaviour(eas_energy: &EasEnergy<'_>, board: &Board<'_>) -> Table {
    let rows = eas_energy.numbered();
    Table::with_rows(&rows)
        .words("tasks", |(_, tasks)| tasks.to_string())
        .each(&board.rules, |table, rules| {
            table
                .numbers(
                    format!("{}: {} runs, %", rules.name, board.big),
                    |&(at, _)| fixed(rules.big_runs_percent[at], 1),
                )
                .numbers("p95, ms", |&(at, _)| figure(rules.p95_ms[at]))
                .numbers("moves", |&(at, _)| fixed(rules.moves[at], 0))
        })
        .titled(format!("{}: what the CPUs do", board.name))
}
