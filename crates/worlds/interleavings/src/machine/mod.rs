//! The machine: processes that take turns on a memory, with every choice asked for.

mod access;
mod answers;
mod atomic;
mod cell;
mod choice;
mod choose;
mod chooser;
mod cpu;
mod failure;
mod late;
mod names;
mod operation;
mod order;
mod parts;
mod plain;
mod ready;
mod record;
mod spin;
mod state;
mod states;
mod step;
mod turns;
mod waiting;
mod watchdog;

pub use cell::{Mark, OnMachine, Word, made_by, make_word, marks_made};
pub use choice::{Deviation, HELD, Kind};
pub use choose::{ChoiceSource, MachineChoice};
pub(crate) use chooser::Dpor;
pub use chooser::{EveryRun, Strategy};
pub use cpu::{Cpu, Wait};
pub use failure::{Failure, Invariant};
pub use names::{Names, writer_name};
pub use state::Machine;
pub use step::{Act, Fence, Operation, Step};
pub use watchdog::{Watchdog, watch};
