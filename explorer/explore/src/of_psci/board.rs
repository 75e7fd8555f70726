//! The board that the PSCI library runs on: clusters, their power, and a power controller, on the
//! explorer's machine.

use super::{
    hook::Hook,
    layout::{Own, Shape},
    ledger::{Ledger, States},
    names::names,
    options::MachineOptions,
    reached,
};
use interleavings::{
    Core,
    subject::{Act, Breach, ChoiceSource, Invariant, Machine, Memory, OnMachine, Operation, Wait},
};
use psci_faults::points::psci::ALL;
use serde::{Deserialize, Serialize};
use std::{
    cell::{Cell, RefCell},
    fmt::Debug,
    ops::Deref,
    path::PathBuf,
};

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

/// What a port is, and what it says of itself.
#[derive(Debug)]
pub struct About {
    /// The file that it is from.
    pub file: HooksFile,
    /// The names of what it shares: each is an array with an element for each CPU.
    pub variables: Vec<String>,
    /// Its board.
    pub own: Own,
}

/// A port of others, which stays loaded. Its hooks run on one thread.
pub trait Port: Debug + Sync {
    /// What it is, and what it says of itself.
    fn about(&self) -> &About;

    /// The hook that runs at the moment, with its CPU, and the file of it.
    fn running(&self) -> Option<&str>;

    /// True if it has this hook.
    fn has(&self, hook: Hook) -> bool;

    /// Calls a hook for the CPU that runs; `None` if it has none. Behind its arguments are the states
    /// that the hook is told, or makes, and how many they are.
    fn call(&self, board: &Board, hook: Hook, arguments: &[u64], states: &mut [u8]) -> Option<i32>;

    /// The port's own data, which is no shared variable.
    fn data(&self) -> Vec<u8>;

    /// Puts its own data back; `None` to what it was when the port was loaded.
    fn set_data(&self, data: Option<&[u8]>);
}

/// True if a CPU has power.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Power {
    On,
    /// To be woken by an interrupt.
    Asleep,
    /// Until a CPU_ON.
    #[default]
    Off,
}

/// A command to the power controller.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Command {
    Down { cpu: u8, cluster: bool, wakes: bool },
    On { cpu: u8 },
}

impl Command {
    pub fn takes_down(&self, index: usize) -> bool {
        matches!(*self, Self::Down { cpu, .. } if cpu as usize == index)
    }
}

/// Entry point of a CPU into the normal world: address and argument.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Entry {
    pub pc: u64,
    pub context_id: u64,
    /// The caller's byte order.
    pub big: bool,
}

impl std::fmt::Display for Entry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let order = if self.big { ", big-endian" } else { "" };
        write!(f, "{:#x} with {:#x}{order}", self.pc, self.context_id)
    }
}

/// A CPU_ON that was made for a CPU, and what became of it.
pub struct TurnOn {
    pub entry: Entry,
    pub result: Option<u64>,
    pub entered: bool,
}

impl TurnOn {
    /// True if the CPU may still enter for it.
    pub fn is_open(&self) -> bool {
        !self.entered && self.result.is_none_or(|x0| x0 == 0)
    }
}

/// The state of a CPU.
#[derive(Default)]
pub struct CpuState {
    pub cluster: usize,
    pub power: Cell<Power>,
    /// Calls made so far.
    pub position: Cell<usize>,
    /// The platform's answer for the present call, where there are several; 0 is the plainest.
    pub answered: Cell<u32>,
    /// Entry point of the suspend in progress.
    pub resumes_at: Cell<Entry>,
    /// CPU_ON calls of which this CPU is the target.
    pub turn_ons: RefCell<Vec<TurnOn>>,
    /// Since which step the CPU has been on (in the normal world or asleep) or off for everybody to
    /// know; 0 for neither.
    pub on_since: Cell<u32>,
    pub off_since: Cell<u32>,
    /// Since which step it has had no power; 0 if it has.
    pub dark_since: Cell<u32>,
    /// The hook of a port that it has entered last.
    pub hook: Cell<Option<Hook>>,
    /// The word of a port that it loaded last in there, and its value; and whether a CPU was
    /// turned on, where it asked for that.
    pub loaded: Cell<Option<(u16, u64)>>,
    pub gave: Cell<Option<bool>>,
    /// The registers of devices that it used last, and how often these in a row.
    pub polled: Cell<([u64; 2], u32)>,
    /// The CPU that its call names, and X0 as a port has it.
    pub target: Cell<u64>,
    pub passed: Cell<Option<u64>>,
    /// The states that it goes down to, or has come up from; and while it goes down, whether it is to
    /// wake by itself.
    pub levels: Cell<States>,
    pub goes: Cell<Option<bool>>,
    /// What it has done in its call, or since it has power: bits by the places of the points in
    /// `ALL` that tell of it.
    pub marks: Cell<u32>,
    /// What its call asks the platform about, until the platform is asked.
    pub asks_about: Cell<Option<[u64; 2]>>,
}

