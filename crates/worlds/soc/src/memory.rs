//! Shared memory as CPUs see it: through their caches, or past them.

use crate::Soc;
use psci::{Scalar, SharedCell, SharedWord};
use std::cell::Cell;
use std::marker::PhantomData;

/// One word of simulated memory with at most one cached copy, which the coherent CPUs share.
///
/// A CPU with its cache off reads and writes memory and sees nothing of the copy; whatever
/// maintenance the code under test forgets shows as a stale value, and is counted
/// ([`crate::RunOutcome::stale_loads`]).
pub struct Word<T> {
    memory: Cell<u64>,
    copy: Cell<u64>,
    line: Cell<Line>,
    of: PhantomData<T>,
}

/// State of the cached copy.
#[derive(Clone, Copy, Default)]
struct Line {
    cached: bool,
    dirty: bool,
    /// The CPU that made the copy dirty.
    cpu: u16,
    /// The number of times that that cluster's L2 had been flushed when it was written.
    flushes: u32,
    /// The number of calls that CPU had made when it was written.
    calls: u64,
    /// When the copy was read from memory.
    filled: u64,
}

impl<T> Word<T> {
    /// Brings a dirty line to memory if its L2 was flushed since it was written.
    fn write_back_flushed(&self, soc: &Soc) -> Line {
        let line = self.line.get();
        if line.dirty && soc.l2_flushes(line.cpu) != line.flushes {
            self.memory.set(self.copy.get());
            self.line.set(Line::default());
            return Line::default();
        }
        line
    }

    fn write_copy(&self, soc: &Soc, value: u64) {
        let cpu = soc.current_cpu_index() as u16;
        let before = self.line.get();
        if !(before.dirty && before.cpu == cpu) {
            if before.dirty {
                soc.note_clean(before.cpu);
            }
            soc.note_dirty(cpu);
        }
        self.copy.set(value);
        let (flushes, calls) = (soc.l2_flushes(cpu), soc.calls_of(cpu));
        self.line.set(Line {
            cached: true,
            dirty: true,
            cpu,
            flushes,
            calls,
            filled: 0,
        });
        soc.note_stored(self.address(), value);
    }

    fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    fn read_copy(&self, soc: &Soc) -> u64 {
        let line = self.write_back_flushed(soc);
        if !line.cached {
            soc.advance(soc.memory_access());
            // Others ran meanwhile.
            let line = self.write_back_flushed(soc);
            if !line.cached {
                self.fill(soc);
            }
        } else {
            soc.advance(soc.cached_access());
            if !self.write_back_flushed(soc).cached {
                self.fill(soc);
            }
        }
        // A copy that came in since this CPU's call before is as fresh as any: the CPU had just
        // invalidated it.
        let line = self.line.get();
        if !line.dirty && self.copy.get() != self.memory.get() && line.filled < soc.call_before() {
            soc.note_stale_load();
        }
        self.copy.get()
    }

    #[inline(always)]
    fn fill(&self, soc: &Soc) {
        self.copy.set(self.memory.get());
        self.line.set(Line {
            cached: true,
            filled: soc.now(),
            ..Line::default()
        });
    }

    fn maintain(&self, soc: &Soc, invalidate: bool) {
        let reaches_memory = self.write_back_flushed(soc).dirty;
        soc.advance(if reaches_memory {
            soc.memory_access()
        } else {
            soc.cached_access()
        });
        let mut line = self.write_back_flushed(soc);
        if line.dirty {
            self.memory.set(self.copy.get());
            line.dirty = false;
            soc.note_clean(line.cpu);
        }
        line.cached &= !invalidate;
        self.line.set(line);
    }
}

impl<T: Scalar> SharedWord<T, Soc> for Word<T> {
    fn new(value: T) -> Self {
        Self {
            memory: Cell::new(value.to_word()),
            copy: Cell::new(value.to_word()),
            line: Cell::new(Line::default()),
            of: PhantomData,
        }
    }

    fn load(&self, soc: &Soc) -> T {
        soc.count_call();
        if soc.caches_are_on() {
            return T::from_word(self.read_copy(soc));
        }
        soc.advance(soc.memory_access());
        let line = self.write_back_flushed(soc);
        // A store whose writer is still at the clean that follows is not done yet: the old value is
        // right.
        let store_is_done = || soc.calls_of(line.cpu) > line.calls + 1;
        if line.dirty && self.copy.get() != self.memory.get() && store_is_done() {
            soc.note_stale_load();
        }
        T::from_word(self.memory.get())
    }

