//! All policies by name.

use crate::accounts::TrackingPolicy;
use crate::all_big::AllBig;
use crate::energy_aware::EnergyAware;
use crate::hmp::{Hmp, HmpSettings};
use crate::model::Model;
use crate::spread::EvenSpread;
use crate::switcher::Switcher;
use crate::view::Placement;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use core::fmt;
use core::str::FromStr;

/// A policy of placement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// HMP with the thresholds 700 and 512.
    Hmp,
    /// HMP with the thresholds 512 and 256 of the first patches.
    HmpEarly,
    /// Even spread, as if all CPUs were equal.
    Even,
    /// Everything on the fastest CPUs.
    AllBig,
    /// The big.LITTLE switcher.
    Switcher,
    /// Energy-aware placement.
    EnergyAware,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Hmp,
        Self::HmpEarly,
        Self::Even,
        Self::AllBig,
        Self::Switcher,
        Self::EnergyAware,
    ];

    /// Name of the policy on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Hmp => "hmp",
            Self::HmpEarly => "hmp-early",
            Self::Even => "even",
            Self::AllBig => "all-big",
            Self::Switcher => "switcher",
            Self::EnergyAware => "energy-aware",
        }
    }

    /// The policy, for a machine with this energy model; it keeps accounts of load in any case.
    /// Even spread takes all CPUs for equal: the seed decides where its tasks start. No other
    /// policy draws anything.
    pub fn policy(self, model: &Model, seed: u64) -> Box<dyn Placement> {
        match self {
            Self::Hmp => Box::new(Hmp::new(HmpSettings::default())),
            Self::HmpEarly => Box::new(Hmp::new(HmpSettings::early())),
            Self::Even => Box::new(TrackingPolicy::new(EvenSpread::new(seed))),
            Self::AllBig => Box::new(TrackingPolicy::new(AllBig)),
            Self::Switcher => Box::new(Switcher::new()),
            Self::EnergyAware => Box::new(EnergyAware::new(model.clone())),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Kind {
    type Err = String;
    fn from_str(name: &str) -> Result<Self, String> {
        let names = Self::ALL.map(Self::name).join(", ");
        Self::ALL
            .into_iter()
            .find(|kind| kind.name() == name)
            .ok_or_else(|| format!("there is no policy of placement `{name}`; there are {names}"))
    }
}
