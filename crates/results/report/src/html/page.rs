//! The page: head, overview, a section a case, and what it leaves out.

use super::draw::{drawing, geometry, height};
use super::explain::{Answer, answer, full_name};
use super::kinds::kinds_json;
use super::picture::{Axis, Extent, Names, Picture, What, cpu_name};
use super::style::{patterns, style_sheet};
use super::{Detail, chart, data};
use crate::model::compared::Compared;
use crate::model::figures::{
    CauseTable, FigureTable, Group, cell_of, groups, principal_metric, slowest, used_causes, whole_metrics,
};
use crate::model::findings::Findings;
use crate::model::measures::measure_tables;
use crate::words::{ORDER_VARIES, capital, case_title, grouped, number, place};
use attribution::{Cause, Chosen, Iteration};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use recording::Series;
use recording::metrics;
use serde_json::json;

const SCRIPT: &str = include_str!("../../assets/timeline.js");

/// A case of a release with its series, if that has events.
struct Section<'a> {
    id: String,
    group: Group<'a>,
    series: Option<Series>,
    chosen: Option<Chosen>,
}

/// What the page does not show, found while it is made.
#[derive(Default)]
struct LeftOut {
    iterations: u64,
    cpus: usize,
    timelines: usize,
    rows: usize,
    cases: usize,
    /// Whether any case has a worst iteration beside its median.
    worst: bool,
}

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
    let mut releases: Vec<&str> = Vec::new();
    for section in &sections {
        if !releases.contains(&section.group.release) {
            releases.push(section.group.release);
        }
    }
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " - Stopwatt" }
                style { (PreEscaped(style_sheet())) }
            }
            body {
                (PreEscaped(patterns()))
                header {
                    p.brand { "Stopwatt" }
                    h1 { (title) }
                    p.lead { (lead(findings)) }
                    @if let Some(warning) = findings.what_if() { p { b { (warning) } } }
                    (source(findings))
                }
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
                    @if !findings.accuracy.is_empty() { (accuracy(findings, detail, &mut left_out)) }
                    @if !findings.spreads.is_empty() { (spreads(findings, detail, &mut left_out)) }
                    @if !findings.measures.is_empty() { (measures(findings, detail, &mut left_out)) }
                    (leaves_out(findings, detail, &left_out, all_sections > 0))
                }
                @if with_timeline.iter().any(|&index| sections[index].series.is_some()) {
                    script type="application/json" id="drawing" { (PreEscaped(json_text(&json!({ "kinds": kinds_json(), "geometry": geometry() })))) }
                    script { (PreEscaped(SCRIPT)) }
                }
            }
        }
    };
    page.into_string()
}

/// A page for a recording whose names alone are longer than a page may be. It has none of them.
pub(super) fn only_names() -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head { meta charset="utf-8"; title { "Stopwatt" } style { (PreEscaped(style_sheet())) } }
            body {
                h1 { "What this page leaves out" }
                p { "Everything: the names in this recording are longer than a page may be. " code { "stopwatt report --format csv" } " makes a table of it." }
            }
        }
    };
    page.into_string()
}

