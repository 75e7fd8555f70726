//! All that a library with a machine of its own around it needs, to be explored as a whole:
//! scenarios that are drawn, hardware that answers, invariants. The PSCI and the RCU library of
//! Stopwatt are such subjects. It follows the explorer's inside, so it may change with any version.

pub use crate::cell::{OnMachine, Word, made_by, make_mark, make_word, marks_made};
pub use crate::choice::{Deviation, Kind};
pub use crate::counterexample::Counterexample;
pub use crate::coverage::{Access, Counted, Coverage, Growth, Kinds};
pub use crate::exploration::{CounterexampleIn, Exploration, Opens, Subject, Tally, TallyOf};
pub use crate::failure::{Failure, Invariant};
pub use crate::machine::{Cpu, Machine, Waits};
pub use crate::memory::{AtomicOrder, Lost, Memory, Order, Told};
pub use crate::model::{Bodies, Config, Model, check_on};
pub use crate::names::{Names, writer};
pub use crate::narrate::Narrator;
pub use crate::options::{CPUS_PER_CLUSTER, Limits, MOST_CPUS};
pub use crate::place::{MOST_ACTIONS, OperationIndex};
pub use crate::run::{By, MachineChoice, RunResult, Runs};
pub use crate::script::Script;
pub use crate::step::{Act, Did, Fence, Step};
pub use crate::strategy::Strategy;
pub use crate::watchdog::{Watchdog, watch};
