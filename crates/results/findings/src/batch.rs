//! `batch`: frame sizes.

use crate::Run;
use crate::rows::{median, subjects, sum, values};
use published::{DataplaneReference, FootprintFigure};
use recording::{Recording, Series, metrics, stats};
use schemars::JsonSchema;
use serde::Serialize;

/// The study of frame sizes.
#[derive(Serialize, JsonSchema)]
pub struct Batch<'r> {
    /// The frame sizes, in the order in which they ran.
    pub rows: Vec<Row>,
    /// The kinds of accesses to a cold packet.
    pub accesses: Vec<Access<'r>>,
    /// Published bytes that a frame touches.
    #[serde(skip)]
    pub reference: Option<&'r DataplaneReference<FootprintFigure>>,
}

/// A frame size.
#[derive(Serialize, JsonSchema)]
pub struct Row {
    /// Packets of a frame, at least 1.
    pub frame_size: u64,
    /// Clocks without prefetch, and with it: medians of the repetitions.
    pub clocks_per_packet: [f64; 2],
    /// True if the row is not to be trusted.
    pub outlier: bool,
    /// Bytes of indices, metadata, header lines, data lines.
    pub bytes: [u64; 4],
    /// Bytes of the loop's instructions; 0 where they are not known.
    pub instruction_bytes: u64,
    /// Published KB of indices, descriptors and buffers.
    pub published_kb: Option<[f64; 3]>,
    /// True if half of the repetitions of a cell lie further apart than [`SCATTER`].
    #[serde(skip)]
    pub scatters: bool,
}

/// A kind of access to a cold packet, by itself.
#[derive(Serialize, JsonSchema)]
pub struct Access<'r> {
    /// The access, in words.
    pub kind: &'r str,
    /// The first quartile, the median and the third quartile of its ticks.
    pub quartiles: [f64; 3],
    /// True if the quartiles lie too far apart for the median to stand for them.
    pub scatters: bool,
}

/// The distance between the quartiles of a cell's repetitions, as a share of their median, above
/// which its median is flagged.
const SCATTER: f64 = 0.2;

/// True if the median of some repetitions does not stand for them.
fn scatters(values: &[f64]) -> bool {
    let at = |q| stats::quantile(values, q).unwrap_or(0.0);
    at(0.75) - at(0.25) > SCATTER * at(0.5)
}

/// A row whose clocks are above those of both its neighbours by more than this factor is flagged:
/// frames of similar sizes take similar times.
const OUTLIER: f64 = 1.5;

/// True if the n-th of some clocks stands out of its neighbours.
fn is_outlier(clocks: &[f64], number: usize) -> bool {
    let neighbours = [number.checked_sub(1), Some(number + 1)].into_iter().flatten();
    let mut neighbours = neighbours.filter_map(|number| clocks.get(number)).peekable();
    neighbours.peek().is_some() && neighbours.all(|other| clocks[number] > OUTLIER * other)
}

/// The loops that are measured, and the kinds of data whose bytes are counted.
const LOOPS: [&str; 2] = ["single+0", "single+4"];

const KINDS: [&str; 4] = ["indices", "lanes", "header lines", "data lines"];

/// Reads the study.
pub fn read<'r>(run: &Run<'r>) -> Batch<'r> {
    let recording = run.recording;
    let mut sizes: Vec<(u64, String)> = Vec::new();
    for series in recording.all_series() {
        let (variant, ..) = recording.series_texts(series);
        let size = recording.header.coordinates.get(variant).and_then(|at| at.get("frame_size")?.as_integer());
        if let Some(size) = size
            && sizes.iter().all(|(known, _)| *known != size as u64)
        {
            sizes.push((size as u64, variant.to_owned()));
        }
    }
    let reference = run.published.footprint.as_ref();
    let row = |(size, variant): &(u64, String)| {
        let own = only(recording, variant);
        let published = reference.and_then(|of| of.figures.iter().find(|row| row.frame_size == *size));
        Row {
            frame_size: *size,
            scatters: LOOPS.iter().any(|cell| scatters(&values(&own, "prefetch", metrics::CLOCKS_PER_PACKET, cell))),
            outlier: false,
            clocks_per_packet: LOOPS.map(|cell| median(&own, "prefetch", metrics::CLOCKS_PER_PACKET, cell)),
            instruction_bytes: sum(&own, "footprint", metrics::FOOTPRINT, "instructions") as u64,
            bytes: KINDS.map(|kind| sum(&own, "footprint", metrics::FOOTPRINT, kind) as u64),
            published_kb: published.map(|row| [row.vector_4b_kb, row.descriptor_32b_kb, row.buffer_128b_kb]),
        }
    };
    let mut rows: Vec<Row> = sizes.iter().map(row).collect();
    for which in 0..2 {
        let clocks: Vec<f64> = rows.iter().map(|row| row.clocks_per_packet[which]).collect();
        for (number, row) in rows.iter_mut().enumerate() {
            row.outlier |= row.scatters || is_outlier(&clocks, number);
        }
    }
    Batch { rows, accesses: accesses(recording), reference }
}

/// The measures of one variant.
fn only(recording: &Recording, variant: &str) -> Recording {
    let mut own = Recording::new(recording.header.clone());
    own.append(recording);
    let series: Vec<Series> = own.all_series().filter(|series| own.series_texts(*series).0 == variant).collect();
    own.keep_series(&series);
    own
}

fn accesses(recording: &Recording) -> Vec<Access<'_>> {
    const CASE: &str = "accesses";
    let kinds = subjects(recording, CASE, metrics::CLOCKS).into_iter();
    let access = |kind| {
        let values = values(recording, CASE, metrics::CLOCKS, kind);
        let at = |q| stats::quantile(&values, q).unwrap_or(0.0);
        Access { kind, quartiles: [at(0.25), at(0.5), at(0.75)], scatters: scatters(&values) }
    };
    kinds.map(access).collect()
}

/// Bytes in KB of 1024.
pub fn kb(bytes: u64) -> f64 {
    bytes as f64 / 1024.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_out_or_scatters_is_flagged() {
        let clocks = [330.0, 320.0, 981.0, 318.0, 500.0];
        let found: Vec<bool> = (0..clocks.len()).map(|number| is_outlier(&clocks, number)).collect();
        assert_eq!(found, [false, false, true, false, true]);
        assert!(!is_outlier(&[320.0], 0));
        assert!(!scatters(&[318.0, 320.0, 322.0, 900.0, 319.0]), "one repetition alone does not move the median");
        assert!(scatters(&[318.0, 320.0, 500.0, 900.0, 319.0]));
    }
}
