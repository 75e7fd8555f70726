//! The facts of the story of `rcu-energy`: cells, references, claims and doses, as JSON has them.

use super::cells::{Bench, CONFIGURATIONS, Energy, EnergyCell, Interval, Published, REFERENCE};
use super::values::{Measured, at};
use serde::Serialize;

/// A benchmark in a configuration.
#[derive(Serialize)]
pub(super) struct CellFacts<'r> {
    pub(super) benchmark: &'r str,
    pub(super) configuration: &'static str,
    pub(super) energy_j: Option<Interval>,
    pub(super) energy_unit_s: Interval,
    pub(super) time_s: Interval,
    pub(super) energy_benefit_percent: Option<Interval>,
    pub(super) time_benefit_percent: Option<Interval>,
    pub(super) central_energy_benefit_percent: Option<Central>,
    pub(super) verdict: Option<&'static str>,
    pub(super) wrong_sign: bool,
    pub(super) decides: Option<Decides<'r>>,
    pub(super) exceeds_rcu: Option<bool>,
    pub(super) rcu_bound_percent: Option<f64>,
    pub(super) draws_beyond_bound: usize,
    pub(super) most_points_beyond_bound: f64,
    pub(super) published_energy_j: Option<f64>,
    pub(super) published_time_s: Option<f64>,
    pub(super) published_energy_benefit_percent: Option<f64>,
    pub(super) published_time_benefit_percent: Option<f64>,
    pub(super) used_in_fit: bool,
}

/// The benefits of the seeds at the central point.
#[derive(Clone, Copy, Serialize)]
pub(super) struct Central {
    pub(super) low: f64,
    pub(super) median: f64,
    pub(super) high: f64,
}

/// The unknown that goes most with a benefit.
#[derive(Serialize)]
pub(super) struct Decides<'r> {
    pub(super) unknown: &'r str,
    pub(super) spearman: f64,
}

/// A benchmark in its reference.
#[derive(Serialize)]
pub(super) struct ReferenceFacts<'r> {
    pub(super) benchmark: &'r str,
    pub(super) busy: bool,
    pub(super) power_unit: Interval,
    pub(super) power_w: Option<Interval>,
    pub(super) published_power_w: Option<f64>,
    pub(super) rcu_bound_percent: Interval,
    pub(super) rcu_owned_percent: Interval,
    pub(super) draws_in_which_rcu_helps: usize,
    pub(super) most_percent_by_which_rcu_helps: f64,
}

/// In what shares of the predictions the talk's claims come out.
#[derive(Serialize)]
pub(super) struct Claim<'r> {
    pub(super) benchmark: &'r str,
    pub(super) enforced_idle_saves_more_than_offload: f64,
    pub(super) both_save_at_most_1_point_more_than_the_better: f64,
    pub(super) offload_is_faster_than_enforced_idle: f64,
}

/// Benefits against doses of callbacks.
#[derive(Serialize)]
pub(super) struct Dose {
    pub(super) benchmark: &'static str,
    pub(super) configuration: &'static str,
    pub(super) points: Vec<DosePoint>,
}

#[derive(Serialize)]
pub(super) struct DosePoint {
    pub(super) callbacks_per_second_and_cpu: f64,
    pub(super) energy_benefit_percent: f64,
}

