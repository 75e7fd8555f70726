//! `placement`: a workload under each policy of placement, with an owner for each unit of energy.

mod work_costs;

use super::story::Story;
use crate::blocks::{
    Bar, Blocks, Cell, Dot, Drawing, Figure, IntervalRow, Number, Picture, Table, Text, figure, fixed, listed, name,
    text, whole,
};
use findings::Run;
use findings::rows::{InOrder, Row, named};
use recording::facts::{self, FactsError};
use recording::metrics::{self, Metric};
use recording::stats;
use serde::Serialize;
use std::collections::BTreeMap;
use work_costs::{Point, Top};

/// The case of each seed's figures.
const CASE: &str = "placement";
/// The case of the percentiles over all seeds.
const POOLED: &str = "all-seeds";
/// The policy that others are compared with.
const YARDSTICK: &str = "all-big";
const PERCENTS: [&str; 3] = ["p50", "p95", "p99"];

/// A workload under each policy.
#[derive(Serialize)]
pub(super) struct Placement<'r> {
    workload: String,
    platform: Option<&'r str>,
    frequency: String,
    rcu: String,
    seeds: u32,
    /// The task that latency is about: the first periodic one.
    task: Option<&'r str>,
    policies: Vec<Policy<'r>>,
    wins: Wins<'r>,
    expectations: Vec<Expected>,
    operating_points: Vec<Point<'r>>,
    top_points: Option<Top<'r>>,
    notes: &'r [String],
    recording: &'r str,
    #[serde(skip)]
    facts: facts::Placement,
}

/// The figures of a policy.
#[derive(Serialize)]
struct Policy<'r> {
    name: &'r str,
    energy_unit_s: Option<Interval>,
    energy_j: Option<Option<Interval>>,
    energy_of_all_big: Option<Interval>,
    /// By which share it finished fewer periods than the policy that finished most: what was left
    /// undone took no energy.
    unfinished_share: f64,
    run_time_s: Option<Interval>,
    running: InOrder<'r, f64>,
    /// The seed whose energy lies in the middle: its owners are those below.
    middle_seed: u64,
    owners_unit_s: InOrder<'r, f64>,
    wake_ups_per_s: InOrder<'r, f64>,
    idle_entered: InOrder<'r, f64>,
    idle_time_us: InOrder<'r, f64>,
    callbacks_per_s: f64,
    tasks: InOrder<'r, Task<'r>>,
    /// The share of the time in which the fastest domain runs.
    #[serde(skip)]
    big: Option<Interval>,
    /// Mean energy over the seeds, in units times seconds, by the integral and not by owners.
    #[serde(skip)]
    integral: f64,
    /// Energy with the middle seed, likewise.
    #[serde(skip)]
    middle_integral: f64,
}

/// A task under a policy.
#[derive(Serialize)]
struct Task<'r> {
    periods: f64,
    /// Periods of all seeds that were over when the task came to wait for the next one, and those
    /// that were left out because of that.
    missed_periods: f64,
    skipped_periods: f64,
    migrations: f64,
    /// Of a second, means over the seeds.
    cpu_time_us_per_s: f64,
    wake_ups_per_s: f64,
    /// Shares of the task's CPU time.
    share_by_cpu: InOrder<'r, f64>,
    share_by_operating_point: InOrder<'r, f64>,
    response_ms: Option<BTreeMap<&'static str, f64>>,
    p95_ms_by_seed: Option<Interval>,
    wake_latency_us: Option<BTreeMap<&'static str, f64>>,
}

/// The most tasks of a policy in a table.
const MOST_TASKS: usize = 12;

/// A name in the order in which people count: words, then numbers by size.
fn natural(name: &str) -> (String, u64) {
    let digits: String = name.chars().filter(char::is_ascii_digit).collect();
    (name.chars().filter(|letter| !letter.is_ascii_digit()).collect(), digits.parse().unwrap_or(0))
}

/// The range of some values over the seeds.
#[derive(Clone, Copy, Debug, Serialize)]
struct Interval {
    low: f64,
    median: f64,
    high: f64,
}

