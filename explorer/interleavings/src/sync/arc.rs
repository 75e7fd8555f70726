//! `std::sync::Arc` and `Weak`: where a test looks at their counts, a clone, a drop and a look are
//! operations, with the orders of std's own. Otherwise nothing can tell, and they cost no runs.

use super::locks::change;
use crate::current::{machine, running};
use crate::machine::{Counting, Fence, Limit, Machine};
use crate::memory::{AtomicOrder, Order};
use std::fmt::{self, Debug, Formatter};
use std::ops::Deref;
use std::panic::Location;
use std::sync::{Arc as Owned, Weak as Borrowed};

/// A `std::sync::Arc`. One of a type without a size is made by `Arc::from(std::sync::Arc)`.
///
/// ```
/// use interleavings::sync::Arc;
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
    counts: Option<Counts>,
}

/// A reference that is no owner, as `std::sync::Weak`.
pub struct Weak<T: ?Sized> {
    value: Borrowed<T>,
    counts: Option<Counts>,
}

/// The words of the counts; all that is strong has one weak count together.
#[derive(Clone, Copy)]
struct Counts {
    strong: u16,
    weak: u16,
}

/// Reads a count. If it is no word yet, this run is given up, and in later runs counts are words.
/// Counts of values that were made outside of a test never are.
fn look(counts: Option<Counts>) -> Option<Counts> {
    if counts.is_none() {
        running().inspect(|machine| machine.count_references());
    }
    counts
}

fn add(word: Option<u16>) {
    if let Some(word) = word {
        let _ = change(word, AtomicOrder::Relaxed, "counts up", |count| {
            Some(count + 1)
        });
    }
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
        let Some(counts) = look(this.counts) else {
            return Owned::try_unwrap(this.taken()).map_err(Self::from);
        };
        match change(
            counts.strong,
            AtomicOrder::Relaxed,
            "takes the last of",
            |count| (count == 1).then_some(0),
        ) {
            Ok(_) => {
                machine().fence(Fence::Loads);
                Ok(Owned::into_inner(this.taken()).expect("the only owner has the value"))
            }
            Err(_) => Err(this),
        }
    }

    /// Returns the value to the last owner that asks for it or drops it.
    pub fn into_inner(mut this: Self) -> Option<T> {
        if let Some(counts) = look(this.counts) {
            give_back(counts.strong);
        }
        Owned::into_inner(this.taken())
    }

    fn taken(&mut self) -> Owned<T> {
        self.value
            .take()
            .expect("an owner has the value until it is dropped")
    }
}

impl<T: ?Sized> From<Owned<T>> for Arc<T> {
    /// Counts a value that has no other owner so far, such as one of a type without a size.
    #[track_caller]
    fn from(value: Owned<T>) -> Self {
        let place = Location::caller();
        let counts = running().filter(|machine| machine.settings().counts.get() == Counting::Words);
        let counts = counts.map(|machine| Counts {
            strong: machine.make_word(1, place),
            weak: machine.make_word(1, place),
        });
        Self {
            value: Some(value),
            counts,
        }
    }
}

impl<T: Default> Default for Arc<T> {
    #[track_caller]
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T: ?Sized> Arc<T> {
    /// The value, to be changed, if no other reference can reach it.
    pub fn get_mut(this: &mut Self) -> Option<&mut T> {
        let Some(Counts { strong, weak }) = look(this.counts) else {
            return this.value.as_mut().and_then(Owned::get_mut);
        };
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
        look(this.counts).map_or_else(
            || Owned::strong_count(this.owned()),
            |counts| machine().load(counts.strong, Order::Relaxed) as usize,
        )
    }

    /// True if both own the same value.
    pub fn ptr_eq(this: &Self, other: &Self) -> bool {
        Owned::ptr_eq(this.owned(), other.owned())
    }

    /// A reference that is no owner.
    pub fn downgrade(this: &Self) -> Weak<T> {
        let word = this.counts.map(|counts| counts.weak);
        let up = |count: u64| (count != u64::MAX).then(|| count + 1);
        while let Some(word) = word
            && change(word, AtomicOrder::Acquire, "counts up", up).is_err()
        {
            let _ = machine().wait_for_change(word, u64::MAX, Limit::Never);
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
        if let Some(counts) = look(self.counts) {
            let up = |count| (count > 0).then(|| count + 1);
            change(counts.strong, AtomicOrder::Acquire, "counts up", up).ok()?;
        }
        self.value.upgrade().map(|value| Arc {
            value: Some(value),
            counts: self.counts,
        })
    }
}

impl<T: ?Sized> Clone for Arc<T> {
    fn clone(&self) -> Self {
        add(self.counts.map(|counts| counts.strong));
        Self {
            value: self.value.clone(),
            counts: self.counts,
        }
    }
}

impl<T: ?Sized> Clone for Weak<T> {
    fn clone(&self) -> Self {
        add(self.counts.map(|counts| counts.weak));
        Self {
            value: self.value.clone(),
            counts: self.counts,
        }
    }
}

impl<T: ?Sized> Drop for Arc<T> {
    fn drop(&mut self) {
        match (self.counts, self.value.take()) {
            (Some(counts), Some(_value)) => _ = give_back(counts.strong),
            (None, Some(value)) if Owned::strong_count(&value) == 1 => {
                let accesses = || running().map(Machine::access_count);
                let before = accesses();
                drop(value);
                // Who drops last matters, where that does something.
                if accesses() != before && !std::thread::panicking() {
                    look(None);
                }
            }
            _ => {}
        }
    }
}

impl<T: ?Sized> Drop for Weak<T> {
    fn drop(&mut self) {
        if let Some(counts) = self.counts {
            give_back(counts.weak);
        }
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

impl<T: ?Sized + PartialEq> PartialEq for Arc<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: ?Sized + Eq> Eq for Arc<T> {}
