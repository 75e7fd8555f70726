//! Longest-prefix match for IPv4: one table read for the first 24 bits and, where there are longer
//! prefixes, a second one for the rest.
//!
//! ```text
//!   address ── 24 bits ──► first[2^24] ── plain ──────────────► adjacency
//!                               └──────── extended ── 8 bits ──► groups[n][256] ──► adjacency
//! ```
//! An entry takes 16 bits, so the first table is 32 MB. Beside each entry stands the length of the
//! prefix that wrote it, in tables that only changes touch. The default route stands in all entries
//! that no longer prefix wrote, so that a lookup knows no case of its own for it.
//!
//! The table is filled before the workers start, and never changed.

use crate::buffers::region::Region;
use std::net::Ipv4Addr;

/// Number of an adjacency: what becomes of a packet.
pub type Adjacency = u16;

/// The entry points into a group.
const EXTENDED: u16 = 1 << 15;
/// Adjacencies and groups are numbered below this.
const LIMIT: u16 = EXTENDED - 1;

/// An IPv4 prefix, its host bits zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Prefix {
    address: u32,
    length: u8,
}

impl Prefix {
    /// A prefix; host bits are cleared. `None` if the length is above 32.
    pub fn new(address: Ipv4Addr, length: u8) -> Option<Self> {
        (length <= 32).then(|| Self {
            address: u32::from(address) & mask(length),
            length,
        })
    }

    /// The network's address.
    pub fn address(self) -> Ipv4Addr {
        self.address.into()
    }

    /// Length of the prefix in bits.
    pub fn length(self) -> u8 {
        self.length
    }
}

fn mask(length: u8) -> u32 {
    u32::MAX.checked_shl(32 - u32::from(length)).unwrap_or(0)
}

/// Why a route cannot be added.
#[derive(Debug, thiserror::Error)]
pub enum RouteError {
    /// All groups for prefixes longer than 24 bits are taken.
    #[error("no more than 32 766 networks of 24 bits can hold longer prefixes")]
    Groups,
    /// The adjacency's number does not fit an entry.
    #[error("an adjacency's number must be below 32 766")]
    Adjacency,
}

/// The table of routes.
pub struct Fib {
    first: Region<u16>,
    groups: Region<[u16; 256]>,
    lengths: Region<u8>,
    /// The lengths of the prefixes that wrote the entries of each group.
    group_lengths: Vec<[u8; 256]>,
}

impl Fib {
    /// The adjacency of the longest prefix that covers the address.
    pub fn lookup(&self, address: u32) -> Adjacency {
        self.reader().lookup(address)
    }

    /// Adds a route or replaces it.
    ///
    /// # Errors
    /// There is no room for it.
    pub fn add(&mut self, prefix: Prefix, adjacency: Adjacency) -> Result<(), RouteError> {
        if adjacency >= LIMIT {
            return Err(RouteError::Adjacency);
        }
        if prefix.length > 24 && self.group_of(prefix).is_none() {
            self.extend(prefix)?;
        }
        self.write(prefix, adjacency);
        Ok(())
    }

    /// Writes an entry over all that prefixes of this length or a shorter one wrote.
    fn write(&mut self, prefix: Prefix, entry: u16) {
        let Prefix { address, length } = prefix;
        let index = (address >> 8) as usize;
        if length > 24 {
            let Some(group) = self.group_of(prefix) else {
                return;
            };
            let low = (address & 255) as usize;
            self.write_group(group, low..low + (1 << (32 - length)), length, entry);
            return;
        }
        for index in index..index + (1 << (24 - length)) {
            let there = self.first[index];
            if there & EXTENDED != 0 {
                self.write_group((there & !EXTENDED) as usize, 0..256, length, entry);
            } else if self.lengths[index] <= length {
                self.first[index] = entry;
                self.lengths[index] = length;
            }
        }
    }

    fn write_group(&mut self, group: usize, range: std::ops::Range<usize>, length: u8, entry: u16) {
        let entries = &mut self.groups[group];
        let lengths = &mut self.group_lengths[group];
        for index in range {
            if lengths[index] <= length {
                (entries[index], lengths[index]) = (entry, length);
            }
        }
    }

