//! The cost of each kind of access to a packet on this machine, one kind at a time: where the time
//! of a loop without prefetches goes.

use crate::host::{Study, shuffled};
use crate::slice::Slices;
use dataplane::buffers::{Pool, Reuse};
use dataplane::frame::Frame;
use dataplane::machine;
use dataplane::memory::{InBuffer, Meta, PacketMemory, write_header_line};
use std::hint::black_box;

/// Kinds of accesses, in the order in which a loop makes them.
pub const KINDS: [&str; 3] = [
    "descriptor in the frame",
    "metadata line of the buffer",
    "first line of the data",
];

/// Ticks of each kind of access, one value for each repetition. The buffers are gone through in no
/// order, so that those of a frame are as cold as in the study.
pub fn measure(study: Study) -> [Vec<f64>; KINDS.len()] {
    let mut pool = Pool::new(study.buffers, Reuse::Hot);
    let order = shuffled(study.buffers);
    let length = dataplane::inputs::PACKET_BYTES;
    for &buffer in &order {
        write_header_line(&mut pool, buffer, Meta { offset: 0, length });
        pool.data_mut(buffer)[0] = buffer as u8;
    }
    let mut frame = Frame::new();
    frame.len = study.frame_size;
    let mut next = 0;
    let mut slices = Slices::default();
    let mut values = KINDS.map(|_| Vec::with_capacity(study.repetitions));
    for _ in 0..study.repetitions {
        for (kind, values) in values.iter_mut().enumerate() {
            let ticks = slices.take(|| {
                let mut ticks = 0;
                for _ in 0..study.frames {
                    for row in 0..study.frame_size {
                        (frame.buffer[row], frame.length[row]) = (order[next], length);
                        next = if next + 1 == order.len() { 0 } else { next + 1 };
                    }
                    let mut memory = InBuffer::new(&mut pool);
                    let from = machine::ticks();
                    for row in 0..study.frame_size {
                        match kind {
                            0 => drop(black_box(frame.length[row])),
                            1 => drop(black_box(memory.meta(&frame, row))),
                            _ => drop(black_box(memory.load::<16>(frame.buffer[row], 0))),
                        }
                    }
                    ticks += machine::ticks() - from;
                }
                ticks
            });
            values.push(ticks as f64 / (study.frames * study.frame_size) as f64);
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_a_value_for_each_repetition() {
        let values = measure(Study {
            buffers: 1024,
            repetitions: 3,
            frames: 2,
            ..Study::default()
        });
        assert!(
            values
                .iter()
                .all(|values| values.len() == 3 && values.iter().all(|ticks| *ticks > 0.0))
        );
    }
}
