//! Adjacencies, to which packets may be sent next. They are filled before the workers start, and
//! never changed.

use crate::buffers::region::Region;
use crate::mac::Mac;

/// Adjacency of addresses without a route.
pub const MISS: u16 = 0;
/// Adjacency of routes that drop.
pub const DISCARD: u16 = 1;
/// Adjacency of our own addresses, for which the kernel answers.
pub const LOCAL: u16 = 2;
/// Adjacency of addresses to which nothing may be sent: 0/8 and 127/8.
pub const MARTIAN: u16 = 3;
/// Adjacency of multicast and broadcast addresses.
pub const GROUP: u16 = 4;
/// The first adjacency with a neighbour.
pub const FIRST_NEIGHBOUR: u16 = 5;

/// Adjacencies are numbered below this.
pub const LIMIT: u16 = 32_766;

/// Entries of the table: a power of two, so that a number's lowest bits are always one of them.
const ENTRIES: usize = 1 << 15;
const _: () = assert!((LIMIT as usize) < ENTRIES);

/// Bytes of an Ethernet header, which an MTU leaves out.
const ETHERNET: u16 = 14;

/// All entries.
pub struct Adjacencies {
    entries: Region<[u64; 2]>,
    next: u16,
}

impl Adjacencies {
    /// Adds a neighbour behind an interface of ours, whose largest IP packet has `mtu` bytes;
    /// returns its number. `None` if every adjacency is in use.
    pub fn add(&mut self, interface: u16, from: Mac, mtu: u16, to: Mac) -> Option<u16> {
        let number = self.next;
        if number >= LIMIT {
            return None;
        }
        self.next += 1;
        let longest = mtu.saturating_add(ETHERNET);
        self.entries[usize::from(number)] = [
            to.bits() | (u64::from(longest) << 48),
            from.bits() | (u64::from(interface) << 48),
        ];
        Some(number)
    }

    /// The table for a loop: its place stays in a register.
    #[inline(always)]
    pub fn reader(&self) -> Reader<'_> {
        Reader(self.entries.as_array().expect("the table has its entries"))
    }
}

/// All entries, for one loop.
pub struct Reader<'a>(&'a [[u64; 2]; ENTRIES]);

impl Reader<'_> {
    /// The words that a loop needs.
    #[inline(always)]
    pub fn rewrite(&self, number: u16) -> Rewrite {
        let [to, from] = self.0[number as usize % ENTRIES];
        Rewrite { to, from }
    }
}

impl Default for Adjacencies {
    /// A table without entries.
    fn default() -> Self {
        Self {
            entries: Region::new(ENTRIES),
            next: FIRST_NEIGHBOUR,
        }
    }
}

/// A new Ethernet header, as words with the first byte lowest.
#[derive(Clone, Copy)]
pub struct Rewrite {
    /// The neighbour's address; above it the longest packet that may be sent there.
    to: u64,
    /// Our address; above it the interface.
    from: u64,
}

impl Rewrite {
    /// The interface.
    #[inline(always)]
    pub fn interface(self) -> u16 {
        (self.from >> 48) as u16
    }

    /// True if the interface takes a packet of that length, from the Ethernet header on.
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

    /// The bytes stored from byte 6 on, after [`Rewrite::at_0`]: our address and the type of IPv4.
    #[inline(always)]
    pub fn at_6(self) -> [u8; 8] {
        let [a, b, c, d, e, f, ..] = self.from.to_le_bytes();
        [a, b, c, d, e, f, 0x08, 0x00]
    }
}
