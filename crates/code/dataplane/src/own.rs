//! Our own addresses, and who answers for them.

use std::net::Ipv4Addr;

use crate::fib::Prefix;

/// Who answers what is sent to one of our addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// The kernel has the address on the same interface and sees each packet itself.
    Kernel,
    /// The data plane.
    Us,
}

impl Owner {
    /// As `show ip address` prints it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Kernel => "kernel",
            Self::Us => "stopwatt",
        }
    }
}

/// One of our addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnAddress {
    /// The address.
    pub address: Ipv4Addr,
    /// Bits of its network's prefix; 32 if there is no network at hand.
    pub length: u8,
    /// The interface that has it.
    pub interface: u16,
    /// Who answers for it.
    pub owner: Owner,
}

impl OwnAddress {
    /// The network at hand.
    pub fn network(&self) -> Option<Prefix> {
        Prefix::new(self.address, self.length).filter(|_| self.length < 32)
    }

    /// The address that all hosts of the network take.
    pub fn broadcast(&self) -> Option<Ipv4Addr> {
        let host_bits = u32::MAX.checked_shr(u32::from(self.length)).unwrap_or(0);
        (1..31).contains(&self.length).then(|| (u32::from(self.address) | host_bits).into())
    }
}

/// Bits that say which addresses are surely not ours.
const WORDS: usize = 16;

/// All our addresses.
#[derive(Clone, Debug, Default)]
pub struct Own {
    addresses: Vec<OwnAddress>,
    filter: [u64; WORDS],
}

impl Own {
    /// Adds an address.
    pub fn add(&mut self, address: OwnAddress) {
        let (word, bit) = place(u32::from(address.address));
        self.filter[word] |= 1 << bit;
        self.addresses.push(address);
    }

    /// All, in the order in which they were added.
    pub fn all(&self) -> &[OwnAddress] {
        &self.addresses
    }

    /// Whether an address may be ours: nearly always right, and never wrong when it says no. For loops.
    #[inline(always)]
    pub fn may_have(&self, address: u32) -> bool {
        let (word, bit) = place(address);
        self.filter[word] >> bit & 1 != 0
    }

    /// Our address with this value.
    pub fn find(&self, address: Ipv4Addr) -> Option<&OwnAddress> {
        self.addresses.iter().find(|own| own.address == address)
    }

    /// The address from which an interface speaks to a neighbour: that of the neighbour's network, or else the interface's first one.
    pub fn source(&self, interface: u16, to: Option<Ipv4Addr>) -> Option<Ipv4Addr> {
        let mut here = self.addresses.iter().filter(|own| own.interface == interface);
        let shares = |own: &&OwnAddress| {
            own.network().is_some() && own.network() == to.and_then(|to| Prefix::new(to, own.length))
        };
        here.clone().find(shares).or_else(|| here.next()).map(|own| own.address)
    }

    /// The address from which an interface sends what concerns a packet that came in there: one of its own, or else any of ours.
    pub fn speaker(&self, interface: u16) -> Option<Ipv4Addr> {
        self.source(interface, None).or_else(|| self.addresses.first().map(|own| own.address))
    }
}

#[inline(always)]
fn place(address: u32) -> (usize, u32) {
    let hash = address.wrapping_mul(0x9e37_79b1) >> 22;
    ((hash >> 6) as usize % WORDS, hash & 63)
}
