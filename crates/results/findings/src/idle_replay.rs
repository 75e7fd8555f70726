//! `idle-replay`: what governors did with a trace, and what it cost.

use crate::Findings;
use crate::rows::{InOrder, Row, named};
use itertools::Itertools;
use recording::facts::{self, FactsError};
use recording::metrics::{self, Metric};
use recording::{distinct, stats};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

const CASE: &str = "idle-replay";

const TRACE: &str = "trace";

/// Rules that no kernel has: they show what the ends are.
const YARDSTICKS: [&str; 3] = ["never-deep", "always-deepest", ORACLE];

/// The traced kernel's own choices.
pub const RECORDED: &str = "recorded";

/// The cheapest that there could be.
const ORACLE: &str = "oracle";

/// Governors on a trace.
#[derive(Serialize, JsonSchema)]
pub struct Replay<'r> {
    /// The idle intervals of the trace.
    pub intervals: Intervals,
    /// Intervals of unknown sleep length, by the reason.
    pub unknown_because: InOrder<'r, Bounds>,
    /// The kernel's own counts beside the trace's; `None` where the trace holds none.
    pub kernel_counters: Option<Counters>,
    /// The platform's name.
    pub platform: Option<&'r str>,
    /// True if the platform's powers have a source, so that energy says something.
    pub powers_sourced: bool,
    /// The traced kernel's own governor, as the rows name it; `None` where the trace does not say
    /// it.
    pub own_governor: Option<&'r str>,
    /// What is said first, with what it rests on.
    pub verdict: Verdict<'r>,
    /// The governors, with yardsticks and what was recorded.
    pub governors: Vec<Governor<'r>>,
    /// Power domains that the operating system switches, by governor of the CPUs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub power_domains: Vec<PowerDomain<'r>>,
    /// What limits cost, where governors were replayed under some.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<Limited<'r>>,
    /// Governors' files, each beside the governor that was named before it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<facts::Changed>,
    /// A limit for s2idle in microseconds, and the state that it enters then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub s2idle: Option<(u64, String)>,
    /// Sentences that the run left about itself.
    pub notes: &'r [String],
    /// The recording's folder, as it was named on the command line.
    pub recording: &'r str,
}

/// What a replay says first. Nothing is claimed that its intervals do not bear.
#[derive(Serialize, JsonSchema)]
pub struct Verdict<'r> {
    /// The governor that takes least energy where powers have a source, else the one that is wrong
    /// least often; `None` where none was replayed.
    pub best: Option<&'r str>,
    /// The governors that do in each sleep what the best does, the best among them.
    pub alike: Vec<&'r str>,
    /// The governor that it is compared with: one that does something else.
    pub reference: Option<&'r str>,
    /// The share of the reference's energy that the best takes less, from both ends of what is not
    /// known; `None` where energy is not compared.
    pub less: Option<Bounds>,
    /// The share that is claimed as saved: `less`, if its sign is certain and the replay comes to
    /// what the kernel did.
    pub saving: Option<Bounds>,
    /// True if the best is better than the reference whatever is not known, and the replay comes to
    /// what the kernel did.
    pub is_certain: bool,
    /// The states that the traced kernel entered more or less often than its own governor does in
    /// the replay. Empty where the replay comes to what the kernel did, and where the trace does
    /// not name its governor.
    pub outside: Vec<Outside<'r>>,
}

/// A power domain that the operating system switches, under a governor of its CPUs.
#[derive(Serialize, JsonSchema)]
pub struct PowerDomain<'r> {
    /// The domain's name.
    pub name: &'r str,
    /// The governor of its CPUs.
    pub governor: &'r str,
    /// The time in which all of its CPUs were idle, in microseconds.
    pub together_us: Option<Bounds>,
    /// Its states, from shallow to deep.
    pub states: Vec<State<'r>>,
}

/// A governor under a limit, beside the same without it.
#[derive(Serialize, JsonSchema)]
pub struct Limited<'r> {
    /// The row under the limit.
    pub name: &'r str,
    /// The row without it.
    pub of: &'r str,
    /// The longest exit latency that was allowed, in microseconds; `None` where any was.
    pub latency_us: Option<u64>,
    /// The idle states that it could choose.
    pub left: Vec<String>,
    /// The share of the energy without the limit that it takes less; `None` where powers have no
    /// source.
    pub less: Option<Bounds>,
    /// True if it chose as without the limit, as far as counts of states and power domains tell.
    pub is_same: bool,
}

