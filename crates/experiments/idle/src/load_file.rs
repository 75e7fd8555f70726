//! Workloads of `workloads/idle`: what is known of them, and what is assumed.

use crate::closed_loop::{Load, Phase, Range, Times};
use idle::{State, States};
use serde::Deserialize;

/// A workload on which governors were reported to choose badly.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoadFile {
    /// One line about it.
    #[serde(rename = "title")]
    _title: String,
    /// Source of the report.
    #[serde(rename = "source")]
    _source: String,
    /// The assumptions where the report says nothing.
    pub assumed: Vec<String>,
    /// The governors that the report tells apart, by the names that `stopwatt list governors` has.
    pub governors: Vec<String>,
    tick_us: u64,
    phase: Vec<PhaseRead>,
    state: Vec<StateRead>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PhaseRead {
    timer_period_us: u64,
    work_us: u64,
    #[serde(default)]
    interrupts: Vec<RangeRead>,
    #[serde(default)]
    answers: Vec<RangeRead>,
    length_us: u64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RangeRead {
    #[serde(default = "one")]
    weight: u64,
    least_us: u64,
    spread_us: u64,
}

const fn one() -> u64 {
    1
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
    /// The workload, with what is drawn from a seed.
    ///
    /// # Errors
    /// The states are not in order.
    pub fn load(&self, seed: u64) -> Result<Load, idle::StatesError> {
        let state = |read: &StateRead| match read.polling {
            true => State::polling(),
            false => State::new(read.exit_latency_us * US, read.residency_us * US),
        };
        let states: Vec<State> = self.state.iter().map(state).collect();
        let range = |read: &RangeRead| Range {
            weight: read.weight,
            least_ns: read.least_us * US,
            spread_ns: read.spread_us * US,
        };
        let times = |read: &Vec<RangeRead>| {
            (!read.is_empty()).then(|| Times(read.iter().map(range).collect()))
        };
        let phase = |read: &PhaseRead| Phase {
            period_ns: read.timer_period_us * US,
            work_ns: read.work_us * US,
            interrupts: times(&read.interrupts),
            answers: times(&read.answers),
            length_ns: read.length_us * US,
        };
        Ok(Load {
            states: States::new(&states)?,
            tick_ns: self.tick_us * US,
            phases: self.phase.iter().map(phase).collect(),
            seed,
        })
    }
}
