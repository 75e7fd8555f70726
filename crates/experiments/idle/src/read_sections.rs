//! Read sections on this machine: what a reader pays to look at a record that another may change.
//!
//! A reader of RCU touches its own counter alone, so that it is the library's own code which runs
//! here, without grace periods. The writer of a record that RCU guards puts another one in its
//! place, and frees none.
#![allow(
    clippy::disallowed_types,
    reason = "records are atomics of this machine"
)]

use rcu::{
    Callback, Form, Order, Platform, Rcu, RcuTimer, Reader, Scalar, Settings, SharedCell,
    SharedWord, Thread,
};
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError, RwLock};

/// A way to protect a record from being read while a writer changes it.
#[derive(Clone, Copy, Debug)]
pub enum Guard {
    /// Read-copy update, by our library.
    Rcu,
    /// A counter that is odd while a writer is at work, as the kernel guards its clock: a reader
    /// that saw it change reads again.
    Sequence,
    /// A lock that readers share.
    SharedLock,
    /// A lock that one has at a time.
    Mutex,
}

impl Guard {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Rcu, Self::Sequence, Self::SharedLock, Self::Mutex];

    /// Name of the guard in recordings.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rcu => "RCU",
            Self::Sequence => "sequence counter",
            Self::SharedLock => "reader-writer lock",
            Self::Mutex => "mutex",
        }
    }
}

/// A record under each guard.
#[derive(Default)]
pub struct Record {
    sequence: AtomicU64,
    value: AtomicU64,
    shared: RwLock<u64>,
    alone: Mutex<u64>,
}

impl Record {
    /// Changes the record once. There is one writer.
    pub fn write(&self, guard: Guard, value: u64) {
        match guard {
            Guard::Rcu => self.value.store(value, Ordering::Release),
            Guard::Sequence => {
                self.sequence.fetch_add(1, Ordering::SeqCst);
                self.value.store(value, Ordering::SeqCst);
                self.sequence.fetch_add(1, Ordering::SeqCst);
            }
            Guard::SharedLock => {
                *self.shared.write().unwrap_or_else(PoisonError::into_inner) = value;
            }
            Guard::Mutex => *self.alone.lock().unwrap_or_else(PoisonError::into_inner) = value,
        }
    }

    /// A reader of the record, with what is its own.
    pub fn reader(&self, guard: Guard) -> impl Fn(u64) -> u64 + '_ {
        let rcu = Rcu::new(Settings::new(1, 1000, Form::Modern)).ok();
        let reader = Reader::new(0);
        move |_| match guard {
            Guard::Rcu => {
                let Some(rcu) = &rcu else { return 0 };
                rcu.read_lock(&reader);
                let value = self.value.load(Ordering::Acquire);
                rcu.read_unlock(&Alone, &reader);
                value
            }
            Guard::Sequence => loop {
                let before = self.sequence.load(Ordering::Acquire);
                let value = self.value.load(Ordering::Acquire);
                if before.is_multiple_of(2) && self.sequence.load(Ordering::Acquire) == before {
                    return value;
                }
                std::hint::spin_loop();
            },
            Guard::SharedLock => *self.shared.read().unwrap_or_else(PoisonError::into_inner),
            Guard::Mutex => *self.alone.lock().unwrap_or_else(PoisonError::into_inner),
        }
    }
}

/// A kernel of one reader, of which nobody asks anything.
struct Alone;

/// A word of one reader.
struct Word<T>(Cell<T>);

impl<T: Scalar> SharedWord<T, Alone> for Word<T> {
    fn new(value: T) -> Self {
        Self(Cell::new(value))
    }
    fn load(&self, _: &Alone) -> T {
        self.0.get()
    }
    fn store(&self, _: &Alone, value: T) {
        self.0.set(value);
    }
    fn fetch_add(&self, _: &Alone, value: T) -> T {
        let sum = self.0.get().to_word().wrapping_add(value.to_word());
        self.0.replace(T::from_word(sum))
    }
}

impl<T: Scalar> SharedCell<T, Alone> for Word<T> {
    fn compare_exchange(&self, _: &Alone, current: T, new: T, _: Order) -> bool {
        let is_same = self.0.get() == current;
        self.0.set(if is_same { new } else { self.0.get() });
        is_same
    }
}

impl points::Sink for Alone {
    fn now(&self) -> u64 {
        0
    }
    fn capture(&self, _: points::Point, _: u32, _: u64) {}
}

impl Platform for Alone {
    type Shared<T: Scalar> = Word<T>;
    type Watch = ();

    fn barrier(&self) {}
    fn this_cpu(&self) -> usize {
        0
    }
    fn jiffies(&self) -> u64 {
        0
    }
    fn raise_softirq(&self) {}
    fn wake(&self, _: Thread) {}
    fn resched(&self, _: usize) {}
    fn set_timer(&self, _: RcuTimer, _: u64) {}
    fn cancel_timer(&self, _: RcuTimer) {}
    fn invoke(&self, _: Callback) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_sees_what_was_written_last() {
        for guard in Guard::ALL {
            let record = Record::default();
            let read = record.reader(guard);
            for value in [7, 9] {
                record.write(guard, value);
                assert_eq!(read(0), value, "{guard:?}");
            }
        }
    }
}
