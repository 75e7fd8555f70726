//! The board that the PSCI library runs on: clusters, their power, and a power controller, on the
//! explorer's machine.

use super::hook::Hook;
use super::ledger::{Ledger, States};
use super::names::names;
use super::options::MachineOptions;
use super::reached;
use interleavings::Core;
use interleavings::subject::{
    Act, Breach, CPUS_PER_CLUSTER, ChoiceSource, Machine, OnMachine, Operation, Wait,
};
use serde::{Deserialize, Serialize};
use std::cell::{Cell, RefCell};
use std::fmt::Debug;
use std::ops::Deref;
use std::path::PathBuf;

/// The terminal WFI waits for the power controller.
pub const FOR_POWER_DOWN: Wait = Wait::Other(0);
/// The power controller waits for a command.
pub const FOR_COMMAND: Wait = Wait::Other(1);

/// Operations in a second, as the library is told: so few that runs last for seconds.
pub const FREQUENCY: u64 = 64;

/// The file of a port's hooks, and its sum.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HooksFile {
    /// The path, from the root.
    pub file: PathBuf,
    /// Its CRC-32, in hexadecimal digits.
    pub crc32: String,
}

/// A port of others, which stays loaded. Its hooks run on one thread.
pub trait Port: Debug + Sync {
    /// The file that it is from.
    fn file(&self) -> &HooksFile;

    /// The names of what it shares: each is an array with an element for each CPU.
    fn variables(&self) -> &[String];

    /// The hook that runs at the moment, with its CPU, and the file of it.
    fn running(&self) -> Option<&str>;

    /// True if it has this hook.
    fn has(&self, hook: Hook) -> bool;

    /// Calls a hook for the CPU that runs; `None` if it has none. `states` are those that the hook
    /// is told, or makes.
    fn call(&self, board: &Board, hook: Hook, argument: u64, states: &mut [u8]) -> Option<i32>;

    /// The port's own data, which is no shared variable.
    fn data(&self) -> Vec<u8>;

    /// Puts its own data back; `None` to what it was when the port was loaded.
    fn set_data(&self, data: Option<&[u8]>);
}

/// True if a CPU has power.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum Power {
    On,
    /// To be woken by an interrupt.
    Asleep,
    /// Until a CPU_ON.
    #[default]
    Off,
}

/// A command to the power controller.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Command {
    Down { cpu: u8, cluster: bool, wakes: bool },
    On { cpu: u8 },
}

impl Command {
    pub(crate) fn takes_down(&self, index: usize) -> bool {
        matches!(*self, Self::Down { cpu, .. } if usize::from(cpu) == index)
    }
}

/// Entry point of a CPU into the normal world: address and argument.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Entry {
    pub(crate) pc: u64,
    pub(crate) context_id: u64,
    /// The caller's byte order.
    pub(crate) big: bool,
}

impl std::fmt::Display for Entry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let order = if self.big { ", big-endian" } else { "" };
        write!(f, "{:#x} with {:#x}{order}", self.pc, self.context_id)
    }
}

/// A CPU_ON that was made for a CPU, and what became of it.
pub(crate) struct TurnOn {
    pub(crate) entry: Entry,
    pub(crate) result: Option<u64>,
    pub(crate) entered: bool,
}

impl TurnOn {
    /// True if the CPU may still enter for it.
    pub(crate) fn is_open(&self) -> bool {
        !self.entered && self.result.is_none_or(|x0| x0 == 0)
    }
}

/// The state of a CPU.
#[derive(Default)]
pub(crate) struct CpuState {
    pub(crate) cluster: usize,
    pub(crate) power: Cell<Power>,
    /// Calls made so far.
    pub(crate) position: Cell<usize>,
    /// The platform's answer for the present call, where there are several; 0 is the plainest.
    pub(crate) answered: Cell<u32>,
    /// Entry point of the suspend in progress.
    pub(crate) resumes_at: Cell<Entry>,
    /// CPU_ON calls of which this CPU is the target.
    pub(crate) turn_ons: RefCell<Vec<TurnOn>>,
    /// Since which step the CPU has been on (in the normal world or asleep) or off for everybody to
    /// know; 0 for neither.
    pub(crate) on_since: Cell<u32>,
    pub(crate) off_since: Cell<u32>,
    /// The hook of a port that it has entered last.
    pub(crate) hook: Cell<Option<Hook>>,
    /// The word of a port that it loaded last in there, and its value; and whether a CPU was
    /// turned on, where it asked for that.
    pub(crate) loaded: Cell<Option<(u16, u64)>>,
    pub(crate) gave: Cell<Option<bool>>,
    /// The states that it goes down to, or has come up from; and while it goes down, whether it is to
    /// wake by itself.
    pub(crate) levels: Cell<States>,
    pub(crate) goes: Cell<Option<bool>>,
    /// True while the context of the CPU is saved and not restored yet.
    pub(crate) saved: Cell<bool>,
}