/// What kind of figures these are.
fn lead(findings: &Findings<'_>) -> String {
    match findings.recording.header.world.as_str() {
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

/// A text of the recording that stands at many places of the page, or one of many: no longer than a line or three.
fn cut(text: &str) -> String {
    const MOST: usize = 400;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn sections<'a>(findings: &'a Findings<'_>) -> Vec<Section<'a>> {
    let with_events = findings.timelines.series();
    groups(&findings.compared)
        .into_iter()
        .map(|group| {
            let key = (group.release, group.case, group.mode);
            let series = with_events.iter().copied().find(|&series| findings.recording.series_texts(series) == key);
            let chosen = findings
                .recording
                .all_series()
                .find(|&series| findings.recording.series_texts(series) == key)
                .and_then(|series| findings.timelines.chosen(series));
            let id = slug(&format!("{} {} {}", group.release, group.case, group.mode));
            Section { id, group, series, chosen }
        })
        .collect()
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

/// A name that can stand in an address: letters, digits and hyphens.
fn slug(text: &str) -> String {
    text.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' }).collect()
}

/// JSON that can stand in a script element.
fn json_text(value: &serde_json::Value) -> String {
    value.to_string().replace('<', "\\u003c")
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

fn overview(findings: &Findings<'_>, sections: &[Section<'_>]) -> Markup {
    let longest = sections
        .iter()
        .filter_map(|section| slowest(&section.group, principal_metric(&section.group).name))
        .map(|cell| cell.recorded.value)
        .fold(0.0, f64::max);
    let has_published = sections.iter().flat_map(|section| &section.group.cells).any(|cell| cell.published.is_some());
    let used = used_causes(sections.iter().flat_map(|section| section.group.cells.iter().copied()));
    let has_causes = !used.is_empty();
    html! {
        section.overview {
            h2 id="overview" { "Overview" }
            p { "The slowest CPU of each case: its median over the iterations" @if has_causes { ", and what that time went to" } "." }
            div.scroll { table {
                thead { tr {
                    th scope="col" { "Release" } th scope="col" { "Case" } th scope="col" { "Slowest" }
                    th.n scope="col" { (capital(findings.recorded_word())) " (us)" }
                    @if has_published { th.n scope="col" { "Published (us)" } th.n scope="col" { "Error" } }
                    @if has_causes { th.wide scope="col" { "Where the time went (0 to " (number(longest)) " us)" } }
                } }
                tbody {
                    @for section in sections {
                        @if let Some(cell) = slowest(&section.group, principal_metric(&section.group).name) {
                            tr {
                                td { (section.group.release) }
                                td.case { a href={ "#" (section.id) } { (short_title(&section.group)) } }
                                td { (place(&cell.recorded)) }
                                td.n { (number(cell.recorded.value)) }
                                @if has_published { td.n { (published(cell)) } td.n { (error(cell)) } }
                                @if has_causes { td.wide { (chart::causes(&cell.recorded, longest)) } }
                            }
                        }
                    }
                }
            } }
            @if has_causes { (legend(&used, false)) }
            (table_source(findings, sections.iter().map(|section| section.group.release)))
        }
    }
}

fn short_title(group: &Group<'_>) -> String {
    format!("{}, {}", case_title(group.case), group.mode)
}

fn published(cell: &Compared) -> String {
    cell.published.as_ref().map_or_else(|| "-".to_owned(), |published| number(published.value_us))
}

fn error(cell: &Compared) -> String {
    match cell.error_percent() {
        Some(error) => format!("{error:+.1} %{}", if cell.used_in_fit() { "*" } else { "" }),
        None => "-".to_owned(),
    }
}

/// What colours, letters and lines mean.
fn legend(causes: &[Cause], lines: bool) -> Markup {
    html! {
        ul.legend aria-label="Legend" {
            @for &cause in causes {
                @let row = cause.row();
                li {
                    svg width="22" height="12" aria-hidden="true" { rect class=(row.class) width="22" height="12" {} }
                    " " b { (row.letter) } " " (cause.title()) span.colour { " (" (row.colour_words) ")" }
                }
            }
            @if lines {
                li { svg width="22" height="12" aria-hidden="true" { rect.serves width="22" height="12" {} } " the SCP serves a CPU" }
                li { svg width="22" height="12" aria-hidden="true" { rect.takes x="1" y="1" width="20" height="10" {} } " the SCP takes its command up" }
                li { svg width="22" height="12" aria-hidden="true" { rect.world y="5" width="22" height="2" {} } " normal world" }
                li { svg width="22" height="12" aria-hidden="true" { line.low x1="0" x2="22" y1="6" y2="6" {} } " low power" }
                li { svg width="22" height="14" aria-hidden="true" { line.wait x1="11" x2="11" y1="2" y2="12" {} circle.waiter cx="11" cy="2" r="2" {} } " waiter (dot) to holder (arrow)" }
                li { svg width="22" height="12" aria-hidden="true" { line.path x1="0" x2="22" y1="6" y2="6" {} } " critical path" }
            }
        }
    }
}

/// The documents that published figures of these releases are from, and the recording.
fn table_source<'a>(findings: &Findings<'_>, releases: impl Iterator<Item = &'a str>) -> Markup {
    let releases: Vec<&str> = releases.collect();
    let published = findings.published();
    let mut documents: Vec<&str> = Vec::new();
    for (name, source) in &published {
        if releases.contains(name) && !documents.contains(source) {
            documents.push(source);
        }
    }
    html! {
        p.note {
            (source_line(findings))
            @if !documents.is_empty() {
                " Published figures: " (documents.join("; ")) "."
                @if findings.is_simulated() { " * used in the fit, all others are predictions." }
            }
        }
    }
}

/// The recording and the command that made it, as a sentence.
fn source_line(findings: &Findings<'_>) -> Markup {
    let line = cut(&findings.source_line());
    // The command is the last that the line says, between marks that plain text needs.
    match line.strip_suffix('`').and_then(|line| line.split_once('`')) {
        Some((before, command)) => html! { (before) code { (command) } "." },
        None => html! { (line) "." },
    }
}

fn one_case(
    findings: &Findings<'_>,
    section: &Section<'_>,
    names: &Names,
    detail: Detail,
    with_timeline: bool,
    left_out: &mut LeftOut,
) -> Markup {
    let group = &section.group;
    let pictures = if with_timeline { pictures(findings, section, names, detail, left_out) } else { Vec::new() };
    if section.series.is_some() && pictures.is_empty() {
        left_out.timelines += 1;
    }
    let answer = pictures.first().and_then(|shown| shown.answer.as_ref());
    html! {
        article id=(section.id) {
            h3 { (short_title(group)) }
            @if let Some(answer) = answer {
                p.question { (answer.question) }
                p.answer { (answer.own) @if !answer.path.is_empty() { " " span.path-words { (answer.path) } } }
            }
            @if !pictures.is_empty() { (timeline(findings, section, names, &pictures, detail)) }
            (figures(findings, section, detail, left_out))
            @if group.cells.iter().any(|cell| !cell.recorded.split.causes.is_empty()) { details {
                summary { "Causes in numbers" }
                @for metric in whole_metrics(group) {
                    (cause_table(findings, group, metric.name, detail))
                }
            } }
            @if let Some(chosen) = section.chosen.as_ref().filter(|chosen| chosen.slowest.len() > 1) {
                (iterations(chosen))
            }
        }
    }
}

/// A picture of a chosen iteration.
struct Shown<'a> {
    title: String,
    picture: Picture,
    iteration: Iteration<'a>,
    answer: Option<Answer>,
}

fn pictures<'a>(
    findings: &'a Findings<'_>,
    section: &Section<'_>,
    names: &Names,
    detail: Detail,
    left_out: &mut LeftOut,
) -> Vec<Shown<'a>> {
    let (Some(series), Some(chosen)) = (section.series, &section.chosen) else { return Vec::new() };
    let Some(tick_us) = findings.timelines.tick_us() else { return Vec::new() };
    let metric = principal_metric(&section.group).name;
    let metrics = whole_metrics(&section.group);
    let value =
        |number: u32| chosen.slowest.iter().find(|(other, _)| *other == number).map_or(0.0, |(_, value)| *value);
    let mut wanted = vec![("Median", chosen.median)];
    if detail.worst && chosen.worst != chosen.median {
        wanted.push(("Worst", chosen.worst));
    }
    let mut shown = Vec::new();
    for (word, number_of) in wanted {
        let Some(iteration) = findings.timelines.iteration(series, number_of) else { continue };
        let extent = Extent { metrics: &metrics, whole: detail.whole, most_cpus: detail.most_cpus };
        let picture = Picture::of(&iteration, names, tick_us, &extent);
        let Some(axis) = picture.axes.first() else { continue };
        let answer = axis.slowest.and_then(|cpu| {
            let path = axis.paths.get(&cpu).map_or(&[][..], Vec::as_slice);
            answer(&iteration, names, cpu, metric, tick_us, path)
        });
        left_out.cpus = left_out.cpus.max(picture.left_out);
        left_out.worst |= word == "Worst";
        let title = format!("{word} iteration (no. {number_of}, {} us)", number(value(number_of)));
        shown.push(Shown { title, picture, iteration, answer });
    }
    left_out.iterations += (findings.timelines.iterations(series).len() - shown.len().min(2)) as u64;
    shown
}

