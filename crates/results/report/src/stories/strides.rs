//! `prefetch`: the stride study, on this machine or on a modelled core.

use super::rows::{counter, of, setting, subject, tick_ns, values};
use super::run::Run;
use super::stride_cells::{CASE, is_modelled, place, published_cell, reference};
use crate::Style;
use crate::grid::{DIM, PLAIN, fitted, paragraph, right, table};
use comfy_table::Cell as GridCell;
use recording::{Recording, metrics, stats};
use serde_json::{Value, json};
use std::fmt::Write;

const BURST_CASE: &str = "prefetch-burst";

/// A cell of the study.
struct Cell {
    subject: String,
    loop_name: String,
    strides: [usize; 2],
    /// Clocks per packet of each repetition.
    values: Vec<f64>,
    /// Their median.
    clocks: f64,
    /// What was published, and whether a fit used it.
    published: Option<(f64, bool)>,
    /// Ticks per packet that the core stood still: access, waiting for its data, finding no fill buffer free.
    stalls: Vec<(String, f64, f64)>,
}

impl Cell {
    fn error_percent(&self) -> Option<f64> {
        self.published.map(|(published, _)| (self.clocks / published - 1.0) * 100.0)
    }

    fn label(&self) -> String {
        let [first, second] = self.strides;
        if first == second { format!("+{first}") } else { format!("+{first}/+{second}") }
    }
}

fn cells(run: &Run<'_>) -> Vec<Cell> {
    let recording = run.recording;
    let reference = reference(recording, run.published);
    let mut cells: Vec<Cell> = Vec::new();
    for name in super::rows::subjects(recording, CASE, metrics::CLOCKS_PER_PACKET) {
        let Some((loop_name, strides)) = place(recording, name) else { continue };
        let published = reference.and_then(|reference| published_cell(reference, &loop_name, strides));
        let published = published.map(|cell| (cell.ticks, cell.may_be_fitted));
        let values = values(recording, CASE, metrics::CLOCKS_PER_PACKET, name);
        let clocks = stats::median(&values).unwrap_or(0.0);
        cells.push(Cell {
            subject: name.to_owned(),
            loop_name,
            strides,
            values,
            clocks,
            published,
            stalls: Vec::new(),
        });
    }
    for (metric, is_wait) in [(metrics::STALL_WAITED, true), (metrics::STALL_BLOCKED, false)] {
        for measure in of(recording, CASE, metric) {
            let Some((name, access)) = subject(recording, measure).split_once(", ") else { continue };
            let Some(cell) = cells.iter_mut().find(|cell| cell.subject == name) else { continue };
            let place = match cell.stalls.iter().position(|stall| stall.0 == access) {
                Some(place) => place,
                None => {
                    cell.stalls.push((access.to_owned(), 0.0, 0.0));
                    cell.stalls.len() - 1
                }
            };
            let stall = &mut cell.stalls[place];
            *(if is_wait { &mut stall.1 } else { &mut stall.2 }) = measure.value;
        }
    }
    cells
}

fn cell_json(run: &Run<'_>, cell: &Cell) -> Value {
    let stalls = cell
        .stalls
        .iter()
        .map(|(access, waited, blocked)| json!({ "access": access, "waited": waited, "blocked": blocked }));
    json!({
        "loop": cell.loop_name,
        "stride_first": cell.strides[0],
        "stride_second": cell.strides[1],
        "frame_size": setting(run.recording, "frame_size").parse::<u64>().unwrap_or(0),
        "clocks_per_packet": cell.clocks,
        "published_clocks_per_packet": or_null(cell.published.map(|(published, _)| published)),
        "used_in_fit": cell.published.is_some_and(|(_, used)| used),
        "error_percent": or_null(cell.error_percent()),
        "stalls": stalls.collect::<Vec<_>>(),
    })
}

