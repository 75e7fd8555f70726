//! The process that runs a loop. It has it for itself, so a loop that crashes or hangs takes
//! nothing else with it.

use crate::nodes::{Node, NodeLoop};
use crate::protocol::{KnobAbout, LoopAbout, Measure, Reply, Request, Source};
use crate::recipe::Recipe;
use crate::shaped::{LINE_BYTES, ShapedLoop};
use crate::shared_object::{SharedLoop, SharedRecords};
use crate::system::huge_share;
use dataplane::machine;
use nix::sys::resource::{UsageWho, getrusage};
use std::ffi::c_void;
use worker_process::Wrong;

/// The seed of records and of their order: runs are compared with each other.
const SEED: u64 = 1;

/// Records between two looks at the clock.
const STRETCH: u64 = 1024;

/// The argument that makes the program such a process.
pub const ARGUMENT: &str = "tune-worker";

enum Loop {
    Shared(SharedLoop),
    Node(Node),
    Recipe(Recipe),
}

enum Records {
    Shared(SharedRecords),
    Node(NodeLoop),
    ShapedLoop(ShapedLoop),
}

/// Runs a loop for the process that started this one: 0 when there is nothing more to do, 2 if the
/// pipes broke.
pub fn work() -> u8 {
    let mut worker = Worker { opened: None, records: None, order: Vec::new(), next: 0 };
    worker_process::work(|request| worker.answer(request))
}

struct Worker {
    opened: Option<(Loop, LoopAbout)>,
    records: Option<Records>,
    /// The records that are gone through, in their order, and the next of them.
    order: Vec<*mut c_void>,
    next: usize,
}

fn refused<T>(message: impl Into<String>, help: &str) -> Result<T, Wrong> {
    Err(Wrong::new(message, help))
}

impl Worker {
    fn answer(&mut self, request: Request) -> Result<Reply, Wrong> {
        match request {
            Request::Open(source) => self.open(source),
            Request::SetUp { count } => self.set_up(count),
            Request::Measure(measure) => self.measure(&measure),
        }
    }

    fn open(&mut self, source: Source) -> Result<Reply, Wrong> {
        let (opened, about) = match source {
            Source::Shared { path, name } => {
                let shared = SharedLoop::open(&path, name.as_deref())?;
                let about = shared.about.clone();
                (Loop::Shared(shared), about)
            }
            Source::Node(name) => match Node::named(&name) {
                Some(node) => (Loop::Node(node), node.about()),
                None => return refused(format!("there is no node `{name}`"), "--help lists them"),
            },
            Source::Recipe(recipe) => {
                let about = about_recipe(&recipe);
                (Loop::Recipe(recipe), about)
            }
        };
        self.records = None;
        self.opened = Some((opened, about.clone()));
        Ok(Reply::Opened(about))
    }

    fn set_up(&mut self, count: u64) -> Result<Reply, Wrong> {
        let Some((opened, about)) = &self.opened else { return refused("no loop is open", "open one first") };
        // What is there goes first: both together may be more than there is memory.
        self.records = None;
        self.order = Vec::new();
        let help = "fewer records: --memory MB";
        let (records, first) = match opened {
            Loop::Shared(shared) => match shared.set_up(count, SEED) {
                Some(made) => {
                    let first = made.records.first().copied().unwrap_or(std::ptr::null_mut());
                    (Records::Shared(made), first.cast_const())
                }
                None => return refused(format!("set_up of `{}` returned NULL for {count} records", about.name), help),
            },
            Loop::Node(node) => {
                let made = NodeLoop::new(*node, count as usize);
                let first = made.address();
                (Records::Node(made), first)
            }
            Loop::Recipe(recipe) => {
                let made = ShapedLoop::new(count as usize, &recipe.after(), recipe.multiplications, recipe.chained);
                let Some(made) = made else { return refused(format!("no memory for {count} records"), help) };
                let first = made.address(0);
                (Records::ShapedLoop(made), first)
            }
        };
        self.records = Some(records);
        Ok(Reply::SetUp(huge_share(first as usize)))
    }

