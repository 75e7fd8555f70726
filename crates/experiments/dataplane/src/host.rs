//! The stride study on this machine: the same loop, real memory.

use std::hint::black_box;

use dataplane::buffers::{Buffer, Pool, Reuse};
use dataplane::frame::Frame;
use dataplane::machine;
use dataplane::memory::{InBuffer, InFrame, Meta, write_header_line};
use dataplane::study::StudyBody;
use dataplane::walk::{Shape, Strides, walk};

use experiment::Settings;
use recording::Header;

use crate::model::Cell;

/// Where a packet's metadata lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

/// How the study is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Study {
    /// Packets of a frame.
    pub frame_size: usize,
    /// Buffers gone through, in no order, before one comes again: many, and every frame is cold.
    pub buffers: usize,
    /// Rounds of extra work a packet. A wide core hides the misses of a light loop by itself, whatever the strides.
    pub rounds: u32,
    /// Measurements of each cell, all cells in turn.
    pub repetitions: usize,
    /// Frames of a measurement.
    pub frames: usize,
    /// Where metadata lies.
    pub layout: Layout,
}

impl Study {
    /// The study that some settings ask for: those of the crate's `STUDY_SETTINGS`.
    pub(crate) fn of(settings: &Settings) -> Self {
        Self {
            frame_size: settings.number("frame-size") as usize,
            buffers: settings.number("buffers") as usize,
            rounds: settings.number("rounds") as u32,
            repetitions: settings.number("repetitions") as usize,
            frames: settings.number_if_given("frames").unwrap_or(48) as usize,
            layout: if settings.switch("in-frame") { Layout::InFrame } else { Layout::InBuffer },
        }
    }

    /// Notes in a header how the study is made.
    pub(crate) fn describe(&self, header: &mut Header) {
        for (key, value) in [
            ("frame_size", self.frame_size),
            ("frames", self.frames),
            ("buffers", self.buffers),
            ("rounds", self.rounds as usize),
        ] {
            header.settings.insert(key.to_owned(), value.to_string());
        }
    }
}

impl Default for Study {
    fn default() -> Self {
        Self { frame_size: 256, buffers: 128 * 1024, rounds: 48, repetitions: 15, frames: 48, layout: Layout::InBuffer }
    }
}

/// The cells of the slides, no prefetch at all, and the quad loop.
pub fn cells() -> Vec<Cell> {
    let mut cells = Vec::new();
    for (shape, most) in [(Shape::Single, 10), (Shape::Dual, 5), (Shape::Quad, 3)] {
        cells.extend((0..=most).map(|stride| Cell { shape, strides: Strides::both(stride) }));
    }
    let split = [(1, 8), (2, 8), (3, 8), (2, 9), (2, 10), (2, 11), (2, 12), (2, 13), (2, 14), (3, 13)];
    cells.extend(split.map(|(header, data)| Cell { shape: Shape::Single, strides: Strides { header, data } }));
    cells
}

/// Measures cells: ticks per packet, for each cell one value per repetition. `goes_on` is asked after each repetition.
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
    let mut frame = Frame::new();
    frame.len = study.frame_size;
    frame.length.fill(dataplane::inputs::PACKET_BYTES);
    let mut next = 0;
    let mut values = vec![Vec::with_capacity(study.repetitions); cells.len()];
    for _ in 0..study.repetitions {
        for (cell, values) in cells.iter().zip(&mut values) {
            let mut ticks = 0;
            let mut body = StudyBody { rounds: study.rounds, ..StudyBody::default() };
            for _ in 0..study.frames {
                for lane in &mut frame.buffer[..study.frame_size] {
                    *lane = order[next];
                    next = if next + 1 == order.len() { 0 } else { next + 1 };
                }
                let from = machine::ticks();
                let arcs = match study.layout {
                    Layout::InBuffer => {
                        walk(cell.shape, cell.strides, &mut InBuffer::new(&mut pool), &mut frame, &mut body)
                    }
                    Layout::InFrame => {
                        walk(cell.shape, cell.strides, &mut InFrame::new(&mut pool), &mut frame, &mut body)
                    }
                };
                ticks += machine::ticks() - from;
                black_box(arcs);
            }
            black_box(body.hash);
            values.push(ticks as f64 / (study.frames * study.frame_size) as f64);
        }
        if !goes_on() {
            break;
        }
    }
    values
}

/// All buffers in an order that no hardware prefetcher follows.
pub(crate) fn shuffled(count: usize) -> Vec<Buffer> {
    let mut order: Vec<Buffer> = (0..count as u32).collect();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for last in (1..count).rev() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        order.swap(last, (state % (last as u64 + 1)) as usize);
    }
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
        let study = Study { buffers: 1024, repetitions: 3, frames: 2, ..Study::default() };
        let values = sweep(study, &cells(), || true);
        assert_eq!(values.len(), 11 + 6 + 4 + 10);
        assert!(values.iter().all(|v| v.len() == 3 && v.iter().all(|ticks| *ticks > 0.0)));
    }
}
