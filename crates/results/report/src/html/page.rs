//! The page: head, sections, and what it leaves out.

use super::case::one_case;
use super::detail::{Detail, LeftOut};
use super::draw::geometry;
use super::frame::{document, frame};
use super::kinds::kinds_json;
use super::lanes::lanes;
use super::measure_pictures::measure_pictures;
use super::parts::{cut, short_title, slug};
use super::picture::Names;
use super::section::{Section, sections};
use super::story::story;
use super::style::{patterns, without_indents};
use super::summary::{accuracy, measures, overview, spreads};
use super::timeline::json_text;
use crate::model::findings::Findings;
use crate::words::grouped;
use maud::{Markup, PreEscaped, html};
use serde_json::json;

const CONTENTS: &str = include_str!("../../assets/contents.js");
const SCRIPT: &str = include_str!("../../assets/timeline.js");

pub(super) fn page(findings: &Findings<'_>, detail: Detail) -> String {
    let header = &findings.recording.header;
    let platform = header.platform.as_ref().map(|platform| platform.name.as_str());
    let title = match platform {
        Some(platform) => format!("{} on {platform}", header.experiment),
        None => header.experiment.clone(),
    };
    let names: Names =
        findings.compared.iter().map(|cell| (cell.recorded.cpu, (cell.recorded.cluster, cell.recorded.core))).collect();
    let mut sections = sections(findings);
    let all_sections = sections.len();
    sections.truncate(detail.most_cases);
    let with_timeline = with_timeline(&sections, detail.most_timelines);
    let mut left_out = LeftOut { cases: all_sections - sections.len(), ..LeftOut::default() };
    let bodies: Vec<Markup> = sections
        .iter()
        .enumerate()
        .map(|(index, section)| {
            one_case(findings, section, &names, detail, with_timeline.contains(&index), &mut left_out)
        })
        .collect();
    let story = story(findings, detail, &mut left_out);
    let lanes = lanes(findings, detail);
    let measure_pictures = measure_pictures(findings, detail, &mut left_out);
    let mut releases: Vec<&str> = Vec::new();
    for section in &sections {
        if !releases.contains(&section.group.release) {
            releases.push(section.group.release);
        }
    }
    let body = html! {
        (PreEscaped(patterns()))
        header {
            p.brand { "Stopwatt" }
            h1 { (title) }
            p.lead { (lead(findings)) }
            @if let Some(warning) = findings.what_if() { p { b { (warning) } } }
            @for doubt in findings.doubts() { p { b { (cut(&doubt)) } } }
            details.from { summary { "Where the figures are from" } (source(findings)) }
        }
        @if !sections.is_empty() { (contents(findings, &sections, &releases)) }
        main {
            @if !sections.is_empty() { (overview(findings, &sections)) }
            @for release in &releases {
                section.release {
                    h2 id=(slug(release)) { (release)
                        @if let Some(version) = header.versions.get(*release) { " " small { (version) } }
                    }
                    @for (section, body) in sections.iter().zip(&bodies) {
                        @if section.group.release == *release { (body) }
                    }
                }
            }
            (story)
            (lanes)
            (measure_pictures)
            @if !findings.accuracy.is_empty() { (accuracy(findings, detail, &mut left_out)) }
            @if !findings.spreads.is_empty() { (spreads(findings, detail, &mut left_out)) }
            @if !findings.measures.is_empty() { (measures(findings, detail, &mut left_out)) }
            (leaves_out(findings, detail, &left_out, all_sections > 0))
        }
        @if !sections.is_empty() { script { (PreEscaped(without_indents(CONTENTS))) } }
        @if with_timeline.iter().any(|&index| sections[index].series.is_some()) {
            script type="application/json" id="drawing" { (PreEscaped(json_text(&json!({ "kinds": kinds_json(), "geometry": geometry() })))) }
            script { (PreEscaped(without_indents(SCRIPT))) }
        }
    };
    document(&title, &body)
}

/// A page for a recording whose names alone are longer than a page may be. It has none of them.
pub(super) fn only_names() -> String {
    let body = html! {
        p { "Everything: the names in this recording are longer than a page may be. " code { "stopwatt report --format csv" } " makes a table of it." }
    };
    frame("What this page leaves out", "", &body)
}

/// What kind of figures these are.
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

/// Links to everything that has a heading: a column beside the page where there is room, else a bar above it that unfolds.
fn contents(findings: &Findings<'_>, sections: &[Section<'_>], releases: &[&str]) -> Markup {
    let others = [
        ("accuracy", "Accuracy of predictions", !findings.accuracy.is_empty()),
        ("free", "In free order", !findings.spreads.is_empty()),
        ("measures", "Measures", !findings.measures.is_empty()),
        ("left-out", "What this page leaves out", true),
    ];
    html! {
        nav.contents aria-label="Contents" { details open {
            summary { "Contents" span.here {} }
            ul {
                li { a href="#overview" { "Overview" } }
                @for release in releases {
                    li {
                        a href={ "#" (slug(release)) } { (release) }
                        ul { @for section in sections.iter().filter(|section| section.group.release == *release) {
                            li { a href={ "#" (section.id) } { (short_title(&section.group)) } }
                        } }
                    }
                }
                @for (id, title, is_there) in others { @if is_there { li { a href={ "#" (id) } { (title) } } } }
            }
        } }
    }
}

/// The sections that get a timeline: those with the longest times, if there is not room for all.
fn with_timeline(sections: &[Section<'_>], most: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..sections.len()).collect();
    let longest = |index: &usize| {
        let values = sections[*index].chosen.iter().flat_map(|chosen| &chosen.slowest);
        values.map(|&(_, value)| value).fold(0.0, f64::max)
    };
    order.sort_by(|a, b| longest(b).total_cmp(&longest(a)));
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

fn leaves_out(findings: &Findings<'_>, detail: Detail, left_out: &LeftOut, is_psci: bool) -> Markup {
    let events = findings.recording.events().len() as u64;
    let iterations = if detail.worst { "the median and the worst iteration" } else { "the median iteration" };
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
                @else if left_out.worst && !detail.worst_still { li { "Without scripts the worst iterations have no picture, for want of room." } }
                @if is_psci && events > 0 && !detail.tables { li { "Timelines have no tables beside them, for want of room." } }
                @else if detail.worst && !detail.worst_table && left_out.worst { li { "The worst iterations have no tables beside their timelines, for want of room." } }
                @if left_out.cpus > 0 { li { "Timelines leave out up to " (left_out.cpus) " CPUs; they have those on the critical path and the slowest." } }
                @if left_out.timelines > 0 { li { (left_out.timelines) " cases have no timeline, for want of room." } }
                @if left_out.cases > 0 { li { (grouped(left_out.cases as u64)) " cases are left out altogether, for want of room." } }
                @if left_out.pictures > 0 { li { (grouped(left_out.pictures as u64)) " pictures of measures, for want of room." } }
                @if left_out.rows > 0 { li { (grouped(left_out.rows as u64)) " rows of tables, for want of room; the slowest CPUs are shown." } }
                li {
                    "Everything is in the recording: " code { "stopwatt report " (cut(&findings.folder)) " --output cells.csv" } " makes a table of all cells"
                    @if events > 0 { ", " code { "--output run.pftrace" } " a trace of all events for Perfetto" } "."
                }
            }
        }
    }
}
