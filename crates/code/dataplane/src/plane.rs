//! What all nodes share: buffers, interfaces, routes, settings.

use std::net::Ipv4Addr;

use crate::buffers::{Pool, Reuse};
use crate::fib::{Fib, Prefix, RouteError};
use crate::frame::FRAME_SIZES;
use crate::walk::{Shape, Strides};

/// An Ethernet address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Mac(pub [u8; 6]);

impl Mac {
    /// The address as the low 48 bits of a number, first byte lowest: as a load from a packet gives it.
    pub fn bits(self) -> u64 {
        let [a, b, c, d, e, f] = self.0;
        u64::from_le_bytes([a, b, c, d, e, f, 0, 0])
    }
}

impl std::fmt::Display for Mac {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

impl std::str::FromStr for Mac {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no Ethernet address: it must look like 02:fe:00:00:00:01");
        let mut mac = [0; 6];
        let mut parts = text.split(':');
        for byte in &mut mac {
            let part = parts.next().filter(|part| part.len() == 2).ok_or_else(wrong)?;
            *byte = u8::from_str_radix(part, 16).map_err(|_| wrong())?;
        }
        if parts.next().is_some() { Err(wrong()) } else { Ok(Self(mac)) }
    }
}

/// What an interface does with packets that come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// All go out of the other interface, as they are.
    CrossConnect {
        /// The other one's number.
        peer: u16,
    },
    /// IPv4 packets to the interface's address are routed.
    Route,
}

/// Packets and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Packets.
    pub packets: u64,
    /// Bytes, from the Ethernet header on.
    pub bytes: u64,
}

impl Traffic {
    /// Counts.
    #[inline(always)]
    pub fn add(&mut self, packets: u64, bytes: u64) {
        self.packets += packets;
        self.bytes += bytes;
    }
}

/// An interface and its counters.
#[derive(Clone, Debug)]
pub struct Interface {
    /// Its name.
    pub name: String,
    /// Its Ethernet address.
    pub mac: Mac,
    /// Bytes of the largest IP packet.
    pub mtu: u16,
    /// What is done with packets that come in.
    pub mode: Mode,
    /// VLANs whose tagged packets are taken; on a routing interface their tag is removed.
    pub vlans: Vec<u16>,
    /// Traffic that came in.
    pub rx: Traffic,
    /// Traffic that went out.
    pub tx: Traffic,
    /// Packets that came in here and were dropped.
    pub drops: u64,
    /// Packets that came in here and were handed to the host.
    pub punts: u64,
    /// Packets that were to go out here and that the device did not take.
    pub tx_errors: u64,
    /// Packets that the kernel dropped before they came in, because its queue was full.
    pub kernel_drops: u64,
}

impl Interface {
    /// All counters, by the names that `show interface` prints.
    pub fn counters(&self) -> [(&'static str, u64); 8] {
        [
            ("rx packets", self.rx.packets),
            ("rx bytes", self.rx.bytes),
            ("tx packets", self.tx.packets),
            ("tx bytes", self.tx.bytes),
            ("drops", self.drops),
            ("punt", self.punts),
            ("tx-error", self.tx_errors),
            ("kernel queue full", self.kernel_drops),
        ]
    }
}

/// Where a route leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Neighbour {
    /// The interface.
    pub interface: u16,
    /// The new Ethernet header.
    pub rewrite: [u8; 14],
    /// Bytes of the largest IP packet on the interface.
    pub mtu: u16,
}

/// Adjacency of addresses without a route.
pub const MISS: u16 = 0;
/// Adjacency of routes that drop.
pub const DISCARD: u16 = 1;
/// Adjacency of our own addresses.
pub const LOCAL: u16 = 2;
/// The first adjacency with a neighbour.
pub const FIRST_NEIGHBOUR: u16 = 3;

/// Settings of the loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Number of packets per iteration of every node's loop.
    pub shape: Shape,
    /// Prefetch strides of the first node that reads packets; the ones after it find their lines in the cache.
    pub strides: Strides,
    /// Packets that an input puts in a frame.
    pub frame_size: usize,
    /// Whether `ip4-input` verifies the header's checksum.
    pub verify_checksum: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self { shape: Shape::Dual, strides: Strides::both(0), frame_size: 256, verify_checksum: true }
    }
}

impl Settings {
    /// Checks a frame size given by hand.
    pub fn checked_frame_size(size: usize) -> Result<usize, String> {
        if FRAME_SIZES.contains(&size) {
            Ok(size)
        } else {
            Err(format!("no frame size {size}: 64, 128, 256, 512 or 1024"))
        }
    }
}

/// What all nodes share.
pub struct Plane {
    /// Packet buffers.
    pub pool: Pool,
    /// Interfaces, by number.
    pub interfaces: Vec<Interface>,
    /// Routes.
    pub fib: Fib,
    /// Neighbours; adjacency [`FIRST_NEIGHBOUR`] is the first.
    pub neighbours: Vec<Neighbour>,
    /// Settings of the loops.
    pub settings: Settings,
}

impl Plane {
    /// A plane without interfaces and routes.
    pub fn new(buffers: usize, reuse: Reuse, settings: Settings) -> Self {
        Self {
            pool: Pool::new(buffers, reuse),
            interfaces: Vec::new(),
            fib: Fib::new(MISS),
            neighbours: Vec::new(),
            settings,
        }
    }

    /// Adds an interface; returns its number.
    pub fn add_interface(&mut self, name: &str, mac: Mac, mode: Mode) -> u16 {
        self.interfaces.push(Interface {
            name: name.to_owned(),
            mac,
            mtu: 1500,
            mode,
            vlans: Vec::new(),
            rx: Traffic::default(),
            tx: Traffic::default(),
            drops: 0,
            punts: 0,
            tx_errors: 0,
            kernel_drops: 0,
        });
        (self.interfaces.len() - 1) as u16
    }

    /// The number of the interface of that name.
    pub fn find_interface(&self, name: &str) -> Option<u16> {
        self.interfaces.iter().position(|i| i.name == name).map(|n| n as u16)
    }

    /// Adds a neighbour on an interface; returns its adjacency.
    pub fn add_neighbour(&mut self, interface: u16, mac: Mac) -> u16 {
        let Interface { mac: own, mtu, .. } = self.interfaces[interface as usize];
        let mut rewrite = [0; 14];
        rewrite[..6].copy_from_slice(&mac.0);
        rewrite[6..12].copy_from_slice(&own.0);
        rewrite[12] = 0x08;
        self.neighbours.push(Neighbour { interface, rewrite, mtu });
        FIRST_NEIGHBOUR + (self.neighbours.len() - 1) as u16
    }

    /// Adds a route to an adjacency.
    pub fn add_route(&mut self, prefix: Prefix, adjacency: u16) -> Result<(), RouteError> {
        self.fib.add(prefix, adjacency).map(|_| ())
    }

    /// Routes an address of our own to the host.
    pub fn add_local(&mut self, address: Ipv4Addr) -> Result<(), RouteError> {
        match Prefix::new(address, 32) {
            Some(prefix) => self.add_route(prefix, LOCAL),
            None => Ok(()),
        }
    }
}
