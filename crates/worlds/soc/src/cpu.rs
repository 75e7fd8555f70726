//! A CPU of the machine: its state, what it waits for, its pending interrupts.

use crate::config::CoreCosts;
use crate::interrupt_source::Interrupts;
use crate::mailbox::Command;
use engine::Time;
use std::cell::Cell;

/// A CPU of the machine; by default off.
#[derive(Default)]
pub(crate) struct Cpu {
    pub(crate) costs: CoreCosts,
    /// The cluster's label.
    pub(crate) cluster: u16,
    /// Lines of the L1 data cache, and of the L2 that the cluster shares.
    pub(crate) l1_lines: u64,
    pub(crate) l2_lines: u64,
    /// Lines of the core's own L2, and of the L3 that the cluster shares.
    pub(crate) own_l2_lines: u64,
    pub(crate) l3_lines: u64,
    pub(crate) caches_on: Cell<bool>,
    /// Dirty lines of the L1 data cache.
    pub(crate) l1_dirty: Cell<u64>,
    /// Calls of the platform's methods and of its shared cells so far.
    pub(crate) calls: Cell<u64>,
    /// When the present call started, and the one before it.
    pub(crate) call_begins: Cell<[Time; 2]>,
    /// The highest level that the present call asks to power down, and by which kind of call.
    pub(crate) asked: Cell<Option<(psci::Level, psci::PowerDown)>>,
    pub(crate) pending_interrupts: Cell<Interrupts>,
    pub(crate) waiting: Cell<Waiting>,
    /// The event register is set when more events were sent than this many, which the CPU's WFEs
    /// have taken note of.
    pub(crate) events_taken: Cell<u64>,
    /// The SCP has taken a CPU_ON for this CPU, which has not started yet.
    pub(crate) turned_on: Cell<bool>,
    /// The SCP has given this CPU power.
    pub(crate) has_power: Cell<bool>,
    /// The process that waits for this CPU's WFI to take its power: of a channel, or of its power
    /// unit.
    pub(crate) watched_by: Cell<Option<usize>>,
    /// The command of the CPU's power unit, where firmware sends no message.
    pub(crate) unit: Cell<Option<Command>>,
    pub(crate) state: Cell<CpuState>,
    /// When the present state started, and the time spent in each, in ps.
    pub(crate) state_since: Cell<Time>,
    pub(crate) state_time: [Cell<Time>; CpuState::NAMES.len()],
    /// True if the CPU has made an SMC since it got power.
    pub(crate) has_called: Cell<bool>,
    /// The SMC that EL3 is to handle, and what it returned.
    pub(crate) call: Cell<Option<psci::Call>>,
    pub(crate) result: Cell<Option<[u64; 4]>>,
}

/// The event that a CPU's process waits for.
#[derive(Clone, Copy, PartialEq, Default)]
pub(crate) enum Waiting {
    #[default]
    Nothing,
    /// An event, in WFE.
    Event,
    /// An interrupt: in WFI with power and clock kept, or while it computes with interrupts on.
    Interrupt,
    /// Power to go, in the terminal WFI, or to come back.
    Power,
    /// The SCP's power-up.
    PowerUp,
    /// The SCP's slot or response.
    Scp,
    /// Waits for its turn in the declared order.
    Order,
}

/// Power state of a CPU.
#[derive(Clone, Copy, Default, PartialEq)]
pub enum CpuState {
    /// It executes, or waits in a WFE or for a message.
    Running,
    /// Waits in WFI with its contents kept.
    Standby,
    /// Without power, to be woken by an interrupt.
    Suspended,
    /// Without power until a CPU_ON.
    #[default]
    Off,
}

impl CpuState {
    /// Their names in recordings, in the order of the states above.
    pub const NAMES: [&str; 4] = ["running", "standby", "suspended", "off"];
}
