//! Loops of known shape, which tell what a core's memory is like.

use crate::core_file::{ByItself, CoreAbout, CoreFile, Latency, PageStep, PrefetchCost, UnderWay};
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
        if huge {
            Self::Huge(Region::new(words))
        } else {
            Self::Small(vec![0; words])
        }
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

/// The least of some measurements, each of the ticks for `count` of something: what else runs on a
/// machine makes them longer, and nothing makes them shorter.
fn ticks_of(count: usize, mut what: impl FnMut()) -> f64 {
    let once = |what: &mut dyn FnMut()| {
        let from = machine::ticks_in_order();
        what();
        (machine::ticks_in_order() - from) as f64 / count as f64
    };
    (0..REPETITIONS)
        .map(|_| once(&mut what))
        .fold(f64::INFINITY, f64::min)
}

/// A number with three digits: more would claim more than a machine repeats.
fn rounded(value: f64) -> f64 {
    if value <= 0.0 {
        return 0.0;
    }
    let unit = 10_f64.powf(value.log10().floor() - 2.0);
    (value / unit).round() * unit
}

/// Passes of a part at most; of each value the two least have to agree.
const PASSES: usize = 6;

/// The share by which two passes may differ, and a time fall where more bytes are gone through.
const AGREE: f64 = 0.1;
const FALLS: f64 = 0.05;

/// Measures some values in two passes or more, until the two least of each agree. The least is
/// taken: what else runs makes times longer. Of values that do not agree, `failed` has the names.
fn passes(
    names: &[String],
    failed: &mut Vec<String>,
    mut pass: impl FnMut() -> Result<Vec<f64>, Error>,
) -> Result<Vec<f64>, Error> {
    let mut all: Vec<Vec<f64>> = pass()?.into_iter().map(|value| vec![value]).collect();
    let apart = |values: &Vec<f64>| (values[1] - values[0]) / values[1].max(1.0);
    for _ in 1..PASSES {
        all.iter_mut().zip(pass()?).for_each(|(values, value)| {
            values.push(value);
            values.sort_by(f64::total_cmp);
        });
        if all.iter().all(|values| apart(values) <= AGREE) {
            break;
        }
    }
    for (name, values) in names
        .iter()
        .zip(&all)
        .filter(|(_, values)| apart(values) > AGREE)
    {
        failed.push(format!(
            "{name}: the two best of {PASSES} passes differ by {:.0} %",
            100.0 * apart(values)
        ));
    }
    Ok(all.into_iter().map(|values| values[0]).collect())
}

/// The middle of ratios of times, whose noise goes either way; `failed` says so if the passes
/// differ by twice what two passes may.
fn middle(name: &str, ratios: &mut [f64], failed: &mut Vec<String>) -> f64 {
    ratios.sort_by(f64::total_cmp);
    let (middle, least, most) = (
        ratios[ratios.len() / 2],
        ratios[0],
        ratios[ratios.len() - 1],
    );
    if most - least > 2.0 * AGREE * middle {
        failed.push(format!(
            "{name}: {PASSES} passes say {least:.0} to {most:.0}"
        ));
    }
    middle
}

/// Makes times rise with the bytes that are gone through; `failed` says so if one falls by more
/// than the noise of a pass.
fn rising(names: &[String], times: &mut [f64], failed: &mut Vec<String>) {
    let mut most: f64 = 0.0;
    for (name, time) in names.iter().zip(times) {
        if *time < most * (1.0 - FALLS) {
            failed.push(format!(
                "{name}: it takes {time:.1} ticks, and fewer bytes {most:.1}"
            ));
        }
        most = most.max(*time);
        *time = most;
    }
}

/// Measures the core that this runs on, which takes half a minute. Parts that do not repeat
/// themselves, or that no core can have, are marked.
///
/// # Errors
/// It was told to stop.
pub fn calibrate(made_by: &str, progress: &Progress) -> Result<CoreFile, Error> {
    let cache_bytes = system::cache_bytes();
    let last = cache_bytes.iter().copied().max().unwrap_or(0);
    let most = (4 * last)
        .next_power_of_two()
        .clamp(LEAST_MEMORY, MOST_MEMORY) as usize;
    let mut failed = Vec::new();
    let latency = latencies(most, progress, &mut failed)?;
    progress.say("measuring what is under way at once");
    let mut memory = Memory::new(most, true);
    let first = memory.chain((0..most / LINE).map(|line| (line * WORDS) as u32).collect());
    let named = |names: &[&str]| {
        names
            .iter()
            .map(|name| (*name).to_owned())
            .collect::<Vec<_>>()
    };
    let mut lines = [Vec::new(), Vec::new()];
    for _ in 0..PASSES {
        progress.check()?;
        let (words, mut at) = (memory.words(), first);
        let far = ticks_of(STEPS, || at = follow(words, at, STEPS));
        lines[0].push(far / many_loads(&memory, first));
        lines[1].push(far / stream_of_prefetches(&memory));
    }
    let loads = middle("loads under way", &mut lines[0], &mut failed);
    let prefetches = middle("prefetches under way", &mut lines[1], &mut failed);
    let names = named(&[
        "a prefetch",
        "the line beside",
        "lines one behind the other",
    ]);
    let single = passes(&names, &mut failed, || {
        progress.check()?;
        let ByItself {
            beside_ticks,
            stream_ticks,
        } = by_itself(&mut memory, most);
        Ok(vec![prefetch_cost(), beside_ticks, stream_ticks])
    })?;
    progress.say("measuring translations");
    let counts = [
        16, 32, 48, 64, 96, 128, 256, 512, 1024, 1536, 2048, 3072, 4096, 8192,
    ];
    let names = counts.map(|count| format!("{count} small pages"));
    let mut steps = passes(&names, &mut failed, || {
        progress.check()?;
        Ok(counts.into_iter().map(pages_step).collect())
    })?;
    rising(&names, &mut steps, &mut failed);
    let pages = counts.iter().zip(steps).map(|(count, ticks)| PageStep {
        count: *count as u64,
        ticks: rounded(ticks),
    });
    Ok(CoreFile {
        failed,
        core: CoreAbout {
            name: system::processor(),
            counter: machine::COUNTER.to_owned(),
            counter_hz: machine::counter_hz(),
            cache_bytes,
            made_by: made_by.to_owned(),
        },
        under_way: UnderWay {
            loads: rounded(loads).max(1.0),
            prefetches: rounded(prefetches).max(1.0),
        },
        prefetch: PrefetchCost {
            ticks: rounded(single[0]),
        },
        by_itself: ByItself {
            beside_ticks: rounded(single[1]),
            stream_ticks: rounded(single[2]),
        },
        latency,
        pages: pages.collect(),
    })
}

