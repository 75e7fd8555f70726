//! The points of the simulated SoC's own drivers.

pub use self::soc::*;

use ::points::Point;

::points::points! {
    /// Points of the simulated SoC's own drivers; they explain a message to the power controller.
    pub mod soc {
        /// A CPU waits for the SCP: for the slot (SCPI) or for the response (SCMI); the argument is
        /// the channel.
        SCP_WAIT = 0x0100, "scp-wait", "scp-channel";
        /// The wait for the SCP is over.
        SCP_WAIT_END = 0x0101, "scp-wait-end", "scp-channel";
        /// A CPU waits because the case declares that another reaches the SCP first.
        ORDER_WAIT = 0x0102, "order-wait";
        /// The other CPU has reached the SCP, and the wait is over.
        ORDER_WAIT_END = 0x0103, "order-wait-end";
        /// The SCP takes a command of this CPU; the argument is the channel.
        SCP_TAKES = 0x0104, "scp-takes", "scp-channel";
        /// The SCP is done with a command of this CPU; the argument is the channel.
        SCP_DONE = 0x0105, "scp-done", "scp-channel";
        /// The CPU lost power; the argument is 1 when its cluster did as well.
        POWER_OFF = 0x0106, "power-off", "cluster-too";
        /// The CPU has power again.
        POWER_ON = 0x0107, "power-on";
        /// Lines of the L1 data cache that a flush walks.
        FLUSHED_L1_LINES = 0x0108, "flushed-l1-lines", "cache-lines";
        /// Lines of the L2 cache that a flush walks.
        FLUSHED_L2_LINES = 0x0109, "flushed-l2-lines", "cache-lines";
        /// Most cores that flushed at the same time as this one, itself included.
        FLUSHING_CORES = 0x010a, "flushing-cores", "cores";
        /// Before a cluster's port of the interconnect is closed (0) or opened (1).
        INTERCONNECT = 0x010b, "interconnect", "port-open";
        /// After a cluster's port of the interconnect is closed (0) or opened (1).
        INTERCONNECT_END = 0x010c, "interconnect-end", "port-open";
        /// Hardware starts to flush caches of a CPU in its terminal WFI, its own or those that its
        /// cluster shares.
        HARDWARE_FLUSH = 0x010d, "hardware-flush", "cache-lines";
        /// Hardware has flushed them.
        HARDWARE_FLUSH_END = 0x010e, "hardware-flush-end", "cache-lines";
    }
}

/// The point of an id that can be in a run's events.
pub fn point(id: u16) -> Option<Point> {
    psci::points::psci::ALL
        .iter()
        .chain(ALL)
        .copied()
        .find(|point| point.id() == id)
}

/// Name of a point that can be in a run's events.
pub fn point_name(id: u16) -> &'static str {
    point(id).map_or("unknown", Point::name)
}

/// The stamp that a CPU's runtime instrumentation took at a point; `None` for a point that it does
/// not serve.
pub fn stamp_at(stamps: &psci_cases::Stamps, point: &str) -> Option<u64> {
    (0..)
        .zip(stamps)
        .find(|&(id, _)| point_name(id) == point)
        .map(|(_, &ticks)| ticks)
}
