//! What an experiment's own tables say, as a section of the page.

use super::detail::{Detail, LeftOut};
use super::parts::{cut, source_line};
use crate::model::findings::Findings;
use crate::model::told::Block;
use maud::{Markup, html};

/// The section; nothing where the experiment has no tables of its own.
pub(super) fn story(findings: &Findings<'_>, detail: Detail, left_out: &mut LeftOut) -> Markup {
    let Some(told) = &findings.told else { return html! {} };
    let blocks = told.blocks();
    html! {
        section {
            h2 id="story" { "What came out" }
            @for block in &blocks { (one(block, detail, left_out)) }
            p.note { (source_line(findings)) }
        }
    }
}

fn one(block: &Block, detail: Detail, left_out: &mut LeftOut) -> Markup {
    match block {
        Block::Paragraph(words) => html! { p { (words) } },
        Block::List(items) => html! { ul { @for item in items { li { (item) } } } },
        Block::Preformatted(lines) => html! { div.scroll { pre { (lines.join("\n")) } } },
        Block::Table { header, rows, figures } => {
            left_out.rows += rows.len().saturating_sub(detail.most_rows);
            html! {
                div.scroll { table {
                    thead { tr { @for (heading, figure) in header.iter().zip(figures) {
                        th.n[*figure] scope="col" { (cut(heading)) }
                    } } }
                    tbody { @for row in rows.iter().take(detail.most_rows) {
                        tr { @for (cell, figure) in row.iter().zip(figures) { td.n[*figure] { (cut(cell)) } } }
                    } }
                } }
            }
        }
    }
}
