//! `linux-rates`: which callbacks programs queue, on a real kernel.

use super::story::Story;
use crate::blocks::{Bar, Blocks, Drawing, Figure, Picture, Table, code, figure, fixed, name, text};
use findings::Run;
use recording::Recording;
use recording::metrics::{self, Metric};
use serde::Serialize;

/// Functions that free nodes of the maple tree, which came to Linux with 6.1.
const MAPLE: [&str; 2] = ["mt_free_rcu", "mt_free_walk"];
/// Functions that a row of the second table names.
const SHOWN: usize = 4;

/// The callbacks that programs queue.
#[derive(Serialize)]
pub(super) struct Programs<'r> {
    programs: Vec<Program<'r>>,
    notes: &'r [String],
    recording: &'r str,
}

/// The callbacks of a program.
#[derive(Serialize)]
struct Program<'r> {
    program: &'r str,
    time_s: f64,
    context_switches: f64,
    forks: f64,
    callbacks: f64,
    callbacks_without_maple_tree: f64,
    callbacks_per_s: f64,
    /// Without the start and the end; `None` for a program that is over too soon.
    callbacks_per_s_in_between: Option<f64>,
    /// One of the things that it did often.
    unit: &'r str,
    units: f64,
    callbacks_per_unit: f64,
    callbacks_per_unit_without_maple_tree: f64,
    grace_periods: f64,
    /// The commonest first.
    functions: Vec<Function<'r>>,
}

#[derive(Serialize)]
struct Function<'r> {
    function: &'r str,
    callbacks: f64,
}

/// The singular of what a program did often.
fn one(units: &str) -> &str {
    match units {
        "switches" => "switch",
        "closes" => "close",
        "lives" => "process life",
        other => other.trim_end_matches('s'),
    }
}

/// Reads the programs.
pub(super) fn read<'r>(run: &Run<'r>) -> Programs<'r> {
    let recording = run.recording;
    Programs {
        programs: recording.all_series().map(|series| program(recording, series)).collect(),
        notes: &recording.header.notes,
        recording: run.folder,
    }
}

fn program(recording: &Recording, series: recording::Series) -> Program<'_> {
    let mine = || recording.measures().iter().filter(move |measure| measure.series == series);
    let whole = |metric: Metric| {
        mine().find(|measure| measure.subject.is_none() && recording.text(measure.metric) == metric.name)
    };
    let value = |metric| whole(metric).map_or(0.0, |measure| measure.value);
    let queued = mine().filter(|measure| recording.text(measure.metric) == metrics::CALLBACKS_QUEUED.name);
    let function = |measure: &recording::Measure| {
        Some(Function { function: recording.text(measure.subject?), callbacks: measure.value })
    };
    let mut functions: Vec<Function<'_>> = queued.filter_map(function).collect();
    functions.sort_by(|a, b| b.callbacks.total_cmp(&a.callbacks).then(a.function.cmp(b.function)));
    let callbacks = value(metrics::CALLBACKS_QUEUED);
    let maple = functions.iter().filter(|of| MAPLE.contains(&of.function)).map(|of| of.callbacks).sum::<f64>();
    let units = value(metrics::UNITS_OF_WORK);
    let per_unit = |callbacks: f64| callbacks / units.max(1.0);
    Program {
        program: recording.series_texts(series).1,
        time_s: value(metrics::RUN_TIME),
        context_switches: value(metrics::CONTEXT_SWITCHES),
        forks: value(metrics::FORKS),
        callbacks,
        callbacks_without_maple_tree: callbacks - maple,
        callbacks_per_s: value(metrics::CALLBACK_RATE),
        callbacks_per_s_in_between: whole(metrics::STEADY_CALLBACK_RATE).map(|measure| measure.value),
        unit: one(whole(metrics::UNITS_OF_WORK).map_or("", |measure| recording.text(measure.unit))),
        units,
        callbacks_per_unit: per_unit(callbacks),
        callbacks_per_unit_without_maple_tree: per_unit(callbacks - maple),
        grace_periods: value(metrics::GRACE_PERIODS),
        functions,
    }
}

impl Story for Programs<'_> {
    fn tell(&self, told: &mut Blocks) {
        let most = self.programs.iter().max_by(|a, b| a.callbacks_per_s.total_cmp(&b.callbacks_per_s));
        if let Some((most, first)) = most.and_then(|most| Some((most, most.functions.first()?))) {
            told.answer(text![
                name(most.program),
                format!(
                    " queues most: {} callbacks per second, {} of each ",
                    figure(most.callbacks_per_s),
                    fixed(most.callbacks_per_unit, 3)
                ),
                most.unit,
                "; most of them come from ",
                code(first.function),
                "."
            ]);
        }
        let bar = |program: &Program<'_>| {
            let part = |of: &Function<'_>| {
                let value = of.callbacks / program.time_s.max(1e-9);
                (of.function.to_owned(), Figure { value, published: None })
            };
            Bar { name: program.program.to_owned(), parts: program.functions.iter().take(SHOWN).map(part).collect() }
        };
        let bars = Drawing::Bars(self.programs.iter().map(bar).collect());
        told.picture(Picture::new("Callbacks per second, by function", "the commonest", "1/s", bars));
        let table = Table::with_rows(&self.programs)
            .words("program", |of| name(of.program))
            .numbers("s", "", |of| fixed(of.time_s, 2))
            .numbers("switches", "", |of| fixed(of.context_switches, 0))
            .numbers("forks", "", |of| fixed(of.forks, 0))
            .numbers("call- backs", "", |of| fixed(of.callbacks, 0))
            .numbers("without maple tree", "", |of| fixed(of.callbacks_without_maple_tree, 0))
            .numbers("per s", "", |of| figure(of.callbacks_per_s))
            .numbers("per s in between", "", |of| of.callbacks_per_s_in_between.map(figure))
            .words("per", |of| of.unit)
            .numbers("", "", |of| fixed(of.callbacks_per_unit, 3))
            .numbers("grace periods", "", |of| fixed(of.grace_periods, 0));
        told.table(table.done().noted("In between: without the first and the last 50 ms."));
        let functions = |of: &Program<'_>| {
            let most = of.functions.iter().take(SHOWN).map(|of| format!("{} {:.0}", of.function, of.callbacks));
            let others: f64 = of.functions.iter().skip(SHOWN).map(|of| of.callbacks).sum();
            let others = (others > 0.0).then(|| format!("others {others:.0}"));
            most.chain(others).collect::<Vec<_>>().join(", ")
        };
        let table =
            Table::with_rows(&self.programs).words("program", |of| name(of.program)).words("queues most", functions);
        told.table(table.done());
    }
}
