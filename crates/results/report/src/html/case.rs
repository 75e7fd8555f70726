//! The section of a case: its answer, its timeline, its figures and their causes.

use super::chart;
use super::detail::{Detail, LeftOut};
use super::parts::{error, published, short_title, spent_legend, table_source};
use super::picture::Names;
use super::section::Section;
use super::timeline::{Told, pictures, timeline};
use crate::model::compared::Compared;
use crate::model::figures::{CauseTable, FigureTable, Group, principal_metric, whole_metrics};
use crate::model::findings::Findings;
use crate::model::headline::{spendings, spent_on};
use crate::words::{ORDER_VARIES, grouped, number, place};
use attribution::{Chosen, Spending};
use maud::{Markup, html};
use recording::metrics;

pub(super) fn one_case(
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
    html! {
        article id=(section.id) {
            h3 { (short_title(group)) }
            @if pictures.is_empty() {
                @for headline in &section.headlines { p.headline { (headline.text) } }
            }
            @for (index, shown) in pictures.iter().enumerate() {
                @for told in &shown.told { (what_is_told(told, index)) }
            }
            @if !pictures.is_empty() { (timeline(findings, section, names, &pictures, detail)) }
            (figures(findings, section, detail, left_out))
            @if group.cells.iter().any(|cell| !cell.recorded.split.causes.is_empty()) { details {
                summary { "What each CPU did, in numbers" }
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

/// What is told of a view of an iteration. Without scripts that of the median is there to read; a script shows what belongs to the view.
fn what_is_told(told: &Told, iteration: usize) -> Markup {
    html! {
        div.told data-view=(told.view) data-iteration=(iteration) hidden[iteration > 0] {
            @if let Some(headline) = &told.headline { p.headline { (headline) } }
            @if let Some(answer) = &told.answer {
                p.answer { b { (answer.question) } " " (answer.own) @if !answer.path.is_empty() { " " span.path-words { (answer.path) } } }
            }
        }
    }
}

pub(super) fn figures(
    findings: &Findings<'_>,
    section: &Section<'_>,
    detail: Detail,
    left_out: &mut LeftOut,
) -> Markup {
    let group = &section.group;
    let FigureTable { metrics, has_published, mut rows, order_varies } = FigureTable::of(group);
    rows.sort_by_key(|row| (row.cpu.recorded.rank, row.cpu.recorded.cluster, row.cpu.recorded.core));
    if rows.len() > detail.most_rows {
        left_out.rows += rows.len() - detail.most_rows;
        // The slowest are what one looks for.
        rows.drain(..rows.len() - detail.most_rows);
    }
    let metric = principal_metric(group).name;
    let cpus: Vec<u16> = rows.iter().map(|row| row.cpu.recorded.cpu).collect();
    let tick_us = findings.timelines.tick_us().unwrap_or(0.0);
    let spendings = spendings(findings, group, metric, &cpus);
    let order = spent_on(spendings.values());
    let longest = spendings.values().map(Spending::total).max().unwrap_or(0) as f64 * tick_us;
    let has_causes = longest > 0.0;
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
                    @if has_causes { th.wide scope="col" rowspan="2" { "What the " (metrics::heading(metric)) " hung on (0 to " (number(longest)) " us)" } }
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
                            @if let Some(spending) = spendings.get(&row.cpu.recorded.cpu) { (chart::spending(spending, &order, tick_us, longest)) }
                        } }
                    }
                }
            }
        } }
        @if has_causes { (spent_legend(&order)) }
        (table_source(findings, std::iter::once(group.release)))
    }
}

pub(super) fn cause_table(findings: &Findings<'_>, group: &Group<'_>, metric: &str, detail: Detail) -> Markup {
    html! {
        @if let Some(table) = CauseTable::of(group, metric, detail.most_rows) {
            div.scroll { table {
                caption { "What each CPU did in its " (metrics::heading(metric)) " of the median iteration, us" }
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

pub(super) fn waits(findings: &Findings<'_>, cell: &Compared) -> String {
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

pub(super) fn iterations(chosen: &Chosen) -> Markup {
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
