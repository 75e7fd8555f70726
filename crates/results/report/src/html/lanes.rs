//! The timeline of a recording that declares lanes: idle states, tasks, timers and wakers of each CPU, over a part of the time.

use super::detail::Detail;
use super::draw::nice_step;
use super::parts::source_line;
use super::svg::{COLOURS, LETTER, WIDTH, escape, fitting, text};
use crate::model::findings::Findings;
use crate::model::lanes::{Lanes, Row};
use crate::words::number;
use maud::{Markup, PreEscaped, html};
use std::fmt::Write;

/// Height of a lane with its gap.
const ROW: f64 = 22.0;
/// Width of the lanes' names: at least and at most.
const NAMES: [f64; 2] = [150.0, 270.0];
/// Height of the axis above the lanes.
const AXIS: f64 = 18.0;

/// The section with the lanes; nothing where the recording declares none.
pub(super) fn lanes(findings: &Findings<'_>, detail: Detail) -> Markup {
    let stretches = if detail.tables { 400 } else { 150 };
    let cases = Lanes::of(findings.recording, stretches, 4 * detail.most_cpus);
    let shown = cases.len().min(detail.most_timelines);
    html! {
        @if shown > 0 {
            section {
                h2 id="lanes" { "Timeline" }
                @for lanes in &cases[..shown] {
                    @if cases.len() > 1 { h3 { (lanes.case) } }
                    (one(lanes, findings, detail))
                }
                @if shown < cases.len() { p.note { "For want of room " (cases.len() - shown) " cases have no timeline here." } }
            }
        }
    }
}

/// The lanes of a case.
fn one(lanes: &Lanes, findings: &Findings<'_>, detail: Detail) -> Markup {
    let (height, drawing) = draw(lanes);
    let kinds = lanes.kinds();
    html! {
        figure.measure-picture {
            p.axis-title { b { (lanes.titles()) } ", " (words(lanes)) }
            div.scroll {
                svg.measures role="img" viewBox=(format!("0 0 {WIDTH} {height}")) {
                    title { (lanes.titles()) " of " (lanes.rows.len()) " lanes, " (words(lanes)) }
                    (PreEscaped(drawing))
                }
            }
            ul.legend aria-label="Legend" {
                @for (index, kind) in kinds.iter().enumerate().take(64) {
                    li {
                        svg width="22" height="12" aria-hidden="true" { rect class={ "m" (index % COLOURS) } width="22" height="12" {} }
                        " " b { (index + 1) } " " (kind)
                    }
                }
                @if lanes.rows.iter().any(|row| !row.marks.is_empty()) {
                    li { svg width="22" height="12" aria-hidden="true" { path.curve d="M11 1v10" stroke="currentColor" {} } " marks; point at one to see what it is" }
                }
            }
            @if detail.tables {
                details {
                    summary { "The timeline as a table" }
                    div.scroll { table {
                        thead { tr { th scope="col" { "Lane" } th.n scope="col" { "From (us)" } th.n scope="col" { "Took (us)" } th scope="col" { "What" } } }
                        tbody { @for row in &lanes.rows { @for stretch in &row.stretches { tr {
                            td { (row.name) }
                            td.n { (format!("{:.2}", lanes.us(stretch.from))) }
                            td.n { (format!("{:.2}", lanes.us(stretch.to) - lanes.us(stretch.from))) }
                            td { (stretch.what) }
                        } } } }
                    } }
                }
            }
            figcaption.note {
                "A row per lane." @if let Some(left_out) = lanes.left_out() { " " (left_out) } " " (source_line(findings))
            }
        }
    }
}

fn words(lanes: &Lanes) -> String {
    format!("{} us from {:.6} s on", number(lanes.us(lanes.to)), lanes.zero_s())
}

fn draw(lanes: &Lanes) -> (f64, String) {
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
    let kinds = lanes.kinds();
    for (index, row) in lanes.rows.iter().enumerate() {
        let top = AXIS + index as f64 * ROW;
        text(&mut out, "name", (0.0, top + 13.0), &fitting(&row.name, names - 8.0));
        stretches(&mut out, lanes, row, &kinds, top, &place);
        for mark in &row.marks {
            let x = place(mark.at);
            let _ = write!(
                out,
                "<path class=\"mark\" d=\"M{x:.1} {:.1}v5\"><title>{}, {:.2} us</title></path>",
                top + 16.0,
                escape(&mark.what),
                lanes.us(mark.at)
            );
        }
    }
    (height, out)
}

fn stretches(out: &mut String, lanes: &Lanes, row: &Row, kinds: &[&str], top: f64, place: &impl Fn(u64) -> f64) {
    for stretch in &row.stretches {
        let (from, to) = (place(stretch.from), place(stretch.to));
        let kind = kinds.iter().position(|kind| *kind == stretch.what).unwrap_or(0);
        let wide = (to - from).max(0.4);
        let _ = write!(
            out,
            "<rect class=\"m{}\" x=\"{from:.1}\" y=\"{:.1}\" width=\"{wide:.1}\" height=\"14\"><title>{}: {} us</title></rect>",
            kind % COLOURS,
            top + 2.0,
            escape(&stretch.what),
            number(lanes.us(stretch.to) - lanes.us(stretch.from))
        );
        let label = (kind + 1).to_string();
        if wide > label.len() as f64 * LETTER + 4.0 {
            text(out, "part", (from + wide / 2.0, top + 13.0), &label);
        }
    }
}
