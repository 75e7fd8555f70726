//! Who woke the CPUs of a trace, and how its clusters slept.

use crate::blocks::{Bars, Blocks, Cell, Columns, Paint, Table, fixed, grouped};
use crate::words::idle::is_known;
use itertools::Itertools;
use recording::facts::{DomainSleep, WakeRow, WakeUps};
use std::collections::BTreeMap;

/// Rows of a table that are told; JSON has all.
const MOST_ROWS: usize = 12;

/// Rows with what they are told apart by.
fn table(rows: &[WakeRow], most: usize) -> Columns<'_, WakeRow> {
    Table::with_rows(&rows[..rows.len().min(most)])
        .numbers("CPU", |row| row.cpu.map(|cpu| grouped(cpu.into())))
        .words("state", |row| row.state.as_deref())
        .words("cause", |row| &row.cause)
        .words("called by", |row| row.by.as_deref())
        .numbers("on CPU", |row| row.by_cpu.map(|cpu| grouped(cpu.into())))
        .words("ran first", |row| row.first.as_deref())
        .numbers("wake-ups", |row| grouped(row.count))
        .words("by way of", |row| row.way.as_deref())
}

/// The causes with their delays, and what the trace does not tell.
pub fn causes(wake_ups: &WakeUps, seconds: Option<f64>, told: &mut Blocks) {
    let has_causes = wake_ups.causes.iter().any(|row| is_known(&row));
    let us = |delay: Option<[u64; 2]>, at: usize| delay.map(|ns| fixed(ns[at] as f64 / 1e3, 1));
    let states = |cause: &WakeRow| {
        let of_cause = wake_ups.cpus.iter().filter(|row| row.cause == cause.cause);
        let mut states = BTreeMap::new();
        of_cause.for_each(|row| {
            *states
                .entry(row.state.as_deref().unwrap_or_default())
                .or_default() += row.count as f64
        });
        let longest = wake_ups.causes.first().map_or(0.0, |row| row.count as f64);
        let parts = states
            .into_iter()
            .map(|(state, count)| (Paint::Name(state.to_owned()), count));
        Bars {
            parts: parts.collect(),
            longest,
            unit: "",
        }
    };
    let table = table(&wake_ups.causes, MOST_ROWS)
        .numbers("1/s", |row| {
            seconds.map(|seconds| fixed(row.count as f64 / seconds, 1))
        })
        .numbers("to exit, us", |row| us(row.to_exit_ns, 0))
        .numbers("most, us", |row| us(row.to_exit_ns, 1))
        .numbers("to run, us", |row| us(row.to_run_ns, 0))
        .numbers("most, us", |row| us(row.to_run_ns, 1))
        .words("wake-ups, by state", |row| has_causes.then(|| states(row)));
    let note = "to exit: from the cause (a timer's expiry, a call, a task made ready) to the end of the idle state; to run: from there to the \
                first handler or task; each the median, and the most.";
    told.table(table.titled("Who woke the CPUs").noted(note));
    if !wake_ups.unseen.is_empty() {
        told.note(format!(
            "Not in the trace: {}. `trace-cmd record -e power -e irq -e timer -e ipi -e sched` records them, on x86 with `-e irq_vectors`.",
            wake_ups.unseen.join("; ")
        ));
    }
}

/// Who called and what ran first, and the causes of each CPU.
pub fn details(wake_ups: &WakeUps, told: &mut Blocks) {
    for (title, rows) in [
        ("Who called, and what ran first", &wake_ups.callers),
        ("Who woke each CPU", &wake_ups.cpus),
    ] {
        told.table(table(rows, 8 * MOST_ROWS).titled(title));
    }
}

/// How each cluster slept: while all of its CPUs did, and by itself.
pub fn domains(domains: &[DomainSleep], seconds: Option<f64>, told: &mut Blocks) {
    let table = Table::with_rows(domains)
        .words("CPUs", |row| row.cpus.iter().map(u16::to_string).join(" "))
        .words("what slept", |row| Cell::from(row.what.as_str()))
        .numbers("entries", |row| row.entered.map(grouped))
        .numbers("time, ms", |row| fixed(row.total_ns as f64 / 1e6, 3))
        .numbers("of the time, %", |row| {
            seconds.map(|seconds| fixed(row.total_ns as f64 / seconds / 1e7, 2))
        });
    let note = "A state is the cluster's if no CPU asked for it while another one of the cluster was up. A stay lasts from when the last CPU asked \
                until the first is back.";
    told.table(table.titled("How clusters slept").noted(note));
}
