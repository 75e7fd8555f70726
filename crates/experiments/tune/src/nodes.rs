//! Loops of the data plane, behind the same interface as those of others.

use crate::protocol::{KnobAbout, KnobKind, LoopAbout};
use dataplane::buffers::{Buffer, Pool, Reuse};
use dataplane::frame::{FRAME_MAX, Frame};
use dataplane::inputs::PACKET_BYTES;
use dataplane::memory::{InBuffer, InFrame, Meta, write_header_line};
use dataplane::study::{StudyBody, Work};
use dataplane::walk::{Shape, Strides, walk};
use std::ffi::c_void;
use std::hint::black_box;

/// A loop over a frame's packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Node {
    /// The loop of `ethernet-input`, with what it keeps of a packet in the frame: one line.
    Ethernet,
    /// The loop of the stride study: metadata in a line in front of the data, and 48 rounds of
    /// work.
    Study,
}

impl Node {
    /// For settings: each loop's name with what it is.
    pub const CHOICES: &[(&str, Self, &str)] = &[
        (
            "ethernet-input",
            Self::Ethernet,
            "classifies packets; one line per packet",
        ),
        (
            "study",
            Self::Study,
            "the stride study's loop: a line of metadata, one of data, and 48 rounds of work",
        ),
    ];

    /// The loop of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::CHOICES
            .iter()
            .find(|(known, ..)| *known == name)
            .map(|(_, node, _)| *node)
    }

    /// Name of the node.
    pub fn name(self) -> &'static str {
        Self::CHOICES
            .iter()
            .find(|(_, node, _)| *node == self)
            .map_or("", |(name, ..)| name)
    }

    /// Description of the node.
    pub fn about(self) -> LoopAbout {
        let distance = KnobAbout::distance;
        let columns = KnobAbout {
            kind: KnobKind::Choice,
            least: 1,
            most: 4,
            today: 4,
            ..distance("columns")
        };
        let (knobs, lines) = match self {
            Self::Ethernet => (vec![distance("data"), columns], 1),
            Self::Study => (vec![distance("header"), distance("data"), columns], 2),
        };
        LoopAbout {
            name: self.name().to_owned(),
            knobs,
            record_bytes: lines * 64,
            most_records: Some(MOST_BUFFERS),
        }
    }
}

/// Most buffers that a node's packets lie in: a quarter of a gigabyte.
const MOST_BUFFERS: u64 = 131_072;

/// A node with its packets.
pub struct NodeLoop {
    node: Node,
    pool: Pool,
    frame: Box<Frame>,
}

impl NodeLoop {
    /// A node with `count` packets.
    pub fn new(node: Node, count: usize) -> Self {
        let mut pool = Pool::new(count, Reuse::Hot);
        for buffer in 0..count as Buffer {
            write_header_line(
                &mut pool,
                buffer,
                Meta {
                    offset: 0,
                    length: PACKET_BYTES,
                },
            );
            let data = pool.data_mut(buffer);
            data[..4].copy_from_slice(&buffer.to_le_bytes());
            (data[12], data[13]) = (0x08, 0);
        }
        let mut frame = Box::new(Frame::new());
        frame.length.fill(PACKET_BYTES);
        Self { node, pool, frame }
    }

    /// The packets, as a loop's caller hands them over.
    pub fn records(&self) -> Vec<*mut c_void> {
        (0..self.pool.capacity())
            .map(|buffer| buffer as *mut c_void)
            .collect()
    }

    /// The address of the first packet.
    pub fn address(&self) -> *const c_void {
        self.pool.data(0).as_ptr().cast()
    }

    /// Works on packets: at most a frame of them at once.
    pub fn run(&mut self, records: &[*mut c_void], values: &[u32]) {
        let (distances, columns) = values.split_at(values.len() - 1);
        let (shape, columns) = match columns[0] {
            1 => (Shape::Single, 1),
            2 => (Shape::Dual, 2),
            _ => (Shape::Quad, 4),
        };
        // Strides count iterations; a distance below one of them is one.
        let stride = |ahead: u32| (ahead as usize).div_ceil(columns);
        let strides = match distances {
            [data] => Strides {
                header: 0,
                data: stride(*data),
            },
            [header, data, ..] => Strides {
                header: stride(*header),
                data: stride(*data),
            },
            [] => Strides::default(),
        };
        for records in records.chunks(FRAME_MAX) {
            self.frame.len = records.len();
            for (row, record) in self.frame.buffer.iter_mut().zip(records) {
                *row = *record as usize as Buffer;
            }
            let rounds = if self.node == Node::Study { 48 } else { 0 };
            let mut body = StudyBody {
                rounds,
                work: Work::Chained,
                hash: 0,
            };
            let verdict = match self.node {
                Node::Study => walk(
                    shape,
                    strides,
                    &mut InBuffer::new(&mut self.pool),
                    &mut self.frame,
                    &mut body,
                ),
                Node::Ethernet => walk(
                    shape,
                    strides,
                    &mut InFrame::new(&mut self.pool),
                    &mut self.frame,
                    &mut body,
                ),
            };
            black_box((verdict, body.hash));
        }
    }
}
