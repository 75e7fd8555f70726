//! `tune`: a loop's distances and batch, tried on this machine.

use crate::loop_bench::{Checker, LoopBench, WorkingSet, set_up, working_sets};
use crate::process::Process;
use crate::protocol::{LoopAbout, Source};
use crate::results::{self, Measurements, Table};
use crate::search::{Compared, search};
use crate::space::{Space, Start};
use crate::system;
use dataplane_experiments::host_header;
use experiment::setting::{CheckedSetting, InputFile, Number, Or, Switch};
use experiment::{About, Error, Experiment, Observer, Request, Result, Settings, World};
use itertools::Itertools;
use recording::Recording;
use std::collections::HashMap;
use std::time::Duration;

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

const ROUNDS: Or<Number<usize>> = Number::new(
    "rounds",
    3..=10_000,
    "Rounds of the last comparison at most; it stops earlier when it is sure.",
)
.or(400);

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
    "Measure values with which the loop leaves other results in memory, too, as one may that counts its prefetches.",
);

const SMALL_PAGES: Switch =
    Switch::new("small-pages", "Do not ask for huge pages for the records.");

static ABOUT: About = About {
    name: "tune",
    summary: "Prefetch distances and choices of a loop that you wrote: searched for, and compared in pairs",
    details: "The loop is a shared object with a small C interface. It runs in a process of its own. \
              Candidates start from today's values, no prefetch, what an engineer would try, and a coarse grid; they are compared in \
              the same rounds, and the values beside the best are tried with smaller and smaller steps. The answer has the best beside \
              today's values with an interval, and says so if they cannot be told apart. Values with which the loop leaves other \
              results in memory are left out.",
    worlds: &[(World::Host, "real memory, the machine's own clock")],
    settings: &[
        &LOOP,
        &NAME,
        &BATCH,
        &ROUNDS,
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

/// Seconds of the first heat of a search at most, about, and the places that it starts from.
const HEAT_SECONDS: f64 = 3.0;
const PLACES: (f64, f64) = (8.0, 800.0);

/// A slice of more seconds belongs to a slow loop.
const SLOW_SECONDS: f64 = 0.01;

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
        let settings = &request.settings;
        let source = source(settings)?;
        let progress = &observer.progress;
        progress.say("starting the loop");
        let patience = Duration::from_secs(settings.get(PATIENCE));
        let mut process = Process::start(&source, !settings.get(SMALL_PAGES), patience)?;
        let (memory, batch) = (settings.get(MEMORY) << 20, settings.get(BATCH));
        let (records, huge) = set_up(&mut process, memory, batch)?;
        let mut checker = if settings.get(RESULTS_MAY_DIFFER) {
            None
        } else {
            Checker::new(&source, batch, patience)?
        };
        let about = process.about.clone();
        let sets = working_sets(&about, batch, &system::cache_bytes(), records);
        let mut bench = LoopBench {
            process: &mut process,
            checker: checker.as_mut(),
            progress,
            records,
            batch,
            checked: HashMap::new(),
            slices: 0,
        };
        progress.say("searching");
        let (last, named) = last_comparison(&mut bench, &about, settings.get(ROUNDS))?;
        let pick = last.values[0].clone();
        let mut measured = Measurements {
            tables: vec![Table {
                set: sets.len() - 1,
                batch,
                compared: last,
            }],
            named,
            left_out: Vec::new(),
            is_checked: bench.checker.is_some(),
            ended: None,
        };
        progress.say("trying other working sets and batches");
        if let Err(error) = elsewhere(&mut bench, &about, &sets, &pick, &mut measured) {
            progress.check()?;
            measured.ended = Some(error.to_string());
        }
        let slices = bench.slices;
        let left_out = bench.checked.iter().filter(|(_, is_same)| !**is_same);
        measured.left_out = left_out.map(|(values, _)| values.clone()).collect();
        measured.left_out.sort();
        let mut header = host_header(
            ABOUT.name,
            measured.tables[0].compared.ticks[0].len() as u32,
        );
        let facts = results::facts(
            &process,
            &source.path.display().to_string(),
            batch,
            &sets,
            huge,
            &measured,
            slices,
        );
        header.set_facts(&facts);
        let notes = results::notes(&process, memory, records, &measured);
        header.notes.extend(notes);
        let kept = "what was measured before is kept";
        let ended = measured.ended.iter();
        header
            .complaints
            .extend(ended.map(|ended| format!("{ended}; {kept}")));
        Ok(results::recording(header, &about, &sets, &measured))
    }
}

/// Searches on the largest working set, and compares the best with what stands beside it.
fn last_comparison(
    bench: &mut LoopBench<'_>,
    about: &LoopAbout,
    rounds: usize,
) -> Result<(Compared, Vec<Start>)> {
    let space = Space::new(&about.knobs, bench.batch);
    let named = space.named();
    let seconds = bench.seconds(&space.none())?;
    let is_slow = seconds > SLOW_SECONDS;
    Ok((
        search(
            &space,
            (HEAT_SECONDS / 4.0 / seconds).clamp(PLACES.0, PLACES.1) as usize,
            is_slow,
            rounds,
            |pick| {
                let all = named.iter().map(|start| start.values.clone());
                let curves = space.curves(pick, if is_slow { 4 } else { POINTS });
                [pick.to_vec()]
                    .into_iter()
                    .chain(all)
                    .chain(space.beside(pick, 1))
                    .chain(curves)
                    .collect()
            },
            bench,
        )?,
        named,
    ))
}

/// Measures the best, and what an engineer would try, in the other working sets and batches.
fn elsewhere(
    bench: &mut LoopBench<'_>,
    about: &LoopAbout,
    sets: &[WorkingSet],
    pick: &[u32],
    measured: &mut Measurements,
) -> Result {
    let far = sets.len() - 1;
    let asked = bench.batch;
    let others = BATCHES
        .into_iter()
        .filter(|batch| *batch != asked && *batch <= sets[far].records);
    for (set, batch) in (0..far)
        .map(|set| (set, asked))
        .chain(others.map(|batch| (far, batch)))
        .collect_vec()
    {
        let space = Space::new(&about.knobs, batch);
        (bench.records, bench.batch) = (sets[set].records, batch);
        let values = [pick]
            .into_iter()
            .chain(measured.named.iter().map(|start| start.values.as_slice()))
            .map(|values| space.fit(values));
        let mut compared = Compared::new(values.collect(), bench)?;
        compared.measure(ROUNDS_ELSEWHERE, bench)?;
        measured.tables.push(Table {
            set,
            batch,
            compared,
        });
    }
    Ok(())
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
