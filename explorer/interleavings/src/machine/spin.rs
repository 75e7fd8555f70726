//! Loops that only look: by the values that they load again and again.

/// Words that a loop looks at in a round, at most.
const ROUND: usize = 4;

/// Rounds that must be alike. Code without a loop looks twice at times, to see whether anything has
/// changed.
const ALIKE: usize = 3;

/// The loads of a CPU since it has done anything else, and the values that they returned.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spin {
    loads: Vec<(u16, u64)>,
    /// Each word that it has looked at since it changed any, with the value that it saw last. Locks
    /// that it took and let go since change nothing.
    looks: Vec<(u16, u64)>,
    /// Its looks when it last let others go first.
    yielded: Vec<(u16, u64)>,
    /// It sees the newest values only.
    pub(crate) old: bool,
    /// It takes a lock, or lets it go, which is a look at the lock's word.
    pub(crate) below: bool,
}

impl Spin {
    /// It does something else.
    #[inline(always)]
    pub(crate) fn ends(&mut self) {
        self.loads.clear();
        self.old = false;
        if !self.below {
            self.looks.clear();
            self.yielded.clear();
        }
    }

    /// It lets others go first, and looks anew. Its looks, if they are what they were when it did
    /// so last: then it waits for one of these words to change.
    pub(crate) fn yields(&mut self) -> Option<Vec<(u16, u64)>> {
        self.loads.clear();
        let before = std::mem::replace(&mut self.yielded, std::mem::take(&mut self.looks));
        (!before.is_empty() && before == self.yielded).then_some(before)
    }

    /// The words that it has looked at since, with what it saw; the last one is the newest.
    pub(crate) fn looks(&self) -> &[(u16, u64)] {
        &self.looks
    }

    /// It has looked at a word.
    pub(crate) fn look(&mut self, cell: u16, value: u64) {
        self.looks.retain(|(other, _)| *other != cell);
        self.looks.push((cell, value));
    }

    /// It loads; if that ends a round which is like the two before it, that round.
    pub(crate) fn loaded(&mut self, cell: u16, value: u64) -> Option<Vec<(u16, u64)>> {
        self.look(cell, value);
        if self.loads.len() == ALIKE * ROUND {
            self.loads.remove(0);
        }
        self.loads.push((cell, value));
        let all = &self.loads[..];
        let round = (1..=all.len() / ALIKE).find(|&round| {
            let mut rounds = all[all.len() - ALIKE * round..].chunks_exact(round);
            let first = rounds.next();
            rounds.all(|other| Some(other) == first)
        })?;
        Some(all[all.len() - round..].to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::Spin;

    #[test]
    fn a_round_that_comes_again_is_found() {
        let mut spin = Spin::default();
        for _ in 0..2 {
            assert_eq!(spin.loaded(1, 0), None);
            assert_eq!(spin.loaded(2, 0), None);
        }
        assert_eq!(spin.loaded(1, 0), None);
        assert_eq!(spin.loaded(2, 0), Some(vec![(1, 0), (2, 0)]));
        assert_eq!(spin.loaded(1, 7), None);
        assert_eq!(spin.loaded(1, 7), None);
        assert_eq!(spin.loaded(1, 7), Some(vec![(1, 7)]));
        spin.ends();
        assert_eq!(spin.loaded(1, 7), None);
    }
}
