//! `placement`: a workload under each policy of placement, with an owner for each unit of energy.

mod work_costs;

pub use work_costs::{Point, Top};

use crate::rows::{InOrder, Row, named};
use crate::{Interval, Run};
use evidence::Leaders;
use itertools::Itertools;
use recording::facts::{self, FactsError};
use recording::metrics::{self, Metric};
use recording::{distinct, grouped, total_order};
use schemars::JsonSchema;
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The case of each seed's figures.
const CASE: &str = "placement";

/// The part of workloads alike under all policies of which one is told to take the least energy.
const LEVEL: f64 = 0.05;

/// The case of the percentiles over all seeds.
const POOLED: &str = "all-seeds";

/// The policy that others are compared with.
pub const YARDSTICK: &str = "all-big";

/// The percentiles of a task's response.
pub const PERCENTS: [&str; 3] = ["p50", "p95", "p99"];

/// A workload under each policy.
#[derive(Serialize, JsonSchema)]
pub struct Placement<'r> {
    /// The workload's name.
    pub workload: String,
    /// The platform's name.
    pub platform: Option<&'r str>,
    /// The rule for frequencies: `schedutil`, or the highest operating points.
    pub frequency: String,
    /// The configuration of RCU.
    pub rcu: String,
    /// The number of seeds.
    pub seeds: u32,
    /// The task that latency is about: the first periodic one.
    pub task: Option<&'r str>,
    /// The policies, in the order in which they ran.
    pub policies: Vec<Policy<'r>>,
    /// The policies for which latency or energy is least.
    pub wins: Wins<'r>,
    /// The cost of work at each operating point.
    pub operating_points: Vec<Point<'r>>,
    /// The top points of the fastest domain and of the slowest; `None` with one domain.
    pub top_points: Option<Top<'r>>,
    /// Sentences that the run left about itself.
    pub notes: &'r [String],
    /// The recording's folder, as it was named on the command line.
    pub recording: &'r str,
    /// The settings of the run; its class in Python would be called as this one is.
    #[serde(skip)]
    pub facts: facts::Placement,
}

/// The figures of a policy.
#[derive(Serialize, JsonSchema)]
pub struct Policy<'r> {
    /// The policy's name.
    pub name: &'r str,
    /// Energy in units of the platform's table times seconds.
    pub energy_unit_s: Option<Interval>,
    /// Energy in joules; `None` where no unit is known in watts.
    pub energy_j: Option<Option<Interval>>,
    /// Energy as a multiple of that of all-big, seed by seed.
    pub energy_of_all_big: Option<Interval>,
    /// The task of whose work it left most undone.
    pub unfinished: Option<&'r str>,
    /// The share of that task's work which it left undone, against the policy that did most of it:
    /// what is not done takes no energy.
    pub unfinished_share: f64,
    /// The share that it did of all work, each task against the policy that did most of it. Energies
    /// are ranked by what they are for the same work.
    pub work_share: f64,
    /// True if no task stopped and hardly any work was left undone: only then do energies compare.
    pub is_done: bool,
    /// Run time in seconds.
    pub run_time_s: Option<Interval>,
    /// The share of the time in which each domain runs, from 0 to 1.
    pub running: InOrder<'r, f64>,
    /// The seed whose energy lies in the middle: its owners are those below.
    pub middle_seed: u64,
    /// Energy of each owner with the middle seed, in units times seconds.
    pub owners_unit_s: InOrder<'r, f64>,
    /// Wake-ups per second by their cause, means over the seeds.
    pub wake_ups_per_s: InOrder<'r, f64>,
    /// Entries into each idle state, means over the seeds.
    pub idle_entered: InOrder<'r, f64>,
    /// Time in each idle state in microseconds, means over the seeds.
    pub idle_time_us: InOrder<'r, f64>,
    /// Callbacks of RCU per second, mean over the seeds.
    pub callbacks_per_s: f64,
    /// The tasks by name.
    pub tasks: InOrder<'r, Task<'r>>,
    /// The share of the time in which the fastest domain runs.
    pub big: Option<Interval>,
    /// Energy seed by seed, in units times seconds, by the integral and not by owners.
    pub integrals: Vec<f64>,
    /// Energy with the middle seed, likewise.
    pub middle_integral: f64,
}

