//! `linux-boot`: what the kernel saw.

use super::run::Run;
use crate::Style;
use recording::{Recording, metrics};
use serde_json::Value;

const CASE: &str = "linux-boot";

fn value(recording: &Recording, metric: metrics::Metric) -> f64 {
    super::rows::sum(recording, CASE, metric, "")
}

pub(super) fn json(run: &Run<'_>) -> Value {
    let recording = run.recording;
    let mut json = crate::json(&run.findings());
    json["kernel"] = recording.header.versions.get("kernel").cloned().unwrap_or_default().into();
    json["rebooted"] = (value(recording, metrics::REBOOTED) > 0.0).into();
    json["powered_off"] = (value(recording, metrics::POWERED_OFF) > 0.0).into();
    json["trace_lines"] = (value(recording, metrics::TRACE_LINES) as u64).into();
    json["complaints"] = recording.header.complaints.clone().into();
    json
}

pub(super) fn text(run: &Run<'_>, style: Style) -> String {
    let recording = run.recording;
    let version = |what: &str| recording.header.versions.get(what).map_or("", String::as_str);
    let count = |metric| value(recording, metric);
    let yes = |metric| if count(metric) > 0.0 { "yes" } else { "no" };
    format!(
        "{}, {}: {} CPUs up, {} hotplug cycles per CPU, {} failures\n{}Rebooted: {}. Powered off: {}. Trace: {} lines.\n",
        version("kernel"),
        version("busybox"),
        count(metrics::CPUS_UP),
        count(metrics::HOTPLUG_CYCLES),
        count(metrics::HOTPLUG_FAILURES),
        crate::idle_states_text(recording, style),
        yes(metrics::REBOOTED),
        yes(metrics::POWERED_OFF),
        count(metrics::TRACE_LINES)
    )
}
