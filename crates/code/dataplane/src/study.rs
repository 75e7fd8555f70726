//! The loop of the stride study: the first node that looks at a packet, in the shape of the slides.
//!
//! It is the hot path of `ethernet-input` with metadata in a line of its own: read the metadata,
//! read the Ethernet header, classify, note the result. [`StudyBody::rounds`] adds work on the
//! header, for cores so wide that the bare loop hides its misses by itself.

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
#[derive(Default)]
pub struct StudyBody {
    /// Rounds of a hash over the header: extra work a packet, a multiplication each.
    pub rounds: u32,
    /// The dependence of rounds.
    pub work: Work,
    /// Folds what was hashed, so that the work is not dead.
    pub hash: u64,
}

/// The dependence of the rounds of a packet's work.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Work {
    /// Each needs the one before. A core that reorders overlaps the chains of several packets, so a
    /// loop of several columns gains without any prefetch.
    #[default]
    Chained,
    /// Four chains side by side: a core overlaps the rounds of one packet, and a loop of several
    /// columns gains little by it.
    Independent,
}

/// Chains of [`Work::Independent`].
const CHAINS: usize = 4;

const PRIME: u64 = 0x0100_0000_01b3;

#[inline(always)]
fn hashed(rounds: u32, work: Work, loaded: &[u8; 16]) -> u64 {
    let seed = u64::from(loaded[5]) | 1;
    let byte = |round: u32| u64::from(loaded[(round & 15) as usize]);
    match work {
        Work::Chained => {
            (0..rounds).fold(seed, |hash, round| (hash ^ byte(round)).wrapping_mul(PRIME))
        }
        Work::Independent => {
            let mut hashes = [seed; CHAINS];
            for round in 0..rounds / CHAINS as u32 {
                for hash in &mut hashes {
                    *hash = (*hash ^ byte(round)).wrapping_mul(PRIME);
                }
            }
            // As many multiplications as in a chain.
            let rest = (0..rounds % CHAINS as u32)
                .fold(seed, |hash, round| (hash ^ byte(round)).wrapping_mul(PRIME));
            hashes
                .into_iter()
                .fold(rest, |all, hash| all.rotate_left(7) ^ hash)
        }
    }
}

impl<M: PacketMemory> Body<M> for StudyBody {
    type Loaded = [u8; 16];

    #[inline(always)]
    fn expected(&self, _frame: &Frame, _row: usize) -> u8 {
        NEXT_IP4
    }

    #[inline(always)]
    fn load(&self, memory: &mut M, frame: &Frame, row: usize) -> [u8; 16] {
        let meta = memory.meta(frame, row);
        memory.load(frame.buffer[row], meta.offset as usize)
    }

    #[inline(always)]
    fn finish(
        &mut self,
        memory: &mut M,
        frame: &mut Frame,
        row: usize,
        loaded: [u8; 16],
    ) -> Option<u8> {
        let next = match [loaded[12], loaded[13]] {
            [0x08, 0x00] => NEXT_IP4,
            [0x81, 0x00] => NEXT_TAGGED,
            _ => NEXT_OTHER,
        };
        self.hash ^= hashed(self.rounds, self.work, &loaded);
        memory.set_meta(frame, row, 14, next);
        Some(next)
    }
}
