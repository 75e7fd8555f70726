//! The kernel's answers about an interface of the calling thread's network namespace.

use std::fs;
use std::io;
use std::net::Ipv4Addr;

use dataplane::plane::Mac;
use nix::errno::Errno;
use nix::ifaddrs::{InterfaceAddress, getifaddrs};
use nix::net::if_::{InterfaceFlags, if_nametoindex};

fn no_interface() -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, "there is no such interface here (`ip link` lists those that are)")
}

/// The number of an interface: one that comes back under its name has another.
///
/// # Errors
/// It is not there.
pub fn index(interface: &str) -> io::Result<u32> {
    if_nametoindex(interface).map_err(|error| if error == Errno::ENODEV { no_interface() } else { error.into() })
}

/// The entries of an interface in the kernel's list: one for its Ethernet address, and one for each
/// address above it.
fn entries(interface: &str) -> io::Result<Vec<InterfaceAddress>> {
    Ok(getifaddrs()?.filter(|entry| entry.interface_name == interface).collect())
}

/// The Ethernet address of an interface.
///
/// # Errors
/// It is not there, or has none.
pub fn mac(interface: &str) -> io::Result<Mac> {
    let link = |entry: &InterfaceAddress| entry.address?.as_link_addr()?.addr();
    entries(interface)?.iter().find_map(link).map(Mac).ok_or_else(no_interface)
}

/// The IPv4 addresses that the kernel has on an interface, with the lengths of their networks'
/// prefixes.
///
/// # Errors
/// The kernel does not say.
pub fn addresses(interface: &str) -> io::Result<Vec<(Ipv4Addr, u8)>> {
    let ip4 = |entry: &InterfaceAddress| {
        let address = entry.address?.as_sockaddr_in()?.ip();
        let mask = entry.netmask?.as_sockaddr_in()?.ip();
        Some((address, u32::from(mask).leading_ones() as u8))
    };
    Ok(entries(interface)?.iter().filter_map(ip4).collect())
}

/// Returns true if an interface is there and up.
pub fn is_up(interface: &str) -> bool {
    let up = |entry: &InterfaceAddress| entry.flags.contains(InterfaceFlags::IFF_UP);
    entries(interface).is_ok_and(|entries| entries.iter().any(up))
}

/// Bytes of the largest IP packet of an interface.
///
/// # Errors
/// It is not there.
pub fn mtu(interface: &str) -> io::Result<u32> {
    index(interface)?;
    fs::read_to_string(format!("/sys/class/net/{interface}/mtu"))?.trim().parse().map_err(io::Error::other)
}

/// The number of receive queues that an interface has.
///
/// # Errors
/// It is not there.
pub fn queues(interface: &str) -> io::Result<u32> {
    index(interface)?;
    let queues = fs::read_dir(format!("/sys/class/net/{interface}/queues"))?;
    let receives = queues.filter_map(|queue| queue.ok()?.file_name().into_string().ok());
    Ok(receives.filter(|name| name.starts_with("rx-")).count() as u32)
}

/// Returns true if the kernel forwards what comes in on an interface.
pub fn kernel_forwards(interface: &str) -> bool {
    fs::read_to_string(format!("/proc/sys/net/ipv4/conf/{interface}/forwarding")).is_ok_and(|text| text.trim() == "1")
}
