//! A set-associative cache of line numbers, least recently used out first.

pub(crate) struct Cache {
    /// Ways of all sets, each set's most recently used line first.
    lines: Vec<u64>,
    ways: usize,
    sets: u64,
}

/// No line has this number.
const NONE: u64 = u64::MAX;

impl Cache {
    /// An empty cache of `lines` lines.
    pub(crate) fn new(lines: u64, ways: usize) -> Self {
        let sets = (lines / ways as u64).max(1);
        Self { lines: vec![NONE; sets as usize * ways], ways, sets }
    }

    fn set(&mut self, line: u64) -> &mut [u64] {
        let first = (line % self.sets) as usize * self.ways;
        &mut self.lines[first..first + self.ways]
    }

    /// True if the line is there.
    pub(crate) fn has(&self, line: u64) -> bool {
        let first = (line % self.sets) as usize * self.ways;
        self.lines[first..first + self.ways].contains(&line)
    }

    /// True if the line is there; if so, it is now the most recently used.
    pub(crate) fn touch(&mut self, line: u64) -> bool {
        let set = self.set(line);
        let Some(at) = set.iter().position(|l| *l == line) else { return false };
        set[..=at].rotate_right(1);
        true
    }

    /// Puts a line in, and the least recently used one of its set out.
    pub(crate) fn insert(&mut self, line: u64) {
        if !self.touch(line) {
            let set = self.set(line);
            set.rotate_right(1);
            set[0] = line;
        }
    }

    pub(crate) fn remove(&mut self, line: u64) {
        let set = self.set(line);
        if let Some(at) = set.iter().position(|l| *l == line) {
            set[at..].rotate_left(1);
            if let Some(last) = set.last_mut() {
                *last = NONE;
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
        for line in [0, 2, 0, 4] {
            cache.insert(line);
        }
        assert!(cache.touch(0) && cache.touch(4) && !cache.touch(2));
        cache.remove(0);
        assert!(!cache.touch(0) && cache.touch(4));
    }
}
