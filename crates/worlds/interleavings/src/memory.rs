//! Memory as the architecture allows it: store buffers, early loads, caches that CPUs join and
//! leave, and what their maintenance reaches.
//!
//! # Two orders of values
//!
//! A word has two histories: what CPUs in coherency see (their caches, taken as one) and what lies
//! in memory, which a CPU with its cache off sees. Each is the sequence of the values that it had,
//! with the time at which each came (Arm's memory model is other-multi-copy atomic, so one sequence
//! serves all). A store with the cache on makes a line dirty in the CPU's own cache; cleaning it
//! copies the newest value to memory. A load with the cache on finds the cached value, or reads
//! memory if no cache has the line.
//!
//! # Who may see which
//!
//! A load may return a value that is no longer the newest: it was then satisfied early. Each CPU
//! has a *floor*: a load may return a value only if nothing had replaced it by then. Acquiring
//! loads, barriers and events raise the floor; without them only the same word's own order does
//! (Pulte and others, "Promising-ARM/RISC-V: a simpler and faster operational concurrency model",
//! 2019, has such views). A store, or the maintenance of a line, may stay in the CPU's buffer while
//! later operations go on; it leaves it after the older entries that it must follow.
//!
//! | operation | waits for, or orders |
//! |---|---|
//! | `STLR` | leaves the buffer after all that is older |
//! | `LDAR` | waits until the CPU's releasing stores have left the buffer, and sees nothing older than they are; later loads see nothing older than it did |
//! | `DMB ST` | what is younger in the buffer leaves it after what is older |
//! | `DMB LD` | later loads see nothing older than earlier loads did |
//! | `DMB SY` | both, and the buffer is empty of stores |
//! | `DSB SY` | as `DMB SY`, and maintenance is complete |
//! | a read-modify-write | reads the newest value, and nobody stores in between; what it stores may leave the buffer later, but before anybody else's store to the word |
//! | `A`: `LDADDA`, `LDAXR` | as `LDAR`, of its load alone |
//! | `L`: `LDADDL`, `STLXR` | as `STLR`, of its store alone |
//! | `AL` of one instruction: `LDADDAL` | both, and later loads see nothing older than its store; `LDAXR` and `STLXR` do not |
//! | Linux's atomics that return a value | `AL` of one instruction; or `LDXR` and `STLXR`, and `DMB SY` behind |
//!
//! Maintenance by address and an access of the same line keep their order while the cache is on
//! (Arm DDI 0487, B2.3: data cache instructions by VA execute in program order relative to loads
//! and stores of a line that is cacheable), and do not while it is off. To be complete is another
//! matter: until a `DSB` a load may still return what the line held, since another cache may hand
//! it over.
//!
//! A CPU whose cache is off has left coherency in this machine: its maintenance by address reaches
//! no cache of the others, which is the least that the architecture promises (DDI 0487, D7.5:
//! whether an instruction affects the caches of others depends on the shareability that its access
//! has). `psci`'s fake machine takes it the same way.
//!
//! # Late loads
//!
//! The code under test gets the value of a load at once, so a load comes late by foresight: it
//! returns a value that another CPU stores only afterwards. Until that store has come the load is a
//! debt of its CPU. Whatever must follow the load waits for it: a releasing store, a barrier that
//! orders loads, another access of the word, the end of what the CPU does. Relaxed stores and loads
//! of other words go on. A run in which the store never comes does not count, and neither does one
//! in which the CPU, had it got the value that was there, would have done something else in the
//! meantime: what it did then depends on the load (`Runs::run` tries that). A CPU has one late load
//! at a time.

use crate::choice::Kind;
use crate::dpor::Access;
use crate::races::{Races, Tag};

/// Values that a history keeps; older ones count as seen by everybody.
const DEPTH: usize = 4;

/// Entries of a store buffer.
const BUFFER: usize = 8;

/// Simulated order: each change of a value or a line's state has its own.
pub type Moment = u32;

/// A value that a word had.
#[derive(Clone, Copy, Default)]
struct Message {
    value: u64,
    at: Moment,
    writer: u8,
    /// The clock that came with it, for data races.
    tag: Tag,
}

/// The last values of a word, newest last.
#[derive(Clone, Copy, Default)]
struct History {
    messages: [Message; DEPTH],
    length: u8,
}

impl History {
    fn starting_with(value: u64) -> Self {
        let mut messages = [Message::default(); DEPTH];
        messages[0].value = value;
        Self { messages, length: 1 }
    }

    #[inline(always)]
    fn newest(&self) -> Message {
        self.messages[usize::from(self.length) - 1]
    }

    #[inline(always)]
    fn append(&mut self, message: Message) {
        if usize::from(self.length) == DEPTH {
            self.messages.copy_within(1.., 0);
            self.messages[DEPTH - 1] = message;
        } else {
            self.messages[usize::from(self.length)] = message;
            self.length += 1;
        }
    }

    /// The number of values that a load may choose from whose floor is `floor`: the newest, and
    /// those that were replaced after it.
    #[inline(always)]
    fn choices(&self, floor: Moment) -> u32 {
        let mut choices = 1;
        let mut at = usize::from(self.length) - 1;
        while at > 0 && self.messages[at].at > floor {
            choices += 1;
            at -= 1;
        }
        choices
    }

    #[inline(always)]
    fn aged(&self, age: u32) -> Message {
        self.messages[(usize::from(self.length) - 1).saturating_sub(age as usize)]
    }
}

/// A word, as CPUs in coherency see it and as memory has it.
#[derive(Clone, Copy, Default)]
struct CellState {
    coherent: History,
    memory: History,
}

/// The place of the dirty data of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
enum Dirty {
    #[default]
    Nowhere,
    /// In the cache of a CPU.
    Cpu(u8),
    /// In the cache of a cluster.
    Cluster(u8),
}

/// A cache line.
#[derive(Clone, Copy, Default)]
struct Line {
    cached: bool,
    dirty: Dirty,
}

/// An entry of a store buffer.
#[derive(Clone, Copy)]
struct Entry {
    what: Buffered,
    cell: u16,
    value: u64,
    /// Operations of the CPU until it leaves on its own.
    left: u8,
    /// The clock that it leaves, for data races.
    tag: Tag,
    /// The store of a read-modify-write: nobody else may store in between.
    reserved: bool,
    /// A younger store of the CPU has left before it.
    overtaken: bool,
    /// Its number among those of the CPU.
    age: u32,
    /// Of a store: when the newest of the values came on which its address and its data depend.
    after: Moment,
    /// The number of the choice of how long it stays, from 1; 0 if there was none.
    asked: u32,
}

