use super::{Facts, numbered};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A trace of a kernel: what it says of the kernel, and the names of what its events count by
/// number.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelTrace {
    /// The idle governor; `None` where the trace does not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub governor: Option<String>,
    /// The kernel's release, as it says it; `None` where the trace does not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub release: Option<String>,
    /// Switches away from a task in a wait that nothing interrupts, as for input or output; `None`
    /// where the trace's switches do not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uninterrupted_waits: Option<u64>,
    /// The idle states by their numbers; empty where the trace does not name them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub states: Vec<IdleState>,
    /// The kernel's own counts of idle states, at each mark.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub usage: Vec<IdleUsage>,
    /// Marks that a guest wrote into the trace.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<Mark>,
    /// Command names of tasks by process number.
    #[serde(default, with = "numbered", skip_serializing_if = "BTreeMap::is_empty")]
    pub tasks: BTreeMap<u32, String>,
    /// Names of interrupts by number.
    #[serde(default, with = "numbered", skip_serializing_if = "BTreeMap::is_empty")]
    pub interrupts: BTreeMap<u32, String>,
    /// Names of callbacks' functions by number.
    #[serde(default, with = "numbered", skip_serializing_if = "BTreeMap::is_empty")]
    pub functions: BTreeMap<u32, String>,
}

/// An idle state of the traced kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdleState {
    /// Name of the idle state.
    pub name: String,
    /// Exit latency in microseconds, where the trace says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_latency_us: Option<u64>,
    /// Target residency in microseconds, where the trace says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub residency_us: Option<u64>,
}

/// The kernel's own counts of an idle state of a CPU, since it booted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdleUsage {
    /// Time of the trace's clock in nanoseconds.
    pub at_ns: u64,
    /// The CPU.
    pub cpu: u16,
    /// The state's number.
    pub state: u16,
    /// Entries.
    pub entered: u64,
    /// Time in the state in microseconds.
    pub microseconds: u64,
    /// Entries that turned out too deep.
    pub above: u64,
    /// Entries that turned out too shallow.
    pub below: u64,
    /// Entries that the hardware refused.
    pub rejected: u64,
}

/// A mark in a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// Time of the trace's clock in nanoseconds.
    pub at_ns: u64,
    /// The word that was written.
    pub name: String,
}

impl KernelTrace {
    /// The time of the first mark of a name, in nanoseconds.
    pub fn mark(&self, name: &str) -> Option<u64> {
        self.marks.iter().find(|mark| mark.name == name).map(|mark| mark.at_ns)
    }

    /// The number of a callback's function.
    pub fn function(&self, name: &str) -> Option<u32> {
        self.functions.iter().find(|(_, other)| *other == name).map(|(number, _)| *number)
    }

    /// Names of the idle states, by their numbers.
    pub fn state_names(&self) -> BTreeMap<u32, String> {
        (0..).zip(&self.states).map(|(number, state)| (number, state.name.clone())).collect()
    }

    /// The name of an idle state; its number where the trace names none.
    pub fn state_name(&self, number: usize) -> String {
        self.states.get(number).map_or_else(|| format!("state {number}"), |state| state.name.clone())
    }
}

impl Facts for KernelTrace {}
