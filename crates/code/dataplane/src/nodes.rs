//! The nodes that a plain packet meets, in their order.

mod ethernet;
mod ip4;
mod l2;
mod output;

pub use ethernet::EthernetInput;
pub use ip4::{Ip4Input, Ip4Lookup, Ip4Rewrite};
pub use l2::L2;
pub use output::{Device, Discard, End, InterfaceOutput, InterfaceTx};
