//! The nodes beside the common path: ARP, neighbours that are asked for, options, fragments, ICMP.

mod arp;
mod fragment;
mod icmp;
mod local;
mod options;
mod resolve;

pub use arp::ArpInput;
pub use fragment::Ip4Fragment;
pub use icmp::{IcmpError, Ip4Local, Message, RateLimit};
pub use local::Local;
pub use options::Ip4Options;
pub use resolve::Ip4Resolve;

use std::sync::{Arc, Mutex};

use dataplane::wiring::{Arcs, Registry};

use crate::control::Control;

/// ICMP errors per second where the configuration says nothing, as the kernel sends them.
pub const ICMP_PER_SECOND: u32 = 1000;

/// The nodes that the text of one worker's graph may name: those of the common path and those of
/// this crate. All of the worker's ICMP errors together are at most `icmp_per_second`.
pub fn registry(control: &Arc<Control>, icmp_per_second: u32) -> Registry {
    let mut registry = Registry::standard();
    registry.add("local-end", Arcs::None, |_| Local);
    registry.add("arp-input", Arcs::AndOutputs(&["local-end"]), {
        let control = control.clone();
        move |_| ArpInput::new(control.clone())
    });
    registry.add("ip4-options", Arcs::Named(&["ip4-lookup", "icmp-parameter-problem"]), |_| Ip4Options);
    const LOCAL: &[&str] = &["local-end", "icmp-protocol-unreachable", "icmp-port-unreachable", "ip4-lookup"];
    registry.add("ip4-local", Arcs::Named(LOCAL), |_| Ip4Local);
    registry.add("ip4-fragment", Arcs::Named(&["ip4-rewrite"]), |_| Ip4Fragment);
    registry.add("ip4-resolve", Arcs::AndOutputs(&["icmp-host-unreachable", "ip4-rewrite"]), {
        let control = control.clone();
        move |plane| Ip4Resolve::new(control.clone(), plane.interfaces.len())
    });
    let limit = Arc::new(Mutex::new(RateLimit::new(icmp_per_second)));
    for message in Message::ALL {
        let limit = limit.clone();
        let name = message.node_name();
        registry.add(name, Arcs::Named(&["ip4-lookup"]), move |_| IcmpError::new(message, limit.clone()));
    }
    registry
}
