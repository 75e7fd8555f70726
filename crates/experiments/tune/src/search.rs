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

/// Shapes of which the best stays in a race though others are ahead. A shape says which knobs are
/// 0, and which of the others looks further ahead: how good one is shows only near its best values.
const SHAPES: usize = 3;

/// Rounds of a race's first heat.
const FIRST_ROUNDS: usize = 4;

/// Steps to the values beside the best, in places of a knob's ladder.
const STEPS: [usize; 4] = [6, 4, 2, 1];

/// Most steps of one place after these.
const MOST_STEPS: usize = 12;

/// Rounds of the last comparison before it is looked at, and those that it has at least, if there
/// is time: what else runs changes within a second.
const LOOK: usize = 32;
const LEAST_ROUNDS: usize = 96;

/// Rounds that there shall be time for in the last comparison: enough for intervals.
const FEW_ROUNDS: usize = 12;

/// Places that a search starts from: at least today's values, no prefetch and the rule of thumb.
const PLACES: (usize, usize) = (3, 800);

/// The share of a search's time that its first heat may take, as a divisor.
const HEAT: usize = 8;

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

    /// Seconds since the work began.
    fn seconds(&self) -> f64;

    /// Candidates that were measured since then.
    fn slices(&self) -> u64;

    /// Tells the best values so far, and their time as a multiple of that of today's values.
    fn tell(&mut self, best: &[u32], times: f64);
}

/// Seconds since the work began at which a search has to end, and its last comparison.
#[derive(Clone, Copy)]
pub struct Ends {
    /// The end of the search.
    pub search: f64,
    /// The end of the last comparison.
    pub last: f64,
}

/// Candidates that were measured in the same rounds.
#[derive(Debug)]
pub struct Compared {
    /// The candidates, in the last comparison the pick first.
    pub values: Vec<Vec<u32>>,
    /// For each of them its ticks per record, one for each round: those of the same rounds are the
    /// first ones.
    pub ticks: Vec<Vec<f64>>,
    /// True for those that are not measured any more, since they surely take more.
    is_out: Vec<bool>,
}

impl Compared {
    /// Candidates that are not measured yet; those that do other work are left out, and those that
    /// cannot be checked `until` then.
    ///
    /// # Errors
    /// Those of the bench.
    pub fn new(candidates: Vec<Vec<u32>>, until: f64, bench: &mut impl Bench) -> Result<Self> {
        let mut values = Vec::new();
        for candidate in once(candidates) {
            let is_late = values.len() >= PLACES.0 && bench.seconds() > until;
            if !is_late && bench.is_allowed(&candidate)? {
                values.push(candidate);
            }
        }
        Ok(Self {
            ticks: vec![Vec::new(); values.len()],
            is_out: vec![false; values.len()],
            values,
        })
    }

    /// Measures some more rounds, in alternating order, one at least, and none more after `until`.
    ///
    /// # Errors
    /// Those of the bench; the rounds before are kept.
    pub fn measure(&mut self, rounds: usize, until: f64, bench: &mut impl Bench) -> Result {
        for _ in 0..rounds {
            let done = self.ticks[0].len();
            if done > 0 && bench.seconds() > until {
                break;
            }
            let mut turn = (0..self.values.len())
                .filter(|at| !self.is_out[*at])
                .collect_vec();
            if done % 2 == 1 {
                turn.reverse();
            }
            let ticks = bench.round(&turn.iter().map(|at| &*self.values[*at]).collect_vec())?;
            for (at, ticks) in turn.into_iter().zip(ticks) {
                self.ticks[at].push(ticks);
            }
        }
        Ok(())
    }

