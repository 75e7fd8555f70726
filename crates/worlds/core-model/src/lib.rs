//! A core's view of memory at the scale of cycles, for packet loops.
//!
//! ```text
//!                issue clock, one step a packet's work
//!   program ──────┬─────────────┬──────────────────────────►
//!                 │ load        │ prefetch
//!                 ▼             ▼
//!            ┌─────────┐   ┌──────────────┐ miss ┌────┐ miss ┌──────┐
//!            │ window  │   │ fill buffers │─────►│ L2 │─────►│ DRAM │
//!            │ w cycles│   │ n, block when│      └────┘      └──────┘
//!            └─────────┘   │ full         │
//!                          └──────────────┘
//! ```
//!
//! The core issues in order. A load does not hold it up by itself: the core runs ahead of an
//! unfinished load for [`Parameters::window`] cycles of work and then stalls until the load is
//! done. Every line that is on its way takes a fill buffer if it comes from beyond L2; when all are
//! taken, the load/store unit blocks, and with it the core. A line comes from L1, from L2, or from
//! DRAM after a latency and an exponentially distributed spread. The first touch of a page that is
//! not among the last few waits for its translation, which is shorter while a second-level TLB has
//! the page; a prefetch waits too, and nothing waits for the prefetch.
//!
//! Every stall is charged to the access that caused it ([`Core::stalls`]).
//!
//! No sampling goes through the system's mathematical library, so the same seed gives the same
//! cycles on every machine.
#![forbid(unsafe_code)]

mod cache;
mod exponential;

use cache::Cache;
use exponential::exponential;
use random::XorShift;
use std::collections::VecDeque;

/// Bytes of a cache line.
pub const LINE: u64 = 64;

/// Most entries of a TLB any of which a page may take; a larger one has four ways.
const SMALL: usize = 64;

/// The abilities of the core and its memory. All times are in core cycles.
#[derive(Clone, Copy, Default)]
pub struct Parameters {
    /// Work of one packet that is not waiting for memory.
    pub work: f64,
    /// The distance by which the core runs ahead of an unfinished load, in cycles of work.
    pub window: f64,
    /// Load-to-use time of a line in L2.
    pub l2: f64,
    /// The shortest time in which a line comes from DRAM.
    pub dram: f64,
    /// Mean of the exponential spread on top of it.
    pub dram_spread: f64,
    /// Time to translate an address whose page is in neither TLB.
    pub translation: f64,
    /// Entries of the first-level data TLB.
    pub tlb_entries: usize,
    /// Time to translate an address whose page is in the second-level TLB alone.
    pub second_tlb: f64,
    /// Entries of the second-level TLB; 0 for a core without one.
    pub second_tlb_entries: usize,
    /// Bytes of a page.
    pub page_bytes: u64,
    /// Lines from beyond L2 that can be on their way at once.
    pub fill_buffers: usize,
    /// Cost of issuing one prefetch that needs no waiting.
    pub prefetch_issue: f64,
    /// L1 data cache in bytes.
    pub l1_bytes: u64,
    /// Ways of the L1 data cache.
    pub l1_ways: usize,
    /// L2 cache in bytes.
    pub l2_bytes: u64,
    /// Ways of the L2 cache.
    pub l2_ways: usize,
}

/// An access of the program, named by whoever writes the loop; stall time is charged to it.
#[derive(Clone, Copy)]
pub struct Site(pub u8);

/// Stall time of one access, and where its lines were.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stall {
    /// Cycles in which the core stood still because this access was not done.
    pub waited: f64,
    /// Cycles in which this access found no free fill buffer.
    pub blocked: f64,
    /// The number of times that the access was made.
    pub count: u64,
    /// The number of times that its line was not in L1, but in L2.
    pub from_l2: u64,
    /// The number of times that it was in neither, nor on its way.
    pub from_memory: u64,
}

impl Stall {
    /// The sum of both kinds.
    pub fn cycles(&self) -> f64 {
        self.waited + self.blocked
    }
}

