//! `batch` on a modelled core: in which cache each node finds the lines of a frame.

use super::story::Story;
use crate::blocks::{Blocks, Curve, Drawing, Picture, Table, fixed, percent, whole};
use crate::words::packets;
use findings::working_set::{LATER, Node, NodeTime, Prediction, Way, WorkingSet};

impl Story for WorkingSet<'_> {
    fn tell(&self, told: &mut Blocks) {
        told.answer(packets::kept(self));
        told.answers(packets::whole_path(self));
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
        for of in &self.predicted {
            told.table(times(of, self.source));
            let waits = Table::with_rows(&of.waits)
                .words("node", |wait| wait.node)
                .words("data", |wait| wait.kind)
                .numbers("waits, ns", |wait| fixed(wait.ns, 2))
                .done();
            told.table(
                waits
                    .titled(format!(
                        "Waits per packet for a line, nodes {}",
                        written(of)
                    ))
                    .noted("By the modelled core. What receive waits is an upper bound: nothing overlaps there."),
            );
        }
    }
}

/// The time of each node beside the published one and the guess by instructions.
fn times(of: &Prediction<'_>, source: &str) -> Table {
    let error = |ns: f64, of: &NodeTime<'_>| percent(ns / of.published_ns - 1.0, 0).signed();
    let table = Table::with_rows(&of.times)
        .words("node", |of| of.node)
        .numbers("instructions", |of| fixed(of.instructions, 2))
        .numbers("published, ns", |of| whole(of.published_ns))
        .grouped("predicted", "ns", |of| fixed(of.ns, 1))
        .grouped("predicted", "error", |row| error(row.ns, row))
        .grouped("by instructions", "ns", |of| fixed(of.in_proportion_ns, 1))
        .grouped("by instructions", "error", |row| {
            error(row.in_proportion_ns, row)
        });
    let note = format!(
        "From the lines that a node touches and its instructions on aarch64, at the costs that were fitted to the single \
                 loop of the stride study. The times by instructions alone are in proportion to them, and know the sum of the published times. {source}"
    );
    table
        .done()
        .titled(format!("Times per packet, nodes {}", written(of)))
        .noted(note)
}

/// The way in which nodes were written.
fn written(of: &Prediction<'_>) -> &'static str {
    if of.nodes == "ours" {
        "as ours are"
    } else {
        "that decide per packet"
    }
}

fn table(ways: &[Way<'_>]) -> Table {
    let nodes = ways.first().map_or(&[][..], |way| &way.nodes);
    let table = Table::with_rows(ways)
        .numbers("buffers", |way| whole(way.pool as f64))
        .numbers("frame", |way| whole(way.frame_size as f64))
        .numbers("stride, bytes", |way| whole(way.buffer_bytes as f64))
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
