//! A timeline as SVG that needs no script: horizontal places in percent, so that it fits any width, and text in pixels, so that it
//! stays legible. `assets/timeline.js` draws the same picture with the same measures, and lets it be zoomed.

use super::picture::{Axis, Names, Picture, Span, What, cpu_name};
use crate::words::{cause_label, letter};
use attribution::{Cause, Place};
use std::fmt::Write;

/// Height of the axis at the top, in pixels.
pub(super) const AXIS: usize = 24;
/// Height of a lane.
pub(super) const LANE: usize = 38;
/// Where in a lane its bar begins, and how high it is.
const BAR: (usize, usize) = (8, 18);
/// Where in a lane the critical path runs.
const PATH: usize = 31;
/// Labels are put where they fit at this width, the least that a picture without script has.
const WIDTH: f64 = 680.0;
/// Width of a letter, about.
const LETTER: f64 = 6.4;

/// Class of a cause in the style sheet, and half of its pattern's name.
pub(super) const fn class(cause: Cause) -> &'static str {
    match cause {
        Cause::Code => "code",
        Cause::Reset => "reset",
        Cause::LockWait => "lock",
        Cause::FlushL1 => "l1",
        Cause::FlushL2 => "l2",
        Cause::Interconnect => "port",
        Cause::ScpChannelWait => "channel",
        Cause::ScpWait => "scp",
        Cause::DeclaredOrder => "order",
    }
}

/// Height of a picture in pixels.
pub(super) fn height(picture: &Picture) -> usize {
    AXIS + LANE * picture.lanes.len()
}

/// What one axis of a picture draws, without the `svg` element around it. Values of attributes go without quotation marks, as HTML
/// allows: a page has thousands of them.
pub(super) fn drawing(picture: &Picture, axis: &Axis, names: &Names) -> String {
    let mut out = String::new();
    ruler(&mut out, picture, axis);
    for (index, lane) in picture.lanes.iter().enumerate() {
        let _ = write!(out, "<g transform=\"translate(0 {})\">", AXIS + index * LANE);
        let mut thin_at = None;
        for span in lane.spans.iter().filter(|span| axis.shows(span.from, span.to)) {
            // What is thinner than half a pixel is drawn once for each pixel, as the script does it.
            if (axis.place(span.to) - axis.place(span.from)) / axis.width() * WIDTH < 0.5 {
                let pixel = Some((axis.place(span.from) / axis.width() * WIDTH) as u32);
                if pixel == thin_at {
                    continue;
                }
                thin_at = pixel;
            }
            bar(&mut out, axis, span, names);
        }
        out.push_str("</g>");
    }
    arrows(&mut out, picture, axis);
    if let Some(path) = axis.slowest.and_then(|cpu| axis.paths.get(&cpu)) {
        let mut before: Option<usize> = None;
        for part in path {
            let Some(lane) = picture.lane_of(part.place) else { continue };
            let y = AXIS + lane * LANE + PATH;
            let (from, to) = (percent(axis, part.from), percent(axis, part.to));
            if let Some(before) = before.filter(|&before| before != lane) {
                let y_before = AXIS + before * LANE + PATH;
                let _ = write!(out, "<line class=hop x1={from}% x2={from}% y1={y_before} y2={y} />");
            }
            let _ = write!(out, "<line class=path x1={from}% x2={to}% y1={y} y2={y} />");
            before = Some(lane);
        }
        if let (Some(lane), Some(end)) = (before, path.last()) {
            let x = percent(axis, end.to);
            let _ = write!(out, "<circle class=path-end cx={x}% cy={} r=3.5 />", AXIS + lane * LANE + PATH);
        }
    }
    out
}

/// Per cent of the picture's width, to a hundredth.
fn percent(axis: &Axis, tick: u64) -> f64 {
    share(axis.place(tick) / axis.width())
}

fn share(of_one: f64) -> f64 {
    (of_one * 10_000.0).round() / 100.0
}