/// A task under a policy.
#[derive(Serialize, JsonSchema)]
pub struct Task<'r> {
    /// Periods of all seeds.
    pub periods: f64,
    /// Periods of all seeds that were over when the task came to wait for the next one, and those
    /// that were left out because of that.
    pub missed_periods: f64,
    /// Periods of all seeds that were left out.
    pub skipped_periods: f64,
    /// Moves between CPUs, mean over the seeds.
    pub migrations: f64,
    /// CPU time in microseconds per second, over all seeds.
    pub cpu_time_us_per_s: f64,
    /// The work of all seeds, in microseconds of a core of capacity 1024.
    pub work_us: f64,
    /// Wake-ups per second, over all seeds.
    pub wake_ups_per_s: f64,
    /// Shares of the task's CPU time by CPU, from 0 to 1.
    pub share_by_cpu: InOrder<'r, f64>,
    /// Shares of its CPU time by operating point, from 0 to 1.
    pub share_by_operating_point: InOrder<'r, f64>,
    /// Percentiles of its response in milliseconds, over the periods of all seeds.
    pub response_ms: Option<BTreeMap<&'static str, f64>>,
    /// The 95th percentile of its response in milliseconds, over the seeds.
    pub p95_ms_by_seed: Option<Interval>,
    /// Percentiles of how late it is woken, in microseconds.
    pub wake_latency_us: Option<BTreeMap<&'static str, f64>>,
}

/// The most tasks of a policy in a table.
pub const MOST_TASKS: usize = 12;

/// A name in the order in which people count: words, then numbers by size.
pub fn natural(name: &str) -> (String, u64) {
    let digits: String = name.chars().filter(char::is_ascii_digit).collect();
    (
        name.chars()
            .filter(|letter| !letter.is_ascii_digit())
            .collect(),
        digits.parse().unwrap_or(0),
    )
}

/// The policies for which something is least: several where three digits do not tell them apart,
/// and none where that is all of them.
#[derive(Serialize, JsonSchema)]
pub struct Wins<'r> {
    /// The policies with the lowest latency.
    pub latency: Vec<&'r str>,
    /// The policies with the least energy, of those that did all work.
    pub energy: Vec<&'r str>,
    /// The policies with the least energy of those whose latency is within 10 % of the lowest.
    pub energy_at_latency_within_10_percent: Vec<&'r str>,
}

/// The names of some rows, each once, in the order in which they first come.
fn not_empty<'r>(names: impl Iterator<Item = &'r str>) -> Vec<&'r str> {
    distinct(names.filter(|name| !name.is_empty()))
}

/// The measures of a recording, the capacity of each operating point, and the number of seeds.
struct PolicyMeasures<'r> {
    capacities: BTreeMap<&'r str, f64>,
    rows: Vec<Row<'r>>,
    seeds: u32,
}

