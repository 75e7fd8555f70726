//! Graphs from lists of nodes that say where their arcs lead.

use crate::arcs::ARCS_MAX;
use crate::graph::{Graph, NodeId};
use crate::node::Node;
use crate::nodes::{Device, InterfaceOutput, InterfaceTx};
use crate::plane::Plane;
use std::collections::HashMap;

/// Largest number of interfaces: a node has [`ARCS_MAX`] arcs, and a few of them are taken.
pub const INTERFACES_MAX: usize = 56;

/// The names of the nodes that a packet is dropped or handed to the host at: the first two arcs of
/// all others lead there.
pub const DROP_AND_PUNT: [&str; 2] = ["error-drop", "error-punt"];

/// A node of a graph.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
pub struct WiredNode {
    /// Its name.
    pub name: String,
    /// The names of the nodes that its arcs behind drop and punt lead to, in the order of their
    /// numbers.
    pub arcs: Vec<String>,
    /// True if there is an arc to each interface's output behind them.
    pub has_outputs: bool,
}

/// Builds a graph over a plane's interfaces, one device each, of nodes that `make` makes by their
/// names. The nodes where packets end are there in any case, and so are an output and a device's
/// node for each interface. Returns the graph with its first node, which inputs lead to.
///
/// # Panics
/// If there is not one device for each interface, or more than [`INTERFACES_MAX`], or an arc leads
/// to no node.
pub fn build(
    nodes: &[WiredNode],
    plane: Plane,
    devices: Vec<Box<dyn Device>>,
    mut make: impl FnMut(&str) -> Box<dyn Node>,
) -> (Graph, NodeId) {
    assert_eq!(
        plane.interfaces.len(),
        devices.len(),
        "one device for each interface"
    );
    assert!(
        devices.len() <= INTERFACES_MAX && INTERFACES_MAX + 8 <= ARCS_MAX,
        "at most {INTERFACES_MAX} interfaces"
    );
    let mut graph = Graph::new(plane);
    // From the end: what packets meet last is called last.
    let ends = DROP_AND_PUNT.map(|name| graph.add(make(name), &[]));
    let sent: Vec<NodeId> = (0..)
        .zip(devices)
        .map(|(number, device)| {
            let node = InterfaceTx::new(&graph.plane, number, device);
            graph.add(Box::new(node), &[])
        })
        .collect();
    let outputs: Vec<NodeId> = (0..)
        .zip(sent)
        .map(|(number, tx)| {
            let node = InterfaceOutput::new(&graph.plane, number);
            graph.add(Box::new(node), &[ends[0], ends[1], tx])
        })
        .collect();
    let mut made: HashMap<&str, NodeId> = DROP_AND_PUNT.into_iter().zip(ends).collect();
    let between = || {
        nodes
            .iter()
            .filter(|node| !DROP_AND_PUNT.contains(&node.name.as_str()))
    };
    for node in between().rev() {
        made.insert(&node.name, graph.add(make(&node.name), &ends));
    }
    for node in between() {
        let outputs = outputs.iter().filter(|_| node.has_outputs);
        for to in node.arcs.iter().map(|to| &made[to.as_str()]).chain(outputs) {
            graph.add_arc(made[node.name.as_str()], *to);
        }
    }
    (graph, made[nodes[0].name.as_str()])
}
