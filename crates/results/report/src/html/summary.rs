//! Sections about all cases: the overview, the accuracy, free order, measures.

use super::chart;
use super::detail::{Detail, LeftOut};
use super::parts::{error, published, short_title, spent_legend, table_source};
use super::section::Section;
use crate::model::compared::Compared;
use crate::model::figures::{cell_of, principal_metric, slowest};
use crate::model::findings::Findings;
use crate::model::headline::spent_on;
use crate::model::measures::measure_tables;
use crate::words::{GUESS, INTERVALS, capital, case_title, guess, held, number, place};
use attribution::Spending;
use maud::{Markup, html};

pub(super) fn overview(findings: &Findings<'_>, sections: &[Section<'_>]) -> Markup {
    let tick_us = findings.timelines.tick_us().unwrap_or(0.0);
    let spendings =
        || sections.iter().filter_map(|section| section.headlines.first()).map(|headline| &headline.spending);
    let longest = spendings().map(Spending::total).max().unwrap_or(0) as f64 * tick_us;
    let has_published = sections.iter().flat_map(|section| &section.group.cells).any(|cell| cell.published.is_some());
    let used = spent_on(spendings());
    html! {
        section.overview {
            h2 id="overview" { "Overview" }
            p {
                "The slowest CPU of each case: its median over the iterations"
                @if longest > 0.0 { ", and what it hung on. A bar follows the CPU's critical path, so a wait for another CPU is told as what that CPU did" }
                "."
            }
            div.scroll { table {
                thead { tr {
                    th scope="col" { "Release" } th scope="col" { "Case" }
                    th.wide scope="col" { "Answer" @if longest > 0.0 { " (bars from 0 to " (number(longest)) " us)" } }
                    th scope="col" { "Slowest" }
                    th.n scope="col" { (capital(findings.recorded_word())) " (us)" }
                    @if has_published { th.n scope="col" { "Published (us)" } th.n scope="col" { "Error" } }
                } }
                tbody {
                    @for section in sections {
                        @if let Some(cell) = named_slowest(section) {
                            tr {
                                td { (section.group.release) }
                                td.case { a href={ "#" (section.id) } { (short_title(&section.group)) } }
                                td.wide { @if let Some(headline) = section.headlines.first() {
                                    span.says { (headline.text) }
                                    @if headline.spending.total() > 0 {
                                        @let order: Vec<_> = headline.spending.parts.iter().map(|(spent, _)| *spent).collect();
                                        (chart::spending(&headline.spending, &order, tick_us, longest))
                                    }
                                } }
                                td data-label="slowest" { (place(&cell.recorded)) }
                                td.n data-label=(findings.recorded_word()) { (number(cell.recorded.value)) }
                                @if has_published { td.n data-label="published" { (published(cell)) } td.n data-label="error" { (error(cell)) } }
                            }
                        }
                    }
                }
            } }
            @if !used.is_empty() { (spent_legend(&used)) }
            (table_source(findings, sections.iter().map(|section| section.group.release)))
        }
    }
}

/// The CPU that the headline names, unless another one's median is longer: of several that take as long, both name the same.
fn named_slowest<'a>(section: &Section<'a>) -> Option<&'a Compared> {
    let metric = principal_metric(&section.group).name;
    let slowest = slowest(&section.group, metric)?;
    let named = section.headlines.first().and_then(|headline| cell_of(&section.group, headline.cpu, metric));
    named.filter(|cell| cell.recorded.value >= 0.995 * slowest.recorded.value).or(Some(slowest))
}

pub(super) fn accuracy(findings: &Findings<'_>, detail: Detail, left_out: &mut LeftOut) -> Markup {
    left_out.rows += findings.accuracy.len().saturating_sub(detail.most_rows);
    html! {
        section {
            h2 id="accuracy" { "Accuracy of predictions" }
            p { "Only cells of the parallel suspend tables that no fit used." }
            @if findings.accuracy.iter().any(|row| row.guess.is_some()) { p { (capital(GUESS)) "." } }
            @if findings.accuracy.iter().any(|row| row.intervals.is_some()) { p { (INTERVALS) "." } }
            div.scroll { table {
                thead { tr {
                    th scope="col" { "Release" } th scope="col" { "Predicted cells" } th.n scope="col" { "Cells" }
                    th.n scope="col" { "Median error" } th.n scope="col" { "Within 10 % or 1 us" } th.n scope="col" { "Worst" }
                    th.n scope="col" { "Guess: median, worst" } th.n scope="col" { "Hold: model, guess; width" }
                } }
                tbody { @for row in findings.accuracy.iter().take(detail.most_rows) {
                    tr {
                        td { (row.release) } td { (row.what) } td.n { (row.model.cells) }
                        td.n { (format!("{:.1} %", row.model.median_percent)) }
                        td.n { (row.model.within) " of " (row.model.cells) }
                        td.n { (format!("{:.1} %", row.model.worst_percent)) }
                        td.n { (guess(row)) } td.n { (held(row)) }
                    }
                } }
            } }
            (table_source(findings, findings.accuracy.iter().map(|row| row.release.as_str())))
        }
    }
}

pub(super) fn spreads(findings: &Findings<'_>, detail: Detail, left_out: &mut LeftOut) -> Markup {
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

pub(super) fn measures(findings: &Findings<'_>, detail: Detail, left_out: &mut LeftOut) -> Markup {
    let mut tables = measure_tables(&findings.measures);
    // Beside an experiment's own tables the bare figures are there to be looked up, which CSV and JSON do better.
    let mut room = if findings.told.is_some() { detail.most_rows.min(64) } else { detail.most_rows };
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
            @if findings.compared.is_empty() && findings.told.is_none() { (table) }
            @else { details { summary { "All other measures of the recording" } (table) } }
        }
    }
}
