//! The timeline of a PSCI case: pictures of its chosen iterations, what the script needs of them,
//! and a table beside them.
//!
//! | file | what it holds |
//! |---|---|
//! | `picture.rs` | lanes, spans, axes and critical paths of an iteration, before anything is drawn |
//! | `data.rs` | the same for the script, which draws it |
//! | `kinds.rs` | how each kind of span is drawn and named |
//! | `section.rs` | the cases that have timelines |

mod data;
mod kinds;
mod picture;
mod section;

pub use kinds::kinds;
pub use picture::Names;
pub use section::{Section, sections};

use super::detail::{Detail, LeftOut};
use super::inline::scrolling;
use crate::blocks::{figure as number, grouped};
use crate::words::latency::headline;
use attribution::{Cause, Iteration};
use findings::Findings;
use findings::cases::whole_metrics;
use itertools::Itertools;
use maud::{Markup, PreEscaped, html};
use picture::{Axis, Picture, What, cpu_name};
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
    match pictures.first() {
        Some(median) => timeline(section, names, median, &pictures, detail),
        None => html! { @for answer in answers { p.headline { (answer) } } },
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
        let picture = Picture::new(&iteration, names, tick_us, &metrics, detail);
        if picture.axes.is_empty() {
            continue;
        }
        let told = |axis: &Axis| {
            let headline = headline(findings, &section.group, axis.metric?, &iteration)?;
            Some((axis.metric_name(), headline.text))
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
    median: &Shown<'_>,
    pictures: &[Shown<'_>],
    detail: Detail,
) -> Markup {
    let data = pictures
        .iter()
        .map(|shown| json!({ "title": shown.title, "picture": data::data(&shown.picture, names) }))
        .collect_vec();
    html! {
        @for (index, shown) in pictures.iter().enumerate() {
            // Without scripts those of the median are there to read; a script shows what belongs to the view.
            @for (view, headline) in &shown.told {
                div.told data-view=(view) data-iteration=(index) hidden[index > 0] { p.headline { (headline) } }
            }
        }
        noscript { p.note { "The timeline needs a script" @if detail.tables { "; the tables below have its figures" } "." } }
        figure.timeline data-timeline=(section.id) {
            div.drawn style={ "--lanes:" (median.picture.lanes.len()) } {}
            p.detail hidden aria-live="polite" {}
            (legend(&median.picture.causes()))
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
                    @for axis in shown.picture.axes.iter().filter(|axis| axis.metric.is_some()) {
                        (spans_table(axis, shown, names, index))
                    }
                }
            }
        }
    }
}

/// The twin of a timeline for those who cannot see it: a row per span.
fn spans_table(axis: &Axis, shown: &Shown<'_>, names: &Names, index: usize) -> Markup {
    let picture = &shown.picture;
    let us = |ticks: u64| format!("{:.2}", ticks as f64 * picture.tick_us);
    // Rows by the thousand: text put together by hand, from numbers and fixed words alone.
    let mut rows = String::new();
    for lane in &picture.lanes {
        let attribution::Actor::Cpu(cpu) = lane.place else {
            continue;
        };
        let Some((from, to)) = shown.iteration.window(cpu, axis.metric_name()) else {
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
    let others = [
        (
            html! { rect.serves width="22" height="12" {} },
            "the SCP serves a CPU",
        ),
        (
            html! { rect.takes x="1" y="1" width="20" height="10" {} },
            "the SCP takes its command up",
        ),
        (
            html! { rect.world y="5" width="22" height="2" {} },
            "normal world",
        ),
        (
            html! { line.low x1="0" x2="22" y1="6" y2="6" {} },
            "low power",
        ),
        (
            html! { line.wait x1="11" x2="11" y1="2" y2="12" {} circle.waiter cx="11" cy="2" r="2" {} },
            "waiter (dot) to holder (arrow)",
        ),
        (
            html! { line.path x1="0" x2="22" y1="6" y2="6" {} },
            "critical path",
        ),
    ];
    let causes = causes.iter().map(|&cause| {
        let row = crate::drawn::drawn(cause);
        let words = html! { b { (cause.row().letter) } " " (cause.title()) span.colour { " (" (row.colour_words) ")" } };
        (html! { rect class=(row.class) width="22" height="12" {} }, words)
    });
    let others = others.map(|(mark, words)| (mark, html! { (words) }));
    html! {
        ul.legend aria-label="Legend" {
            @for (mark, words) in causes.chain(others) {
                li { svg width="22" height="12" aria-hidden="true" { (mark) } " " (words) }
            }
        }
    }
}
