//! The mailboxes between the CPUs and the power controller (SCP).

use engine::Time;
use std::cell::{Cell, RefCell};

/// A command in a channel.
#[derive(Clone, Copy)]
pub(crate) enum Command {
    /// Turn the sender off once it is in WFI.
    Down {
        /// The sender.
        cpu: usize,
        /// True if its cluster goes down with it.
        cluster: bool,
        /// True if an interrupt wakes it again.
        wakes: bool,
    },
    /// Turn a CPU on.
    On {
        /// The CPU that asks.
        sender: usize,
        /// The CPU that is to be turned on.
        cpu: usize,
    },
}

impl Command {
    /// The CPU that wrote the command.
    pub(crate) fn sender(self) -> usize {
        match self {
            Self::Down { cpu, .. } => cpu,
            Self::On { sender, .. } => sender,
        }
    }
}

/// A mailbox and the server of the SCP that it belongs to: a server does one thing at a time, be it
/// a message, a power-down or a power-up.
#[derive(Default)]
pub(crate) struct Channel {
    pub(crate) slot: Cell<Option<Command>>,
    /// When the command was written.
    pub(crate) posted: Cell<Time>,
    /// CPUs that wait for their power, with the time when they asked for it.
    pub(crate) waking: RefCell<Vec<(Time, usize)>>,
    /// SCMI: the command in the slot has its response.
    pub(crate) answered: Cell<bool>,
    /// The CPU that waits for the slot or the response.
    pub(crate) waiter: Cell<Option<usize>>,
}
