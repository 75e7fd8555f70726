//! `patterns`: what the order of accesses costs on this machine: a barrier that nobody meant, loops that are one or two, and a descriptor
//! that is copied into a packet's metadata.

use std::hint::black_box;
use std::sync::atomic::{Ordering, fence};

use dataplane::buffers::{Buffer, Pool, Reuse, Slots};
use dataplane::machine;
use experiment::{About, Error, Example, Experiment, Kind, Request, Setting, Sink, World, WorldAbout};
use recording::Recording;

use crate::host::shuffled;
use crate::{frame_size, host_header, results};

/// Measures each way of making the same accesses.
pub struct Patterns;

static SETTINGS: [Setting; 5] = [
    Setting::new("frame-size", Kind::Checked(frame_size, "N"), "Packets of a frame: 64, 128, 256, 512 or 1024.")
        .or("256"),
    Setting::new("frames", Kind::Number { min: 1, max: 100_000 }, "Frames of a measurement.").or("48"),
    Setting::new("repetitions", Kind::Number { min: 1, max: 10_000 }, "Measurements of each way.").or("15"),
    Setting::new("buffers", Kind::Number { min: 1024, max: 1 << 22 }, "Buffers gone through before one comes again.")
        .or("131072"),
    Setting::new("stride", Kind::Number { min: 1, max: 64 }, "How many packets ahead the prefetches are.").or("8"),
];

static ABOUT: About = About {
    name: "patterns",
    summary: "What the order of accesses to packets costs: barriers, two loops or one, copied descriptors",
    details: "Each case makes the same accesses to cold packets in several ways, in turn: `order` with a barrier where a program may \
              have one without need; `loops` with metadata and data in one loop or in two, as a compiler may join or part them; \
              `copy` with a descriptor of 16 bytes that is copied into the packet's metadata, without a prefetch and with one for \
              loads or for stores.",
    worlds: &[WorldAbout { world: World::Host, about: "real memory, the machine's own clock", needs: &[] }],
    settings: &SETTINGS,
    cases: &[],
    examples: &[Example { arguments: "", about: "" }, Example { arguments: "--stride 16 --format json", about: "" }],
    sweep_defaults: &[],
    shipped_sweeps: &[],
};

/// Bytes of a descriptor that are copied.
const DESCRIPTOR: usize = 16;

/// A way to go over a frame. Each keeps what it reads from being thrown away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// Metadata and data of a packet, packet by packet, in the order that the core chooses.
    Free,
    /// The same, with a full barrier after each packet.
    BarrierPerPacket,
    /// The same, with a full barrier after each access.
    BarrierPerAccess,
    /// All packets' metadata, and then all packets' data.
    TwoLoops,
    /// The descriptor is read and not copied.
    NoCopy,
    /// It is copied into the metadata.
    Copy,
    /// The same, after a prefetch for loads.
    CopyAfterPrefetch,
    /// The same, after a prefetch for stores.
    CopyAfterStorePrefetch,
}

/// The cases with their ways, by the names that a result shows. The first of each is what the others are compared with.
const CASES: [(&str, &[(&str, Way)]); 3] = [
    (
        "order",
        &[
            ("no barrier", Way::Free),
            ("a barrier per packet", Way::BarrierPerPacket),
            ("a barrier per access", Way::BarrierPerAccess),
        ],
    ),
    ("loops", &[("one loop for metadata and data", Way::Free), ("a loop for each", Way::TwoLoops)]),
    (
        "copy",
        &[
            ("descriptor read, not copied", Way::NoCopy),
            ("copied", Way::Copy),
            ("copied after a prefetch", Way::CopyAfterPrefetch),
            ("copied after a store prefetch", Way::CopyAfterStorePrefetch),
        ],
    ),
];

impl Experiment for Patterns {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn run(&self, request: &Request<'_>, sink: &mut dyn Sink) -> Result<(), Error> {
        let number = |name| request.settings.number(name) as usize;
        let (repetitions, frames, buffers) = (number("repetitions"), number("frames"), number("buffers"));
        let (frame_size, stride) = (number("frame-size"), number("stride"));
        let progress = sink.progress();
        progress.expect(repetitions as u64, "repetitions");
        let mut packets = Packets::new(buffers, frame_size, stride);
        let mut header = host_header(ABOUT.name, repetitions as u32);
        for name in ["frame-size", "frames", "buffers", "stride"] {
            header.settings.insert(name.replace('-', "_"), number(name).to_string());
        }
        let mut recording = Recording::new(header);
        for repetition in 0..repetitions {
            for (case, ways) in CASES {
                for (name, way) in ways {
                    let clocks = packets.measure(*way, frames);
                    results::pattern(&mut recording, case, name, repetition as u32, clocks);
                }
            }
            progress.step();
            progress.check()?;
        }
        sink.start(recording.header.clone())?;
        sink.append(&recording)
    }
}

/// Packets, and the order in which frames take them.
struct Packets {
    pool: Pool,
    order: Vec<Buffer>,
    next: usize,
    frame: Vec<Buffer>,
    /// A descriptor for each packet of a frame.
    descriptors: Vec<[u8; DESCRIPTOR]>,
    stride: usize,
}

