//! The steps of processes, for those who read a schedule.

use crate::operation::OperationIndex;

/// An operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
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
        /// Writer of a newer value that the load missed, and that value.
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
    /// It changed a word in one step.
    Update {
        /// The word.
        cell: u16,
        /// The change, as in "sets bits of".
        what: &'static str,
        /// Operand of the change.
        value: u64,
    },
    /// A barrier of one kind.
    Fence {
        /// The barrier.
        fence: Fence,
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
    /// It did something of its own: interrupt controller, context.
    Own,
    /// It starts an action: the number of the action in its part of the script.
    Action {
        /// The number, from 0.
        number: u8,
    },
    /// It did something that only the subject knows.
    Act {
        /// The subject.
        act: &'static Act,
        /// Operand of the change.
        with: u64,
    },
}

crate::worded! {
    /// A barrier of one CPU.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Fence;
    /// The instruction.
    fn name;

    /// `DMB SY`, `DMB ISH`.
    Full = "DMB SY",
    /// `DMB LD`: earlier loads come before all that is later.
    Loads = "DMB LD",
    /// `DMB ST`: earlier stores come before later ones.
    Stores = "DMB ST",
    /// `DSB SY`: as `DMB SY`, and maintenance is complete.
    Complete = "DSB SY",
    /// `ISB`: later loads come after a branch before it, and so after the loads that it depends on.
    Instructions = "ISB",
}

/// Something that only processes of a subject do.
#[derive(Debug)]
pub struct Act {
    /// The kind of operation, in a word or two.
    pub kind: &'static str,
    /// It ends the action that the process had started.
    pub ends_action: bool,
    /// A number for hashes.
    number: u64,
    /// The rest of a sentence that starts with who does it, from what it is done with.
    words: fn(u64) -> String,
}

impl Act {
    /// An act with a number of its own.
    pub const fn new(number: u64, kind: &'static str, words: fn(u64) -> String) -> Self {
        Self {
            kind,
            ends_action: false,
            number,
            words,
        }
    }

    /// Makes it an act that ends the action which the process had started.
    pub const fn ending(self) -> Self {
        Self {
            ends_action: true,
            ..self
        }
    }

    /// The rest of a sentence that starts with who does it.
    pub fn words(&self, with: u64) -> String {
        (self.words)(with)
    }
}

impl PartialEq for Act {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for Act {}

impl Operation {
    /// The kind of operation, in a word or two.
    pub fn kind(self) -> &'static str {
        match self {
            Self::Load { .. } | Self::Loaded { .. } => "load",
            Self::Store { .. } => "store",
            Self::Update { .. } => "atomic",
            Self::Barrier | Self::Fence { .. } | Self::WaitForEvent | Self::SendEvent => {
                "barrier or event"
            }
            Self::Maintain { .. } | Self::Flush { .. } | Self::CachesOn => "caches",
            Self::Own => "hardware",
            Self::Action { .. } => "normal world",
            Self::Act { act, .. } => act.kind,
        }
    }

    /// True if it is about what others share and is no word.
    pub(crate) fn touches_hardware(self) -> bool {
        matches!(
            self,
            Self::WaitForEvent
                | Self::SendEvent
                | Self::Flush { .. }
                | Self::CachesOn
                | Self::Act { .. }
        )
    }

    /// A number for hashes.
    #[inline(always)]
    pub fn number(self) -> u64 {
        match self {
            Self::Load { cell } | Self::Loaded { cell, .. } => 1 << 16 | u64::from(cell),
            Self::Store { cell, .. } => 2 << 16 | u64::from(cell),
            Self::Update { cell, .. } => 25 << 16 | u64::from(cell),
            Self::Fence { fence } => 27 << 16 | fence as u64,
            Self::Maintain { cell, invalidate } => {
                (4 + u64::from(invalidate)) << 16 | u64::from(cell)
            }
            Self::Barrier => 6 << 16,
            Self::WaitForEvent => 7 << 16,
            Self::SendEvent => 8 << 16,
            Self::Flush { level } => 9 << 16 | u64::from(level),
            Self::CachesOn => 10 << 16,
            Self::Own => 17 << 16,
            Self::Action { number } => 18 << 16 | u64::from(number),
            Self::Act { act, with } => act.number << 16 ^ with,
        }
    }
}

/// An operation of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The process.
    pub process: u8,
    /// Index of the process's operation.
    pub operation: OperationIndex,
    /// The operation.
    pub did: Operation,
}

/// A process has taken a lock, or let it go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockStep {
    /// The number of steps before.
    pub step: usize,
    /// The process.
    pub process: u8,
    /// The lock's id.
    pub lock: u32,
    /// True if it was taken.
    pub taken: bool,
}
