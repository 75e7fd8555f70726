//! The stride study on this machine: the same loop, real memory.

use crate::model::Cell;
use crate::places::{CacheLevel, CacheLevels};
use crate::slice::Slices;
use crate::{BUFFERS, DATA_IN, FRAME_SIZE, FRAMES, HEADER_IN, IN_FRAME, REPETITIONS, ROUNDS, WORK};
use dataplane::buffers::{Buffer, Pool, Reuse};
use dataplane::frame::Frame;
use dataplane::machine;
use dataplane::memory::{InBuffer, InFrame, Meta, write_header_line};
use dataplane::study::{StudyBody, Work};
use dataplane::walk::{Shape, Strides, walk};
use experiment::{Error, Result, Settings};
use itertools::Itertools;
use recording::facts;
use std::hint::black_box;

/// The memory layout of a packet's metadata.
#[derive(Clone, Copy)]
pub enum Layout {
    /// A line of its own in front of the data, as on the slides: two lines per packet.
    InBuffer,
    /// The lanes of the frame: one line per packet.
    InFrame,
}

impl Layout {
    /// As on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::InBuffer => "in-buffer",
            Self::InFrame => "in-frame",
        }
    }
}

/// Settings of a study.
#[derive(Clone, Copy)]
pub struct Study {
    /// Packets of a frame.
    pub frame_size: usize,
    /// Buffers gone through, in no order, before one comes again: many, and every frame is cold.
    pub buffers: usize,
    /// Rounds of extra work a packet. A wide core hides the misses of a light loop by itself,
    /// whatever the strides.
    pub rounds: u32,
    /// Measurements of each cell, all cells in turn.
    pub repetitions: usize,
    /// Frames of a measurement.
    pub frames: usize,
    /// The memory layout of the metadata.
    pub layout: Layout,
    /// The dependence of the rounds of work.
    pub work: Work,
    /// The cache level that holds each line before a frame is read.
    pub places: CacheLevels,
}

impl Study {
    /// The study that some settings ask for: those that the crate declares.
    pub(crate) fn new(settings: &Settings) -> Self {
        Self {
            frame_size: settings.get(FRAME_SIZE),
            buffers: settings.get(BUFFERS),
            rounds: settings.get(ROUNDS),
            repetitions: settings.get(REPETITIONS),
            frames: settings.get(FRAMES).unwrap_or(48),
            layout: if settings.get(IN_FRAME) {
                Layout::InFrame
            } else {
                Layout::InBuffer
            },
            work: settings.get(WORK),
            places: CacheLevels::COLD.with(settings.get(HEADER_IN), settings.get(DATA_IN)),
        }
    }

    /// Says what contradicts itself in some settings.
    ///
    /// # Errors
    /// A place for metadata that has no line of its own.
    pub(crate) fn check(settings: &Settings) -> Result {
        if settings.get(IN_FRAME) && settings.get(HEADER_IN).is_some() {
            Err(Error::usage(
                "--header-in says where a line lies that --in-frame takes away",
                "leave one of them out",
            ))
        } else {
            Ok(())
        }
    }

    /// The study as a recording's facts have it.
    pub(crate) fn facts(&self) -> facts::Study {
        facts::Study {
            frame_size: self.frame_size as u64,
            frames: self.frames as u64,
            buffers: Some(self.buffers as u64),
            rounds: Some(self.rounds.into()),
            work: if self.work == Work::Independent {
                "independent"
            } else {
                "chained"
            }
            .to_owned(),
            header_in: self.places.header.name().to_owned(),
            data_in: self.places.data.name().to_owned(),
        }
    }
}

/// The cells of the slides, no prefetch at all, and the quad loop.
pub fn cells() -> Vec<Cell> {
    let mut cells = Vec::new();
    for (shape, most) in [(Shape::Single, 10), (Shape::Dual, 5), (Shape::Quad, 3)] {
        cells.extend((0..=most).map(|stride| Cell {
            shape,
            strides: Strides::both(stride),
        }));
    }
    let split = [
        (1, 8),
        (2, 8),
        (3, 8),
        (2, 9),
        (2, 10),
        (2, 11),
        (2, 12),
        (2, 13),
        (2, 14),
        (3, 13),
    ];
    cells.extend(split.map(|(header, data)| Cell {
        shape: Shape::Single,
        strides: Strides { header, data },
    }));
    cells
}

