//! The effects of configurations of RCU beside saving energy: on latencies, and on how long the big
//! cluster sleeps.

use super::cells::{CONFIGURATIONS, Energy, REFERENCE};
use super::values::{Measured, at};
use crate::blocks::{Blocks, Table, figure, name, percent};
use findings::rows::InOrder;
use recording::stats;
use serde::Serialize;

/// The benchmark whose latencies the talk speaks of: offloading is for those who cannot bear
/// jitter.
const LATE: &str = "cyclictest";

/// Effects beside energy.
#[derive(Serialize)]
pub(super) struct Effects<'r> {
    latency_us: Latencies,
    offload_p999_against_reference: Option<Steadiness>,
    big_cluster_down: Vec<Asleep<'r>>,
}

#[derive(Serialize)]
struct Latencies {
    benchmark: &'static str,
    rows: Vec<Late>,
}

/// Medians over the predictions, in us.
#[derive(Serialize)]
struct Late {
    configuration: &'static str,
    p50: f64,
    p99: f64,
    p999: f64,
}

/// The shares of the predictions in which the longest latencies of offloaded callbacks are shorter
/// than the reference's, and longer.
#[derive(Serialize)]
struct Steadiness {
    below: f64,
    above: f64,
}

/// The share of the time in which the big cluster sleeps, by configuration: medians.
#[derive(Serialize)]
struct Asleep<'r> {
    benchmark: &'r str,
    share: InOrder<'static, f64>,
}

fn configurations() -> impl Iterator<Item = &'static str> {
    [REFERENCE].into_iter().chain(CONFIGURATIONS)
}

/// Reads the effects.
pub(super) fn read<'r>(measured: &Measured<'r>, energy: &Energy<'r>) -> Effects<'r> {
    let late = |configuration| {
        let medians =
            measured.late.each_ref().map(|values| stats::median(at(values, LATE, configuration, energy.mode)));
        Some(Late { configuration, p50: medians[0]?, p99: medians[1]?, p999: medians[2]? })
    };
    let longest = |configuration| at(&measured.late[2], LATE, configuration, energy.mode);
    let pairs: Vec<_> = longest("rcu-offload").iter().zip(longest(REFERENCE)).collect();
    let share = |is: fn(f64, f64) -> bool| {
        pairs.iter().filter(|(offload, reference)| is(**offload, **reference)).count() as f64 / pairs.len() as f64
    };
    let of_benchmark = |benchmark: &'r str| {
        let share = |configuration| {
            Some((configuration, stats::median(at(&measured.asleep, benchmark, configuration, energy.mode))?))
        };
        Asleep { benchmark, share: configurations().filter_map(share).collect() }
    };
    Effects {
        latency_us: Latencies { benchmark: LATE, rows: configurations().filter_map(late).collect() },
        offload_p999_against_reference: (!pairs.is_empty())
            .then(|| Steadiness { below: share(|a, b| a < b), above: share(|a, b| a > b) }),
        big_cluster_down: energy
            .benches
            .iter()
            .map(|bench| of_benchmark(bench.name))
            .filter(|of| !of.share.0.is_empty())
            .collect(),
    }
}

impl Effects<'_> {
    /// Tells the tables of latencies and of the big cluster's sleep.
    pub(super) fn tell(&self, told: &mut Blocks) {
        if let Some(Steadiness { below, above }) = self.offload_p999_against_reference {
            let table = Table::with_rows(&self.latency_us.rows)
                .words("configuration", |row| name(row.configuration))
                .numbers("p50", "", |row| figure(row.p50))
                .numbers("p99", "", |row| figure(row.p99))
                .numbers("p99.9", "", |row| figure(row.p999));
            let verdict = if below > above { "agrees more often than not" } else { "refuted here" };
            let title =
                format!("How late {LATE}'s threads run after their timers, in us, medians over the predictions:");
            told.table(table.done().titled(title).noted(format!(
                "The talk offloads callbacks for the sake of jitter: {verdict}. Offload's p99.9 is below the reference's in {:.0} % of \
                 the predictions, and above it in {:.0} %.",
                100.0 * below,
                100.0 * above
            )));
        }
        let Some(first) = self.big_cluster_down.first() else { return };
        let table = Table::with_rows(&self.big_cluster_down).words("benchmark", |of| name(of.benchmark)).each(
            first.share.names(),
            |table, configuration| {
                table.numbers(configuration, "", |of| of.share.get(configuration).map(|share| percent(*share, 1)))
            },
        );
        let title = "Share of the time in which the big cluster is down, medians over the predictions:";
        told.table(table.done().titled(title));
    }
}
