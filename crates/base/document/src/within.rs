//! Ranges of what is read.

use serde::de::Error;
use std::fmt::Display;
use std::ops::RangeInclusive;

/// A value, if it is in a range: for readers of fields, so that an error has the value's line.
///
/// # Errors
/// The value, and what is wrong with it and would be right.
pub fn within<T: PartialOrd + Display, E: Error>(
    value: T,
    range: RangeInclusive<T>,
    wrong: &str,
) -> Result<T, E> {
    if range.contains(&value) {
        Ok(value)
    } else {
        Err(E::custom(format!("{value} {wrong}")))
    }
}