impl Entry {
    /// An entry that is no store.
    fn other(what: Buffered, cell: u16, left: u8, asked: u32) -> Self {
        Self { what, cell, value: 0, left, tag: 0, reserved: false, overtaken: false, age: 0, after: 0, asked }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Buffered {
    Store,
    Release,
    Clean,
    CleanInvalidate,
    /// A `DMB ST`.
    StoreBarrier,
}

impl Buffered {
    fn is_store(self) -> bool {
        matches!(self, Self::Store | Self::Release)
    }

    fn is_maintenance(self) -> bool {
        matches!(self, Self::Clean | Self::CleanInvalidate)
    }
}

/// The view of a CPU: its knowledge of the order, and what it has not let go of yet.
#[derive(Clone)]
struct View {
    /// Loads return nothing that was replaced up to here.
    floor: Moment,
    /// The newest value that a load has returned.
    loaded: Moment,
    /// The newest of its own stores, of those that release, and of its maintenance, that the others
    /// can see.
    stored: Moment,
    released: Moment,
    maintained: Moment,
    /// When its last step ended.
    last_step: Moment,
    /// Entries that its buffer has had.
    entered: u32,
    coherent: bool,
    cluster: u8,
    buffer: [Entry; BUFFER],
    buffered: u8,
}

impl View {
    fn new(cluster: u8) -> Self {
        let empty = Entry::other(Buffered::Store, 0, 0, 0);
        Self {
            floor: 0,
            loaded: 0,
            stored: 0,
            released: 0,
            maintained: 0,
            last_step: 0,
            entered: 0,
            coherent: false,
            cluster,
            buffer: [empty; BUFFER],
            buffered: 0,
        }
    }
}

/// The order that an access asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// `LDR`, `STR`.
    Relaxed,
    /// `LDAR`, `STLR`.
    Ordered,
    /// `LDAPR`: acquires, and does not wait for releasing stores. Loads only.
    AcquirePc,
}

/// The order that a read-modify-write asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtomicOrder {
    /// `LDADD`, or `LDXR` and `STXR`.
    Relaxed,
    /// `LDADDA`, or `LDAXR` and `STXR`.
    Acquire,
    /// `LDADDL`, or `LDXR` and `STLXR`.
    Release,
    /// `LDADDAL`, or `LDAXR` and `STLXR`.
    AcquireRelease,
    /// As Linux's atomics that return a value: `LDADDAL`, or `LDXR`, `STLXR` and then `DMB`.
    Full,
}

impl AtomicOrder {
    pub(crate) fn acquires(self) -> bool {
        matches!(self, Self::Acquire | Self::AcquireRelease | Self::Full)
    }

    pub(crate) fn releases(self) -> bool {
        matches!(self, Self::Release | Self::AcquireRelease | Self::Full)
    }
}

/// The value that a load exclusive has seen.
#[derive(Clone, Copy)]
pub(crate) struct Monitored {
    message: Message,
    cell: u16,
}

/// The news that CPUs have left for others outside memory, see [`crate::machine::Machine::tell`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Told {
    /// The others see nothing that had been replaced by then.
    at: Moment,
    tag: Tag,
}

/// The result of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loaded {
    pub value: u64,
    /// The one who had stored the newest value that the load could have returned at best, and that
    /// value; `None` if it did.
    pub newest_elsewhere: Option<(u8, u64)>,
    /// Nothing newer can be had where the CPU looks.
    pub is_newest_here: bool,
    /// When the value came; of the CPU's own store that the others cannot see yet, when that came
    /// on which the store depends, 0 for nothing.
    pub at: Moment,
}

/// Data that was lost: a line was dirty in a cache whose power went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost {
    /// The word.
    pub cell: u16,
    /// The CPU that had stored it.
    pub writer: u8,
}

/// Answers a choice: a number below the given one, 0 by default.
pub trait Answers {
    fn answer(&mut self, kind: Kind, options: u32) -> u32;

    /// The age of the value that a load returns, below `choices`; `in_order` of the newer values
    /// came since the CPU's last step.
    #[inline(always)]
    fn age(&mut self, choices: u32, _in_order: u32) -> u32 {
        self.answer(Kind::LoadAge, choices)
    }

    /// For how many operations of its CPU something stays in the buffer; [`u8::MAX`] for as long as
    /// nothing drives it out.
    #[inline(always)]
    fn delay(&mut self, kind: Kind) -> u8 {
        self.answer(kind, u32::from(crate::LONGEST_DELAY) + 1) as u8
    }
}

/// A load that has returned a value which nobody has stored yet: another CPU must still store it.
#[derive(Clone, Copy)]
struct Debt {
    cell: u16,
    value: u64,
}

/// The values that were stored to a word in any run, for loads that may be late.
#[derive(Clone, Default)]
struct Stored {
    /// A load of this word may be late.
    wanted: bool,
    values: Vec<u64>,
    /// The number of values that there were.
    count: usize,
}

/// Values of a word that are kept in [`Stored`].
pub const MOST_STORED: usize = 8;

/// The memory of a machine.
#[derive(Clone)]
pub struct Memory {
    /// The values that the words held first.
    first: Vec<u64>,
    now: Moment,
    cells: Vec<CellState>,
    lines: Vec<Line>,
    cells_per_line: usize,
    /// The newest value of each word that each CPU knows, by word, kind of history and CPU.
    known: Vec<Moment>,
    views: Vec<View>,
    /// Clocks, where data races are looked for.
    pub(crate) races: Option<Box<Races>>,
    /// Entries of buffers that are stores of read-modify-writes.
    reserved: u32,
    /// The late load of each CPU, and how many there are.
    debts: Vec<Option<Debt>>,
    owing: u32,
    /// The run has had a late load: what is stored from then on may follow from a value that is not
    /// to be.
    foresaw: bool,
    /// CPUs whose late load has got its value since that was last asked, as a set of bits.
    pub(crate) paid: u64,
    /// The accesses of the present step, where every run is tried that differs, and the words that
    /// changed.
    pub(crate) trace: Option<Vec<Access>>,
    pub(crate) changes: Vec<u16>,
    /// An entry was held back for others to overtake it, and none has.
    pub(crate) redundant: bool,
    /// Choices of how long an entry stays, so far.
    asked: u32,
    /// Entries that were not held back, with their CPUs, and that would still be in the buffer if
    /// they had been; where every run is tried that differs.
    unheld: Vec<(usize, Entry)>,
    /// The choices of those that something of their CPU would have overtaken, since that was last
    /// asked.
    pub(crate) worth_holding: Vec<u32>,
    /// By word; it outlives runs.
    stored: Vec<Stored>,
    /// Words whose value changed for somebody since it was last asked, for those who poll.
    pub changed: Option<u16>,
}

