//! A CPU's callbacks, in order of arrival, cut into segments by the grace period that they wait
//! for.
//!
//! ```text
//!   DONE          WAIT            NEXT_READY        NEXT
//!   may be        wait for the    wait for the      wait, but nobody
//!   invoked       end wait_at     end ready_at      knows for which end yet
//! ```
//!
//! *Accelerate* gives the callbacks of NEXT a number; *advance* moves segments to DONE once their
//! number has come.

use crate::callback::{Callback, Urgency};
use crate::sequence::Sequence;
use alloc::collections::VecDeque;

/// The list. The lengths of the first three segments are kept; what is left is NEXT.
#[derive(Default)]
pub(crate) struct Segments {
    callbacks: VecDeque<Callback>,
    done: usize,
    wait: usize,
    ready: usize,
    wait_at: Sequence,
    ready_at: Sequence,
    /// The number of those that are [`Urgency::Lazy`].
    lazy: usize,
}

impl Segments {
    /// Callbacks in all segments.
    pub(crate) fn len(&self) -> usize {
        self.callbacks.len()
    }

    /// Callbacks that may be invoked.
    pub(crate) fn done(&self) -> usize {
        self.done
    }

    /// True if there are callbacks, and all of them are lazy.
    pub(crate) fn all_lazy(&self) -> bool {
        self.lazy > 0 && self.lazy == self.callbacks.len()
    }

    /// True if some callbacks may not be invoked yet.
    pub(crate) fn pending(&self) -> bool {
        self.callbacks.len() > self.done
    }

    /// True if some callbacks have no number yet.
    pub(crate) fn unnumbered(&self) -> bool {
        self.next() > 0
    }

    /// The end that the oldest waiting callbacks wait for.
    pub(crate) fn waits_for(&self) -> Option<Sequence> {
        (self.wait > 0).then_some(self.wait_at)
    }

    fn next(&self) -> usize {
        self.callbacks.len() - self.done - self.wait - self.ready
    }

    /// The part of the list in which a callback with this argument is.
    pub(crate) fn segment_of(&self, argument: u64) -> Option<&'static str> {
        let at = self
            .callbacks
            .iter()
            .position(|callback| callback.argument == argument)?;
        Some(match at {
            _ if at < self.done => "list, ready to be invoked",
            _ if at < self.done + self.wait + self.ready => {
                "list, waiting for the end of a grace period"
            }
            _ => "list, without a grace period",
        })
    }

    /// A new callback, in NEXT.
    pub(crate) fn push(&mut self, callback: Callback) {
        self.lazy += usize::from(callback.urgency == Urgency::Lazy);
        self.callbacks.push_back(callback);
    }

    /// Callbacks whose grace period has passed, in DONE, before those that are there.
    pub(crate) fn push_done(&mut self, callbacks: VecDeque<Callback>) {
        for callback in callbacks.into_iter().rev() {
            self.lazy += usize::from(callback.urgency == Urgency::Lazy);
            self.callbacks.push_front(callback);
            self.done += 1;
        }
    }

    /// The oldest callback of DONE.
    pub(crate) fn pop_done(&mut self) -> Option<Callback> {
        self.done = self.done.checked_sub(1)?;
        let callback = self.callbacks.pop_front()?;
        self.lazy -= usize::from(callback.urgency == Urgency::Lazy);
        Some(callback)
    }

    /// All callbacks: those of DONE, and the rest.
    pub(crate) fn take(&mut self) -> (VecDeque<Callback>, VecDeque<Callback>) {
        let rest = self.callbacks.split_off(self.done);
        let done = core::mem::take(&mut self.callbacks);
        *self = Self::default();
        (done, rest)
    }

    /// Moves what waited for the end `now`, or for an earlier one, to DONE.
    pub(crate) fn advance(&mut self, now: Sequence) {
        if self.wait > 0 && self.wait_at <= now {
            self.done += core::mem::take(&mut self.wait);
            if self.ready > 0 && self.ready_at <= now {
                self.done += core::mem::take(&mut self.ready);
            }
        }
        if self.wait == 0 {
            self.wait = core::mem::take(&mut self.ready);
            self.wait_at = self.ready_at;
        }
    }

    /// Gives the callbacks of NEXT the number `at`, an end that is a whole grace period after now.
    /// Returns whether that end must be asked for.
    ///
    /// Without a free segment nothing happens: WAIT and NEXT_READY then wait for two other ends,
    /// the first of which has come, and an advance makes room.
    pub(crate) fn accelerate(&mut self, at: Sequence) -> bool {
        let next = self.next();
        if self.wait == 0 || self.wait_at >= at {
            // Numbers never go down, so what has one may get this one if it is not later.
            self.wait_at = if self.wait == 0 { at } else { self.wait_at };
            self.wait += core::mem::take(&mut self.ready) + next;
        } else if self.ready == 0 {
            (self.ready, self.ready_at) = (next, at);
        } else if self.ready_at >= at {
            self.ready += next;
        } else {
            return false;
        }
        next > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(count: u64) -> Segments {
        let mut list = Segments::default();
        for argument in 0..count {
            list.push(Callback {
                function: 0,
                argument,
                urgency: Urgency::Plain,
            });
        }
        list
    }

    fn push(list: &mut Segments, argument: u64) {
        list.push(Callback {
            function: 0,
            argument,
            urgency: Urgency::Lazy,
        });
    }

    #[test]
    fn callbacks_pass_through_all_segments_in_order() {
        let mut list = list(2);
        assert!(list.accelerate(2) && list.waits_for() == Some(2));
        push(&mut list, 2);
        assert!(list.accelerate(4));
        push(&mut list, 3);
        assert!(
            !list.accelerate(6),
            "both segments are taken, and for other ends"
        );
        list.advance(1);
        assert_eq!(list.done(), 0);
        list.advance(2);
        assert_eq!((list.done(), list.waits_for()), (2, Some(4)));
        assert!(list.accelerate(6), "there is room now");
        list.advance(6);
        assert_eq!(
            (list.done(), list.pending(), list.waits_for()),
            (4, false, None)
        );
        let order: VecDeque<u64> = core::iter::from_fn(|| list.pop_done())
            .map(|callback| callback.argument)
            .collect();
        assert_eq!(order, [0, 1, 2, 3]);
        assert_eq!((list.len(), list.lazy), (0, 0));
    }

    #[test]
    fn what_arrives_later_may_share_the_number_of_what_waits() {
        let mut list = list(1);
        assert!(list.accelerate(4));
        push(&mut list, 1);
        assert!(list.accelerate(4));
        assert!(
            !list.unnumbered() && !list.accelerate(4),
            "nothing is left to number"
        );
        list.advance(4);
        assert_eq!(list.done(), 2);
    }

    #[test]
    fn a_list_that_is_taken_over_keeps_what_is_done_apart() {
        let mut list = list(2);
        list.accelerate(2);
        list.advance(2);
        push(&mut list, 2);
        let (done, rest) = list.take();
        assert_eq!((done.len(), rest.len(), list.len()), (2, 1, 0));
        push(&mut list, 9);
        list.push_done(done);
        assert_eq!(
            (
                list.done(),
                list.len(),
                list.pop_done().map(|callback| callback.argument)
            ),
            (2, 3, Some(0))
        );
        assert!(!list.all_lazy());
    }
}
