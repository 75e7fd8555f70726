//! Translations of pages, the least recently used out first.

use std::collections::{HashMap, VecDeque};

/// The pages whose translations a core keeps.
pub(crate) struct Translations {
    /// When each page's translation is available, and the number of its last use.
    known: HashMap<u64, (f64, u64)>,
    /// Uses in their order, with their numbers; those that are not their page's last say nothing.
    uses: VecDeque<(u64, u64)>,
    next: u64,
    entries: usize,
}

impl Translations {
    /// None known, of the given number that can be.
    pub(crate) fn new(entries: usize) -> Self {
        Self { known: HashMap::with_capacity(entries), uses: VecDeque::new(), next: 0, entries }
    }

    /// When the page's translation is available, if it is kept; it is then the most recently used.
    pub(crate) fn touch(&mut self, page: u64) -> Option<f64> {
        let (ready, _) = *self.known.get(&page)?;
        self.note(page, ready);
        Some(ready)
    }

    /// Keeps a page's translation, in place of the least recently used one where there is no room.
    pub(crate) fn insert(&mut self, page: u64, ready: f64) {
        if !self.known.contains_key(&page) {
            while self.known.len() >= self.entries {
                let Some((oldest, number)) = self.uses.pop_front() else { break };
                if self.is_last(oldest, number) {
                    self.known.remove(&oldest);
                }
            }
        }
        self.note(page, ready);
    }

    fn is_last(&self, page: u64, number: u64) -> bool {
        self.known.get(&page).is_some_and(|(_, last)| *last == number)
    }

    fn note(&mut self, page: u64, ready: f64) {
        self.known.insert(page, (ready, self.next));
        self.uses.push_back((page, self.next));
        self.next += 1;
        if self.uses.len() > 4 * self.entries {
            let known = &self.known;
            self.uses.retain(|(page, number)| known.get(page).is_some_and(|(_, last)| last == number));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_page_goes() {
        let mut translations = Translations::new(2);
        translations.insert(1, 10.0);
        translations.insert(2, 20.0);
        for _ in 0..20 {
            assert_eq!(translations.touch(1), Some(10.0));
        }
        translations.insert(3, 30.0);
        assert_eq!([1, 2, 3].map(|page| translations.touch(page)), [Some(10.0), None, Some(30.0)]);
        assert!(translations.uses.len() <= 9);
    }
}
