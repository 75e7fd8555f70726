//! A node of a shared object in our graph.
#![expect(unsafe_code, reason = "a shared object is called by its C interface")]

use super::counters::Counters;
use super::objects::ObjectNode;
use dataplane::buffers::{LINE, Slot};
use dataplane::frame::{FRAME_MAX, Frame};
use dataplane::graph::{DROP, Input, Node, Reason, Severity, Verdict};
use dataplane::handed::{given, hand_out, take_back};
use dataplane::plane::Plane;
use dataplane::trace::ethernet_line;
use itertools::Itertools;
use std::collections::HashSet;
use std::ffi::{CStr, CString, c_void};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use stopwatt_loop::{DATA_BYTES, NodeTable, Packet};
use worker_process::place::Place;

/// A breach of the interface by a node, in words, and advice.
pub type Fault = (String, &'static str);

/// State that all nodes of a graph share with the process that runs them.
#[derive(Clone, Default)]
pub struct Shared {
    /// The first fault.
    pub fault: Arc<Mutex<Option<Fault>>>,
    /// True as long as each node's writes are looked at, which takes far longer than the node.
    pub is_looking: Arc<AtomicBool>,
}

impl Shared {
    /// The first fault, which is forgotten then.
    pub fn take(&self) -> Option<Fault> {
        self.fault
            .lock()
            .expect("nothing panics with the lock")
            .take()
    }
}

/// The numbers of texts that say which function of the node runs.
#[derive(Clone, Copy)]
pub struct Texts {
    /// `set_up`.
    pub set_up: u32,
    /// `run`.
    pub run: u32,
    /// `trace`.
    pub trace: u32,
    /// `tear_down`.
    pub tear_down: u32,
}

/// A node of a shared object.
pub struct Foreign {
    name: String,
    object: String,
    table: NodeTable,
    state: *mut c_void,
    arcs: &'static [&'static str],
    /// The node's own, and one for packets that it sends nowhere.
    reasons: &'static [Reason],
    counters: Vec<Reason>,
    counts: Counters,
    /// The packets of the last frame.
    packets: Vec<Packet>,
    private_at: usize,
    private_bytes: usize,
    place: Place,
    texts: Texts,
    shared: Shared,
    /// Packets whose data the node moved within their buffers.
    moved: u64,
}

// SAFETY: a node's functions are called by one thread at a time with the same state, and the
// interface asks no more of a thread. Packets are pointers only while `run` is called.
unsafe impl Send for Foreign {}

/// Bytes of a text that a node writes.
const TEXT_BYTES: usize = 1024;

/// The counter of packets whose data a node moved.
const MOVED: Reason = Reason {
    text: "its data moved: copied to the start of the buffer",
    severity: Severity::Counter,
};

/// The advice for a node that moves a packet's `data` in a way that is not allowed.
const ADVANCE: &str = "advance `data` within the packet, and take as much off its `length`; it comes to the next node so";

/// The reason of packets that a node sends nowhere.
const NOWHERE: Reason = Reason::error("sent to no arc and for no reason of the node");

impl Foreign {
    /// Sets a node up.
    ///
    /// # Errors
    /// The node cannot be set up; the error has the reason that the node gives.
    pub fn new(
        node: &ObjectNode,
        name: &str,
        options: &str,
        private_at: usize,
        (place, texts): (Place, Texts),
        shared: Shared,
    ) -> Result<Self, String> {
        let options =
            CString::new(options).map_err(|_| "its options have a zero byte".to_owned())?;
        let mut state = std::ptr::null_mut();
        if let Some(set_up) = node.table.set_up {
            let mut why = [0; TEXT_BYTES];
            place.enter(texts.set_up);
            // SAFETY: options end, and there is that room.
            state = unsafe { set_up(options.as_ptr(), why.as_mut_ptr().cast(), why.len() as u64) };
            place.leave();
            if state.is_null() {
                return Err(said(&why).unwrap_or_else(|| "it does not say why".to_owned()));
            }
        }
        Ok(Self {
            name: name.to_owned(),
            object: node.about.object.clone(),
            table: node.table,
            state,
            arcs: node.arcs,
            reasons: [node.reasons, &[NOWHERE]].concat().leak(),
            counters: node.counters.clone(),
            counts: Counters::new(node.counters.len())?,
            packets: Vec::with_capacity(FRAME_MAX + 1),
            private_at,
            private_bytes: node.about.private_bytes,
            place,
            texts,
            shared,
            moved: 0,
        })
    }

