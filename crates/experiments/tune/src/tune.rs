//! `tune`: a loop's distances and batch, tried on this machine.

use crate::loop_bench::{Checker, LoopBench, WorkingSet, set_up, working_sets};
use crate::process::Process;
use crate::protocol::{Cell, Frames, LoopAbout, Source};
use crate::results::{self, Measurements, Table};
use crate::search::{Bench, Compared, Ends, search};
use crate::space::{Space, Start};
use crate::system;
use experiment::setting::{CheckedSetting, InputFile, Number, Or, Switch};
use experiment::{About, Error, Experiment, Observer, Progress, Request, Result, Settings, World};
use itertools::Itertools;
use recording::Recording;
use std::time::{Duration, Instant};

/// Tries a loop's distances and batch.
pub struct Tune;

const LOOP: InputFile = InputFile::new("loop", "A shared object with a loop: see stopwatt_loop.h.");

const NAME: CheckedSetting<String> = CheckedSetting::new(
    "name",
    "NAME",
    |text| Ok(text.to_owned()),
    "The loop of the shared object; its first where none is named.",
);

const BATCH: Or<Number<u64>> = Number::new("batch", 4..=4096, "Records of a call.").or(256);

const FOR: Or<Number<u64>> = Number::new("for", 1..=3600, "The time that all of it may take.")
    .unit("s")
    .or(20);

const MEMORY: Or<Number<u64>> = Number::new(
    "memory",
    1..=16_384,
    "The largest working set, in megabytes.",
)
.unit("MB")
.or(256);

const PATIENCE: Or<Number<u64>> = Number::new(
    "patience",
    1..=3600,
    "The longest that the loop may take for one answer.",
)
.unit("s")
.or(30);

const RESULTS_MAY_DIFFER: Switch = Switch::new(
    "results-may-differ",
    "Measure values with which the loop has other results, too; nothing is checked then.",
);

const SMALL_PAGES: Switch =
    Switch::new("small-pages", "Do not ask for huge pages for the records.");

static ABOUT: About = About {
    name: "tune",
    summary: "Prefetch distances and choices of a loop that you wrote: searched for, and compared in pairs",
    details: "The loop is a shared object with a small C interface. It runs in a process of its own. \
              Candidates start from today's values, no prefetch, what an engineer would try, and a coarse grid; they are compared in \
              the same rounds, and the values beside the best are tried with smaller and smaller steps. The answer has the best beside \
              today's values with an interval, and says so if they cannot be told apart. It comes after 20 seconds at the latest \
              (--for). Values with which the loop has other results are left out.",
    worlds: &[(World::Host, "real memory, the machine's own clock")],
    settings: &[
        &LOOP,
        &NAME,
        &BATCH,
        &FOR,
        &MEMORY,
        &PATIENCE,
        &RESULTS_MAY_DIFFER,
        &SMALL_PAGES,
    ],
    examples: &[
        ("--loop acl.so", ""),
        ("--loop parser.so --batch 64 --report parser.html", ""),
    ],
    ..About::BARE
};

/// Batches that the best is tried with beside the one that was asked for.
const BATCHES: [u64; 7] = [16, 32, 64, 128, 256, 512, 1024];

/// Records of a call of a router that is not busy: the vectors that it works on are not full.
const PARTIAL: Frames = Frames {
    least: 20,
    most: 100,
};

/// Shares of the time that is left after which a search ends, and its last comparison: for the
/// batch that was asked for, and for vectors that are not full.
const FULL_ENDS: (f64, f64) = (0.45, 0.65);
const PARTIAL_ENDS: (f64, f64) = (0.5, 0.75);

/// Points of a curve through the best.
const POINTS: usize = 10;

/// Rounds in the other working sets and batches.
const ROUNDS_ELSEWHERE: usize = 21;

impl Experiment for Tune {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn check(&self, request: &Request<'_>) -> Result {
        source(&request.settings).map(drop)
    }

    fn run(&self, request: &Request<'_>, observer: &Observer) -> Result<Recording> {
        let asked = Asked::read(&request.settings)?;
        let mut trial = Trial::set_up(&asked, &observer.progress)?;
        let measured = trial.measure()?;
        Ok(results::recording(&asked, &trial, &measured))
    }
}

