//! `linux-boot`: what the kernel saw.

use super::story::Story;
use crate::blocks::{Blocks, Table, figure, fixed, name};
use crate::model::findings::Findings;
use findings::Run;
use recording::metrics::{IDLE_ENTERED, IDLE_REJECTED, IDLE_TIME};
use recording::{Recording, metrics};
use serde::Serialize;
use serde_json::Value;

const CASE: &str = "linux-boot";

/// A boot of Linux on the firmware.
#[derive(Serialize)]
pub(super) struct Boot<'r> {
    #[serde(flatten)]
    measures: Value,
    kernel: &'r str,
    rebooted: bool,
    powered_off: bool,
    trace_lines: u64,
    complaints: &'r [String],
    #[serde(skip)]
    busybox: &'r str,
    #[serde(skip)]
    cpus: f64,
    #[serde(skip)]
    cycles: f64,
    #[serde(skip)]
    failures: f64,
    #[serde(skip)]
    states: Vec<State<'r>>,
}

/// An idle state, as the CPUs entered it.
struct State<'r> {
    name: &'r str,
    /// Entries of each CPU.
    entered: Vec<f64>,
    /// Entries that ended at once because an interrupt was pending.
    rejected: f64,
    /// Time in it, in microseconds.
    time: f64,
}

/// Reads a boot.
pub(super) fn read<'r>(run: &Run<'r>, findings: &Findings<'_>) -> Boot<'r> {
    let recording = run.recording;
    let header = &recording.header;
    let value = |metric| findings::rows::sum(recording, CASE, metric, "");
    let version = |what: &str| header.versions.get(what).map_or("", String::as_str);
    Boot {
        measures: crate::export::json::with_recording(Value::Object(serde_json::Map::new()), findings),
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
    let mut names: Vec<&str> = Vec::new();
    for measure in recording.measures().iter().filter(|measure| recording.text(measure.metric) == IDLE_ENTERED.name) {
        if let Some(state) = measure.subject.map(|subject| recording.text(subject))
            && !names.contains(&state)
        {
            names.push(state);
        }
    }
    let values = |metric: &str, state: &str| -> Vec<f64> {
        let of = |measure: &&recording::Measure| {
            recording.text(measure.metric) == metric
                && measure.subject.is_some_and(|subject| recording.text(subject) == state)
        };
        recording.measures().iter().filter(of).map(|measure| measure.value).collect()
    };
    let state = |name| State {
        name,
        entered: values(IDLE_ENTERED.name, name),
        rejected: values(IDLE_REJECTED.name, name).iter().sum(),
        time: values(IDLE_TIME.name, name).iter().sum(),
    };
    names.into_iter().map(state).collect()
}

impl State<'_> {
    fn all(&self) -> f64 {
        self.entered.iter().sum()
    }
}

impl Story for Boot<'_> {
    fn tell(&self, told: &mut Blocks) {
        let yes = |is| if is { "yes" } else { "no" };
        told.answer(format!(
            "{}, {}: {} CPUs up, {} hotplug cycles per CPU, {} failures.",
            self.kernel, self.busybox, self.cpus, self.cycles, self.failures
        ));
        let table = Table::with_rows(&self.states)
            .words("idle state", |state| name(state.name))
            .numbers("fewest per CPU", "", |state| {
                fixed(state.entered.iter().copied().fold(f64::INFINITY, f64::min), 0)
            })
            .numbers("most per CPU", "", |state| fixed(state.entered.iter().copied().fold(0.0, f64::max), 0))
            .numbers("all CPUs", "", |state| fixed(state.all(), 0))
            .numbers("rejected", "", |state| fixed(state.rejected, 0))
            .numbers("mean stay", "us", |state| (state.all() > 0.0).then(|| figure(state.time / state.all())));
        told.table(table.done());
        told.paragraph(format!(
            "Rebooted: {}. Powered off: {}. Trace: {} lines.",
            yes(self.rebooted),
            yes(self.powered_off),
            self.trace_lines
        ));
    }
}
