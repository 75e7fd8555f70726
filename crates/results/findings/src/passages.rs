//! The story of `count`: how many instructions each passage of an image takes, and in which
//! functions.

use crate::Findings;
use crate::functions;
use itertools::Itertools;
use recording::facts::{FactsError, Functions};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// The passages of an image.
#[derive(Serialize, JsonSchema)]
pub struct Passages<'r> {
    /// The experiment's name.
    pub experiment: &'static str,
    /// The unit of all figures: instructions.
    pub unit: &'static str,
    /// The recording's folder, as it was named on the command line.
    pub recording: &'r str,
    /// The image that ran.
    pub image: &'r str,
    /// The passage's name.
    pub passage: &'r str,
    /// The number of passages.
    pub passages: usize,
    /// Instructions of a passage.
    pub instructions: Range,
    /// Numbers of instructions, those that came most often first.
    pub lengths: Vec<Length>,
    /// Counts by function; `None` where none were made.
    pub by_function: Option<Functions>,
}

/// Instructions of a passage.
#[derive(Clone, Serialize, JsonSchema)]
pub struct Range {
    /// The fewest.
    pub least: u64,
    /// The median.
    pub median: f64,
    /// The most.
    pub most: u64,
}

/// A number of instructions, and the passages that took it.
#[derive(Serialize, JsonSchema)]
pub struct Length {
    /// Instructions of a passage.
    pub instructions: u64,
    /// The number of passages that took as many.
    pub passages: usize,
    /// The first of them, from 1.
    pub first: u32,
}

/// Reads the passages.
///
/// # Errors
/// The counts by function are of another version or form.
pub fn read<'r>(findings: &Findings<'r>) -> Result<Passages<'r>, FactsError> {
    let measures = findings.recording.measures();
    let first = measures.first();
    let mut lengths = BTreeMap::new();
    for measure in measures {
        let new = Length {
            instructions: measure.value as u64,
            passages: 0,
            first: measure.iteration + 1,
        };
        lengths.entry(measure.value as u64).or_insert(new).passages += 1;
    }
    let all = lengths
        .values()
        .flat_map(|length| std::iter::repeat_n(length.instructions, length.passages))
        .collect_vec();
    let middle = |at: usize| all.get(at).map_or(0.0, |value| *value as f64);
    let instructions = Range {
        least: all.first().copied().unwrap_or(0),
        median: (middle(all.len().saturating_sub(1) / 2) + middle(all.len() / 2)) / 2.0,
        most: all.last().copied().unwrap_or(0),
    };
    let mut lengths = lengths.into_values().collect_vec();
    lengths.sort_by_key(|length| (std::cmp::Reverse(length.passages), length.instructions));
    Ok(Passages {
        experiment: "count",
        unit: "instructions",
        recording: findings.folder,
        image: first.map_or("", |measure| {
            findings.recording.series_texts(measure.series).0
        }),
        passage: first
            .and_then(|measure| measure.subject)
            .map_or("", |subject| findings.recording.text(subject)),
        passages: all.len(),
        instructions,
        lengths,
        by_function: functions::read(findings.recording)?,
    })
}
