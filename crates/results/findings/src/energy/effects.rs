//! The effects of configurations beside saving energy: on its owners, on latencies, on how long the
//! big cluster sleeps; and the talk's claims about them.

use super::cells::{CONFIGURATIONS, Cells, REFERENCE, Reference};
use super::measured::{EnergyMeasures, at};
use crate::rows::InOrder;
use itertools::Itertools;
use recording::stats;
use schemars::JsonSchema;
use serde::Serialize;

/// The benchmark whose latencies the talk speaks of: offloading is for those who cannot bear
/// jitter.
const LATE: &str = "cyclictest";

/// Effects beside energy.
#[derive(Serialize, JsonSchema)]
pub struct Effects<'r> {
    /// Wake-up latencies by configuration.
    pub latency_us: Latencies,
    /// Shares of the predictions in which offloading makes the longest latencies shorter, and
    /// longer; `None` where they were not recorded.
    pub offload_p999_against_reference: Option<Steadiness>,
    /// The share of the time in which the big cluster sleeps, by benchmark.
    pub big_cluster_down: Vec<SleepShares<'r>>,
}

/// Wake-up latencies of a benchmark.
#[derive(Serialize, JsonSchema)]
pub struct Latencies {
    /// The benchmark's name.
    pub benchmark: &'static str,
    /// A row for each configuration.
    pub rows: Vec<Lateness>,
}

/// Medians over the predictions, in us.
#[derive(Serialize, JsonSchema)]
pub struct Lateness {
    /// The configuration's name.
    pub configuration: &'static str,
    /// The median in microseconds.
    pub p50: f64,
    /// The 99th percentile in microseconds.
    pub p99: f64,
    /// The 99.9th percentile in microseconds.
    pub p999: f64,
}

/// The shares of the predictions in which the longest latencies of offloaded callbacks are shorter
/// than the reference's, and longer.
#[derive(Serialize, JsonSchema)]
pub struct Steadiness {
    /// The share in which they are shorter, from 0 to 1.
    pub below: f64,
    /// The share in which they are longer, from 0 to 1.
    pub above: f64,
}

/// The share of the time in which the big cluster sleeps, by configuration: medians.
#[derive(Serialize, JsonSchema)]
pub struct SleepShares<'r> {
    /// The benchmark's name.
    pub benchmark: &'r str,
    /// Shares by configuration, from 0 to 1.
    pub share: InOrder<'static, f64>,
}

/// Shares of the owners in a benchmark and a configuration.
#[derive(Serialize, JsonSchema)]
pub struct Shares<'r> {
    /// The benchmark's name.
    pub benchmark: &'r str,
    /// The configuration's name.
    pub configuration: &'static str,
    /// Shares by owner in percent of the energy: means over the predictions, so that they add up.
    pub percent: InOrder<'r, f64>,
    /// The distance of the owners' sum from the energy, as a part of it: the most over the
    /// predictions.
    pub sum_off_by: f64,
}

fn configurations() -> impl Iterator<Item = &'static str> {
    [REFERENCE].into_iter().chain(CONFIGURATIONS)
}

/// Reads the effects.
pub fn read<'r>(measured: &EnergyMeasures<'r>, cells: &Cells<'r>) -> Effects<'r> {
    let late = |configuration| {
        let medians = measured
            .late
            .each_ref()
            .map(|values| stats::median(at(values, LATE, configuration, cells.mode)));
        Some(Lateness {
            configuration,
            p50: medians[0]?,
            p99: medians[1]?,
            p999: medians[2]?,
        })
    };
    let longest = |configuration| at(&measured.late[2], LATE, configuration, cells.mode);
    let pairs = longest("rcu-offload")
        .iter()
        .zip(longest(REFERENCE))
        .collect_vec();
    let share = |is: fn(f64, f64) -> bool| {
        pairs
            .iter()
            .filter(|(offload, reference)| is(**offload, **reference))
            .count() as f64
            / pairs.len() as f64
    };
    let of_benchmark = |benchmark: &'r str| {
        let share = |configuration| {
            Some((
                configuration,
                stats::median(at(&measured.asleep, benchmark, configuration, cells.mode))?,
            ))
        };
        SleepShares {
            benchmark,
            share: configurations().filter_map(share).collect(),
        }
    };
    Effects {
        latency_us: Latencies {
            benchmark: LATE,
            rows: configurations().filter_map(late).collect(),
        },
        offload_p999_against_reference: (!pairs.is_empty()).then(|| Steadiness {
            below: share(|a, b| a < b),
            above: share(|a, b| a > b),
        }),
        big_cluster_down: cells
            .references
            .iter()
            .map(|reference| of_benchmark(reference.benchmark))
            .filter(|of| !of.share.0.is_empty())
            .collect(),
    }
}

