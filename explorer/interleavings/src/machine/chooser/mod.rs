//! Who chooses: at random, one run after the other, or as it is written down.

mod dpor;
mod random;
mod replayed;
mod source;
mod strategy;

pub use dpor::Dpor;
pub(super) use random::RandomChoices;
pub(super) use replayed::ReplayedChoices;
pub(super) use source::{Chooser, NOBODY};
pub use strategy::Strategy;
