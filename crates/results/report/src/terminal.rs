//! `psci-latency` in the terminal.

use crate::grid::{BOLD, DIM, PLAIN, fitted, paragraph, right, table};
use crate::model::accuracy::Accuracy;
use crate::model::compared::{Compared, Spread};
use crate::model::figures::{CauseTable, FigureTable, Group, cpus, groups};
use crate::model::findings::Findings;
use crate::model::headline::headlines;
use crate::model::measures::measure_tables;
use crate::model::pictures::pictures;
use crate::picture_text::draw;
use crate::style::Style;
use crate::words::{GUESS, INTERVALS, ORDER_VARIES, case_title, guess, held, number, place as name};
use attribution::{Cause, CellResult};
use comfy_table::{Cell, Color};
use recording::{metrics, stats};
use std::fmt::Write;

/// A whole report: the tables of a PSCI recording, or the measures of another, with their source.
pub(crate) fn text(findings: &Findings<'_>, style: Style) -> String {
    let mut text = tables(findings, style);
    if findings.compared.is_empty() {
        let _ = writeln!(text, "{}", style.bold(&findings.recording.header.experiment));
        if let Some(told) = &findings.told {
            text.push_str(&told.text(style));
        }
        let tables = if findings.told.is_none() { measure_tables(&findings.measures) } else { Vec::new() };
        for measures in tables {
            let mut table = table(style);
            table.set_header(&measures.header);
            for row in measures.rows {
                let cells = row.into_iter().enumerate();
                table.add_row(cells.map(|(at, text)| if at < measures.names { Cell::new(text) } else { right(text) }));
            }
            let _ = writeln!(text, "{}\n{}", style.bold(&measures.title), fitted(table, style));
            if let Some(note) = measures.note {
                paragraph(&mut text, &note, ("", "  "), DIM, style);
            }
        }
    }
    for picture in pictures(findings) {
        draw(&mut text, &picture, style);
    }
    if let Some(warning) = findings.what_if() {
        let _ = writeln!(text, "{warning}");
    }
    for doubt in findings.doubts() {
        paragraph(&mut text, &doubt, ("", "  "), BOLD, style);
    }
    for (what, fact) in findings.source() {
        paragraph(&mut text, &format!("{what}: {fact}"), ("", "  "), DIM, style);
    }
    text
}

/// Answers, tables, causes and accuracy of PSCI latencies, for people.
pub(crate) fn tables(findings: &Findings<'_>, style: Style) -> String {
    let simulated = findings.is_simulated();
    let mut text = String::new();
    for group in groups(&findings.compared) {
        let _ = writeln!(text, "{}", style.bold(&title(&group)));
        for headline in headlines(findings, &group) {
            paragraph(&mut text, &headline.text, ("", "  "), PLAIN, style);
        }
        figures(&mut text, &group, simulated, style);
        why(&mut text, &group, style);
        for spread in findings
            .spreads
            .iter()
            .filter(|spread| spread.variant == group.release && spread.case == group.case && group.mode == "parallel")
        {
            free_running(&mut text, spread, style);
        }
    }
    if !findings.accuracy.is_empty() {
        summary(&mut text, &findings.accuracy, style);
    }
    text
}

fn title(group: &Group<'_>) -> String {
    format!("{}: {}, {}", group.release, case_title(group.case), group.mode)
}

/// Of more CPUs than these a table has a row for each role.
const MOST_CPUS: usize = 64;

/// So many of these CPUs have bars: those that went last.
const LAST_CPUS: usize = 8;

/// Of more waits than these the first are told.
const MOST_WAITS: usize = 8;

fn figures(text: &mut String, group: &Group<'_>, simulated: bool, style: Style) {
    let figures = FigureTable::of(group);
    let word = if simulated { "sim." } else { "rec." };
    if figures.rows.len() > MOST_CPUS {
        return roles(text, &figures, word, style);
    }
    let mut table = table(style);
    let mut header = vec!["CPU".to_owned(), "role".to_owned()];
    for name in figures.metrics.iter().map(|metric| metric.short_title) {
        if figures.has_published {
            header.extend([format!("{name}\npubl."), format!("{name}\n{word}"), format!("{name}\nerror")]);
        } else {
            header.push(format!("{name}\n{word}"));
        }
    }
    table.set_header(header);
    for row in figures.rows {
        let mut cells = vec![Cell::new(row.name), Cell::new(row.role)];
        for cell in row.figures {
            let value = cell.map_or_else(String::new, |cell| number(cell.recorded.value));
            if figures.has_published {
                let published = cell.and_then(|cell| cell.published.as_ref());
                cells.push(right(published.map_or_else(|| "-".to_owned(), |published| number(published.value_us))));
                cells.push(right(value));
                cells.push(cell.map_or_else(|| right(String::new()), |cell| error(cell, style)));
            } else {
                cells.push(right(value));
            }
        }
        table.add_row(cells);
    }
    let _ = writeln!(text, "{}", fitted(table, style));
    let shortened = metrics::intervals().filter(|metric| metrics::heading(metric.name) != metric.short_title);
    let words = shortened.map(|metric| format!("{}: {}", metric.short_title, metrics::heading(metric.name)));
    let mut note = format!("us; {}", words.collect::<Vec<_>>().join(", "));
    if figures.has_published && simulated {
        note.push_str("; * used in the fit, all others are predictions");
    }
    paragraph(text, &note, ("", "  "), DIM, style);
    if figures.order_varies {
        paragraph(text, ORDER_VARIES, ("", "  "), DIM, style);
    }
}

