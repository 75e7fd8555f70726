//! A loop in Rust: a packet's flow is looked up in a table, and counted there. Two lines per
//! packet, of which the first says where the second is.
//!
//! ```text
//! cargo build --release -p stopwatt-loop --example flow_table
//! stopwatt tune --loop target/release/examples/libflow_table.so
//! ```

use std::ffi::{CStr, c_void};
use stopwatt_loop::{Knob, PacketLoop, Record, export, prefetch};

/// A packet as it came: the start of its header.
#[repr(align(64))]
struct Packet {
    flow: u32,
    length: u32,
}

/// A flow's counters.
#[repr(align(64))]
#[derive(Clone, Copy, Default)]
struct Flow {
    packets: u64,
    bytes: u64,
}

struct FlowTable {
    packets: Vec<Packet>,
    flows: Vec<Flow>,
}

impl PacketLoop for FlowTable {
    const NAME: &'static CStr = c"flow-table";
    const KNOBS: &'static [Knob] = &[
        Knob::distance(c"packet", c"PACKET_AHEAD", 4),
        // The packet holds the flow's index, so that its line must be read first.
        Knob::distance(c"flow", c"FLOW_AHEAD", 2).after(0),
    ];
    const RECORD_BYTES: u64 = 128;

    fn set_up(count: usize, seed: u64) -> Option<Self> {
        let odd = (seed as usize * 2) | 1;
        let packet = |index: usize| Packet {
            flow: (index.wrapping_mul(odd) % count) as u32,
            length: 64,
        };
        let (mut packets, mut flows) = (Vec::new(), Vec::new());
        packets.try_reserve_exact(count).ok()?;
        flows.try_reserve_exact(count).ok()?;
        packets.extend((0..count).map(packet));
        flows.resize(count, Flow::default());
        Some(Self { packets, flows })
    }

    fn run(&mut self, records: &[Record], values: &[u32]) {
        let (packet_ahead, flow_ahead) = (values[0] as usize, values[1] as usize);
        for (at, record) in records.iter().enumerate() {
            if packet_ahead > 0
                && let Some(later) = records.get(at + packet_ahead)
            {
                prefetch(&self.packets[later.index()]);
            }
            if flow_ahead > 0
                && let Some(later) = records.get(at + flow_ahead)
            {
                prefetch(&self.flows[self.packets[later.index()].flow as usize]);
            }
            let packet = &self.packets[record.index()];
            let flow = &mut self.flows[packet.flow as usize];
            flow.packets += 1;
            flow.bytes += u64::from(packet.length);
        }
    }
}

export!(FlowTable);

/// The result for a packet: the counters of its flow, as one number.
///
/// # Safety
/// `state` is from this loop's `set_up`, and `record` is one of its own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stopwatt_results(
    _: u32,
    state: *const c_void,
    record: *const c_void,
) -> u64 {
    // SAFETY: by this function's own contract.
    let table = unsafe { &*state.cast::<FlowTable>() };
    let flow = table.flows[table.packets[record.addr()].flow as usize];
    flow.packets << 32 | flow.bytes
}
