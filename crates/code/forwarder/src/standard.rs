//! The forwarder's standard graph: every node, wired as `standard.graph` says.

use std::sync::Arc;

use dataplane::graph::{Graph, NodeId};
use dataplane::nodes::Device;
use dataplane::plane::Plane;
use dataplane::wiring::Wiring;

use crate::control::Control;
use crate::nodes::{ICMP_PER_SECOND, registry};

/// The text of the standard graph.
pub const TEXT: &str = include_str!("standard.graph");

/// Builds the graph over a plane's interfaces, one device each. Returns it with the node that
/// inputs lead to.
///
/// # Panics
/// If there is not one device for each interface, or more than
/// [`dataplane::wiring::INTERFACES_MAX`].
pub fn build(plane: Plane, devices: Vec<Box<dyn Device>>, control: &Arc<Control>) -> (Graph, NodeId) {
    let registry = registry(control, ICMP_PER_SECOND);
    let wiring = Wiring::parse(TEXT, &registry).expect("the standard graph is right");
    wiring.build(plane, devices, &registry)
}
