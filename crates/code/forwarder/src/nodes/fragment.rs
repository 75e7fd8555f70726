//! `ip4-fragment`: splits packets that are longer than the next link takes (RFC 791, section 3.2).

use dataplane::buffers::DATA_BYTES;
use dataplane::checksum;
use dataplane::frame::Frame;
use dataplane::graph::{DROP, FIRST_ARC, Node, Reason, Verdict};
use dataplane::plane::{Emitted, Plane};
use dataplane::trace::ip4_lines;

/// The place where the network header starts.
const L3: usize = 14;
const MORE: u16 = 0x2000;
const REWRITE: u8 = FIRST_ARC;

const NO_BUFFER: u8 = 0;
const REASONS: [Reason; 1] = [Reason::error("no buffer for a fragment")];

/// Arcs: drop, punt, and back to `ip4-rewrite`.
#[derive(Default)]
pub struct Ip4Fragment;

/// Turns options that only the first fragment has into the one that does nothing.
fn keep_copied_options(header: &mut [u8]) {
    const END: u8 = 0;
    const NOTHING: u8 = 1;
    const COPIED: u8 = 0x80;
    let mut at = 20;
    while at < header.len() && header[at] != END {
        if header[at] == NOTHING {
            at += 1;
            continue;
        }
        let length = header.get(at + 1).map_or(0, |length| *length as usize);
        if length < 2 || at + length > header.len() {
            return;
        }
        if header[at] & COPIED == 0 {
            header[at..at + length].fill(NOTHING);
        }
        at += length;
    }
}

fn fragment(plane: &mut Plane, frame: &Frame, row: usize) {
    let (buffer, rx, adjacency) = (frame.buffer[row], frame.rx, frame.adjacency[row]);
    let end = (frame.length[row] as usize).min(DATA_BYTES);
    let mtu = plane.tables.adjacencies.rewrite(adjacency).mtu() as usize;
    let whole: [u8; DATA_BYTES] = *plane.pool.data(buffer);
    let headers = L3 + (whole[L3] & 15) as usize * 4;
    // Without the reserved bit, as the kernel does it.
    let place = u16::from_be_bytes([whole[L3 + 6], whole[L3 + 7]]);
    let (more, place) = (place & MORE, place & 0x1fff);
    let size = (mtu - (headers - L3)) & !7;
    let parts = (end - headers).div_ceil(size);
    let mut buffers = [buffer; DATA_BYTES / 8];
    let extra = plane.pool.allocate(&mut buffers[1..parts]);
    if extra + 1 < parts {
        plane.pool.free(&buffers[1..1 + extra]);
        return plane.emit(Emitted { arc: DROP, rx, buffer, length: end as u16, adjacency, reason: NO_BUFFER });
    }
    // The packet itself becomes the first one.
    plane.generated += extra as u64;
    for (part, &buffer) in buffers[..parts].iter().enumerate() {
        let from = headers + part * size;
        let payload = &whole[from..end.min(from + size)];
        let data = plane.pool.data_mut(buffer);
        data[..headers].copy_from_slice(&whole[..headers]);
        data[headers..headers + payload.len()].copy_from_slice(payload);
        let length = headers + payload.len();
        data[length..(length + 64).min(DATA_BYTES)].fill(0);
        let header = &mut data[L3..headers];
        if part > 0 {
            keep_copied_options(header);
        }
        let is_last = part + 1 == parts;
        let place = (place + (part * size / 8) as u16) | if is_last { more } else { MORE };
        header[2..4].copy_from_slice(&((length - L3) as u16).to_be_bytes());
        header[6..8].copy_from_slice(&place.to_be_bytes());
        header[10..12].fill(0);
        let sum = !checksum::sum(header);
        header[10..12].copy_from_slice(&sum.to_le_bytes());
        plane.emit(Emitted { arc: REWRITE, rx, buffer, length: length as u16, adjacency, reason: 0 });
    }
}

impl Node for Ip4Fragment {
    fn name(&self) -> &str {
        "ip4-fragment"
    }

    fn reasons(&self) -> &'static [Reason] {
        &REASONS
    }

    fn run(&mut self, plane: &mut Plane, frame: &mut Frame) -> Verdict {
        for row in 0..frame.len {
            fragment(plane, frame, row);
        }
        Verdict::Consumed
    }

    fn trace(&self, plane: &Plane, frame: &Frame, row: usize) -> Vec<String> {
        ip4_lines(plane, frame, row)
    }
}