/// The writer of what a word holds before anybody ran.
pub const NOBODY: u8 = u8::MAX;

impl Memory {
    /// A memory with words that hold `values`, all in memory and in no cache.
    pub fn new(values: &[u64], cells_per_line: usize, clusters: &[u8]) -> Self {
        let cell = |&value: &u64| {
            let mut history = History::starting_with(value);
            history.messages[0].writer = NOBODY;
            CellState { coherent: history, memory: history }
        };
        Self {
            first: values.to_vec(),
            now: 0,
            cells: values.iter().map(cell).collect(),
            lines: vec![Line::default(); values.len().div_ceil(cells_per_line)],
            cells_per_line,
            known: vec![0; values.len() * 2 * clusters.len()],
            views: clusters.iter().map(|&cluster| View::new(cluster)).collect(),
            races: None,
            reserved: 0,
            debts: vec![None; clusters.len()],
            owing: 0,
            foresaw: false,
            paid: 0,
            trace: None,
            changes: Vec::new(),
            redundant: false,
            asked: 0,
            unheld: Vec::new(),
            worth_holding: Vec::new(),
            stored: vec![Stored::default(); values.len()],
            changed: None,
        }
    }

    /// The memory as it was before anybody ran.
    pub fn blank_of(other: &Self) -> Self {
        let clusters: Vec<u8> = other.views.iter().map(|view| view.cluster).collect();
        Self::new(&other.first, other.cells_per_line, &clusters)
    }

    /// Starts anew with words that hold `values`, all in memory and in no cache.
    pub fn begin(&mut self, values: &[u64]) {
        self.now = 0;
        self.cells.resize(values.len(), CellState::default());
        self.lines.resize(values.len().div_ceil(self.cells_per_line), Line::default());
        self.known.resize(values.len() * 2 * self.views.len(), 0);
        for (cell, &value) in self.cells.iter_mut().zip(values) {
            let mut history = History::starting_with(value);
            history.messages[0].writer = NOBODY;
            *cell = CellState { coherent: history, memory: history };
        }
        self.lines.fill(Line::default());
        self.known.fill(0);
        for view in &mut self.views {
            *view = View::new(view.cluster);
        }
        if self.stored.len() < values.len() {
            self.stored.resize(values.len(), Stored::default());
        }
        self.forget_debts();
        self.changed = None;
        self.reserved = 0;
        self.redundant = false;
        self.changes.clear();
        if let Some(trace) = &mut self.trace {
            trace.clear();
        }
        if let Some(races) = &mut self.races {
            races.begin();
        }
    }

    /// Watches this many pieces of plain data, which nobody has touched, for data races in the run
    /// that starts.
    pub fn watch_plain(&mut self, count: u32) {
        let races = self.races.get_or_insert_with(|| Box::new(Races::new()));
        (0..count).for_each(|_| _ = races.make_plain());
    }

    /// Another word, in the middle of a run.
    pub(crate) fn add_word(&mut self, value: u64) -> u16 {
        let number = u16::try_from(self.cells.len()).ok().filter(|number| *number < u16::MAX);
        let number = number.expect("a machine has fewer than 65535 words");
        let mut history = History::starting_with(value);
        history.messages[0].writer = NOBODY;
        self.cells.push(CellState { coherent: history, memory: history });
        self.lines.resize(self.cells.len().div_ceil(self.cells_per_line), Line::default());
        self.known.resize(self.cells.len() * 2 * self.views.len(), 0);
        if self.stored.len() < self.cells.len() {
            self.stored.push(Stored::default());
        }
        number
    }

    /// All that decides what may happen from here on, as words: two memories with the same words go
    /// on alike. Of moments only the order counts.
    pub fn state(&self, state: &mut Vec<u64>) {
        let histories = || self.cells.iter().flat_map(|cell| [&cell.coherent, &cell.memory]);
        let messages = || histories().flat_map(|history| history.messages[..usize::from(history.length)].iter());
        let views = || {
            self.views.iter().flat_map(|view| [view.floor, view.loaded, view.stored, view.released, view.maintained])
        };
        let entries = || self.views.iter().flat_map(|view| &view.buffer[..usize::from(view.buffered)]);
        let after = || entries().map(|entry| entry.after);
        let known = || self.known.iter().copied();
        let mut moments: Vec<Moment> =
            messages().map(|message| message.at).chain(views()).chain(known()).chain(after()).collect();
        moments.sort_unstable();
        moments.dedup();
        let rank = |moment: Moment| moments.partition_point(|&other| other < moment) as u64;
        state.extend(histories().map(|history| u64::from(history.length)));
        state.extend(messages().flat_map(|message| [message.value, rank(message.at)]));
        state.extend(self.lines.iter().map(|line| match line.dirty {
            Dirty::Nowhere => u64::from(line.cached),
            Dirty::Cpu(cpu) => 2 + u64::from(cpu),
            Dirty::Cluster(cluster) => 1 << 8 | u64::from(cluster),
        }));
        state.extend(self.debts.iter().flatten().flat_map(|debt| [u64::from(debt.cell), debt.value]));
        state.extend(views().chain(known()).map(rank));
        state.extend(self.views.iter().map(|view| u64::from(view.buffered)));
        state.extend(entries().flat_map(|entry| {
            [entry.what as u64 | u64::from(entry.left) << 8, u64::from(entry.cell), entry.value, rank(entry.after)]
        }));
    }

    /// The newest value of a word in memory.
    pub fn newest_in_memory(&self, cell: u16) -> u64 {
        self.cells[usize::from(cell)].memory.newest().value
    }

    /// The newest value of a word in coherency.
    pub fn newest(&self, cell: u16) -> u64 {
        self.cells[usize::from(cell)].coherent.newest().value
    }

    /// The number of cache lines.
    pub fn lines(&self) -> usize {
        self.lines.len()
    }

