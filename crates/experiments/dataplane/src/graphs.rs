//! Whole graphs at full load on this machine.

use dataplane::buffers::Reuse;
use dataplane::fib::Prefix;
use dataplane::graph::{Balance, ErrorRow, Graph, Input, Reason, Report, RuntimeRow};
use dataplane::inputs::{Arrivals, Generator, Paced, Packets, udp_packet};
use dataplane::machine;
use dataplane::nodes::{Device, Discard};
use dataplane::plane::{Mac, Mode, Plane, Settings};
use dataplane::show;
use dataplane::standard::build;
use hdrhistogram::Histogram;
use itertools::Itertools;
use serde::{Deserialize, Serialize};
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::time::{Duration, Instant};

#[cfg(target_os = "linux")]
use crate::event_counters::Counters;
use crate::events::Events;
use crate::latency::Percentiles;
use crate::slice::Slices;

/// A graph to load.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum GraphKind {
    /// An L2 cross connect of two interfaces.
    L2CrossConnect,
    /// IPv4 routing, three nodes.
    Ip4Route,
}

impl GraphKind {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::L2CrossConnect, Self::Ip4Route];

    /// As on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::L2CrossConnect => "l2-xconnect",
            Self::Ip4Route => "ip4-route",
        }
    }
}

/// The load of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Load {
    /// The graph.
    pub kind: GraphKind,
    /// Shape, strides, frame size, checksum.
    pub settings: Settings,
    /// Buffers.
    pub buffers: usize,
    /// Order of reuse.
    pub reuse: Reuse,
    /// Routes, for the IPv4 graphs.
    pub routes: u32,
    /// Interfaces that the routes lead to in turn, for the IPv4 graphs.
    pub outputs: u16,
    /// Flows: destinations in turn, spread over the routes.
    pub flows: u32,
    /// The device of each worker; `None` where packets are there whenever they are asked for.
    pub arrivals: Option<Arrivals>,
}

impl Load {
    /// 64-byte packets of one flow, 16 384 buffers cycled, a thousand routes to one interface.
    pub fn new(kind: GraphKind) -> Self {
        Self {
            kind,
            settings: Settings::default(),
            buffers: 16 * 1024,
            reuse: Reuse::Cycle,
            routes: 1000,
            outputs: 1,
            flows: 1,
            arrivals: None,
        }
    }
}

impl Load {
    /// The input, whose packets come as the load says.
    pub fn paced(&self, input: Box<dyn Input>) -> Box<dyn Input> {
        match self.arrivals {
            Some(arrivals) => Box::new(Paced::new(input, arrivals)),
            None => input,
        }
    }
}

/// The address of an interface by its number.
fn our_mac(interface: u16) -> Mac {
    Mac([2, 0xfe, 0, 0, 0, 1 + interface as u8])
}

/// The address of whoever is at the other end of an interface.
fn peer_mac(interface: u16) -> Mac {
    Mac([2, 0xfe, 0, 0, 1, 1 + interface as u8])
}

/// The n-th route's network: /24s from 20.0.0.0 on.
pub fn network(number: u32) -> u32 {
    (20 << 24) + (number << 8)
}

/// The destination of a flow: an odd step spreads flows over a number of routes, and over hosts.
pub fn destination(flow: u32, routes: u32) -> Ipv4Addr {
    Ipv4Addr::from(network(flow.wrapping_mul(2_654_435_761) % routes) + 1 + flow / routes % 250)
}

/// Builds a graph for each of some workers, with a generator and buffers of its own, over the same
/// tables.
pub fn graphs(load: Load, workers: usize) -> Vec<Graph> {
    planes(load, workers)
        .into_iter()
        .map(|plane| with_input(plane, load, Box::new(generator(load))))
        .collect()
}

/// A plane for each of some workers, over the same tables.
pub fn planes(load: Load, workers: usize) -> Vec<Plane> {
    let first = plane(load, our_mac);
    let others = (1..workers)
        .map(|_| first.for_another_worker())
        .collect_vec();
    [first].into_iter().chain(others).collect()
}

/// The first interface, where packets come in.
pub const INSIDE: u16 = 0;

/// The second interface, where packets go out.
const OUTSIDE: u16 = 1;

