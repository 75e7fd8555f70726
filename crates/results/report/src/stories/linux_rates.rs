//! `linux-rates`: which callbacks programs queue, on a real kernel.

use super::{Run, Style};
use crate::grid::{fitted, right, table};
use crate::words::number;
use recording::Recording;
use recording::metrics::{self, Metric};
use serde_json::{Value, json};
use std::fmt::Write;

/// Functions that free nodes of the maple tree, which came to Linux with 6.1.
const MAPLE: [&str; 2] = ["mt_free_rcu", "mt_free_walk"];
/// Functions that a row of the second table names.
const SHOWN: usize = 4;

/// What a program queued.
struct Rates<'a> {
    program: &'a str,
    seconds: f64,
    switches: f64,
    forks: f64,
    callbacks: f64,
    per_second: f64,
    /// Without the start and the end; `None` for a program that is over too soon.
    steady: Option<f64>,
    grace_periods: f64,
    /// What it did often, and how often.
    unit: &'a str,
    units: f64,
    /// Callbacks by function, the commonest first.
    functions: Vec<(&'a str, f64)>,
}

impl Rates<'_> {
    /// Callbacks without those of the maple tree.
    fn older(&self) -> f64 {
        let maple = self.functions.iter().filter(|(name, _)| MAPLE.contains(name));
        self.callbacks - maple.map(|(_, count)| count).sum::<f64>()
    }

    fn per_unit(&self) -> f64 {
        self.callbacks / self.units.max(1.0)
    }

    /// One of the things that it did often.
    fn one(&self) -> &str {
        match self.unit {
            "switches" => "switch",
            "closes" => "close",
            "lives" => "process life",
            other => other.trim_end_matches('s'),
        }
    }
}

fn rates(recording: &Recording) -> Vec<Rates<'_>> {
    let of = |series: recording::Series| {
        let mine = || recording.measures().iter().filter(move |measure| measure.series == series);
        let whole = |metric: Metric| {
            mine().find(|measure| measure.subject.is_none() && recording.text(measure.metric) == metric.name)
        };
        let value = |metric| whole(metric).map_or(0.0, |measure| measure.value);
        let mut functions: Vec<(&str, f64)> = mine()
            .filter(|measure| recording.text(measure.metric) == metrics::CALLBACKS_QUEUED.name)
            .filter_map(|measure| Some((recording.text(measure.subject?), measure.value)))
            .collect();
        functions.sort_by(|(a, more), (b, less)| less.total_cmp(more).then(a.cmp(b)));
        Rates {
            program: recording.series_texts(series).1,
            seconds: value(metrics::RUN_TIME),
            switches: value(metrics::CONTEXT_SWITCHES),
            forks: value(metrics::FORKS),
            callbacks: value(metrics::CALLBACKS_QUEUED),
            per_second: value(metrics::CALLBACK_RATE),
            steady: whole(metrics::STEADY_CALLBACK_RATE).map(|measure| measure.value),
            grace_periods: value(metrics::GRACE_PERIODS),
            unit: whole(metrics::UNITS_OF_WORK).map_or("", |measure| recording.text(measure.unit)),
            units: value(metrics::UNITS_OF_WORK),
            functions,
        }
    };
    recording.all_series().map(of).collect()
}

pub(super) fn json(run: &Run<'_>) -> Value {
    let program = |rates: &Rates<'_>| {
        json!({
            "program": rates.program,
            "time_s": rates.seconds,
            "context_switches": rates.switches,
            "forks": rates.forks,
            "callbacks": rates.callbacks,
            "callbacks_without_maple_tree": rates.older(),
            "callbacks_per_s": rates.per_second,
            "callbacks_per_s_in_between": rates.steady,
            "unit": rates.one(),
            "units": rates.units,
            "callbacks_per_unit": rates.per_unit(),
            "callbacks_per_unit_without_maple_tree": rates.older() / rates.units.max(1.0),
            "grace_periods": rates.grace_periods,
            "functions": rates.functions.iter().map(|(name, count)| json!({ "function": name, "callbacks": count })).collect::<Vec<_>>(),
        })
    };
    json!({
        "programs": rates(run.recording).iter().map(program).collect::<Vec<_>>(),
        "notes": run.recording.header.notes,
        "recording": run.folder,
    })
}

pub(super) fn text(run: &Run<'_>, style: Style) -> String {
    let all = rates(run.recording);
    let mut text = String::new();
    let mut drawn = table(style);
    drawn.set_header([
        "program",
        "s",
        "switches",
        "forks",
        "call- backs",
        "without maple tree",
        "per s",
        "per s in between",
        "per",
        "",
        "grace periods",
    ]);
    for rates in &all {
        drawn.add_row(vec![
            rates.program.into(),
            right(format!("{:.2}", rates.seconds)),
            right(format!("{:.0}", rates.switches)),
            right(format!("{:.0}", rates.forks)),
            right(format!("{:.0}", rates.callbacks)),
            right(format!("{:.0}", rates.older())),
            right(number(rates.per_second)),
            right(rates.steady.map_or("–".to_owned(), number)),
            rates.one().into(),
            right(format!("{:.3}", rates.per_unit())),
            right(format!("{:.0}", rates.grace_periods)),
        ]);
    }
    let _ = writeln!(text, "{}", fitted(drawn, style));
    let _ = writeln!(text, "In between: without the first and the last 50 ms. What queues most:");
    let mut drawn = table(style);
    for rates in &all {
        let most = rates.functions.iter().take(SHOWN).map(|(name, count)| format!("{name} {count:.0}"));
        let others: f64 = rates.functions.iter().skip(SHOWN).map(|(_, count)| count).sum();
        let others = (others > 0.0).then(|| format!("others {others:.0}"));
        drawn.add_row(vec![rates.program.to_owned(), most.chain(others).collect::<Vec<_>>().join(", ")]);
    }
    let _ = writeln!(text, "{}", fitted(drawn, style));
    text
}
