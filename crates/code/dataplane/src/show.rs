//! Commands of the prompt, such as `show runtime`, with the tables that users of VPP know.

use std::fmt::Write;

use crate::graph::Graph;
use crate::machine;
use crate::plane::{DISCARD, GROUP, LOCAL, MARTIAN, MISS, Mode, OURS};

/// A number as `1.54e0`: two decimals, the exponent unpadded.
pub fn exponent(value: f64, decimals: usize) -> String {
    format!("{value:.decimals$e}")
}

/// `show runtime`.
pub fn runtime(graph: &Graph) -> String {
    let mut out = String::new();
    let seconds = graph.seconds().max(1e-9);
    let rows = graph.runtime();
    let (vectors, calls) = rows.iter().fold((0, 0), |(v, c), r| (v + r.counters.vectors, c + r.counters.calls));
    let rate = if calls == 0 { 0.0 } else { vectors as f64 / calls as f64 };
    let balance = graph.balance();
    let per_second = |packets: u64| exponent(packets as f64 / seconds, 4);
    let _ = writeln!(
        out,
        "Time {seconds:.1}, {:.6} sec internal node vector rate {rate:.2} loops/sec {:.2}",
        seconds,
        graph.loops() as f64 / seconds
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

/// `show errors`.
pub fn errors(graph: &Graph) -> String {
    let mut out = format!("{:>10}{:>24}{:>45}{:>12}\n", "Count", "Node", "Reason", "Severity");
    for row in graph.errors().iter().filter(|row| row.count > 0) {
        let _ =
            writeln!(out, "{:>10}{:>24}{:>45}{:>12}", row.count, row.node, row.reason.text, row.reason.severity.name());
    }
    out
}

/// `show interface`.
pub fn interfaces(graph: &Graph) -> String {
    let mut out =
        format!("{:<28}{:<6}{:<8}{:<20}{:<20}{:>16}\n", "Name", "Idx", "State", "MTU (L3/IP4)", "Counter", "Count");
    for (number, interface) in graph.plane.interfaces.iter().enumerate() {
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

/// `show ip fib`, at most `limit` routes.
pub fn fib(graph: &Graph, limit: usize) -> String {
    let plane = &graph.plane;
    let control = plane.shared.control();
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
                let there = plane.shared.adjacencies.get(number);
                let name = &plane.interfaces[there.interface as usize].name;
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
pub fn addresses(graph: &Graph) -> String {
    let mut out = format!("{:<24}{:<20}{}\n", "Interface", "Address", "Answered by");
    for own in graph.plane.own.all() {
        let name = &graph.plane.interfaces[own.interface as usize].name;
        let _ = writeln!(out, "{name:<24}{:<20}{}", format!("{}/{}", own.address, own.length), own.owner.name());
    }
    out
}

/// `show ip neighbor`.
pub fn neighbours(graph: &Graph) -> String {
    let plane = &graph.plane;
    let mut out = format!("{:<24}{:<18}{:<20}{:<10}\n", "Interface", "Address", "Ethernet", "State");
    for (interface, address, neighbour) in plane.shared.control().neighbours() {
        let name = &plane.interfaces[interface as usize].name;
        let to = plane.shared.adjacencies.get(neighbour.adjacency).to;
        let to = if to.is_group_or_zero() { "-".to_owned() } else { to.to_string() };
        let _ = writeln!(out, "{name:<24}{:<18}{to:<20}{}", address.to_string(), neighbour.state.name());
    }
    out
}

/// `show mode`: what interfaces do with packets that come in.
pub fn modes(graph: &Graph) -> String {
    let interfaces = &graph.plane.interfaces;
    let lines = interfaces.iter().map(|interface| match interface.mode {
        Mode::CrossConnect { peer } => format!("l2 xconnect {} {}\n", interface.name, interfaces[peer as usize].name),
        Mode::Route => format!("l3 {}\n", interface.name),
    });
    lines.collect()
}

/// `show trace`, at most `limit` packets.
pub fn trace(graph: &Graph, limit: usize) -> String {
    let mut out = String::from("------------------- Start of thread 0 main -------------------\n");
    let traces = graph.tracer.traces();
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

/// Runs one command of the prompt, with `run N` to make N rounds in between. `Err` says what commands there are.
pub fn command(graph: &mut Graph, line: &str) -> Result<String, String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let number = |text: &str| text.parse::<usize>().map_err(|_| format!("`{text}` is no number"));
    const MANY: usize = 50;
    match words[..] {
        [] => Ok(String::new()),
        [comment, ..] if comment.starts_with('#') => Ok(String::new()),
        ["show", "runtime" | "run"] => Ok(runtime(graph)),
        ["show", "errors" | "error"] => Ok(errors(graph)),
        ["show", "interface" | "int"] => Ok(interfaces(graph)),
        ["show", "ip", "fib"] => Ok(fib(graph, MANY)),
        ["show", "ip", "address"] => Ok(addresses(graph)),
        ["show", "ip", "neighbor" | "neighbour"] => Ok(neighbours(graph)),
        ["show", "mode"] => Ok(modes(graph)),
        ["show", "trace"] => Ok(trace(graph, MANY)),
        ["show", "trace", "max", count] => number(count).map(|count| trace(graph, count)),
        ["trace", "add", input, count] => {
            let count = number(count)?;
            if !graph.runtime().iter().any(|row| row.state == "polling" && row.name == input) {
                let inputs: Vec<String> =
                    graph.runtime().into_iter().filter(|r| r.state == "polling").map(|r| r.name).collect();
                let there = if inputs.is_empty() { "there are none".to_owned() } else { inputs.join(", ") };
                return Err(format!("no input node `{input}`: {there}"));
            }
            graph.tracer.add(input, count);
            Ok(String::new())
        }
        ["clear", "runtime" | "run"] => {
            graph.clear_runtime();
            Ok(String::new())
        }
        ["clear", "errors" | "error"] => {
            graph.clear_errors();
            Ok(String::new())
        }
        ["clear", "trace"] => {
            graph.tracer.clear();
            Ok(String::new())
        }
        ["run", rounds] => {
            for _ in 0..number(rounds)? {
                graph.run_once();
            }
            Ok(String::new())
        }
        _ => Err(format!(
            "no command `{line}`: show runtime | trace [max N] | errors | interface | ip fib | ip address | ip neighbor | mode, trace add NODE N, clear runtime | trace | errors, run ROUNDS"
        )),
    }
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
