//! reStructuredText: the documents' own tables, ready to paste.
//!
//! Two layouts, as the documents have them: the 2017 one (a row per CPU by number, whole microseconds) and that of the later
//! releases (a row per CPU by cluster and core, the counter's digits).

use crate::model::figures::{Group, columns, cpus, groups, value_of};
use crate::model::findings::Findings;
use crate::model::measures::measure_tables;
use crate::model::told::Block;
use published::Layout;
use recording::metrics::{CACHE_FLUSH, LATENCY, POWERDOWN, WAKEUP};
use std::fmt::Write;

/// All tables. What they come from is a comment at the head, which a document does not show.
pub(crate) fn rst(findings: &Findings<'_>) -> String {
    let mut text = String::from("..\n");
    for (what, fact) in findings.source() {
        let _ = writeln!(text, "    {what}: {}", fact.replace('\n', " "));
    }
    for group in groups(&findings.compared) {
        text.push('\n');
        match findings.layout(group.release) {
            Layout::Cpu => by_number(&mut text, &group),
            Layout::ClusterCore => by_cluster(&mut text, &group),
        }
    }
    if let Some(told) = &findings.told {
        told.blocks().iter().for_each(|block| story(&mut text, block));
    } else if !findings.measures.is_empty() && findings.compared.is_empty() {
        measures(&mut text, findings);
    }
    text
}

/// A CPU's row: its key cells, then a value a column.
fn by_number(text: &mut String, group: &Group<'_>) {
    let title = match (group.case, group.mode) {
        ("suspend-deepest", "serial") => "``CPU_SUSPEND`` to deepest power level on all CPUs in sequence".to_owned(),
        ("suspend-deepest", _) => "``CPU_SUSPEND`` to deepest power level on all CPUs in parallel".to_owned(),
        ("suspend-level0", "serial") => "``CPU_SUSPEND`` to power level 0 on all CPUs in sequence".to_owned(),
        ("suspend-level0", _) => "``CPU_SUSPEND`` to power level 0 on all CPUs in parallel".to_owned(),
        ("cpu-off", _) => {
            "``CPU_OFF`` on all non-lead CPUs in sequence then ``CPU_SUSPEND`` on lead CPU to deepest power level"
                .to_owned()
        }
        ("psci-version", _) => "``PSCI_VERSION`` on all CPUs in parallel".to_owned(),
        (case, mode) => format!("{case}, {mode}"),
    };
    let _ = writeln!(text, "{title}\n{}\n", "~".repeat(title.chars().count()));
    let mut header = vec!["CPU  ".to_owned()];
    for (metric, _) in columns(group) {
        header.push(match metric {
            _ if metric == POWERDOWN.name => "``PSCI_ENTRY`` (us)".to_owned(),
            _ if metric == WAKEUP.name => "``PSCI_EXIT`` (us)".to_owned(),
            _ if metric == CACHE_FLUSH.name => "``CFLUSH_OVERHEAD`` (us)".to_owned(),
            _ => "TOTAL TIME (ns)  ".to_owned(),
        });
    }
    let mut numbers: Vec<u16> = cpus(group).iter().map(|cell| cell.recorded.cpu).collect();
    numbers.sort_unstable();
    let rows: Vec<Vec<String>> = numbers
        .into_iter()
        .map(|cpu| {
            let values = columns(group).into_iter().map(|(metric, _)| {
                let value = value_of(group, cpu, metric);
                // Nanoseconds for the one call that takes no microseconds.
                value
                    .map_or_else(String::new, |us| format!("{:.0}", if metric == LATENCY.name { us * 1e3 } else { us }))
            });
            std::iter::once(cpu.to_string()).chain(values).collect()
        })
        .collect();
    text.push_str(&grid(&header, &rows, '=', ""));
}

