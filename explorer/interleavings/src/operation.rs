//! Which operation of a process: its number within what the CPU does.

use std::fmt::{Display, Formatter};

/// An operation of a process: the twelfth of its third action is `3.12`, the twelfth before its
/// first action `12`.
///
/// It is counted from the start of an action and not from the start of the run, so that it still
/// means the same when an earlier action is left out.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    serde::Serialize,
    serde::Deserialize,
)]
#[serde(try_from = "String", into = "String")]
pub struct OperationIndex(u32);

/// The most actions of a CPU.
pub const MOST_ACTIONS: usize = 250;

const ACTION: u32 = 24;

impl OperationIndex {
    /// Before the first operation of an action, counted from 0.
    pub fn start_of(action: usize) -> Self {
        Self((action as u32 + 1) << ACTION)
    }

    pub(crate) fn next(self) -> Self {
        Self(self.0 + 1)
    }

    /// The action, counted from 0; `None` before the first.
    pub fn action(self) -> Option<usize> {
        (self.0 >> ACTION)
            .checked_sub(1)
            .map(|action| action as usize)
    }

    /// Index of the operation once this number of earlier actions are left out.
    pub fn without(self, actions: usize) -> Self {
        Self(self.0 - ((actions as u32) << ACTION))
    }

    pub(crate) fn number(self) -> u32 {
        self.0
    }

    pub(crate) fn of_number(number: u32) -> Self {
        Self(number)
    }
}

impl Display for OperationIndex {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let within = self.0 & ((1 << ACTION) - 1);
        match self.0 >> ACTION {
            0 => write!(f, "{within}"),
            action => write!(f, "{action}.{within}"),
        }
    }
}

impl From<OperationIndex> for String {
    fn from(place: OperationIndex) -> Self {
        place.to_string()
    }
}

impl TryFrom<String> for OperationIndex {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no operation; 12 or 3.12 would be right");
        let (action, within) = text.split_once('.').unwrap_or(("0", &text));
        let action: u32 = action.parse().map_err(|_| wrong())?;
        let within: u32 = within.parse().map_err(|_| wrong())?;
        if action as usize > MOST_ACTIONS + 1 || within >> ACTION != 0 {
            return Err(wrong());
        }
        Ok(Self(action << ACTION | within))
    }
}

#[cfg(test)]
mod tests {
    use super::OperationIndex;

    #[test]
    fn a_place_is_read_as_it_is_written() {
        let place = OperationIndex::start_of(2).next().next();
        assert_eq!(place.to_string(), "3.2");
        assert_eq!(
            (place.action(), place.without(1).action()),
            (Some(2), Some(1))
        );
        assert_eq!(OperationIndex::try_from("3.2".to_owned()), Ok(place));
        assert_eq!(
            OperationIndex::try_from("7".to_owned()).map(OperationIndex::action),
            Ok(None)
        );
        for text in ["", "x", "1.", "1.2.3", "300.1", "-1", "1.99999999999"] {
            assert!(OperationIndex::try_from(text.to_owned()).is_err(), "{text}");
        }
    }
}
