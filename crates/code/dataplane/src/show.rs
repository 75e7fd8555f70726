//! The tables that the prompt prints, such as those of `show runtime`, in the words that users of VPP know.
//!
//! They are made of what each worker reports: what is counted is added up, and `show runtime` and `show trace` also tell workers apart.

use std::fmt::Write;

use crate::graph::Report;
use crate::machine;
use crate::plane::{DISCARD, GROUP, LOCAL, MARTIAN, MISS, Mode, OURS};

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
            row.state,
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

/// `show interface`, of all workers together.
pub fn interfaces(reports: &[Report]) -> String {
    let mut out =
        format!("{:<28}{:<6}{:<8}{:<20}{:<20}{:>16}\n", "Name", "Idx", "State", "MTU (L3/IP4)", "Counter", "Count");
    for (number, interface) in Report::sum(reports).iter().flat_map(|sum| &sum.interfaces).enumerate() {
        let state = if interface.is_up { "up" } else { "down" };
        let mut first = format!("{:<28}{number:<6}{state:<8}{:<20}", interface.name, interface.mtu);
        let mut any = false;
        for (name, count) in interface.counters().into_iter().filter(|(_, count)| *count > 0) {
            let _ = writeln!(out, "{first:<62}{name:<20}{count:>16}");
            first = String::new();
            any = true;
        }
        if !any {
            let _ = writeln!(out, "{}", first.trim_end());
        }
    }
    out
}

/// `show hardware`: how packets come in and go out, for each interface.
pub fn hardware(report: &Report) -> String {
    let mut out = format!("{:<24}{:<20}{}\n", "Name", "Ethernet", "Driver");
    for (number, interface) in report.interfaces.iter().enumerate() {
        let input = report.hardware.iter().find(|(of, _)| usize::from(*of) == number);
        let driver = input.map_or("nothing comes in here", |(_, driver)| driver);
        let _ = writeln!(out, "{:<24}{:<20}{driver}", interface.name, interface.mac.to_string());
    }
    out
}

/// `show ip fib`, at most `limit` routes.
pub fn fib(report: &Report, limit: usize) -> String {
    let control = report.shared.control();
    let routes = control.fib.routes();
    let mut out = format!(
        "ipv4-VRF:0, fib_index:0, {} routes, {:.1} MB of tables\n",
        routes.len(),
        control.fib.table_bytes() as f64 / 1e6
    );
    for (prefix, adjacency) in routes.iter().take(limit) {
        let to = match *adjacency {
            MISS => "no route".to_owned(),
            DISCARD => "dpo-drop ip4".to_owned(),
            LOCAL => "dpo-receive: punt to the host".to_owned(),
            OURS => "dpo-receive: answered here".to_owned(),
            MARTIAN => "dpo-drop ip4: of no host".to_owned(),
            GROUP => "multicast or broadcast: punt to the host".to_owned(),
            number => {
                let there = report.shared.adjacencies.get(number);
                let name = &report.interfaces[there.interface as usize].name;
                let to = match (there.address, there.to.is_group_or_zero()) {
                    (None, true) => "glean".to_owned(),
                    (None, false) => there.to.to_string(),
                    (Some(address), true) => format!("{address} not resolved"),
                    (Some(address), false) => format!("{address} {}", there.to),
                };
                format!("ipv4 via {name}: {to} mtu:{}", there.mtu)
            }
        };
        let _ = writeln!(out, "{prefix}\n  [@{adjacency}] {to}");
    }
    if routes.len() > limit {
        let _ = writeln!(out, "... {} more", routes.len() - limit);
    }
    out
}

/// `show ip address`: our addresses, and who answers for them.
pub fn addresses(report: &Report) -> String {
    let mut out = format!("{:<24}{:<20}{}\n", "Interface", "Address", "Answered by");
    for own in report.own.all() {
        let name = &report.interfaces[own.interface as usize].name;
        let _ = writeln!(out, "{name:<24}{:<20}{}", format!("{}/{}", own.address, own.length), own.owner.name());
    }
    out
}

/// `show ip neighbor`.
pub fn neighbours(report: &Report) -> String {
    let mut out = format!("{:<24}{:<18}{:<20}{:<10}\n", "Interface", "Address", "Ethernet", "State");
    for (interface, address, neighbour) in report.shared.control().neighbours() {
        let name = &report.interfaces[interface as usize].name;
        let to = report.shared.adjacencies.get(neighbour.adjacency).to;
        let to = if to.is_group_or_zero() { "-".to_owned() } else { to.to_string() };
        let _ = writeln!(out, "{name:<24}{:<18}{to:<20}{}", address.to_string(), neighbour.state.name());
    }
    out
}

/// `show mode`: what interfaces do with packets that come in.
pub fn modes(report: &Report) -> String {
    let interfaces = &report.interfaces;
    let lines = interfaces.iter().map(|interface| match interface.mode {
        Mode::CrossConnect { peer } => format!("l2 xconnect {} {}\n", interface.name, interfaces[peer as usize].name),
        Mode::Route => format!("l3 {}\n", interface.name),
    });
    lines.collect()
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