impl<'r> PolicyMeasures<'r> {
    /// What a policy did; the energy of each seed stands beside the yardstick's.
    fn policy(
        &self,
        policy: &'r str,
        facts: &facts::Placement,
        yardstick: &[f64],
        seed: u64,
    ) -> Policy<'r> {
        let watts = facts.power.as_ref().and_then(|power| power.watts_per_unit);
        let energy = self.values(policy, metrics::ENERGY, "");
        let by = |metric: Metric| -> InOrder<'r, f64> {
            self.subjects(CASE, metric)
                .into_iter()
                .map(|name| (name, self.mean(policy, metric, name)))
                .collect()
        };
        let relative = energy
            .iter()
            .zip(yardstick)
            .filter(|(_, other)| **other > 0.0)
            .map(|(own, other)| own / other);
        let tasks = self.subjects(CASE, metrics::MIGRATIONS).into_iter();
        let middle = self.middle(policy);
        let of_middle = |metric: Metric| {
            self.of_metric(CASE, metric)
                .filter(|row| (row.variant, row.iteration) == (policy, middle))
                .map(|row| (row.subject, row.value))
        };
        Policy {
            name: policy,
            energy_unit_s: Interval::of_all(&energy),
            energy_j: watts
                .map(|watts| Interval::of_all(&energy).map(|energy| energy.times(watts))),
            energy_of_all_big: Interval::of_all(&relative.collect_vec()),
            unfinished: None,
            unfinished_share: 0.0,
            work_share: 1.0,
            is_done: true,
            run_time_s: Interval::of_all(&self.values(policy, metrics::RUN_TIME, "")),
            running: by(metrics::RUNNING),
            middle_seed: seed + u64::from(middle),
            owners_unit_s: of_middle(metrics::OWNED_ENERGY).collect(),
            middle_integral: of_middle(metrics::ENERGY).map(|(_, energy)| energy).sum(),
            wake_ups_per_s: by(metrics::WAKE_UP_RATE),
            idle_entered: by(metrics::IDLE_ENTERED),
            idle_time_us: by(metrics::IDLE_TIME),
            callbacks_per_s: self.mean(policy, metrics::CALLBACK_RATE, ""),
            tasks: tasks.map(|task| (task, self.task(policy, task))).collect(),
            big: Interval::of_all(&self.values(policy, metrics::RUNNING, &facts.big)),
            integrals: energy,
        }
    }

    fn of_metric(&self, case: &str, metric: Metric) -> impl Iterator<Item = &Row<'r>> {
        self.rows.iter().filter(move |row| row.is_of(case, metric))
    }

    /// The policies, in the order in which they ran.
    pub fn policies(&self) -> Vec<&'r str> {
        not_empty(self.of_metric(CASE, metrics::ENERGY).map(|row| row.variant))
    }

    fn subjects(&self, case: &str, metric: Metric) -> Vec<&'r str> {
        not_empty(self.of_metric(case, metric).map(|row| row.subject))
    }

    /// Values of a policy, one per seed; `subject` is empty for what has none.
    pub fn values(&self, policy: &str, metric: Metric, subject: &str) -> Vec<f64> {
        self.percentiles(policy, CASE, metric, subject, "")
    }

    fn sum(&self, policy: &str, metric: Metric, subject: &str) -> f64 {
        let values = self.values(policy, metric, subject).into_iter();
        values.fold(0.0, |sum, value| sum + value)
    }

    fn mean(&self, policy: &str, metric: Metric, subject: &str) -> f64 {
        // A seed without such an energy counts as 0.
        self.sum(policy, metric, subject) / f64::from(self.seeds.max(1))
    }

    /// A percentile over the periods of all seeds, or of each.
    fn percentiles(
        &self,
        policy: &str,
        case: &str,
        metric: Metric,
        task: &str,
        percent: &str,
    ) -> Vec<f64> {
        self.of_metric(case, metric)
            .filter(|row| (row.variant, row.subject, row.role) == (policy, task, percent))
            .map(|row| row.value)
            .collect()
    }

    /// Shares of a task's CPU time, by what the metric parts it by; in the order of the parts'
    /// names.
    fn shares(&self, policy: &str, metric: Metric, task: &str) -> InOrder<'r, f64> {
        let rows = || {
            self.of_metric(CASE, metric)
                .filter(|row| (row.variant, row.subject) == (policy, task))
        };
        let all: f64 = rows().map(|row| row.value).sum();
        let parts = grouped(rows().map(|row| (row.role, row.value / all))).into_iter();
        let mut parts = parts
            .map(|(name, shares)| (name, shares.iter().sum()))
            .collect_vec();
        parts.sort_by_key(|(name, _)| natural(name));
        parts.into_iter().collect()
    }

    /// The seed of a policy whose energy lies in the middle, counted from the first.
    fn middle(&self, policy: &str) -> u32 {
        let mut all = self
            .of_metric(CASE, metrics::ENERGY)
            .filter(|row| row.variant == policy)
            .map(|row| (row.value, row.iteration))
            .collect_vec();
        all.sort_by_key(|of| (total_order(of.0), of.1));
        all.get(all.len().saturating_sub(1) / 2)
            .map_or(0, |(_, iteration)| *iteration)
    }

    fn task(&self, policy: &str, task: &str) -> Task<'r> {
        let pooled = |metric: Metric| {
            let values = PERCENTS.into_iter().filter_map(|percent| {
                let values = self.percentiles(policy, POOLED, metric, task, percent);
                Some((percent, *values.first()?))
            });
            Some(values.collect::<BTreeMap<_, _>>()).filter(|map| !map.is_empty())
        };
        let sum = |metric: Metric| self.sum(policy, metric, task);
        let seconds = self.sum(policy, metrics::RUN_TIME, "");
        let per_s = |metric: Metric| {
            if seconds > 0.0 {
                sum(metric) / seconds
            } else {
                0.0
            }
        };
        Task {
            periods: sum(metrics::PERIODS),
            missed_periods: sum(metrics::MISSED_PERIODS),
            skipped_periods: sum(metrics::SKIPPED_PERIODS),
            migrations: self.mean(policy, metrics::MIGRATIONS, task),
            work_us: self
                .of_metric(CASE, metrics::CPU_TIME_AT)
                .filter(|row| (row.variant, row.subject) == (policy, task))
                .map(|row| row.value * self.capacities.get(row.role).unwrap_or(&1024.0) / 1024.0)
                .sum(),
            cpu_time_us_per_s: per_s(metrics::CPU_TIME),
            wake_ups_per_s: per_s(metrics::TASK_WAKE_UPS),
            share_by_cpu: self.shares(policy, metrics::CPU_TIME_ON, task),
            share_by_operating_point: self.shares(policy, metrics::CPU_TIME_AT, task),
            response_ms: pooled(metrics::RESPONSE),
            p95_ms_by_seed: Interval::of_all(&self.percentiles(
                policy,
                CASE,
                metrics::RESPONSE,
                task,
                "p95",
            )),
            wake_latency_us: pooled(metrics::WAKE_LATENCY),
        }
    }
}

