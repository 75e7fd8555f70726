//! Longest-prefix match for IPv4: one table read for the first 24 bits and, where there are longer
//! prefixes, a second one for the rest.
//!
//! ```text
//!   address ── 24 bits ──► first[2^24] ── plain ──────────────► adjacency
//!                               └──────── extended ── 8 bits ──► groups[n][256] ──► adjacency
//! ```
//! An entry takes 16 bits, so the first table is 32 MB. Beside each entry stands the length of the
//! prefix that wrote it, in tables that only changes touch. The default route has no entries: an
//! address that finds none takes it.
//!
//! A [`Table`] is read by any number of threads without a lock while the one [`Fib`] that owns it
//! changes it. Each entry is one word that changes at once, from what held before to what holds
//! after, so a lookup gives the one or the other.

use crate::buffers::region::Region;
use std::collections::HashMap;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering, fence};

/// Number of an adjacency: what becomes of a packet.
pub type Adjacency = u16;

/// The entry points into a group.
const EXTENDED: u16 = 1 << 15;
/// No prefix covers the address.
const NONE: u16 = 0;
/// Adjacencies and groups are numbered below this.
const LIMIT: u16 = EXTENDED - 1;

/// An IPv4 prefix, its host bits zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
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

impl std::fmt::Display for Prefix {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.address(), self.length)
    }
}

impl std::str::FromStr for Prefix {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no prefix: it must look like 10.1.0.0/16");
        let (address, length) = text.split_once('/').ok_or_else(wrong)?;
        let address = address.parse().map_err(|_| wrong())?;
        let length = length.parse().map_err(|_| wrong())?;
        let prefix = Self::new(address, length).ok_or_else(wrong)?;
        // As `ip route` does: who writes a host's address may have meant another length.
        match prefix.address() == address {
            true => Ok(prefix),
            false => Err(format!(
                "`{text}` is an address in the network {prefix}, and no network: write `{prefix}`, or `{address}/32` for that \
                 address alone"
            )),
        }
    }
}

fn mask(length: u8) -> u32 {
    u32::MAX.checked_shl(32 - u32::from(length)).unwrap_or(0)
}

/// Why a route cannot be added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RouteError {
    /// All groups for prefixes longer than 24 bits are taken.
    Groups,
    /// The adjacency's number does not fit an entry.
    Adjacency,
}

impl std::fmt::Display for RouteError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Groups => "no more than 32 766 networks of 24 bits can hold longer prefixes",
            Self::Adjacency => "an adjacency's number must be below 32 766",
        })
    }
}

impl std::error::Error for RouteError {}

/// The table that lookups read.
pub struct Table {
    first: Region<AtomicU16>,
    groups: Region<[AtomicU16; 256]>,
    default: AtomicU16,
}

/// The table's one writer.
pub struct Fib {
    table: Arc<Table>,
    lengths: Region<u8>,
    /// The lengths of the prefixes that wrote the entries of each group.
    groups: Vec<[u8; 256]>,
    routes: [HashMap<u32, Adjacency>; 33],
}

impl Fib {
    /// A table without routes: every lookup gives `miss`.
    pub fn new(miss: Adjacency) -> Self {
        let table = Table {
            first: Region::new(1 << 24),
            groups: Region::new(LIMIT as usize),
            default: AtomicU16::new(miss),
        };
        Self {
            table: Arc::new(table),
            lengths: Region::new(1 << 24),
            groups: Vec::new(),
            routes: std::array::from_fn(|_| HashMap::new()),
        }
    }

    /// The table that lookups read.
    pub fn table(&self) -> &Arc<Table> {
        &self.table
    }

    /// The adjacency of the longest prefix that covers the address.
    pub fn lookup(&self, address: u32) -> Adjacency {
        self.table.reader().lookup(address)
    }

    /// Adds a route or replaces it. Returns the adjacency that it had.
    pub fn add(
        &mut self,
        prefix: Prefix,
        adjacency: Adjacency,
    ) -> Result<Option<Adjacency>, RouteError> {
        if adjacency >= LIMIT {
            return Err(RouteError::Adjacency);
        }
        let length = prefix.length;
        if length > 24 && self.group_of(prefix).is_none() {
            self.extend(prefix)?;
        }
        let before = self.routes[length as usize].insert(prefix.address, adjacency);
        self.write(prefix, length, adjacency + 1);
        Ok(before)
    }

    /// Number of routes.
    pub fn len(&self) -> usize {
        self.routes.iter().map(HashMap::len).sum()
    }

    /// True if there is no route.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Every route, by address and then by length.
    pub fn routes(&self) -> Vec<(Prefix, Adjacency)> {
        let mut routes: Vec<(Prefix, Adjacency)> = self
            .routes
            .iter()
            .enumerate()
            .flat_map(|(length, routes)| {
                routes.iter().map(move |(&address, &adjacency)| {
                    (
                        Prefix {
                            address,
                            length: length as u8,
                        },
                        adjacency,
                    )
                })
            })
            .collect();
        routes.sort_unstable();
        routes
    }

