//! What a run that fails shows to those who read it.

use super::coverage::Access;
use super::run::Cause;
use crate::machine::Step;

/// A run that fails, for those who read it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// Its steps.
    pub steps: Vec<Step>,
    /// The cause of the failure.
    pub cause: Option<Cause>,
    /// Processes and words: the process loaded what another one had stored there, in a way that
    /// runs which break nothing hardly ever have.
    pub unusual: Vec<(u8, u16)>,
}

/// A load of what another process has stored, as far as runs of other scripts have the like: the
/// kind of word, who had stored, and whether that took the place of a store of the one who loads,
/// who then matters too.
type Sight = (u16, u16, Option<u16>);

/// The sights of a run: of each process and word, in order.
#[derive(Default)]
pub struct Sights {
    /// Of each word the last store, and who had stored before.
    stores: Vec<Option<(Access, Option<u8>)>>,
    seen: Vec<((u8, u16), Sight)>,
}

impl Sights {
    /// Notes the next access of the run.
    pub fn note(&mut self, access: Access) {
        let cell = usize::from(access.cell);
        if self.stores.len() <= cell {
            self.stores.resize(cell + 1, None);
        }
        let last = self.stores[cell];
        if access.stores {
            self.stores[cell] = Some((access, last.map(|(before, _)| before.process)));
        } else if let Some((store, before)) =
            last.filter(|(store, _)| store.process != access.process)
        {
            let over_own = before == Some(access.process);
            let sight = (access.word, store.actor, over_own.then_some(access.actor));
            self.seen.push(((access.process, access.cell), sight));
        }
    }

    /// The last sights of processes and words that few of these runs have, which break nothing.
    /// Where nearly every run fails nobody knows what is usual.
    pub fn unusual(self, runs: &[Self]) -> Vec<(u8, u16)> {
        let of_run = |of: &Self| {
            let mut sights: Vec<Sight> = of.seen.iter().map(|(_, sight)| *sight).collect();
            sights.sort_unstable();
            sights.dedup();
            sights
        };
        let mut usual: Vec<Sight> = runs.iter().flat_map(of_run).collect();
        usual.sort_unstable();
        let often = |sight: &Sight| {
            let first = usual.partition_point(|other| other < sight);
            usual.get(first + OFTEN - 1) == Some(sight)
        };
        let mut last = Vec::new();
        let mut known = Vec::new();
        for (of, sight) in self.seen.into_iter().rev().filter(|_| runs.len() >= ENOUGH) {
            if !known.contains(&of) {
                known.push(of);
                last.extend((!often(&sight)).then_some(of));
            }
        }
        last
    }
}

/// The least number of runs that break nothing, and how many of them must have shown what is usual.
const ENOUGH: usize = 100;
const OFTEN: usize = 3;
