//! The fake machine's memory.

use super::board::Board;
use super::machine::{Fake, locked};
use psci::{Scalar, SharedCell, SharedWord};
use std::marker::PhantomData;
use std::sync::Mutex;
use std::sync::atomic::Ordering::SeqCst;

/// A word in memory, and the line that the caches which are on may hold of it.
///
/// The caches are taken as one that never evicts on its own and survives every flush by set/way,
/// which is what a system cache looks like to a CPU with its own caches off: the least helpful
/// cache that the architecture allows. Where code relies on luck, the cell panics:
/// * a load with caches off while the line is dirty: it reads what is no longer true;
/// * a store with caches off while the line is dirty: the line's eviction would undo it;
/// * a load with caches on that hits a line older than memory;
/// * an access, an event or a power-down after maintenance that no barrier has completed: others
///   may not see it yet.
pub struct Cell<T> {
    line: Mutex<Line>,
    value: PhantomData<fn() -> T>,
}

struct Line {
    memory: u64,
    cached: Option<u64>,
    dirty: bool,
}

impl<T> Cell<T> {
    fn hazard<B: Board>(fake: &Fake<B>, line: &Line, hazard: &str) {
        if fake.strict.load(SeqCst) {
            panic!(
                "{hazard}: memory {:#x}, cache {:x?}, {:?}",
                line.memory,
                line.cached,
                fake.cpu()
            );
        }
    }

    /// Cleans, or also invalidates, a line in one step: a store of another CPU comes before it or
    /// after it.
    fn maintain<B: Board>(&self, fake: &Fake<B>, invalidate: bool) {
        assert!(!fake.options.coherent, "maintenance on a coherent machine");
        fake.maintaining[fake.cpu().get()].store(true, SeqCst);
        if !fake.cache_is_on() {
            return; // out of coherency, it does not reach what other CPUs' caches hold
        }
        let mut line = locked(&self.line);
        if line.dirty {
            line.memory = line.cached.unwrap_or(line.memory);
            line.dirty = false;
        }
        if invalidate {
            line.cached = None;
        }
    }
}

impl<T: Scalar, B: Board> SharedWord<T, Fake<B>> for Cell<T> {
    fn new(value: T) -> Self {
        // Made by the boot CPU, with its cache on.
        let line = Line {
            memory: u64::MAX,
            cached: Some(value.to_word()),
            dirty: true,
        };
        Self {
            line: Mutex::new(line),
            value: PhantomData,
        }
    }

    fn load(&self, fake: &Fake<B>) -> T {
        fake.check_barrier();
        if !fake.strict.load(SeqCst) {
            std::thread::yield_now(); // threads spin on cells, and there may be few processors
        }
        let mut line = locked(&self.line);
        if !fake.cache_is_on() {
            if line.dirty {
                Self::hazard(fake, &line, "load past a dirty line");
            }
            return T::from_word(line.memory);
        }
        if let Some(cached) = line.cached {
            if !line.dirty && cached != line.memory {
                Self::hazard(fake, &line, "load of a stale line");
            }
            return T::from_word(cached);
        }
        line.cached = Some(line.memory);
        T::from_word(line.memory)
    }

    fn store(&self, fake: &Fake<B>, value: T) {
        fake.check_barrier();
        let mut line = locked(&self.line);
        if fake.cache_is_on() {
            line.cached = Some(value.to_word());
            line.dirty = true;
        } else {
            if line.dirty {
                Self::hazard(fake, &line, "store past a dirty line");
            }
            line.memory = value.to_word();
        }
    }

    fn fetch_add(&self, fake: &Fake<B>, value: T) -> T {
        fake.check_barrier();
        assert!(
            fake.cache_is_on(),
            "an atomic on a CPU that is not coherent"
        );
        let mut line = locked(&self.line);
        let before = line.cached.unwrap_or(line.memory);
        line.cached = Some(T::from_word(before.wrapping_add(value.to_word())).to_word());
        line.dirty = true;
        T::from_word(before)
    }
}

impl<T: Scalar, B: Board> SharedCell<T, Fake<B>> for Cell<T> {
    fn clean(&self, fake: &Fake<B>) {
        self.maintain(fake, false);
    }

    fn clean_invalidate(&self, fake: &Fake<B>) {
        self.maintain(fake, true);
    }
}
