//! The standard graph: every node, wired as the picture in [`crate::graph`] shows.

use crate::graph::{Graph, NodeId};
use crate::nodes::{
    ArpInput, Device, Drop, EthernetInput, Fused, IcmpError, InterfaceOutput, InterfaceTx, Ip4Fragment, Ip4Input,
    Ip4Local, Ip4Lookup, Ip4Options, Ip4Resolve, Ip4Rewrite, L2Input, L2Output, Local, Message, Punt,
};
use crate::plane::Plane;

/// Largest number of interfaces: a node has 64 arcs, and a few of them are taken.
pub const INTERFACES_MAX: usize = 56;

/// How the work on IPv4 packets is divided into nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Ip4Path {
    /// Three nodes, each with a loop of its own.
    #[default]
    Nodes,
    /// One loop for all three; packets that need the slow path take the three nodes.
    Fused,
}

/// Builds the graph over a plane's interfaces, one device each. Returns it with the node that inputs lead to.
///
/// # Panics
/// If there is not one device for each interface, or more than [`INTERFACES_MAX`].
pub fn build(plane: Plane, devices: Vec<Box<dyn Device>>, path: Ip4Path) -> (Graph, NodeId) {
    assert_eq!(plane.interfaces.len(), devices.len(), "one device for each interface");
    assert!(devices.len() <= INTERFACES_MAX, "at most {INTERFACES_MAX} interfaces");
    let mut graph = Graph::new(plane);
    let drop = graph.add(Drop, &[]);
    let punt = graph.add(Punt, &[]);
    let local = graph.add(Local, &[]);
    let mut outputs = Vec::new();
    for (number, device) in devices.into_iter().enumerate() {
        let tx = InterfaceTx::new(&graph.plane, number as u16, device);
        let tx = graph.add(tx, &[]);
        let output = InterfaceOutput::new(&graph.plane, number as u16);
        outputs.push(graph.add(output, &[drop, punt, tx]));
    }
    // A node's own arcs, then one to each interface's output.
    let with_outputs = |own: &[NodeId]| [own, &outputs].concat();
    let errors = [
        Message::TimeExceeded,
        Message::NetUnreachable,
        Message::HostUnreachable,
        Message::ProtocolUnreachable,
        Message::PortUnreachable,
        Message::FragmentationNeeded,
        Message::ParameterProblem,
    ];
    let errors = errors.map(|message| graph.add(IcmpError::new(message), &[drop, punt]));
    let [
        time_exceeded,
        net_unreachable,
        host_unreachable,
        protocol_unreachable,
        port_unreachable,
        needed,
        wrong_option,
    ] = errors;
    let resolve = graph.add(Ip4Resolve::new(outputs.len()), &with_outputs(&[drop, punt, host_unreachable]));
    let fragment = graph.add(Ip4Fragment, &[drop, punt]);
    let rewrite = graph.add(Ip4Rewrite, &with_outputs(&[drop, punt, time_exceeded, needed, fragment, resolve]));
    let for_us = graph.add(Ip4Local, &[drop, punt, local, protocol_unreachable, port_unreachable]);
    let lookup = graph.add(Ip4Lookup, &[drop, punt, rewrite, for_us, net_unreachable]);
    // What is made here goes the way of other packets.
    for node in [resolve, fragment] {
        graph.add_arc(node, rewrite);
    }
    for node in errors.into_iter().chain([for_us]) {
        graph.add_arc(node, lookup);
    }
    let options = graph.add(Ip4Options, &[drop, punt, lookup, wrong_option]);
    let ip4_input = graph.add(Ip4Input, &[drop, punt, lookup, options]);
    let ip4 = match path {
        Ip4Path::Nodes => ip4_input,
        Ip4Path::Fused => graph.add(Fused, &with_outputs(&[drop, punt, ip4_input])),
    };
    let arp = graph.add(ArpInput, &with_outputs(&[drop, punt, local]));
    let l2_output = graph.add(L2Output, &with_outputs(&[drop, punt]));
    let l2_input = graph.add(L2Input, &[drop, punt, l2_output]);
    let ethernet = graph.add(EthernetInput, &[drop, punt, l2_input, ip4, arp]);
    (graph, ethernet)
}