/// Reads the policies.
pub fn read<'r>(run: &Run<'r>) -> Result<Placement<'r>, FactsError> {
    let recording = run.recording;
    let facts: facts::Placement = recording.header.facts()?;
    let rows = named(recording);
    let (operating_points, top_points) = work_costs::read(&rows, &recording.header);
    let capacities = operating_points.iter().map(|of| (of.point, of.capacity));
    let measured = PolicyMeasures {
        capacities: capacities.collect(),
        rows,
        seeds: recording.header.iterations,
    };
    let task = measured
        .subjects(POOLED, metrics::RESPONSE)
        .first()
        .copied();
    let yardstick = measured.values(YARDSTICK, metrics::ENERGY, "");
    let seed = recording.header.seed;
    let mut policies = measured
        .policies()
        .into_iter()
        .map(|name| measured.policy(name, &facts, &yardstick, seed))
        .collect_vec();
    left_undone(&mut policies);
    Ok(Placement {
        workload: facts.workload.clone(),
        platform: recording.header.platform_name(),
        frequency: facts.frequency.clone(),
        rcu: facts.rcu.clone(),
        seeds: recording.header.iterations,
        task,
        wins: wins(&policies, task),
        policies,
        operating_points,
        top_points,
        notes: &recording.header.notes,
        recording: run.folder,
        facts,
    })
}

