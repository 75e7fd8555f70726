//! Tables of what nodes did: `show runtime`, `show errors` and `show trace`, in the words that
//! users of VPP know.
//!
//! They are made of what each worker reports: what is counted is added up, and `show runtime` and
//! `show trace` also tell workers apart.

use std::fmt::Write;

use crate::graph::Report;
use crate::machine;

/// A number as `1.54e0`: two decimals, the exponent unpadded.
pub fn exponent(value: f64, decimals: usize) -> String {
    format!("{value:.decimals$e}")
}

/// The line between two workers' tables; nothing where there is one alone.
fn thread_line(number: usize, reports: &[Report]) -> String {
    match reports.len() {
        1 => String::new(),
        _ => format!("Thread {number} {}\n", worker_name(number)),
    }
}

/// A worker's name.
pub fn worker_name(number: usize) -> String {
    format!("stopwatt_wk_{number}")
}

/// `show runtime`: a table for each worker.
pub fn runtime(reports: &[Report]) -> String {
    let tables = reports.iter().enumerate().map(|(number, report)| {
        let dashes = if number > 0 { "---------------\n" } else { "" };
        format!("{dashes}{}{}", thread_line(number, reports), runtime_of(report))
    });
    tables.collect()
}

fn runtime_of(report: &Report) -> String {
    let mut out = String::new();
    let seconds = report.seconds.max(1e-9);
    let rows = &report.runtime;
    let (vectors, calls) = rows.iter().fold((0, 0), |(v, c), r| (v + r.counters.vectors, c + r.counters.calls));
    let rate = if calls == 0 { 0.0 } else { vectors as f64 / calls as f64 };
    let balance = report.balance;
    let per_second = |packets: u64| exponent(packets as f64 / seconds, 4);
    let _ = writeln!(
        out,
        "Time {seconds:.1}, {:.6} sec internal node vector rate {rate:.2} loops/sec {:.2}",
        seconds,
        report.loops as f64 / seconds
    );
    let _ = writeln!(
        out,
        "  vector rates in {}, out {}, drop {}, punt {}",
        per_second(balance.received),
        per_second(balance.sent),
        per_second(balance.dropped + balance.refused),
        per_second(balance.punted)
    );
    let tick = 1e9 / machine::counter_hz() as f64;
    let _ = writeln!(out, "  clocks are ticks of the {} a packet, one tick is {tick:.3} ns", machine::COUNTER);
    let _ = writeln!(
        out,
        "{:^33}{:^12}{:>16}{:>16}{:>16}{:>16}{:>14}{:>16}{:>14}",
        "Name", "State", "Calls", "Vectors", "Suspends", "Clocks", "Vectors/Call", "Empty polls", "Empty clocks"
    );
    for row in rows.iter().filter(|row| row.counters.calls + row.counters.empty_polls > 0) {
        let c = &row.counters;
        let each = |sum: u64, count: u64| if count == 0 { 0.0 } else { sum as f64 / count as f64 };
        let _ = writeln!(
            out,
            "{:<33}{:^12}{:>16}{:>16}{:>16}{:>16}{:>14.2}{:>16}{:>14}",
            row.name,
            row.state.name(),
            c.calls,
            c.vectors,
            0,
            exponent(c.ticks_per_packet(), 2),
            each(c.vectors, c.calls),
            c.empty_polls,
            exponent(each(c.empty_ticks, c.empty_polls), 2),
        );
    }
    out
}

/// `show errors`, of all workers together.
pub fn errors(reports: &[Report]) -> String {
    let mut out = format!("{:>10}{:>24}{:>60}{:>12}\n", "Count", "Node", "Reason", "Severity");
    for row in Report::sum(reports).iter().flat_map(|sum| &sum.errors).filter(|row| row.count > 0) {
        let _ =
            writeln!(out, "{:>10}{:>24}{:>60}{:>12}", row.count, row.node, row.reason.text, row.reason.severity.name());
    }
    out
}

/// `show trace`, at most `limit` packets of each worker.
pub fn trace(reports: &[Report], limit: usize) -> String {
    reports.iter().enumerate().map(|(number, report)| trace_of(number, report, limit)).collect()
}

fn trace_of(number: usize, report: &Report, limit: usize) -> String {
    let name = worker_name(number);
    let mut out = format!("------------------- Start of thread {number} {name} -------------------\n");
    let traces = &report.traces;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponents_are_not_padded() {
        assert_eq!(exponent(1.54, 2), "1.54e0");
        assert_eq!(exponent(0.425, 2), "4.25e-1");
        assert_eq!(exponent(2_505_200.0, 4), "2.5052e6");
    }
}
