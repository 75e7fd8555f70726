//! A lock that does not do what it is there for, as the cause of another failure.

use crate::machine::{LockStep, Machine, Operation, Step};
use crate::search::Cause;

/// What was done with the locks of a run whose steps were kept.
struct Locks<'r> {
    steps: &'r [Step],
    of: &'r [LockStep],
}

/// The lock that explains a failure, if one does: two hold it, or it does not order what its
/// holders do one after the other. `name` names a lock by its id; `None` for what is no lock.
pub fn broken_lock(machine: &Machine, name: impl Fn(u32) -> Option<String>) -> Option<Cause> {
    let steps = machine.steps_of_run();
    let of: Vec<LockStep> = machine
        .lock_steps()
        .iter()
        .filter(|of| name(of.lock).is_some())
        .copied()
        .collect();
    let name = |id| name(id).unwrap_or_default();
    let locks = Locks {
        steps: &steps,
        of: &of,
    };
    let names = machine.names();
    let who = |of: u8| names.process(of);
    // The last turn that shows it lies next to the failure.
    let turns = || (0..of.len()).rev().filter(|&at| of[at].taken);
    let both = turns().find_map(|at| Some((at, locks.other_holder(at)?)));
    // Its last operation takes the lock.
    let cause = |at: usize, what: String| Cause {
        what,
        step: of[at].step.saturating_sub(1),
    };
    if let Some((at, other)) = both {
        let (lock, process) = (name(of[at].lock), who(of[at].process));
        return Some(cause(
            at,
            format!(
                "{} holds {lock}, and {process} takes it as well",
                who(other)
            ),
        ));
    }
    let unordered = |at: usize, before: u8, how: &str| {
        let (lock, after) = (name(of[at].lock), who(of[at].process));
        let what = format!(
            "{lock} does not order what it guards: {after} takes it after {}, and {how}",
            who(before)
        );
        cause(at, what)
    };
    if let Some((first, operation)) = machine.first_of_race() {
        let access = steps
            .iter()
            .rposition(|step| (step.process, step.operation) == (first, operation))?;
        let last = steps.last()?.process;
        return turns()
            .find(|&at| {
                of[at].process == last
                    && locks.release(at).is_none()
                    && locks.held_at(at, first, access)
            })
            .map(|at| unordered(at, first, "nothing orders what both do with it"));
    }
    turns()
        .find_map(|at| Some((at, locks.missed(at)?)))
        .map(|(at, (before, cell, value))| {
            let word = names.cell(cell);
            unordered(
                at,
                before,
                &format!("misses the {value:#x} in {word} from before"),
            )
        })
}

impl Locks<'_> {
    /// The next release of the lock by the one who takes it in a turn.
    fn release(&self, turn: usize) -> Option<&LockStep> {
        let LockStep { process, lock, .. } = self.of[turn];
        self.of[turn + 1..]
            .iter()
            .find(|of| (of.process, of.lock, of.taken) == (process, lock, false))
    }

    /// The turns of others that took the lock before this one did, the last first.
    fn earlier(&self, turn: usize) -> impl Iterator<Item = usize> {
        let LockStep { process, lock, .. } = self.of[turn];
        (0..turn).rev().filter(move |&at| {
            self.of[at].taken && self.of[at].lock == lock && self.of[at].process != process
        })
    }

    /// True if a process held the lock of a turn when it made a step, before that turn.
    fn held_at(&self, turn: usize, process: u8, step: usize) -> bool {
        self.earlier(turn).any(|at| {
            let end = self.release(at).map_or(usize::MAX, |release| release.step);
            self.of[at].process == process && (self.of[at].step..=end).contains(&(step + 1))
        })
    }

    /// The word that is changed in a step, if one is.
    fn changes(step: &Step) -> Option<u16> {
        match step.did {
            Operation::Store { cell, .. } | Operation::Update { cell, .. } => Some(cell),
            _ => None,
        }
    }

    /// The last change of a word that a process made before a step: where, and of which word.
    fn last_change(&self, process: u8, before: usize) -> Option<(usize, u16)> {
        self.steps[..before]
            .iter()
            .enumerate()
            .rev()
            .filter(|(_, step)| step.process == process)
            .find_map(|(at, step)| Some((at, Self::changes(step)?)))
    }

    /// The change of a word with which the one who took the lock in a turn lets it go: it says so
    /// only later. If the run ends before, it is the next one of the word with which it took the
    /// lock.
    fn let_go_at(&self, turn: usize) -> Option<usize> {
        let LockStep {
            step: taken,
            process,
            ..
        } = self.of[turn];
        if let Some(release) = self.release(turn) {
            return self.last_change(process, release.step).map(|(at, _)| at);
        }
        let (_, word) = self.last_change(process, taken)?;
        Some(
            self.steps[taken..]
                .iter()
                .position(|step| step.process == process && Self::changes(step) == Some(word))
                .map_or(usize::MAX, |at| taken + at),
        )
    }

    /// Another process that holds the lock when it is taken.
    fn other_holder(&self, turn: usize) -> Option<u8> {
        let taken = self.of[turn].step;
        self.earlier(turn)
            .find(|at| self.let_go_at(*at).is_some_and(|end| end >= taken))
            .map(|at| self.of[at].process)
    }

    /// True if a process had its caches on at a step.
    fn is_coherent(&self, process: u8, step: usize) -> bool {
        let mut turns = self.steps[..step]
            .iter()
            .rev()
            .filter(|step| step.process == process)
            .filter(|step| matches!(step.did, Operation::Flush { .. } | Operation::CachesOn));
        turns
            .next()
            .is_none_or(|step| step.did == Operation::CachesOn)
    }

    /// A store that the one before made while it held the lock, or before, and that the holder of
    /// this turn misses: who made it, the word, and what was stored. What lies in a cache or in
    /// memory alone is nothing that a lock orders.
    fn missed(&self, turn: usize) -> Option<(u8, u16, u64)> {
        let LockStep {
            step: taken,
            process,
            ..
        } = self.of[turn];
        let before = self.earlier(turn).next()?;
        let (other, release) = (self.of[before].process, self.let_go_at(before)?);
        let end = self
            .release(turn)
            .map_or(self.steps.len(), |release| release.step);
        self.steps[..end]
            .iter()
            .enumerate()
            .skip(taken)
            .filter(|(_, step)| step.process == process)
            .filter_map(|(at, step)| match step.did {
                Operation::Loaded {
                    cell,
                    value,
                    newest,
                    cached,
                    early,
                } if early || newest.is_none() && cached => Some((at, cell, value)),
                _ => None,
            })
            .find_map(|(at, cell, value)| {
                let changes = |step: &Step| Self::changes(step) == Some(cell);
                let last = self.steps[..at].iter().rposition(changes)?;
                match self.steps[last] {
                    Step {
                        process: by,
                        did: Operation::Store { value: stored, .. },
                        ..
                    } => {
                        let is_missed = by == other && last < release && stored != value;
                        (is_missed && self.is_coherent(by, last)).then_some((other, cell, stored))
                    }
                    _ => None,
                }
            })
    }
}
