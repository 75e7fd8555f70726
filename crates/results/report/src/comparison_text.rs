//! A comparison in the terminal.

use crate::grid::{DIM, PLAIN, fitted, paragraph, right, table};
use crate::words::number;
use crate::{PublishedChanges, Style};
use comfy_table::{Cell, Color};
use comparison::{Basis, CauseChange, Change, Comparison, Row, TablePaths, Verdict};
use std::fmt::Write;

/// The comparison for people: the recordings, what differs in what went in, the rows that changed with their causes, a summary.
///
/// `all`: rows that did not change as well.
pub fn comparison_text(
    comparison: &Comparison,
    published: Option<&PublishedChanges>,
    all: bool,
    style: Style,
) -> String {
    let mut text = String::new();
    sides(&mut text, comparison, style);
    for warning in &comparison.warnings {
        paragraph(&mut text, &format!("warning: {warning}"), ("", "  "), "33", style);
    }
    method(&mut text, comparison, style);
    inputs(&mut text, comparison, style);
    let mut from = 0;
    while from < comparison.rows.len() {
        let head = &comparison.rows[from];
        let same = |row: &&Row| table_of(row) == table_of(head);
        let count = comparison.rows[from..].iter().take_while(same).count();
        rows(&mut text, comparison, &comparison.rows[from..from + count], all, style);
        from += count;
    }
    unmatched(&mut text, comparison, style);
    if let Some(published) = published {
        published_text(&mut text, published, style);
    }
    summary(&mut text, comparison, style);
    text
}

pub(crate) fn table_of(row: &Row) -> (&str, &str, &str, &str) {
    (&row.key.variant, &row.key.case, &row.key.mode, &row.key.metric)
}

/// Recordings go by letters in the tables.
pub(crate) fn letter(side: usize) -> String {
    match u8::try_from(side) {
        Ok(side @ 0..26) => char::from(b'A' + side).to_string(),
        _ => format!("#{side}"),
    }
}

fn sides(text: &mut String, comparison: &Comparison, style: Style) {
    for line in sides_in_words(comparison) {
        paragraph(text, &line, ("", "  "), "1", style);
    }
}

/// What is known of each recording, a line each.
pub(crate) fn sides_in_words(comparison: &Comparison) -> Vec<String> {
    let mut lines = Vec::new();
    for (index, side) in comparison.sides.iter().enumerate() {
        let mut facts = vec![side.variants.join(", "), format!("{} world", side.world)];
        facts.extend(side.platform.iter().cloned());
        if side.repeatable {
            facts.push(format!("repeatable, seed {}", side.seed));
        }
        if index == 0 {
            facts.push("the base".to_owned());
        }
        lines.push(format!("{}  {}: {}", letter(index), side.name, facts.join("; ")));
    }
    lines
}

fn method(text: &mut String, comparison: &Comparison, style: Style) {
    for words in method_in_words(comparison) {
        paragraph(text, &words, ("", "  "), DIM, style);
    }
}

/// How the comparison was made, a sentence or so each.
pub(crate) fn method_in_words(comparison: &Comparison) -> Vec<String> {
    let sampled = comparison.changes().any(|(_, change)| change.basis != Basis::Exact);
    let exact = comparison.changes().any(|(_, change)| change.basis == Basis::Exact);
    let mut lines = Vec::new();
    if exact {
        lines.push(
            "exact: a world that repeats itself; two values that differ by more than a tick of the counter are different"
                .to_owned(),
        );
    }
    if sampled {
        lines.push(format!(
            "samples: rank test of Mann and Whitney, p corrected for {} tests by Holm's method and read at {}; in brackets the bootstrap interval of \
             the change of the median at {} %, so that all intervals together hold with {} %; ~: nothing can be said, as always with fewer than {} values a side",
            comparison.tests,
            comparison.alpha,
            percent(comparison.interval_level()),
            percent(1.0 - comparison.alpha),
            comparison::SMALLEST_SAMPLE,
        ));
    }
    lines.push(format!("threshold: {} % unless the policy says otherwise", comparison.threshold));
    lines
}

