//! `linux-rates`: which callbacks programs queue, on a real kernel.

use crate::Run;
use recording::Recording;
use recording::metrics::{self, Metric};
use schemars::JsonSchema;
use serde::Serialize;

/// Functions that free nodes of the maple tree, which came to Linux with 6.1.
const MAPLE: [&str; 2] = ["mt_free_rcu", "mt_free_walk"];

/// Functions that a row of the second table names.
pub const SHOWN: usize = 4;

/// The callbacks that programs queue.
#[derive(Serialize, JsonSchema)]
pub struct Programs<'r> {
    /// The programs, in the order in which they ran.
    pub programs: Vec<Program<'r>>,
    /// Sentences that the run left about itself.
    pub notes: &'r [String],
    /// The recording's folder, as it was named on the command line.
    pub recording: &'r str,
}

/// The callbacks of a program.
#[derive(Serialize, JsonSchema)]
pub struct Program<'r> {
    /// The program's name.
    pub program: &'r str,
    /// Run time in seconds.
    pub time_s: f64,
    /// Context switches.
    pub context_switches: f64,
    /// Processes and threads that were started.
    pub forks: f64,
    /// Callbacks that were queued.
    pub callbacks: f64,
    /// Callbacks without those that free nodes of the maple tree.
    pub callbacks_without_maple_tree: f64,
    /// Callbacks per second.
    pub callbacks_per_s: f64,
    /// Callbacks per second without the start and the end; `None` for a program that is over too
    /// soon.
    pub callbacks_per_s_in_between: Option<f64>,
    /// The unit of its work, in the singular, such as `fork`.
    pub unit: &'r str,
    /// The number of units of work.
    pub units: f64,
    /// Callbacks of each unit of work.
    pub callbacks_per_unit: f64,
    /// The same without those of the maple tree.
    pub callbacks_per_unit_without_maple_tree: f64,
    /// Grace periods that ended.
    pub grace_periods: f64,
    /// The functions that callbacks call, the commonest first.
    pub functions: Vec<Function<'r>>,
}

/// A function that callbacks call.
#[derive(Serialize, JsonSchema)]
pub struct Function<'r> {
    /// The function's name.
    pub function: &'r str,
    /// The number of callbacks that call it.
    pub callbacks: f64,
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
pub fn read<'r>(run: &Run<'r>) -> Programs<'r> {
    let recording = run.recording;
    Programs {
        programs: recording
            .all_series()
            .map(|series| program(recording, series))
            .collect(),
        notes: &recording.header.notes,
        recording: run.folder,
    }
}

fn program(recording: &Recording, series: recording::Series) -> Program<'_> {
    let mine = || {
        recording
            .measures()
            .iter()
            .filter(move |measure| measure.series == series)
    };
    let whole = |metric: Metric| {
        mine().find(|measure| {
            measure.subject.is_none() && recording.text(measure.metric) == metric.name
        })
    };
    let value = |metric| whole(metric).map_or(0.0, |measure| measure.value);
    let queued =
        mine().filter(|measure| recording.text(measure.metric) == metrics::CALLBACKS_QUEUED.name);
    let function = |measure: &recording::Measure| {
        Some(Function {
            function: recording.text(measure.subject?),
            callbacks: measure.value,
        })
    };
    let mut functions: Vec<Function<'_>> = queued.filter_map(function).collect();
    functions.sort_by(|a, b| {
        b.callbacks
            .total_cmp(&a.callbacks)
            .then(a.function.cmp(b.function))
    });
    let callbacks = value(metrics::CALLBACKS_QUEUED);
    let maple = functions
        .iter()
        .filter(|of| MAPLE.contains(&of.function))
        .map(|of| of.callbacks)
        .sum::<f64>();
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
        callbacks_per_s_in_between: whole(metrics::STEADY_CALLBACK_RATE)
            .map(|measure| measure.value),
        unit: one(whole(metrics::UNITS_OF_WORK).map_or("", |measure| recording.text(measure.unit))),
        units,
        callbacks_per_unit: per_unit(callbacks),
        callbacks_per_unit_without_maple_tree: per_unit(callbacks - maple),
        grace_periods: value(metrics::GRACE_PERIODS),
        functions,
    }
}

impl Program<'_> {
    /// Callbacks of all functions but the `most` commonest.
    pub fn others(&self, most: usize) -> f64 {
        self.functions
            .iter()
            .skip(most)
            .map(|of| of.callbacks)
            .sum()
    }
}
