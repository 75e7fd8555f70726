//! `idle-clock`: what reading a clock and dividing cost the idle loop.

use crate::Findings;
use crate::rows::{Row, measures_of, of_metric};
use crate::spread::Steadiness;
use published::ClockReference;
use recording::facts::{self, FactsError};
use recording::metrics::{self, Metric};
use recording::{Recording, grouped};
use schemars::JsonSchema;
use serde::Serialize;

/// Clocks, divisions, and what they change.
#[derive(Serialize, JsonSchema)]
pub struct Clocks<'r> {
    /// Reads of each clock, by number of threads.
    pub clocks: Vec<Clock<'r>>,
    /// The published reads that a replay charges.
    pub charged: Vec<Clock<'r>>,
    /// Divisions, by what the compiler knows of the divisor.
    pub divisions: Vec<Division<'r>>,
    /// The choices that change with another clock or division, by governor.
    pub changes: Vec<Change<'r>>,
    /// Nanoseconds that a faster clock saves on each sleep; `None` unless two clocks were compared.
    pub saving_per_sleep_ns: Option<f64>,
    /// The share by which a shift by 10 bits counts less than a division by 1000.
    pub shift_bias: f64,
    /// The kernel's clock source; `None` where it is not known.
    pub clock_source: Option<String>,
    /// Sentences that the run left about itself.
    pub notes: &'r [String],
    /// The recording's folder, as it was named on the command line.
    pub recording: &'r str,
    /// Whether the machine repeats itself.
    pub steadiness: Steadiness,
    /// The clocks whose difference is saved.
    pub saved_by: String,
    /// Published figures of clocks and divisions.
    #[serde(skip)]
    pub reference: Option<&'r ClockReference>,
}

/// Statistics of times in nanoseconds: of a read or a division, over rounds of many.
#[derive(Clone, Copy, Default, PartialEq, Serialize, JsonSchema)]
pub struct Statistics {
    /// The mean.
    pub average_ns: Option<f64>,
    /// The mean without the longest of 100 rounds.
    pub trimmed_ns: Option<f64>,
    /// The standard deviation.
    pub stddev_ns: Option<f64>,
    /// The least.
    pub min_ns: Option<f64>,
    /// The greatest.
    pub max_ns: Option<f64>,
    /// The first quartile.
    pub p25_ns: Option<f64>,
    /// The median.
    pub p50_ns: Option<f64>,
    /// The third quartile.
    pub p75_ns: Option<f64>,
    /// The 99th percentile.
    pub p99_ns: Option<f64>,
}

impl Statistics {
    /// The quartiles with the median between them; in older recordings the median alone, or the
    /// mean where there is no other.
    pub fn quartiles(&self) -> Option<[f64; 3]> {
        let middle = self.p50_ns.or(self.average_ns)?;
        Some([
            self.p25_ns.unwrap_or(middle),
            middle,
            self.p75_ns.unwrap_or(middle),
        ])
    }

    /// Those of a recording by their names there.
    fn new(values: &[(&str, f64)]) -> Self {
        let at = |wanted| {
            let mut last = values.iter().rev();
            Some(last.find(|(name, _)| *name == wanted)?.1)
        };
        Self {
            average_ns: at("average"),
            trimmed_ns: at("trimmed"),
            stddev_ns: at("stddev"),
            min_ns: at("min"),
            max_ns: at("max"),
            p25_ns: at("p25"),
            p50_ns: at("p50"),
            p75_ns: at("p75"),
            p99_ns: at("p99"),
        }
    }
}

/// Reads of a clock with a number of threads.
#[derive(Serialize, JsonSchema)]
pub struct Clock<'r> {
    /// The clock's name.
    pub name: &'r str,
    /// The number of threads that read it at the same time; `None` where it is not known.
    pub threads: Option<u64>,
    /// True if it was measured in a virtual machine.
    pub virtual_machine: bool,
    /// Times of a read in nanoseconds.
    #[serde(flatten)]
    pub times: Statistics,
    /// The number of threads as the recording has it.
    pub mode: &'r str,
}

