//! A tuned loop as a recording.

use crate::loop_bench::WorkingSet;
use crate::process::Process;
use crate::protocol::{KnobAbout, KnobKind, LoopAbout};
use crate::search::Compared;
use crate::space::{Space, Start, places};
use crate::system;
use recording::{Header, Recording, facts, metrics};

/// The case of every cell.
const CASE: &str = "tune";

/// What was compared in a working set, in batches of one size.
pub struct Table {
    /// The number of the working set.
    pub set: usize,
    /// Records of a call.
    pub batch: u64,
    /// The candidates, the best of the search first.
    pub compared: Compared,
}

/// All that was measured.
pub struct Measurements {
    /// The last comparison of the search, and those of other working sets and batches.
    pub tables: Vec<Table>,
    /// What stands beside the best.
    pub named: Vec<Start>,
    /// Values with which the loop does other work.
    pub left_out: Vec<Vec<u32>>,
    /// True if it was found out whether the loop does the same work.
    pub is_checked: bool,
    /// Why it ended before its time, if it did: the loop crashed or hung.
    pub ended: Option<String>,
}

/// The facts of a loop.
pub fn facts(
    process: &Process,
    from: &str,
    batch: u64,
    sets: &[WorkingSet],
    huge: Option<f64>,
    measured: &Measurements,
    slices: u64,
) -> facts::TunedLoop {
    let about = &process.about;
    let (depths, _) = places(&about.knobs);
    let knob = |(at, knob): (usize, &KnobAbout)| facts::TunedKnob {
        name: knob.name.clone(),
        define: knob.define.clone(),
        is_distance: knob.is_distance(),
        depth: depths[at],
        today: knob.today.into(),
    };
    let own =
        |values: &[u32]| -> Vec<u32> { about.valued(values).map(|(_, value)| *value).collect() };
    let last = &measured.tables[0].compared;
    let pick = &last.values[0];
    let space = Space::new(&about.knobs, batch);
    let named = |start: &Start| facts::TunedPlace {
        name: start.name.to_owned(),
        values: own(&start.values),
    };
    facts::TunedLoop {
        name: about.name.clone(),
        from: from.to_owned(),
        processor: system::processor(),
        batch,
        huge,
        rounds: last.ticks[0].len() as u64,
        slices,
        at_the_end: (0..pick.len()).any(|at| {
            about.knobs[at].is_distance()
                && pick[at] > 0
                && space.ladder(at).last() == Some(&pick[at])
        }),
        is_checked: measured.is_checked,
        left_out: measured.left_out.iter().map(|values| own(values)).collect(),
        pick: own(pick),
        beside: measured.named.iter().map(named).collect(),
        knobs: about
            .knobs
            .iter()
            .enumerate()
            .filter(|(_, knob)| knob.kind != KnobKind::Line)
            .map(knob)
            .collect(),
        sets: sets
            .iter()
            .map(|set| facts::TunedSet {
                name: set.name.to_owned(),
                records: set.records,
                bytes: set.records * about.record_bytes,
            })
            .collect(),
    }
}

/// What a reader should know of how it was measured.
pub fn notes(process: &Process, memory: u64, records: u64, measured: &Measurements) -> Vec<String> {
    let about = &process.about;
    let mut notes = Vec::new();
    if records < memory / about.record_bytes {
        notes.push(format!(
            "There are {records} records, whose lines are {} MB: the loop or the machine has no room for {} MB.",
            (records * about.record_bytes) >> 20,
            memory >> 20
        ));
    }
    if !measured.is_checked {
        notes.push(
            "It was not checked whether the loop does the same work with all values.".to_owned(),
        );
    }
    notes
}

/// The recording of a loop: a measure for each round of each candidate. Candidates of a working set
/// and a batch have the same rounds.
pub fn recording(
    mut header: Header,
    about: &LoopAbout,
    sets: &[WorkingSet],
    measured: &Measurements,
) -> Recording {
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
    for Table {
        set,
        batch,
        compared,
    } in &measured.tables
    {
        for (values, rounds) in compared.values.iter().zip(&compared.ticks) {
            let name = format!("{}, batch {batch}", about.words(values));
            let series = recording.series(sets[*set].name, CASE, "");
            recording
                .header
                .coordinates
                .entry(name.clone())
                .or_insert_with(|| {
                    about
                        .valued(values)
                        .map(|(knob, value)| (knob.name.clone(), i64::from(*value).into()))
                        .chain([("batch".to_owned(), (*batch as i64).into())])
                        .collect()
                });
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
