use super::{Facts, Power};
use itertools::Itertools;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;

/// Governors that were replayed on a trace.
#[derive(Default, Serialize, Deserialize)]
pub struct Replay {
    /// The title of the platform's idle states.
    pub title: String,
    /// The power numbers, where the platform has any.
    pub power: Option<Power>,
    /// True if the powers have no source.
    #[serde(default)]
    pub powers_assumed: bool,
    /// The traced kernel's own governor, as the rows name it; `None` where the trace does not say
    /// it.
    pub own: Option<String>,
    /// The rows of governors that chose under a limit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<Limited>,
    /// Governors' files, each beside the governor that was named before it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<Changed>,
    /// A limit for s2idle in us, and the state that it enters then.
    pub s2idle: Option<(u64, String)>,
}

/// A governor's file beside the governor that was named before it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Changed {
    /// Its row.
    pub name: String,
    /// The row of the other.
    pub of: String,
    /// Sleeps in which both chose.
    pub sleeps: u64,
    /// Those in which they chose different states: the least and the most over what the trace does
    /// not say.
    pub different: [u64; 2],
    /// True if the trace does not say all, so that they were compared at the ends of that alone.
    #[serde(default)]
    pub is_open: bool,
    /// The same by state: the other's, its own, and the most sleeps; the commonest first.
    pub states: Vec<(String, String, u64)>,
    /// The share by which it takes less energy, least and most, over the same and over what a round
    /// trip costs; `None` without powers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub less: Option<[f64; 2]>,
}

impl Changed {
    /// The choices of one beside those of another, by the state of each sleep: the other's, its
    /// own.
    pub fn new<'s>(
        [name, of]: [String; 2],
        choices: impl Iterator<Item = (&'s str, &'s str)>,
    ) -> Self {
        let mut sleeps = 0;
        let counted = choices.inspect(|_| sleeps += 1);
        let counts = counted.filter(|(of, own)| of != own).counts();
        let states = counts
            .into_iter()
            .sorted_by_key(|(pair, count)| (Reverse(*count), *pair))
            .map(|((of, own), count)| (of.to_owned(), own.to_owned(), count as u64))
            .collect_vec();
        let different = states.iter().map(|(.., count)| count).sum();
        Self {
            name,
            of,
            sleeps,
            different: [different; 2],
            is_open: false,
            states,
            less: None,
        }
    }
}

/// A governor that chose under a limit.
#[derive(Serialize, Deserialize)]
pub struct Limited {
    /// Its row.
    pub name: String,
    /// The row without the limit.
    pub of: String,
    /// The longest exit latency that was allowed, in us; `None` where any was.
    pub latency_us: Option<u64>,
    /// The idle states that it could choose.
    pub left: Vec<String>,
}

impl Replay {
    /// The modes of the least and of the most that a governor may have done, where the trace does
    /// not say enough.
    pub const ENDS: [&str; 2] = ["least", "most"];
    /// The case of power domains: a domain's name is the role, its state's the subject. The time
    /// without a subject is that in which all of its CPUs were idle.
    pub const POWER_DOMAINS: &str = "power-domains";
    /// The case of the choices of governors' files: an event for each sleep, of which the point is
    /// the state.
    pub const CHOICES: &str = "choices";
    /// The subject of counts over all states.
    pub const ALL_STATES: &str = "all states";
}

impl Facts for Replay {}

/// Clocks that were read and divisions that were made on the machine at hand.
#[derive(Default, Serialize, Deserialize)]
pub struct Clocks {
    /// The kernel's clock source, where it is known.
    pub source: Option<String>,
    /// The reason for which this is taken to be a virtual machine; `None` where it is none.
    pub virtual_machine: Option<String>,
}

impl Facts for Clocks {}

/// A kernel's counts of its idle states in a measurement.
#[derive(Default, Serialize, Deserialize)]
pub struct IdleCounts {
    /// Source of the clusters, a clause; empty where clusters are not known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub clusters: String,
    /// The idle states, the shallowest of each kernel, test and cluster first.
    pub states: Vec<CountedState>,
}

/// An idle state that a kernel counted.
#[derive(Serialize, Deserialize)]
pub struct CountedState {
    /// The kernel or machine.
    pub variant: String,
    /// The test.
    pub case: String,
    /// The cluster, where clusters are known.
    pub cluster: Option<u16>,
    /// Number of the idle state, from 0 for the shallowest.
    pub number: u16,
    /// Name of the idle state.
    pub name: String,
    /// Exit latency in microseconds, where it is known.
    pub exit_latency_us: Option<u64>,
    /// Target residency in microseconds, where it is known.
    pub residency_us: Option<u64>,
    /// True if it was disabled on all CPUs.
    #[serde(default)]
    pub disabled: bool,
}

impl Facts for IdleCounts {}
