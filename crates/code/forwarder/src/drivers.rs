//! Packets of a Linux interface: packet socket, AF_XDP, TAP device.

#[cfg(target_os = "linux")]
pub mod af_packet;
#[cfg(target_os = "linux")]
pub mod af_xdp;
#[cfg(target_os = "linux")]
mod calls;
#[cfg(target_os = "linux")]
mod input;
#[cfg(target_os = "linux")]
pub mod interface;
pub mod offload;
#[cfg(target_os = "linux")]
pub mod packet_socket;
#[cfg(target_os = "linux")]
pub mod tap;
#[cfg(target_os = "linux")]
mod xdp_program;

#[cfg(target_os = "linux")]
pub use input::{Driver, DriverCounters, DriverInput, Room};