/// The policies for which something is least: several where it is the same to the last digit.
#[derive(Serialize)]
struct Wins<'r> {
    latency: Vec<&'r str>,
    energy: Vec<&'r str>,
    energy_at_latency_within_10_percent: Vec<&'r str>,
}

/// The expectation about the user interface before it ran, whether it holds, and what came out.
#[derive(Serialize)]
struct Expected {
    expectation: &'static str,
    holds: bool,
    found: String,
}

impl Interval {
    fn new(values: &[f64]) -> Option<Self> {
        let at = |q| stats::quantile(values, q);
        Some(Self { low: at(0.0)?, median: at(0.5)?, high: at(1.0)? })
    }

    fn times(self, factor: f64) -> Self {
        Self { low: self.low * factor, median: self.median * factor, high: self.high * factor }
    }

    fn ends(self, number: impl Fn(f64) -> Number) -> Cell {
        Cell::Range(number(self.low), number(self.high))
    }

    fn all(self) -> [f64; 3] {
        [self.low, self.median, self.high]
    }
}

/// The names of some rows, each once, in the order in which they first come.
fn distinct<'r>(names: impl Iterator<Item = &'r str>) -> Vec<&'r str> {
    let mut all = Vec::new();
    for name in names {
        if !name.is_empty() && !all.contains(&name) {
            all.push(name);
        }
    }
    all
}

/// The measures of a recording, and the number of seeds.
struct Measured<'r> {
    rows: Vec<Row<'r>>,
    seeds: u32,
}

impl<'r> Measured<'r> {
    fn of_metric(&self, case: &str, metric: Metric) -> impl Iterator<Item = &Row<'r>> {
        self.rows.iter().filter(move |row| row.is_of(case, metric))
    }

    /// The policies, in the order in which they ran.
    fn policies(&self) -> Vec<&'r str> {
        distinct(self.of_metric(CASE, metrics::ENERGY).map(|row| row.variant))
    }

    fn subjects(&self, case: &str, metric: Metric) -> Vec<&'r str> {
        distinct(self.of_metric(case, metric).map(|row| row.subject))
    }

    /// Values of a policy, one per seed; `subject` is empty for what has none.
    fn values(&self, policy: &str, metric: Metric, subject: &str) -> Vec<f64> {
        self.percentiles(policy, CASE, metric, subject, "")
    }

    fn mean(&self, policy: &str, metric: Metric, subject: &str) -> f64 {
        // A seed without such an energy counts as 0.
        self.values(policy, metric, subject).iter().fold(0.0, |sum, value| sum + value) / f64::from(self.seeds.max(1))
    }

    /// A percentile over the periods of all seeds, or of each.
    fn percentiles(&self, policy: &str, case: &str, metric: Metric, task: &str, percent: &str) -> Vec<f64> {
        self.of_metric(case, metric)
            .filter(|row| (row.variant, row.subject, row.role) == (policy, task, percent))
            .map(|row| row.value)
            .collect()
    }

    /// Shares of a task's CPU time, by what the metric parts it by; in the order of the parts'
    /// names.
    fn shares(&self, policy: &str, metric: Metric, task: &str) -> InOrder<'r, f64> {
        let rows = || self.of_metric(CASE, metric).filter(|row| (row.variant, row.subject) == (policy, task));
        let all: f64 = rows().map(|row| row.value).sum();
        let mut parts: Vec<(&str, f64)> = Vec::new();
        for row in rows() {
            match parts.iter_mut().find(|(name, _)| *name == row.role) {
                Some((_, sum)) => *sum += row.value / all,
                None => parts.push((row.role, row.value / all)),
            }
        }
        parts.sort_by_key(|(name, _)| natural(name));
        parts.into_iter().collect()
    }

    /// The seed of a policy whose energy lies in the middle, counted from the first.
    fn middle(&self, policy: &str) -> u32 {
        let of_policy = self.of_metric(CASE, metrics::ENERGY).filter(|row| row.variant == policy);
        let mut all: Vec<(f64, u32)> = of_policy.map(|row| (row.value, row.iteration)).collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        all.get(all.len().saturating_sub(1) / 2).map_or(0, |(_, iteration)| *iteration)
    }

    fn task(&self, policy: &str, task: &str) -> Task<'r> {
        let pooled = |metric: Metric| {
            let values = PERCENTS.into_iter().filter_map(|percent| {
                let value = self.percentiles(policy, POOLED, metric, task, percent).first().copied()?;
                Some((percent, value))
            });
            Some(values.collect::<BTreeMap<_, _>>()).filter(|map| !map.is_empty())
        };
        let sum = |metric: Metric| self.values(policy, metric, task).iter().fold(0.0, |sum, value| sum + value);
        let seconds = self.values(policy, metrics::RUN_TIME, "").iter().fold(0.0, |sum, value| sum + value);
        let per_s = |metric: Metric| if seconds > 0.0 { sum(metric) / seconds } else { 0.0 };
        Task {
            periods: sum(metrics::PERIODS),
            missed_periods: sum(metrics::MISSED_PERIODS),
            skipped_periods: sum(metrics::SKIPPED_PERIODS),
            migrations: self.mean(policy, metrics::MIGRATIONS, task),
            cpu_time_us_per_s: per_s(metrics::CPU_TIME),
            wake_ups_per_s: per_s(metrics::TASK_WAKE_UPS),
            share_by_cpu: self.shares(policy, metrics::CPU_TIME_ON, task),
            share_by_operating_point: self.shares(policy, metrics::CPU_TIME_AT, task),
            response_ms: pooled(metrics::RESPONSE),
            p95_ms_by_seed: Interval::new(&self.percentiles(policy, CASE, metrics::RESPONSE, task, "p95")),
            wake_latency_us: pooled(metrics::WAKE_LATENCY),
        }
    }
}

