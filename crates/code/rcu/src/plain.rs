//! Plain data, whose accesses the platform may watch.
//!
//! The data is what it would be without: a `Cell` or a `RefCell`. Who may touch it stands beside
//! each field: one CPU, one thread, or whoever holds a lock. A platform whose [`Platform::Watch`]
//! looks is told of each access, and can tell whether that is so; with `()` nothing is left of it.

use crate::platform::Platform;
use cells::Watch;
use core::cell::{Cell, Ref, RefCell, RefMut};

/// Data that is watched.
pub(crate) struct WatchedData<C, P: Platform> {
    watch: P::Watch,
    data: C,
}

/// A value.
pub(crate) type Plain<T, P> = WatchedData<Cell<T>, P>;

/// Something larger, such as a list. RCU does nothing else while it borrows one, so a borrow counts
/// as one access.
pub(crate) type PlainList<T, P> = WatchedData<RefCell<T>, P>;

impl<C, P: Platform> WatchedData<C, P> {
    /// The data, for whoever knows that nobody else touches it.
    pub(crate) fn unwatched(&self) -> &C {
        &self.data
    }
}

impl<T: Copy, P: Platform> Plain<T, P> {
    pub(crate) fn new(value: T) -> Self {
        Self {
            watch: P::Watch::new(),
            data: Cell::new(value),
        }
    }

    #[inline(always)]
    #[track_caller]
    pub(crate) fn get(&self, p: &P) -> T {
        self.watch.reads(p);
        self.data.get()
    }

    #[inline(always)]
    #[track_caller]
    pub(crate) fn set(&self, p: &P, value: T) {
        self.watch.writes(p);
        self.data.set(value);
    }

    #[inline(always)]
    #[track_caller]
    pub(crate) fn replace(&self, p: &P, value: T) -> T {
        self.watch.writes(p);
        self.data.replace(value)
    }

    /// Changes the value.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn update(&self, p: &P, change: impl FnOnce(&mut T)) {
        self.watch.writes(p);
        let mut value = self.data.get();
        change(&mut value);
        self.data.set(value);
    }

    #[inline(always)]
    #[track_caller]
    pub(crate) fn take(&self, p: &P) -> T
    where
        T: Default,
    {
        self.replace(p, T::default())
    }
}

impl<T, P: Platform> PlainList<T, P> {
    pub(crate) fn empty() -> Self
    where
        T: Default,
    {
        Self {
            watch: P::Watch::new(),
            data: RefCell::default(),
        }
    }

    #[inline(always)]
    #[track_caller]
    pub(crate) fn borrow(&self, p: &P) -> Ref<'_, T> {
        self.watch.reads(p);
        self.data.borrow()
    }

    #[inline(always)]
    #[track_caller]
    pub(crate) fn borrow_mut(&self, p: &P) -> RefMut<'_, T> {
        self.watch.writes(p);
        self.data.borrow_mut()
    }
}
