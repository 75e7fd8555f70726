//! The graph that is measured: the nodes of this crate, wired as `standard.graph` says and the
//! picture in [`crate::graph`] shows.

use crate::graph::{Graph, NodeId};
use crate::nodes::Device;
use crate::plane::Plane;
use crate::wiring::{Registry, Wiring};

pub use crate::wiring::INTERFACES_MAX;

/// The text of that graph.
pub const TEXT: &str = include_str!("standard.graph");

/// Builds the graph over a plane's interfaces, one device each. Returns it with the node that
/// inputs lead to.
///
/// # Panics
/// If there is not one device for each interface, or more than [`INTERFACES_MAX`].
pub fn build(plane: Plane, devices: Vec<Box<dyn Device>>) -> (Graph, NodeId) {
    let registry = Registry::standard();
    Wiring::parse(TEXT, &registry)
        .expect("the standard graph is right")
        .build(plane, devices, &registry)
}