    /// Makes this memory what `other` is, without new allocations.
    pub fn restore(&mut self, other: &Self) {
        self.now = other.now;
        self.cells.copy_from_slice(&other.cells);
        self.lines.copy_from_slice(&other.lines);
        self.known.copy_from_slice(&other.known);
        self.views.clone_from_slice(&other.views);
        self.forget_debts();
        self.changed = None;
        self.reserved = other.reserved;
    }

    /// Forgets what other tests have stored.
    pub(crate) fn forget_stored(&mut self) {
        self.stored.clear();
        self.stored.resize(self.cells.len(), Stored::default());
    }

    fn forget_debts(&mut self) {
        self.debts.fill(None);
        (self.owing, self.paid, self.foresaw) = (0, 0, false);
        self.asked = 0;
        self.unheld.clear();
        self.worth_holding.clear();
    }

    /// Asks for how long something stays in the buffer; the number of the choice as well.
    fn delay(&mut self, kind: Kind, answers: &mut impl Answers) -> (u8, u32) {
        self.asked += 1;
        (answers.delay(kind), self.asked)
    }

    /// True if the CPU has entries in its buffer, or would have.
    #[inline(always)]
    fn has_buffered(&self, cpu: usize) -> bool {
        self.views[cpu].buffered != 0 || !self.unheld.is_empty()
    }

    // --- Late loads ------------------------------------------------------------------------------

    /// The values that a load of the word may return although they are stored only afterwards; asks
    /// for them to be kept.
    pub(crate) fn later_values(&mut self, cell: u16) -> &[u64] {
        let stored = &mut self.stored[usize::from(cell)];
        stored.wanted = true;
        &stored.values
    }

    /// All values that were stored to words whose loads may be late; `None` if there were too many
    /// of one.
    pub(crate) fn all_later_values(&self) -> Option<Vec<Vec<u64>>> {
        let whole = self.stored.iter().all(|stored| stored.count <= MOST_STORED);
        whole.then(|| self.stored.iter().map(|stored| stored.values.clone()).collect())
    }

    /// True if the CPU may load the word late: it is in coherency, and no store of its own to the
    /// word is on its way.
    pub(crate) fn may_be_late(&self, cpu: usize, cell: u16) -> bool {
        let view = &self.views[cpu];
        let mut own = view.buffer[..usize::from(view.buffered)].iter();
        view.coherent && self.debts[cpu].is_none() && !own.any(|entry| entry.what.is_store() && entry.cell == cell)
    }

    /// A load of the CPU has returned what somebody else has still to store.
    pub(crate) fn owe(&mut self, cpu: usize, cell: u16, value: u64) {
        self.debts[cpu] = Some(Debt { cell, value });
        self.owing += 1;
        self.foresaw = true;
    }

    /// The word whose load of this CPU is late.
    #[inline(always)]
    pub(crate) fn owed(&self, cpu: usize) -> Option<u16> {
        self.debts.get(cpu).copied().flatten().map(|debt| debt.cell)
    }

    /// True if some late load has not got its value.
    pub(crate) fn owes(&self) -> bool {
        self.owing != 0
    }

    /// Late loads get the value that the newest store to the word has.
    #[cold]
    fn pay(&mut self, writer: usize, cell: u16, Message { value, at, tag, .. }: Message) {
        for cpu in 0..self.debts.len() {
            if cpu != writer && self.debts[cpu].is_some_and(|debt| (debt.cell, debt.value) == (cell, value)) {
                self.debts[cpu] = None;
                self.owing -= 1;
                self.paid |= 1 << cpu;
                let known = self.known_at(cell, true, cpu);
                self.known[known] = self.known[known].max(at);
                self.views[cpu].loaded = self.views[cpu].loaded.max(at);
                if let Some(races) = &mut self.races {
                    races.loads(cpu, false, tag);
                }
            }
        }
    }

    fn tick(&mut self) -> Moment {
        self.now += 1;
        self.now
    }

    #[inline(always)]
    fn line_of(&self, cell: u16) -> usize {
        if self.cells_per_line == 1 { usize::from(cell) } else { usize::from(cell) / self.cells_per_line }
    }

    fn cells_of(&self, line: usize) -> std::ops::Range<usize> {
        line * self.cells_per_line..((line + 1) * self.cells_per_line).min(self.cells.len())
    }

    #[inline(always)]
    fn known_at(&self, cell: u16, coherent: bool, cpu: usize) -> usize {
        (usize::from(cell) * 2 + usize::from(coherent)) * self.views.len() + cpu
    }

    // --- Accesses --------------------------------------------------------------------------------

    /// An operation of `cpu` passes: what has been in its buffer for long enough leaves it.
    #[inline(always)]
    pub fn pass(&mut self, cpu: usize) {
        if self.views[cpu].buffered != 0 {
            self.pass_buffer(cpu);
        }
    }

    fn pass_buffer(&mut self, cpu: usize) {
        let mut due = None;
        let view = &mut self.views[cpu];
        for (at, entry) in view.buffer[..usize::from(view.buffered)].iter_mut().enumerate() {
            if entry.left != u8::MAX {
                entry.left = entry.left.saturating_sub(1);
            }
            if entry.left == 0 {
                due = Some(at);
            }
        }
        if due.is_some() {
            // The youngest first: it takes along what it must follow, and whoever is left goes
            // after it.
            while let Some(at) = self.views[cpu].buffer[..usize::from(self.views[cpu].buffered)]
                .iter()
                .rposition(|entry| entry.left == 0)
            {
                self.leave(cpu, at);
            }
        }
    }

    pub(crate) fn load(&mut self, cpu: usize, cell: u16, order: Order, answers: &mut impl Answers) -> Loaded {
        self.load_after(cpu, cell, order, 0, answers)
    }

