//! The nodes, in the order in which a packet meets them.

mod arp;
mod ethernet;
mod fragment;
mod icmp;
mod ip4;
mod l2;
mod options;
mod output;
mod resolve;

pub use arp::ArpInput;
pub use ethernet::EthernetInput;
pub use fragment::Ip4Fragment;
pub use icmp::{IcmpError, Ip4Local, Message};
pub use ip4::{Fused, Ip4Input, Ip4Lookup, Ip4Rewrite};
pub use l2::{L2Input, L2Output};
pub use options::Ip4Options;
pub use output::{Device, Discard, Drop, InterfaceOutput, InterfaceTx, Local, Punt};
pub use resolve::Ip4Resolve;
