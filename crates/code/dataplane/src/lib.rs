//! Vector packet processing: a graph of nodes, each of which works on a frame of up to 1024 packets at a time.
//!
//! What is measured here is how the loops over a frame touch memory. They are written once ([`walk`]), for every shape and
//! prefetch stride, over [`memory::PacketMemory`]: host memory when packets are forwarded, a model of a core when their cycles are
//! predicted.
//!
//! # What to read first
//! [`frame`], then [`graph`] with its picture, then [`walk`]; `examples/route.rs` puts them together.
//!
//! | module | what it has |
//! |---|---|
//! | [`frame`] | a vector of packets, and what nodes tell each other about them |
//! | [`buffers`] | the memory of packets: a pool of slots with reference counts |
//! | [`plane`] | what all nodes share: buffers, interfaces, routes, settings |
//! | [`graph`] | nodes and the arcs between them, and what is counted |
//! | [`nodes`] | the nodes: Ethernet, cross connect, IPv4, output |
//! | [`wiring`], [`standard`] | graphs from a text; all nodes wired into one graph |
//! | [`walk`] | the loop over a frame: shapes and prefetch strides |
//! | [`memory`] | packets as the loops see them, in two layouts |
//! | [`study`] | the one loop of the stride study |
//! | [`fib`], [`checksum`] | longest-prefix match; the Internet checksum |
//! | [`shared`] | the tables that all workers read, and their one lock to change them |
//! | [`adjacency`], [`control`] | where packets may be sent next; routes, and neighbours found by asking |
//! | [`own`] | our addresses, and who answers for them |
//! | [`mac`], [`arp`] | Ethernet addresses; ARP packets |
//! | [`epochs`] | when memory that was taken out of a shared table may be used again |
//! | [`inputs`], [`pcap`] | packets from a generator, a list, a capture file |
//! | `af_packet`, `af_xdp`, `tap` | packets of a Linux interface: packet socket, AF_XDP, TAP device |
//! | `netns` | network namespaces, in which measurements have networks of their own |
//! | [`offload`] | checksums and splitting that a kernel left to a device |
//! | [`machine`] | prefetch instruction and counter |
//! | [`prompt`], [`show`] | the prompt's commands, and the tables that they print |
//! | [`workers`] | threads that each run a graph over the same tables |
//! | [`trace`] | following packets through the graph |
#![deny(unsafe_code)]

pub mod adjacency;
#[cfg(target_os = "linux")]
pub mod af_packet;
#[cfg(target_os = "linux")]
pub mod af_xdp;
mod arcs;
pub mod arp;
pub mod buffers;
pub mod checksum;
pub mod control;
pub mod epochs;
pub mod fib;
pub mod frame;
pub mod graph;
pub mod inputs;
pub mod mac;
pub mod machine;
pub mod memory;
#[cfg(target_os = "linux")]
pub mod netns;
mod node;
pub mod nodes;
pub mod offload;
pub mod own;
pub mod pcap;
pub mod plane;
pub mod prompt;
pub mod shared;
pub mod show;
pub mod standard;
pub mod study;
#[cfg(target_os = "linux")]
pub mod tap;
pub mod trace;
pub mod walk;
pub mod wiring;
pub mod workers;
#[cfg(target_os = "linux")]
mod xdp_program;
