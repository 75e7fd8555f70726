//! A run of the explorer as a recording.

use crate::recorded::Recordable;
use crate::schedule::Schedule;
use explore::{CounterexampleIn, Kind, Limits, Operation, Script, Step};
use recording::{Header, Lane, Recording, facts};
use std::collections::BTreeMap;

/// The experiment's name in recordings.
pub fn experiment<S: Recordable>() -> String {
    format!("explore-{}", S::NAME)
}

/// The loads that missed a newer value are told of this many times at most.
const MISSED_SHOWN: usize = 3;

/// Records a finding, with the steps of its run.
pub fn record<S: Recordable>(
    subject: &S,
    found: &CounterexampleIn<S>,
    steps: &[Step],
    limits: Limits,
    seed: u64,
) -> Recording {
    let narrator = S::narrator(found.machine, &found.script);
    let operations = names_of_operations(steps);
    let cpus = subject.cpus();
    let mut header = header(subject, found, steps, limits, seed);
    header.lanes = lanes(names_of_calls(&found.script), &operations);
    let mut recording = Recording::new(header);
    let variant = subject.fault().map_or(S::NAME, |fault| fault.name);
    let series = recording.series(variant, found.failure.invariant.name(), "");
    let [call, operation] = ["call", "operation"].map(|name| recording.point_with_argument(name, name));
    let [call_end, operation_end] = ["call-end", "operation-end"].map(|name| recording.point(name));
    let mut calling = vec![false; cpus + 1];
    // Of a long run, what matters: nobody reads more.
    for at in narrator.that_matter(steps) {
        let (time, step) = (at as u64, &steps[at]);
        let cpu = u16::from(step.process);
        let process = usize::from(step.process);
        if let Operation::Action { number } = step.did {
            let before: usize = (0..process).map(|cpu| found.script.actions(cpu)).sum();
            // An action of a kernel has no end but the next one.
            if std::mem::take(&mut calling[process]) {
                recording.event(series, 0, cpu, time, time, call_end, 0);
            }
            recording.event(series, 0, cpu, time, time, call, (before + usize::from(number)) as u32);
            calling[process] = true;
        }
        for deviation in found
            .schedule
            .iter()
            .filter(|deviation| (deviation.process, deviation.operation) == (step.process, step.operation))
        {
            if let Some((_, point, _)) = MARKS.iter().find(|(kind, _, _)| *kind == deviation.kind) {
                let point = recording.point(point);
                recording.event(series, 0, cpu, time, time, point, deviation.value as u32);
            }
        }
        recording.event(series, 0, cpu, time, time, operation, operations[step.did.kind()]);
        recording.event(series, 0, cpu, time + 1, time + 1, operation_end, 0);
        if let Operation::Loaded { newest: Some(_), early: false, .. } = step.did {
            let point = recording.point(STALE.0);
            recording.event(series, 0, cpu, time, time, point, 0);
        }
        let ends = matches!(step.did, Operation::Act { act, .. } if act.ends_action);
        if ends && std::mem::take(&mut calling[process]) {
            recording.event(series, 0, cpu, time + 1, time + 1, call_end, 0);
        }
    }
    if let (Some(last), Some(time)) = (steps.last(), steps.len().checked_sub(1)) {
        let point = recording.point(BROKEN.0);
        recording.event(series, 0, u16::from(last.process), time as u64, time as u64, point, 0);
    }
    for (metric, unit, value) in [
        ("deviations", "", found.schedule.len() as f64),
        ("operations", "", steps.len() as f64),
        ("run", "", found.run as f64),
    ] {
        recording.measure(series, 0, metric, unit, value);
    }
    recording
}

