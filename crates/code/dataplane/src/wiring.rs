//! Graphs from a text: which nodes there are, and where their arcs lead.
//!
//! A line is a node and its arcs, in the order of their numbers:
//! `l2-input: error-drop error-punt l2-output`. Packets that come in start at the first one.
//! `output` and `tx` stand for a node of each interface, and `outputs` for an arc to each
//! interface's output. A line that starts with # is a remark. Whoever has nodes of their own adds
//! them to a [`Registry`].

use crate::arcs::ARCS_MAX;
use crate::graph::{Graph, NodeId};
use crate::node::Node;
use crate::nodes::{
    Device, End, EthernetInput, InterfaceOutput, InterfaceTx, Ip4Input, Ip4Lookup, Ip4Rewrite,
    L2Input, L2Output,
};
use crate::plane::Plane;
use std::collections::HashMap;

/// Largest number of interfaces: a node has [`ARCS_MAX`] arcs, and a few of them are taken.
pub const INTERFACES_MAX: usize = 56;

const OUTPUTS: &str = "outputs";
const OUTPUT: &str = "output";
const TX: &str = "tx";

/// The arcs that a node has, by name and in the order of their numbers. A node that has any has
/// those of [`DROP_AND_PUNT`] first, which are not named here.
#[derive(Clone, Copy)]
pub enum Arcs {
    /// None: packets end here.
    None,
    /// Drop, punt, and the named ones.
    Named(&'static [&'static str]),
    /// Drop, punt, and one to each interface's output.
    AndOutputs,
}

/// The names of the nodes that a packet is dropped or handed to the host at: the first two arcs
/// lead there.
pub const DROP_AND_PUNT: [&str; 2] = ["error-drop", "error-punt"];

impl Arcs {
    /// The named ones.
    pub fn names(self) -> &'static [&'static str] {
        match self {
            Self::None | Self::AndOutputs => &[],
            Self::Named(names) => names,
        }
    }

    /// The number of arcs without those to the outputs.
    fn count(self) -> usize {
        match self {
            Self::None => 0,
            _ => DROP_AND_PUNT.len() + self.names().len(),
        }
    }
}

type Make = Box<dyn Fn(&Plane) -> Box<dyn Node>>;

/// The nodes that a text may name.
pub struct Registry {
    nodes: HashMap<String, (Arcs, Make)>,
}

impl Registry {
    /// The nodes of this crate.
    pub fn standard() -> Self {
        let mut registry = Self {
            nodes: HashMap::new(),
        };
        registry.add(DROP_AND_PUNT[0], Arcs::None, |_| End::Drop);
        registry.add(DROP_AND_PUNT[1], Arcs::None, |_| End::Punt);
        registry.add(
            "ethernet-input",
            Arcs::Named(&["l2-input", "ip4-input"]),
            |_| EthernetInput,
        );
        registry.add("l2-input", Arcs::Named(&["l2-output"]), |_| L2Input);
        registry.add("l2-output", Arcs::AndOutputs, |_| L2Output);
        registry.add("ip4-input", Arcs::Named(&["ip4-lookup"]), |_| Ip4Input);
        registry.add("ip4-lookup", Arcs::Named(&["ip4-rewrite"]), |_| Ip4Lookup);
        registry.add("ip4-rewrite", Arcs::AndOutputs, |_| Ip4Rewrite);
        registry
    }

    /// Adds a node, or puts one in the place of another of that name.
    pub fn add<N: Node + 'static>(
        &mut self,
        name: &str,
        arcs: Arcs,
        make: impl Fn(&Plane) -> N + 'static,
    ) {
        self.nodes.insert(
            name.to_owned(),
            (arcs, Box::new(move |plane| Box::new(make(plane)))),
        );
    }

    /// The arcs of a node that there is.
    pub fn arcs(&self, name: &str) -> Option<Arcs> {
        self.nodes.get(name).map(|(arcs, _)| *arcs)
    }

    /// The names of all nodes, in order.
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.nodes.keys().map(String::as_str).collect();
        names.sort_unstable();
        names
    }
}

/// An error in a text: the line, counted from 1, and why.
#[derive(Debug, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct WiringError {
    /// The line; 0 if it is the whole.
    pub line: usize,
    /// Why, and what would be right.
    pub message: String,
}

/// A text that was read: for each node its line, its name and the names of its arcs.
#[derive(Debug)]
pub struct Wiring {
    nodes: Vec<(usize, String, Vec<String>)>,
}

/// Refuses a node that there is not, or with another number of arcs.
fn has_its_arcs(registry: &Registry, name: &str, arcs: &[String]) -> Result<(), String> {
    let wanted = match (name, registry.nodes.get(name)) {
        (OUTPUT, _) => Arcs::Named(&[TX]),
        (TX, _) => Arcs::None,
        (_, Some((arcs, _))) => *arcs,
        (_, None) => {
            return Err(format!(
                "no node `{name}`: there are {}",
                [registry.names(), vec![OUTPUT, TX]].concat().join(", ")
            ));
        }
    };
    let (count, has_outputs) = (arcs.len(), arcs.iter().any(|arc| arc == OUTPUTS));
    let right = match wanted {
        Arcs::AndOutputs => count == wanted.count() + 1 && has_outputs,
        _ => count == wanted.count() && !has_outputs,
    };
    if !right {
        let and_outputs = if matches!(wanted, Arcs::AndOutputs) {
            " and `outputs`"
        } else {
            ""
        };
        let wanted = wanted.count();
        return Err(format!(
            "node `{name}` has {wanted} arcs{and_outputs}, not: {}",
            arcs.join(" ")
        ));
    }
    Ok(())
}