/// Interfaces of these addresses, and routes.
fn plane(load: Load, address: impl Fn(u16) -> Mac) -> Plane {
    let mut plane = Plane::new(load.buffers, load.reuse, load.settings);
    let mode = |peer| match load.kind {
        GraphKind::L2CrossConnect => Mode::CrossConnect { peer },
        GraphKind::Ip4Route => Mode::Route,
    };
    let mut add = |number: u16, peer| {
        plane.add_interface(&format!("pg{number}"), address(number), mode(peer))
    };
    add(INSIDE, OUTSIDE);
    let outside = (OUTSIDE..=load.outputs.max(1))
        .map(|number| add(number, INSIDE))
        .collect_vec();
    let routes = load.routes.clamp(1, 1 << 16);
    if load.kind != GraphKind::L2CrossConnect {
        let mut neighbour = |&number: &u16| {
            plane
                .add_neighbour(number, peer_mac(number))
                .expect("an empty table has room")
        };
        let adjacencies = outside.iter().map(&mut neighbour).collect_vec();
        for (number, &adjacency) in (0..routes).zip(adjacencies.iter().cycle()) {
            plane
                .add_route(
                    Prefix::new(network(number).into(), 24).expect("24 bits are a length"),
                    adjacency,
                )
                .expect("a /24 takes no group");
        }
    }
    plane
}

/// A packet of the first interface's neighbour.
pub fn packet(source: Ipv4Addr, destination: Ipv4Addr, ttl: u8) -> [u8; 64] {
    udp_packet(our_mac(INSIDE), peer_mac(INSIDE), source, destination, ttl)
}

/// The generator of a load: a packet of each flow in turn.
pub fn generator(load: Load) -> Generator {
    let routes = load.routes.clamp(1, 1 << 16);
    let templates = (0..load.flows.max(1)).map(|flow| {
        let source = Ipv4Addr::from((10 << 24) + flow);
        packet(source, destination(flow, routes), 64)
    });
    Generator::new(INSIDE, templates.collect())
}

/// A device for each interface, which takes what is sent and forgets it.
pub fn devices(plane: &Plane) -> Vec<Box<dyn Device>> {
    plane
        .interfaces
        .iter()
        .map(|_| Box::new(Discard) as Box<dyn Device>)
        .collect()
}

/// The graph over a plane; what it sends is taken and forgotten.
fn with_input(plane: Plane, load: Load, input: Box<dyn Input>) -> Graph {
    let devices = devices(&plane);
    let (mut graph, first) = build(plane, devices);
    graph.add_input(load.paced(input), first);
    graph
}

/// The node that captured packets come in at.
pub(crate) const CAPTURED: &str = "pcap-input";

/// Builds a graph over packets that were captured, again and again. It takes packets to the
/// Ethernet address that the first one goes to; what it sends is taken and forgotten.
pub fn of_captured(load: Load, packets: Vec<Vec<u8>>) -> Graph {
    let address = packets
        .first()
        .and_then(|packet| packet.first_chunk())
        .map_or(our_mac(INSIDE), |to| Mac(*to));
    let plane = plane(load, |number| {
        if number == INSIDE {
            address
        } else {
            our_mac(number)
        }
    });
    let packets = Packets::new(INSIDE, CAPTURED, packets).again();
    with_input(plane, load, Box::new(packets))
}

/// One window of load.
#[derive(Serialize, Deserialize)]
pub struct Window {
    /// Length of the window.
    pub seconds: f64,
    /// Turns of the main loop, of all workers.
    pub loops: u64,
    /// The counters of nodes, of all workers together.
    pub nodes: Vec<RuntimeRow>,
    /// The share of each worker.
    pub workers: Vec<Share>,
}

/// The share of a worker in a window.
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct Share {
    /// Length of its window.
    pub seconds: f64,
    /// Ticks of the counter in it.
    pub ticks: u64,
    /// Packets that came in and went out.
    pub packets: u64,
}

impl Share {
    /// Millions of packets a second.
    pub fn mpps(&self) -> f64 {
        self.packets as f64 / self.seconds / 1e6
    }

    /// Ticks a packet, the whole path.
    pub fn ticks_per_packet(&self) -> f64 {
        self.ticks as f64 / self.packets.max(1) as f64
    }
}

