//! `batch`: frame sizes.

use super::story::Story;
use crate::blocks::{Blocks, Cell, Curve, Drawing, Figure, Number, Picture, Table, fixed, name, percent, whole};
use findings::Run;
use findings::rows::{median, subjects, sum, values};
use published::{DataplaneReference, FootprintFigure};
use recording::{Recording, Series, metrics, stats};
use serde::{Serialize, Serializer};

/// The study of frame sizes; its JSON is the rows.
pub(super) struct Batch<'r> {
    rows: Vec<Row>,
    accesses: Vec<Access<'r>>,
    reference: Option<&'r DataplaneReference<FootprintFigure>>,
}

impl Serialize for Batch<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.rows.serialize(serializer)
    }
}

/// A frame size.
#[derive(Serialize)]
struct Row {
    frame_size: u64,
    /// Clocks without prefetch, and with it: medians of the repetitions.
    clocks_per_packet: [f64; 2],
    /// True if the row is not to be trusted.
    outlier: bool,
    /// Bytes of indices, metadata, header lines, data lines.
    bytes: [u64; 4],
    /// Bytes of the loop's instructions; 0 where they are not known.
    instruction_bytes: u64,
    /// Published KB of indices, descriptors and buffers.
    published_kb: Option<[f64; 3]>,
    /// True if half of the repetitions of a cell lie further apart than [`SCATTER`].
    #[serde(skip)]
    scatters: bool,
}

/// A kind of access to a cold packet, by itself.
struct Access<'r> {
    kind: &'r str,
    quartiles: [f64; 3],
    scatters: bool,
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
pub(super) fn read<'r>(run: &Run<'r>) -> Batch<'r> {
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

fn kb(bytes: u64) -> f64 {
    bytes as f64 / 1024.0
}

/// The mark of a figure that is not to be trusted.
fn doubtful(number: Number, is: bool) -> Number {
    if is { number.after(" ?") } else { number }
}

impl Story for Batch<'_> {
    fn tell(&self, told: &mut Blocks) {
        let trusted = || self.rows.iter().filter(|row| !row.outlier);
        let best = trusted().min_by(|a, b| a.clocks_per_packet[1].total_cmp(&b.clocks_per_packet[1]));
        if let Some(best) = best {
            let [none, four] = best.clocks_per_packet;
            told.answer(format!(
                "Frames of {} packets take the fewest clocks per packet: {} with prefetch at stride +4, {} without.",
                best.frame_size,
                fixed(four, 1),
                fixed(none, 1)
            ));
        }
        let curve = |(which, words): (usize, &str)| {
            let points = trusted().map(|row| {
                let value = row.clocks_per_packet[which];
                (row.frame_size as f64, Figure { value, published: None })
            });
            Curve { name: words.to_owned(), points: points.collect(), best: None }.with_best(0.02)
        };
        let curves: Vec<Curve> = [(0, "no prefetch"), (1, "stride +4")].map(curve).into();
        if curves[0].points.len() > 1 {
            let drawing = Drawing::Curves { x: "packets of a frame".to_owned(), curves };
            let title = "Clocks per packet against packets of a frame";
            told.picture(
                Picture::new(title, "single loop", "ticks", drawing).noted("Shaded: within 2 % of the least."),
            );
        }
        let table = Table::with_rows(&self.rows)
            .numbers("frame", "", |row| whole(row.frame_size as f64))
            .numbers("no prefetch", "", |row| doubtful(fixed(row.clocks_per_packet[0], 1), row.outlier))
            .numbers("stride +4", "", |row| doubtful(fixed(row.clocks_per_packet[1], 1), row.outlier))
            .numbers("indices", "KB", |row| fixed(kb(row.bytes[0]), 2))
            .numbers("metadata", "KB", |row| fixed(kb(row.bytes[1]), 2))
            .numbers("header lines", "KB", |row| fixed(kb(row.bytes[2]), 1))
            .numbers("data lines", "KB", |row| fixed(kb(row.bytes[3]), 1))
            .numbers("code", "KB", |row| match row.instruction_bytes {
                0 => Cell::from("unknown"),
                bytes => fixed(kb(bytes), 2).into(),
            });
        let mut note = "Clocks per packet of the single loop on this machine, and what a frame touches.".to_owned();
        if self.rows.iter().any(|row| row.outlier) {
            note.push_str(
                " ?: the repetitions of this row scatter, or it stands out of its neighbours. Something else ran: do not use it.",
            );
        }
        told.table(table.done().noted(note));
        self.published(told);
        let all: f64 = self.accesses.iter().map(|access| access.quartiles[1]).sum();
        let table = Table::with_rows(&self.accesses)
            .words("access, alone and without prefetch", |access| name(access.kind))
            .numbers("clocks each", "", |access| doubtful(fixed(access.quartiles[1], 1), access.scatters))
            .numbers("quartiles", "", |of| Cell::Range(fixed(of.quartiles[0], 1), fixed(of.quartiles[2], 1)))
            .numbers("share", "", |access| percent(access.quartiles[1] / all.max(f64::MIN_POSITIVE), 0));
        told.table(table.done());
    }
}

impl Batch<'_> {
    /// Ours beside the published footprints.
    fn published(&self, told: &mut Blocks) {
        let Some(reference) = self.reference else { return };
        let rows: Vec<_> = self.rows.iter().filter_map(|row| Some((row, row.published_kb?))).collect();
        let ours = |row: &Row| {
            let [indices, lanes, headers, data] = row.bytes.map(kb);
            [indices, lanes, headers + data]
        };
        let kinds = [("indices", "ours"), ("descriptors", "ours (metadata)"), ("buffers", "ours (lines)")];
        let table = Table::with_rows(&rows).numbers("frame", "", |(row, _)| whole(row.frame_size as f64));
        let table = table.each(kinds.into_iter().enumerate(), |table, (at, (kind, own))| {
            table.grouped(kind, "published", "", move |(_, published)| fixed(published[at], 2)).grouped(
                kind,
                own,
                "",
                move |(row, _)| fixed(ours(row)[at], 2),
            )
        });
        let note = format!("Published: {}, {}.", reference.source, reference.title);
        told.table(table.done().titled("KB that a frame touches").noted(note));
    }
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
