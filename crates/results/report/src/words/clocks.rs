//! Clocks of a counter, windows of a rate, and whether the machine that they were measured on repeats
//! itself.

use crate::blocks::{Blocks, figure, fixed};
use findings::spread::{Spread, Steadiness};
use findings::ticks::Ticks;

/// The unit in which the ticks of a counter are told.
pub fn unit(ticks: &Ticks) -> &'static str {
    if ticks.is_timer() { "ns" } else { "clocks" }
}

/// Ticks in words: as clocks, or as nanoseconds where the counter is a timer, with the core's
/// clocks where its frequency is known.
pub fn words(ticks: &Ticks, value: f64) -> String {
    let own = format!("{} {}", figure(value * ticks.factor()), unit(ticks));
    match ticks.core_clocks(value) {
        Some(clocks) => format!("{own} ({} clocks of the core)", fixed(clocks, 0)),
        None => own,
    }
}

/// Warns that a machine does not repeat itself; nothing where it does.
pub fn noise(of: &Steadiness, told: &mut Blocks) {
    if !of.repeats {
        told.warning(format!(
            "This machine does not repeat itself: {} of {} repeated measurements scatter by more than a tenth, and the usual one by {} % \
             (between quartiles). Something else ran: no factor is told.",
            of.scattering,
            of.cells,
            figure(of.apart_percent)
        ));
    }
}

/// The median with its range, in a unit; the range alone where the windows scatter, and the median
/// alone where they are written alike.
pub fn spread(spread: &Spread, factor: f64, decimals: usize) -> String {
    let [least, middle, most] = [spread.range[0], spread.median, spread.range[1]]
        .map(|value| fixed(factor * value, decimals).to_string());
    match spread.scatters {
        _ if least == most => middle,
        true => format!("between {least} and {most}"),
        false => format!("{middle} ({least} to {most})"),
    }
}
