//! Idle states of a platform, and at which points of their cost a replay looks.

pub use soc::config::{
    IdleDomain as Domain, IdlePlatform as Platform, IdleStateCost as StateCost, LatencyLimit,
    PowerDomain, Range,
};

/// The points of the range of what a round trip costs: none of the way from low to high, and then
/// from 1/512 of it to all of it, two steps to each doubling. In parts of 1024.
pub const POINTS: [u64; 20] = [
    0, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024,
];

/// Power and round trip of a state, at one point.
pub struct StayCost {
    power: u64,
    round_trip: u128,
}

impl StayCost {
    /// Those of a core.
    pub fn of_core(state: &StateCost, point: usize) -> Self {
        Self {
            power: state.core_power,
            round_trip: state.core_round_trip.part(POINTS[point]),
        }
    }

    /// Those of a domain.
    pub fn of_domain(state: &StateCost, point: usize) -> Self {
        Self {
            power: state.domain_power,
            round_trip: state.domain_round_trip.part(POINTS[point]),
        }
    }

    /// The cost of a stay of `ns` nanoseconds.
    pub fn of(&self, ns: u64) -> u128 {
        u128::from(self.power) * u128::from(ns) + self.round_trip
    }
}
