//! Workloads of `workloads/idle`: what is known of them, and what is assumed.

use crate::closed_loop::Load;
use idle::{State, States};
use serde::Deserialize;

/// A workload on which governors were reported to choose badly.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoadFile {
    /// One line about it.
    #[serde(rename = "title")]
    _title: String,
    /// The place where it was reported.
    #[serde(rename = "source")]
    _source: String,
    /// The assumption where the report says nothing.
    pub assumed: String,
    tick_us: u64,
    timer_period_us: u64,
    work_us: u64,
    interrupts: Interrupts,
    /// When it ends; with the last interrupt where it is not given.
    length_us: Option<u64>,
    state: Vec<StateRead>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Interrupts {
    count: usize,
    least_us: u64,
    spread_us: u64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct StateRead {
    #[serde(default)]
    polling: bool,
    #[serde(default)]
    exit_latency_us: u64,
    #[serde(default)]
    residency_us: u64,
}

const US: u64 = 1_000;

impl LoadFile {
    /// The workload, with interrupts drawn from a seed.
    ///
    /// # Errors
    /// The states are not in order.
    pub fn load(&self, seed: u64) -> Result<Load, idle::StatesError> {
        let state = |read: &StateRead| match read.polling {
            true => State::polling(),
            false => State::new(read.exit_latency_us * US, read.residency_us * US),
        };
        let states: Vec<State> = self.state.iter().map(state).collect();
        let interrupts = self.interrupts(seed);
        let last_ns = interrupts.last().copied().unwrap_or(0);
        Ok(Load {
            states: States::new(&states)?,
            tick_ns: self.tick_us * US,
            period_ns: self.timer_period_us * US,
            work_ns: self.work_us * US,
            interrupts,
            end_ns: self.length_us.map_or(last_ns, |length_us| length_us * US),
        })
    }

    /// Times of the interrupts, in nanoseconds.
    fn interrupts(&self, seed: u64) -> Vec<u64> {
        let Interrupts { count, least_us, spread_us } = self.interrupts;
        let mut chance = Chance(seed);
        let mut at = 0;
        let next = || {
            at += least_us * US + chance.below((spread_us * US).max(1));
            at
        };
        std::iter::repeat_with(next).take(count).collect()
    }
}

/// Numbers that look random: Knuth's linear congruential generator for 64 bits, of which the upper
/// half counts. The workloads that come with Stopwatt are this stream, so published comparisons
/// with them depend on it.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}
