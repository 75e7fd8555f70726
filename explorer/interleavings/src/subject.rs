//! All that a library with a machine of its own around it needs, to be explored as a whole:
//! scenarios that are drawn, hardware that answers, invariants. The PSCI and the RCU library of
//! Stopwatt are such subjects. It follows the explorer's inside, so it may change with any version.

pub use crate::limits::{CPUS_PER_CLUSTER, Limits, MOST_CPUS};
pub use crate::machine::{
    Act, Breach, ChoiceSource, Cpu, Deviation, Failure, Fence, Invariant, Kind, Machine, Mark,
    Names, OnMachine, Operation, Step, Strategy, Wait, Watchdog, Word, made_by, make_word,
    marks_made, watch,
};
pub use crate::memory::{
    Answers, AtomicOrder, Delay, LostData, Memory, Moment, Newest, Order, Signal,
};
pub use crate::model::{Bodies, Config, search};
pub use crate::operation::{MOST_ACTIONS, OperationIndex};
pub use crate::search::{
    Access, Account, Cause, Counter, Counterexample, CounterexampleIn, Coverage, Exploration,
    Kinds, Main, RunResult, Runs, Script, Subject, Tally, TallyOf, explore_on,
};
pub use crate::story::{Narrator, broken_lock};
#[doc(hidden)]
pub use cells;
