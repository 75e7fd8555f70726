//! Everything on the fastest CPUs.

use crate::classes;
use crate::spread;
use crate::task::TaskId;
use crate::view::{Move, Placement, View};

/// Tasks spread evenly over the CPUs of the fastest class. A task that may run on none of those
/// runs where it may.
pub struct AllBig;

impl Placement for AllBig {
    fn wake(&mut self, view: &dyn View, task: TaskId, previous: usize) -> usize {
        let allowed = view.allowed(task);
        spread::fewest(
            view,
            (allowed & classes::fastest(view)).or_if_empty(allowed),
            previous,
        )
    }

    fn tick(&mut self, view: &dyn View, cpu: usize) -> Option<Move> {
        spread::hand_over(view, classes::fastest(view), cpu)
    }

    fn pull(&mut self, view: &dyn View, cpu: usize) -> Option<TaskId> {
        let fastest = classes::fastest(view);
        fastest
            .has(cpu)
            .then(|| spread::take(view, fastest, cpu))
            .flatten()
    }
}