    /// Tells the first thing that a node does wrong, with what would be right.
    #[cold]
    fn tell(&self, did: &str, help: &'static str) {
        let mut fault = self
            .shared
            .fault
            .lock()
            .expect("nothing panics with the lock");
        fault.get_or_insert_with(|| {
            (
                format!("the node `{}` of {} {did}", self.name, self.object),
                help,
            )
        });
    }

    /// Puts packets back one by one. Data that was moved within a buffer is copied to its start, as
    /// the other nodes look for it; packets that a node sends nowhere are dropped, and the first is
    /// told.
    #[cold]
    fn put_back(&mut self, plane: &mut Plane, frame: &mut Frame) {
        let (arcs, reasons) = (self.arcs.len(), self.reasons.len() - 1);
        for row in 0..frame.len {
            let packet = self.packets[row];
            let length = usize::from(packet.length);
            let data = plane.pool.data_mut(frame.buffer[row]);
            let ahead = packet.places().0.addr().wrapping_sub(data.as_ptr().addr());
            let most = if ahead == 0 {
                DATA_BYTES
            } else {
                frame.length[row].into()
            };
            let is_inside = ahead <= most && ahead + length <= most;
            let given = given(&packet, arcs, reasons).filter(|_| is_inside);
            (frame.next[row], frame.reason[row]) = given.unwrap_or((DROP, reasons as u8));
            frame.length[row] = packet.length.min(DATA_BYTES as u16);
            if given.is_some() && ahead > 0 {
                data.copy_within(ahead..ahead + length, 0);
                // SAFETY: it is the packet's own buffer, and its private data stays where it is.
                let mut copied = unsafe {
                    let private = packet.places().1;
                    Packet::new(data.as_mut_ptr(), private, packet.length, packet.interface)
                };
                copied.next = packet.next;
                self.packets[row] = copied;
                self.moved += 1;
            }
            let (did, help) = if given.is_some() {
                continue;
            } else if length > DATA_BYTES {
                let most = DATA_BYTES;
                (
                    format!("gave a packet a length of {length} bytes, where {most} is the most"),
                    "leave `length` at the bytes of the packet, up to STOPWATT_DATA_BYTES",
                )
            } else if !is_inside {
                (
                    "moved a packet's `data`, so that it ends behind the packet".to_owned(),
                    ADVANCE,
                )
            } else {
                (
                    format!(
                        "gave a packet `next` 0x{:x}, and it has {arcs} arcs and {reasons} reasons",
                        packet.next
                    ),
                    "set `next` to an arc's number, STOPWATT_DROP(reason) or STOPWATT_PUNT(reason)",
                )
            };
            self.tell(&did, help);
        }
    }

    /// Looks at what a run on some rows wrote: its packets' data and its private data alone may
    /// differ from what there was before.
    #[cold]
    fn look(&self, plane: &mut Plane, frame: &Frame, rows: Range<usize>, before: &Before) {
        let buffers = &frame.buffers()[rows.clone()];
        let own: HashSet<_> = buffers.iter().map(|buffer| *buffer as usize).collect();
        let private = self.private_at..self.private_at + self.private_bytes;
        let is_changed = |(number, (was, now)): (usize, (&Slot, &Slot))| {
            let is_own = own.contains(&number);
            let mut header = (0..LINE).filter(|at| !(is_own && private.contains(at)));
            header.any(|at| was.header[at] != now.header[at]) || !is_own && was.data != now.data
        };
        let mut slots = before.slots.iter().zip(&*plane.pool.slots()).enumerate();
        if slots.any(is_changed) {
            self.tell(
                "wrote outside of a packet's buffer",
                "a packet's data has STOPWATT_DATA_BYTES bytes, and no node but its own writes to private data",
            );
        }
        for (packet, buffer) in self.packets[rows.clone()].iter().zip(buffers) {
            let slot = plane.pool.header(*buffer).as_ptr().addr();
            let private = packet.places().1.addr();
            if packet.interface != u32::from(frame.rx) {
                let help = "`interface` says where the packet came in; `next` says where it goes";
                self.tell("changed a packet's `interface`", help);
            } else if self.private_bytes > 0 && private != slot + self.private_at
                || self.private_bytes == 0 && private != 0
            {
                let help = "write to where `private_data` points";
                self.tell("changed a packet's `private_data`", help);
            }
        }
        if self.packets[rows.end] != before.behind {
            self.tell("wrote behind its last packet", "`packets` has `n` of them");
        }
    }
}

/// The packets as they were before a node ran: its writes are found by comparing with them.
struct Before {
    slots: Vec<Slot>,
    /// The packet behind its last one.
    behind: Packet,
}

