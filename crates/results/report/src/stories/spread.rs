//! Windows of a rate, and whether one figure may stand for them.

use crate::blocks::{Cell, fixed};
use findings::spread::Spread;

/// The median with its range, or the range alone where the windows scatter.
pub(super) fn words(spread: &Spread, decimals: usize) -> String {
    let [least, most] = spread.range.map(|value| fixed(value, decimals));
    match spread.scatters {
        true => format!("between {least} and {most}"),
        false => format!("{} ({least} to {most})", fixed(spread.median, decimals)),
    }
}

/// The same for a table.
pub(super) fn cell(spread: &Spread, decimals: usize) -> Cell {
    let [least, most] = spread.range.map(|value| fixed(value, decimals));
    match spread.scatters {
        true => Cell::Range(least, most.after(", scatters")),
        false => Cell::Spread(fixed(spread.median, decimals), least, most),
    }
}
