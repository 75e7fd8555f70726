//! The cells of PSCI latencies as one table, a row for each, for programs.

use crate::blocks::{Table, fixed, whole};
use crate::words::place;
use attribution::Cause;
use findings::Findings;
use itertools::Itertools;
use recording::stats::to_millionths;

/// The cells with published figures, causes and waits.
///
/// Columns of causes end in `_us` and add up to `recorded`.
pub fn cells(findings: &Findings<'_>) -> Table {
    let exact = |value: f64| whole(to_millionths(value));
    let name = |cpu: u16| {
        let holder = findings
            .compared()
            .iter()
            .find(|other| other.recorded.cpu == cpu);
        holder.map_or_else(|| format!("CPU {cpu}"), |holder| place(&holder.recorded))
    };
    Table::with_rows(findings.compared())
        .words("release", |cell| &cell.recorded.variant)
        .words("case", |cell| &cell.recorded.case)
        .words("mode", |cell| &cell.recorded.mode)
        .numbers("cpu", |cell| whole(cell.recorded.cpu.into()))
        .numbers("cluster", |cell| whole(f64::from(cell.recorded.cluster)))
        .numbers("core", |cell| whole(f64::from(cell.recorded.core)))
        .words("role", |cell| cell.role())
        .words("metric", |cell| &cell.recorded.metric)
        .words("unit", |_| "us")
        .numbers("iterations", |cell| cell.recorded.count)
        .numbers("recorded", |cell| exact(cell.recorded.value))
        .numbers("min", |cell| exact(cell.recorded.min))
        .numbers("max", |cell| exact(cell.recorded.max))
        .numbers("published", |cell| {
            cell.published
                .as_ref()
                .map(|published| exact(published.value_us))
        })
        .numbers("error_percent", |cell| {
            cell.error_percent().map(|error| fixed(error, 2))
        })
        .words("used_in_fit", |cell| cell.used_in_fit().to_string())
        .each(Cause::ALL, |table, cause| {
            table.numbers(
                format!("{}_us", cause.name().replace('-', "_")),
                move |cell| {
                    let ticks = cell.recorded.split.causes.get(&cause);
                    ticks.map(|&ticks| exact(ticks as f64 * cell.recorded.tick_us))
                },
            )
        })
        .words("waits", |cell| {
            let mut waits = cell.recorded.split.waits.iter().map(|wait| {
                let us = exact(wait.ticks as f64 * cell.recorded.tick_us);
                format!("{} {} {us}", wait.cause.name(), name(wait.holder))
            });
            waits.join("; ")
        })
        .done()
}
