//! The chooser of an exploration: who goes next is drawn at random.

use engine::{Candidate, Chooser, RandomChooser, SplitMix64, Time};

/// How an exploration chooses which process goes next; each way has its seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Explore {
    /// At each choice, all processes that can go are equally likely.
    Uniform(u64),
    /// As [`Explore::Uniform`], but now and then one process is passed over for up to 256 choices, as if a higher exception level or a
    /// debugger had taken the CPU. Equal chances alone hardly ever let one CPU make twenty steps while another makes none.
    PassingOver(u64),
}

/// Chooses at random among the processes that are due within [`WINDOW`] of the earliest one. Without this limit a timer could fire at
/// any moment, and would end every sleep before it started.
pub(crate) struct RandomWithinWindow {
    random: RandomChooser,
    /// Draws whom to pass over, if anybody is.
    passes_over: Option<SplitMix64>,
    /// Who is passed over, and for how many more choices.
    passed_over: Option<(usize, u64)>,
}

/// How far ahead of the earliest process a choice may reach, in ps.
const WINDOW: Time = 100 * engine::PS_PER_US;
/// One choice in this many starts to pass a process over.
const PASSES_OVER_EVERY: u64 = 64;
/// A process is passed over for fewer choices than this.
const LONGEST_PASS: u64 = 256;

impl RandomWithinWindow {
    pub(crate) fn new(explore: Explore) -> Self {
        let (seed, passes_over) = match explore {
            Explore::Uniform(seed) => (seed, None),
            Explore::PassingOver(seed) => (seed, Some(SplitMix64::fork(seed, 1))),
        };
        Self { random: RandomChooser::new(seed), passes_over, passed_over: None }
    }

    /// The candidates without the one that is passed over, or all of them if no other is left.
    fn without_passed_over(&mut self, candidates: &[Candidate]) -> Vec<Candidate> {
        let everyone = candidates.to_vec();
        let Some(random) = &mut self.passes_over else { return everyone };
        self.passed_over = match self.passed_over {
            Some((_, 0)) => None,
            Some((process, left)) => Some((process, left - 1)),
            None if random.below(PASSES_OVER_EVERY) == 0 => {
                let unlucky = candidates[random.below(candidates.len() as u64) as usize].process;
                Some((unlucky, random.below(LONGEST_PASS)))
            }
            None => None,
        };
        let Some((unlucky, _)) = self.passed_over else { return everyone };
        let others: Vec<_> = candidates.iter().copied().filter(|candidate| candidate.process != unlucky).collect();
        if others.is_empty() { everyone } else { others }
    }
}

impl Chooser for RandomWithinWindow {
    fn choose(&mut self, candidates: &[Candidate]) -> usize {
        let others = self.without_passed_over(candidates);
        let earliest = others.iter().map(|candidate| candidate.time).min().unwrap_or(0);
        let near: Vec<_> = others.iter().copied().filter(|candidate| candidate.time <= earliest + WINDOW).collect();
        let chosen = near[self.random.choose(&near).min(near.len() - 1)];
        candidates.iter().position(|candidate| *candidate == chosen).unwrap_or(0)
    }
}