    /// A load whose address depends on a value that came at `after`: it returns nothing that had
    /// been replaced by then.
    pub fn load_after(
        &mut self,
        cpu: usize,
        cell: u16,
        order: Order,
        after: Moment,
        answers: &mut impl Answers,
    ) -> Loaded {
        let coherent = self.views[cpu].coherent;
        if self.has_buffered(cpu) {
            if order == Order::Ordered {
                self.leave_while(cpu, |entry| entry.what == Buffered::Release);
            }
            if coherent {
                let line = self.line_of(cell);
                let per_line = self.cells_per_line;
                self.leave_while(cpu, |entry| {
                    entry.what.is_maintenance() && usize::from(entry.cell) / per_line == line
                });
            }
            let view = &self.views[cpu];
            let mut own = view.buffer[..usize::from(view.buffered)].iter().rev();
            let own = own.find(|entry| entry.what.is_store() && entry.cell == cell);
            // A load that acquires what a read-modify-write stores comes after that store (DDI
            // 0487, B2.3: Atomic-ordered-before).
            if order != Order::Relaxed && own.is_some_and(|entry| entry.reserved) {
                self.leave_while(cpu, |entry| entry.reserved && entry.cell == cell);
            } else if let Some(&Entry { value, after, .. }) = own {
                // What depends on it depends on what it depends on.
                if order != Order::Relaxed {
                    let view = &mut self.views[cpu];
                    view.floor = view.floor.max(after);
                }
                return Loaded { value, newest_elsewhere: None, is_newest_here: true, at: after };
            }
        }
        if coherent {
            self.fill(self.line_of(cell));
        }
        let known = self.known_at(cell, coherent, cpu);
        let view = &self.views[cpu];
        let released = if order == Order::Ordered { view.released } else { 0 };
        let floor = view.floor.max(released).max(self.known[known]).max(after);
        let state = &self.cells[usize::from(cell)];
        let history = if coherent { &state.coherent } else { &state.memory };
        let newest = history.newest();
        let mut message = newest;
        if newest.at > floor {
            let choices = history.choices(floor);
            if choices > 1 {
                let in_order = history.choices(view.last_step) - 1;
                message = history.aged(answers.age(choices, in_order));
            }
        }
        // What the whole machine holds as the newest, wherever it lies.
        let (seen, other) = (newest, if coherent { state.memory.newest() } else { state.coherent.newest() });
        let latest = if other.at > seen.at { other } else { seen };
        let newest_elsewhere = (latest.value != message.value).then_some((latest.writer, latest.value));
        let view = &mut self.views[cpu];
        view.loaded = view.loaded.max(message.at);
        if order != Order::Relaxed {
            view.floor = view.floor.max(message.at);
        }
        self.known[known] = self.known[known].max(message.at);
        if let Some(races) = &mut self.races {
            races.loads(cpu, order != Order::Relaxed, message.tag);
        }
        if let Some(trace) = &mut self.trace {
            trace.push(Access { cell, writes: false });
        }
        Loaded { value: message.value, newest_elsewhere, is_newest_here: message.at == newest.at, at: message.at }
    }

    pub(crate) fn store(&mut self, cpu: usize, cell: u16, value: u64, order: Order, answers: &mut impl Answers) {
        self.store_after(cpu, cell, value, order, 0, answers);
    }

    /// A store whose address or data depends on a value that came at `after`.
    pub fn store_after(
        &mut self,
        cpu: usize,
        cell: u16,
        value: u64,
        order: Order,
        after: Moment,
        answers: &mut impl Answers,
    ) {
        let what = if order == Order::Relaxed { Buffered::Store } else { Buffered::Release };
        let (left, asked) = self.delay(Kind::StoreDelay, answers);
        let releases = order != Order::Relaxed;
        let tag = self.races.as_mut().map_or(0, |races| races.stores(cpu, releases, 0));
        self.enter(cpu, Entry { value, tag, after, ..Entry::other(what, cell, left, asked) });
    }

    /// Changes a word in one step, as an instruction does that reads and writes (LSE: `CAS`, `SWP`,
    /// `LDADD` and their like); only for CPUs in coherency. `change` makes the new value of the
    /// newest one; `None` leaves it.
    pub fn atomic(
        &mut self,
        cpu: usize,
        cell: u16,
        order: AtomicOrder,
        change: impl FnOnce(u64) -> Option<u64>,
        answers: &mut impl Answers,
    ) -> u64 {
        let before = self.read_exclusively(cpu, cell, order);
        let Some(after) = change(before.value) else { return before.value };
        // Of an instruction that acquires and releases, what comes later waits for the store, too
        // (DDI 0487, B2.3: Barrier-ordered-before); of one that acquires, for the load alone.
        let whole = order.acquires() && order.releases();
        let delay = if whole { (0, 0) } else { self.delay(Kind::StoreDelay, answers) };
        self.write_exclusively(cpu, cell, order, before, after, delay);
        if whole {
            let now = self.now;
            let view = &mut self.views[cpu];
            view.floor = view.floor.max(now);
        }
        before.value
    }

    /// `LDXR`, or `LDAXR`: the value, and what [`Memory::store_exclusive`] has to be told.
    pub(crate) fn load_exclusive(&mut self, cpu: usize, cell: u16, order: AtomicOrder) -> (u64, Monitored) {
        let message = self.read_exclusively(cpu, cell, order);
        (message.value, Monitored { message, cell })
    }

    /// `STXR`, or `STLXR`: whether it stored. It does not if anybody else has stored to the word
    /// since.
    pub(crate) fn store_exclusive(
        &mut self,
        cpu: usize,
        Monitored { message, cell }: Monitored,
        value: u64,
        order: AtomicOrder,
        answers: &mut impl Answers,
    ) -> bool {
        let is_newest = self.cells[usize::from(cell)].coherent.newest().at == message.at;
        if !is_newest || self.reserved != 0 && self.reserved_by(cell).is_some_and(|(other, _)| other != cpu) {
            return false;
        }
        let delay = self.delay(Kind::StoreDelay, answers);
        self.write_exclusively(cpu, cell, order, message, value, delay);
        true
    }

    /// Reads the newest value, and waits for what must come first.
    fn read_exclusively(&mut self, cpu: usize, cell: u16, order: AtomicOrder) -> Message {
        if self.reserved != 0 {
            self.let_reserved_leave(cpu, cell);
        }
        if self.has_buffered(cpu) {
            let line = self.line_of(cell);
            let per_line = self.cells_per_line;
            self.leave_while(cpu, |entry| {
                entry.what.is_maintenance() && usize::from(entry.cell) / per_line == line
                    || entry.what.is_store() && entry.cell == cell
                    || order.acquires() && entry.what == Buffered::Release
            });
        }
        self.fill(self.line_of(cell));
        let message = self.cells[usize::from(cell)].coherent.newest();
        let known = self.known_at(cell, true, cpu);
        self.known[known] = self.known[known].max(message.at);
        let view = &mut self.views[cpu];
        view.loaded = view.loaded.max(message.at);
        if order.acquires() {
            view.floor = view.floor.max(message.at);
        }
        if let Some(races) = &mut self.races {
            races.loads(cpu, order.acquires(), message.tag);
        }
        if let Some(trace) = &mut self.trace {
            trace.push(Access { cell, writes: false });
        }
        message
    }

