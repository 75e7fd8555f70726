//! Who woke the CPUs of a trace, and how its clusters slept.

use crate::blocks::{Bar, Blocks, Cell, Columns, Drawing, Figure, Picture, Table, fixed, grouped, name};
use crate::words::listed;
use recording::facts::{DomainSleep, WakeRow, WakeUps};

/// Rows of a table and parts of a bar that are told; JSON has all.
const MOST_ROWS: usize = 12;
const MOST_PARTS: usize = 6;

fn percent(count: u64, all: u64) -> f64 {
    100.0 * count as f64 / all.max(1) as f64
}

fn sum<'w>(rows: impl IntoIterator<Item = &'w WakeRow>) -> u64 {
    rows.into_iter().map(|row| row.count).sum()
}

/// The commonest causes, in a sentence.
pub(super) fn answer(wake_ups: &WakeUps) -> String {
    let all = sum(&wake_ups.causes);
    let known = || wake_ups.causes.iter().filter(|row| !row.cause.starts_with("unknown"));
    let share = |count| format!("{} %", fixed(percent(count, all), 1));
    let most: Vec<_> = known().take(3).map(|row| format!("{} ({})", row.cause, share(row.count))).collect();
    let mut told = match most.is_empty() {
        true => " What woke them is not known: the trace shows no cause.".to_owned(),
        false => format!(
            " Most wake-ups have the cause {}; {} have none that is known.",
            listed(&most),
            share(all - sum(known()))
        ),
    };
    if let Some(count) = wake_ups.called_before {
        told += &format!(" At {} of the entries a call from another CPU was on its way.", grouped(count));
    }
    told
}

/// The causes as bars, a bar for each state.
pub(super) fn picture(wake_ups: &WakeUps) -> Picture {
    let mut states: Vec<&str> = wake_ups.cpus.iter().filter_map(|row| row.state.as_deref()).collect();
    states.sort_unstable();
    states.dedup();
    let mut causes: Vec<&str> = wake_ups.causes.iter().map(|row| row.cause.as_str()).collect();
    causes.truncate(MOST_PARTS);
    let bar = |state: &str| {
        let of_state = || wake_ups.cpus.iter().filter(|row| row.state.as_deref() == Some(state));
        let all = sum(of_state());
        let part = |cause: &str, count: u64| (cause.to_owned(), Figure { value: percent(count, all), published: None });
        let of_cause = |cause: &&str| part(cause, sum(of_state().filter(|row| row.cause == *cause)));
        let others = sum(of_state().filter(|row| !causes.contains(&row.cause.as_str())));
        let parts = causes.iter().map(of_cause).chain([part("other causes", others)]);
        Bar { name: state.to_owned(), parts: parts.filter(|(_, share)| share.value > 0.0).collect() }
    };
    let bars = Drawing::Bars(states.into_iter().map(bar).collect());
    Picture::new("Who woke the CPUs, from each state", "of the wake-ups", "%", bars)
}

/// Rows with what they are told apart by.
fn table(rows: &[WakeRow], most: usize) -> Columns<'_, WakeRow> {
    Table::with_rows(&rows[..rows.len().min(most)])
        .numbers("CPU", "", |row| row.cpu.map(|cpu| grouped(cpu.into())))
        .words("state", |row| row.state.as_deref().map(name))
        .words("cause", |row| name(row.cause.as_str()))
        .words("by way of", |row| row.way.as_deref().map(name))
        .words("called by", |row| row.by.as_deref().map(name))
        .numbers("on CPU", "", |row| row.by_cpu.map(|cpu| grouped(cpu.into())))
        .words("ran first", |row| row.first.as_deref().map(name))
        .numbers("wake-ups", "", |row| grouped(row.count))
}

/// The causes with their delays, and what the trace does not tell.
pub(super) fn causes(wake_ups: &WakeUps, seconds: Option<f64>, told: &mut Blocks) {
    let all = sum(&wake_ups.causes);
    let us = |delay: Option<[u64; 2]>, at: usize| delay.map(|ns| fixed(ns[at] as f64 / 1e3, 1));
    let table = table(&wake_ups.causes, MOST_ROWS)
        .numbers("", "1/s", |row| seconds.map(|seconds| fixed(row.count as f64 / seconds, 1)))
        .numbers("", "%", |row| fixed(percent(row.count, all), 1))
        .numbers("to exit", "us", |row| us(row.to_exit_ns, 0))
        .numbers("most", "us", |row| us(row.to_exit_ns, 1))
        .numbers("to run", "us", |row| us(row.to_run_ns, 0))
        .numbers("most", "us", |row| us(row.to_run_ns, 1));
    let note = "to exit: from the cause (a timer's expiry, a call, a task made ready) to the end of the idle state; to run: from there to the \
                first handler or task; each the median, and the most.";
    told.table(table.done().without_empty_columns().titled("Who woke the CPUs").noted(note));
    if !wake_ups.unseen.is_empty() {
        told.note(format!(
            "Not in the trace: {}. `trace-cmd record -e power -e irq -e timer -e ipi -e sched` records them, on x86 with `-e irq_vectors`.",
            wake_ups.unseen.join("; ")
        ));
    }
}

/// Who called and what ran first, and the causes of each CPU.
pub(super) fn details(wake_ups: &WakeUps, told: &mut Blocks) {
    for (title, rows) in [("Who called, and what ran first", &wake_ups.callers), ("Who woke each CPU", &wake_ups.cpus)]
    {
        told.table(table(rows, 8 * MOST_ROWS).done().without_empty_columns().titled(title));
    }
}

/// How each cluster slept: while all of its CPUs did, and by itself.
pub(super) fn domains(domains: &[DomainSleep], seconds: Option<f64>, told: &mut Blocks) {
    let cpus = |row: &DomainSleep| row.cpus.iter().map(u16::to_string).collect::<Vec<_>>().join(" ");
    let table = Table::with_rows(domains)
        .words("CPUs", |row| name(cpus(row)))
        .words("what slept", |row| Cell::from(row.what.as_str()))
        .numbers("entries", "", |row| row.entered.map(grouped))
        .numbers("time", "ms", |row| fixed(row.total_ns as f64 / 1e6, 3))
        .numbers("of the time", "%", |row| seconds.map(|seconds| fixed(row.total_ns as f64 / seconds / 1e7, 2)));
    let note = "A state is the cluster's if no CPU asked for it while another one of the cluster ran. A stay lasts from when the last CPU asked \
                until the first is back.";
    told.table(table.done().titled("How clusters slept").noted(note));
}