impl Packets {
    fn new(buffers: usize, frame_size: usize, stride: usize) -> Self {
        let mut pool = Pool::new(buffers, Reuse::Hot);
        let order = shuffled(buffers);
        for &buffer in &order {
            pool.header_mut(buffer)[..4].copy_from_slice(&buffer.to_le_bytes());
            pool.data_mut(buffer)[..4].copy_from_slice(&buffer.to_le_bytes());
        }
        let descriptors = (0..frame_size).map(|lane| [lane as u8; DESCRIPTOR]).collect();
        Self { pool, order, next: 0, frame: vec![0; frame_size], descriptors, stride }
    }

    /// Ticks per packet of a way.
    fn measure(&mut self, way: Way, frames: usize) -> f64 {
        let mut ticks = 0;
        for _ in 0..frames {
            for lane in &mut self.frame {
                *lane = self.order[self.next];
                self.next = if self.next + 1 == self.order.len() { 0 } else { self.next + 1 };
            }
            let (frame, descriptors, stride) = (&self.frame[..], &self.descriptors[..], self.stride);
            let slots = &mut self.pool.slots();
            let from = machine::ticks();
            let sum = match way {
                Way::Free => one_loop::<false, false>(slots, frame),
                Way::BarrierPerPacket => one_loop::<false, true>(slots, frame),
                Way::BarrierPerAccess => one_loop::<true, true>(slots, frame),
                Way::TwoLoops => two_loops(slots, frame),
                Way::NoCopy => descriptors.iter().fold(0, |sum, descriptor| sum ^ word(black_box(descriptor))),
                Way::Copy => copy(slots, frame, descriptors, |_, _| {}),
                Way::CopyAfterPrefetch => copy(slots, frame, descriptors, |slots, lane| {
                    if let Some(&buffer) = frame.get(lane + stride) {
                        machine::prefetch(slots.header(buffer).as_ptr());
                    }
                }),
                Way::CopyAfterStorePrefetch => copy(slots, frame, descriptors, |slots, lane| {
                    if let Some(&buffer) = frame.get(lane + stride) {
                        machine::prefetch_for_store(slots.header(buffer).as_ptr());
                    }
                }),
            };
            // What is still on its way belongs to this way, not to the next.
            fence(Ordering::SeqCst);
            ticks += machine::ticks() - from;
            black_box(sum);
        }
        ticks as f64 / (frames * self.frame.len()) as f64
    }
}

/// The first eight bytes as a number.
#[inline(always)]
fn word(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(*bytes.first_chunk().expect("a line has more"))
}

#[inline(never)]
fn one_loop<const AFTER_ACCESS: bool, const AFTER_PACKET: bool>(slots: &Slots<'_>, frame: &[Buffer]) -> u64 {
    let mut sum = 0_u64;
    for &buffer in frame {
        sum = sum.wrapping_add(black_box(word(slots.header(buffer))));
        if AFTER_ACCESS {
            fence(Ordering::SeqCst);
        }
        sum ^= black_box(word(slots.data(buffer)));
        if AFTER_PACKET {
            fence(Ordering::SeqCst);
        }
    }
    sum
}

#[inline(never)]
fn two_loops(slots: &Slots<'_>, frame: &[Buffer]) -> u64 {
    let mut sum = 0_u64;
    for &buffer in frame {
        sum = sum.wrapping_add(black_box(word(slots.header(buffer))));
    }
    for &buffer in frame {
        sum ^= black_box(word(slots.data(buffer)));
    }
    sum
}

/// Copies each packet's descriptor into its metadata, behind what is there; `before` is called for each lane first.
#[inline(always)]
fn copy(
    slots: &mut Slots<'_>,
    frame: &[Buffer],
    descriptors: &[[u8; DESCRIPTOR]],
    before: impl Fn(&Slots<'_>, usize),
) -> u64 {
    let mut sum = 0;
    for (lane, (&buffer, descriptor)) in frame.iter().zip(descriptors).enumerate() {
        before(slots, lane);
        sum ^= word(descriptor);
        slots.header_mut(buffer)[8..8 + DESCRIPTOR].copy_from_slice(black_box(descriptor));
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_reads_or_writes_what_it_says() {
        let mut packets = Packets::new(1024, 64, 8);
        for (_, ways) in CASES {
            for (name, way) in ways {
                assert!(packets.measure(*way, 2) > 0.0, "{name}");
            }
        }
        let frame = packets.frame.clone();
        let slots = packets.pool.slots();
        for (lane, buffer) in frame.into_iter().enumerate() {
            assert_eq!(slots.header(buffer)[8..24], [lane as u8; DESCRIPTOR], "the last way copied");
            assert_eq!(slots.header(buffer)[..4], buffer.to_le_bytes(), "and left alone what it does not copy");
        }
    }

    #[test]
    fn a_barrier_between_cold_accesses_costs_time() {
        // More buffers than any cache has lines, so the misses are real; the least of some measurements, so noise adds nothing.
        let mut packets = Packets::new(1 << 16, 256, 8);
        let mut least = |way| (0..9).map(|_| packets.measure(way, 10)).fold(f64::INFINITY, f64::min);
        let (free, barrier) = (least(Way::Free), least(Way::BarrierPerAccess));
        assert!(barrier > free, "{barrier} against {free} ticks per packet");
    }
}
