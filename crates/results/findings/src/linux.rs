//! `linux-boot`: what the kernel saw.

use crate::Findings;
use crate::rows::of_metric;
use recording::metrics::{IDLE_ENTERED, IDLE_REJECTED, IDLE_TIME};
use recording::{Recording, distinct, metrics, stats};
use schemars::JsonSchema;
use serde::Serialize;

const CASE: &str = "linux-boot";

/// A boot of Linux on the firmware.
#[derive(Serialize, JsonSchema)]
pub struct Boot<'r> {
    /// The kernel's version.
    pub kernel: &'r str,
    /// True if the kernel came up again after a cold and a warm reset.
    pub rebooted: bool,
    /// True if the kernel powered the machine off.
    pub powered_off: bool,
    /// Lines of the kernel's trace.
    pub trace_lines: u64,
    /// What went wrong, a sentence each.
    pub complaints: &'r [String],
    /// The version of BusyBox.
    pub busybox: &'r str,
    /// The number of CPUs that came up.
    pub cpus: f64,
    /// Times that each CPU was taken down and brought up.
    pub cycles: f64,
    /// Times that a CPU was not taken down or brought up.
    pub failures: f64,
    /// The idle states, as the CPUs entered them.
    pub states: Vec<State<'r>>,
}

/// An idle state, as the CPUs entered it.
#[derive(Serialize, JsonSchema)]
pub struct State<'r> {
    /// The state's name.
    pub name: &'r str,
    /// Entries of each CPU.
    pub entered: Vec<f64>,
    /// Entries that ended at once because an interrupt was pending.
    pub rejected: f64,
    /// Time in it, in microseconds.
    pub time: f64,
}

/// Reads a boot.
pub fn read<'r>(findings: &Findings<'r>) -> Boot<'r> {
    let recording = findings.recording;
    let header = &recording.header;
    let value = |metric| crate::rows::sum(recording, CASE, metric, "");
    let version = |what: &str| header.versions.get(what).map_or("", String::as_str);
    Boot {
        kernel: version("kernel"),
        rebooted: value(metrics::REBOOTED) > 0.0,
        powered_off: value(metrics::POWERED_OFF) > 0.0,
        trace_lines: value(metrics::TRACE_LINES) as u64,
        complaints: &header.complaints,
        busybox: version("busybox"),
        cpus: value(metrics::CPUS_UP),
        cycles: value(metrics::HOTPLUG_CYCLES),
        failures: value(metrics::HOTPLUG_FAILURES),
        states: states(recording),
    }
}

fn states(recording: &Recording) -> Vec<State<'_>> {
    let values = |metric, state: &str| -> Vec<f64> {
        of_metric(recording, metric)
            .filter(|row| row.subject == state)
            .map(|row| row.value)
            .collect()
    };
    let names = of_metric(recording, IDLE_ENTERED).map(|row| row.subject);
    distinct(names.filter(|name| !name.is_empty()))
        .into_iter()
        .map(|name| State {
            name,
            entered: values(IDLE_ENTERED, name),
            rejected: values(IDLE_REJECTED, name).iter().sum(),
            time: values(IDLE_TIME, name).iter().sum(),
        })
        .collect()
}

impl State<'_> {
    /// The fewest entries of a CPU, and the most.
    pub fn ends(&self) -> [f64; 2] {
        stats::ends(self.entered.iter().copied())
    }

    /// Mean length of a stay in microseconds; `None` where the state was never entered.
    pub fn mean_us(&self) -> Option<f64> {
        (self.all() > 0.0).then(|| self.time / self.all())
    }

    /// Entries over all CPUs.
    pub fn all(&self) -> f64 {
        self.entered.iter().sum()
    }
}
