//! Benchmarks and what was not published of them: a file of `platforms/energy`, read and checked.

use crate::actions::{Do, Term};
use crate::unknown::{MOST, Range, Unknown, Value};
use document::{Document, readers};
use experiment::{Error, Result};
use itertools::Itertools;
use minikernel::{Cost, Policy};
use serde::Deserialize;
use serde::de::Error as _;
use std::collections::BTreeMap;
use std::num::NonZero;
use std::ops::Range as Bytes;
use toml::Spanned;

/// Benchmarks, and what was not published of them.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suite {
    /// One line about them.
    pub title: String,
    /// The document that published them.
    pub source: String,
    /// Seed of all draws.
    pub seed: u64,
    /// Runs at the central point, with a seed each.
    pub central_seeds: NonZero<u16>,
    /// Governor of the frequency.
    pub frequency: Frequency,
    /// The policy that says which task runs where.
    #[serde(deserialize_with = "policy")]
    pub placement: placement::Kind,
    /// The unknowns: what was not published.
    #[serde(default, rename = "unknown")]
    pub unknowns: Vec<Unknown>,
    /// The switches, which no draw changes: always at their central value unless somebody asks.
    #[serde(default, rename = "switch")]
    pub switches: Vec<Unknown>,
    /// The benchmarks.
    #[serde(rename = "benchmark")]
    pub benchmarks: Vec<Benchmark>,
    /// The file's text.
    #[serde(skip)]
    pub text: String,
}

/// A governor of the frequency.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Frequency {
    /// Each domain stays at its highest operating point.
    Highest,
    /// Each domain stays at its lowest operating point.
    Lowest,
    /// It follows the load.
    Schedutil,
}

readers! {
    policy: placement::Kind = |from| {
        let name = String::deserialize(from)?;
        name.parse().map_err(D::Error::custom)
    };
}

/// A benchmark.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Benchmark {
    /// Name of the benchmark.
    pub name: String,
    /// The class: busy all the time, or with rest between events.
    pub class: Class,
    /// The time that it runs; `None` where it runs until its main tasks have ended.
    pub seconds: Option<u64>,
    /// The time that is too long for its main tasks.
    pub at_most_seconds: Option<u64>,
    /// The latency that it asks for: `none`, `zero`, or the unknown that says so.
    #[serde(default = "none")]
    pub latency: Text,
    /// Semaphores of the benchmark, with what they start with.
    #[serde(default)]
    pub semaphores: BTreeMap<String, u32>,
    /// The source.
    pub source: String,
    /// A benchmark that stands above, all tasks of which run as well.
    beside: Option<Spanned<String>>,
    /// Tasks of the benchmark.
    #[serde(rename = "task")]
    pub tasks: Vec<Spanned<Task>>,
}

/// The kind of a benchmark: one that keeps its CPUs busy, or one whose CPUs sleep in between.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// All CPUs are busy all the time.
    Busy,
    /// They rest between events.
    Rest,
}

/// A word, or the name of the unknown that it is.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(from = "String")]
pub enum Text {
    /// This word.
    Is(String),
    /// The value of the unknown of this name.
    Unknown(String),
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        match text.strip_prefix('$') {
            Some(name) => Self::Unknown(name.to_owned()),
            None => Self::Is(text),
        }
    }
}

fn none() -> Text {
    Text::Is("none".to_owned())
}

fn any() -> Text {
    Text::Is("any".to_owned())
}

fn little() -> Text {
    Text::Is("little".to_owned())
}

