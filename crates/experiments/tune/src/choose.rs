//! The choice from few measurements: the model names the cells that are worth a measurement, and
//! what was measured corrects the model.
//!
//! The model's errors are alike where cells are alike. A Gaussian process over their logarithms (C.
//! Rasmussen, C. Williams, "Gaussian Processes for Machine Learning", 2006, chapter 2) tells for
//! each cell by how much the model is probably off there, and how sure that is. A part of the error
//! belongs to a working set and a batch, a part to the distances, and a part to both together.

use crate::grid::{Cell, Grid};
use crate::sweep::median;
use experiment::Error;
use nalgebra::{Cholesky, DMatrix, DVector, Dyn};

/// Rounds of a cell that is measured for the choice.
pub const ROUNDS: usize = 5;

/// The choice may take one of this number of measurements that the sweep takes.
const SHARE: usize = 10;

/// The model's errors for a reason that is common to a working set and a batch, that is common to
/// some distances, and that is of neither: standard deviations of the logarithm. These and the
/// numbers below were chosen by looking at six loops on one machine (docs/tune.md names them), and
/// are the same for every loop and machine.
const OF_SET: f64 = 0.3;
const OF_DISTANCES: f64 = 0.2;
const OF_BOTH: f64 = 0.1;

/// The error of a median of few rounds, likewise.
const OF_ROUNDS: f64 = 0.01;

/// Errors are alike up to about one doubling of a distance, one working set, three doublings of a
/// batch.
const DOUBLINGS_OF_BATCH: f64 = 3.0;

/// A cell is tried for what it may be, by these shares of its standard deviation: the next one
/// where no cell is worth a measurement with the one before.
const HOPES: [f64; 3] = [0.5, 1.0, 2.0];

/// The choice.
pub struct Chosen {
    /// The cells that were measured for it.
    pub probed: Vec<usize>,
    /// For each cell its ticks per record as the choice knows them: corrected by what was measured,
    /// and `None` where the model says nothing.
    pub ticks: Vec<Option<f64>>,
}

/// Chooses from what a sweep has measured: a tenth of that is looked at, the first few rounds of a
/// cell where it asks for one.
pub fn from_sweep(
    grid: &Grid,
    modelled: &[Option<f64>],
    used: &[usize],
    measured: &[Vec<f64>],
) -> Result<Option<Chosen>, Error> {
    let first = |cell: usize| measured[cell][..measured[cell].len().min(ROUNDS)].to_vec();
    choose(grid, modelled, used, measured.iter().map(Vec::len).sum::<usize>() / SHARE, |cell| Ok(first(cell)))
}

/// The rounds of a choice without a sweep: a tenth of those that a sweep takes at ten rounds a
/// cell.
pub fn budget(grid: &Grid) -> usize {
    grid.cells.len() * 10 / SHARE
}

