//! What a run that fails shows to those who read it.

use super::coverage::Access;
use super::run::{Cause, Runs};
use crate::machine::Step;
use std::collections::{BTreeMap, BTreeSet};

/// A run that fails, for those who read it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// Its steps.
    pub steps: Vec<Step>,
    /// The cause of the failure.
    pub cause: Option<Cause>,
    /// Processes and words: the process loaded what another one had stored there, in a way that
    /// runs which break nothing do not have.
    pub unusual: BTreeSet<(u8, u16)>,
}

/// A load of what another process has stored, as far as runs of other scripts have the like: the
/// kind of word, who had stored, and whether that took the place of a store of the one who loads,
/// who then matters too.
pub(super) type Sight = (u16, u16, Option<u16>);

/// The sights of the last run, whose steps were kept: of each process and word, in order.
pub(super) fn sights<C>(session: &dyn Runs<C>) -> Vec<((u8, u16), Sight)> {
    let (mut stores, mut seen) = (BTreeMap::<u16, (Access, Option<u8>)>::new(), Vec::new());
    session.accesses(&mut |access| {
        let last = stores.get(&access.cell).copied();
        if access.stores {
            stores.insert(access.cell, (access, last.map(|(before, _)| before.process)));
        } else if let Some((store, before)) = last.filter(|(store, _)| store.process != access.process) {
            let over_own = before == Some(access.process);
            let sight = (access.word, store.actor, over_own.then_some(access.actor));
            seen.push(((access.process, access.cell), sight));
        }
    });
    seen
}
