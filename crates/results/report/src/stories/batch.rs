//! `batch`: frame sizes.

use super::rows::{median, sum};
use super::run::Run;
use crate::Style;
use crate::grid::{fitted, right, table};
use recording::{Recording, Series, metrics};
use serde_json::{Value, json};
use std::fmt::Write;

/// A row of the table.
struct Row {
    frame_size: u64,
    /// Clocks without prefetch, and with it.
    clocks: [f64; 2],
    /// Bytes of indices, lanes, header lines, data lines.
    bytes: [u64; 4],
}

/// The loops that are measured, and the kinds of data whose bytes are counted.
const LOOPS: [&str; 2] = ["single+0", "single+4"];
const KINDS: [&str; 4] = ["indices", "lanes", "header lines", "data lines"];

fn rows(recording: &Recording) -> Vec<Row> {
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
    let of = |size: u64, variant: &str| {
        let own = only(recording, variant);
        Row {
            frame_size: size,
            clocks: LOOPS.map(|cell| median(&own, "prefetch", metrics::CLOCKS_PER_PACKET, cell)),
            bytes: KINDS.map(|kind| sum(&own, "footprint", metrics::FOOTPRINT, kind) as u64),
        }
    };
    sizes.iter().map(|(size, variant)| of(*size, variant)).collect()
}

/// The measures of one variant.
fn only(recording: &Recording, variant: &str) -> Recording {
    let mut own = Recording::new(recording.header.clone());
    own.append(recording);
    let series: Vec<Series> = own.all_series().filter(|series| own.series_texts(*series).0 == variant).collect();
    own.keep_series(&series);
    own
}

pub(super) fn json(run: &Run<'_>) -> Value {
    let rows = rows(run.recording);
    rows.iter()
        .map(|row| json!({ "frame_size": row.frame_size, "clocks_per_packet": row.clocks, "bytes": row.bytes }))
        .collect()
}

pub(super) fn text(run: &Run<'_>, style: Style) -> String {
    let mut text = String::from(
        "Frame sizes on this machine: clocks per packet of the single loop, and KB that a frame touches.\n",
    );
    let mut grid = table(style);
    grid.set_header(["Frame", "no prefetch", "stride +4", "Indices", "Lanes", "Header lines", "Data lines"]);
    for row in rows(run.recording) {
        let mut cells = vec![right(row.frame_size.to_string())];
        cells.extend(row.clocks.map(|clocks| right(format!("{clocks:.1}"))));
        let kb = |bytes: u64| bytes as f64 / 1024.0;
        let [indices, lanes, headers, data] = row.bytes.map(kb);
        cells.extend(
            [format!("{indices:.2}"), format!("{lanes:.2}"), format!("{headers:.1}"), format!("{data:.1}")].map(right),
        );
        grid.add_row(cells);
    }
    let _ = writeln!(text, "{}", fitted(grid, style));
    text
}
