//! Calls of a loop.

use crate::shared_object::{SharedLoop, SharedRecords};
use std::ffi::c_void;

/// A loop and its records.
pub struct Calls<'a> {
    /// The loop.
    pub opened: &'a SharedLoop,
    /// Its records, and the state that belongs to them.
    pub records: &'a SharedRecords,
    /// The records that are gone through, in their order.
    pub order: &'a [*mut c_void],
}

impl Calls<'_> {
    /// Calls the loop with records from a place on, as many as are said.
    #[inline(always)]
    pub fn call(&self, (from, batch): (usize, usize), values: &[u32]) {
        self.opened
            .run(self.records, &self.order[from..from + batch], values);
    }

    /// Places of calls of some sizes, behind each other as far as there are records: the first
    /// records are left to a call that nobody looks at.
    pub fn places(&self, frames: &[u64]) -> Vec<(usize, usize)> {
        let mut from = frames[0] as usize;
        let mut place = |batch: &u64| {
            let batch = *batch as usize;
            let place = (from.min(self.order.len() - batch), batch);
            from += batch;
            place
        };
        frames.iter().map(&mut place).collect()
    }

    /// The records, as the loop calls them.
    pub fn addresses(&self) -> Vec<usize> {
        let exposed = |record: &*mut c_void| record.expose_provenance();
        self.order.iter().map(exposed).collect()
    }

    /// True if the loop says itself what came of a record.
    pub fn has_results(&self) -> bool {
        self.opened.has_results()
    }

    /// What the loop says came of each record of a call, by its place.
    pub fn results(&self, (from, batch): (usize, usize)) -> Vec<(u64, u64)> {
        let said = |record: &*mut c_void| self.opened.results(self.records, *record);
        let records = &self.order[from..from + batch];
        (0..).zip(records.iter().map(said)).collect()
    }
}
