//! `batch`: frame sizes.

use super::story::Story;
use crate::blocks::{Blocks, Cell, Curve, Drawing, Number, Picture, Table, fixed};
use crate::words::{clocks, packets};
use findings::batch::{Batch, Row, kb};
use itertools::Itertools;

/// The mark of a figure that is not to be trusted.
fn doubtful(number: Number, is: bool) -> Number {
    if is { number.after(" ?") } else { number }
}

impl Story for Batch<'_> {
    fn tell(&self, told: &mut Blocks) {
        told.answer(packets::frames(self));
        clocks::noise(&self.steadiness, told);
        let trusted = || self.rows.iter().filter(|row| !row.outlier);
        let (factor, unit) = (self.ticks.factor(), clocks::unit(&self.ticks));
        let curves: Vec<Curve> = [(0, "no prefetch"), (1, "stride +4")]
            .map(|(which, words)| {
                Curve::new(
                    words,
                    trusted().map(|row| {
                        let clocks = row.clocks_per_packet[which];
                        (row.frame_size as f64, factor * clocks)
                    }),
                )
                .with_best(0.02)
            })
            .into();
        if curves[0].points.len() > 1 {
            let drawing = Drawing::Curves {
                x: "packets of a frame".to_owned(),
                curves,
            };
            let title = "Clocks per packet against packets of a frame";
            told.picture(
                Picture::new(title, "a packet of the single loop", unit, drawing)
                    .noted("Shaded: within 2 % of the least."),
            );
        }
        let table = Table::with_rows(&self.rows)
            .numbers("frame", |row| row.frame_size)
            .numbers("no prefetch", |row| {
                doubtful(fixed(row.clocks_per_packet[0], 1), row.outlier)
            })
            .numbers("stride +4", |row| {
                doubtful(fixed(row.clocks_per_packet[1], 1), row.outlier)
            })
            .numbers("indices, KB", |row| fixed(kb(row.bytes[0]), 2))
            .numbers("metadata, KB", |row| fixed(kb(row.bytes[1]), 2))
            .numbers("header lines, KB", |row| fixed(kb(row.bytes[2]), 1))
            .numbers("data lines, KB", |row| fixed(kb(row.bytes[3]), 1))
            .numbers("code, KB", |row| match row.instruction_bytes {
                0 => Cell::from("unknown"),
                bytes => fixed(kb(bytes), 2).into(),
            });
        let mut note =
            "Clocks per packet of the single loop on this machine, and what a frame touches."
                .to_owned();
        if self.rows.iter().any(|row| row.outlier) {
            note.push_str(
                " ?: the repetitions of this row scatter. Something else ran: do not use it.",
            );
        }
        told.table(table.noted(note));
        published(self, told);
    }
}

/// Ours beside the published footprints.
fn published(batch: &Batch<'_>, told: &mut Blocks) {
    let Some(reference) = batch.reference else {
        return;
    };
    let rows = batch
        .rows
        .iter()
        .filter_map(|row| Some((row, row.published_kb?)))
        .collect_vec();
    let ours = |row: &Row| {
        let [indices, lanes, headers, data] = row.bytes.map(kb);
        [indices, lanes, headers + data]
    };
    let kinds = [
        ("indices", "ours"),
        ("descriptors", "ours (metadata)"),
        ("buffers", "ours (lines)"),
    ];
    let table = Table::with_rows(&rows).numbers("frame", |(row, _)| row.frame_size);
    let table = table.each(kinds.into_iter().enumerate(), |table, (at, (kind, own))| {
        table
            .grouped(kind, "published", move |(_, published)| {
                fixed(published[at], 2)
            })
            .grouped(kind, own, move |(row, _)| fixed(ours(row)[at], 2))
    });
    let note = format!("Published: {}, {}.", reference.source, reference.title);
    told.table(table.titled("KB that a frame touches").noted(note));
}
