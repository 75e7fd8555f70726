//! An idle state's counters, dumps of all of them, and what was counted.

use crate::error::ImportError;
use recording::metrics::Metric;
use std::collections::BTreeMap;

/// The content of an input.
#[derive(Clone)]
pub enum Content {
    /// The counters at a moment.
    Dump(Dump),
    /// What was counted already.
    Table(Vec<Counts>),
}

/// A share of the time, or what hardware counted of a state.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// The core, the package or another part of the hardware; empty for a CPU or all CPUs.
    pub place: String,
    /// Number of the CPU; `None` for all CPUs and for a place.
    pub cpu: Option<u16>,
    /// Name of the idle state.
    pub state: String,
    /// What was measured, with its unit.
    pub metric: Metric,
    /// The value, from 0.
    pub value: f64,
}

/// An idle state of a CPU with its counters: since the kernel booted in a dump, of a measurement in
/// [`Counts`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// Name of the idle state.
    pub name: String,
    /// Exit latency in microseconds, where it is known.
    pub latency_us: Option<u64>,
    /// Target residency in microseconds, where it is known.
    pub residency_us: Option<u64>,
    /// True if it was disabled.
    pub disabled: bool,
    /// Entries.
    pub entered: u64,
    /// Time in the state in microseconds, where it is known.
    pub time_us: Option<u64>,
    /// Stays that a shallower state would have suited better; kernels before 5.0 do not count them.
    pub above: Option<u64>,
    /// Stays that a deeper state would have suited better; kernels before 5.0 do not count them.
    pub below: Option<u64>,
    /// Entries that were refused; kernels before 5.10 do not count them.
    pub rejected: Option<u64>,
    /// Entries while the system was suspended to idle, which only tables of power domains have.
    pub s2idle: Option<u64>,
    /// The file that it stands in.
    pub file: String,
    /// The line of its first counter, from 1.
    pub line: u64,
}

/// The counters of all CPUs at a moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dump {
    /// Name of the file, for errors.
    pub file: String,
    /// The states of each CPU by its number.
    pub cpus: BTreeMap<u16, Vec<State>>,
    /// The states of each power domain by its name, where the dump has them.
    pub domains: BTreeMap<String, Vec<State>>,
    /// The cluster of each CPU, where the dump says it.
    pub clusters: BTreeMap<u16, u16>,
    /// True if the dump names no CPU, so that their numbers follow from their order.
    pub numbered_by_order: bool,
}

/// The counts in a measurement.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// The kernel or machine.
    pub variant: String,
    /// The test.
    pub case: String,
    /// The seconds between the dumps, where they are known.
    pub seconds: Option<f64>,
    /// The counts for each CPU.
    pub cpus: Vec<CpuCounts>,
    /// What was measured beside counts.
    pub measured: Vec<Measured>,
}

/// The counts for a CPU.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CpuCounts {
    /// Number of the CPU; `None` for a sum over CPUs.
    pub cpu: Option<u16>,
    /// Cluster of the CPU and its place there, where clusters are known.
    pub place: Option<(u16, u16)>,
    /// States of the CPU.
    pub states: Vec<State>,
}

/// The forms that are read, for help texts.
pub const FORMS: &str = "a dump is a folder or a tar archive of /sys/devices/system/cpu/cpu*/cpuidle/state*/, \
     what `grep . /sys/devices/system/cpu/cpu*/cpuidle/state*/*` or `cat` of the same files, `cpupower -c all idle-info` or \
     `grep . /sys/kernel/debug/pm_genpd/*/idle_states` printed, a table with the columns State, Name, Time, Usage, CSV or JSON \
     with the columns state, name, usage; or what turbostat, cpupower monitor, powertop, a hist trigger, bpftrace or perf stat \
     printed; each may be packed with gzip, xz or zstd";

/// Idle states of a CPU at most: the kernel's own limit is 10.
pub const MOST_STATES: usize = 64;
/// CPUs of a dump at most.
const MOST_CPUS: usize = 8192;

impl State {
    /// The counters, with the names of their files.
    pub(super) fn counters(&self) -> [(&'static str, Option<u64>); 6] {
        [
            ("usage", Some(self.entered)),
            ("time", self.time_us),
            ("above", self.above),
            ("below", self.below),
            ("rejected", self.rejected),
            ("s2idle", self.s2idle),
        ]
    }

    /// What was counted since an earlier moment. Counters that went back count nothing.
    pub(super) fn since(&self, before: &Self) -> Self {
        let less = |before: Option<u64>, after: Option<u64>| Some(after?.saturating_sub(before?));
        Self {
            entered: self.entered.saturating_sub(before.entered),
            time_us: less(before.time_us, self.time_us),
            above: less(before.above, self.above),
            below: less(before.below, self.below),
            rejected: less(before.rejected, self.rejected),
            s2idle: less(before.s2idle, self.s2idle),
            ..self.clone()
        }
    }

    /// The name and what tells it from a state of another CPU.
    pub(super) fn kind(&self) -> (&str, Option<u64>, Option<u64>) {
        (&self.name, self.latency_us, self.residency_us)
    }

    /// An error about this state.
    pub(super) fn wrong(&self, message: impl Into<String>, help: &str) -> ImportError {
        ImportError::new(&self.file, self.line, "", message, help)
    }
}

impl Dump {
    /// The same states when the machine started: nothing was counted yet.
    pub fn at_start(&self) -> Self {
        let mut dump = self.clone();
        for state in dump
            .cpus
            .values_mut()
            .chain(dump.domains.values_mut())
            .flatten()
        {
            *state = state.since(state);
        }
        dump
    }

    /// True if another dump has the same counters.
    pub fn counts_as(&self, other: &Self) -> bool {
        let counters = |dump: &Self| -> Vec<_> {
            dump.cpus
                .values()
                .chain(dump.domains.values())
                .flatten()
                .map(State::counters)
                .collect()
        };
        counters(self) == counters(other)
    }

    /// Refuses a dump of which the end is missing.
    pub(super) fn check(self) -> Result<Self, ImportError> {
        if self.cpus.is_empty() && self.domains.is_empty() {
            return Err(ImportError::whole(
                &self.file,
                "there is no idle state in it",
                FORMS,
            ));
        }
        if self.cpus.len() > MOST_CPUS {
            return Err(ImportError::whole(
                &self.file,
                format!("{} CPUs", self.cpus.len()),
                "at most 8192 can be read",
            ));
        }
        let names = |states: &[State]| states.iter().map(|of| of.name.clone()).collect::<Vec<_>>();
        for (cpu, states) in &self.cpus {
            let own = names(states);
            let longer = self
                .cpus
                .iter()
                .find(|(_, other)| other.len() > own.len() && names(other).starts_with(&own));
            if let (Some((other, of_other)), Some(last)) = (longer, states.last()) {
                let (own, of_other) = (own.len(), of_other.len());
                return Err(last.wrong(
                    format!("CPU {cpu} ends after {own} of the {of_other} states that CPU {other} has"),
                    "the dump is cut off, or files of it are missing: take it again, or send it whole",
                ));
            }
        }
        Ok(self)
    }
}
