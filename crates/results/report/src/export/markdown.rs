//! Markdown: tables as GitHub and most others read them.

use super::columns;
use crate::Document;
use crate::document::MeasureRow;
use crate::measure_table::measure_tables;
use crate::terminal::{Group, cell_of, cpus, groups, order_varies, short_role};
use crate::words::{ORDER_VARIES, case_title, number, place};
use attribution::Cause;
use std::fmt::Write;

/// All tables, with their source, published figures and causes.
pub(crate) fn markdown(document: &Document<'_>) -> String {
    let mut text = format!("# {}\n\n", document.recording.header.experiment);
    for (what, fact) in document.source() {
        let _ = writeln!(text, "- {what}: {}", if what == "command" { format!("`{fact}`") } else { escape(&fact) });
    }
    if let Some(warning) = document.what_if() {
        let _ = writeln!(text, "\n**{warning}**");
    }
    for group in groups(&document.compared) {
        let _ = writeln!(text, "\n## {}: {}, {}\n", group.release, case_title(group.case), group.mode);
        figures(&mut text, &group, document);
        causes(&mut text, &group);
    }
    if !document.accuracy.is_empty() {
        text.push_str("\n## Accuracy of predictions\n\n");
        text.push_str("| release | predicted cells of the parallel tables | cells | median error | within 10 % or 1 us | worst |\n");
        text.push_str("|---|---|--:|--:|--:|--:|\n");
        for row in &document.accuracy {
            let _ = writeln!(
                text,
                "| {} | {} | {} | {:.1} % | {} of {} | {:.1} % |",
                row.release, row.what, row.cells, row.median_percent, row.within, row.cells, row.worst_percent
            );
        }
    }
    if !document.others.is_empty() {
        measures(&mut text, &document.others);
    }
    text
}

fn figures(text: &mut String, group: &Group<'_>, document: &Document<'_>) {
    let recorded_word = document.recorded_word();
    let columns = columns(group);
    let published = group.cells.iter().any(|cell| cell.published.is_some());
    text.push_str("| CPU | role |");
    for (_, heading) in &columns {
        let heading = heading.to_lowercase();
        let _ = match published {
            true => write!(text, " {heading}, published (us) | {heading}, {recorded_word} (us) | error |"),
            false => write!(text, " {heading} (us) |"),
        };
    }
    text.push_str("\n|---|---|");
    text.push_str(&"--:|".repeat(columns.len() * if published { 3 } else { 1 }));
    text.push('\n');
    for cpu in cpus(group) {
        let _ = write!(text, "| {} | {} |", place(&cpu.recorded), short_role(cpu));
        for (metric, _) in &columns {
            let cell = cell_of(group, cpu.recorded.cpu, metric);
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
    if published && document.is_simulated() {
        text.push_str("\n\\* used in the fit; all others are predictions.\n");
    }
    if order_varies(group) {
        let _ = writeln!(text, "\n{ORDER_VARIES}.");
    }
}

fn causes(text: &mut String, group: &Group<'_>) {
    for (metric, heading) in columns(group) {
        let cells: Vec<_> =
            cpus(group).into_iter().filter_map(|cpu| cell_of(group, cpu.recorded.cpu, metric)).collect();
        let used: Vec<_> = Cause::ALL
            .into_iter()
            .filter(|cause| cells.iter().any(|cell| cell.recorded.split.causes.contains_key(cause)))
            .collect();
        if used.is_empty() || metric == recording::metrics::CACHE_FLUSH.name {
            continue;
        }
        let _ = writeln!(text, "\nWhere the {} went (us):\n", heading.to_lowercase());
        let names: Vec<_> = used.iter().map(|&cause| cause.title()).collect();
        let _ = writeln!(text, "| CPU | {} |", names.join(" | "));
        let _ = writeln!(text, "|---|{}", "--:|".repeat(used.len()));
        for cell in cells {
            let parts: Vec<_> = used
                .iter()
                .map(|cause| {
                    let ticks = cell.recorded.split.causes.get(cause);
                    ticks.map_or_else(String::new, |&ticks| number(ticks as f64 * cell.recorded.tick_us))
                })
                .collect();
            let _ = writeln!(text, "| {} | {} |", place(&cell.recorded), parts.join(" | "));
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
