//! A loop that is measured: its working sets, its rounds, and whether it does the same work with
//! all values.

use crate::process::Process;
use crate::protocol::{Changed, LoopAbout, Measure, Source};
use crate::search::Bench;
use crate::space::Space;
use experiment::{Error, Progress, Result};
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// Seconds of a slice.
const SECONDS: f64 = 0.0004;

/// Records that are asked for first: what they take tells how many more there can be.
pub const FIRST_RECORDS: u64 = 1000;

/// Memory that records may take, as a multiple of the working set that was asked for: of a large
/// buffer, few lines may be touched.
const MOST_SPACE: u64 = 4;

/// A working set: the records that are gone through before one comes again.
pub struct WorkingSet {
    /// Name of the working set: `warm`, `l2`, `llc`, `memory`.
    pub name: &'static str,
    /// Records of the working set.
    pub records: u64,
}

/// The working sets of a loop that has `records`: a batch, halves of the second and the last cache,
/// and all records.
pub fn working_sets(
    about: &LoopAbout,
    batch: u64,
    caches: &[u64],
    records: u64,
) -> Vec<WorkingSet> {
    let least = (2 * batch.max(1024)).min(records);
    let mut sets = vec![WorkingSet {
        name: "warm",
        records: batch,
    }];
    // Which caches there are, the system says: the first is not worth a set of its own.
    let names: &[&str] = if caches.len() > 2 {
        &["l2", "llc"]
    } else {
        &["llc"]
    };
    for (name, bytes) in names.iter().zip(&caches[1.min(caches.len())..]) {
        sets.push(WorkingSet {
            name,
            records: (bytes / 2 / about.record_bytes).clamp(least, records),
        });
    }
    sets.push(WorkingSet {
        name: "memory",
        records,
    });
    // Of two that are alike the larger name stays.
    sets.reverse();
    sets.dedup_by_key(|set| set.records);
    sets.reverse();
    sets
}

/// Makes records for a working set of `memory` bytes, or fewer if the loop or the machine has no
/// room for them. Returns their number and the share of them in huge pages.
///
/// # Errors
/// There is no memory for a thousand records, or there cannot be enough for a batch.
pub fn set_up(process: &mut Process, memory: u64, batch: u64) -> Result<(u64, Option<f64>)> {
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
    // Tables that every record shares cost no more for more records.
    let twice = process.set_up((2 * first).min(most))?;
    let more = twice.map_or(0, |twice| twice.bytes.saturating_sub(made.bytes));
    let bytes = about.record_bytes.max(more / first) + 2 * size_of::<usize>() as u64;
    let room = (MOST_SPACE * memory + made.bytes).min(memory::room() / 2);
    let room = room.saturating_sub(made.bytes);
    let mut count = (memory / about.record_bytes)
        .min(room / bytes)
        .clamp((2 * batch.max(1024)).min(most), most);
    loop {
        match process.set_up(count)? {
            Some(made) => return Ok((count, made.huge)),
            None if count / 2 >= first => count /= 2,
            None => return Err(no_memory(count)),
        }
    }
}

/// Calls with the same values that are compared at most. The system writes to a process's memory
/// as well, such as the number of its processor for restartable sequences, when it moves it to
/// another one. So a difference counts if no call is without it.
const LOOKS: usize = 4;

/// A second process of a loop, in which calls are compared by what they leave in memory.
pub struct Checker {
    process: Process,
    batch: u64,
    expected: Changed,
}

impl Checker {
    /// Compares with a call of values that ask for nothing ahead; `None` where nothing can be
    /// found out, such as of a loop that leaves something else each time.
    ///
    /// # Errors
    /// The loop crashed or hung.
    pub fn new(source: &Source, batch: u64, patience: Duration) -> Result<Option<Self>> {
        let mut process = Process::start(source, false, patience)?;
        let records = FIRST_RECORDS
            .max(2 * batch)
            .min(process.about.most_records.unwrap_or(u64::MAX));
        if process.set_up(records)?.is_none() {
            return Ok(None);
        }
        let none = Space::new(&process.about.knobs, batch).none();
        let mut seen = Vec::new();
        for _ in 0..LOOKS {
            let Some(changed) = process
                .check(batch, &none)?
                .filter(|changed| changed.words > 0)
            else {
                break;
            };
            if seen.contains(&changed) {
                return Ok(Some(Self {
                    process,
                    batch,
                    expected: changed,
                }));
            }
            seen.push(changed);
        }
        Ok(None)
    }

    fn is_same(&mut self, values: &[u32]) -> Result<bool> {
        for _ in 0..LOOKS {
            if self
                .process
                .check(self.batch, values)?
                .is_none_or(|changed| changed == self.expected)
            {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// A loop on one working set, in batches of one size.
pub struct LoopBench<'a> {
    /// The process that runs the loop.
    pub process: &'a mut Process,
    /// The process that compares what calls leave behind.
    pub checker: Option<&'a mut Checker>,
    /// Progress, and whether to stop.
    pub progress: &'a Progress,
    /// Records that are gone through.
    pub records: u64,
    /// Records of a call.
    pub batch: u64,
    /// Values that were checked: true for those that do the same work.
    pub checked: HashMap<Vec<u32>, bool>,
    /// Slices that were measured.
    pub slices: u64,
}

impl LoopBench<'_> {
    /// Seconds that a slice takes, with all that belongs to it.
    ///
    /// # Errors
    /// Those of a round.
    pub fn seconds(&mut self, values: &[u32]) -> Result<f64> {
        self.round(&[values])?;
        let from = Instant::now();
        self.round(&[values; 3])?;
        Ok(from.elapsed().as_secs_f64() / 3.0)
    }
}

impl Bench for LoopBench<'_> {
    fn round(&mut self, candidates: &[&[u32]]) -> Result<Vec<f64>> {
        let ticks = (dataplane::machine::counter_hz() as f64 * SECONDS) as u64;
        let mut all = Vec::with_capacity(candidates.len());
        for values in candidates {
            self.progress.check()?;
            let measure = Measure {
                records: self.records,
                batch: self.batch,
                values: values.to_vec(),
                ticks,
            };
            all.push(self.process.measure(&measure)?);
            self.slices += 1;
        }
        Ok(all)
    }

    fn is_allowed(&mut self, values: &[u32]) -> Result<bool> {
        let Some(checker) = self.checker.as_mut() else {
            return Ok(true);
        };
        if let Some(known) = self.checked.get(values) {
            return Ok(*known);
        }
        self.progress.check()?;
        let is_same = checker.is_same(values)?;
        self.checked.insert(values.to_vec(), is_same);
        Ok(is_same)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::knobs;

    #[test]
    fn working_sets_have_no_more_records_than_there_are() {
        let about = LoopAbout {
            name: "loop".to_owned(),
            knobs: knobs(1, false),
            record_bytes: 128,
            most_records: None,
        };
        let caches = [32 << 10, 1 << 20, 32 << 20];
        let of = |batch, records| -> Vec<(&str, u64)> {
            working_sets(&about, batch, &caches, records)
                .iter()
                .map(|set| (set.name, set.records))
                .collect()
        };
        assert_eq!(
            of(256, 1 << 21),
            [
                ("warm", 256),
                ("l2", 4096),
                ("llc", 131_072),
                ("memory", 1 << 21)
            ]
        );
        assert_eq!(of(256, 300), [("warm", 256), ("memory", 300)]);
        assert_eq!(of(256, 256), [("memory", 256)]);
    }
}