impl Window {
    /// Millions of packets a second, of all workers together.
    pub fn mpps(&self) -> f64 {
        self.workers.iter().map(Share::mpps).sum()
    }

    /// Ticks of a worker for a packet, the whole path.
    pub fn ticks_per_packet(&self) -> f64 {
        let sum = |of: fn(&Share) -> u64| self.workers.iter().map(of).sum::<u64>();
        sum(|share| share.ticks) as f64 / sum(|share| share.packets).max(1) as f64
    }
}

/// A graph that runs, in this process or in one of its own.
pub trait Target {
    /// Runs for some time of which nothing is kept but the packets' ends and their traces.
    ///
    /// # Errors
    /// A node crashed or hung; this holds for all of them.
    fn warm_up(&mut self, length: Duration) -> experiment::Result;

    /// Runs for a window.
    ///
    /// # Errors
    /// As above.
    fn window(&mut self, length: Duration) -> experiment::Result<Window>;

    /// Runs for one more window in which events are counted; or a line that says why none are.
    ///
    /// # Errors
    /// As above.
    fn count(&mut self, events: Events, length: Duration) -> experiment::Result<Counted>;

    /// The results over all windows.
    ///
    /// # Errors
    /// As above.
    fn end(&mut self) -> experiment::Result<Ending>;
}

/// A graph that is asked for.
pub enum GraphAsked {
    /// One of ours.
    Ours(GraphKind),
    /// The one of a file.
    File(PathBuf),
}

/// The graph and the load that a user asks for.
pub struct Asked {
    /// The graph.
    pub graph: GraphAsked,
    /// Shared objects with nodes, for a graph of a file.
    pub objects: Vec<PathBuf>,
    /// The longest that those nodes may take beyond a window.
    pub patience: Duration,
    /// A capture file whose packets a graph of ours takes.
    pub receive: Option<PathBuf>,
    /// The load; of a graph of a file, but for what the file says of it.
    pub load: Load,
    /// Threads.
    pub workers: usize,
    /// Packets that are traced.
    pub trace: usize,
    /// Windows.
    pub windows: u32,
    /// Length of a window.
    pub window: Duration,
    /// Events that are counted.
    pub events: Option<Events>,
}

/// Facts of a graph that its load does not change.
pub struct GraphAbout {
    /// Name of the graph.
    pub name: String,
    /// The packets, where they are not the generator's.
    pub packets: Option<String>,
    /// True if it has routes.
    pub has_routes: bool,
}

/// A graph that can be loaded.
pub type Started<'a> = (GraphAbout, Box<dyn Target + 'a>);

/// The results of a graph over all of its windows.
#[derive(Serialize, Deserialize)]
pub struct Ending {
    /// The time that rounds took, of all windows and workers: that long at most is a packet in the
    /// graph.
    pub rounds: Percentiles,
    /// Fate of each worker's packets.
    pub balances: Vec<Balance>,
    /// Packets that ended for a reason, and what else nodes counted.
    pub errors: Vec<ErrorCount>,
    /// The traces of the first packets, where any were asked for.
    pub trace: Option<String>,
}

/// Events of nodes, of all workers together.
#[derive(Serialize, Deserialize)]
pub struct EventCounts {
    /// The names of what was counted, by the order in
    /// [`NodeCounters::events`](dataplane::graph::NodeCounters::events).
    pub names: Vec<String>,
    /// The nodes.
    pub nodes: Vec<RuntimeRow>,
}

/// Events of nodes, or a line that says why there are none.
pub type Counted = Result<EventCounts, String>;

/// Rounds of which the first is timed: few enough that the timing does not show.
const ROUNDS: usize = 64;

/// Runs a graph for some time. Rounds' lengths in ticks are put in the histogram. Slices in which
/// something else had the processor count for nothing, if there are others; where packets come
/// whoever takes them, all is one slice.
fn until(graph: &mut Graph, length: Duration, rounds: &mut Histogram<u64>) -> Share {
    let start = Instant::now();
    let mut slices = Slices::default();
    let mut share = Share::default();
    while start.elapsed() < length {
        let (first, slice) = if graph.is_paced() {
            slice(graph, length)
        } else {
            // Nodes' counters, too, are those of slices that count.
            let before = graph.counters();
            slices.take(|| {
                graph.set_counters(&before);
                slice(graph, Duration::ZERO)
            })
        };
        rounds.saturating_record(first);
        share.seconds += slice.seconds;
        share.ticks += slice.ticks;
        share.packets += slice.packets;
    }
    share
}

