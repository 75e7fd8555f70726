//! The process that runs a loop. It has it for itself, so a loop that crashes or hangs takes
//! nothing else with it.

#[cfg(target_os = "linux")]
use crate::footprint::{Turn, changed};
use crate::protocol::{Changed, LoopAbout, Made, Measure, Request, Source};
use crate::shared_object::{SharedLoop, SharedRecords};
use crate::system;
use dataplane::machine;
use dataplane_experiments::slice::Slices;
use serde_json::{Value, json};
use std::ffi::c_void;
use worker_process::Wrong;

/// The seed of records and of their order: runs are compared with each other.
const SEED: u64 = 1;

/// Records between two looks at the clock.
const STRETCH: u64 = 1024;

/// The argument that makes the program such a process.
pub const ARGUMENT: &str = "tune-worker";

/// Runs a loop for the process that started this one: 0 when there is nothing more to do, 2 if the
/// pipes broke.
pub fn work() -> u8 {
    let mut worker = Worker {
        opened: None,
        records: None,
        order: Vec::new(),
        next: 0,
    };
    worker_process::work(|request| worker.answer(request))
}

struct Worker {
    opened: Option<SharedLoop>,
    records: Option<SharedRecords>,
    /// The records that are gone through, in their order, and the next of them.
    order: Vec<*mut c_void>,
    next: usize,
}

fn refused<T>(message: impl Into<String>, help: &str) -> Result<T, Wrong> {
    Err(Wrong::new(message, help))
}

impl Worker {
    fn answer(&mut self, request: Request) -> Result<Value, Wrong> {
        Ok(match request {
            Request::Open(source) => json!(self.open(source)?),
            Request::SetUp { count } => json!(self.set_up(count)?),
            Request::Measure(measure) => json!(self.measure(&measure)?),
            Request::Check { batch, values } => json!(self.check(batch, &values)?),
        })
    }

    fn open(&mut self, source: Source) -> Result<LoopAbout, Wrong> {
        let opened = SharedLoop::open(&source.path, source.name.as_deref())?;
        let about = opened.about.clone();
        self.records = None;
        self.opened = Some(opened);
        Ok(about)
    }

    fn set_up(&mut self, count: u64) -> Result<Option<Made>, Wrong> {
        let Some(opened) = &self.opened else {
            return refused("no loop is open", "open one first");
        };
        // What is there goes first: both together may be more than there is memory.
        self.records = None;
        self.order = Vec::new();
        let before = system::own_bytes();
        let Some(records) = opened.set_up(count, SEED) else {
            return Ok(None);
        };
        let first = records.records.first().map_or(0, |first| *first as usize);
        self.records = Some(records);
        let bytes = system::own_bytes().saturating_sub(before);
        Ok(Some(Made {
            huge: system::huge_share(first),
            bytes,
        }))
    }

    /// The records of a working set, shuffled.
    fn choose(&mut self, records: u64) -> Result<(), Wrong> {
        if self.order.len() as u64 == records {
            return Ok(());
        }
        let all = match &self.records {
            None => return refused("there are no records", "set them up first"),
            Some(made) => made.records.clone(),
        };
        self.order = all;
        self.order.truncate(records.max(1) as usize);
        fastrand::Rng::with_seed(SEED).shuffle(&mut self.order);
        self.next = 0;
        Ok(())
    }

    /// The loop with its records in their order, and the place of the next; a batch and values have
    /// to fit them.
    fn ready(
        &mut self,
        records: u64,
        batch: usize,
        values: &[u32],
    ) -> Result<(Calls<'_>, &mut usize), Wrong> {
        self.choose(records.max(batch as u64))?;
        let Some(opened) = &self.opened else {
            return refused("no loop is open", "open one first");
        };
        if values.len() != opened.about.knobs.len() || self.order.len() < batch {
            return refused(
                "a value for each knob, and a batch of records",
                "this process is for stopwatt alone",
            );
        }
        let Some(records) = &self.records else {
            return refused("there are no records", "set them up first");
        };
        Ok((
            Calls {
                opened,
                records,
                order: &self.order,
            },
            &mut self.next,
        ))
    }

    fn measure(&mut self, how: &Measure) -> Result<f64, Wrong> {
        let batch = how.batch.max(1) as usize;
        let (calls, next) = self.ready(how.records, batch, &how.values)?;
        let mut stretch = |batches: usize| {
            for _ in 0..batches {
                if *next + batch > calls.order.len() {
                    *next = 0;
                }
                calls.call(*next, batch, &how.values);
                *next += batch;
            }
        };
        // A set that fits a cache is brought there first; of a large one, a part does for the
        // branches.
        let fits = how.records <= FIRST_RECORDS;
        stretch(if fits {
            how.records as usize / batch
        } else {
            (STRETCH as usize).div_ceil(batch)
        });
        let batches = (STRETCH as usize).div_ceil(batch);
        let (ticks, done) = Slices::default().take(|| {
            let (from, mut done) = (machine::ticks(), 0);
            loop {
                stretch(batches);
                done += batches * batch;
                let ticks = machine::ticks() - from;
                if ticks >= how.ticks {
                    return (ticks, done);
                }
            }
        });
        Ok(ticks as f64 / done as f64)
    }

    fn check(&mut self, batch: u64, values: &[u32]) -> Result<Option<Changed>, Wrong> {
        #[cfg(target_os = "linux")]
        {
            let batch = batch.max(1) as usize;
            let (calls, _) = self.ready(2 * batch as u64, batch, values)?;
            // The second call has records of its own, if there are any.
            let last = calls.order.len() - batch;
            let from = |turn| if turn == Turn::First { 0 } else { last };
            Ok(changed(|turn| calls.call(from(turn), batch, values)))
        }
        #[cfg(not(target_os = "linux"))]
        Ok(None)
    }
}

/// A loop and its records.
struct Calls<'a> {
    opened: &'a SharedLoop,
    records: &'a SharedRecords,
    order: &'a [*mut c_void],
}

impl Calls<'_> {
    /// Calls the loop with a batch from a place on.
    #[inline(always)]
    fn call(&self, from: usize, batch: usize, values: &[u32]) {
        self.opened
            .run(self.records, &self.order[from..from + batch], values);
    }
}

/// The largest set that is gone through before a measurement.
const FIRST_RECORDS: u64 = 1 << 17;
