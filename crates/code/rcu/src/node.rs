//! The tree: CPUs report to leaves, leaves to the nodes above them, so that no lock is fought over
//! by all CPUs.

use crate::cell::SharedWord;
use crate::lock::Spin;
use crate::plain::PlainList;
use crate::platform::Platform;
use crate::sequence::Sequence;
use alloc::vec::Vec;

/// Bit in the mask of a leaf: readers that were preempted inside a read section hold the grace
/// period up. The bits below it are the CPUs'.
pub(crate) const READERS: u64 = 1 << 63;

/// A reader that was preempted inside a read section.
pub(crate) struct BlockedReader {
    /// Id of the reader.
    pub(crate) reader: u32,
    /// It holds up the grace period with this number, and every later one.
    pub(crate) from: Sequence,
}

/// A node of the tree.
pub(crate) struct Node<P: Platform> {
    pub(crate) lock: Spin<P>,
    /// The CPUs or children that still have to report in the grace period that runs, a bit each.
    pub(crate) mask: P::Shared<u64>,
    /// CPUs of a leaf that are online.
    pub(crate) online: P::Shared<u64>,
    /// The grace-period number, as far as this node knows.
    pub(crate) sequence: P::Shared<u64>,
    /// The latest end that was asked for here.
    pub(crate) needed: P::Shared<u64>,
    /// The node above and this node's bit in it; none for the root.
    pub(crate) parent: Option<(usize, u64)>,
    /// All children's bits; in a leaf, all CPUs'.
    pub(crate) children: u64,
    /// The first CPU of a leaf, and how many it has; no CPU in a node that is no leaf.
    pub(crate) first_cpu: usize,
    pub(crate) cpus: usize,
    /// Under the lock, in a leaf: the readers that were preempted on its CPUs.
    pub(crate) blocked: PlainList<Vec<BlockedReader>, P>,
}

impl<P: Platform> Node<P> {
    pub(crate) fn is_leaf(&self) -> bool {
        self.cpus > 0
    }

    /// The CPUs of a leaf, and their bits.
    pub(crate) fn members(&self) -> impl Iterator<Item = (usize, u64)> + use<P> {
        (self.first_cpu..self.first_cpu + self.cpus)
            .enumerate()
            .map(|(bit, cpu)| (cpu, 1 << bit))
    }
}

fn low_bits(count: usize) -> u64 {
    u64::MAX >> (64 - count)
}

/// The nodes, the root first and the leaves last, and the index of the first leaf.
pub(crate) fn tree<P: Platform>(
    cpus: usize,
    leaf_fanout: usize,
    interior_fanout: usize,
) -> (Vec<Node<P>>, usize) {
    // Widths of the levels, from the leaves up.
    let mut widths = Vec::from([cpus.div_ceil(leaf_fanout)]);
    while let Some(&width) = widths.last()
        && width > 1
    {
        widths.push(width.div_ceil(interior_fanout));
    }
    let mut nodes = Vec::new();
    let mut above = 0;
    for (level, &width) in widths.iter().enumerate().rev() {
        let first = nodes.len();
        for index in 0..width {
            let (below, fanout) = if level == 0 {
                (cpus, leaf_fanout)
            } else {
                (widths[level - 1], interior_fanout)
            };
            let members = fanout.min(below - index * fanout);
            let parent = (first > 0).then(|| {
                (
                    above + index / interior_fanout,
                    1 << (index % interior_fanout),
                )
            });
            nodes.push(Node {
                lock: Spin::new((first + index) as u32),
                mask: P::Shared::new(0),
                online: P::Shared::new(if level == 0 { low_bits(members) } else { 0 }),
                sequence: P::Shared::new(0),
                needed: P::Shared::new(0),
                parent,
                children: low_bits(members),
                first_cpu: if level == 0 { index * leaf_fanout } else { 0 },
                cpus: if level == 0 { members } else { 0 },
                blocked: PlainList::empty(),
            });
        }
        above = first;
    }
    let first_leaf = nodes.len() - widths[0];
    (nodes, first_leaf)
}