/// Some rounds, for some time at least, and the ticks of the first.
fn slice(graph: &mut Graph, length: Duration) -> (u64, Share) {
    let (began, from) = (Instant::now(), machine::ticks());
    let mut packets = graph.run_once() as u64;
    let first = machine::ticks() - from;
    packets += (1..ROUNDS).map(|_| graph.run_once() as u64).sum::<u64>();
    while began.elapsed() < length {
        packets += graph.run_once() as u64;
    }
    let share = Share {
        seconds: began.elapsed().as_secs_f64(),
        ticks: machine::ticks() - from,
        packets,
    };
    (first, share)
}

/// Runs graphs at full load for one more window in which events are counted: it is apart from those
/// in which clocks are.
///
/// # Errors
/// Why there are none, a line.
#[cfg(target_os = "linux")]
fn count(graphs: &mut [Graph], events: Events, length: Duration) -> Counted {
    graphs.iter_mut().for_each(Graph::clear_runtime);
    let names = std::thread::scope(|scope| {
        let started = graphs
            .iter_mut()
            .enumerate()
            .map(|(number, graph)| {
                scope.spawn(move || {
                    pin(number);
                    // It counts what this thread does.
                    let counters = Counters::start(events)?;
                    let (names, trouble) = (counters.names.clone(), counters.trouble.clone());
                    graph.set_probe(Some(Box::new(counters)));
                    until(graph, length, &mut histogram());
                    graph.set_probe(None);
                    trouble.get().map_or(Ok(names), |why| Err(why.clone()))
                })
            })
            .collect_vec();
        started
            .into_iter()
            .map(|thread| thread.join().expect("a worker that does not panic"))
            .collect::<Result<Vec<_>, String>>()
    });
    let names = names.map_err(|why| {
        let events = events.name();
        format!("No {events} events per packet: this machine counts none ({why}).")
    })?;
    Ok(EventCounts {
        names: names.into_iter().next().unwrap_or_default(),
        nodes: Report::sum(graphs).runtime,
    })
}

/// As on Linux, where it can be done.
///
/// # Errors
/// There are none.
#[cfg(not(target_os = "linux"))]
fn count(_: &mut [Graph], _: Events, _: Duration) -> Counted {
    Err("No events per packet: they are counted on Linux alone.".to_owned())
}

/// A histogram of up to a minute, with three digits of each value.
fn histogram() -> Histogram<u64> {
    Histogram::new_with_max(60 * machine::counter_hz(), 3)
        .expect("bounds and digits that the library takes")
}

/// Runs all graphs at the same time, each on a thread of its own where there are several, kept on
/// the processor of its number if that can be.
fn together(graphs: &mut [Graph], length: Duration, rounds: &mut [Histogram<u64>]) -> Vec<Share> {
    if let ([graph], [rounds]) = (&mut *graphs, &mut *rounds) {
        return vec![until(graph, length, rounds)];
    }
    std::thread::scope(|scope| {
        graphs
            .iter_mut()
            .zip(rounds)
            .enumerate()
            .map(|(number, (graph, rounds))| {
                scope.spawn(move || {
                    pin(number);
                    until(graph, length, rounds)
                })
            })
            // All run before the first is waited for.
            .collect_vec()
            .into_iter()
            .map(|thread| thread.join().expect("a worker that does not panic"))
            .collect()
    })
}

/// The system chooses the CPU of a thread where it cannot be pinned.
fn pin(_cpu: usize) {
    #[cfg(target_os = "linux")]
    let _ = machine::pin(_cpu);
}

/// Graphs that run at full load, a window after the other, in this process.
pub struct Running {
    /// One graph for each worker.
    pub graphs: Vec<Graph>,
    rounds: Vec<Histogram<u64>>,
    /// True if the ending has the traces of the first worker's packets, as `show trace` prints them.
    traced: bool,
}

