//! Benchmarks and what was not published of them: a file of `platforms/energy`, read and checked.

use crate::actions::{self, Do, Term};
use crate::unknown::{MOST, Range, Unknown, Value};
use document::Document;
use experiment::{Error, Result};
use itertools::Itertools;
use minikernel::{Cost, Policy};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::ops::Range as Bytes;
use toml::Spanned;

/// Benchmarks, and what was not published of them.
#[derive(Debug)]
pub struct Suite {
    /// One line about them.
    pub title: String,
    /// The document that published them.
    pub source: String,
    /// Seed of all draws.
    pub seed: u64,
    /// Runs at the central point, with a seed each.
    pub central_seeds: u32,
    /// Governor of the frequency.
    pub frequency: minikernel::Frequency,
    /// The policy that says which task runs where.
    pub placement: placement::Kind,
    /// The unknowns: what was not published.
    pub unknowns: Vec<Unknown>,
    /// The switches, which no draw changes: always at their central value unless somebody asks.
    pub switches: Vec<Unknown>,
    /// The benchmarks.
    pub benchmarks: Vec<Benchmark>,
    /// The file's text.
    pub text: String,
}

/// A benchmark.
#[derive(Debug)]
pub struct Benchmark {
    /// Name of the benchmark.
    pub name: String,
    /// True if its CPUs are busy all the time.
    pub busy: bool,
    /// The time that it runs.
    pub length: Length,
    /// The latency that it asks for: `none`, `zero`, or the unknown that says so.
    pub latency: Text,
    /// Semaphores of the benchmark, with what they start with.
    pub semaphores: Vec<(String, u32)>,
    /// Tasks of the benchmark.
    pub tasks: Vec<Task>,
    /// The source.
    pub source: String,
}

/// The time that a benchmark runs.
#[derive(Clone, Copy, Debug)]
pub enum Length {
    /// The seconds.
    Seconds(u64),
    /// Until its main tasks have ended; one that takes longer than this many seconds is broken.
    Work(u64),
}

/// A word, or the name of the unknown that it is.
#[derive(Clone, Debug, PartialEq)]
pub enum Text {
    /// This word.
    Is(String),
    /// The value of the unknown of this name.
    Unknown(String),
}

