//! Plain data, watched for data races.

use crate::current::machine;
use std::panic::Location;

/// A `std::cell::UnsafeCell` whose accesses are watched: two of them by different threads, one of
/// them a write, that nothing orders, end the run as a data race.
///
/// As loom's, it hands its pointer to a closure, so that it is known when an access begins. An
/// access is no operation: nobody else goes in between.
///
/// ```
/// use interleavings::sync::{Arc, UnsafeCell};
/// use interleavings::{Config, explore, thread};
///
/// let config = Config { folder: Some(std::env::temp_dir()), ..Config::default() };
/// let raced = std::panic::catch_unwind(|| {
///     explore(&config, || {
///         let cell = Arc::new(UnsafeCell::new(0));
///         let other = cell.clone();
///         let writes = thread::spawn(move || other.with_mut(|at| unsafe { *at = 1 }));
///         cell.with(|at| unsafe { *at });
///         writes.join().unwrap();
///     });
/// });
/// let story = *raced.unwrap_err().downcast::<String>().unwrap();
/// assert!(story.contains("(data-race)"), "{story}");
/// ```
#[derive(Debug)]
pub struct UnsafeCell<T: ?Sized> {
    plain: u32,
    data: std::cell::UnsafeCell<T>,
}

impl<T> UnsafeCell<T> {
    /// A cell that holds `data`.
    #[track_caller]
    pub fn new(data: T) -> Self {
        Self {
            plain: machine().make_plain(Location::caller()),
            data: std::cell::UnsafeCell::new(data),
        }
    }

    /// Consumes the cell and returns the data.
    pub fn into_inner(self) -> T {
        self.data.into_inner()
    }
}

impl<T: ?Sized> UnsafeCell<T> {
    /// Reads: `read` gets a pointer that it may read through.
    #[track_caller]
    pub fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
        self.watch(false, Location::caller());
        read(self.data.get())
    }

    /// Writes: `write` gets a pointer that it may write through.
    #[track_caller]
    pub fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
        self.watch(true, Location::caller());
        write(self.data.get())
    }

    fn watch(&self, writes: bool, place: &'static Location<'static>) {
        let machine = machine();
        machine.watch_plain(self.plain, writes, place, machine.address_store(self));
    }

    /// The data; the borrow shows that nobody else reaches it.
    pub fn get_mut(&mut self) -> &mut T {
        self.data.get_mut()
    }
}
