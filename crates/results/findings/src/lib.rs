//! What experiments found: for each a module with a type whose fields are the result, and a
//! function that reads it from a recording.
//!
//! Serialized, a finding is the JSON that `stopwatt report --format json` prints. Reports draw it
//! and reckon nothing themselves. [`Finding`] has a row for each experiment, and [`schema`]
//! describes the JSON of all of them.
#![forbid(unsafe_code)]

pub mod accuracy;
pub mod batch;
mod beside;
pub mod cases;
pub mod compared;
pub mod cpuidle;
pub mod eas_energy;
pub mod energy;
pub mod errors;
pub mod exploration;
pub mod functions;
pub mod idle_clock;
pub mod idle_replay;
mod interval;
pub mod latency;
pub mod linux;
pub mod loaded;
pub mod nodes;
pub mod placement;
pub mod psci_calls;
pub mod published_changes;
mod published_strides;
mod recorded;
mod rows;
pub mod spread;
pub mod strides;
pub mod sweep_effects;
pub mod ticks;
pub mod trace_energy;
pub mod tune;
pub mod what_if;
pub mod working_set;

pub use interval::Interval;
// `placement` calls what it reads a run.
pub(crate) use recorded::Findings as Run;
pub use recorded::{Findings, MeasureRow, command, names, repeats};
pub use recording::stats::quantile;
pub use rows::InOrder;

use recording::facts::FactsError;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde::Serialize;

/// Makes [`Finding`] of its rows. A row has a name, which the class in Python has as well; the type
/// in its module; the experiments; and a call of the module's `read`.
macro_rules! findings {
    ($d:tt, $findings:ident, { $($name:ident($module:ident::$type:ident): $($experiment:literal)|+ $(if $is:expr)? => $read:expr;)* }) => {
        /// What an experiment found.
        #[derive(Serialize, JsonSchema)]
        #[expect(missing_docs, reason = "the words about a finding stand at its type")]
        pub enum Finding<'r> {
            $($name(crate::$module::$type<'r>),)*
        }

        impl<'r> Finding<'r> {
            /// Reads the finding of a recording; `None` if its experiment has none.
            ///
            /// # Errors
            /// The recording's facts are missing, or are of another version or form.
            pub fn read($findings: &'r Findings<'r>) -> Result<Option<Self>, FactsError> {
                // Whatever made them, latencies of PSCI calls are told in one way.
                let has_latencies = !$findings.compared().is_empty();
                let experiment = $findings.recording.header.experiment.as_str();
                Ok(Some(match if has_latencies { "psci-latency" } else { experiment } {
                    $($($experiment)|+ $(if $is)? => {
                        use crate::$module::read;
                        Self::$name($read)
                    })*
                    _ => return Ok(None),
                }))
            }

            /// The names of the experiments that have findings.
            pub const EXPERIMENTS: &'static [&'static str] = &[$($($experiment),+),*];

            /// Each finding's name, with the experiments that have it.
            pub const NAMES: &'static [(&'static str, &'static [&'static str])] =
                &[$((stringify!($name), &[$($experiment),+])),*];
        }

        /// Does the same with a finding, whatever its experiment is:
        /// `of_any!(finding, it => it.tell())`.
        #[macro_export]
        macro_rules! of_any {
            ($d finding:expr, $d inner:ident => $d does:expr) => {
                match $d finding {
                    $($crate::Finding::$name($d inner) => $d does,)*
                }
            };
        }
    };
}

findings!($, findings, {
    PsciLatency(latency::Latency): "psci-latency" if !findings.compared().is_empty() => read(findings);
    Explore(exploration::Exploration): "explore-psci" | "explore-rcu" => read(findings)?;
    PsciCalls(psci_calls::Calls): "psci-calls" => read(findings)?;
    LinuxBoot(linux::Boot): "linux-boot" => read(findings);
    Dataplane(loaded::LoadedGraph): "dataplane" => read(findings)?;
    Prefetch(strides::Strides): "prefetch" => read(findings)?;
    WorkingSet(working_set::WorkingSet): "batch" if crate::working_set::is_of(findings.recording) => read(findings);
    Batch(batch::Batch): "batch" => read(findings);
    Tune(tune::Tune): "tune" => read(findings)?;
    IdleReplay(idle_replay::Replay): "idle-replay" => read(findings)?;
    IdleClock(idle_clock::Clocks): "idle-clock" => read(findings)?;
    Cpuidle(cpuidle::KernelCounts): "cpuidle" | "ftrace" if crate::cpuidle::is_of(findings.recording) => read(findings)?;
    RcuEnergy(energy::Savings): "rcu-energy" => read(findings)?;
    EasEnergy(eas_energy::EasEnergy): "placement" if findings.recording.header.form == "tasks" => read(findings)?;
    Placement(placement::Placement): "placement" => read(findings)?;
    TraceEnergy(trace_energy::TraceEnergy): "trace-energy" => read(findings)?;
});

/// The schema of [`Finding`] as JSON: a key with the finding's name, and the finding below it.
pub fn schema() -> Schema {
    SchemaSettings::draft2020_12()
        .for_serialize()
        .into_generator()
        .into_root_schema_for::<Finding<'_>>()
}