/// Chooses: `modelled` is what the model says of each cell of a grid, `used` are the cells that it
/// was fitted to, and `measure` gives the rounds of a cell, of which there may be none. `budget`
/// rounds are looked at in all. `None` if what was measured says nothing.
///
/// # Errors
/// Those of `measure`.
pub fn choose(
    grid: &Grid,
    modelled: &[Option<f64>],
    used: &[usize],
    mut budget: usize,
    mut measure: impl FnMut(usize) -> Result<Vec<f64>, Error>,
) -> Result<Option<Chosen>, Error> {
    let mut errors = Errors { grid, modelled, probes: Vec::new() };
    let mut probe = |errors: &mut Errors<'_>, cell: usize| -> Result<bool, Error> {
        if budget < ROUNDS {
            return Ok(false);
        }
        let rounds = measure(cell)?;
        budget -= rounds.len();
        if !rounds.is_empty() {
            errors.probes.push((cell, median(&rounds)));
        }
        Ok(!rounds.is_empty())
    };
    for &cell in used {
        probe(&mut errors, cell)?;
    }
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (at, cell) in grid.cells.iter().enumerate().filter(|(at, _)| modelled[*at].is_some()) {
        let same = |group: &&mut Vec<usize>| {
            let other = &grid.cells[group[0]];
            (other.set, other.batch) == (cell.set, cell.batch)
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.push(at),
            None => groups.push(vec![at]),
        }
    }
    // Each working set and batch in turn, until the best of each is one that was measured.
    let mut hopes = HOPES.into_iter().peekable();
    while let Some(hope) = hopes.peek() {
        let mut goes_on = false;
        for group in &groups {
            let Some(known) = errors.known() else { return Ok(None) };
            let hoped = |cell: &usize| known.least(*cell, *hope);
            let Some(best) = group.iter().copied().min_by(|a, b| hoped(a).total_cmp(&hoped(b))) else { continue };
            if errors.probes.iter().all(|(cell, _)| *cell != best) {
                goes_on |= probe(&mut errors, best)?;
            }
        }
        if !goes_on {
            hopes.next();
        }
    }
    let Some(known) = errors.known() else { return Ok(None) };
    let ticks = (0..modelled.len()).map(|cell| modelled[cell].map(|_| known.ticks(cell))).collect();
    Ok(Some(Chosen { probed: errors.probes.iter().map(|(cell, _)| *cell).collect(), ticks }))
}

/// The errors of the model, as far as they were measured.
struct Errors<'a> {
    grid: &'a Grid,
    modelled: &'a [Option<f64>],
    /// Cells, with their ticks.
    probes: Vec<(usize, f64)>,
}

/// The probes, and what follows for all cells.
struct Known<'a> {
    errors: &'a Errors<'a>,
    factor: Cholesky<f64, Dyn>,
    weights: DVector<f64>,
}

impl Errors<'_> {
    /// The logarithm of a cell's ticks by the model.
    fn prior(&self, cell: usize) -> f64 {
        self.modelled[cell].unwrap_or(f64::INFINITY).ln()
    }

    fn known(&self) -> Option<Known<'_>> {
        let count = self.probes.len();
        let alike = DMatrix::from_fn(count, count, |row, column| {
            let [a, b] = [row, column].map(|at| &self.grid.cells[self.probes[at].0]);
            covariance(a, b) + if row == column { OF_ROUNDS * OF_ROUNDS } else { 0.0 }
        });
        let logarithms =
            DVector::from_iterator(count, self.probes.iter().map(|(cell, ticks)| ticks.ln() - self.prior(*cell)));
        let factor = alike.cholesky()?;
        let weights = factor.solve(&logarithms);
        Some(Known { errors: self, factor, weights })
    }
}

impl Known<'_> {
    fn to_probes(&self, cell: usize) -> DVector<f64> {
        let Errors { grid, probes, .. } = self.errors;
        DVector::from_iterator(
            probes.len(),
            probes.iter().map(|(other, _)| covariance(&grid.cells[cell], &grid.cells[*other])),
        )
    }

    fn measured(&self, cell: usize) -> Option<f64> {
        self.errors.probes.iter().find(|(other, _)| *other == cell).map(|(_, ticks)| *ticks)
    }

    /// A cell's ticks: what was measured, or else what is expected.
    fn ticks(&self, cell: usize) -> f64 {
        self.measured(cell).unwrap_or_else(|| (self.errors.prior(cell) + self.to_probes(cell).dot(&self.weights)).exp())
    }

    /// The logarithm of the ticks that a cell may turn out to take, with some hope.
    fn least(&self, cell: usize, hope: f64) -> f64 {
        if let Some(ticks) = self.measured(cell) {
            return ticks.ln();
        }
        let to_probes = self.to_probes(cell);
        let itself = &self.errors.grid.cells[cell];
        let variance = covariance(itself, itself) - to_probes.dot(&self.factor.solve(&to_probes));
        self.errors.prior(cell) + to_probes.dot(&self.weights) - hope * variance.max(0.0).sqrt()
    }
}