/// A state that the kernel entered more or less often than a replay.
#[derive(Serialize, JsonSchema)]
pub struct Outside<'r> {
    /// The state's name.
    pub state: &'r str,
    /// Entries by the traced kernel.
    pub recorded: f64,
    /// Entries in the replay.
    pub replayed: Bounds,
}

/// The idle intervals of the trace, by what is known of their sleep lengths.
#[derive(Serialize, JsonSchema)]
pub struct Intervals {
    /// Intervals whose sleep length is known.
    pub known: u64,
    /// Intervals whose sleep length has a known bound.
    pub bounded: u64,
    /// Intervals of which nothing is known.
    pub unknown: u64,
}

/// A governor's choices and their cost.
#[derive(Serialize, JsonSchema)]
pub struct Governor<'r> {
    /// The governor's name.
    pub name: &'r str,
    /// The idle states, from shallow to deep.
    pub states: Vec<State<'r>>,
    /// Energy in joules; `None` where no unit is known in watts.
    pub energy_j: Option<Ends>,
    /// Energy in units of the platform's table times seconds; `None` without a table.
    pub energy_unit_s: Option<Ends>,
    /// Entries into a state that was too deep; `None` where not counted.
    pub above: Option<Bounds>,
    /// Entries into a state that was too shallow; `None` where not counted.
    pub below: Option<Bounds>,
    /// Entries into a state that was too deep, in percent of all; `None` where not counted.
    pub above_percent: Option<Bounds>,
    /// Entries into a state that was too shallow, in percent of all; `None` where not counted.
    pub below_percent: Option<Bounds>,
    /// Both together, in percent.
    pub wrong_percent: Option<Bounds>,
    /// Delays by exit latencies, in microseconds.
    pub delay_us: Delays,
    /// Agreement with the traced kernel; `None` where that was not compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agreement: Option<Agreement>,
    /// The energy at each point of the range, with the point's name.
    #[serde(skip)]
    energies: Vec<(&'r str, f64)>,
    /// Entries into each state of a CPU and of a power domain, and the time in it.
    #[serde(skip)]
    choices: Vec<[Option<Bounds>; 2]>,
}

/// An idle state under a governor.
#[derive(Serialize, JsonSchema)]
pub struct State<'r> {
    /// The state's name.
    pub name: &'r str,
    /// Entries; `None` where they were not counted.
    pub entered: Option<Bounds>,
    /// Entries that were too deep; `None` where not counted.
    pub above: Option<Bounds>,
    /// Entries that were too shallow; `None` where not counted.
    pub below: Option<Bounds>,
    /// Time in the state in microseconds; `None` where not counted.
    pub residency_us: Option<Bounds>,
}

/// Percentiles of delays.
#[derive(Serialize, JsonSchema)]
pub struct Delays {
    /// The median in microseconds.
    pub p50: Option<Bounds>,
    /// The 99th percentile in microseconds.
    pub p99: Option<Bounds>,
}

/// The number of times that a governor chooses as the traced kernel did.
#[derive(Serialize, JsonSchema)]
pub struct Agreement {
    /// The share of choices that are the same, from 0 to 1.
    pub same: f64,
    /// The mean of that share over the states, from 0 to 1.
    pub balanced: Option<f64>,
    /// The share that the commonest state alone would reach, from 0 to 1.
    pub commonest_state: Option<f64>,
    /// The number of intervals that were compared.
    pub compared: Option<u64>,
}

/// The kernel's own counts and those of the trace, where the trace holds the kernel's.
#[derive(Serialize, JsonSchema)]
pub struct Counters {
    /// The kernel's counts.
    pub kernel: Counts,
    /// The trace's counts.
    pub trace: Counts,
    /// Nanoseconds by which tracing lengthens a stay.
    pub tracing_ns: Option<f64>,
}

/// Counts of idle states over the same time.
#[derive(Serialize, JsonSchema)]
pub struct Counts {
    /// Entries.
    pub entered: Bounds,
    /// Entries that were too deep.
    pub above: Bounds,
    /// Entries that were too shallow.
    pub below: Bounds,
    /// Entries that the hardware refused.
    pub rejected: Bounds,
    /// Time in microseconds.
    pub residency_us: Bounds,
}