/// A task of a benchmark.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Task {
    /// Name of the task.
    pub name: String,
    /// The unknowns and the values with which it is there.
    #[serde(default)]
    pub when: BTreeMap<String, Value>,
    /// The number of times that it is there.
    #[serde(default)]
    pub instances: Term,
    nice: Option<i8>,
    priority: Option<u8>,
    /// CPUs on which it may run: `any`, `each` (instance 0 on CPU 0, and so on), `cpu0`, `little`
    /// (the first of them).
    #[serde(default = "any")]
    pub cpus: Text,
    /// The core of which the times of `run` are: `little` or `big`.
    #[serde(default = "little")]
    pub calibrated: Text,
    /// True if the benchmark is over when it has ended.
    #[serde(default)]
    pub main: bool,
    /// The number of times that it goes through its phases; `None` for ever.
    pub loops: Option<u32>,
    /// The phases.
    #[serde(rename = "phase")]
    pub phases: Vec<Phase>,
}

/// A phase of a task.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    /// Number of times that the phase runs in a row; 0 leaves it out.
    #[serde(default = "once")]
    pub repeat: u32,
    /// The actions of the phase, in the order in which the task takes them.
    #[serde(rename = "do")]
    pub actions: Vec<Do>,
}

const fn once() -> u32 {
    1
}

impl Task {
    /// The policy, which says who runs first.
    pub fn policy(&self) -> Policy {
        match self.priority {
            Some(priority) => Policy::RealTime { priority },
            None => Policy::Fair {
                nice: self.nice.unwrap_or(0),
            },
        }
    }
}

/// The unknowns that every file has, for the kernel and the system beside a benchmark are made of
/// them; true for numbers.
pub const REQUIRED: [(&str, bool); 12] = [
    ("hz", true),
    ("interrupts", false),
    ("idle.states", false),
    ("transition", true),
    ("wfi", true),
    ("callbacks.rate", true),
    ("callbacks.pinned", true),
    ("callbacks.cost", true),
    ("background.gap", true),
    ("background.work", true),
    ("bound.gap", true),
    ("interrupts.gap", true),
];

/// The beginning of the names of switches for the kernel's own work.
pub const KERNEL: &str = "kernel.";

/// The switches that every file has: the talk's further direction.
pub const SWITCHES: [(&str, [&str; 2]); 2] = [
    ("timers", ["own", "little"]),
    ("workqueues", ["own", "little"]),
];

/// An error in a file: its range of bytes, the message, and advice on what would be right.
type Wrong = (Bytes<usize>, String, String);

/// An error about a place unless something holds.
fn ensure(
    holds: bool,
    place: Bytes<usize>,
    message: String,
    help: impl Into<String>,
) -> Result<(), Wrong> {
    if holds {
        Ok(())
    } else {
        Err((place, message, help.into()))
    }
}

impl Suite {
    /// Reads a file.
    ///
    /// # Errors
    /// The file, the line, what is wrong and what would be right.
    pub fn read(document: &Document) -> Result<Self> {
        let mut suite: Self = document.read()?;
        document.text().clone_into(&mut suite.text);
        let all = std::mem::take(&mut suite.benchmarks);
        let checked = suite.has_all().and_then(|()| {
            all.into_iter()
                .try_for_each(|benchmark| suite.add_benchmark(benchmark))
        });
        match checked {
            Ok(()) => Ok(suite),
            Err((place, message, help)) => Err(Error::file(document.wrong(place, message, help))),
        }
    }

    /// The idle states that may be meant, by their names.
    pub fn idle_states(&self) -> Vec<String> {
        let values = self.values("idle.states").unwrap_or_default();
        values.iter().map(Value::to_string).collect()
    }

    /// The index of the unknown or switch of this name in [`Self::may_be_set`], if there is one.
    pub fn unknown(&self, name: &str) -> Option<usize> {
        self.may_be_set().position(|unknown| unknown.name == name)
    }

    /// All unknowns and switches.
    pub fn may_be_set(&self) -> impl Iterator<Item = &Unknown> {
        self.unknowns.iter().chain(&self.switches)
    }

