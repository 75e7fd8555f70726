//! Choosers: which process goes next, where it is not simply the earliest.

use crate::process::ProcessId;
use crate::time::Time;
use random::SplitMix64;

/// A process that could go next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Number of the process.
    pub process: ProcessId,
    /// The time at which it would go in a timed run.
    pub time: Time,
}

/// Answers every choice of a run.
///
/// ```
/// use engine::{Candidate, Chooser, Runner, Scheduler};
///
/// /// The process with the highest number goes first.
/// struct Last;
///
/// impl Chooser for Last {
///     fn choose(&mut self, candidates: &[Candidate]) -> usize {
///         candidates.len() - 1
///     }
/// }
///
/// let order = std::cell::RefCell::new(Vec::new());
/// let scheduler = Scheduler::new(3);
/// let main = |process, _| order.borrow_mut().push(process);
/// let mut runner = Runner::with_chooser(&scheduler, &main, Last);
/// (0..3).for_each(|process| runner.start(process, 0));
/// runner.run().unwrap();
/// assert_eq!(*order.borrow(), [2, 1, 0]);
/// ```
pub trait Chooser {
    /// The index into `candidates` of the process that goes next. Candidates are never empty and
    /// come ordered by process number. An index out of range stands for the last.
    fn choose(&mut self, candidates: &[Candidate]) -> usize;
}

/// Chooses each candidate with equal probability, from a seed.
///
/// ```
/// use engine::{Candidate, Chooser, RandomChooser};
///
/// let candidates = [0, 1, 2].map(|process| Candidate { process, time: 0 });
/// let (mut one, mut same) = (RandomChooser::new(7), RandomChooser::new(7));
/// assert!((0..10).all(|_| one.choose(&candidates) == same.choose(&candidates)));
/// ```
#[derive(Clone, Debug)]
pub struct RandomChooser(SplitMix64);

impl RandomChooser {
    /// A chooser with this seed; equal seeds make equal choices.
    pub fn new(seed: u64) -> Self {
        Self(SplitMix64::new(seed))
    }
}

impl Chooser for RandomChooser {
    fn choose(&mut self, candidates: &[Candidate]) -> usize {
        self.0.below(candidates.len() as u64) as usize
    }
}

/// Probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi, Nagarakatte: "A randomized
/// scheduler with probabilistic guarantees of finding bugs", 2010).
///
/// Every process has a priority, drawn at random, and of those that can go the one of the highest
/// priority goes. At `depth - 1` choices, drawn beforehand among the first `steps`, the process
/// that would go falls below all others instead. A bug that needs `depth` orderings in a run of
/// `steps` choices of `n` processes is then found with a probability of at least
/// `1 / (n * steps^(depth - 1))`, and usually far more; a [`RandomChooser`] has no such bound, and
/// hardly ever lets one process run far ahead of another.
///
/// A process that polls for what another is to do would starve it for ever, if it has the higher
/// priority: let it wait ([`Scheduler::wait`](crate::Scheduler::wait)) instead.
///
/// A choice allocates nothing, but for the first that meets a process.
///
/// ```
/// use engine::{Candidate, Chooser, PctChooser};
///
/// let candidates = [0, 1, 2].map(|process| Candidate { process, time: 0 });
/// // A depth of 1 has no change points: one process goes first as long as it can.
/// let mut chooser = PctChooser::new(7, 1, 100);
/// let first = chooser.choose(&candidates);
/// assert!((0..10).all(|_| chooser.choose(&candidates) == first));
/// ```
#[derive(Clone, Debug)]
pub struct PctChooser {
    random: SplitMix64,
    /// Priority of each process; the larger goes first. A drawn priority has the top bit set, a
    /// lowered one has not.
    priorities: Vec<u64>,
    /// The choices at which a process falls, in order.
    change_points: Vec<u64>,
    /// The number of change points that are behind us.
    fallen: usize,
    step: u64,
}

/// Set in the priorities that were drawn, so that whoever falls comes below them all.
const DRAWN: u64 = 1 << 63;

impl PctChooser {
    /// Equal seeds make equal choices. `depth` is 1 or more (0 counts as 1), `steps`
    /// about the number of choices of a run.
    pub fn new(seed: u64, depth: usize, steps: u64) -> Self {
        let mut points = SplitMix64::fork(seed, 1);
        let mut change_points: Vec<u64> = (1..depth).map(|_| points.below(steps.max(1))).collect();
        change_points.sort_unstable();
        Self {
            random: SplitMix64::new(seed),
            priorities: Vec::new(),
            change_points,
            fallen: 0,
            step: 0,
        }
    }

    /// The index of the candidate with the highest priority. Two priorities of 63 random bits do
    /// not tie in practice; if they do, the lower process goes first.
    fn highest(&mut self, candidates: &[Candidate]) -> usize {
        let mut best = 0;
        let mut highest = 0;
        for (index, candidate) in candidates.iter().enumerate() {
            while self.priorities.len() <= candidate.process {
                self.priorities.push(self.random.next() | DRAWN);
            }
            let priority = self.priorities[candidate.process];
            if index == 0 || priority > highest {
                (best, highest) = (index, priority);
            }
        }
        best
    }
}

impl Chooser for PctChooser {
    fn choose(&mut self, candidates: &[Candidate]) -> usize {
        let mut chosen = self.highest(candidates);
        while self.change_points.get(self.fallen) == Some(&self.step) {
            // Who falls first falls least: whoever falls later comes below.
            let left = self.change_points.len() - self.fallen;
            self.priorities[candidates[chosen].process] = left as u64;
            self.fallen += 1;
            chosen = self.highest(candidates);
        }
        self.step += 1;
        chosen
    }
}