    fn store(&self, soc: &Soc, value: T) {
        soc.count_call();
        if soc.caches_are_on() {
            soc.advance(soc.cached_access());
            self.write_back_flushed(soc);
            self.write_copy(soc, value.to_word());
        } else {
            soc.advance(soc.memory_access());
            self.write_back_flushed(soc);
            self.memory.set(value.to_word());
            soc.note_stored(self.address(), value.to_word());
        }
    }

    fn fetch_add(&self, soc: &Soc, value: T) -> T {
        soc.count_call();
        let before = self.read_copy(soc);
        // Wrap at the type's width, as an atomic of that width does.
        let sum = T::from_word(before.wrapping_add(value.to_word()));
        self.write_copy(soc, sum.to_word());
        T::from_word(before)
    }
}

impl<T: Scalar> SharedCell<T, Soc> for Word<T> {
    fn clean(&self, soc: &Soc) {
        soc.count_call();
        self.maintain(soc, false);
    }

    fn clean_invalidate(&self, soc: &Soc) {
        soc.count_call();
        self.maintain(soc, true);
    }

    /// Scans of locks and requests are made of this, and most of their words lie in memory as they
    /// did the last time. Then, while no other process goes, the three operations come to one.
    #[inline(always)]
    fn load_from_memory(&self, soc: &Soc, barrier: impl Fn(&Soc)) -> T {
        // With many CPUs another one may have stored meanwhile: then this one looks again.
        if self.line.get().dirty || !soc.load_from_memory_at_once() || self.line.get().dirty {
            self.clean_invalidate(soc);
            barrier(soc);
            return self.load(soc);
        }
        let value = self.memory.get();
        if soc.caches_are_on() {
            self.fill(soc);
        } else {
            self.line.set(Line {
                cached: false,
                ..self.line.get()
            });
        }
        T::from_word(value)
    }

    #[inline(always)]
    fn wait_until(&self, soc: &Soc, mask: T, value: T, wait: impl Fn(&Soc)) {
        let (mask, value) = (mask.to_word(), value.to_word());
        // Whoever waits has just looked, and nobody has stored since.
        if soc.has_many_cpus() {
            soc.sleep_until_stored(self.address(), mask, value);
        } else {
            wait(soc);
        }
        while self.load(soc).to_word() & mask != value {
            wait(soc);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Word;
    use crate::Soc;
    use crate::config::Sources;
    use document::Document;
    use engine::{Runner, SplitMix64, Time};
    use psci::{Platform, SharedCell, SharedWord};
    use std::cell::RefCell;
    use std::path::Path;

    /// The values that loads of a word from memory saw and when, while another CPU stores to the
    /// word and cleans it, and the calls that were counted.
    fn loads(
        soc: &Soc,
        cached: bool,
        load: impl Fn(&Word<u32>) -> u32,
    ) -> (Vec<(Time, u32)>, [u64; 3]) {
        let word = Word::new(0);
        let seen = RefCell::new(Vec::new());
        let main = |cpu: usize, _| match cpu {
            0 => {
                soc.cpus[0].caches_on.set(cached);
                for _ in 0..400 {
                    seen.borrow_mut().push((soc.now(), load(&word)));
                }
            }
            _ => {
                soc.cpus[1].caches_on.set(true);
                let mut random = SplitMix64::new(5);
                for value in 1..200 {
                    soc.advance(random.below(300) * 1000 + value);
                    word.store(soc, value as u32);
                    word.clean(soc);
                }
            }
        };
        let mut runner = Runner::new(&soc.scheduler, &main);
        (0..2).for_each(|cpu| runner.start(cpu, 0));
        runner.run().unwrap();
        drop(runner);
        (
            seen.into_inner(),
            [
                soc.platform_calls.get(),
                soc.calls_of(0),
                soc.scheduler.operations(),
            ],
        )
    }

    #[test]
    fn a_load_from_memory_is_its_three_operations_whoever_comes_between() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../data/platforms");
        let open = |name: &str| Document::open(&root.join(name)).unwrap();
        let sources = Sources {
            platform: open("juno-r1.toml"),
            release: open("juno-r1/releases/juno-v2.12.toml"),
            costs: open("juno-r1/costs/juno-v2.12.toml"),
        };
        let machine = sources.machine().unwrap();
        for cached in [false, true] {
            let (one, three) = (Soc::new(&machine, 1), Soc::new(&machine, 1));
            let in_one = loads(&one, cached, |word| {
                word.load_from_memory(&one, Soc::barrier)
            });
            let in_three = loads(&three, cached, |word| {
                word.clean_invalidate(&three);
                three.barrier();
                word.load(&three)
            });
            assert_eq!(in_one, in_three);
            assert!(
                in_one.0.iter().any(|&(_, value)| value > 100),
                "the loads were over before the stores"
            );
            assert_eq!(one.stale_loads.get(), 0);
        }
    }
}
