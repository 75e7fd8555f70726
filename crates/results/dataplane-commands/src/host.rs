//! `run prefetch` and `run batch` on this machine.

use std::fmt::Write;

use dataplane::frame::FRAME_SIZES;
use dataplane::machine;
use dataplane::walk::{Shape, Strides};
use dataplane_experiments::footprint;
use dataplane_experiments::host::{Study, cells, sweep};
use dataplane_experiments::model::Cell;
use recording::stats;
use serde::Serialize;

use crate::prefetch::CellResult;

/// A measured sweep.
#[derive(Clone, Debug, Serialize)]
pub struct HostStudy {
    /// Always `host`.
    pub world: String,
    /// Where metadata lies.
    pub layout: String,
    /// What counts.
    pub counter: String,
    /// Length of a tick in nanoseconds.
    pub tick_ns: f64,
    /// The cells: medians over the repetitions.
    pub cells: Vec<CellResult>,
    /// The best cell of each loop, by its median.
    pub best: Vec<BestHere>,
}

/// The best strides of a loop.
#[derive(Clone, Debug, Serialize)]
pub struct BestHere {
    /// The loop.
    #[serde(rename = "loop")]
    pub loop_name: String,
    /// S1.
    pub stride_first: usize,
    /// S2.
    pub stride_second: usize,
    /// Its clocks.
    pub clocks_per_packet: f64,
    /// How much it saves against no prefetch, in percent; 0 for the split loop, which has no such cell.
    pub saves_percent: f64,
}

/// Every measurement of a sweep.
pub type Values = Vec<(Cell, Vec<f64>)>;

fn loop_name(cell: Cell) -> &'static str {
    if cell.strides.header == cell.strides.data { cell.shape.name() } else { "single-split" }
}

/// Sweeps loops and strides.
pub fn prefetch(study: Study) -> (HostStudy, Values) {
    let cells = cells();
    let values = sweep(study, &cells);
    let results: Vec<CellResult> = cells
        .iter()
        .zip(&values)
        .map(|(cell, values)| CellResult {
            loop_name: loop_name(*cell).to_owned(),
            stride_first: cell.strides.header,
            stride_second: cell.strides.data,
            frame_size: study.frame_size,
            clocks_per_packet: stats::median(values).unwrap_or(0.0),
            published_clocks_per_packet: None,
            used_in_fit: false,
            error_percent: None,
            stalls: Vec::new(),
        })
        .collect();
    let best = ["single", "dual", "quad", "single-split"]
        .into_iter()
        .filter_map(|name| {
            let of = || results.iter().filter(|c| c.loop_name == name);
            let best = of().min_by(|a, b| a.clocks_per_packet.total_cmp(&b.clocks_per_packet))?;
            let none = of().find(|c| c.stride_first == 0).map_or(best.clocks_per_packet, |c| c.clocks_per_packet);
            Some(BestHere {
                loop_name: name.to_owned(),
                stride_first: best.stride_first,
                stride_second: best.stride_second,
                clocks_per_packet: best.clocks_per_packet,
                saves_percent: (1.0 - best.clocks_per_packet / none) * 100.0,
            })
        })
        .collect();
    let result = HostStudy {
        world: "host".to_owned(),
        layout: study.layout.name().to_owned(),
        counter: machine::COUNTER.to_owned(),
        tick_ns: 1e9 / machine::counter_hz() as f64,
        cells: results,
        best,
    };
    (result, cells.into_iter().zip(values).collect())
}

/// A sweep as a person reads it: a bar a cell.
pub fn print_prefetch(study: Study, result: &HostStudy, values: &Values) -> String {
    let mut out = format!(
        "Stride study on this machine: metadata {}, frames of {}, {} cold buffers, {} rounds of work a packet.\nClocks are ticks of the {} a packet ({:.3} ns); median and quartiles of {} measurements.\n\n",
        result.layout, study.frame_size, study.buffers, study.rounds, result.counter, result.tick_ns, study.repetitions
    );
    let most = result.cells.iter().map(|c| c.clocks_per_packet).fold(0.0, f64::max);
    let _ = writeln!(out, "{:<13}{:>9}{:>9}{:>16}", "Loop", "Strides", "Clocks", "quartiles");
    for (cell, (_, values)) in result.cells.iter().zip(values) {
        let quartile = |q| stats::quantile(values, q).unwrap_or(0.0);
        let bar = "#".repeat((cell.clocks_per_packet / most * 40.0) as usize);
        let strides = format!("+{}/+{}", cell.stride_first, cell.stride_second);
        let _ = writeln!(
            out,
            "{:<13}{strides:>9}{:>9.1}{:>8.1}{:>8.1}  {bar}",
            cell.loop_name,
            cell.clocks_per_packet,
            quartile(0.25),
            quartile(0.75)
        );
    }
    let _ = writeln!(out, "\nBest");
    for best in &result.best {
        let saves = if best.loop_name == "single-split" {
            String::new()
        } else {
            format!("{:.0} % less than without prefetch", best.saves_percent)
        };
        let _ = writeln!(
            out,
            "  {:<13} +{}/+{:<4} {:>7.1} clocks  {saves}",
            best.loop_name, best.stride_first, best.stride_second, best.clocks_per_packet
        );
    }
    out
}

/// A row of the batch table.
#[derive(Clone, Debug, Serialize)]
pub struct BatchRow {
    /// Packets of a frame.
    pub frame_size: usize,
    /// Ticks a packet of the study's loop without prefetch, and with the strides below.
    pub clocks_per_packet: [f64; 2],
    /// Bytes of buffer indices, of all lanes, of metadata lines, of data lines.
    pub bytes: [usize; 4],
}

/// The loop of the second column of the batch table.
const BATCH_CELL: Cell = Cell { shape: Shape::Single, strides: Strides { header: 4, data: 4 } };

/// Sweeps frame sizes.
pub fn batch(study: Study) -> (Vec<BatchRow>, Vec<(usize, Values)>) {
    let none = Cell { strides: Strides::both(0), ..BATCH_CELL };
    let mut rows = Vec::new();
    let mut all = Vec::new();
    debug_assert_eq!(FRAME_SIZES.len(), footprint::table().len());
    for row in footprint::table() {
        // The same number of packets for every size.
        let frames = (study.frames * study.frame_size / row.frame_size).max(1);
        let values = sweep(Study { frame_size: row.frame_size, frames, ..study }, &[none, BATCH_CELL]);
        let median = |index: usize| stats::median(&values[index]).unwrap_or(0.0);
        rows.push(BatchRow {
            frame_size: row.frame_size,
            clocks_per_packet: [median(0), median(1)],
            bytes: [row.indices, row.lanes, row.header_lines, row.data_lines],
        });
        all.push((row.frame_size, [none, BATCH_CELL].into_iter().zip(values).collect()));
    }
    (rows, all)
}

/// The batch table as a person reads it.
pub fn print_batch(rows: &[BatchRow]) -> String {
    let mut out = String::from(
        "Frame sizes on this machine: clocks a packet of the single loop, and KB a frame touches.\n\n  Frame  no prefetch   stride +4    Indices      Lanes  Header lines  Data lines\n",
    );
    for row in rows {
        let kb = |bytes: usize| bytes as f64 / 1024.0;
        let [indices, lanes, headers, data] = row.bytes.map(kb);
        let _ = writeln!(
            out,
            "{:>7}{:>13.1}{:>12.1}{indices:>11.2}{lanes:>11.2}{headers:>14.1}{data:>12.1}",
            row.frame_size, row.clocks_per_packet[0], row.clocks_per_packet[1]
        );
    }
    out
}
