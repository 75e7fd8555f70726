//! The forwarding table against an oracle, with many routes.

use dataplane::fib::{Fib, Prefix};
use proptest::prelude::*;
use std::collections::HashMap;
use std::net::Ipv4Addr;

const MISS: u16 = 0;

/// A table that nobody can get wrong: it asks for every length, the longest first.
#[derive(Default)]
struct Oracle(HashMap<(u32, u8), u16>);

impl Oracle {
    fn lookup(&self, address: u32) -> u16 {
        let mask = |length: u8| u32::MAX.checked_shl(32 - u32::from(length)).unwrap_or(0);
        let found = (0..=32)
            .rev()
            .find_map(|length| self.0.get(&(address & mask(length), length)));
        found.copied().unwrap_or(MISS)
    }
}

/// A prefix as the oracle wants it.
fn key(prefix: Prefix) -> (u32, u8) {
    (u32::from(prefix.address()), prefix.length())
}

struct Both {
    ours: Fib,
    oracle: Oracle,
}

impl Both {
    fn new() -> Self {
        Self {
            ours: Fib::default(),
            oracle: Oracle::default(),
        }
    }

    fn add(&mut self, prefix: Prefix, adjacency: u16) {
        self.ours.add(prefix, adjacency).unwrap();
        self.oracle.0.insert(key(prefix), adjacency);
    }

    fn agree(&self, address: u32) {
        assert_eq!(
            self.ours.lookup(address),
            self.oracle.lookup(address),
            "{}",
            Ipv4Addr::from(address)
        );
    }

    /// Compares at the edges of a prefix, where mistakes are, and in its middle.
    fn agree_around(&self, prefix: Prefix) {
        let (first, length) = key(prefix);
        let last = first | u32::MAX.checked_shr(u32::from(length)).unwrap_or(0);
        for address in [
            first,
            last,
            first.wrapping_sub(1),
            last.wrapping_add(1),
            first + (last - first) / 2,
        ] {
            self.agree(address);
        }
    }
}

/// Prefixes crowded into a few networks, so that they cover one another.
fn crowded() -> impl Strategy<Value = Prefix> {
    (
        0..4_u32,
        any::<u32>(),
        prop_oneof![1 => Just(0_u8), 50 => 1..=32_u8, 100 => 23..=32_u8],
    )
        .prop_map(|(network, bits, length)| {
            let address = (10 << 24) + (network << 16) + (bits & 0x0003_ffff);
            Prefix::new(address.into(), length).unwrap()
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn routes_in_any_order_agree_with_the_oracle(
        steps in prop::collection::vec((crowded(), 3..1000_u16), 1..200),
    ) {
        let mut both = Both::new();
        for (prefix, adjacency) in &steps {
            both.add(*prefix, *adjacency);
        }
        for (prefix, _) in &steps {
            both.agree_around(*prefix);
        }
    }
}

#[test]
fn two_hundred_thousand_routes_agree_with_the_oracle() {
    let mut random = fastrand::Rng::with_seed(42);
    let mut both = Both::new();
    let mut routes: HashMap<Prefix, ()> = HashMap::new();
    // Lengths as in the Internet's table: most of them 24 bits, few very short; and some longer
    // than 24.
    while both.oracle.0.len() < 200_000 {
        let length = match random.u8(..100) {
            0 => random.u8(8..16),
            1..=35 => random.u8(16..24),
            36..=95 => 24,
            _ => random.u8(25..=32),
        };
        let prefix = Prefix::new(random.u32(..).into(), length).unwrap();
        both.add(prefix, random.u16(3..1003));
        routes.insert(prefix, ());
    }
    for _ in 0..200_000 {
        both.agree(random.u32(..));
    }
    for prefix in routes.keys().take(20_000) {
        both.agree_around(*prefix);
    }
}

#[test]
fn a_full_table_says_so_and_stays_right() {
    let mut fib = Fib::default();
    let full =
        (0..40_000_u32).find_map(|n| fib.add(Prefix::new((n << 8).into(), 25).unwrap(), 7).err());
    assert!(full.unwrap().to_string().contains("32 766"));
    assert_eq!(fib.lookup(5 << 8), 7);
    assert!(
        fib.add(Prefix::new(0.into(), 24).unwrap(), u16::MAX)
            .is_err()
    );
}
