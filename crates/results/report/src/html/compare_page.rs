//! A comparison as a page: what it comes to, then every row that changed with how its values scatter.

use super::distribution::{Sample, draw};
use super::frame::{frame, picture};
use super::parts::cut;
use super::{MOST_BYTES, compact};
use crate::PublishedChanges;
use crate::comparison_text::{
    is_shown, letter, method_in_words, paths_in_words, sides_in_words, size, summary_in_words, table_of, title,
    verdict_in_words, worth_telling,
};
use crate::words::{capital, number};
use comparison::{Change, Comparison, Row, Verdict};
use maud::{Markup, html};

/// How much of a comparison a page shows.
#[derive(Clone, Copy)]
struct Detail {
    /// Rows at most.
    rows: usize,
    /// Pictures of how values scatter at most.
    pictures: usize,
    /// Points of a sample at most.
    points: usize,
}

/// The comparison as one self-contained page of at most [`MOST_BYTES`].
///
/// `all`: rows that did not change as well.
pub fn comparison_html(comparison: &Comparison, published: Option<&PublishedChanges>, all: bool) -> String {
    let details = [(usize::MAX, 200, 100), (2000, 100, 40), (400, 40, 20), (100, 10, 10), (10, 1, 5), (0, 0, 0)];
    let mut pages = details
        .into_iter()
        .map(|(rows, pictures, points)| compact(&page(comparison, published, all, Detail { rows, pictures, points })));
    pages.find(|page| page.len() <= MOST_BYTES).unwrap_or_else(super::page::only_names)
}

fn page(comparison: &Comparison, published: Option<&PublishedChanges>, all: bool, detail: Detail) -> String {
    let names: Vec<String> = comparison.sides.iter().map(|side| cut(&side.name)).collect();
    let title_of_page = match names.as_slice() {
        [base, others @ ..] => format!("{} against {base}", others.join(", ")),
        [] => "Nothing compared".to_owned(),
    };
    let mut tables: Vec<Vec<&Row>> = Vec::new();
    for row in &comparison.rows {
        match tables.last_mut() {
            Some(table) if table_of(table[0]) == table_of(row) => table.push(row),
            _ => tables.push(vec![row]),
        }
    }
    let (mut rows_left, mut pictures_left, mut left_out) = (detail.rows, detail.pictures, 0);
    let mut bodies = Vec::new();
    for table in &tables {
        let mut shown: Vec<&Row> = table.iter().copied().filter(|row| is_shown(row, all)).collect();
        left_out += shown.len().saturating_sub(rows_left);
        shown.truncate(rows_left);
        rows_left -= shown.len();
        if shown.is_empty() {
            continue;
        }
        let with_picture = pictures_left > 0;
        pictures_left = pictures_left.saturating_sub(1);
        bodies.push(one_table(comparison, table.len(), &shown, with_picture.then_some(detail.points)));
    }
    let body = html! {
        @if let Some(answer) = answer(comparison) { p.headline { (answer) } }
        p { (capital(&summary_in_words(comparison))) "." }
        ul.sides { @for line in sides_in_words(comparison) { li { (cut(&line)) } } }
        @for warning in comparison.warnings.iter().take(100) { p { b { "Warning: " (cut(warning)) } } }
        @if !bodies.is_empty() { section {
            h2 id="rows" { @if all { "Rows" } @else { "Rows that changed" } }
            @for body in &bodies { (body) }
        } }
        @if left_out > 0 { p { (left_out) " more rows are left out, for want of room; " code { "--format json" } " has all." } }
        (inputs(comparison))
        h2 id="method" { "How it was compared" }
        @for words in method_in_words(comparison) { p { (capital(&words)) "." } }
        @if !comparison.unmatched.is_empty() {
            p.note { (comparison.unmatched.len()) " rows are in one recording only, such as " (cut(&comparison.unmatched[0].1.label())) "." }
        }
        @if let Some(published) = published {
            p.note {
                "The document prints " (published.printed) " changes of " (published.other) " against " (published.base)
                ", of which " (published.remade) " follow from its tables."
            }
        }
    };
    frame(&title_of_page, &format!("{} is the base.", names.first().map_or("", String::as_str)), &body)
}

/// The largest change that matters, in a sentence.
fn answer(comparison: &Comparison) -> Option<String> {
    let all: Vec<(&Row, usize, &Change)> = comparison
        .rows
        .iter()
        .flat_map(|row| (1..).zip(&row.changes).filter_map(move |(side, change)| Some((row, side, change.as_ref()?))))
        .collect();
    let verdict = [Verdict::Worse, Verdict::Better, Verdict::Changed, Verdict::Small]
        .into_iter()
        .find(|verdict| all.iter().any(|(_, _, change)| change.verdict == *verdict));
    let Some(verdict) = verdict else {
        return Some("Nothing changed that can be told from chance.".to_owned());
    };
    let of_verdict: Vec<_> = all.into_iter().filter(|(_, _, change)| change.verdict == verdict).collect();
    let share = |change: &Change| change.percent.unwrap_or(0.0).abs();
    let (row, side, change) = of_verdict.iter().max_by(|a, b| share(a.2).total_cmp(&share(b.2)))?;
    let median = |side: usize| row.cells.get(side).copied().flatten().map_or(f64::NAN, |cell| cell.median);
    let count = of_verdict.len();
    let rows = if count == 1 { "row" } else { "rows" };
    let what = match verdict {
        Verdict::Worse => format!("{count} {rows} got worse"),
        Verdict::Better => format!("{count} {rows} got better and none worse"),
        Verdict::Changed => format!("{count} {rows} changed"),
        _ => format!("{count} {rows} changed, all below the threshold"),
    };
    let percent = change.percent.map_or_else(String::new, |percent| format!(" ({percent:+.1} %)"));
    let cause = change.main_cause().map_or_else(String::new, |cause| format!(", most of it {}", cause.title()));
    Some(format!(
        "{what}, the most in {}: from {} to {} {}{percent}{cause}.",
        cut(&row.key.label()),
        number(median(0)),
        number(median(*side)),
        row.unit
    ))
}

