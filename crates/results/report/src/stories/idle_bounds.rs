//! Figures of idle states that are known as a range.

use crate::blocks::{Cell, Number, fixed};
use findings::idle_replay::Bounds;

/// Both ends, or one figure where they are the same.
pub(super) fn cell(between: Bounds, number: fn(f64) -> Number) -> Cell {
    Cell::Range(number(between.low), number(between.high))
}

/// A share that is known as a range, in words: `12 to 14 % less`, `between 40 % less and 5 % more`.
pub(super) fn percent_less(Bounds { low, high }: Bounds) -> String {
    let percent = |share: f64| format!("{:.0}", 100.0 * share.abs());
    let (least, most) = (percent(low), percent(high));
    match (low >= 0.0, high >= 0.0) {
        _ if least == most && (low >= 0.0) == (high >= 0.0) => {
            format!("{most} % {}", if low >= 0.0 { "less" } else { "more" })
        }
        (true, _) => format!("{least} to {most} % less"),
        (_, false) => format!("{most} to {least} % more"),
        _ => format!("between {most} % less and {least} % more"),
    }
}

/// A figure with one digit behind the point.
pub(super) fn tenths(value: f64) -> Number {
    fixed(value, 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_of_shares_is_less_more_or_both() {
        let words = |low: f64, high: f64| percent_less(Bounds { low, high });
        assert_eq!(words(0.12, 0.14), "12 to 14 % less");
        assert_eq!(words(0.12, 0.121), "12 % less");
        assert_eq!(words(-0.30, -0.05), "5 to 30 % more");
        assert_eq!(words(-0.05, 0.40), "between 40 % less and 5 % more");
    }
}
