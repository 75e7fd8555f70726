//! The tables of PSCI latencies as the published documents lay them out.
//!
//! There are two layouts: that of 2017 (a row per CPU by number, whole microseconds) and that of
//! the later releases (a row per CPU by cluster and core, the counter's digits).

use super::figures::{Group, columns, cpus, groups, value_of};
use crate::blocks::{Block, Cell, Column, Table, Text, code, text};
use findings::Findings;
use published::Layout;
use recording::metrics::{CACHE_FLUSH, LATENCY, POWERDOWN, WAKEUP};

/// A table for each case, in the layout of its release's document.
pub(crate) fn document_tables(findings: &Findings<'_>) -> Vec<Block> {
    let table = |group: &Group<'_>| match findings.layout(group.release) {
        Layout::Cpu => by_number(group),
        Layout::ClusterCore => vec![by_cluster(group)],
    };
    groups(findings.compared()).iter().flat_map(table).collect()
}

/// A CPU's row: its number, then a value per column.
fn by_number(group: &Group<'_>) -> Vec<Block> {
    let title = match (group.case, group.mode) {
        ("suspend-deepest", "serial") => text![
            code("CPU_SUSPEND"),
            " to deepest power level on all CPUs in sequence"
        ],
        ("suspend-deepest", _) => text![
            code("CPU_SUSPEND"),
            " to deepest power level on all CPUs in parallel"
        ],
        ("suspend-level0", "serial") => text![
            code("CPU_SUSPEND"),
            " to power level 0 on all CPUs in sequence"
        ],
        ("suspend-level0", _) => text![
            code("CPU_SUSPEND"),
            " to power level 0 on all CPUs in parallel"
        ],
        ("cpu-off", _) => {
            let rest = " on lead CPU to deepest power level";
            text![
                code("CPU_OFF"),
                " on all non-lead CPUs in sequence then ",
                code("CPU_SUSPEND"),
                rest
            ]
        }
        ("psci-version", _) => text![code("PSCI_VERSION"), " on all CPUs in parallel"],
        (case, mode) => Text::from(format!("{case}, {mode}")),
    };
    let heading = |metric: &str| match metric {
        _ if metric == POWERDOWN.name => "``PSCI_ENTRY`` (us)",
        _ if metric == WAKEUP.name => "``PSCI_EXIT`` (us)",
        _ if metric == CACHE_FLUSH.name => "``CFLUSH_OVERHEAD`` (us)",
        _ => "TOTAL TIME (ns)  ",
    };
    let mut numbers: Vec<u16> = cpus(group).iter().map(|cell| cell.recorded.cpu).collect();
    numbers.sort_unstable();
    let table = Table::with_rows(&numbers).words("CPU  ", |cpu| cpu.to_string());
    let table = table.each(columns(group), |table, (metric, _)| {
        table.words(heading(metric), move |&cpu| {
            // Nanoseconds for the one call that takes no microseconds.
            let scale = if metric == LATENCY.name { 1e3 } else { 1.0 };
            value_of(group, cpu, metric).map(|us| format!("{:.0}", us * scale))
        })
    });
    vec![Block::heading(2, title), Block::Table(table.done())]
}

/// A CPU's row: its cluster and its core, then a value per column. The documents have the headings
/// as the first row of a table without a header.
fn by_cluster(group: &Group<'_>) -> Block {
    let release = label(group.release);
    let mode = group.mode;
    let title = match group.case {
        "suspend-deepest" => {
            let rest =
                format!(" latencies (µs) to deepest power level in\n        {mode} ({release})");
            text![code("CPU_SUSPEND"), rest]
        }
        "suspend-level0" => {
            let rest = format!(" latencies (µs) to power level 0 in\n        {mode} ({release})");
            text![code("CPU_SUSPEND"), rest]
        }
        "cpu-off" => text![
            code("CPU_OFF"),
            format!(" latencies (µs) on all non-lead CPUs ({release})")
        ],
        "psci-version" => text![
            code("PSCI_VERSION"),
            format!(" latency (µs) in {mode} on all cores ({release})")
        ],
        other => Text::from(format!("{other} (µs) in {mode} ({release})")),
    };
    let columns = columns(group);
    let headings = ["Cluster", "Core"]
        .into_iter()
        .chain(columns.iter().map(|(_, heading)| heading.as_str()));
    let mut rows = vec![headings.map(Cell::from).collect::<Vec<_>>()];
    let mut cells = cpus(group);
    cells.sort_by_key(|cell| (cell.recorded.cluster, cell.recorded.core));
    for cell in cells {
        let recorded = &cell.recorded;
        let mut row: Vec<Cell> = [recorded.cluster.to_string(), recorded.core.to_string()]
            .map(Cell::from)
            .into();
        row.extend(
            columns
                .iter()
                .map(|(metric, _)| Cell::from(value_of(group, recorded.cpu, metric).map(plain))),
        );
        rows.push(row);
    }
    let columns = vec![Column::default(); rows[0].len()];
    Block::Table(Table {
        title,
        columns,
        rows,
        ..Table::default()
    })
}

/// A release as the documents write it: `v2.12` for `juno-v2.12`.
fn label(release: &str) -> &str {
    release.find('-').map_or(release, |at| &release[at + 1..])
}

/// The value with at most two decimals and at least one: 416.1, 27.0, 5.54.
fn plain(value: f64) -> String {
    let text = format!("{value:.2}");
    text.strip_suffix('0')
        .map_or_else(|| text.clone(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_the_documents_digits() {
        assert_eq!(
            [plain(244.52), plain(416.1), plain(27.0), plain(100.04)],
            ["244.52", "416.1", "27.0", "100.04"]
        );
    }

    #[test]
    fn a_release_is_written_as_in_the_documents() {
        assert_eq!(label("juno-v2.12"), "v2.12");
        assert_eq!(label("mine"), "mine");
    }
}
