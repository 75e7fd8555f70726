//! Adjacencies, to which packets may be sent next: a table that forwarding reads without a lock.
//!
//! What changes while packets flow, the neighbour's Ethernet address, is one word, so a packet gets
//! the old address or the new one and never half of each. The rest of an entry is written before
//! the entry is in use.

use crate::buffers::region::Region;
use crate::mac::Mac;
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicU64, Ordering, fence};

/// Adjacency of addresses without a route.
pub const MISS: u16 = 0;
/// Adjacency of routes that drop.
pub const DISCARD: u16 = 1;
/// Adjacency of our own addresses that the kernel answers for.
pub const LOCAL: u16 = 2;
/// Adjacency of our own addresses that we answer for.
pub const OURS: u16 = 3;
/// Adjacency of addresses to which nothing may be sent: 0/8 and 127/8.
pub const MARTIAN: u16 = 4;
/// Adjacency of multicast and broadcast addresses.
pub const GROUP: u16 = 5;
/// The first adjacency with a neighbour.
pub const FIRST_NEIGHBOUR: u16 = 6;

/// Adjacencies are numbered below this.
pub const LIMIT: u16 = 32_766;

/// Entries of the table: a power of two, so that a number's lowest bits are always one of them.
const ENTRIES: usize = 1 << 15;
const _: () = assert!((LIMIT as usize) < ENTRIES);

/// Bytes of an Ethernet header, which an MTU leaves out.
const ETHERNET: u16 = 14;

/// Positions of an entry's words.
const TO: usize = 0;
const FROM: usize = 1;
const REST: usize = 2;

/// A neighbour's Ethernet address, and above it the longest packet that may be sent there: none
/// while the address is not known, so that one comparison of a packet's length finds both.
fn to_word(mac: Mac, mtu: u16) -> u64 {
    let longest = if mac == Mac::default() {
        0
    } else {
        mtu.saturating_add(ETHERNET)
    };
    mac.bits() | (u64::from(longest) << 48)
}

/// One entry, as it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Adjacency {
    /// The interface.
    pub interface: u16,
    /// The neighbour's Ethernet address; all zero while it is not known.
    pub to: Mac,
    /// Our Ethernet address.
    pub from: Mac,
    /// Bytes of the largest IP packet on the interface.
    pub mtu: u16,
    /// The neighbour's address; `None` for a network at hand, where each packet's destination is
    /// the neighbour.
    pub address: Option<Ipv4Addr>,
}

/// All entries.
pub struct Adjacencies(Region<[AtomicU64; 4]>);

impl Adjacencies {
    /// A table without entries.
    pub fn new() -> Self {
        Self(Region::new(ENTRIES))
    }

    /// Writes an entry that nobody uses yet.
    pub(crate) fn write(&self, number: u16, entry: Adjacency) {
        let there = self.0.get(number as usize);
        let address = u32::from(entry.address.unwrap_or(Ipv4Addr::UNSPECIFIED));
        let rest =
            u64::from(entry.interface) | (u64::from(entry.mtu) << 16) | (u64::from(address) << 32);
        there[FROM].store(
            entry.from.bits() | (u64::from(u16::from_le_bytes([0x08, 0x00])) << 48),
            Ordering::Relaxed,
        );
        there[REST].store(rest, Ordering::Relaxed);
        there[TO].store(to_word(entry.to, entry.mtu), Ordering::Relaxed);
        // A reader that finds the number in a route stored after this fence finds these words too.
        fence(Ordering::Release);
    }

    /// Reads an entry.
    pub fn get(&self, number: u16) -> Adjacency {
        let rewrite = self.rewrite(number);
        let rest = self.0.get(number as usize)[REST].load(Ordering::Relaxed);
        let address = (rest >> 32) as u32;
        Adjacency {
            interface: rewrite.interface(),
            to: Mac::from_bits(rewrite.to),
            from: Mac::from_bits(rewrite.from),
            mtu: rewrite.mtu(),
            address: (address != 0).then(|| address.into()),
        }
    }

    /// The words that a loop needs.
    #[inline(always)]
    pub fn rewrite(&self, number: u16) -> Rewrite {
        self.reader().rewrite(number)
    }

    /// The table for a loop: its place stays in a register.
    #[inline(always)]
    pub fn reader(&self) -> Reader<'_> {
        Reader(
            self.0
                .as_slice()
                .try_into()
                .expect("the table has its entries"),
        )
    }
}

/// All entries, for one loop.
#[derive(Clone, Copy)]
pub struct Reader<'a>(&'a [[AtomicU64; 4]; ENTRIES]);

impl Reader<'_> {
    /// The words that a loop needs.
    #[inline(always)]
    pub fn rewrite(&self, number: u16) -> Rewrite {
        let there = &self.0[number as usize % ENTRIES];
        Rewrite {
            to: there[TO].load(Ordering::Relaxed),
            from: there[FROM].load(Ordering::Relaxed),
            rest: there[REST].load(Ordering::Relaxed),
        }
    }
}

impl Default for Adjacencies {
    fn default() -> Self {
        Self::new()
    }
}

/// A new Ethernet header, as words with the first byte lowest.
#[derive(Clone, Copy, Debug)]
pub struct Rewrite {
    to: u64,
    from: u64,
    rest: u64,
}

impl Rewrite {
    /// The interface.
    #[inline(always)]
    pub fn interface(self) -> u16 {
        self.rest as u16
    }

    /// Bytes of the largest IP packet.
    #[inline(always)]
    pub fn mtu(self) -> u16 {
        (self.rest >> 16) as u16
    }

    /// True if a packet of that length, from the Ethernet header on, can be sent: the interface
    /// takes it, and the neighbour's address is known.
    #[inline(always)]
    pub fn takes(self, length: u16) -> bool {
        length <= (self.to >> 48) as u16
    }

    /// The bytes stored at the packet's start. The last two mean nothing: [`Rewrite::at_6`] is
    /// stored over them.
    #[inline(always)]
    pub fn at_0(self) -> [u8; 8] {
        self.to.to_le_bytes()
    }

    /// The bytes stored from byte 6 on, after [`Rewrite::at_0`].
    #[inline(always)]
    pub fn at_6(self) -> [u8; 8] {
        self.from.to_le_bytes()
    }
}