/// A load that the core has run past.
#[derive(Clone, Copy)]
struct Pending {
    site: Site,
    /// The time at which its data is available.
    ready: f64,
    /// Work done when it was issued.
    at_work: f64,
}

/// A line that is being fetched.
struct Fill {
    line: u64,
    ready: f64,
    /// True if it comes from beyond L2, and so takes a fill buffer.
    far: bool,
}

/// One core, its caches and its outstanding lines.
pub struct Core {
    parameters: Parameters,
    now: f64,
    /// Work issued so far: the clock without its stalls.
    worked: f64,
    pending: VecDeque<Pending>,
    fills: Vec<Fill>,
    /// The pages that each TLB has, with the times at which their translations are available.
    translations: [Cache<f64>; 2],
    l1: Cache,
    l2: Cache,
    random: XorShift,
    stalls: Vec<Stall>,
}

impl Core {
    /// A core with empty caches.
    pub fn new(parameters: Parameters, seed: u64) -> Self {
        Self {
            parameters,
            now: 0.0,
            worked: 0.0,
            pending: VecDeque::new(),
            fills: Vec::with_capacity(parameters.fill_buffers),
            translations: [parameters.tlb_entries, parameters.second_tlb_entries].map(|entries| {
                Cache::new(entries as u64, if entries > SMALL { 4 } else { entries })
            }),
            l1: Cache::new(parameters.l1_bytes / LINE, parameters.l1_ways),
            l2: Cache::new(parameters.l2_bytes / LINE, parameters.l2_ways),
            random: XorShift::new(seed),
            stalls: vec![Stall::default(); 256],
        }
    }

    /// The time, in cycles since the core was made.
    pub fn now(&self) -> f64 {
        self.now
    }

    /// Stall time of an access so far.
    pub fn stalls(&self, site: Site) -> Stall {
        self.stalls[site.0 as usize]
    }

    /// Sets the counted stalls to zero.
    pub fn clear_stalls(&mut self) {
        self.stalls.fill(Stall::default());
    }

    /// A line is written by a device: it is in no cache afterwards.
    pub fn device_writes(&mut self, address: u64) {
        let line = address / LINE;
        self.l1.remove(line);
        self.l2.remove(line);
    }

    /// A line is placed in L2 and not in L1, as after use by an earlier part of the program.
    pub fn place_in_l2(&mut self, address: u64) {
        let line = address / LINE;
        self.l1.remove(line);
        self.l2.insert(line, ());
    }

    /// The core touched the address's page a moment ago: its translation is known.
    pub fn knows_page(&mut self, address: u64) {
        for level in &mut self.translations {
            level.insert(address / self.parameters.page_bytes, self.now);
        }
    }

    /// Waits until nothing is outstanding: the end of a frame's loop and what comes after it.
    pub fn drain(&mut self) {
        while let Some(pending) = self.pending.pop_front() {
            self.wait_for(pending);
        }
        let last = self
            .fills
            .iter()
            .fold(self.now, |last, fill| last.max(fill.ready));
        self.retire_fills(last);
    }

    /// Does work, stalling where the window ends.
    pub fn work(&mut self, cycles: f64) {
        let mut left = cycles;
        while let Some(&pending) = self.pending.front() {
            let until = pending.at_work + self.parameters.window - self.worked;
            if pending.ready <= self.now {
                self.pending.pop_front();
            } else if until < left {
                let step = until.max(0.0);
                self.now += step;
                self.worked += step;
                left -= step;
                self.pending.pop_front();
                self.wait_for(pending);
            } else {
                break;
            }
        }
        self.now += left;
        self.worked += left;
    }

    fn wait_for(&mut self, pending: Pending) {
        let waited = (pending.ready - self.now).max(0.0);
        self.stalls[pending.site.0 as usize].waited += waited;
        self.now += waited;
    }

    /// A load whose address is known at once. Returns the time at which its data is available.
    pub fn load(&mut self, address: u64, site: Site) -> f64 {
        self.load_after(address, site, self.now)
    }

