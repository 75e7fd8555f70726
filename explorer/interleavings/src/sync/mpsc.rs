//! The part of `std::sync::mpsc` that tests use, by another path.

use super::locks::{change, change_within};
use crate::current::{here, machine};
use crate::machine::Limit;
use crate::memory::AtomicOrder;
use std::collections::VecDeque;
use std::panic::Location;
pub use std::sync::mpsc::{RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// A channel is one word, which counts its values, those that were received, and its senders, and
/// says whether there is a receiver and whether it waits. So sending and receiving are one
/// operation each, or a second one for who waits.
#[derive(Debug)]
struct Channel<T> {
    word: u16,
    queue: Mutex<VecDeque<T>>,
    bound: u64,
}

const VALUE: u64 = 1;
const SENDER: u64 = 1 << 16;
const SENDERS: u64 = HAS_RECEIVER - SENDER;
const HAS_RECEIVER: u64 = 1 << 32;
const RECEIVES: u64 = 1 << 33;
const RECEIVED: u64 = 1 << 34;

fn values(word: u64) -> u64 {
    word & (SENDER - 1)
}

/// The word with one value more, if there are fewer than `bound`; as it is, if nobody receives.
fn push(word: u64, bound: u64) -> Option<u64> {
    if word & HAS_RECEIVER == 0 {
        return Some(word);
    }
    (values(word) < bound).then_some(word + VALUE)
}

/// The word with one value less; as it is, if there is none and nobody sends.
fn pop(word: u64) -> Option<u64> {
    match values(word) {
        0 => (word & SENDERS == 0).then_some(word & !RECEIVES),
        _ => Some(((word - VALUE) & !RECEIVES).wrapping_add(RECEIVED)),
    }
}

impl<T> Channel<T> {
    /// Changes the word; what it held, as an error if `to` makes nothing of it.
    fn change(&self, what: &'static str, to: impl Fn(u64) -> Option<u64>) -> Result<u64, u64> {
        change(self.word, AtomicOrder::AcquireRelease, what, to)
    }

    /// As [`Channel::change`], and waits until `to` makes something of it, or until the limit.
    fn wait(
        &self,
        limit: Limit,
        what: &'static str,
        to: impl Fn(u64) -> Option<u64>,
    ) -> Option<u64> {
        change_within(self.word, AtomicOrder::AcquireRelease, what, limit, to)
    }

    fn queue(&self) -> std::sync::MutexGuard<'_, VecDeque<T>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The sending end of a channel, bounded or not.
#[derive(Debug)]
pub struct Sender<T>(Arc<Channel<T>>);

/// The sending end of a bounded channel.
pub type SyncSender<T> = Sender<T>;

/// The receiving end of a channel.
#[derive(Debug)]
pub struct Receiver<T>(Arc<Channel<T>>);

/// A channel without a bound.
///
/// ```
/// use interleavings::sync::mpsc::channel;
/// use interleavings::thread;
///
/// interleavings::model(|| {
///     let (sender, receiver) = channel();
///     let sends = thread::spawn(move || (1..=2).for_each(|value| sender.send(value).unwrap()));
///     assert_eq!(receiver.iter().collect::<Vec<i32>>(), [1, 2]);
///     sends.join().unwrap();
/// });
/// ```
#[track_caller]
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    sync_channel(usize::MAX)
}

/// A channel whose senders wait while it holds `bound` values; with 0, until theirs is received.
#[track_caller]
pub fn sync_channel<T>(bound: usize) -> (SyncSender<T>, Receiver<T>) {
    let channel = Arc::new(Channel {
        word: machine().make_word(SENDER | HAS_RECEIVER, Location::caller()),
        queue: Mutex::default(),
        bound: bound as u64,
    });
    (Sender(channel.clone()), Receiver(channel))
}

impl<T> Sender<T> {
    /// Sends a value, and waits for room.
    ///
    /// # Errors
    /// Nobody receives: the value.
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        let channel = &*self.0;
        let bound = channel.bound.max(1);
        let before = channel.wait(Limit::Never, "sends to", |word| push(word, bound));
        if before.is_none_or(|word| word & HAS_RECEIVER == 0) {
            return Err(SendError(value));
        }
        channel.queue().push_back(value);
        let received = before.map(|word| word / RECEIVED);
        let is_over = |word: u64| word & HAS_RECEIVER == 0 || Some(word / RECEIVED) != received;
        if channel.bound == 0 {
            channel.wait(Limit::Never, "waits for the receiver of", |word| {
                is_over(word).then_some(word)
            });
        }
        Ok(())
    }

    /// Sends a value if there is room; with a bound of 0, if the receiver waits for one.
    ///
    /// # Errors
    /// There is no room, or nobody receives: the value.
    pub fn try_send(&self, value: T) -> Result<(), TrySendError<T>> {
        let before = self.0.change("sends to", |word| {
            let waits = u64::from(word & RECEIVES != 0);
            push(word, self.0.bound.max(waits))
        });
        match before {
            Ok(word) if word & HAS_RECEIVER == 0 => Err(TrySendError::Disconnected(value)),
            Ok(_) => {
                self.0.queue().push_back(value);
                Ok(())
            }
            Err(_) => Err(TrySendError::Full(value)),
        }
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        let _ = self
            .0
            .change("adds a sender to", |word| Some(word + SENDER));
        Self(self.0.clone())
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let _ = self
                .0
                .change("takes a sender from", |word| Some(word - SENDER));
        }
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let _ = self.0.change("ends", |word| Some(word & !HAS_RECEIVER));
            let left = std::mem::take(&mut *self.0.queue());
            drop(left);
        }
    }
}