    fn group_of(&self, prefix: Prefix) -> Option<usize> {
        let entry = self.first[(prefix.address >> 8) as usize];
        (entry & EXTENDED != 0).then_some((entry & !EXTENDED) as usize)
    }

    /// Turns a plain entry into a group of 256 like it.
    fn extend(&mut self, prefix: Prefix) -> Result<(), RouteError> {
        let index = (prefix.address >> 8) as usize;
        let number = u16::try_from(self.group_lengths.len())
            .ok()
            .filter(|n| *n < LIMIT)
            .ok_or(RouteError::Groups)?;
        self.group_lengths.push([self.lengths[index]; 256]);
        self.groups[usize::from(number)] = [self.first[index]; 256];
        self.first[index] = EXTENDED | number;
        Ok(())
    }

    /// The table for a loop: everything that a lookup needs stays in a few registers.
    #[inline(always)]
    pub fn reader(&self) -> Reader<'_> {
        let first = (*self.first)
            .as_array()
            .expect("the first table has 2^24 entries");
        Reader {
            first,
            groups: &self.groups,
        }
    }
}

impl Default for Fib {
    /// A table without routes: every lookup gives 0.
    fn default() -> Self {
        Self {
            first: Region::new(1 << 24),
            groups: Region::new(LIMIT as usize),
            lengths: Region::new(1 << 24),
            group_lengths: Vec::new(),
        }
    }
}

/// A table for one loop.
pub struct Reader<'a> {
    first: &'a [u16; 1 << 24],
    groups: &'a [[u16; 256]],
}

impl Reader<'_> {
    /// The adjacency of the longest prefix that covers the address.
    #[inline(always)]
    pub fn lookup(&self, address: u32) -> Adjacency {
        let entry = self.entry(address);
        if entry & EXTENDED == 0 {
            entry
        } else {
            self.groups[(entry & !EXTENDED) as usize][(address & 255) as usize]
        }
    }

    /// The first table's entry of an address: its adjacency, or a number that is negative if it is
    /// read with a sign, and there are longer prefixes.
    #[inline(always)]
    pub fn entry(&self, address: u32) -> u16 {
        self.first[(address >> 8) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prefix(text: &str) -> Prefix {
        let (address, length) = text.split_once('/').unwrap();
        Prefix::new(address.parse().unwrap(), length.parse().unwrap()).unwrap()
    }

    fn lookup(fib: &Fib, address: &str) -> Adjacency {
        fib.lookup(u32::from(address.parse::<Ipv4Addr>().unwrap()))
    }

    #[test]
    fn the_longest_prefix_wins() {
        let mut fib = Fib::default();
        for (route, adjacency) in [
            ("0.0.0.0/0", 1),
            ("10.0.0.0/8", 2),
            ("10.1.0.0/16", 3),
            ("10.1.2.0/24", 4),
            ("10.1.2.128/25", 5),
            ("10.1.2.129/32", 6),
        ] {
            fib.add(prefix(route), adjacency).unwrap();
        }
        let all = |fib: &Fib| {
            [
                "9.9.9.9",
                "10.9.9.9",
                "10.1.9.9",
                "10.1.2.1",
                "10.1.2.200",
                "10.1.2.129",
            ]
            .map(|a| lookup(fib, a))
        };
        assert_eq!(all(&fib), [1, 2, 3, 4, 5, 6]);
        fib.add(prefix("10.1.2.0/24"), 7).unwrap();
        assert_eq!(all(&fib), [1, 2, 3, 7, 5, 6]);
    }

    #[test]
    fn a_shorter_route_added_later_does_not_cover_a_longer_one() {
        let mut fib = Fib::default();
        fib.add(prefix("10.1.2.128/25"), 5).unwrap();
        fib.add(prefix("10.0.0.0/8"), 2).unwrap();
        assert_eq!(lookup(&fib, "10.1.2.129"), 5);
        assert_eq!(lookup(&fib, "10.1.2.1"), 2);
    }
}
