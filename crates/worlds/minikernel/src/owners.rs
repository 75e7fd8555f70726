//! The owners of energy: each unit has exactly one.

use crate::task::TaskId;
use soc::meter::OwnerId;

/// An owner of energy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Owner {
    /// The kernel's scheduling: context switches, wake-ups, the idle loop.
    Kernel,
    /// Timers and interrupts.
    Interrupt,
    /// Callbacks: invoking them, and the softirq that looks after them.
    Callbacks,
    /// A tick that an idle CPU keeps because of callbacks, and the idling in between; or a wake-up
    /// in its place that they asked for.
    TickForRcu,
    /// Threads that wait for grace periods or hand callbacks over.
    RcuThread,
    /// Ways into and out of idle states.
    Transition,
    /// An idle state.
    Idle(usize),
    /// A task; its copies count as it.
    Task(TaskId),
}

/// Numbers for the owners of a machine.
#[derive(Clone, Copy)]
pub struct Owners {
    states: usize,
    tasks: usize,
}

const FIXED: [Owner; 6] = [
    Owner::Kernel,
    Owner::Interrupt,
    Owner::Callbacks,
    Owner::TickForRcu,
    Owner::RcuThread,
    Owner::Transition,
];

impl Owners {
    /// Owners for machines with this many idle states and tasks.
    pub const fn new(states: usize, tasks: usize) -> Self {
        Self { states, tasks }
    }

    /// The number of them.
    pub const fn count(self) -> usize {
        FIXED.len() + self.states + self.tasks
    }

    /// The number of an owner.
    pub const fn id(self, owner: Owner) -> OwnerId {
        match owner {
            Owner::Kernel => 0,
            Owner::Interrupt => 1,
            Owner::Callbacks => 2,
            Owner::TickForRcu => 3,
            Owner::RcuThread => 4,
            Owner::Transition => 5,
            Owner::Idle(state) => FIXED.len() + state,
            Owner::Task(task) => FIXED.len() + self.states + task,
        }
    }

    /// All owners, in the order of their numbers.
    pub fn all(self) -> impl Iterator<Item = Owner> {
        FIXED
            .into_iter()
            .chain((0..self.states).map(Owner::Idle))
            .chain((0..self.tasks).map(Owner::Task))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_owner_has_a_number_of_its_own() {
        let owners = Owners::new(2, 3);
        let numbers: Vec<_> = owners.all().map(|owner| owners.id(owner)).collect();
        assert_eq!(numbers, (0..owners.count()).collect::<Vec<_>>());
    }
}
