//! Nodes in Rust behind the C interface.

use crate::node_table::{DATA_BYTES, DROP, DropReason, NODE_ABI, Name, NodeTable, PUNT, Packet};
use std::ffi::{CStr, c_char, c_void};

impl Packet {
    /// The bytes of the packet, from the Ethernet header on.
    #[inline(always)]
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: who made the packet vouched for `DATA_BYTES` bytes of it alone.
        unsafe { std::slice::from_raw_parts(self.data, (self.length as usize).min(DATA_BYTES)) }
    }

    /// The bytes of the packet, to write.
    #[inline(always)]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and the packet is borrowed alone.
        unsafe { std::slice::from_raw_parts_mut(self.data, (self.length as usize).min(DATA_BYTES)) }
    }

    /// The packet's private data.
    ///
    /// # Safety
    /// The node's [`PacketNode::PRIVATE_BYTES`] are at least those of `T`, whose alignment is at
    /// most 8, and for which any bytes are a value.
    #[inline(always)]
    pub unsafe fn private_data<T>(&mut self) -> &mut T {
        // SAFETY: by this function's own contract, and the packet is borrowed alone.
        unsafe { &mut *self.private_data.cast::<T>() }
    }

    /// The packet goes on by the arc of a number, counted from 0.
    #[inline(always)]
    pub fn take(&mut self, arc: u16) {
        self.next = arc;
    }

    /// The packet is dropped for the reason of a number, counted from 0.
    #[inline(always)]
    pub fn drop_for(&mut self, reason: u16) {
        self.next = DROP | reason;
    }

    /// The packet is handed to the host for the reason of a number, counted from 0.
    #[inline(always)]
    pub fn punt_for(&mut self, reason: u16) {
        self.next = PUNT | reason;
    }
}

/// A node of a packet graph.
pub trait PacketNode: Sized + Send + 'static {
    /// Name of the node.
    const NAME: &'static CStr;
    /// The names of its arcs.
    const ARCS: &'static [Name];
    /// The reasons for which it drops packets or hands them to the host.
    const REASONS: &'static [DropReason] = &[];
    /// The names of what else it counts.
    const COUNTERS: &'static [Name] = &[];

    /// Nodes that give their packets' private data the same name share it; an empty name is none.
    const PRIVATE_NAME: &'static CStr = c"";
    /// Bytes of private data per packet.
    const PRIVATE_BYTES: u32 = 0;

    /// Makes a node from the options in the graph's file.
    ///
    /// # Errors
    /// The reason why it cannot.
    fn set_up(options: &str) -> Result<Self, String>;

    /// Does the work on a vector of packets: each gets its arc or its reason. Counters are the
    /// counts so far, in the order of [`PacketNode::COUNTERS`].
    fn run(&mut self, packets: &mut [Packet], counters: &mut [u64]);

    /// The node's view of a packet, for traces; lines of text.
    fn trace(&self, packet: &Packet) -> String;
}

/// Writes a text and the zero behind it into a room, as much of it as fits.
///
/// # Safety
/// There are `room` bytes to write at `to`.
unsafe fn write(text: &str, to: *mut c_char, room: u64) {
    let Some(most) = room.checked_sub(1) else {
        return;
    };
    let length = text.len().min(most as usize);
    // SAFETY: at most `room` bytes are written, and a text of this side lies elsewhere.
    unsafe {
        std::ptr::copy_nonoverlapping(text.as_ptr().cast(), to, length);
        to.add(length).write(0);
    }
}

unsafe extern "C" fn set_up<N: PacketNode>(
    options: *const c_char,
    why: *mut c_char,
    room: u64,
) -> *mut c_void {
    // SAFETY: the caller hands over a text that ends.
    let options = unsafe { CStr::from_ptr(options) }.to_string_lossy();
    match N::set_up(&options) {
        Ok(made) => Box::into_raw(Box::new(made)).cast(),
        Err(reason) => {
            // SAFETY: the caller hands over that room.
            unsafe { write(&reason, why, room) };
            std::ptr::null_mut()
        }
    }
}

unsafe extern "C" fn run<N: PacketNode>(
    state: *mut c_void,
    packets: *mut Packet,
    n: u64,
    counters: *mut u64,
) {
    // SAFETY: the state is from `set_up` of the same node, the caller hands over `n` packets and as
    // many counters as there are names, and nobody else uses them meanwhile.
    let (state, packets, counters) = unsafe {
        (
            &mut *state.cast::<N>(),
            std::slice::from_raw_parts_mut(packets, n as usize),
            std::slice::from_raw_parts_mut(counters, N::COUNTERS.len()),
        )
    };
    state.run(packets, counters);
}

