//! A CPU of the machine, and what it waits for.

use super::spin::Spin;
use std::cell::{Cell, RefCell};
use std::panic::Location;

/// The event that a CPU's process waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// It waits for nothing.
    Nothing,
    /// An event, in WFE.
    Event,
    /// A word to change: it was read twice in a row and nothing else was done.
    Change(u16),
    /// The same, in a loop, as far as can be told: it goes on as well when nobody else can.
    Spin(u16),
    /// An interrupt, which may come whenever the process is chosen.
    Interrupt,
    /// The store of the value that a late load of its own has returned.
    LateLoad,
    /// Something of the subject's, which has a number and words for it.
    Other(u8),
    /// Another process to end.
    Process(u8),
    /// It is not there: whoever brings it back says so.
    Absent,
    /// All actions are done.
    Done,
}

/// A CPU of the machine.
pub struct Cpu {
    /// The wait of its process.
    waits: Cell<Wait>,
    /// An event has come that it has not waited for yet.
    pub(super) event: Cell<bool>,
    /// The last word that it loaded, its value, and how often in a row.
    pub(super) polled: Cell<(u16, u64, u8)>,
    /// The word of its last atomic.
    pub(super) last_atomic: Cell<u16>,
    /// The place in the source of its last operation that may wait, in tests of Rust.
    pub(crate) place: Cell<Option<&'static Location<'static>>>,
    /// Loads of the CPU since it has done anything else.
    pub(super) spin: RefCell<Spin>,
}

/// No load.
const NOT_POLLED: (u16, u64, u8) = (u16::MAX, 0, 0);

impl Cpu {
    pub(super) fn new() -> Self {
        Self {
            waits: Cell::new(Wait::Nothing),
            event: Cell::new(false),
            polled: Cell::new(NOT_POLLED),
            last_atomic: Cell::new(0),
            place: Cell::default(),
            spin: RefCell::default(),
        }
    }

    /// Forgets a run.
    pub fn begin(&self, waits: Wait) {
        self.waits.set(waits);
        self.event.set(false);
        self.forget_polled();
        let mut spin = self.spin.borrow_mut();
        spin.below = false;
        spin.ends();
    }

    /// The event that its process waits for.
    #[inline(always)]
    pub fn waits(&self) -> Wait {
        self.waits.get()
    }

    /// The process waits for this from here on, or for nothing.
    #[inline(always)]
    pub fn set_waits(&self, waits: Wait) {
        self.waits.set(waits);
    }

    /// The CPU has done something else than to load a word again.
    #[inline(always)]
    pub fn forget_polled(&self) {
        self.polled.set(NOT_POLLED);
    }

    /// The word of its last atomic.
    pub fn last_atomic(&self) -> u16 {
        self.last_atomic.get()
    }
}
