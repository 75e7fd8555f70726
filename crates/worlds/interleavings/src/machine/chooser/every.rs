//! Choices of one run after the other, until all were tried.

use crate::machine::choice::Kind;
use crate::machine::ready::{Ready, nth};

/// The choices of one run after the other, until all were tried.
pub struct EveryRun {
    /// The choices so far, each with the number of its alternatives.
    tape: Vec<(u32, u32)>,
    at: usize,
    preemptions: u32,
    left: u32,
    /// The orders of stores, maintenance and loads are tried as well.
    orders: bool,
    /// A store exclusive has failed in this run, though nobody was in its way: none does any more.
    exclusive_failed: bool,
    /// For each word, the values that a late load may return.
    later: Vec<Vec<u64>>,
    /// The number of times that caches may act on their own, in all and from here on.
    acts: u32,
    acts_left: u32,
}

impl EveryRun {
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

    /// Sets whether all orders of memory are tried, or the plainest alone.
    pub fn with_orders(self, orders: bool) -> Self {
        Self { orders, ..self }
    }

    /// All runs once more, with late loads: by word, the values that they may return.
    pub fn again_with_later_values(self, later: Vec<Vec<u64>>) -> Self {
        Self { tape: Vec::new(), at: 0, left: self.preemptions, acts_left: self.acts, later, ..self }
    }

    /// Sets how often caches may evict or fill a line on their own in a run.
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
    pub(super) fn preempt(&mut self, running: usize, ready: Ready) -> usize {
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

    pub(super) fn next(&mut self, ready: Ready) -> Option<usize> {
        let set = ready.awake | ready.asleep;
        (set != 0).then(|| nth(set, u64::from(self.below(set.count_ones()))))
    }

    #[inline(always)]
    pub(super) fn answer(&mut self, kind: Kind, options: u32) -> u32 {
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

    /// The value of a late load, if it is one; `newest` is what it could return now.
    #[inline(always)]
    pub(super) fn late(&mut self, cell: u16, newest: u64) -> Option<u64> {
        let later = self.later.get(usize::from(cell))?;
        let others = later.iter().filter(|&&value| value != newest).count();
        let nth = self.below(others as u32 + 1).checked_sub(1)?;
        self.later[usize::from(cell)].iter().copied().filter(|&value| value != newest).nth(nth as usize)
    }

    /// The preemptions and acts of caches that are left, if what is chosen next was not chosen
    /// before.
    pub(super) fn left_at_a_new_choice(&self) -> Option<(u32, u32)> {
        (self.at == self.tape.len()).then_some((self.left, self.acts_left))
    }
}