pub(super) fn json(run: &Run<'_>) -> Value {
    let (recording, cells) = (run.recording, cells(run));
    let all: Vec<Value> = cells.iter().map(|cell| cell_json(run, cell)).collect();
    let (gains, gain_prefetch, gain_parallel) = gains_json(&cells);
    if !is_modelled(recording) {
        let layout = of(recording, CASE, metrics::CLOCKS_PER_PACKET).next();
        return json!({
            "world": recording.header.world,
            "layout": layout.map_or("", |measure| recording.series_texts(measure.series).2),
            "counter": counter(recording),
            "tick_ns": tick_ns(recording),
            "cells": all,
            "best": best_here(&cells).iter().map(|best| json!({
                "loop": best.cell.loop_name,
                "stride_first": best.cell.strides[0],
                "stride_second": best.cell.strides[1],
                "clocks_per_packet": best.cell.clocks,
                "saves_percent": best.saves_percent,
            })).collect::<Vec<_>>(),
            "gains": gains,
            "gain_prefetch": gain_prefetch,
            "gain_parallel": gain_parallel,
            "recording": run.folder,
        });
    }
    json!({
        "world": recording.header.world,
        "platform": recording.header.platform.as_ref().map_or("", |platform| &platform.name),
        "tick_ns": tick_ns(recording),
        "cells": all,
        "scores": scores(&cells).iter().map(|score| json!({
            "loop": score.loop_name, "predictor": score.predictor, "fitted": score.fitted, "rms_percent": score.rms_percent,
        })).collect::<Vec<_>>(),
        "best": best_strides(&cells).iter().map(|best| json!({
            "loop": best.loop_name, "predicted": best.predicted, "published": best.published, "cost_percent": best.cost_percent,
        })).collect::<Vec<_>>(),
        "gains": gains,
        "gain_prefetch": gain_prefetch,
        "gain_parallel": gain_parallel,
        "burst_of_eight": burst(recording),
        "cannot_tell": cannot_tell(recording),
        "recording": run.folder,
    })
}

pub(super) fn text(run: &Run<'_>, style: Style) -> String {
    if is_modelled(run.recording) { predicted(run, style) } else { measured(run, style) }
}

/// The best strides of a loop on this machine.
struct BestHere<'c> {
    cell: &'c Cell,
    /// How much it saves against no prefetch, in percent; 0 for the split loop, which has no such cell.
    saves_percent: f64,
}

fn best_here(cells: &[Cell]) -> Vec<BestHere<'_>> {
    let loops = ["single", "dual", "quad", "single-split"].into_iter();
    loops
        .filter_map(|name| {
            let of = || cells.iter().filter(|cell| cell.loop_name == name);
            let best = of().min_by(|a, b| a.clocks.total_cmp(&b.clocks))?;
            let none = of().find(|cell| cell.strides[0] == 0).map_or(best.clocks, |cell| cell.clocks);
            Some(BestHere { cell: best, saves_percent: (1.0 - best.clocks / none) * 100.0 })
        })
        .collect()
}

/// What part of a loop's gain is whose. The whole gain is their product.
struct Gain<'c> {
    /// The loop at its best strides.
    best: &'c Cell,
    /// Clocks of the single loop without prefetch over those of this loop without prefetch.
    parallel: f64,
    /// Clocks of this loop without prefetch over those at its best strides.
    prefetch: f64,
}

/// The gains of every loop that has a cell without prefetch.
fn gains(cells: &[Cell]) -> Vec<Gain<'_>> {
    let of = |name| cells.iter().filter(move |cell| cell.loop_name == name);
    let none = |name| of(name).find(|cell| cell.strides == [0, 0]);
    let Some(base) = none("single") else { return Vec::new() };
    let loops = ["single", "dual", "quad"].into_iter();
    loops
        .filter_map(|name| {
            let best = of(name).min_by(|a, b| a.clocks.total_cmp(&b.clocks))?;
            let none = none(name)?.clocks;
            Some(Gain { best, parallel: base.clocks / none, prefetch: none / best.clocks })
        })
        .collect()
}

/// The gain of the loop that is best of all.
fn best_gain<'g, 'c>(gains: &'g [Gain<'c>]) -> Option<&'g Gain<'c>> {
    gains.iter().min_by(|a, b| a.best.clocks.total_cmp(&b.best.clocks))
}

fn gains_json(cells: &[Cell]) -> (Value, Value, Value) {
    let gains = gains(cells);
    let each: Vec<Value> = gains
        .iter()
        .map(|gain| {
            json!({
                "loop": gain.best.loop_name, "stride_first": gain.best.strides[0], "stride_second": gain.best.strides[1],
                "gain_parallel": gain.parallel, "gain_prefetch": gain.prefetch, "gain": gain.parallel * gain.prefetch,
            })
        })
        .collect();
    let best = best_gain(&gains);
    (json!(each), or_null(best.map(|gain| gain.prefetch)), or_null(best.map(|gain| gain.parallel)))
}