unsafe extern "C" fn trace<N: PacketNode>(
    state: *const c_void,
    packet: *const Packet,
    text: *mut c_char,
    room: u64,
) {
    // SAFETY: the state is from `set_up` of the same node, the packet is whole, and there is room.
    unsafe { write(&(*state.cast::<N>()).trace(&*packet), text, room) };
}

unsafe extern "C" fn tear_down<N: PacketNode>(state: *mut c_void) {
    // SAFETY: the state is from `set_up` of the same node, and is not used again.
    drop(unsafe { Box::from_raw(state.cast::<N>()) });
}

/// A node as its table; [`export_nodes!`](crate::export_nodes) uses it.
pub const fn node_table_of<N: PacketNode>() -> NodeTable {
    NodeTable {
        abi: NODE_ABI,
        arcs: N::ARCS.len() as u32,
        reasons: N::REASONS.len() as u32,
        counters: N::COUNTERS.len() as u32,
        name: N::NAME.as_ptr(),
        arc: N::ARCS.as_ptr(),
        reason: N::REASONS.as_ptr(),
        counter: N::COUNTERS.as_ptr(),
        private_name: N::PRIVATE_NAME.as_ptr(),
        private_bytes: N::PRIVATE_BYTES,
        reserved: 0,
        set_up: Some(set_up::<N>),
        run: Some(run::<N>),
        trace: Some(trace::<N>),
        tear_down: Some(tear_down::<N>),
    }
}

/// Makes nodes the ones of this shared object, in their order.
#[macro_export]
macro_rules! export_nodes {
    ($($packet_node:ty),+ $(,)?) => {
        /// The n-th node of this shared object.
        #[unsafe(no_mangle)]
        pub extern "C" fn stopwatt_node(n: u32) -> *const $crate::NodeTable {
            static NODES: &[$crate::NodeTable] = &[$($crate::node_table_of::<$packet_node>()),+];
            NODES.get(n as usize).map_or(std::ptr::null(), |table| table as *const _)
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Drops packets whose first byte is as its options say, and counts the others.
    struct First(u8);

    impl PacketNode for First {
        const NAME: &'static CStr = c"first";
        const ARCS: &'static [Name] = &[Name::new(c"on"), Name::new(c"aside")];
        const REASONS: &'static [DropReason] = &[DropReason::error(c"it starts so")];
        const COUNTERS: &'static [Name] = &[Name::new(c"others")];
        const PRIVATE_BYTES: u32 = 8;

        fn set_up(options: &str) -> Result<Self, String> {
            options
                .parse()
                .map(Self)
                .map_err(|_| format!("`{options}` is no byte"))
        }

        fn run(&mut self, packets: &mut [Packet], counters: &mut [u64]) {
            for packet in packets {
                // SAFETY: eight bytes, of which any are a number.
                *unsafe { packet.private_data::<u64>() } += 1;
                if packet.bytes()[0] == self.0 {
                    packet.drop_for(0);
                } else {
                    packet.bytes_mut()[0] = 9;
                    packet.take(1);
                    counters[0] += 1;
                }
            }
        }

        fn trace(&self, packet: &Packet) -> String {
            format!("starts with {}", packet.bytes()[0])
        }
    }

    #[test]
    fn what_goes_in_by_the_c_interface_arrives_and_comes_back() {
        let table = node_table_of::<First>();
        assert_eq!(
            (table.abi, table.arcs, table.reasons, table.counters),
            (NODE_ABI, 2, 1, 1)
        );
        let (set_up, run, trace) = (
            table.set_up.unwrap(),
            table.run.unwrap(),
            table.trace.unwrap(),
        );
        let mut text = [1; 12];
        let (mut data, mut private, mut counters) =
            ([[7_u8; DATA_BYTES], [8; DATA_BYTES]], [1_u64, 2], [40]);
        // SAFETY: options that end, room as it is said, packets with their data, and a state of the
        // same node.
        unsafe {
            assert!(set_up(c"x".as_ptr(), text.as_mut_ptr(), 12).is_null());
            assert_eq!(CStr::from_ptr(text.as_ptr()), c"`x` is no b");
            let state = set_up(c"7".as_ptr(), text.as_mut_ptr(), 12);
            let mut packets = [0, 1].map(|at| {
                Packet::new(
                    (&raw mut data[at]).cast(),
                    (&raw mut private[at]).cast(),
                    60,
                    0,
                )
            });
            run(state, packets.as_mut_ptr(), 2, counters.as_mut_ptr());
            assert_eq!(packets.map(|packet| packet.next), [DROP, 1]);
            trace(state, &packets[1], text.as_mut_ptr(), 12);
            assert_eq!(CStr::from_ptr(text.as_ptr()), c"starts with");
            table.tear_down.unwrap()(state);
        }
        assert_eq!((data[1][0], private, counters), (9, [2, 3], [41]));
    }
}