    /// Adds a switch for what each part of the kernel's own work takes.
    pub fn add_kernel_costs(&mut self, costs: &[Cost]) {
        // The time of a callback is one of the unknowns, `callbacks.cost`, and no switch.
        for cost in costs.iter().filter(|cost| cost.name != "callback") {
            self.switches.push(Unknown {
                name: format!("{KERNEL}{}", cost.name),
                about: cost.about.clone(),
                unit: "ns".to_owned(),
                range: Range::Numbers {
                    low: 0,
                    high: MOST,
                    log: false,
                },
                central: Value::Number(cost.ns),
                source: cost.source.clone(),
            });
        }
    }

    fn find(&self, name: &str) -> Option<&Unknown> {
        self.unknowns.iter().find(|unknown| unknown.name == name)
    }

    /// The values of the unknown of a name, if that has some.
    fn values(&self, name: &str) -> Option<&[Value]> {
        match &self.find(name)?.range {
            Range::Values(values) => Some(values),
            Range::Numbers { .. } => None,
        }
    }

    /// Refuses what is there twice, and names what is missing.
    fn has_all(&self) -> Result<(), Wrong> {
        let names = || self.may_be_set().map(|unknown| &unknown.name);
        if let Some(name) = names().duplicates().next() {
            let message = format!("there are two unknowns or switches `{name}`");
            ensure(false, 0..0, message, "give each a name of its own")?;
        }
        for (name, words) in SWITCHES {
            let words = Range::Values(words.map(|word| Value::Word(word.to_owned())).into());
            let mut switches = self.switches.iter();
            ensure(
                switches.any(|switch| switch.name == name && switch.range == words),
                0..0,
                format!("there is no [[switch]] `{name}` whose values are own and little"),
                "declare it, with central = \"own\" and a source",
            )?;
        }
        for (name, is_number) in REQUIRED {
            let kind = if is_number { "numbers" } else { "words" };
            ensure(
                self.find(name)
                    .is_some_and(|it| it.is_number() == is_number),
                0..0,
                format!("there is no [[unknown]] `{name}` whose values are {kind}"),
                "the kernel is made of it: declare its range, with a source or the word assumed",
            )?;
        }
        Ok(())
    }

    /// Adds a benchmark, with the tasks and semaphores of the one that it runs beside.
    fn add_benchmark(&mut self, mut added: Benchmark) -> Result<(), Wrong> {
        let name = &added.name;
        let place = added.tasks.first().map_or(0..0, Spanned::span);
        let named = |wanted: &str| self.benchmarks.iter().find(|of| of.name == wanted);
        ensure(
            named(name).is_none(),
            place.clone(),
            format!("there are two benchmarks `{name}`"),
            "give each a name of its own",
        )?;
        self.check_text(&added.latency, &["none", "zero"], &place)?;
        for task in &added.tasks {
            self.check_task(task.get_ref(), &added, &task.span())?;
        }
        if let Some(beside) = &added.beside {
            let (place, wanted) = (beside.span(), beside.get_ref());
            let message = format!("there is no benchmark `{wanted}` above `{name}`");
            let help = "name one that stands above it in the file".to_owned();
            let other = named(wanted).ok_or((place.clone(), message, help))?;
            if let Some(twice) = other.names().find(|other| added.names().contains(other)) {
                let message = format!("`{twice}` is in both `{name}` and `{wanted}`");
                ensure(false, place, message, "call one of them otherwise")?;
            }
            added.tasks.splice(0..0, other.tasks.iter().cloned());
            added.semaphores.extend(other.semaphores.clone());
        }
        let name = &added.name;
        let main = added.tasks.iter().find(|task| task.get_ref().main);
        let has_length = match (added.seconds, added.at_most_seconds) {
            (Some(1..=3600), None) => true,
            (None, Some(1..=3600)) => main.is_some(),
            _ => false,
        };
        ensure(
            has_length,
            place,
            format!("benchmark `{name}` has no length"),
            "give it `seconds`, or `at_most_seconds` and a task with main = true; an hour at most",
        )?;
        if let Some(task) = main.filter(|_| added.seconds.is_some()) {
            let message = format!(
                "benchmark `{name}` has a length and a main task `{}`",
                task.get_ref().name
            );
            ensure(false, task.span(), message, "leave out `seconds` or `main`")?;
        }
        self.benchmarks.push(added);
        Ok(())
    }

