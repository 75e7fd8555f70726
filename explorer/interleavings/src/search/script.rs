//! The actions of CPUs in a run, whatever the code under test is.

use std::fmt::Debug;
use std::ops::Range;

/// The script of a run: a list of actions for each CPU, which shrinking shortens.
pub trait Script: Clone + Default + PartialEq + Debug + 'static {
    /// Number of CPUs.
    fn cpus(&self) -> usize;

    /// The number of actions that a CPU has.
    fn actions(&self, cpu: usize) -> usize;

    /// An action as the rest of a sentence that starts with who does it; `None` if there is no such
    /// action.
    fn action(&self, cpu: usize, number: usize) -> Option<String>;

    /// Leaves actions of a CPU out.
    fn leave_out(&mut self, cpu: usize, actions: Range<usize>);

    /// What makes it plainer: for each of its settings that may not be the plainest, how to leave it
    /// out.
    const PLAINER: &'static [fn(&mut Self)] = &[];

    /// Plainer scripts, each without one of those settings.
    fn plainer(&self) -> impl Iterator<Item = Self> {
        let changed = Self::PLAINER.iter().map(|change| {
            let mut other = self.clone();
            change(&mut other);
            other
        });
        changed.filter(move |other| other != self)
    }

    /// The whole of it in sentences.
    fn sentences(&self) -> Vec<String>;

    /// Says what is wrong with a script that was written by hand.
    ///
    /// # Errors
    /// A sentence.
    fn check(&self) -> Result<(), String> {
        Ok(())
    }
}

/// The number of actions that all CPUs have together, and settings that are not the plainest.
pub fn length(script: &impl Script) -> usize {
    script.plainer().count()
        + (0..script.cpus())
            .map(|cpu| script.actions(cpu))
            .sum::<usize>()
}