    /// A load whose address depends on another load, done at `address_known`.
    pub fn load_after(&mut self, address: u64, site: Site, address_known: f64) -> f64 {
        self.stalls[site.0 as usize].count += 1;
        let ready = self.fetch(address, site, self.now.max(address_known));
        if ready > self.now {
            self.pending.push_back(Pending {
                site,
                ready,
                at_work: self.worked,
            });
        }
        ready
    }

    /// Asks for a line ahead of its use.
    pub fn prefetch(&mut self, address: u64, site: Site) {
        self.stalls[site.0 as usize].count += 1;
        self.work(self.parameters.prefetch_issue);
        self.fetch(address, site, self.now);
    }

    /// Fetches the line if it is not in L1. Returns the time at which it is there.
    fn fetch(&mut self, address: u64, site: Site, from: f64) -> f64 {
        let line = address / LINE;
        let from = self.translate(address / self.parameters.page_bytes, from);
        if let Some(at) = self.fills.iter().position(|fill| fill.line == line) {
            return self.fills[at].ready.max(from);
        }
        if self.l1.touch(line).is_some() {
            return from;
        }
        self.retire_fills(self.now);
        if self.l2.touch(line).is_some() {
            self.stalls[site.0 as usize].from_l2 += 1;
            let ready = from.max(self.now) + self.parameters.l2;
            self.fills.push(Fill {
                line,
                ready,
                far: false,
            });
            return ready;
        }
        let far = || self.fills.iter().filter(|fill| fill.far);
        if far().count() >= self.parameters.fill_buffers {
            let first = far().fold(f64::INFINITY, |first, fill| first.min(fill.ready));
            let blocked = (first - self.now).max(0.0);
            self.stalls[site.0 as usize].blocked += blocked;
            self.now += blocked;
            self.retire_fills(self.now);
        }
        self.l2.insert(line, ());
        self.stalls[site.0 as usize].from_memory += 1;
        let ready = from.max(self.now) + self.latency();
        self.fills.push(Fill {
            line,
            ready,
            far: true,
        });
        ready
    }

    /// Time of a line from DRAM.
    fn latency(&mut self) -> f64 {
        self.parameters.dram + self.parameters.dram_spread * exponential(&mut self.random)
    }

    /// Translates an address of the page. Returns the time at which the access can go on, if it is
    /// made at `from`.
    fn translate(&mut self, page: u64, from: f64) -> f64 {
        let [first, second] = &mut self.translations;
        if let Some(ready) = first.touch(page) {
            return ready.max(from);
        }
        let ready = match second.touch(page) {
            Some(ready) => ready.max(from) + self.parameters.second_tlb,
            None => from + self.parameters.translation,
        };
        first.insert(page, ready);
        second.insert(page, ready);
        ready
    }

