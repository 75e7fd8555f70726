//! A node in Rust: it drops what is sent to a UDP port, by a reason and with a line in traces of
//! its own. `own_node.toml` puts it into the routing graph.
//!
//! ```text
//! cargo build --release -p stopwatt-loop --example own_node
//! stopwatt run dataplane --graph crates/code/stopwatt-loop/examples/own_node.toml \
//!     --nodes target/release/examples/libown_node.so --trace 2 --all
//! ```

use std::ffi::CStr;
use stopwatt_loop::{DropReason, Name, Packet, PacketNode, export_nodes};

/// Offset of the UDP destination port in bytes from the start of the frame, for an IPv4 header
/// without options.
const PORT: usize = 36;

/// Drops UDP to a port, which its options name.
struct PortFilter {
    port: u16,
}

fn port_of(packet: &Packet) -> Option<u16> {
    let bytes = packet.bytes();
    let is_plain_udp = bytes.len() >= PORT + 2 && bytes[14] == 0x45 && bytes[23] == 17;
    is_plain_udp.then(|| u16::from_be_bytes([bytes[PORT], bytes[PORT + 1]]))
}

impl PacketNode for PortFilter {
    const NAME: &'static CStr = c"port-filter";
    const ARCS: &'static [Name] = &[Name::new(c"others")];
    const REASONS: &'static [DropReason] = &[DropReason::info(c"port is filtered")];

    fn set_up(options: &str) -> Result<Self, String> {
        let port = options
            .trim()
            .parse()
            .map_err(|_| format!("`{options}` is no port: a number up to 65535"))?;
        Ok(Self { port })
    }

    fn run(&mut self, packets: &mut [Packet], _counters: &mut [u64]) {
        for packet in packets {
            if port_of(packet) == Some(self.port) {
                packet.drop_for(0);
            } else {
                packet.take(0);
            }
        }
    }

    fn trace(&self, packet: &Packet) -> String {
        match port_of(packet) {
            Some(port) => format!("UDP to port {port}, filtered is {}", self.port),
            None => "no UDP".to_owned(),
        }
    }
}

export_nodes!(PortFilter);
