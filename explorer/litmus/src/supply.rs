//! Whether what threads read may have been written, before all of them are chosen.

use crate::{test::Kind, thread::Run};
use std::collections::BTreeMap;

/// What a run does with one value of one location.
#[derive(Clone, Default)]
struct Use {
    value: usize,
    reads: i32,
    /// The reads of atomic instructions that write: no two take one write.
    atomic: i32,
    writes: i32,
}

/// The values that the chosen runs read, and those that they and the others may write.
pub struct Supply {
    /// By thread and run.
    uses: Vec<Vec<Vec<Use>>>,
    /// By thread, what it and those after it write of each value at most.
    later: Vec<Vec<i32>>,
    chosen: Vec<Use>,
}

impl Supply {
    pub fn new(initial: &[u64], runs: &[Vec<Run>]) -> Self {
        let mut values: BTreeMap<(usize, u64), usize> = BTreeMap::new();
        let mut number_of = |location: usize, value: u64| {
            let next = values.len();
            *values.entry((location, value)).or_insert(next)
        };
        let begins: Vec<usize> = initial
            .iter()
            .enumerate()
            .map(|(location, value)| number_of(location, *value))
            .collect();
        let mut uses_of = |run: &Run| {
            let mut uses = BTreeMap::new();
            for effect in run
                .effects
                .iter()
                .filter(|effect| matches!(effect.kind, Kind::Read | Kind::Write))
            {
                let value = number_of(effect.location, effect.value);
                let one = uses.entry(value).or_insert(Use {
                    value,
                    ..Use::default()
                });
                let is_read = effect.kind == Kind::Read;
                one.reads += i32::from(is_read);
                one.atomic += i32::from(is_read && effect.atomic_instruction);
                one.writes += i32::from(!is_read);
            }
            uses.into_values().collect::<Vec<_>>()
        };
        let uses: Vec<Vec<Vec<Use>>> = runs
            .iter()
            .map(|runs| runs.iter().map(&mut uses_of).collect())
            .collect();
        let mut chosen = vec![Use::default(); values.len()];
        begins
            .into_iter()
            .for_each(|value| chosen[value].writes += 1);
        let mut later = vec![vec![0; chosen.len()]; uses.len() + 1];
        for (thread, runs) in uses.iter().enumerate().rev() {
            let mut most = vec![0; chosen.len()];
            runs.iter()
                .flatten()
                .for_each(|one| most[one.value] = one.writes.max(most[one.value]));
            later[thread] = most
                .iter()
                .zip(&later[thread + 1])
                .map(|(one, other)| one + other)
                .collect();
        }
        Self {
            uses,
            later,
            chosen,
        }
    }

    /// Chooses a run of a thread. False if something that is read then comes from nowhere.
    pub fn take(&mut self, thread: usize, run: usize) -> bool {
        self.change(thread, run, 1);
        self.chosen
            .iter()
            .zip(&self.later[thread + 1])
            .all(|(all, later)| {
                let written = all.writes + later;
                all.atomic <= written && (all.reads == 0 || written > 0)
            })
    }

    /// Chooses a run of a thread, or with -1 takes the choice back.
    pub fn change(&mut self, thread: usize, run: usize, by: i32) {
        for one in &self.uses[thread][run] {
            let all = &mut self.chosen[one.value];
            all.reads += by * one.reads;
            all.atomic += by * one.atomic;
            all.writes += by * one.writes;
        }
    }
}
