//! The facts of an experiment's recording: what a story tells beside events and measures, as one
//! type per experiment.
//!
//! An experiment writes its facts with [`Header::set_facts`], and whoever reads the recording reads
//! them with [`Header::facts`]: by the same type, so that a key that is missing or misspelt does
//! not compile. They stand in `recording.toml` under `[facts]`.
//!
//! | file | facts of |
//! |---|---|
//! | `dataplane.rs` | loaded graphs, the stride study, frame sizes, rates |          
//! | `energy.rs` | what configurations of RCU save; a workload under policies of placement; numbers of equal tasks; a trace by owner |
//! | `explore.rs` | a schedule that breaks something; what an exploration reached |
//! | `functions.rs` | instructions of passages by function |
//! | `idle.rs` | governors replayed on a trace; clocks and divisions; a kernel's counts of idle states |
//! | `kernel.rs` | a trace of a kernel |
//! | `tune.rs` | a loop whose distances and batch were tried |

mod dataplane;
mod energy;
mod explore;
mod functions;
mod idle;
mod kernel;
mod tune;

pub use dataplane::{Driver, GraphLoad, Study};
pub use energy::{
    Benchmark, Energy, ManyTasks, Placement, Power, TaskBoard, TraceEnergy, TraceOwner,
    TraceWhatIf, Unknown, WorkOfCore,
};
pub use explore::{CALLS, Coverage, CoverageItem, Exploration, LastOperation};
pub use functions::{CountColumn, FunctionCounts, Functions, Passage};
pub use idle::{Changed, Clocks, CountedState, IdleCounts, Limited, Replay};
pub use kernel::{Away, DomainSleep, IdleState, IdleUsage, KernelTrace, WakeRow, WakeUps};
pub use tune::{ComparedBy, MissedLine, TunedKnob, TunedLoop, TunedPartial, TunedPlace, TunedSet};

use crate::Header;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The facts of an experiment. TOML has no null: what is `None` has no key.
pub trait Facts: Serialize + DeserializeOwned {
    /// True if its numbers and words are settings of the run, which comparisons name as inputs that
    /// differ.
    const ARE_SETTINGS: bool = false;
}

/// Why a recording's facts cannot be read, in a sentence: there are none, or they are of another
/// form.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct FactsError(String);

impl Header {
    /// Writes the experiment's facts.
    ///
    /// # Panics
    /// The type has a form that TOML has not, such as an empty option within a list.
    pub fn set_facts<F: Facts>(&mut self, facts: &F) {
        let table =
            toml::Table::try_from(facts).expect("facts are tables of numbers, texts and lists");
        if F::ARE_SETTINGS {
            self.settings.extend(
                table
                    .iter()
                    .filter_map(|(key, value)| Some((key.clone(), setting(value)?))),
            );
        }
        self.facts = Some(table);
    }

    /// The experiment's facts.
    ///
    /// # Errors
    /// There are none, or they are of another form.
    pub fn facts<F: Facts>(&self) -> Result<F, FactsError> {
        let experiment = &self.experiment;
        let Some(table) = &self.facts else {
            return Err(FactsError(format!(
                "This recording of {experiment} has no [facts] to tell its story by, so its measures are shown as they are; run it again for \
                 the story."
            )));
        };
        table.clone().try_into().map_err(|cause| {
            let cause = cause.message();
            FactsError(format!(
                "[facts] of this recording of {experiment} cannot be read: {cause}; run it again."
            ))
        })
    }
}

/// A number, a word or a list of them as a setting is written; `None` for texts of several lines
/// and tables.
fn setting(value: &toml::Value) -> Option<String> {
    match value {
        toml::Value::String(text) => (!text.contains('\n')).then(|| text.clone()),
        toml::Value::Array(values) => values
            .iter()
            .map(setting)
            .collect::<Option<Vec<_>>>()
            .map(|all| all.join(",")),
        toml::Value::Table(_) => None,
        other => Some(other.to_string()),
    }
}

/// Names by number; TOML's keys are texts.
pub(crate) mod numbered {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::collections::BTreeMap;

    pub(crate) fn serialize<S: Serializer>(
        names: &BTreeMap<u32, String>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let texts: BTreeMap<String, &String> = names
            .iter()
            .map(|(number, name)| (number.to_string(), name))
            .collect();
        texts.serialize(serializer)
    }

    pub(crate) fn deserialize<'d, D: Deserializer<'d>>(
        deserializer: D,
    ) -> Result<BTreeMap<u32, String>, D::Error> {
        let texts = BTreeMap::<String, String>::deserialize(deserializer)?;
        let number = |(key, name): (String, String)| match key.parse() {
            Ok(number) => Ok((number, name)),
            Err(_) => Err(D::Error::custom(format!(
                "`{key}` is no number; the keys of names are whole numbers"
            ))),
        };
        texts.into_iter().map(number).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_read_as_they_were_written_and_others_are_refused_in_a_sentence() {
        let mut header = Header::new("explore-psci", "explore", "us");
        let none = header.facts::<Exploration>().unwrap_err();
        assert!(none.to_string().contains("has no [facts]"), "{none}");
        let facts = Exploration {
            schedule: "s".to_owned(),
            sentences: vec!["one".to_owned()],
            ..Exploration::default()
        };
        header.set_facts(&facts);
        let text = toml::to_string(&header).unwrap();
        let read: Header = toml::from_str(&text).unwrap();
        assert_eq!(read.facts::<Exploration>().unwrap(), facts);

        let table = header.facts.as_mut().unwrap();
        table.insert("sentences".to_owned(), 7.into());
        let form = header.facts::<Exploration>().unwrap_err();
        assert!(
            form.to_string()
                .starts_with("[facts] of this recording of explore-psci cannot be read"),
            "{form}"
        );
    }

    #[test]
    fn a_trace_keeps_its_names_by_number() {
        let mut header = Header::new("ftrace", "import", "ns");
        let mut facts = KernelTrace::default();
        facts.tasks.insert(4_000_000, "rcuop/1".to_owned());
        facts.states.push(IdleState {
            name: "WFI".to_owned(),
            exit_latency_us: Some(1),
            residency_us: None,
        });
        header.set_facts(&facts);
        let read: Header = toml::from_str(&toml::to_string(&header).unwrap()).unwrap();
        assert_eq!(read.facts::<KernelTrace>().unwrap(), facts);
    }
}
