//! The nodes of this crate, and the graph that is measured: they as the picture in
//! [`crate::graph`] shows them. It is the common path alone, what a cross connect and an IPv4 route
//! need of a plain packet; all other packets are punted to the host.

use crate::graph::{Graph, NodeId};
use crate::node::Node;
use crate::nodes::{Device, End, EthernetInput, Ip4Input, Ip4Lookup, Ip4Rewrite, L2};
use crate::plane::Plane;
use crate::wiring::{self, DROP_AND_PUNT, WiredNode};

pub use crate::wiring::INTERFACES_MAX;

/// A node of this crate.
pub struct StandardNode {
    /// Its name.
    pub name: &'static str,
    /// The names of its arcs behind drop and punt: each leads to the node of its name, unless
    /// somebody wires it otherwise.
    pub arcs: &'static [&'static str],
    /// True if there is an arc to each interface's output behind them.
    pub has_outputs: bool,
    /// Makes the node.
    pub make: fn() -> Box<dyn Node>,
}

/// The nodes, of which the first is the one that packets come to first.
pub static NODES: [StandardNode; 8] = [
    node("ethernet-input", &["l2-input", "ip4-input"], || {
        Box::new(EthernetInput)
    }),
    node("l2-input", &["l2-output"], || Box::new(L2::Input)),
    StandardNode {
        has_outputs: true,
        ..node("l2-output", &[], || Box::new(L2::Output))
    },
    node("ip4-input", &["ip4-lookup"], || Box::new(Ip4Input)),
    node("ip4-lookup", &["ip4-rewrite"], || Box::new(Ip4Lookup)),
    StandardNode {
        has_outputs: true,
        ..node("ip4-rewrite", &[], || Box::new(Ip4Rewrite))
    },
    node(DROP_AND_PUNT[1], &[], || Box::new(End::Punt)),
    node(DROP_AND_PUNT[0], &[], || Box::new(End::Drop)),
];

const fn node(
    name: &'static str,
    arcs: &'static [&'static str],
    make: fn() -> Box<dyn Node>,
) -> StandardNode {
    StandardNode {
        name,
        arcs,
        has_outputs: false,
        make,
    }
}

impl From<&StandardNode> for WiredNode {
    fn from(node: &StandardNode) -> Self {
        Self {
            name: node.name.to_owned(),
            arcs: node.arcs.iter().map(|to| (*to).to_owned()).collect(),
            has_outputs: node.has_outputs,
        }
    }
}

/// The node of a name, if there is one.
pub fn find(name: &str) -> Option<&'static StandardNode> {
    NODES.iter().find(|node| node.name == name)
}

/// Builds the graph over a plane's interfaces, one device each. Returns it with the node that
/// inputs lead to.
///
/// # Panics
/// If there is not one device for each interface, or more than [`INTERFACES_MAX`].
pub fn build(plane: Plane, devices: Vec<Box<dyn Device>>) -> (Graph, NodeId) {
    let nodes = NODES.each_ref().map(WiredNode::from);
    wiring::build(&nodes, plane, devices, |name| {
        (find(name).expect("a node of this list").make)()
    })
}
