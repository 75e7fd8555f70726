//! The search for the best values of a loop's knobs.
//!
//! Candidates are only compared within a round, in which each is measured once, in an order of its
//! own. Many start; a third of them goes on to twice as many rounds, until few are left. Then the
//! values beside those are tried, with smaller and smaller steps. In the end the best stands beside
//! its neighbours and what an engineer would have tried, for as many rounds as it takes to tell
//! them apart.

use crate::space::{Space, once};
use experiment::{Error, Result};
use itertools::Itertools;
use recording::stats::{median, median_interval};

/// Candidates that a race leaves, and those of them whose neighbours are tried: a loop may have
/// more than one place with good values.
const KEPT: usize = 8;
const WIDE: usize = 6;

/// Rounds of a race's first heat.
const FIRST_ROUNDS: usize = 4;

/// Steps to the values beside the best, in places of a knob's ladder.
const STEPS: [usize; 4] = [6, 4, 2, 1];

/// Most steps of one place after these.
const MOST_STEPS: usize = 12;

/// Rounds of the last comparison before it is looked at, and those that it has at least: what else
/// runs changes within a second.
const LOOK: usize = 32;
const LEAST_ROUNDS: usize = 96;

/// A search is sure when nothing that it measured beside its pick may take less by more than this
/// share.
pub const SURE: f64 = 0.01;

/// Most picks that the last comparison may replace by a better one.
const MOST_PICKS: usize = 5;

/// The measuring of candidates.
pub trait Bench {
    /// Measures each candidate once; the ticks per record of each.
    ///
    /// # Errors
    /// The loop crashed or hung, or it was told to stop.
    fn round(&mut self, candidates: &[&[u32]]) -> Result<Vec<f64>>;

    /// True if the loop does the same work with these values as with others.
    ///
    /// # Errors
    /// Those of [`round`](Self::round).
    fn is_allowed(&mut self, values: &[u32]) -> Result<bool>;
}

/// Candidates that were measured in the same rounds.
#[derive(Debug)]
pub struct Compared {
    /// The candidates, in the last comparison the pick first.
    pub values: Vec<Vec<u32>>,
    /// For each of them its ticks per record, one for each round.
    pub ticks: Vec<Vec<f64>>,
}

impl Compared {
    /// Candidates that are not measured yet; those that do other work are left out.
    ///
    /// # Errors
    /// Those of the bench.
    pub fn new(candidates: Vec<Vec<u32>>, bench: &mut impl Bench) -> Result<Self> {
        let mut values = Vec::new();
        for candidate in once(candidates) {
            if bench.is_allowed(&candidate)? {
                values.push(candidate);
            }
        }
        let ticks = vec![Vec::new(); values.len()];
        Ok(Self { values, ticks })
    }

    /// Measures some more rounds, in alternating order.
    ///
    /// # Errors
    /// Those of the bench; the rounds before are kept.
    pub fn measure(&mut self, rounds: usize, bench: &mut impl Bench) -> Result {
        for _ in 0..rounds {
            let is_reversed = self.ticks.first().is_some_and(|ticks| ticks.len() % 2 == 1);
            let mut turn = self.values.iter().map(Vec::as_slice).collect_vec();
            if is_reversed {
                turn.reverse();
            }
            let mut ticks = bench.round(&turn)?;
            if is_reversed {
                ticks.reverse();
            }
            self.ticks
                .iter_mut()
                .zip(ticks)
                .for_each(|(all, ticks)| all.push(ticks));
        }
        Ok(())
    }

    /// The candidates' ticks over those of the first, round by round: an interval for the median.
    fn against_first(&self) -> impl Iterator<Item = Option<[f64; 2]>> {
        let ratios = |ticks: &Vec<f64>| -> Vec<f64> {
            ticks
                .iter()
                .zip(&self.ticks[0])
                .map(|(a, b)| a / b)
                .collect()
        };
        self.ticks
            .iter()
            .skip(1)
            .map(move |ticks| median_interval(&ratios(ticks)))
    }

    /// True if nothing may take less than the first by more than [`SURE`].
    fn is_sure(&self) -> bool {
        self.against_first()
            .all(|interval| interval.is_some_and(|[low, _]| low > 1.0 - SURE))
    }

    /// What surely takes less than the first, the least of it.
    fn better(&self) -> Option<&Vec<u32>> {
        self.against_first()
            .zip(&self.values[1..])
            .filter_map(|(interval, values)| Some((interval?[1], values)))
            .filter(|(high, _)| *high < 1.0 - SURE / 4.0)
            .min_by(|a, b| a.0.total_cmp(&b.0))
            .map(|(_, values)| values)
    }
}

/// Searches, starting from `most` places or fewer. `is_slow` is for a loop whose batches take long:
/// it gets fewer rounds. `beside` adds to a pick what stands beside it in the last comparison,
/// which has `most_rounds` at most.
///
/// # Errors
/// Those of the bench; no candidate may be measured.
pub fn search(
    space: &Space<'_>,
    most: usize,
    is_slow: bool,
    most_rounds: usize,
    beside: impl Fn(&[u32]) -> Vec<Vec<u32>>,
    bench: &mut impl Bench,
) -> Result<Compared> {
    let first = if is_slow { 1 } else { FIRST_ROUNDS };
    let mut random = fastrand::Rng::with_seed(1);
    let mut race = |pool, bench: &mut _| race(pool, first, &mut random, bench);
    let mut best = race(space.starts(most), bench)?;
    let mut picks = 0;
    loop {
        for (turn, step) in STEPS
            .into_iter()
            .chain(std::iter::repeat_n(1, MOST_STEPS))
            .enumerate()
            .skip(if picks > 0 { STEPS.len() - 1 } else { 0 })
        {
            let before = best[0].clone();
            let near = best
                .iter()
                .take(WIDE)
                .flat_map(|values| space.beside(values, step));
            best = race(once(best.iter().cloned().chain(near).collect()), bench)?;
            if turn >= STEPS.len() && best[0] == before {
                break;
            }
        }
        let mut last = Compared::new(beside(&best[0]), bench)?;
        loop {
            let (look, least) = if is_slow {
                (LOOK / 4, LOOK / 4)
            } else {
                (LOOK, LEAST_ROUNDS)
            };
            let done = last.ticks.first().map_or(0, Vec::len);
            last.measure(look.min(most_rounds.saturating_sub(done).max(1)), bench)?;
            if let Some(better) = last.better().filter(|_| picks < MOST_PICKS) {
                best.insert(0, better.clone());
                picks += 1;
                break;
            }
            let done = last.ticks[0].len();
            if done >= least && last.is_sure() || done >= most_rounds {
                return Ok(last);
            }
        }
    }
}

