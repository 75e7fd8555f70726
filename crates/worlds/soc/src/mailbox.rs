//! The mailboxes between the CPUs and the power controller (SCP).

use std::cell::Cell;

/// A command in a channel.
#[derive(Clone, Copy, Debug)]
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

/// A mailbox and the part of the SCP that serves it.
#[derive(Default)]
pub(crate) struct Channel {
    pub(crate) slot: Cell<Option<Command>>,
    /// SCMI: the command in the slot has its response.
    pub(crate) answered: Cell<bool>,
    /// The CPU that waits for the slot or the response.
    pub(crate) waiter: Cell<Option<usize>>,
}
