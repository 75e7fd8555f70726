//! `batch` on a modelled core: in which cache each node finds the lines of a frame.

use super::story::Story;
use crate::blocks::{Blocks, Curve, Drawing, Figure, Picture, Table, fixed, name, percent, whole};
use crate::words::listed;
use findings::working_set::{HARDLY_ANY, LATER, Node, NodeTime, Prediction, Way, WorkingSet};

impl Story for WorkingSet<'_> {
    fn tell(&self, told: &mut Blocks) {
        told.answer(frames(self));
        told.answer(buffers(self));
        self.predicted
            .last()
            .iter()
            .for_each(|of| told.answer(errors(of)));
        let by_stride = |stride: u64| {
            let ways = self
                .frame_sizes
                .iter()
                .filter(move |way| way.buffer_bytes == stride);
            let points = ways.map(|way| {
                (
                    way.frame_size as f64,
                    Figure {
                        value: later(way),
                        published: None,
                    },
                )
            });
            Curve {
                name: format!("stride {stride}"),
                points: points.collect(),
                best: None,
            }
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
        .numbers("instructions", "", |of| fixed(of.instructions, 2))
        .numbers("published", "ns", |of| whole(of.published_ns))
        .grouped("predicted", "ns", "", |of| fixed(of.ns, 1))
        .grouped("predicted", "error", "", |row| error(row.ns, row))
        .grouped("by instructions", "ns", "", |of| {
            fixed(of.in_proportion_ns, 1)
        })
        .grouped("by instructions", "error", "", |row| {
            error(row.in_proportion_ns, row)
        });
    let note = format!(
        "From the lines that a node touches and its instructions on aarch64, at the costs that were fitted to the single \
                 loop of the stride study. The times by instructions alone are in proportion to them, and know the sum of the published times. {}",
        source
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

/// The errors of predicted times, beside those of a trivial predictor.
fn errors(of: &Prediction<'_>) -> String {
    let sum = |ns: fn(&NodeTime<'_>) -> f64| of.times.iter().map(ns).sum::<f64>();
    format!(
        "By the model the {} nodes of the slides take {:.0} ns ({:.0} published), with errors of {:.0} % (rms) node by \
         node; in proportion to instructions, {:.0} %.",
        of.times.len(),
        sum(|of| of.ns),
        sum(|of| of.published_ns),
        of.rms_percent[0],
        of.rms_percent[1]
    )
}

/// Accesses of the second node that looks at packets which go beyond L1, per packet.
fn later(way: &Way<'_>) -> f64 {
    way.beyond_l1(LATER)
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

/// The frames that stay in L1, and those that do not.
fn frames(found: &WorkingSet<'_>) -> String {
    let l1 = found.l1_bytes / 1024;
    let kept = |size| format!("a frame of {size} packets stays in L1 ({l1} KB) from node to node");
    let lost = |size, accesses| {
        format!(
            "with {size} packets and more per frame, {accesses} accesses per packet of the second node that looks at \
             packets go beyond L1"
        )
    };
    for_all(
        (&found.frame_sizes, "packets"),
        |way| way.frame_size,
        later,
        (kept, lost),
    )
}

/// The numbers of buffers whose metadata stay in L2, and those whose do not.
fn buffers(found: &WorkingSet<'_>) -> String {
    let l2 = found.l2_bytes / 1024;
    let kept = |pool| format!("metadata of {pool} buffers that go around stay in L2 ({l2} KB)");
    let lost = |pool, times| {
        format!("with {pool} buffers and more, metadata come from memory {times} times per packet")
    };
    for_all(
        (&found.pools, "buffers"),
        |way| way.pool,
        |way| way.metadata_from_memory(),
        (kept, lost),
    )
}

/// What holds at every stride: up to which size hardly any access misses, and from which on some
/// do; between the two the stride decides.
fn for_all(
    (ways, unit): (&[Way<'_>], &str),
    size: fn(&Way<'_>) -> u64,
    value: fn(&Way<'_>) -> f64,
    (kept, lost): (impl Fn(u64) -> String, impl Fn(u64, String) -> String),
) -> String {
    let sizes: Vec<&[Way<'_>]> = ways.chunk_by(|a, b| size(a) == size(b)).collect();
    // The way with the least of some sizes and that with the most, each with its stride.
    let ends = |sizes: &[&[Way<'_>]]| {
        let mut values: Vec<_> = sizes
            .iter()
            .copied()
            .flatten()
            .map(|way| (value(way), way.buffer_bytes))
            .collect();
        values.sort_by(|a, b| a.0.total_cmp(&b.0));
        Some([*values.first()?, *values.last()?])
    };
    let (keeps, loses) = (
        |way: &Way<'_>| value(way) < HARDLY_ANY,
        |way: &Way<'_>| value(way) >= HARDLY_ANY,
    );
    let keeping = sizes
        .iter()
        .take_while(|ways| ways.iter().all(keeps))
        .count();
    let losing = sizes.len()
        - sizes
            .iter()
            .rev()
            .take_while(|ways| ways.iter().all(loses))
            .count();
    let last_kept = sizes[..keeping].last().map(|ways| kept(size(&ways[0])));
    let range = |[least, most]: [(f64, u64); 2]| match [least, most]
        .map(|(value, _)| format!("{value:.2}"))
    {
        [least, most] if least == most => least,
        [least, most] => format!("{least} to {most}"),
    };
    let first_lost = ends(&sizes[losing..]).map(|ends| lost(size(&sizes[losing][0]), range(ends)));
    let said: Vec<String> = last_kept.into_iter().chain(first_lost).collect();
    let strides = strides(ways);
    let start = match &strides[..] {
        [] => return String::new(),
        [one] => format!("With a stride of buffers of {one} bytes"),
        [first, .., last] => format!(
            "At all {} strides of buffers ({first} to {last} bytes)",
            strides.len()
        ),
    };
    let for_all = (!said.is_empty()).then(|| format!(", {}", said.join(", and ")));
    let between = ends(&sizes[keeping..losing]).map(|[least, most]| {
        let open: Vec<String> = sizes[keeping..losing]
            .iter()
            .map(|ways| size(&ways[0]).to_string())
            .collect();
        let [least, most] =
            [least, most].map(|(value, stride)| format!("{value:.2} ({stride} bytes)"));
        format!(
            "; with {} {unit} the stride decides: {least} to {most}",
            listed(&open)
        )
    });
    [Some(start), for_all, between]
        .into_iter()
        .flatten()
        .collect::<String>()
        + "."
}

fn table(ways: &[Way<'_>]) -> Table {
    let nodes = ways.first().map_or(&[][..], |way| &way.nodes);
    let table = Table::with_rows(ways)
        .numbers("buffers", "", |way| whole(way.pool as f64))
        .numbers("frame", "", |way| whole(way.frame_size as f64))
        .numbers("stride", "bytes", |way| whole(way.buffer_bytes as f64))
        .numbers("touches", "KB", |way| fixed(way.kb(), 1));
    let table = table.each(nodes.iter().enumerate(), |table, (at, node)| {
        let of = move |way: &Way<'_>, value: fn(&Node<'_>) -> f64| {
            fixed(way.nodes.get(at).map_or(0.0, value), 2)
        };
        table
            .grouped(node.node, "L2", "", move |way| of(way, |node| node.l2))
            .grouped(node.node, "memory", "", move |way| {
                of(way, |node| node.memory)
            })
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

    fn told(ways: &[Way<'_>]) -> String {
        let kept = |size| format!("{size} stay");
        let lost = |size, accesses| format!("{size} leave: {accesses}");
        for_all((ways, "packets"), |way| way.frame_size, later, (kept, lost))
    }

    #[test]
    fn what_holds_at_every_stride_is_told_before_what_the_stride_decides() {
        let ways = [
            (64, 0.0, 0.0),
            (128, 0.0, 2.0),
            (256, 1.0, 2.0),
            (512, 2.0, 2.0),
        ];
        let ways: Vec<_> = ways
            .iter()
            .flat_map(|(size, odd, even)| [way(*size, 2432, *odd), way(*size, 4096, *even)])
            .collect();
        assert_eq!(
            told(&ways),
            "At all 2 strides of buffers (2432 to 4096 bytes), 64 stay, and 256 leave: 1.00 to 2.00; with 128 packets \
             the stride decides: 0.00 (2432 bytes) to 2.00 (4096 bytes)."
        );
        assert_eq!(
            told(&ways[..1]),
            "With a stride of buffers of 2432 bytes, 64 stay."
        );
        assert_eq!(told(&[]), "", "a recording of another version");
    }
}