    /// The records of a working set, shuffled.
    fn choose(&mut self, records: u64) -> Result<(), Wrong> {
        if self.order.len() as u64 == records {
            return Ok(());
        }
        let all = match &self.records {
            None => return refused("there are no records", "set them up first"),
            Some(Records::Shared(made)) => made.records.clone(),
            Some(Records::Node(made)) => made.records(),
            Some(Records::ShapedLoop(made)) => made.records(),
        };
        self.order = all;
        self.order.truncate(records.max(1) as usize);
        fastrand::Rng::with_seed(SEED).shuffle(&mut self.order);
        self.next = 0;
        Ok(())
    }

    fn measure(&mut self, how: &Measure) -> Result<Reply, Wrong> {
        let batch = how.batch.max(1) as usize;
        self.choose(how.records.max(how.batch))?;
        let Some((opened, about)) = &self.opened else { return refused("no loop is open", "open one first") };
        if how.values.len() != about.knobs.len() || self.order.len() < batch {
            return refused("a value for each knob, and a batch of records", "this process is for stopwatt alone");
        }
        let Some(records) = &mut self.records else { return refused("there are no records", "set them up first") };
        let order = &self.order;
        let mut next = self.next;
        let mut stretch = |batches: usize| {
            for _ in 0..batches {
                if next + batch > order.len() {
                    next = 0;
                }
                let some = &order[next..next + batch];
                next += batch;
                match (&mut *records, opened) {
                    (Records::Shared(made), Loop::Shared(shared)) => shared.run(made, some, &how.values),
                    (Records::Node(node), _) => node.run(some, &how.values),
                    (Records::ShapedLoop(shaped), _) => shaped.run(some, &how.values),
                    // Records are always of the loop that is open.
                    (Records::Shared(_), _) => {}
                }
            }
        };
        // A set that fits a cache is brought there first; of a large one, a part does for the
        // branches.
        let fits = order.len() <= FIRST_RECORDS;
        stretch(if fits { order.len() / batch } else { (STRETCH as usize).div_ceil(batch) });
        let batches = (STRETCH as usize).div_ceil(batch);
        let (mut ticks, mut done, mut disturbed) = (0, 0, 0);
        while ticks < how.ticks {
            let (switches, from) = (taken_away(), machine::ticks());
            stretch(batches);
            let took = machine::ticks() - from;
            // A stretch in which another program had the processor says nothing of the loop.
            if taken_away() != switches && disturbed < MOST_DISTURBED {
                disturbed += 1;
                continue;
            }
            ticks += took;
            done += batches * batch;
        }
        self.next = next;
        Ok(Reply::Measured(ticks as f64 / done.max(1) as f64))
    }
}

/// Stretches of a measurement that are left out at most because the processor was taken away.
const MOST_DISTURBED: u32 = 100;

/// The number of times that the processor was taken away from this process.
fn taken_away() -> i64 {
    getrusage(UsageWho::RUSAGE_SELF).map_or(0, |usage| usage.involuntary_context_switches())
}

/// The largest set that is gone through before a measurement.
const FIRST_RECORDS: usize = 1 << 17;

/// A described loop, as others describe themselves: every line has a distance.
pub fn about_recipe(recipe: &Recipe) -> LoopAbout {
    let after = recipe.after();
    let knob = |(line, after): (&crate::recipe::RecipeLine, &Option<usize>)| KnobAbout {
        after: *after,
        ..KnobAbout::distance(&line.name)
    };
    LoopAbout {
        name: recipe.name.clone(),
        knobs: recipe.line.iter().zip(&after).map(knob).collect(),
        record_bytes: recipe.line.len() as u64 * LINE_BYTES,
        most_records: None,
    }
}
