//! A share of the chunks is run, on all cores.

use crate::chunk::{self, Environment, Surroundings};
use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::fits::Fitting;
use crate::inputs::{FileCache, held, sum_of};
use crate::manifest::FailedPoint;
use crate::plan::Plan;
use experiment::{Files, Progress};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Which chunks of a plan are run here.
#[derive(Clone, Debug, PartialEq)]
pub enum Share {
    /// All.
    All,
    /// Those of shard `index` of `of`, from 1: every `of`-th chunk, so that shards have about as
    /// much to do where neighbours are alike.
    Shard {
        /// Which.
        index: u64,
        /// Number of points in all.
        of: u64,
    },
    /// Those of these numbers.
    Chunks(Vec<u64>),
}

impl std::fmt::Display for Share {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::All => write!(f, "all chunks"),
            Self::Shard { index, of } => write!(f, "shard {index}/{of}"),
            Self::Chunks(chunks) => write!(f, "{} chunks by their numbers", chunks.len()),
        }
    }
}

impl std::str::FromStr for Share {
    type Err = String;

    /// A shard as `i/n`.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong =
            || format!("`{text}` is no shard; expected I/N with I from 1 to N, such as 2/7");
        let (index, of) = text.split_once('/').ok_or_else(wrong)?;
        match (index.trim().parse(), of.trim().parse()) {
            (Ok(index), Ok(of)) if index >= 1 && index <= of => Ok(Self::Shard { index, of }),
            _ => Err(wrong()),
        }
    }
}

impl Share {
    /// The numbers of its chunks: a function of the plan and of nothing else.
    pub fn chunks(&self, plan: &Plan) -> Vec<u64> {
        match self {
            Self::All => (0..plan.chunks()).collect(),
            Self::Shard { index, of } => (index - 1..plan.chunks())
                .step_by(usize::try_from(*of).unwrap_or(usize::MAX))
                .collect(),
            Self::Chunks(chunks) => chunks
                .iter()
                .copied()
                .filter(|chunk| *chunk < plan.chunks())
                .collect(),
        }
    }
}

/// A chunk that could not be written.
#[derive(Debug)]
pub struct Unwritten {
    /// Number of the chunk.
    pub chunk: u64,
    /// Why not.
    pub why: Error,
}

/// The result of a run of a share.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Chunks of the share that were there before.
    pub there: u64,
    /// Chunks that were run, and are there now.
    pub chunks: Vec<u64>,
    /// Points that were run.
    pub points: u64,
    /// Points that failed, the first [`NAMED`]; they are run again with their chunk the next time.
    pub failed: Vec<FailedPoint>,
    /// The number of points that failed.
    pub failures: u64,
    /// Points whose experiment found something that should not be, the first [`NAMED`], also of
    /// chunks that were there before.
    pub complaints: Vec<FailedPoint>,
    /// The number of such points that there are.
    pub complained: u64,
    /// Chunks that could not be written. After the first of them no further one is begun.
    pub unwritten: Vec<Unwritten>,
    /// True if it was to stop before its end.
    pub cancelled: bool,
    /// The time that it took.
    pub time: Duration,
}

/// Failed points that an outcome names.
pub const NAMED: usize = 20;

/// Runs what is missing of a share of a data set, on as many threads as rayon would use. A point
/// that fails is noted, and the others go on.
///
/// Memory is bounded: each thread holds the rows of one point, and those that do not fill a row
/// group yet.
///
/// # Errors
/// A platform file is not the one that earlier chunks were made from; what is said of a chunk
/// cannot be read.
pub fn run(
    dataset: &Dataset,
    fitting: &Fitting,
    place: &Environment<'_>,
    share: &Share,
    progress: &Arc<Progress>,
) -> Result<Outcome> {
    let begin = Instant::now();
    let plan = &fitting.plan;
    let files = FileCache::new(place.platforms);
    let around = Surroundings {
        fitting,
        place,
        platforms: &files,
    };
    let (missing, outcome) = standing(dataset, plan, share, &files)?;
    if missing.is_empty() {
        return Ok(outcome);
    }
    let points = missing
        .iter()
        .map(|chunk| plan.points_of(*chunk))
        .map(|points| points.end - points.start)
        .sum();
    progress.expect(points, "points");
    let cores = place
        .threads
        .unwrap_or_else(rayon::current_num_threads)
        .max(1);
    let workers = cores.min(missing.len());
    let work = Work {
        around: &around,
        dataset,
        missing,
        next: AtomicUsize::new(0),
        later: Mutex::default(),
        progress,
        full: AtomicBool::new(false),
        outcome: Mutex::new(outcome),
    };
    work.run_on(cores, workers);
    let mut outcome = work
        .outcome
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    outcome.cancelled = progress.check().is_err();
    outcome.chunks.sort_unstable();
    for named in [&mut outcome.failed, &mut outcome.complaints] {
        named.sort_by_key(|named| named.point);
        named.truncate(NAMED);
    }
    outcome.unwritten.sort_by_key(|unwritten| unwritten.chunk);
    outcome.time = begin.elapsed();
    Ok(outcome)
}

