//! Which operation of a process: its number within what the CPU does.

use std::fmt::{Display, Formatter};

/// An operation of a process: the twelfth of its third deed is `3.12`, the twelfth before its first
/// deed `12`.
///
/// It is counted from the start of a deed and not from the start of the run, so that it still means
/// the same when an earlier deed is left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Place(u32);

/// The most deeds of a CPU.
pub const MOST_DEEDS: usize = 250;

const DEED: u32 = 24;

impl Place {
    /// Before the first operation of a deed, counted from 0.
    pub(crate) fn start_of(deed: usize) -> Self {
        Self((deed as u32 + 1) << DEED)
    }

    pub(crate) fn next(self) -> Self {
        Self(self.0 + 1)
    }

    /// The deed, counted from 0; `None` before the first.
    pub(crate) fn deed(self) -> Option<usize> {
        (self.0 >> DEED).checked_sub(1).map(|deed| deed as usize)
    }

    /// The same operation when this number of earlier deeds are gone.
    pub(crate) fn without(self, deeds: usize) -> Self {
        Self(self.0 - ((deeds as u32) << DEED))
    }

    pub(crate) fn number(self) -> u32 {
        self.0
    }

    pub(crate) fn of_number(number: u32) -> Self {
        Self(number)
    }
}

impl Display for Place {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let within = self.0 & ((1 << DEED) - 1);
        match self.0 >> DEED {
            0 => write!(f, "{within}"),
            deed => write!(f, "{deed}.{within}"),
        }
    }
}

impl From<Place> for String {
    fn from(place: Place) -> Self {
        place.to_string()
    }
}

impl TryFrom<String> for Place {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no operation; 12 or 3.12 would be right");
        let (deed, within) = text.split_once('.').unwrap_or(("0", &text));
        let deed: u32 = deed.parse().map_err(|_| wrong())?;
        let within: u32 = within.parse().map_err(|_| wrong())?;
        if deed as usize > MOST_DEEDS + 1 || within >> DEED != 0 {
            return Err(wrong());
        }
        Ok(Self(deed << DEED | within))
    }
}

#[cfg(test)]
mod tests {
    use super::Place;

    #[test]
    fn a_place_is_read_as_it_is_written() {
        let place = Place::start_of(2).next().next();
        assert_eq!(place.to_string(), "3.2");
        assert_eq!((place.deed(), place.without(1).deed()), (Some(2), Some(1)));
        assert_eq!(Place::try_from("3.2".to_owned()), Ok(place));
        assert_eq!(Place::try_from("7".to_owned()).map(Place::deed), Ok(None));
        for text in ["", "x", "1.", "1.2.3", "300.1", "-1", "1.99999999999"] {
            assert!(Place::try_from(text.to_owned()).is_err(), "{text}");
        }
    }
}
