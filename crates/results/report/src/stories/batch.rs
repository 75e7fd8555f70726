//! `batch`: frame sizes.

use super::rows::{median, subjects, sum, values};
use super::run::Run;
use crate::Style;
use crate::grid::{DIM, fitted, paragraph, right, table};
use comfy_table::Cell;
use recording::{Recording, Series, metrics, stats};
use serde_json::{Value, json};
use std::fmt::Write;

/// A row of the table.
struct Row {
    frame_size: u64,
    /// Clocks without prefetch, and with it: medians of the repetitions.
    clocks: [f64; 2],
    /// Whether something else disturbed the measurement of one of them: half of the repetitions lie further apart than [`SCATTER`].
    scatters: bool,
    /// Bytes of indices, lanes, header lines, data lines.
    bytes: [u64; 4],
    /// Bytes of the loop's instructions; 0 where they are not known.
    instructions: u64,
}

/// The distance between the quartiles of a cell's repetitions, as a share of their median, above which its median is flagged.
const SCATTER: f64 = 0.2;

/// Whether the median of some repetitions stands for them.
fn scatters(values: &[f64]) -> bool {
    let at = |q| stats::quantile(values, q).unwrap_or(0.0);
    at(0.75) - at(0.25) > SCATTER * at(0.5)
}

/// A row whose clocks are above those of both its neighbours by more than this factor is flagged: frames of similar sizes take similar
/// times.
const OUTLIER: f64 = 1.5;

/// Whether the n-th of some clocks stands out of its neighbours.
fn is_outlier(clocks: &[f64], number: usize) -> bool {
    let neighbours = [number.checked_sub(1), Some(number + 1)].into_iter().flatten();
    let mut neighbours = neighbours.filter_map(|number| clocks.get(number)).peekable();
    neighbours.peek().is_some() && neighbours.all(|other| clocks[number] > OUTLIER * other)
}

/// Which rows are not to be trusted.
fn flagged(rows: &[Row]) -> Vec<bool> {
    let stands_out = |number: usize, which: usize| {
        let clocks: Vec<f64> = rows.iter().map(|row| row.clocks[which]).collect();
        is_outlier(&clocks, number)
    };
    let flagged = |number: usize| rows[number].scatters || stands_out(number, 0) || stands_out(number, 1);
    (0..rows.len()).map(flagged).collect()
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
            scatters: LOOPS.iter().any(|cell| scatters(&values(&own, "prefetch", metrics::CLOCKS_PER_PACKET, cell))),
            clocks: LOOPS.map(|cell| median(&own, "prefetch", metrics::CLOCKS_PER_PACKET, cell)),
            instructions: sum(&own, "footprint", metrics::FOOTPRINT, "instructions") as u64,
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

/// The published bytes of a frame of that size, in KB: indices, descriptors, buffers.
fn published(run: &Run<'_>, frame_size: u64) -> Option<[f64; 3]> {
    let figures = &run.published.footprint.as_ref()?.figures;
    let row = figures.iter().find(|row| row.frame_size == frame_size)?;
    Some([row.vector_4b_kb, row.descriptor_32b_kb, row.buffer_128b_kb])
}

pub(super) fn json(run: &Run<'_>) -> Value {
    let rows = rows(run.recording);
    let flagged = flagged(&rows);
    rows.iter()
        .zip(flagged)
        .map(|(row, outlier)| {
            json!({
                "frame_size": row.frame_size,
                "clocks_per_packet": row.clocks,
                "outlier": outlier,
                "bytes": row.bytes,
                "instruction_bytes": row.instructions,
                "published_kb": published(run, row.frame_size),
            })
        })
        .collect()
}

pub(super) fn text(run: &Run<'_>, style: Style) -> String {
    let mut text = String::from(
        "Frame sizes on this machine: clocks per packet of the single loop, and KB that a frame touches.\n",
    );
    let mut grid = table(style);
    grid.set_header(["Frame", "no prefetch", "stride +4", "Indices", "Lanes", "Header lines", "Data lines", "Code"]);
    let rows = rows(run.recording);
    let flags = flagged(&rows);
    for (row, flagged) in rows.iter().zip(&flags) {
        let mark = if *flagged { " ?" } else { "" };
        let mut cells = vec![right(row.frame_size.to_string())];
        cells.extend(row.clocks.map(|clocks| right(format!("{clocks:.1}{mark}"))));
        let kb = |bytes: u64| bytes as f64 / 1024.0;
        let [indices, lanes, headers, data] = row.bytes.map(kb);
        cells.extend(
            [format!("{indices:.2}"), format!("{lanes:.2}"), format!("{headers:.1}"), format!("{data:.1}")].map(right),
        );
        let code = if row.instructions == 0 { "unknown".to_owned() } else { format!("{:.2}", kb(row.instructions)) };
        cells.push(right(code));
        grid.add_row(cells);
    }
    let _ = writeln!(text, "{}", fitted(grid, style));
    if flags.contains(&true) {
        let why = "?: the repetitions of this row scatter, or it stands out of its neighbours. Something else ran: do not use it.";
        paragraph(&mut text, why, ("", "  "), DIM, style);
    }
    text.push_str(&published_table(run, &rows, style));
    text.push_str(&accesses_table(run.recording, style));
    text
}

/// What each kind of access to a cold packet costs by itself; nothing where that was not measured.
fn accesses_table(recording: &Recording, style: Style) -> String {
    const CASE: &str = "accesses";
    let kinds = subjects(recording, CASE, metrics::CLOCKS);
    if kinds.is_empty() {
        return String::new();
    }
    let each: Vec<Vec<f64>> = kinds.iter().map(|kind| values(recording, CASE, metrics::CLOCKS, kind)).collect();
    let all: f64 = each.iter().filter_map(|values| stats::median(values)).sum();
    let mut grid = table(style);
    grid.set_header(["Access, alone and without prefetch", "Clocks each", "Quartiles", "Share"]);
    for (kind, values) in kinds.iter().zip(&each) {
        let at = |q| stats::quantile(values, q).unwrap_or(0.0);
        let mark = if scatters(values) { " ?" } else { "" };
        grid.add_row(vec![
            Cell::new(kind),
            right(format!("{:.1}{mark}", at(0.5))),
            right(format!("{:.1} to {:.1}", at(0.25), at(0.75))),
            right(format!("{:.0} %", 100.0 * at(0.5) / all.max(f64::MIN_POSITIVE))),
        ]);
    }
    format!("\n{}\n", fitted(grid, style))
}

/// Ours beside the published footprints; nothing where there are none.
fn published_table(run: &Run<'_>, rows: &[Row], style: Style) -> String {
    let Some(reference) = &run.published.footprint else { return String::new() };
    let mut grid = table(style);
    grid.set_header([
        "Frame",
        "Indices, published",
        "ours",
        "Descriptors, published",
        "ours (lanes)",
        "Buffers, published",
        "ours (lines)",
    ]);
    for row in rows {
        let Some(figures) = published(run, row.frame_size) else { continue };
        let [indices, lanes, headers, data] = row.bytes.map(|bytes| bytes as f64 / 1024.0);
        let ours = [indices, lanes, headers + data];
        let cells = figures.into_iter().zip(ours).flat_map(|(figure, ours)| [figure, ours]);
        let cells = cells.map(|kb| right(format!("{kb:.2}")));
        grid.add_row([right(row.frame_size.to_string())].into_iter().chain(cells));
    }
    let mut text = format!("\nKB that a frame touches\n{}\n", fitted(grid, style));
    paragraph(&mut text, &format!("Published: {}, {}.", reference.source, reference.title), ("", "  "), DIM, style);
    text
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
