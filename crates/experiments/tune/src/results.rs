//! A tuned loop as a recording.

use crate::choose::{self, Chosen};
use crate::core_file::CoreFile;
use crate::grid::{Cell, Grid, depths};
use crate::predict::Predictions;
use crate::process::Process;
use crate::protocol::{KnobAbout, KnobKind, LoopAbout};
use crate::sweep::Measurements;
use crate::system;
use recording::{Header, Picture, PictureKind, Recording, facts, metrics};

/// The case of every cell.
const CASE: &str = "tune";

/// The knobs that have a value of their own, with it.
fn knobs<'a>(about: &'a LoopAbout, cell: &'a Cell) -> impl Iterator<Item = (&'a KnobAbout, &'a u32)> {
    about.knobs.iter().zip(&cell.values).filter(|(knob, _)| knob.kind != KnobKind::Line)
}

/// The name of a cell among those of its set.
fn label(about: &LoopAbout, cell: &Cell) -> String {
    let values: Vec<String> = knobs(about, cell).map(|(knob, value)| format!("{} {value}", knob.name)).collect();
    format!("{}, batch {}", values.join(", "), cell.batch)
}

/// A model that was fitted, and the core that it is of.
pub struct ModelUsed<'a> {
    /// The core.
    pub core: &'a CoreFile,
    /// Name of the model.
    pub name: &'a str,
    /// The predictions.
    pub predicted: &'a Predictions,
    /// The choice from few measurements.
    pub chosen: Option<&'a Chosen>,
}

/// The facts of a loop.
pub fn facts(
    process: &Process,
    from: &str,
    grid: &Grid,
    huge: Option<f64>,
    measured: &Measurements,
    model: Option<&ModelUsed<'_>>,
    quick: bool,
) -> facts::TunedLoop {
    let about = &process.about;
    let knob = |(at, knob): (usize, &KnobAbout)| facts::TunedKnob {
        name: knob.name.clone(),
        define: knob.define.clone(),
        is_distance: knob.is_distance(),
        depth: depths(about)[at],
        today: knob.today.into(),
    };
    let set = |set: &crate::grid::WorkingSet| facts::TunedSet {
        name: set.name.to_owned(),
        records: set.records,
        bytes: set.records * about.record_bytes,
    };
    let sets: Vec<facts::TunedSet> = grid.sets.iter().map(set).collect();
    let model = model.map(|model| {
        let fitted = &model.predicted.fitted;
        let bytes = sets.last().map_or(0, |set| set.bytes);
        let line = model.core.latencies(bytes, huge.unwrap_or(0.0)).iter().sum::<f64>() / 8.0 * fitted.scale;
        let named = |cell: &usize| {
            let cell = &grid.cells[*cell];
            [grid.sets[cell.set].name.to_owned(), label(about, cell)]
        };
        let probed = model.chosen.map_or(&[][..], |chosen| &chosen.probed);
        let rounds = |cell: &usize| measured.values[*cell].len();
        let looked_at: usize = probed.iter().map(|cell| rounds(cell).min(choose::ROUNDS)).sum();
        facts::TunedModel {
            core: model.name.to_owned(),
            used: model.predicted.used.iter().map(named).collect(),
            probed: probed.iter().map(named).collect(),
            probe_rounds: [looked_at as u64, measured.values.iter().map(Vec::len).sum::<usize>() as u64],
            work: fitted.work,
            call: fitted.call,
            window_records: model.core.under_way.instructions / fitted.instructions,
            chain: fitted.chain,
            line,
            fills: model.core.reorderer().fills as u64,
            rms_percent: fitted.rms * 100.0,
        }
    });
    facts::TunedLoop {
        name: about.name.clone(),
        from: from.to_owned(),
        processor: system::processor(),
        batch: grid.batch,
        huge,
        rounds: measured.rounds as u64,
        at_the_end: measured.at_the_end,
        quick,
        knobs: about.knobs.iter().enumerate().filter(|(_, knob)| knob.kind != KnobKind::Line).map(knob).collect(),
        sets,
        model,
    }
}

/// The recording of a loop: a measure for each round of each cell, and what the model says of it.
pub fn recording(
    mut header: Header,
    about: &LoopAbout,
    grid: &Grid,
    measured: &Measurements,
    model: Option<&ModelUsed<'_>>,
) -> Recording {
    let first = about.knobs.iter().find(|knob| knob.is_distance()).map(|knob| knob.name.clone());
    header.pictures.extend(first.map(|x| Picture {
        title: "Clocks per record against the distance".to_owned(),
        metric: metrics::CLOCKS_PER_PACKET.name.to_owned(),
        case: None,
        kind: PictureKind::Curves { x, by: Some("batch".to_owned()) },
    }));
    let mut recording = Recording::new(header);
    for (at, cell) in grid.cells.iter().enumerate() {
        let name = label(about, cell);
        let series = recording.series(grid.sets[cell.set].name, CASE, "");
        let subject = recording.name(&name);
        recording.header.coordinates.entry(name).or_insert_with(|| {
            let values = knobs(about, cell).map(|(knob, value)| (knob.name.clone(), i64::from(*value).into()));
            values.chain([("batch".to_owned(), (cell.batch as i64).into())]).collect()
        });
        for (round, ticks) in measured.values[at].iter().enumerate() {
            let metric = metrics::CLOCKS_PER_PACKET;
            recording.measure(series, round as u32, metric.name, metric.unit, *ticks).subject = Some(subject);
        }
        let modelled = model.and_then(|model| model.predicted.ticks[at]);
        let expected = model.and_then(|model| model.chosen?.ticks[at]);
        for (metric, ticks) in [(metrics::MODELLED_CLOCKS, modelled), (metrics::EXPECTED_CLOCKS, expected)] {
            if let Some(ticks) = ticks {
                recording.measure(series, 0, metric.name, metric.unit, ticks).subject = Some(subject);
            }
        }
    }
    recording
}
