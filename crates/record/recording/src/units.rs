//! Units of measures: what each measures, and how many of the smallest unit one of it is.

use Dimension::{Clocks, Energy, Instructions, Rate, Time};

/// What a unit measures. Units of one dimension can be converted into each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Dimension {
    /// Time, counted in nanoseconds.
    Time,
    /// Ticks of a counter, counted one by one. Their length is in a recording's header.
    Clocks,
    /// Instructions, counted one by one.
    Instructions,
    /// Energy, counted in joules.
    Energy,
    /// What passes in a second, counted in packets or in bits.
    Rate(&'static str),
}

/// A unit.
#[derive(Debug, PartialEq)]
pub struct Unit {
    /// The usual spelling, such as `us` for `µs`.
    pub name: &'static str,
    /// What it measures.
    pub dimension: Dimension,
    /// How many of what its dimension counts in one is, above 0.
    pub factor: f64,
}

const UNITS: [(&str, Dimension, f64); 17] = [
    ("ps", Time, 1e-3),
    ("ns", Time, 1.0),
    ("us", Time, 1e3),
    ("ms", Time, 1e6),
    ("s", Time, 1e9),
    ("ticks", Clocks, 1.0),
    ("clk", Clocks, 1.0),
    ("clocks", Clocks, 1.0),
    ("cycles", Clocks, 1.0),
    ("instructions", Instructions, 1.0),
    ("J", Energy, 1.0),
    ("mJ", Energy, 1e-3),
    ("uJ", Energy, 1e-6),
    ("Mpps", Rate("packets"), 1e6),
    ("packets/s", Rate("packets"), 1.0),
    ("bit/s", Rate("bits"), 1.0),
    ("Gbit/s", Rate("bits"), 1e9),
];

/// The unit that a text names, with either letter for micro; `None` where it is not known.
pub fn unit(text: &str) -> Option<Unit> {
    let plain = text.trim().replace(['\u{b5}', '\u{3bc}'], "u");
    let &(name, dimension, factor) = UNITS.iter().find(|(name, ..)| *name == plain)?;
    Some(Unit {
        name,
        dimension,
        factor,
    })
}

/// How many nanoseconds one is; `None` of what is no time.
pub fn nanoseconds(text: &str) -> Option<f64> {
    Some(unit(text).filter(|unit| unit.dimension == Time)?.factor)
}

/// The factor that makes a value of one unit one of another; `None` where that cannot be. A unit
/// that is not known is one of its own.
pub fn factor(from: &str, to: &str) -> Option<f64> {
    if from == to {
        return Some(1.0);
    }
    let (from, to) = (unit(from)?, unit(to)?);
    (from.dimension == to.dimension).then(|| from.factor / to.factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_the_same_in_every_unit_and_with_either_letter() {
        for (text, ns) in [
            ("us", 1e3),
            ("\u{b5}s", 1e3),
            (" \u{3bc}s", 1e3),
            ("ms", 1e6),
        ] {
            assert_eq!(nanoseconds(text), Some(ns), "{text}");
        }
        assert_eq!(factor("\u{3bc}s", "ns"), Some(1e3));
        assert_eq!(factor("clk", "ticks"), Some(1.0));
        assert_eq!(
            factor("ticks", "ns"),
            None,
            "a tick has no length of its own"
        );
        assert_eq!(factor("parsecs", "parsecs"), Some(1.0));
        assert_eq!(nanoseconds("J"), None);
        assert_eq!(unit("fortnights"), None);
    }
}
