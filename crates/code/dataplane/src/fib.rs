//! Longest-prefix match for IPv4: one table read for the first 24 bits and, where there are longer prefixes, a second one for the rest.
//!
//! ```text
//!   address ── 24 bits ──► first[2^24] ── plain ──────────────► adjacency
//!                               └──────── extended ── 8 bits ──► groups[n][256] ──► adjacency
//! ```
//! An entry takes 16 bits, so the first table is 32 MB. Beside each entry stands the length of the prefix that wrote it, in
//! tables that only changes touch. The default route has no entries: an address that finds none takes it.

use std::collections::HashMap;
use std::net::Ipv4Addr;

use crate::buffers::region::Region;

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
        (length <= 32).then(|| Self { address: u32::from(address) & mask(length), length })
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
        Self::new(address, length).ok_or_else(wrong)
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

struct Group {
    entries: [u16; 256],
    lengths: [u8; 256],
    /// Prefixes longer than 24 bits within.
    prefixes: u32,
}

/// The table.
pub struct Fib {
    first: Region<u16>,
    lengths: Region<u8>,
    groups: Vec<Group>,
    free_groups: Vec<u16>,
    default: Adjacency,
    routes: [HashMap<u32, Adjacency>; 33],
}

impl Fib {
    /// A table without routes: every lookup gives `miss`.
    pub fn new(miss: Adjacency) -> Self {
        Self {
            first: Region::new(1 << 24),
            lengths: Region::new(1 << 24),
            groups: Vec::new(),
            free_groups: Vec::new(),
            default: miss,
            routes: std::array::from_fn(|_| HashMap::new()),
        }
    }

    /// The adjacency of the longest prefix that covers the address.
    pub fn lookup(&self, address: u32) -> Adjacency {
        self.reader().lookup(address)
    }

    /// The table for a loop: everything that a lookup needs stays in a few registers.
    #[inline(always)]
    pub fn reader(&self) -> Reader<'_> {
        let first = self.first.as_slice().try_into().expect("the first table has 2^24 entries");
        Reader { first, groups: &self.groups, default: self.default }
    }

    /// Adds a route or replaces it. Returns the adjacency that it had.
    pub fn add(&mut self, prefix: Prefix, adjacency: Adjacency) -> Result<Option<Adjacency>, RouteError> {
        if adjacency >= LIMIT {
            return Err(RouteError::Adjacency);
        }
        let length = prefix.length;
        if length > 24 && self.group_of(prefix).is_none() {
            self.extend(prefix)?;
        }
        let before = self.routes[length as usize].insert(prefix.address, adjacency);
        if length > 24 && before.is_none() {
            let group = self.group_of(prefix).expect("made above if it was not there");
            self.groups[group].prefixes += 1;
        }
        self.write(prefix, length, adjacency + 1, |there| there <= length);
        Ok(before)
    }

    /// Deletes a route; the next shorter one that covers it takes over. Returns its adjacency, `None` if it was not there.
    pub fn delete(&mut self, prefix: Prefix, miss: Adjacency) -> Option<Adjacency> {
        let length = prefix.length;
        let before = self.routes[length as usize].remove(&prefix.address)?;
        if length == 0 {
            self.default = miss;
            return Some(before);
        }
        let (entry, cover) = (1..length)
            .rev()
            .find_map(|shorter| {
                let adjacency = self.routes[shorter as usize].get(&(prefix.address & mask(shorter)))?;
                Some((adjacency + 1, shorter))
            })
            .unwrap_or((NONE, 0));
        self.write(prefix, cover, entry, |there| there == length);
        if length > 24 {
            self.shrink(prefix);
        }
        Some(before)
    }

    /// Number of routes.
    pub fn len(&self) -> usize {
        self.routes.iter().map(HashMap::len).sum()
    }

    /// Whether there is no route.
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
                routes.iter().map(move |(&address, &adjacency)| (Prefix { address, length: length as u8 }, adjacency))
            })
            .collect();
        routes.sort_unstable();
        routes
    }

    /// Bytes of the tables that a lookup may touch.
    pub fn table_bytes(&self) -> usize {
        size_of_val(self.first.as_slice()) + self.groups.len() * 256 * size_of::<u16>()
    }

    /// Whether huge pages were asked for the first table and not refused.
    pub fn huge_pages_advised(&self) -> bool {
        self.first.huge_pages_advised()
    }

    /// Writes an entry over all that `over` admits, by the length of the prefix that wrote what is there.
    fn write(&mut self, prefix: Prefix, length: u8, entry: u16, over: impl Fn(u8) -> bool) {
        if prefix.length == 0 {
            self.default = entry - 1;
            return;
        }
        let index = (prefix.address >> 8) as usize;
        if prefix.length > 24 {
            let Some(group) = self.group_of(prefix) else { return };
            let low = (prefix.address & 255) as usize;
            self.groups[group].write(low..low + (1 << (32 - prefix.length)), length, entry, over);
            return;
        }
        for index in index..index + (1 << (24 - prefix.length)) {
            let there = self.first.get(index);
            if there & EXTENDED != 0 {
                let group = (there & !EXTENDED) as usize;
                self.groups[group].write(0..256, length, entry, &over);
            } else if over(*self.lengths.get(index)) {
                *self.first.get_mut(index) = entry;
                *self.lengths.get_mut(index) = length;
            }
        }
    }

    fn group_of(&self, prefix: Prefix) -> Option<usize> {
        let entry = *self.first.get((prefix.address >> 8) as usize);
        (entry & EXTENDED != 0).then_some((entry & !EXTENDED) as usize)
    }

    /// Turns a plain entry into a group of 256 like it.
    fn extend(&mut self, prefix: Prefix) -> Result<(), RouteError> {
        let index = (prefix.address >> 8) as usize;
        let group =
            Group { entries: [*self.first.get(index); 256], lengths: [*self.lengths.get(index); 256], prefixes: 0 };
        let number = match self.free_groups.pop() {
            Some(number) => {
                self.groups[number as usize] = group;
                number
            }
            None => {
                let number = u16::try_from(self.groups.len()).ok().filter(|n| *n < LIMIT).ok_or(RouteError::Groups)?;
                self.groups.push(group);
                number
            }
        };
        *self.first.get_mut(index) = EXTENDED | number;
        Ok(())
    }

    /// Turns a group without longer prefixes back into a plain entry.
    fn shrink(&mut self, prefix: Prefix) {
        let Some(number) = self.group_of(prefix) else { return };
        let group = &mut self.groups[number];
        group.prefixes -= 1;
        if group.prefixes == 0 {
            let (entry, length) = (group.entries[0], group.lengths[0]);
            let index = (prefix.address >> 8) as usize;
            *self.first.get_mut(index) = entry;
            *self.lengths.get_mut(index) = length;
            self.free_groups.push(number as u16);
        }
    }
}