/// A figure that is known, or known to lie between two.
#[derive(Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(into = "Figure")]
pub struct Bounds {
    /// The least, or the lower end.
    pub low: f64,
    /// The greatest, or the upper end.
    pub high: f64,
}

/// A figure as JSON has it: a number where it is known, else both ends.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
enum Figure {
    Known(Whole),
    Between(Range),
}

impl From<Bounds> for Figure {
    fn from(value: Bounds) -> Self {
        if value.low == value.high {
            Self::Known(value.low.into())
        } else {
            Self::Between(Ends(value).into())
        }
    }
}

/// Both ends of a figure, even where it is known.
#[derive(Clone, Copy, Serialize, JsonSchema)]
#[serde(into = "Range")]
pub struct Ends(Bounds);

/// Both ends of a figure, as JSON has them.
#[derive(Serialize, JsonSchema)]
struct Range {
    /// The least, or the lower end.
    low: Whole,
    /// The greatest, or the upper end.
    high: Whole,
}

impl From<Ends> for Range {
    fn from(Ends(Bounds { low, high }): Ends) -> Self {
        Self {
            low: low.into(),
            high: high.into(),
        }
    }
}

/// A count without a decimal point.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
enum Whole {
    Count(i64),
    Figure(f64),
}

impl From<f64> for Whole {
    fn from(value: f64) -> Self {
        if value.fract() == 0.0 && value.abs() < 9e15 {
            Self::Count(value as i64)
        } else {
            Self::Figure(value)
        }
    }
}

impl<'r> State<'r> {
    fn new(name: &'r str, between: impl Fn(Metric) -> Option<Bounds>) -> Self {
        Self {
            name,
            entered: between(metrics::IDLE_ENTERED),
            above: between(metrics::IDLE_ABOVE),
            below: between(metrics::IDLE_BELOW),
            residency_us: between(metrics::IDLE_TIME),
        }
    }
}

impl Bounds {
    pub(crate) fn new(values: impl Iterator<Item = f64>) -> Option<Self> {
        let [low, high] = stats::ends(values);
        (low <= high).then_some(Self { low, high })
    }

    fn exactly(value: f64) -> Self {
        Self {
            low: value,
            high: value,
        }
    }

    /// Both ends, some times over.
    pub fn times(self, factor: f64) -> Self {
        Self {
            low: self.low * factor,
            high: self.high * factor,
        }
    }

    /// The middle between both ends.
    pub fn middle(self) -> f64 {
        (self.low + self.high) / 2.0
    }
}

/// The measures of a governor.
#[derive(Clone, Copy)]
struct TraceMeasures<'a, 'r> {
    rows: &'a [Row<'r>],
    name: &'r str,
}