/// The time of a line in huge and in small pages, up to `most` bytes that are gone through.
fn latencies(
    most: usize,
    progress: &Progress,
    failed: &mut Vec<String>,
) -> Result<Vec<Latency>, Error> {
    let sizes: Vec<usize> = std::iter::successors(Some(16 << 10), |size| Some(size * 2))
        .take_while(|size| *size <= most)
        .collect();
    let mut shares = Vec::new();
    progress.say("measuring a line by the bytes that are gone through");
    let both = || {
        [true, false]
            .into_iter()
            .flat_map(|huge| sizes.iter().map(move |size| (*size, huge)))
    };
    let names: Vec<String> = both()
        .map(|(size, huge)| {
            CoreFile::latency_name(size as u64) + if huge { "huge pages" } else { "small pages" }
        })
        .collect();
    let mut times = passes(&names, failed, || {
        let measured = both().map(|(size, huge)| progress.check().map(|()| latency_of(size, huge)));
        let measured: Vec<(f64, f64)> = measured.collect::<Result<_, _>>()?;
        shares = measured.iter().map(|(share, _)| *share).collect();
        Ok(measured.into_iter().map(|(_, ticks)| ticks).collect())
    })?;
    let halves = names.chunks(sizes.len()).zip(times.chunks_mut(sizes.len()));
    halves.for_each(|(names, times)| rising(names, times, failed));
    let latency = both().zip(shares.iter().zip(&times));
    let latency = latency.map(|((size, _), (huge, ticks))| Latency {
        bytes: size as u64,
        huge: *huge,
        ticks: rounded(*ticks),
    });
    Ok(latency.collect())
}

/// The share of huge pages, and the latency, where `size` bytes are gone through in no order.
fn latency_of(size: usize, huge: bool) -> (f64, f64) {
    let mut memory = Memory::new(size, huge);
    let mut at = memory.chain((0..size / LINE).map(|line| (line * WORDS) as u32).collect());
    let words = memory.words();
    at = follow(words, at, (size / LINE).min(1 << 18));
    let ticks = ticks_of(STEPS, || at = follow(words, at, STEPS));
    black_box(at);
    (memory.huge().round(), ticks)
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
    let order: Vec<u32> = (0..REPETITIONS * STEPS)
        .map(|_| (random.usize(..lines) * WORDS) as u32)
        .collect();
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
    ByItself {
        beside_ticks: rounded((both - one).max(0.0)),
        stream_ticks: rounded(stream_ticks),
    }
}

/// Ticks per line where each is in a small page of its own.
fn pages_step(count: usize) -> f64 {
    let mut memory = Memory::new(count * PAGE, false);
    // Not all in the same set of the cache.
    let place =
        |page: usize| ((page * PAGE + page % (PAGE / LINE) * LINE) / size_of::<u32>()) as u32;
    let mut at = memory.chain((0..count).map(place).collect());
    let words = memory.words();
    at = follow(words, at, count);
    let ticks = ticks_of(STEPS, || at = follow(words, at, STEPS));
    black_box(at);
    ticks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_do_not_agree_are_marked_and_of_others_the_least_counts() {
        let names = ["a", "b"].map(str::to_owned);
        let (mut failed, mut wild) = (Vec::new(), 1.0);
        let mut given = [[100.0, 50.0], [300.0, 50.0], [102.0, 50.0]].into_iter();
        let found = passes(&names, &mut failed, || Ok(given.next().unwrap().to_vec())).unwrap();
        assert_eq!((found, failed.len()), (vec![100.0, 50.0], 0));
        let doubling = || {
            wild *= 2.0;
            Ok(vec![7.0, wild])
        };
        passes(&names, &mut failed, doubling).unwrap();
        assert_eq!(
            failed,
            [format!("b: the two best of {PASSES} passes differ by 50 %")]
        );
    }

    #[test]
    fn a_time_that_falls_with_more_bytes_is_marked() {
        let names = ["16 kB", "32 kB", "64 kB", "128 kB"].map(str::to_owned);
        let (mut times, mut failed) = ([4.0, 10.0, 9.8, 12.0], Vec::new());
        rising(&names, &mut times, &mut failed);
        assert_eq!(
            (times, failed.len()),
            ([4.0, 10.0, 10.0, 12.0], 0),
            "within the noise"
        );
        rising(&names, &mut [20.0, 14.0], &mut failed);
        assert_eq!(failed, ["32 kB: it takes 14.0 ticks, and fewer bytes 20.0"]);
    }
}
