//! The graph that is measured: the nodes of this crate, wired as `standard.graph` says and the
//! picture in [`crate::graph`] shows.

use crate::graph::{Graph, NodeId};
use crate::nodes::Device;
use crate::plane::Plane;
use crate::wiring::{Registry, Wiring};

pub use crate::wiring::INTERFACES_MAX;

/// The text of that graph.
pub const TEXT: &str = include_str!("standard.graph");

/// Division of the work on IPv4 packets into nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Ip4Path {
    /// Three nodes, each with a loop of its own.
    #[default]
    Nodes,
    /// One loop for all three; packets that need the slow path take the three nodes.
    Fused,
}

/// Builds the graph over a plane's interfaces, one device each. Returns it with the node that
/// inputs lead to.
///
/// # Panics
/// If there is not one device for each interface, or more than [`INTERFACES_MAX`].
pub fn build(plane: Plane, devices: Vec<Box<dyn Device>>, path: Ip4Path) -> (Graph, NodeId) {
    let text = match path {
        Ip4Path::Nodes => TEXT.to_owned(),
        Ip4Path::Fused => {
            let fused = "l2-input ip4-fused error-punt\nip4-fused: error-drop error-punt ip4-input outputs\n";
            TEXT.replacen("l2-input ip4-input error-punt\n", fused, 1)
        }
    };
    let registry = Registry::standard();
    let wiring = Wiring::parse(&text, &registry).expect("the standard graph is right");
    wiring.build(plane, devices, &registry)
}
