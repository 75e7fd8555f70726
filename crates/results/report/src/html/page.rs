//! The page of a recording: head, contents, blocks, and what it leaves out.

use super::blocks::{Cases, Writer};
use super::detail::{Detail, LeftOut};
use super::frame::{document, frame};
use super::inline::{cut, inline};
use super::style::{PATTERNS, without_indents};
use super::timeline::{Section, json_text, kinds};
use crate::blocks::{Block, Text, grouped};
use findings::Findings;
use maud::{Markup, PreEscaped, html};
use recording::total_order;
use serde_json::json;
use std::cmp::Reverse;

const CONTENTS: &str = include_str!("../../assets/contents.js");
const SCRIPT: &str = include_str!("../../assets/timeline.js");

/// The page of a recording, with its blocks and its PSCI cases, at a level of detail.
pub fn page(
    findings: &Findings<'_>,
    blocks: &[Block],
    sections: &[Section<'_>],
    detail: Detail,
) -> String {
    let header = &findings.recording.header;
    let title = match header.platform_name() {
        Some(platform) => format!("{} on {platform}", header.experiment),
        None => header.experiment.clone(),
    };
    let names = findings
        .compared()
        .iter()
        .map(|cell| {
            (
                cell.recorded.cpu,
                (cell.recorded.cluster, cell.recorded.core),
            )
        })
        .collect();
    let with_timeline = with_timeline(sections, detail.most_timelines);
    let has_timeline = with_timeline
        .iter()
        .any(|&index| sections[index].series.is_some());
    let cases = Cases {
        findings,
        sections,
        names: &names,
        with_timeline,
    };
    let mut writer = Writer::new(blocks, detail, source_text(findings), Some(cases));
    let told = writer.write(blocks);
    let contents = contents(blocks, detail, true);
    let body = html! {
        (PreEscaped(PATTERNS))
        header {
            p.brand { "Stopwatt" }
            h1 { (title) }
            p.lead { (lead(findings)) }
            details.from { summary { "Where the figures are from" } (source(findings)) }
        }
        (contents)
        main { (told) (leaves_out(findings, detail, &writer.left_out, !sections.is_empty())) }
        @if has_timeline {
            script type="application/json" id="kinds" { (PreEscaped(json_text(&json!(kinds())))) }
            script { (PreEscaped(without_indents(SCRIPT))) }
        }
    };
    document(&title, &body)
}

/// A page for a recording whose names alone are longer than a page may be. It has none of them.
pub fn only_names() -> String {
    let body = html! {
        p { "Everything: the names in this recording are longer than a page may be. " code { "stopwatt report --format csv" } " makes a table of it." }
    };
    frame("What this page leaves out", "", &html! {}, &body)
}

/// The kind of figures that these are.
fn lead(findings: &Findings<'_>) -> String {
    match findings.recording.header.world.as_str() {
        "sim" if findings.recording.header.costs.is_empty() => {
            "Simulated from what the platform's file declares, not a measurement of a board.".to_owned()
        }
        "sim" => {
            "Simulated: predictions from costs that were fitted to published figures, not a measurement of a board."
                .to_owned()
        }
        "qemu" => {
            "Counted on an emulated machine: instructions of real firmware, not the time that a board would take."
                .to_owned()
        }
        "host" => "Measured on the machine that ran it.".to_owned(),
        "import" => "Imported: figures that another program printed.".to_owned(),
        world => format!("Recorded in the world {}.", cut(world)),
    }
}

/// Links to everything that has a heading: a column beside the page where there is room, else a bar
/// above it that unfolds. Nothing where there are few headings.
pub fn contents(blocks: &[Block], detail: Detail, leaves_out: bool) -> Markup {
    if blocks
        .iter()
        .filter(|block| matches!(block, Block::Heading { .. }))
        .count()
        < 3
    {
        return html! {};
    }
    let mut parts = Vec::new();
    let mut cases = 0;
    for block in blocks {
        match block {
            Block::Heading { depth: 1, .. } => parts.push((block, Vec::new())),
            Block::Heading { .. } if cases < detail.most_cases => {
                cases += 1;
                if let Some((_, inside)) = parts.last_mut() {
                    inside.push(block);
                }
            }
            _ => {}
        }
    }
    let link = |block: &Block| match block {
        Block::Heading { words, anchor, .. } => {
            html! { a href={ "#" (anchor) } { (inline(words)) } }
        }
        _ => html! {},
    };
    html! {
        nav.contents aria-label="Contents" { details open {
            summary { "Contents" span.here {} }
            ul {
                @for (part, inside) in &parts {
                    li {
                        (link(part))
                        @if !inside.is_empty() { ul { @for block in inside { li { (link(block)) } } } }
                    }
                }
                @if leaves_out { li { a href="#left-out" { "What this page leaves out" } } }
            }
        } }
        script { (PreEscaped(without_indents(CONTENTS))) }
    }
}

/// The numbers of the cases that get a timeline: those with the longest times, if there is not room
/// for all.
fn with_timeline(sections: &[Section<'_>], most: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..sections.len()).collect();
    order.sort_by_key(|of| Reverse(total_order(sections[*of].longest())));
    order.truncate(most);
    order
}

fn source(findings: &Findings<'_>) -> Markup {
    html! {
        dl.source {
            @for (what, fact) in findings.source() {
                @let fact = cut(&fact);
                div { dt { (what) } dd { @if what == "command" { code { (fact) } } @else { (fact) } } }
            }
        }
    }
}

fn leaves_out(
    findings: &Findings<'_>,
    detail: Detail,
    left_out: &LeftOut,
    is_psci: bool,
) -> Markup {
    let events = findings.recording.events().len() as u64;
    let iterations = if detail.worst {
        "the median and the worst iteration"
    } else {
        "the median iteration"
    };
    let count = |count: usize| grouped(count as u64).to_string();
    html! {
        section {
            h2 id="left-out" { "What this page leaves out" }
            ul {
                @if is_psci && events > 0 {
                    li {
                        "The recording has " (grouped(events)) " events. The timelines show " (iterations) " of each case"
                        @if detail.whole { ", each in full" } @else { ", only the times that were measured" }
                        "; " (grouped(left_out.iterations)) " other iterations are in the figures alone."
                    }
                    li { "Runs of AFFINITY_INFO calls are drawn as one span with their number." }
                } @else if is_psci {
                    li { "The recording has no events, so there are neither causes nor timelines." }
                } @else if !findings.recording.header.lanes.is_empty() && events > 0 {
                    li { "The recording has " (grouped(events)) " events; the timeline says which part of the time it shows." }
                } @else if events > 0 {
                    li {
                        "The recording has " (grouped(events)) " events, but nothing to draw a timeline from: that needs latencies of PSCI calls in a unit of time."
                    }
                } @else {
                    li { "The recording has no events, so there is no timeline." }
                }
                @if is_psci && events > 0 && !detail.worst { li { "The worst iterations have no timeline, for want of room." } }
                @if is_psci && events > 0 && !detail.tables { li { "Timelines have no tables beside them, for want of room." } }
                @else if detail.worst && !detail.worst_table && left_out.worst { li { "The worst iterations have no tables beside their timelines, for want of room." } }
                @if left_out.cpus > 0 { li { "Timelines leave out up to " (left_out.cpus) " CPUs; they have those on the critical path and the slowest." } }
                @if left_out.timelines > 0 { li { (left_out.timelines) " cases have no timeline, for want of room." } }
                @if left_out.cases > 0 { li { (count(left_out.cases)) " cases are left out altogether, for want of room." } }
                @if left_out.pictures > 0 { li { (count(left_out.pictures)) " pictures of measures, for want of room." } }
                @if left_out.rows > 0 { li { (count(left_out.rows)) " rows of tables, for want of room; the slowest CPUs are shown." } }
                li {
                    "Everything is in the recording: " code { "stopwatt report " (cut(findings.folder)) " --output cells.csv" } " makes a table of all cells"
                    @if events > 0 { ", " code { "--output run.pftrace" } " a trace of all events for Perfetto" } "."
                }
            }
        }
    }
}

/// The source of the figures in a sentence, for places where there is room for no more.
fn source_text(findings: &Findings<'_>) -> Text {
    let header = &findings.recording.header;
    let mut line = format!("Source: recording {}", findings.folder);
    if let Some(platform) = header.platform_name() {
        line.push_str(&format!(", platform {platform}"));
    }
    if header.iterations > 0 {
        line.push_str(&format!(", {}", findings::repeats(header)));
    }
    if let Some(command) = findings::command(header) {
        line += &format!(", made by `{command}`");
    }
    (line + ".").into()
}