/// The chunks of a share before a run: those that are missing, and the outcome so far. Reads what is
/// said of each chunk, and holds the inputs to what earlier chunks were made from.
fn standing(
    dataset: &Dataset,
    plan: &Plan,
    share: &Share,
    files: &FileCache<'_>,
) -> Result<(Vec<u64>, Outcome)> {
    let (mut missing, mut outcome) = (Vec::new(), Outcome::default());
    let (mut inputs, mut named) = (BTreeMap::new(), BTreeMap::new());
    for chunk in share.chunks(plan) {
        let said = dataset.whole_chunk(chunk)?;
        if let Some(said) = &said {
            for (noted, all) in [(&said.inputs, &mut inputs), (&said.named, &mut named)] {
                all.extend(
                    noted
                        .iter()
                        .map(|(path, sum)| (path.clone(), (*sum, chunk))),
                );
            }
        }
        match said.filter(|said| said.failed.is_empty()) {
            Some(said) => {
                outcome.there += 1;
                outcome.complained += said.complaints.len() as u64;
                outcome
                    .complaints
                    .extend(said.complaints.into_iter().take(NAMED));
            }
            None => missing.push(chunk),
        }
        outcome.complaints.truncate(NAMED);
    }
    if !missing.is_empty() {
        same_inputs(&inputs, |path| {
            (
                files.shown(path),
                files
                    .read(path)
                    .ok()
                    .map(|text| crc32fast::hash(text.as_bytes())),
            )
        })?;
        same_inputs(&named, |path| (path.to_owned(), sum_of(path.as_ref())))?;
    }
    Ok((missing, outcome))
}

/// The work of a run, which its threads share.
struct Work<'w> {
    around: &'w Surroundings<'w>,
    dataset: &'w Dataset,
    missing: Vec<u64>,
    next: AtomicUsize,
    /// Chunks that another program is at. They come last: it will have done them by then, or is no
    /// more.
    later: Mutex<Vec<u64>>,
    progress: &'w Arc<Progress>,
    /// True once a chunk could not be written: nothing further is computed for a disk that is full.
    full: AtomicBool,
    outcome: Mutex<Outcome>,
}

