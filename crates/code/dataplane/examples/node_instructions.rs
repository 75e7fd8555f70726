//! The nodes of a cross connect, to have their instructions counted by an emulator's plugin:
//! `bench/node_instructions.py` runs it.
//!
//! Functions whose names begin with `per_packet_` are nodes as VPP has them: metadata lies in front
//! of each packet, every packet gets its arc by itself, and two packets are an iteration. Our own
//! nodes are called by the graph, and their symbols are those of `Node::run`.

use dataplane::buffers::{Pool, Reuse};
use dataplane::frame::{FRAME_MAX, Frame};
use dataplane::inputs::{Generator, PACKET_BYTES, udp_packet};
use dataplane::memory::{InBuffer, Meta, PacketMemory, write_header_line};
use dataplane::nodes::{Device, Discard};
use dataplane::plane::{Mac, Mode, Plane, Settings};
use dataplane::standard::build;
use dataplane::study::StudyBody;
use dataplane::walk::{Body, Shape, Strides, walk};
use std::hint::black_box;
use std::net::Ipv4Addr;

const FRAME: usize = 256;
const ROUNDS: u64 = 20;
const US: Mac = Mac([2, 0xfe, 0, 0, 0, 1]);
const PEER: Mac = Mac([2, 0xfe, 0, 0, 0, 2]);

/// The arc of each packet of a cross connect.
const ON: u8 = 2;

/// Chooses between unicast and others by the destination, and notes the result.
struct L2Input;

impl<M: PacketMemory> Body<M> for L2Input {
    type Loaded = [u8; 12];

    fn expected(&self, _: &Frame, _: usize) -> u8 {
        ON
    }

    #[inline(always)]
    fn load(&self, memory: &mut M, frame: &Frame, row: usize) -> [u8; 12] {
        let meta = memory.meta(frame, row);
        memory.load(frame.buffer[row], meta.offset as usize)
    }

    #[inline(always)]
    fn finish(
        &mut self,
        memory: &mut M,
        frame: &mut Frame,
        row: usize,
        loaded: [u8; 12],
    ) -> Option<u8> {
        let arc = if loaded[0] & 1 == 0 { ON } else { 0 };
        memory.set_meta(frame, row, 14, arc);
        Some(arc)
    }
}

/// Looks at the metadata alone, and notes the output.
struct L2Output {
    interface: u16,
}

impl<M: PacketMemory> Body<M> for L2Output {
    type Loaded = Meta;

    fn expected(&self, _: &Frame, _: usize) -> u8 {
        ON
    }

    #[inline(always)]
    fn load(&self, memory: &mut M, frame: &Frame, row: usize) -> Meta {
        memory.meta(frame, row)
    }

    #[inline(always)]
    fn finish(&mut self, memory: &mut M, frame: &mut Frame, row: usize, meta: Meta) -> Option<u8> {
        let arc = if meta.offset == self.interface { 0 } else { ON };
        memory.set_meta(frame, row, 14, arc);
        Some(arc)
    }
}

/// Counts the bytes of packets.
#[derive(Default)]
struct Output {
    bytes: u64,
}

impl<M: PacketMemory> Body<M> for Output {
    type Loaded = Meta;

    fn expected(&self, _: &Frame, _: usize) -> u8 {
        ON
    }

    #[inline(always)]
    fn load(&self, memory: &mut M, frame: &Frame, row: usize) -> Meta {
        memory.meta(frame, row)
    }

    #[inline(always)]
    fn finish(&mut self, _: &mut M, _: &mut Frame, _: usize, meta: Meta) -> Option<u8> {
        self.bytes += u64::from(meta.length);
        Some(ON)
    }
}

/// A descriptor as the slides have it: 32 bytes.
#[derive(Clone, Copy, Default)]
struct Descriptor {
    _address: u64,
    _length: u16,
    _offset: u16,
    _commands: [u32; 5],
}

/// Writes descriptors.
struct Transmit<'a> {
    ring: &'a mut [Descriptor],
    next: usize,
}

impl<M: PacketMemory> Body<M> for Transmit<'_> {
    type Loaded = Meta;

    fn expected(&self, _: &Frame, _: usize) -> u8 {
        ON
    }

    #[inline(always)]
    fn load(&self, memory: &mut M, frame: &Frame, row: usize) -> Meta {
        memory.meta(frame, row)
    }

    #[inline(always)]
    fn finish(&mut self, _: &mut M, frame: &mut Frame, row: usize, meta: Meta) -> Option<u8> {
        let ring = self.ring.len() - 1;
        self.ring[self.next & ring] = Descriptor {
            _address: u64::from(frame.buffer[row]) << 12,
            _length: meta.length,
            _offset: meta.offset,
            _commands: [1, 2, 3, 4, 5],
        };
        self.next += 1;
        Some(ON)
    }
}