/// Reads the policies.
pub(super) fn read<'r>(run: &Run<'r>) -> Result<Placement<'r>, FactsError> {
    let recording = run.recording;
    let facts: facts::Placement = recording.header.facts()?;
    let measured = Measured { rows: named(recording), seeds: recording.header.iterations };
    let names = measured.policies();
    let task = measured.subjects(POOLED, metrics::RESPONSE).first().copied();
    let periods = |policy: &str| task.map_or(0.0, |task| measured.mean(policy, metrics::PERIODS, task));
    let most_periods = names.iter().map(|policy| periods(policy)).fold(0.0, f64::max);
    let yardstick = measured.values(YARDSTICK, metrics::ENERGY, "");
    let watts = facts.power.as_ref().and_then(|power| power.watts_per_unit);
    let of_policy = |policy: &'r str| {
        let energy = measured.values(policy, metrics::ENERGY, "");
        let by = |metric: Metric| -> InOrder<'r, f64> {
            let names = measured.subjects(CASE, metric).into_iter();
            names.map(|name| (name, measured.mean(policy, metric, name))).collect()
        };
        let relative = energy.iter().zip(&yardstick).filter(|(_, other)| **other > 0.0).map(|(own, other)| own / other);
        let tasks = measured.subjects(CASE, metrics::MIGRATIONS).into_iter();
        let middle = measured.middle(policy);
        let of_middle = |metric: Metric| {
            let rows = measured.of_metric(CASE, metric);
            rows.filter(|row| (row.variant, row.iteration) == (policy, middle)).map(|row| (row.subject, row.value))
        };
        Policy {
            name: policy,
            energy_unit_s: Interval::new(&energy),
            energy_j: watts.map(|watts| Interval::new(&energy).map(|energy| energy.times(watts))),
            energy_of_all_big: Interval::new(&relative.collect::<Vec<_>>()),
            unfinished_share: if most_periods > 0.0 { 1.0 - periods(policy) / most_periods } else { 0.0 },
            run_time_s: Interval::new(&measured.values(policy, metrics::RUN_TIME, "")),
            running: by(metrics::RUNNING),
            middle_seed: recording.header.seed + u64::from(middle),
            owners_unit_s: of_middle(metrics::OWNED_ENERGY).collect(),
            middle_integral: of_middle(metrics::ENERGY).map(|(_, energy)| energy).sum(),
            wake_ups_per_s: by(metrics::WAKE_UP_RATE),
            idle_entered: by(metrics::IDLE_ENTERED),
            idle_time_us: by(metrics::IDLE_TIME),
            callbacks_per_s: measured.mean(policy, metrics::CALLBACK_RATE, ""),
            tasks: tasks.map(|task| (task, measured.task(policy, task))).collect(),
            big: Interval::new(&measured.values(policy, metrics::RUNNING, &facts.big)),
            integral: measured.mean(policy, metrics::ENERGY, ""),
        }
    };
    let policies: Vec<Policy<'_>> = names.into_iter().map(of_policy).collect();
    let (operating_points, top_points) = work_costs::read(&measured.rows, &recording.header);
    Ok(Placement {
        workload: facts.workload.clone(),
        platform: recording.header.platform.as_ref().map(|platform| platform.name.as_str()),
        frequency: facts.frequency.clone(),
        rcu: facts.rcu.clone(),
        seeds: recording.header.iterations,
        task,
        wins: wins(&policies, task),
        expectations: if facts.usual_workload { expectations(&policies, task) } else { Vec::new() },
        policies,
        operating_points,
        top_points,
        notes: &recording.header.notes,
        recording: run.folder,
        facts,
    })
}

