//! Loops and nodes that others wrote, behind a C interface: `stopwatt tune` takes loops over
//! packets or records, and `stopwatt run dataplane` nodes of a packet graph.
//!
//! A loop is a shared object with one function, [`SYMBOL`], which describes its loops as
//! [`LoopTable`]. Loops in C include `include/stopwatt_loop.h`; a loop in Rust implements
//! [`PacketLoop`], is named in [`export!`], and is built as a `cdylib`:
//!
//! ```
//! use stopwatt_loop::{Knob, PacketLoop, Record, export};
//!
//! struct Sum(Vec<[u64; 8]>, u64);
//!
//! impl PacketLoop for Sum {
//!     const NAME: &'static std::ffi::CStr = c"sum";
//!     const KNOBS: &'static [Knob] = &[Knob::distance(c"line", c"AHEAD", 4)];
//!     const RECORD_BYTES: u64 = 64;
//!
//!     fn set_up(count: usize, seed: u64) -> Option<Self> {
//!         let mut lines = Vec::new();
//!         lines.try_reserve_exact(count).ok()?; // `None` says that there is no memory
//!         lines.resize(count, [seed; 8]);
//!         Some(Self(lines, 0))
//!     }
//!
//!     fn run(&mut self, records: &[Record], values: &[u32]) {
//!         let ahead = values[0] as usize;
//!         for (at, record) in records.iter().enumerate() {
//!             if ahead > 0 && at + ahead < records.len() {
//!                 stopwatt_loop::prefetch(&self.0[records[at + ahead].index()]);
//!             }
//!             self.1 = self.1.wrapping_add(self.0[record.index()][0]);
//!         }
//!     }
//! }
//!
//! export!(Sum);
//! # assert!(Sum::set_up(1 << 55, 1).is_none() && Sum::set_up(8, 1).is_some());
//! ```
//!
//! A node is the same by [`NODE_SYMBOL`] and [`NodeTable`]: `include/stopwatt_node.h` in C,
//! [`PacketNode`] and [`export_nodes!`] in Rust. `examples/own_node.rs` is a whole one.

mod node_table;
mod rust_loops;
mod rust_nodes;
mod table;

pub use node_table::{
    ARCS_MAX, DATA_BYTES, DROP, DropReason, ERROR, INFO, NODE_ABI, NODE_SYMBOL, Name, NodeEntry,
    NodeTable, PRIVATE_MAX, PUNT, Packet, REASONS_MAX,
};
pub use rust_loops::{PacketLoop, Record, prefetch, table_of};
pub use rust_nodes::{PacketNode, node_table_of};
pub use table::{
    ABI, AFTER_NONE, CHOICE, DISTANCE, Entry, KNOBS_MAX, Knob, LINE, LoopTable, RESULTS, Results,
    SYMBOL,
};
