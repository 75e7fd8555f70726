//! `patterns`: what the order of accesses costs on this machine: a barrier that nobody meant, loops
//! that are one or two, and a descriptor that is copied into a packet's metadata.

use crate::host::shuffled;
use crate::slice::Slices;
use crate::{FRAME_SIZE, host_header, results};
use dataplane::buffers::{Buffer, Pool, Reuse, Slots};
use dataplane::machine;
use experiment::setting::{Number, Or};
use experiment::{About, Error, Example, Experiment, Request, Sink, World, WorldAbout};
use recording::Recording;
use std::hint::black_box;
use std::sync::atomic::{Ordering, fence};

/// Measures each way of making the same accesses.
pub struct Patterns;

const FRAMES: Or<Number<usize>> =
    Number::new("frames", 1..=100_000, "Frames of a measurement.").or(48);

const REPETITIONS: Or<Number<u32>> =
    Number::new("repetitions", 1..=10_000, "Measurements of each way.").or(15);

const BUFFERS: Or<Number<usize>> = Number::new(
    "buffers",
    1024..=1 << 22,
    "Buffers gone through before one comes again.",
)
.or(131_072);

const STRIDE: Or<Number<usize>> = Number::new(
    "stride",
    1..=64,
    "How many packets ahead the prefetches are.",
)
.or(8);

