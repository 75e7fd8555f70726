//! The graph: nodes, the frames that wait for them, and what it counts.
//!
//! ```text
//!   input ──► ethernet-input ─┬─► l2-input ─► l2-output ──────────┬─► A-output ─► A-tx
//!                             ├─► ip4-input ─► ip4-lookup ─► ip4-rewrite ─► B-output ─► B-tx
//!                             └─► (every node) drop, punt
//! ```
//! Arcs lead forward: one pass over the nodes empties the graph of what came in, and a second one
//! follows only where an arc leads back. A frame whose packets all take the same arc is
//! handed on as it is; only where they part are columns copied.

use crate::frame::{FRAME_MAX, Frame, Rows};
use crate::machine;
use crate::plane::Plane;
use crate::trace::Tracer;

pub use crate::arcs::{ARCS_MAX, DROP, FIRST_ARC, PUNT, Verdict};
pub use crate::node::{Input, Node, Reason, Severity};

/// The counters of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct NodeCounters {
    /// Calls with packets.
    pub calls: u64,
    /// Packets.
    pub vectors: u64,
    /// Ticks in calls with packets.
    pub ticks: u64,
    /// Polls that found nothing.
    pub empty_polls: u64,
    /// Ticks in them.
    pub empty_ticks: u64,
    /// Most packets of a call.
    pub largest: u64,
    /// Events in calls with packets, by the order of a [`Probe`]'s; zeros without one.
    pub events: [u64; EVENTS],
}

/// Most kinds of events that a probe counts.
pub const EVENTS: usize = 4;

/// Reads counters of events between two nodes' calls, such as those of the processor. It costs far
/// more than a node, so the clocks of a graph that has one mean nothing.
pub trait Probe: Send {
    /// The number of times that each event has happened so far.
    fn read(&mut self) -> [u64; EVENTS];
}

struct Slot {
    node: Box<dyn Node>,
    arcs: Vec<usize>,
    waiting: Vec<Box<Frame>>,
    counters: NodeCounters,
    errors: Vec<u64>,
}

struct InputSlot {
    input: Box<dyn Input>,
    arc: usize,
    counters: NodeCounters,
}

/// Number of a node.
#[derive(Clone, Copy)]
pub struct NodeId(usize);

/// The reason for which a node is called.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum NodeState {
    /// An input: it is asked for packets in every round.
    Polling,
    /// Any other node: it is called when it has packets.
    Active,
}

impl NodeState {
    /// As `show runtime` has it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Polling => "polling",
            Self::Active => "active",
        }
    }
}

/// A node's line in `show runtime`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct RuntimeRow {
    /// The node's name.
    pub name: String,
    /// The reason for which it is called.
    pub state: NodeState,
    /// The node's counters.
    pub counters: NodeCounters,
}

/// A line in `show errors`.
pub struct ErrorRow {
    /// Packets.
    pub count: u64,
    /// The node's name.
    pub node: String,
    /// Why.
    pub reason: Reason,
}

/// The counters of a graph.
#[derive(Default)]
pub struct Report {
    /// [`Graph::runtime`].
    pub runtime: Vec<RuntimeRow>,
    /// [`Graph::errors`].
    pub errors: Vec<ErrorRow>,
    /// Rounds since the counters were cleared.
    pub loops: u64,
}

impl Report {
    /// The sum of several workers' counters, by the names of nodes. An input that is named after a
    /// queue of one worker stays a row of its own.
    pub fn sum(graphs: &[Graph]) -> Self {
        let mut reports = graphs.iter().map(Graph::report);
        let mut sum = reports.next().unwrap_or_default();
        for other in reports {
            add_rows(
                &mut sum.runtime,
                other.runtime,
                |one, other| one.name == other.name,
                |row, other| row.counters.add(other.counters),
            );
            add_rows(
                &mut sum.errors,
                other.errors,
                |one, other| (&one.node, one.reason) == (&other.node, other.reason),
                |row, other| row.count += other.count,
            );
            sum.loops += other.loops;
        }
        sum
    }
}

