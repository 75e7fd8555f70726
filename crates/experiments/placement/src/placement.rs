//! `placement`: a workload under each policy of placement.

use crate::input::{
    DEVICE_RATE, FREQUENCY, IDLE, Input, LATENCY_LIMIT, MEMORY_RATE, PLATFORM, RCU, ROUND_TRIP,
    SECONDS, SEED, SEEDS, SET, WANTED, WORKLOAD,
};
use crate::many_tasks::{self, DUTY, FULL, PERIOD, RULES, TASKS};
use crate::seed_run::outcome;
use crate::{lanes, results};
use experiment::setting::Switch;
use experiment::{About, Experiment, Observer, Request, Result, World, side_by_side};
use itertools::Itertools;
use platforms::DISABLE;
use recording::{Header, Recording};
use timeline::Timelines;

/// Runs a workload under each policy of placement.
pub struct Placement;

const OPERATING_POINTS: Switch = Switch::new(
    "operating-points",
    "Only show what work costs at each operating point; nothing is run.",
);

static ABOUT: About = About {
    name: "placement",
    summary: "A workload under each policy of placement: latencies, and an owner for each unit of energy",
    details: "A file of rt-app runs in the small kernel, on a platform with unequal cores. Each unit of energy has one owner: a task, \
              callbacks, a tick kept for RCU, RCU's threads, an idle state, a transition, the kernel, interrupts. The report has the timeline \
              of a second (--report placement.html). With --tasks more and more equal tasks run in place of a file, each number with the cheapest, \
              the usual and the dearest round trip into an idle state that the platform's sources give.",
    worlds: &[(World::Sim, "the small kernel on a simulated machine")],
    settings: &[
        &WORKLOAD,
        &PLATFORM,
        &IDLE,
        &WANTED,
        &FREQUENCY,
        &RCU,
        &SECONDS,
        &SEEDS,
        &SEED,
        &ROUND_TRIP,
        &LATENCY_LIMIT,
        &DISABLE,
        &OPERATING_POINTS,
        &MEMORY_RATE,
        &DEVICE_RATE,
        &SET,
        &TASKS,
        &DUTY,
        &PERIOD,
        &RULES,
        &FULL,
    ],
    examples: &[
        ("", "a user interface under every policy"),
        (
            "--frequency schedutil",
            "the same, with frequencies that follow the load",
        ),
        (
            "my.json --platform my-board.toml --idle my-idle.toml",
            "your tasks on your board",
        ),
        (
            "audio --policies hmp,even --rcu offloaded --report audio.html",
            "",
        ),
        ("ui-render --set background=6 --set nice=-10 --seeds 2", ""),
        (
            "--tasks 10,20,30,40,50",
            "equal tasks on Juno r2 with Linux's energy model and without",
        ),
        (
            "--tasks 1,2,4 --duty 10 --platform hikey960,tc2 --rules eas,off",
            "",
        ),
        ("--operating-points", "energy per work, core by core"),
    ],
    sweep_defaults: &[(&SEEDS, "2")],
    ..About::BARE
};

impl Experiment for Placement {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn check(&self, request: &Request<'_>) -> Result {
        if request.settings.is_given(&TASKS) {
            request.settings.refuse_all_but(
                &[
                    &TASKS, &PLATFORM, &SECONDS, &SEEDS, &SEED, &DUTY, &PERIOD, &RULES, &FULL,
                ],
                "--tasks runs equal tasks in place of a workload; leave it out",
            )?;
            return many_tasks::check(request);
        }
        request
            .settings
            .refuse(&[&DUTY, &PERIOD, &RULES, &FULL], "give --tasks, too")?;
        Input::read(request).map(|_| ())
    }

    fn run(&self, request: &Request<'_>, observer: &Observer) -> Result<Recording> {
        let settings = &request.settings;
        if settings.is_given(&TASKS) {
            return many_tasks::run(request, observer);
        }
        let input = Input::read(request)?;
        let mut header = Header::new(ABOUT.name, World::Sim.name(), "ns");
        header.settings = settings.get(SET).into_iter().collect();
        let is_run = !settings.get(OPERATING_POINTS);
        results::describe(&mut header, &input, is_run.then(|| lanes::kept(&input)));
        let mut recording = Recording::new(header);
        if is_run {
            runs(&mut recording, &input, observer)?;
        }
        results::operating_points(&mut recording, &input);
        Ok(recording)
    }
}

/// Runs every policy with every seed.
fn runs(recording: &mut Recording, input: &Input, observer: &Observer) -> Result {
    let progress = &observer.progress;
    let (first, count) = input.seeds;
    let jobs = input
        .policies
        .iter()
        .flat_map(|&kind| (0..u64::from(count)).map(move |seed| (kind, first + seed)))
        .collect_vec();
    progress.expect(jobs.len() as u64, "runs");
    let found = side_by_side(progress, jobs, |(kind, seed)| {
        outcome(input, kind, seed, false, input.time_ns)
    })?;
    for (kind, found) in input.policies.iter().zip(found.chunks(count as usize)) {
        results::add(recording, input, *kind, found);
    }
    let mut timelines = Timelines::default();
    for &kind in &input.policies {
        progress.check()?;
        lanes::add(recording, &mut timelines, input, kind)?;
    }
    timelines.name_tasks(&mut recording.header);
    Ok(())
}
