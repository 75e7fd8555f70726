//! Threads of RCU, by name, whichever compilation they belong to.

use std::fmt::{Display, Formatter, Result};

/// A thread of RCU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Thread {
    GracePeriod,
    Offload(usize),
    OffloadGp(usize),
    OffloadCb(usize),
}

impl Thread {
    /// A number that stands for it.
    pub(crate) fn number(self) -> u32 {
        match self {
            Self::GracePeriod => 0,
            Self::Offload(cpu) => 0x100 | cpu as u32,
            Self::OffloadGp(group) => 0x200 | group as u32,
            Self::OffloadCb(cpu) => 0x300 | cpu as u32,
        }
    }

    /// The thread of a number.
    pub(crate) fn of_number(number: u32) -> Self {
        let index = (number & 0xff) as usize;
        match number >> 8 {
            0 => Self::GracePeriod,
            1 => Self::Offload(index),
            2 => Self::OffloadGp(index),
            _ => Self::OffloadCb(index),
        }
    }
}

impl Display for Thread {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::GracePeriod => f.write_str("the grace-period thread"),
            Self::Offload(cpu) => write!(f, "the offload thread of CPU {cpu}"),
            Self::OffloadGp(group) => write!(f, "the grace-period thread of group {group}"),
            Self::OffloadCb(cpu) => write!(f, "the callback thread of CPU {cpu}"),
        }
    }
}
