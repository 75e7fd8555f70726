//! Relations between at most 64 events.

/// A relation: for each event, those that it is related to.
#[derive(Clone)]
pub struct Relation(Vec<u64>);

impl Relation {
    /// The greatest number of events.
    pub const MOST: usize = 64;

    /// The empty relation between the given number of events, at most [`Self::MOST`].
    pub fn empty(events: usize) -> Self {
        Self(vec![0; events])
    }

    /// Adds a pair.
    pub fn add(&mut self, from: usize, to: usize) {
        self.0[from] |= 1 << to;
    }

    /// True if the pair is in it.
    pub fn has(&self, from: usize, to: usize) -> bool {
        self.0[from] >> to & 1 == 1
    }

    /// Adds the pairs of another, whose events begin at a number.
    pub fn add_all(&mut self, other: &Self, first: usize) {
        for (from, to) in other.0.iter().enumerate() {
            self.0[first + from] |= to << first;
        }
    }

    /// The relation with the pairs that several of its pairs in a row join.
    pub fn closed(&self) -> Self {
        let mut closed = self.clone();
        for through in 0..closed.0.len() {
            let next = closed.0[through];
            closed
                .0
                .iter_mut()
                .filter(|row| **row >> through & 1 == 1)
                .for_each(|row| *row |= next);
        }
        closed
    }

    /// True if no event leads to itself. What leads nowhere is taken away until nothing is left, or
    /// nothing can be.
    pub fn is_acyclic(&self) -> bool {
        let mut left = if self.0.len() == Self::MOST {
            u64::MAX
        } else {
            (1 << self.0.len()) - 1
        };
        while left != 0 {
            let mut ends = 0;
            let mut rest = left;
            while rest != 0 {
                let event = rest.trailing_zeros();
                rest &= rest - 1;
                if self.0[event as usize] & left == 0 {
                    ends |= 1 << event;
                }
            }
            if ends == 0 {
                return false;
            }
            left &= !ends;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cycle_is_found_wherever_it_is() {
        let mut relation = Relation::empty(64);
        for event in 0..63 {
            relation.add(event, event + 1);
        }
        assert!(relation.is_acyclic());
        relation.add(63, 61);
        assert!(!relation.is_acyclic());
        let mut own = Relation::empty(1);
        own.add(0, 0);
        assert!(!own.is_acyclic());
    }
}