/// A row for each role: the median of its CPUs, from the least to the most.
fn roles(text: &mut String, figures: &FigureTable<'_>, word: &str, style: Style) {
    let mut table = table(style);
    let columns = figures.metrics.iter().map(|metric| format!("{}\n{word}", metric.short_title));
    table.set_header(["role", "CPUs"].map(str::to_owned).into_iter().chain(columns));
    let mut roles: Vec<(&str, Vec<_>)> = Vec::new();
    for row in &figures.rows {
        match roles.iter_mut().find(|(role, _)| *role == row.role) {
            Some((_, rows)) => rows.push(row),
            None => roles.push((&row.role, vec![row])),
        }
    }
    for (role, rows) in roles {
        let mut cells = vec![Cell::new(role), right(rows.len().to_string())];
        for column in 0..figures.metrics.len() {
            let mut values: Vec<f64> =
                rows.iter().filter_map(|row| Some(row.figures[column]?.recorded.value)).collect();
            values.sort_by(f64::total_cmp);
            let range = values.first().zip(stats::median(&values)).zip(values.last());
            cells.push(right(range.map_or_else(String::new, |((least, median), most)| {
                format!("{} ({} to {})", number(median), number(*least), number(*most))
            })));
        }
        table.add_row(cells);
    }
    let _ = writeln!(text, "{}", fitted(table, style));
    let note = format!(
        "us; medians of {} CPUs, from the least to the most; other formats have a row for each CPU",
        figures.rows.len()
    );
    paragraph(text, &note, ("", "  "), DIM, style);
}

fn error(cell: &Compared, style: Style) -> Cell {
    let Some(error) = cell.error_percent() else { return right("-".to_owned()) };
    let mark = if cell.used_in_fit() { "*" } else { " " };
    let cell_text = right(format!("{error:+.1}%{mark}"));
    if !style.colour {
        return cell_text;
    }
    match error.abs() {
        _ if cell.used_in_fit() => cell_text.fg(Color::DarkGrey),
        small if small <= 3.0 => cell_text.fg(Color::Green),
        middle if middle <= 10.0 => cell_text.fg(Color::Yellow),
        _ => cell_text.fg(Color::Red),
    }
}

/// A blank at which no line is broken.
const FIRM: &str = "\u{a0}";

