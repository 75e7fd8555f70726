//! A node of one's own in the standard graph: it counts what is sent to a port, and drops it, by a
//! reason and with a line in traces of its own. Nothing of it is in the crate itself.
//!
//! `cargo run --example own_node -p dataplane`

use dataplane::buffers::Reuse;
use dataplane::frame::Frame;
use dataplane::graph::{DROP, FIRST_ARC, Graph, Node, Reason, Verdict};
use dataplane::inputs::{Packets, udp_packet};
use dataplane::nodes::{Device, Discard};
use dataplane::plane::{Mac, Mode, Plane, Settings};
use dataplane::wiring::{Arcs, Registry, Wiring};
use dataplane::{show, standard};

const PORT: usize = 36;

/// Drops UDP to a port. Arcs: drop, punt, ip4-lookup.
struct PortFilter {
    port: u16,
}

impl PortFilter {
    fn port_of(plane: &Plane, frame: &Frame, row: usize) -> Option<u16> {
        let packet = plane.pool.data(frame.buffer[row]);
        let is_plain_udp = packet[14] == 0x45 && packet[23] == 17;
        is_plain_udp.then(|| u16::from_be_bytes([packet[PORT], packet[PORT + 1]]))
    }
}

impl Node for PortFilter {
    fn name(&self) -> &str {
        "port-filter"
    }

    fn reasons(&self) -> &'static [Reason] {
        const { &[Reason::info("port is filtered")] }
    }

    fn run(&mut self, plane: &mut Plane, frame: &mut Frame) -> Verdict {
        for row in 0..frame.len {
            let is_filtered = Self::port_of(plane, frame, row) == Some(self.port);
            frame.next[row] = if is_filtered { DROP } else { FIRST_ARC };
            // The index of the reason above; it means nothing on an arc that leads on.
            frame.reason[row] = 0;
        }
        Verdict::Mixed
    }

    fn trace(&self, plane: &Plane, frame: &Frame, row: usize) -> Vec<String> {
        vec![match Self::port_of(plane, frame, row) {
            Some(port) => format!("UDP to port {port}, filtered is {}", self.port),
            None => "no UDP".to_owned(),
        }]
    }
}

/// The standard graph with the filter between `ip4-input` and `ip4-lookup`, and two packets to go
/// through.
fn filtered() -> Result<Graph, Box<dyn std::error::Error>> {
    let mut registry = Registry::standard();
    registry.add("port-filter", Arcs::Fixed(3), |_| PortFilter { port: 0x2000 });
    let text = standard::TEXT.replacen(
        "ip4-input: error-drop error-punt ip4-lookup error-punt\n",
        "ip4-input: error-drop error-punt port-filter error-punt\nport-filter: error-drop error-punt ip4-lookup\n",
        1,
    );
    let wiring = Wiring::parse(&text, &registry)?;

    let us = Mac([2, 0, 0, 0, 0, 1]);
    let mut plane = Plane::new(64, Reuse::Hot, Settings::default());
    let west = plane.add_interface("west", us, Mode::Route);
    let hop = plane.add_neighbour(west, Mac([2, 0, 0, 0, 0, 2]))?;
    plane.add_route("20.0.0.0/8".parse()?, hop)?;
    let devices: Vec<Box<dyn Device>> = vec![Box::new(Discard)];
    let (mut graph, first) = wiring.build(plane, devices, &registry);

    let to_2000 = udp_packet(us, us, [10, 0, 0, 9].into(), [20, 0, 0, 1].into(), 64)[..60].to_vec();
    let mut to_2001 = to_2000.clone();
    to_2001[PORT + 1] = 1;
    graph.add_input(Packets::new(west, "input", vec![to_2000, to_2001]), first);
    graph.tracer.add("input", 2);
    graph.run_once();
    Ok(graph)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let reports = [filtered()?.report()];
    print!("{}{}", show::errors(&reports), show::trace(&reports, 2));
    Ok(())
}

#[test]
fn the_node_counts_by_its_reason_and_is_in_traces() {
    let graph = filtered().unwrap();
    let balance = graph.balance();
    assert_eq!((balance.received, balance.dropped, balance.sent), (2, 1, 1));
    let errors = graph.errors();
    let row = errors.iter().find(|row| row.node == "port-filter").unwrap();
    assert_eq!((row.reason.text, row.count), ("port is filtered", 1));
    let shown = show::trace(&[graph.report()], 2);
    assert!(
        shown.contains("UDP to port 8193, filtered is 8192") && shown.contains("info: port is filtered"),
        "{shown}"
    );
    assert!(graph.runtime().iter().any(|row| row.name == "port-filter" && row.counters.vectors == 2));
}
