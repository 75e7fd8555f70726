//! Sweeps: every combination of the values of some settings.

use itertools::Itertools;
use std::fmt;

/// A key and the values that it is to have.
#[derive(Clone)]
pub struct Vary {
    /// The name of a setting, or a key as `--set` takes it.
    pub key: String,
    /// Values of the key, in order.
    pub values: Vec<String>,
    /// The values as they were given.
    pub text: String,
}

/// One combination: keys with their values, in the order of the keys on the command line.
pub type Settings = Vec<(String, String)>;

/// Combinations of more than this many are refused: a run of them would take days.
pub const MOST_COMBINATIONS: usize = 10_000;

/// Why keys cannot be varied so.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum VaryError {
    /// No key, or no value.
    #[error(
        "`{0}` is nothing to vary; expected KEY=VALUES, such as scp.channels=1,2,4 or topology.clusters=1..16"
    )]
    NotAVary(String),
    /// A range that does not go up.
    #[error("`{0}` is no range; expected FIRST..LAST with FIRST not above LAST, both included")]
    Range(String),
    /// A key twice.
    #[error("`{0}` is varied twice; name all of its values together")]
    Twice(String),
    /// A value twice.
    #[error("`{0}` stands twice among the values")]
    ValueTwice(String),
    /// Too many.
    #[error("{0} combinations; at most {MOST_COMBINATIONS} are run")]
    TooMany(usize),
}

impl std::str::FromStr for Vary {
    type Err = VaryError;

    /// `KEY=VALUES`: values separated by commas, each a value or a range of whole numbers
    /// `FIRST..LAST`, both included.
    fn from_str(text: &str) -> Result<Self, VaryError> {
        let wrong = || VaryError::NotAVary(text.to_owned());
        let (key, values) = text.split_once('=').ok_or_else(wrong)?;
        let mut all = Vec::new();
        for part in values.split(',').map(str::trim) {
            match part.split_once("..") {
                Some((first, last)) => {
                    let range = || VaryError::Range(part.to_owned());
                    let number = |text: &str| text.trim().parse::<u64>().map_err(|_| range());
                    let (first, last) = (number(first)?, number(last)?);
                    if first > last {
                        return Err(range());
                    }
                    if last - first >= MOST_COMBINATIONS as u64 {
                        return Err(VaryError::TooMany(
                            usize::try_from(last - first + 1).unwrap_or(usize::MAX),
                        ));
                    }
                    all.extend((first..=last).map(|number| number.to_string()));
                }
                None if part.is_empty() => return Err(wrong()),
                None => all.push(part.to_owned()),
            }
        }
        if let Some(twice) = all.iter().duplicates().next() {
            return Err(VaryError::ValueTwice(twice.clone()));
        }
        let key = key.trim().to_owned();
        if key.is_empty() {
            Err(wrong())
        } else {
            Ok(Self {
                key,
                values: all,
                text: values.to_owned(),
            })
        }
    }
}

impl fmt::Display for Vary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.key, self.text)
    }
}

/// Every combination of values, the last key varying fastest.
///
/// # Errors
/// A key is named twice; more than [`MOST_COMBINATIONS`].
pub fn combinations(vary: &[Vary]) -> Result<Vec<Settings>, VaryError> {
    if let Some(twice) = vary.iter().map(|one| &one.key).duplicates().next() {
        return Err(VaryError::Twice(twice.clone()));
    }
    let count = vary
        .iter()
        .fold(1_usize, |count, one| count.saturating_mul(one.values.len()));
    if count > MOST_COMBINATIONS {
        return Err(VaryError::TooMany(count));
    }
    let settings = |one: &Vary| {
        let key = one.key.clone();
        let values = one.values.clone().into_iter();
        values.map(move |value| (key.clone(), value))
    };
    Ok(vary
        .iter()
        .map(settings)
        .multi_cartesian_product()
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_ranges_are_combined_with_the_last_key_fastest() {
        let vary: Vec<Vary> = ["a=x,y", "b=1..2,7"]
            .iter()
            .map(|text| text.parse().unwrap())
            .collect();
        let all = combinations(&vary).unwrap();
        let texts: Vec<String> = all
            .iter()
            .map(|settings| {
                settings
                    .iter()
                    .map(|(_, value)| value.as_str())
                    .collect::<Vec<_>>()
                    .join(" ")
            })
            .collect();
        assert_eq!(texts, ["x 1", "x 2", "x 7", "y 1", "y 2", "y 7"]);
        assert_eq!(
            combinations(&[]),
            Ok(vec![Vec::new()]),
            "nothing varied is one combination"
        );
    }

    #[test]
    fn what_cannot_be_varied_is_refused() {
        for wrong in ["a", "=1", "a=", "a=1,,2"] {
            assert!(
                matches!(wrong.parse::<Vary>(), Err(VaryError::NotAVary(_))),
                "{wrong}"
            );
        }
        for wrong in ["a=2..1", "a=x..y", "a=1.."] {
            assert!(
                matches!(wrong.parse::<Vary>(), Err(VaryError::Range(_))),
                "{wrong}"
            );
        }
        assert!(matches!(
            "a=1..1000000000000".parse::<Vary>(),
            Err(VaryError::TooMany(_))
        ));
        let vary = |text: &str| text.parse::<Vary>().unwrap();
        assert_eq!(
            combinations(&[vary("a=1"), vary("a=2")]),
            Err(VaryError::Twice("a".to_owned()))
        );
        assert_eq!(
            combinations(&[vary("a=1..1000"), vary("b=1..11")]),
            Err(VaryError::TooMany(11_000))
        );
    }
}
