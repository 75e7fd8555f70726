//! A part of a run's draws, for sweeps that divide it.

use crate::plan::{Kind, Visit};
use std::str::FromStr;

/// Every `of`th draw from draw `first` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    first: u32,
    of: u32,
}

impl Part {
    /// All draws.
    pub const WHOLE: Self = Self { first: 0, of: 1 };

    /// True if the part visits a point: the first one has all that is no draw.
    pub fn runs(self, visit: &Visit<'_>) -> bool {
        match visit.kind {
            Kind::Draws => visit.number % self.of == self.first,
            Kind::Central | Kind::Rate | Kind::Transition | Kind::Dose => self.first == 0,
        }
    }
}

impl FromStr for Part {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers = text
            .split_once('/')
            .and_then(|(part, of)| Some((part.parse::<u32>().ok()?, of.parse::<u32>().ok()?)));
        match numbers {
            Some((part, of)) if (1..=of).contains(&part) => Ok(Self {
                first: part - 1,
                of,
            }),
            _ => Err("K/N, such as 1/8 for the first of eight parts".to_owned()),
        }
    }
}