/// A cluster.
#[derive(Default)]
pub(crate) struct Cluster {
    pub(crate) power: Cell<bool>,
    /// True if its port of the interconnect is open.
    pub(crate) port: Cell<bool>,
}

/// A board, for the PSCI library and for tests of one's own. One value stands for all of it; an
/// operation acts on the CPU that runs.
pub struct Board {
    machine: Machine,
    pub(crate) options: MachineOptions,
    /// The port whose hooks it has in place of its own.
    pub(crate) port: Option<&'static dyn Port>,
    pub(crate) states: Vec<CpuState>,
    pub(crate) clusters: Vec<Cluster>,
    pub(crate) commands: RefCell<Vec<Command>>,
    /// Locks that another may still be letting go: the lock's id, the other, and who has got it.
    pub(crate) contested: RefCell<Vec<(u32, usize, usize)>>,
    /// The books of requests, states and statistics.
    pub(crate) ledger: RefCell<Ledger>,
    /// The CPU on which a Trusted OS resides.
    pub(crate) resident: Cell<Option<u8>>,
    /// The counts of what this board was seen to do, in the order of `reached::counted`.
    pub(crate) counts: RefCell<Vec<u64>>,
}

/// The names of what a port shares; none without one.
pub fn variables_of(port: Option<&dyn Port>) -> &[String] {
    port.map_or(&[], Port::variables)
}

impl Board {
    /// A cold board, with words that hold `values`.
    pub fn new(
        cpus: usize,
        values: &[u64],
        options: MachineOptions,
        port: Option<&'static dyn Port>,
    ) -> Self {
        let machine = Machine::new(cpus, values, options.cells_per_line);
        machine
            .settings()
            .set_names(names(cpus, variables_of(port)));
        machine.settings().core.set(Core {
            lse: options.lse,
            rcpc: false,
        });
        let clusters = cpus.div_ceil(CPUS_PER_CLUSTER);
        Self {
            machine,
            options,
            port,
            states: (0..cpus)
                .map(|cpu| CpuState {
                    cluster: cpu / CPUS_PER_CLUSTER,
                    ..CpuState::default()
                })
                .collect(),
            clusters: (0..clusters).map(|_| Cluster::default()).collect(),
            commands: RefCell::new(Vec::with_capacity(16)),
            contested: RefCell::new(Vec::with_capacity(16)),
            ledger: RefCell::new(Ledger::new(cpus)),
            resident: Cell::new(None),
            counts: RefCell::new(vec![0; reached::COUNTED]),
        }
    }

    /// Counts something, by its place in `reached::counted`.
    pub(crate) fn count(&self, at: usize) {
        self.counts.borrow_mut()[at] += 1;
    }

    /// An act of the CPU that runs.
    pub(crate) fn does(&self, act: &'static Act, with: u64) {
        self.act(Operation::Act { act, with });
    }

    /// Writes in the books, and fails the run if they say so: nothing is borrowed where it ends.
    pub(crate) fn keep_books(&self, write: impl FnOnce(&mut Ledger) -> Result<(), Breach>) {
        let result = write(&mut self.ledger.borrow_mut());
        self.hold(result);
    }

    /// The state of the CPU that runs.
    #[inline(always)]
    pub(crate) fn state(&self) -> &CpuState {
        &self.states[self.process()]
    }

    /// The byte order of the caller, on a machine that tells it: every other call is made by
    /// big-endian code.
    pub(crate) fn is_big(&self) -> Option<bool> {
        self.options
            .lse
            .then(|| self.state().position.get().is_multiple_of(2))
    }

    /// Forgets a run, and says who answers the choices of the next one.
    pub(crate) fn forget(&self, by: ChoiceSource<'_>) {
        self.forget_run(by);
        self.commands.borrow_mut().clear();
        self.contested.borrow_mut().clear();
    }
}

impl Deref for Board {
    type Target = Machine;

    #[inline(always)]
    fn deref(&self) -> &Machine {
        &self.machine
    }
}

impl OnMachine for Board {
    #[inline(always)]
    fn machine(&self) -> &Machine {
        &self.machine
    }
}