/// A level in percent, with as many digits as tell it from 100.
fn percent(level: f64) -> String {
    let decimals = (-(1.0 - level).log10()).ceil().clamp(2.0, 9.0) as usize - 1;
    let text = format!("{:.decimals$}", level * 100.0);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn inputs(text: &mut String, comparison: &Comparison, style: Style) {
    if comparison.differences.is_empty() {
        return;
    }
    let mut table = table(style);
    let mut header = vec!["input".to_owned()];
    for side in 0..comparison.sides.len() {
        header.push(letter(side));
        if side > 0 {
            header.push(format!("{}/A", letter(side)));
        }
    }
    table.set_header(header);
    for difference in &comparison.differences {
        let mut row = vec![Cell::new(&difference.key)];
        for (side, value) in difference.values.iter().enumerate() {
            row.push(right(value.clone().unwrap_or_else(|| "-".to_owned())));
            if side > 0 {
                let percent = difference.percent[side - 1];
                row.push(right(percent.map_or_else(String::new, |percent| format!("{percent:+.1} %"))));
            }
        }
        table.add_row(row);
    }
    let _ = writeln!(text, "{}", style.bold("Inputs that differ"));
    let _ = writeln!(text, "{}", fitted(table, style));
}

pub(crate) fn is_shown(row: &Row, all: bool) -> bool {
    all || row.changes.iter().flatten().any(|change| change.verdict != Verdict::Same)
}

fn rows(text: &mut String, comparison: &Comparison, rows: &[Row], all: bool, style: Style) {
    let shown: Vec<&Row> = rows.iter().filter(|row| is_shown(row, all)).collect();
    let head = &rows[0];
    let title = title(head);
    if shown.is_empty() {
        return;
    }
    let _ = writeln!(text, "{}", style.bold(&title));
    let mut table = table(style);
    let mut header = vec!["row".to_owned(), "n".to_owned(), "A".to_owned()];
    for side in 1..comparison.sides.len() {
        header.extend([letter(side), format!("{}/A", letter(side)), String::new()]);
    }
    table.set_header(header);
    for row in &shown {
        let counts: Vec<_> =
            row.cells.iter().map(|cell| cell.map_or_else(|| "-".to_owned(), |cell| cell.n.to_string())).collect();
        let same = counts.iter().all(|count| *count == counts[0]);
        let median =
            |side: usize| row.cells[side].map_or_else(|| "-".to_owned(), |cell: comparison::Cell| number(cell.median));
        let mut cells = vec![
            Cell::new(row.key.row()),
            right(if same { counts[0].clone() } else { counts.join("/") }),
            right(median(0)),
        ];
        for (side, change) in (1..).zip(&row.changes) {
            cells.push(right(median(side)));
            match change {
                None => cells.extend([right("-".to_owned()), right(String::new())]),
                Some(change) => cells.extend([right(size(change)), verdict(change.verdict, style)]),
            }
        }
        table.add_row(cells);
    }
    let _ = writeln!(text, "{}", fitted(table, style));
    if shown.len() < rows.len() {
        let words = format!("{} of {} rows did not change", rows.len() - shown.len(), rows.len());
        let _ = writeln!(text, "{}", style.dim(&words));
    }
    why(text, comparison, &shown, style);
    for line in paths_in_words(comparison, head) {
        paragraph(text, &line, ("", "      "), PLAIN, style);
    }
}

/// What a table of rows is of.
pub(crate) fn title(head: &Row) -> String {
    let parts = [&head.key.variant, &head.key.case, &head.key.mode].map(String::as_str);
    let title = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
    format!("{title}: {} ({})", head.key.metric, head.unit)
}

/// A change in percent, with its interval.
pub(crate) fn size(change: &Change) -> String {
    let absolute = || format!("{:+.3}", change.absolute);
    let percent = change.percent.map_or_else(absolute, |percent| format!("{percent:+.1} %"));
    match change.basis {
        Basis::Sampled { interval: Some((low, high)), corrected, .. } => {
            let p = if corrected < 0.001 { "< 0.001".to_owned() } else { format!("{corrected:.3}") };
            format!("{percent} [{low:+.1}, {high:+.1}] p {p}")
        }
        _ => percent,
    }
}

fn verdict(verdict: Verdict, style: Style) -> Cell {
    let colour = match verdict {
        Verdict::Same | Verdict::Unclear | Verdict::Small => Color::DarkGrey,
        Verdict::Changed => Color::Yellow,
        Verdict::Better => Color::Green,
        Verdict::Worse => Color::Red,
    };
    let words = verdict_in_words(verdict);
    if style.colour { Cell::new(words).fg(colour) } else { Cell::new(words) }
}

/// A verdict as tables have it.
pub(crate) fn verdict_in_words(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Same => "=",
        Verdict::Unclear => "~",
        Verdict::Small => "below threshold",
        Verdict::Changed => "changed",
        Verdict::Better => "better",
        Verdict::Worse => "worse",
    }
}

/// A cause that changed by less of the base than this is left out of the terminal's lines.
const WORTH_TELLING: f64 = 0.002;

/// The least change in microseconds that is told of what took so long in the base.
fn least_told(base: f64) -> f64 {
    (base.abs() * WORTH_TELLING).max(0.005)
}

/// The causes of a change that matter, the largest first.
pub(crate) fn worth_telling(row: &Row, change: &Change) -> Vec<CauseChange> {
    let base = row.cells[0].map_or(0.0, |cell| cell.median);
    let mut causes = change.causes.clone();
    causes.retain(|cause| cause.absolute().abs() >= least_told(base));
    causes.sort_by(|a, b| b.absolute().abs().total_cmp(&a.absolute().abs()));
    causes
}