/// The table of gains.
fn gains_text(text: &mut String, cells: &[Cell], style: Style) {
    let gains = gains(cells);
    let Some(best) = best_gain(&gains) else { return };
    let mut grid = table(style);
    grid.set_header(["Loop", "Best", "by parallelism", "by prefetch", "together"]);
    for gain in &gains {
        grid.add_row(vec![
            GridCell::new(&gain.best.loop_name),
            right(gain.best.label()),
            right(format!("{:.2}", gain.parallel)),
            right(format!("{:.2}", gain.prefetch)),
            right(format!("{:.2}", gain.parallel * gain.prefetch)),
        ]);
    }
    let _ = writeln!(text, "\nHow many times as fast as the single loop without prefetch\n{}", fitted(grid, style));
    let line = format!(
        "By parallelism: the same without prefetch, since a loop of several packets waits for several at once. By prefetch: the rest. The \
         best loop, {} at {}, is {:.2} times as fast by parallelism and {:.2} times by prefetch.",
        best.best.loop_name,
        best.best.label(),
        best.parallel,
        best.prefetch
    );
    paragraph(text, &line, ("", "  "), PLAIN, style);
}

/// A bar of characters.
fn bar(value: f64, most: f64, width: usize) -> String {
    "#".repeat((value / most.max(f64::MIN_POSITIVE) * width as f64) as usize)
}

/// What a recording says, or what it meant before it could say so.
fn or<'t>(said: &'t str, otherwise: &'t str) -> &'t str {
    if said.is_empty() { otherwise } else { said }
}

fn measured(run: &Run<'_>, style: Style) -> String {
    let (recording, cells) = (run.recording, cells(run));
    let said = |key| setting(recording, key);
    let layout = of(recording, CASE, metrics::CLOCKS_PER_PACKET).next();
    let layout = layout.map_or("", |measure| recording.series_texts(measure.series).2);
    let mut text = String::new();
    let head = format!(
        "Stride study on this machine: metadata {layout}, frames of {}, {} buffers, {} rounds of {} work per packet. Before a frame \
         its metadata lies in {} and its data in {}. Clocks are ticks of the {} per packet ({:.3} ns); median and quartiles of {} \
         measurements.",
        said("frame_size"),
        said("buffers"),
        said("rounds"),
        or(said("work"), "chained"),
        or(said("header_in"), "dram"),
        or(said("data_in"), "dram"),
        counter(recording),
        tick_ns(recording),
        recording.header.iterations
    );
    paragraph(&mut text, &head, ("", "  "), PLAIN, style);
    let most = cells.iter().map(|cell| cell.clocks).fold(0.0, f64::max);
    let mut grid = table(style);
    grid.set_header(["Loop", "Strides", "Clocks", "quartiles", ""]);
    for cell in &cells {
        let quartile = |q| stats::quantile(&cell.values, q).unwrap_or(0.0);
        grid.add_row(vec![
            GridCell::new(&cell.loop_name),
            right(format!("+{}/+{}", cell.strides[0], cell.strides[1])),
            right(format!("{:.1}", cell.clocks)),
            right(format!("{:.1} to {:.1}", quartile(0.25), quartile(0.75))),
            GridCell::new(bar(cell.clocks, most, style.width.clamp(60, 100) - 52)),
        ]);
    }
    let _ = writeln!(text, "{}", fitted(grid, style));
    best_text(&mut text, &cells);
    gains_text(&mut text, &cells, style);
    text
}

/// The best strides of each loop.
fn best_text(text: &mut String, cells: &[Cell]) {
    text.push_str("Best\n");
    for best in best_here(cells) {
        let saves = match best.cell.loop_name.as_str() {
            "single-split" => String::new(),
            _ => format!("{:.0} % less than without prefetch", best.saves_percent),
        };
        let strides = format!("+{}/+{}", best.cell.strides[0], best.cell.strides[1]);
        let line = format!("  {:<13} {strides:<7} {:>7.1} clocks  {saves}", best.cell.loop_name, best.cell.clocks);
        let _ = writeln!(text, "{}", line.trim_end());
    }
}

/// The cells of a loop that have a published figure.
fn published_of<'c>(cells: &'c [Cell], loop_name: &'c str) -> impl Iterator<Item = (&'c Cell, f64)> {
    let of = cells.iter().filter(move |cell| cell.loop_name == loop_name);
    of.filter_map(|cell| Some((cell, cell.published?.0)))
}