/// A table that is only read.
#[derive(Clone, Copy)]
pub struct Reader<'a> {
    first: &'a [u16; 1 << 24],
    groups: &'a [Group],
    default: Adjacency,
}

impl Reader<'_> {
    /// The adjacency of the longest prefix that covers the address.
    #[inline(always)]
    pub fn lookup(&self, address: u32) -> Adjacency {
        let mut entry = self.first[(address >> 8) as usize];
        if entry & EXTENDED != 0 {
            entry = self.groups[(entry & !EXTENDED) as usize].entries[(address & 255) as usize];
        }
        if entry == NONE { self.default } else { entry - 1 }
    }
}

impl Group {
    fn write(&mut self, range: std::ops::Range<usize>, length: u8, entry: u16, over: impl Fn(u8) -> bool) {
        for index in range {
            if over(self.lengths[index]) {
                self.entries[index] = entry;
                self.lengths[index] = length;
            }
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
    fn the_longest_prefix_wins_and_deletes_uncover_the_next() {
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
            ["9.9.9.9", "10.9.9.9", "10.1.9.9", "10.1.2.1", "10.1.2.200", "10.1.2.129"].map(|a| lookup(fib, a))
        };
        assert_eq!(all(&fib), [1, 2, 3, 4, 5, 6]);
        assert_eq!(fib.delete(prefix("10.1.2.0/24"), MISS), Some(4));
        assert_eq!(all(&fib), [1, 2, 3, 3, 5, 6]);
        assert_eq!(fib.delete(prefix("10.1.2.128/25"), MISS), Some(5));
        assert_eq!(all(&fib), [1, 2, 3, 3, 3, 6]);
        assert_eq!(fib.delete(prefix("10.0.0.0/8"), MISS), Some(2));
        assert_eq!(all(&fib), [1, 1, 3, 3, 3, 6]);
        assert_eq!(fib.delete(prefix("0.0.0.0/0"), MISS), Some(1));
        assert_eq!(all(&fib), [0, 0, 3, 3, 3, 6]);
        assert_eq!(fib.delete(prefix("10.1.2.129/32"), MISS), Some(6));
        assert_eq!(all(&fib), [0, 0, 3, 3, 3, 3]);
        assert_eq!(fib.delete(prefix("10.1.2.129/32"), MISS), None);
        assert_eq!(fib.len(), 1);
    }

    #[test]
    fn a_shorter_route_added_later_does_not_cover_a_longer_one() {
        let mut fib = Fib::new(MISS);
        fib.add(prefix("10.1.2.128/25"), 5).unwrap();
        fib.add(prefix("10.0.0.0/8"), 2).unwrap();
        assert_eq!(lookup(&fib, "10.1.2.129"), 5);
        assert_eq!(lookup(&fib, "10.1.2.1"), 2);
        fib.delete(prefix("10.1.2.128/25"), MISS);
        assert_eq!(lookup(&fib, "10.1.2.129"), 2);
    }

    #[test]
    fn a_prefix_says_what_it_should_look_like() {
        assert_eq!(prefix("10.1.2.3/8").to_string(), "10.0.0.0/8");
        for wrong in ["10.0.0.0", "10.0.0.0/33", "10.0.0/8", "x/8", ""] {
            assert!(wrong.parse::<Prefix>().unwrap_err().contains("10.1.0.0/16"), "{wrong}");
        }
    }
}