    fn write_exclusively(
        &mut self,
        cpu: usize,
        cell: u16,
        order: AtomicOrder,
        found: Message,
        value: u64,
        (left, asked): (u8, u32),
    ) {
        let what = if order.releases() { Buffered::Release } else { Buffered::Store };
        let tag = self.races.as_mut().map_or(0, |races| races.stores(cpu, order.releases(), found.tag));
        self.reserved += 1;
        let entry = Entry::other(what, cell, left, asked);
        self.enter(cpu, Entry { value, tag, reserved: true, after: found.at, ..entry });
    }

    /// The store of a read-modify-write that has not reached the others: its CPU, and its place in
    /// the buffer.
    fn reserved_by(&self, cell: u16) -> Option<(usize, usize)> {
        self.views.iter().enumerate().find_map(|(cpu, view)| {
            let own = &view.buffer[..usize::from(view.buffered)];
            own.iter().position(|entry| entry.reserved && entry.cell == cell).map(|at| (cpu, at))
        })
    }

    /// Another CPU is about to store to the word, or to read it for a read-modify-write of its own.
    fn let_reserved_leave(&mut self, cpu: usize, cell: u16) {
        if let Some((other, at)) = self.reserved_by(cell).filter(|(other, _)| *other != cpu) {
            self.leave(other, at);
        }
    }

    /// Maintenance by address: `DC CVAC`, or with `invalidate` `DC CIVAC`.
    pub fn maintain(&mut self, cpu: usize, cell: u16, invalidate: bool, answers: &mut impl Answers) {
        let what = if invalidate { Buffered::CleanInvalidate } else { Buffered::Clean };
        let (left, asked) = self.delay(Kind::MaintenanceDelay, answers);
        self.enter(cpu, Entry::other(what, cell, left, asked));
    }

    /// `DSB SY`.
    pub fn barrier(&mut self, cpu: usize) {
        self.empty_buffer(cpu);
        let view = &mut self.views[cpu];
        view.floor = view.floor.max(view.loaded).max(view.stored).max(view.maintained);
        self.fence(cpu, true, true);
    }

    /// `DMB SY`: as `DSB SY`, and maintenance may still be on its way.
    pub fn full_barrier(&mut self, cpu: usize) {
        self.leave_while(cpu, |entry| entry.what.is_store());
        let view = &mut self.views[cpu];
        view.floor = view.floor.max(view.loaded).max(view.stored);
        self.fence(cpu, true, true);
    }

    fn fence(&mut self, cpu: usize, acquires: bool, releases: bool) {
        if let Some(races) = &mut self.races {
            races.fence(cpu, acquires, releases);
        }
    }

    /// `DMB LD`.
    pub fn load_barrier(&mut self, cpu: usize) {
        let view = &mut self.views[cpu];
        view.floor = view.floor.max(view.loaded);
        self.fence(cpu, true, false);
    }

    /// `DMB ST`.
    pub fn store_barrier(&mut self, cpu: usize) {
        if self.views[cpu].buffered != 0 {
            self.enter(cpu, Entry::other(Buffered::StoreBarrier, 0, u8::MAX, 0));
        }
        self.unheld.retain(|(other, _)| *other != cpu);
    }

    /// `ISB` after a branch that depends on a value which came at `after`.
    pub fn synchronise(&mut self, cpu: usize, after: Moment) {
        let view = &mut self.views[cpu];
        view.floor = view.floor.max(after);
    }

    /// Entries in a CPU's buffer.
    pub fn buffered(&self, cpu: usize) -> usize {
        usize::from(self.views[cpu].buffered)
    }

    /// Lets an entry of a CPU's buffer leave it, with those that it must follow.
    pub fn let_leave(&mut self, cpu: usize, entry: usize) {
        self.leave(cpu, entry);
    }

    /// The CPU tells others outside memory, as a lock of the kernel's does, of what it has seen and
    /// done. What was told before is still there.
    pub(crate) fn tell(&mut self, cpu: usize, told: Told) -> Told {
        self.hear(cpu, told);
        self.barrier(cpu);
        let tag = self.races.as_mut().map_or(0, |races| races.tells(cpu));
        Told { at: self.views[cpu].floor, tag }
    }

    /// The CPU hears what others have told.
    pub(crate) fn hear(&mut self, cpu: usize, told: Told) {
        let view = &mut self.views[cpu];
        view.floor = view.floor.max(told.at);
        if let Some(races) = &mut self.races {
            races.loads(cpu, true, told.tag);
        }
    }

    /// The CPU has learnt from outside memory what others had done before: an event, power, a
    /// message.
    pub fn learn(&mut self, cpu: usize) {
        self.views[cpu].floor = self.now;
        if let Some(races) = &mut self.races {
            (0..self.views.len()).filter(|&other| other != cpu).for_each(|other| races.learns_from(cpu, other));
        }
    }

    /// A process learns all that another one has seen and done: that started it, or has ended.
    pub(crate) fn inherit(&mut self, cpu: usize, from: usize) {
        self.empty_buffer(from);
        let floor = self.views[from].floor.max(self.views[from].loaded).max(self.views[from].stored);
        self.views[cpu].floor = self.views[cpu].floor.max(floor);
        let count = self.views.len();
        for words in self.known.chunks_exact_mut(count) {
            words[cpu] = words[cpu].max(words[from]);
        }
        if let Some(races) = &mut self.races {
            races.learns_from(cpu, from);
        }
    }

    // --- Store buffers ---------------------------------------------------------------------------

    fn enter(&mut self, cpu: usize, mut entry: Entry) {
        self.views[cpu].entered += 1;
        entry.age = self.views[cpu].entered;
        let coherent = self.views[cpu].coherent;
        if self.trace.is_some() && entry.what != Buffered::StoreBarrier {
            self.note_unheld(cpu, entry, coherent);
        }
        if entry.left == 0 && (self.views[cpu].buffered == 0 || !self.must_follow_any(cpu, &entry, coherent)) {
            self.perform(cpu, entry);
            return;
        }
        if usize::from(self.views[cpu].buffered) == BUFFER {
            self.leave(cpu, 0);
        }
        let view = &mut self.views[cpu];
        view.buffer[usize::from(view.buffered)] = entry;
        view.buffered += 1;
        if entry.left == 0 {
            let at = usize::from(view.buffered) - 1;
            self.leave(cpu, at);
        }
    }

