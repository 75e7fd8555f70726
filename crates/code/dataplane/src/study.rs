//! The loop of the stride study: the first node that looks at a packet, in the shape of the slides.
//!
//! It is the hot path of `ethernet-input` with metadata in a line of its own: read the metadata, read the Ethernet header,
//! classify, note the result. [`StudyBody::rounds`] adds work on the header, for cores so wide that the bare loop hides its misses
//! by itself.

use crate::frame::Frame;
use crate::memory::PacketMemory;
use crate::walk::Body;

/// Arc for IPv4 packets.
pub const NEXT_IP4: u8 = 0;
/// Arc for tagged packets.
pub const NEXT_TAGGED: u8 = 1;
/// Arc for everything else.
pub const NEXT_OTHER: u8 = 2;

/// Classifies packets by EtherType.
#[derive(Clone, Copy, Debug, Default)]
pub struct StudyBody {
    /// Rounds of a hash over the header: extra work a packet, in dependent multiplications.
    pub rounds: u32,
    /// Folds what was hashed, so that the work is not dead.
    pub hash: u64,
}

impl<M: PacketMemory> Body<M> for StudyBody {
    type Loaded = [u8; 16];

    #[inline(always)]
    fn load(&self, memory: &mut M, frame: &Frame, lane: usize) -> [u8; 16] {
        let meta = memory.meta(frame, lane);
        memory.load(frame.buffer[lane], meta.offset as usize)
    }

    #[inline(always)]
    fn finish(&mut self, memory: &mut M, frame: &mut Frame, lane: usize, loaded: [u8; 16]) -> u8 {
        let next = match [loaded[12], loaded[13]] {
            [0x08, 0x00] => NEXT_IP4,
            [0x81, 0x00] => NEXT_TAGGED,
            _ => NEXT_OTHER,
        };
        let mut hash = u64::from(loaded[5]) | 1;
        for round in 0..self.rounds {
            hash = (hash ^ u64::from(loaded[(round & 15) as usize])).wrapping_mul(0x0100_0000_01b3);
        }
        self.hash ^= hash;
        memory.set_meta(frame, lane, 14, next);
        next
    }
}
