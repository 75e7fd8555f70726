//! Requests to the process that runs a graph, and what it replies.

use crate::events::Events;
use crate::graphs::Load;
use dataplane::wiring::WiredNode;
use serde::{Deserialize, Serialize};
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::time::Duration;

/// A request.
#[derive(Serialize, Deserialize)]
pub enum Request {
    /// Load shared objects; the reply describes the nodes of all, each a [`NodeAbout`].
    Load(Vec<PathBuf>),
    /// Build the graph of each worker; the reply is the [`RefusedNode`] if a node cannot be set up.
    Build(Box<Plan>),
    /// Run for some time of which only the packets' ends and their traces are kept.
    WarmUp(Duration),
    /// Run for a window; the reply is the
    /// [`Window`](crate::graphs::Window).
    Window(Duration),
    /// Run for a window in which events are counted; the reply is the
    /// [`EventCounts`](crate::graphs::EventCounts), or why the machine counts none.
    Count(Events, Duration),
    /// End the nodes; the reply is what there is besides, the
    /// [`Ending`](crate::graphs::Ending).
    End,
}

/// A node of a shared object, as it describes itself.
#[derive(Clone, Serialize, Deserialize)]
pub struct NodeAbout {
    /// Name of the node.
    pub name: String,
    /// The shared object.
    pub object: String,
    /// The names of its arcs.
    pub arcs: Vec<String>,
    /// The name of its packets' private data; empty if it is the node's alone.
    pub private_name: String,
    /// Bytes of private data per packet.
    pub private_bytes: usize,
}

/// A node that cannot be set up.
#[derive(Serialize, Deserialize)]
pub struct RefusedNode {
    /// The name of the node in the graph.
    pub node: String,
    /// The reason, as the node gives it.
    pub why: String,
}

/// A graph that was found to be right.
#[derive(Serialize, Deserialize)]
pub struct Plan {
    /// The nodes, of which the first is where packets come in.
    pub wiring: Vec<WiredNode>,
    /// The nodes of shared objects in it.
    pub nodes: Vec<PlannedNode>,
    /// Bytes of private data of a packet.
    pub private_bytes: usize,
    /// The source of packets.
    pub packets: Packets,
    /// The load.
    pub load: Load,
    /// Threads.
    pub workers: usize,
    /// Packets of the first worker that are traced.
    pub trace: usize,
}

/// A node of a shared object in a graph.
#[derive(Serialize, Deserialize)]
pub struct PlannedNode {
    /// Name of the node in the graph.
    pub name: String,
    /// Number of the node among those of all shared objects.
    pub number: usize,
    /// Options of the node.
    pub options: String,
    /// Offset of its private data in the cache line that each packet has for such data, in bytes.
    pub private_at: usize,
}

/// A source of packets.
#[derive(Serialize, Deserialize)]
pub enum Packets {
    /// As many flows as the load says.
    Generator,
    /// These flows.
    Flows(Vec<Flow>),
    /// Those of a capture file, again and again.
    Capture(PathBuf),
}

/// Packets that are alike: UDP, 60 bytes without the frame check sequence.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Flow {
    /// The address that they are from.
    pub source: Ipv4Addr,
    /// The address that they go to.
    pub destination: Ipv4Addr,
    /// The UDP port that they are from.
    #[serde(default = "usual::source_port")]
    pub source_port: u16,
    /// The UDP port that they go to.
    #[serde(default = "usual::destination_port")]
    pub destination_port: u16,
    /// Their time to live.
    #[serde(default = "usual::ttl")]
    pub ttl: u8,
}

/// The values of a flow that a graph's file may leave out.
mod usual {
    pub const fn source_port() -> u16 {
        0x1000
    }

    pub const fn destination_port() -> u16 {
        0x2000
    }

    pub const fn ttl() -> u8 {
        64
    }
}

#[cfg(test)]
mod tests {
    use dataplane::buffers::Reuse;
    use dataplane::graph::{Balance, NodeCounters, NodeState, RuntimeRow};
    use serde::de::DeserializeOwned;
    use worker_process::protocol::{Reply, parse, write};

    use super::*;
    use crate::graphs::{Ending, ErrorCount, EventCounts, GraphKind, Share, Window};
    use crate::latency::Percentiles;

