//! MEM_PROTECT's memory, which a cold reset overwrites before anybody sees it.
//!
//! All of the normal world's memory, but for what the machine itself fills again at each reset,
//! before the firmware runs: the device tree and the images.

use crate::options::Options;
use core::ops::Range;

/// Number of parts that [`Options::protected`] has at most.
pub const PARTS: usize = 4;
/// Address at which the machine puts its device tree: the start of memory.
const TREE: u64 = 1 << 20;
/// Parts end at multiples of this, so that they can be cleaned line by line.
const GRANULE: u64 = 4096;

impl Options<'_> {
    /// The parts of `memory` that MEM_PROTECT protects, in ascending order, the last ones empty.
    /// What the machine fills is widened to whole pages.
    pub fn protected(&self, memory: &Range<u64>) -> [Range<u64>; PARTS] {
        let widened = |range: Range<u64>| {
            range.start & !(GRANULE - 1)..range.end.saturating_add(GRANULE - 1) & !(GRANULE - 1)
        };
        let tree = memory.start..memory.start.saturating_add(TREE);
        let mut filled = [
            tree,
            widened(self.images()),
            widened(self.initrd.clone().unwrap_or(0..0)),
        ];
        filled.sort_unstable_by_key(|range| range.start);
        let mut parts = [const { 0..0 }; PARTS];
        let mut count = 0;
        let mut from = memory.start;
        for next in filled
            .into_iter()
            .chain(core::iter::once(memory.end..u64::MAX))
        {
            let to = next.start.min(memory.end);
            if from < to {
                parts[count] = from..to;
                count += 1;
            }
            from = from.max(next.end);
        }
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEMORY: Range<u64> = 0x4000_0000..0x8000_0000;

    #[test]
    fn all_but_the_tree_and_the_images() {
        let options = Options::default();
        let parts = [
            0x4010_0000..0x6000_0000,
            0x6400_0000..0x8000_0000,
            0..0,
            0..0,
        ];
        assert_eq!(options.protected(&MEMORY), parts);
        let options = Options {
            initrd: Some(0x7000_0010..0x7000_1001),
            ..Options::default()
        };
        let parts = [
            0x4010_0000..0x6000_0000,
            0x6400_0000..0x7000_0000,
            0x7000_2000..0x8000_0000,
            0..0,
        ];
        assert_eq!(options.protected(&MEMORY), parts);
        let options = Options {
            images: Some(0x4000_0000..0x9000_0000),
            ..Options::default()
        };
        assert_eq!(options.protected(&MEMORY), [0..0, 0..0, 0..0, 0..0]);
        let options = Options {
            images: Some(0x7fff_0000..0x7fff_1000),
            initrd: Some(0..u64::MAX),
            ..Options::default()
        };
        assert_eq!(options.protected(&MEMORY), [0..0, 0..0, 0..0, 0..0]);
    }
}
