//! `batch`: frame sizes.

use crate::Findings;
use crate::rows::measures_of;
use crate::spread::{Steadiness, apart, quartiles, scatters};
use crate::ticks::Ticks;
use evidence::Leaders;
use itertools::Itertools;
use published::DataplaneReference;
use recording::{metrics, stats};
use schemars::JsonSchema;
use serde::Serialize;

/// The study of frame sizes.
#[derive(Serialize, JsonSchema)]
pub struct Batch<'r> {
    /// The frame sizes, in the order in which they ran.
    pub rows: Vec<Row>,
    /// Whether the machine repeats itself.
    pub steadiness: Steadiness,
    /// The counter whose ticks are clocks.
    #[serde(flatten)]
    pub ticks: Ticks,
    /// The recording's folder, as it was named on the command line.
    pub recording: &'r str,
    /// Published bytes that a frame touches.
    #[serde(skip)]
    pub reference: Option<&'r DataplaneReference>,
}

/// A frame size.
#[derive(Serialize, JsonSchema)]
pub struct Row {
    /// Packets of a frame, at least 1.
    pub frame_size: u64,
    /// Clocks without prefetch, and with it: medians of the repetitions.
    pub clocks_per_packet: [f64; 2],
    /// True if the repetitions of the row scatter.
    pub outlier: bool,
    /// Bytes of indices, metadata, header lines, data lines.
    pub bytes: [u64; 4],
    /// Bytes of the loop's instructions; 0 where they are not known.
    pub instruction_bytes: u64,
    /// Published KB of indices, descriptors and buffers.
    pub published_kb: Option<[f64; 3]>,
    /// The repetitions without prefetch, and with it.
    pub repetitions: [Vec<f64>; 2],
}

/// The loops that are measured, and the kinds of data whose bytes are counted.
const LOOPS: [&str; 2] = ["single+0", "single+4"];

const KINDS: [&str; 4] = ["indices", "lanes", "header lines", "data lines"];

/// Reads the study.
pub fn read<'r>(findings: &Findings<'r>) -> Batch<'r> {
    let recording = findings.recording;
    let size = |series| {
        let (variant, ..) = recording.series_texts(series);
        let at = recording.header.coordinates.get(variant)?;
        Some((at.get("frame_size")?.as_integer()? as u64, variant))
    };
    let sizes = recording.all_series().filter_map(size);
    let reference = findings.published.footprint.as_ref();
    let row = |(size, variant): (u64, &str)| {
        let values = |case, metric, of: &str| -> Vec<f64> {
            measures_of(recording, case, metric)
                .filter(|row| (row.variant, row.subject) == (variant, of))
                .map(|row| row.value)
                .collect()
        };
        let bytes = |of: &str| {
            values("footprint", metrics::FOOTPRINT, of)
                .iter()
                .sum::<f64>() as u64
        };
        let published =
            reference.and_then(|of| of.figures.iter().find(|row| row.frame_size == size));
        let repetitions = LOOPS.map(|cell| values("prefetch", metrics::CLOCKS_PER_PACKET, cell));
        Row {
            frame_size: size,
            outlier: repetitions.iter().any(|values| scatters(values)),
            clocks_per_packet: repetitions
                .each_ref()
                .map(|values| stats::median(values).unwrap_or(0.0)),
            repetitions,
            instruction_bytes: bytes("instructions"),
            published_kb: published
                .map(|row| [row.vector_4b_kb, row.descriptor_32b_kb, row.buffer_128b_kb]),
            bytes: KINDS.map(bytes),
        }
    };
    let rows = sizes.unique_by(|(size, _)| *size).map(row).collect_vec();
    let apart = |row: &Row| row.repetitions.each_ref().map(|values| apart(values));
    let best = best(&rows).into_iter().flat_map(|best| best.items);
    let steadiness = Steadiness::new(rows.iter().flat_map(apart), best.flat_map(apart));
    Batch {
        steadiness,
        ticks: Ticks::new(recording),
        recording: findings.folder,
        reference,
        rows,
    }
}

/// The frame sizes with the fewest clocks with prefetch, of those that are to be trusted: as far as
/// their repetitions tell them apart.
pub fn best(rows: &[Row]) -> Option<Leaders<&Row>> {
    Leaders::least(rows.iter().filter(|row| !row.outlier), |row| {
        Some(quartiles(&row.repetitions[1]))
    })
}

/// Bytes in KB of 1024.
pub fn kb(bytes: u64) -> f64 {
    bytes as f64 / 1024.0
}
