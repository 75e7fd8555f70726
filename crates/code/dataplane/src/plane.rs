//! The state that all nodes share: buffers, interfaces, tables, settings.

use crate::adjacency::Adjacencies;
use crate::buffers::{Pool, Reuse};
use crate::fib::{Fib, Prefix, RouteError};
use crate::frame::FRAME_SIZES;
use crate::walk::{Shape, Strides};
use std::sync::Arc;

pub use crate::mac::Mac;

pub use crate::adjacency::{DISCARD, FIRST_NEIGHBOUR, GROUP, LOCAL, MARTIAN, MISS};

/// The use that an interface makes of packets that come in.
#[derive(Clone, Copy, PartialEq)]
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
#[derive(Clone, Default)]
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
#[derive(Clone)]
pub struct Interface {
    /// Name of the interface.
    pub name: String,
    /// Ethernet address of the interface.
    pub mac: Mac,
    /// Bytes of the largest IP packet.
    pub mtu: u16,
    /// The use that is made of packets that come in.
    pub mode: Mode,
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
}

/// Settings of the loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Settings {
    /// Number of packets per iteration of every node's loop.
    pub shape: Shape,
    /// Prefetch strides of the first node that reads packets; the ones after it find their lines in
    /// the cache.
    pub strides: Strides,
    /// Packets that an input puts in a frame.
    pub frame_size: usize,
    /// True if `ip4-input` verifies the header's checksum.
    pub verify_checksum: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            shape: Shape::Quad,
            strides: Strides::NONE,
            frame_size: 256,
            verify_checksum: true,
        }
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

/// The tables that all workers read. They are filled before there is a second worker.
pub struct Tables {
    /// Routes.
    pub routes: Fib,
    /// The adjacencies to which packets may be sent next.
    pub adjacencies: Adjacencies,
}

/// The state that all nodes of a worker share.
pub struct Plane {
    /// Packet buffers.
    pub pool: Pool,
    /// Interfaces, by number.
    pub interfaces: Vec<Interface>,
    /// Routes and adjacencies, shared by all workers.
    pub tables: Arc<Tables>,
    /// Settings of the loops.
    pub settings: Settings,
}

impl Plane {
    /// A plane without interfaces, and with no routes but those of networks that are never
    /// forwarded to (RFC 1122, section 3.2.1.3). Of 0.0.0.0/8 that is the first address alone: the
    /// others are as good as any, as Linux has it since version 5.3.
    pub fn new(buffers: usize, reuse: Reuse, settings: Settings) -> Self {
        let mut routes = Fib::default();
        for (network, length, adjacency) in [
            ([0, 0, 0, 0], 32, MARTIAN),
            ([127, 0, 0, 0], 8, MARTIAN),
            ([224, 0, 0, 0], 4, GROUP),
            ([255; 4], 32, GROUP),
        ] {
            if let Some(prefix) = Prefix::new(network.into(), length) {
                // An empty table has room for these.
                let _ = routes.add(prefix, adjacency);
            }
        }
        Self {
            pool: Pool::new(buffers, reuse),
            interfaces: Vec::new(),
            tables: Arc::new(Tables {
                routes,
                adjacencies: Adjacencies::default(),
            }),
            settings,
        }
    }

    /// A plane for one more worker: the same interfaces, addresses and settings over the same
    /// tables, with buffers and counters of its own.
    pub fn for_another_worker(&self) -> Self {
        let mut interfaces = self.interfaces.clone();
        for interface in &mut interfaces {
            (interface.rx, interface.tx) = (Traffic::default(), Traffic::default());
            (interface.drops, interface.punts) = (0, 0);
            interface.tx_errors = 0;
        }
        Self {
            pool: Pool::new(self.pool.capacity(), self.pool.reuse()),
            interfaces,
            tables: self.tables.clone(),
            settings: self.settings,
        }
    }

    /// Adds an interface; returns its number.
    pub fn add_interface(&mut self, name: &str, mac: Mac, mode: Mode) -> u16 {
        self.interfaces.push(Interface {
            name: name.to_owned(),
            mac,
            mtu: 1500,
            mode,
            rx: Traffic::default(),
            tx: Traffic::default(),
            drops: 0,
            punts: 0,
            tx_errors: 0,
        });
        (self.interfaces.len() - 1) as u16
    }

    /// Adds an adjacency to a neighbour whose Ethernet address is given; returns its number, or
    /// `None` if the table of neighbours is full.
    ///
    /// # Panics
    /// Another worker shares the tables.
    pub fn add_neighbour(&mut self, interface: u16, mac: Mac) -> Option<u16> {
        let Interface { mac: ours, mtu, .. } = self.interfaces[interface as usize];
        self.tables().adjacencies.add(interface, ours, mtu, mac)
    }

    /// Adds a route to an adjacency.
    ///
    /// # Errors
    /// The table has no room for it.
    ///
    /// # Panics
    /// Another worker shares the tables.
    pub fn add_route(&mut self, prefix: Prefix, adjacency: u16) -> Result<(), RouteError> {
        self.tables().routes.add(prefix, adjacency)
    }

    fn tables(&mut self) -> &mut Tables {
        Arc::get_mut(&mut self.tables).expect("tables are filled before a worker shares them")
    }
}
