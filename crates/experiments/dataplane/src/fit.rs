//! Fits the modelled core to the cells it is given, and sees no others.

use crate::model::{Cell, Effort, run};
use core_model::Parameters;
use serde::{Deserialize, Serialize};

/// A cell that may be used, with what was measured on the hardware.
pub struct UsedCell {
    /// The loop and its strides.
    pub cell: Cell,
    /// Core cycles per packet.
    pub cycles_per_packet: f64,
    /// Effort of a run on the modelled core.
    pub effort: Effort,
}

/// The parameters that no document gives: `[cycles]` of a costs file.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Costs {
    /// Work of a packet in cycles.
    pub work: f64,
    /// Run-ahead window in cycles of work.
    pub window: f64,
    /// Shortest time of a line from DRAM.
    pub dram: f64,
    /// Mean of the spread on top.
    pub dram_spread: f64,
    /// First touch of a page.
    pub translation: f64,
}

impl Costs {
    /// The parameters by name.
    pub const NAMES: [&'static str; 5] = ["work", "window", "dram", "dram_spread", "translation"];

    /// The values in the order of [`Costs::NAMES`].
    pub fn values(&self) -> [f64; 5] {
        [
            self.work,
            self.window,
            self.dram,
            self.dram_spread,
            self.translation,
        ]
    }

    fn new(values: [f64; 5]) -> Self {
        let [work, window, dram, dram_spread, translation] = values;
        Self {
            work,
            window,
            dram,
            dram_spread,
            translation,
        }
    }

    /// These costs in tenths of a cycle: more digits would claim more than ten cells can tell.
    #[must_use]
    pub fn rounded(&self) -> Self {
        Self::new(self.values().map(|value| (value * 10.0).round() / 10.0))
    }

    /// The hardware's facts with these costs. An earlier node of a frame has touched the pages, so
    /// that a second-level TLB has them: then the translation that was fitted is that TLB's, and no
    /// cell tells how much longer a walk of the page tables takes.
    pub fn on(&self, hardware: Parameters) -> Parameters {
        Parameters {
            second_tlb: self.translation,
            work: self.work,
            window: self.window,
            dram: self.dram,
            dram_spread: self.dram_spread,
            translation: self.translation,
            ..hardware
        }
    }

    /// The nearest costs that hardware could have: nothing negative, and DRAM no faster than L2.
    fn possible(self, hardware: &Parameters) -> Self {
        let costs = Self::new(self.values().map(|value| value.max(0.0)));
        Self {
            dram: costs.dram.max(hardware.l2),
            ..costs
        }
    }
}

/// The result of a fit.
pub struct Fit {
    /// The costs.
    pub costs: Costs,
    /// Root mean square of the relative errors over the used cells.
    pub rms: f64,
    /// The same for the other starts: what else explains the used cells.
    pub others: Vec<(Costs, f64)>,
}

/// Starts of the search for the Cortex-A72: a window of half, of one and of two packets' work, with
/// the latency on either side of the translation. The landscape has a valley near each.
pub const STARTS: [Start; 3] = [
    Start {
        values: [71.0, 73.0, 60.0, 115.0, 130.0],
        steps: STEPS,
    },
    Start {
        values: [72.0, 41.0, 254.0, 87.0, 30.0],
        steps: STEPS,
    },
    Start {
        values: [73.0, 140.0, 200.0, 115.0, 60.0],
        steps: STEPS,
    },
];
const STEPS: [f64; 5] = [2.0, 8.0, 20.0, 20.0, 30.0];

/// Start of a search, and how far its first steps go.
#[derive(Clone)]
pub struct Start {
    /// The costs, in the order of [`Costs::NAMES`].
    pub values: [f64; 5],
    /// The first step of each.
    pub steps: [f64; 5],
}

/// Starts of the search for cells of an unknown core: work is at most what its fastest cell takes,
/// and what its slowest cell takes beyond it is latency. A short window with long lines, the same
/// with a spread that is longer still, and a window of more than a packet's work.
pub fn starts(used: &[UsedCell]) -> Vec<Start> {
    let cycles = || used.iter().map(|cell| cell.cycles_per_packet);
    let work = cycles().fold(f64::INFINITY, f64::min);
    let latency = (cycles().fold(0.0, f64::max) - work) / 2.0;
    let units = [work, work, latency, latency, latency];
    let steps = [0.06, 0.2, 0.12, 0.12, 0.08];
    [
        [1.0, 0.5, 0.8, 0.5, 0.25],
        [1.0, 0.1, 0.5, 0.8, 0.1],
        [0.9, 1.2, 0.6, 0.4, 0.5],
    ]
    .map(|parts| Start {
        values: std::array::from_fn(|n| parts[n] * units[n]),
        steps: std::array::from_fn(|n| steps[n] * units[n]),
    })
    .to_vec()
}

/// Fits, from every start, and keeps the best. The starts run side by side; the result does not
/// depend on it.
///
/// # Panics
/// There is no start.
pub fn fit(hardware: Parameters, used: &[UsedCell], starts: &[Start], rounds: usize) -> Fit {
    let mut found: Vec<(Costs, f64)> = std::thread::scope(|scope| {
        let searches: Vec<_> = starts
            .iter()
            .map(|start| {
                scope.spawn(move || {
                    let rms = |values: [f64; 5]| {
                        rms(hardware, Costs::new(values).possible(&hardware), used)
                    };
                    let (values, rms) = downhill(start.values, start.steps, rounds, rms);
                    (Costs::new(values).possible(&hardware), rms)
                })
            })
            .collect();
        searches
            .into_iter()
            .map(|search| search.join().expect("a search does not panic"))
            .collect()
    });
    found.sort_by(|a, b| a.1.total_cmp(&b.1));
    let (costs, rms) = found.remove(0);
    Fit {
        costs,
        rms,
        others: found,
    }
}

/// Root mean square of the relative errors over cells.
pub fn rms(hardware: Parameters, costs: Costs, cells: &[UsedCell]) -> f64 {
    let squares: f64 = cells
        .iter()
        .map(|used| {
            let error = run(costs.on(hardware), used.cell, used.effort).cycles_per_packet
                / used.cycles_per_packet
                - 1.0;
            error * error
        })
        .sum();
    (squares / cells.len() as f64).sqrt()
}

/// The distance by which the costs can move along a direction, both ways, in steps of half a cycle,
/// before the rms grows by a tenth.
pub fn freedom(
    hardware: Parameters,
    fit: &Fit,
    direction: [f64; 5],
    used: &[UsedCell],
) -> (f64, f64) {
    const STEP: f64 = 0.5;
    const STEPS: u32 = 120;
    let limit = fit.rms * 1.1;
    let reach = |sign: f64| {
        let moved = |far: f64| {
            let values = fit.costs.values();
            Costs::new(std::array::from_fn(|n| {
                values[n] + sign * far * direction[n]
            }))
        };
        let fits = |far: f64| {
            let costs = moved(far);
            costs == costs.possible(&hardware) && rms(hardware, costs, used) <= limit
        };
        // A coarse pass and a fine one, both stopping where the fit first gets worse.
        let mut far = 0.0;
        for step in [STEP * 10.0, STEP] {
            for _ in 0..STEPS / 10 {
                if !fits(far + step) {
                    break;
                }
                far += step;
            }
        }
        far
    };
    (reach(-1.0), reach(1.0))
}

/// The downhill simplex search of Nelder and Mead, with its usual coefficients.
pub fn downhill<const N: usize>(
    start: [f64; N],
    steps: [f64; N],
    rounds: usize,
    cost: impl Fn([f64; N]) -> f64,
) -> ([f64; N], f64) {
    let mut simplex = vec![(start, cost(start))];
    for axis in 0..N {
        let mut corner = start;
        corner[axis] += steps[axis];
        simplex.push((corner, cost(corner)));
    }
    for _ in 0..rounds {
        simplex.sort_by(|a, b| a.1.total_cmp(&b.1));
        let (worst, worst_cost) = simplex[N];
        let centre: [f64; N] = std::array::from_fn(|axis| {
            simplex[..N]
                .iter()
                .map(|(corner, _)| corner[axis])
                .sum::<f64>()
                / N as f64
        });
        let try_at = |far: f64| {
            let corner: [f64; N] =
                std::array::from_fn(|axis| centre[axis] + far * (worst[axis] - centre[axis]));
            (corner, cost(corner))
        };
        let reflected = try_at(-1.0);
        simplex[N] = if reflected.1 < simplex[0].1 {
            let expanded = try_at(-2.0);
            if expanded.1 < reflected.1 {
                expanded
            } else {
                reflected
            }
        } else if reflected.1 < simplex[N - 1].1 {
            reflected
        } else {
            let contracted = try_at(if reflected.1 < worst_cost { -0.5 } else { 0.5 });
            if contracted.1 < worst_cost.min(reflected.1) {
                contracted
            } else {
                let best = simplex[0].0;
                for corner in &mut simplex[1..] {
                    corner.0 = std::array::from_fn(|axis| {
                        best[axis] + 0.5 * (corner.0[axis] - best[axis])
                    });
                    corner.1 = cost(corner.0);
                }
                continue;
            }
        };
    }
    simplex.sort_by(|a, b| a.1.total_cmp(&b.1));
    simplex[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_search_finds_the_bottom_of_a_bowl() {
        let (at, cost) = downhill([5.0, -3.0], [1.0, 1.0], 200, |[x, y]| {
            (x - 1.0).powi(2) + 10.0 * (y - 2.0).powi(2)
        });
        assert!(
            (at[0] - 1.0).abs() < 1e-6 && (at[1] - 2.0).abs() < 1e-6 && cost < 1e-10,
            "{at:?}"
        );
    }
}
