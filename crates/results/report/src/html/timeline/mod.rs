//! The timeline of a PSCI case: pictures of its chosen iterations, what the script needs of them,
//! and a table beside them.
//!
//! | file | what it holds |
//! |---|---|
//! | `picture.rs` | lanes, spans, axes and critical paths of an iteration, before anything is drawn |
//! | `draw.rs` | the same as SVG that needs no script |
//! | `data.rs` | the same for the script |
//! | `kinds.rs` | how each kind of span is drawn and named, for both |
//! | `section.rs` | the cases that have timelines |

mod data;
mod draw;
mod kinds;
mod picture;
mod section;

pub use draw::{AXIS, LANE, geometry};
pub use kinds::kinds;
pub use picture::Names;
pub use section::{Section, sections};

use super::detail::{Detail, LeftOut};
use super::inline::scrolling;
use crate::blocks::{figure as number, grouped};
use crate::words::latency::headline;
use crate::words::latency::title;
use attribution::{Cause, Iteration};
use draw::{drawing, height};
use findings::Findings;
use findings::cases::whole_metrics;
use itertools::Itertools;
use maud::{Markup, PreEscaped, html};
use picture::{Axis, Extent, Picture, What, cpu_name};
use serde_json::json;

/// The timeline of a case with its answers, or, where there is no room for it, its answers alone.
pub fn case(
    findings: &Findings<'_>,
    section: &Section<'_>,
    names: &Names,
    answers: &[String],
    (detail, has_room): (Detail, bool),
    left_out: &mut LeftOut,
) -> Markup {
    let pictures = if has_room {
        pictures(findings, section, names, detail, left_out)
    } else {
        Vec::new()
    };
    if section.series.is_some() && pictures.is_empty() {
        left_out.timelines += 1;
    }
    html! {
        @if pictures.is_empty() { @for answer in answers { p.headline { (answer) } } }
        @for (index, shown) in pictures.iter().enumerate() {
            // Without scripts those of the median are there to read; a script shows what belongs to the view.
            @for (view, headline) in &shown.told {
                div.told data-view=(view) data-iteration=(index) hidden[index > 0] { p.headline { (headline) } }
            }
        }
        @if !pictures.is_empty() { (timeline(section, names, &pictures, detail)) }
    }
}

/// A line of how the slowest CPU's time scatters over the iterations; nothing where there is one
/// alone.
pub fn scatter(section: &Section<'_>) -> Markup {
    let Some(chosen) = section
        .chosen
        .as_ref()
        .filter(|chosen| chosen.longest.each.len() > 1)
    else {
        return html! {};
    };
    let [least, most] = chosen.longest.ends;
    html! {
        p.note {
            "The slowest CPU's " (chosen.metric) " in each of " (grouped(chosen.longest.each.len() as u64)) " iterations: "
            (number(least)) " to " (number(most)) " us. The median is no. " (chosen.median) ", the worst no. " (chosen.worst) "."
        }
    }
}

/// A picture of a chosen iteration.
struct Shown<'a> {
    title: String,
    picture: Picture,
    iteration: Iteration<'a>,
    /// The metric of each axis that has one, with its answer.
    told: Vec<(&'static str, String)>,
}

