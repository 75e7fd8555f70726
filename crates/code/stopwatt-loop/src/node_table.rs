//! The structures of `include/stopwatt_node.h`.

use std::ffi::{CStr, c_char, c_void};

/// The version of the interface.
pub const NODE_ABI: u32 = 1;

/// Most arcs of a node.
pub const ARCS_MAX: usize = 62;

/// Most reasons of a node, and most counters.
pub const REASONS_MAX: usize = 255;

/// Bytes that may be read and written at a packet's data.
pub const DATA_BYTES: usize = 2048;

/// Most bytes of private data of all nodes of a graph together.
pub const PRIVATE_MAX: usize = 64;

/// The bit of [`Packet::next`] that drops a packet for a reason.
pub const DROP: u16 = 0x100;

/// The bit of [`Packet::next`] that hands a packet to the host for a reason.
pub const PUNT: u16 = 0x200;

/// A reason's weight: the packet is malformed.
pub const ERROR: u32 = 0;

/// A reason's weight: it happens in normal operation.
pub const INFO: u32 = 1;

/// The name of the one function of a shared object.
pub const NODE_SYMBOL: &CStr = c"stopwatt_node";

/// The function of that name: the n-th node, or null.
pub type NodeEntry = unsafe extern "C" fn(n: u32) -> *const NodeTable;

/// A packet of a vector, as a node gets it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct Packet {
    /// The packet, from the Ethernet header on: [`DATA_BYTES`] bytes of it alone.
    pub(crate) data: *mut u8,
    /// Private data of the node; null if it wants none.
    pub(crate) private_data: *mut c_void,
    /// Bytes of the packet.
    pub length: u16,
    /// The arc that it takes, or [`DROP`] or [`PUNT`] with a reason's number.
    pub next: u16,
    /// The interface that it came in on.
    pub interface: u32,
}

impl Packet {
    /// A packet as it is handed to a node, with its first arc.
    ///
    /// # Safety
    /// `data` is to [`DATA_BYTES`] bytes, and `private_data` to as many as the node wants, or null
    /// if it wants none; nobody else uses either while the packet is there.
    #[inline(always)]
    pub const unsafe fn new(
        data: *mut u8,
        private_data: *mut c_void,
        length: u16,
        interface: u32,
    ) -> Self {
        Self {
            data,
            private_data,
            length,
            next: 0,
            interface,
        }
    }

    /// The addresses of the packet's data and of its private data.
    #[inline(always)]
    pub fn places(&self) -> (*mut u8, *mut c_void) {
        (self.data, self.private_data)
    }
}

/// A name of an arc or a counter.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct Name(*const c_char);

impl Name {
    /// A name.
    pub const fn new(name: &'static CStr) -> Self {
        Self(name.as_ptr())
    }

    /// The name.
    pub const fn pointer(self) -> *const c_char {
        self.0
    }
}

// SAFETY: the pointer is to a text that nobody writes, which the maker of a table vouches for.
unsafe impl Sync for Name {}

/// A reason for which a node drops packets, or hands them to the host.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct DropReason {
    /// The reason, as `show errors` prints it.
    pub text: *const c_char,
    /// [`ERROR`] or [`INFO`].
    pub severity: u32,
}

// SAFETY: as above.
unsafe impl Sync for DropReason {}

impl DropReason {
    /// A packet is malformed.
    pub const fn error(text: &'static CStr) -> Self {
        Self {
            text: text.as_ptr(),
            severity: ERROR,
        }
    }

    /// It happens in normal operation.
    pub const fn info(text: &'static CStr) -> Self {
        Self {
            text: text.as_ptr(),
            severity: INFO,
        }
    }
}

/// A node, as a shared object describes it.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct NodeTable {
    /// [`NODE_ABI`].
    pub abi: u32,
    /// Entries of `arc`.
    pub arcs: u32,
    /// Entries of `reason`.
    pub reasons: u32,
    /// Entries of `counter`.
    pub counters: u32,
    /// Name of the node.
    pub name: *const c_char,
    /// The first arc's name.
    pub arc: *const Name,
    /// The first reason.
    pub reason: *const DropReason,
    /// The first counter's name.
    pub counter: *const Name,
    /// The private data's name; null if it is this node's alone.
    pub private_name: *const c_char,
    /// Bytes of private data per packet.
    pub private_bytes: u32,
    /// 0.
    pub reserved: u32,
    /// Makes what `run` needs; null if it cannot. May be missing.
    pub set_up: Option<
        unsafe extern "C" fn(options: *const c_char, why: *mut c_char, room: u64) -> *mut c_void,
    >,
    /// The node's work on a vector of packets.
    pub run: Option<
        unsafe extern "C" fn(state: *mut c_void, packets: *mut Packet, n: u64, counters: *mut u64),
    >,
    /// Writes what the node saw of a packet. May be missing.
    pub trace: Option<
        unsafe extern "C" fn(
            state: *const c_void,
            packet: *const Packet,
            text: *mut c_char,
            room: u64,
        ),
    >,
    /// Frees what `set_up` made. May be missing.
    pub tear_down: Option<unsafe extern "C" fn(state: *mut c_void)>,
}

// SAFETY: the pointers are to what nobody writes, which the maker of a table vouches for.
unsafe impl Sync for NodeTable {}
