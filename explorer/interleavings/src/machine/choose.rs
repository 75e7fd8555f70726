//! Who answers the choices of a run.

use super::choice::Deviation;
use super::chooser::{Chooser, Dpor, RandomChoices, ReplayedChoices, Strategy};
use super::state::Machine;

/// A source of choices for a run.
pub enum ChoiceSource<'a> {
    /// A strategy, from a seed.
    RandomChoices(Strategy, u64),
    /// Every run that differs.
    Dpor(Box<Dpor>),
    /// The choices of a schedule that is written down.
    Schedule(&'a [Deviation]),
}

impl Machine {
    /// Forgets a run, and says who answers the choices of the next one.
    pub fn forget_run(&self, by: ChoiceSource<'_>) {
        self.choices.schedule.borrow_mut().clear();
        self.turns.forget();
        self.record.forget();
        self.late.forget();
        let traces = matches!(by, ChoiceSource::Dpor(_));
        self.settings.traces.set(traces);
        self.memory.borrow_mut().keep_trace(traces);
        let mut chooser = self.choices.chooser.borrow_mut();
        match by {
            ChoiceSource::Schedule(schedule) => {
                *chooser =
                    Chooser::ReplayedChoices(ReplayedChoices::new(schedule, self.cpus.len() + 1))
            }
            ChoiceSource::Dpor(dpor) => *chooser = Chooser::Dpor(dpor),
            ChoiceSource::RandomChoices(strategy, seed) => {
                let drawn = RandomChoices::new(strategy, seed, self.settings.length.get());
                match &mut *chooser {
                    Chooser::RandomChoices(before) => **before = drawn,
                    other => *other = Chooser::RandomChoices(Box::new(drawn)),
                }
            }
        }
    }

    /// The choices that go on after this run, if there are any.
    pub(crate) fn take_tape(&self) -> Chooser {
        self.choices.chooser.replace(Chooser::none())
    }

    pub(crate) fn put_tape_back(&self, tape: Chooser) {
        if matches!(tape, Chooser::Dpor(_)) {
            self.choices.chooser.replace(tape);
        }
    }

    /// Takes the choices of runs that differ, to go on with them.
    pub(crate) fn take_dpor(&self) -> Option<Box<Dpor>> {
        self.end_last_step();
        match self.take_tape() {
            Chooser::Dpor(dpor) => Some(dpor),
            _ => None,
        }
    }

    /// The choices of the run after the last one; `None` if there is no other.
    pub(crate) fn take_next_choices(&self) -> Option<ChoiceSource<'static>> {
        let mut dpor = self.take_dpor()?;
        dpor.advance().then_some(ChoiceSource::Dpor(dpor))
    }
}
