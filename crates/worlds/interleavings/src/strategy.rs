//! Strategies: who answers the choices of a run.

use crate::choice::{Deviation, Kind};
use crate::dpor::Dpor;
use crate::place::OperationIndex;
use crate::ready::Ready;
use engine::SplitMix64;

/// The `n`-th process of a set.
#[inline(always)]
fn nth(set: u64, n: u64) -> usize {
    let mut left = set;
    for _ in 0..n {
        left &= left - 1;
    }
    left.trailing_zeros() as usize
}

/// The way in which an exploration chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// At each operation all that can go are equally likely.
    Random,
    /// Probabilistic concurrency testing: priorities, and a number of changes of them (see
    /// [`engine::PctChooser`]).
    Pct(u32),
    /// A process runs until it cannot go on; now and then one stands still for up to 256 operations
    /// of the others.
    PassingOver,
    /// The plainest run with about this number of deviations, anywhere and of any kind.
    Few(u32),
    /// Every run with at most this number of preemptions, [`u32::MAX`] for any number, one after
    /// the other: all choices of who goes on and of what the hardware answers, with memory
    /// sequentially consistent. Alone, or not at all.
    Every(u32),
    /// Every run, as [`Strategy::Every`] with any number of preemptions, but of those that differ
    /// in the order of independent operations alone one (dynamic partial-order reduction), with
    /// memory in all its orders. Alone.
    Dpor,
}

impl Strategy {
    /// Those that take turns where none is asked for.
    pub fn in_turn() -> Vec<Self> {
        vec![Self::Random, Self::Pct(3), Self::PassingOver]
    }
}

impl std::fmt::Display for Strategy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Random => f.write_str("random"),
            Self::Pct(changes) => write!(f, "pct:{changes}"),
            Self::PassingOver => f.write_str("passing-over"),
            Self::Few(deviations) => write!(f, "few:{deviations}"),
            Self::Every(preemptions) => write!(f, "dfs:{preemptions}"),
            Self::Dpor => f.write_str("dpor"),
        }
    }
}

impl std::str::FromStr for Strategy {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once(':') {
            None if text == "random" => Ok(Self::Random),
            None if text == "passing-over" => Ok(Self::PassingOver),
            None if text == "pct" => Ok(Self::Pct(3)),
            None if text == "dfs" => Ok(Self::Every(2)),
            None if text == "dpor" => Ok(Self::Dpor),
            Some(("dfs", preemptions)) => match preemptions.parse() {
                Ok(preemptions @ 0..=64) => Ok(Self::Every(preemptions)),
                _ => Err(format!("`{preemptions}` preemptions: a number from 0 to 64 is right")),
            },
            Some(("pct", changes)) => match changes.parse() {
                Ok(changes @ 1..=64) => Ok(Self::Pct(changes)),
                _ => Err(format!("`{changes}` changes of priority: a number from 1 to 64 is right")),
            },
            Some(("few", deviations)) => match deviations.parse() {
                Ok(deviations @ 1..=64) => Ok(Self::Few(deviations)),
                _ => Err(format!("`{deviations}` deviations: a number from 1 to 64 is right")),
            },
            _ => Err(format!(
                "there is no strategy `{text}`: random, pct:N, passing-over, few:N, dfs:N and dpor are right"
            )),
        }
    }
}

/// No process: all that could happen was tried before.
pub(crate) const NOBODY: usize = usize::MAX;

/// At most this many processes.
pub const PROCESSES: usize = 64;

/// One in this many operations starts to pass a process over, or changes the process.
const PASSES_OVER_EVERY: u64 = 32;
const LONGEST_PASS: u64 = 256;

/// The source of answers to the choices of one run.
pub enum Chooser {
    RandomChoices(Box<RandomChoices>),
    Every(Every),
    Dpor(Box<Dpor>),
    ReplayedChoices(ReplayedChoices),
}