impl Policy<'_> {
    /// A percentile of a task's response in ms.
    fn response(&self, task: Option<&str>, percent: &str) -> Option<f64> {
        self.tasks.get(task?)?.response_ms.as_ref()?.get(percent).copied()
    }

    fn p95(&self, task: Option<&str>) -> Option<f64> {
        self.response(task, "p95")
    }
}

/// The names of the policies for which something is least, and that least.
fn least<'r>(policies: &[Policy<'r>], of: impl Fn(&Policy<'r>) -> Option<f64>) -> (Vec<&'r str>, f64) {
    let known = || policies.iter().filter_map(|policy| Some((policy.name, of(policy)?)));
    let Some(value) = known().map(|(_, value)| value).reduce(f64::min) else { return (Vec::new(), 0.0) };
    (known().filter(|(_, own)| *own == value).map(|(name, _)| name).collect(), value)
}

/// The fastest, the thriftiest, and the thriftiest of those whose p95 is within 10 % of the
/// fastest's.
fn wins<'r>(policies: &[Policy<'r>], task: Option<&str>) -> Wins<'r> {
    let (latency, fastest) = least(policies, |policy| policy.p95(task));
    let is_near = |policy: &Policy<'_>| policy.p95(task).is_some_and(|own| own <= fastest * 1.1);
    let both = least(policies, |policy| Some(policy.integral).filter(|_| is_near(policy)));
    Wins {
        latency,
        energy: least(policies, |policy| Some(policy.integral)).0,
        energy_at_latency_within_10_percent: both.0,
    }
}