impl Drop for Foreign {
    fn drop(&mut self) {
        if let Some(tear_down) = self.table.tear_down {
            self.place.enter(self.texts.tear_down);
            // SAFETY: the state is from this node's `set_up`, and is not used again.
            unsafe { tear_down(self.state) };
            self.place.leave();
        }
    }
}

/// A text that a node wrote, up to its zero.
fn said(room: &[u8]) -> Option<String> {
    let text = CStr::from_bytes_until_nul(room)
        .ok()?
        .to_string_lossy()
        .into_owned();
    Some(text).filter(|text| !text.is_empty())
}

impl Node for Foreign {
    fn name(&self) -> &str {
        &self.name
    }

    fn reasons(&self) -> &'static [Reason] {
        self.reasons
    }

    fn counts(&self) -> Vec<(Reason, u64)> {
        let counters = self.counters.len();
        if let Some(number) = self.counts.astray() {
            self.tell(
                &format!("counted in counter {number}, and it has {counters}"),
                "counters are numbered from 0, in the order of the node's table",
            );
        }
        self.counters
            .iter()
            .copied()
            .zip(self.counts.own())
            .map(|(reason, now)| (reason, *now))
            .chain((self.moved > 0).then_some((MOVED, self.moved)))
            .collect()
    }

    fn run(&mut self, plane: &mut Plane, frame: &mut Frame) -> Verdict {
        let Some(run) = self.table.run else {
            return Verdict::All(DROP);
        };
        let private_at = (self.private_bytes > 0).then_some(self.private_at);
        // SAFETY: the packets are used until they are back in their frame, and again for traces
        // before the frame goes on; the file's check saw to it that private data fits the line.
        let start = unsafe { hand_out(&mut plane.pool, frame, private_at, &mut self.packets) };
        let is_looking = self.shared.is_looking.load(Relaxed);
        // A write to another packet's buffer shows where that packet is not there.
        let first = usize::from(is_looking);
        for rows in [0..first, first..frame.len] {
            let before = is_looking.then(|| Before {
                slots: plane.pool.slots().to_vec(),
                behind: self.packets[rows.end],
            });
            if rows.is_empty() {
                continue;
            }
            self.place.enter(self.texts.run);
            // SAFETY: the state is from this node's `set_up`, and there are as many packets and
            // counters as it was told.
            unsafe {
                run(
                    self.state,
                    self.packets[rows.clone()].as_mut_ptr(),
                    rows.len() as u64,
                    self.counts.first(),
                )
            };
            self.place.leave();
            if let Some(before) = before {
                self.look(plane, frame, rows, &before);
            }
        }
        take_back(
            &self.packets[..frame.len],
            frame,
            start,
            self.arcs.len(),
            self.reasons.len() - 1,
        )
        .unwrap_or_else(|| {
            self.put_back(plane, frame);
            Verdict::Mixed
        })
    }

    fn trace(&self, plane: &Plane, frame: &Frame, row: usize) -> Vec<String> {
        let lines = |text: &str| text.lines().map(str::to_owned).collect_vec();
        // The frame is the one that the node ran on last.
        match (self.table.trace, self.packets.get(row)) {
            (Some(trace), Some(packet)) => {
                let mut text = [0; TEXT_BYTES];
                self.place.enter(self.texts.trace);
                // SAFETY: the state is from this node's `set_up`, the packet's memory is there and
                // only read, and there is that room.
                unsafe {
                    trace(
                        self.state,
                        packet,
                        text.as_mut_ptr().cast(),
                        text.len() as u64,
                    )
                };
                self.place.leave();
                lines(&said(&text).unwrap_or_default())
            }
            _ => {
                let buffer = frame.buffer[row];
                let mut shown = vec![ethernet_line(plane.pool.data(buffer))];
                if self.private_bytes > 0 {
                    let own = &plane.pool.header(buffer)[self.private_at..][..self.private_bytes];
                    let bytes = own.iter().map(|byte| format!("{byte:02x}")).collect_vec();
                    shown.push(format!("private data {}", bytes.join(" ")));
                }
                shown
            }
        }
    }
}

/// An input whose packets come with private data that is zero; it lies in the last bytes of a line.
pub struct ClearedInput(pub Box<dyn Input>, pub usize);

impl Input for ClearedInput {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn interface(&self) -> u16 {
        self.0.interface()
    }

    fn poll(&mut self, plane: &mut Plane, frame: &mut Frame) {
        self.0.poll(plane, frame);
        let slots = plane.pool.slots();
        for &buffer in frame.buffers() {
            slots[buffer as usize].header[LINE - self.1..].fill(0);
        }
    }

    fn is_paced(&self) -> bool {
        self.0.is_paced()
    }
}