    /// Checks that a message arrives as it was sent.
    fn check<T: Serialize + DeserializeOwned>(message: &T) {
        let text = |message: &T| {
            let mut line = Vec::new();
            write(&mut line, message).unwrap();
            String::from_utf8(line).unwrap()
        };
        let sent = text(message);
        assert_eq!(text(&parse(sent.trim_end()).unwrap()), sent);
    }

    #[test]
    fn each_request_arrives_whole_or_not_at_all() {
        let flow = Flow {
            source: [10, 0, 0, 1].into(),
            destination: [255, 1, 2, 3].into(),
            source_port: 7,
            destination_port: 65_535,
            ttl: 64,
        };
        let node = |name: &str| PlannedNode {
            name: name.to_owned(),
            number: 3,
            options: "deny\nall".to_owned(),
            private_at: 8,
        };
        for packets in [
            Packets::Generator,
            Packets::Flows(vec![flow; 2]),
            Packets::Capture("a/b.pcap".into()),
        ] {
            let load = Load {
                reuse: Reuse::Hot,
                flows: 17,
                ..Load::new(GraphKind::L2CrossConnect)
            };
            let plan = Plan {
                wiring: vec![WiredNode {
                    name: "a".to_owned(),
                    arcs: vec!["b".to_owned()],
                    has_outputs: true,
                }],
                nodes: vec![node("a"), node("b")],
                private_bytes: 8,
                packets,
                load,
                workers: 2,
                trace: 5,
            };
            check(&Request::Build(Box::new(plan)));
        }
        let length = Duration::from_millis(1500);
        for request in [
            Request::Load(vec!["a.so".into(), "b/c.so".into()]),
            Request::WarmUp(length),
            Request::Window(length),
            Request::Count(Events::Software, length),
            Request::End,
        ] {
            check(&request);
        }
    }

    #[test]
    fn what_is_no_request_is_an_error_that_names_it() {
        for line in [
            "\"Stop\"",
            "{\"WarmUp\":1}",
            "{\"Load\":[]",
            "\"End\" 1",
            "{\"Count\":[\"Software\"]}",
            "",
        ] {
            let error = parse::<Request>(line).err().unwrap().to_string();
            assert!(
                error.starts_with(&format!("`{line}` is no message")),
                "{error}"
            );
        }
    }

    #[test]
    fn each_reply_arrives_whole_or_not_at_all() {
        let counters = NodeCounters {
            calls: 1,
            vectors: 1 << 52,
            largest: 7,
            events: [1, 2, 3, 4],
            ..Default::default()
        };
        let row = |state: NodeState| RuntimeRow {
            name: state.name().to_owned(),
            state,
            counters,
        };
        let nodes = vec![row(NodeState::Polling), row(NodeState::Active)];
        let share = Share {
            seconds: 0.25,
            ticks: 9,
            packets: 8,
        };
        check::<Reply<Window>>(&Ok(Window {
            seconds: 0.5,
            loops: 3,
            nodes: nodes.clone(),
            workers: vec![share; 2],
        }));
        let counted = EventCounts {
            names: vec!["cycles".to_owned(), "misses".to_owned()],
            nodes,
        };
        check::<Reply<Result<EventCounts, String>>>(&Ok(Ok(counted)));
        check::<Reply<Result<EventCounts, String>>>(&Ok(Err("none".to_owned())));
        let node = NodeAbout {
            name: "acl".to_owned(),
            object: "a.so".to_owned(),
            arcs: vec!["permit".to_owned(), "other".to_owned()],
            private_name: String::new(),
            private_bytes: 8,
        };
        check::<Reply<Vec<NodeAbout>>>(&Ok(vec![node.clone(), node]));
        let refused = RefusedNode {
            node: "acl".to_owned(),
            why: String::new(),
        };
        for built in [Ok(()), Err(refused)] {
            check::<Reply<Result<(), RefusedNode>>>(&Ok(built));
        }
        check::<Reply<()>>(&Ok(()));
        let words = |word: &str| word.to_owned();
        check::<Reply<Ending>>(&Ok(Ending {
            rounds: Percentiles {
                count: 4,
                values: vec![(words("p50"), 0.5), (words("max"), 1.5)],
            },
            balances: vec![Balance {
                received: 5,
                sent: 4,
                punted: 1,
                ..Default::default()
            }],
            errors: vec![ErrorCount {
                node: words("a"),
                reason: words("b"),
                severity: words("c"),
                count: 6,
            }],
            trace: Some(words("Packet 1\n")),
        }));
    }
}