fn why(text: &mut String, group: &Group<'_>, style: Style) {
    for metric in [metrics::POWERDOWN.name, metrics::WAKEUP.name] {
        let cpus = cpus(group).len();
        let most = if cpus > MOST_CPUS { LAST_CPUS } else { cpus };
        let Some(CauseTable { causes, rows }) = CauseTable::of(group, metric, most) else { continue };
        let longest = rows.iter().map(|row| row.cell.recorded.value).fold(0.0, f64::max);
        if longest <= 0.0 {
            continue;
        }
        let legend: Vec<_> = causes
            .iter()
            .map(|cause| {
                let row = cause.row();
                format!("{} {}", style.paint(row.terminal, &row.letter.to_string()), row.title)
            })
            .collect();
        let of = if most < cpus { format!(", the last {most} of {cpus} CPUs") } else { String::new() };
        let legend = format!("why, {metric} (us){of}: {}", legend.join(", "));
        paragraph(text, &legend, ("", "  "), PLAIN, style);
        // As wide as leaves room for the figures; where there is none, the figures stand below.
        let room = style.width.clamp(40, 120);
        let width = if room < 76 { room - 12 } else { room - 56 };
        for row in rows {
            let cell = &row.cell.recorded;
            let bar = bar(cell, &causes, longest, width, style);
            let parts = causes.iter().zip(row.parts);
            let parts = parts.filter_map(|(cause, us)| Some(format!("{} {}", cause.row().letter, number(us?))));
            // A letter and its figure stay on one line: the blank between them is none while lines are broken.
            let parts: Vec<_> = parts.map(|part| part.replace(' ', FIRM)).collect();
            let (mut first, mut more) = (format!("  {:>4} {bar} ", row.name), " ".repeat(width + 10));
            if room < 76 {
                let _ = writeln!(text, "{}", first.trim_end());
                (first, more) = (" ".repeat(7), " ".repeat(7));
            }
            let mut lines = String::new();
            paragraph(&mut lines, &parts.join(&format!(" {FIRM}")), (&first, &more), PLAIN, style);
            text.push_str(&lines.replace(FIRM, " "));
            let mut waits: Vec<_> = cell
                .split
                .waits
                .iter()
                .filter(|wait| wait.ticks as f64 * cell.tick_us >= 0.02 * cell.value.max(50.0))
                .map(|wait| {
                    let microseconds = number(wait.ticks as f64 * cell.tick_us);
                    let (before, after) = wait.cause.row().waited;
                    format!("{microseconds} {before}{}{after}", group_name(group, wait.holder))
                })
                .collect();
            if waits.len() > MOST_WAITS {
                let more = waits.len() - MOST_WAITS + 1;
                waits.truncate(MOST_WAITS - 1);
                waits.push(format!("and {more} more"));
            }
            if !waits.is_empty() {
                paragraph(text, &format!("waits {}", waits.join(", ")), ("       ", "         "), DIM, style);
            }
        }
    }
    let _ = writeln!(text);
}

/// A CPU's bar, `width` columns wide; every cause that took more than half a column has one.
fn bar(cell: &CellResult, causes: &[Cause], longest: f64, width: usize, style: Style) -> String {
    let mut bar = String::new();
    let mut drawn = 0;
    let mut reached = 0.0;
    for cause in causes {
        let Some(&ticks) = cell.split.causes.get(cause) else { continue };
        reached += ticks as f64 * cell.tick_us;
        // Causes are counted in ticks and the span is a measure: in a recording of somebody else they need not agree.
        let end = (((reached / longest) * width as f64).round() as usize).min(width);
        let row = cause.row();
        let part: String = std::iter::repeat_n(row.letter, end.saturating_sub(drawn)).collect();
        if !part.is_empty() {
            bar.push_str(&style.paint(row.terminal, &part));
        }
        drawn = drawn.max(end);
    }
    bar.extend(std::iter::repeat_n(' ', width.saturating_sub(drawn)));
    format!("|{bar}|")
}

fn free_running(text: &mut String, spread: &Spread, style: Style) {
    let ranks: Vec<_> = spread
        .by_rank
        .iter()
        .map(|&(min, median, max)| format!("{} ({}..{})", number(median), number(min), number(max)))
        .collect();
    let line = format!(
        "free order, {} seeds, {} different orders; powerdown of the n-th CPU, median (min..max): {}",
        spread.seeds,
        spread.orders,
        ranks.join(", ")
    );
    paragraph(text, &line, ("", "  "), DIM, style);
    let _ = writeln!(text);
}

fn summary(text: &mut String, accuracy: &[Accuracy], style: Style) {
    let mut table = table(style);
    table.set_header([
        "release",
        "predicted cells of the parallel tables",
        "cells",
        "median |error|",
        "within 10 % or 1 us",
        "worst",
        "guess: median, worst",
        "hold: model, guess; width",
    ]);
    for row in accuracy {
        let model = row.model;
        table.add_row(vec![
            Cell::new(&row.release),
            Cell::new(row.what),
            right(model.cells.to_string()),
            right(format!("{:.1} %", model.median_percent)),
            right(format!("{} of {}", model.within, model.cells)),
            right(format!("{:.1} %", model.worst_percent)),
            right(guess(row)),
            right(held(row)),
        ]);
    }
    let _ = writeln!(text, "{}", style.bold("Accuracy of predictions"));
    let _ = writeln!(text, "{}", fitted(table, style));
    if accuracy.iter().any(|row| row.guess.is_some()) {
        paragraph(text, GUESS, ("", "  "), DIM, style);
    }
    if accuracy.iter().any(|row| row.intervals.is_some()) {
        paragraph(text, INTERVALS, ("", "  "), DIM, style);
    }
}

/// A CPU by its name in the tables.
fn group_name(group: &Group<'_>, cpu: u16) -> String {
    let found = group.cells.iter().find(|cell| cell.recorded.cpu == cpu);
    found.map_or_else(|| format!("CPU {cpu}"), |cell| name(&cell.recorded))
}
