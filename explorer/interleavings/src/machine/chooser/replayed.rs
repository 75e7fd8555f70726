//! Choices of a schedule that is written down.

use crate::machine::choice::{Deviation, Kind};
use crate::operation::OperationIndex;

/// The choices of a schedule that is written down.
pub struct ReplayedChoices {
    /// Deviations of each process, in order of operation.
    deviations: Vec<Vec<Deviation>>,
}

impl ReplayedChoices {
    pub fn new(schedule: &[Deviation], processes: usize) -> Self {
        let mut deviations = vec![Vec::new(); processes];
        for deviation in schedule {
            if let Some(of_process) = deviations.get_mut(usize::from(deviation.process)) {
                of_process.push(*deviation);
            }
        }
        for of_process in &mut deviations {
            of_process.sort_by_key(|deviation: &Deviation| (deviation.operation, deviation.kind));
        }
        Self { deviations }
    }

    pub(super) fn find(
        &self,
        process: usize,
        operation: OperationIndex,
        kind: Kind,
    ) -> Option<u64> {
        let of_process = self.deviations.get(process)?;
        let at = of_process
            .binary_search_by_key(&(operation, kind), |deviation| {
                (deviation.operation, deviation.kind)
            })
            .ok()?;
        Some(of_process[at].value)
    }
}
