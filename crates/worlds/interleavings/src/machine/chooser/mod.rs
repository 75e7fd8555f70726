//! Who chooses: at random, one run after the other, or as it is written down.

mod chooser;
mod dpor;
mod every;
mod random;
mod replayed;
mod strategy;

pub(super) use chooser::{Chooser, NOBODY};
pub use dpor::Dpor;
pub use every::EveryRun;
pub(super) use random::RandomChoices;
pub(super) use replayed::ReplayedChoices;
pub use strategy::Strategy;