impl Wiring {
    /// Reads a text and compares it with the nodes that there are, so that [`Wiring::build`] finds
    /// nothing wrong any more.
    ///
    /// # Errors
    /// A line is none, a node is unknown or there twice, or has another number of arcs, or an arc
    /// leads nowhere.
    pub fn parse(text: &str, registry: &Registry) -> Result<Self, WiringError> {
        let mut nodes: Vec<(usize, String, Vec<String>)> = Vec::new();
        for (line, content) in (1..).zip(text.lines()) {
            let wrong = |message: String| Err(WiringError { line, message });
            let content = content.trim();
            if content.is_empty() || content.starts_with('#') {
                continue;
            }
            let Some((name, arcs)) = content.split_once(':') else {
                return wrong(format!(
                    "`{content}` has no colon: it must look like `l2-input: error-drop error-punt l2-output`"
                ));
            };
            let name = name.trim();
            if nodes.iter().any(|(_, there, _)| there == name) {
                return wrong(format!("node `{name}` is there twice"));
            }
            let arcs: Vec<String> = arcs.split_whitespace().map(str::to_owned).collect();
            if let Err(message) = has_its_arcs(registry, name, &arcs) {
                return wrong(message);
            }
            nodes.push((line, name.to_owned(), arcs));
        }
        let is_there = |arc: &str| {
            let named = if arc == OUTPUTS { OUTPUT } else { arc };
            nodes.iter().any(|(_, name, _)| name == named)
        };
        for (line, name, arcs) in &nodes {
            if let Some(arc) = arcs.iter().find(|arc| !is_there(arc)) {
                let message = format!("an arc of `{name}` leads to `{arc}`, which has no line");
                return Err(WiringError {
                    line: *line,
                    message,
                });
            }
            if name != OUTPUT && arcs.iter().any(|arc| arc == TX || arc == OUTPUT) {
                let message = format!(
                    "`{OUTPUT}` and `{TX}` stand for a node of each interface; an arc says `{OUTPUTS}`"
                );
                return Err(WiringError {
                    line: *line,
                    message,
                });
            }
        }
        match nodes.first() {
            Some((_, first, _)) if first != OUTPUT && first != TX => Ok(Self { nodes }),
            _ => Err(WiringError {
                line: 0,
                message: "there is no node for packets to start at".to_owned(),
            }),
        }
    }

    /// The nodes in their order, each with the names that its arcs lead to.
    pub fn nodes(&self) -> impl Iterator<Item = (&str, &[String])> {
        self.nodes
            .iter()
            .map(|(_, name, arcs)| (name.as_str(), arcs.as_slice()))
    }

    /// Builds the graph over a plane's interfaces, one device each. Returns it with the node that
    /// inputs lead to.
    ///
    /// # Panics
    /// If there is not one device for each interface, or more than [`INTERFACES_MAX`], or the
    /// registry is another one than at reading.
    pub fn build(
        &self,
        plane: Plane,
        devices: Vec<Box<dyn Device>>,
        registry: &Registry,
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
        let interfaces = 0..devices.len() as u16;
        let mut devices = Some(devices);
        let mut made: HashMap<&str, Vec<NodeId>> = HashMap::new();
        // From the end: what packets meet last is called last.
        for (_, name, _) in self.nodes.iter().rev() {
            let ids = match name.as_str() {
                OUTPUT => interfaces
                    .clone()
                    .map(|number| {
                        let node = InterfaceOutput::new(&graph.plane, number);
                        graph.add(node, &[])
                    })
                    .collect(),
                TX => {
                    let devices = devices.take().unwrap_or_default();
                    interfaces
                        .clone()
                        .zip(devices)
                        .map(|(number, device)| {
                            let node = InterfaceTx::new(&graph.plane, number, device);
                            graph.add(node, &[])
                        })
                        .collect()
                }
                name => {
                    let (_, make) = registry
                        .nodes
                        .get(name)
                        .expect("the registry that the text was read with");
                    vec![graph.add_boxed(make(&graph.plane))]
                }
            };
            made.insert(name, ids);
        }
        for (_, name, arcs) in &self.nodes {
            for (number, &node) in made[name.as_str()].iter().enumerate() {
                for arc in arcs {
                    match arc.as_str() {
                        OUTPUTS => made[OUTPUT]
                            .iter()
                            .for_each(|&output| graph.add_arc(node, output)),
                        TX => graph.add_arc(node, made[TX][number]),
                        arc => graph.add_arc(node, made[arc][0]),
                    }
                }
            }
        }
        let first = made[self.nodes[0].1.as_str()][0];
        (graph, first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        let standard = include_str!("standard.graph");
        for (from, to, expected) in [
            ("tx:\n", "tx\n", "has no colon"),
            ("tx:\n", "tx:\ntx:\n", "there twice"),
            (
                "l2-input: ",
                "l3-input: ",
                "no node `l3-input`: there are error-drop",
            ),
            (
                "error-punt l2-output\n",
                "error-punt\n",
                "node `l2-input` has 3 arcs, not: error-drop error-punt",
            ),
            (
                "l2-output: error-drop error-punt outputs",
                "l2-output: error-drop error-punt tx",
                "and `outputs`",
            ),
            (
                "error-punt:\n",
                "",
                "leads to `error-punt`, which has no line",
            ),
            (
                "error-punt l2-output\n",
                "error-punt output\n",
                "stand for a node of each interface",
            ),
        ] {
            let text = standard.replacen(from, to, 1);
            let error = Wiring::parse(&text, &Registry::standard()).unwrap_err();
            assert!(
                error.message.contains(expected) && error.line > 0,
                "{error}"
            );
        }
        assert_eq!(
            Wiring::parse("# nothing\n", &Registry::standard())
                .unwrap_err()
                .line,
            0
        );
    }
}