/// Choices drawn from a seed.
pub struct RandomChoices {
    strategy: Strategy,
    random: SplitMix64,
    /// Of 64 choices about memory, caches and hardware, this number differs from the default.
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
    /// With few deviations: of 2^32 choices, this number differs from the default.
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
        if self.interrupts || ready.awake == 0 { ready.awake | ready.asleep } else { ready.awake }
    }

    #[inline(always)]
    fn preempt(&mut self, running: usize, ready: Ready) -> usize {
        let set = self.candidates(ready) | 1 << running;
        if set & (set - 1) == 0 {
            return running;
        }
        match self.strategy {
            Strategy::Random | Strategy::Every(_) | Strategy::Dpor => {
                nth(set, self.random.below(u64::from(set.count_ones())))
            }
            Strategy::Pct(_) => self.highest(set),
            Strategy::Few(_) => match self.differs() {
                true => nth(set, self.random.below(u64::from(set.count_ones()))),
                false => running,
            },
            Strategy::PassingOver => {
                if self.left > 0 {
                    self.left -= 1;
                    let others = set & !(1 << self.passed_over);
                    return if others >> running & 1 != 0 {
                        running
                    } else {
                        nth(others, self.random.below(u64::from(others.count_ones())))
                    };
                }
                match self.random.below(PASSES_OVER_EVERY) {
                    0 => {
                        self.passed_over = nth(set, self.random.below(u64::from(set.count_ones())));
                        self.left = self.random.below(LONGEST_PASS);
                    }
                    1 => return nth(set, self.random.below(u64::from(set.count_ones()))),
                    _ => return running,
                }
                let others = set & !(1 << self.passed_over);
                if others >> running & 1 != 0 {
                    running
                } else {
                    nth(others, self.random.below(u64::from(others.count_ones())))
                }
            }
        }
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

    fn next(&mut self, ready: Ready) -> Option<usize> {
        let mut set = self.candidates(ready);
        if self.left > 0 && set & !(1 << self.passed_over) != 0 {
            set &= !(1 << self.passed_over);
        }
        if set == 0 {
            return None;
        }
        Some(match self.strategy {
            Strategy::Pct(_) => self.highest(set),
            Strategy::Few(_) => match self.differs() {
                true => nth(set, self.random.below(u64::from(set.count_ones()))),
                false => return ready.first(),
            },
            _ => nth(set, self.random.below(u64::from(set.count_ones()))),
        })
    }

    #[inline(always)]
    fn late(&mut self, newest: u64, stored: &[u64]) -> Option<u64> {
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
    fn answer(&mut self, kind: Kind, options: u32) -> u32 {
        if matches!(self.strategy, Strategy::Few(_)) {
            let differs = options > 1 && self.differs();
            return if differs { 1 + self.random.below(u64::from(options - 1)) as u32 } else { 0 };
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
        if drawn & 63 < chance { 1 + (((drawn >> 32) * u64::from(options - 1)) >> 32) as u32 } else { 0 }
    }
}

/// The choices of a schedule that is written down.
pub struct ReplayedChoices {
    /// By process, in order of operation.
    deviations: Vec<Vec<Deviation>>,
}

impl ReplayedChoices {
    pub fn new(schedule: &[Deviation], processes: usize) -> Self {
        let mut deviations = vec![Vec::new(); processes];
        for deviation in schedule {
            if let Some(of_process) = deviations.get_mut(usize::from(deviation.process)) {
                of_process.push(*deviation);
            }
        }
        for of_process in &mut deviations {
            of_process.sort_by_key(|deviation: &Deviation| (deviation.operation, deviation.kind));
        }
        Self { deviations }
    }

    fn find(&self, process: usize, operation: OperationIndex, kind: Kind) -> Option<u64> {
        let of_process = self.deviations.get(process)?;
        let at = of_process
            .binary_search_by_key(&(operation, kind), |deviation| (deviation.operation, deviation.kind))
            .ok()?;
        Some(of_process[at].value)
    }
}

/// The choices of one run after the other, until all were tried.
pub struct Every {
    /// The choices so far, each with the number of its alternatives.
    tape: Vec<(u32, u32)>,
    at: usize,
    preemptions: u32,
    left: u32,
    /// The orders of stores, maintenance and loads are tried as well.
    orders: bool,
    /// A store exclusive has failed in this run, though nobody was in its way: none does any more.
    exclusive_failed: bool,
    /// By word, the values that a load may return although they are stored only afterwards.
    later: Vec<Vec<u64>>,
    /// The number of times that caches may act on their own, in all and from here on.
    acts: u32,
    acts_left: u32,
}

impl Every {
    pub fn new(preemptions: u32) -> Self {
        Self {
            tape: Vec::new(),
            at: 0,
            preemptions,
            left: preemptions,
            orders: false,
            exclusive_failed: false,
            later: Vec::new(),
            acts: 0,
            acts_left: 0,
        }
    }

    /// With all orders of memory, or with the plainest.
    pub fn with_orders(self, orders: bool) -> Self {
        Self { orders, ..self }
    }

    /// All runs once more, with late loads: by word, the values that they may return.
    pub fn again_with_later_values(self, later: Vec<Vec<u64>>) -> Self {
        Self { tape: Vec::new(), at: 0, left: self.preemptions, acts_left: self.acts, later, ..self }
    }

    /// With caches that evict or fill a line on their own, at most so often in a run.
    pub fn with_acts_of_caches(self, acts: u32) -> Self {
        Self { acts, acts_left: acts, ..self }
    }

    /// The one of `lines` on which a cache acts on its own, if one does. `lines` are those on which
    /// that does something.
    #[inline(always)]
    pub fn act<L: Iterator<Item = usize>>(&mut self, lines: impl Fn() -> L) -> Option<usize> {
        if self.acts_left == 0 {
            return None;
        }
        let nth = self.below(lines().count() as u32 + 1).checked_sub(1)?;
        self.acts_left -= 1;
        lines().nth(nth as usize)
    }

    /// Moves on to the next run; false if there is none.
    pub fn advance(&mut self) -> bool {
        (self.at, self.left, self.acts_left) = (0, self.preemptions, self.acts);
        self.exclusive_failed = false;
        while let Some((value, options)) = self.tape.pop() {
            if value + 1 < options {
                self.tape.push((value + 1, options));
                return true;
            }
        }
        false
    }

    #[inline(always)]
    fn below(&mut self, options: u32) -> u32 {
        if options < 2 {
            return 0;
        }
        if self.at == self.tape.len() {
            self.tape.push((0, options));
        }
        self.at += 1;
        self.tape[self.at - 1].0
    }

    #[inline(always)]
    fn preempt(&mut self, running: usize, ready: Ready) -> usize {
        let others = (ready.awake | ready.asleep) & !(1 << running);
        if self.left == 0 || others == 0 {
            return running;
        }
        match self.below(others.count_ones() + 1) {
            0 => running,
            other => {
                if self.left != u32::MAX {
                    self.left -= 1;
                }
                nth(others, u64::from(other) - 1)
            }
        }
    }

    fn next(&mut self, ready: Ready) -> Option<usize> {
        let set = ready.awake | ready.asleep;
        (set != 0).then(|| nth(set, u64::from(self.below(set.count_ones()))))
    }

    #[inline(always)]
    fn answer(&mut self, kind: Kind, options: u32) -> u32 {
        match kind {
            // It can be repeated without an end.
            Kind::Spurious => 0,
            Kind::ExclusiveFails if self.exclusive_failed => 0,
            Kind::ExclusiveFails => {
                let fails = self.below(options);
                self.exclusive_failed = fails != 0;
                fails
            }
            kind if kind.is_memory() && !self.orders => 0,
            _ => self.below(options),
        }
    }
}

impl Chooser {
    /// The value that a load returns although it is stored only afterwards, if it is one of those
    /// that were `stored` in other runs; `newest` is what it could return now.
    #[inline(always)]
    pub fn late(
        &mut self,
        process: usize,
        operation: OperationIndex,
        cell: u16,
        newest: u64,
        stored: &[u64],
    ) -> Option<u64> {
        match self {
            Self::RandomChoices(drawn) => drawn.late(newest, stored),
            Self::Every(every) => {
                let later = every.later.get(usize::from(cell))?;
                let others = later.iter().filter(|&&value| value != newest).count();
                let nth = every.below(others as u32 + 1).checked_sub(1)?;
                every.later[usize::from(cell)].iter().copied().filter(|&value| value != newest).nth(nth as usize)
            }
            Self::Dpor(dpor) => dpor.late(cell, newest),
            Self::ReplayedChoices(replayed) => replayed.find(process, operation, Kind::LoadLate),
        }
    }

    /// In a run of every run: how many preemptions and acts of caches are left, if what is chosen
    /// next was not chosen before.
    pub fn left_at_a_new_choice(&self) -> Option<(u32, u32)> {
        match self {
            Self::Every(every) => (every.at == every.tape.len()).then_some((every.left, every.acts_left)),
            _ => None,
        }
    }

    #[inline(always)]
    pub(crate) fn preempt(&mut self, running: usize, operation: OperationIndex, ready: Ready) -> usize {
        match self {
            Self::Dpor(dpor) => dpor.who(Some(running), ready).unwrap_or(NOBODY),
            Self::RandomChoices(drawn) => drawn.preempt(running, ready),
            Self::Every(every) => every.preempt(running, ready),
            Self::ReplayedChoices(replayed) => match replayed.find(running, operation, Kind::Preempt) {
                // In a schedule that was shortened the one that goes on may be unable to.
                Some(process) if ready.can_go(process as usize) => process as usize,
                _ => running,
            },
        }
    }

    pub fn next(&mut self, blocked: usize, operation: OperationIndex, ready: Ready) -> Option<usize> {
        match self {
            Self::RandomChoices(drawn) => drawn.next(ready),
            Self::Every(every) => every.next(ready),
            Self::Dpor(_) if ready.awake | ready.asleep == 0 => None,
            Self::Dpor(dpor) => Some(dpor.who(None, ready).unwrap_or(NOBODY)),
            Self::ReplayedChoices(replayed) => match replayed.find(blocked, operation, Kind::Next) {
                Some(process) if ready.can_go(process as usize) => Some(process as usize),
                _ => ready.first(),
            },
        }
    }

    #[inline(always)]
    pub fn answer(&mut self, process: usize, operation: OperationIndex, kind: Kind, options: u32) -> u32 {
        match self {
            Self::RandomChoices(drawn) => drawn.answer(kind, options),
            Self::Every(every) => every.answer(kind, options),
            Self::Dpor(dpor) => dpor.answer(kind, options),
            Self::ReplayedChoices(replayed) => match replayed.find(process, operation, kind) {
                Some(value) => (value as u32).min(options.saturating_sub(1)),
                None => 0,
            },
        }
    }
}