/// The header of a finding, but for its lanes.
fn header<S: Recordable>(
    subject: &S,
    found: &CounterexampleIn<S>,
    steps: &[Step],
    limits: Limits,
    seed: u64,
) -> Header {
    let narrator = S::narrator(found.machine, &found.script);
    let mut header = Header::new(&experiment::<S>(), "explore", "us");
    header.seed = seed;
    header.iterations = 1;
    let cpus = subject.cpus();
    header.notes.push(format!(
        "An explored run has no time: on its timeline an operation takes a microsecond, and CPU {cpus} is {}.",
        S::LAST
    ));
    header.complaints.push(sentence(&found.failure.what));
    let sentences = found.schedule.iter().map(|deviation| narrator.deviation(steps, deviation));
    let missed = (0..steps.len()).rev().filter_map(|at| narrator.missed(steps, at));
    header.set_facts(&facts::Exploration {
        schedule: Schedule::new(found, subject, limits).text(),
        sentences: sentences.collect(),
        scenario: found.script.sentences(),
        missed: missed.take(MISSED_SHOWN).collect(),
        causes: narrator.causes(steps),
        coverage: None,
    });
    header
}

/// The lanes of calls and of operations, by the numbers that their points carry.
fn lanes(calls: Vec<String>, operations: &BTreeMap<&'static str, u32>) -> Vec<Lane> {
    let lane = |title: &str, begin: &str, end: &str, names: &mut dyn Iterator<Item = String>| Lane {
        title: title.to_owned(),
        begin: begin.to_owned(),
        end: Some(end.to_owned()),
        names: (0..).zip(names).collect(),
        ..Lane::default()
    };
    let mut of_operations =
        lane("operation", "operation", "operation-end", &mut operations.keys().map(|name| (*name).to_owned()));
    of_operations.marks = MARKS.iter().map(|(_, point, mark)| ((*point).to_owned(), (*mark).to_owned())).collect();
    of_operations.telling =
        MARKS.iter().map(|(_, point, _)| (*point).to_owned()).chain([BROKEN.0.to_owned()]).collect();
    of_operations.marks.extend([STALE, BROKEN].map(|(point, mark)| (point.to_owned(), mark.to_owned())));
    vec![lane("call", "call", "call-end", &mut calls.into_iter()), of_operations]
}

/// Deviations that are marks on the timeline: their point, and what to call it.
const MARKS: [(Kind, &str, &str); 14] = [
    (Kind::Preempt, "stood-still", "stood still before"),
    (Kind::StoreDelay, "store-delayed", "store stays in the buffer"),
    (Kind::MaintenanceDelay, "maintenance-delayed", "maintenance not done yet"),
    (Kind::LoadAge, "load-early", "load satisfied early"),
    (Kind::LoadLate, "load-late", "load satisfied late"),
    (Kind::Evict, "evicted", "a line left the caches"),
    (Kind::Fill, "filled", "a line was read into the caches"),
    (Kind::Pending, "interrupt-pending", "interrupt pending"),
    (Kind::WfiReturns, "wfi-returned", "WFI ended by an interrupt"),
    (Kind::Denied, "denied", "refused by the platform"),
    (Kind::Answered, "answered-otherwise", "another answer of the platform"),
    (Kind::PowerOnFails, "power-on-failed", "refused by the power controller"),
    (Kind::LateTick, "tick-late", "the tick does not come yet"),
    (Kind::Spurious, "no-event", "WFE ended without an event"),
];

/// The operation after which the invariant does not hold.
const BROKEN: (&str, &str) = ("broken", "here it breaks");

/// A load that found an older line, or older memory, than another CPU had stored.
const STALE: (&str, &str) = ("load-stale", "load of a value that is not the newest");

/// With a capital letter and a full stop.
fn sentence(what: &str) -> String {
    let mut letters = what.chars();
    let first: String = letters.next().map(|first| first.to_uppercase().collect()).unwrap_or_default();
    format!("{first}{}.", letters.as_str())
}

fn names_of_calls(script: &impl Script) -> Vec<String> {
    (0..script.cpus()).flat_map(|cpu| (0..).map_while(move |number| script.action(cpu, number))).collect()
}

fn names_of_operations(steps: &[Step]) -> BTreeMap<&'static str, u32> {
    let mut names: BTreeMap<&'static str, u32> = steps.iter().map(|step| (step.did.kind(), 0)).collect();
    for (number, value) in (0..).zip(names.values_mut()) {
        *value = number;
    }
    names
}