impl<T> Receiver<T> {
    /// The next value, for which it waits.
    ///
    /// # Errors
    /// There is none, and nobody sends any more.
    #[track_caller]
    pub fn recv(&self) -> Result<T, RecvError> {
        self.receive(Limit::Never).map_err(|_| RecvError)
    }

    /// The next value, if there is one.
    ///
    /// # Errors
    /// There is none.
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        let before = self.0.change("receives from", pop);
        let none = if before.is_ok() {
            TryRecvError::Disconnected
        } else {
            TryRecvError::Empty
        };
        self.take(before.ok()).ok_or(none)
    }

    /// As [`Receiver::recv`], but its time may end at any moment.
    ///
    /// # Errors
    /// There is none yet, or nobody sends any more.
    pub fn recv_timeout(&self, _: Duration) -> Result<T, RecvTimeoutError> {
        self.receive(Limit::Time)
    }

    #[track_caller]
    fn receive(&self, limit: Limit) -> Result<T, RecvTimeoutError> {
        here();
        // Who tries to send to a channel without room has to know that somebody waits.
        let waits = self.0.bound == 0;
        let begins = |word| pop(word).or(waits.then_some(word | RECEIVES));
        let mut before = self.0.change("receives from", begins).ok();
        if before.is_none_or(|word| values(word) == 0 && word & SENDERS != 0) {
            before = self.0.wait(limit, "receives from", pop);
        }
        if before.is_none() && waits {
            let ends = |word| pop(word).or(Some(word & !RECEIVES));
            before = self.0.change("waits no longer for", ends).ok();
            before = before.filter(|&word| values(word) > 0);
        }
        let none = match before {
            Some(_) => RecvTimeoutError::Disconnected,
            None => RecvTimeoutError::Timeout,
        };
        self.take(before).ok_or(none)
    }

    /// The value that was received, if the word counted any before.
    fn take(&self, before: Option<u64>) -> Option<T> {
        before.filter(|&word| values(word) > 0)?;
        self.0.queue().pop_front()
    }

    /// All values, until the last sender is gone.
    pub fn iter(&self) -> impl Iterator<Item = T> + '_ {
        std::iter::from_fn(|| self.recv().ok())
    }

    /// The values that have already been sent.
    pub fn try_iter(&self) -> impl Iterator<Item = T> + '_ {
        std::iter::from_fn(|| self.try_recv().ok())
    }
}

impl<T: 'static> IntoIterator for Receiver<T> {
    type Item = T;
    type IntoIter = Box<dyn Iterator<Item = T>>;

    fn into_iter(self) -> Self::IntoIter {
        Box::new(std::iter::from_fn(move || self.recv().ok()))
    }
}
