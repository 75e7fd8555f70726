//! Tables that all workers read without a lock, and the one lock of whoever fills them.

use crate::adjacency::{Adjacencies, Adjacency, FIRST_NEIGHBOUR, LIMIT, MISS};
use crate::fib::{Fib, RouteError, Table};
use crate::mac::Mac;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

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
    changes: Mutex<Changes>,
}

impl Tables {
    /// Empty tables.
    pub fn new() -> Self {
        let adjacencies = Arc::<Adjacencies>::default();
        let fib = Fib::new(MISS);
        let routes = fib.table().clone();
        let changes = Changes {
            fib,
            adjacencies: adjacencies.clone(),
            next: FIRST_NEIGHBOUR,
        };
        Self {
            routes,
            adjacencies,
            changes: Mutex::new(changes),
        }
    }

    /// Takes the lock of whoever changes the tables. Forwarding does not take it.
    pub fn change(&self) -> MutexGuard<'_, Changes> {
        self.changes.lock().unwrap_or_else(PoisonError::into_inner)
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
    next: u16,
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
    ) -> Result<u16, NoRoom> {
        let number = self.next;
        if number >= LIMIT {
            return Err(NoRoom::Adjacencies);
        }
        self.next += 1;
        let Side {
            interface,
            mac,
            mtu,
        } = side;
        self.adjacencies.write(
            number,
            Adjacency {
                interface,
                to,
                from: mac,
                mtu,
                address,
            },
        );
        Ok(number)
    }
}
