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
    /// Mean instructions without stamps.
    pub plain: f64,
    /// Mean instructions with the stamps that PMF serves.
    pub instrumented: f64,
}

/// The calls of a `psci-calls` recording, in its order; those that only one build counted are left out.
pub fn counted_calls(recording: &Recording) -> Vec<CountedCall> {
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
        if let (Some(plain), Some(instrumented)) = (value("plain", call), value("instrumented", call)) {
            calls.push(CountedCall { call: call.to_owned(), plain, instrumented });
        }
    }
    calls
}

/// A table for people.
pub fn psci_calls_text(calls: &[CountedCall], reference: Option<&CallReference>, style: Style) -> String {
    let implementations: Vec<&str> = reference
        .map_or(Vec::new(), |reference| reference.implementations.iter().map(|(name, _)| name.as_str()).collect());
    let mut table = table(style);
    let mut head = vec!["instructions per call".to_owned(), "plain".to_owned(), "instrumented".to_owned()];
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
    let shown = |column: usize| column < 3 || !empty[column - 3];
    table.set_header((0..head.len()).filter(|&column| shown(column)).map(|column| Cell::new(&head[column])));
    for call in calls {
        let mut row = vec![call.call.clone(), number(call.plain), number(call.instrumented)];
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

/// The same for machines: `calls` are objects with `call`, `plain`, `instrumented` and `others`.
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
            json!({ "call": call.call, "plain": call.plain, "instrumented": call.instrumented, "others": others })
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