/// Measures cells: ticks per packet, for each cell one value per repetition. `goes_on` is asked
/// after each repetition.
pub fn sweep(study: Study, cells: &[Cell], goes_on: impl Fn() -> bool) -> Vec<Vec<f64>> {
    let mut pool = Pool::new(study.buffers, Reuse::Hot);
    let order = shuffled(study.buffers);
    for &buffer in &order {
        let length = dataplane::inputs::PACKET_BYTES;
        write_header_line(&mut pool, buffer, Meta { offset: 0, length });
        let data = pool.data_mut(buffer);
        data[..6].copy_from_slice(&buffer.to_le_bytes().repeat(2)[..6]);
        data[12] = 0x08;
        data[13] = 0;
    }
    let caches = Caches::new();
    let mut frame = Frame {
        len: study.frame_size,
        ..Frame::default()
    };
    frame.length.fill(dataplane::inputs::PACKET_BYTES);
    let mut next = 0;
    let mut slices = Slices::default();
    let mut values = vec![Vec::with_capacity(study.repetitions); cells.len()];
    for _ in 0..study.repetitions {
        for (cell, values) in cells.iter().zip(&mut values) {
            let mut body = StudyBody {
                rounds: study.rounds,
                work: study.work,
                hash: 0,
            };
            let ticks = slices.take(|| {
                let mut ticks = 0;
                for _ in 0..study.frames {
                    for row in &mut frame.buffer[..study.frame_size] {
                        *row = order[next];
                        next = if next + 1 == order.len() { 0 } else { next + 1 };
                    }
                    caches.bring(study.places, &pool, &frame);
                    let from = machine::ticks();
                    let arcs = match study.layout {
                        Layout::InBuffer => walk(
                            cell.shape,
                            cell.strides,
                            &mut InBuffer::new(&mut pool),
                            &mut frame,
                            &mut body,
                        ),
                        Layout::InFrame => walk(
                            cell.shape,
                            cell.strides,
                            &mut InFrame::new(&mut pool),
                            &mut frame,
                            &mut body,
                        ),
                    };
                    ticks += machine::ticks() - from;
                    black_box(arcs);
                }
                ticks
            });
            black_box(body.hash);
            values.push(ticks as f64 / (study.frames * study.frame_size) as f64);
        }
        if !goes_on() {
            break;
        }
    }
    values
}

/// The loads that bring lines to the caches where a study wants them.
struct Caches {
    /// Memory of twice the size of the first-level cache, and of the second-level cache: whoever
    /// reads it has nothing else in that cache.
    first: Vec<u64>,
    second: Vec<u64>,
}

impl Caches {
    fn new() -> Self {
        let memory = |level, otherwise| {
            vec![1; 2 * cache_bytes(level).unwrap_or(otherwise) / size_of::<u64>()]
        };
        Self {
            first: memory(1, 64 * 1024),
            second: memory(2, 2 * 1024 * 1024),
        }
    }

    /// Brings the lines of a frame's packets into their cache levels, as far as the caches'
    /// replacement lets it.
    fn bring(&self, places: CacheLevels, pool: &Pool, frame: &Frame) {
        // The last to be touched stays in the nearest cache.
        for (place, others) in [
            (CacheLevel::Llc, &self.second),
            (CacheLevel::L2, &self.first),
        ] {
            let mut any = false;
            for &buffer in &frame.buffer[..frame.len] {
                if places.header == place {
                    black_box(pool.header(buffer)[0]);
                    any = true;
                }
                if places.data == place {
                    black_box(pool.data(buffer)[0]);
                    any = true;
                }
            }
            if any {
                black_box(
                    others
                        .iter()
                        .step_by(64 / size_of::<u64>())
                        .fold(0_u64, |sum, word| sum.wrapping_add(*word)),
                );
            }
        }
    }
}

/// Bytes of the first CPU's data cache of a level, if the system says so.
fn cache_bytes(level: usize) -> Option<usize> {
    (0..8).find_map(|index| {
        let read = |file| {
            std::fs::read_to_string(format!(
                "/sys/devices/system/cpu/cpu0/cache/index{index}/{file}"
            ))
            .ok()
        };
        let is_it =
            read("level")?.trim() == level.to_string() && read("type")?.trim() != "Instruction";
        let size = read("size")?;
        let (number, unit) = match size.trim() {
            size if size.ends_with('M') => (size.trim_end_matches('M'), 1 << 20),
            size => (size.strip_suffix('K')?, 1 << 10),
        };
        is_it.then_some(number.parse::<usize>().ok()? * unit)
    })
}

/// All buffers in an order that no hardware prefetcher follows.
pub(crate) fn shuffled(count: usize) -> Vec<Buffer> {
    let mut order = (0..count as u32).collect_vec();
    fastrand::Rng::with_seed(1).shuffle(&mut order);
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_buffer_comes_once() {
        let mut order = shuffled(1000);
        order.sort_unstable();
        assert_eq!(order, (0..1000).collect::<Vec<_>>());
    }

    #[test]
    fn a_sweep_has_a_value_for_every_cell_and_repetition() {
        let study = Study {
            frame_size: 256,
            buffers: 1024,
            rounds: 48,
            repetitions: 3,
            frames: 2,
            layout: Layout::InBuffer,
            work: Work::Chained,
            places: CacheLevels::COLD,
        };
        let values = sweep(study, &cells(), || true);
        assert_eq!(values.len(), 11 + 6 + 4 + 10);
        assert!(
            values
                .iter()
                .all(|v| v.len() == 3 && v.iter().all(|ticks| *ticks > 0.0))
        );
    }
}
