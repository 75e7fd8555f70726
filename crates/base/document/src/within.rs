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

/// Defines readers of fields, for serde's `deserialize_with`: the name and the type of each, and its
/// value from a deserializer, of type `D`. Errors have the line of the field.
///
/// ```
/// use document::{readers, within};
/// use serde::Deserialize;
///
/// readers! {
///     /// A part of 1.
///     share: f64 = |from| within(f64::deserialize(from)?, 0.0..=1.0, "is no share");
/// }
///
/// #[derive(Deserialize)]
/// struct Costs {
///     #[serde(deserialize_with = "share")]
///     idle: f64,
/// }
/// # let costs: Costs = document::Document::new("costs.toml", "idle = 0.5").read().unwrap();
/// # assert_eq!(costs.idle, 0.5);
/// ```
#[macro_export]
macro_rules! readers {
    ($($(#[$about:meta])* $scope:vis $name:ident: $of:ty = |$from:ident| $value:expr;)*) => {$(
        $(#[$about])*
        $scope fn $name<'de, D: serde::Deserializer<'de>>($from: D) -> Result<$of, D::Error> {
            $value
        }
    )*};
}
