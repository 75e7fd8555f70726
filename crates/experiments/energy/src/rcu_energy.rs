//! `rcu-energy`: the talk's benchmarks in its configurations of RCU.

use crate::board::Board;
use crate::plan::{self, plan, visit};
use crate::suite::{Benchmark, Suite};
use crate::unknown::Value;
use crate::{lanes, rows};
use document::Document;
use experiment::setting::{self, CheckedSetting, InputFile, Keys, Number, Or, Switch};
use experiment::{About, Error, Experiment, Observer, Request, Result, World};
use itertools::Itertools;
use minikernel::Costs;
use recording::Recording;

/// The talk's benchmarks in its configurations of RCU.
pub struct RcuEnergy;

const PLATFORM: Or<setting::Platform> = setting::Platform::new(
    "platform",
    "Platform with operating points, whose idle states and powers count.",
)
.or("tc2");

const DRAWS: Number<u32> = Number::new(
    "draws",
    0..=100_000,
    "Draws from the ranges of what was not published; their seed is fixed in the file of ranges. With 0 only the central point is run. \
     [default: 4, or 256 with --full]",
);

const FULL: Switch = Switch::new(
    "full",
    "All that the docs tell: 256 draws, all seeds of the central point, and the curves over rates and transitions. It takes 2 to 5 minutes.",
);

const BENCHMARKS: CheckedSetting<Vec<String>> = CheckedSetting::new(
    "benchmarks",
    "NAMES",
    names,
    "Benchmarks, parted by commas [default: all of the file].",
);

const SET: Keys = Keys::new(
    "set",
    "Gives an unknown this value in every draw: callbacks.rate=0 silences every source of callbacks; transition=512, hz=100, \
     cyclictest.latency=zero; timers=little, workqueues=little; kernel.tick=4000.",
);

const OTHER_RANGES: InputFile = InputFile::new(
    "ranges",
    "Another file of benchmarks and ranges, with the keys of platforms/energy/rcu-2013.toml.",
);

static ABOUT: About = About {
    name: "rcu-energy",
    summary: "What configurations of RCU saved in six benchmarks of 2013: predicted intervals beside the published figures",
    details: "Real code of RCU in a small simulated kernel of 2013 on a simulated TC2. What was not published is a declared range each, from \
              which every draw takes a value: the same in all four configurations. Energy is in units of the platform's table; the report \
              scales it by one reference figure, which is marked.",
    worlds: &[(World::Sim, "a small kernel on the simulated board")],
    settings: &[&PLATFORM, &DRAWS, &FULL, &BENCHMARKS, &SET, &OTHER_RANGES],
    cases: &[
        "cyclictest",
        "sysbench",
        "andebench2",
        "andebench8",
        "audio",
        "audio+bbench",
    ],
    examples: &[
        ("", "a first look, in seconds"),
        ("--full", "the table, with certain signs, and curves"),
        ("--set callbacks.rate=0", "no callbacks, no benefit"),
    ],
    sweep_defaults: &[(&DRAWS, "0")],
};

const RANGES: &str = "energy/rcu-2013.toml";

fn names(text: &str) -> Result<Vec<String>, String> {
    let names = text
        .split(',')
        .map(|name| name.trim().to_owned())
        .collect_vec();
    if names.iter().any(String::is_empty) {
        Err("names, parted by commas".to_owned())
    } else {
        Ok(names)
    }
}

/// The request, read and checked.
struct CheckedRequest {
    suite: Suite,
    board: Board,
    set: Vec<(String, Value)>,
    names: Vec<String>,
}

impl CheckedRequest {
    fn read(request: &Request<'_>) -> Result<Self> {
        let settings = &request.settings;
        let document = match settings.get(OTHER_RANGES) {
            Some(path) => Document::open(&path)?,
            None => Document::new(
                format!("platforms/{RANGES}"),
                request.platforms.read(RANGES)?,
            ),
        };
        let mut suite = Suite::read(&document)?;
        suite.add_kernel_costs(&Costs::read(&platforms::kernel_costs(request.platforms)?)?);
        let set = plan::set(&suite, &settings.get(SET))?;
        let known = suite
            .benchmarks
            .iter()
            .map(|benchmark| benchmark.name.as_str())
            .collect_vec();
        let names = match settings.get(BENCHMARKS) {
            None => known.iter().map(|&name| name.to_owned()).collect(),
            Some(names) => {
                if let Some(wrong) = names.iter().find(|name| !known.contains(&name.as_str())) {
                    return Err(Error::usage(
                        format!("there is no benchmark `{wrong}`"),
                        format!("there are: {}", known.join(", ")),
                    ));
                }
                names
            }
        };
        let board = Board::open(
            request.platforms,
            &settings.get(PLATFORM),
            &suite.idle_states(),
        )?;
        Ok(Self {
            suite,
            board,
            set,
            names,
        })
    }

    fn benchmarks(&self) -> Vec<&Benchmark> {
        self.suite
            .benchmarks
            .iter()
            .filter(|benchmark| self.names.contains(&benchmark.name))
            .collect()
    }
}

impl Experiment for RcuEnergy {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn check(&self, request: &Request<'_>) -> Result {
        CheckedRequest::read(request).map(|_| ())
    }

    fn run(&self, request: &Request<'_>, observer: &Observer) -> Result<Recording> {
        let asked = CheckedRequest::read(request)?;
        let full = request.settings.get(FULL);
        let draws = request
            .settings
            .get(DRAWS)
            .unwrap_or(if full { 256 } else { 4 });
        let visited = visit(
            &asked.board,
            plan(&asked.suite, &asked.benchmarks(), draws, full, &asked.set),
            &observer.progress,
        )?;

        let mut header = rows::header(ABOUT.name, &asked.suite, &asked.board, &asked.set, draws);
        header.seeded_modes = vec![
            plan::Kind::Draws.name().to_owned(),
            plan::Kind::Central.name().to_owned(),
        ];
        let mut recording = rows::recording(header, &asked.suite, &asked.board, &visited);
        lanes::add(
            &mut recording,
            &asked.board,
            visited.iter().map(|visited| &visited.visit),
            &observer.progress,
        )?;
        Ok(recording)
    }
}
