//! The file of a graph: read, and compared with the nodes that there are.
//!
//! Nodes of ours need not be in it. An arc of theirs leads to the node of its name, unless the file
//! says otherwise; so a file says what is different.

use super::objects::is_name;
use super::parse::{Mode, NodeEntry, PacketsEntry, Tables};
use super::protocol::{self, NodeAbout, Plan, PlannedNode};
use crate::graphs::{GraphKind, Load};
use dataplane::standard::{self, NODES, StandardNode};
use dataplane::wiring::WiredNode;
use document::{Document, Error, Result, one_of};
use itertools::Itertools;
use std::ops::Range;
use std::path::Path;
use stopwatt_loop::PRIVATE_MAX;

/// A graph of one's own, and the file that it stands in.
pub struct GraphFile<'d> {
    document: &'d Document,
    tables: Tables,
    packets: PacketsEntry,
}

/// A node of the graph.
struct Wiring {
    node: WiredNode,
    /// For each arc the place in the file that says where it leads; none if the file says nothing.
    places: Vec<Option<Range<usize>>>,
}

const START: &str = "ethernet-input";
const GENERATOR: &str = "generator";
const FLOWS: &str = "flows";

impl<'d> GraphFile<'d> {
    /// Reads a file, as far as it can be checked without the nodes of shared objects.
    ///
    /// # Errors
    /// The first mistake in the file, with its line.
    pub fn read(document: &'d Document) -> Result<Self> {
        let mut file: Tables = document.read()?;
        let Some(packets) = file.packets.take() else {
            return Err(document.wrong_as_a_whole(
                "it does not say where packets come from",
                "write [packets] with from = \"generator\", \"flows\" or the name of a capture file",
            ));
        };
        let has_flows = packets.from.get_ref() == FLOWS;
        match file.flows.first() {
            None if has_flows => {
                let help = "write a [[flow]] with source and destination for each flow, or from = \"generator\"";
                return Err(document.wrong(packets.from.span(), "there is no [[flow]]", help));
            }
            Some(flow) if !has_flows => {
                let help = "write from = \"flows\" in [packets], or leave the flows out";
                return Err(document.wrong(flow.span(), "packets do not come from flows", help));
            }
            _ => {}
        }
        if let Some(name) = &file.name {
            let ours = GraphKind::ALL.map(GraphKind::name);
            if ours.contains(&name.get_ref().as_str()) || !is_name(name.get_ref()) {
                let message = format!("a graph of one's own cannot be called `{}`", name.get_ref());
                let help = format!(
                    "letters, digits and hyphens, and none of {}",
                    ours.join(", ")
                );
                return Err(document.wrong(name.span(), message, help));
            }
        }
        for (at, node) in file.nodes.iter().enumerate() {
            let name = node.name.get_ref();
            if !is_name(name) {
                let message = format!("a node cannot be called {}", document::quoted(name));
                return Err(document.wrong(
                    node.name.span(),
                    message,
                    "up to 64 letters, digits, hyphens and dots",
                ));
            }
            if file.nodes[..at]
                .iter()
                .any(|other| other.name.get_ref() == name)
            {
                let message = format!("two nodes are called `{name}`");
                let help =
                    "give each a name of its own; `kind` says which node of a shared object it is";
                return Err(document.wrong(node.name.span(), message, help));
            }
        }
        Ok(Self {
            document,
            tables: file,
            packets,
        })
    }

    /// The name of the graph; the file's, if it has none of its own.
    pub fn name(&self, path: &Path) -> String {
        self.tables.name.as_ref().map_or_else(
            || {
                path.file_stem()
                    .map_or_else(String::new, |stem| stem.to_string_lossy().into_owned())
            },
            |name| name.get_ref().clone(),
        )
    }

    /// The packets in words, where they are not the generator's.
    pub fn packets(&self) -> Option<String> {
        match self.packets.from.get_ref().as_str() {
            GENERATOR => None,
            FLOWS => Some(format!(
                "64-byte packets, {} flows of the file",
                self.tables.flows.len()
            )),
            name => Some(format!("the packets of {name}")),
        }
    }

    /// True if its interfaces route.
    pub fn has_routes(&self) -> bool {
        self.packets.mode == Mode::Route
    }

