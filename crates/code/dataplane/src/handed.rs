//! Frames that are handed to code of others: as an array of packets, with pointers.
//!
//! The two loops are here, and not where shared objects are loaded, since this crate is the one
//! that is compiled for speed.
#![expect(unsafe_code, reason = "code of others gets pointers to packets")]

use crate::arcs::{DROP, FIRST_ARC, PUNT, Verdict};
use crate::buffers::{LINE, Pool, SLOT_BYTES};
use crate::frame::{FRAME_MAX, Frame};
use stopwatt_loop::{DATA_BYTES, DROP as DROPPED, PUNT as PUNTED, Packet};

const _: () = assert!(
    DATA_BYTES == crate::buffers::DATA_BYTES,
    "the header says so"
);

/// Makes an array of a frame's packets, and one behind them that is nobody's. With `private_at` each
/// has private data, from that byte of the line in front of it on. Returns where the pool starts.
///
/// # Safety
/// The caller uses the array only as long as nothing else touches the pool, and the private data
/// of a node ends within the line.
pub unsafe fn hand_out(
    pool: &mut Pool,
    frame: &Frame,
    private_at: Option<usize>,
    packets: &mut Vec<Packet>,
) -> *mut u8 {
    let (start, rx) = (pool.start(), u32::from(frame.rx));
    let of = |buffer: u32| start.wrapping_add(buffer as usize * SLOT_BYTES);
    packets.clear();
    let rows = frame.buffers().iter().zip(&frame.length);
    match private_at {
        // SAFETY: a frame's buffers are in the pool and this frame's alone; a slot has a line and
        // behind it `DATA_BYTES` bytes.
        None => packets.extend(rows.map(|(buffer, length)| unsafe {
            Packet::new(
                of(*buffer).wrapping_add(LINE),
                std::ptr::null_mut(),
                *length,
                rx,
            )
        })),
        // SAFETY: as above, and the caller vouches for the private data.
        Some(at) => packets.extend(rows.map(|(buffer, length)| unsafe {
            let slot = of(*buffer);
            Packet::new(
                slot.wrapping_add(LINE),
                slot.wrapping_add(at).cast(),
                *length,
                rx,
            )
        })),
    }
    packets.push(NOBODYS);
    start
}

/// The packet behind those of a frame: a node that writes to it counts wrong.
// SAFETY: nobody uses its data.
const NOBODYS: Packet = unsafe { Packet::new(std::ptr::null_mut(), std::ptr::null_mut(), 0, 0) };

/// The arc and the reason that a packet was given; `None` if its node has none of that number.
#[inline(always)]
pub fn given(packet: &Packet, arcs: usize, reasons: usize) -> Option<(u8, u8)> {
    let number = packet.next & 0xff;
    let (arc, most) = match packet.next & 0xff00 {
        0 => (FIRST_ARC.wrapping_add(number as u8), arcs),
        DROPPED => (DROP, reasons),
        PUNTED => (PUNT, reasons),
        _ => (DROP, 0),
    };
    (usize::from(number) < most && usize::from(packet.length) <= DATA_BYTES)
        .then_some((arc, number as u8))
}

/// Puts what packets were given back into their frame; the pool starts at `start`. `None` if one of
/// them was given what its node has not, is longer than a buffer, or has its data elsewhere: that
/// one, and those behind it, have the lengths then that they had.
pub fn take_back(
    packets: &[Packet],
    frame: &mut Frame,
    start: *mut u8,
    arcs: usize,
    reasons: usize,
) -> Option<Verdict> {
    let first = packets.first()?.next;
    let (mut differs, mut longest, mut moved) = (0, 0, 0);
    let rows = frame.length.iter_mut().zip(&frame.buffer);
    for (packet, (length, buffer)) in packets.iter().zip(rows) {
        let place = start.addr() + *buffer as usize * SLOT_BYTES + LINE;
        moved |= packet.places().0.addr() ^ place;
        differs |= packet.next ^ first;
        longest = longest.max(packet.length);
        *length = if moved == 0 { packet.length } else { *length };
    }
    if moved != 0 {
        return None;
    }
    if differs == 0 && usize::from(first) < arcs && usize::from(longest) <= DATA_BYTES {
        return Some(Verdict::All(FIRST_ARC + first as u8));
    }
    let rows = frame.next.iter_mut().zip(&mut frame.reason);
    for (packet, (next, reason)) in packets.iter().zip(rows).take(FRAME_MAX) {
        (*next, *reason) = given(packet, arcs, reasons)?;
    }
    Some(Verdict::Mixed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffers::Reuse;

    #[test]
    fn a_frame_goes_out_and_comes_back_with_what_each_packet_was_given() {
        let mut pool = Pool::new(4, Reuse::Cycle);
        let mut frame = Frame {
            len: 4,
            rx: 3,
            ..Frame::default()
        };
        pool.allocate(&mut frame.buffer[..4]);
        for row in 0..4 {
            frame.length[row] = 60 + row as u16;
            pool.data_mut(frame.buffer[row])[0] = row as u8;
            pool.header_mut(frame.buffer[row])[8] = 10 + row as u8;
        }
        let mut packets = Vec::new();
        // SAFETY: nothing touches the pool until the packets are back, and one byte is in the line.
        let start = unsafe { hand_out(&mut pool, &frame, Some(8), &mut packets) };
        assert_eq!(packets.pop().unwrap().places(), NOBODYS.places());
        for (row, packet) in packets.iter_mut().enumerate() {
            assert_eq!(
                (packet.bytes()[0], packet.bytes().len(), packet.interface),
                (row as u8, 60 + row, 3)
            );
            // SAFETY: a byte of private data, of which any is a number.
            assert_eq!(*unsafe { packet.private_data::<u8>() }, 10 + row as u8);
            packet.length += 1;
        }
        assert_eq!(
            take_back(&packets, &mut frame, start, 1, 2),
            Some(Verdict::All(FIRST_ARC))
        );
        assert_eq!(frame.length[..4], [61, 62, 63, 64]);
        packets[1].drop_for(1);
        packets[3].punt_for(0);
        assert_eq!(
            take_back(&packets, &mut frame, start, 1, 2),
            Some(Verdict::Mixed)
        );
        assert_eq!(frame.next[..4], [FIRST_ARC, DROP, FIRST_ARC, PUNT]);
        assert_eq!([frame.reason[1], frame.reason[3]], [1, 0]);
        for wrong in [1, DROPPED | 2, PUNTED | 2, 0x300, 0xff00] {
            packets[2].next = wrong;
            assert_eq!(
                (
                    take_back(&packets, &mut frame, start, 1, 2),
                    given(&packets[2], 1, 2)
                ),
                (None, None),
                "{wrong:x}"
            );
        }
        packets[2].take(0);
        packets[2].length = DATA_BYTES as u16 + 1;
        assert_eq!(take_back(&packets, &mut frame, start, 1, 2), None);
    }
}
