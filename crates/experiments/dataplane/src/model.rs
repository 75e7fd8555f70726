//! The stride study on a modelled core: the loops of `dataplane`, with `core-model` in place of
//! memory.

use crate::places::{CacheLevel, CacheLevels};
use core_model::{Core, Parameters, Site, Stall};
use dataplane::buffers::Buffer;
use dataplane::frame::Frame;
use dataplane::memory::{Meta, PacketMemory};
use dataplane::study::StudyBody;
use dataplane::walk::{Shape, Strides, walk};

/// Bytes from one buffer to the next in the modelled pool: a page of its own each, as buffers come
/// back from a device in no order, and an odd number of lines, so that they spread over the sets of
/// the caches.
pub const SLOT: u64 = 4096 + core_model::LINE;

/// The accesses of the study's loop, by the name that a result shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Access {
    /// The first read of the metadata's line.
    HeaderLoad,
    /// The first read of the packet's data.
    DataLoad,
    /// The n-th prefetch in a row (from 1): a burst is what comes without a load between.
    Prefetch(u8),
}

impl Access {
    /// Every access that a loop of up to four lanes makes.
    fn all() -> impl Iterator<Item = Self> {
        [Self::HeaderLoad, Self::DataLoad]
            .into_iter()
            .chain((1..=8).map(Self::Prefetch))
    }

    fn site(self) -> Site {
        match self {
            Self::HeaderLoad => Site(0),
            Self::DataLoad => Site(1),
            Self::Prefetch(n) => Site(16 + n),
        }
    }

    /// As a person would say it.
    pub fn name(self) -> String {
        match self {
            Self::HeaderLoad => "first touch of the metadata".to_owned(),
            Self::DataLoad => "first touch of the packet's data".to_owned(),
            Self::Prefetch(n) => format!("prefetch {n} of a burst"),
        }
    }
}

/// Memory that charges a modelled core for each access. All packets have the same bytes.
struct ModelMemory {
    core: Core,
    parameters: Parameters,
    template: [u8; 64],
    burst: u8,
    /// The metadata line read last and when it was there: the data's address depends on it.
    header: (Buffer, f64),
}

fn header_line(buffer: Buffer) -> u64 {
    u64::from(buffer) * SLOT
}

fn data_line(buffer: Buffer) -> u64 {
    header_line(buffer) + core_model::LINE
}

impl ModelMemory {
    fn prefetch(&mut self, address: u64) {
        self.burst = self.burst.saturating_add(1).min(200);
        self.core
            .prefetch(address, Access::Prefetch(self.burst).site());
    }
}

impl PacketMemory for ModelMemory {
    const HEADER_LINE: bool = true;

    fn prefetch_header(&mut self, buffer: Buffer) {
        self.prefetch(header_line(buffer));
    }

    fn prefetch_data(&mut self, buffer: Buffer) {
        self.prefetch(data_line(buffer));
    }

    fn meta(&mut self, frame: &Frame, row: usize) -> Meta {
        self.burst = 0;
        let buffer = frame.buffer[row];
        self.header = (
            buffer,
            self.core
                .load(header_line(buffer), Access::HeaderLoad.site()),
        );
        Meta {
            offset: 0,
            length: 64,
        }
    }

    fn set_meta(&mut self, _frame: &Frame, _lane: usize, _l3: u8, _next: u8) {}

    fn load<const N: usize>(&mut self, buffer: Buffer, at: usize) -> [u8; N] {
        self.burst = 0;
        let known = if self.header.0 == buffer {
            self.header.1
        } else {
            0.0
        };
        self.core.load_after(
            data_line(buffer) + at as u64,
            Access::DataLoad.site(),
            known,
        );
        let mut bytes = [0; N];
        bytes.copy_from_slice(&self.template[at..at + N]);
        bytes
    }

    fn store<const N: usize>(&mut self, _buffer: Buffer, _at: usize, _bytes: [u8; N]) {}

    fn worked(&mut self) {
        self.core.work(self.parameters.work);
    }
}

/// A cell of the study: a loop with its strides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    /// Packets an iteration.
    pub shape: Shape,
    /// The distances by which the loop prefetches ahead.
    pub strides: Strides,
}

/// The cost of a cell on the modelled core.
#[derive(Debug, PartialEq)]
pub struct Outcome {
    /// Core cycles per packet.
    pub cycles_per_packet: f64,
    /// Stalls a packet, by access.
    pub stalls: Vec<(Access, Stall)>,
}

/// Effort of a cell's run.
#[derive(Clone, Copy)]
pub struct Effort {
    /// Packets of a frame.
    pub frame_size: usize,
    /// Frames.
    pub frames: usize,
    /// Seed of the memory's spread.
    pub seed: u64,
    /// The places of lines before a frame is met; the last-level cache counts as DRAM.
    pub places: CacheLevels,
    /// True if the core itself brought the lines to where they lie, so that it knows their pages'
    /// translations.
    pub touched: bool,
}

/// Runs one cell.
pub fn run(parameters: Parameters, cell: Cell, effort: Effort) -> Outcome {
    const BUFFERS: u32 = 16 * 1024;
    let mut template = [0; 64];
    template[12] = 0x08;
    let mut memory = ModelMemory {
        core: Core::new(parameters, effort.seed),
        parameters,
        template,
        burst: 0,
        header: (0, 0.0),
    };
    let mut frame = Frame {
        len: effort.frame_size,
        ..Frame::default()
    };
    let mut body = StudyBody::default();
    let mut next = 0;
    let mut cycles = 0.0;
    for _ in 0..effort.frames {
        for row in 0..frame.len {
            frame.buffer[row] = next;
            for (place, line) in [
                (effort.places.header, header_line(next)),
                (effort.places.data, data_line(next)),
            ] {
                match place {
                    CacheLevel::L2 => {
                        memory.core.place_in_l2(line);
                        if effort.touched {
                            memory.core.knows_page(line);
                        }
                    }
                    CacheLevel::Llc | CacheLevel::Dram => {
                        memory.core.device_writes(line);
                    }
                }
            }
            next = (next + 1) % BUFFERS;
        }
        let begin = memory.core.now();
        walk(cell.shape, cell.strides, &mut memory, &mut frame, &mut body);
        memory.core.drain();
        cycles += memory.core.now() - begin;
    }
    let packets = (effort.frames * effort.frame_size) as f64;
    let stalls = Access::all()
        .map(|access| {
            let stall = memory.core.stalls(access.site());
            let per_packet = Stall {
                waited: stall.waited / packets,
                blocked: stall.blocked / packets,
                ..stall
            };
            (access, per_packet)
        })
        .filter(|(_, stall)| stall.count > 0)
        .collect();
    Outcome {
        cycles_per_packet: cycles / packets,
        stalls,
    }
}

/// Bursts of prefetches to lines that are in no cache: the cycles that the n-th of a burst is
/// blocked, on average.
pub fn burst(parameters: Parameters, length: u8, effort: Effort) -> Vec<f64> {
    let mut core = Core::new(parameters, effort.seed);
    let bursts = effort.frames as u64;
    for burst in 0..bursts {
        for n in 0..length {
            let buffer = burst * u64::from(length) + u64::from(n);
            core.prefetch(buffer * SLOT, Access::Prefetch(n + 1).site());
        }
        core.work(10_000.0);
    }
    (1..=length)
        .map(|n| core.stalls(Access::Prefetch(n).site()).blocked / bursts as f64)
        .collect()
}