/// Finds the task of whose work each policy left most undone, against the policy that did most.
/// Energies are ranked where each periodic task did all but a percent, no task did less than half,
/// and all together all but a tenth: a task that waits between pieces of work comes around less
/// often where they take longer.
fn left_undone(policies: &mut [Policy<'_>]) {
    let mut most: BTreeMap<&str, f64> = BTreeMap::new();
    for (name, task) in policies.iter().flat_map(|policy| &policy.tasks.0) {
        let most = most.entry(*name).or_default();
        *most = most.max(task.work_us);
    }
    let all: f64 = most.values().sum();
    for policy in policies {
        let done: f64 = policy.tasks.values().map(|task| task.work_us).sum();
        if all > 0.0 {
            policy.work_share = done / all;
        }
        let tasks = policy.tasks.0.iter().filter(|(name, _)| most[name] > 0.0);
        // How many times what is allowed each task left undone.
        if let Some((name, share, times)) = tasks
            .map(|(name, task)| {
                let share = 1.0 - task.work_us / most[name];
                let allowed = if task.periods > 0.0 { 0.01 } else { 0.5 };
                (*name, share, share / allowed)
            })
            .max_by_key(|of| total_order(of.2))
        {
            (policy.unfinished, policy.unfinished_share) = (Some(name), share);
            policy.is_done = times <= 1.0 && policy.work_share >= 0.9;
        }
    }
}

impl Policy<'_> {
    /// The task that was late for its next period most often, and in what share of its periods.
    pub fn latest(&self) -> Option<(&str, f64)> {
        self.tasks
            .0
            .iter()
            .filter(|(_, task)| task.periods > 0.0)
            .map(|(name, task)| (*name, task.missed_periods / task.periods))
            .max_by_key(|of| total_order(of.1))
    }

    /// A percentile of a task's response in ms.
    pub fn response(&self, task: Option<&str>, percent: &str) -> Option<f64> {
        self.tasks
            .get(task?)?
            .response_ms
            .as_ref()?
            .get(percent)
            .copied()
    }

    /// The 95th percentile of a task's response in milliseconds.
    pub fn p95(&self, task: Option<&str>) -> Option<f64> {
        self.response(task, "p95")
    }
}

/// The names of the policies for which something is least, by the ends of an interval of each; none
/// where it is alike for all.
fn least<'r, T>(
    policies: impl IntoIterator<Item = (&'r str, T)>,
    ends: impl Fn(&T) -> Option<[f64; 2]>,
) -> Vec<&'r str> {
    let least =
        Leaders::least(policies, |(_, policy)| ends(policy)).filter(|least| least.behind > 0);
    least.map_or_else(Vec::new, |least| {
        least.items.into_iter().map(|(name, _)| name).collect()
    })
}

/// The names of the policies with the least energy, of their energies seed by seed: one stands
/// behind that with the least sum if seeds, in pairs, tell that it takes more. None of too few.
fn thriftiest<'r>(policies: &[(&'r str, Vec<f64>)]) -> Vec<&'r str> {
    let sum = |energies: &[f64]| energies.iter().sum::<f64>();
    let Some((_, first)) = policies.iter().min_by_key(|of| total_order(sum(&of.1))) else {
        return Vec::new();
    };
    let level = LEVEL / policies.len() as f64;
    let all = policies.iter().map(|(name, energies)| (*name, energies));
    least(all, |energies| {
        let pairs = first.iter().zip(*energies);
        let pairs = pairs.map(|(least, own)| [*least, *own]).collect_vec();
        let tested = evidence::test_pairs(&pairs, level)?;
        Some(tested.interval.map(f64::exp))
    })
}