fn timeline(
    findings: &Findings<'_>,
    section: &Section<'_>,
    names: &Names,
    pictures: &[Shown<'_>],
    detail: Detail,
) -> Markup {
    let Some(first) = pictures.first() else { return html! {} };
    let data: Vec<_> = pictures
        .iter()
        .map(|shown| json!({ "title": shown.title, "picture": data::data(&shown.picture, names) }))
        .collect();
    let causes: Vec<Cause> = {
        let all: Vec<Cause> = first.picture.axes.iter().flat_map(|axis| first.picture.causes(axis)).collect();
        Cause::ALL.into_iter().filter(|cause| all.contains(cause)).collect()
    };
    html! {
        figure.timeline data-timeline=(section.id) {
            @for (number, shown) in pictures.iter().enumerate().take(if detail.worst_still { 2 } else { 1 }) {
                // Of the worst iteration what the case is about; of the median the rest as well.
                @for (index, axis) in shown.picture.axes.iter().enumerate().filter(|(index, axis)| axis.slowest.is_some() && index * number == 0) {
                    div.still {
                        p.axis-title { b { (axis.title) } ", " (shown.title) @if index == 0 { (window_words(axis, &shown.picture)) } }
                        (lanes(&shown.picture, axis, names, &format!("{} of {}, {}", axis.title, short_title(&section.group), shown.title)))
                    }
                }
            }
            p.detail hidden aria-live="polite" {}
            (legend(&causes, true))
            figcaption.note {
                "A lane a CPU (cluster.core). A dashed line stands for time that is left out: nothing measured happens in it. The critical path is that of "
                (first.picture.axes.first().and_then(|axis| axis.slowest).map_or_else(String::new, |cpu| full_name(names, cpu)))
                ", followed back from its last instruction. " (source_line(findings))
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
    let end = axis.kept.last().map_or(0, |(_, to)| *to);
    let us = end.saturating_sub(axis.zero) as f64 * picture.tick_us;
    match axis.kept.len() {
        1 => format!(": {} us from the first CPU's begin to the last one's end", number(us)),
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
            div.scroll {
                svg.plot role="img" aria-label=(label) width="100%" height=(height(picture)) { (PreEscaped(drawing(picture, axis, names))) }
            }
        }
    }
}

/// The twin of a timeline for those who cannot see it: a row a span.
fn spans_table(axis: &Axis, shown: &Shown<'_>, names: &Names, index: usize) -> Markup {
    let picture = &shown.picture;
    let Some(metric) = axis.metric else { return html! {} };
    let us = |ticks: u64| format!("{:.2}", ticks as f64 * picture.tick_us);
    // Rows by the thousand: text put together by hand, from numbers and fixed words alone.
    let mut rows = String::new();
    for lane in &picture.lanes {
        let attribution::Place::Cpu(cpu) = lane.place else { continue };
        let Some((from, to)) = shown.iteration.window(cpu, metric) else { continue };
        for span in lane.spans.iter().filter(|span| span.from >= from && span.to <= to) {
            let What::Cause(cause) = span.what else { continue };
            let whom = span.holder.map_or_else(String::new, |holder| cpu_name(names, holder));
            rows.push_str(&format!(
                "<tr><td>{}<td class=n>{}<td class=n>{}<td>{}<td>{whom}",
                lane.name,
                us(span.from.saturating_sub(axis.zero)),
                us(span.to - span.from),
                cause.title()
            ));
        }
    }
    html! {
        div.scroll { table.spans {
            caption { (axis.title) @if index == 0 { ", median iteration" } @else { ", worst iteration" } }
            thead { tr {
                th scope="col" { "CPU" } th.n scope="col" { "From (us)" } th.n scope="col" { "Took (us)" }
                th scope="col" { "What" } th scope="col" { "Waited for" }
            } }
            tbody { (PreEscaped(rows)) }
        } }
    }
}

fn figures(findings: &Findings<'_>, section: &Section<'_>, detail: Detail, left_out: &mut LeftOut) -> Markup {
    let group = &section.group;
    let FigureTable { metrics, has_published, mut rows, order_varies } = FigureTable::of(group);
    rows.sort_by_key(|row| (row.cpu.recorded.rank, row.cpu.recorded.cluster, row.cpu.recorded.core));
    if rows.len() > detail.most_rows {
        left_out.rows += rows.len() - detail.most_rows;
        // The slowest are what one looks for.
        rows.drain(..rows.len() - detail.most_rows);
    }
    let metric = principal_metric(group).name;
    let longest = slowest(group, metric).map_or(0.0, |cell| cell.recorded.value);
    let has_causes =
        group.cells.iter().any(|cell| cell.recorded.metric == metric && !cell.recorded.split.causes.is_empty());
    html! {
        div.scroll { table.figures {
            caption {
                "Figures in us" @if section.chosen.is_some() { ", medians over the iterations" } ", in order of " (metrics::heading(metric))
                @if order_varies { ". " (ORDER_VARIES) "." }
            }
            thead {
                tr {
                    th scope="col" rowspan="2" { "CPU" } th scope="col" rowspan="2" { "Role" }
                    @for metric in &metrics { th.group scope="colgroup" colspan=(if has_published { "3" } else { "1" }) { (metric.title) } }
                    @if has_causes { th.wide scope="col" rowspan="2" { "Where the " (metrics::heading(metric)) " went (0 to " (number(longest)) " us)" } }
                }
                tr {
                    @for _ in &metrics {
                        @if has_published { th.n scope="col" { "publ." } }
                        th.n scope="col" { @if findings.recorded_word() == "simulated" { "sim." } @else { "rec." } }
                        @if has_published { th.n scope="col" { "error" } }
                    }
                }
            }
            tbody {
                @for row in rows {
                    tr {
                        th scope="row" { (row.name) }
                        td { (row.role) }
                        @for cell in row.figures {
                            @if has_published { td.n { (cell.map_or_else(String::new, published)) } }
                            td.n { b { (cell.map_or_else(String::new, |cell| number(cell.recorded.value))) } }
                            @if has_published { td.n { (cell.map_or_else(String::new, error)) } }
                        }
                        @if has_causes { td.wide {
                            @if let Some(cell) = cell_of(group, row.cpu.recorded.cpu, metric) { (chart::causes(&cell.recorded, longest)) }
                        } }
                    }
                }
            }
        } }
        (table_source(findings, std::iter::once(group.release)))
    }
}

fn cause_table(findings: &Findings<'_>, group: &Group<'_>, metric: &str, detail: Detail) -> Markup {
    html! {
        @if let Some(table) = CauseTable::of(group, metric, detail.most_rows) {
            div.scroll { table {
                caption { (capital(metric)) " of the median iteration by cause, us" }
                thead { tr {
                    th scope="col" { "CPU" }
                    @for cause in &table.causes { th.n scope="col" { (cause.title()) } }
                    th.n scope="col" { "sum" } th scope="col" { "Waited for" }
                } }
                tbody { @for row in &table.rows {
                    tr {
                        th scope="row" { (row.name) }
                        @for part in &row.parts { td.n { (part.map_or_else(String::new, number)) } }
                        td.n { b { (number(row.cell.recorded.value)) } }
                        td { (waits(findings, row.cell)) }
                    }
                } }
            } }
            (table_source(findings, std::iter::empty()))
        }
    }
}

fn waits(findings: &Findings<'_>, cell: &Compared) -> String {
    let recorded = &cell.recorded;
    let name = |cpu: u16| {
        let found = findings.compared.iter().find(|other| other.recorded.cpu == cpu);
        found.map_or_else(|| format!("CPU {cpu}"), |other| place(&other.recorded))
    };
    let each: Vec<String> = recorded
        .split
        .waits
        .iter()
        .take(8)
        .map(|wait| {
            format!("{} {} ({})", name(wait.holder), number(wait.ticks as f64 * recorded.tick_us), wait.cause.title())
        })
        .collect();
    each.join(", ")
}

fn iterations(chosen: &Chosen) -> Markup {
    let values: Vec<f64> = chosen.slowest.iter().map(|&(_, value)| value).collect();
    let summary = recording::stats::summary(&values);
    html! {
        @if let Some(summary) = summary {
            div.scatter {
                p.note {
                    "The slowest CPU's " (chosen.metric) " in each of " (grouped(summary.count as u64)) " iterations: "
                    (number(summary.min)) " to " (number(summary.max)) " us, drawn from 0. Filled: the median, no. " (chosen.median)
                    "; ring: the worst, no. " (chosen.worst) "."
                }
                (chart::iterations(chosen))
            }
        }
    }
}

fn accuracy(findings: &Findings<'_>, detail: Detail, left_out: &mut LeftOut) -> Markup {
    left_out.rows += findings.accuracy.len().saturating_sub(detail.most_rows);
    html! {
        section {
            h2 id="accuracy" { "Accuracy of predictions" }
            p { "Only cells of the parallel suspend tables that no fit used." }
            div.scroll { table {
                thead { tr {
                    th scope="col" { "Release" } th scope="col" { "Predicted cells" } th.n scope="col" { "Cells" }
                    th.n scope="col" { "Median error" } th.n scope="col" { "Within 10 % or 1 us" } th.n scope="col" { "Worst" }
                } }
                tbody { @for row in findings.accuracy.iter().take(detail.most_rows) {
                    tr {
                        td { (row.release) } td { (row.what) } td.n { (row.cells) }
                        td.n { (format!("{:.1} %", row.median_percent)) }
                        td.n { (row.within) " of " (row.cells) }
                        td.n { (format!("{:.1} %", row.worst_percent)) }
                    }
                } }
            } }
            (table_source(findings, findings.accuracy.iter().map(|row| row.release.as_str())))
        }
    }
}

fn spreads(findings: &Findings<'_>, detail: Detail, left_out: &mut LeftOut) -> Markup {
    left_out.rows += findings.spreads.len().saturating_sub(detail.most_rows);
    html! {
        section {
            h2 id="free" { "In free order" }
            p { "The same cases with the order at the SCP left to chance: powerdown of the n-th CPU to finish, in us, median (smallest to largest)." }
            div.scroll { table {
                thead { tr {
                    th scope="col" { "Release" } th scope="col" { "Case" } th.n scope="col" { "Seeds" } th.n scope="col" { "Orders" }
                    th scope="col" { "1st, 2nd, ..." }
                } }
                tbody { @for spread in findings.spreads.iter().take(detail.most_rows) {
                    @let ranks: Vec<String> = spread.by_rank.iter().take(16).map(|&(min, median, max)| format!("{} ({} to {})", number(median), number(min), number(max))).collect();
                    tr {
                        td { (spread.variant) } td { (case_title(&spread.case)) } td.n { (spread.seeds) } td.n { (spread.orders) }
                        td { (ranks.join(", ")) @if spread.by_rank.len() > 16 { ", and " (spread.by_rank.len() - 16) " more" } }
                    }
                } }
            } }
            (table_source(findings, std::iter::empty()))
        }
    }
}

fn measures(findings: &Findings<'_>, detail: Detail, left_out: &mut LeftOut) -> Markup {
    let mut tables = measure_tables(&findings.measures);
    let mut room = detail.most_rows;
    for table in &mut tables {
        left_out.rows += table.rows.len().saturating_sub(room);
        table.rows.truncate(room);
        room -= table.rows.len();
    }
    let table = html! {
        @for table in tables.iter().filter(|table| !table.rows.is_empty()) {
            div.scroll { table {
                caption { b { (table.title) } @if let Some(note) = &table.note { "; " (note) } }
                thead { tr {
                    @for (at, heading) in table.header.iter().enumerate() { th.n[at >= table.names] scope="col" { (heading) } }
                } }
                tbody { @for row in &table.rows {
                    tr { @for (at, cell) in row.iter().enumerate() { td.n[at >= table.names] { (cell) } } }
                } }
            } }
        }
        (table_source(findings, std::iter::empty()))
    };
    html! {
        section {
            h2 id="measures" { "Measures" }
            @if findings.compared.is_empty() { (table) }
            @else { details { summary { "All other measures of the recording" } (table) } }
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
                @if left_out.rows > 0 { li { (grouped(left_out.rows as u64)) " rows of tables, for want of room; the slowest CPUs are shown." } }
                li {
                    "Everything is in the recording: " code { "stopwatt report " (cut(&findings.folder)) " --out cells.csv" } " makes a table of all cells"
                    @if events > 0 { ", " code { "--out run.pftrace" } " a trace of all events for Perfetto" } "."
                }
            }
        }
    }
}