impl<'a, 'r> TraceMeasures<'a, 'r> {
    /// Those of each governor: as they were asked for, and what was best last.
    fn all(rows: &'a [Row<'r>]) -> impl Iterator<Item = Self> {
        let of_case = rows
            .iter()
            .filter(|row| row.case == CASE && row.variant != TRACE);
        let names = distinct(of_case.map(|row| row.variant)).into_iter();
        names.map(move |name| Self { rows, name })
    }

    fn measures(self, case: &'static str, metric: Metric) -> impl Iterator<Item = &'a Row<'r>> {
        let rows = self.rows.iter();
        rows.filter(move |row| row.variant == self.name && row.is_of(case, metric))
    }

    fn between(self, metric: Metric, of: &str) -> Option<Bounds> {
        let values = self.measures(CASE, metric).filter(|row| row.subject == of);
        Bounds::new(values.map(|row| row.value))
    }

    /// Counts over all states in percent of all entries: the least and the greatest over what is
    /// not known.
    fn shares(self, of: &[Metric]) -> Option<Bounds> {
        let mut entered = BTreeMap::new();
        for row in self.measures(CASE, metrics::IDLE_ENTERED) {
            *entered.entry(row.mode).or_default() += row.value;
        }
        let is_end = |mode: &str| facts::Replay::ENDS.contains(&mode);
        let all = entered
            .iter()
            .filter(|(mode, _)| !is_end(mode))
            .map(|(_, all)| *all)
            .fold(1.0, f64::max);
        let mut counted = BTreeMap::new();
        for row in of.iter().flat_map(|metric| self.measures(CASE, *metric)) {
            if row.subject == facts::Replay::ALL_STATES {
                *counted.entry(row.mode).or_default() += row.value;
            }
        }
        Bounds::new(counted.into_iter().map(|(mode, count): (&str, f64)| {
            let of = if is_end(mode) {
                all
            } else {
                entered.get(mode).copied().unwrap_or(all).max(1.0)
            };
            (100.0 * count / of).min(100.0)
        }))
    }

    fn agreement(self) -> Option<Agreement> {
        let share = |what: &str| {
            self.between(metrics::IDLE_AGREEMENT, what)
                .map(|share| share.low)
        };
        Some(Agreement {
            same: share("same")?,
            balanced: share("balanced"),
            commonest_state: share("commonest"),
            compared: share("compared").map(|count| count as u64),
        })
    }

    /// The power domains below it.
    fn power_domains(self) -> Vec<PowerDomain<'r>> {
        let measures = |metric| self.measures(facts::Replay::POWER_DOMAINS, metric);
        let names = distinct(measures(metrics::IDLE_TIME).map(|row| (row.role, row.subject)));
        let between = |domain: &str, state: &str, metric: Metric| {
            let of = measures(metric).filter(|row| (row.role, row.subject) == (domain, state));
            Bounds::new(of.map(|row| row.value))
        };
        let domain = |&(name, _): &(&'r str, &str)| PowerDomain {
            name,
            governor: self.name,
            together_us: between(name, "", metrics::IDLE_TIME),
            states: names
                .iter()
                .filter(|of| of.0 == name && !of.1.is_empty())
                .map(|of| State::new(of.1, |metric| between(name, of.1, metric)))
                .collect(),
        };
        names
            .iter()
            .filter(|(_, state)| state.is_empty())
            .map(domain)
            .collect()
    }

    fn governor(self, watts: Option<f64>) -> Governor<'r> {
        // Units of the platform's table times seconds.
        let energies = self
            .measures(CASE, metrics::IDLE_ENERGY)
            .map(|row| (row.subject, row.value))
            .collect_vec();
        let energy = Bounds::new(energies.iter().map(|(_, energy)| *energy));
        let wrong = self.shares(&[metrics::IDLE_ABOVE, metrics::IDLE_BELOW]);
        let entered = self.measures(CASE, metrics::IDLE_ENTERED);
        let states = distinct(entered.map(|row| row.subject))
            .into_iter()
            .map(|name| State::new(name, |metric| self.between(metric, name)))
            .collect_vec();
        let domains = self.power_domains();
        let of_domains = domains.iter().flat_map(|domain| &domain.states);
        let choices = states
            .iter()
            .chain(of_domains)
            .map(|of| [of.entered, of.residency_us])
            .collect();
        Governor {
            name: self.name,
            states,
            energy_j: energy
                .zip(watts)
                .map(|(energy, watts)| Ends(energy.times(watts))),
            energy_unit_s: energy.map(Ends),
            above: self.between(metrics::IDLE_ABOVE, facts::Replay::ALL_STATES),
            below: self.between(metrics::IDLE_BELOW, facts::Replay::ALL_STATES),
            above_percent: self.shares(&[metrics::IDLE_ABOVE]),
            below_percent: self.shares(&[metrics::IDLE_BELOW]),
            wrong_percent: wrong,
            delay_us: Delays {
                p50: self.between(metrics::IDLE_DELAY, "p50"),
                p99: self.between(metrics::IDLE_DELAY, "p99"),
            },
            agreement: self.agreement(),
            energies,
            choices,
        }
    }
}

fn counters(rows: &[Row<'_>]) -> Option<Counters> {
    let value = |mode: &str, metric: Metric| {
        let of = ["counters", RECORDED, mode];
        let mut rows = rows.iter();
        Some(
            rows.find(|row| row.names() == of && row.metric == metric.name)?
                .value,
        )
    };
    let of = |mode| {
        let count = |metric| value(mode, metric).map(Bounds::exactly);
        Some(Counts {
            entered: count(metrics::IDLE_ENTERED)?,
            above: count(metrics::IDLE_ABOVE)?,
            below: count(metrics::IDLE_BELOW)?,
            rejected: count(metrics::IDLE_REJECTED)?,
            residency_us: count(metrics::IDLE_TIME)?,
        })
    };
    Some(Counters {
        kernel: of("kernel")?,
        trace: of("trace")?,
        tracing_ns: value("", metrics::TRACING),
    })
}

/// Each governor under a limit, beside itself without.
fn limits<'r>(
    limits: Vec<facts::Limited>,
    governors: &[Governor<'r>],
    powers_sourced: bool,
) -> Vec<Limited<'r>> {
    let find = |name: &str| governors.iter().find(|governor| governor.name == name);
    limits
        .into_iter()
        .filter_map(|limit| {
            let (under, without) = find(&limit.name).zip(find(&limit.of))?;
            Some(Limited {
                name: under.name,
                of: without.name,
                latency_us: limit.latency_us,
                left: limit.left,
                less: under.less_than(without).filter(|_| powers_sourced),
                is_same: under.choices == without.choices,
            })
        })
        .collect()
}

