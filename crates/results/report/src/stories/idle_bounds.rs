//! Figures of idle states that are known as a range.

use crate::blocks::{Cell, Number, fixed};
use findings::idle_replay::Bounds;

/// Both ends, or one figure where they are the same.
pub fn cell(between: Bounds, number: fn(f64) -> Number) -> Cell {
    Cell::Range(number(between.low), number(between.high))
}

/// A figure with one digit behind the point.
pub fn tenths(value: f64) -> Number {
    fixed(value, 1)
}