/// How well something predicts a table.
struct Score {
    loop_name: &'static str,
    /// `model`, or a trivial predictor.
    predictor: &'static str,
    /// Whether the table was used in the fit.
    fitted: bool,
    /// Root mean square of the relative errors, in percent.
    rms_percent: f64,
}

/// The error table: the model, and beside it what needs no model.
fn scores(cells: &[Cell]) -> Vec<Score> {
    let mut scores = Vec::new();
    let single = |stride: usize| Some(published_of(cells, "single").find(|(cell, _)| cell.strides[0] == stride)?.1);
    // A constant that knows what the fit knows: the best single-loop cell.
    let constant = published_of(cells, "single").map(|(_, published)| published).fold(f64::INFINITY, f64::min);
    for loop_name in ["single", "dual", "single-split"] {
        let errors = |predict: &dyn Fn(&Cell) -> Option<f64>| {
            let errors: Vec<f64> = published_of(cells, loop_name)
                .filter_map(|(cell, published)| Some((predict(cell)? / published - 1.0) * 100.0))
                .collect();
            stats::rms(&errors)
        };
        let mut add = |predictor, fitted, rms_percent: Option<f64>| {
            scores.extend(rms_percent.map(|rms_percent| Score { loop_name, predictor, fitted, rms_percent }));
        };
        let used = published_of(cells, loop_name).any(|(cell, _)| cell.published.is_some_and(|(_, used)| used));
        add("model", used, errors(&|cell| Some(cell.clocks)));
        if loop_name == "dual" {
            add("dual(k) = single(2k)", false, errors(&|cell| single(2 * cell.strides[0])));
        }
        if loop_name == "single-split" {
            add("single(min(S2, 10))", false, errors(&|cell| single(cell.strides[1].min(10))));
        }
        if loop_name != "single" {
            add("constant: best of single", false, errors(&|_| Some(constant)));
        }
    }
    scores
}

/// The model's best cell of a table, and what the hardware did there.
struct BestStrides {
    loop_name: &'static str,
    predicted: String,
    published: String,
    /// How much more the published clocks are at the model's best than at the published best, in percent.
    cost_percent: f64,
}

fn best_strides(cells: &[Cell]) -> Vec<BestStrides> {
    let loops = ["single", "dual", "single-split"].into_iter();
    loops
        .filter_map(|loop_name| {
            let least = |value: &dyn Fn(&Cell, f64) -> f64| {
                published_of(cells, loop_name).min_by(|a, b| value(a.0, a.1).total_cmp(&value(b.0, b.1)))
            };
            let (predicted, there) = least(&|cell, _| cell.clocks)?;
            let (published, minimum) = least(&|_, published| published)?;
            let cost_percent = (there / minimum - 1.0) * 100.0;
            Some(BestStrides { loop_name, predicted: predicted.label(), published: published.label(), cost_percent })
        })
        .collect()
}

/// Ticks that each of a burst of eight prefetches finds no fill buffer free.
fn burst(recording: &Recording) -> Vec<f64> {
    of(recording, BURST_CASE, metrics::STALL_BLOCKED).map(|measure| measure.value).collect()
}

/// What the cells that a fit used leave open, as the costs file says.
fn cannot_tell(recording: &Recording) -> Vec<&str> {
    let costs = recording.header.costs.get("prefetch");
    let lines = costs.and_then(|costs| costs.get("fit")?.get("cannot_tell")?.as_array());
    lines.into_iter().flatten().filter_map(toml::Value::as_str).collect()
}

