//! Bytes a frame touches, by kind of data, from the types themselves.

use dataplane::buffers::{Buffer, LINE};
use dataplane::frame::{FRAME_SIZES, LANE_BYTES};

/// A row of the footprint table, in bytes.
pub struct Footprint {
    /// Packets of a frame.
    pub frame_size: usize,
    /// Buffer indices.
    pub indices: usize,
    /// All lanes of the frame, indices among them: the metadata of the production graph.
    pub lanes: usize,
    /// Metadata lines in front of the buffers: the layout of the stride study.
    pub header_lines: usize,
    /// First lines of the packets' data.
    pub data_lines: usize,
}

/// The table.
pub fn table() -> Vec<Footprint> {
    FRAME_SIZES
        .into_iter()
        .map(|frame_size| Footprint {
            frame_size,
            indices: frame_size * size_of::<Buffer>(),
            lanes: frame_size * LANE_BYTES,
            header_lines: frame_size * LINE,
            data_lines: frame_size * LINE,
        })
        .collect()
}