fn by_cluster(text: &mut String, group: &Group<'_>) {
    let release = label(group.release);
    let title = match group.case {
        "suspend-deepest" => {
            format!("``CPU_SUSPEND`` latencies (µs) to deepest power level in\n        {} ({release})", group.mode)
        }
        "suspend-level0" => {
            format!("``CPU_SUSPEND`` latencies (µs) to power level 0 in\n        {} ({release})", group.mode)
        }
        "cpu-off" => format!("``CPU_OFF`` latencies (µs) on all non-lead CPUs ({release})"),
        "psci-version" => format!("``PSCI_VERSION`` latency (µs) in {} on all cores ({release})", group.mode),
        other => format!("{other} (µs) in {} ({release})", group.mode),
    };
    let _ = writeln!(text, ".. table:: {title}\n");
    let mut header = vec!["Cluster".to_owned(), "Core".to_owned()];
    header.extend(columns(group).into_iter().map(|(_, heading)| heading));
    let mut cells = cpus(group);
    cells.sort_by_key(|cell| (cell.recorded.cluster, cell.recorded.core));
    let rows: Vec<Vec<String>> = cells
        .into_iter()
        .map(|cell| {
            let recorded = &cell.recorded;
            let mut row = vec![recorded.cluster.to_string(), recorded.core.to_string()];
            row.extend(
                columns(group)
                    .into_iter()
                    .map(|(metric, _)| value_of(group, recorded.cpu, metric).map_or_else(String::new, plain)),
            );
            row
        })
        .collect();
    text.push_str(&grid(&header, &rows, '-', "    "));
}

/// A release as the documents write it: `v2.12` for `juno-v2.12`.
fn label(release: &str) -> &str {
    release.split_once('-').map_or(release, |(_, rest)| rest)
}

/// At most two decimals and at least one: 416.1, 27.0, 5.54.
fn plain(value: f64) -> String {
    let text = format!("{value:.2}");
    text.strip_suffix('0').map_or_else(|| text.clone(), str::to_owned)
}

fn measures(text: &mut String, findings: &Findings<'_>) {
    for table in measure_tables(&findings.measures) {
        let note = table.note.map_or_else(String::new, |note| format!("; {note}"));
        let _ = writeln!(text, "\n.. table:: {}{note}\n", table.title);
        text.push_str(&grid(&table.header, &table.rows, '=', "    "));
    }
}

/// A part of what the experiment's own tables say.
fn story(text: &mut String, block: &Block) {
    text.push('\n');
    match block {
        Block::Paragraph(words) => {
            let _ = writeln!(text, "{words}");
        }
        Block::List(items) => items.iter().for_each(|item| {
            let _ = writeln!(text, "- {item}");
        }),
        Block::Preformatted(lines) => {
            text.push_str("::\n\n");
            lines.iter().for_each(|line| {
                let _ = writeln!(text, "    {line}");
            });
        }
        Block::Table { header, rows, .. } => text.push_str(&grid(header, rows, '=', "")),
    }
}

/// A grid table; every column as wide as its widest cell.
fn grid(header: &[String], rows: &[Vec<String>], below_header: char, indent: &str) -> String {
    let width = |text: &str| text.chars().count();
    let widths: Vec<usize> = (0..header.len())
        .map(|column| rows.iter().map(|row| width(&row[column])).chain([width(&header[column])]).max().unwrap_or(0))
        .collect();
    let rule = |with: char| {
        let parts: Vec<String> = widths.iter().map(|&width| with.to_string().repeat(width + 2)).collect();
        format!("{indent}+{}+\n", parts.join("+"))
    };
    let line = |cells: &[String]| {
        let parts: Vec<String> = cells
            .iter()
            .zip(&widths)
            .map(|(cell, &column)| format!(" {}{} ", cell.replace('\n', " "), " ".repeat(column - width(cell))))
            .collect();
        format!("{indent}|{}|\n", parts.join("|"))
    };
    let mut text = rule('-') + &line(header) + &rule(below_header);
    for row in rows {
        text.push_str(&line(row));
        text.push_str(&rule('-'));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grid_is_as_wide_as_its_widest_cell() {
        let rows = vec![vec!["0".to_owned(), "20.6 (-36.10%)".to_owned()]];
        let text = grid(&["Core".to_owned(), "Wakeup".to_owned()], &rows, '-', "");
        let expected = "\
+------+----------------+
| Core | Wakeup         |
+------+----------------+
| 0    | 20.6 (-36.10%) |
+------+----------------+
";
        assert_eq!(text, expected);
    }

    #[test]
    fn figures_have_the_documents_digits() {
        assert_eq!([plain(244.52), plain(416.1), plain(27.0), plain(100.04)], ["244.52", "416.1", "27.0", "100.04"]);
    }

    #[test]
    fn a_release_is_written_as_in_the_documents() {
        assert_eq!(label("juno-v2.12"), "v2.12");
        assert_eq!(label("mine"), "mine");
    }
}
