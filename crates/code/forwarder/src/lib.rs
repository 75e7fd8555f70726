//! A router on the data plane's graph: drivers, neighbours, ICMP, workers, and a prompt to look at
//! them.
//!
//! ```text
//!   driver ──► ethernet-input ─┬─► l2-input ─► l2-output ──────────┬─► A-output ─► A-tx
//!                              ├─► ip4-input ─► ip4-lookup ─► ip4-rewrite ─► B-output ─► B-tx
//!                              │                    ▲ └► ip4-local ──► icmp-... ┐
//!                              │                    └──────────────────────────┘ answers and errors
//!                              ├─► arp-input ─► A-output
//!                              └─► (every node) drop, punt
//! ```
//! The common path is the crate `dataplane`'s; what a packet needs beside it is here.
//!
//! | module | what it has |
//! |---|---|
//! | [`drivers`] | packets of a Linux interface: packet socket, AF_XDP, TAP device |
//! | [`pcap`] | packets from a capture file and into one |
//! | [`nodes`], [`standard`] | the nodes beside the common path; all nodes wired into one graph |
//! | [`control`] | neighbours, found by asking |
//! | [`arp`] | ARP packets |
//! | [`workers`] | threads that each run a graph over the same tables |
//! | [`prompt`], [`show`] | the prompt's commands, and the tables that they print |
//! | `netns`, `process` | network namespaces, and programs in them that measurements start |
#![deny(unsafe_code)]

pub mod arp;
pub mod control;
pub mod drivers;
#[cfg(target_os = "linux")]
pub mod netns;
pub mod nodes;
pub mod pcap;
#[cfg(target_os = "linux")]
pub mod process;
pub mod prompt;
pub mod show;
pub mod standard;
pub mod workers;