    /// Writes an entry over all that prefixes of this length or a shorter one wrote.
    fn write(&mut self, prefix: Prefix, length: u8, entry: u16) {
        if prefix.length == 0 {
            self.table.default.store(entry - 1, Ordering::Relaxed);
            return;
        }
        let index = (prefix.address >> 8) as usize;
        if prefix.length > 24 {
            let Some(group) = self.group_of(prefix) else {
                return;
            };
            let low = (prefix.address & 255) as usize;
            self.write_group(group, low..low + (1 << (32 - prefix.length)), length, entry);
            return;
        }
        for index in index..index + (1 << (24 - prefix.length)) {
            let there = self.table.first.get(index).load(Ordering::Relaxed);
            if there & EXTENDED != 0 {
                self.write_group((there & !EXTENDED) as usize, 0..256, length, entry);
            } else if *self.lengths.get(index) <= length {
                self.table.first.get(index).store(entry, Ordering::Relaxed);
                *self.lengths.get_mut(index) = length;
            }
        }
    }

    fn write_group(&mut self, group: usize, range: std::ops::Range<usize>, length: u8, entry: u16) {
        let (entries, lengths) = (self.table.groups.get(group), &mut self.groups[group]);
        for index in range {
            if lengths[index] <= length {
                entries[index].store(entry, Ordering::Relaxed);
                lengths[index] = length;
            }
        }
    }

    fn group_of(&self, prefix: Prefix) -> Option<usize> {
        let entry = self
            .table
            .first
            .get((prefix.address >> 8) as usize)
            .load(Ordering::Relaxed);
        (entry & EXTENDED != 0).then_some((entry & !EXTENDED) as usize)
    }

    /// Turns a plain entry into a group of 256 like it.
    fn extend(&mut self, prefix: Prefix) -> Result<(), RouteError> {
        let index = (prefix.address >> 8) as usize;
        let entry = self.table.first.get(index).load(Ordering::Relaxed);
        let number = u16::try_from(self.groups.len())
            .ok()
            .filter(|n| *n < LIMIT)
            .ok_or(RouteError::Groups)?;
        self.groups.push([*self.lengths.get(index); 256]);
        for same in self.table.groups.get(number as usize) {
            same.store(entry, Ordering::Relaxed);
        }
        // Release: a reader that sees this pointer also sees the group that it points to.
        self.table
            .first
            .get(index)
            .store(EXTENDED | number, Ordering::Release);
        Ok(())
    }
}

impl Table {
    /// The table for a loop: everything that a lookup needs stays in a few registers.
    #[inline(always)]
    pub fn reader(&self) -> Reader<'_> {
        let first = self
            .first
            .as_slice()
            .try_into()
            .expect("the first table has 2^24 entries");
        Reader {
            first,
            groups: self.groups.as_slice(),
            default: self.default.load(Ordering::Relaxed),
        }
    }
}

/// A table for one loop.
#[derive(Clone, Copy)]
pub struct Reader<'a> {
    first: &'a [AtomicU16; 1 << 24],
    groups: &'a [[AtomicU16; 256]],
    default: Adjacency,
}

impl Reader<'_> {
    /// The adjacency of the longest prefix that covers the address.
    #[inline(always)]
    pub fn lookup(&self, address: u32) -> Adjacency {
        let mut entry = self.first[(address >> 8) as usize].load(Ordering::Relaxed);
        if entry & EXTENDED != 0 {
            fence(Ordering::Acquire);
            entry = self.groups[(entry & !EXTENDED) as usize][(address & 255) as usize]
                .load(Ordering::Relaxed);
        }
        if entry == NONE {
            self.default
        } else {
            entry - 1
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MISS: Adjacency = 0;

    fn prefix(text: &str) -> Prefix {
        text.parse().unwrap()
    }

    fn lookup(fib: &Fib, address: &str) -> Adjacency {
        fib.lookup(u32::from(address.parse::<Ipv4Addr>().unwrap()))
    }

    #[test]
    fn the_longest_prefix_wins() {
        let mut fib = Fib::new(MISS);
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
        assert_eq!(
            fib.add(prefix("10.1.2.0/24"), 7).unwrap(),
            Some(4),
            "replaced"
        );
        assert_eq!(all(&fib), [1, 2, 3, 7, 5, 6]);
        assert_eq!(fib.len(), 6);
    }

    #[test]
    fn host_bits_are_refused_as_ip_route_refuses_them() {
        let wrong = "20.0.0.1/8".parse::<Prefix>().unwrap_err();
        assert!(
            wrong.contains("write `20.0.0.0/8`, or `20.0.0.1/32`"),
            "{wrong}"
        );
        for right in ["20.0.0.0/8", "20.0.0.1/32", "0.0.0.0/0", "128.0.0.0/1"] {
            assert_eq!(right.parse::<Prefix>().unwrap().to_string(), right);
        }
    }

    #[test]
    fn a_shorter_route_added_later_does_not_cover_a_longer_one() {
        let mut fib = Fib::new(MISS);
        fib.add(prefix("10.1.2.128/25"), 5).unwrap();
        fib.add(prefix("10.0.0.0/8"), 2).unwrap();
        assert_eq!(lookup(&fib, "10.1.2.129"), 5);
        assert_eq!(lookup(&fib, "10.1.2.1"), 2);
    }

    #[test]
    fn a_prefix_says_what_it_should_look_like() {
        assert_eq!(prefix("10.0.0.0/8").to_string(), "10.0.0.0/8");
        for wrong in ["10.0.0.0", "10.0.0.0/33", "10.0.0/8", "x/8", ""] {
            assert!(
                wrong.parse::<Prefix>().unwrap_err().contains("10.1.0.0/16"),
                "{wrong}"
            );
        }
    }
}
