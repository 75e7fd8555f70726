//! `placement`: a workload under each policy of placement.

use crate::input::{Input, check_policies};
use crate::seed_run::{Found, one};
use crate::{lanes, results};
use experiment::{About, Error, Example, Experiment, Kind, Request, Setting, Sink, World, WorldAbout};
use rayon::prelude::*;
use recording::{Header, Recording};
use timeline::Timelines;

/// Runs a workload under each policy of placement.
pub struct Placement;

static SETTINGS: [Setting; 12] = [
    Setting::new(
        "workload",
        Kind::InputFile,
        "A file of rt-app, or one that comes with the command: andebench2, andebench8, audio, audio-bbench, closes, cyclictest, sysbench, \
         ui-render [default: ui-render].",
    )
    .positional(),
    Setting::new("platform", Kind::Platform, "Platform with operating points; the `name` in a file says whose firmware costs count.")
        .or("tc2"),
    Setting::new("idle", Kind::Platform, "Idle states and what they cost, of this name or in this file [default: the platform's]."),
    Setting::new(
        "policies",
        Kind::Checked(check_policies, "NAMES"),
        "Policies, parted by commas [default: all]; all-big, hmp, hmp-early, even, switcher, energy-aware.",
    ),
    Setting::new(
        "frequency",
        Kind::Choice(&[
            ("highest", "each domain stays at its highest operating point"),
            ("schedutil", "the lowest point that holds 1.25 times what the domain's busiest CPU does"),
        ]),
        "How frequencies are chosen.",
    )
    .or("highest"),
    Setting::new(
        "rcu",
        Kind::Choice(&[
            ("ordinary", "each CPU invokes its callbacks, and keeps its tick while it has some"),
            ("offloaded", "threads invoke the callbacks of all CPUs"),
        ]),
        "How RCU is configured.",
    )
    .or("ordinary"),
    Setting::new(
        "seconds",
        Kind::Number { min: 1, max: 3600 },
        "How long a run lasts; sooner over if its main tasks are [default: what the workload says, or 20].",
    )
    .unit("s"),
    Setting::new("seeds", Kind::Number { min: 1, max: 1000 }, "How many seeds each policy runs with.").or("20"),
    Setting::new("seed", Kind::Number { min: 0, max: u32::MAX as u64 }, "The first of them.").or("1"),
    Setting::new(
        "round-trip",
        Kind::Number { min: 0, max: 1024 },
        "What entering and leaving idle states costs, within the range that the platform's sources give: 0 is the lowest, 1024 the highest.",
    )
    .or("300"),
    Setting::new("operating-points", Kind::Switch, "Only show what work costs at each operating point; nothing is run."),
    Setting::new("set", Kind::Keys, "A setting of the workload (its `stopwatt_settings`), or a key of the platform's files, which has a dot in it."),
];

static ABOUT: About = About {
    name: "placement",
    summary: "A workload under each policy of placement: latencies, and an owner for each unit of energy",
    details: "A file of rt-app runs in the small kernel, on a platform with unequal cores. Each unit of energy has one owner: a task, \
              callbacks, a tick kept for RCU, RCU's threads, an idle state, a transition, the kernel, interrupts. The report has the timeline \
              of a second (--report placement.html).",
    worlds: &[WorldAbout { world: World::Sim, about: "the small kernel on a simulated machine", needs: &[] }],
    settings: &SETTINGS,
    cases: &[],
    examples: &[
        Example { arguments: "", about: "a user interface under every policy" },
        Example { arguments: "--frequency schedutil", about: "the same, with frequencies that follow the load" },
        Example {
            arguments: "my.json --platform my-board.toml --idle my-idle.toml",
            about: "your tasks on your board",
        },
        Example { arguments: "audio --policies hmp,even --rcu offloaded --report audio.html", about: "" },
        Example { arguments: "ui-render --set background=6 --set nice=-10 --seeds 2", about: "" },
        Example { arguments: "--operating-points", about: "energy per work, core by core" },
    ],
    sweep_defaults: &[("seeds", "2")],
    shipped_sweeps: &[],
};

impl Experiment for Placement {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn check(&self, request: &Request<'_>) -> Result<(), Error> {
        Input::read(request).map(|_| ())
    }

    fn run(&self, request: &Request<'_>, sink: &mut dyn Sink) -> Result<(), Error> {
        let settings = &request.settings;
        let input = Input::read(request)?;
        let mut header = Header::new(ABOUT.name, World::Sim.name(), "ns");
        header.versions.insert("stopwatt".to_owned(), env!("CARGO_PKG_VERSION").to_owned());
        header.settings = settings.keys("set").into_iter().collect();
        let is_run = !settings.switch("operating-points");
        results::describe(&mut header, &input, is_run.then(|| lanes::kept(&input)));
        let mut recording = Recording::new(header);
        if is_run {
            runs(&mut recording, &input, sink)?;
        }
        results::operating_points(&mut recording, &input);
        sink.start(recording.header.clone())?;
        sink.append(&recording)
    }
}

/// Runs every policy with every seed.
fn runs(recording: &mut Recording, input: &Input, sink: &dyn Sink) -> Result<(), Error> {
    let progress = sink.progress();
    let (first, count) = input.seeds;
    let jobs: Vec<_> =
        input.policies.iter().flat_map(|&kind| (0..u64::from(count)).map(move |seed| (kind, first + seed))).collect();
    progress.expect(jobs.len() as u64, "runs");
    let found: Vec<Found> = jobs
        .par_iter()
        .map(|&(kind, seed)| {
            progress.check()?;
            let found = one(input, kind, seed)?;
            progress.step();
            Ok::<_, Error>(found)
        })
        .collect::<Result<_, _>>()?;
    for (kind, found) in input.policies.iter().zip(found.chunks(count as usize)) {
        results::add(recording, *kind, found);
    }
    let mut timelines = Timelines::default();
    for &kind in &input.policies {
        progress.check()?;
        lanes::add(recording, &mut timelines, input, kind)?;
    }
    timelines.name_tasks(&mut recording.header);
    Ok(())
}