/// Adds rows to those that are the same, and puts others behind the row before them.
fn add_rows<R>(
    sum: &mut Vec<R>,
    others: Vec<R>,
    same: impl Fn(&R, &R) -> bool,
    add: impl Fn(&mut R, &R),
) {
    let mut behind = 0;
    for other in others {
        match sum.iter().position(|row| same(row, &other)) {
            Some(at) => {
                add(&mut sum[at], &other);
                behind = at + 1;
            }
            None => {
                sum.insert(behind, other);
                behind += 1;
            }
        }
    }
}

/// Nodes, inputs, and what they share.
pub struct Graph {
    /// The plane that the nodes share.
    pub plane: Plane,
    /// The packets that are traced.
    pub tracer: Tracer,
    slots: Vec<Slot>,
    inputs: Vec<InputSlot>,
    spare: Vec<Box<Frame>>,
    loops: u64,
    /// A frame waits at a node that this pass has been at already.
    again: bool,
    /// The probe that counts events, and its last counts.
    probe: Option<(Box<dyn Probe>, [u64; EVENTS])>,
}

impl Graph {
    /// A graph without nodes.
    pub fn new(plane: Plane) -> Self {
        Self {
            again: false,
            probe: None,
            plane,
            tracer: Tracer::default(),
            slots: Vec::new(),
            inputs: Vec::new(),
            spare: Vec::new(),
            loops: 0,
        }
    }

    /// Adds a node with its arcs, in the order of their numbers. Nodes are added from the end: an
    /// arc leads to one that is there, or is added later with [`Graph::add_arc`].
    ///
    /// # Panics
    /// With more than [`ARCS_MAX`] arcs.
    pub fn add(&mut self, node: Box<dyn Node>, arcs: &[NodeId]) -> NodeId {
        self.slots.push(Slot {
            errors: vec![0; node.reasons().len()],
            node,
            arcs: Vec::new(),
            waiting: Vec::new(),
            counters: NodeCounters::default(),
        });
        let added = NodeId(self.slots.len() - 1);
        for &arc in arcs {
            self.add_arc(added, arc);
        }
        added
    }

    /// Adds one more arc to a node, which may lead to a node that was added after it.
    ///
    /// # Panics
    /// With more than [`ARCS_MAX`] arcs.
    pub fn add_arc(&mut self, node: NodeId, to: NodeId) {
        let arcs = &mut self.slots[node.0].arcs;
        assert!(arcs.len() < ARCS_MAX, "a node has at most {ARCS_MAX} arcs");
        arcs.push(to.0);
    }

    /// Adds an input whose packets go to a node.
    pub fn add_input(&mut self, input: Box<dyn Input>, arc: NodeId) {
        self.inputs.push(InputSlot {
            input,
            arc: arc.0,
            counters: NodeCounters::default(),
        });
    }

    /// Counts events with a probe, or no more. It is read on the thread that calls this.
    pub fn set_probe(&mut self, probe: Option<Box<dyn Probe>>) {
        self.probe = probe.map(|probe| (probe, [0; EVENTS]));
    }

    /// Events since the last call.
    #[cold]
    fn probed(&mut self) -> [u64; EVENTS] {
        let Some((probe, last)) = &mut self.probe else {
            return [0; EVENTS];
        };
        let now = probe.read();
        let passed = std::array::from_fn(|event| now[event].saturating_sub(last[event]));
        // The reading itself is nobody's.
        *last = probe.read();
        passed
    }

    /// One round: every input is polled, and every frame walks through the graph. Returns the
    /// packets that came in.
    pub fn run_once(&mut self) -> usize {
        let mut received = 0;
        if self.probe.is_some() {
            self.probed();
        }
        let mut then = machine::ticks();
        for index in 0..self.inputs.len() {
            let slot = &mut self.inputs[index];
            let mut frame = fresh(&mut self.spare, slot.input.interface());
            slot.input.poll(&mut self.plane, &mut frame);
            let now = machine::ticks();
            if frame.len == 0 {
                slot.counters.empty_polls += 1;
                slot.counters.empty_ticks += now - then;
                self.spare.push(frame);
                then = now;
                continue;
            }
            slot.counters.count(frame.len, now - then);
            received += frame.len;
            if self.probe.is_some() {
                let events = self.probed();
                self.inputs[index].counters.happened(events);
            }
            let slot = &self.inputs[index];
            if self.tracer.wants(slot.input.name()) {
                self.tracer
                    .begin(slot.input.name(), &self.plane, &mut frame);
            }
            then = now;
            let arc = slot.arc;
            self.slots[arc].waiting.push(frame);
        }
        if received > 0 {
            self.pass(then);
        }
        self.loops += 1;
        received
    }

