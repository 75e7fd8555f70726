//! `std::sync::Arc` and `Weak` whose counts are words: a clone, a drop and a look at a count are
//! operations, with the orders of std's own.
//!
//! Use it where a test rests on counts: `get_mut`, `try_unwrap`, `strong_count`, `upgrade`, or a
//! last drop that does something. Elsewhere std's own, which [`sync`](super) has, costs no runs.

use super::locks::change;
use crate::current::machine;
use crate::machine::{Fence, Limit};
use crate::memory::{AtomicOrder, Order};
use std::fmt::{self, Debug, Formatter};
use std::ops::Deref;
use std::panic::Location;
use std::sync::{Arc as Owned, Weak as Borrowed};

/// A counted reference, as `std::sync::Arc`.
///
/// ```
/// use interleavings::sync::counted::Arc;
/// use interleavings::thread;
///
/// interleavings::model(|| {
///     let ours = Arc::new(5);
///     let other = ours.clone();
///     let theirs = thread::spawn(move || Arc::into_inner(other));
///     let ours = Arc::into_inner(ours);
///     // One of them was the last.
///     assert_eq!(ours.or(theirs.join().unwrap()), Some(5));
/// });
/// ```
pub struct Arc<T: ?Sized> {
    // Taken out where the value is moved out, or the count was given back.
    value: Option<Owned<T>>,
    counts: Counts,
}

/// A reference that is no owner, as `std::sync::Weak`.
pub struct Weak<T: ?Sized> {
    value: Borrowed<T>,
    counts: Counts,
}

/// The words of the counts; all that is strong has one weak count together.
#[derive(Clone, Copy)]
struct Counts {
    strong: u16,
    weak: u16,
}

fn add(word: u16) {
    let _ = change(word, AtomicOrder::Relaxed, "counts up", |count| {
        Some(count + 1)
    });
}

/// Gives a count back; true if it was the last one, which sees what all others did before.
fn give_back(word: u16) -> bool {
    // While the thread panics, the run is about to end.
    let last = !std::thread::panicking()
        && change(word, AtomicOrder::Release, "counts down", |count| {
            Some(count - 1)
        }) == Ok(1);
    if last {
        machine().fence(Fence::Loads);
    }
    last
}

impl<T> Arc<T> {
    /// A value with one owner.
    #[track_caller]
    pub fn new(value: T) -> Self {
        Self::from(Owned::new(value))
    }

    /// The value, if this is its only owner.
    ///
    /// # Errors
    /// The value has other owners.
    pub fn try_unwrap(mut this: Self) -> Result<T, Self> {
        match change(
            this.counts.strong,
            AtomicOrder::Relaxed,
            "takes the last of",
            |count| (count == 1).then_some(0),
        ) {
            Ok(_) => {
                machine().fence(Fence::Loads);
                Ok(this.take().expect("the only owner has the value"))
            }
            Err(_) => Err(this),
        }
    }

    /// Returns the value to the last owner that asks for it or drops it.
    pub fn into_inner(mut this: Self) -> Option<T> {
        if give_back(this.counts.strong) {
            this.take()
        } else {
            drop(this.value.take());
            None
        }
    }

    fn take(&mut self) -> Option<T> {
        self.value.take().and_then(Owned::into_inner)
    }
}

impl<T: ?Sized> From<Owned<T>> for Arc<T> {
    /// Counts a value that has no other owner so far, such as one of a type without a size.
    #[track_caller]
    fn from(value: Owned<T>) -> Self {
        let [strong, weak] = [(); 2].map(|()| machine().make_word(1, Location::caller()));
        Self {
            value: Some(value),
            counts: Counts { strong, weak },
        }
    }
}

impl<T: ?Sized> Arc<T> {
    /// The value, to be changed, if no other reference can reach it.
    pub fn get_mut(this: &mut Self) -> Option<&mut T> {
        let Counts { strong, weak } = this.counts;
        change(weak, AtomicOrder::Acquire, "locks", |count| {
            (count == 1).then_some(u64::MAX)
        })
        .ok()?;
        let is_only = machine().load(strong, machine().acquiring()) == 1;
        machine().store(weak, 1, Order::Ordered);
        this.value
            .as_mut()
            .filter(|_| is_only)
            .and_then(Owned::get_mut)
    }

    /// The number of owners.
    pub fn strong_count(this: &Self) -> usize {
        machine().load(this.counts.strong, Order::Relaxed) as usize
    }

    /// True if both own the same value.
    pub fn ptr_eq(this: &Self, other: &Self) -> bool {
        this.counts.strong == other.counts.strong
    }

    /// A reference that is no owner.
    pub fn downgrade(this: &Self) -> Weak<T> {
        while change(
            this.counts.weak,
            AtomicOrder::Acquire,
            "counts up",
            |count| (count != u64::MAX).then(|| count + 1),
        )
        .is_err()
        {
            let _ = machine().wait_for_change(this.counts.weak, u64::MAX, Limit::Never);
        }
        Weak {
            value: Owned::downgrade(this.owned()),
            counts: this.counts,
        }
    }

    fn owned(&self) -> &Owned<T> {
        self.value
            .as_ref()
            .expect("an owner has the value until it is dropped")
    }
}

impl<T: ?Sized> Weak<T> {
    /// An owner, unless the value is gone.
    pub fn upgrade(&self) -> Option<Arc<T>> {
        change(
            self.counts.strong,
            AtomicOrder::Acquire,
            "counts up",
            |count| (count > 0).then(|| count + 1),
        )
        .ok()?;
        Some(Arc {
            value: self.value.upgrade(),
            counts: self.counts,
        })
    }
}

impl<T: ?Sized> Clone for Arc<T> {
    fn clone(&self) -> Self {
        add(self.counts.strong);
        Self {
            value: self.value.clone(),
            counts: self.counts,
        }
    }
}

impl<T: ?Sized> Clone for Weak<T> {
    fn clone(&self) -> Self {
        add(self.counts.weak);
        Self {
            value: self.value.clone(),
            counts: self.counts,
        }
    }
}

impl<T: ?Sized> Drop for Arc<T> {
    fn drop(&mut self) {
        if self.value.is_some() {
            give_back(self.counts.strong);
        }
    }
}

impl<T: ?Sized> Drop for Weak<T> {
    fn drop(&mut self) {
        give_back(self.counts.weak);
    }
}

impl<T: ?Sized> Deref for Arc<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.owned()
    }
}

impl<T: ?Sized + Debug> Debug for Arc<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Debug::fmt(&**self, f)
    }
}
