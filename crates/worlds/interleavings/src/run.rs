//! Runs: what CPUs do, under a chooser.

use crate::choice::Deviation;
use crate::coverage::Access;
use crate::dpor::Dpor;
use crate::failure::Failure;
use crate::machine::Machine;
use crate::step::Step;
use crate::strategy::{Chooser, Every, RandomChoices, ReplayedChoices, Strategy};
use engine::Candidate;

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

/// The one who chooses.
pub enum By<'a> {
    /// A strategy, from a seed.
    RandomChoices(Strategy, u64),
    /// A tape of all choices.
    Every(Every),
    /// Every run that differs.
    Dpor(Box<Dpor>),
    /// The choices of a schedule that is written down.
    Schedule(&'a [Deviation]),
}

/// Takes the process that the machine has chosen.
pub struct MachineChoice<'m>(pub &'m Machine);

impl engine::Chooser for MachineChoice<'_> {
    #[inline(always)]
    fn choose(&mut self, candidates: &[Candidate]) -> usize {
        match self.0.take_next() {
            Some(process) => candidates.iter().position(|candidate| candidate.process == process).unwrap_or(0),
            None => 0,
        }
    }
}

/// Something that can be run again and again.
pub trait Runs<C> {
    /// Runs a script, whatever its late loads have led to.
    fn run_once(&mut self, script: &C, by: By<'_>) -> RunResult;

    /// Runs a script. A failure counts only if the store of each late load came, and if its CPU
    /// does the same until then where the load is not late: each is tried, in a run of its own.
    fn run(&mut self, script: &C, by: By<'_>) -> RunResult {
        let ran = self.run_once(script, by);
        // A run that was cut has come to no end.
        if self.machine().pruned.get() {
            return RunResult { failure: None, ..ran };
        }
        if ran.failure.is_none() || !self.machine().has_late.get() {
            return ran;
        }
        if self.machine().is_void() {
            return RunResult { failure: None, ..ran };
        }
        self.machine().end_last_step();
        let schedule = self.schedule();
        let late = self.machine().late.borrow().clone();
        let tape = self.machine().take_tape();
        let independent = late.iter().all(|late| {
            let without: Vec<Deviation> =
                schedule.iter().filter(|deviation| !late.is_made_by(deviation)).copied().collect();
            self.machine().tried.set(Some((*late, late.is_at_once())));
            self.run_once(script, By::Schedule(&without));
            self.machine().tried.take().is_some_and(|(_, same)| same)
        });
        // The machine is left as that run left it.
        self.run_once(script, By::Schedule(&schedule));
        self.machine().put_tape_back(tape);
        let failure = ran.failure.filter(|_| independent);
        RunResult { failure, ..ran }
    }

    /// The script of the last run: as it was given, or what set the machine up if that failed.
    fn script(&self) -> C;
    /// The machine, with what the last run left.
    fn machine(&self) -> &Machine;

    /// Adds what was counted since the last call to `counts`, in the order of
    /// [`crate::subject::Opens::counted`].
    fn take_counts(&mut self, counts: &mut [u64]) {
        let _ = counts;
    }

    /// Hands over the numbers of the branches that the last run took.
    fn take_reached(&mut self, each: &mut dyn FnMut(usize)) {
        let _ = each;
    }

    /// Hands over the accesses of shared words in the last run, whose steps were kept.
    fn accesses(&self, each: &mut dyn FnMut(Access)) {
        let _ = each;
    }

    /// The deviations of the last run.
    fn schedule(&self) -> Vec<Deviation> {
        self.machine().schedule.borrow().clone()
    }

    /// The steps of the last run, if they were kept.
    fn steps(&self) -> Vec<Step> {
        self.machine().log.borrow().clone()
    }

    /// Keeps steps from here on, or does not.
    fn keep_steps(&mut self, keep: bool) {
        self.machine().keeps_steps.set(keep);
    }
}

impl Machine {
    /// The steps of the last run, if they were kept.
    pub fn steps_of_run(&self) -> std::cell::Ref<'_, Vec<Step>> {
        self.log.borrow()
    }

    /// Says who answers the choices of the next run, which has about `length` operations.
    pub fn choose_by(&self, by: By<'_>, length: u64) {
        let traces = matches!(by, By::Dpor(_));
        self.traces.set(traces);
        self.memory.borrow_mut().trace = traces.then(Vec::new);
        let mut chooser = self.chooser.borrow_mut();
        match by {
            By::Schedule(schedule) => {
                *chooser = Chooser::ReplayedChoices(ReplayedChoices::new(schedule, self.cpus.len() + 1))
            }
            By::Every(every) => *chooser = Chooser::Every(every),
            By::Dpor(dpor) => *chooser = Chooser::Dpor(dpor),
            By::RandomChoices(strategy, seed) => {
                if !matches!(*chooser, Chooser::RandomChoices(_)) {
                    *chooser = Chooser::RandomChoices(RandomChoices::new());
                }
                if let Chooser::RandomChoices(drawn) = &mut *chooser {
                    drawn.begin(strategy, seed, length);
                }
            }
        }
    }

    /// The choices that go on after this run, if there are any.
    fn take_tape(&self) -> Chooser {
        self.chooser.replace(Chooser::RandomChoices(RandomChoices::new()))
    }

    fn put_tape_back(&self, tape: Chooser) {
        if matches!(tape, Chooser::Every(_) | Chooser::Dpor(_)) {
            self.chooser.replace(tape);
        }
    }

    /// The same for every run that differs.
    pub(crate) fn take_dpor(&self) -> Option<Box<Dpor>> {
        self.end_last_step();
        match self.chooser.replace(Chooser::RandomChoices(RandomChoices::new())) {
            Chooser::Dpor(dpor) => Some(dpor),
            _ => None,
        }
    }

    /// The choices of the run after the last one; `None` if there is no other.
    pub(crate) fn take_next_choices(&self) -> Option<By<'static>> {
        self.end_last_step();
        match self.take_tape() {
            Chooser::Every(mut every) => every.advance().then_some(By::Every(every)),
            Chooser::Dpor(mut dpor) => dpor.advance().then_some(By::Dpor(dpor)),
            _ => None,
        }
    }

    /// The tape of the last run, if it was one of every run.
    pub fn take_every(&self) -> Option<Every> {
        match self.chooser.replace(Chooser::RandomChoices(RandomChoices::new())) {
            Chooser::Every(every) => Some(every),
            _ => None,
        }
    }
}
