//! Choices drawn from a seed.

use super::strategy::Strategy;
use super::strategy::Strategy::*;
use crate::limits::MOST_CPUS;
use crate::machine::choice::Kind;
use crate::machine::choice::Kind::*;
use crate::machine::ready::{Ready, nth};
use engine::SplitMix64;

/// At most this many processes: the CPUs, and the one that is none.
const PROCESSES: usize = MOST_CPUS + 1;

/// One in this many operations starts to pass a process over, or changes the process.
const PASSES_OVER_EVERY: u64 = 32;
/// One in this many places of a guided run is one at which processes are held.
const PLACES: u64 = 16;
const LONGEST_PASS: u64 = 256;
/// One in 64 choices, in 2^32.
const A_64TH: u64 = 1 << 26;

/// Choices drawn from a seed.
pub struct RandomChoices {
    strategy: Strategy,
    random: SplitMix64,
    /// Number of 2^32 choices about memory and caches that differ from the default, and of those
    /// about the hardware; of [`Strategy::Few`] of all.
    memory: u64,
    hardware: u64,
    /// True if interrupts come before they are needed.
    interrupts: bool,
    priorities: [u64; PROCESSES],
    /// The operations at which a priority falls, latest first.
    changes: Vec<u64>,
    operations: u64,
    /// The process that others pass, for how many operations more, and the last one of each.
    passed_over: usize,
    left: u64,
    last: [u64; PROCESSES],
    /// The number of its operations after which the process stands still, a store of which is late.
    late_in: u64,
    running: usize,
    /// What tells the places apart of which a guided run is about; 0 in a run that is not guided.
    guide: u64,
}

impl RandomChoices {
    /// The choices of a run, which `seed` draws. `length` is about the number of its operations.
    pub fn new(strategy: Strategy, seed: u64, length: u64) -> Self {
        let (mut random, length) = (SplitMix64::fork(seed, 2), length.max(1));
        // Some runs deviate in few respects, some in many: a defect often needs one kind of
        // deviation and is hidden by another.
        let mut levels = [0, A_64TH, 4 * A_64TH, 16 * A_64TH];
        // A defect often needs that somebody stands still at one of the places that are seldom
        // passed, until somebody else comes to the same word. Half of the runs are about some
        // places, each as likely as any other. The others know nothing of it: no defect is found in
        // less than half as many of them.
        let guide = SplitMix64::fork(seed, 3).next();
        let (changes, guide) = match strategy {
            Few(deviations) => {
                // An operation asks for about two choices.
                levels = [(u64::from(deviations) << 32) / (2 * length); 4];
                (0, 0)
            }
            Pct(changes) => (changes, guide),
            _ => (0, guide),
        };
        let mut drawn = Self {
            strategy,
            memory: levels[random.below(4) as usize],
            hardware: levels[random.below(3) as usize],
            interrupts: random.below(2) == 0,
            random,
            priorities: [0; PROCESSES],
            changes: Vec::new(),
            operations: 0,
            passed_over: 0,
            left: 0,
            last: [0; PROCESSES],
            late_in: 0,
            running: 0,
            guide: guide * (guide & 1),
        };
        if changes > 0 {
            for priority in &mut drawn.priorities {
                *priority = drawn.random.next() | 1 << 63;
            }
            // A seed draws the same runs as when there were 64 of them.
            for _ in PROCESSES..64 {
                drawn.random.next();
            }
            for _ in 0..changes {
                drawn.changes.push(drawn.random.below(length));
            }
            drawn
                .changes
                .sort_unstable_by(|left, right| right.cmp(left));
        }
        drawn
    }

    /// True if a choice is one of so many of 2^32.
    #[inline(always)]
    fn is_one(&mut self, of: u64) -> bool {
        self.random.next() >> 32 < of
    }

    #[inline(always)]
    fn candidates(&self, ready: Ready) -> u64 {
        if self.interrupts || ready.awake == 0 {
            ready.awake | ready.asleep
        } else {
            ready.awake
        }
    }

