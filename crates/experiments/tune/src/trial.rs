//! A loop that is tried out.

use crate::loop_bench::{Checker, LoopBench, set_up};
use crate::process::Process;
use crate::protocol::{Cell, Frames, LoopAbout, Source};
use crate::search::{Compared, Ends, search};
use crate::space::{Space, Start};
use experiment::{Progress, Result};
use itertools::Itertools;
use recording::facts::MissedLine;
use std::time::{Duration, Instant};

/// Records of a call of a router that is not busy: the vectors that it works on are not full.
const PARTIAL: Frames = Frames {
    least: 20,
    most: 100,
};

/// Shares of the time that is left after which a search ends, and its last comparison: for the
/// batch that was asked for, and for vectors that are not full.
const FULL_ENDS: (f64, f64) = (0.45, 0.65);
const PARTIAL_ENDS: (f64, f64) = (0.6, 1.0);

/// Points of a curve through the best.
const POINTS: usize = 10;

/// What was asked for.
pub struct Asked {
    /// Origin of the loop.
    pub source: Source,
    /// Records of a call.
    pub batch: u64,
    /// Bytes of the largest working set.
    pub memory: u64,
    /// The time at which it began.
    pub from: Instant,
    /// Seconds that all of it may take.
    pub seconds: f64,
    /// The longest that the loop may take for one answer.
    pub patience: Duration,
    /// True if records lie in huge pages where the system has them.
    pub huge_pages: bool,
    /// True if what calls leave behind is compared.
    pub is_checked: bool,
    /// Lines at which loads miss, as perf sampled them.
    pub missed: Vec<MissedLine>,
}

impl Asked {
    /// Ends of a search that begins now, by the shares of the time that is left; at least a tenth
    /// of all of it is.
    fn ends(&self, shares: (f64, f64)) -> Ends {
        let gone = self.from.elapsed().as_secs_f64();
        let left = (self.seconds - gone).max(self.seconds / 10.0);
        Ends {
            search: gone + shares.0 * left,
            last: gone + shares.1 * left,
        }
    }
}

/// A loop that is tried out.
pub struct Trial<'a> {
    asked: &'a Asked,
    /// The loop, measured.
    pub bench: LoopBench<'a>,
    /// Description of the loop.
    pub about: LoopAbout,
    /// Records that are gone through before one comes again.
    pub records: u64,
    /// What stands beside the best.
    pub named: Vec<Start>,
}

impl<'a> Trial<'a> {
    /// Starts the loop and makes its records.
    ///
    /// # Errors
    /// There is no such loop, or it crashed or hung.
    pub fn set_up(asked: &'a Asked, progress: &'a Progress) -> Result<Self> {
        progress.say("starting the loop");
        let mut process = Process::start(&asked.source, asked.huge_pages, asked.patience)?;
        let records = set_up(&mut process, asked.memory, asked.batch)?;
        let checker = asked
            .is_checked
            .then(|| Checker::new(&asked.source, asked.batch, asked.patience));
        let about = process.about.clone();
        Ok(Self {
            asked,
            bench: LoopBench {
                process,
                checker: checker.transpose()?,
                progress,
                from: asked.from,
                slices: 0,
            },
            records,
            named: Space::new(&about.knobs, asked.batch).named(),
            about,
        })
    }

    /// Searches for the batch that was asked for, and then for vectors that are not full, if the
    /// loop goes on.
    ///
    /// # Errors
    /// The loop crashed or hung, or does other work at every value.
    pub fn measure(&mut self) -> Result<Measurements> {
        let asked = self.asked.batch;
        let full = self.search(Frames::of(asked), FULL_ENDS, Vec::new())?;
        let pick = full.compared.values[0].clone();
        let mut measured = Measurements {
            tables: vec![full],
            ended: None,
        };
        if asked > PARTIAL.least {
            self.bench
                .progress
                .say("searching for vectors that are not full");
            let most = PARTIAL.most.min(asked);
            let frames = Frames { most, ..PARTIAL };
            let partial = self.search(frames, PARTIAL_ENDS, vec![pick]);
            self.bench.progress.check()?;
            match partial {
                Ok(table) => measured.tables.push(table),
                Err(error) => measured.ended = Some(error.to_string()),
            }
        }
        Ok(measured)
    }

    /// Searches, and compares the best with what stands beside it.
    fn search(
        &mut self,
        frames: Frames,
        shares: (f64, f64),
        starts: Vec<Vec<u32>>,
    ) -> Result<Table> {
        let space = Space::new(&self.about.knobs, self.asked.batch);
        let named = self.named.iter().map(|start| start.values.clone());
        let named = starts.iter().cloned().chain(named).collect_vec();
        let beside = |pick: &[u32]| {
            [
                vec![pick.to_vec()],
                named.clone(),
                space.beside(pick, 1),
                space.curves(pick, POINTS),
            ]
            .concat()
        };
        let cell = Cell {
            records: self.records,
            frames,
        };
        let ends = self.asked.ends(shares);
        Ok(Table {
            frames,
            compared: search(
                &space,
                ends,
                starts.clone(),
                beside,
                &mut self.bench.at(cell),
            )?,
        })
    }
}

/// What was compared, in batches of one kind.
pub struct Table {
    /// Records of a call.
    pub frames: Frames,
    /// The candidates, the best of the search first.
    pub compared: Compared,
}

/// All that was measured.
pub struct Measurements {
    /// The last comparisons of the searches, that of the batch that was asked for first.
    pub tables: Vec<Table>,
    /// Why it ended before its time, if it did: the loop crashed or hung.
    pub ended: Option<String>,
}