/// Reads the shares of each configuration.
pub fn shares<'r>(measured: &EnergyMeasures<'r>, cells: &Cells<'r>) -> Vec<Shares<'r>> {
    let of = |benchmark: &'r str, configuration: &'static str| {
        let all = at(&measured.energy, benchmark, configuration, cells.mode);
        let parts = measured
            .owned
            .iter()
            .map(|(name, values)| (*name, at(values, benchmark, configuration, cells.mode)));
        // An owner that is missing in a part of a recording belongs to no row of it.
        let parts = parts
            .filter(|(_, values)| values.len() == all.len())
            .collect_vec();
        let share = |values: &[f64]| {
            let shares = values
                .iter()
                .zip(all)
                .map(|(part, all)| 100.0 * part / all)
                .collect_vec();
            stats::mean(&shares)
        };
        let owners = parts
            .iter()
            .filter_map(|(name, values)| Some((*name, share(values)?)))
            .collect_vec();
        let off = all
            .iter()
            .enumerate()
            .map(|(draw, all)| {
                let sum: f64 = parts.iter().map(|(_, values)| values[draw]).sum();
                (sum / all - 1.0).abs()
            })
            .fold(0.0, f64::max);
        (!owners.is_empty()).then_some(Shares {
            benchmark,
            configuration,
            percent: InOrder(owners),
            sum_off_by: off,
        })
    };
    cells
        .references
        .iter()
        .flat_map(|reference| {
            configurations().map(move |configuration| (reference.benchmark, configuration))
        })
        .filter_map(|(benchmark, configuration)| of(benchmark, configuration))
        .collect()
}

/// The shares of the predictions in which the talk's claims about a benchmark come out.
#[derive(Serialize, JsonSchema)]
pub struct Claim<'r> {
    /// The benchmark's name.
    pub benchmark: &'r str,
    /// The share in which enforced idle saves more energy than offloading, from 0 to 1.
    pub enforced_idle_saves_more_than_offload: f64,
    /// The share in which both together save at most one point more than the better, from 0 to 1.
    pub both_save_at_most_1_point_more_than_the_better: f64,
    /// The share in which offloading takes less time than enforced idle, from 0 to 1.
    pub offload_is_faster_than_enforced_idle: f64,
}

/// The claims about each benchmark.
pub fn claims<'r>(measured: &EnergyMeasures<'r>, cells: &Cells<'r>) -> Vec<Claim<'r>> {
    let of = |of: &Reference<'r>| {
        let [reference, offload, idle, both] = [
            REFERENCE,
            CONFIGURATIONS[0],
            CONFIGURATIONS[1],
            CONFIGURATIONS[2],
        ]
        .map(|configuration| at(&measured.energy, of.benchmark, configuration, cells.mode));
        let [offload_time, idle_time] = [CONFIGURATIONS[0], CONFIGURATIONS[1]]
            .map(|configuration| at(&measured.time, of.benchmark, configuration, cells.mode));
        // A recording of which a part is missing has fewer of some than of others.
        let count = [reference, offload, idle, both, offload_time, idle_time]
            .iter()
            .map(|values| values.len())
            .min()
            .unwrap_or(0);
        let share = |holds: &dyn Fn(usize) -> bool| {
            (0..count).filter(|&draw| holds(draw)).count() as f64 / count.max(1) as f64
        };
        Claim {
            benchmark: of.benchmark,
            enforced_idle_saves_more_than_offload: share(&|draw| idle[draw] < offload[draw]),
            both_save_at_most_1_point_more_than_the_better: share(&|draw| {
                100.0 * (offload[draw].min(idle[draw]) - both[draw]) / reference[draw] <= 1.0
            }),
            offload_is_faster_than_enforced_idle: share(&|draw| {
                offload_time[draw] < idle_time[draw]
            }),
        }
    };
    cells.references.iter().map(of).collect()
}
