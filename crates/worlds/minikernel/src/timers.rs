//! Timers of a CPU: precise ones, which may be a little late so that several can be taken at once,
//! and those of the timer wheel, which fire on a tick.

use crate::settings::Form;
use engine::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Precise timers. What each does is `T`.
pub struct Precise<T> {
    heap: BinaryHeap<Reverse<(Time, u64, Time, T)>>,
    sequence: u64,
}

impl<T: Ord + Copy> Precise<T> {
    pub fn new() -> Self {
        Self {
            heap: BinaryHeap::new(),
            sequence: 0,
        }
    }

    /// Sets a timer that may fire from `soft` on and must have fired by `hard`.
    pub fn set(&mut self, soft: Time, hard: Time, what: T) {
        self.heap.push(Reverse((hard, self.sequence, soft, what)));
        self.sequence += 1;
    }

    /// When the hardware is to fire.
    #[inline]
    pub fn next(&self) -> Time {
        self.heap
            .peek()
            .map_or(Time::MAX, |Reverse((hard, ..))| *hard)
    }

    /// Takes a timer that may fire now: from the one with the earliest hard limit on, while they
    /// may.
    pub fn take(&mut self, now: Time) -> Option<T> {
        let Reverse((_, _, soft, what)) = *self.heap.peek()?;
        if soft > now {
            return None;
        }
        self.heap.pop();
        Some(what)
    }
}

/// Timers of the wheel.
pub struct Wheel<T> {
    form: Form,
    /// The jiffy in which each fires, and what it does.
    timers: Vec<(u64, T)>,
}

/// Buckets of a level of the wheel; each level is 8 times as coarse as the one before.
const BUCKETS: u64 = 64;
const LEVELS: u32 = 9;

/// The jiffy in which a timer for `jiffy` fires, set at jiffy `now`: in today's wheel the next
/// multiple of its level's granularity, which is never the jiffy itself.
pub fn fires_at(form: Form, now: u64, jiffy: u64) -> u64 {
    let jiffy = jiffy.max(now + 1);
    if form == Form::Y2013 {
        return jiffy;
    }
    let away = jiffy - now;
    // Level n holds what is up to 63 of its buckets away.
    let level = (0..LEVELS - 1)
        .find(|&level| away < (BUCKETS - 1) << (3 * level))
        .unwrap_or(LEVELS - 1);
    let granularity = 1_u64 << (3 * level);
    (jiffy / granularity + 1) * granularity
}

impl<T: Copy + PartialEq> Wheel<T> {
    pub fn new(form: Form) -> Self {
        Self {
            form,
            timers: Vec::new(),
        }
    }

    /// Sets a timer for a jiffy, at jiffy `now`.
    pub fn set(&mut self, now: u64, jiffy: u64, what: T) {
        self.timers.push((fires_at(self.form, now, jiffy), what));
    }

    /// Takes a timer back.
    pub fn cancel(&mut self, what: T) {
        self.timers.retain(|(_, other)| *other != what);
    }

    /// The next jiffy in which a timer fires.
    pub fn next(&self) -> Option<u64> {
        self.timers.iter().map(|(jiffy, _)| *jiffy).min()
    }

    /// True if a timer fires at this jiffy or should have before.
    pub fn is_due(&self, now: u64) -> bool {
        self.next().is_some_and(|jiffy| jiffy <= now)
    }

    /// Takes a timer that is due, the earliest first.
    pub fn take(&mut self, now: u64) -> Option<T> {
        let (at, _) = self
            .timers
            .iter()
            .enumerate()
            .min_by_key(|(_, (jiffy, _))| *jiffy)
            .filter(|(_, (jiffy, _))| *jiffy <= now)?;
        Some(self.timers.remove(at).1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn precise_timers_fire_by_their_hard_limit_and_take_along_what_may_fire() {
        let mut timers = Precise::new();
        timers.set(100, 150, 'a');
        timers.set(120, 120, 'b');
        timers.set(130, 200, 'c');
        assert_eq!(timers.next(), 120);
        assert_eq!(timers.take(99), None);
        assert_eq!(
            [timers.take(120), timers.take(120), timers.take(120)],
            [Some('b'), Some('a'), None]
        );
        assert_eq!((timers.next(), timers.take(200)), (200, Some('c')));
        assert_eq!(timers.next(), Time::MAX);
    }

    #[test]
    fn timers_of_a_level_of_the_wheel_are_late_by_its_granularity_at_most() {
        assert_eq!(fires_at(Form::Modern, 1000, 1062), 1063);
        assert_eq!(fires_at(Form::Modern, 1000, 1063), 1064);
        assert_eq!(fires_at(Form::Modern, 1000, 1000), 1002, "never at once");
        for (away, level) in [
            (62, 0),
            (63, 1),
            (503, 1),
            (504, 2),
            (4031, 2),
            (4032, 3),
            (100_000, 4),
        ] {
            let late = (0..6000)
                .map(|now| fires_at(Form::Modern, now, now + away) - now - away)
                .max();
            assert_eq!(late, Some(1 << (3 * level)), "{away}");
        }
        assert_eq!(fires_at(Form::Y2013, 1000, 5000), 5000);
    }

    #[test]
    fn timers_of_the_wheel_are_taken_in_order_unless_they_were_taken_back() {
        let mut wheel = Wheel::new(Form::Modern);
        wheel.set(10, 15, 'e');
        wheel.set(10, 12, 'd');
        wheel.set(10, 14, 'x');
        wheel.cancel('x');
        assert_eq!(wheel.next(), Some(13));
        assert!(!wheel.is_due(12) && wheel.is_due(13));
        assert_eq!(
            [wheel.take(16), wheel.take(16), wheel.take(16)],
            [Some('d'), Some('e'), None]
        );
    }
}