/// Marks beside the stamps: the context is saved, EL3 is set up, interrupts are on, and were
/// set up for that; and flushes, which no point tells of.
pub const SAVED: u32 = 1 << 15;
pub const EL3: u32 = 1 << 18;
pub const INTERRUPTS: u32 = 1 << 22;
pub const INITIALIZED: u32 = 1 << 19;
pub const FLUSHES: u32 = 1 << 20;

/// A board, for the PSCI library and for tests of one's own. One value stands for all of it; an
/// operation acts on the CPU that runs.
pub struct Board {
    machine: Machine,
    pub(crate) shape: Shape,
    pub(crate) options: MachineOptions,
    /// The port whose hooks it has in place of its own.
    pub(crate) port: Option<&'static dyn Port>,
    pub(crate) states: Vec<CpuState>,
    /// Of each cluster, whether its port of the interconnect is open.
    pub(crate) ports: Vec<Cell<bool>>,
    pub(crate) commands: RefCell<Vec<Command>>,
    /// Locks that another may still be letting go: the lock's id, the other, and who has got it.
    pub(crate) contested: RefCell<Vec<(u32, usize, usize)>>,
    /// The books of requests, states and statistics.
    pub(crate) ledger: RefCell<Ledger>,
    /// The CPU on which a Trusted OS resides.
    pub(crate) resident: Cell<Option<u8>>,
    /// True once a port has been told to protect memory.
    pub(crate) protected: Cell<bool>,
    /// The counts of what this board was seen to do, in the order of `reached::counted`.
    pub(crate) counts: RefCell<Vec<u64>>,
}

/// The shape of so many CPUs, with the clusters of a port.
pub fn shape_of(cpus: usize, port: Option<&dyn Port>) -> Shape {
    Shape::new(cpus, port.map_or(0, |port| port.about().own.cluster))
}

/// The names of what a port shares; none without one.
pub fn variables_of(port: Option<&dyn Port>) -> &[String] {
    port.map_or(&[], |port| &port.about().variables)
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
        let shape = shape_of(cpus, port);
        let clusters: Vec<u8> = (0..cpus).map(|cpu| shape.cluster(cpu) as u8).collect();
        *machine.memory_mut() = Memory::new(values, options.cells_per_line, &clusters);
        machine
            .settings()
            .set_names(names(shape, variables_of(port)));
        machine.settings().core.set(Core {
            lse: options.lse,
            rcpc: false,
        });
        Self {
            machine,
            shape,
            options,
            port,
            states: (0..cpus)
                .map(|cpu| CpuState {
                    cluster: shape.cluster(cpu),
                    ..CpuState::default()
                })
                .collect(),
            ports: vec![Cell::new(false); shape.clusters()],
            commands: RefCell::new(Vec::with_capacity(16)),
            contested: RefCell::new(Vec::with_capacity(16)),
            ledger: RefCell::new(Ledger::new(shape)),
            resident: Cell::new(None),
            protected: Cell::default(),
            counts: RefCell::new(vec![0; reached::COUNTED]),
        }
    }

    /// Counts something, by its place in `reached::counted`.
    pub(crate) fn count(&self, at: usize) {
        self.counts.borrow_mut()[at] += 1;
    }

    /// The CPU that runs leaves these marks, and no longer those.
    pub(crate) fn mark(&self, these: u32, not: u32) {
        let marks = &self.state().marks;
        marks.set(marks.get() & !not | these);
    }

    /// A CPU comes to a point at which, of these marks, the right ones are there.
    pub(crate) fn expect(&self, cpu: usize, comes: &str, these: u32, right: u32) {
        let wrong = self.states[cpu].marks.get() & these ^ right;
        if wrong != 0 {
            let mark = match 1 << wrong.trailing_zeros() {
                FLUSHES..INTERRUPTS => "flush by hardware",
                at => ALL[at.trailing_zeros() as usize].name(),
            };
            let what = format!("CPU {cpu} {comes}, and `{mark}` is not as it must be");
            self.fail(Invariant::Complete, what);
        }
    }

    /// The platform is asked about this, and the call is about nothing else.
    pub(crate) fn hears(&self, first: impl Into<u64>, second: impl Into<u64>) {
        let about = [first.into(), second.into()];
        let expected = self.state().asks_about.take();
        if let Some(other) = expected.filter(|expected| *expected != about) {
            let what = format!("the platform hears {about:x?}, and the call is about {other:x?}");
            self.fail(Invariant::Answer, what);
        }
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
        self.protected.set(false);
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
