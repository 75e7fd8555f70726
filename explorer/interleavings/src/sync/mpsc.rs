//! The part of `std::sync::mpsc` that tests use, by another path.

use super::locks::{Condvar, Mutex, MutexGuard};
use std::collections::VecDeque;
pub use std::sync::mpsc::{RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

#[derive(Debug)]
struct State<T> {
    queue: VecDeque<T>,
    senders: usize,
    received: u64,
    has_receiver: bool,
    /// The receiver waits for a value.
    receives: bool,
}

impl<T> State<T> {
    /// True if the receiver has to wait, which it notes.
    fn waits(&mut self) -> bool {
        self.receives = self.queue.is_empty() && self.senders > 0;
        self.receives
    }
}

#[derive(Debug)]
struct Channel<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
    bound: usize,
}

impl<T> Channel<T> {
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'c>(
        &self,
        state: MutexGuard<'c, State<T>>,
        waits: impl FnMut(&mut State<T>) -> bool,
    ) -> MutexGuard<'c, State<T>> {
        self.changed
            .wait_while(state, waits)
            .unwrap_or_else(PoisonError::into_inner)
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
    let state = State {
        queue: VecDeque::new(),
        senders: 1,
        received: 0,
        has_receiver: true,
        receives: false,
    };
    let channel = Arc::new(Channel {
        state: Mutex::new(state),
        changed: Condvar::new(),
        bound,
    });
    (Sender(channel.clone()), Receiver(channel))
}

impl<T> Sender<T> {
    /// Sends a value, and waits for room.
    ///
    /// # Errors
    /// Nobody receives: the value.
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        let bound = self.0.bound.max(1);
        let mut state = self.0.wait(self.0.lock(), |state| {
            state.has_receiver && state.queue.len() >= bound
        });
        if !state.has_receiver {
            return Err(SendError(value));
        }
        state.queue.push_back(value);
        let last = state.received + state.queue.len() as u64;
        self.0.changed.notify_all();
        if self.0.bound == 0 {
            drop(
                self.0
                    .wait(state, |state| state.has_receiver && state.received < last),
            );
        }
        Ok(())
    }

    /// Sends a value if there is room; with a bound of 0, if the receiver waits for one.
    ///
    /// # Errors
    /// There is no room, or nobody receives: the value.
    pub fn try_send(&self, value: T) -> Result<(), TrySendError<T>> {
        let mut state = self.0.lock();
        let bound = if self.0.bound == 0 {
            usize::from(state.receives)
        } else {
            self.0.bound
        };
        if !state.has_receiver {
            return Err(TrySendError::Disconnected(value));
        }
        if state.queue.len() >= bound {
            return Err(TrySendError::Full(value));
        }
        state.queue.push_back(value);
        self.0.changed.notify_all();
        Ok(())
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        self.0.lock().senders += 1;
        Self(self.0.clone())
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.0.lock().senders -= 1;
            self.0.changed.notify_all();
        }
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.0.lock().has_receiver = false;
            self.0.changed.notify_all();
        }
    }
}

impl<T> Receiver<T> {
    /// The next value, for which it waits.
    ///
    /// # Errors
    /// There is none, and nobody sends any more.
    pub fn recv(&self) -> Result<T, RecvError> {
        let state = self.0.wait(self.0.lock(), State::waits);
        self.take(state).ok_or(RecvError)
    }

    /// The next value, if there is one.
    ///
    /// # Errors
    /// There is none.
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        let state = self.0.lock();
        let none = if state.senders == 0 {
            TryRecvError::Disconnected
        } else {
            TryRecvError::Empty
        };
        self.take(state).ok_or(none)
    }

    /// As [`Receiver::recv`], but its time may end at any moment.
    ///
    /// # Errors
    /// There is none yet, or nobody sends any more.
    pub fn recv_timeout(&self, time: Duration) -> Result<T, RecvTimeoutError> {
        let waited = self
            .0
            .changed
            .wait_timeout_while(self.0.lock(), time, State::waits);
        let (mut state, result) = waited.unwrap_or_else(PoisonError::into_inner);
        state.receives = false;
        let none = if result.timed_out() {
            RecvTimeoutError::Timeout
        } else {
            RecvTimeoutError::Disconnected
        };
        self.take(state).ok_or(none)
    }

    fn take(&self, mut state: MutexGuard<'_, State<T>>) -> Option<T> {
        let value = state.queue.pop_front()?;
        state.received += 1;
        self.0.changed.notify_all();
        Some(value)
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