fn expectations(policies: &[Policy<'_>], task: Option<&str>) -> Vec<Expected> {
    let find = |name: &str| policies.iter().find(|policy| policy.name == name);
    let ratio = |policy| Some(find(policy)?.p95(task)? / find(YARDSTICK)?.p95(task)?);
    let mut all = Vec::new();
    for (name, late, thrifty) in [
        (
            "hmp",
            "under HMP the render thread's p95 is within 10 % of all-big's",
            "HMP takes less energy than all-big, with every seed",
        ),
        (
            "hmp-early",
            "under hmp-early, with the thresholds of HMP's first patches, that p95 is within 10 % of all-big's",
            "hmp-early takes less energy than all-big, with every seed",
        ),
    ] {
        let Some(ratio) = ratio(name) else { continue };
        let energy = find(name).and_then(|policy| policy.energy_of_all_big);
        all.push(Expected {
            expectation: late,
            holds: (ratio - 1.0).abs() <= 0.1,
            found: format!("{ratio:.2} times all-big's"),
        });
        let share = energy.map(|energy| energy.times(100.0).ends(|share| fixed(share, 1)).plain());
        all.push(Expected {
            expectation: thrifty,
            holds: energy.is_some_and(|energy| energy.high < 1.0),
            found: format!("{} % of all-big's", share.unwrap_or_default()),
        });
    }
    if let Some(ratio) = ratio("even") {
        all.push(Expected {
            expectation: "even spread is at least 1.5 times as slow as all-big (p95)",
            holds: ratio >= 1.5,
            found: format!("{ratio:.2} times all-big's"),
        });
    }
    all
}

impl Story for Placement<'_> {
    fn tell(&self, told: &mut Blocks) {
        if !self.policies.is_empty() {
            told.answer(self.answer());
            if let Some(picture) = self.picture() {
                told.picture(picture);
            }
            told.table(self.overview());
            self.judged(told);
            told.note(self.settings());
            if let Some(missed) = self.missed() {
                told.table(missed);
            }
            told.rest();
            if let Some(picture) = self.owners_picture() {
                told.picture(picture);
            }
            told.table(self.owners());
            told.table(self.where_tasks_ran("CPU time of", |task| &task.share_by_cpu));
            told.table(self.where_tasks_ran("CPU time of", |task| &task.share_by_operating_point));
            told.table(self.by_subject("woken by, per s", |policy| &policy.wake_ups_per_s));
            told.table(self.latencies("response p95, ms", |task| task.response_ms.as_ref()?.get("p95").copied()));
            told.table(
                self.latencies("woken late by p99, us", |task| task.wake_latency_us.as_ref()?.get("p99").copied()),
            );
        }
        if let Some(top) = &self.top_points {
            let words = top.words();
            if self.policies.is_empty() { told.answer(words) } else { told.paragraph(words) }
        }
        if self.policies.is_empty() {
            told.table(work_costs::table(&self.operating_points));
        }
    }
}

impl<'r> Placement<'r> {
    fn has_yardstick(&self) -> bool {
        self.policies.iter().any(|policy| policy.name == YARDSTICK)
    }

    /// The energy's unit, and how many of it a unit of the platform's table is.
    fn unit(&self) -> (&'static str, f64) {
        let watts = self.facts.power.as_ref().and_then(|power| power.watts_per_unit);
        watts.map_or(("unit s", 1.0), |watts| ("J", watts))
    }