/// Reads a replay.
pub fn read<'r>(findings: &Findings<'r>) -> Result<Replay<'r>, FactsError> {
    let recording = findings.recording;
    let facts: facts::Replay = recording.header.facts()?;
    let is_powered = facts.power.is_some();
    let watts = facts.power.and_then(|power| power.watts_per_unit);
    let rows = named(recording);
    let trace = TraceMeasures {
        rows: &rows,
        name: TRACE,
    };
    let intervals = |what| {
        trace
            .between(metrics::IDLE_INTERVALS, what)
            .map_or(0, |count| count.low as u64)
    };
    let reasons = trace
        .measures(CASE, metrics::IDLE_INTERVALS)
        .filter(|row| row.role == "reason");
    let all = TraceMeasures::all(&rows);
    let governors = all.map(|governor| governor.governor(watts)).collect_vec();
    let own = governors
        .iter()
        .map(|governor| governor.name)
        .find(|name| facts.own.as_deref() == Some(name));
    let powers_sourced = is_powered && !facts.powers_assumed;
    let limits = limits(facts.limits, &governors, powers_sourced);
    let free = governors
        .iter()
        .filter(|one| limits.iter().all(|limit| limit.name != one.name))
        .collect_vec();
    let verdict = verdict(&free, own, powers_sourced);
    Ok(Replay {
        intervals: Intervals {
            known: intervals("known"),
            bounded: intervals("bounded"),
            unknown: intervals("unknown"),
        },
        unknown_because: reasons
            .map(|row| (row.subject, Bounds::exactly(row.value)))
            .collect(),
        kernel_counters: counters(&rows),
        platform: recording.header.platform_name(),
        powers_sourced,
        own_governor: own,
        verdict,
        power_domains: TraceMeasures::all(&rows)
            .flat_map(TraceMeasures::power_domains)
            .collect(),
        governors,
        limits,
        changed: facts.changed,
        s2idle: facts.s2idle,
        notes: &recording.header.notes,
        recording: findings.folder,
    })
}

impl<'r> Replay<'r> {
    /// The row of a name.
    pub fn governor(&self, name: &str) -> Option<&Governor<'r>> {
        self.governors.iter().find(|governor| governor.name == name)
    }

    /// The energy of a governor with its unit: joules, or where nobody says how many watts a unit
    /// is, percent of what the oracle takes (or else the first governor) at the same cost of a
    /// round trip; `None` where nothing is said about energy.
    pub fn energy(&self, of: &Governor<'_>) -> Option<(Bounds, String)> {
        if let Some(most) = self
            .governors
            .iter()
            .filter_map(|of| of.energy_j)
            .map(|energy| energy.0.high)
            .reduce(f64::max)
        {
            let (factor, unit) = match most {
                _ if most < 1e-3 => (1e6, "uJ"),
                _ if most < 1.0 => (1e3, "mJ"),
                _ => (1.0, "J"),
            };
            return Some((of.energy_j?.0.times(factor), unit.to_owned()));
        }
        let reference = self.governor(ORACLE).or(self.governors.first())?;
        let pairs = of.pairs(reference).filter(|(.., theirs)| *theirs > 0.0);
        let shares = pairs.map(|(_, own, theirs)| 100.0 * (own / theirs));
        Some((Bounds::new(shares)?, format!("% of {}'s", reference.name)))
    }
}

