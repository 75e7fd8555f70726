//! Vector packet processing.
#![deny(unsafe_code)]

#[cfg(target_os = "linux")]
pub mod af_packet;
mod arcs;
pub mod buffers;
pub mod checksum;
pub mod fib;
pub mod frame;
pub mod graph;
pub mod inputs;
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
