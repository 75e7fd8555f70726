//! Tables that all workers read without a lock, and the one lock of whoever changes them.

use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::adjacency::{Adjacencies, Adjacency, FIRST_NEIGHBOUR, LIMIT, MISS};
use crate::epochs::Epochs;
use crate::fib::{Fib, RouteError, Table};
use crate::mac::Mac;

/// Our side of an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Side {
    /// The interface.
    pub interface: u16,
    /// Our Ethernet address.
    pub mac: Mac,
    /// Bytes of the largest IP packet.
    pub mtu: u16,
}

/// Why an entry has no room in the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoRoom {
    /// Every adjacency is in use.
    Adjacencies,
    /// The table of routes does not take the route.
    Routes(RouteError),
}

impl std::fmt::Display for NoRoom {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Adjacencies => f.write_str("the table of neighbours is full"),
            Self::Routes(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for NoRoom {}

/// Routes and adjacencies.
pub struct Tables {
    /// Routes, to read.
    pub routes: Arc<Table>,
    /// The adjacencies to which packets may be sent next, to read.
    pub adjacencies: Arc<Adjacencies>,
    /// The readers.
    pub epochs: Arc<Epochs>,
    changes: Mutex<Changes>,
    start: Instant,
}

impl Tables {
    /// Empty tables.
    pub fn new() -> Self {
        let (adjacencies, epochs) = (Arc::<Adjacencies>::default(), Arc::<Epochs>::default());
        let fib = Fib::shared(MISS, epochs.clone());
        let routes = fib.table().clone();
        let changes = Changes {
            fib,
            adjacencies: adjacencies.clone(),
            epochs: epochs.clone(),
            next: FIRST_NEIGHBOUR,
            free: Vec::new(),
            retired: Vec::new(),
        };
        Self { routes, adjacencies, epochs, changes: Mutex::new(changes), start: Instant::now() }
    }

    /// Takes the lock of whoever changes the tables. Forwarding does not take it.
    pub fn change(&self) -> MutexGuard<'_, Changes> {
        self.changes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Time since the tables were made.
    pub fn now(&self) -> Duration {
        self.start.elapsed()
    }
}

impl Default for Tables {
    fn default() -> Self {
        Self::new()
    }
}

/// The side of the tables that changes them.
pub struct Changes {
    /// The routes.
    pub fib: Fib,
    adjacencies: Arc<Adjacencies>,
    epochs: Arc<Epochs>,
    next: u16,
    free: Vec<u16>,
    /// Adjacencies out of use: after that epoch and that time nobody has them any more.
    retired: Vec<(u64, Duration, u16)>,
}

impl Changes {
    /// Adds an adjacency and returns its number. All zero as an Ethernet address says that it is
    /// not known yet.
    ///
    /// # Errors
    /// Every adjacency is in use.
    pub fn add_adjacency(
        &mut self,
        side: Side,
        to: Mac,
        address: Option<Ipv4Addr>,
        now: Duration,
    ) -> Result<u16, NoRoom> {
        self.reclaim(now);
        let number = match self.free.pop() {
            Some(number) => number,
            None if self.next < LIMIT => {
                self.next += 1;
                self.next - 1
            }
            None => return Err(NoRoom::Adjacencies),
        };
        let Side { interface, mac, mtu } = side;
        self.adjacencies.write(number, Adjacency { interface, to, from: mac, mtu, address });
        Ok(number)
    }

    /// Sets the Ethernet address of an adjacency's neighbour; all zero if it is not known any more.
    pub fn set_mac(&mut self, adjacency: u16, mac: Mac) {
        self.adjacencies.set_mac(adjacency, mac);
    }

    /// Takes an adjacency out of use. No route leads to it any more; packets that wait for its
    /// neighbour have it until that time.
    pub fn retire(&mut self, adjacency: u16, until: Duration) {
        self.retired.push((self.epochs.retire(), until, adjacency));
    }

    fn reclaim(&mut self, now: Duration) {
        if self.retired.is_empty() {
            return;
        }
        let passed = self.epochs.passed();
        let free = &mut self.free;
        self.retired.retain(|&(epoch, until, adjacency)| {
            let waits = epoch > passed || now < until;
            if !waits {
                free.push(adjacency);
            }
            waits
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_adjacency_is_used_again_when_nobody_can_have_it_any_more() {
        let tables = Tables::new();
        let reader = tables.epochs.register().unwrap();
        let side = Side { interface: 1, mac: Mac([2, 0, 0, 0, 0, 1]), mtu: 1500 };
        let add = |seconds| {
            tables.change().add_adjacency(side, Mac([2, 0, 0, 0, 0, 9]), None, Duration::from_secs(seconds)).unwrap()
        };
        let adjacency = add(0);
        tables.change().retire(adjacency, Duration::from_secs(10));
        assert_ne!(add(100), adjacency, "the reader has not passed");
        tables.epochs.quiesce(&reader);
        assert_ne!(add(4), adjacency, "a packet may still wait with it");
        assert_eq!(add(100), adjacency);
    }
}
