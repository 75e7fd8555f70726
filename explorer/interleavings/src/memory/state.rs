//! The memory of a machine, from the start of a run on.

use super::history::{CellState, Dirty, Line, Moment};
use super::races::Races;
use super::types::Touch;
use super::view::{Entry, View};

/// A load that has returned a value which nobody has stored yet: another CPU must still store it.
#[derive(Clone, Copy)]
pub(super) struct Debt {
    pub(super) cell: u16,
    pub(super) value: u64,
}

/// The values that were stored to a word in any run, for loads that may be late.
#[derive(Clone, Default)]
pub(super) struct StoredValues {
    /// A load of this word may be late.
    pub(super) wanted: bool,
    pub(super) values: Vec<u64>,
    /// The number of values that there were.
    pub(super) count: usize,
}

/// The memory of a machine.
#[derive(Clone, Default)]
pub struct Memory {
    /// The values that the words held first.
    pub(super) first: Vec<u64>,
    pub(super) now: Moment,
    pub(super) cells: Vec<CellState>,
    pub(super) lines: Vec<Line>,
    pub(super) cells_per_line: usize,
    /// The newest value of each word that each CPU knows, by word, kind of history and CPU.
    pub(super) known: Vec<Moment>,
    pub(super) views: Vec<View>,
    /// Clocks, where data races are looked for.
    pub(super) races: Option<Box<Races>>,
    /// Entries of buffers that are stores of read-modify-writes.
    pub(super) reserved: u32,
    /// The late load of each CPU, and how many there are.
    pub(super) debts: Vec<Option<Debt>>,
    pub(super) owing: u32,
    /// The run has had a late load: what is stored from then on may follow from a value that is not
    /// to be.
    pub(super) foresaw: bool,
    /// CPUs whose late load has got its value since that was last asked, as a set of bits.
    pub(super) paid: u64,
    /// The accesses of the present step, where every run is tried that differs, and the words that
    /// changed.
    pub(super) trace: Option<Vec<Touch>>,
    pub(super) changes: Vec<u16>,
    /// An entry was held back for others to overtake it, and none has.
    pub(super) redundant: bool,
    /// Choices of how long an entry stays, so far.
    pub(super) asked: u32,
    /// Entries that were not held back, with their CPUs, and that would still be in the buffer if
    /// they had been; where every run is tried that differs.
    pub(super) unheld: Vec<(usize, Entry)>,
    /// The choices of those that something of their CPU would have overtaken, since that was last
    /// asked.
    pub(super) worth_holding: Vec<u32>,
    /// Values that late loads may return, for each word; they outlive runs.
    pub(super) stored: Vec<StoredValues>,
    /// Words whose value changed for somebody since it was last asked, for those who poll.
    pub(super) changed: Option<u16>,
}

impl Memory {
    /// A memory with words that hold `values`, all in memory and in no cache.
    pub fn new(values: &[u64], cells_per_line: usize, clusters: &[u8]) -> Self {
        let mut memory = Self {
            first: values.to_vec(),
            cells_per_line,
            views: clusters.iter().map(|&cluster| View::new(cluster)).collect(),
            debts: vec![None; clusters.len()],
            ..Self::default()
        };
        memory.begin(values);
        memory
    }

    /// The memory as it was before anybody ran.
    pub fn blank_of(other: &Self) -> Self {
        let clusters: Vec<u8> = other.views.iter().map(|view| view.cluster).collect();
        Self::new(&other.first, other.cells_per_line, &clusters)
    }

    /// Starts anew with words that hold `values`, all in memory and in no cache.
    pub fn begin(&mut self, values: &[u64]) {
        self.now = 0;
        self.cells.clear();
        self.cells
            .extend(values.iter().map(|&value| CellState::starting_with(value)));
        self.fit_words();
        self.lines.fill(Line::default());
        self.known.fill(0);
        self.views.iter_mut().for_each(View::begin);
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

    /// Another word, in the middle of a run.
    pub(crate) fn add_word(&mut self, value: u64) -> u16 {
        let number = u16::try_from(self.cells.len())
            .ok()
            .filter(|number| *number < u16::MAX)
            .expect("a machine has fewer than 65535 words");
        self.cells.push(CellState::starting_with(value));
        self.fit_words();
        number
    }

    /// All that there is for each word fits the words that there are; what was stored outlives runs.
    pub(super) fn fit_words(&mut self) {
        let words = self.cells.len();
        let lines = words.div_ceil(self.cells_per_line);
        self.lines.resize(lines, Line::default());
        self.known.resize(words * 2 * self.views.len(), 0);
        let stored = self.stored.len().max(words);
        self.stored.resize(stored, StoredValues::default());
    }

    /// All that decides what may happen from here on, as words: two memories with the same words go
    /// on alike. Of moments only the order counts.
    pub fn state(&self, state: &mut Vec<u64>) {
        let histories = || {
            self.cells
                .iter()
                .flat_map(|cell| [&cell.coherent, &cell.memory])
        };
        let messages = || histories().flat_map(|history| history.messages());
        let views = || {
            self.views.iter().flat_map(|view| {
                [
                    view.floor,
                    view.loaded,
                    view.stored,
                    view.released,
                    view.maintained,
                ]
            })
        };
        let entries = || self.views.iter().flat_map(|view| view.entries());
        let after = || entries().map(|entry| entry.after);
        let known = || self.known.iter().copied();
        let mut moments: Vec<Moment> = messages()
            .map(|message| message.at)
            .chain(views())
            .chain(known())
            .chain(after())
            .collect();
        moments.sort_unstable();
        moments.dedup();
        let rank = |moment: Moment| moments.partition_point(|&other| other < moment) as u64;
        state.extend(histories().map(|history| history.messages().len() as u64));
        state.extend(messages().flat_map(|message| [message.value, rank(message.at)]));
        state.extend(self.lines.iter().map(|line| match line.dirty {
            Dirty::Nowhere => u64::from(line.cached),
            Dirty::Cpu(cpu) => 2 + u64::from(cpu),
            Dirty::Cluster(cluster) => 1 << 8 | u64::from(cluster),
        }));
        state.extend(
            self.debts
                .iter()
                .flatten()
                .flat_map(|debt| [u64::from(debt.cell), debt.value]),
        );
        state.extend(views().chain(known()).map(rank));
        state.extend(self.views.iter().map(|view| u64::from(view.buffered)));
        state.extend(entries().flat_map(|entry| {
            [
                entry.what as u64 | u64::from(entry.left) << 8,
                u64::from(entry.cell),
                entry.value,
                rank(entry.after),
            ]
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

    /// True if the value of a word has changed for somebody since the last call.
    #[inline(always)]
    pub(crate) fn take_changed(&mut self) -> bool {
        self.changed.take().is_some()
    }

    pub(super) fn tick(&mut self) -> Moment {
        self.now += 1;
        self.now
    }

    #[inline(always)]
    pub(super) fn line_of(&self, cell: u16) -> usize {
        if self.cells_per_line == 1 {
            usize::from(cell)
        } else {
            usize::from(cell) / self.cells_per_line
        }
    }

    pub(super) fn cells_of(&self, line: usize) -> std::ops::Range<usize> {
        line * self.cells_per_line..((line + 1) * self.cells_per_line).min(self.cells.len())
    }

    #[inline(always)]
    pub(super) fn known_at(&self, cell: u16, coherent: bool, cpu: usize) -> usize {
        (usize::from(cell) * 2 + usize::from(coherent)) * self.views.len() + cpu
    }
}