/// A task of a benchmark.
#[derive(Clone, Debug)]
pub struct Task {
    /// Name of the task.
    pub name: String,
    /// The unknown and the value with which it is there; always where there is none.
    pub when: Option<(String, Value)>,
    /// The number of times that it is there.
    pub instances: Term,
    /// The policy, which says who runs first.
    pub policy: Policy,
    /// CPUs on which it may run: `any`, `each` (instance 0 on CPU 0, and so on), `cpu0`, `little`
    /// (the first of them).
    pub cpus: Text,
    /// The core of which the times of `run` are: `little` or `big`.
    pub calibrated: Text,
    /// True if the benchmark is over when it has ended.
    pub main: bool,
    /// The number of times that it goes through its phases; `None` for ever.
    pub loops: Option<u32>,
    /// The phases: how often, and what in order.
    pub phases: Vec<(u32, Vec<Do>)>,
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

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileRead {
    title: String,
    source: String,
    frequency: Spanned<String>,
    placement: Spanned<String>,
    seed: u64,
    central_seeds: Spanned<u32>,
    #[serde(default)]
    unknown: Vec<Spanned<UnknownRead>>,
    #[serde(default)]
    switch: Vec<Spanned<UnknownRead>>,
    benchmark: Vec<Spanned<BenchmarkRead>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UnknownRead {
    name: String,
    about: String,
    values: Option<Vec<Value>>,
    low: Option<u64>,
    high: Option<u64>,
    spread: Option<Spanned<String>>,
    #[serde(default)]
    unit: String,
    central: Value,
    source: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BenchmarkRead {
    name: String,
    class: Spanned<String>,
    seconds: Option<u64>,
    at_most_seconds: Option<u64>,
    latency: Option<Spanned<String>>,
    #[serde(default)]
    semaphores: BTreeMap<String, u32>,
    source: String,
    /// A benchmark that stands above, all tasks of which run as well.
    beside: Option<Spanned<String>>,
    task: Vec<Spanned<TaskRead>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TaskRead {
    name: String,
    when: Option<Spanned<BTreeMap<String, Value>>>,
    instances: Option<Spanned<InstancesRead>>,
    nice: Option<i8>,
    priority: Option<u8>,
    cpus: Option<Spanned<String>>,
    calibrated: Option<Spanned<String>>,
    #[serde(default)]
    main: bool,
    loops: Option<u32>,
    phase: Vec<PhaseRead>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum InstancesRead {
    Number(u64),
    Text(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PhaseRead {
    #[serde(default = "once")]
    repeat: u32,
    #[serde(rename = "do")]
    actions: Vec<Spanned<String>>,
}

const fn once() -> u32 {
    1
}

/// The switches that every file has: the talk's further direction.
pub const SWITCHES: [(&str, [&str; 2]); 2] = [
    ("timers", ["own", "little"]),
    ("workqueues", ["own", "little"]),
];

/// The document that is read, for errors that point into it, and the unknowns that it has.
struct Reader<'d> {
    document: &'d Document,
    unknowns: Vec<Unknown>,
}

impl Suite {
    /// Reads a file.
    ///
    /// # Errors
    /// The file, the line, what is wrong and what would be right.
    pub fn read(document: &Document) -> Result<Self> {
        let read: FileRead = document.read()?;
        let mut reader = Reader {
            document,
            unknowns: Vec::new(),
        };
        let all = |read: Vec<_>| read.into_iter().map(|read| reader.unknown(read)).collect();
        let unknowns: Result<_> = all(read.unknown);
        let switches: Result<Vec<Unknown>> = all(read.switch);
        reader.unknowns = unknowns?;
        let switches = switches?;
        reader.has_all(&switches)?;
        let frequency = reader.frequency(&read.frequency)?;
        let placement = read.placement.get_ref().parse();
        let placement = placement.map_err(|help: String| {
            reader.wrong(
                read.placement.span(),
                "there is no such policy of placement",
                &help,
            )
        })?;
        if !(1..=1000).contains(read.central_seeds.get_ref()) {
            return Err(reader.wrong(
                read.central_seeds.span(),
                "the central point runs 1 to 1000 times",
                "such as 8",
            ));
        }
        let mut benchmarks: Vec<Benchmark> = Vec::new();
        for read in read.benchmark {
            let span = read.span();
            let benchmark = reader.benchmark(read, &benchmarks)?;
            if benchmarks.iter().any(|other| other.name == benchmark.name) {
                return Err(reader.wrong(
                    span,
                    &format!("there are two benchmarks `{}`", benchmark.name),
                    "give each a name of its own",
                ));
            }
            benchmarks.push(benchmark);
        }
        Ok(Self {
            title: read.title,
            source: read.source,
            seed: read.seed,
            central_seeds: read.central_seeds.into_inner(),
            frequency,
            placement,
            unknowns: reader.unknowns,
            switches,
            benchmarks,
            text: document.text().to_owned(),
        })
    }

    /// The idle states that may be meant, by their names.
    pub fn idle_states(&self) -> Vec<String> {
        let idle = self
            .unknowns
            .iter()
            .find(|unknown| unknown.name == "idle.states")
            .map(|unknown| &unknown.range);
        match idle {
            Some(Range::Values(values)) => values.iter().map(Value::to_string).collect(),
            _ => Vec::new(),
        }
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
}

impl Reader<'_> {
    fn wrong(&self, place: Bytes<usize>, message: &str, help: &str) -> Error {
        Error::file(self.document.wrong(place, message, help))
    }

    /// The values of the unknown of a name, if that has some.
    fn values(&self, name: &str) -> Option<&[Value]> {
        match &self
            .unknowns
            .iter()
            .find(|unknown| unknown.name == name)?
            .range
        {
            Range::Values(values) => Some(values),
            Range::Numbers { .. } => None,
        }
    }

    fn unknown(&self, read: Spanned<UnknownRead>) -> Result<Unknown> {
        let span = read.span();
        let read = read.into_inner();
        let wrong = |message: &str, help: &str| {
            Err(self.wrong(
                span.clone(),
                &format!("unknown `{}`: {message}", read.name),
                help,
            ))
        };
        let range = match (read.values, read.low, read.high) {
            (Some(values), None, None) if !values.is_empty() => Range::Values(values),
            (None, Some(low), Some(high)) => {
                if low > high || high > MOST {
                    return wrong(
                        &format!("{low} to {high} is no range"),
                        "low is not above high, and high at most 10000000",
                    );
                }
                let log = match read.spread.as_ref().map(|spread| spread.get_ref().as_str()) {
                    Some("even") | None => false,
                    Some("log") if low > 0 => true,
                    Some("log") => {
                        return wrong("low is 0", "a range of equal ratios begins above 0");
                    }
                    Some(other) => {
                        return wrong(
                            &format!("there is no spread `{other}`"),
                            "write even or log",
                        );
                    }
                };
                Range::Numbers { low, high, log }
            }
            _ => {
                return wrong(
                    "it has no range",
                    "give it `values`, or `low`, `high` and `spread`",
                );
            }
        };
        if read.source.trim().is_empty() {
            return wrong(
                "it has no source",
                "say where the range is from, or that it is assumed",
            );
        }
        let inside = match (&range, &read.central) {
            (Range::Values(values), central) => values.contains(central),
            (Range::Numbers { low, high, .. }, Value::Number(central)) => {
                (low..=high).contains(&central)
            }
            (Range::Numbers { .. }, Value::Word(_)) => false,
        };
        if !inside {
            return wrong(
                &format!("`central` is {}, which is outside its range", read.central),
                "take a value of the range",
            );
        }
        let (name, about, unit, source) = (read.name, read.about, read.unit, read.source);
        Ok(Unknown {
            name,
            about,
            unit,
            range,
            central: read.central,
            source,
        })
    }

    /// Refuses what is there twice, and names what is missing.
    fn has_all(&self, switches: &[Unknown]) -> Result {
        let names = self
            .unknowns
            .iter()
            .chain(switches)
            .map(|unknown| unknown.name.as_str())
            .collect_vec();
        for (at, name) in names.iter().enumerate() {
            if names[..at].contains(name) {
                return Err(self.wrong(
                    0..0,
                    &format!("there are two unknowns or switches `{name}`"),
                    "give each a name of its own",
                ));
            }
        }
        for (name, words) in SWITCHES {
            let words = Range::Values(words.map(|word| Value::Word(word.to_owned())).into());
            if !switches
                .iter()
                .any(|switch| switch.name == name && switch.range == words)
            {
                let message =
                    format!("there is no [[switch]] `{name}` whose values are own and little");
                return Err(self.wrong(
                    0..0,
                    &message,
                    "declare it, with central = \"own\" and a source",
                ));
            }
        }
        for (name, is_number) in REQUIRED {
            let fits = |unknown: &Unknown| matches!(unknown.central, Value::Number(_)) == is_number;
            if !self
                .unknowns
                .iter()
                .any(|unknown| unknown.name == name && fits(unknown))
            {
                let kind = if is_number { "numbers" } else { "words" };
                let message = format!("there is no [[unknown]] `{name}` whose values are {kind}");
                let help = "the kernel is made of it: declare its range, with a source or the word assumed";
                return Err(self.wrong(0..0, &message, help));
            }
        }
        Ok(())
    }

    fn frequency(&self, read: &Spanned<String>) -> Result<minikernel::Frequency> {
        Ok(match read.get_ref().as_str() {
            "highest" => minikernel::Frequency::Highest,
            "lowest" => minikernel::Frequency::Lowest,
            "schedutil" => minikernel::Frequency::Schedutil {
                rate_limit_ns: 10_000_000,
            },
            other => {
                return Err(self.wrong(
                    read.span(),
                    &format!("there is no frequency rule `{other}`"),
                    "write highest, lowest or schedutil",
                ));
            }
        })
    }

    /// The benchmark that another one, with its tasks and semaphores, runs beside.
    fn beside<'b>(
        &self,
        beside: &Spanned<String>,
        above: &'b [Benchmark],
        (name, names, semaphores): (&str, &[String], &[(String, u32)]),
    ) -> Result<&'b Benchmark> {
        let Some(other) = above.iter().find(|other| other.name == *beside.get_ref()) else {
            let message = format!(
                "there is no benchmark `{}` above `{}`",
                beside.get_ref(),
                name
            );
            return Err(self.wrong(
                beside.span(),
                &message,
                "name one that stands above it in the file",
            ));
        };
        let twice = other
            .tasks
            .iter()
            .map(|task| &task.name)
            .find(|task| names.contains(task));
        if let Some(twice) = twice.or(other
            .semaphores
            .iter()
            .find(|(name, _)| semaphores.iter().any(|(own, _)| own == name))
            .map(|(name, _)| name))
        {
            return Err(self.wrong(
                beside.span(),
                &format!("`{twice}` is in both `{name}` and `{}`", other.name),
                "call one of them otherwise",
            ));
        }
        Ok(other)
    }

    fn benchmark(&self, read: Spanned<BenchmarkRead>, above: &[Benchmark]) -> Result<Benchmark> {
        let span = read.span();
        let read = read.into_inner();
        let busy = match read.class.get_ref().as_str() {
            "busy" => true,
            "rest" => false,
            other => {
                return Err(self.wrong(
                    read.class.span(),
                    &format!("there is no class `{other}`"),
                    "write busy or rest",
                ));
            }
        };
        let names = read
            .task
            .iter()
            .map(|task| task.get_ref().name.clone())
            .collect_vec();
        let mut semaphores = read.semaphores.into_iter().collect_vec();
        let own: Vec<Task> = read
            .task
            .into_iter()
            .map(|task| self.task(task, &names, &semaphores))
            .collect::<Result<_, _>>()?;
        let mut tasks = Vec::new();
        if let Some(beside) = read.beside {
            let other = self.beside(&beside, above, (&read.name, &names, &semaphores))?;
            tasks.extend(other.tasks.iter().cloned());
            semaphores.extend(other.semaphores.iter().cloned());
        }
        tasks.extend(own);
        let length = match (read.seconds, read.at_most_seconds) {
            (Some(seconds @ 1..=3600), None) => Length::Seconds(seconds),
            (None, Some(seconds @ 1..=3600)) if tasks.iter().any(|task| task.main) => {
                Length::Work(seconds)
            }
            _ => {
                let message = format!("benchmark `{}` has no length", read.name);
                let help = "give it `seconds`, or `at_most_seconds` and a task with main = true; an hour at most";
                return Err(self.wrong(span, &message, help));
            }
        };
        if let (Length::Seconds(_), Some(task)) = (length, tasks.iter().find(|task| task.main)) {
            let message = format!(
                "benchmark `{}` has a length and a main task `{}`",
                read.name, task.name
            );
            return Err(self.wrong(span, &message, "leave out `seconds` or `main`"));
        }
        let latency = match read.latency {
            Some(latency) => self.text(&latency, &["none", "zero"])?,
            None => Text::Is("none".to_owned()),
        };
        Ok(Benchmark {
            name: read.name,
            busy,
            length,
            latency,
            semaphores,
            tasks,
            source: read.source,
        })
    }

    /// The number of instances of a task.
    fn instances(
        &self,
        read: Option<Spanned<InstancesRead>>,
        of: &impl Fn(&str) -> String,
    ) -> Result<Term> {
        Ok(match read {
            None => Term::Is(1),
            Some(instances) => {
                let span = instances.span();
                let term = match instances.into_inner() {
                    InstancesRead::Number(number) => Ok(Term::Is(number)),
                    InstancesRead::Text(text) => actions::term(&text),
                };
                let term = term.map_err(|help| {
                    self.wrong(span.clone(), &of("`instances` is no number"), &help)
                })?;
                self.number(&term, span.clone())?;
                if matches!(term, Term::Is(0 | 65..)) {
                    return Err(self.wrong(span, &of("it is there 1 to 64 times"), "such as 2"));
                }
                term
            }
        })
    }

    fn task(
        &self,
        read: Spanned<TaskRead>,
        names: &[String],
        semaphores: &[(String, u32)],
    ) -> Result<Task> {
        let span = read.span();
        let read = read.into_inner();
        let of = |message: &str| format!("task `{}`: {message}", read.name);
        let when = read
            .when
            .map(|when| self.condition(when, &of))
            .transpose()?;
        let instances = self.instances(read.instances, &of)?;
        let policy = match (read.nice, read.priority) {
            (nice, None) if nice.is_none_or(|nice| (-20..=19).contains(&nice)) => Policy::Fair {
                nice: nice.unwrap_or(0),
            },
            (None, Some(priority @ 1..=99)) => Policy::RealTime { priority },
            _ => {
                return Err(self.wrong(
                    span,
                    &of("no such priority"),
                    "give it `nice` from -20 to 19, or `priority` from 1 to 99, not both",
                ));
            }
        };
        let word = |text: Option<Spanned<String>>, usual: &str, known: &[&str]| match text {
            Some(text) => self.text(&text, known),
            None => Ok(Text::Is(usual.to_owned())),
        };
        let cpus = word(read.cpus, "any", &["any", "each", "cpu0", "little"])?;
        let calibrated = word(read.calibrated, "little", &["little", "big"])?;
        if read.main && read.loops.is_none() {
            return Err(self.wrong(span, &of("it is main and never ends"), "give it `loops`"));
        }
        let phases = self.phases(&read.phase, (names, semaphores), &of)?;
        if phases
            .iter()
            .all(|(repeat, actions)| *repeat == 0 || actions.is_empty())
        {
            return Err(self.wrong(
                span,
                &of("it does nothing"),
                "phase = [{ do = [\"run 1ms\"] }]",
            ));
        }
        let (name, main, loops) = (read.name, read.main, read.loops);
        Ok(Task {
            name,
            when,
            instances,
            policy,
            cpus,
            calibrated,
            main,
            loops,
            phases,
        })
    }

    /// An unknown and the value of it with which a task is there.
    fn condition(
        &self,
        when: Spanned<BTreeMap<String, Value>>,
        of: &impl Fn(&str) -> String,
    ) -> Result<(String, Value)> {
        let span = when.span();
        let mut pairs = when.into_inner().into_iter();
        let (Some((name, value)), None) = (pairs.next(), pairs.next()) else {
            return Err(self.wrong(
                span,
                &of("`when` is one unknown and its value"),
                "{ \"NAME\" = VALUE }",
            ));
        };
        match self.values(&name) {
            Some(values) if values.contains(&value) => Ok((name, value)),
            _ => Err(self.wrong(
                span,
                &of(&format!("no unknown `{name}` has the value `{value}`")),
                "take one of the `values` of an [[unknown]]",
            )),
        }
    }

    /// The phases of a task, each with its repetitions.
    fn phases(
        &self,
        read: &[PhaseRead],
        (names, semaphores): (&[String], &[(String, u32)]),
        of: &impl Fn(&str) -> String,
    ) -> Result<Vec<(u32, Vec<Do>)>> {
        let mut phases = Vec::new();
        for phase in read {
            let mut all = Vec::new();
            for text in &phase.actions {
                let wrong =
                    |what: String, help: &str| Err(self.wrong(text.span(), &of(&what), help));
                let action = match actions::parse(text.get_ref()) {
                    Ok(action) => action,
                    Err(help) => return wrong(format!("`{}` is no action", text.get_ref()), &help),
                };
                match &action {
                    Do::Resume(name) if !names.contains(name) => {
                        return wrong(
                            format!("there is no task `{name}`"),
                            &format!("there are {}", names.join(", ")),
                        );
                    }
                    Do::Wait(name) | Do::Post(name)
                        if !semaphores.iter().any(|(other, _)| other == name) =>
                    {
                        return wrong(
                            format!("there is no semaphore `{name}`"),
                            "declare it: semaphores = { NAME = 0 }",
                        );
                    }
                    Do::Callbacks(term) => self.number(term, text.span())?,
                    _ => {}
                }
                all.push(action);
            }
            phases.push((phase.repeat, all));
        }
        Ok(phases)
    }

    fn number(&self, term: &Term, place: Bytes<usize>) -> Result {
        let Term::Unknown(name) = term else {
            return Ok(());
        };
        match self.unknowns.iter().find(|unknown| unknown.name == *name) {
            Some(Unknown {
                central: Value::Number(_),
                ..
            }) => Ok(()),
            _ => Err(self.wrong(
                place,
                &format!("there is no number `${name}`"),
                "declare an [[unknown]] of that name",
            )),
        }
    }

    fn text(&self, text: &Spanned<String>, known: &[&str]) -> Result<Text> {
        let help = format!(
            "write {}, or $ and the name of an unknown that is one of them",
            known.join(", ")
        );
        let wrong = || {
            self.wrong(
                text.span(),
                &format!("`{}` is not known here", text.get_ref()),
                &help,
            )
        };
        let fits =
            |value: &Value| matches!(value, Value::Word(word) if known.contains(&word.as_str()));
        match text.get_ref().strip_prefix('$') {
            None if known.contains(&text.get_ref().as_str()) => {
                Ok(Text::Is(text.get_ref().clone()))
            }
            None => Err(wrong()),
            Some(name) => match self.values(name) {
                Some(values) if values.iter().all(fits) => Ok(Text::Unknown(name.to_owned())),
                _ => Err(wrong()),
            },
        }
    }
}
