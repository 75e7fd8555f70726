//! `batch` on a modelled core: in which cache each node finds the lines of a frame.

use super::story::Story;
use crate::blocks::{Blocks, Curve, Drawing, Picture, Table, fixed};
use crate::words::packets;
use findings::working_set::{LATER, Node, Way, WorkingSet};

impl Story for WorkingSet<'_> {
    fn tell(&self, told: &mut Blocks) {
        told.answer(packets::kept(self));
        let curves = packets::strides(&self.frame_sizes)
            .into_iter()
            .map(|stride| {
                let points = self
                    .frame_sizes
                    .iter()
                    .filter(move |way| way.buffer_bytes == stride)
                    .map(|way| (way.frame_size as f64, way.beyond_l1(LATER)));
                Curve::new(format!("stride {stride}"), points)
            })
            .collect();
        let drawing = Drawing::Curves {
            x: "packets of a frame".to_owned(),
            curves,
        };
        let title = format!(
            "Accesses of {LATER} per packet that go beyond L1, by the stride of buffers in bytes"
        );
        told.picture(Picture::new(title, "a packet", "accesses", drawing));
        let device = match self.device {
            "l2" => "The device writes packets and descriptors into L2.",
            _ => {
                "The device writes packets and descriptors into memory; --data-in l2 is one that writes into L2."
            }
        };
        let note = format!(
            "Accesses per packet that find their line in L2, and in no cache; the others find it in L1. Receive touches a packet's \
             descriptor, its metadata and its index, the two nodes between index, metadata and data, and transmit index, metadata and a \
             descriptor. {device} Sizes and ways of the caches of {} and the stride of the buffers decide it, and no fitted cost.",
            self.platform
        );
        let pool = self.frame_sizes.first().map_or(0, |way| way.pool);
        let by_frame = format!("By packets of a frame and stride of buffers, with {pool} buffers");
        told.table(table(&self.frame_sizes).titled(by_frame).noted(note));
        told.table(table(&self.pools).titled("By buffers that go around, and their stride"));
    }
}

fn table(ways: &[Way<'_>]) -> Table {
    let nodes = ways.first().map_or(&[][..], |way| &way.nodes);
    let table = Table::with_rows(ways)
        .numbers("buffers", |way| way.pool)
        .numbers("frame", |way| way.frame_size)
        .numbers("stride, bytes", |way| way.buffer_bytes)
        .numbers("touches, KB", |way| fixed(way.kb(), 1));
    table
        .each(nodes.iter().enumerate(), |table, (at, node)| {
            let of = move |way: &Way<'_>, value: fn(&Node<'_>) -> f64| {
                fixed(way.nodes.get(at).map_or(0.0, value), 2)
            };
            table
                .grouped(node.node, "L2", move |way| of(way, |node| node.l2))
                .grouped(node.node, "memory", move |way| of(way, |node| node.memory))
        })
        .done()
}
