//! Who chooses: at random, one run after the other, or as it is written down.

mod dpor;
mod random;
mod replayed;
mod source;
mod strategy;

pub use dpor::Dpor;
pub use random::RandomChoices;
pub use replayed::ReplayedChoices;
pub use source::{Chooser, NOBODY};
pub use strategy::Strategy;
