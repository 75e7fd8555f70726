//! `tune`: a loop's distances and batch, tried on this machine.

use crate::missed;
use crate::protocol::Source;
use crate::results;
use crate::trial::{Asked, Trial};
use experiment::setting::{CheckedSetting, InputFile, Number, Or, Switch};
use experiment::{About, Error, Experiment, Observer, Request, Result, Settings, World};
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

const FOR: CheckedSetting<u64> = CheckedSetting::new(
    "for",
    "SECONDS",
    |text| {
        let seconds = text.trim_end_matches('s').parse().ok();
        let wrong = || "a whole number of seconds from 1 on, such as 20s".to_owned();
        seconds.filter(|of| *of > 0).ok_or_else(wrong)
    },
    "The time that all of it may take, such as 60s; 20s where it is not given.",
);

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

const PERF: InputFile = InputFile::new(
    "perf",
    "Samples of the loop's misses, of `perf script -F +srcline`: names the lines that want a knob.",
);

static ABOUT: About = About {
    name: "tune",
    summary: "Prefetch distances and choices of a loop that you wrote: searched for, and compared in pairs",
    details: "The loop is a shared object with a small C interface. It runs in a process of its own. \
              Candidates start from today's values, no prefetch, what an engineer would try, and a coarse grid; they are compared in \
              the same rounds, and the values beside the best are tried with smaller and smaller steps. The answer has the best beside \
              today's values with an interval, and says so if they cannot be told apart. It comes after about 20 seconds \
              (--for), if setting up and one round take no longer. Values with which the loop has other results are left out.",
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
        &PERF,
    ],
    examples: &[
        ("--loop acl.so", ""),
        ("--loop parser.so --batch 64 --report parser.html", ""),
    ],
    ..About::BARE
};

impl Experiment for Tune {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn check(&self, request: &Request<'_>) -> Result {
        source(&request.settings).map(drop)
    }

    fn run(&self, request: &Request<'_>, observer: &Observer) -> Result<Recording> {
        let asked = asked(&request.settings)?;
        let mut trial = Trial::set_up(&asked, &observer.progress)?;
        let measured = trial.measure()?;
        Ok(results::recording(&asked, &trial, &measured))
    }
}

/// What was read of the settings.
fn asked(settings: &Settings) -> Result<Asked> {
    let source = source(settings)?;
    let missed = settings
        .get(PERF)
        .map(|perf| missed::read(&perf, &source.path));
    Ok(Asked {
        missed: missed.transpose()?.unwrap_or_default(),
        source,
        batch: settings.get(BATCH),
        memory: settings.get(MEMORY) << 20,
        from: Instant::now(),
        seconds: settings.get(FOR).unwrap_or(20) as f64,
        patience: Duration::from_secs(settings.get(PATIENCE)),
        huge_pages: !settings.get(SMALL_PAGES),
        is_checked: !settings.get(RESULTS_MAY_DIFFER),
    })
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