fn pictures<'a>(
    findings: &'a Findings<'_>,
    section: &Section<'_>,
    names: &Names,
    detail: Detail,
    left_out: &mut LeftOut,
) -> Vec<Shown<'a>> {
    let (Some(series), Some(chosen)) = (section.series, &section.chosen) else {
        return Vec::new();
    };
    let Some(tick_us) = findings.timelines.tick_us() else {
        return Vec::new();
    };
    let metrics = whole_metrics(&section.group);
    let value = |number: u32| {
        chosen
            .longest
            .each
            .iter()
            .clone()
            .find(|(other, _)| *other == number)
            .map_or(0.0, |(_, value)| *value)
    };
    let mut wanted = vec![("Median", chosen.median)];
    if detail.worst && chosen.worst != chosen.median {
        wanted.push(("Worst", chosen.worst));
    }
    let mut shown = Vec::new();
    for (word, number_of) in wanted {
        let Some(iteration) = findings.timelines.iteration(series, number_of) else {
            continue;
        };
        let extent = Extent {
            metrics: &metrics,
            whole: detail.whole,
            most_cpus: detail.most_cpus,
        };
        let picture = Picture::new(&iteration, names, tick_us, &extent);
        if picture.axes.is_empty() {
            continue;
        }
        let told = |axis: &Axis| {
            let metric = axis.metric?;
            let measured = metrics.iter().find(|known| known.name == metric)?;
            let headline = headline(findings, &section.group, *measured, &iteration)?;
            Some((metric, headline.text))
        };
        let told = picture.axes.iter().filter_map(told).collect();
        left_out.cpus = left_out.cpus.max(picture.left_out);
        left_out.worst |= word == "Worst";
        let us = number(value(number_of));
        let title = format!("{word} iteration (no. {number_of}, {us} us)");
        shown.push(Shown {
            title,
            picture,
            iteration,
            told,
        });
    }
    let iterations = chosen
        .longest
        .each
        .len()
        .max(findings.timelines.iterations(series).len());
    left_out.iterations += (iterations - shown.len().min(2)) as u64;
    shown
}