    /// Something enters the buffer: it might overtake what was not held back.
    #[cold]
    fn note_unheld(&mut self, cpu: usize, entry: Entry, coherent: bool) {
        let mut unheld = std::mem::take(&mut self.unheld);
        unheld.retain(|(other, older)| {
            if *other != cpu {
                return true;
            }
            if !self.follows(older, &entry, coherent) {
                self.worth_holding.push(older.asked);
                return false;
            }
            entry.left != 0
        });
        if entry.left == 0 && entry.asked != 0 {
            unheld.push((cpu, entry));
        }
        self.unheld = unheld;
    }

    fn must_follow_any(&self, cpu: usize, entry: &Entry, coherent: bool) -> bool {
        let view = &self.views[cpu];
        view.buffer[..usize::from(view.buffered)].iter().any(|older| self.follows(older, entry, coherent))
    }

    /// True if `younger` may leave the buffer only after `older`.
    fn follows(&self, older: &Entry, younger: &Entry, coherent: bool) -> bool {
        use Buffered::{Release, StoreBarrier};
        if younger.what == Release || younger.what == StoreBarrier || older.what == StoreBarrier {
            return !(older.what.is_maintenance() && younger.what == Release);
        }
        let same_line = self.line_of(older.cell) == self.line_of(younger.cell);
        match (older.what.is_maintenance(), younger.what.is_maintenance()) {
            (false, false) => older.cell == younger.cell,
            _ => same_line && coherent,
        }
    }

    /// Lets the entry at `at` leave the buffer, after those that it must follow.
    fn leave(&mut self, cpu: usize, at: usize) {
        let coherent = self.views[cpu].coherent;
        let mut at = at;
        let entry = self.views[cpu].buffer[at];
        let mut older = 0;
        while older < at {
            let other = self.views[cpu].buffer[older];
            if self.follows(&other, &entry, coherent) {
                let before = self.views[cpu].buffered;
                self.leave(cpu, older);
                // It may have taken others along, all of them older than we are.
                at -= usize::from(before - self.views[cpu].buffered);
                older = 0;
            } else {
                older += 1;
            }
        }
        let view = &mut self.views[cpu];
        view.buffer.copy_within(at + 1..usize::from(view.buffered), at);
        view.buffered -= 1;
        self.perform(cpu, entry);
    }

    fn leave_while(&mut self, cpu: usize, which: impl Fn(&Entry) -> bool) {
        self.unheld.retain(|(other, entry)| *other != cpu || !which(entry));
        while let Some(at) = {
            let view = &self.views[cpu];
            view.buffer[..usize::from(view.buffered)].iter().position(&which)
        } {
            self.leave(cpu, at);
        }
    }

    /// All that a CPU has stored or maintained reaches the others.
    pub fn empty_buffer(&mut self, cpu: usize) {
        self.unheld.retain(|(other, _)| *other != cpu);
        while self.views[cpu].buffered != 0 {
            self.leave(cpu, 0);
        }
    }

    fn perform(&mut self, cpu: usize, entry: Entry) {
        self.reserved -= u32::from(entry.reserved);
        if self.trace.is_some() && entry.what != Buffered::StoreBarrier {
            self.note_overtaking(cpu, &entry);
        }
        match entry.what {
            Buffered::Store => self.write(cpu, entry.cell, entry.value, entry.tag),
            Buffered::Release => {
                self.write(cpu, entry.cell, entry.value, entry.tag);
                self.views[cpu].released = self.now;
            }
            Buffered::Clean => self.clean(cpu, entry.cell, false),
            Buffered::CleanInvalidate => self.clean(cpu, entry.cell, true),
            Buffered::StoreBarrier => {}
        }
    }

    /// A store or maintenance reaches the others: it has overtaken the older ones that are left.
    fn note_overtaking(&mut self, cpu: usize, entry: &Entry) {
        self.redundant |= entry.left == u8::MAX && !entry.overtaken;
        let view = &mut self.views[cpu];
        for older in &mut view.buffer[..usize::from(view.buffered)] {
            older.overtaken |= older.what != Buffered::StoreBarrier && older.age < entry.age;
        }
    }

    /// A step of the CPU has ended.
    pub(crate) fn note_step(&mut self, cpu: usize) {
        let now = self.now;
        if let Some(view) = self.views.get_mut(cpu) {
            view.last_step = now;
        }
    }

    fn overtaken_entries(&self, cpu: usize) -> impl Iterator<Item = usize> {
        let view = &self.views[cpu];
        let entries = view.buffer[..usize::from(view.buffered)].iter().enumerate();
        entries.filter(|(_, entry)| entry.overtaken && entry.left == u8::MAX).map(|(at, _)| at)
    }

    /// The entries that were held back and that a later one has overtaken.
    #[inline(always)]
    pub(crate) fn overtaken(&self, cpu: usize) -> usize {
        if self.views[cpu].buffered == 0 { 0 } else { self.overtaken_entries(cpu).count() }
    }

    /// Lets one of them leave the buffer.
    pub(crate) fn let_overtaken_leave(&mut self, cpu: usize, nth: usize) {
        let at = self.overtaken_entries(cpu).nth(nth);
        if let Some(at) = at {
            self.leave(cpu, at);
        }
    }

    fn write(&mut self, cpu: usize, cell: u16, value: u64, tag: Tag) {
        if self.reserved != 0 {
            self.let_reserved_leave(cpu, cell);
        }
        let coherent = self.views[cpu].coherent;
        if coherent {
            let line = self.line_of(cell);
            self.fill(line);
            self.lines[line].dirty = Dirty::Cpu(cpu as u8);
        }
        let at = self.tick();
        let message = Message { value, at, writer: cpu as u8, tag };
        let line = self.line_of(cell);
        let cached = self.lines[line].cached;
        let state = &mut self.cells[usize::from(cell)];
        // While no cache has the line, what memory holds is what everybody sees.
        if coherent || !cached {
            state.coherent.append(message);
            let stored = &mut self.stored[usize::from(cell)];
            if stored.wanted && !self.foresaw && !stored.values.contains(&value) {
                match stored.values.len() < MOST_STORED {
                    true => stored.values.push(value),
                    false => stored.values[stored.count % MOST_STORED] = value,
                }
                stored.count += 1;
            }
        }
        if !coherent {
            state.memory.append(message);
        }
        self.views[cpu].stored = at;
        let known = self.known_at(cell, coherent, cpu);
        self.known[known] = at;
        self.note_change(cell);
        if self.owing != 0 {
            self.pay(cpu, cell, message);
        }
    }