const ONE_AHEAD: Strides = Strides { header: 2, data: 2 };

/// The same for nodes that read no data.
const METADATA_AHEAD: Strides = Strides { header: 2, data: 0 };

/// The loop to which the model's work was fitted: one packet an iteration, strides of one.
#[unsafe(no_mangle)]
#[inline(never)]
fn per_packet_single_loop(pool: &mut Pool, frame: &mut Frame) {
    walk(
        Shape::Single,
        Strides::both(1),
        &mut InBuffer::new(pool),
        frame,
        &mut StudyBody::default(),
    );
}

#[unsafe(no_mangle)]
#[inline(never)]
fn per_packet_ethernet_input(pool: &mut Pool, frame: &mut Frame) {
    walk(
        Shape::Dual,
        ONE_AHEAD,
        &mut InBuffer::new(pool),
        frame,
        &mut StudyBody::default(),
    );
}

#[unsafe(no_mangle)]
#[inline(never)]
fn per_packet_l2_input(pool: &mut Pool, frame: &mut Frame) {
    walk(
        Shape::Dual,
        ONE_AHEAD,
        &mut InBuffer::new(pool),
        frame,
        &mut L2Input,
    );
}

#[unsafe(no_mangle)]
#[inline(never)]
fn per_packet_l2_output(pool: &mut Pool, frame: &mut Frame) {
    walk(
        Shape::Dual,
        METADATA_AHEAD,
        &mut InBuffer::new(pool),
        frame,
        &mut L2Output { interface: 1 },
    );
}

#[unsafe(no_mangle)]
#[inline(never)]
fn per_packet_output(pool: &mut Pool, frame: &mut Frame) -> u64 {
    let mut output = Output::default();
    walk(
        Shape::Dual,
        METADATA_AHEAD,
        &mut InBuffer::new(pool),
        frame,
        &mut output,
    );
    output.bytes
}

#[unsafe(no_mangle)]
#[inline(never)]
fn per_packet_tx(pool: &mut Pool, frame: &mut Frame, ring: &mut [Descriptor]) {
    walk(
        Shape::Dual,
        METADATA_AHEAD,
        &mut InBuffer::new(pool),
        frame,
        &mut Transmit { ring, next: 0 },
    );
}

fn main() {
    let mut plane = Plane::new(
        4096,
        Reuse::Cycle,
        Settings {
            frame_size: FRAME,
            ..Settings::default()
        },
    );
    let inside = plane.add_interface("in", US, Mode::CrossConnect { peer: 1 });
    plane.add_interface("out", PEER, Mode::CrossConnect { peer: 0 });
    let devices: Vec<Box<dyn Device>> = vec![Box::new(Discard), Box::new(Discard)];
    let (mut graph, first) = build(plane, devices);
    let flow = udp_packet(
        US,
        PEER,
        Ipv4Addr::new(10, 0, 0, 1),
        Ipv4Addr::new(20, 0, 0, 1),
        64,
    );
    graph.add_input(Box::new(Generator::new(inside, vec![flow])), first);
    for _ in 0..ROUNDS {
        graph.run_once();
    }
    println!("packets {}", graph.balance().sent);

    let mut pool = Pool::new(FRAME_MAX, Reuse::Cycle);
    let mut frame = Frame {
        len: FRAME,
        ..Frame::default()
    };
    for row in 0..FRAME {
        frame.buffer[row] = row as u32;
        frame.length[row] = PACKET_BYTES;
        write_header_line(
            &mut pool,
            row as u32,
            Meta {
                offset: 0,
                length: PACKET_BYTES,
            },
        );
        pool.data_mut(row as u32)[..flow.len()].copy_from_slice(&flow);
    }
    let mut ring = vec![Descriptor::default(); 1024];
    for _ in 0..ROUNDS {
        per_packet_single_loop(black_box(&mut pool), black_box(&mut frame));
        per_packet_ethernet_input(black_box(&mut pool), black_box(&mut frame));
        per_packet_l2_input(black_box(&mut pool), black_box(&mut frame));
        per_packet_l2_output(black_box(&mut pool), black_box(&mut frame));
        black_box(per_packet_output(
            black_box(&mut pool),
            black_box(&mut frame),
        ));
        per_packet_tx(
            black_box(&mut pool),
            black_box(&mut frame),
            black_box(&mut ring),
        );
    }
}
