//! Neighbours, which are found by asking (ARP, RFC 826), and whose adjacencies and routes are in
//! the tables.
//!
//! ```text
//!              packet for it                 answer
//!   (nothing) ──────────────► asking ───────────────────► known ──┐ lifetime over
//!       ▲                       │ no answer to all requests   ▲     ▼
//!       └───────────────────────┴──────────────────────────── checking
//! ```
//! All of it is behind one lock that a packet to a known neighbour never takes.

use std::collections::HashMap;
use std::net::Ipv4Addr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dataplane::fib::Prefix;
use dataplane::plane::{MISS, Mac};
use dataplane::tables::{NoRoom, Side, Tables};

/// The way in which neighbours are found and kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// Time between two requests.
    pub interval: Duration,
    /// Requests without an answer after which the neighbour is taken to be away.
    pub requests: u32,
    /// Time after which a known neighbour is asked whether it is still there.
    pub lifetime: Duration,
    /// Most neighbours that are found by asking.
    pub most: usize,
    /// Most packets that wait for one neighbour, in each worker.
    pub queue: usize,
    /// Most packets that wait for neighbours at all, in each worker.
    pub queue_all: usize,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            interval: Duration::from_secs(1),
            requests: 3,
            lifetime: Duration::from_secs(60),
            most: 4096,
            queue: 64,
            queue_all: 1024,
        }
    }
}

impl Timing {
    /// The time that a packet waits for a neighbour.
    pub fn patience(&self) -> Duration {
        self.interval * self.requests
    }
}

/// The knowledge of a neighbour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Its Ethernet address was given and does not change.
    Static,
    /// Nobody has asked for it yet, or not for some time.
    Quiet,
    /// It is asked for; requests so far, and when the last one was.
    Asking(u32, Duration),
    /// It answered then.
    Known(Duration),
    /// It is known, and asked whether it is still there; requests so far, and when the last one
    /// was.
    Checking(u32, Duration),
}

impl State {
    /// As `show ip neighbor` prints it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Static => "static",
            Self::Quiet => "quiet",
            Self::Asking(..) => "asking",
            Self::Known(_) => "known",
            Self::Checking(..) => "checking",
        }
    }
}

/// A neighbour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Neighbour {
    /// Its adjacency.
    pub adjacency: u16,
    /// The knowledge of the neighbour.
    pub state: State,
    /// A route leads to it, so it stays when it is away.
    named: bool,
}

/// A request that somebody has to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// The interface to send it on.
    pub interface: u16,
    /// Whom to ask for.
    pub address: Ipv4Addr,
    /// The place where it was last; zero to ask everyone.
    pub mac: Mac,
}

/// The result of an address that somebody told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Learnt {
    /// It is in the table.
    Yes,
    /// It was not asked for.
    Unasked,
    /// The table is full.
    Full,
}

/// The neighbours of all workers.
#[derive(Default)]
pub struct Control(Mutex<Neighbours>);

impl Control {
    /// Takes the lock.
    pub fn lock(&self) -> MutexGuard<'_, Neighbours> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the lock if nobody has it just now.
    pub fn try_lock(&self) -> Option<MutexGuard<'_, Neighbours>> {
        self.0.try_lock().ok()
    }
}

/// Neighbours, by interface and address.
#[derive(Default)]
pub struct Neighbours {
    /// The way in which neighbours are found and kept.
    pub timing: Timing,
    neighbours: HashMap<(u16, Ipv4Addr), Neighbour>,
}

impl Neighbours {
    /// Every neighbour with its interface and address, in their order.
    pub fn all(&self) -> Vec<(u16, Ipv4Addr, Neighbour)> {
        let mut all: Vec<_> =
            self.neighbours.iter().map(|((interface, address), there)| (*interface, *address, *there)).collect();
        all.sort_by_key(|(interface, address, _)| (*interface, *address));
        all
    }

    /// The adjacency of a neighbour that a route leads to: the one that is there, or a new one that
    /// is asked for when a packet comes.
    ///
    /// # Errors
    /// The tables have no room for it.
    pub fn named(&mut self, tables: &Tables, side: Side, address: Ipv4Addr, now: Duration) -> Result<u16, NoRoom> {
        if let Some(there) = self.neighbours.get_mut(&(side.interface, address)) {
            there.named = true;
            return Ok(there.adjacency);
        }
        self.insert(tables, side, address, (Mac::default(), State::Quiet), true, now)
    }

    /// A neighbour whose Ethernet address is given.
    ///
    /// # Errors
    /// The tables have no room for it.
    pub fn add_static(
        &mut self,
        tables: &Tables,
        side: Side,
        address: Ipv4Addr,
        mac: Mac,
        now: Duration,
    ) -> Result<u16, NoRoom> {
        self.insert(tables, side, address, (mac, State::Static), true, now)
    }

