//! Superlatives: the items that have the least or the most, as far as figures tell items apart.

/// Figures that differ by less than this share read alike with three digits.
pub const ALIKE: f64 = 0.005;

/// The items at one end of a scale.
pub struct Leaders<T> {
    /// The item at the very end, and behind it those whose figures do not tell them from it.
    pub items: Vec<T>,
    /// The number of items that figures tell from those.
    pub behind: usize,
}

impl<T> Leaders<T> {
    /// The items with the least. `ends` are the ends of an item's interval, which are the same for
    /// an exact figure; items without a figure are left out. `None` where no item has one.
    pub fn least(
        items: impl IntoIterator<Item = T>,
        ends: impl Fn(&T) -> Option<[f64; 2]>,
    ) -> Option<Self> {
        let known = items
            .into_iter()
            .filter_map(|item| Some((ends(&item)?, item)));
        let mut known: Vec<([f64; 2], T)> = known
            .filter(|(ends, _)| ends.iter().all(|end| end.is_finite()))
            .collect();
        known.sort_by(|([a, b], _), ([c, d], _)| (a + b).total_cmp(&(c + d)));
        let [_, high] = known.first()?.0;
        let is_alike = |low: f64| low - high <= ALIKE * low.abs().max(high.abs());
        let (alike, behind): (Vec<_>, Vec<_>) =
            known.into_iter().partition(|([low, _], _)| is_alike(*low));
        Some(Self {
            items: alike.into_iter().map(|(_, item)| item).collect(),
            behind: behind.len(),
        })
    }

    /// The items with the most, likewise.
    pub fn most(
        items: impl IntoIterator<Item = T>,
        ends: impl Fn(&T) -> Option<[f64; 2]>,
    ) -> Option<Self> {
        Self::least(items, |item| ends(item).map(|[low, high]| [-high, -low]))
    }

    /// True if figures tell none of several items from the others: all are the same.
    pub fn is_all(&self) -> bool {
        self.behind == 0 && self.items.len() > 1
    }

    /// The one item that stands before others; `None` where several are alike, or there is no
    /// other. A superlative is true of it, and of no other.
    pub fn alone(&self) -> Option<&T> {
        (self.items.len() == 1 && self.behind > 0).then(|| &self.items[0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn least(items: &[[f64; 2]]) -> (Vec<usize>, usize) {
        let found = Leaders::least(0..items.len(), |at| Some(items[*at])).unwrap();
        (found.items, found.behind)
    }

    #[test]
    fn a_superlative_needs_a_difference() {
        assert_eq!(least(&[[2.0; 2], [1.0; 2], [3.0; 2]]), (vec![1], 2));
        assert_eq!(least(&[[0.0; 2], [0.0; 2]]), (vec![0, 1], 0));
        assert_eq!(
            least(&[[3.201; 2], [3.2; 2], [4.0; 2]]),
            (vec![1, 0], 1),
            "three digits do not tell them apart"
        );
        assert_eq!(
            least(&[[1.0, 3.0], [2.0, 4.0], [5.0, 6.0]]),
            (vec![0, 1], 1),
            "intervals that touch"
        );
        let most =
            |items: &[f64]| Leaders::most(items.to_vec(), |value| Some([*value; 2])).unwrap();
        assert_eq!(most(&[1.0, 2.0]).alone(), Some(&2.0));
        assert_eq!(
            most(&[2.0]).alone(),
            None,
            "of one alone nothing is the most"
        );
        assert_eq!(most(&[2.0, 2.0, 1.0]).alone(), None);
        assert!(Leaders::least([1.0], |_| None).is_none());
    }
}
