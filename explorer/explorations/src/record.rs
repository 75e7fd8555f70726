//! A run of the explorer as a recording.

use crate::{coverage::add_coverage, recorded::Recordable, schedule::Schedule};
use explore::{
    Account, CounterexampleIn, Deviation, HooksFile, Limits, Operation, Script, Step, TallyOf,
    story::{Narrator, step_of, that_matter},
};
use recording::{Header, Lane, Recording, Series, facts, metrics};
use std::collections::{BTreeMap, BTreeSet};

/// The experiment's name in recordings.
pub fn experiment<S: Recordable>() -> String {
    format!("explore-{}", S::NAME)
}

/// Records a finding, with the steps of its run.
pub fn record<S: Recordable>(
    subject: &S,
    found: &CounterexampleIn<S>,
    account: &Account,
    limits: Limits,
    seed: u64,
) -> Recording {
    let steps = &account.steps[..];
    let operations = names_of_operations(steps);
    let cpus = found.script.cpus();
    let mut header = header_of_finding(subject, found, account, limits, seed);
    header.lanes = lanes(names_of_calls(&found.script), &operations, &found.schedule);
    let mut recording = Recording::new(header);
    let variant = subject.fault().map_or(S::NAME, |fault| fault.name);
    let series = recording.series(variant, found.failure.invariant.name(), "");
    for point in ["call", "operation"] {
        recording.point_with(point, Some(point));
    }
    let mut events = Events::<S> {
        recording: &mut recording,
        series,
        found,
        account,
        operations: &operations,
        calling: vec![false; cpus + 1],
    };
    // Of a long run, what matters: nobody reads more.
    for at in that_matter(account, cpus, &found.schedule, READABLE) {
        events.add_step(at);
    }
    if let Some(last) = steps.len().checked_sub(1) {
        events.mark(last, BROKEN.0, 0);
    }
    for (metric, value) in [
        ("deviations", found.schedule.len() as u64),
        ("operations", steps.len() as u64),
        ("run", found.run),
    ] {
        recording.measure(series, 0, metric, "", value as f64);
    }
    recording
}

/// Writes the steps of a finding's run as events.
struct Events<'r, S: Recordable> {
    recording: &'r mut Recording,
    series: Series,
    found: &'r CounterexampleIn<S>,
    account: &'r Account,
    /// Number of each kind of operation.
    operations: &'r BTreeMap<&'static str, u32>,
    /// True for each process whose call has begun and not ended.
    calling: Vec<bool>,
}

impl<S: Recordable> Events<'_, S> {
    /// Adds step `at`, with its marks.
    fn add_step(&mut self, at: usize) {
        let step = &self.account.steps[at];
        let process = step.process as usize;
        let (begin, end) = (at as u64, at as u64 + 1);
        if let Operation::Action { number } = step.did {
            let before: usize = (0..process).map(|cpu| self.found.script.actions(cpu)).sum();
            // An action of a kernel has no end but the next one.
            self.end_call(process, begin);
            let number = (before + number as usize) as u32;
            self.add(process, begin, "call", number);
            self.calling[process] = true;
        }
        let cause = self.account.cause.as_ref();
        if cause.is_some_and(|cause| cause.step == at) {
            self.mark(at, CAUSE.0, 0);
        }
        for (number, deviation) in (1..).zip(&self.found.schedule) {
            if step_of(&self.account.steps, deviation) == Some(at) {
                self.mark(at, &deviation_point(number), deviation.value as u32);
            }
        }
        let kind = self.operations[step.did.kind()];
        self.add(process, begin, "operation", kind);
        self.add(process, end, "operation-end", 0);
        if matches!(step.did, Operation::Act { act, .. } if act.ends_action) {
            self.end_call(process, end);
        }
    }

    /// Ends the call of a process, if it is in one.
    fn end_call(&mut self, process: usize, time: u64) {
        if std::mem::take(&mut self.calling[process]) {
            self.add(process, time, "call-end", 0);
        }
    }

    /// Marks the beginning of step `at`.
    fn mark(&mut self, at: usize, point: &str, argument: u32) {
        let process = self.account.steps[at].process as usize;
        self.add(process, at as u64, point, argument);
    }

    fn add(&mut self, process: usize, time: u64, point: &str, argument: u32) {
        let point = self.recording.point(point);
        self.recording
            .event(self.series, 0, process as u16, time, time, point, argument);
    }
}

/// A recording of runs that broke nothing: how many there were, and what they have reached.
pub fn nothing_found<S: Recordable>(subject: &S, tally: &TallyOf<S>, seed: u64) -> Recording {
    let mut recording = Recording::new(header(subject, seed));
    add_coverage::<S>(&mut recording, tally);
    let variant = subject.fault().map_or(S::NAME, |fault| fault.name);
    let series = recording.series(variant, "tried", "");
    for (metric, value) in [
        (&metrics::SCHEDULES, tally.schedules),
        (&metrics::OPERATIONS_TRIED, tally.steps),
    ] {
        recording.measure(series, 0, metric.name, metric.unit, value as f64);
    }
    recording
}

