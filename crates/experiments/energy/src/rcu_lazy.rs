//! `rcu-lazy`: what it saves on a system that idles if callbacks may wait (`RCU_LAZY`).

use crate::board::{Board, little};
use crate::plan;
use crate::point::Point;
use crate::rows;
use crate::runs::{kernel, placement};
use crate::suite::{Benchmark, Length, Suite};
use crate::unknown::Value;
use crate::workload::workload;
use document::Document;
use experiment::setting::{self, InputFile, Keys, Number, Or};
use experiment::{About, Error, Example, Experiment, Request, Sink, World, WorldAbout};
use minikernel::{Affinities, Costs, CpuSet, Outcome, Rcu, Settings};
use rayon::prelude::*;
use recording::{Recording, facts, metrics};

/// Callbacks that may wait, on a system that idles.
pub struct RcuLazy;

/// A configuration of RCU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Waiting {
    /// Each CPU invokes its callbacks.
    Ordinary,
    /// Threads invoke those of all CPUs.
    Offloaded,
    /// The same, and callbacks may wait for ten seconds.
    Allowed,
    /// The same, with RCU's threads on one CPU.
    Bound,
    /// Nobody queues callbacks.
    Silent,
}

impl Waiting {
    const ALL: [(&'static str, Self); 5] = [
        ("ordinary", Self::Ordinary),
        ("offloaded", Self::Offloaded),
        ("lazy", Self::Allowed),
        ("lazy-bound", Self::Bound),
        ("no-callbacks", Self::Silent),
    ];

    fn settings(self, cpus: usize, hz: u32) -> rcu::Settings {
        let mut settings = rcu::Settings::new(cpus, u64::from(hz), rcu::Form::Modern);
        settings.lazy = matches!(self, Self::Allowed | Self::Bound);
        settings.offloaded = if self == Self::Ordinary {
            Vec::new()
        } else {
            (0..cpus).collect()
        };
        settings
    }
}

const PLATFORM: Or<setting::Platform> = setting::Platform::new(
    "platform",
    "Platform with operating points, whose idle states and powers count.",
)
.or("hikey960");

const DRAWS: Or<Number<u32>> = Number::new(
    "draws",
    1..=10_000,
    "Draws from the ranges of what nobody published; their seed is fixed in the file.",
)
.or(40);

const SET: Keys = Keys::new(
    "set",
    "Gives an unknown this value in every draw, such as callbacks.rate=60.",
);

const OTHER_RANGES: InputFile = InputFile::new(
    "ranges",
    "Another file of ranges, with the keys of platforms/energy/rcu-lazy.toml.",
);

static ABOUT: About = About {
    name: "rcu-lazy",
    summary: "What an idle system saves if RCU's callbacks may wait, beside what was published",
    details: "Real code of RCU in a small simulated kernel of today, on a board that has nothing to do but its system's own wake-ups, which \
              queue callbacks. Each CPU invokes them, or threads do, or threads do after up to ten seconds (RCU_LAZY), or such threads that \
              are bound to one CPU. What was not published is a declared range each.",
    worlds: &[WorldAbout {
        world: World::Sim,
        about: "a small kernel on the simulated board",
        needs: &[],
    }],
    settings: &[&PLATFORM, &DRAWS, &SET, &OTHER_RANGES],
    cases: &["idle"],
    examples: &[
        Example {
            arguments: "",
            about: "the table",
        },
        Example {
            arguments: "--set callbacks.rate=200",
            about: "one unknown fixed",
        },
    ],
    sweep_defaults: &[(&DRAWS, "16")],
    ..About::BARE
};

const RANGES: &str = "energy/rcu-lazy.toml";

struct LazyRequest {
    suite: Suite,
    board: Board,
    set: Vec<(String, Value)>,
}

impl LazyRequest {
    fn read(request: &Request<'_>) -> Result<Self, Error> {
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
        if let [benchmark] = &suite.benchmarks[..]
            && let Length::Seconds(_) = benchmark.length
        {
            let board = Board::open(
                request.platforms,
                &settings.get(PLATFORM),
                &suite.idle_states(),
            )?;
            return Ok(Self { suite, board, set });
        }
        let help = "one [[benchmark]] with `seconds`: what idles";
        Err(Error::file(document.wrong(
            0..0,
            "this experiment runs one benchmark of a fixed length",
            help,
        )))
    }

    fn benchmark(&self) -> &Benchmark {
        &self.suite.benchmarks[0]
    }

    fn point(&self, draw: u32) -> Point<'_> {
        self.set
            .iter()
            .fold(Point::draw(&self.suite, draw), |point, (name, value)| {
                point.with(name, value.clone())
            })
    }

