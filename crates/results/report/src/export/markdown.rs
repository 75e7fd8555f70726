//! Markdown: tables as GitHub and most others read them.

use crate::model::figures::{CauseTable, FigureTable, Group, groups, whole_metrics};
use crate::model::findings::Findings;
use crate::model::findings::MeasureRow;
use crate::model::headline::headlines;
use crate::model::measures::measure_tables;
use crate::model::told::Block;
use crate::words::{GUESS, INTERVALS, ORDER_VARIES, capital, case_title, guess, held, number};
use recording::metrics;
use std::fmt::Write;

/// All tables, with their source, published figures and causes.
pub(crate) fn markdown(findings: &Findings<'_>) -> String {
    let mut text = format!("# {}\n\n", findings.recording.header.experiment);
    for (what, fact) in findings.source() {
        let _ = writeln!(text, "- {what}: {}", if what == "command" { format!("`{fact}`") } else { escape(&fact) });
    }
    if let Some(warning) = findings.what_if() {
        let _ = writeln!(text, "\n**{warning}**");
    }
    for doubt in findings.doubts() {
        let _ = writeln!(text, "\n**{}**", escape(&doubt));
    }
    if let Some(told) = &findings.told {
        for block in told.blocks() {
            story(&mut text, &block);
        }
        return text;
    }
    for group in groups(&findings.compared) {
        let _ = writeln!(text, "\n## {}: {}, {}\n", group.release, case_title(group.case), group.mode);
        for headline in headlines(findings, &group) {
            let _ = writeln!(text, "**{}**\n", escape(&headline.text));
        }
        figures(&mut text, &group, findings);
        causes(&mut text, &group);
    }
    if !findings.accuracy.is_empty() {
        text.push_str("\n## Accuracy of predictions\n\n");
        text.push_str("| release | predicted cells of the parallel tables | cells | median error | within 10 % or 1 us | worst | guess: median, worst | hold: model, guess; width |\n");
        text.push_str("|---|---|--:|--:|--:|--:|--:|--:|\n");
        for row in &findings.accuracy {
            let _ = writeln!(
                text,
                "| {} | {} | {} | {:.1} % | {} of {} | {:.1} % | {} | {} |",
                row.release,
                row.what,
                row.model.cells,
                row.model.median_percent,
                row.model.within,
                row.model.cells,
                row.model.worst_percent,
                guess(row),
                held(row)
            );
        }
        if findings.accuracy.iter().any(|row| row.guess.is_some()) {
            let _ = writeln!(text, "\n{}.", capital(GUESS));
        }
        if findings.accuracy.iter().any(|row| row.intervals.is_some()) {
            let _ = writeln!(text, "\n{INTERVALS}.");
        }
    }
    if !findings.measures.is_empty() {
        measures(&mut text, &findings.measures);
    }
    text
}

fn figures(text: &mut String, group: &Group<'_>, findings: &Findings<'_>) {
    let recorded_word = findings.recorded_word();
    let FigureTable { metrics, has_published: published, rows, order_varies } = FigureTable::of(group);
    text.push_str("| CPU | role |");
    for metric in &metrics {
        let heading = metrics::heading(metric.name);
        let _ = match published {
            true => write!(text, " {heading}, published (us) | {heading}, {recorded_word} (us) | error |"),
            false => write!(text, " {heading} (us) |"),
        };
    }
    text.push_str("\n|---|---|");
    text.push_str(&"--:|".repeat(metrics.len() * if published { 3 } else { 1 }));
    text.push('\n');
    for row in rows {
        let _ = write!(text, "| {} | {} |", row.name, row.role);
        for cell in row.figures {
            let value = cell.map_or_else(String::new, |cell| number(cell.recorded.value));
            if published {
                let figure = cell.and_then(|cell| cell.published.as_ref());
                let error = cell.and_then(|cell| {
                    Some(format!("{:+.1} %{}", cell.error_percent()?, if cell.used_in_fit() { "\\*" } else { "" }))
                });
                let figure = figure.map_or_else(|| "-".to_owned(), |figure| number(figure.value_us));
                let _ = write!(text, " {figure} | {value} | {} |", error.unwrap_or_else(|| "-".to_owned()));
            } else {
                let _ = write!(text, " {value} |");
            }
        }
        text.push('\n');
    }
    if published && findings.is_simulated() {
        text.push_str("\n\\* used in the fit; all others are predictions.\n");
    }
    if order_varies {
        let _ = writeln!(text, "\n{ORDER_VARIES}.");
    }
}

fn causes(text: &mut String, group: &Group<'_>) {
    for metric in whole_metrics(group) {
        let Some(table) = CauseTable::of(group, metric.name, usize::MAX) else { continue };
        let _ = writeln!(text, "\nWhere the {} went (us):\n", metrics::heading(metric.name));
        let names: Vec<_> = table.causes.iter().map(|cause| cause.title()).collect();
        let _ = writeln!(text, "| CPU | {} |", names.join(" | "));
        let _ = writeln!(text, "|---|{}", "--:|".repeat(names.len()));
        for row in table.rows {
            let parts: Vec<_> = row.parts.iter().map(|part| part.map_or_else(String::new, number)).collect();
            let _ = writeln!(text, "| {} | {} |", row.name, parts.join(" | "));
        }
    }
}

fn measures(text: &mut String, rows: &[MeasureRow]) {
    text.push_str("\n## Measures\n");
    for table in measure_tables(rows) {
        let line = |cells: &[String]| cells.iter().map(|cell| escape(cell)).collect::<Vec<_>>().join(" | ");
        let _ = writeln!(text, "\n### {}\n\n| {} |", escape(&table.title), line(&table.header));
        let figures = table.header.len() - table.names;
        let _ = writeln!(text, "|{}{}", "---|".repeat(table.names), "--:|".repeat(figures));
        for row in &table.rows {
            let _ = writeln!(text, "| {} |", line(row));
        }
        if let Some(note) = &table.note {
            let _ = writeln!(text, "\n{note}");
        }
    }
}

/// A part of what the experiment's own tables say.
fn story(text: &mut String, block: &Block) {
    text.push('\n');
    match block {
        Block::Paragraph(words) => {
            let _ = writeln!(text, "{}", escape(words));
        }
        Block::List(items) => items.iter().for_each(|item| {
            let _ = writeln!(text, "- {}", escape(item));
        }),
        // Indented by four, it is shown as it is.
        Block::Preformatted(lines) => lines.iter().for_each(|line| {
            let _ = writeln!(text, "    {line}");
        }),
        Block::Table { header, rows, figures } => {
            let line = |cells: &[String]| cells.iter().map(|cell| escape(cell)).collect::<Vec<_>>().join(" | ");
            let _ = writeln!(text, "| {} |", line(header));
            let rules = figures.iter().map(|figure| if *figure { "--:|" } else { "---|" });
            let _ = writeln!(text, "|{}", rules.collect::<String>());
            rows.iter().for_each(|row| {
                let _ = writeln!(text, "| {} |", line(row));
            });
        }
    }
}

/// What would end a cell or begin a style is shown as it is.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '|' | '*' | '_' | '`' | '<' | '\\' => escaped.extend(['\\', character]),
            '\n' | '\r' => escaped.push(' '),
            other => escaped.push(other),
        }
    }
    escaped
}