    /// Every frame that waits walks through the graph.
    fn pass(&mut self, mut then: u64) {
        loop {
            self.again = false;
            for index in (0..self.slots.len()).rev() {
                while let Some(frame) = self.slots[index].waiting.pop() {
                    then = self.call(index, frame, then);
                }
            }
            if !self.again {
                break;
            }
        }
    }

    #[inline(always)]
    fn call(&mut self, index: usize, mut frame: Box<Frame>, then: u64) -> u64 {
        let slot = &mut self.slots[index];
        // A node that consumes its packets lets go of the buffers, so it is traced before.
        let ends = frame.traced && slot.arcs.is_empty();
        if ends {
            self.tracer
                .note(slot.node.as_ref(), &self.plane, &frame, None);
        }
        let verdict = slot.node.run(&mut self.plane, &mut frame);
        if frame.traced && !ends {
            self.tracer
                .note(slot.node.as_ref(), &self.plane, &frame, Some(verdict));
        }
        let len = frame.len;
        match verdict {
            Verdict::All(arc) if arc > PUNT => {
                let to = slot.arcs[arc as usize];
                self.again |= to >= index;
                self.slots[to].waiting.push(frame);
            }
            Verdict::Consumed => self.spare.push(frame),
            Verdict::All(arc) => {
                frame.next[..len].fill(arc);
                self.split_frame(index, frame);
            }
            Verdict::Mixed => self.split_frame(index, frame),
        }
        let now = machine::ticks();
        self.slots[index].counters.count(len, now - then);
        if self.probe.is_some() {
            let events = self.probed();
            self.slots[index].counters.happened(events);
        }
        now
    }

    /// Packets of a frame go different ways, or some are dropped: each is copied to the end of a
    /// frame that waits where its arc leads.
    fn split_frame(&mut self, index: usize, frame: Box<Frame>) {
        let mut left = Rows::all(&frame);
        while let Some(row) = left.first() {
            let arc = frame.next[row];
            let rows = left.take_arc(&frame, arc);
            let to = self.follow(index, arc, rows.iter().map(|row| frame.reason[row]));
            self.open(to, frame.rx, rows.len()).take(&frame, &rows);
        }
        self.spare.push(frame);
    }

    /// The node that an arc leads to; the packets' reasons are counted if the arc has them.
    fn follow(&mut self, index: usize, arc: u8, reasons: impl IntoIterator<Item = u8>) -> usize {
        let slot = &mut self.slots[index];
        if arc <= PUNT {
            for reason in reasons {
                if let Some(count) = slot.errors.get_mut(reason as usize) {
                    *count += 1;
                }
            }
        }
        let to = slot.arcs[arc as usize];
        self.again |= to >= index;
        to
    }

    /// A frame that waits at a node, with room for a number of packets of an interface.
    fn open(&mut self, node: usize, rx: u16, count: usize) -> &mut Frame {
        let waiting = &mut self.slots[node].waiting;
        let has_room = waiting
            .last()
            .is_some_and(|last| last.rx == rx && last.len + count <= FRAME_MAX);
        if !has_room {
            waiting.push(fresh(&mut self.spare, rx));
        }
        waiting.last_mut().expect("there is one by now")
    }

    /// True if packets of an input come whoever takes them.
    pub fn is_paced(&self) -> bool {
        self.inputs.iter().any(|slot| slot.input.is_paced())
    }

    /// The counters of nodes, inputs first, then in the order of the packets' way.
    pub fn runtime(&self) -> Vec<RuntimeRow> {
        let inputs = self.inputs.iter().map(|slot| RuntimeRow {
            name: slot.input.name().to_owned(),
            state: NodeState::Polling,
            counters: slot.counters,
        });
        let nodes = self.slots.iter().rev().map(|slot| RuntimeRow {
            name: slot.node.name().to_owned(),
            state: NodeState::Active,
            counters: slot.counters,
        });
        inputs.chain(nodes).collect()
    }

