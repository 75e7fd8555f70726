//! Quantities in configuration files: a number and its unit, as one would write them.

use serde::de::{Deserialize, Deserializer, Error};
use std::fmt;

/// Picoseconds, written as `"1.5 us"` (ps, ns, us, ms, s).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Duration(pub u64);

/// Hertz, written as `"50 MHz"` (Hz, kHz, MHz, GHz). Never 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frequency(pub u64);

/// Bytes, written as `"32 KiB"` (B, KiB, MiB, GiB).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bytes(pub u64);

type Units = [(&'static str, u64)];

const TIMES: &Units = &[
    ("ps", 1),
    ("ns", 1_000),
    ("us", 1_000_000),
    ("ms", 1_000_000_000),
    ("s", 1_000_000_000_000),
];
const FREQUENCIES: &Units = &[
    ("Hz", 1),
    ("kHz", 1_000),
    ("MHz", 1_000_000),
    ("GHz", 1_000_000_000),
];
const SIZES: &Units = &[
    ("B", 1),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
];

/// Largest value of any quantity in its base unit: exact in a double, and far from overflow in
/// sums.
const LARGEST: f64 = (1_u64 << 53) as f64;

fn parse(text: &str, what: &str, example: &str, units: &Units) -> Result<u64, String> {
    let wanted = || {
        let names: Vec<_> = units.iter().map(|&(name, _)| name).collect();
        format!(
            "expected {what} with its unit ({}), such as \"{example}\"",
            names.join(", ")
        )
    };
    let text = text.trim();
    let split = text
        .find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '_' | '+' | '-')))
        .unwrap_or(text.len());
    let (number, unit) = (text[..split].replace('_', ""), text[split..].trim());
    let Some(&(_, factor)) = units.iter().find(|&&(name, _)| name == unit) else {
        return Err(if unit.is_empty() {
            format!("`{text}` has no unit; {}", wanted())
        } else {
            format!("`{unit}` is not a unit of {what}; {}", wanted())
        });
    };
    let number: f64 = number
        .parse()
        .map_err(|_| format!("`{text}` does not start with a number; {}", wanted()))?;
    if number < 0.0 {
        return Err(format!("`{text}` is negative; {what} is 0 or more"));
    }
    let value = (number * factor as f64).round();
    if value > LARGEST {
        return Err(format!("`{text}` is too large for {what}"));
    }
    Ok(value as u64)
}

macro_rules! quantity {
    ($type:ident, $what:expr, $example:expr, $units:expr, $least:expr) => {
        impl std::str::FromStr for $type {
            type Err = String;
            #[allow(unused_comparisons, reason = "the least value of a time is 0")]
            fn from_str(text: &str) -> Result<Self, String> {
                let value = parse(text, $what, $example, $units)?;
                if $least > value {
                    return Err(format!("`{text}` is too small for {}", $what));
                }
                Ok(Self(value))
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Visitor;
                impl serde::de::Visitor<'_> for Visitor {
                    type Value = $type;
                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        write!(
                            f,
                            "{} as a string with its unit, such as \"{}\"",
                            $what, $example
                        )
                    }
                    fn visit_str<E: Error>(self, text: &str) -> Result<$type, E> {
                        text.parse().map_err(E::custom)
                    }
                }
                deserializer.deserialize_str(Visitor)
            }
        }
    };
}

quantity!(Duration, "a time", "1.5 us", TIMES, 0);
quantity!(Frequency, "a frequency", "50 MHz", FREQUENCIES, 1);
quantity!(Bytes, "a size", "32 KiB", SIZES, 0);

/// A field of picoseconds, for serde.
pub(crate) fn picoseconds<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    Ok(Duration::deserialize(from)?.0)
}

/// The same, of a field that may be left out.
pub(crate) fn some_picoseconds<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<u64>, D::Error> {
    picoseconds(from).map(Some)
}

/// A field of Hertz, for serde.
pub(crate) fn hertz<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    Ok(Frequency::deserialize(from)?.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_units_are_read() {
        assert_eq!("1.5 us".parse(), Ok(Duration(1_500_000)));
        assert_eq!("20ns".parse(), Ok(Duration(20_000)));
        assert_eq!("50 MHz".parse(), Ok(Frequency(50_000_000)));
        assert_eq!("2 MiB".parse(), Ok(Bytes(2 << 20)));
    }

    #[test]
    fn what_is_wrong_is_said() {
        let message = |text: &str| text.parse::<Duration>().unwrap_err();
        assert!(message("5").contains("no unit"));
        assert!(message("5 MHz").contains("`MHz` is not a unit of a time"));
        assert!(message("-5 us").contains("negative"));
        assert!(message("us").contains("does not start with a number"));
        assert!(message("1e300 s").contains("not a unit"));
        assert!(message("99999999 s").contains("too large"));
        assert!(
            "0 Hz"
                .parse::<Frequency>()
                .unwrap_err()
                .contains("too small")
        );
    }
}