/// What was asked for.
pub struct Asked {
    /// Origin of the loop.
    pub source: Source,
    /// Records of a call.
    pub batch: u64,
    /// Bytes of the largest working set.
    pub memory: u64,
    from: Instant,
    seconds: f64,
    patience: Duration,
    huge_pages: bool,
    is_checked: bool,
}

impl Asked {
    fn read(settings: &Settings) -> Result<Self> {
        Ok(Self {
            source: source(settings)?,
            batch: settings.get(BATCH),
            memory: settings.get(MEMORY) << 20,
            from: Instant::now(),
            seconds: settings.get(FOR) as f64,
            patience: Duration::from_secs(settings.get(PATIENCE)),
            huge_pages: !settings.get(SMALL_PAGES),
            is_checked: !settings.get(RESULTS_MAY_DIFFER),
        })
    }

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
    /// The working sets, the largest last.
    pub sets: Vec<WorkingSet>,
    /// What stands beside the best.
    pub named: Vec<Start>,
}

impl<'a> Trial<'a> {
    fn set_up(asked: &'a Asked, progress: &'a Progress) -> Result<Self> {
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
            sets: working_sets(&about, asked.batch, &system::cache_bytes(), records),
            named: Space::new(&about.knobs, asked.batch).named(),
            about,
        })
    }

    /// What is measured in the largest working set, and elsewhere as far as the loop goes on.
    fn measure(&mut self) -> Result<Measurements> {
        let all = Frames::of(self.asked.batch);
        let full = self.search(all, FULL_ENDS, Vec::new())?;
        let mut measured = Measurements {
            tables: vec![full],
            ended: None,
        };
        let ended = self.elsewhere(&mut measured.tables);
        self.bench.progress.check()?;
        measured.ended = ended.err().map(|error| error.to_string());
        Ok(measured)
    }

    /// Searches on the largest working set, and compares the best with what stands beside it.
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
        let set = self.sets.len() - 1;
        let cell = Cell {
            records: self.sets[set].records,
            frames,
        };
        let ends = self.asked.ends(shares);
        Ok(Table {
            set,
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

    /// Searches for vectors that are not full, and measures the best, and what an engineer would
    /// try, in the other working sets and batches, as long as there is time.
    fn elsewhere(&mut self, tables: &mut Vec<Table>) -> Result {
        let pick = tables[0].compared.values[0].clone();
        let asked = self.asked.batch;
        if asked > PARTIAL.least {
            self.bench
                .progress
                .say("searching for vectors that are not full");
            let most = PARTIAL.most.min(asked);
            let frames = Frames { most, ..PARTIAL };
            tables.push(self.search(frames, PARTIAL_ENDS, vec![pick.clone()])?);
        }
        self.bench
            .progress
            .say("trying other working sets and batches");
        let far = self.sets.len() - 1;
        let others = BATCHES
            .into_iter()
            .filter(|batch| *batch != asked && *batch <= self.sets[far].records);
        let near = (0..far).map(|set| (set, asked));
        for (set, batch) in near.chain(others.map(|batch| (far, batch))).collect_vec() {
            let until = self.asked.ends((1.0, 1.0)).last;
            let space = Space::new(&self.about.knobs, batch);
            let values = [&pick]
                .into_iter()
                .chain(self.named.iter().map(|start| &start.values))
                .map(|values| space.fit(values));
            let cell = Cell {
                records: self.sets[set].records,
                frames: Frames::of(batch),
            };
            let bench = &mut self.bench.at(cell);
            if bench.seconds() >= self.asked.seconds {
                break;
            }
            let mut compared = Compared::new(values.collect(), until, bench)?;
            compared.measure(ROUNDS_ELSEWHERE, until, bench)?;
            tables.push(Table {
                set,
                frames: cell.frames,
                compared,
            });
        }
        Ok(())
    }
}

/// The loop that is asked for.
fn source(settings: &Settings) -> Result<Source> {
    let Some(path) = settings.get(LOOP) else {
        return Err(Error::usage("no loop is named", "give --loop FILE.so"));
    };
    if !path.is_file() {
        return Err(Error::usage(
            format!("{} is no file", path.display()),
            "a shared object: cc -O2 -shared -fPIC my.c -o my.so",
        ));
    }
    Ok(Source {
        path,
        name: settings.get(NAME),
    })
}
