//! Quantities in configuration files: a number and its unit, as one would write them.

use document::{readers, within};
use serde::de::{Deserialize, Deserializer, Error};
use std::fmt::{self, Display};

/// A kind of quantity.
struct Kind {
    what: &'static str,
    example: &'static str,
    /// Its units, each with how many of the base unit it is.
    units: &'static [(&'static str, u64)],
    /// The least value.
    least: u64,
}

const TIME: Kind = Kind {
    what: "a time",
    example: "1.5 us",
    units: &[
        ("ps", 1),
        ("ns", 1_000),
        ("us", 1_000_000),
        ("ms", 1_000_000_000),
        ("s", 1_000_000_000_000),
    ],
    least: 0,
};
const FREQUENCY: Kind = Kind {
    what: "a frequency",
    example: "50 MHz",
    units: &[
        ("Hz", 1),
        ("kHz", 1_000),
        ("MHz", 1_000_000),
        ("GHz", 1_000_000_000),
    ],
    least: 1,
};
const SIZE: Kind = Kind {
    what: "a size",
    example: "32 KiB",
    units: &[
        ("B", 1),
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
    ],
    least: 0,
};

/// Largest value of any quantity in its base unit: exact in a double, and far from overflow in
/// sums.
const LARGEST: f64 = (1_u64 << 53) as f64;

fn parse(text: &str, kind: &Kind) -> Result<u64, String> {
    let Kind {
        what,
        example,
        units,
        least,
    } = kind;
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
    if value < *least as f64 {
        return Err(format!("`{text}` is too small for {what}"));
    }
    Ok(value as u64)
}

impl serde::de::Visitor<'_> for Kind {
    type Value = u64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, example, .. } = self;
        write!(f, "{what} as a string with its unit, such as \"{example}\"")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<u64, E> {
        parse(text, &self).map_err(E::custom)
    }
}

/// The picoseconds of a time such as `1.5 us` (ps, ns, us, ms, s).
///
/// # Errors
/// What is wrong with it, and what would be right.
pub fn time(text: &str) -> Result<u64, String> {
    parse(text, &TIME)
}

readers! {
    /// A field of picoseconds, for serde.
    pub(crate) picoseconds: u64 = |from| from.deserialize_str(TIME);

    /// The same, of a field that may be left out.
    pub(crate) some_picoseconds: Option<u64> = |from| picoseconds(from).map(Some);

    /// A field of Hertz, never 0.
    pub(crate) hertz: u64 = |from| from.deserialize_str(FREQUENCY);

    /// A field of bytes.
    pub(crate) bytes: u64 = |from| from.deserialize_str(SIZE);
}

/// A field of power, in units of the file's.
pub(crate) fn power<'de, D, T>(from: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + From<u32> + PartialOrd + Display,
{
    let help = "is a power above 1000000 units: take a greater unit";
    within(T::deserialize(from)?, T::from(0)..=T::from(1_000_000), help)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_units_are_read() {
        assert_eq!(time("1.5 us"), Ok(1_500_000));
        assert_eq!(time("20ns"), Ok(20_000));
        assert_eq!(parse("50 MHz", &FREQUENCY), Ok(50_000_000));
        assert_eq!(parse("2 MiB", &SIZE), Ok(2 << 20));
    }

    #[test]
    fn what_is_wrong_is_said() {
        let message = |text: &str| time(text).unwrap_err();
        assert!(message("5").contains("no unit"));
        assert!(message("5 MHz").contains("`MHz` is not a unit of a time"));
        assert!(message("-5 us").contains("negative"));
        assert!(message("us").contains("does not start with a number"));
        assert!(message("1e300 s").contains("not a unit"));
        assert!(message("99999999 s").contains("too large"));
        assert!(parse("0 Hz", &FREQUENCY).unwrap_err().contains("too small"));
    }
}
