//! The counters of a node of others, in a room so wide that a number which is far off still lies
//! within it, and is told instead of a crash.
#![expect(unsafe_code, reason = "a shared object counts by a pointer")]

use nix::libc::{_SC_PAGESIZE, mincore, sysconf};
use nix::sys::mman::{MapFlags, ProtFlags, mmap_anonymous, munmap};
use std::ffi::c_void;
use std::num::NonZeroUsize;
use std::ptr::NonNull;
use std::slice::from_raw_parts;

/// A mapping with a node's counters in its middle. The kernel has memory for it only where somebody
/// writes.
pub struct Counters {
    start: NonNull<c_void>,
    /// Numbers on either side of 0.
    wide: usize,
    /// The node's own counters.
    own: usize,
}

// SAFETY: the mapping belongs to this value alone.
unsafe impl Send for Counters {}

const WORD: usize = size_of::<u64>();

/// Bytes of which the kernel is asked at once whether there is memory.
const PIECE: usize = 1 << 23;

impl Counters {
    /// Counters that are 0: every number of 32 bits has its place, or of 20 where the system
    /// reserves no room for that many.
    ///
    /// # Errors
    /// There is no room at all.
    pub fn new(own: usize) -> Result<Self, String> {
        let flags = MapFlags::MAP_PRIVATE | MapFlags::MAP_NORESERVE;
        let of = |wide: usize| {
            let length = NonZeroUsize::new(2 * wide * WORD)?;
            // SAFETY: a new mapping, which nothing else uses.
            let start = unsafe {
                mmap_anonymous(
                    None,
                    length,
                    ProtFlags::PROT_READ | ProtFlags::PROT_WRITE,
                    flags,
                )
            };
            Some(Self {
                start: start.ok()?,
                wide,
                own,
            })
        };
        of(1 << 32)
            .or_else(|| of(1 << 20))
            .ok_or_else(|| "there is no memory for its counters".to_owned())
    }

    /// The first of the node's own counters.
    pub fn first(&self) -> *mut u64 {
        self.start.cast::<u64>().as_ptr().wrapping_add(self.wide)
    }

    /// The node's own counters.
    pub fn own(&self) -> &[u64] {
        // SAFETY: the mapping has them, and the node writes to none of them while this is read.
        unsafe { from_raw_parts(self.first(), self.own) }
    }

    /// The number of a counter that is not the node's own and was written to.
    pub fn astray(&self) -> Option<isize> {
        // SAFETY: it only reads a number of the system.
        let page = unsafe { sysconf(_SC_PAGESIZE) } as usize;
        let (words, own) = (2 * self.wide, 0..self.own as isize);
        let mut there = vec![0; PIECE / page];
        (0..words).step_by(PIECE / WORD).find_map(|piece| {
            let start = self.start.cast::<u64>().as_ptr().wrapping_add(piece);
            // SAFETY: the piece is in the mapping, and `there` has a byte for each of its pages.
            unsafe { mincore(start.cast(), PIECE, there.as_mut_ptr()) };
            there
                .iter()
                .enumerate()
                .filter(|(_, there)| **there & 1 != 0)
                .find_map(|(number, _)| {
                    let at = number * page / WORD;
                    // SAFETY: the page is in the mapping, and no node runs while it is read.
                    let counts = unsafe { from_raw_parts(start.wrapping_add(at), page / WORD) };
                    let first = (piece + at) as isize - self.wide as isize;
                    let mut counts = (first..).zip(counts);
                    counts
                        .find(|(number, count)| **count != 0 && !own.contains(number))
                        .map(|(number, _)| number)
                })
        })
    }
}

impl Drop for Counters {
    fn drop(&mut self) {
        // SAFETY: it is this value's mapping, of that length, and is not used again.
        let _ = unsafe { munmap(self.start, 2 * self.wide * WORD) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_that_is_far_off_is_told_and_own_ones_are_not() {
        let counters = Counters::new(2).unwrap();
        let count = |number: isize| {
            // SAFETY: within the mapping.
            unsafe { *counters.first().offset(number) += 1 };
        };
        count(0);
        count(1);
        assert_eq!((counters.own(), counters.astray()), (&[1, 1][..], None));
        count(1 << 19);
        assert_eq!(counters.astray(), Some(1 << 19));
        count(-7);
        assert_eq!(counters.astray(), Some(-7));
    }
}
