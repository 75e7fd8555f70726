//! Published tables of other experiments than the PSCI latencies: a description each, and rows.

use crate::read::positive;
use experiment::Conditions;
use serde::Deserialize;

/// The name of the costs of clocks.
pub const CLOCKS: &str = "cpuidle-clock";

/// A call on a CPU of a board in two releases of its firmware.
#[derive(Deserialize)]
pub struct CountedFigure {
    /// The platform.
    pub platform: String,
    /// The call.
    pub call: String,
    /// The releases.
    pub from: String,
    /// The later one.
    pub to: String,
    /// Instructions of the call, counted by an emulator.
    #[serde(deserialize_with = "positive")]
    pub from_instructions: f64,
    /// The same of the later release.
    pub to_instructions: f64,
    /// The call's time in microseconds.
    pub from_us: f64,
    /// The same of the later release.
    pub to_us: f64,
}

/// Calls whose times and instructions are both known of two releases.
#[derive(Deserialize)]
pub struct CountedReference {
    /// Two sessions of a release are as near as that, in microseconds.
    pub within_us: f64,
    /// The calls.
    #[serde(skip)]
    pub figures: Vec<CountedFigure>,
}

/// Instructions of a call in another firmware.
#[derive(Clone, Deserialize)]
pub struct CallFigure {
    /// The call, such as `CPU_ON`.
    pub call: String,
    /// The implementation.
    pub implementation: String,
    /// The build: `plain`, `instrumented` or `debug`.
    pub build: String,
    /// The fewest instructions.
    pub low: u64,
    /// The most.
    pub high: u64,
}

/// Counts of PSCI calls in other firmware.
#[derive(Clone, Deserialize)]
pub struct CallReference {
    /// The conditions of the counts.
    pub conditions: String,
    /// Each implementation, on each core.
    #[serde(rename = "implementation")]
    pub implementations: Vec<Implementation>,
    /// The counts.
    #[serde(skip)]
    pub figures: Vec<CallFigure>,
}

/// Another firmware.
#[derive(Clone, Deserialize)]
pub struct Implementation {
    /// Name of the implementation.
    pub name: String,
    /// The core that executed it.
    pub cpu: String,
    /// The source: version and build.
    pub source: String,
}

impl CallReference {
    /// The counts on this core, if there are any.
    pub fn on(&self, cpu: &str) -> Option<Self> {
        let mut of = self.clone();
        of.implementations.retain(|known| known.cpu == cpu);
        let is_of = |figure: &CallFigure| {
            let mut known = of.implementations.iter();
            known.any(|known| known.name == figure.implementation)
        };
        of.figures.retain(is_of);
        (!of.implementations.is_empty()).then_some(of)
    }

    /// The count of a call in an implementation and a build.
    pub fn find(&self, call: &str, implementation: &str, build: &str) -> Option<&CallFigure> {
        self.figures.iter().find(|of| {
            (&*of.call, &*of.implementation, &*of.build) == (call, implementation, build)
        })
    }
}

/// A statistic of a clock's reads.
#[derive(Deserialize)]
pub struct ClockFigure {
    /// The clock.
    pub clock: String,
    /// The statistic: `average`, `stddev`, `minimum` or `maximum`.
    pub statistic: String,
    /// The value, in ns.
    pub value: f64,
}

/// What two ways to convert nanoseconds into microseconds give.
#[derive(Deserialize)]
pub struct DivisionFigure {
    /// The nanoseconds.
    pub nsec: u64,
    /// The microseconds by a division.
    pub div_1000_usec: f64,
    /// The microseconds by a shift.
    pub shift_10_usec: f64,
}

/// Costs of clocks and divisions in the idle loop.
#[derive(Deserialize)]
pub struct ClockReference {
    /// The source.
    pub source: String,
    /// The conditions of the figures.
    pub conditions: String,
    /// Statistics of reads.
    #[serde(skip)]
    pub clocks: Vec<ClockFigure>,
    /// Results of divisions.
    #[serde(skip)]
    pub divisions: Vec<DivisionFigure>,
}

const STATISTICS: [&str; 4] = ["average", "stddev", "minimum", "maximum"];

impl ClockReference {
    /// The clocks.
    pub fn names(&self) -> Vec<&str> {
        recording::distinct(self.clocks.iter().map(|figure| figure.clock.as_str()))
    }