    fn find(&self, name: &str) -> Option<&Policy<'r>> {
        self.policies.iter().find(|policy| policy.name == name)
    }

    /// Which policy takes least energy and is fast, and what the fastest takes.
    fn answer(&self) -> Text {
        let names = |names: &[&'r str]| listed(names.iter().map(|policy| name(*policy)));
        let (unit, scale) = self.unit();
        let energy = |policy: &str| {
            let energy = self.find(policy).and_then(|policy| policy.energy_unit_s);
            energy.map_or_else(String::new, |energy| energy.times(scale).ends(figure).plain())
        };
        let share = |policy: &str| {
            let of = self.find(policy).and_then(|policy| policy.energy_of_all_big).filter(|_| policy != YARDSTICK);
            of.map_or_else(String::new, |of| {
                format!(", {} % of all-big's", of.times(100.0).ends(|share| fixed(share, 1)).plain())
            })
        };
        let mut words = Text::default();
        if let (Some(task), [first, ..]) = (self.task, &self.wins.latency[..]) {
            let p95 = self.find(first).and_then(|policy| policy.p95(self.task)).unwrap_or(0.0);
            words.extend(text!["Lowest latency: "]);
            words.extend(names(&self.wins.latency));
            words.extend(text![format!(", with {} ms as p95 of ", figure(p95)), name(task), ". "]);
        }
        if let [first, ..] = &self.wins.energy_at_latency_within_10_percent[..] {
            words.extend(text!["Least energy among those whose p95 is within 10 % of the lowest: "]);
            words.extend(names(&self.wins.energy_at_latency_within_10_percent));
            words.push(format!(" ({} {unit}{}). ", energy(first), share(first)));
        }
        if let [first, ..] = &self.wins.energy[..] {
            words.extend(text!["Least energy of all: "]);
            words.extend(names(&self.wins.energy));
            let missing = self.find(first).map_or(0.0, |policy| policy.unfinished_share);
            words.push(format!(" ({} {unit}{})", energy(first), share(first)));
            if let Some(task) = self.task.filter(|_| missing > 0.01) {
                words.push(format!(", which finished {:.0} % fewer periods of ", missing * 100.0));
                words.extend(text![name(task), " than others"]);
            }
            words.push(".");
        }
        words
    }

    /// Energy against p95, a dot for each policy; energy alone where no task has periods.
    fn picture(&self) -> Option<Picture> {
        let (unit, scale) = self.unit();
        let energy = |policy: &Policy<'_>| Some(policy.energy_unit_s?.times(scale));
        let dot = |policy: &Policy<'_>| {
            let pooled = policy.p95(self.task)?;
            let by_seed = policy.tasks.get(self.task?).and_then(|task| task.p95_ms_by_seed);
            let x = by_seed.map_or([pooled; 3], |seeds| [seeds.low.min(pooled), pooled, seeds.high.max(pooled)]);
            Some(Dot { name: policy.name.to_owned(), x, y: energy(policy)?.all() })
        };
        let dots: Vec<Dot> = self.policies.iter().filter_map(dot).collect();
        if let Some(task) = self.task.filter(|_| !dots.is_empty()) {
            let x = (format!("p95 of {task}"), "ms".to_owned());
            let picture = Picture::new("Energy against latency", "energy", unit, Drawing::Dots { x, dots });
            return Some(
                picture.noted("Lower and further left is better; lines are from the lowest seed to the highest."),
            );
        }
        let row = |policy: &Policy<'_>| {
            let energy = energy(policy)?;
            Some(IntervalRow {
                name: policy.name.to_owned(),
                series: policy.name.to_owned(),
                low: energy.low,
                middle: energy.median,
                high: energy.high,
                published: None,
            })
        };
        let rows = self.policies.iter().filter_map(row).collect();
        Some(Picture::new("Energy by policy", "energy", unit, Drawing::Intervals(rows)))
    }

    fn overview(&self) -> Table {
        let (task, (unit, scale)) = (self.task, self.unit());
        let ends: Vec<f64> =
            self.policies.iter().filter_map(|policy| policy.run_time_s).flat_map(Interval::all).collect();
        let ends_itself = ends.windows(2).any(|two| two[0] != two[1]);
        let share = |of: Option<Interval>| of.map(|of| of.times(100.0).ends(|share| fixed(share, 1)));
        let table = Table::with_rows(&self.policies)
            .words("policy", |policy| name(policy.name))
            .when(task.is_some(), |table| {
                let of = |policy: &Policy<'_>| policy.tasks.get(task?).map(|task| whole(task.periods));
                table.numbers("periods", "", of).each(PERCENTS, |table, percent| {
                    table.numbers(percent, "ms", move |policy| policy.response(task, percent).map(figure))
                })
            })
            .when(ends_itself, |table| {
                table.numbers("time", "s", |policy| policy.run_time_s.map(|time| time.ends(figure)))
            })
            .numbers("energy", unit, |policy| policy.energy_unit_s.map(|energy| energy.times(scale).ends(figure)))
            .when(self.has_yardstick(), |table| {
                table.numbers("% of all-big's", "", |policy| share(policy.energy_of_all_big))
            })
            .numbers(format!("{} runs, %", self.facts.big), "", |policy| share(policy.big))
            .numbers("moves", "", |policy| fixed(policy.tasks.values().map(|task| task.migrations).sum(), 0));
        let note = task.map_or_else(Text::default, |task| {
            text![
                "p50, p95 and p99 of ",
                name(task),
                ": from the beginning of its period to the end of its work, over the periods of all seeds. Other intervals are from the \
                 lowest seed to the highest; moves are those of all tasks in a run, on average."
            ]
        });
        table.done().noted(note)
    }

    fn judged(&self, told: &mut Blocks) {
        let item = |of: &Expected| {
            let holds = if of.holds { "holds" } else { "does not hold" };
            Text::from(format!("Expected: {}: {holds} ({}).", of.expectation, of.found))
        };
        told.list(self.expectations.iter().map(item).collect());
    }

    /// The settings of the run in a sentence.
    fn settings(&self) -> Text {
        let sooner =
            self.policies.iter().filter_map(|policy| policy.run_time_s).any(|time| time.low < self.facts.seconds);
        text![
            name(self.workload.as_str()),
            format!(
                " on {}, {}, RCU {}; {} seeds of {} s{}.",
                self.platform.unwrap_or(""),
                match self.frequency.as_str() {
                    "schedutil" => "frequencies follow the load",
                    _ => "at the highest operating points",
                },
                self.rcu,
                self.seeds,
                self.facts.seconds,
                if sooner { " at most" } else { "" }
            )
        ]
    }

    /// Periodic tasks that were late for their next period, under any policy.
    fn missed(&self) -> Option<Table> {
        let mut rows = Vec::new();
        for policy in &self.policies {
            let late = policy.tasks.0.iter().filter(|(_, of)| of.missed_periods > 0.0);
            rows.extend(late.map(|(task, of)| (policy.name, *task, of)));
        }
        (!rows.is_empty()).then(|| {
            let share = |of: &Task<'_>| fixed(of.missed_periods / of.periods.max(1.0) * 100.0, 1);
            Table::with_rows(&rows)
                .words("late for the next period", |(_, task, _)| name(*task))
                .words("policy", |(policy, ..)| name(*policy))
                .numbers("periods", "", |(_, _, of)| whole(of.periods))
                .numbers("late", "", |(_, _, of)| whole(of.missed_periods))
                .numbers("late", "%", |(_, _, of)| share(of))
                .numbers("left out", "", |(_, _, of)| whole(of.skipped_periods))
                .done()
                .noted("All seeds. A timer of mode relative starts anew when it is late, and leaves out the periods that are over.")
        })
    }

    /// The tasks with most CPU time, and where or how fast: a row per policy and task.
    fn where_tasks_ran(&self, title: &str, of: impl for<'t> Fn(&'t Task<'r>) -> &'t InOrder<'r, f64>) -> Table {
        let mut rows = Vec::new();
        let mut left_out = 0;
        for policy in &self.policies {
            let mut tasks: Vec<(&str, &Task<'r>)> = policy.tasks.0.iter().map(|(task, of)| (*task, of)).collect();
            tasks.sort_by(|(_, a), (_, b)| b.cpu_time_us_per_s.total_cmp(&a.cpu_time_us_per_s));
            left_out = tasks.len().saturating_sub(MOST_TASKS);
            rows.extend(tasks.into_iter().take(MOST_TASKS).map(|(task, of)| (policy.name, task, of)));
        }
        let mut places = distinct(rows.iter().flat_map(|(_, _, task)| of(task).names()));
        places.sort_by_key(|place| natural(place));
        let table = Table::with_rows(&rows)
            .words(title, |(_, task, _)| name(*task))
            .words("policy", |(policy, ..)| name(*policy))
            .numbers("", "ms/s", |(_, _, of)| figure(of.cpu_time_us_per_s / 1e3))
            .numbers("woken", "1/s", |(_, _, of)| figure(of.wake_ups_per_s))
            .each(&places, |table, place| {
                table.numbers(format!("{place}, %"), "", |(_, _, task)| {
                    of(task).get(place).map(|share| fixed(share * 100.0, 0))
                })
            })
            .done();
        let more = if left_out == 0 { "" } else { " The tasks with most of it; JSON has all." };
        table.noted(format!("CPU time of all seeds, and the part of it on a CPU or at an operating point.{more}"))
    }

    /// The owners under any policy, the most first.
    fn owner_names(&self) -> Vec<&'r str> {
        let mut names = distinct(self.policies.iter().flat_map(|policy| policy.owners_unit_s.names()));
        let of = |policy: &Policy<'_>, owner: &str| policy.owners_unit_s.get(owner).copied().unwrap_or(0.0);
        let most = |name: &str| self.policies.iter().map(|policy| of(policy, name)).fold(0.0, f64::max);
        names.sort_by(|a, b| most(b).total_cmp(&most(a)));
        names
    }

    /// The same as a bar for each policy.
    fn owners_picture(&self) -> Option<Picture> {
        let (unit, scale) = self.unit();
        let names = self.owner_names();
        let bar = |policy: &Policy<'_>| {
            let part = |owner: &&str| {
                let energy = policy.owners_unit_s.get(owner)? * scale;
                Some(((*owner).to_owned(), Figure { value: energy, published: None }))
            };
            Bar { name: policy.name.to_owned(), parts: names.iter().filter_map(part).collect() }
        };
        let bars: Vec<Bar> = self.policies.iter().map(bar).collect();
        let picture = Picture::new("Energy by owner", "energy", unit, Drawing::Bars(bars));
        (!names.is_empty()).then(|| picture.noted(self.of_the_middle()))
    }

    /// Whose run the owners are of.
    fn of_the_middle(&self) -> String {
        let seeds = self.policies.iter().map(|policy| format!("{} {}", policy.name, policy.middle_seed));
        format!(
            "Of one run for each policy: the seed whose energy lies in the middle ({}).",
            seeds.collect::<Vec<_>>().join(", ")
        )
    }

    /// Energy by owner, the most first, with its sum.
    fn owners(&self) -> Table {
        let (unit, scale) = self.unit();
        let of = |policy: &Policy<'_>, owner: &str| policy.owners_unit_s.get(owner).copied().unwrap_or(0.0) * scale;
        let names = self.owner_names();
        let mut table = Table::with_rows(&names)
            .words(format!("energy of, {unit}"), |owner| name(*owner))
            .each(&self.policies, |table, policy| {
                table.numbers(policy.name, "", move |owner| figure(of(policy, owner)))
            })
            .done();
        let last = |words: &str, value: &dyn Fn(&Policy<'_>) -> f64| {
            let cells = self.policies.iter().map(|policy| Cell::from(figure(value(policy))));
            std::iter::once(Cell::from(words)).chain(cells).collect::<Vec<_>>()
        };
        table.rows.push(last("all owners", &|policy| names.iter().map(|owner| of(policy, owner)).sum()));
        table.rows.push(last("the integral", &|policy| policy.middle_integral * scale));
        table.noted(format!("{} Below, by cause: means over the seeds.", self.of_the_middle()))
    }

    fn by_subject(&self, title: &str, of: impl for<'p> Fn(&'p Policy<'r>) -> &'p InOrder<'r, f64>) -> Table {
        let names: Vec<&str> = self.policies.first().map_or_else(Vec::new, |policy| of(policy).names());
        Table::with_rows(&names)
            .words(title, |subject| name(*subject))
            .each(&self.policies, |table, policy| {
                table.numbers(policy.name, "", |subject| of(policy).get(subject).copied().map(figure))
            })
            .done()
    }

    /// A percentile of each task that has it, by policy.
    fn latencies(&self, title: &str, of: impl Fn(&Task<'_>) -> Option<f64>) -> Table {
        let has = |task: &&str| self.policies.iter().any(|policy| policy.tasks.get(task).and_then(&of).is_some());
        let tasks = self.policies.first().map_or_else(Vec::new, |policy| policy.tasks.names());
        let tasks: Vec<&str> = tasks.into_iter().filter(has).collect();
        Table::with_rows(&tasks)
            .words(title, |task| name(*task))
            .each(&self.policies, |table, policy| {
                table.numbers(policy.name, "", |task| policy.tasks.get(task).and_then(&of).map(figure))
            })
            .done()
    }
}
