//! The values that a word had, and where a cache line lies.

use super::races::Tag;

/// Values that a history keeps; older ones count as seen by everybody.
const DEPTH: usize = 4;

/// Simulated order: each change of a value or a line's state has its own.
pub type Moment = u32;

/// The writer of what a word holds before anybody ran.
pub const NOBODY: u8 = u8::MAX;

/// A value that a word had.
#[derive(Clone, Copy, Default)]
pub(super) struct Message {
    pub(super) value: u64,
    pub(super) at: Moment,
    pub(super) writer: u8,
    /// The clock that came with it, for data races.
    pub(super) tag: Tag,
}

/// The last values of a word, newest last.
#[derive(Clone, Copy, Default)]
pub(super) struct History {
    messages: [Message; DEPTH],
    length: u8,
}

impl History {
    /// A word that held `value` before anybody ran.
    pub(super) fn starting_with(value: u64) -> Self {
        let mut messages = [Message::default(); DEPTH];
        (messages[0].value, messages[0].writer) = (value, NOBODY);
        Self {
            messages,
            length: 1,
        }
    }

    /// The values that are kept, newest last.
    pub(super) fn messages(&self) -> &[Message] {
        &self.messages[..usize::from(self.length)]
    }

    #[inline(always)]
    pub(super) fn newest(&self) -> Message {
        self.messages[usize::from(self.length) - 1]
    }

    /// Adds a message, and returns whether its value is another one than before.
    #[inline(always)]
    pub(super) fn append(&mut self, message: Message) -> bool {
        let differs = self.newest().value != message.value;
        if usize::from(self.length) == DEPTH {
            self.messages.copy_within(1.., 0);
            self.messages[DEPTH - 1] = message;
        } else {
            self.messages[usize::from(self.length)] = message;
            self.length += 1;
        }
        differs
    }

    /// The number of values that a load may choose from whose floor is `floor`: the newest, and
    /// those that were replaced after it.
    #[inline(always)]
    pub(super) fn choices(&self, floor: Moment) -> u32 {
        let mut choices = 1;
        let mut at = usize::from(self.length) - 1;
        while at > 0 && self.messages[at].at > floor {
            choices += 1;
            at -= 1;
        }
        choices
    }

    #[inline(always)]
    pub(super) fn aged(&self, age: u32) -> Message {
        self.messages[(usize::from(self.length) - 1).saturating_sub(age as usize)]
    }
}

/// A word, as CPUs in coherency see it and as memory has it.
#[derive(Clone, Copy, Default)]
pub(super) struct CellState {
    pub(super) coherent: History,
    pub(super) memory: History,
}

/// Holder of the dirty data of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) enum Dirty {
    #[default]
    Nowhere,
    /// The cache of a CPU.
    Cpu(u8),
    /// The cache of a cluster.
    Cluster(u8),
}

/// A cache line.
#[derive(Clone, Copy, Default)]
pub(super) struct Line {
    pub(super) cached: bool,
    pub(super) dirty: Dirty,
}

impl CellState {
    /// A word that held `value` before anybody ran, in memory and for every cache.
    pub(super) fn starting_with(value: u64) -> Self {
        let history = History::starting_with(value);
        Self {
            coherent: history,
            memory: history,
        }
    }

    /// The newest value of each, where they differ.
    pub(super) fn differing(&self) -> Option<(Message, Message)> {
        let (coherent, memory) = (self.coherent.newest(), self.memory.newest());
        (coherent.value != memory.value).then_some((coherent, memory))
    }
}
