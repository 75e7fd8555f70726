//! `idle-clock`: what reading a clock and dividing cost the idle loop.

use super::story::Story;
use crate::blocks::{Blocks, Drawing, IntervalRow, Picture, Table, ends, figure, fixed};
use crate::words::clocks;
use crate::words::{capital, idle as words};
use findings::idle_clock::{Change, Clocks, Statistics};
use itertools::Itertools;
use recording::{grouped, total_order};
use std::cmp::Reverse;

/// A table of times.
fn table<R>(
    rows: &[R],
    [first, second]: [&str; 2],
    names: impl Fn(&R) -> (&str, &str),
    times: impl Fn(&R) -> Statistics,
) -> Table {
    type Statistic = (&'static str, fn(Statistics) -> Option<f64>);
    let statistics: [Statistic; 9] = [
        ("average", |times| times.average_ns),
        ("trimmed", |times| times.trimmed_ns),
        ("p25", |times| times.p25_ns),
        ("p50", |times| times.p50_ns),
        ("p75", |times| times.p75_ns),
        ("stddev", |times| times.stddev_ns),
        ("min", |times| times.min_ns),
        ("max", |times| times.max_ns),
        ("p99", |times| times.p99_ns),
    ];
    Table::with_rows(rows)
        .words(first, |row| names(row).0)
        .words(second, |row| names(row).1)
        .each(statistics, |table, (heading, of)| {
            table.numbers(heading, |row| of(times(row)).map(|ns| fixed(ns, 1)))
        })
        .done()
}

impl Story for Clocks<'_> {
    fn tell(&self, told: &mut Blocks) {
        clocks::noise(&self.steadiness, told);
        told.answer(words::clocks(self));
        let rows = self
            .clocks
            .iter()
            .filter_map(|clock| {
                let name = format!("{}, threads: {}", clock.name, clock.mode);
                Some(IntervalRow::new(name, clock.times.quartiles()?).of(clock.name))
            })
            .collect_vec();
        if !rows.is_empty() {
            let title = "Reads of a clock: quartiles and median";
            told.picture(Picture::new(title, "time", "ns", Drawing::Intervals(rows)));
        } else if !self.changes.is_empty() {
            told.picture(choices(self));
        }
        if !self.clocks.is_empty() {
            let source = self.clock_source.as_deref().unwrap_or("not known");
            let title = format!("Reads of a clock, in ns; clock source {source}.");
            let rows = table(
                &self.clocks,
                ["clock", "threads"],
                |of| (of.name, of.mode),
                |of| of.times,
            );
            told.table(rows.titled(title));
            told.paragraph(
                "Times are means of rounds. Trimmed is their mean without the longest of 100.",
            );
            published(self, told);
        }
        let rows = table(
            &self.divisions,
            ["division", "compiler"],
            |of| (of.name, of.mode),
            |of| of.times,
        );
        told.table(rows.titled("Divisions, each waiting for the one before it, in ns."));
        if let Some(ns) = self.saving_per_sleep_ns {
            let words = format!(
                "Saved on each sleep by {}: {} ns, two reads' difference.",
                self.saved_by,
                figure(ns)
            );
            told.paragraph(words);
        }
        bias(self, told);
        changed(self, told);
    }
}

/// The most rows of a picture: a replay may have hundreds.
const MOST_ROWS: usize = 12;

/// The shares of choices that another clock changes, for each governor over what the trace does not
/// say; those of the energy where no choice changes.
fn choices(clocks: &Clocks<'_>) -> Picture {
    let changes_choice = clocks
        .changes
        .iter()
        .any(|change| change.changed_choices > 0.0);
    let shares = clocks.changes.iter().map(|change| {
        let share = if changes_choice {
            Some(change.changed_choices)
        } else {
            change.changed_energy
        };
        let key = (change.governor, change.with);
        (key, 100.0 * share.unwrap_or(0.0))
    });
    let row = |((governor, with), shares): ((&str, &str), Vec<f64>)| {
        let (low, high) = ends(shares.iter().copied());
        IntervalRow::new(format!("{governor}, {with}"), [low, shares[0], high]).of(with)
    };
    let mut rows = grouped(shares).into_iter().map(row).collect_vec();
    let most = |row: &IntervalRow| row.high.abs().max(row.low.abs());
    rows.sort_by_key(|of| Reverse(total_order(most(of))));
    let (all, what) = (
        rows.len(),
        if changes_choice { "choices" } else { "energy" },
    );
    rows.truncate(MOST_ROWS);
    let title = format!("{} that another clock changes", capital(what));
    Picture::new(title, what, "%", Drawing::Intervals(rows)).noted(format!(
        "The {} of {all} that change most.",
        all.min(MOST_ROWS)
    ))
}

fn changed(clocks: &Clocks<'_>, told: &mut Blocks) {
    let Some(first) = clocks.changes.first() else {
        return;
    };
    let changes = clocks.changes.iter();
    let rows = changes
        .unique_by(|row| (row.governor, row.with))
        .collect_vec();
    // Where the trace does not say everything each governor was replayed twice, and both
    // figures are shown if they differ.
    let both = |row: &Change<'_>, of: &dyn Fn(&Change<'_>) -> Option<String>| {
        let mut figures = clocks
            .changes
            .iter()
            .filter(|other| (other.governor, other.with) == (row.governor, row.with))
            .filter_map(of)
            .collect_vec();
        figures.dedup();
        figures.join(" or ")
    };
    let energy = |of: &Change<'_>| Some(fixed(100.0 * of.changed_energy?, 3).signed().to_string());
    let table = Table::with_rows(&rows)
        .words("governor", |row| row.governor)
        .words("with", |row| row.with)
        .numbers("changed choices, %", |row| {
            both(row, &|of| {
                Some(fixed(100.0 * of.changed_choices, 3).to_string())
            })
        })
        .numbers("changed energy, %", |row| both(row, &energy));
    // A row per governor and clock: what stands out is in the answer.
    told.table(table.titled(format!("What changes against {}:", first.with)));
}

/// The published figures of the kernel's clocks.
fn published(clocks: &Clocks<'_>, told: &mut Blocks) {
    let Some(reference) = clocks.reference else {
        return;
    };
    told.paragraph(format!(
        "Published ({}; {}):",
        reference.source, reference.conditions
    ));
    told.list(reference.names().into_iter().map(|clock| {
        let figures = reference
            .clocks
            .iter()
            .filter(|figure| figure.clock == clock)
            .map(|figure| format!("{} {}", figure.statistic, figure.value))
            .join(", ");
        format!("{clock}: {figures} ns")
    }));
}

/// The result of a shift in the place of a division of a time, beside what was published of it.
fn bias(clocks: &Clocks<'_>, told: &mut Blocks) {
    told.paragraph(words::shift(clocks));
    let Some(reference) = clocks.reference else {
        return;
    };
    let items = reference.divisions.iter().map(|row| {
        let (shifted, quotient) = (row.nsec >> 10, row.nsec as f64 / 1024.0);
        format!(
            "{} ns: / 1000 {} us; >> 10 {shifted} us, the quotient {quotient} us; published {} us and {} us",
            row.nsec,
            row.nsec / 1000,
            row.div_1000_usec,
            row.shift_10_usec
        )
    });
    let last = "The published 976 ns for 1000 ns is the quotient: the shift itself gives 0 us.";
    told.list(items.chain([last.to_owned()]));
}