    // --- Caches ----------------------------------------------------------------------------------

    /// A line that no cache has is read from memory.
    #[inline(always)]
    fn fill(&mut self, line: usize) {
        if !self.lines[line].cached {
            self.lines[line] = Line { cached: true, dirty: Dirty::Nowhere };
            self.trace_line(line);
        }
    }

    fn note_change(&mut self, cell: u16) {
        self.changed = Some(cell);
        if let Some(trace) = &mut self.trace {
            trace.push(Access { cell, writes: true });
            self.changes.push(cell);
        }
    }

    /// The state of a line has changed.
    fn trace_line(&mut self, line: usize) {
        let cells = self.cells_of(line);
        if let Some(trace) = &mut self.trace
            && self.views.iter().any(|view| !view.coherent)
        {
            trace.extend(cells.map(|cell| Access { cell: cell as u16, writes: true }));
        }
    }

    /// The line has left the caches: what CPUs in coherency see of it is what memory holds.
    fn read_memory(&mut self, line: usize) {
        for cell in self.cells_of(line) {
            let (coherent, memory) = (self.cells[cell].coherent.newest(), self.cells[cell].memory.newest());
            if coherent.value != memory.value {
                let at = self.tick();
                self.cells[cell].coherent.append(Message { at, ..memory });
                self.note_change(cell as u16);
            }
        }
    }

    /// The dirty words of a line go to memory.
    fn write_back(&mut self, line: usize) {
        if self.lines[line].dirty == Dirty::Nowhere {
            return;
        }
        self.lines[line].dirty = Dirty::Nowhere;
        self.trace_line(line);
        for cell in self.cells_of(line) {
            // All of the line is written, also those words of it that memory has newer ones of.
            let (coherent, memory) = (self.cells[cell].coherent.newest(), self.cells[cell].memory.newest());
            if coherent.value != memory.value {
                let at = self.tick();
                self.cells[cell].memory.append(Message { at, ..coherent });
                self.note_change(cell as u16);
            }
        }
    }

    fn clean(&mut self, cpu: usize, cell: u16, invalidate: bool) {
        if self.views[cpu].coherent {
            let line = self.line_of(cell);
            self.write_back(line);
            if invalidate && self.lines[line].cached {
                self.lines[line].cached = false;
                self.trace_line(line);
                self.read_memory(line);
            }
        }
        self.views[cpu].maintained = self.now;
    }

    /// True if a cache has the line.
    pub fn is_cached(&self, line: usize) -> bool {
        self.lines[line].cached
    }

    /// True if a cache may read the line in on its own: none has it, and one is in coherency.
    pub fn may_fill(&self, line: usize) -> bool {
        !self.lines[line].cached && self.views.iter().any(|view| view.coherent)
    }

    /// A line leaves the caches on its own: written back if it is dirty.
    pub fn evict(&mut self, line: usize) {
        self.write_back(line);
        if self.lines[line].cached {
            self.lines[line].cached = false;
            self.read_memory(line);
        }
    }

    /// A line is read into the caches on its own; only while a CPU is in coherency.
    pub fn fill_early(&mut self, line: usize) {
        if self.may_fill(line) {
            self.fill(line);
        }
    }

    /// True if the CPU is in coherency.
    pub fn is_coherent(&self, cpu: usize) -> bool {
        self.views[cpu].coherent
    }

    /// The CPU's data cache is on and in coherency from here on.
    pub fn join(&mut self, cpu: usize) {
        self.empty_buffer(cpu);
        self.views[cpu].coherent = true;
    }

    /// The CPU's data cache is off and out of coherency from here on; nothing is cleaned.
    pub fn leave_coherency(&mut self, cpu: usize) {
        self.empty_buffer(cpu);
        self.views[cpu].coherent = false;
    }

    /// Cleans and invalidates by set and way: the CPU's own cache, with `cluster` its cluster's as
    /// well.
    pub fn flush(&mut self, cpu: usize, cluster: bool) {
        self.empty_buffer(cpu);
        let own = self.views[cpu].cluster;
        for line in 0..self.lines.len() {
            match self.lines[line].dirty {
                Dirty::Cpu(holder) if usize::from(holder) == cpu && !cluster => {
                    self.lines[line].dirty = Dirty::Cluster(own)
                }
                Dirty::Cpu(holder) if usize::from(holder) == cpu => self.write_back(line),
                Dirty::Cluster(holder) if holder == own && cluster => self.write_back(line),
                _ => {}
            }
        }
        self.views[cpu].maintained = self.now;
        self.barrier(cpu);
    }

    /// The CPU loses power, and with `cluster` its cluster does. The first word of a line that was
    /// dirty there, if there is one.
    pub fn lose_power(&mut self, cpu: usize, cluster: bool) -> Option<Lost> {
        let own = self.views[cpu].cluster;
        let mut lost = None;
        for line in 0..self.lines.len() {
            let gone = match self.lines[line].dirty {
                Dirty::Cpu(holder) => {
                    usize::from(holder) == cpu || cluster && self.views[usize::from(holder)].cluster == own
                }
                Dirty::Cluster(holder) => cluster && holder == own,
                Dirty::Nowhere => false,
            };
            if gone {
                for cell in self.cells_of(line) {
                    let (coherent, memory) = (self.cells[cell].coherent.newest(), self.cells[cell].memory.newest());
                    if coherent.value != memory.value && lost.is_none() {
                        lost = Some(Lost { cell: cell as u16, writer: coherent.writer });
                    }
                }
                self.lines[line] = Line::default();
                self.read_memory(line);
            }
        }
        let (now, view) = (self.now, &mut self.views[cpu]);
        view.coherent = false;
        let own = &view.buffer[..usize::from(view.buffered)];
        self.reserved -= own.iter().filter(|entry| entry.reserved).count() as u32;
        view.buffered = 0;
        view.floor = now;
        self.unheld.retain(|(other, _)| *other != cpu);
        lost
    }
}
