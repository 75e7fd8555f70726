//! All that a library with a machine of its own around it needs, to be explored as a whole:
//! scenarios that are drawn, hardware that answers, invariants. The PSCI and the RCU library of
//! Stopwatt are such subjects. It follows the explorer's inside, so it may change with any version.

pub use crate::limits::{CPUS_PER_CLUSTER, Limits, MOST_CPUS};
pub use crate::machine::{
    Act, By, Cpu, Deviation, Did, Failure, Fence, Invariant, Kind, Machine, MachineChoice, Mark, Names, OnMachine,
    Step, Strategy, Waits, Watchdog, Word, made_by, make_word, marks_made, watch, writer_name,
};
pub use crate::memory::{Answers, AtomicOrder, Delay, Lost, Memory, Moment, Newest, Order, Signal};
pub use crate::model::{Bodies, Config, Model, check_on};
pub use crate::operation::{MOST_ACTIONS, OperationIndex};
pub use crate::search::{
    Access, Counted, Counterexample, CounterexampleIn, Coverage, Exploration, Growth, Kinds, Opens, RunResult, Runs,
    Script, Subject, Tally, TallyOf,
};
pub use crate::story::Narrator;
#[doc(hidden)]
pub use cells;