    /// A node cannot be set up.
    pub fn refused(&self, node: &str, why: &str) -> Error {
        let message = format!("the node `{node}` cannot be set up: {why}");
        let help = "`options` is handed to its set_up()";
        match self
            .tables
            .nodes
            .iter()
            .find(|entry| entry.name.get_ref() == node)
        {
            Some(entry) => self.document.wrong(
                entry.options.as_ref().unwrap_or(&entry.name).span(),
                message,
                help,
            ),
            None => self.document.wrong_as_a_whole(message, help),
        }
    }

    /// The graph, if it is one: with the nodes of shared objects that there are.
    ///
    /// # Errors
    /// The first mistake in the file, with its line.
    pub fn plan(&self, path: &Path, objects: &[NodeAbout], load: Load) -> Result<Plan> {
        let document = self.document;
        are_new(objects)?;
        let mut wired: Vec<Wiring> = ours().map(Wiring::from).collect();
        let mut nodes = Vec::new();
        for entry in &self.tables.nodes {
            let (of_entry, number) = self.wire(entry, objects)?;
            if let Some(number) = number {
                nodes.push((entry, number));
            }
            wired.retain(|it| it.node.name != of_entry.node.name);
            wired.push(of_entry);
        }
        let names: Vec<&str> = wired.iter().map(|it| it.node.name.as_str()).collect();
        self.lead_somewhere(&names, objects)?;
        let start = self.start(&names)?;
        let order = in_order(&wired, start).map_err(|cycle| {
            let help = "each packet that goes round would do so without end; lead one of these arcs elsewhere";
            let message = format!("arcs lead in a circle: {}", cycle.names.join(" -> "));
            match cycle.place {
                Some(place) => document.wrong(place, message, help),
                None => document.wrong_as_a_whole(message, help),
            }
        })?;
        if let Some(entry) = self
            .tables
            .nodes
            .iter()
            .find(|entry| !order.contains(&entry.name.get_ref().as_str()))
        {
            let message = format!("no packet comes to the node `{}`", entry.name.get_ref());
            let help = format!("lead an arc of another node to it; packets start at `{start}`");
            return Err(document.wrong(entry.name.span(), message, help));
        }
        let (places, private_bytes) = private_data(document, &nodes, objects)?;
        let planned = nodes
            .iter()
            .zip(places)
            .map(|((entry, number), private_at)| PlannedNode {
                name: entry.name.get_ref().clone(),
                number: *number,
                options: entry
                    .options
                    .as_ref()
                    .map_or_else(String::new, |options| options.get_ref().clone()),
                private_at,
            });
        let kind = if self.has_routes() {
            GraphKind::Ip4Route
        } else {
            GraphKind::L2CrossConnect
        };
        let load = Load { kind, ..load };
        Ok(Plan {
            wiring: order
                .iter()
                .filter_map(|name| find(&wired, name))
                .map(|it| it.node.clone())
                .collect(),
            nodes: planned.collect(),
            private_bytes,
            packets: self.source(path)?,
            load,
            workers: 1,
            trace: 0,
        })
    }

    /// Refuses an arc to a node that there is not.
    fn lead_somewhere(&self, names: &[&str], objects: &[NodeAbout]) -> Result {
        for to in self
            .tables
            .nodes
            .iter()
            .flat_map(|entry| entry.next.values())
        {
            if !names.contains(&to.get_ref().as_str()) {
                let message = format!("there is no node {}", document::quoted(to.get_ref()));
                let mut help = one_of(to.get_ref(), names);
                if objects.iter().any(|node| node.name == *to.get_ref()) {
                    help = "it is in a shared object, and needs a [[node]] that says where its arcs lead".to_owned();
                }
                return Err(self.document.wrong(to.span(), message, help));
            }
        }
        Ok(())
    }

    /// The node that packets come to first.
    fn start(&self, names: &[&str]) -> Result<&str> {
        let Some(start) = &self.packets.start else {
            return Ok(START);
        };
        if names.contains(&start.get_ref().as_str()) {
            return Ok(start.get_ref());
        }
        let message = format!(
            "there is no node {} for packets to start at",
            document::quoted(start.get_ref())
        );
        Err(self
            .document
            .wrong(start.span(), message, one_of(start.get_ref(), names)))
    }

