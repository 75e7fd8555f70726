//! `cpuidle`: what a kernel counted of its idle states.

use super::story::Story;
use super::wakes;
use crate::blocks::{Bar, Blocks, Cell, Drawing, Picture, Table, figure, fixed, grouped};
use crate::words::idle::{counts, exit_latency, title};
use findings::cpuidle::{KernelCounts, Residency, State, Test};
use itertools::Itertools;

/// The tests with their sums.
fn overview(counted: &KernelCounts<'_>, told: &mut Blocks) {
    let number = |value: Option<f64>| value.map(|value| fixed(value, 2));
    let table = Table::with_rows(&counted.tests)
        .words("test", |test| test.case)
        .words("kernel", |test| test.kernel)
        .numbers("entries", |test| grouped(test.entered as u64))
        .numbers("above, %", |test| number(test.above_percent))
        .numbers("below, %", |test| number(test.below_percent))
        .numbers("misses, %", |test| number(test.misses_percent));
    told.table(table);
}

/// The states of a test in a table.
fn states_table(test: &Test<'_>, states: &[State<'_>]) -> Table {
    let count = |value: Option<f64>| value.map(|value| grouped(value as u64));
    let timed = test.sum.time_us.is_some();
    Table::with_rows(states)
        .words("cluster", |state| {
            state.cluster.map(|cluster| cluster.to_string())
        })
        .words("CPU", |state| state.cpu.map(|cpu| cpu.to_string()))
        .words("state", |state| state.state)
        .numbers("residency, us", |state| state.residency_us)
        .numbers("entries", |state| grouped(state.entered as u64))
        .numbers("entries, 1/s", |state| {
            state.entered_per_second.map(|rate| fixed(rate, 1))
        })
        .when(timed, |table| {
            table
                .numbers("time, s", |state| {
                    state.time_us.map(|us| fixed(us / 1e6, 3))
                })
                .numbers("mean, us", |state| state.mean_us.map(|us| fixed(us, 1)))
        })
        .numbers(
            if timed {
                "share of idle time, %"
            } else {
                "share of entries, %"
            },
            |state| state.share_percent.map(|share| fixed(share, 2)),
        )
        .numbers("above", |state| count(state.above))
        .numbers("below", |state| count(state.below))
        .numbers("rejected", |state| count(state.rejected))
        .words("", |state| state.disabled.then_some("disabled"))
        .done()
}

/// The share of each state, a bar for each test and cluster.
fn picture(tests: &[Test<'_>]) -> Picture {
    let bar = |test: &Test<'_>| {
        let clusters = test.states.chunk_by(|a, b| a.cluster == b.cluster);
        clusters
            .map(|states| {
                let name = match states[0].cluster {
                    Some(cluster) => format!("{}, cluster {cluster}", title(test)),
                    None => title(test),
                };
                Bar::new(
                    name,
                    states
                        .iter()
                        .map(|state| (state.state.to_owned(), state.share_percent.unwrap_or(0.0))),
                )
            })
            .collect_vec()
    };
    let timed = tests.iter().all(|test| test.sum.time_us.is_some());
    let heading = if timed {
        "Share of the idle time"
    } else {
        "Share of the entries"
    };
    Picture::new(
        heading,
        "of all",
        "%",
        Drawing::Bars(tests.iter().flat_map(bar).collect()),
    )
}

/// Shares of the time, and what hardware counted.
fn residencies(rows: &[Residency<'_>]) -> Table {
    Table::with_rows(rows)
        .words("kernel", |row| {
            (row.kernel != rows[0].kernel).then_some(row.kernel)
        })
        .words("where", |row| {
            row.cpu
                .map_or(row.place.to_owned(), |cpu| format!("CPU {cpu}"))
        })
        .words("state", |row| row.state)
        .words("measure", |row| row.metric)
        .numbers("value", |row| fixed(row.value, 2))
        .words("unit", |row| row.unit)
        .titled("What the kernel asked for, and what the hardware did")
}

impl Story for KernelCounts<'_> {
    fn tell(&self, told: &mut Blocks) {
        told.answer(exit_latency(self).unwrap_or_else(|| counts(self)));
        if !self.exit_latencies.is_empty() {
            let table = Table::with_rows(&self.exit_latencies)
                .words("state", |row| &*row.state)
                .numbers("declared, us", |row| row.declared_us)
                .numbers("exit latency, us", |row| figure(row.us[1]))
                .numbers("95 %, us", |row| {
                    Cell::Range(figure(row.us[0]), figure(row.us[2]))
                })
                .numbers("wake-ups", |row| grouped(row.wake_ups as u64));
            let note = "A state without a row has at most 5 wake-ups that count, or an interval that holds 0.";
            told.table(table.noted(note));
        }
        let seconds = self.tests.first().and_then(|test| test.seconds);
        if let Some(wake_ups) = &self.wake_ups {
            wakes::causes(wake_ups, seconds, told);
        }
        if !self.tests.is_empty() {
            told.picture(picture(&self.tests));
        }
        if self.tests.len() > 1 {
            overview(self, told);
        }
        for test in &self.tests {
            let mut table = states_table(test, &test.states).titled(title(test));
            if !self.clusters.is_empty() {
                table = table.noted(format!("{}.", self.clusters));
            }
            told.table(table);
        }
        if !self.residencies.is_empty() {
            told.table(residencies(&self.residencies));
        }
        wakes::domains(&self.domains, seconds, told);
        told.note(
            "above: stays shorter than the state's target residency, though a shallower state was there; below: stays for which a deeper state would have paid. misses: both, of all entries.",
        );
        if let Some(wake_ups) = &self.wake_ups {
            wakes::details(wake_ups, told);
        }
        for test in &self.tests {
            told.table(
                states_table(test, &test.states_of_cpus)
                    .titled(format!("{}, each CPU", title(test))),
            );
        }
    }
}
