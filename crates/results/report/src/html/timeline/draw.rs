//! A timeline as SVG that needs no script: horizontal places in percent, so that it fits any width,
//! and text in pixels, so that it stays legible. `assets/timeline.js` draws the same picture with
//! the same measures, and lets it be zoomed.

use super::kinds::{self, Form, Kind};
use super::picture::{Axis, Names, Picture, Span, What, cpu_name};
use crate::html::plot::nice_step;
use attribution::{Actor, WaitFor};
use serde_json::{Value, json};
use std::fmt::Write;

/// The measures of a picture that the script draws by, too.
pub fn geometry() -> Value {
    json!({
        "axis": AXIS, "lane": LANE, "bar": BAR.0, "barHeight": BAR.1, "path": PATH, "letter": LETTER, "thin": THIN,
        "shortMargin": SHORT_MARGIN, "flat": FLAT, "middle": MIDDLE, "baseline": BASELINE,
    })
}

/// Height of the axis at the top, in pixels.
pub const AXIS: usize = 24;
/// Height of a lane.
pub const LANE: usize = 38;
/// The start of a track's bar, and its height.
const BAR: (usize, usize) = (8, 18);
/// The height at which the critical path runs in a track.
const PATH: usize = 31;
/// The height in a bar at which a flat bar starts, a line runs, and text stands.
const FLAT: usize = 8;
const MIDDLE: usize = 9;
const BASELINE: usize = 13;
/// Room beside a label of one letter.
const SHORT_MARGIN: f64 = 4.0;
/// The width, in pixels, below which spans are drawn once for each pixel.
const THIN: f64 = 0.5;
/// Labels are put where they fit at this width, the least that a picture without script has.
const WIDTH: f64 = 680.0;
/// Width of a letter, about.
const LETTER: f64 = 6.4;

/// Height of a picture in pixels.
pub fn height(picture: &Picture) -> usize {
    AXIS + LANE * picture.lanes.len()
}

/// The drawing of one axis of a picture, without the `svg` element around it. Values of attributes
/// go without quotation marks, as HTML allows: a page has thousands of them.
pub fn drawing(picture: &Picture, axis: &Axis, names: &Names) -> String {
    let mut out = String::new();
    ruler(&mut out, picture, axis);
    // Lines come before the bars, so that none crosses a label.
    arrows(&mut out, picture, axis);
    critical_path(&mut out, picture, axis);
    let kinds = kinds::kinds();
    for (index, lane) in picture.lanes.iter().enumerate() {
        let _ = write!(
            out,
            "<g transform=\"translate(0 {})\">",
            AXIS + index * LANE
        );
        let mut thin_at = None;
        for span in lane
            .spans
            .iter()
            .filter(|span| axis.shows(span.from, span.to))
        {
            if (axis.place(span.to) - axis.place(span.from)) / axis.width() * WIDTH < THIN {
                let pixel = Some((axis.part(span.from) * WIDTH) as u32);
                if pixel == thin_at {
                    continue;
                }
                thin_at = pixel;
            }
            bar(&mut out, axis, span, &kinds, names);
        }
        out.push_str("</g>");
    }
    out
}

/// The height at which a critical path runs along a lane.
fn path_of(lane: usize) -> usize {
    AXIS + lane * LANE + PATH
}

/// The critical path of the slowest CPU: along the lanes, from lane to lane, to its end.
fn critical_path(out: &mut String, picture: &Picture, axis: &Axis) {
    if let Some(path) = axis.slowest.and_then(|cpu| axis.paths.get(&cpu)) {
        let mut before = None;
        for part in path {
            let Some(lane) = picture.lane_of(part.place) else {
                continue;
            };
            let y = path_of(lane);
            let (from, to) = (percent(axis, part.from), percent(axis, part.to));
            if let Some(before) = before.filter(|&before| before != lane) {
                let y_before = path_of(before);
                let _ = write!(
                    out,
                    "<line class=hop x1={from}% x2={from}% y1={y_before} y2={y} />"
                );
            }
            let _ = write!(out, "<line class=path x1={from}% x2={to}% y1={y} y2={y} />");
            before = Some(lane);
        }
        if let (Some(lane), Some(end)) = (before, path.last()) {
            let x = percent(axis, end.to);
            let _ = write!(
                out,
                "<circle class=path-end cx={x}% cy={} r=3.5 />",
                path_of(lane)
            );
        }
    }
}

