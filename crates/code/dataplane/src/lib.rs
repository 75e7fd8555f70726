//! Vector packet processing: a graph of nodes, each of which works on a frame of up to 1024 packets
//! at a time.
//!
//! What is measured here is how the loops over a frame touch memory. They are written once
//! ([`walk`]), for every shape and prefetch stride, over [`memory::PacketMemory`]: host memory when
//! packets are forwarded, a model of a core when their cycles are predicted. It is for measuring
//! and no router: neighbours are static, and what is not on the common path is handed to the host.
//!
//! # What to read first
//! [`frame`], then [`graph`] with its picture, then [`walk`]; `examples/route.rs` puts them
//! together.
//!
//! | module | what it has |
//! |---|---|
//! | [`frame`] | a vector of packets, and what nodes tell each other about them |
//! | [`buffers`] | the memory of packets: a pool of slots |
//! | [`plane`] | what all nodes share: buffers, interfaces, routes, settings |
//! | [`graph`] | nodes and the arcs between them, and what is counted |
//! | [`nodes`] | the nodes: Ethernet, cross connect, IPv4, output |
//! | [`wiring`], [`standard`] | graphs from lists of nodes; the graph that is measured |
//! | [`walk`] | the loop over a frame: shapes and prefetch strides |
//! | [`memory`] | packets as the loops see them, in two layouts |
//! | [`study`] | the one loop of the stride study |
//! | [`fib`], [`checksum`] | longest-prefix match; the Internet checksum |
//! | [`adjacency`] | where packets may be sent next |
//! | [`mac`] | Ethernet addresses |
//! | [`inputs`], [`pcap`] | packets from a generator or a list; capture files |
//! | [`machine`] | prefetch instruction and counter |
//! | [`show`] | traces of packets, in the words of VPP |
//! | [`trace`] | following packets through the graph |
//! | [`handed`] | frames as code of others gets them |
#![deny(unsafe_code)]

pub mod adjacency;
mod arcs;
pub mod buffers;
pub mod checksum;
pub mod fib;
pub mod frame;
pub mod graph;
pub mod handed;
pub mod inputs;
pub mod mac;
pub mod machine;
pub mod memory;
mod node;
pub mod nodes;
pub mod pcap;
pub mod plane;
pub mod show;
pub mod standard;
pub mod study;
pub mod trace;
pub mod walk;
pub mod wiring;
