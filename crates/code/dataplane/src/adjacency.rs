//! Adjacencies, to which packets may be sent next. They are filled before the workers start, and
//! never changed.

use crate::arcs::FIRST_ARC;
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

/// A new Ethernet header, and behind it the rest of a [`Rewrite`], each as a loop needs it: nothing
/// is to be cut out.
type Entry = [u8; 32];
/// Place of [`Rewrite::longest`].
const LONGEST: usize = 14;
/// Place of [`Rewrite::arc`].
const ARC: usize = 16;

/// Bytes of an Ethernet header, which an MTU leaves out.
const ETHERNET: u16 = 14;

/// All entries.
pub struct Adjacencies {
    entries: Region<Entry>,
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
        let entry = &mut self.entries[usize::from(number)];
        entry[..6].copy_from_slice(&to.0);
        entry[6..12].copy_from_slice(&from.0);
        entry[12] = 0x08;
        entry[LONGEST..LONGEST + 2].copy_from_slice(&longest.to_le_bytes());
        entry[ARC] = FIRST_ARC + interface as u8;
        Some(number)
    }

    /// The table for a loop: its place stays in a register.
    #[inline(always)]
    pub fn reader(&self) -> Reader<'_> {
        Reader(self.entries.as_array().expect("the table has its entries"))
    }
}

/// All entries, for one loop.
pub struct Reader<'a>(&'a [Entry; ENTRIES]);

impl Reader<'_> {
    /// The header and the interface of packets that go to an adjacency, by its number.
    #[inline(always)]
    pub fn rewrite(&self, number: u16) -> Rewrite {
        let entry = &self.0[number as usize % ENTRIES];
        Rewrite {
            at_0: part(entry, 0),
            at_6: part(entry, 6),
            longest: u16::from_le_bytes(part(entry, LONGEST)),
            arc: entry[ARC],
        }
    }
}

#[inline(always)]
fn part<const N: usize>(entry: &Entry, at: usize) -> [u8; N] {
    *entry[at..].first_chunk().expect("a part of the entry")
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

/// A packet's new Ethernet header, and where it goes with it.
#[derive(Clone, Copy)]
pub struct Rewrite {
    /// The header's first eight bytes.
    pub at_0: [u8; 8],
    /// The header's last eight bytes, from byte 6 on.
    pub at_6: [u8; 8],
    /// Bytes of the longest packet that the interface takes, from the Ethernet header on.
    pub longest: u16,
    /// The arc to the interface's output.
    pub arc: u8,
}
