//! Draws in which a configuration saves more than RCU costs at all are run again with other seeds:
//! where a governor is as likely to be wrong as right, seeds differ by far more there than at the
//! centre, and what is saved is luck.

use crate::plan::{Kind, PointResults, Visit};
use crate::runs::RunResult;

/// Seeds beside the draw's own.
const SEEDS: u64 = 31;

/// The points to be run again: draws in which a configuration saves more than the run without
/// callbacks, by more than the seeds spread at the central point.
pub fn doubtful<'s>(visited: &[PointResults<'s>]) -> Vec<Visit<'s>> {
    let mut visits = Vec::new();
    for at in visited.iter().filter(|at| at.visit.kind == Kind::Draws) {
        let Some(bound) = at.silent.as_ref().map(|silent| saved(at, silent)) else { continue };
        let beyond = |(number, ran): (usize, &RunResult)| saved(at, ran) > bound + spread(visited, at, number);
        if at.configurations.iter().enumerate().skip(1).any(beyond) {
            let again = |seed| Visit {
                kind: Kind::Reseeded,
                place: seed,
                point: at.visit.point.clone().reseeded(seed),
                ..at.visit.clone()
            };
            visits.extend((1..=SEEDS).map(again));
        }
    }
    visits
}

/// The saving of a run against the reference of its point, in percent.
fn saved(at: &PointResults<'_>, ran: &RunResult) -> f64 {
    100.0 * (1.0 - ran.energy as f64 / at.configurations[0].energy as f64)
}

/// The spread of the seeds of the central point in what a configuration saves and in what RCU
/// costs, together, in points.
fn spread(visited: &[PointResults<'_>], of: &PointResults<'_>, configuration: usize) -> f64 {
    let central = || {
        visited.iter().filter(|at| at.visit.kind == Kind::Central && at.visit.benchmark.name == of.visit.benchmark.name)
    };
    let width = |values: Vec<f64>| {
        let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        (most - least).max(0.0)
    };
    let benefits = central().map(|at| saved(at, &at.configurations[configuration])).collect();
    let bounds = central().filter_map(|at| Some(saved(at, at.silent.as_ref()?))).collect();
    width(benefits) + width(bounds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::point::Point;
    use crate::runs::OWNERS;
    use crate::suite::Suite;
    use document::Document;
    use minikernel::WakeCause;

    fn ran(energy: u128) -> RunResult {
        RunResult {
            time: 1,
            energy,
            owners: [0; OWNERS.len()],
            wake_ups: [0; WakeCause::ALL.len()],
            ticks: [0; 3],
            queued: [0; 2],
            invoked: [0; 4],
            latency_ns: None,
            latencies: recording::Histogram::default(),
            asleep: [0; 2],
            residency: Vec::new(),
            stalls: 0,
            ended: true,
        }
    }

    /// Energies of the reference, three configurations and the run without callbacks.
    fn at<'s>(suite: &'s Suite, kind: Kind, number: u32, energies: [u128; 5]) -> PointResults<'s> {
        let point = Point::draw(suite, number);
        let visit = Visit { kind, place: 0, number, benchmark: &suite.benchmarks[0], point };
        let [.., silent] = energies;
        PointResults {
            visit,
            configurations: energies[..4].iter().map(|&energy| ran(energy)).collect(),
            silent: Some(ran(silent)),
        }
    }

    #[test]
    fn draws_beyond_the_seeds_spread_at_the_centre_are_run_again() {
        let text = include_str!("../../../../data/platforms/energy/rcu-2013.toml");
        let suite = Suite::read(&Document::new("rcu-2013.toml", text.to_owned())).unwrap();
        // At the centre enforced idle saves 2 or 3 points and RCU costs 4 or 5: a spread of two
        // points together.
        let visited = [
            at(&suite, Kind::Central, 0, [1000, 990, 980, 980, 960]),
            at(&suite, Kind::Central, 1, [1000, 990, 970, 980, 950]),
            at(&suite, Kind::Draws, 0, [1000, 990, 931, 980, 950]),
            at(&suite, Kind::Draws, 1, [1000, 990, 929, 980, 950]),
            at(&suite, Kind::Draws, 2, [1000, 990, 960, 980, 950]),
        ];
        let again = doubtful(&visited);
        assert_eq!(again.len() as u64, SEEDS);
        assert!(again.iter().all(|visit| (visit.kind, visit.number) == (Kind::Reseeded, 1)));
        let mut seeds: Vec<u64> = again.iter().map(|visit| visit.point.seed).collect();
        seeds.push(visited[3].visit.point.seed);
        seeds.sort_unstable();
        seeds.dedup();
        assert_eq!(seeds.len() as u64, SEEDS + 1, "each seed is another");
    }
}
