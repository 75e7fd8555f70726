//! `idle-clock`: what reading a clock and dividing cost the idle loop.

use super::story::Story;
use crate::blocks::{Blocks, Drawing, IntervalRow, Picture, Table, Text, figure, fixed, name, text};
use findings::Run;
use findings::rows::subject;
use published::ClockReference;
use recording::facts::{self, FactsError};
use recording::metrics::{self, Metric};
use recording::{Recording, Series};
use serde::Serialize;

/// Clocks, divisions, and what they change.
#[derive(Serialize)]
pub(super) struct Clocks<'r> {
    clocks: Vec<Clock<'r>>,
    divisions: Vec<Division<'r>>,
    changes: Vec<Change<'r>>,
    saving_per_sleep_ns: Option<f64>,
    shift_bias: f64,
    clock_source: Option<String>,
    notes: &'r [String],
    recording: &'r str,
    /// The clocks whose difference is saved.
    #[serde(skip)]
    saved_by: String,
    #[serde(skip)]
    reference: Option<&'r ClockReference>,
}

/// Statistics of times in nanoseconds.
#[derive(Clone, Copy, Default, Serialize)]
struct Statistics {
    average_ns: Option<f64>,
    /// The mean without the longest of 100.
    trimmed_ns: Option<f64>,
    stddev_ns: Option<f64>,
    min_ns: Option<f64>,
    max_ns: Option<f64>,
    p50_ns: Option<f64>,
    p99_ns: Option<f64>,
    p99_9_ns: Option<f64>,
}

impl Statistics {
    /// A statistic by its name in recordings.
    fn at(&mut self, name: &str) -> Option<&mut Option<f64>> {
        Some(match name {
            "average" => &mut self.average_ns,
            "trimmed" => &mut self.trimmed_ns,
            "stddev" => &mut self.stddev_ns,
            "min" => &mut self.min_ns,
            "max" => &mut self.max_ns,
            "p50" => &mut self.p50_ns,
            "p99" => &mut self.p99_ns,
            "p99.9" => &mut self.p99_9_ns,
            _ => return None,
        })
    }
}

#[derive(Serialize)]
struct Clock<'r> {
    name: &'r str,
    threads: Option<u64>,
    virtual_machine: bool,
    #[serde(flatten)]
    times: Statistics,
    #[serde(skip)]
    mode: &'r str,
}

#[derive(Serialize)]
struct Division<'r> {
    name: &'r str,
    divisor_known: bool,
    #[serde(flatten)]
    times: Statistics,
    #[serde(skip)]
    mode: &'r str,
}

/// The choices that a governor changes with another clock or another division.
#[derive(Serialize)]
struct Change<'r> {
    governor: &'r str,
    unsaid: &'r str,
    with: &'r str,
    changed_choices: f64,
    changed_energy: Option<f64>,
}

/// The share by which a shift by 10 bits counts less than a division by 1000: 24/1024.
const BIAS: f64 = 1.0 - 1000.0 / 1024.0;

fn times<'r>(recording: &'r Recording, case: &str, metric: Metric) -> Vec<(&'r str, &'r str, Statistics)> {
    let mut all: Vec<(Series, &str, &str, Statistics)> = Vec::new();
    for measure in recording.measures().iter().filter(|measure| recording.text(measure.metric) == metric.name) {
        let (name, of, mode) = recording.series_texts(measure.series);
        let statistic = subject(recording, measure);
        if of != case || Statistics::default().at(statistic).is_none() {
            continue;
        }
        let at = all.iter().position(|(series, ..)| *series == measure.series).unwrap_or_else(|| {
            all.push((measure.series, name, mode, Statistics::default()));
            all.len() - 1
        });
        if let Some(value) = all[at].3.at(statistic) {
            *value = Some(measure.value);
        }
    }
    all.into_iter().map(|(_, name, mode, times)| (name, mode, times)).collect()
}

fn changes(recording: &Recording) -> Vec<Change<'_>> {
    let of = |metric: Metric| {
        recording.measures().iter().filter(move |measure| recording.text(measure.metric) == metric.name)
    };
    of(metrics::CHANGED_CHOICES)
        .map(|choices| {
            let (governor, _, unsaid) = recording.series_texts(choices.series);
            let same = |other: &&recording::Measure| other.series == choices.series && other.subject == choices.subject;
            let changed_energy = of(metrics::CHANGED_ENERGY).find(same).map(|measure| measure.value);
            Change {
                governor,
                unsaid,
                with: subject(recording, choices),
                changed_choices: choices.value,
                changed_energy,
            }
        })
        .collect()
}

