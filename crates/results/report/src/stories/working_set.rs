//! `batch` on a modelled core: in which cache each node finds the lines of a frame.

use super::story::Story;
use crate::blocks::{Blocks, Curve, Drawing, Figure, Picture, Table, fixed, whole};
use findings::working_set::{HARDLY_ANY, LATER, Node, Way, WorkingSet};

impl Story for WorkingSet<'_> {
    fn tell(&self, told: &mut Blocks) {
        told.answer(frames(self));
        told.answer(buffers(self));
        let curves = Vec::from_iter(["receive", "classify", LATER, "transmit"].map(|node| {
            Curve {
                name: node.to_owned(),
                points: self
                    .frame_sizes
                    .iter()
                    .map(|way| (way.frame_size as f64, Figure { value: way.beyond_l1(node), published: None }))
                    .collect(),
                best: None,
            }
        }));
        let drawing = Drawing::Curves { x: "packets of a frame".to_owned(), curves };
        told.picture(Picture::new("Accesses per packet that go beyond L1", "a packet", "accesses", drawing));
        let device = match self.device {
            "l2" => "The device writes packets and descriptors into L2.",
            _ => "The device writes packets and descriptors into memory; --data-in l2 is one that writes into L2.",
        };
        let note = format!(
            "Accesses per packet that find their line in L2, and in no cache; the others find it in L1. Receive touches a packet's \
             descriptor, its metadata and its index, the two nodes between index, metadata and data, and transmit index, metadata and a \
             descriptor. {device} Sizes and ways of the caches of {} decide it, and no fitted cost.",
            self.platform
        );
        told.table(
            table(&self.frame_sizes)
                .titled(format!(
                    "By packets of a frame, with {} buffers",
                    self.frame_sizes.first().map_or(0, |way| way.pool)
                ))
                .noted(note),
        );
        told.table(table(&self.pools).titled("By buffers that go around"));
    }
}

/// The largest frame that stays in L1, and the smallest that does not.
fn frames(found: &WorkingSet<'_>) -> String {
    let l1 = found.l1_bytes / 1024;
    let fits = found.frame_sizes.iter().take_while(|way| way.beyond_l1(LATER) < HARDLY_ANY).last();
    let leaves = found.frame_sizes.iter().find(|way| way.beyond_l1(LATER) >= HARDLY_ANY);
    let fitting = fits.map(|way| {
        format!(
            "A frame of {} packets touches {} KB and stays in L1 ({l1} KB) from node to node.",
            way.frame_size,
            fixed(way.kb(), 1)
        )
    });
    let leaving = leaves.map(|way| {
        format!(
            "A frame of {} touches {} KB, and {} accesses per packet of the second node that looks at packets go \
                 beyond L1.",
            way.frame_size,
            fixed(way.kb(), 1),
            fixed(way.beyond_l1(LATER), 2)
        )
    });
    fitting.into_iter().chain(leaving).collect::<Vec<_>>().join(" ")
}

/// The most buffers whose metadata stay in L2, and the fewest whose do not.
fn buffers(found: &WorkingSet<'_>) -> String {
    let l2 = found.l2_bytes / 1024;
    let kept = found.pools.iter().take_while(|way| way.metadata_from_memory() < HARDLY_ANY).last();
    let lost = found.pools.iter().find(|way| way.metadata_from_memory() >= HARDLY_ANY);
    let kept = kept.map(|way| {
        format!(
            "With up to {} buffers going around, a buffer's metadata is still in L2 ({l2} KB) when the buffer \
                 comes again.",
            way.pool
        )
    });
    let lost = lost.map(|way| {
        format!(
            "With {} buffers it comes from memory: {} accesses per packet.",
            way.pool,
            fixed(way.metadata_from_memory(), 2)
        )
    });
    kept.into_iter().chain(lost).collect::<Vec<_>>().join(" ")
}

fn table(ways: &[Way<'_>]) -> Table {
    let nodes = ways.first().map_or(&[][..], |way| &way.nodes);
    let table = Table::with_rows(ways)
        .numbers("buffers", "", |way| whole(way.pool as f64))
        .numbers("frame", "", |way| whole(way.frame_size as f64))
        .numbers("touches", "KB", |way| fixed(way.kb(), 1));
    let table = table.each(nodes.iter().enumerate(), |table, (at, node)| {
        let of = move |way: &Way<'_>, value: fn(&Node<'_>) -> f64| fixed(way.nodes.get(at).map_or(0.0, value), 2);
        table.grouped(node.node, "L2", "", move |way| of(way, |node| node.l2)).grouped(
            node.node,
            "memory",
            "",
            move |way| of(way, |node| node.memory),
        )
    });
    table.done()
}
