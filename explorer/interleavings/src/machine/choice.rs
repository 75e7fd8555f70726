//! The choices of an exploration, and how a schedule is written down: as the choices that differ
//! from the default.
//!
//! By default a process runs until it cannot go on, then the lowest that can goes; stores and
//! maintenance reach the others at once, a load returns the newest value, caches neither evict nor
//! fill on their own, nothing is refused and no interrupt comes before it is needed. So an empty
//! schedule is the run that one would draw on a board, and each deviation is something that a
//! reader must know.

use crate::operation::OperationIndex;

crate::worded! {
    /// The kind of choice.
    #[derive(
        Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
    )]
    #[serde(rename_all = "kebab-case")]
    #[repr(u8)]
    enum Kind;
    /// The effect of taking it, in a few words.
    fn words;

    /// Before the operation another process goes on: its number. By default the one that runs.
    Preempt = "another process goes first",
    /// The process cannot go on: the number of the one that does.
    Next = "another process goes on than the lowest",
    /// For how many operations of its CPU a store stays in the store buffer.
    StoreDelay = "a store stays in its buffer",
    /// For how many operations of its CPU the maintenance of a line is not done.
    MaintenanceDelay = "maintenance is put off",
    /// The number of newer values that a load passes over.
    LoadAge = "a load is satisfied early",
    /// A line leaves the caches before the operation: its number plus 1.
    Evict = "a line leaves the caches",
    /// A line is read into the caches before the operation: its number plus 1.
    Fill = "a line is read into the caches",
    /// 1: an interrupt is pending when the firmware looks.
    Pending = "an interrupt is pending",
    /// 1: an interrupt ends the terminal WFI before the power controller has acted.
    WfiReturns = "an interrupt ends the terminal WFI",
    /// 1: the platform refuses a power-down.
    Denied = "the platform refuses a power-down",
    /// 1: the power controller refuses to turn a CPU on.
    PowerOnFails = "the power controller refuses a power-on",
    /// The platform's answer to another question, instead of its plainest.
    Answered = "the platform gives another answer",
    /// 1: a wait for an event ends without one.
    Spurious = "a wait ends without an event",
    /// 1: the tick of a jiffy does not come yet.
    LateTick = "a tick comes late",
    /// 1: the clock moves on though a CPU has not done its work.
    ClockPasses = "the clock passes a CPU that stands still",
    /// 1: a store exclusive fails though nobody was in its way.
    ExclusiveFails = "a store exclusive fails for no reason",
    /// A store that was held back leaves the buffer before the operation: its number plus 1, among
    /// those that a later store of the CPU has overtaken.
    StoreLeaves = "a store leaves its buffer",
    /// A load is late: the value that it returns is stored only afterwards.
    LoadLate = "a load is performed late",
    /// 1: the time of a wait with a limit ends before it has waited.
    TimesOut = "the time of a wait ends at once",
}

/// A choice that differs from the default.
///
/// It is bound to an operation of one process, and not to a place in the whole run: when another
/// deviation is left out, it still means the same.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(deny_unknown_fields)]
pub struct Deviation {
    /// The process: a CPU, or the power controller after the last CPU.
    pub process: u8,
    /// Index of the process's operation.
    pub operation: OperationIndex,
    /// The kind of choice.
    pub kind: Kind,
    /// The value, instead of the default; see [`Kind`].
    pub value: u64,
}

impl Kind {
    /// The number of them.
    pub const COUNT: usize = Self::ALL.len();

    /// True if the deviation lies in the order of memory, not in who runs or in what the hardware
    /// answers.
    pub const fn is_memory(self) -> bool {
        matches!(
            self,
            Self::StoreDelay
                | Self::StoreLeaves
                | Self::MaintenanceDelay
                | Self::LoadAge
                | Self::LoadLate
                | Self::Evict
                | Self::Fill
        )
    }
}

/// The [`Kind::StoreDelay`] of a store that another one of its CPU is to overtake.
pub const HELD: u64 = LONGEST_DELAY as u64 + 1;

/// The most operations of its CPU for which a store or a line's maintenance is put off.
pub const LONGEST_DELAY: u8 = 12;
