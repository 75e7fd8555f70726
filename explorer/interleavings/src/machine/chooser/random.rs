//! Choices drawn from a seed.

use super::strategy::Strategy;
use crate::machine::choice::Kind;
use crate::machine::ready::{Ready, nth};
use engine::SplitMix64;

/// At most this many processes.
pub const PROCESSES: usize = 64;

/// One in this many operations starts to pass a process over, or changes the process.
const PASSES_OVER_EVERY: u64 = 32;
const LONGEST_PASS: u64 = 256;

/// Choices drawn from a seed.
pub struct RandomChoices {
    strategy: Strategy,
    random: SplitMix64,
    /// Number of 64 choices about memory and caches that differ from the default.
    memory: u64,
    hardware: u64,
    /// True if interrupts come before they are needed.
    interrupts: bool,
    priorities: [u64; PROCESSES],
    /// The operations at which a priority falls, latest first.
    changes: Vec<u64>,
    operations: u64,
    passed_over: usize,
    left: u64,
    /// [`Strategy::Few`]: number of 2^32 choices that differ from the default.
    rare: u64,
}

impl RandomChoices {
    pub fn new() -> Box<Self> {
        Box::new(Self {
            strategy: Strategy::Random,
            random: SplitMix64::new(0),
            memory: 0,
            hardware: 0,
            interrupts: false,
            priorities: [0; PROCESSES],
            changes: Vec::new(),
            operations: 0,
            passed_over: PROCESSES,
            left: 0,
            rare: 0,
        })
    }

    /// Starts a run whose choices `seed` draws. `length` is about the number of its operations.
    pub fn begin(&mut self, strategy: Strategy, seed: u64, length: u64) {
        self.strategy = strategy;
        self.random = SplitMix64::fork(seed, 2);
        // Some runs deviate in few respects, some in many: a defect often needs one kind of
        // deviation and is hidden by another.
        let levels = [0, 1, 4, 16];
        self.memory = levels[self.random.below(4) as usize];
        self.hardware = levels[self.random.below(3) as usize];
        self.interrupts = self.random.below(2) == 0;
        self.operations = 0;
        self.passed_over = PROCESSES;
        self.left = 0;
        if let Strategy::Few(deviations) = strategy {
            // An operation asks for about two choices.
            self.rare = (u64::from(deviations) << 32) / (2 * length.max(1));
        }
        if let Strategy::Pct(changes) = strategy {
            for priority in &mut self.priorities {
                *priority = self.random.next() | 1 << 63;
            }
            self.changes.clear();
            for _ in 0..changes {
                self.changes.push(self.random.below(length.max(1)));
            }
            self.changes.sort_unstable_by(|left, right| right.cmp(left));
        }
    }

    /// True if a choice is one of the few that differ.
    #[inline(always)]
    fn differs(&mut self) -> bool {
        self.random.next() >> 32 < self.rare
    }

    #[inline(always)]
    fn candidates(&self, ready: Ready) -> u64 {
        if self.interrupts || ready.awake == 0 {
            ready.awake | ready.asleep
        } else {
            ready.awake
        }
    }

    #[inline(always)]
    pub(super) fn preempt(&mut self, running: usize, ready: Ready) -> usize {
        let set = self.candidates(ready) | 1 << running;
        if set & (set - 1) == 0 {
            return running;
        }
        match self.strategy {
            Strategy::Random | Strategy::Dpor => self.any(set),
            Strategy::Pct(_) => self.highest(set),
            Strategy::Few(_) => {
                if self.differs() {
                    self.any(set)
                } else {
                    running
                }
            }
            Strategy::PassingOver => {
                if self.left > 0 {
                    self.left -= 1;
                } else {
                    match self.random.below(PASSES_OVER_EVERY) {
                        0 => {
                            self.passed_over = self.any(set);
                            self.left = self.random.below(LONGEST_PASS);
                        }
                        1 => return self.any(set),
                        _ => return running,
                    }
                }
                let others = set & !(1 << self.passed_over);
                if others >> running & 1 != 0 {
                    running
                } else {
                    self.any(others)
                }
            }
        }
    }

    /// Any process of a set.
    #[inline(always)]
    fn any(&mut self, set: u64) -> usize {
        nth(set, self.random.below(u64::from(set.count_ones())))
    }

    fn highest(&mut self, set: u64) -> usize {
        let highest = |priorities: &[u64; PROCESSES]| {
            let mut best = set.trailing_zeros() as usize;
            let mut left = set & (set - 1);
            while left != 0 {
                let process = left.trailing_zeros() as usize;
                left &= left - 1;
                if priorities[process] > priorities[best] {
                    best = process;
                }
            }
            best
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
        Some(match self.strategy {
            Strategy::Pct(_) => self.highest(set),
            Strategy::Few(_) => {
                if self.differs() {
                    self.any(set)
                } else {
                    return ready.first();
                }
            }
            _ => self.any(set),
        })
    }

    #[inline(always)]
    pub(super) fn late(&mut self, newest: u64, stored: &[u64]) -> Option<u64> {
        if stored.is_empty() {
            return None;
        }
        let is_late = match self.strategy {
            Strategy::Few(_) => self.differs(),
            // In most runs none is, so that a run has few.
            _ => self.memory != 0 && self.random.next() & 63 < self.memory.min(4),
        };
        let value = is_late.then(|| stored[self.random.below(stored.len() as u64) as usize])?;
        (value != newest).then_some(value)
    }

    #[inline(always)]
    pub(super) fn answer(&mut self, kind: Kind, options: u32) -> u32 {
        if matches!(self.strategy, Strategy::Few(_)) {
            let differs = options > 1 && self.differs();
            return if differs {
                1 + self.random.below(u64::from(options - 1)) as u32
            } else {
                0
            };
        }
        let chance = match kind {
            Kind::Evict | Kind::Fill => self.memory.min(4),
            kind if kind.is_memory() => self.memory,
            Kind::ExclusiveFails => self.memory.min(4),
            // It refuses nothing, and harms nobody.
            Kind::LateTick => (8 * self.hardware).min(32),
            _ => self.hardware,
        };
        if chance == 0 || options < 2 {
            return 0;
        }
        let drawn = self.random.next();
        if drawn & 63 < chance {
            1 + (((drawn >> 32) * u64::from(options - 1)) >> 32) as u32
        } else {
            0
        }
    }
}
