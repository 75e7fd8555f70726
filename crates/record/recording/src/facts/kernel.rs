use super::{Facts, numbered};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// A trace of a kernel: what it says of the kernel, and the names of what its events count by
/// number.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct KernelTrace {
    /// The idle governor; `None` where the trace does not say it.
    pub governor: Option<String>,
    /// The kernel's release, as it says it; `None` where the trace does not say it.
    pub release: Option<String>,
    /// Switches away from a task in a wait that nothing interrupts, as for input or output; `None`
    /// where the trace's switches do not tell.
    pub uninterrupted_waits: Option<u64>,
    /// The idle states by their numbers; empty where the trace does not name them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub states: Vec<IdleState>,
    /// The kernel's own counts of idle states, at each mark.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub usage: Vec<IdleUsage>,
    /// Command names of tasks by process number.
    #[serde(default, with = "numbered", skip_serializing_if = "BTreeMap::is_empty")]
    pub tasks: BTreeMap<u32, String>,
    /// Names of interrupts by number.
    #[serde(default, with = "numbered", skip_serializing_if = "BTreeMap::is_empty")]
    pub interrupts: BTreeMap<u32, String>,
    /// Process numbers of tasks that ran with a lower priority than usual.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub low_priority: BTreeSet<u32>,
    /// Names of the functions of RCU's callbacks, and of marks, by number, from 1.
    #[serde(default, with = "numbered", skip_serializing_if = "BTreeMap::is_empty")]
    pub functions: BTreeMap<u32, String>,
    /// Who woke the CPUs; `None` in recordings of older Stopwatts and where no CPU slept.
    pub wake_ups: Option<WakeUps>,
    /// How the clusters slept, where the trace has states of their own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub domains: Vec<DomainSleep>,
    /// Times of which no event says that a CPU ran or was idle.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub away: Vec<Away>,
}

/// A time in which a CPU neither ran nor was idle, as far as a trace tells.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Away {
    /// The CPU.
    pub cpu: u16,
    /// Why: `offline`, `suspended`, or `without events`.
    pub why: String,
    /// When it began and ended, in nanoseconds of the trace's clock.
    pub ns: [u64; 2],
}

impl Away {
    /// The CPU was not there.
    pub const OFFLINE: &str = "offline";
}

/// Who woke the CPUs. The commonest stand first.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WakeUps {
    /// Wake-ups by cause.
    pub causes: Vec<WakeRow>,
    /// Wake-ups of each CPU by state and cause.
    pub cpus: Vec<WakeRow>,
    /// Wake-ups by cause, caller and the task that ran first.
    pub callers: Vec<WakeRow>,
    /// Entries into idle states with a call from another CPU on its way; `None` where the trace
    /// does not tell.
    pub called_before: Option<u64>,
    /// Events that are not in the trace, and what is not known without them, a phrase each.
    pub unseen: Vec<String>,
}

/// Wake-ups of idle CPUs. What they are not told apart by is `None`, and so is what is not known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WakeRow {
    /// The cause: `timer`, `interrupt`, `IPI`, `task` or `unknown`, and its name.
    pub cause: String,
    /// The interrupt by which the cause came, where that is not the cause itself.
    pub way: Option<String>,
    /// The CPU that was woken.
    pub cpu: Option<u16>,
    /// The name of the state that it was in.
    pub state: Option<String>,
    /// The CPU that called it.
    pub by_cpu: Option<u16>,
    /// The task that ran there.
    pub by: Option<String>,
    /// The task that ran first on the CPU that was woken.
    pub first: Option<String>,
    /// Wake-ups.
    pub count: u64,
    /// Nanoseconds from the cause to the end of the idle state: the median, the largest.
    pub to_exit_ns: Option<[u64; 2]>,
    /// Nanoseconds from there to the first handler or task: the median, the largest.
    pub to_run_ns: Option<[u64; 2]>,
}

/// The sleep of a cluster.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DomainSleep {
    /// CPUs of the cluster.
    pub cpus: Vec<u16>,
    /// What slept: all CPUs, the cluster in a state, all CPUs but not the cluster.
    pub what: String,
    /// Stays; `None` where they are not counted.
    pub entered: Option<u64>,
    /// Nanoseconds in all.
    pub total_ns: u64,
}

/// An idle state of the traced kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IdleState {
    /// Name of the idle state.
    pub name: String,
    /// Exit latency in microseconds, where the trace says it.
    pub exit_latency_us: Option<u64>,
    /// Target residency in microseconds, where the trace says it.
    pub residency_us: Option<u64>,
}

/// The kernel's own counts of an idle state of a CPU, since it booted.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
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

impl KernelTrace {
    /// Names of the idle states, by their numbers.
    pub fn state_names(&self) -> BTreeMap<u32, String> {
        (0..)
            .zip(&self.states)
            .map(|(number, state)| (number, state.name.clone()))
            .collect()
    }

    /// The name of an idle state; its number where the trace names none.
    pub fn state_name(&self, number: usize) -> String {
        self.states
            .get(number)
            .map_or_else(|| format!("state {number}"), |state| state.name.clone())
    }
}

impl Facts for KernelTrace {}