/// Per cent of the picture's width, to a hundredth.
fn percent(axis: &Axis, tick: u64) -> f64 {
    share(axis.part(tick))
}

fn share(of_one: f64) -> f64 {
    (of_one * 10_000.0).round() / 100.0
}

/// Ticks of the time axis at round times since its zero, and a dashed line where time is folded
/// away.
fn ruler(out: &mut String, picture: &Picture, axis: &Axis) {
    let bottom = height(picture);
    let step = nice_step(axis.width() * picture.tick_us / 8.0);
    // A label starts where the one before ends, at the earliest.
    let mut free = 0.0;
    for (index, &(from, to)) in axis.kept.iter().enumerate() {
        let since = |tick: u64| (tick as f64 - axis.zero as f64) * picture.tick_us;
        // A label ends before its stretch of time does; the first of a stretch may be wider than
        // that, and the next waits.
        let end = axis.part(to) * WIDTH;
        let mut is_first = true;
        let mut label = |out: &mut String, tick: u64, us: f64| {
            let at = axis.part(tick) * WIDTH;
            let text = time(us, step);
            let wide = (text.len() as f64) * LETTER + 6.0;
            let fits = at + wide <= if is_first { WIDTH } else { end };
            is_first = false;
            if at >= free && fits {
                let _ = write!(
                    out,
                    "<text class=tick x={}% dx=3 y=14>{text}</text>",
                    percent(axis, tick)
                );
                free = at + wide;
            }
        };
        let first = (since(from) / step).ceil().max(0.0);
        let last = (since(to) / step).floor();
        if last < first {
            label(out, from, since(from));
        }
        for number in 0..(last - first + 1.0).clamp(0.0, 100.0) as u32 {
            let us = (first + f64::from(number)) * step;
            let tick = axis.zero + (us / picture.tick_us).round() as u64;
            let x = percent(axis, tick);
            let _ = write!(
                out,
                "<line class=grid x1={x}% x2={x}% y1={} y2={bottom} />",
                AXIS - 4
            );
            label(out, tick, us);
        }
        if index > 0 {
            let x = share((axis.place(from) - axis.fold() / 2.0) / axis.width());
            let _ = write!(
                out,
                "<line class=fold x1={x}% x2={x}% y1={AXIS} y2={bottom} />"
            );
        }
    }
}

/// A time with its unit, and as many decimals as tell it from one a step away.
fn time(us: f64, step: f64) -> String {
    let (value, step, unit) = if us >= 2000.0 {
        (us / 1000.0, step / 1000.0, "ms")
    } else {
        (us, step, "us")
    };
    let mut decimals = 0;
    let mut unit_of_last = 1.0;
    while unit_of_last > step * 1.001 && decimals < 6 {
        unit_of_last /= 10.0;
        decimals += 1;
    }
    format!("{value:.decimals$} {unit}")
}

