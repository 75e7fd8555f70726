//! Windows of a rate, and whether one figure may stand for them.

use crate::blocks::fixed;
use findings::spread::Spread;

/// The median with its range, in a unit; the range alone where the windows scatter, and the median
/// alone where they are written alike.
pub fn words(spread: &Spread, factor: f64, decimals: usize) -> String {
    let [least, middle, most] = [spread.range[0], spread.median, spread.range[1]]
        .map(|value| fixed(factor * value, decimals).to_string());
    match spread.scatters {
        _ if least == most => middle,
        true => format!("between {least} and {most}"),
        false => format!("{middle} ({least} to {most})"),
    }
}