/// The covariance of the model's errors of two cells.
fn covariance(a: &Cell, b: &Cell) -> f64 {
    let doublings = |a: f64, b: f64| (a.log2() - b.log2()).powi(2);
    let sets = (a.set as f64 - b.set as f64).powi(2);
    let of_set = sets + doublings(a.batch as f64, b.batch as f64) / DOUBLINGS_OF_BATCH.powi(2);
    let values = a.values.iter().zip(&b.values);
    let of_distances: f64 = values.map(|(a, b)| doublings(1.0 + f64::from(*a), 1.0 + f64::from(*b))).sum();
    let alike = |squares: f64| (-squares / 2.0).exp();
    OF_SET.powi(2) * alike(of_set)
        + OF_DISTANCES.powi(2) * alike(of_distances)
        + OF_BOTH.powi(2) * alike(of_set + of_distances)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recipe::Recipe;
    use crate::worker::about_recipe;
    use document::Document;

    /// A loop whose best distance is 12, and 6 in batches below 64, of which the model knows
    /// nothing: it takes all distances for alike. The choice finds both.
    #[test]
    fn what_the_model_does_not_know_is_found_with_a_tenth_of_the_measurements() {
        let text = "name = \"x\"\nmultiplications = 1\n[[line]]\nname = \"a\"\n";
        let about = about_recipe(&Recipe::read(&Document::new("x", text)).unwrap());
        let grid = Grid::new(&about, 256, &[32 << 10, 1 << 20, 32 << 20], 1 << 28);
        let truth = |cell: &Cell| {
            let best: f64 = if cell.batch < 64 { 6.0 } else { 12.0 };
            40.0 + 20.0 * ((1.0 + f64::from(cell.values[0])).log2() - (1.0 + best).log2()).powi(2)
        };
        let measured: Vec<Vec<f64>> = grid.cells.iter().map(|cell| vec![truth(cell); 25]).collect();
        let modelled = vec![Some(100.0); grid.cells.len()];
        let chosen = from_sweep(&grid, &modelled, &[0], &measured).unwrap().unwrap();
        let rounds = chosen.probed.len() * ROUNDS;
        assert!(rounds <= grid.cells.len() * 25 / SHARE, "{rounds}");
        for (set, batch) in [(3, 256), (3, 1024), (3, 32), (1, 256)] {
            let of = |at: &usize| (grid.cells[*at].set, grid.cells[*at].batch) == (set, batch);
            let group: Vec<usize> = (0..grid.cells.len()).filter(of).collect();
            let by = |ticks: &dyn Fn(usize) -> f64| {
                group.iter().copied().min_by(|a, b| ticks(*a).total_cmp(&ticks(*b))).unwrap()
            };
            let pick = by(&|cell| chosen.ticks[cell].unwrap());
            let best = by(&|cell| truth(&grid.cells[cell]));
            assert!(
                truth(&grid.cells[pick]) <= truth(&grid.cells[best]) * 1.02,
                "{set} {batch}: {:?}",
                grid.cells[pick]
            );
        }
    }

    #[test]
    fn a_choice_of_nothing_measured_is_the_models() {
        let text = "name = \"x\"\nmultiplications = 1\n[[line]]\nname = \"a\"\n";
        let about = about_recipe(&Recipe::read(&Document::new("x", text)).unwrap());
        let grid = Grid::new(&about, 256, &[32 << 10, 1 << 20, 32 << 20], 1 << 28);
        let modelled: Vec<Option<f64>> = (0..grid.cells.len()).map(|cell| Some(1.0 + cell as f64)).collect();
        let chosen = from_sweep(&grid, &modelled, &[0, 1], &vec![Vec::new(); grid.cells.len()]).unwrap().unwrap();
        assert!(chosen.probed.is_empty());
        let off = |(chosen, modelled): (&Option<f64>, &Option<f64>)| (chosen.unwrap() / modelled.unwrap() - 1.0).abs();
        assert!(chosen.ticks.iter().zip(&modelled).map(off).all(|off| off < 1e-9));
    }
}
