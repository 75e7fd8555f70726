//! A loop that is measured: its records, its rounds, and whether it does the same work with all
//! values.

use crate::process::Process;
use crate::protocol::{Cell, Learned, Measure, Source};
use crate::search::Bench;
use crate::space::Space;
use experiment::{Error, Progress, Result};
use itertools::Itertools;
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// Seconds of a slice.
const SECONDS: f64 = 0.0004;

/// Records that are asked for first: what they take tells how many more there can be.
pub const FIRST_RECORDS: u64 = 1000;

/// Records that are asked for beside these: the memory that they take more is theirs, and not a
/// table's. A huge page, by which memory may grow, is 131 bytes for each of them.
const MORE_RECORDS: u64 = 15_000;

/// Memory that records may take, as a multiple of the working set that was asked for: of a large
/// buffer, few lines may be touched.
const MOST_SPACE: u64 = 8;

/// Makes records for a working set of `memory` bytes, or fewer if the loop or the machine has no
/// room for them. Returns their number.
///
/// # Errors
/// There is no memory for a thousand records, or there cannot be enough for a batch.
pub fn set_up(process: &mut Process, memory: u64, batch: u64) -> Result<u64> {
    let about = process.about.clone();
    let most = about.most_records.unwrap_or(u64::MAX);
    if most < batch {
        let message = format!(
            "`{}` makes {most} records at most, fewer than a batch of {batch}",
            about.name
        );
        return Err(Error::usage(
            message,
            format!("--batch {}, or a larger `most_records`", most.max(4)),
        ));
    }
    let no_memory = |count: u64| {
        let message = format!(
            "set_up of `{}` returned NULL for {count} records: there is no memory",
            about.name
        );
        Error::usage(
            message,
            "NULL is for a lack of memory; --memory MB asks for fewer records",
        )
    };
    let first = FIRST_RECORDS.max(batch).min(most);
    let made = process.set_up(first)?.ok_or_else(|| no_memory(first))?;
    // Tables that all records share cost no more for more records.
    let more = (first + MORE_RECORDS).min(most) - first;
    let grown = process.set_up(first + more)?;
    let grown = grown.map_or(0, |grown| grown.saturating_sub(made));
    let bytes = about.record_bytes.max(grown / more.max(1)) + 2 * size_of::<usize>() as u64;
    let room = (MOST_SPACE * memory + made).min(memory::room() / 2);
    let room = room.saturating_sub(made);
    let mut count = (memory / about.record_bytes)
        .min(room / bytes)
        .clamp((2 * batch.max(1024)).min(most), most);
    loop {
        match process.set_up(count)? {
            Some(_) => return Ok(count),
            None if count / 2 >= first => count /= 2,
            None => return Err(no_memory(count)),
        }
    }
}

/// A second process of a loop, in which calls are compared by what they leave behind.
pub struct Checker {
    process: Process,
    frames: Vec<u64>,
    /// How they are compared.
    pub learned: Learned,
    /// Values that were compared: true for those that leave the same.
    known: HashMap<Vec<u32>, bool>,
}

impl Checker {
    /// Finds out how calls in batches of `batch` can be compared, of one record, of 255, and of
    /// what does not fill a batch.
    ///
    /// # Errors
    /// The loop crashed or hung.
    pub fn new(source: &Source, batch: u64, patience: Duration) -> Result<Self> {
        let mut process = Process::start(source, true, patience)?;
        let most = process.about.most_records.unwrap_or(u64::MAX);
        let frames = [batch, 1, 255, batch - 1, batch / 2 + 3];
        let frames = frames.into_iter().filter(|frame| *frame <= most).unique();
        let frames = frames.collect_vec();
        let records = (batch + frames.iter().sum::<u64>()).min(most);
        let none = Space::new(&process.about.knobs, batch).none();
        let learned = match process.set_up(records)? {
            Some(_) => process.learn(frames.clone(), none)?,
            None => Learned::default(),
        };
        Ok(Self {
            learned,
            process,
            frames,
            known: HashMap::new(),
        })
    }

    /// The values of which it is known that they leave something else, in order.
    pub fn left_out(&self) -> Vec<Vec<u32>> {
        let known = self.known.iter().filter(|(_, is_same)| !**is_same);
        known.map(|(values, _)| values.clone()).sorted().collect()
    }
}

/// A loop that is measured.
pub struct LoopBench<'a> {
    /// The process that runs the loop.
    pub process: Process,
    /// The process that compares what calls leave behind, if that is wanted.
    pub checker: Option<Checker>,
    /// Progress, and whether to stop.
    pub progress: &'a Progress,
    /// The time at which it began.
    pub from: Instant,
    /// Slices that were measured.
    pub slices: u64,
}

impl<'a> LoopBench<'a> {
    /// The loop on one working set, in calls of one kind.
    pub fn at(&mut self, cell: Cell) -> CellBench<'_, 'a> {
        CellBench { of: self, cell }
    }

    /// How calls are compared; nothing where they are not.
    pub fn learned(&self) -> Learned {
        let checker = self.checker.as_ref();
        checker.map_or_else(Learned::default, |checker| checker.learned)
    }
}

/// A loop on one working set, in calls of one kind.
pub struct CellBench<'b, 'a> {
    of: &'b mut LoopBench<'a>,
    cell: Cell,
}

impl Bench for CellBench<'_, '_> {
    fn round(&mut self, candidates: &[&[u32]]) -> Result<Vec<f64>> {
        let ticks = (dataplane::machine::counter_hz() as f64 * SECONDS) as u64;
        let mut measure = |values: &&[u32]| {
            self.of.progress.check()?;
            self.of.slices += 1;
            Ok(self.of.process.measure(&Measure {
                cell: self.cell,
                values: values.to_vec(),
                ticks,
            })?)
        };
        candidates.iter().map(&mut measure).collect()
    }

    fn is_allowed(&mut self, values: &[u32]) -> Result<bool> {
        let checker = self.of.checker.as_mut();
        let Some(checker) = checker.filter(|checker| checker.learned.by.is_some()) else {
            return Ok(true);
        };
        if let Some(known) = checker.known.get(values) {
            return Ok(*known);
        }
        self.of.progress.check()?;
        let is_same = checker.process.check(&checker.frames, values.to_vec())?;
        checker.known.insert(values.to_vec(), is_same);
        Ok(is_same)
    }

    fn seconds(&self) -> f64 {
        self.of.from.elapsed().as_secs_f64()
    }

    fn slices(&self) -> u64 {
        self.of.slices
    }

    fn tell(&mut self, best: &[u32], times: f64) {
        let words = self.of.process.about.words(best);
        let told = format!("the best so far: {words}, {times:.2} of the time of today's values");
        self.of.progress.say(&told);
    }
}