    fn insert(
        &mut self,
        tables: &Tables,
        side: Side,
        address: Ipv4Addr,
        (mac, state): (Mac, State),
        named: bool,
        now: Duration,
    ) -> Result<u16, NoRoom> {
        let mut changes = tables.change();
        let adjacency = changes.add_adjacency(side, mac, Some(address), now)?;
        if let Some(host) = Prefix::new(address, 32)
            && let Err(error) = changes.fib.add(host, adjacency)
        {
            changes.retire(adjacency, self.retired_until(now));
            return Err(NoRoom::Routes(error));
        }
        self.neighbours.insert((side.interface, address), Neighbour { adjacency, state, named });
        Ok(adjacency)
    }

    /// When no packet waits any more that has an adjacency which goes out of use now.
    fn retired_until(&self, now: Duration) -> Duration {
        // A packet that waits holds its adjacency longer than a round.
        now + 2 * self.timing.patience()
    }

    /// A packet waits for a neighbour. Returns its adjacency, and the request that has to be sent
    /// now, if one has.
    ///
    /// # Errors
    /// There are [`Timing::most`] neighbours already, or the tables have no room for one more.
    pub fn ask(
        &mut self,
        tables: &Tables,
        side: Side,
        address: Ipv4Addr,
        now: Duration,
    ) -> Result<(u16, Option<Request>), NoRoom> {
        let Side { interface, .. } = side;
        if !self.neighbours.contains_key(&(interface, address)) {
            if self.neighbours.len() >= self.timing.most {
                return Err(NoRoom::Adjacencies);
            }
            self.insert(tables, side, address, (Mac::default(), State::Quiet), false, now)?;
        }
        let interval = self.timing.interval;
        let Some(there) = self.neighbours.get_mut(&(interface, address)) else { return Err(NoRoom::Adjacencies) };
        let request = match there.state {
            State::Quiet => {
                there.state = State::Asking(1, now);
                true
            }
            State::Asking(requests, last) if now >= last + interval && requests < self.timing.requests => {
                there.state = State::Asking(requests + 1, now);
                true
            }
            _ => false,
        };
        let request = request.then_some(Request { interface, address, mac: Mac::default() });
        Ok((there.adjacency, request))
    }

    /// A neighbour told its Ethernet address. One that is not there yet is taken if it asked for
    /// us.
    pub fn learn(
        &mut self,
        tables: &Tables,
        side: Side,
        address: Ipv4Addr,
        mac: Mac,
        asked_us: bool,
        now: Duration,
    ) -> Learnt {
        if let Some(there) = self.neighbours.get_mut(&(side.interface, address)) {
            if there.state != State::Static {
                there.state = State::Known(now);
                tables.change().set_mac(there.adjacency, mac);
            }
            return Learnt::Yes;
        }
        if !asked_us {
            return Learnt::Unasked;
        }
        if self.neighbours.len() >= self.timing.most {
            return Learnt::Full;
        }
        match self.insert(tables, side, address, (mac, State::Known(now)), false, now) {
            Ok(_) => Learnt::Yes,
            Err(_) => Learnt::Full,
        }
    }

    /// The actions that are due: requests to repeat, neighbours to check, neighbours that are away.
    pub fn due(&mut self, tables: &Tables, now: Duration) -> Vec<Request> {
        let Timing { interval, requests, lifetime, .. } = self.timing;
        let (mut due, mut away) = (Vec::new(), Vec::new());
        for (&(interface, address), there) in &mut self.neighbours {
            let request = |mac| Request { interface, address, mac };
            let mac = tables.adjacencies.get(there.adjacency).to;
            match there.state {
                State::Asking(sent, last) if now >= last + interval => {
                    if sent < requests {
                        there.state = State::Asking(sent + 1, now);
                        due.push(request(Mac::default()));
                    } else {
                        away.push((interface, address));
                    }
                }
                State::Known(since) if now >= since + lifetime => {
                    there.state = State::Checking(1, now);
                    due.push(request(mac));
                }
                State::Checking(sent, last) if now >= last + interval => {
                    if sent < requests {
                        there.state = State::Checking(sent + 1, now);
                        due.push(request(mac));
                    } else {
                        away.push((interface, address));
                    }
                }
                _ => {}
            }
        }
        for key in away {
            self.forget(tables, key, now);
        }
        due
    }