fn why(text: &mut String, comparison: &Comparison, rows: &[&Row], style: Style) {
    let mut begun = false;
    for row in rows {
        for (side, change) in (1..).zip(&row.changes) {
            let Some(change) = change.as_ref().filter(|change| change.verdict != Verdict::Same) else { continue };
            let parts: Vec<String> = worth_telling(row, change)
                .iter()
                .map(|cause| {
                    let attribution::CauseRow { terminal: colour, title: name, .. } = cause.cause.row();
                    let (from, to) = (number(cause.base), number(cause.other));
                    format!("{} {:+.2} ({from} to {to})", style.paint(colour, name), cause.absolute())
                })
                .collect();
            if parts.is_empty() {
                continue;
            }
            if !begun {
                let _ = writeln!(text, "why (us, in the median):");
                begun = true;
            }
            let which = if comparison.sides.len() > 2 { format!(" {}", letter(side)) } else { String::new() };
            let lines = format!("{}{which} {:+.2}: {}", row.key.row(), change.absolute, parts.join(", "));
            paragraph(text, &lines, ("  ", "      "), PLAIN, style);
        }
    }
}

/// What became longer or shorter on the critical path of the slowest CPU of a row's table, a line for each recording where that is told.
pub(crate) fn paths_in_words(comparison: &Comparison, head: &Row) -> Vec<String> {
    let of_table =
        |paths: &&TablePaths| (&*paths.variant, &*paths.case, &*paths.mode, &*paths.metric) == table_of(head);
    let Some(TablePaths { paths, .. }) = comparison.paths.iter().find(of_table) else { return Vec::new() };
    let Some((Some(base), others)) = paths.split_first() else { return Vec::new() };
    let mut lines = Vec::new();
    for (side, other) in (1..).zip(others) {
        let Some(other) = other else { continue };
        let (from, to) = (base.total(), other.total());
        let parts: Vec<String> = base
            .changes(other)
            .iter()
            .filter(|change| change.absolute().abs() >= least_told(from))
            .map(|change| {
                let (from, to) = (number(change.base), number(change.other));
                format!("{} {:+.2} ({from} to {to})", change.spent.title(), change.absolute())
            })
            .collect();
        if parts.is_empty() {
            continue;
        }
        let who = if base.who == other.who {
            base.who.to_string()
        } else {
            format!("{} in A, {} in {}", base.who, other.who, letter(side))
        };
        let which = if comparison.sides.len() > 2 { format!(" {}", letter(side)) } else { String::new() };
        let (change, from, to) = (to - from, number(from), number(to));
        lines.push(format!(
            "critical path of the slowest CPU ({who}){which} {change:+.2} us ({from} to {to}): {}",
            parts.join(", ")
        ));
    }
    lines
}

fn unmatched(text: &mut String, comparison: &Comparison, style: Style) {
    for (index, side) in comparison.sides.iter().enumerate() {
        let labels: Vec<String> =
            comparison.unmatched.iter().filter(|(other, _)| *other == index).map(|(_, key)| key.label()).collect();
        if let [first, rest @ ..] = labels.as_slice() {
            let more = if rest.is_empty() { String::new() } else { format!(" and {} more rows", rest.len()) };
            paragraph(
                text,
                &format!("only in {} ({}): {first}{more}", letter(index), side.name),
                ("", "  "),
                DIM,
                style,
            );
        }
    }
}

fn published_text(text: &mut String, published: &PublishedChanges, style: Style) {
    let title =
        format!("Published changes of {} that the published tables of {} do not give", published.other, published.base);
    let _ = writeln!(text, "{}", style.bold(&title));
    if !published.not_remade.is_empty() {
        let mut table = table(style);
        table.set_header(["row", "printed", "by label", "by role"]);
        let percent = |value: Option<f64>| right(value.map_or_else(String::new, |value| format!("{value:+.1} %")));
        for change in &published.not_remade {
            table.add_row(vec![
                Cell::new(&change.label),
                right(format!("{:+.2} %", change.printed)),
                percent(change.by_label),
                percent(change.by_role),
            ]);
        }
        let _ = writeln!(text, "{}", fitted(table, style));
    }
    let words = format!(
        "{} changes are printed, {} follow from the tables; {} figures changed by more than 2 % with nothing printed",
        published.printed, published.remade, published.silent
    );
    paragraph(text, &words, ("", "  "), DIM, style);
}

fn summary(text: &mut String, comparison: &Comparison, style: Style) {
    paragraph(text, &summary_in_words(comparison), ("", "  "), "1", style);
}

/// What the whole comes to, in a line.
pub(crate) fn summary_in_words(comparison: &Comparison) -> String {
    let count = |verdict| comparison.count(verdict);
    let parts = [
        (Verdict::Worse, "worse"),
        (Verdict::Better, "better"),
        (Verdict::Changed, "changed"),
        (Verdict::Small, "changed below the threshold"),
        (Verdict::Unclear, "unclear (~)"),
        (Verdict::Same, "unchanged"),
    ];
    let parts: Vec<_> =
        parts.iter().filter(|(v, _)| count(*v) > 0).map(|(v, words)| format!("{} {words}", count(*v))).collect();
    let total = comparison.changes().count();
    let verdict = if comparison.has_regression() { "regression" } else { "no regression" };
    format!("{verdict}: {} of {total} comparisons of a row", parts.join(", "))
}