    /// The source of packets.
    fn source(&self, path: &Path) -> Result<protocol::Packets> {
        match self.packets.from.get_ref().as_str() {
            GENERATOR => Ok(protocol::Packets::Generator),
            FLOWS => Ok(protocol::Packets::Flows(
                self.tables
                    .flows
                    .iter()
                    .map(|flow| *flow.get_ref())
                    .collect(),
            )),
            name => {
                let file = path.parent().unwrap_or(Path::new("")).join(name);
                let wrong = |why: String| {
                    let help = "from = \"generator\", \"flows\", or a capture file beside this one";
                    self.document.wrong(self.packets.from.span(), why, help)
                };
                let bytes = disk::read(&file, disk::MOST_BYTES)
                    .map_err(|error| wrong(format!("{}: {error}", file.display())))?;
                match dataplane::pcap::read(&bytes) {
                    Ok(there) if there.is_empty() => {
                        Err(wrong(format!("{} has no packet", file.display())))
                    }
                    Ok(_) => Ok(protocol::Packets::Capture(file)),
                    Err(error) => Err(wrong(format!("{}: {error}", file.display()))),
                }
            }
        }
    }

    /// The arcs of an entry, and the number of its node among those of shared objects.
    fn wire(&self, entry: &NodeEntry, objects: &[NodeAbout]) -> Result<(Wiring, Option<usize>)> {
        let document = self.document;
        let name = entry.name.get_ref();
        let kind = entry.kind.as_ref().unwrap_or(&entry.name);
        let number = objects.iter().position(|node| node.name == *kind.get_ref());
        let known_here = standard::find(kind.get_ref());
        let known = match (known_here, number) {
            (Some(node), _) => {
                self.has_no_options(entry)?;
                node.arcs.to_vec()
            }
            (None, Some(number)) => objects[number].arcs.iter().map(String::as_str).collect(),
            (None, None) => {
                let message = format!("there is no node {}", document::quoted(kind.get_ref()));
                let names = objects.iter().map(|node| node.name.as_str());
                let all = ours().map(|node| node.name).chain(names).collect_vec();
                let more = if objects.is_empty() {
                    "; --nodes FILE.so names a shared object with nodes"
                } else {
                    ""
                };
                let help = one_of(kind.get_ref(), &all) + more;
                return Err(document.wrong(kind.span(), message, help));
            }
        };
        if known_here.is_none() && standard::find(name).is_some() {
            let message = format!("`{name}` is a node of Stopwatt");
            return Err(document.wrong(entry.name.span(), message, "give this one another name"));
        }
        for arc in entry.next.keys() {
            if !known.contains(&arc.get_ref().as_str()) {
                let message = format!("`{name}` has no arc {}", document::quoted(arc.get_ref()));
                let help = if known.is_empty() {
                    "it has none that a file can lead".to_owned()
                } else {
                    one_of(arc.get_ref(), &known)
                };
                return Err(document.wrong(arc.span(), message, help));
            }
        }
        let (mut arcs, mut places) = (Vec::new(), Vec::new());
        for arc in known {
            let (to, place) = match (
                entry.next.iter().find(|(key, _)| key.get_ref() == arc),
                known_here,
            ) {
                (Some((_, to)), _) => (to.get_ref().clone(), Some(to.span())),
                (None, Some(_)) => (arc.to_owned(), None),
                (None, None) => {
                    let message = format!("the arc `{arc}` of `{name}` leads nowhere");
                    let help = format!("next = {{ {arc} = \"ip4-lookup\" }}, or another node");
                    return Err(document.wrong(entry.name.span(), message, help));
                }
            };
            arcs.push(to);
            places.push(place);
        }
        let node = WiredNode {
            name: name.clone(),
            arcs,
            has_outputs: known_here.is_some_and(|node| node.has_outputs),
        };
        Ok((Wiring { node, places }, number))
    }

    /// Refuses what an entry of a node of ours cannot have.
    fn has_no_options(&self, entry: &NodeEntry) -> Result {
        let Some(extra) = entry.options.as_ref().or(entry.kind.as_ref()) else {
            return Ok(());
        };
        let message = format!(
            "`{}` is a node of Stopwatt: it is there once, and has no options",
            entry.kind.as_ref().unwrap_or(&entry.name).get_ref()
        );
        let help = "`kind` and `options` are for nodes of shared objects";
        Err(self.document.wrong(extra.span(), message, help))
    }
}