fn inputs(comparison: &Comparison) -> Markup {
    html! {
        @if !comparison.differences.is_empty() { section {
            h2 id="inputs" { "Inputs that differ" }
            div.scroll { table {
                thead { tr { th scope="col" { "Input" } @for side in 0..comparison.sides.len() { th.n scope="col" { (letter(side)) } } } }
                tbody { @for difference in comparison.differences.iter().take(500) { tr {
                    td { (difference.key) }
                    @for (side, value) in difference.values.iter().enumerate() { td.n {
                        (value.as_deref().unwrap_or("-"))
                        @if side > 0 { @if let Some(Some(percent)) = difference.percent.get(side - 1) { " (" (format!("{percent:+.1} %")) ")" } }
                    } }
                } } }
            } }
        } }
    }
}

fn one_table(comparison: &Comparison, all_rows: usize, shown: &[&Row], points: Option<usize>) -> Markup {
    let Some(head) = shown.first() else { return html! {} };
    let median = |row: &Row, side: usize| {
        row.cells.get(side).copied().flatten().map_or_else(|| "-".to_owned(), |cell| number(cell.median))
    };
    let samples: Vec<Sample<'_>> =
        shown
            .iter()
            .take(MOST_SAMPLES)
            .flat_map(|row| {
                row.values.iter().enumerate().filter(|(_, values)| !values.is_empty()).map(move |(side, values)| {
                    Sample { name: format!("{} {}", letter(side), row.key.row()), colour: side, values }
                })
            })
            .collect();
    html! {
        article {
            h3 { (title(head)) }
            div.scroll { table {
                thead { tr {
                    th scope="col" { "Row" } th.n scope="col" { "n" } th.n scope="col" { "A" }
                    @for side in 1..comparison.sides.len() { th.n scope="col" { (letter(side)) } th.n scope="col" { (letter(side)) "/A" } th scope="col" { "Verdict" } }
                    th scope="col" { "Why (us, in the median)" }
                } }
                tbody { @for row in shown { tr {
                    th scope="row" { (row.key.row()) }
                    td.n { (counts(row)) }
                    td.n { (median(row, 0)) }
                    @for (side, change) in (1..).zip(&row.changes) {
                        td.n { b { (median(row, side)) } }
                        td.n { (change.as_ref().map_or_else(|| "-".to_owned(), size)) }
                        td { @if let Some(change) = change { span class={ "verdict " (change.verdict.name()) } { (verdict_in_words(change.verdict)) } } }
                    }
                    td.why { (why(comparison, row)) }
                } } }
            } }
            @for words in paths_in_words(comparison, head) { p { (capital(&words)) "." } }
            @if shown.len() < all_rows { p.note { (all_rows - shown.len()) " of " (all_rows) " rows did not change, or are left out." } }
            @if let Some(points) = points { figure.measure-picture {
                p.axis-title { b { "How the values scatter" } ", " (head.unit) "; a box holds half of them, the line in it is their median" }
                (picture(&format!("How the values of {} scatter", title(head)), draw(&samples, &head.unit, points)))
                @if shown.len() > MOST_SAMPLES { p.note { "The first " (MOST_SAMPLES) " rows." } }
            } }
        }
    }
}

/// Rows of a picture at most, each with a line for each recording.
const MOST_SAMPLES: usize = 24;

fn counts(row: &Row) -> String {
    let counts: Vec<String> =
        row.cells.iter().map(|cell| cell.map_or_else(|| "-".to_owned(), |cell| cell.n.to_string())).collect();
    if counts.iter().all(|count| *count == counts[0]) { counts[0].clone() } else { counts.join("/") }
}

fn why(comparison: &Comparison, row: &Row) -> String {
    let mut each = Vec::new();
    for (side, change) in (1..).zip(&row.changes) {
        let Some(change) = change.as_ref().filter(|change| change.verdict != Verdict::Same) else { continue };
        let causes: Vec<String> = worth_telling(row, change)
            .iter()
            .map(|cause| format!("{} {:+.2}", cause.cause.title(), cause.absolute()))
            .collect();
        if !causes.is_empty() {
            let which = if comparison.sides.len() > 2 { format!("{}: ", letter(side)) } else { String::new() };
            each.push(format!("{which}{}", causes.join(", ")));
        }
    }
    each.join("; ")
}
