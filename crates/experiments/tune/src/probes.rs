//! Loops of known shape, which tell what a core's memory is like.

use crate::core_file::{ByItself, CoreAbout, CoreFile, Latency, PageStep, PrefetchCost, UnderWay};
use crate::filler;
use crate::system;
use dataplane::buffers::region::Region;
use dataplane::machine;
use experiment::{Error, Progress};
use std::hint::black_box;

/// Words of a line.
const WORDS: usize = 16;

/// Bytes of a line and of a small page.
const LINE: usize = 64;
const PAGE: usize = 4096;

/// Loads of a measurement, and how often each is repeated.
const STEPS: usize = 30_000;
const REPETITIONS: usize = 5;

/// The largest memory that is gone through: four times the last cache, within these bounds.
const LEAST_MEMORY: u64 = 128 << 20;
const MOST_MEMORY: u64 = 512 << 20;

/// Memory that a chain of loads lies in.
enum Memory {
    Huge(Region<u32>),
    Small(Vec<u32>),
}

impl Memory {
    fn new(bytes: usize, huge: bool) -> Self {
        let words = bytes / size_of::<u32>();
        if huge { Self::Huge(Region::new(words)) } else { Self::Small(vec![0; words]) }
    }

    fn words(&self) -> &[u32] {
        match self {
            Self::Huge(region) => region.as_slice(),
            Self::Small(words) => words,
        }
    }

    fn words_mut(&mut self) -> &mut [u32] {
        match self {
            Self::Huge(region) => region.as_mut_slice(),
            Self::Small(words) => words,
        }
    }

    fn huge(&self) -> f64 {
        let middle = self.words().len() / 2;
        system::huge_share(self.words()[middle..].as_ptr() as usize).unwrap_or(0.0)
    }

    /// Makes one chain through some places, in no order, each of which holds the next.
    fn chain(&mut self, mut places: Vec<u32>) -> u32 {
        fastrand::Rng::with_seed(1).shuffle(&mut places);
        let words = self.words_mut();
        for (at, place) in places.iter().enumerate() {
            words[*place as usize] = places[(at + 1) % places.len()];
        }
        places[0]
    }
}

/// Goes along a chain.
#[inline(never)]
fn follow(words: &[u32], mut at: u32, steps: usize) -> u32 {
    for _ in 0..steps {
        at = words[at as usize];
    }
    at
}

