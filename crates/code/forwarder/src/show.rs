//! Tables of interfaces, routes and neighbours that the prompt prints, in the words that users of
//! VPP know. Those of what nodes did are [`dataplane::show`]'s.

use std::fmt::Write;

use dataplane::graph::Report;
use dataplane::plane::{DISCARD, GROUP, LOCAL, MARTIAN, MISS, Mode, OURS};

use crate::control::Control;

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
    let tables = report.tables.change();
    let routes = tables.fib.routes();
    let mut out = format!(
        "ipv4-VRF:0, fib_index:0, {} routes, {:.1} MB of tables\n",
        routes.len(),
        tables.fib.table_bytes() as f64 / 1e6
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
                let there = report.tables.adjacencies.get(number);
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
pub fn neighbours(report: &Report, control: &Control) -> String {
    let mut out = format!("{:<24}{:<18}{:<20}{:<10}\n", "Interface", "Address", "Ethernet", "State");
    for (interface, address, neighbour) in control.lock().all() {
        let name = &report.interfaces[interface as usize].name;
        let to = report.tables.adjacencies.get(neighbour.adjacency).to;
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