/// Reads clocks, divisions and changes.
pub(super) fn read<'r>(run: &Run<'r>) -> Result<Clocks<'r>, FactsError> {
    let recording = run.recording;
    let facts: facts::Clocks = recording.header.facts()?;
    let is_virtual = facts.virtual_machine.is_some();
    let clocks = times(recording, "clock-read", metrics::CLOCK_READ).into_iter();
    let divisions = times(recording, "division", metrics::DIVISION).into_iter();
    // Two reads are saved on each sleep, each by what the second published clock takes less than
    // the first.
    let published = times(recording, "condition", metrics::CLOCK_READ);
    let saving = match &published[..] {
        [(first, _, slow), (second, _, fast)] => {
            let less = slow.average_ns.zip(fast.average_ns).map(|(slow, fast)| slow - fast);
            less.map(|less| (format!("{second} for {first}"), 2.0 * less))
        }
        _ => None,
    };
    Ok(Clocks {
        clocks: clocks
            .map(|(name, mode, times)| Clock {
                name,
                threads: mode.parse().ok(),
                virtual_machine: is_virtual,
                times,
                mode,
            })
            .collect(),
        divisions: divisions
            .map(|(name, mode, times)| Division { name, divisor_known: mode == "divisor known", times, mode })
            .collect(),
        changes: changes(recording),
        saving_per_sleep_ns: saving.as_ref().map(|(_, ns)| *ns),
        shift_bias: BIAS,
        clock_source: facts.source,
        notes: &recording.header.notes,
        recording: run.folder,
        saved_by: saving.map(|(by, _)| by).unwrap_or_default(),
        reference: run.published.clocks.as_ref(),
    })
}

/// A table of times.
fn table<R>(
    rows: &[R],
    [first, second]: [&str; 2],
    names: impl Fn(&R) -> (&str, &str),
    times: impl Fn(&R) -> Statistics,
) -> Table {
    type Statistic = (&'static str, fn(Statistics) -> Option<f64>);
    let statistics: [Statistic; 8] = [
        ("average", |times| times.average_ns),
        ("trimmed", |times| times.trimmed_ns),
        ("p50", |times| times.p50_ns),
        ("stddev", |times| times.stddev_ns),
        ("min", |times| times.min_ns),
        ("max", |times| times.max_ns),
        ("p99", |times| times.p99_ns),
        ("p99.9", |times| times.p99_9_ns),
    ];
    Table::with_rows(rows)
        .words(first, |row| name(names(row).0))
        .words(second, |row| names(row).1)
        .each(statistics, |table, (heading, of)| {
            table.numbers(heading, "", |row| of(times(row)).map(|ns| fixed(ns, 1)))
        })
        .done()
}

impl Story for Clocks<'_> {
    fn tell(&self, told: &mut Blocks) {
        told.answer(self.answer());
        let interval = |clock: &Clock<'_>| {
            let times = clock.times;
            Some(IntervalRow {
                name: format!("{}, threads: {}", clock.name, clock.mode),
                series: clock.name.to_owned(),
                low: times.min_ns?,
                middle: times.p50_ns.or(times.average_ns)?,
                high: times.p99_ns.or(times.max_ns)?,
                published: None,
            })
        };
        let rows: Vec<IntervalRow> = self.clocks.iter().filter_map(interval).collect();
        if !rows.is_empty() {
            let title = "Reads of a clock: least, median and p99";
            told.picture(Picture::new(title, "time", "ns", Drawing::Intervals(rows)));
        }
        if !self.clocks.is_empty() {
            let source = self.clock_source.as_deref().unwrap_or("not known");
            let title = format!("Reads of a clock, in ns; clock source {source}.");
            let rows = table(&self.clocks, ["clock", "threads"], |of| (of.name, of.mode), |of| of.times);
            told.table(rows.titled(title));
            self.outliers(told);
            self.published(told);
        }
        let rows = table(&self.divisions, ["division", "compiler"], |of| (of.name, of.mode), |of| of.times);
        told.table(rows.titled("Divisions, each waiting for the one before it, in ns."));
        if let Some(ns) = self.saving_per_sleep_ns {
            let words = format!("Saved on each sleep by {}: {} ns, two reads' difference.", self.saved_by, figure(ns));
            told.paragraph(words);
        }
        self.bias(told);
        self.changed(told);
    }
}

