//! What a machine is made of beside CPUs and memory: plain values, each with what a run forgets.

use super::choice::{Deviation, Kind};
use super::chooser::Chooser;
use super::core::Core;
use super::failure::Failure;
use super::names::Names;
use super::step::{LockStep, Step};
use crate::limits::Limits;
use crate::memory::AddressStore;
use crate::operation::OperationIndex;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::panic::Location;

/// The source of choices, and what came of them.
pub(super) struct Choices {
    pub(super) chooser: RefCell<Chooser>,
    /// The choices of this run that differ from the default.
    pub(super) schedule: RefCell<Vec<Deviation>>,
}

impl Choices {
    pub(super) fn new() -> Self {
        Self {
            chooser: RefCell::new(Chooser::none()),
            schedule: RefCell::new(Vec::with_capacity(1024)),
        }
    }
}

/// Turns: the processes that can go, and how far each is.
#[derive(Default)]
pub(super) struct Turns {
    /// Processes that can go, as a set of bits.
    pub(super) awake: Cell<u64>,
    pub(super) asleep: Cell<u64>,
    /// Processes that have let others go first, as a set of bits; they go if nobody else can.
    pub(super) held: Cell<u64>,
    /// What each process has had of its turns.
    pub(super) fair: Vec<Fairness>,
    /// The process that goes next, once the present one gives way.
    pub(super) next: Cell<Option<usize>>,
    /// The present operation of each process.
    pub(super) operations: Vec<Cell<OperationIndex>>,
    /// Operations of all processes so far.
    pub(super) steps: Cell<u32>,
    /// Nobody makes another operation: the run is over.
    pub(super) over: Cell<bool>,
    /// The run would have repeated another one, and ended there.
    pub(super) pruned: Cell<bool>,
}

/// The last turn of a process, and the processes it waits for. Times count the operations of all
/// processes.
#[derive(Clone, Debug, Default)]
pub(super) struct Fairness {
    /// The end of its last turn.
    pub(super) went: Cell<u32>,
    /// The last time that it let others go first.
    pub(super) yielded: Cell<Option<u32>>,
    /// Processes that go first, as a set of bits.
    pub(super) waits_for: Cell<u64>,
}

impl Turns {
    pub(super) fn new(processes: usize) -> Self {
        Self {
            operations: vec![Cell::default(); processes],
            fair: vec![Fairness::default(); processes],
            ..Self::default()
        }
    }

    pub(super) fn forget(&self) {
        self.awake.set(0);
        self.asleep.set(0);
        self.held.set(0);
        self.fair.iter().for_each(|fair| {
            fair.went.set(0);
            fair.yielded.set(None);
        });
        self.next.set(None);
        self.operations
            .iter()
            .for_each(|operations| operations.set(OperationIndex::default()));
        self.steps.set(0);
        self.over.set(false);
        self.pruned.set(false);
    }
}

/// The counts of references to what tests share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Counting {
    /// They are no words: no run has read one so far. The first read makes them words.
    #[default]
    Unseen,
    /// They are no words, and a run that looks at one is given up.
    Avoided,
    /// They are words.
    Words,
}

/// The settings of a machine, which stay from run to run.
pub struct Settings {
    /// The limits of a run.
    pub limits: Cell<Limits>,
    /// About how many operations a run has, for strategies that spread over them.
    pub length: Cell<u64>,
    /// Accesses of each step are kept, where every run is tried that differs.
    pub(super) traces: Cell<bool>,
    /// Loops that wait are found by all that they load, not by one word alone.
    pub(crate) spins: Cell<bool>,
    /// The counts of references.
    pub(crate) counts: Cell<Counting>,
    /// A word from which an address came, without whose order a load had more values to choose from.
    pub(crate) rests_on: RefCell<Option<String>>,
    /// The instructions for atomics that the core has.
    pub core: Cell<Core>,
    /// Loads may be late.
    pub(crate) late_loads: Cell<bool>,
    /// The steps of runs are kept.
    pub(crate) keeps_steps: Cell<bool>,
    pub(super) names: RefCell<Names>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            limits: Cell::default(),
            length: Cell::default(),
            traces: Cell::new(false),
            spins: Cell::new(false),
            counts: Cell::default(),
            rests_on: RefCell::default(),
            core: Cell::new(Core::LSE),
            late_loads: Cell::new(true),
            keeps_steps: Cell::new(false),
            names: RefCell::new(Names::numbers()),
        }
    }
}

