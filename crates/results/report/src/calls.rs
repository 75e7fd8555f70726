//! Calls counted on QEMU, beside other firmware's.

use crate::Style;
use crate::grid::{DIM, fitted, paragraph, right, table};
use comfy_table::Cell;
use published::{CallFigure, CallReference};
use recording::Recording;
use serde_json::{Value, json};

/// A kind of call.
#[derive(Clone, Debug, PartialEq)]
pub struct CountedCall {
    /// Which call.
    pub call: String,
    /// Mean instructions, by build: `plain` without stamps and `instrumented` with those that PMF serves, or `firmware` for an image of
    /// the user's.
    pub counts: Vec<(String, f64)>,
}

/// The calls of a `psci-calls` recording, in its order; those that not all builds counted are left out.
pub fn counted_calls(recording: &Recording) -> Vec<CountedCall> {
    let mut builds: Vec<&str> = Vec::new();
    for measure in recording.measures() {
        let (build, ..) = recording.series_texts(measure.series);
        if !builds.contains(&build) {
            builds.push(build);
        }
    }
    let value = |build: &str, call: &str| {
        recording.measures().iter().find_map(|measure| {
            let subject = recording.text(measure.subject?);
            let (variant, ..) = recording.series_texts(measure.series);
            (variant == build && subject == call).then_some(measure.value)
        })
    };
    let mut calls: Vec<CountedCall> = Vec::new();
    for call in recording.measures().iter().filter_map(|measure| Some(recording.text(measure.subject?))) {
        if calls.iter().any(|known| known.call == call) {
            continue;
        }
        let counts: Option<Vec<_>> =
            builds.iter().map(|build| Some(((*build).to_owned(), value(build, call)?))).collect();
        calls.extend(counts.map(|counts| CountedCall { call: call.to_owned(), counts }));
    }
    calls
}

/// A table for people.
pub fn psci_calls_text(calls: &[CountedCall], reference: Option<&CallReference>, style: Style) -> String {
    let implementations: Vec<&str> = reference
        .map_or(Vec::new(), |reference| reference.implementations.iter().map(|(name, _)| name.as_str()).collect());
    let mut table = table(style);
    let mut head = vec!["instructions per call".to_owned()];
    head.extend(calls.first().iter().flat_map(|call| &call.counts).map(|(build, _)| build.clone()));
    let own = head.len();
    for name in &implementations {
        head.extend([format!("{name} plain"), format!("{name} instr.")]);
    }
    // A column that nobody filled says nothing.
    let empty: Vec<bool> = (0..2 * implementations.len())
        .map(|column| {
            let (name, build) = (implementations[column / 2], BUILDS[column % 2]);
            calls.iter().all(|call| figure(reference, &call.call, name, build).is_none())
        })
        .collect();
    let shown = |column: usize| column < own || !empty[column - own];
    table.set_header((0..head.len()).filter(|&column| shown(column)).map(|column| Cell::new(&head[column])));
    for call in calls {
        let mut row = vec![call.call.clone()];
        row.extend(call.counts.iter().map(|(_, count)| number(*count)));
        for name in &implementations {
            for build in BUILDS {
                row.push(figure(reference, &call.call, name, build).map_or(String::new(), range));
            }
        }
        let cells = row
            .iter()
            .enumerate()
            .filter(|(column, _)| shown(*column))
            .map(|(column, text)| if column == 0 { Cell::new(text) } else { right(text.clone()) });
        table.add_row(cells);
    }
    let mut text = format!("{}\n", fitted(table, style));
    if let Some(reference) = reference {
        paragraph(&mut text, &format!("Others: {}.", reference.conditions), ("", "  "), DIM, style);
        for (name, source) in &reference.implementations {
            paragraph(&mut text, &format!("{name}: {source}"), ("  ", "    "), DIM, style);
        }
    }
    text
}

/// The same for machines: `calls` are objects with `call`, `others` and a count for each build: `plain` and `instrumented`, or
/// `firmware`.
pub fn psci_calls_json(calls: &[CountedCall], reference: Option<&CallReference>, recording: &std::path::Path) -> Value {
    let calls: Vec<Value> = calls
        .iter()
        .map(|call| {
            let others: Vec<Value> = reference
                .map_or(&[][..], |reference| &reference.figures)
                .iter()
                .filter(|figure| figure.call == call.call)
                .map(|figure| {
                    json!({ "implementation": figure.implementation, "build": figure.build, "low": figure.low, "high": figure.high })
                })
                .collect();
            let mut object = json!({ "call": call.call, "others": others });
            for (build, count) in &call.counts {
                object[build.as_str()] = json!(count);
            }
            object
        })
        .collect();
    json!({
        "experiment": "psci-calls",
        "unit": "instructions",
        "recording": recording.display().to_string(),
        "conditions_of_others": reference.map(|reference| &reference.conditions),
        "calls": calls,
    })
}

const BUILDS: [&str; 2] = ["plain", "instrumented"];

fn figure<'r>(reference: Option<&'r CallReference>, call: &str, name: &str, build: &str) -> Option<&'r CallFigure> {
    reference?.find(call, name, build)
}

fn range(figure: &CallFigure) -> String {
    match figure.low == figure.high {
        true => figure.low.to_string(),
        false => format!("{}-{}", figure.low, figure.high),
    }
}

fn number(value: f64) -> String {
    if value.fract().abs() < 0.05 { format!("{value:.0}") } else { format!("{value:.1}") }
}