impl Clocks<'_> {
    fn answer(&self) -> Text {
        let mut words = Text::default();
        // An average that a few interrupts made says nothing of the read; older recordings have no
        // other.
        let usual = |clock: &&Clock<'_>| clock.times.p50_ns.or(clock.times.average_ns).unwrap_or(f64::INFINITY);
        let alone = || self.clocks.iter().filter(|clock| clock.threads == Some(1));
        let by_usual = |a: &&Clock<'_>, b: &&Clock<'_>| usual(a).total_cmp(&usual(b));
        if let (Some(fast), Some(slow)) = (alone().min_by(by_usual), alone().max_by(by_usual)) {
            words.extend(text![
                "Half of the reads of ",
                name(fast.name),
                format!(" take at most {} ns, and of ", fixed(usual(&fast), 1)),
                name(slow.name),
                format!(" {} ns. ", fixed(usual(&slow), 1))
            ]);
        }
        let most = self.changes.iter().max_by(|a, b| a.changed_choices.total_cmp(&b.changed_choices));
        if let Some(most) = most {
            words.extend(text![
                "With ",
                name(most.with),
                " ",
                name(most.governor),
                format!(
                    " chooses another state in {} % of its sleeps, more than any other governor.",
                    fixed(100.0 * most.changed_choices, 3)
                )
            ]);
        }
        words
    }

    /// The averages that a few long reads make, with what the rest takes.
    fn outliers(&self, told: &mut Blocks) {
        let spoilt = |clock: &&Clock<'_>| {
            let times = clock.times;
            times.average_ns.zip(times.trimmed_ns).is_some_and(|(average, trimmed)| average > 1.1 * trimmed)
        };
        told.paragraph("Trimmed is the mean without the longest of 100 reads.");
        let item = |clock: &Clock<'_>| {
            let ns = |ns: Option<f64>| fixed(ns.unwrap_or(0.0), 1);
            text![
                name(clock.name),
                format!(
                    ", threads: {}: the longest of 100 reads raise the average from {} to {} ns",
                    clock.mode,
                    ns(clock.times.trimmed_ns),
                    ns(clock.times.average_ns)
                )
            ]
        };
        told.list(self.clocks.iter().filter(spoilt).map(item).collect());
    }

    /// The published figures of the kernel's clocks.
    fn published(&self, told: &mut Blocks) {
        let Some(reference) = self.reference else { return };
        told.paragraph(format!("Published ({}; {}):", reference.source, reference.conditions));
        let item = |clock: &str| {
            let figures = reference.clocks.iter().filter(|figure| figure.clock == clock);
            let figures: Vec<String> = figures.map(|figure| format!("{} {}", figure.statistic, figure.value)).collect();
            text![name(clock), format!(": {} ns", figures.join(", "))]
        };
        told.list(reference.names().into_iter().map(item).collect());
    }

    fn changed(&self, told: &mut Blocks) {
        let Some(first) = self.changes.first() else { return };
        let mut rows: Vec<&Change<'_>> = Vec::new();
        for change in &self.changes {
            if rows.iter().all(|row| (row.governor, row.with) != (change.governor, change.with)) {
                rows.push(change);
            }
        }
        // Where the trace does not say everything each governor was replayed twice, and both
        // figures are shown if they differ.
        let both = |row: &Change<'_>, of: &dyn Fn(&Change<'_>) -> Option<String>| {
            let same = self.changes.iter().filter(|other| (other.governor, other.with) == (row.governor, row.with));
            let mut figures: Vec<String> = same.filter_map(of).collect();
            figures.dedup();
            figures.join(" or ")
        };
        let energy = |of: &Change<'_>| Some(fixed(100.0 * of.changed_energy?, 3).signed().to_string());
        let table = Table::with_rows(&rows)
            .words("governor", |row| name(row.governor))
            .words("with", |row| name(row.with))
            .numbers("changed choices", "%", |row| {
                both(row, &|of| Some(fixed(100.0 * of.changed_choices, 3).to_string()))
            })
            .numbers("changed energy", "%", |row| both(row, &energy));
        // A row per governor and clock: what stands out is in the answer.
        told.rest();
        told.table(table.done().titled(text!["What changes against ", name(first.with), ":"]));
    }

    /// The result of a shift in the place of a division of a time, beside what was published of it.
    fn bias(&self, told: &mut Blocks) {
        told.paragraph(format!("A shift by 10 bits counts {} % less than a division by 1000.", 100.0 * BIAS));
        let Some(reference) = self.reference else { return };
        let item = |row: &published::DivisionFigure| {
            let (shifted, quotient) = (row.nsec >> 10, row.nsec as f64 / 1024.0);
            Text::from(format!(
                "{} ns: / 1000 {} us; >> 10 {shifted} us, the quotient {quotient} us; published {} us and {} us",
                row.nsec,
                row.nsec / 1000,
                row.div_1000_usec,
                row.shift_10_usec
            ))
        };
        let mut items: Vec<Text> = reference.divisions.iter().map(item).collect();
        items.push("The published 976 ns for 1000 ns is the quotient: the shift itself gives 0 us.".into());
        told.list(items);
    }
}
