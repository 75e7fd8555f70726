//! Calls that others are compared with: those with values that ask for nothing ahead.
#![cfg(target_os = "linux")]

use crate::calls::Calls;
use crate::outcome::{Copied, Words, differing, extents, in_a_copy, read, restore};
use crate::protocol::Learned;
use itertools::Itertools;
use recording::facts::ComparedBy as By;
use std::collections::HashSet;

/// Calls with the same values that are looked at: what differs between them, such as a stamp of the
/// time, says nothing.
const LOOKS: usize = 4;

/// What calls are compared with.
pub struct Reference {
    by: By,
    values: Vec<u32>,
    calls: Vec<Expected>,
}

/// What a call changes, each time from the same state.
struct Expected {
    /// The place of its first record, and the number of its records.
    place: (usize, usize),
    words: Words,
    /// Places that differ from call to call with the same values.
    varies: HashSet<u64>,
}

impl Reference {
    /// Finds out what of calls of some sizes is the same each time, and whether they overwrite what
    /// they read. The first size is the one that is measured: if such a call crashes, so does this
    /// process.
    pub fn learn(calls: &Calls<'_>, frames: &[u64], values: &[u32]) -> (Option<Self>, Learned) {
        // What only happens once, such as the look-up of a function's address, happens now.
        calls.call((0, frames[0] as usize), values);
        let by = if calls.has_results() {
            By::Results
        } else {
            By::Records
        };
        let places = calls.places(frames);
        let expected = places
            .iter()
            .filter_map(|place| Expected::new(calls, by, *place, values))
            .collect_vec();
        let reference = (!expected.is_empty()).then(|| Self {
            by,
            values: values.to_vec(),
            calls: expected,
        });
        let learned = Learned {
            by: reference.as_ref().map(|reference| reference.by),
            is_overwriting: is_overwriting(calls, places[0], values),
        };
        (reference, learned)
    }

    /// True if the calls leave the same with other values; `None` if no copy of the process can be
    /// made.
    pub fn is_same(&mut self, calls: &Calls<'_>, values: &[u32]) -> Option<bool> {
        for expected in &mut self.calls {
            if !expected.is_same(calls, self.by, values, &self.values)? {
                return Some(false);
            }
        }
        Some(true)
    }
}

impl Expected {
    /// What a call changes of what can be compared; `None` if nothing of it is the same each time, or if the loop crashes with so few records.
    fn new(calls: &Calls<'_>, by: By, place: (usize, usize), values: &[u32]) -> Option<Self> {
        let look = || match left(calls, by, place, values) {
            Copied::Said(words) => Some(words),
            Copied::Crashed | Copied::Unknown => None,
        };
        let words = look()?;
        let mut varies = HashSet::new();
        for _ in 1..LOOKS {
            varies.extend(differing(&words, &look()?));
        }
        let is_telling = words.iter().any(|(at, _)| !varies.contains(at));
        is_telling.then_some(Self {
            place,
            words,
            varies,
        })
    }

    /// True if the call leaves the same with other values.
    fn is_same(
        &mut self,
        calls: &Calls<'_>,
        by: By,
        values: &[u32],
        reference: &[u32],
    ) -> Option<bool> {
        for _ in 0..LOOKS {
            match left(calls, by, self.place, values) {
                Copied::Said(words) => {
                    if differing(&self.words, &words).is_subset(&self.varies) {
                        return Some(true);
                    }
                }
                Copied::Crashed => return Some(false),
                Copied::Unknown => return None,
            }
            // What is the same for a while may be another one now, such as a second of the clock.
            if let Copied::Said(now) = left(calls, by, self.place, reference) {
                self.varies.extend(differing(&self.words, &now));
            }
        }
        Some(false)
    }
}

/// What can be seen of a call's records; `None` if that is nothing.
fn seen(calls: &Calls<'_>, by: By, place: (usize, usize)) -> Option<Words> {
    match by {
        By::Results => Some(calls.results(place)),
        By::Records => read(&extents(&calls.addresses(), place)?),
    }
}

/// What a call changes.
fn left(calls: &Calls<'_>, by: By, place: (usize, usize), values: &[u32]) -> Copied {
    let Some(before) = seen(calls, by, place) else {
        return Copied::Unknown;
    };
    in_a_copy(|| {
        calls.call(place, values);
        let now = seen(calls, by, place)?.into_iter().zip(before);
        Some(
            now.filter(|(now, before)| now != before)
                .map(|(now, _)| now)
                .collect(),
        )
    })
}

/// True if a second call finds other records than the first, since that one wrote to them, and so
/// leaves other ones.
fn is_overwriting(calls: &Calls<'_>, place: (usize, usize), values: &[u32]) -> bool {
    let extents = extents(&calls.addresses(), place).unwrap_or_default();
    let Some(before) = read(&extents) else {
        return false;
    };
    let twice = |is_restored: bool| {
        in_a_copy(|| {
            calls.call(place, values);
            if is_restored {
                restore(&before, &extents).ok()?;
            }
            calls.call(place, values);
            read(&extents)
        })
    };
    let (Copied::Said(one), Copied::Said(restored)) = (twice(false), twice(true)) else {
        return false;
    };
    let mut varies = HashSet::new();
    for _ in 1..LOOKS {
        if let Copied::Said(again) = twice(false) {
            varies.extend(differing(&one, &again));
        }
    }
    // What comes by chance, such as a bit of a stamp, may be the same each time but the last.
    let others = differing(&one, &restored);
    4 * others.difference(&varies).count() > varies.len()
}
