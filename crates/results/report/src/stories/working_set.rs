//! `batch` on a modelled core: in which cache each node finds the lines of a frame.

use super::story::Story;
use crate::blocks::{Blocks, Curve, Drawing, Picture, Table, fixed, name, percent, whole};
use findings::working_set::{HARDLY_ANY, LATER, Node, NodeTime, Prediction, Way, WorkingSet};

impl Story for WorkingSet<'_> {
    fn tell(&self, told: &mut Blocks) {
        told.answer(answer(self));
        if let Some(of) = self.predicted.last() {
            told.answer(whole_path(of));
        }
        let by_stride = |stride: u64| {
            let ways = self
                .frame_sizes
                .iter()
                .filter(move |way| way.buffer_bytes == stride);
            let points = ways.map(|way| (way.frame_size as f64, way.beyond_l1(LATER)));
            Curve::new(format!("stride {stride}"), points)
        };
        let curves = strides(&self.frame_sizes)
            .into_iter()
            .map(by_stride)
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
        }
    }
}

/// The time of each node beside the published one and the guess by instructions.
fn times(of: &Prediction<'_>, source: &str) -> Table {
    let error = |ns: f64, of: &NodeTime<'_>| percent(ns / of.published_ns - 1.0, 0).signed();
    let table = Table::with_rows(&of.times)
        .words("node", |of| name(of.node))
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

/// The predicted time of all nodes beside the published one.
fn whole_path(of: &Prediction<'_>) -> String {
    let sum = |ns: fn(&NodeTime<'_>) -> f64| of.times.iter().map(ns).sum::<f64>();
    format!(
        "By the model the {} nodes of the slides take {:.0} ns a packet; {:.0} ns are published.",
        of.times.len(),
        sum(|of| of.ns),
        sum(|of| of.published_ns)
    )
}

/// The strides of the ways of one size, in their order.
fn strides(ways: &[Way<'_>]) -> Vec<u64> {
    let size = |way: &Way<'_>| (way.frame_size, way.pool);
    ways.chunk_by(|a, b| size(a) == size(b))
        .next()
        .unwrap_or_default()
        .iter()
        .map(|way| way.buffer_bytes)
        .collect()
}

/// The frames whose lines stay in L1, and the buffers whose metadata stay in L2.
fn answer(found: &WorkingSet<'_>) -> String {
    let (l1, l2) = (found.l1_bytes / 1024, found.l2_bytes / 1024);
    let frames = kept(
        &found.frame_sizes,
        |way| way.frame_size,
        |way| way.beyond_l1(LATER),
    );
    let buffers = kept(
        &found.pools,
        |way| way.pool,
        |way| way.metadata_from_memory(),
    );
    format!(
        "At all {} strides of buffers, frames of {frames} packets stay in L1 ({l1} KB) from node to node. \
         Metadata of {buffers} buffers stay in L2 ({l2} KB).",
        strides(&found.frame_sizes).len()
    )
}

/// The sizes at which hardly an access is lost at any stride, in words.
fn kept(ways: &[Way<'_>], size: fn(&Way<'_>) -> u64, lost: fn(&Way<'_>) -> f64) -> String {
    let sizes = ways.chunk_by(|a, b| size(a) == size(b));
    let keeps = |ways: &&[Way<'_>]| ways.iter().all(|way| lost(way) < HARDLY_ANY);
    match sizes.take_while(keeps).last() {
        Some(ways) => format!("up to {}", size(&ways[0])),
        None => format!("less than {}", ways.first().map_or(0, size)),
    }
}

fn table(ways: &[Way<'_>]) -> Table {
    let nodes = ways.first().map_or(&[][..], |way| &way.nodes);
    let table = Table::with_rows(ways)
        .numbers("buffers", |way| whole(way.pool as f64))
        .numbers("frame", |way| whole(way.frame_size as f64))
        .numbers("stride, bytes", |way| whole(way.buffer_bytes as f64))
        .numbers("touches, KB", |way| fixed(way.kb(), 1));
    let table = table.each(nodes.iter().enumerate(), |table, (at, node)| {
        let of = move |way: &Way<'_>, value: fn(&Node<'_>) -> f64| {
            fixed(way.nodes.get(at).map_or(0.0, value), 2)
        };
        table
            .grouped(node.node, "L2", move |way| of(way, |node| node.l2))
            .grouped(node.node, "memory", move |way| of(way, |node| node.memory))
    });
    table.done()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A way whose node [`LATER`] makes some accesses beyond L1.
    fn way(frame_size: u64, buffer_bytes: u64, l2: f64) -> Way<'static> {
        let nodes = vec![Node {
            node: LATER,
            l2,
            memory: 0.0,
            data: Vec::new(),
        }];
        Way {
            frame_size,
            pool: 1024,
            buffer_bytes,
            bytes: [0; 3],
            nodes,
        }
    }

    #[test]
    fn a_size_is_kept_where_every_stride_keeps_it() {
        let way = |size, l2| way(size, 4096, l2);
        let ways = [
            way(64, 0.0),
            way(64, 0.01),
            way(128, 0.0),
            way(128, 2.0),
            way(256, 0.0),
        ];
        let kept = |ways: &[Way<'_>]| kept(ways, |way| way.frame_size, |way| way.beyond_l1(LATER));
        assert_eq!(kept(&ways), "up to 64");
        assert_eq!(kept(&ways[3..]), "less than 128");
        assert_eq!(kept(&[]), "less than 0", "a recording of another version");
    }
}