impl Work<'_> {
    /// Runs chunks on some threads, which share the cores.
    fn run_on(&self, cores: usize, workers: usize) {
        thread::scope(|scope| {
            for worker in 0..workers {
                // What an experiment does side by side stays within the worker's own share of the
                // cores: a thread that took up another chunk while it waits would hold two.
                let threads = cores / workers + usize::from(worker < cores % workers);
                scope.spawn(move || {
                    // Where the system starts no more threads, the chunks are still run.
                    match rayon::ThreadPoolBuilder::new()
                        .num_threads(threads.max(1))
                        .build()
                    {
                        Ok(pool) => pool.install(|| self.run_chunks()),
                        Err(_) => self.run_chunks(),
                    }
                });
            }
        });
    }

    /// Runs chunks until none is left, the run is to stop, or one cannot be written.
    fn run_chunks(&self) {
        while !self.full.load(Relaxed)
            && let Some(chunk) = self.next()
        {
            if self.is_done(chunk) {
                self.pass_over(chunk);
                continue;
            }
            let ran = chunk::run(self.dataset, self.around, chunk, self.progress);
            let mut outcome = held(&self.outcome);
            match ran {
                Ok(said) => {
                    outcome.chunks.push(chunk);
                    outcome.points += said.last - said.first + 1;
                    outcome.failures += said.failed.len() as u64;
                    outcome.failed.extend(said.failed);
                    outcome.complained += said.complaints.len() as u64;
                    outcome.complaints.extend(said.complaints);
                }
                Err(Error::Cancelled) => break,
                Err(why) => {
                    self.full.store(true, Relaxed);
                    outcome.unwritten.push(Unwritten { chunk, why });
                }
            }
        }
    }

    /// Counts a chunk that another program has done meanwhile.
    fn pass_over(&self, chunk: u64) {
        let points = self.around.fitting.plan.points_of(chunk);
        points.for_each(|_| self.progress.step());
        held(&self.outcome).there += 1;
    }

    /// The next chunk; `None` if there is no more, or the run is to stop.
    fn next(&self) -> Option<u64> {
        while let Some(&chunk) = self.missing.get(self.next.fetch_add(1, Relaxed)) {
            if !self.dataset.is_at_work(chunk) {
                return Some(chunk);
            }
            held(&self.later).push(chunk);
        }
        let chunk = held(&self.later).pop()?;
        while self.dataset.is_at_work(chunk) {
            self.progress.check().ok()?;
            thread::sleep(LOOK_EVERY);
        }
        Some(chunk)
    }

    /// True if another program has done a chunk since the run began.
    fn is_done(&self, chunk: u64) -> bool {
        let said = self.dataset.whole_chunk(chunk);
        said.is_ok_and(|said| said.is_some_and(|said| said.failed.is_empty()))
    }
}

/// The time between two looks at a chunk that another program is at.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// The files must be those that earlier chunks were made from. `now` says what an error calls a
/// file, and its sum.
fn same_inputs(
    inputs: &BTreeMap<String, (u32, u64)>,
    now: impl Fn(&str) -> (String, Option<u32>),
) -> Result {
    for (path, (sum, chunk)) in inputs {
        let (shown, now) = now(path);
        if now != Some(*sum) {
            return Err(Error::folder(
                Path::new(&shown),
                format!("is not the file that chunk {chunk} of the sweep was made from"),
                "put it back, or begin anew in another folder",
            ));
        }
    }
    Ok(())
}

/// Finds a mistake that is in every point, before anything is written: the experiment is asked
/// about the first, the middle and the last.
///
/// # Errors
/// It refuses all three.
pub fn some_point_can_run(fitting: &Fitting, place: &Environment<'_>) -> Result {
    let last = fitting.plan.points().unwrap_or(1) - 1;
    let mut first = None;
    for number in [0, last / 2, last] {
        let check = || {
            let request =
                place.request(fitting, &fitting.plan.point(number), place.platforms, None)?;
            fitting.experiment.check(&request)
        };
        match check() {
            Ok(()) => return Ok(()),
            Err(error) => drop(first.get_or_insert(error)),
        }
    }
    match first {
        Some(source) => Err(Error::NoPoint { source }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use document::Document;

    #[test]
    fn shards_have_every_chunk_once_whatever_their_number() {
        let plan = Plan::read(&Document::new(
            "p",
            "experiment = \"e\"\nchunk = 3\n[grid]\na = \"1..100\"\n",
        ))
        .unwrap();
        for of in [1, 2, 7, 40] {
            let mut all: Vec<u64> = (1..=of)
                .flat_map(|index| Share::Shard { index, of }.chunks(&plan))
                .collect();
            all.sort_unstable();
            assert!(all.into_iter().eq(0..34), "{of}");
        }
        assert_eq!(Share::Chunks(vec![3, 99]).chunks(&plan), [3]);
    }

    #[test]
    fn a_shard_is_named_from_one() {
        assert_eq!("2/7".parse(), Ok(Share::Shard { index: 2, of: 7 }));
        for wrong in ["0/7", "8/7", "2", "a/b", "/", "1/0"] {
            assert!(
                wrong.parse::<Share>().unwrap_err().contains("from 1 to N"),
                "{wrong}"
            );
        }
    }
}