impl Running {
    /// Graphs that have not run yet.
    pub fn new(graphs: Vec<Graph>, traced: bool) -> Self {
        let rounds = graphs.iter().map(|_| histogram()).collect();
        Self {
            graphs,
            rounds,
            traced,
        }
    }
}

impl Target for Running {
    fn warm_up(&mut self, length: Duration) -> experiment::Result {
        together(&mut self.graphs, length, &mut self.rounds);
        self.rounds.iter_mut().for_each(Histogram::reset);
        Ok(())
    }

    fn window(&mut self, length: Duration) -> experiment::Result<Window> {
        self.graphs.iter_mut().for_each(Graph::clear_runtime);
        let workers = together(&mut self.graphs, length, &mut self.rounds);
        let sum = Report::sum(&self.graphs);
        let seconds = workers
            .iter()
            .map(|share| share.seconds)
            .fold(0.0, f64::max);
        Ok(Window {
            seconds,
            loops: sum.loops,
            nodes: sum.runtime,
            workers,
        })
    }

    fn count(&mut self, events: Events, length: Duration) -> experiment::Result<Counted> {
        Ok(count(&mut self.graphs, events, length))
    }

    fn end(&mut self) -> experiment::Result<Ending> {
        let mut rounds = histogram();
        for of_worker in &self.rounds {
            rounds
                .add(of_worker)
                .expect("histograms of the same bounds");
        }
        let errors = Report::sum(&self.graphs).errors.into_iter();
        let traced = self.traced.then(|| self.graphs[0].tracer.traces());
        Ok(Ending {
            rounds: Percentiles::new(&rounds, 1e6 / machine::counter_hz() as f64),
            balances: self.graphs.iter().map(Graph::balance).collect(),
            errors: errors
                .filter(|row| row.count > 0)
                .map(ErrorCount::from)
                .collect(),
            trace: traced.map(|traces| show::trace(traces, TRACES_SHOWN)),
        })
    }
}

/// Most packets whose traces a recording has.
const TRACES_SHOWN: usize = 50;

/// Packets of a node that were dropped or handed to the host for a reason, or something else that
/// it counted.
#[derive(Serialize, Deserialize)]
pub struct ErrorCount {
    /// The node's name.
    pub node: String,
    /// The reason, or what is counted.
    pub reason: String,
    /// The weight of the reason.
    pub severity: String,
    /// The count.
    pub count: u64,
}

impl From<ErrorRow> for ErrorCount {
    fn from(row: ErrorRow) -> Self {
        let Reason { text, severity } = row.reason;
        Self {
            node: row.node,
            reason: text.to_owned(),
            severity: severity.name().to_owned(),
            count: row.count,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With three outputs and many flows the packets of each frame part; none is lost or counted
    /// twice, and each route's go where it leads.
    #[test]
    fn routes_lead_to_the_outputs_in_turn() {
        let load = Load {
            buffers: 2048,
            routes: 300,
            outputs: 3,
            flows: 3000,
            ..Load::new(GraphKind::Ip4Route)
        };
        let mut graph = graphs(load, 1).remove(0);
        for _ in 0..300 {
            graph.run_once();
        }
        let balance = graph.balance();
        assert!(balance.holds(), "{balance:?}");
        let report = graph.report();
        let vectors = |name: &str| {
            let row = report.runtime.iter().find(|row| row.name == name);
            row.map_or(0, |row| row.counters.vectors)
        };
        let sent = [1, 2, 3].map(|number| vectors(&format!("pg{number}-output")));
        assert_eq!(sent.iter().sum::<u64>(), vectors("ip4-rewrite"));
        let routed: Vec<u32> = (0..3000)
            .map(|flow| (u32::from(destination(flow, 300)) - network(0)) >> 8)
            .collect();
        let expected =
            [0, 1, 2].map(|output| routed.iter().filter(|route| *route % 3 == output).count());
        for (sent, expected) in sent.into_iter().zip(expected) {
            let share = vectors("ip4-rewrite") as f64 * expected as f64 / 3000.0;
            assert!(
                (sent as f64 / share - 1.0).abs() < 0.02,
                "{sent} of {share}"
            );
        }
    }
}