impl<'r> Governor<'r> {
    /// The share by which it takes less energy than another, over the range of what a round trip
    /// costs and over what the trace does not say.
    pub fn less_than(&self, other: &Self) -> Option<Bounds> {
        let pairs = self.pairs(other).filter(|(_, _, theirs)| *theirs > 0.0);
        Bounds::new(pairs.map(|(_, own, theirs)| 1.0 - own / theirs))
    }

    /// True if either of two may take less at one cost of a round trip, so that what the trace does
    /// not say decides between them.
    pub fn hangs_on_trace(&self, other: &Self) -> bool {
        let signs = self
            .pairs(other)
            .map(|(at, own, theirs)| (at, own < theirs));
        !signs.unique().map(|(at, _)| at).all_unique()
    }

    /// The energies of two governors at the same points, with the points: what the trace does not
    /// say may differ from sleep to sleep.
    fn pairs(&self, other: &Self) -> impl Iterator<Item = (&'r str, f64, f64)> {
        let all = self.energies.iter().cartesian_product(&other.energies);
        let same = all.filter(|(own, theirs)| own.0 == theirs.0);
        same.map(|(own, theirs)| (own.0, own.1, theirs.1))
    }

    /// True if it is a governor that a kernel has, and no yardstick.
    pub fn is_real(&self) -> bool {
        !YARDSTICKS.contains(&self.name)
    }

    /// The states that were recorded more or less often than this governor enters them, by more
    /// than a replay is off where all is known.
    fn misses_of(&self, recorded: &Self) -> Vec<Outside<'r>> {
        let all: f64 = recorded
            .states
            .iter()
            .filter_map(|state| state.entered)
            .map(Bounds::middle)
            .sum();
        self.states
            .iter()
            .filter_map(|state| {
                let seen = recorded
                    .states
                    .iter()
                    .find(|seen| seen.name == state.name)?
                    .entered?
                    .middle();
                let replayed = state.entered?;
                let off = (replayed.low - seen).max(seen - replayed.high);
                let is_outside = off > TOLERANCE * all;
                is_outside.then_some(Outside {
                    state: state.name,
                    recorded: seen,
                    replayed,
                })
            })
            .collect()
    }
}

/// The share of the intervals by which a replay's counts may differ from the kernel's: with all
/// timers known, that many choices of a guest's governor differ from those of its replay.
const TOLERANCE: f64 = 0.02;

fn verdict<'r>(governors: &[&Governor<'r>], own: Option<&str>, by_energy: bool) -> Verdict<'r> {
    let find = |name: &str| {
        governors
            .iter()
            .copied()
            .find(|governor| governor.name == name)
    };
    let pair = own.and_then(find).zip(find(RECORDED));
    let outside = pair.map_or_else(Vec::new, |(own, recorded)| own.misses_of(recorded));
    let measure = |of: &Governor<'_>| {
        if by_energy {
            of.energy_unit_s.map(|energy| energy.0)
        } else {
            of.wrong_percent
        }
    };
    let middle = |of: &&Governor<'_>| measure(of).map_or(f64::INFINITY, Bounds::middle);
    let real = || {
        governors
            .iter()
            .copied()
            .filter(|of| of.is_real() && measure(of).is_some())
    };
    let best = real().min_by(|a, b| middle(a).total_cmp(&middle(b)));
    let is_alike = |of: &&Governor<'_>| {
        best.is_some_and(|best| {
            let known = best
                .choices
                .iter()
                .flatten()
                .all(|bounds| bounds.is_none_or(|of| of.low == of.high));
            best.name == of.name || known && best.choices == of.choices
        })
    };
    let others = || real().filter(|other| !is_alike(other));
    let reference = others()
        .find(|other| other.name == RECORDED)
        .or_else(|| others().min_by(|a, b| middle(a).total_cmp(&middle(b))));
    let pair = best.zip(reference);
    let less = pair
        .filter(|_| by_energy)
        .and_then(|(best, reference)| best.less_than(reference));
    let is_certain = outside.is_empty()
        && less.map_or_else(
            || {
                pair.is_some_and(|(best, other)| {
                    measure(best)
                        .zip(measure(other))
                        .is_some_and(|(best, other)| best.high < other.low)
                })
            },
            |less| less.low > 0.0,
        );
    Verdict {
        best: best.map(|best| best.name),
        alike: real().filter(is_alike).map(|of| of.name).collect(),
        reference: reference.map(|reference| reference.name),
        less,
        saving: less.filter(|_| is_certain),
        is_certain,
        outside,
    }
}
