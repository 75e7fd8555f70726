//! The nodes, in the order in which a packet meets them.

mod ethernet;
mod ip4;
mod l2;
mod output;

pub use ethernet::EthernetInput;
pub use ip4::{Fused, Ip4Input, Ip4Lookup, Ip4Rewrite};
pub use l2::{L2Input, L2Output};
pub use output::{Device, Discard, Drop, InterfaceOutput, InterfaceTx, Punt};

use crate::graph::{Reason, Severity};

const fn error(text: &'static str) -> Reason {
    Reason { text, severity: Severity::Error }
}

const fn info(text: &'static str) -> Reason {
    Reason { text, severity: Severity::Info }
}

/// A packet's Ethernet header as a person reads it.
fn ethernet_line(data: &[u8; crate::buffers::DATA_BYTES]) -> String {
    use crate::plane::Mac;
    let mac = |at: usize| Mac([data[at], data[at + 1], data[at + 2], data[at + 3], data[at + 4], data[at + 5]]);
    let kind = match [data[12], data[13]] {
        [0x08, 0x00] => "IP4".to_owned(),
        [0x08, 0x06] => "ARP".to_owned(),
        [0x86, 0xdd] => "IP6".to_owned(),
        [0x81, 0x00] => format!("802.1q vlan {}", u16::from_be_bytes([data[14] & 0x0f, data[15]])),
        [a, b] => format!("0x{a:02x}{b:02x}"),
    };
    format!("{kind}: {} -> {}", mac(6), mac(0))
}