/// The facts of a cell.
pub(super) fn cell_facts<'r>(energy: &Energy<'r>, cell: &EnergyCell<'r>) -> CellFacts<'r> {
    let published = |of: fn(&Published) -> Option<f64>| cell.published.as_ref().and_then(of);
    CellFacts {
        benchmark: cell.benchmark,
        configuration: cell.configuration,
        energy_j: energy.scale.map(|scale| cell.energy.times(scale)),
        energy_unit_s: cell.energy,
        time_s: cell.time,
        energy_benefit_percent: cell.benefit,
        time_benefit_percent: cell.time_benefit,
        central_energy_benefit_percent: cell.central.map(|[low, median, high]| Central { low, median, high }),
        verdict: cell.verdict(),
        wrong_sign: cell.is_wrong(),
        decides: cell.decides.map(|(unknown, spearman)| Decides { unknown, spearman }),
        exceeds_rcu: energy.exceeds(cell),
        rcu_bound_percent: energy.bench(cell.benchmark).map(|bench| bench.bound.high),
        draws_beyond_bound: cell.beyond_bound.0,
        most_points_beyond_bound: cell.beyond_bound.1,
        published_energy_j: published(|figure| Some(figure.energy_j)),
        published_time_s: published(|figure| Some(figure.time_s)),
        published_energy_benefit_percent: published(|figure| figure.benefit),
        published_time_benefit_percent: published(|figure| figure.time_benefit),
        used_in_fit: energy.used_in_fit(cell),
    }
}

/// The facts of a reference.
pub(super) fn reference_facts<'r>(energy: &Energy<'r>, bench: &Bench<'r>) -> ReferenceFacts<'r> {
    ReferenceFacts {
        benchmark: bench.name,
        busy: bench.busy,
        power_unit: bench.power,
        power_w: energy.scale.map(|scale| bench.power.times(scale)),
        published_power_w: bench.published_power,
        rcu_bound_percent: bench.bound,
        rcu_owned_percent: bench.owned,
        draws_in_which_rcu_helps: bench.helps.0,
        most_percent_by_which_rcu_helps: bench.helps.1,
    }
}

/// In what shares of the predictions the talk's claims come out.
pub(super) fn claims<'r>(measured: &Measured<'r>, energy: &Energy<'r>) -> Vec<Claim<'r>> {
    let share = |count: usize, of: usize| if of == 0 { 0.0 } else { count as f64 / of as f64 };
    let of = |bench: &Bench<'r>| {
        let [reference, offload, idle, both] = [REFERENCE, CONFIGURATIONS[0], CONFIGURATIONS[1], CONFIGURATIONS[2]]
            .map(|configuration| at(&measured.energy, bench.name, configuration, energy.mode));
        let [offload_time, idle_time] = [CONFIGURATIONS[0], CONFIGURATIONS[1]]
            .map(|configuration| at(&measured.time, bench.name, configuration, energy.mode));
        // A recording of which a part is missing has fewer of some than of others.
        let all = [reference, offload, idle, both, offload_time, idle_time];
        let count = all.iter().map(|values| values.len()).min().unwrap_or(0);
        let draws = || 0..count;
        let adds_little =
            |draw: &usize| 100.0 * (offload[*draw].min(idle[*draw]) - both[*draw]) / reference[*draw] <= 1.0;
        Claim {
            benchmark: bench.name,
            enforced_idle_saves_more_than_offload: share(
                draws().filter(|&draw| idle[draw] < offload[draw]).count(),
                count,
            ),
            both_save_at_most_1_point_more_than_the_better: share(draws().filter(adds_little).count(), count),
            offload_is_faster_than_enforced_idle: share(
                draws().filter(|&draw| offload_time[draw] < idle_time[draw]).count(),
                count,
            ),
        }
    };
    energy.benches.iter().map(of).collect()
}

/// Benefits against doses.
pub(super) fn doses(measured: &Measured<'_>) -> Vec<Dose> {
    let mut all = Vec::new();
    for benchmark in ["audio", "andebench8"] {
        for configuration in CONFIGURATIONS {
            let curve = measured.curve(benchmark, configuration, "dose");
            let points: Vec<DosePoint> = curve
                .iter()
                .map(|&(callbacks_per_second_and_cpu, energy_benefit_percent)| DosePoint {
                    callbacks_per_second_and_cpu,
                    energy_benefit_percent,
                })
                .collect();
            if !points.is_empty() {
                all.push(Dose { benchmark, configuration, points });
            }
        }
    }
    all
}