/// The fastest, the thriftiest, and the thriftiest of those whose p95 is within 10 % of the
/// fastest's.
fn wins<'p, 'r>(policies: &'p [Policy<'r>], task: Option<&str>) -> Wins<'r> {
    let p95 = |policy: &Policy<'r>| policy.p95(task);
    let fastest = policies
        .iter()
        .filter_map(p95)
        .fold(f64::INFINITY, f64::min);
    let energies = |policy: &'p Policy<'r>| {
        let energies = policy.integrals.iter();
        let for_all = energies.map(|energy| energy / policy.work_share);
        (policy.name, for_all.collect_vec())
    };
    let done = || policies.iter().filter(|policy| policy.is_done);
    Wins {
        latency: least(
            policies.iter().map(|policy| (policy.name, p95(policy))),
            |ms| ms.map(|ms| [ms; 2]),
        ),
        energy: thriftiest(&done().map(energies).collect_vec()),
        energy_at_latency_within_10_percent: thriftiest(
            &done()
                .filter(|policy| p95(policy).is_some_and(|own| own <= fastest * 1.1))
                .map(energies)
                .collect_vec(),
        ),
    }
}

impl<'r> Placement<'r> {
    /// True if the policy that others are compared with ran.
    pub fn has_yardstick(&self) -> bool {
        self.policies.iter().any(|policy| policy.name == YARDSTICK)
    }

    /// The energy's unit, and how many of it a unit of the platform's table is. Where nobody says
    /// how many watts that is, energies are percent of the yardstick's, or of the first policy's.
    pub fn unit(&self) -> (String, f64) {
        let watts = self
            .facts
            .power
            .as_ref()
            .and_then(|power| power.watts_per_unit);
        let of = self
            .find(YARDSTICK)
            .or(self.policies.first())
            .and_then(|policy| Some((policy.name, policy.energy_unit_s?.median)));
        match (watts, of) {
            (Some(watts), _) => ("J".to_owned(), watts),
            (None, Some((name, energy))) if energy > 0.0 => {
                (format!("% of {name}'s"), 100.0 / energy)
            }
            _ => ("unit s".to_owned(), 1.0),
        }
    }

    /// The policy of a name.
    pub fn find(&self, name: &str) -> Option<&Policy<'r>> {
        self.policies.iter().find(|policy| policy.name == name)
    }

    /// The owners under any policy, the most first.
    pub fn owner_names(&self) -> Vec<&'r str> {
        let mut names = not_empty(
            self.policies
                .iter()
                .flat_map(|policy| policy.owners_unit_s.names()),
        );
        let of = |policy: &Policy<'_>, owner: &str| {
            policy.owners_unit_s.get(owner).copied().unwrap_or(0.0)
        };
        let most = |name: &str| {
            self.policies
                .iter()
                .map(|policy| of(policy, name))
                .fold(0.0, f64::max)
        };
        names.sort_by_key(|of| Reverse(total_order(most(of))));
        names
    }

    /// Whose run the owners are of.
    pub fn of_the_middle(&self) -> String {
        let mut seeds = self
            .policies
            .iter()
            .map(|policy| format!("{} {}", policy.name, policy.middle_seed));
        format!(
            "Of one run for each policy: the seed whose energy lies in the middle ({}).",
            seeds.join(", ")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_energy_is_told_by_seeds_in_pairs() {
        let own = [1.0, 3.0, 2.0, 5.0];
        let alike = [1.1, 2.8, 2.1, 4.9];
        let more = own.map(|energy| 1.5 * energy + 0.01);
        // Their ranges overlap, and each seed has the same order.
        assert_eq!(
            thriftiest(&[("a", own.to_vec()), ("b", more.to_vec())]),
            ["a"]
        );
        assert_eq!(
            thriftiest(&[
                ("a", own.to_vec()),
                ("b", alike.to_vec()),
                ("c", more.to_vec())
            ]),
            ["b", "a"]
        );
        assert!(thriftiest(&[("a", own.to_vec()), ("b", alike.to_vec())]).is_empty());
        assert!(
            thriftiest(&[("a", own[..2].to_vec()), ("b", more[..2].to_vec())]).is_empty(),
            "of two seeds none is told"
        );
        assert!(thriftiest(&[("a", own.to_vec())]).is_empty() && thriftiest(&[]).is_empty());
    }
}
