//! `psci-calls`: instructions of the calls, counted on QEMU, beside other firmware's.

use super::functions;
use super::story::Story;
use crate::blocks::{Blocks, Cell, Number, Table, code, fixed, text, whole};
use findings::Run;
use published::{CallFigure, CallReference};
use recording::Recording;
use recording::facts::{FactsError, Functions};
use serde::Serialize;
use std::collections::BTreeMap;

/// The instructions of each call.
#[derive(Serialize)]
pub(super) struct Calls<'r> {
    experiment: &'static str,
    unit: &'static str,
    recording: &'r str,
    conditions_of_others: Option<&'r str>,
    calls: Vec<Call<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    by_function: Option<Functions>,
    #[serde(skip)]
    reference: Option<&'r CallReference>,
}

/// A call with the mean instructions of each build: `plain` without stamps and `instrumented` with
/// those that PMF serves, or `firmware` for an image of the user's.
#[derive(Serialize)]
struct Call<'r> {
    call: &'r str,
    others: Vec<Other<'r>>,
    #[serde(flatten)]
    counts: BTreeMap<&'r str, f64>,
    /// The builds in the recording's order.
    #[serde(skip)]
    builds: Vec<&'r str>,
}

#[derive(Serialize)]
struct Other<'r> {
    implementation: &'r str,
    build: &'r str,
    low: u64,
    high: u64,
}

/// Reads the calls in the recording's order; those that not all builds counted are left out.
///
/// # Errors
/// The counts by function are of another version or form.
pub(super) fn read<'r>(run: &Run<'r>) -> Result<Calls<'r>, FactsError> {
    let reference = run.published.calls.as_ref();
    Ok(Calls {
        experiment: "psci-calls",
        unit: "instructions",
        recording: run.folder,
        conditions_of_others: reference.map(|reference| reference.conditions.as_str()),
        calls: calls(run.recording, reference),
        by_function: functions::read(run.recording)?,
        reference,
    })
}

fn calls<'r>(recording: &'r Recording, reference: Option<&'r CallReference>) -> Vec<Call<'r>> {
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
    let others = |call: &str| -> Vec<Other<'r>> {
        let figures = reference.map_or(&[][..], |reference| &reference.figures).iter();
        let other = |figure: &'r CallFigure| Other {
            implementation: &figure.implementation,
            build: &figure.build,
            low: figure.low,
            high: figure.high,
        };
        figures.filter(|figure| figure.call == call).map(other).collect()
    };
    let mut calls: Vec<Call<'_>> = Vec::new();
    for call in recording.measures().iter().filter_map(|measure| Some(recording.text(measure.subject?))) {
        if calls.iter().any(|known| known.call == call) {
            continue;
        }
        let counts: Option<BTreeMap<_, _>> = builds.iter().map(|build| Some((*build, value(build, call)?))).collect();
        calls.extend(counts.map(|counts| Call { call, others: others(call), counts, builds: builds.clone() }));
    }
    calls
}

const BUILDS: [&str; 2] = ["plain", "instrumented"];

fn count(value: f64) -> Number {
    if value.fract().abs() < 0.05 { fixed(value, 0) } else { fixed(value, 1) }
}

fn range(figure: &CallFigure) -> Cell {
    Cell::Range(whole(figure.low as f64), whole(figure.high as f64))
}

impl Story for Calls<'_> {
    fn tell(&self, told: &mut Blocks) {
        let builds: &[&str] = self.calls.first().map_or(&[], |call| &call.builds);
        if let Some((call, build)) = self.calls.first().zip(builds.first()) {
            let others = call.others.iter().filter(|other| other.build == *build);
            let others: Vec<String> = others
                .map(|other| {
                    format!(
                        "{} {}",
                        other.implementation,
                        Cell::Range(whole(other.low as f64), whole(other.high as f64)).plain()
                    )
                })
                .collect();
            let beside = if others.is_empty() { String::new() } else { format!("; others: {}", others.join(", ")) };
            told.answer(text![
                code(call.call),
                format!(" takes {} instructions in the build {build}{beside}.", count(call.counts[build]))
            ]);
        }
        let implementations: Vec<&str> = self
            .reference
            .map_or(Vec::new(), |reference| reference.implementations.iter().map(|(name, _)| name.as_str()).collect());
        let mut table = Table::with_rows(&self.calls).words("instructions per call", |call| text![code(call.call)]);
        for build in builds {
            table = table.numbers(*build, "", |call| call.counts.get(build).map(|value| count(*value)));
        }
        for name in &implementations {
            for (build, short) in BUILDS.into_iter().zip(["plain", "instr."]) {
                let find = |call: &Call<'_>| self.reference?.find(call.call, name, build);
                // A column that nobody filled says nothing.
                if self.calls.iter().any(|call| find(call).is_some()) {
                    table = table.numbers(format!("{name} {short}"), "", |call| find(call).map(range));
                }
            }
        }
        told.table(table.done());
        if let Some(counts) = &self.by_function {
            told.paragraph(functions::largest(counts));
        }
        if let Some(reference) = self.reference {
            told.note(format!("Others: {}.", reference.conditions));
            for (name, source) in &reference.implementations {
                told.note(format!("{name}: {source}"));
            }
        }
        if let Some(counts) = &self.by_function {
            functions::tell(told, counts);
        }
    }
}