/// Ticks of the time axis at round times since its zero, and a dashed line where time is folded away.
fn ruler(out: &mut String, picture: &Picture, axis: &Axis) {
    let bottom = height(picture);
    let step = nice_step(axis.width() * picture.tick_us / 8.0);
    // A label begins where the one before ends, at the earliest.
    let mut free = 0.0;
    for (index, &(from, to)) in axis.kept.iter().enumerate() {
        let since = |tick: u64| (tick as f64 - axis.zero as f64) * picture.tick_us;
        let mut label = |out: &mut String, tick: u64, us: f64| {
            let at = axis.place(tick) / axis.width() * WIDTH;
            let text = time(us, step);
            let wide = (text.len() as f64) * LETTER + 6.0;
            if at >= free && at + wide <= WIDTH {
                let _ = write!(out, "<text class=tick x={}% dx=3 y=14>{text}</text>", percent(axis, tick));
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
            let _ = write!(out, "<line class=grid x1={x}% x2={x}% y1={} y2={bottom} />", AXIS - 4);
            label(out, tick, us);
        }
        if index > 0 {
            let x = share((axis.place(from) - axis.fold() / 2.0) / axis.width());
            let _ = write!(out, "<line class=fold x1={x}% x2={x}% y1=4 y2={bottom} />");
        }
    }
}

/// 1, 2 or 5 times a power of ten, at least `at_least`.
fn nice_step(at_least: f64) -> f64 {
    let mut power = 1e-3;
    while power * 10.0 <= at_least {
        power *= 10.0;
    }
    [1.0, 2.0, 5.0, 10.0].map(|times| times * power).into_iter().find(|&step| step >= at_least).unwrap_or(power * 10.0)
}

/// A time with its unit, and as many decimals as tell it from one a step away.
fn time(us: f64, step: f64) -> String {
    let (value, step, unit) = if us >= 2000.0 { (us / 1000.0, step / 1000.0, "ms") } else { (us, step, "us") };
    let mut decimals = 0;
    let mut unit_of_last = 1.0;
    while unit_of_last > step * 1.001 && decimals < 6 {
        unit_of_last /= 10.0;
        decimals += 1;
    }
    format!("{value:.decimals$} {unit}")
}

fn bar(out: &mut String, axis: &Axis, span: &Span, names: &Names) {
    let (x, end) = (axis.place(span.from) / axis.width(), axis.place(span.to) / axis.width());
    // The thinnest is still to be seen.
    let (left, width) = (share(x), share(end - x).max(0.1));
    let (y, height) = BAR;
    match span.what {
        What::NormalWorld => {
            let _ = write!(out, "<rect class=world x={left}% y={} width={width}% height=2 />", y + 8);
            return;
        }
        What::LowPower => {
            let middle = y + 9;
            let right = share(end);
            let _ = write!(out, "<line class=low x1={left}% x2={right}% y1={middle} y2={middle} />");
            return;
        }
        _ => {}
    }
    let class = match span.what {
        What::Cause(cause) => class(cause),
        What::Polls(_) => "polls",
        What::Takes(_) => "takes",
        _ => "serves",
    };
    let _ = write!(out, "<rect class={class} x={left}% y={y} width={width}% height={height} />");
    let fits = |text: &String| {
        // Beside a label enough of the pattern is to be seen.
        let margin = if matches!(span.what, What::Cause(_)) { 14.0 } else { 6.0 };
        text.chars().count() as f64 * LETTER + if text.chars().count() == 1 { 4.0 } else { margin } <= (end - x) * WIDTH
    };
    if let Some(text) = labels(span, names).into_iter().find(fits) {
        let dark = match span.what {
            What::Cause(Cause::Code | Cause::FlushL2 | Cause::FlushL1 | Cause::Interconnect) | What::Serves(_) => {
                "on-dark"
            }
            _ => "on-light",
        };
        let middle = share((x + end) / 2.0);
        if dark == "on-light" {
            // Keeps the label legible on stripes; its place is in percent, its width in pixels.
            let wide = text.chars().count() as f64 * LETTER + 3.0;
            let _ = write!(
                out,
                "<rect class=pill x={middle}% y={} width={wide:.1} height=13 rx=3 transform=translate({:.1}) />",
                y as f64 + 2.5,
                -wide / 2.0
            );
        }
        let _ = write!(out, "<text class={dark} x={middle}% y={}>{text}</text>", y + 13);
    }
}

/// What can stand in a bar, longest first.
fn labels(span: &Span, names: &Names) -> Vec<String> {
    match (span.what, span.holder) {
        (What::Cause(cause), Some(holder)) => {
            let holder = cpu_name(names, holder);
            let letter = letter(cause);
            vec![format!("{}: {holder}", cause_label(cause)), format!("{letter} {holder}"), letter.to_string()]
        }
        (What::Cause(cause), None) => vec![cause_label(cause).to_owned(), letter(cause).to_string()],
        (What::Serves(cpu), _) => {
            let cpu = cpu_name(names, cpu);
            vec![format!("serves {cpu}"), cpu]
        }
        (What::Takes(cpu), _) => {
            let cpu = cpu_name(names, cpu);
            vec![format!("takes {cpu}"), cpu]
        }
        (What::Polls(count), _) => vec![format!("{count} polls"), "p".to_owned()],
        _ => Vec::new(),
    }
}

/// Who waited for whom: from the waiter to the holder, when the wait ended.
fn arrows(out: &mut String, picture: &Picture, axis: &Axis) {
    let least = axis.width() * 0.008;
    for (index, lane) in picture.lanes.iter().enumerate() {
        for span in &lane.spans {
            let (What::Cause(cause), Some(on), Some(holder)) = (span.what, span.on, span.holder) else { continue };
            if !axis.shows(span.from, span.to) || axis.place(span.to) - axis.place(span.from) < least {
                continue;
            }
            let place = if cause == Cause::ScpWait { Place::Scp(on) } else { Place::Cpu(holder) };
            let Some(target) = picture.lane_of(place) else { continue };
            let edge = |lane: usize, lower: bool| AXIS + lane * LANE + BAR.0 + if lower { BAR.1 } else { 0 };
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
        assert_eq!([nice_step(46.0), nice_step(11.0), nice_step(0.07), nice_step(20.0)], [50.0, 20.0, 0.1, 20.0]);
    }

    #[test]
    fn times_have_a_unit_and_the_decimals_that_they_need() {
        let times = [time(0.0, 50.0), time(50.0, 50.0), time(0.2, 0.2), time(16_500.0, 100.0), time(16_500.0, 5.0)];
        assert_eq!(times, ["0 us", "50 us", "0.2 us", "16.5 ms", "16.500 ms"]);
    }
}