    /// Lines that have come by `now` go to L1, and free their buffers.
    fn retire_fills(&mut self, now: f64) {
        let l1 = &mut self.l1;
        self.fills.retain(|fill| {
            let under_way = fill.ready > now;
            if !under_way {
                l1.insert(fill.line, ());
            }
            under_way
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Parameters = Parameters {
        work: 0.0,
        window: 40.0,
        l2: 20.0,
        dram: 200.0,
        dram_spread: 0.0,
        translation: 0.0,
        tlb_entries: 32,
        second_tlb: 0.0,
        second_tlb_entries: 0,
        page_bytes: 4096,
        fill_buffers: 2,
        prefetch_issue: 1.0,
        l1_bytes: 32 * 1024,
        l1_ways: 2,
        l2_bytes: 512 * 1024,
        l2_ways: 16,
    };
    const A: Site = Site(0);
    const B: Site = Site(1);

    #[test]
    fn the_core_runs_ahead_of_a_miss_for_the_window_and_then_waits() {
        let mut core = Core::new(PLAIN, 1);
        core.load(0, A);
        core.work(40.0);
        assert_eq!(core.now(), 40.0);
        core.work(1.0);
        assert_eq!(core.now(), 201.0);
        assert_eq!(core.stalls(A).waited, 160.0);
    }

    #[test]
    fn two_misses_within_the_window_overlap() {
        let mut core = Core::new(PLAIN, 1);
        core.load(0, A);
        core.work(10.0);
        core.load(4096, B);
        core.work(100.0);
        assert_eq!(core.stalls(A).waited, 160.0);
        assert_eq!(
            core.stalls(B).waited,
            0.0,
            "the second came 10 cycles after the first, within the work done since"
        );
        assert_eq!(core.now(), 270.0);
    }

    #[test]
    fn a_prefetch_in_time_costs_its_issue_alone() {
        let mut core = Core::new(PLAIN, 1);
        core.prefetch(0, A);
        core.work(300.0);
        let ready = core.load(0, B);
        assert!(ready <= core.now());
        core.work(100.0);
        assert_eq!(core.now(), 401.0);
    }

    #[test]
    fn a_full_set_of_fill_buffers_blocks_the_next_prefetch() {
        let mut core = Core::new(PLAIN, 1);
        core.prefetch(0, A);
        core.prefetch(4096, A);
        core.prefetch(8192, B);
        assert_eq!(core.stalls(A).blocked, 0.0);
        assert_eq!(core.stalls(B).blocked, 198.0);
    }

    #[test]
    fn a_line_that_a_device_wrote_comes_from_dram_again() {
        let mut core = Core::new(PLAIN, 1);
        core.load(0, A);
        core.drain();
        let now = core.now();
        assert_eq!(core.load(0, A), now);
        core.device_writes(0);
        assert_eq!(core.load(0, A), now + 200.0);
        core.drain();
        core.place_in_l2(0);
        assert_eq!(core.load(0, A), core.now() + 20.0);
        let Stall {
            count,
            from_l2,
            from_memory,
            ..
        } = core.stalls(A);
        assert_eq!([count, from_l2, from_memory], [4, 1, 2]);
    }

    #[test]
    fn the_first_touch_of_a_page_waits_for_its_translation_and_the_second_does_not() {
        let mut core = Core::new(
            Parameters {
                translation: 100.0,
                ..PLAIN
            },
            1,
        );
        assert_eq!(core.load(0, A), 300.0);
        core.drain();
        assert_eq!(core.load(64, B) - core.now(), 200.0);
        core.drain();
        for page in 1..=32 {
            core.load(page * 4160, B);
            core.drain();
        }
        assert_eq!(
            core.load(0, A) - core.now(),
            100.0,
            "the line is in L1, but 32 other pages were touched since"
        );
    }

    #[test]
    fn a_page_that_only_the_second_tlb_has_waits_less() {
        let parameters = Parameters {
            translation: 100.0,
            second_tlb: 7.0,
            second_tlb_entries: 64,
            ..PLAIN
        };
        let mut core = Core::new(parameters, 1);
        for page in 0..=32 {
            core.load(page * 4160, A);
            core.drain();
        }
        assert_eq!(
            core.load(0, A) - core.now(),
            7.0,
            "32 other pages were touched since"
        );
        core.drain();
        for page in 33..=96 {
            core.load(page * 4160, A);
            core.drain();
        }
        assert_eq!(core.load(0, A) - core.now(), 100.0, "64 others");
    }

    #[test]
    fn lines_from_l2_take_no_fill_buffer() {
        let mut core = Core::new(PLAIN, 1);
        for n in 0..4 {
            core.place_in_l2(n * 4096);
            core.prefetch(n * 4096, A);
        }
        assert_eq!(core.stalls(A).blocked, 0.0);
    }

    #[test]
    fn a_page_that_was_touched_needs_no_translation() {
        let mut core = Core::new(
            Parameters {
                translation: 100.0,
                ..PLAIN
            },
            1,
        );
        core.knows_page(0);
        assert_eq!(core.load(64, A), 200.0);
    }

    #[test]
    fn the_same_seed_gives_the_same_cycles() {
        let run = |seed| {
            let mut core = Core::new(
                Parameters {
                    dram_spread: 87.0,
                    ..PLAIN
                },
                seed,
            );
            for n in 0..1000 {
                core.load(n * 4096, A);
                core.work(70.0);
            }
            core.now().to_bits()
        };
        assert_eq!(run(7), run(7));
        assert_ne!(run(7), run(8));
    }
}
