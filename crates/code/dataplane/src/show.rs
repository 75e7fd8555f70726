//! The traces of packets, in the words that users of VPP know.

use crate::trace::Trace;
use std::fmt::Write;

/// A worker's name.
pub fn worker_name(number: usize) -> String {
    format!("stopwatt_wk_{number}")
}

/// `show trace` of the first worker, at most `limit` packets.
pub fn trace(traces: &[Trace], limit: usize) -> String {
    let name = worker_name(0);
    let mut out = format!("------------------- Start of thread 0 {name} -------------------\n");
    if traces.is_empty() {
        out.push_str("No packets in trace buffer\n");
    }
    for (number, trace) in traces.iter().take(limit).enumerate() {
        let _ = writeln!(out, "Packet {}\n", number + 1);
        for step in &trace.steps {
            let seconds = step.microseconds / 1_000_000;
            let _ = writeln!(
                out,
                "{:02}:{:02}:{:02}:{:06}: {}",
                seconds / 3600,
                seconds / 60 % 60,
                seconds % 60,
                step.microseconds % 1_000_000,
                step.node
            );
            for line in &step.lines {
                let _ = writeln!(out, "  {line}");
            }
        }
        out.push('\n');
    }
    if traces.len() > limit {
        let _ = writeln!(out, "... {} more packets", traces.len() - limit);
    }
    out
}