impl Settings {
    /// Sets the names of words and locks.
    pub fn set_names(&self, names: Names) {
        drop(self.names.replace(names));
    }
}

/// Looks at each step that is kept, by its number, before it is made.
pub type Observer = Box<dyn Fn(usize)>;

/// Record of a run, for those who read it.
#[derive(Default)]
pub(super) struct Record {
    /// A hash of what was done.
    pub(super) hash: Cell<u64>,
    /// The failure, if anything broke.
    pub(super) failure: RefCell<Option<Failure>>,
    pub(super) log: RefCell<Vec<Step>>,
    /// What is told of each step that is kept, before it is made.
    pub(super) observer: RefCell<Option<Observer>>,
    /// Takings and releases of locks, where steps are kept.
    pub(super) locks: RefCell<Vec<LockStep>>,
    /// The first of the two accesses that race.
    pub(super) race: Cell<Option<(u8, OperationIndex)>>,
    /// The holder of each lock, by the lock's id, as far as it is told.
    pub(super) holders: RefCell<Vec<(u32, usize)>>,
    /// The number of accesses of plain data.
    pub(super) plain: Cell<u64>,
    /// The places in the source at which words were made in the middle of the run, by word.
    pub(super) places: RefCell<Vec<&'static Location<'static>>>,
    /// The addresses that each process has loaded, how many bytes lie there, and the store.
    pub(super) pointers: RefCell<BTreeMap<(usize, usize), (usize, AddressStore)>>,
}

impl Record {
    pub(super) fn forget(&self) {
        self.hash.set(0xcbf2_9ce4_8422_2325);
        self.failure.take();
        self.log.borrow_mut().clear();
        self.locks.borrow_mut().clear();
        self.race.set(None);
        self.holders.borrow_mut().clear();
        self.places.borrow_mut().clear();
        self.pointers.borrow_mut().clear();
    }
}

/// The operations of a CPU since a load, without the values that it loaded: how many there were,
/// and their hash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Trail {
    pub(super) count: u32,
    pub(super) hash: u64,
    /// The operation that loaded.
    pub(super) load: OperationIndex,
}

/// A late load that has got its value, with what its CPU had done meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LateLoad {
    pub(super) process: usize,
    pub(super) followed: Trail,
}

impl LateLoad {
    /// The store came before the CPU did anything more.
    pub(crate) fn is_at_once(&self) -> bool {
        self.followed.count == 0
    }

    /// It is this operation of this process.
    pub(crate) fn is_at(&self, process: usize, operation: OperationIndex) -> bool {
        (self.process, self.followed.load) == (process, operation)
    }

    /// The choice that made it late.
    pub(crate) fn is_made_by(&self, deviation: &Deviation) -> bool {
        deviation.kind == Kind::LoadLate
            && self.is_at(usize::from(deviation.process), deviation.operation)
    }
}

/// The late loads of a run.
#[derive(Default)]
pub(super) struct LateLoads {
    /// Processes whose operations are followed, as a set of bits; see [`Trail`].
    pub(super) followed: Cell<u64>,
    pub(super) follows: Vec<Cell<Trail>>,
    /// The late loads that have got their value.
    pub(super) paid: RefCell<Vec<LateLoad>>,
    /// The run has had late loads.
    pub(super) has_any: Cell<bool>,
    /// A late load that is tried without being late, and whether the CPU did the same.
    pub(super) tried: Cell<Option<(LateLoad, bool)>>,
}

impl LateLoads {
    pub(super) fn new(processes: usize) -> Self {
        Self {
            follows: vec![Cell::default(); processes],
            ..Self::default()
        }
    }

    pub(super) fn forget(&self) {
        self.followed.set(0);
        self.paid.borrow_mut().clear();
        self.has_any.set(false);
    }
}
