//! The standard graph: every node, wired as the picture in [`crate::graph`] shows.

use crate::graph::{Graph, NodeId};
use crate::nodes::{
    Device, Drop, EthernetInput, Fused, InterfaceOutput, InterfaceTx, Ip4Input, Ip4Lookup, Ip4Rewrite, L2Input,
    L2Output, Punt,
};
use crate::plane::Plane;

/// Largest number of interfaces: a node has 64 arcs, and a few of them are taken.
pub const INTERFACES_MAX: usize = 60;

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
    let mut outputs = vec![drop, punt];
    for (number, device) in devices.into_iter().enumerate() {
        let tx = InterfaceTx::new(&graph.plane, number as u16, device);
        let tx = graph.add(tx, &[]);
        let output = InterfaceOutput::new(&graph.plane, number as u16);
        outputs.push(graph.add(output, &[drop, punt, tx]));
    }
    let rewrite = graph.add(Ip4Rewrite, &outputs);
    let lookup = graph.add(Ip4Lookup, &[drop, punt, rewrite]);
    let ip4_input = graph.add(Ip4Input, &[drop, punt, lookup]);
    let ip4 = match path {
        Ip4Path::Nodes => ip4_input,
        Ip4Path::Fused => {
            let mut arcs = outputs.clone();
            arcs.insert(2, ip4_input);
            graph.add(Fused, &arcs)
        }
    };
    let l2_output = graph.add(L2Output, &outputs);
    let l2_input = graph.add(L2Input, &[drop, punt, l2_output]);
    let ethernet = graph.add(EthernetInput, &[drop, punt, l2_input, ip4]);
    (graph, ethernet)
}
