//! Lanes as SVG: idle states, tasks, timers and wakers of each CPU, over a part of the time.

use super::figures::Cells;
use crate::blocks::figure as number;
use crate::blocks::lanes::{Lanes, Row};
use crate::html::palette::Palette;
use crate::html::svg::{LETTER, WIDTH, escape, fitting, nice_step, text};
use std::fmt::Write;

/// Height of a lane with its gap.
const ROW: f64 = 22.0;
/// Width of the lanes' names: at least and at most.
const NAMES: [f64; 2] = [150.0, 270.0];
/// Height of the axis above the lanes.
const AXIS: f64 = 18.0;

/// The stretches as rows of a table.
pub(super) fn rows(lanes: &Lanes) -> Cells {
    let headings = ["lane", "from (us)", "took (us)", "what"].map(str::to_owned).to_vec();
    let of_row = |row: &Row| {
        let cells = |stretch: &crate::blocks::lanes::NamedStretch| {
            let (from, to) = (lanes.us(stretch.from), lanes.us(stretch.to));
            vec![row.name.clone(), format!("{from:.2}"), format!("{:.2}", to - from), stretch.what.clone()]
        };
        row.stretches.iter().map(cells).collect::<Vec<_>>()
    };
    (headings, lanes.rows.iter().flat_map(of_row).collect())
}

/// The part of the time that is shown, in words.
pub(super) fn words(lanes: &Lanes) -> String {
    format!("{} us from {:.6} s on", number(lanes.us(lanes.to)), lanes.zero_s())
}

pub(super) fn draw(lanes: &Lanes, palette: &Palette) -> (f64, String) {
    let mut out = String::new();
    let width = lanes.us(lanes.to).max(f64::MIN_POSITIVE);
    let longest = lanes.rows.iter().map(|row| row.name.chars().count()).max().unwrap_or(0);
    let names = (longest as f64 * LETTER + 8.0).clamp(NAMES[0], NAMES[1]);
    let place = |time: u64| names + lanes.us(time).clamp(0.0, width) / width * (WIDTH - names);
    let height = AXIS + lanes.rows.len() as f64 * ROW + 4.0;
    let step = nice_step(width / 6.0);
    for index in 0..=(width / step) as usize {
        let us = index as f64 * step;
        let x = names + us / width * (WIDTH - names);
        let _ = write!(out, "<path class=\"grid\" d=\"M{x:.1} {AXIS}V{height}\"/>");
        let words = if step >= 1000.0 { format!("{:.0} ms", us / 1000.0) } else { format!("{us:.0} us") };
        if x + words.len() as f64 * LETTER <= WIDTH {
            text(&mut out, "name", (x + 2.0, 12.0), &words);
        }
    }
    for (index, row) in lanes.rows.iter().enumerate() {
        let top = AXIS + index as f64 * ROW;
        text(&mut out, "name", (0.0, top + 13.0), &fitting(&row.name, names - 8.0));
        stretches(&mut out, lanes, row, palette, top, &place);
        for mark in &row.marks {
            let x = place(mark.at);
            let _ = write!(
                out,
                "<path class=\"mark{}\" d=\"M{x:.1} {:.1}v{}\"><title>{}, {:.2} us</title></path>",
                if mark.is_telling { " telling" } else { "" },
                if mark.is_telling { top } else { top + 16.0 },
                if mark.is_telling { 20 } else { 5 },
                escape(&mark.what),
                lanes.us(mark.at)
            );
        }
    }
    (height, out)
}

fn stretches(out: &mut String, lanes: &Lanes, row: &Row, palette: &Palette, top: f64, place: &impl Fn(u64) -> f64) {
    for stretch in &row.stretches {
        let (from, to) = (place(stretch.from), place(stretch.to));
        let kind = palette.number(&stretch.what);
        let wide = (to - from).max(0.4);
        let _ = write!(
            out,
            "<rect class=\"m{}\" x=\"{from:.1}\" y=\"{:.1}\" width=\"{wide:.1}\" height=\"14\"><title>{}: {} us</title></rect>",
            palette.colour(&stretch.what),
            top + 2.0,
            escape(&stretch.what),
            number(lanes.us(stretch.to) - lanes.us(stretch.from))
        );
        // The name itself where it fits, else its number in the legend.
        let number = (kind + 1).to_string();
        let fits = |label: &str| wide > label.chars().count() as f64 * LETTER + 4.0;
        if let Some(label) = [stretch.what.as_str(), &number].into_iter().find(|label| fits(label)) {
            text(out, "part", (from + wide / 2.0, top + 13.0), label);
        }
    }
}
