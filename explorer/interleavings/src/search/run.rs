//! Runs: what CPUs do, under a chooser.

use super::coverage::Access;
use crate::machine::{ChoiceSource, Deviation, Failure, Machine, Operation, Step, run_quietly};
use crate::operation::OperationIndex;

/// The result of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunResult {
    /// The failure, if anything broke.
    pub failure: Option<Failure>,
    /// Operations of all processes together.
    pub steps: u32,
    /// All operations with their values, in order, as a hash: two runs with the same hash did the
    /// same.
    pub hash: u64,
}

impl Machine {
    /// Runs what has been started, to its end.
    pub fn run<R>(&self, processes: impl FnOnce() -> R) {
        self.heart.beat(self.process(), OperationIndex::default());
        self.begin();
        if let Err(payload) = run_quietly(processes) {
            self.set_failure(Failure::of_panic(&*payload));
        }
        self.heart.rest();
    }

    /// The result of the last run. `at_the_end` says what broke where nothing did before.
    pub fn result(&self, at_the_end: impl FnOnce() -> Option<Failure>) -> RunResult {
        let failure = self.take_failure().or_else(at_the_end);
        let steps = self.step_count();
        // A run that was cut says nothing of how long they are.
        if !self.is_pruned() {
            let length = &self.settings().length;
            length.set((length.get() * 7 + u64::from(steps)) / 8);
        }
        RunResult {
            failure,
            steps,
            hash: self.hash(),
        }
    }
}

/// The cause of a failure, where more is known than what broke.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// It, as a sentence without a full stop.
    pub what: String,
    /// The number of the step that shows it.
    pub step: usize,
}

/// What each process does, from an entry on.
pub type Main<'s> = &'s dyn Fn(usize, u32);

/// Something that can be run again and again.
pub trait Runs<C> {
    /// Runs a script, whatever its late loads have led to.
    fn run_once(&mut self, script: &C, by: ChoiceSource<'_>) -> RunResult;

    /// Runs a script. A failure counts only if the store of each late load came, and if its CPU
    /// does the same until then where the load is not late: each is tried, in a run of its own.
    fn run(&mut self, script: &C, by: ChoiceSource<'_>) -> RunResult {
        let ran = self.run_once(script, by);
        // A run that was cut has come to no end.
        if self.machine().is_pruned() || self.machine().is_void() {
            return RunResult {
                failure: None,
                ..ran
            };
        }
        if ran.failure.is_none() || !self.machine().has_late() {
            return ran;
        }
        self.machine().end_last_step();
        let schedule = self.schedule();
        let late = self.machine().paid_loads();
        let tape = self.machine().take_tape();
        let independent = late.iter().all(|late| {
            let without: Vec<Deviation> = schedule
                .iter()
                .filter(|deviation| !late.is_made_by(deviation))
                .copied()
                .collect();
            self.machine().try_in_time(*late);
            self.run_once(script, ChoiceSource::Schedule(&without));
            self.machine().take_same()
        });
        // The machine is left as that run left it.
        self.run_once(script, ChoiceSource::Schedule(&schedule));
        self.machine().put_tape_back(tape);
        let failure = ran.failure.filter(|_| independent);
        RunResult { failure, ..ran }
    }

    /// The script of the last run: as it was given, or what set the machine up if that failed.
    fn script(&self) -> C;
    /// The machine, with what the last run left.
    fn machine(&self) -> &Machine;

    /// The cause of a failure of the last run, whose steps were kept; `None` where no more is known
    /// than what broke.
    fn cause(&mut self, failure: &Failure) -> Option<Cause> {
        let _ = failure;
        None
    }

    /// Adds what was counted since the last call to `counts`, in the order of
    /// [`crate::subject::Subject::counted`].
    fn take_counts(&mut self, counts: &mut [u64]) {
        let _ = counts;
    }

    /// Hands over the numbers of the branches that the last run took.
    fn take_reached(&mut self, each: &mut dyn FnMut(usize)) {
        let _ = each;
    }

    /// Who a process is from a step on, if that changes.
    fn actor(&self, step: &Step) -> Option<u16> {
        let _ = step;
        None
    }

    /// Who all processes are at first.
    fn first_actor(&self) -> u16 {
        0
    }

    /// The kind of a word.
    fn word(&self, cell: u16) -> u16 {
        cell
    }

    /// Hands over the accesses of shared words in the last run, whose steps were kept.
    fn accesses(&self, each: &mut dyn FnMut(Access)) {
        let mut actors = vec![self.first_actor(); self.machine().cpus().len() + 1];
        for step in self.machine().steps_of_run().iter() {
            let of_process = &mut actors[usize::from(step.process)];
            *of_process = self.actor(step).unwrap_or(*of_process);
            let (cell, stores) = match step.did {
                Operation::Loaded { cell, .. } => (cell, false),
                Operation::Store { cell, .. } | Operation::Update { cell, .. } => (cell, true),
                _ => continue,
            };
            each(Access {
                cell,
                word: self.word(cell),
                actor: 2 * *of_process + u16::from(stores),
                stores,
                process: step.process,
            });
        }
    }

    /// The deviations of the last run.
    fn schedule(&self) -> Vec<Deviation> {
        self.machine().schedule().clone()
    }

    /// The steps of the last run, if they were kept.
    fn steps(&self) -> Vec<Step> {
        self.machine().steps_of_run().clone()
    }

    /// Keeps steps from here on, or does not.
    fn keep_steps(&mut self, keep: bool) {
        self.machine().settings().keeps_steps.set(keep);
    }
}
