//! `std::cell` by another path.

pub use crate::sync::UnsafeCell;