    /// Forgets what is known of a neighbour; one that no route leads to leaves the table.
    fn forget(&mut self, tables: &Tables, key: (u16, Ipv4Addr), now: Duration) {
        let until = self.retired_until(now);
        let Some(there) = self.neighbours.get_mut(&key) else { return };
        let mut changes = tables.change();
        changes.set_mac(there.adjacency, Mac::default());
        there.state = State::Quiet;
        if !there.named {
            let adjacency = there.adjacency;
            self.neighbours.remove(&key);
            if let Some(host) = Prefix::new(key.1, 32) {
                changes.fib.delete(host, MISS);
            }
            changes.retire(adjacency, until);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIDE: Side = Side { interface: 1, mac: Mac([2, 0, 0, 0, 0, 1]), mtu: 1500 };
    const PEER: Mac = Mac([2, 0, 0, 0, 0, 9]);
    const ADDRESS: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 9);

    fn at(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    fn neighbours() -> (Neighbours, Tables) {
        Default::default()
    }

    fn request(mac: Mac) -> Request {
        Request { interface: 1, address: ADDRESS, mac }
    }

    #[test]
    fn a_neighbour_is_asked_for_three_times_and_then_forgotten() {
        let (mut neighbours, tables) = neighbours();
        let (adjacency, first) = neighbours.ask(&tables, SIDE, ADDRESS, at(0)).unwrap();
        assert_eq!(first, Some(request(Mac::default())));
        assert_eq!(tables.routes.reader().lookup(ADDRESS.into()), adjacency);
        assert_eq!(neighbours.ask(&tables, SIDE, ADDRESS, at(10)).unwrap(), (adjacency, None), "not for each packet");
        assert_eq!(neighbours.due(&tables, at(999)), []);
        assert_eq!(neighbours.due(&tables, at(1000)), [request(Mac::default())]);
        assert_eq!(neighbours.due(&tables, at(2000)), [request(Mac::default())]);
        assert_eq!(neighbours.due(&tables, at(3000)), []);
        assert_eq!((neighbours.all(), tables.routes.reader().lookup(ADDRESS.into())), (vec![], MISS));
    }

    #[test]
    fn a_known_neighbour_is_checked_where_it_was_and_forgotten_when_it_is_away() {
        let (mut neighbours, tables) = neighbours();
        let (adjacency, _) = neighbours.ask(&tables, SIDE, ADDRESS, at(0)).unwrap();
        assert_eq!(neighbours.learn(&tables, SIDE, ADDRESS, PEER, false, at(5)), Learnt::Yes);
        assert_eq!(tables.adjacencies.get(adjacency).to, PEER);
        assert_eq!(neighbours.due(&tables, at(60_004)), []);
        assert_eq!(neighbours.due(&tables, at(60_005)), [request(PEER)]);
        assert_eq!(neighbours.learn(&tables, SIDE, ADDRESS, PEER, false, at(60_010)), Learnt::Yes);
        assert_eq!(neighbours.due(&tables, at(62_000)), [], "it answered");
        for second in 121..124 {
            assert_eq!(neighbours.due(&tables, at(second * 1000)), [request(PEER)]);
            assert!(tables.adjacencies.rewrite(adjacency).is_resolved(), "packets flow while it is checked");
        }
        assert_eq!(neighbours.due(&tables, at(124_000)), []);
        assert_eq!(neighbours.all(), []);
    }

    #[test]
    fn a_neighbour_that_a_route_names_stays_and_is_asked_for_again() {
        let (mut neighbours, tables) = neighbours();
        let adjacency = neighbours.named(&tables, SIDE, ADDRESS, at(0)).unwrap();
        for round in 0..3 {
            let start = 10_000 * round;
            assert!(neighbours.ask(&tables, SIDE, ADDRESS, at(start)).unwrap().1.is_some());
            for second in 1..5 {
                neighbours.due(&tables, at(start + 1000 * second));
            }
            assert_eq!(tables.routes.reader().lookup(ADDRESS.into()), adjacency);
        }
    }

    #[test]
    fn only_who_asked_for_us_is_taken_without_being_asked_for_and_not_above_the_limit() {
        let (mut neighbours, tables) = neighbours();
        assert_eq!(neighbours.learn(&tables, SIDE, ADDRESS, PEER, false, at(0)), Learnt::Unasked);
        neighbours.timing.most = 2;
        for last in 1..3 {
            assert_eq!(neighbours.learn(&tables, SIDE, Ipv4Addr::new(10, 0, 1, last), PEER, true, at(0)), Learnt::Yes);
        }
        assert_eq!(neighbours.learn(&tables, SIDE, ADDRESS, PEER, true, at(0)), Learnt::Full);
        assert_eq!(neighbours.ask(&tables, SIDE, ADDRESS, at(0)), Err(NoRoom::Adjacencies));
    }

    #[test]
    fn a_given_address_is_not_changed_by_what_a_neighbour_tells() {
        let (mut neighbours, tables) = neighbours();
        let adjacency = neighbours.add_static(&tables, SIDE, ADDRESS, PEER, at(0)).unwrap();
        neighbours.learn(&tables, SIDE, ADDRESS, Mac([2; 6]), false, at(1));
        assert_eq!(tables.adjacencies.get(adjacency).to, PEER);
        assert_eq!(neighbours.due(&tables, at(1_000_000)), []);
    }

    #[test]
    fn a_neighbour_that_is_away_leaves_its_adjacency_to_others_when_no_packet_waits_any_more() {
        let (mut neighbours, tables) = neighbours();
        let (adjacency, _) = neighbours.ask(&tables, SIDE, ADDRESS, at(0)).unwrap();
        for second in 1..4 {
            neighbours.due(&tables, at(1000 * second));
        }
        let other = |now| tables.change().add_adjacency(SIDE, PEER, None, at(now)).unwrap();
        assert_ne!(other(4000), adjacency, "a packet may still wait with it");
        assert_eq!(other(100_000), adjacency);
    }
}