    /// The packets that were dropped or punted, by reason, and what else nodes count; counts of
    /// zero too.
    pub fn errors(&self) -> Vec<ErrorRow> {
        self.slots
            .iter()
            .rev()
            .flat_map(|slot| {
                let node = slot.node.name();
                slot.node
                    .reasons()
                    .iter()
                    .copied()
                    .zip(slot.errors.iter().copied())
                    .chain(slot.node.counts())
                    .map(|(reason, count)| ErrorRow {
                        count,
                        node: node.to_owned(),
                        reason,
                    })
            })
            .collect()
    }

    /// The counters that recordings have of this graph.
    pub fn report(&self) -> Report {
        Report {
            runtime: self.runtime(),
            errors: self.errors(),
            loops: self.loops,
        }
    }

    /// Rounds and all nodes' counters, for [`Self::set_counters`].
    pub fn counters(&self) -> (u64, Vec<NodeCounters>) {
        let inputs = self.inputs.iter().map(|slot| slot.counters);
        (
            self.loops,
            inputs
                .chain(self.slots.iter().map(|slot| slot.counters))
                .collect(),
        )
    }

    /// Makes rounds and nodes' counters what they were: what ran since counts for nothing.
    pub fn set_counters(&mut self, (loops, counters): &(u64, Vec<NodeCounters>)) {
        self.inputs
            .iter_mut()
            .map(|slot| &mut slot.counters)
            .chain(self.slots.iter_mut().map(|slot| &mut slot.counters))
            .zip(counters)
            .for_each(|(counters, kept)| *counters = *kept);
        self.loops = *loops;
    }

    /// Sets the nodes' counters to zero, as `clear runtime` does. Errors and interface counters
    /// stay.
    pub fn clear_runtime(&mut self) {
        let nodes = self.inputs.len() + self.slots.len();
        self.set_counters(&(0, vec![NodeCounters::default(); nodes]));
    }

    /// Packets that came in, went out, were dropped, were punted, and that a device refused, over
    /// all interfaces.
    pub fn balance(&self) -> Balance {
        let mut balance = Balance::default();
        for interface in &self.plane.interfaces {
            balance.received += interface.rx.packets;
            balance.sent += interface.tx.packets;
            balance.dropped += interface.drops;
            balance.punted += interface.punts;
            balance.refused += interface.tx_errors;
        }
        balance
    }
}

/// An empty frame for packets of an interface.
fn fresh(spare: &mut Vec<Box<Frame>>, rx: u16) -> Box<Frame> {
    let mut frame = spare.pop().unwrap_or_default();
    (frame.len, frame.traced, frame.rx) = (0, false, rx);
    frame
}

/// The ends that packets came to.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Balance {
    /// Came in.
    pub received: u64,
    /// Went out.
    pub sent: u64,
    /// Dropped by a node.
    pub dropped: u64,
    /// Handed to the host.
    pub punted: u64,
    /// Refused by a device.
    pub refused: u64,
}

impl Balance {
    /// True if every packet that came in is accounted for.
    pub fn holds(&self) -> bool {
        self.received == self.sent + self.dropped + self.punted + self.refused
    }
}

impl NodeCounters {
    fn add(&mut self, other: Self) {
        self.calls += other.calls;
        self.vectors += other.vectors;
        self.ticks += other.ticks;
        self.empty_polls += other.empty_polls;
        self.empty_ticks += other.empty_ticks;
        self.largest = self.largest.max(other.largest);
        self.happened(other.events);
    }

    fn happened(&mut self, events: [u64; EVENTS]) {
        for (sum, events) in self.events.iter_mut().zip(events) {
            *sum += events;
        }
    }

    #[inline(always)]
    fn count(&mut self, packets: usize, ticks: u64) {
        self.calls += 1;
        self.vectors += packets as u64;
        self.ticks += ticks;
        self.largest = self.largest.max(packets as u64);
    }

    /// Ticks a packet.
    pub fn ticks_per_packet(&self) -> f64 {
        if self.vectors == 0 {
            0.0
        } else {
            self.ticks as f64 / self.vectors as f64
        }
    }
}
