//! Times counted by how long they are, in ten classes to each tenfold.

/// The upper ends of the classes of a decade, in nanoseconds: round numbers that are about a tenth
/// of a tenfold apart.
const ENDS: [u64; 10] = [100, 125, 160, 200, 250, 315, 400, 500, 630, 800];

/// Times counted by how long they are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    counts: Vec<u64>,
}

/// The upper end of a class, in nanoseconds.
fn end(class: usize) -> u64 {
    let decade = u32::try_from(class / ENDS.len()).unwrap_or(u32::MAX);
    ENDS[class % ENDS.len()].saturating_mul(10_u64.saturating_pow(decade))
}

impl Histogram {
    /// Counts a time, in nanoseconds.
    pub fn add(&mut self, ns: u64) {
        let class = (0..).find(|&class| ns <= end(class)).unwrap_or(usize::MAX);
        if self.counts.len() <= class {
            self.counts.resize(class + 1, 0);
        }
        self.counts[class] += 1;
    }

    /// Counts what another one has counted.
    pub fn append(&mut self, other: &Self) {
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        self.counts
            .iter_mut()
            .zip(&other.counts)
            .for_each(|(sum, more)| *sum += more);
    }

    /// The classes from the first to the last that has any: upper end in nanoseconds, and which
    /// share of all times is in it.
    pub fn shares(&self) -> Vec<(u64, f64)> {
        let all: u64 = self.counts.iter().sum();
        let first = self
            .counts
            .iter()
            .position(|&count| count > 0)
            .unwrap_or(self.counts.len());
        let classes = self.counts.iter().enumerate().skip(first);
        classes
            .map(|(class, &count)| (end(class), count as f64 / all as f64))
            .collect()
    }
}

impl FromIterator<u64> for Histogram {
    fn from_iter<T: IntoIterator<Item = u64>>(times: T) -> Self {
        let mut histogram = Self::default();
        times.into_iter().for_each(|ns| histogram.add(ns));
        histogram
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_in_the_class_whose_end_it_does_not_exceed() {
        let histogram: Histogram = [5_000, 5_001, 6_300, 19_000].into_iter().collect();
        let shares = histogram.shares();
        assert_eq!((shares[0], shares[1]), ((5_000, 0.25), (6_300, 0.5)));
        assert_eq!(
            (shares.last(), shares.len()),
            (Some(&(20_000, 0.25)), 7),
            "classes in between have none"
        );
        let mut both = Histogram::from_iter([0]);
        both.append(&histogram);
        assert_eq!((both.shares()[0], both.shares().len()), ((100, 0.2), 24));
        assert!(Histogram::default().shares().is_empty());
        assert_eq!(Histogram::from_iter([u64::MAX]).shares().len(), 1);
    }
}
