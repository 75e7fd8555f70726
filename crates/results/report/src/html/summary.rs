//! Sections about all cases: the overview, the accuracy, free order, measures.

use super::chart;
use super::detail::{Detail, LeftOut};
use super::parts::{error, legend, published, short_title, table_source};
use super::section::Section;
use crate::model::figures::{principal_metric, slowest, used_causes};
use crate::model::findings::Findings;
use crate::model::measures::measure_tables;
use crate::words::{capital, case_title, number, place};
use maud::{Markup, html};

pub(super) fn overview(findings: &Findings<'_>, sections: &[Section<'_>]) -> Markup {
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

pub(super) fn accuracy(findings: &Findings<'_>, detail: Detail, left_out: &mut LeftOut) -> Markup {
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