fn bar(out: &mut String, axis: &Axis, span: &Span, kinds: &[Kind], names: &Names) {
    let (x, end) = (axis.part(span.from), axis.part(span.to));
    // The thinnest is still to be seen.
    let (left, width) = (share(x), share(end - x).max(0.1));
    let (y, height) = BAR;
    let kind = &kinds[kinds::number(span.what)];
    let class = kind.class;
    match kind.form {
        Form::Flat => {
            let _ = write!(
                out,
                "<rect class={class} x={left}% y={} width={width}% height=2 />",
                y + FLAT
            );
            return;
        }
        Form::Line => {
            let middle = y + MIDDLE;
            let right = share(end);
            let _ = write!(
                out,
                "<line class={class} x1={left}% x2={right}% y1={middle} y2={middle} />"
            );
            return;
        }
        Form::Gap => return,
        Form::Bar => {}
    }
    let _ = write!(
        out,
        "<rect class={class} x={left}% y={y} width={width}% height={height} />"
    );
    if let Some(text) = labels(span, kind, names).into_iter().find(|text| {
        let letters = text.chars().count();
        letters as f64 * LETTER
            + if letters == 1 {
                SHORT_MARGIN
            } else {
                kind.margin
            }
            <= (end - x) * WIDTH
    }) {
        let dark = if kind.light_label {
            "on-dark"
        } else {
            "on-light"
        };
        let middle = share((x + end) / 2.0);
        if !kind.light_label {
            // Keeps the label legible on stripes; its place is in percent, its width in pixels.
            let wide = text.chars().count() as f64 * LETTER + 3.0;
            let _ = write!(
                out,
                "<rect class=pill x={middle}% y={} width={wide:.1} height=13 rx=3 transform=translate({:.1}) />",
                y as f64 + 2.5,
                -wide / 2.0
            );
        }
        let _ = write!(
            out,
            "<text class={dark} x={middle}% y={}>{text}</text>",
            y + BASELINE
        );
    }
}

/// The labels that can stand in a bar, longest first.
fn labels(span: &Span, kind: &Kind, names: &Names) -> Vec<String> {
    let fill = |labels: &[String], with: &str| {
        labels
            .iter()
            .map(|label| label.replace("{}", with))
            .collect()
    };
    match (span.what, span.holder) {
        (_, Some(holder)) => fill(&kind.waiting_labels, &cpu_name(names, holder)),
        (What::Serves(cpu) | What::Takes(cpu), None) => fill(&kind.labels, &cpu_name(names, cpu)),
        (What::Polls(count), None) => fill(&kind.labels, &count.to_string()),
        (_, None) => kind.labels.clone(),
    }
}

/// Arrows from the one who waits to the one who is waited for, where the wait ended.
fn arrows(out: &mut String, picture: &Picture, axis: &Axis) {
    let least = axis.width() * 0.008;
    for (index, lane) in picture.lanes.iter().enumerate() {
        for span in &lane.spans {
            let (What::Cause(cause), Some(on), Some(holder)) = (span.what, span.on, span.holder)
            else {
                continue;
            };
            if !axis.shows(span.from, span.to)
                || axis.place(span.to) - axis.place(span.from) < least
            {
                continue;
            }
            let place = if cause.wait() == Some(WaitFor::Scp) {
                Actor::Scp(on)
            } else {
                Actor::Cpu(holder)
            };
            let Some(target) = picture.lane_of(place) else {
                continue;
            };
            let edge = |lane: usize, lower: bool| {
                AXIS + lane * LANE + BAR.0 + if lower { BAR.1 } else { 0 }
            };
            let down = target > index;
            let (y1, y2) = (edge(index, down), edge(target, !down));
            let x = percent(axis, span.to);
            let _ = write!(out, "<line class=wait x1={x}% x2={x}% y1={y1} y2={y2} />");
            let _ = write!(out, "<circle class=waiter cx={x}% cy={y1} r=2 />");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_round() {
        assert_eq!(
            [
                nice_step(46.0),
                nice_step(11.0),
                nice_step(0.07),
                nice_step(20.0)
            ],
            [50.0, 20.0, 0.1, 20.0]
        );
    }

    #[test]
    fn times_have_a_unit_and_the_decimals_that_they_need() {
        let times = [
            time(0.0, 50.0),
            time(50.0, 50.0),
            time(0.2, 0.2),
            time(16_500.0, 100.0),
            time(16_500.0, 5.0),
        ];
        assert_eq!(times, ["0 us", "50 us", "0.2 us", "16.5 ms", "16.500 ms"]);
    }
}
