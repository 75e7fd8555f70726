//! Our own addresses, and who answers for them.

use std::net::Ipv4Addr;

use crate::fib::Prefix;

/// The one who answers what is sent to one of our addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// The kernel has the address on the same interface and sees each packet itself.
    Kernel,
    /// The data plane.
    Us,
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
    /// The one who answers for it.
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

/// No host has an address that starts so.
const NO_HOST: u8 = 1;
/// An address of ours starts or ends so.
const OURS: u8 = 2;

/// All our addresses.
#[derive(Clone, Debug)]
pub struct Own {
    addresses: Vec<OwnAddress>,
    /// By an address's first byte.
    first: [u8; 256],
    /// By its last byte; [`NO_HOST`] is in all, so that it counts where the first byte has it.
    last: [u8; 256],
}

impl Default for Own {
    fn default() -> Self {
        let first = std::array::from_fn(|byte| u8::from(matches!(byte, 0 | 127 | 224..)) * NO_HOST);
        Self { addresses: Vec::new(), first, last: [NO_HOST; 256] }
    }
}

impl Own {
    /// Adds an address.
    pub fn add(&mut self, address: OwnAddress) {
        let [first, .., last] = address.address.octets();
        self.first[first as usize] |= OURS;
        self.last[last as usize] |= OURS;
        self.addresses.push(address);
    }

    /// Not 0 for a source that has to be looked at: one that may be ours, or that starts as no
    /// host's address does. 0 for nearly all others, and surely not for those. Two bytes from the
    /// cache are what a loop can afford; they are the address's first and last one.
    #[inline(always)]
    pub fn suspects(&self, first: u8, last: u8) -> u8 {
        self.first[first as usize] & self.last[last as usize]
    }

    /// Our address with this value.
    pub fn find(&self, address: Ipv4Addr) -> Option<&OwnAddress> {
        self.addresses.iter().find(|own| own.address == address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_source_that_matters_is_passed_over() {
        let mut own = Own::default();
        for address in [[10, 0, 1, 1], [192, 168, 0, 254]] {
            own.add(OwnAddress { address: address.into(), length: 24, interface: 0, owner: Owner::Us });
        }
        let suspects = |address: [u8; 4]| own.suspects(address[0], address[3]) != 0;
        for address in [[10, 0, 1, 1], [192, 168, 0, 254], [0; 4], [127, 0, 0, 1], [224, 0, 0, 5], [255; 4]] {
            assert!(suspects(address), "{address:?}");
        }
        for address in [[10, 0, 1, 2], [192, 168, 0, 7], [1; 4], [126, 1, 1, 254], [223, 255, 255, 255]] {
            assert!(!suspects(address), "{address:?}");
        }
    }
}