/// Goes along `N` chains at once, `steps` times.
#[inline(never)]
fn follow_many<const N: usize>(words: &[u32], mut at: [u32; N], steps: usize) -> [u32; N] {
    for _ in 0..steps {
        for at in &mut at {
            *at = words[*at as usize];
        }
    }
    at
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The least of some measurements, each of the ticks for `count` of something: what else runs on a
/// machine makes them longer, and nothing makes them shorter.
fn ticks_of(count: usize, mut what: impl FnMut()) -> f64 {
    let once = |what: &mut dyn FnMut()| {
        let from = machine::ticks_in_order();
        what();
        (machine::ticks_in_order() - from) as f64 / count as f64
    };
    (0..REPETITIONS).map(|_| once(&mut what)).fold(f64::INFINITY, f64::min)
}

/// A number with three digits: more would claim more than a machine repeats.
fn rounded(value: f64) -> f64 {
    if value <= 0.0 {
        return 0.0;
    }
    let unit = 10_f64.powf(value.log10().floor() - 2.0);
    (value / unit).round() * unit
}

/// Measures the core that this runs on, which takes some ten seconds.
///
/// # Errors
/// It was told to stop.
pub fn calibrate(made_by: &str, progress: &Progress) -> Result<CoreFile, Error> {
    let cache_bytes = system::cache_bytes();
    let last = cache_bytes.iter().copied().max().unwrap_or(0);
    let most = (4 * last).next_power_of_two().clamp(LEAST_MEMORY, MOST_MEMORY) as usize;
    let sizes: Vec<usize> =
        std::iter::successors(Some(16 << 10), |size| Some(size * 2)).take_while(|size| *size <= most).collect();
    progress.expect(2 * sizes.len() as u64 + 5, "probes");
    let mut latency = Vec::new();
    for huge in [true, false] {
        for &size in &sizes {
            progress.check()?;
            latency.push(latency_of(size, huge));
            progress.step();
        }
    }
    let far = latency[sizes.len() - 1].ticks;
    let mut memory = Memory::new(most, true);
    let first = memory.chain((0..most / LINE).map(|line| (line * WORDS) as u32).collect());
    progress.check()?;
    let loads = far / many_loads(&memory, first);
    progress.step();
    let prefetches = far / stream_of_prefetches(&memory);
    progress.step();
    progress.check()?;
    let instructions = window(&memory, first, far);
    progress.step();
    let by_itself = by_itself(&mut memory, most);
    progress.step();
    let pages = [16, 32, 48, 64, 96, 128, 256, 512, 1024, 1536, 2048, 3072, 4096, 8192];
    let pages = pages.into_iter().map(pages_step).collect();
    progress.step();
    Ok(CoreFile {
        core: CoreAbout {
            name: system::processor(),
            counter: machine::COUNTER.to_owned(),
            counter_hz: machine::counter_hz(),
            cache_bytes,
            made_by: made_by.to_owned(),
        },
        failed: Vec::new(),
        under_way: UnderWay { instructions, loads: rounded(loads).max(1.0), prefetches: rounded(prefetches).max(1.0) },
        prefetch: PrefetchCost { ticks: rounded(prefetch_cost()) },
        by_itself,
        latency,
        pages,
    })
}

/// The latency where `size` bytes are gone through in no order.
fn latency_of(size: usize, huge: bool) -> Latency {
    let mut memory = Memory::new(size, huge);
    let mut at = memory.chain((0..size / LINE).map(|line| (line * WORDS) as u32).collect());
    let words = memory.words();
    at = follow(words, at, (size / LINE).min(1 << 18));
    let ticks = ticks_of(STEPS, || at = follow(words, at, STEPS));
    // One load at a time, less what the looks at the counter take.
    let near = [0_u32; 1];
    let one = |words: &[u32], at: &mut u32| {
        let from = machine::ticks_in_order();
        *at = black_box(words[*at as usize]);
        (machine::ticks_in_order() - from) as f64
    };
    let look = median((0..1001).map(|_| one(&near, &mut 0)).collect());
    let mut each: Vec<f64> = (0..8000).map(|_| (one(words, &mut at) - look).max(0.0)).collect();
    each.sort_by(f64::total_cmp);
    let eighths: [f64; 8] = std::array::from_fn(|eighth| each[(2 * eighth + 1) * each.len() / 16]);
    // The chain tells the mean, and single loads how they are spread about it.
    let mean = eighths.iter().sum::<f64>() / 8.0;
    let is_coarse = machine::counter_hz() < 500_000_000 || mean < ticks / 4.0;
    let eighths = eighths.map(|eighth| if is_coarse { ticks } else { eighth * ticks / mean.max(1e-9) });
    Latency { bytes: size as u64, huge: memory.huge().round(), ticks: rounded(ticks), eighths: eighths.map(rounded) }
}

/// Ticks per line where a core has many independent loads at once: the least over some counts.
fn many_loads(memory: &Memory, first: u32) -> f64 {
    fn with<const N: usize>(words: &[u32], first: u32) -> f64 {
        // Chains far from each other: each starts where the one before is after a while.
        let mut from = first;
        let mut at: [u32; N] = std::array::from_fn(|_| {
            from = follow(words, from, REPETITIONS * STEPS / N + 1);
            from
        });
        // Each repetition goes on where the one before stopped: its lines are cold, too.
        ticks_of(STEPS / N * N, || at = follow_many(words, at, STEPS / N))
    }
    let words = memory.words();
    [
        with::<4>(words, first),
        with::<6>(words, first),
        with::<8>(words, first),
        with::<10>(words, first),
        with::<12>(words, first),
        with::<16>(words, first),
        with::<20>(words, first),
        with::<24>(words, first),
        with::<32>(words, first),
        with::<48>(words, first),
    ]
    .into_iter()
    .fold(f64::INFINITY, f64::min)
}

/// Ticks per line where a core does nothing but prefetch.
fn stream_of_prefetches(memory: &Memory) -> f64 {
    let words = memory.words();
    let lines = words.len() / WORDS;
    let mut random = fastrand::Rng::with_seed(2);
    let order: Vec<u32> = (0..REPETITIONS * STEPS).map(|_| (random.usize(..lines) * WORDS) as u32).collect();
    // Each repetition has lines of its own, which are cold.
    let mut parts = order.chunks(STEPS).cycle();
    ticks_of(STEPS, || {
        for place in parts.next().unwrap_or_default() {
            machine::prefetch(&raw const words[*place as usize]);
        }
    })
}

/// Ticks of a prefetch of a line that is near.
fn prefetch_cost() -> f64 {
    let words = [1_u32; 64];
    let sum = |prefetches: bool| {
        ticks_of(STEPS, || {
            let mut hash = 1_u32;
            for step in 0..STEPS {
                if prefetches {
                    machine::prefetch(&raw const words[step & 63]);
                }
                hash = hash.wrapping_add(black_box(words[step & 63]));
            }
            black_box(hash);
        })
    };
    let (with, without) = (sum(true), sum(false));
    (with - without).max(0.0)
}

/// Instructions that fit the core's window: between two loads, the largest number with which both
/// are on their way at once. One load takes `alone` ticks.
fn window(memory: &Memory, first: u32, alone: f64) -> f64 {
    let words = memory.words();
    let steps = STEPS / 10;
    let mut at = [first, follow(words, first, words.len() / WORDS / 2)];
    let times = filler::COUNTS.map(|count| {
        let ticks = ticks_of(steps, || at = filler::walk(count, words, at, steps));
        (f64::from(count), ticks)
    });
    // Two loads at once take one latency, two after each other take two. The way from the one to
    // the other is gradual, because registers and schedulers run out before the window does.
    let together = times[..4].iter().fold(f64::INFINITY, |least, (_, ticks)| least.min(*ticks));
    let middle = f64::midpoint(together, 2.0 * alone);
    let half_way = times.windows(2).find(|pair| pair[1].1 > middle);
    half_way.map_or(f64::from(filler::COUNTS[filler::COUNTS.len() - 1]), |pair| (pair[0].0 + pair[1].0) / 2.0)
}

/// The lines that hardware fetches by itself.
fn by_itself(memory: &mut Memory, bytes: usize) -> ByItself {
    // Pairs of lines in no order: the time of both less that of one.
    let pairs = bytes / LINE / 2;
    let first = memory.chain((0..pairs).map(|pair| (pair * 2 * WORDS) as u32).collect());
    let words = memory.words();
    let mut at = first;
    let one = ticks_of(STEPS, || at = follow(words, at, STEPS));
    let words = memory.words_mut();
    for pair in 0..pairs {
        let place = pair * 2 * WORDS;
        // The way leads over the line beside.
        words[place + WORDS] = words[place];
        words[place] = (place + WORDS) as u32;
    }
    let words = memory.words();
    let both = ticks_of(STEPS, || at = follow(words, at, 2 * STEPS));
    let words = memory.words_mut();
    let lines = words.len() / WORDS;
    for line in 0..lines {
        words[line * WORDS] = ((line + 1) % lines * WORDS) as u32;
    }
    let words = memory.words();
    at = 0;
    let stream_ticks = ticks_of(STEPS, || at = follow(words, at, STEPS));
    black_box(at);
    ByItself { beside_ticks: rounded((both - one).max(0.0)), stream_ticks: rounded(stream_ticks) }
}

/// Ticks per line where each is in a small page of its own.
fn pages_step(count: usize) -> PageStep {
    let mut memory = Memory::new(count * PAGE, false);
    // Not all in the same set of the cache.
    let place = |page: usize| ((page * PAGE + page % (PAGE / LINE) * LINE) / size_of::<u32>()) as u32;
    let mut at = memory.chain((0..count).map(place).collect());
    let words = memory.words();
    at = follow(words, at, count);
    let ticks = ticks_of(STEPS, || at = follow(words, at, STEPS));
    black_box(at);
    PageStep { count: count as u64, ticks: rounded(ticks) }
}
