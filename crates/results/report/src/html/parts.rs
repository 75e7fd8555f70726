//! Small parts that several sections of the page have.

use super::chart;
use crate::model::compared::Compared;
use crate::model::figures::Group;
use crate::model::findings::Findings;
use crate::words::{case_title, number};
use attribution::{Cause, Spent};
use maud::{Markup, html};

/// A text of the recording that stands at many places of the page, or one of many: no longer than a line or three.
pub(super) fn cut(text: &str) -> String {
    const MOST: usize = 400;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// A name that can stand in an address: letters, digits and hyphens.
pub(super) fn slug(text: &str) -> String {
    text.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' }).collect()
}

pub(super) fn short_title(group: &Group<'_>) -> String {
    format!("{}, {}", case_title(group.case), group.mode)
}

pub(super) fn published(cell: &Compared) -> String {
    cell.published.as_ref().map_or_else(|| "-".to_owned(), |published| number(published.value_us))
}

pub(super) fn error(cell: &Compared) -> String {
    match cell.error_percent() {
        Some(error) => format!("{error:+.1} %{}", if cell.used_in_fit() { "*" } else { "" }),
        None => "-".to_owned(),
    }
}

/// What colours, letters and lines mean.
pub(super) fn legend(causes: &[Cause], lines: bool) -> Markup {
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

/// What the parts of critical paths are drawn as.
pub(super) fn spent_legend(order: &[Spent]) -> Markup {
    html! {
        ul.legend aria-label="Legend" {
            @for &spent in order {
                li {
                    svg width="22" height="12" aria-hidden="true" { rect class=(chart::class(spent)) width="22" height="12" {} }
                    " " (spent.title())
                }
            }
        }
    }
}

/// The documents that published figures of these releases are from, and the recording.
pub(super) fn table_source<'a>(findings: &Findings<'_>, releases: impl Iterator<Item = &'a str>) -> Markup {
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
pub(super) fn source_line(findings: &Findings<'_>) -> Markup {
    let line = cut(&findings.source_line());
    // The command is the last that the line says, between marks that plain text needs.
    match line.strip_suffix('`').and_then(|line| line.split_once('`')) {
        Some((before, command)) => html! { (before) code { (command) } "." },
        None => html! { (line) "." },
    }
}