    /// Measures on what may be better than the first alone, and the second, which the answer
    /// stands on.
    fn drop_worse(&mut self) {
        let is_worse =
            |interval: Option<[f64; 2]>| interval.is_some_and(|[low, _]| low > 1.0 + SURE);
        let worse = self.against_first().map(is_worse).collect_vec();
        for (is_out, is_worse) in self
            .is_out
            .iter_mut()
            .zip([false].into_iter().chain(worse))
            .skip(2)
        {
            *is_out |= is_worse;
        }
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

    /// The place of what surely takes less than the first, the least of it.
    fn better(&self) -> Option<usize> {
        (1..)
            .zip(self.against_first())
            .filter_map(|(at, interval)| Some((at, interval?[1])))
            .filter(|(_, high)| *high < 1.0 - SURE / 4.0)
            .min_by(|a, b| a.1.total_cmp(&b.1))
            .map(|(at, _)| at)
    }
}

/// Searches, from `starts` and places of its own. `beside` adds to a pick what stands beside it in
/// the last comparison, the most wanted first.
///
/// # Errors
/// Those of the bench; no candidate may be measured.
pub fn search(
    space: &Space<'_>,
    ends: Ends,
    starts: Vec<Vec<u32>>,
    beside: impl Fn(&[u32]) -> Vec<Vec<u32>>,
    bench: &mut impl Bench,
) -> Result<Compared> {
    // The first slice brings what is not there yet.
    bench.round(&[&*space.none()])?;
    let from = (bench.seconds(), bench.slices());
    bench.round(&[&*space.none(); 3])?;
    let slices = |bench: &_, until: f64| {
        let (seconds, slices) = (Bench::seconds(bench), Bench::slices(bench));
        let slice = (seconds - from.0) / (slices - from.1) as f64;
        ((until - seconds).max(0.0) / slice) as usize
    };
    let places = slices(bench, ends.search);
    let most = (places / HEAT).clamp(PLACES.0, PLACES.1);
    let mut races = Races {
        today: space.today(),
        first: FIRST_ROUNDS.min(1 + places / 500),
        random: fastrand::Rng::with_seed(1),
        until: ends.search,
    };
    let starts = once(
        starts
            .into_iter()
            .chain(space.starts(most))
            .take(most)
            .collect(),
    );
    let mut best = races.run(starts, bench)?;
    let mut picks = 0;
    loop {
        for (turn, step) in STEPS
            .into_iter()
            .chain(std::iter::repeat_n(1, MOST_STEPS))
            .enumerate()
            .skip(if picks > 0 { STEPS.len() - 1 } else { 0 })
        {
            let before = best[0].clone();
            if bench.seconds() > ends.search {
                break;
            }
            let near = firsts(best.iter())
                .chain(&best)
                .unique()
                .take(WIDE)
                .flat_map(|values| space.beside(values, step));
            let room = slices(bench, ends.search).max(PLACES.0);
            let pool = best.iter().cloned().chain(near).unique().take(room);
            best = races.run(pool.collect(), bench)?;
            if turn >= STEPS.len() && best[0] == before {
                break;
            }
        }
        let mut all = beside(&best[0]);
        all.truncate((slices(bench, ends.last) / FEW_ROUNDS).max(PLACES.0));
        let until = bench.seconds().midpoint(ends.last);
        let mut last = Compared::new(all, until, bench)?;
        let better = last.settle(ends, picks < MOST_PICKS, bench)?;
        match better {
            Some(better) => best.insert(0, better),
            None => return Ok(last),
        }
        picks += 1;
    }
}

impl Compared {
    /// Measures until nothing may take less than the first, or the time is up. Returns what the
    /// search shall go on with, if there is time for it and something takes less; without time
    /// that becomes the first.
    fn settle(
        &mut self,
        ends: Ends,
        goes_on: bool,
        bench: &mut impl Bench,
    ) -> Result<Option<Vec<u32>>> {
        loop {
            self.measure(LOOK, ends.last, bench)?;
            let better = self.better();
            if let Some(better) = better {
                if goes_on && bench.seconds() < ends.search {
                    return Ok(Some(self.values[better].clone()));
                }
                self.values.swap(0, better);
                self.ticks.swap(0, better);
                self.is_out.swap(0, better);
            }
            self.drop_worse();
            let done = self.ticks[0].len();
            if done >= LEAST_ROUNDS && better.is_none() && self.is_sure()
                || bench.seconds() > ends.last
            {
                return Ok(None);
            }
        }
    }
}

/// The first of each of a few shapes.
fn firsts<'v>(values: impl Iterator<Item = &'v Vec<u32>>) -> impl Iterator<Item = &'v Vec<u32>> {
    let shape = |values: &&Vec<u32>| {
        let knobs = values.iter().enumerate().sorted_by_key(|knob| knob.1);
        knobs.map(|(knob, value)| (knob, *value > 0)).collect_vec()
    };
    values.unique_by(shape).take(SHAPES)
}

/// Races of candidates.
struct Races {
    /// Today's values, which go along.
    today: Vec<u32>,
    /// Rounds of a race's first heat.
    first: usize,
    random: fastrand::Rng,
    /// Seconds since the work began at which a race has to end.
    until: f64,
}

