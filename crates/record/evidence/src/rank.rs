//! Ranks within an iteration: the longest of its values, the n-th to finish. A rank is of whoever
//! has it in that iteration, and never of a label, so that it does not matter which CPU takes which
//! place.

use std::collections::{BTreeMap, BTreeSet};

/// A place among the values of one iteration.
#[derive(Clone, Copy)]
pub enum Rank {
    /// The smallest value.
    Shortest,
    /// The value that so many others are at most as large as; 0 is the shortest.
    Nth(usize),
    /// The largest value.
    Longest,
}

/// A rank over all iterations.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranked<I, W> {
    /// The median over the iterations: see [`median`].
    pub median: f64,
    /// The first iteration that has the median.
    pub iteration: I,
    /// The smallest and the largest over the iterations.
    pub ends: [f64; 2],
    /// The rank's value in each iteration that has all values, in order of iterations.
    pub each: Vec<(I, f64)>,
    /// Everyone who has the rank's value in the iteration with the median: several where values are
    /// the same.
    pub who: Vec<W>,
    /// Everyone who has it in any iteration.
    pub ever: BTreeSet<W>,
}

/// The values of some iterations, each of someone, such as a CPU.
pub struct Iterations<I, W>(BTreeMap<I, Vec<(f64, W)>>);

impl<I: Copy + Ord, W: Copy + Ord> FromIterator<(I, W, f64)> for Iterations<I, W> {
    fn from_iter<T: IntoIterator<Item = (I, W, f64)>>(measured: T) -> Self {
        let mut all: BTreeMap<I, Vec<(f64, W)>> = BTreeMap::new();
        for (iteration, who, value) in measured {
            all.entry(iteration).or_default().push((value, who));
        }
        for values in all.values_mut() {
            values.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        }
        Self(all)
    }
}

impl<I: Copy + Ord, W: Copy + Ord> Iterations<I, W> {
    /// The iterations in order, each with its values from the shortest on; of the same values that of
    /// the first by name comes first.
    pub fn all(&self) -> impl Iterator<Item = (I, &[(f64, W)])> {
        self.0
            .iter()
            .map(|(&iteration, values)| (iteration, &values[..]))
    }

    /// The number of places that any iteration has.
    pub fn places(&self) -> usize {
        self.0.values().map(Vec::len).max().unwrap_or(0)
    }

    /// The different orders in which the values come.
    pub fn orders(&self) -> BTreeSet<Vec<W>> {
        self.0
            .values()
            .map(|values| values.iter().map(|(_, who)| *who).collect())
            .collect()
    }

    /// A rank over all iterations that have as many values as any: where one is missing, others have
    /// its place. `None` where there is none.
    pub fn ranked(&self, rank: Rank) -> Option<Ranked<I, W>> {
        let places = self.places();
        let place = match rank {
            Rank::Shortest => 0,
            Rank::Nth(place) => place,
            Rank::Longest => places.checked_sub(1)?,
        };
        let whole = self.all().filter(|(_, values)| values.len() == places);
        let in_one =
            |(iteration, values): (I, &[(f64, W)])| Some((iteration, values.get(place)?.0));
        let each: Vec<(I, f64)> = whole.filter_map(in_one).collect();
        let mut values: Vec<f64> = each.iter().map(|(_, value)| *value).collect();
        let median = median(&values)?;
        values.sort_by(f64::total_cmp);
        let with = |iteration: &I, value: f64| {
            self.0[iteration]
                .iter()
                .filter(move |(of, _)| *of == value)
                .map(|(_, who)| *who)
        };
        let (iteration, _) = *each.iter().find(|(_, value)| *value == median)?;
        Some(Ranked {
            median,
            iteration,
            ends: [*values.first()?, *values.last()?],
            who: with(&iteration, median).collect(),
            ever: each
                .iter()
                .flat_map(|(of, value)| with(of, *value))
                .collect(),
            each,
        })
    }
}

/// The median of iterations: the middle value, and of an even number the lower of the middle two,
/// so that it is one that occurred; `None` of no values.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len().checked_sub(1)? / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranked(iterations: &[Vec<f64>], rank: Rank) -> Option<Ranked<usize, u16>> {
        let all = iterations.iter().enumerate();
        let all =
            all.flat_map(|(at, values)| (0..).zip(values).map(move |(cpu, us)| (at, cpu, *us)));
        all.collect::<Iterations<_, _>>().ranked(rank)
    }

    #[test]
    fn the_longest_is_that_of_each_iteration_whoever_has_it() {
        let turns = [
            vec![100.0, 10.0],
            vec![12.0, 104.0],
            vec![101.0, 11.0],
            vec![13.0, 103.0],
        ];
        let longest = ranked(&turns, Rank::Longest).unwrap();
        assert_eq!(
            (longest.median, longest.iteration, longest.who),
            (101.0, 2, vec![0])
        );
        assert_eq!(
            (longest.ends, longest.ever),
            ([100.0, 104.0], [0, 1].into())
        );
        assert_eq!(ranked(&turns, Rank::Shortest).unwrap().median, 11.0);
        let tie = ranked(&[vec![7.0, 7.0, 1.0]], Rank::Longest).unwrap();
        assert_eq!(tie.who, [0, 1], "ties are named");
        assert_eq!(ranked(&[], Rank::Longest), None);
        assert_eq!(ranked(&turns, Rank::Nth(2)), None, "there is no third");
    }
}
