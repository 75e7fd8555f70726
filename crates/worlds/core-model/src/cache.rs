//! A set-associative cache of numbers, least recently used out first: of lines, or of pages with
//! the time at which each one's translation is available.

pub struct Cache<V = ()> {
    /// Ways of all sets, each set's most recently used number first.
    lines: Vec<(u64, V)>,
    ways: usize,
    sets: u64,
}

/// No line has this number.
const NONE: u64 = u64::MAX;

impl<V: Copy + Default> Cache<V> {
    /// An empty cache of `lines` lines, and of one way at least.
    pub fn new(lines: u64, ways: usize) -> Self {
        let ways = ways.max(1);
        let sets = (lines / ways as u64).max(1);
        Self {
            lines: vec![(NONE, V::default()); sets as usize * ways],
            ways,
            sets,
        }
    }

    fn set(&mut self, line: u64) -> &mut [(u64, V)] {
        let first = (line % self.sets) as usize * self.ways;
        &mut self.lines[first..first + self.ways]
    }

    /// What belongs to the line if it is there; it is then the most recently used.
    pub fn touch(&mut self, line: u64) -> Option<V> {
        let set = self.set(line);
        let at = set.iter().position(|(l, _)| *l == line)?;
        set[..=at].rotate_right(1);
        Some(set[0].1)
    }

    /// Puts a line in, and the least recently used one of its set out.
    pub fn insert(&mut self, line: u64, value: V) {
        if self.touch(line).is_none() {
            self.set(line).rotate_right(1);
        }
        self.set(line)[0] = (line, value);
    }

    pub fn remove(&mut self, line: u64) {
        let set = self.set(line);
        if let Some(at) = set.iter().position(|(l, _)| *l == line) {
            set[at..].rotate_left(1);
            if let Some(last) = set.last_mut() {
                last.0 = NONE;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_line_goes() {
        let mut cache = Cache::new(4, 2);
        for (line, value) in [(0, 1), (2, 2), (0, 3), (4, 4)] {
            cache.insert(line, value);
        }
        assert_eq!(
            [0, 4, 2].map(|line| cache.touch(line)),
            [Some(3), Some(4), None]
        );
        cache.remove(0);
        assert_eq!([0, 4].map(|line| cache.touch(line)), [None, Some(4)]);
    }
}