static ABOUT: About = About {
    name: "patterns",
    summary: "What the order of accesses to packets costs: barriers, two loops or one, copied descriptors",
    details: "Each case makes the same accesses to cold packets in several ways, in turn: `order` with a barrier where a program may \
              have one without need; `loops` with metadata and data in one loop or in two, as a compiler may join or part them; \
              `copy` with a descriptor of 16 bytes that is copied into the packet's metadata, without a prefetch and with one for \
              loads or for stores.",
    worlds: &[WorldAbout {
        world: World::Host,
        about: "real memory, the machine's own clock",
        needs: &[],
    }],
    settings: &[&FRAME_SIZE, &FRAMES, &REPETITIONS, &BUFFERS, &STRIDE],
    examples: &[
        Example {
            arguments: "",
            about: "",
        },
        Example {
            arguments: "--stride 16 --format json",
            about: "",
        },
    ],
    ..About::BARE
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

/// The cases with their ways, by the names that a result shows. The first of each is what the
/// others are compared with.
const CASES: [(&str, &[(&str, Way)]); 3] = [
    (
        "order",
        &[
            ("no barrier", Way::Free),
            ("a barrier per packet", Way::BarrierPerPacket),
            ("a barrier per access", Way::BarrierPerAccess),
        ],
    ),
    (
        "loops",
        &[
            ("one loop for metadata and data", Way::Free),
            ("a loop for each", Way::TwoLoops),
        ],
    ),
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
        let settings = &request.settings;
        let (repetitions, frames) = (settings.get(REPETITIONS), settings.get(FRAMES));
        let (buffers, frame_size, stride) = (
            settings.get(BUFFERS),
            settings.get(FRAME_SIZE),
            settings.get(STRIDE),
        );
        let progress = sink.progress();
        progress.expect(repetitions.into(), "repetitions");
        let mut packets = Packets::new(buffers, frame_size, stride);
        let mut header = host_header(ABOUT.name, repetitions);
        for (name, value) in [
            ("frame_size", frame_size),
            ("frames", frames),
            ("buffers", buffers),
            ("stride", stride),
        ] {
            header.settings.insert(name.to_owned(), value.to_string());
        }
        let mut recording = Recording::new(header);
        let mut slices = Slices::default();
        for repetition in 0..repetitions {
            for (case, ways) in CASES {
                for (name, way) in ways {
                    let clocks = slices.take(|| packets.measure(*way, frames));
                    results::pattern(&mut recording, case, name, repetition, clocks);
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
        let descriptors = (0..frame_size).map(|row| [row as u8; DESCRIPTOR]).collect();
        Self {
            pool,
            order,
            next: 0,
            frame: vec![0; frame_size],
            descriptors,
            stride,
        }
    }

    /// Ticks per packet of a way.
    fn measure(&mut self, way: Way, frames: usize) -> f64 {
        let mut ticks = 0;
        for _ in 0..frames {
            for row in &mut self.frame {
                *row = self.order[self.next];
                self.next = if self.next + 1 == self.order.len() {
                    0
                } else {
                    self.next + 1
                };
            }
            let (frame, descriptors, stride) =
                (&self.frame[..], &self.descriptors[..], self.stride);
            let slots = &mut self.pool.slots();
            let from = machine::ticks();
            let sum = way.go_over(slots, frame, descriptors, stride, &mut Machine);
            // Loads that are still under way count for this loop, not for the next one.
            fence(Ordering::SeqCst);
            ticks += machine::ticks() - from;
            black_box(sum);
        }
        ticks as f64 / (frames * self.frame.len()) as f64
    }
}

/// The accesses of a way to memory, one call for each in the program's order, so that tests see
/// them.
trait Accesses {
    /// The first eight bytes of a line as a number.
    fn read(&mut self, line: &[u8]) -> u64;
    /// A full barrier.
    fn barrier(&mut self);
    /// A prefetch of a line for loads.
    fn prefetch(&mut self, line: &[u8]);
    /// A prefetch of a line for stores.
    fn prefetch_for_store(&mut self, line: &[u8]);
}

/// This machine's memory.
struct Machine;

impl Accesses for Machine {
    #[inline(always)]
    fn read(&mut self, line: &[u8]) -> u64 {
        black_box(word(line))
    }

    #[inline(always)]
    fn barrier(&mut self) {
        fence(Ordering::SeqCst);
    }

    #[inline(always)]
    fn prefetch(&mut self, line: &[u8]) {
        machine::prefetch(line.as_ptr());
    }

    #[inline(always)]
    fn prefetch_for_store(&mut self, line: &[u8]) {
        machine::prefetch_for_store(line.as_ptr());
    }
}

impl Way {
    /// Goes over a frame, of which each packet has a descriptor, and returns the sum of all that
    /// was read; a prefetch is `stride` packets ahead.
    #[inline(always)]
    fn go_over(
        self,
        slots: &mut Slots<'_>,
        frame: &[Buffer],
        descriptors: &[[u8; DESCRIPTOR]],
        stride: usize,
        memory: &mut impl Accesses,
    ) -> u64 {
        match self {
            Self::Free => one_loop::<false, false>(slots, frame, memory),
            Self::BarrierPerPacket => one_loop::<false, true>(slots, frame, memory),
            Self::BarrierPerAccess => one_loop::<true, true>(slots, frame, memory),
            Self::TwoLoops => two_loops(slots, frame, memory),
            Self::NoCopy => descriptors.iter().fold(0, |sum: u64, descriptor| {
                sum.wrapping_add(memory.read(descriptor))
            }),
            Self::Copy => copy(slots, frame, descriptors, memory, |_, _, _| {}),
            Self::CopyAfterPrefetch => {
                copy(slots, frame, descriptors, memory, |slots, row, memory| {
                    if let Some(&buffer) = frame.get(row + stride) {
                        memory.prefetch(slots.header(buffer));
                    }
                })
            }
            Self::CopyAfterStorePrefetch => {
                copy(slots, frame, descriptors, memory, |slots, row, memory| {
                    if let Some(&buffer) = frame.get(row + stride) {
                        memory.prefetch_for_store(slots.header(buffer));
                    }
                })
            }
        }
    }
}

/// The first eight bytes as a number.
#[inline(always)]
fn word(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(*bytes.first_chunk().expect("a line has more"))
}

#[inline(never)]
fn one_loop<const AFTER_ACCESS: bool, const AFTER_PACKET: bool>(
    slots: &Slots<'_>,
    frame: &[Buffer],
    memory: &mut impl Accesses,
) -> u64 {
    let mut sum = 0_u64;
    for &buffer in frame {
        sum = sum.wrapping_add(memory.read(slots.header(buffer)));
        if AFTER_ACCESS {
            memory.barrier();
        }
        sum = sum.wrapping_add(memory.read(slots.data(buffer)));
        if AFTER_PACKET {
            memory.barrier();
        }
    }
    sum
}

#[inline(never)]
fn two_loops(slots: &Slots<'_>, frame: &[Buffer], memory: &mut impl Accesses) -> u64 {
    let mut sum = 0_u64;
    for &buffer in frame {
        sum = sum.wrapping_add(memory.read(slots.header(buffer)));
    }
    for &buffer in frame {
        sum = sum.wrapping_add(memory.read(slots.data(buffer)));
    }
    sum
}

/// Copies each packet's descriptor into its metadata, behind what is there; `before` is called for
/// each row first.
#[inline(always)]
fn copy<A: Accesses>(
    slots: &mut Slots<'_>,
    frame: &[Buffer],
    descriptors: &[[u8; DESCRIPTOR]],
    memory: &mut A,
    before: impl Fn(&Slots<'_>, usize, &mut A),
) -> u64 {
    let mut sum = 0_u64;
    for (row, (&buffer, descriptor)) in frame.iter().zip(descriptors).enumerate() {
        before(slots, row, memory);
        sum = sum.wrapping_add(memory.read(descriptor));
        slots.header_mut(buffer)[8..8 + DESCRIPTOR].copy_from_slice(black_box(descriptor));
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes down what is done, with the two letters that each line of the test begins with.
    struct Log(Vec<String>);

    impl Log {
        fn add(&mut self, before: &str, line: &[u8]) {
            self.0.push(format!(
                "{before}{}{}",
                char::from(line[0]),
                char::from(line[1])
            ));
        }
    }

    impl Accesses for Log {
        fn read(&mut self, line: &[u8]) -> u64 {
            self.add("", line);
            word(line)
        }

        fn barrier(&mut self) {
            self.0.push("|".to_owned());
        }

        fn prefetch(&mut self, line: &[u8]) {
            self.add("load ", line);
        }

        fn prefetch_for_store(&mut self, line: &[u8]) {
            self.add("store ", line);
        }
    }

    /// Three packets, of which `m` is the metadata, `d` the data, and `t` the descriptor.
    #[test]
    fn each_way_makes_the_accesses_that_it_says_in_their_order() {
        let mut pool = Pool::new(8, Reuse::Hot);
        let frame: [Buffer; 3] = [6, 1, 4];
        let rows = [b'0', b'1', b'2'];
        let named = |letter: u8, row| {
            let mut line = [0; DESCRIPTOR];
            line[..2].copy_from_slice(&[letter, row]);
            line
        };
        let descriptors = rows.map(|row| named(b't', row));
        for (_, ways) in CASES {
            let mut sums = Vec::new();
            for (name, way) in ways {
                for (buffer, row) in frame.into_iter().zip(rows) {
                    pool.header_mut(buffer)[..DESCRIPTOR].copy_from_slice(&named(b'm', row));
                    pool.header_mut(buffer)[8..8 + DESCRIPTOR].fill(0);
                    pool.data_mut(buffer)[..DESCRIPTOR].copy_from_slice(&named(b'd', row));
                }
                let (done, copied) = match way {
                    Way::Free => ("m0 d0 m1 d1 m2 d2", false),
                    Way::BarrierPerPacket => ("m0 d0 | m1 d1 | m2 d2 |", false),
                    Way::BarrierPerAccess => ("m0 | d0 | m1 | d1 | m2 | d2 |", false),
                    Way::TwoLoops => ("m0 m1 m2 d0 d1 d2", false),
                    Way::NoCopy => ("t0 t1 t2", false),
                    Way::Copy => ("t0 t1 t2", true),
                    Way::CopyAfterPrefetch => ("load m1 t0 load m2 t1 t2", true),
                    Way::CopyAfterStorePrefetch => ("store m1 t0 store m2 t1 t2", true),
                };
                let mut log = Log(Vec::new());
                sums.push(way.go_over(&mut pool.slots(), &frame, &descriptors, 1, &mut log));
                assert_eq!(log.0.join(" "), done, "{name}");
                for (buffer, descriptor) in frame.into_iter().zip(descriptors) {
                    let slots = pool.slots();
                    let expected = if copied { descriptor } else { [0; DESCRIPTOR] };
                    assert_eq!(slots.header(buffer)[8..8 + DESCRIPTOR], expected, "{name}");
                    assert_eq!(
                        &slots.header(buffer)[..1],
                        b"m",
                        "{name} leaves alone what it does not copy"
                    );
                }
            }
            assert!(
                sums.iter().all(|sum| *sum == sums[0] && *sum != 0),
                "ways of a case compute the same: {sums:?}"
            );
        }
    }

    #[test]
    fn frames_are_taken_in_the_order_of_the_buffers_and_from_the_first_again() {
        let mut packets = Packets::new(128, 64, 8);
        for (frames, last) in [(1, 0..64), (2, 0..64), (1, 64..128)] {
            packets.measure(Way::Copy, frames);
            assert_eq!(packets.frame, packets.order[last]);
            let slots = packets.pool.slots();
            for (row, &buffer) in packets.frame.iter().enumerate() {
                assert_eq!(
                    slots.header(buffer)[8..8 + DESCRIPTOR],
                    [row as u8; DESCRIPTOR]
                );
            }
        }
    }
}