/// Refuses nodes of shared objects whose names others have.
fn are_new(objects: &[NodeAbout]) -> Result {
    for (at, node) in objects.iter().enumerate() {
        let NodeAbout { name, object, .. } = node;
        let other = objects[..at]
            .iter()
            .find(|other| other.name == *name)
            .map(|other| other.object.as_str());
        let ours = standard::find(name).map(|_| "Stopwatt");
        if let Some(other) = other.or(ours) {
            let message = format!("{object} has a node `{name}`, and so has {other}");
            return Err(Error::new(
                message,
                "give it a name of its own in the shared object",
            ));
        }
    }
    Ok(())
}

/// Our nodes, by name.
fn ours() -> impl Iterator<Item = &'static StandardNode> {
    NODES.iter().sorted_by_key(|node| node.name)
}

impl From<&StandardNode> for Wiring {
    fn from(node: &StandardNode) -> Self {
        Self {
            node: node.into(),
            places: Vec::new(),
        }
    }
}

/// Arcs that lead in a circle.
struct Cycle {
    /// The nodes, of which the last is the first.
    names: Vec<String>,
    /// The place in the file of one of the arcs.
    place: Option<Range<usize>>,
}

/// The node of a name.
fn find<'w>(wired: &'w [Wiring], name: &str) -> Option<&'w Wiring> {
    wired.iter().find(|it| it.node.name == name)
}

/// The nodes that packets can reach, in topological order.
fn in_order<'w>(wired: &'w [Wiring], start: &'w str) -> Result<Vec<&'w str>, Cycle> {
    // The nodes all of whose arcs were followed; and those on the way to where we are, each with
    // its next arc and the place of the one that led to it.
    let mut backwards = Vec::new();
    let mut way: Vec<(&str, usize, Option<Range<usize>>)> = vec![(start, 0, None)];
    while let Some((name, next, _)) = way.last_mut() {
        let found = find(wired, name).and_then(|it| {
            Some((
                it.node.arcs.get(*next)?,
                it.places.get(*next).cloned().flatten(),
            ))
        });
        let Some((to, place)) = found else {
            backwards.push(*name);
            way.pop();
            continue;
        };
        *next += 1;
        if let Some(first) = way.iter().position(|(name, ..)| name == to) {
            let names = way[first..]
                .iter()
                .map(|(name, ..)| (*name).to_owned())
                .chain([to.clone()]);
            let others = way[first + 1..]
                .iter()
                .rev()
                .find_map(|(.., place)| place.clone());
            return Err(Cycle {
                names: names.collect(),
                place: place.or(others),
            });
        }
        if !backwards.contains(&to.as_str()) {
            way.push((to, 0, place));
        }
    }
    backwards.reverse();
    Ok(backwards)
}

/// Returns the offset of each node's private data in a packet's line, and the bytes of all of them:
/// they are the line's last ones, so that a write behind the buffer in front meets others first.
/// Nodes that give it the same name share it.
fn private_data(
    document: &Document,
    nodes: &[(&NodeEntry, usize)],
    objects: &[NodeAbout],
) -> Result<(Vec<usize>, usize)> {
    let (mut places, mut end) = (Vec::new(), 0);
    let mut shared: Vec<(usize, &NodeAbout)> = Vec::new();
    for (entry, number) in nodes {
        let about = &objects[*number];
        let wrong =
            |message: String, help: &str| Err(document.wrong(entry.name.span(), message, help));
        let has_name = !about.private_name.is_empty() && about.private_bytes > 0;
        let same = shared
            .iter()
            .find(|(_, other)| has_name && other.private_name == about.private_name);
        if let Some((at, other)) = same {
            if other.private_bytes != about.private_bytes {
                let message = format!(
                    "`{}` wants {} bytes of private data, and `{}`, which shares it, wants {}",
                    about.name, about.private_bytes, other.name, other.private_bytes
                );
                return wrong(
                    message,
                    "nodes that share private data say the same number of bytes",
                );
            }
            places.push(*at);
            continue;
        }
        let at = end;
        end += about.private_bytes.next_multiple_of(8);
        if end > PRIVATE_MAX {
            let message = format!(
                "with `{}` packets have {end} bytes of private data",
                entry.name.get_ref()
            );
            return wrong(
                message,
                &format!("up to {PRIVATE_MAX}, for all nodes together, each in multiples of 8"),
            );
        }
        if has_name {
            shared.push((at, about));
        }
        places.push(at);
    }
    Ok((
        places
            .into_iter()
            .map(|at| PRIVATE_MAX - end + at)
            .collect(),
        end,
    ))
}
