//! The process that runs a loop. It has it for itself, so a loop that crashes or hangs takes
//! nothing else with it.

use crate::calls::Calls;
use crate::protocol::{Frames, Learned, LoopAbout, Measure, Request, Source};
#[cfg(target_os = "linux")]
use crate::reference::Reference;
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
const STRETCH: usize = 1024;

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
        sizes: fastrand::Rng::with_seed(SEED),
        #[cfg(target_os = "linux")]
        reference: None,
    };
    worker_process::work(|request| worker.answer(request))
}

struct Worker {
    opened: Option<SharedLoop>,
    records: Option<SharedRecords>,
    /// The records that are gone through, in their order, and the next of them.
    order: Vec<*mut c_void>,
    next: usize,
    /// The sizes of calls, where these vary.
    sizes: fastrand::Rng,
    /// What calls are compared with.
    #[cfg(target_os = "linux")]
    reference: Option<Reference>,
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
            Request::Learn { frames, values } => json!(self.learn(frames, values)?),
            Request::Check { values } => json!(self.check(&values)?),
        })
    }

    fn open(&mut self, source: Source) -> Result<LoopAbout, Wrong> {
        let opened = SharedLoop::open(&source.path, source.name.as_deref())?;
        let about = opened.about.clone();
        self.records = None;
        self.opened = Some(opened);
        Ok(about)
    }

    fn set_up(&mut self, count: u64) -> Result<Option<u64>, Wrong> {
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
        self.records = Some(records);
        Ok(Some(system::own_bytes().saturating_sub(before)))
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

    /// The loop with its records in their order; there have to be enough for a batch, and a value
    /// for each knob.
    fn ready(&mut self, records: u64, batch: u64, values: &[u32]) -> Result<Calls<'_>, Wrong> {
        self.choose(records.max(batch))?;
        match (&self.opened, &self.records) {
            (Some(opened), Some(records))
                if values.len() == opened.about.knobs.len() && self.order.len() as u64 >= batch =>
            {
                Ok(Calls {
                    opened,
                    records,
                    order: &self.order,
                })
            }
            _ => refused(
                "an open loop with a batch of records, and a value for each knob",
                "this process is for stopwatt alone",
            ),
        }
    }

    fn measure(&mut self, how: &Measure) -> Result<f64, Wrong> {
        let Frames { least, most } = how.cell.frames;
        let (mut next, mut sizes) = (self.next, self.sizes.clone());
        let calls = self.ready(how.cell.records, most, &how.values)?;
        let mut stretch = |records: usize| {
            let mut done = 0;
            while done < records {
                let batch = if least == most {
                    most as usize
                } else {
                    sizes.u64(least..=most) as usize
                };
                if next + batch > calls.order.len() {
                    next = 0;
                }
                calls.call((next, batch), &how.values);
                next += batch;
                done += batch;
            }
            done
        };
        // A set that fits a cache is brought there first; of a large one, a part does for the
        // branches.
        stretch(match how.cell.records {
            fits if fits <= FIRST_RECORDS => fits as usize,
            _ => STRETCH,
        });
        let (ticks, done) = Slices::default().take(|| {
            let (from, mut done) = (machine::ticks(), 0);
            loop {
                done += stretch(STRETCH);
                let ticks = machine::ticks() - from;
                if ticks >= how.ticks {
                    return (ticks, done);
                }
            }
        });
        (self.next, self.sizes) = (next, sizes);
        Ok(ticks as f64 / done as f64)
    }

    #[cfg(target_os = "linux")]
    fn learn(&mut self, frames: Vec<u64>, values: Vec<u32>) -> Result<Learned, Wrong> {
        let most = frames.iter().max().copied().unwrap_or_default();
        let records = frames[0] + frames.iter().sum::<u64>();
        let calls = self.ready(records, most, &values)?;
        let (reference, learned) = Reference::learn(&calls, &frames, &values);
        self.reference = reference;
        Ok(learned)
    }

    #[cfg(target_os = "linux")]
    fn check(&mut self, values: &[u32]) -> Result<bool, Wrong> {
        let Some(mut reference) = self.reference.take() else {
            return refused("there is nothing to compare with", "learn it first");
        };
        let is_same = reference.is_same(&self.ready(self.order.len() as u64, 1, values)?, values);
        self.reference = Some(reference);
        is_same.map_or_else(
            || refused("no copy of the loop's process can be made", "more memory"),
            Ok,
        )
    }

    #[cfg(not(target_os = "linux"))]
    fn learn(&mut self, _: Vec<u64>, _: Vec<u32>) -> Result<Learned, Wrong> {
        Ok(Learned::default())
    }

    #[cfg(not(target_os = "linux"))]
    fn check(&mut self, _: &[u32]) -> Result<bool, Wrong> {
        Ok(true)
    }
}

/// The largest set that is gone through before a measurement.
const FIRST_RECORDS: u64 = 1 << 17;
