//! The measuring of cells: in turn, in alternating order, until the answer is certain.

use crate::grid::Grid;
use crate::process::Process;
use crate::protocol::Measure;
use experiment::{Error, Progress};
use worker_process::Failure;

/// Rounds in which every cell takes part.
const FIRST_ROUNDS: usize = 3;

/// A cell that is slower than the best of its group by more than this share after the first rounds
/// is not measured any further.
const CONTENDS: f64 = 0.15;

/// The answer is certain when the medians of all that contend are known to this share.
const CERTAIN: f64 = 0.005;

/// Rounds of cells that are measured without a sweep, all of them in each round.
///
/// # Errors
/// The loop cannot do what is asked for, crashes or hangs, or it was told to stop.
pub fn some(
    process: &mut Process,
    grid: &Grid,
    cells: &[usize],
    rounds: usize,
    values: &mut [Vec<f64>],
    progress: &Progress,
) -> Result<(), Error> {
    for round in 0..rounds {
        let turn: &mut dyn Iterator<Item = &usize> =
            if round % 2 == 0 { &mut cells.iter() } else { &mut cells.iter().rev() };
        for &cell in turn {
            progress.check()?;
            values[cell].push(process.measure(&measure(grid, cell))?);
        }
    }
    Ok(())
}

/// The request for a cell.
fn measure(grid: &Grid, cell: usize) -> Measure {
    let what = &grid.cells[cell];
    let set = &grid.sets[what.set];
    let records = if set.name == "warm" { what.batch } else { set.records };
    let ticks = (dataplane::machine::counter_hz() as f64 * SECONDS) as u64;
    Measure { records, batch: what.batch, values: what.values.clone(), ticks }
}

/// Seconds of a measurement.
const SECONDS: f64 = 0.0012;

/// The measurements of all cells.
pub struct Measurements {
    /// For each cell of the grid its ticks per record, one for each round in which it took part.
    pub values: Vec<Vec<f64>>,
    /// The rounds.
    pub rounds: usize,
    /// Why it ended before its time, if it did: the loop crashed or hung.
    pub ended: Option<String>,
    /// True if the best cell is at an end of what can be tried.
    pub at_the_end: bool,
}

/// The middle of some values.
pub fn median(values: &[f64]) -> f64 {
    recording::stats::median(values).unwrap_or(f64::INFINITY)
}

/// Half the width of an interval for a median, as a share of it (R. McGill, J. Tukey, W. Larsen,
/// "Variations of Box Plots", 1978: 1.57 quartile distances by the root of the count).
fn uncertainty(values: &[f64]) -> f64 {
    let at = |q| recording::stats::quantile(values, q).unwrap_or(f64::INFINITY);
    1.57 * (at(0.75) - at(0.25)) / (values.len() as f64).sqrt() / at(0.5)
}

/// Measures a grid, which may grow.
///
/// # Errors
/// The loop cannot do what is asked for, or it was told to stop. A loop that crashes after the
/// first round is no error.
pub fn sweep(
    process: &mut Process,
    grid: &mut Grid,
    most_rounds: usize,
    progress: &Progress,
) -> Result<Measurements, Error> {
    let mut values: Vec<Vec<f64>> = vec![Vec::new(); grid.cells.len()];
    let mut rounds = 0;
    let mut ended = None;
    progress.expect(most_rounds as u64, "rounds");
    'rounds: while rounds < most_rounds {
        let mut turn: Vec<usize> = (0..grid.cells.len()).filter(|cell| contends(grid, &values, *cell)).collect();
        turn.sort_by_key(|cell| grid.cells[*cell].set);
        if rounds % 2 == 1 {
            turn.reverse();
        }
        for cell in turn {
            progress.check()?;
            match process.measure(&measure(grid, cell)) {
                Ok(ticks) => values[cell].push(ticks),
                Err(Failure::Gone(text)) if rounds > 0 => {
                    ended = Some(text);
                    break 'rounds;
                }
                Err(failure) => return Err(failure.into()),
            }
        }
        rounds += 1;
        progress.step();
        if rounds >= FIRST_ROUNDS {
            let grown = best(grid, &values).map_or(0, |best| grid.extend(best));
            values.resize(grid.cells.len(), Vec::new());
            if grown == 0 && is_certain(grid, &values) {
                break;
            }
        }
    }
    let at_the_end = best(grid, &values).is_some_and(|best| grid.is_longest(best));
    Ok(Measurements { values, rounds, ended, at_the_end })
}

/// The best cell of the largest set, at the batch that was asked for.
pub fn best(grid: &Grid, values: &[Vec<f64>]) -> Option<usize> {
    let far = grid.sets.len() - 1;
    let of = |cell: &usize| grid.cells[*cell].set == far && grid.cells[*cell].batch == grid.batch;
    let measured = (0..values.len()).filter(of).filter(|cell| !values[*cell].is_empty());
    measured.min_by(|a, b| median(&values[*a]).total_cmp(&median(&values[*b])))
}

/// The least median of a cell's group: those of its set and batch.
fn least(grid: &Grid, values: &[Vec<f64>], cell: usize) -> f64 {
    let of = &grid.cells[cell];
    let group = grid.cells.iter().zip(values).filter(|(other, _)| other.set == of.set && other.batch == of.batch);
    group.map(|(_, values)| median(values)).fold(f64::INFINITY, f64::min)
}

/// True if a cell is to be measured once more.
fn contends(grid: &Grid, values: &[Vec<f64>], cell: usize) -> bool {
    // By its least: one bad round of the first three shall not put a cell out of the race.
    let own = values[cell].iter().copied().fold(f64::INFINITY, f64::min);
    values[cell].len() < FIRST_ROUNDS || own <= least(grid, values, cell) * (1.0 + CONTENDS)
}

fn is_certain(grid: &Grid, values: &[Vec<f64>]) -> bool {
    let contending = (0..values.len()).filter(|cell| contends(grid, values, *cell));
    contending.into_iter().all(|cell| values[cell].len() >= 5 && uncertainty(&values[cell]) <= CERTAIN)
}