fn predicted(run: &Run<'_>, style: Style) -> String {
    let (recording, cells) = (run.recording, cells(run));
    let mut text = String::new();
    let head = format!(
        "Stride study of ethernet-input on a modelled {} (metadata line and data line per packet, frames of {}). Clocks are ticks of \
         {} ns per packet.",
        recording.header.platform.as_ref().map_or("core", |platform| &platform.name),
        setting(recording, "frame_size"),
        (tick_ns(recording) * 1000.0).round() / 1000.0
    );
    paragraph(&mut text, &head, ("", "  "), PLAIN, style);
    let mut grid = table(style);
    grid.set_header(["Loop", "Strides", "Published", "Model", "Error", "", "Data", "Metadata", "Buffers"]);
    for cell in &cells {
        let kind = match cell.published {
            None => "no figure",
            Some((_, true)) => "fitted",
            Some((_, false)) => "predicted",
        };
        let waited =
            |access: &str| cell.stalls.iter().filter(|stall| stall.0 == access).map(|stall| stall.1).sum::<f64>();
        let blocked: f64 = cell.stalls.iter().map(|stall| stall.2).sum();
        let full = if blocked >= 0.005 { format!("{blocked:.2}") } else { String::new() };
        grid.add_row(vec![
            GridCell::new(&cell.loop_name),
            right(cell.label()),
            right(cell.published.map_or("-".to_owned(), |(published, _)| format!("{published:.3}"))),
            right(format!("{:.3}", cell.clocks)),
            right(cell.error_percent().map_or("-".to_owned(), |error| format!("{error:+.1}\u{a0}%"))),
            GridCell::new(kind),
            right(format!("{:.2}", waited("first touch of the packet's data"))),
            right(format!("{:.2}", waited("first touch of the metadata"))),
            right(full),
        ]);
    }
    let _ = writeln!(text, "{}", fitted(grid, style));
    let stalls = "Stalls, ticks per packet: Data and Metadata wait at the first touch of the packet's line of that kind; an access \
                  that finds all fill buffers full waits for one: Buffers (--format json says where).";
    paragraph(&mut text, stalls, ("", "  "), DIM, style);
    if cells.iter().any(|cell| cell.published.is_some()) {
        against_published(&mut text, &cells, style);
    } else {
        best_text(&mut text, &cells);
    }
    gains_text(&mut text, &cells, style);
    let burst: Vec<String> = burst(recording).iter().map(|blocked| format!("{blocked:.2}")).collect();
    let burst = format!(
        "A burst of eight prefetches of lines beyond L2, ticks that each waits for a fill buffer: {}",
        burst.join("  ")
    );
    text.push('\n');
    paragraph(&mut text, &burst, ("", "  "), PLAIN, style);
    let _ = writeln!(text, "\nWhat the fitted cells cannot tell");
    for line in cannot_tell(recording) {
        paragraph(&mut text, line, ("  ", "    "), PLAIN, style);
    }
    if cells.iter().any(|cell| cell.published.is_some()) {
        let _ = writeln!(text, "\nLimits");
        for limit in LIMITS {
            paragraph(&mut text, limit, ("  ", "    "), PLAIN, style);
        }
    }
    text
}

/// The error of each table, and the best strides, beside what was published.
fn against_published(text: &mut String, cells: &[Cell], style: Style) {
    let _ = writeln!(text, "\nErrors (root mean square, relative)");
    let scores = scores(cells);
    for score in &scores {
        let kind = if score.fitted { "fitted" } else { "predicted" };
        let _ =
            writeln!(text, "  {:<13} {:<26} {:>6.2} %  {kind}", score.loop_name, score.predictor, score.rms_percent);
    }
    for loop_name in ["dual", "single-split"] {
        let of = scores.iter().filter(|score| score.loop_name == loop_name);
        if let Some(first) = of.min_by(|a, b| a.rms_percent.total_cmp(&b.rms_percent)) {
            let _ = writeln!(text, "  best for {loop_name}: {}", first.predictor);
        }
    }
    let _ = writeln!(text, "\nBest strides");
    for best in best_strides(cells) {
        let line = format!(
            "{:<13} model {:<9} published {:<9} published clocks there: {:+.2} % of the published minimum",
            best.loop_name, best.predicted, best.published, best.cost_percent
        );
        paragraph(text, &line, ("  ", "      "), PLAIN, style);
    }
}

/// Limits that belong beside every prediction for the core of the slides.
const LIMITS: [&str; 3] = [
    "The parameters were fitted to the single-loop column alone. The model's structure was chosen by people who knew all three \
     tables: without the time of the first touch of a page, the split table is off by about 9.5 % and the other two are as good. So \
     the split error is weaker evidence than the dual one.",
    "The fit lies on an edge: with a window just longer than a packet's work the next prefetch is issued under a stall, with one just \
     shorter it is not. A real core has no such edge.",
    "In the split table the model is flat from +2/+9 on; silicon falls until +2/+13. What the model lacks there is not known.",
];

/// A number that is not there as JSON has it.
fn or_null(value: Option<f64>) -> Value {
    value.map_or(Value::Null, |value| json!(value))
}