fn timeline(
    section: &Section<'_>,
    names: &Names,
    pictures: &[Shown<'_>],
    detail: Detail,
) -> Markup {
    let Some(first) = pictures.first() else {
        return html! {};
    };
    let data = pictures
        .iter()
        .map(|shown| json!({ "title": shown.title, "picture": data::data(&shown.picture, names) }))
        .collect_vec();
    let causes: Vec<Cause> = {
        let all = first
            .picture
            .axes
            .iter()
            .flat_map(|axis| first.picture.causes(axis))
            .collect_vec();
        Cause::ALL
            .into_iter()
            .filter(|cause| all.contains(cause))
            .collect()
    };
    html! {
        figure.timeline data-timeline=(section.id) {
            @for (number, shown) in pictures.iter().enumerate().take(if detail.worst_still { 2 } else { 1 }) {
                // Of the worst iteration what the case is about; of the median the rest as well.
                @for (index, axis) in shown.picture.axes.iter().enumerate().filter(|(index, axis)| axis.slowest.is_some() && index * number == 0) {
                    div.still {
                        p.axis-title {
                            b { (axis.title) } ", " (shown.title) @if index == 0 { (window_words(axis, &shown.picture)) }
                            @if let Some(cpu) = axis.slowest { "; critical path of CPU " (cpu_name(names, cpu)) }
                        }
                        (lanes(&shown.picture, axis, names, &format!("{} of {}, {}", axis.title, title(&section.group), shown.title)))
                    }
                }
            }
            p.detail hidden aria-live="polite" {}
            (legend(&causes))
            figcaption.note {
                "A lane per CPU (cluster.core). A dashed line stands for time that is left out: nothing measured happens in it. A critical path is \
                 followed back from its CPU's last instruction: where that CPU waited, it goes on with whom the CPU waited for."
            }
            script type="application/json" { (PreEscaped(json_text(&json!(data)))) }
        }
        @if detail.tables {
            @for (index, shown) in pictures.iter().enumerate().filter(|(index, _)| *index == 0 || detail.worst_table) {
                details.twin {
                    summary { "The timeline as a table: " (shown.title.to_lowercase()) }
                    @for axis in shown.picture.axes.iter().filter(|axis| axis.slowest.is_some()) {
                        (spans_table(axis, shown, names, index))
                    }
                }
            }
        }
    }
}

fn window_words(axis: &Axis, picture: &Picture) -> String {
    let us = axis
        .kept
        .last()
        .map_or(0, |(_, to)| *to)
        .saturating_sub(axis.zero) as f64
        * picture.tick_us;
    match axis.kept.len() {
        1 => format!(
            ": {} us from the first CPU's begin to the last one's end",
            number(us)
        ),
        parts => format!(": {parts} stretches within {} ms", number(us / 1000.0)),
    }
}

/// Names of the lanes beside the drawing.
fn lanes(picture: &Picture, axis: &Axis, names: &Names, label: &str) -> Markup {
    html! {
        div.stage {
            ol.names aria-hidden="true" {
                @for lane in &picture.lanes { li { b { (lane.name) } " " span { (lane.sub) } } }
            }
            (scrolling(label, &html! {
                svg.plot role="img" aria-label=(label) width="100%" height=(height(picture)) { (PreEscaped(drawing(picture, axis, names))) }
            }))
        }
    }
}

/// The twin of a timeline for those who cannot see it: a row per span.
fn spans_table(axis: &Axis, shown: &Shown<'_>, names: &Names, index: usize) -> Markup {
    let picture = &shown.picture;
    let Some(metric) = axis.metric else {
        return html! {};
    };
    let us = |ticks: u64| format!("{:.2}", ticks as f64 * picture.tick_us);
    // Rows by the thousand: text put together by hand, from numbers and fixed words alone.
    let mut rows = String::new();
    for lane in &picture.lanes {
        let attribution::Actor::Cpu(cpu) = lane.place else {
            continue;
        };
        let Some((from, to)) = shown.iteration.window(cpu, metric) else {
            continue;
        };
        for span in lane
            .spans
            .iter()
            .filter(|span| span.from >= from && span.to <= to)
        {
            let What::Cause(cause) = span.what else {
                continue;
            };
            let whom = span
                .holder
                .map_or_else(String::new, |holder| cpu_name(names, holder));
            rows.push_str(&format!(
                "<tr><td>{}<td class=n>{}<td class=n>{}<td>{}<td>{whom}",
                lane.name,
                us(span.from.saturating_sub(axis.zero)),
                us(span.to - span.from),
                cause.title()
            ));
        }
    }
    let table = html! {
        table.spans {
            caption { (axis.title) @if index == 0 { ", median iteration" } @else { ", worst iteration" } }
            thead { tr {
                th scope="col" { "CPU" } th.n scope="col" { "From (us)" } th.n scope="col" { "Took (us)" }
                th scope="col" { "What" } th scope="col" { "Waited for" }
            } }
            tbody { (PreEscaped(rows)) }
        }
    };
    scrolling(axis.title, &table)
}

/// JSON that can stand in a script element.
pub fn json_text(value: &serde_json::Value) -> String {
    value.to_string().replace('<', "\\u003c")
}

/// The meaning of colours, letters and lines.
fn legend(causes: &[Cause]) -> Markup {
    html! {
        ul.legend aria-label="Legend" {
            @for &cause in causes {
                @let row = crate::drawn::drawn(cause);
                li {
                    svg width="22" height="12" aria-hidden="true" { rect class=(row.class) width="22" height="12" {} }
                    " " b { (cause.row().letter) } " " (cause.title()) span.colour { " (" (row.colour_words) ")" }
                }
            }
            li { svg width="22" height="12" aria-hidden="true" { rect.serves width="22" height="12" {} } " the SCP serves a CPU" }
            li { svg width="22" height="12" aria-hidden="true" { rect.takes x="1" y="1" width="20" height="10" {} } " the SCP takes its command up" }
            li { svg width="22" height="12" aria-hidden="true" { rect.world y="5" width="22" height="2" {} } " normal world" }
            li { svg width="22" height="12" aria-hidden="true" { line.low x1="0" x2="22" y1="6" y2="6" {} } " low power" }
            li { svg width="22" height="14" aria-hidden="true" { line.wait x1="11" x2="11" y1="2" y2="12" {} circle.waiter cx="11" cy="2" r="2" {} } " waiter (dot) to holder (arrow)" }
            li { svg width="22" height="12" aria-hidden="true" { line.path x1="0" x2="22" y1="6" y2="6" {} } " critical path" }
        }
    }
}