/// The header of any exploration.
fn header<S: Recordable>(subject: &S, seed: u64) -> Header {
    let mut header = Header::new(&experiment::<S>(), "explore", "us");
    header.seed = seed;
    header.iterations = 1;
    if let Some(HooksFile { file, crc32 }) = subject.port().map(|port| &port.about().file) {
        header.notes.push(format!(
            "The platform's hooks are those of {} (CRC-32 {crc32}).",
            file.display()
        ));
    }
    header
}

/// The header of a finding, but for its lanes.
fn header_of_finding<S: Recordable>(
    subject: &S,
    found: &CounterexampleIn<S>,
    account: &Account,
    limits: Limits,
    seed: u64,
) -> Header {
    let steps = &account.steps[..];
    let narrator = Narrator::of(subject, found.machine, &found.script);
    let mut header = header(subject, seed);
    let cpus = found.script.cpus();
    header.notes.insert(
        0,
        format!(
            "An explored run has no time: its timeline counts operations, and CPU {cpus} is {}.",
            S::LAST
        ),
    );
    header.complaints.push(sentence(&found.failure.what));
    let sentences = found
        .schedule
        .iter()
        .map(|deviation| sentence(&narrator.deviation(steps, deviation)));
    header.set_facts(&facts::Exploration {
        schedule: Schedule::new(found, subject, limits).text(),
        sentences: sentences.collect(),
        scenario: found.script.sentences(),
        cause: account.cause.as_ref().map(|cause| sentence(&cause.what)),
        causes: if account.cause.is_some() {
            vec![]
        } else {
            narrator.causes(steps, &account.unusual)
        },
        last: operations(subject, found, account, TOLD),
        coverage: None,
    });
    header
}

/// The operations of a run that matter, `most` at most, in words.
pub fn operations<S: Recordable>(
    subject: &S,
    found: &CounterexampleIn<S>,
    account: &Account,
    most: usize,
) -> Vec<facts::LastOperation> {
    let narrator = Narrator::of(subject, found.machine, &found.script);
    that_matter(account, found.script.cpus(), &found.schedule, most)
        .into_iter()
        .map(|at| &account.steps[at])
        .map(|step| facts::LastOperation {
            who: narrator.process(step.process),
            operation: step.operation.to_string(),
            does: narrator.step(step),
        })
        .collect()
}

/// The lanes of calls and of operations, by the numbers that their points carry.
fn lanes(
    calls: Vec<String>,
    operations: &BTreeMap<&'static str, u32>,
    schedule: &[Deviation],
) -> Vec<Lane> {
    let lane = |title: &str, point: &str, names: Vec<String>| Lane {
        title: title.to_owned(),
        begin: point.to_owned(),
        end: Some(format!("{point}-end")),
        names: (0..).zip(names).collect(),
        ..Lane::default()
    };
    let names = operations.keys().map(|name| (*name).to_owned());
    let mut of_operations = lane("operation", "operation", names.collect());
    let deviations = (1..).zip(schedule).map(|(number, by)| {
        (
            deviation_point(number),
            format!("{number}. {}", by.kind.words()),
        )
    });
    of_operations.marks = deviations
        .chain([CAUSE, BROKEN].map(|(point, mark)| (point.to_owned(), mark.to_owned())))
        .collect();
    of_operations.telling = of_operations.marks.keys().cloned().collect();
    vec![lane(facts::CALLS, "call", calls), of_operations]
}

/// The point of a deviation, by its number from 1.
fn deviation_point(number: u32) -> String {
    format!("deviation-{number}")
}

/// Operations that are recorded at most, and of which a first screen tells.
pub const READABLE: usize = 2_000;
const TOLD: usize = 10;

/// The operation after which the invariant does not hold.
const BROKEN: (&str, &str) = ("broken", "here it breaks");

/// The operation that shows the cause.
const CAUSE: (&str, &str) = ("cause", "the cause");

/// With a capital letter and a full stop.
fn sentence(what: &str) -> String {
    let mut letters = what.trim_end_matches('.').chars();
    let first: String = letters
        .next()
        .map(|first| first.to_uppercase().collect())
        .unwrap_or_default();
    format!("{first}{}.", letters.as_str())
}

fn names_of_calls(script: &impl Script) -> Vec<String> {
    (0..script.cpus())
        .flat_map(|cpu| (0..).map_while(move |number| script.action(cpu, number)))
        .collect()
}

fn names_of_operations(steps: &[Step]) -> BTreeMap<&'static str, u32> {
    let kinds: BTreeSet<_> = steps.iter().map(|step| step.did.kind()).collect();
    kinds.into_iter().zip(0..).collect()
}
