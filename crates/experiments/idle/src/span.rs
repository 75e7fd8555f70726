//! Intervals in place of numbers, and every branch that a computation with them can take.

use idle::Number;
use std::cell::RefCell;
use std::cmp::Ordering;

/// An interval: any number from one to another.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    low: u64,
    high: u64,
}

impl From<u64> for Span {
    fn from(known: u64) -> Self {
        Self {
            low: known,
            high: known,
        }
    }
}

impl Number for Span {
    fn ends(self) -> [u64; 2] {
        [self.low, self.high]
    }

    fn with(self, other: Self, of: impl Fn(u64, u64) -> u64) -> Self {
        let first = Self::from(of(self.low, other.low));
        if self.low == self.high && other.low == other.high {
            return first;
        }
        let corners = [
            (self.low, other.high),
            (self.high, other.low),
            (self.high, other.high),
        ];
        let all = corners.map(|(own, other)| Self::from(of(own, other)));
        all.into_iter().fold(first, Self::join)
    }

    fn low_half(self) -> Self {
        if self.low >> 32 == self.high >> 32 {
            self.map(Number::low_half)
        } else {
            Self {
                low: 0,
                high: u64::from(u32::MAX),
            }
        }
    }

    fn join(self, other: Self) -> Self {
        Self {
            low: self.low.min(other.low),
            high: self.high.max(other.high),
        }
    }
}

/// Two are the same if their ends are.
impl PartialEq for Span {
    fn eq(&self, other: &Self) -> bool {
        self.ends() == other.ends()
    }
}

impl PartialEq<u64> for Span {
    fn eq(&self, other: &u64) -> bool {
        *self == Self::from(*other)
    }
}

impl PartialOrd for Span {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        let is_less = self < other;
        Some(if is_less {
            Ordering::Less
        } else {
            self.low.cmp(&other.low)
        })
    }

    fn lt(&self, other: &Self) -> bool {
        self.high < other.low || self.low < other.high && either()
    }

    fn gt(&self, other: &Self) -> bool {
        other < self
    }

    fn le(&self, other: &Self) -> bool {
        self.high <= other.low || self.low <= other.high && either()
    }

    fn ge(&self, other: &Self) -> bool {
        other <= self
    }
}

impl PartialOrd<u64> for Span {
    fn partial_cmp(&self, other: &u64) -> Option<Ordering> {
        self.partial_cmp(&Self::from(*other))
    }

    fn lt(&self, other: &u64) -> bool {
        *self < Self::from(*other)
    }

    fn gt(&self, other: &u64) -> bool {
        *self > Self::from(*other)
    }

    fn le(&self, other: &u64) -> bool {
        *self <= Self::from(*other)
    }

    fn ge(&self, other: &u64) -> bool {
        *self >= Self::from(*other)
    }
}

/// The answers on the way that is gone.
#[derive(Default)]
struct Way {
    answers: Vec<bool>,
    asked: usize,
}

thread_local! {
    static WAY: RefCell<Way> = RefCell::default();
}

/// An answer that may be either.
fn either() -> bool {
    WAY.with_borrow_mut(|way| {
        if way.asked == way.answers.len() {
            way.answers.push(false);
        }
        way.asked += 1;
        way.answers[way.asked - 1]
    })
}

/// Does something on each way that comparisons of spans can go.
pub fn on_all_ways(mut go: impl FnMut()) {
    loop {
        go();
        let is_next = WAY.with_borrow_mut(|way| {
            while way.answers.pop_if(|answer| *answer).is_some() {}
            way.asked = 0;
            way.answers.last_mut().map(|last| *last = true).is_some()
        });
        if !is_next {
            return;
        }
    }
}
