//! What processes did, for those who read a schedule.

use crate::place::Place;

/// An operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Did {
    /// It is about to load a word.
    Load {
        /// The word.
        cell: u16,
    },
    /// It loaded a word.
    Loaded {
        /// The word.
        cell: u16,
        /// The value that it got.
        value: u64,
        /// Who had stored another value by then, and which.
        newest: Option<(u8, u64)>,
        /// The CPU's cache was on.
        cached: bool,
        /// It was not the newest value of where the CPU looked: the load was satisfied early.
        early: bool,
    },
    /// It stored a word.
    Store {
        /// The word.
        cell: u16,
        /// The value.
        value: u64,
    },
    /// It added to a word in one step.
    FetchAdd {
        /// The word.
        cell: u16,
        /// What it added.
        value: u64,
    },
    /// It stored a word in one step with the load before.
    Swap {
        /// The word.
        cell: u16,
        /// The value.
        value: u64,
    },
    /// It stored a word if it held what was expected, in one step.
    CompareExchange {
        /// The word.
        cell: u16,
        /// The value.
        value: u64,
    },
    /// It cleaned a word's line.
    Maintain {
        /// The word.
        cell: u16,
        /// It invalidated the line as well.
        invalidate: bool,
    },
    /// A barrier.
    Barrier,
    /// It waited for an event.
    WaitForEvent,
    /// It sent an event.
    SendEvent,
    /// It flushed its caches up to a level and left coherency.
    Flush {
        /// The level.
        level: u8,
    },
    /// It joined coherency.
    CachesOn,
    /// It told the power controller that it goes down.
    PowerDown,
    /// It asked the power controller to turn a CPU on.
    TurnOn {
        /// The CPU.
        cpu: u8,
    },
    /// The terminal WFI.
    WaitForPowerDown,
    /// It started at its reset vector.
    Reset,
    /// It waited in retention or standby.
    Standby,
    /// It opened the levels that had been down.
    PoweredUp,
    /// It did something of a kernel's.
    Kernel {
        /// What.
        what: Kernel,
        /// With which object, callback or thread, or on behalf of which CPU.
        with: u32,
    },
    /// It did something of its own: interrupt controller, context.
    Own,
    /// It made a call: the number of the call in its part of the scenario.
    Call {
        /// The number, from 0.
        number: u8,
    },
    /// A call returned.
    Returned {
        /// X0.
        x0: u64,
    },
    /// It entered the normal world.
    Entered {
        /// Where.
        pc: u64,
    },
    /// The power controller turned a CPU off.
    PowerOff {
        /// The CPU.
        cpu: u8,
        /// With its cluster.
        cluster: bool,
    },
    /// The power controller turned a CPU on.
    PowerOn {
        /// The CPU.
        cpu: u8,
    },
}

/// What a kernel does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernel {
    /// A read section starts, in which an object is seen.
    Reads,
    /// A reader looks at the object that it sees.
    Looks,
    /// A read section ends.
    Leaves,
    /// A callback is queued.
    Queues,
    /// A callback is invoked.
    Invokes,
    /// An interrupt comes; a tick or another.
    Interrupted,
    /// Another task runs.
    Switches,
    /// A step of a thread.
    Steps,
    /// The CPU goes idle.
    Idles,
    /// The CPU goes off.
    GoesOff,
    /// The CPU comes up.
    ComesUp,
    /// The clock moves on.
    Jiffy,
}

impl Did {
    /// What kind of operation it is, in a word or two.
    pub const fn kind(self) -> &'static str {
        match self {
            Self::Load { .. } | Self::Loaded { .. } => "load",
            Self::Store { .. } => "store",
            Self::FetchAdd { .. } | Self::Swap { .. } | Self::CompareExchange { .. } => "atomic",
            Self::Maintain { .. } => "cache maintenance",
            Self::Barrier => "barrier",
            Self::WaitForEvent | Self::SendEvent => "event",
            Self::Flush { .. } | Self::CachesOn => "coherency",
            Self::PowerDown | Self::TurnOn { .. } => "message",
            Self::WaitForPowerDown | Self::Standby => "wait for an interrupt",
            Self::Reset | Self::PoweredUp | Self::PowerOff { .. } | Self::PowerOn { .. } => "power",
            Self::Kernel { what: Kernel::Reads | Kernel::Looks | Kernel::Leaves, .. } => "reader",
            Self::Kernel { what: Kernel::Queues | Kernel::Invokes, .. } => "callback",
            Self::Kernel { what: Kernel::Steps, .. } => "thread",
            Self::Kernel { .. } => "kernel",
            Self::Own => "own hardware",
            Self::Call { .. } | Self::Returned { .. } | Self::Entered { .. } => "normal world",
        }
    }

    /// A number for hashes.
    #[inline(always)]
    pub(crate) fn number(self) -> u64 {
        match self {
            Self::Load { cell } | Self::Loaded { cell, .. } => 1 << 16 | u64::from(cell),
            Self::Store { cell, .. } => 2 << 16 | u64::from(cell),
            Self::FetchAdd { cell, .. } => 3 << 16 | u64::from(cell),
            Self::Swap { cell, .. } => 23 << 16 | u64::from(cell),
            Self::CompareExchange { cell, .. } => 24 << 16 | u64::from(cell),
            Self::Kernel { what, with } => (32 + what as u64) << 16 ^ u64::from(with),
            Self::Maintain { cell, invalidate } => (4 + u64::from(invalidate)) << 16 | u64::from(cell),
            Self::Barrier => 6 << 16,
            Self::WaitForEvent => 7 << 16,
            Self::SendEvent => 8 << 16,
            Self::Flush { level } => 9 << 16 | u64::from(level),
            Self::CachesOn => 10 << 16,
            Self::PowerDown => 11 << 16,
            Self::TurnOn { cpu } => 12 << 16 | u64::from(cpu),
            Self::WaitForPowerDown => 13 << 16,
            Self::Reset => 14 << 16,
            Self::Standby => 15 << 16,
            Self::PoweredUp => 16 << 16,
            Self::Own => 17 << 16,
            Self::Call { number } => 18 << 16 | u64::from(number),
            Self::Returned { x0 } => 19 << 16 ^ x0,
            Self::Entered { pc } => 20 << 16 ^ pc,
            Self::PowerOff { cpu, .. } => 21 << 16 | u64::from(cpu),
            Self::PowerOn { cpu } => 22 << 16 | u64::from(cpu),
        }
    }
}

/// An operation of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The process.
    pub process: u8,
    /// Which of the process's operations it is.
    pub operation: Place,
    /// What it did.
    pub did: Did,
}