impl Races {
    /// The few best of some candidates, the best first.
    fn run(&mut self, mut pool: Vec<Vec<u32>>, bench: &mut impl Bench) -> Result<Vec<Vec<u32>>> {
        let mut rounds = self.first;
        loop {
            pool.retain(|values| *values != self.today);
            pool.push(self.today.clone());
            let score = self.heat(&pool, rounds, bench)?;
            let today = score[score.len() - 1];
            let is_last = pool.len() <= 2 * KEPT || bench.seconds() > self.until;
            let keep = if is_last {
                KEPT
            } else {
                (pool.len() / 3).max(KEPT)
            };
            let sorted = pool.into_iter().zip(score);
            let sorted = sorted.sorted_by(|a, b| a.1.total_cmp(&b.1)).collect_vec();
            let firsts = firsts(sorted.iter().map(|of| &of.0)).cloned().collect_vec();
            // One fault among the best makes all doubtful.
            let (mut kept, mut is_doubtful) = (Vec::new(), false);
            for (values, score) in sorted {
                let is_kept = (kept.len() < keep || firsts.contains(&values))
                    && (kept.len() >= KEPT && !is_doubtful || bench.is_allowed(&values)?);
                is_doubtful |= !is_kept && kept.len() < keep;
                kept.extend(is_kept.then_some((values, score)));
            }
            let Some((best, score)) = kept.first() else {
                return Err(Error::failed(
                    "the loop does other work at every value that was tried",
                ));
            };
            bench.tell(best, (score - today).exp());
            pool = kept.into_iter().map(|of| of.0).collect();
            if is_last {
                return Ok(pool);
            }
            rounds *= 2;
        }
    }

    /// The candidates' logarithms of their ticks, against each round's own middle: rounds differ
    /// by what else runs.
    fn heat(
        &mut self,
        pool: &[Vec<u32>],
        rounds: usize,
        bench: &mut impl Bench,
    ) -> Result<Vec<f64>> {
        let mut logarithms = vec![Vec::new(); pool.len()];
        let mut order = (0..pool.len()).collect_vec();
        for round in 0..rounds {
            if round > 0 && bench.seconds() > self.until {
                break;
            }
            self.random.shuffle(&mut order);
            let ticks = bench.round(&order.iter().map(|at| &*pool[*at]).collect_vec())?;
            let middle = median(&ticks).unwrap_or(1.0);
            order
                .iter()
                .zip(ticks)
                .for_each(|(at, ticks)| logarithms[*at].push((ticks / middle).ln()));
        }
        let score = logarithms
            .iter()
            .map(|of| median(of).unwrap_or(f64::INFINITY));
        Ok(score.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::knobs;

    /// A loop of which everything is known, on a machine that drifts and makes noise.
    struct Known<T: Fn(&[u32]) -> f64> {
        truth: T,
        /// Seconds of a slice, and those that went by.
        slice: f64,
        gone: f64,
        random: fastrand::Rng,
        drift: f64,
        forbidden: fn(&[u32]) -> bool,
    }

    impl<T: Fn(&[u32]) -> f64> Bench for Known<T> {
        fn round(&mut self, candidates: &[&[u32]]) -> Result<Vec<f64>, Error> {
            self.drift = 1.0 + 0.5 * self.random.f64();
            self.gone += self.slice * candidates.len() as f64;
            let mut noise = || 1.0 + 0.04 * (self.random.f64() - 0.5);
            Ok(candidates
                .iter()
                .map(|values| (self.truth)(values) * self.drift * noise())
                .collect())
        }

        fn is_allowed(&mut self, values: &[u32]) -> Result<bool, Error> {
            Ok(!(self.forbidden)(values))
        }

        fn seconds(&self) -> f64 {
            self.gone
        }

        fn slices(&self) -> u64 {
            (self.gone / self.slice).round() as u64
        }

        fn tell(&mut self, _: &[u32], _: f64) {}
    }

    const ENDS: Ends = Ends {
        search: 8.0,
        last: 12.0,
    };

    fn known<T: Fn(&[u32]) -> f64>(truth: T) -> Known<T> {
        Known {
            truth,
            slice: 0.0005,
            gone: 0.0,
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
        search(&space, ENDS, Vec::new(), beside, bench).unwrap()
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
                    .all(|ticks| ticks.len() <= found.ticks[0].len())
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
        let space = Space::new(&one, 256);
        search(&space, ENDS, Vec::new(), |_| Vec::new(), &mut bench).unwrap_err();
    }

    #[test]
    fn it_ends_in_time_however_long_a_slice_takes() {
        for (slice, over) in [(0.000_4, 0.1), (0.01, 0.5), (0.2, 1.5), (1.0, 8.0)] {
            let mut bench = known(|values| 100.0 + f64::from(values[0].abs_diff(9)));
            bench.slice = slice;
            let found = found(&knobs(4, true), &mut bench);
            assert!(bench.gone < ENDS.last + over, "{slice}: {}", bench.gone);
            assert!(!found.ticks[0].is_empty());
        }
    }
}