    fn check_task(
        &self,
        task: &Task,
        benchmark: &Benchmark,
        place: &Bytes<usize>,
    ) -> Result<(), Wrong> {
        let check = |holds: bool, message: &str, help: &str| {
            let message = format!("task `{}`: {message}", task.name);
            ensure(holds, place.clone(), message, help)
        };
        for (name, value) in &task.when {
            check(
                self.values(name).is_some_and(|of| of.contains(value)),
                &format!("no unknown `{name}` has the value `{value}`"),
                "take one of the `values` of an [[unknown]]",
            )?;
        }
        self.check_number(&task.instances, place)?;
        check(
            !matches!(task.instances, Term::Is(0 | 65..)),
            "it is there 1 to 64 times",
            "such as 2",
        )?;
        check(
            match (task.nice, task.priority) {
                (nice, None) => (-20..=19).contains(&nice.unwrap_or(0)),
                (None, Some(priority)) => (1..=99).contains(&priority),
                _ => false,
            },
            "no such priority",
            "give it `nice` from -20 to 19, or `priority` from 1 to 99, not both",
        )?;
        self.check_text(&task.cpus, &["any", "each", "cpu0", "little"], place)?;
        self.check_text(&task.calibrated, &["little", "big"], place)?;
        check(
            !task.main || task.loops.is_some(),
            "it is main and never ends",
            "give it `loops`",
        )?;
        let mut phases = task.phases.iter().filter(|phase| phase.repeat > 0);
        check(
            phases.any(|phase| !phase.actions.is_empty()),
            "it does nothing",
            "phase = [{ do = [\"run 1ms\"] }]",
        )?;
        for action in task.phases.iter().flat_map(|phase| &phase.actions) {
            match action {
                Do::Resume(name) => check(
                    benchmark.task_names().contains(&name),
                    &format!("there is no task `{name}`"),
                    &format!("there are {}", benchmark.task_names().join(", ")),
                )?,
                Do::Wait(name) | Do::Post(name) => check(
                    benchmark.semaphores.contains_key(name),
                    &format!("there is no semaphore `{name}`"),
                    "declare it: semaphores = { NAME = 0 }",
                )?,
                Do::Callbacks(term) => self.check_number(term, place)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn check_number(&self, term: &Term, place: &Bytes<usize>) -> Result<(), Wrong> {
        match term {
            Term::Unknown(name) => ensure(
                self.find(name).is_some_and(Unknown::is_number),
                place.clone(),
                format!("there is no number `${name}`"),
                "declare an [[unknown]] of that name",
            ),
            Term::Is(_) => Ok(()),
        }
    }

    fn check_text(&self, text: &Text, known: &[&str], place: &Bytes<usize>) -> Result<(), Wrong> {
        let is_known = |word: &str| known.contains(&word);
        let (said, fits) = match text {
            Text::Is(word) => (word.clone(), is_known(word)),
            Text::Unknown(name) => {
                let mut values = self.values(name).into_iter().flatten();
                let all = values.all(|of| matches!(of, Value::Word(word) if is_known(word)));
                (format!("${name}"), self.values(name).is_some() && all)
            }
        };
        let known = known.join(", ");
        let help = format!("write {known}, or $ and the name of an unknown that is one of them");
        ensure(
            fits,
            place.clone(),
            format!("`{said}` is not known here"),
            help,
        )
    }
}

impl Benchmark {
    fn task_names(&self) -> impl Iterator<Item = &String> {
        self.tasks.iter().map(|task| &task.get_ref().name)
    }

    /// Names of tasks and semaphores.
    fn names(&self) -> impl Iterator<Item = &String> {
        self.task_names().chain(self.semaphores.keys())
    }
}