/// The few best of some candidates, the best first.
fn race(
    mut pool: Vec<Vec<u32>>,
    mut rounds: usize,
    random: &mut fastrand::Rng,
    bench: &mut impl Bench,
) -> Result<Vec<Vec<u32>>> {
    loop {
        // Each round's own middle goes out of its values: rounds differ by what else runs.
        let mut logarithms = vec![Vec::new(); pool.len()];
        let mut order = (0..pool.len()).collect_vec();
        for _ in 0..rounds {
            random.shuffle(&mut order);
            let ticks = bench.round(&order.iter().map(|at| pool[*at].as_slice()).collect_vec())?;
            let middle = median(&ticks).unwrap_or(1.0);
            order
                .iter()
                .zip(ticks)
                .for_each(|(at, ticks)| logarithms[*at].push((ticks / middle).ln()));
        }
        let score = logarithms
            .iter()
            .map(|of| median(of).unwrap_or(f64::INFINITY))
            .collect_vec();
        order.sort_by(|a, b| score[*a].total_cmp(&score[*b]));
        let is_last = pool.len() <= 2 * KEPT;
        let keep = if is_last {
            KEPT
        } else {
            (pool.len() / 3).max(KEPT)
        };
        let mut kept = Vec::new();
        for at in order {
            if kept.len() < keep && bench.is_allowed(&pool[at])? {
                kept.push(pool[at].clone());
            }
        }
        if kept.is_empty() {
            return Err(Error::failed(
                "the loop does other work at every value that was tried",
            ));
        }
        if is_last {
            return Ok(kept);
        }
        (pool, rounds) = (kept, 2 * rounds);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::knobs;

    /// A loop of which everything is known, on a machine that drifts and makes noise.
    struct Known<T: Fn(&[u32]) -> f64> {
        truth: T,
        random: fastrand::Rng,
        drift: f64,
        forbidden: fn(&[u32]) -> bool,
    }

    impl<T: Fn(&[u32]) -> f64> Bench for Known<T> {
        fn round(&mut self, candidates: &[&[u32]]) -> Result<Vec<f64>, Error> {
            self.drift = 1.0 + 0.5 * self.random.f64();
            let mut noise = || 1.0 + 0.04 * (self.random.f64() - 0.5);
            Ok(candidates
                .iter()
                .map(|values| (self.truth)(values) * self.drift * noise())
                .collect())
        }

        fn is_allowed(&mut self, values: &[u32]) -> Result<bool, Error> {
            Ok(!(self.forbidden)(values))
        }
    }

    fn known<T: Fn(&[u32]) -> f64>(truth: T) -> Known<T> {
        Known {
            truth,
            random: fastrand::Rng::with_seed(7),
            drift: 1.0,
            forbidden: |_| false,
        }
    }

    fn found<T: Fn(&[u32]) -> f64>(
        knobs: &[crate::protocol::KnobAbout],
        bench: &mut Known<T>,
    ) -> Compared {
        let space = Space::new(knobs, 256);
        let beside = |pick: &[u32]| once([vec![pick.to_vec()], space.curves(pick, 9)].concat());
        search(&space, 600, false, 400, beside, bench).unwrap()
    }

    #[test]
    fn a_ladder_that_no_rule_has_is_found_beside_drift_and_noise() {
        let far =
            |value: u32, best: f64| (f64::from(1 + value).log2() - f64::log2(1.0 + best)).powi(2);
        let truth = |values: &[u32]| {
            100.0
                + 10.0 * (far(values[0], 44.0) + far(values[1], 19.0) + far(values[2], 11.0))
                + if values[3] == 2 { 0.0 } else { 20.0 }
        };
        let found = found(&knobs(3, true), &mut known(truth));
        assert!(truth(&found.values[0]) < 101.0, "{:?}", found.values[0]);
        assert!(
            found.is_sure()
                && found
                    .ticks
                    .iter()
                    .all(|ticks| ticks.len() == found.ticks[0].len())
        );
    }

    #[test]
    fn a_loop_whose_only_knob_is_a_choice_is_tuned() {
        let found = found(
            &knobs(0, true),
            &mut known(|values| if values[0] == 4 { 10.0 } else { 12.0 }),
        );
        assert_eq!(found.values[0], [4]);
    }

    #[test]
    fn what_does_other_work_never_wins() {
        let mut bench = known(|values| 100.0 - f64::from(values[0].min(50)));
        bench.forbidden = |values| values[0] > 8;
        let found = found(&knobs(1, false), &mut bench);
        assert_eq!(found.values[0], [8]);
        bench.forbidden = |_| true;
        let one = knobs(1, false);
        search(
            &Space::new(&one, 256),
            600,
            false,
            9,
            |_| Vec::new(),
            &mut bench,
        )
        .unwrap_err();
    }
}