    /// A guided run comes to an operation, by its number: the process stands still, for 1, 2, 4 ..
    /// operations, if the place is one that the run is about. Returns whether one that stands still
    /// goes on, as it does half of the times that somebody is about to touch its word.
    #[inline(always)]
    fn meets(&mut self, running: usize, operation: u64) -> bool {
        let before = std::mem::replace(&mut self.last[running], operation);
        self.running = running;
        if self.left > 0 {
            let is_same = (self.last[self.passed_over] ^ operation) & 0xffff == 0;
            let goes = is_same && self.random.below(2) == 0;
            self.left *= u64::from(!goes);
            return goes;
        }
        let place = (operation ^ self.guide ^ before << 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let is_late = self.late_in > 0 && self.passed_over == running;
        self.late_in -= u64::from(is_late);
        if is_late && self.late_in == 0 || place < u64::MAX / PLACES {
            self.passed_over = running;
            self.late_in = 0;
            self.left = 1 << self.random.below(10);
        }
        false
    }

    /// Who goes before an operation of the process that runs, whose number is given.
    #[inline(always)]
    pub(super) fn preempt(&mut self, running: usize, ready: Ready, operation: u64) -> usize {
        let mut set = self.candidates(ready) | 1 << running;
        if set & (set - 1) == 0 {
            return running;
        }
        if self.guide != 0 && self.meets(running, operation) && set >> self.passed_over & 1 != 0 {
            return self.passed_over;
        }
        if self.left > 0 {
            self.left -= 1;
            set &= !(1 << self.passed_over);
        } else if self.strategy == PassingOver {
            match self.random.below(PASSES_OVER_EVERY) {
                0 => {
                    self.passed_over = self.any(set);
                    self.left = self.random.below(LONGEST_PASS);
                    set &= !(1 << self.passed_over);
                }
                1 => return self.any(set),
                _ => {}
            }
        }
        let strategy = self.strategy;
        match strategy {
            Random | Dpor => self.any(set),
            Pct(_) => self.highest(set),
            Few(_) if self.is_one(self.memory) => self.any(set),
            _ if set >> running & 1 != 0 => running,
            _ => self.any(set),
        }
    }

    /// Any process of a set.
    #[inline(always)]
    fn any(&mut self, set: u64) -> usize {
        nth(set, self.random.below(u64::from(set.count_ones())))
    }

    fn highest(&mut self, set: u64) -> usize {
        let highest = |priorities: &[u64; PROCESSES]| {
            let (mut highest, mut others) = (set.trailing_zeros() as usize, set & (set - 1));
            while others != 0 {
                let other = others.trailing_zeros() as usize;
                if priorities[other] > priorities[highest] {
                    highest = other;
                }
                others &= others - 1;
            }
            highest
        };
        self.operations += 1;
        while self.changes.last().is_some_and(|&at| at <= self.operations) {
            self.changes.pop();
            self.priorities[highest(&self.priorities)] = self.changes.len() as u64;
        }
        highest(&self.priorities)
    }

    pub(super) fn next(&mut self, ready: Ready) -> Option<usize> {
        let mut set = self.candidates(ready);
        if self.left > 0 && set & !(1 << self.passed_over) != 0 {
            set &= !(1 << self.passed_over);
        }
        if set == 0 {
            return None;
        }
        let strategy = self.strategy;
        match strategy {
            Pct(_) => Some(self.highest(set)),
            Few(_) if !self.is_one(self.memory) => ready.first(),
            _ => Some(self.any(set)),
        }
    }

    #[inline(always)]
    pub(super) fn late(&mut self, newest: u64, stored: &[u64]) -> Option<u64> {
        if stored.is_empty() {
            return None;
        }
        // In most runs none is, so that a run has few.
        let is_late = self.memory != 0 && self.is_one(self.memory.min(4 * A_64TH));
        let value = is_late.then(|| stored[self.random.below(stored.len() as u64) as usize])?;
        (value != newest).then_some(value)
    }

    #[inline(always)]
    pub(super) fn answer(&mut self, kind: Kind, options: u32) -> u32 {
        let chance = match kind {
            Evict | Fill | ExclusiveFails => self.memory.min(4 * A_64TH),
            kind if kind.is_memory() => self.memory,
            // It refuses nothing, and harms nobody.
            LateTick => (8 * self.hardware).min(32 * A_64TH),
            // While a process is held.
            ClockPasses => 48 * A_64TH * u64::from(self.left > 0),
            Answered => 4 * self.hardware,
            _ => self.hardware,
        };
        if chance == 0 || options < 2 {
            return 0;
        }
        if !self.is_one(chance) {
            return 0;
        }
        let answer = 1 + self.random.below(u64::from(options - 1)) as u32;
        if self.guide != 0 && kind == StoreDelay && self.left == 0 {
            self.passed_over = self.running;
            self.late_in = 1 + self.random.below(answer.into());
        }
        answer
    }
}
