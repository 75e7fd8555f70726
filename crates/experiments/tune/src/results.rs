//! A tuned loop as a recording.

use crate::protocol::{KnobAbout, KnobKind};
use crate::space::{Space, Start};
use crate::trial::{Asked, Measurements, Table, Trial};
use dataplane_experiments::host_header;
use recording::{Recording, facts, metrics};

/// The case of every cell.
const CASE: &str = "tune";

/// Name of the working set for vectors that are not full: it is that of the largest.
const PARTIAL: &str = "partial";
const MEMORY: &str = "memory";

/// The facts of a loop.
fn facts(asked: &Asked, trial: &Trial<'_>, measured: &Measurements) -> facts::TunedLoop {
    let about = &trial.about;
    let knob = |knob: &KnobAbout| facts::TunedKnob {
        name: knob.name.clone(),
        define: knob.define.clone(),
        is_distance: knob.is_distance(),
        today: knob.today.into(),
    };
    let own =
        |values: &[u32]| -> Vec<u32> { about.valued(values).map(|(_, value)| *value).collect() };
    let last = &measured.tables[0].compared;
    let pick = &last.values[0];
    let space = Space::new(&about.knobs, asked.batch);
    let named = |start: &Start| facts::TunedPlace {
        name: start.name.to_owned(),
        values: own(&start.values),
    };
    let partial = measured
        .tables
        .iter()
        .find(|table| table.frames.least < table.frames.most);
    let set = |name: &str| facts::TunedSet {
        name: name.to_owned(),
        records: trial.records,
        bytes: trial.records * about.record_bytes,
    };
    let learned = trial.bench.learned();
    let left_out = trial
        .bench
        .checker
        .iter()
        .flat_map(|checker| checker.left_out());
    facts::TunedLoop {
        name: about.name.clone(),
        from: asked.source.path.display().to_string(),
        batch: asked.batch,
        asked_bytes: asked.memory,
        rounds: last.ticks[0].len() as u64,
        slices: trial.bench.slices,
        at_the_end: (0..pick.len()).any(|at| {
            about.knobs[at].is_distance()
                && pick[at] > 0
                && space.ladder(at).last() == Some(&pick[at])
        }),
        is_checked: learned.by.is_some(),
        compared_by: learned.by,
        is_overwriting: learned.is_overwriting,
        left_out: left_out.map(|values| own(&values)).collect(),
        pick: own(pick),
        partial: partial.map(|table| facts::TunedPartial {
            frames: [table.frames.least, table.frames.most],
            pick: own(&table.compared.values[0]),
        }),
        missed: asked.missed.clone(),
        beside: trial.named.iter().map(named).collect(),
        knobs: about
            .knobs
            .iter()
            .filter(|knob| knob.kind != KnobKind::Line)
            .map(knob)
            .collect(),
        sets: partial
            .iter()
            .map(|_| PARTIAL)
            .chain([MEMORY])
            .map(set)
            .collect(),
    }
}

/// The recording of a loop: a measure for each round of each candidate. Candidates of a working set
/// and a batch have the same rounds, as far as they have them.
pub fn recording(asked: &Asked, trial: &Trial<'_>, measured: &Measurements) -> Recording {
    let about = &trial.about;
    let rounds = measured.tables[0].compared.ticks[0].len();
    let mut header = host_header("tune", rounds as u32);
    header.set_facts(&facts(asked, trial, measured));
    let ended = measured.ended.iter();
    let kept = ended.map(|ended| format!("{ended}; what was measured before is kept"));
    header.complaints.extend(kept);
    let first = about
        .knobs
        .iter()
        .find(|knob| knob.kind != KnobKind::Line)
        .map(|knob| &knob.name);
    let title = "Clocks per record against the distance";
    header
        .pictures
        .extend(first.map(|x| metrics::CLOCKS_PER_PACKET.curves(title, None, x, Some("batch"))));
    let mut recording = Recording::new(header);
    for Table { frames, compared } in &measured.tables {
        let (set, batch) = if frames.least < frames.most {
            (PARTIAL, frames.least.midpoint(frames.most))
        } else {
            (MEMORY, frames.most)
        };
        for (values, rounds) in compared.values.iter().zip(&compared.ticks) {
            let name = format!("{}, batch {frames}", about.words(values));
            let series = recording.series(set, CASE, "");
            let place = || {
                let knobs = about.valued(values);
                knobs
                    .map(|(knob, value)| (knob.name.clone(), i64::from(*value).into()))
                    .chain([("batch".to_owned(), (batch as i64).into())])
                    .collect()
            };
            let coordinates = &mut recording.header.coordinates;
            coordinates.entry(name.clone()).or_insert_with(place);
            for (round, ticks) in rounds.iter().enumerate() {
                recording.add(
                    series,
                    round as u32,
                    metrics::CLOCKS_PER_PACKET,
                    &name,
                    *ticks,
                );
            }
        }
    }
    recording
}
