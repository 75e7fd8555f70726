//! One word of memory that CPUs share, as the platform provides it.

pub use cells::{Scalar, SharedWord};

/// One word that several CPUs touch.
///
/// All accesses of all cells have one order that every CPU agrees on, as with `SeqCst`. Linux gets
/// by with less in places, and pays for it with barriers that have to be argued for one by one.
pub trait SharedCell<T: Scalar, P: ?Sized>: SharedWord<T, P> {
    /// Writes the cell and returns the value before, in one step.
    fn swap(&self, platform: &P, value: T) -> T;
    /// Writes `new` if the cell holds `current`, in one step; returns whether it did.
    fn compare_exchange(&self, platform: &P, current: T, new: T) -> bool;
}