/// A division, each waiting for the one before it.
#[derive(Serialize, JsonSchema)]
pub struct Division<'r> {
    /// The division's name.
    pub name: &'r str,
    /// True if the compiler knew the divisor.
    pub divisor_known: bool,
    /// Times of a division in nanoseconds.
    #[serde(flatten)]
    pub times: Statistics,
    /// What the compiler knew, in words.
    pub mode: &'r str,
}

/// The choices that a governor changes with another clock or another division.
#[derive(Serialize, JsonSchema)]
pub struct Change<'r> {
    /// The governor's name.
    pub governor: &'r str,
    /// The assumption about what the trace does not say; empty where it says all.
    pub unsaid: &'r str,
    /// The clock or division that takes the place of the usual one.
    pub with: &'r str,
    /// The share of the choices that change, from 0 to 1.
    pub changed_choices: f64,
    /// The relative change of the energy, signed; `None` where no energy is known.
    pub changed_energy: Option<f64>,
}

/// The share by which a shift by 10 bits counts less than a division by 1000: 24/1024.
pub const BIAS: f64 = 1.0 - 1000.0 / 1024.0;

fn times<'r>(
    recording: &'r Recording,
    case: &'r str,
    metric: Metric,
) -> Vec<(&'r str, &'r str, Statistics)> {
    let rows = measures_of(recording, case, metric);
    grouped(rows.map(|row| ((row.variant, row.mode), (row.subject, row.value))))
        .into_iter()
        .map(|((name, mode), values)| (name, mode, Statistics::new(&values)))
        .filter(|(.., times)| *times != Statistics::default())
        .collect()
}

fn changes(recording: &Recording) -> Vec<Change<'_>> {
    of_metric(recording, metrics::CHANGED_CHOICES)
        .map(|choices| {
            let at =
                |row: &Row<'_>| (row.names(), row.subject) == (choices.names(), choices.subject);
            let changed_energy = of_metric(recording, metrics::CHANGED_ENERGY)
                .find(at)
                .map(|row| row.value);
            Change {
                governor: choices.variant,
                unsaid: choices.mode,
                with: choices.subject,
                changed_choices: choices.value,
                changed_energy,
            }
        })
        .collect()
}

/// Reads clocks, divisions and changes.
pub fn read<'r>(findings: &Findings<'r>) -> Result<Clocks<'r>, FactsError> {
    let recording = findings.recording;
    let facts: facts::Clocks = recording.header.facts()?;
    let is_virtual = facts.virtual_machine.is_some();
    let of_threads = |case, metric| {
        let of = |(name, mode, times): (_, &'r str, _)| Clock {
            name,
            threads: mode.split(" ").next().and_then(|count| count.parse().ok()),
            virtual_machine: is_virtual,
            times,
            mode,
        };
        times(recording, case, metric).into_iter().map(of)
    };
    let clocks: Vec<_> = of_threads("clock-read", metrics::CLOCK_READ).collect();
    let divisions = times(recording, "division", metrics::DIVISION).into_iter();
    // Two reads are saved on each sleep, each by what the second published clock takes less than
    // the first.
    let published = times(recording, "condition", metrics::CLOCK_READ);
    let saving = match &published[..] {
        [(first, _, slow), (second, _, fast)] => {
            let less = slow
                .average_ns
                .zip(fast.average_ns)
                .map(|(slow, fast)| slow - fast);
            less.map(|less| (format!("{second} for {first}"), 2.0 * less))
        }
        _ => None,
    };
    let apart = |clock: &Clock<'_>| {
        let [low, middle, high] = clock.times.quartiles()?;
        Some((high - low) / middle.max(f64::MIN_POSITIVE))
    };
    Ok(Clocks {
        reference: findings.published.clocks.as_ref(),
        steadiness: Steadiness::new(clocks.iter().map(apart), []),
        clocks,
        charged: of_threads("condition", metrics::CLOCK_READ).collect(),
        divisions: divisions
            .map(|(name, mode, times)| Division {
                name,
                divisor_known: mode == "divisor known",
                times,
                mode,
            })
            .collect(),
        changes: changes(recording),
        saving_per_sleep_ns: saving.as_ref().map(|(_, ns)| *ns),
        shift_bias: BIAS,
        clock_source: facts.source,
        notes: &recording.header.notes,
        recording: findings.folder,
        saved_by: saving.map(|(by, _)| by).unwrap_or_default(),
    })
}