    /// Tells the clocks, and what reads of each took, as conditions.
    pub fn conditions(&self, conditions: &mut Conditions) {
        let names = self.names();
        let owned = names.iter().map(|name| (*name).to_owned());
        conditions.add("clocks", &[CLOCKS], owned);
        for name in names {
            let value = |statistic: &&str| {
                let mut of = self.clocks.iter();
                of.find(|of| (&*of.clock, &*of.statistic) == (name, *statistic))
            };
            let values = STATISTICS.iter().filter_map(value);
            conditions.add(
                "clock-read-ns",
                &[CLOCKS, name],
                values.map(|of| of.value.to_string()),
            );
        }
    }
}

/// What a frame touches.
#[derive(Deserialize)]
pub struct FootprintFigure {
    /// Packets of the frame.
    pub frame_size: u64,
    /// Indices, in KB.
    pub vector_4b_kb: f64,
    /// Descriptors, in KB.
    pub descriptor_32b_kb: f64,
    /// Buffers, in KB.
    pub buffer_128b_kb: f64,
}

/// Figures of a data plane on a board.
#[derive(Deserialize)]
pub struct DataplaneReference {
    /// One line about them.
    pub title: String,
    /// The source.
    pub source: String,
    /// The board.
    pub platform: String,
    /// The figures.
    #[serde(skip)]
    pub figures: Vec<FootprintFigure>,
}

/// The energy of a number of tasks.
#[derive(Deserialize)]
pub struct EasFigure {
    /// The number of tasks.
    pub tasks: u32,
    /// The configuration of the kernel.
    pub configuration: String,
    /// The energy, in J.
    #[serde(deserialize_with = "positive")]
    pub energy_j: f64,
}

/// Energies of small tasks under energy-aware scheduling.
#[derive(Deserialize)]
pub struct EasReference {
    /// The source.
    pub source: String,
    /// The conditions of the figures.
    pub conditions: String,
    /// The boards on which they may have been taken.
    pub platforms: Vec<String>,
    /// The period of a task, in ms.
    pub period_ms: u64,
    /// The part of its period that a task computes, in percent of the fastest core.
    pub duty_percent: u64,
    /// The time of a run, in s.
    pub seconds: u64,
    /// The configuration whose figures count.
    configuration: String,
    /// The figures.
    #[serde(skip)]
    pub figures: Vec<EasFigure>,
}

impl EasReference {
    /// The figure of a number of tasks.
    pub fn figure(&self, tasks: u32) -> Option<&EasFigure> {
        let mut figures = self.figures.iter();
        figures.find(|of| (of.tasks, &of.configuration) == (tasks, &self.configuration))
    }
}

/// Energy and time of a benchmark in a configuration.
#[derive(Deserialize)]
pub struct EnergyFigure {
    /// The benchmark.
    pub benchmark: String,
    /// The configuration.
    pub configuration: String,
    /// The energy, in J.
    #[serde(deserialize_with = "positive")]
    pub energy_j: f64,
    /// The time, in s.
    #[serde(deserialize_with = "positive")]
    pub time_s: f64,
    /// The energy saved against the reference, in percent.
    pub printed_energy_benefit_percent: Option<f64>,
    /// The time saved against the reference, in percent.
    pub printed_time_benefit_percent: Option<f64>,
}

/// Savings of configurations of RCU.
#[derive(Deserialize)]
pub struct EnergyReference {
    /// The source.
    pub source: String,
    /// The conditions of the figures.
    pub conditions: String,
    /// The board.
    pub platform: String,
    /// The benchmark whose power in the reference scales the predictions.
    pub scale: String,
    /// What the talk says of callbacks on LITTLE cores.
    pub callbacks_on_little: String,
    /// The name of the reference configuration.
    pub reference: String,
    /// The figures.
    #[serde(skip)]
    pub figures: Vec<EnergyFigure>,
}

impl EnergyReference {
    /// The figure of a benchmark in a configuration.
    pub fn figure(&self, benchmark: &str, configuration: &str) -> Option<&EnergyFigure> {
        let mut figures = self.figures.iter();
        figures.find(|of| (&*of.benchmark, &*of.configuration) == (benchmark, configuration))
    }

    /// The power of a benchmark in the reference, in W.
    pub fn power(&self, benchmark: &str) -> Option<f64> {
        let of = self.figure(benchmark, &self.reference)?;
        Some(of.energy_j / of.time_s)
    }
}