    fn run(&self, draw: u32, lazy: Waiting) -> Result<Outcome, Error> {
        let point = self.point(draw);
        let point = if lazy == Waiting::Silent {
            point.silenced()
        } else {
            point
        };
        let hardware = self.board.at(&point);
        let (workload, _) = workload(self.benchmark(), &point, &hardware);
        let settings = kernel(
            Settings::default(),
            &self.suite,
            self.benchmark(),
            &point,
            &hardware,
        );
        let first = CpuSet::one(little(&hardware).cpus.start);
        let threads_on = if lazy == Waiting::Bound {
            first
        } else {
            CpuSet::ALL
        };
        let affinities = Affinities {
            grace_periods: threads_on,
            offload: threads_on,
        };
        let rcu = Rcu::new(
            lazy.settings(hardware.cpus(), settings.hz),
            affinities,
            false,
        )
        .map_err(Error::failed)?;
        let policy = placement(&self.suite, &hardware)?;
        let (Length::Seconds(seconds) | Length::Work(seconds)) = self.benchmark().length;
        minikernel::run(
            &hardware,
            &settings,
            &workload,
            policy,
            Some(Box::new(rcu)),
            seconds * 1_000_000_000,
        )
        .map_err(Error::failed)
    }
}

impl Experiment for RcuLazy {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn check(&self, request: &Request<'_>) -> Result<(), Error> {
        LazyRequest::read(request).map(|_| ())
    }

    fn run(&self, request: &Request<'_>, sink: &mut dyn Sink) -> Result<(), Error> {
        let asked = LazyRequest::read(request)?;
        let draws = request.settings.get(DRAWS);
        let progress = sink.progress();
        progress.expect(u64::from(draws) * Waiting::ALL.len() as u64, "runs");
        let jobs: Vec<_> = (0..draws)
            .flat_map(|draw| Waiting::ALL.map(|(name, lazy)| (draw, name, lazy)))
            .collect();
        let outcomes: Vec<Outcome> = jobs
            .par_iter()
            .map(|&(draw, _, lazy)| {
                progress.check()?;
                let outcome = asked.run(draw, lazy)?;
                progress.step();
                Ok::<_, Error>(outcome)
            })
            .collect::<Result<_, _>>()?;

        let mut header = rows::header(ABOUT.name, &asked.suite, &asked.board, &asked.set, draws);
        header.seeded_modes = vec![MODE.to_owned()];
        header
            .texts
            .insert("benchmarks".to_owned(), asked.suite.text.clone());
        header.set_facts(&facts::LazyCallbacks {
            title: asked.suite.title.clone(),
            configurations: Waiting::ALL
                .iter()
                .map(|(name, _)| (*name).to_owned())
                .collect(),
            watts_per_unit: asked.board.watts_per_unit(),
        });
        let mut recording = Recording::new(header);
        for ((draw, name, _), outcome) in jobs.iter().zip(&outcomes) {
            add(&mut recording, *draw, name, outcome);
        }
        sink.start(recording.header.clone())?;
        sink.append(&recording)
    }
}

/// The case and mode of all rows; iterations are the draws.
const CASE: &str = "idle";
const MODE: &str = "draws";

/// Adds what came out under a configuration in a draw.
fn add(recording: &mut Recording, draw: u32, name: &str, outcome: &Outcome) {
    let series = recording.series(name, CASE, MODE);
    let seconds = outcome.time as f64 / 1e12;
    let domains = outcome.domains.len().max(1) as f64;
    let deepest = outcome
        .domains
        .iter()
        .map(|domain| domain.idle.last().copied().unwrap_or(0) as f64);
    let cpus = || outcome.cpus.iter();
    let per_second = |count: u64| count as f64 / seconds;
    let rows = [
        (metrics::ENERGY, outcome.integral as f64 / 1e12),
        (metrics::RUN_TIME, seconds),
        (
            metrics::ASLEEP,
            deepest.sum::<f64>() / domains / outcome.time.max(1) as f64,
        ),
        (
            metrics::WAKE_UP_RATE,
            per_second(cpus().flat_map(|cpu| cpu.wake_ups).sum()),
        ),
        (
            metrics::CALLBACK_RATE,
            per_second(cpus().map(|cpu| cpu.queued).sum()),
        ),
        (
            metrics::IDLE_TICK_RATE,
            per_second(cpus().map(|cpu| cpu.idle_ticks).sum()),
        ),
    ];
    for (metric, value) in rows {
        recording.add(series, draw, metric, "", value);
    }
    for (time, words) in &outcome.stalls {
        recording.header.complaints.push(format!(
            "{name}, draw {draw}, after {:.1} s: {words}.",
            *time as f64 / 1e12
        ));
    }
    if outcome.total() != outcome.integral {
        recording.header.complaints.push(format!(
            "{name}, draw {draw}: the owners' energies do not add up to the integral."
        ));
    }
}
