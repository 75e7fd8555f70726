//! The story of `count`: how many instructions each passage of an image takes, and in which
//! functions.

use super::functions;
use super::story::Story;
use crate::blocks::{Blocks, Table, code, fixed, percent, text};
use findings::Run;
use recording::facts::{FactsError, Functions};
use serde::Serialize;
use std::collections::BTreeMap;

/// Lengths that the table has, those that came most often.
const MOST_LENGTHS: usize = 20;

/// The passages of an image.
#[derive(Serialize)]
pub(super) struct Passages<'r> {
    experiment: &'static str,
    unit: &'static str,
    recording: &'r str,
    image: &'r str,
    passage: &'r str,
    passages: usize,
    instructions: Range,
    lengths: Vec<Length>,
    by_function: Option<Functions>,
}

/// Instructions of a passage.
#[derive(Clone, Copy, Default, Serialize)]
struct Range {
    least: u64,
    median: f64,
    most: u64,
}

/// A number of instructions, and the passages that took it.
#[derive(Serialize)]
struct Length {
    instructions: u64,
    passages: usize,
    /// The first of them, from 1.
    first: u32,
}

/// Reads the passages.
///
/// # Errors
/// The counts by function are of another version or form.
pub(super) fn read<'r>(run: &Run<'r>) -> Result<Passages<'r>, FactsError> {
    let measures = run.recording.measures();
    let first = measures.first();
    let mut lengths: BTreeMap<u64, Length> = BTreeMap::new();
    for measure in measures {
        let new = Length { instructions: measure.value as u64, passages: 0, first: measure.iteration + 1 };
        lengths.entry(measure.value as u64).or_insert(new).passages += 1;
    }
    let all: Vec<u64> =
        lengths.values().flat_map(|length| std::iter::repeat_n(length.instructions, length.passages)).collect();
    let middle = |at: usize| all.get(at).map_or(0.0, |value| *value as f64);
    let instructions = Range {
        least: all.first().copied().unwrap_or(0),
        median: (middle(all.len().saturating_sub(1) / 2) + middle(all.len() / 2)) / 2.0,
        most: all.last().copied().unwrap_or(0),
    };
    let mut lengths: Vec<Length> = lengths.into_values().collect();
    lengths.sort_by_key(|length| (std::cmp::Reverse(length.passages), length.instructions));
    Ok(Passages {
        experiment: "count",
        unit: "instructions",
        recording: run.folder,
        image: first.map_or("", |measure| run.recording.series_texts(measure.series).0),
        passage: first.and_then(|measure| measure.subject).map_or("", |subject| run.recording.text(subject)),
        passages: all.len(),
        instructions,
        lengths,
        by_function: functions::read(run.recording)?,
    })
}

impl Story for Passages<'_> {
    fn tell(&self, told: &mut Blocks) {
        let Range { least, median, most } = self.instructions;
        let takes = match (self.passages, least == most) {
            (1, _) => format!(" takes {most} instructions in one passage"),
            (count, true) => format!(" takes {most} instructions in each of {count} passages"),
            (count, false) => {
                format!(
                    " takes {} instructions in the median of {count} passages, {least} to {most}",
                    functions::count(median)
                )
            }
        };
        told.answer(text![code(self.passage), format!("{takes} ({}).", self.image)]);
        if self.lengths.len() > 1 {
            let shown = &self.lengths[..self.lengths.len().min(MOST_LENGTHS)];
            let mut table = Table::with_rows(shown)
                .numbers("instructions", "", |length| fixed(length.instructions as f64, 0))
                .numbers("passages", "", |length| fixed(length.passages as f64, 0))
                .numbers("share", "", |length| percent(length.passages as f64 / self.passages as f64, 1))
                .numbers("first", "", |length| fixed(f64::from(length.first), 0))
                .done();
            let more = self.lengths.len() - shown.len();
            if more > 0 {
                table = table.noted(format!("{more} more lengths came less often."));
            }
            told.table(table);
        }
        if let Some(counts) = &self.by_function {
            told.paragraph(functions::largest(counts));
            functions::tell(told, counts);
        }
    }
}
