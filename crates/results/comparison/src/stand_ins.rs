//! Nodes of packet graphs by what they do: another driver's input has another name.

use crate::result::StandIn;
use crate::rows::SideRows;
use itertools::Itertools;
use recording::metrics;
use std::collections::BTreeSet;

/// Ends of the names of nodes that take packets from a device or give them to one, with the role.
const ENDS: [(&str, &str); 5] = [
    ("-input", "input"),
    ("-rx", "input"),
    ("-output", "output"),
    ("-tx", "tx"),
    ("drop", "drop"),
];

/// Begins of names of nodes that know a protocol: their ends say nothing of devices.
const PROTOCOLS: [&str; 8] = [
    "ethernet-",
    "eth-",
    "ip",
    "l2-",
    "mpls",
    "arp",
    "acl",
    "nat",
];

/// The role of a node. The end of a name tells the role of a node that works for a device. Of other
/// nodes the whole name is the role, without the words for a variant of the code.
fn role(name: &str) -> String {
    let name = name.to_lowercase().replace('_', "-");
    let plain = name.replace("-no-checksum", "").replace("-inline", "");
    // A port and a queue may stand behind it.
    let device = plain.trim_end_matches(|sign: char| sign.is_ascii_digit() || sign == '-');
    let is_device = !PROTOCOLS.iter().any(|of| plain.starts_with(of));
    let mut ends = ENDS.iter().filter(|(_, role)| is_device || *role == "drop");
    let end = ends.find(|(end, _)| device.ends_with(end));
    end.map_or(&*plain, |(_, role)| role).to_owned()
}

/// Gives nodes of the other recordings the name that the base has for the only node of their role,
/// where neither side has rows of the other's.
pub fn match_nodes(sides: &mut [SideRows]) -> Vec<StandIn> {
    let nodes = |side: &SideRows| -> BTreeSet<String> {
        let rows = side.table.rows.iter().map(|(key, _)| key);
        let timed = rows.filter(|key| key.metric == metrics::CLOCKS_PER_PACKET.name);
        timed.map(|key| key.subject.clone()).collect()
    };
    let base = sides.first().map(nodes).unwrap_or_default();
    let mut all = Vec::new();
    for (side, rows) in sides.iter_mut().enumerate().skip(1) {
        let own = nodes(rows);
        let by_role = |names: &BTreeSet<String>, others: &BTreeSet<String>| {
            names
                .difference(others)
                .cloned()
                .into_group_map_by(|name| role(name))
        };
        let (of_base, mut of_own) = (by_role(&base, &own), by_role(&own, &base));
        for (role, names) in of_base.into_iter().sorted() {
            let others = of_own.remove(&role).unwrap_or_default();
            if let ([base], [other]) = (&names[..], &others[..]) {
                let (base, other) = (base.clone(), other.clone());
                let keys = rows.table.rows.iter_mut().map(|(key, _)| key);
                keys.filter(|key| key.subject == other)
                    .for_each(|key| key.subject.clone_from(&base));
                all.push(StandIn { side, base, other });
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_are_told_by_what_nodes_do() {
        for (one, other) in [
            ("dpdk-input", "avf-input"),
            ("ethdev_rx-0-0", "memif-input"),
            ("TenGigabitEthernet5/0/0-tx", "memif0/0-tx"),
            ("eth0-tx", "memif0/0-tx"),
            ("ip4-input", "ip4-input-no-checksum"),
            ("ip4_lookup", "ip4-lookup"),
            ("pkt_drop", "error-drop"),
        ] {
            assert_eq!(role(one), role(other), "{one} {other}");
        }
        for (one, other) in [
            ("dpdk-input", "ethernet-input"),
            ("ip4-input", "ip6-input"),
            ("ip4-lookup", "ip4-rewrite"),
            ("eth0-output", "eth0-tx"),
        ] {
            assert_ne!(role(one), role(other), "{one} {other}");
        }
    }
}
