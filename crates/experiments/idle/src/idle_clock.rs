//! `idle-clock`: what reading a clock and dividing cost the idle loop.

use crate::asked::{self, USUAL_HZ, USUAL_PLATFORM, check_there, kinds, traced};
use crate::clocks::{self, CLOCKS};
use crate::energy::{Segments, energy};
use crate::oracle::MIDDLE;
use crate::published_reads::{Reads, Spread};
use crate::reads::{self, DIVISIONS, Effort, Times};
use crate::replay::{Chooser, Unsaid, replay};
use crate::trace::TracedIntervals;
use experiment::setting::{self, CheckedSetting, InputFile, Number, Or};
use experiment::{About, Error, Experiment, Observer, Request, Settings, World, side_by_side};
use itertools::Itertools;
use recording::{Header, Recording, facts, metrics};
use soc::config::IdlePlatform as Platform;

/// Reads clocks and divides, here; or replays a trace with reads that take as long as published
/// ones.
pub struct IdleClock;

const HOST: &[World] = &[World::Host];
const SIM: &[World] = &[World::Sim];

const TRACE: InputFile = asked::TRACE.only(SIM);

const THREADS: Number<usize> = Number::new(
    "threads",
    1..=1024,
    "Most threads that read at once; by default as many as this machine has CPUs.",
)
.only(HOST);

const ROUNDS: Or<Number<usize>> = Number::new("rounds", 1..=100_000, "Rounds of each measurement.")
    .only(HOST)
    .or(100);

const READS: Or<Number<usize>> = Number::new("reads", 1..=1_000_000, "Reads of a round.")
    .only(HOST)
    .or(10_000);

const PLATFORM: Or<setting::Platform> = asked::PLATFORM.only(SIM).or(USUAL_PLATFORM);

const GOVERNORS: CheckedSetting<Vec<idle::Kind>> = CheckedSetting::new(
    "governors",
    "NAMES",
    kinds,
    "Governors, parted by commas [default: all].",
)
.only(SIM);

const HZ: Or<Number> = asked::HZ.only(SIM).or(USUAL_HZ);

const SEED: Or<Number> = Number::new("seed", 0..=u64::MAX, "Seed of the reads' spread.")
    .only(SIM)
    .or(1);

static ABOUT: About = About {
    name: "idle-clock",
    summary: "What reading a clock and dividing cost the idle loop, here or in a replayed trace",
    details: "On this machine rounds of reads in a row are timed by the processor's counter, alone and with other CPUs racing for the clock. In a replay the \
              kernel's reads take as long as published ones, and each division makes microseconds of the stay: what is shown is \
              what that changes in choices and in energy.",
    worlds: &[
        (World::Host, "clocks and divisions of this machine"),
        (
            World::Sim,
            "a trace, with reads that take as long as published ones",
        ),
    ],
    settings: &[
        &TRACE, &THREADS, &ROUNDS, &READS, &PLATFORM, &GOVERNORS, &HZ, &SEED,
    ],
    examples: &[
        ("", "this machine"),
        ("--world sim trace.txt --platform juno-r2", "a trace"),
    ],
    ..About::BARE
};

impl Experiment for IdleClock {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn check(&self, request: &Request<'_>) -> Result<(), Error> {
        match request.world {
            World::Sim => {
                check_there(request.settings.get(TRACE).as_deref())?;
                spreads(request)?;
                platforms::idle_states(request.platforms, &request.settings.get(PLATFORM))
                    .map(|_| ())
            }
            _ => Ok(()),
        }
    }

    fn run(&self, request: &Request<'_>, observer: &Observer) -> Result<Recording, Error> {
        match request.world {
            World::Sim => replayed(request, observer),
            _ => here(&request.settings, observer),
        }
    }
}

fn header(world: World) -> Header {
    Header::new(ABOUT.name, world.name(), "ns")
}

/// The numbers of threads that are tried: all up to eight, and then each twice the one before.
fn thread_counts(most: usize) -> Vec<usize> {
    let mut counts = (1..=most.min(8)).collect_vec();
    while let Some(&last) = counts.last().filter(|&&last| last < most) {
        counts.push((2 * last).min(most));
    }
    counts
}

fn here(settings: &Settings, observer: &Observer) -> Result<Recording, Error> {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let most = settings.get(THREADS).unwrap_or(cpus);
    let effort = Effort {
        rounds: settings.get(ROUNDS),
        reads: settings.get(READS),
    };
    let counts = thread_counts(most);
    let progress = &observer.progress;
    progress.expect(
        (CLOCKS.len() * counts.len() + 2 * DIVISIONS.len()) as u64,
        "clocks and divisions",
    );

    let mut recording = Recording::new(header(World::Host));
    let tick_ns = 1e9 / dataplane::machine::counter_hz() as f64;
    for (name, clock) in CLOCKS {
        for &threads in &counts {
            progress.check()?;
            let times = reads::clock(clock, threads, effort, tick_ns);
            let (threads, metric) = (threads.to_string(), metrics::CLOCK_READ);
            add(&mut recording, name, "clock-read", &threads, metric, &times);
            progress.step();
        }
    }
    for (name, division) in DIVISIONS {
        for (known, mode) in [(true, "divisor known"), (false, "divisor unknown")] {
            progress.check()?;
            let times = reads::division(division, known, effort, tick_ns);
            let metric = metrics::DIVISION;
            add(&mut recording, name, "division", mode, metric, &times);
            progress.step();
        }
    }
    let header = &mut recording.header;
    header.iterations = effort.rounds as u32;
    header.time.counter_hz = Some(dataplane::machine::counter_hz());
    let (source, virtual_machine) = (clocks::source(), clocks::hypervisor());
    header.run.counter = Some(dataplane::machine::COUNTER.to_owned());
    header.set_facts(&facts::Clocks {
        source,
        virtual_machine: virtual_machine.clone(),
    });
    if let Some(why) = virtual_machine {
        header.notes.push(format!(
            "These are the clocks of a virtual machine ({why}): its hypervisor has a part in them."
        ));
    }
    if most > cpus {
        header.notes.push(format!(
            "{most} threads on {cpus} CPUs: they do not all read at once."
        ));
    }
    header.notes.push(format!(
        "Reads stand in a row, each after the one before it: a time is the mean of a round of {}.",
        effort.reads
    ));
    Ok(recording)
}

fn add(
    recording: &mut Recording,
    variant: &str,
    case: &str,
    mode: &str,
    metric: metrics::Metric,
    times: &Times,
) {
    let series = recording.series(variant, case, mode);
    let mut rows = vec![
        ("average", times.average),
        ("trimmed", times.trimmed),
        ("stddev", times.stddev),
        ("min", times.min),
        ("max", times.max),
    ];
    rows.extend(
        Times::PERCENTILES
            .iter()
            .zip(times.percentiles)
            .map(|((name, _), value)| (*name, value)),
    );
    for (name, value) in rows {
        recording.add(series, 0, metric, name, value);
    }
}

/// The kernel's clocks whose reads were published, with how long they take. They are conditions of
/// the replay and come from outside.
fn spreads(request: &Request<'_>) -> Result<Vec<(String, Spread)>, Error> {
    const OF: &str = "cpuidle-clock";
    let names = request.conditions.get("clocks", &[OF]);
    if names.is_empty() {
        return Err(Error::usage(
            "no published reads of a kernel's clock are known",
            "name a folder with published/cpuidle-clock.toml with --data, or leave --data out",
        ));
    }
    let spread =
        |name: &String| Spread::parse(request.conditions.get("clock-read-ns", &[OF, name]));
    names
        .iter()
        .map(|name| Ok((name.clone(), spread(name).map_err(Error::failed)?)))
        .collect()
}

/// The conversions of the difference of two reads, each with its name in recordings.
const CONVERSIONS: [(&str, idle::Clock); 3] = [
    ("/ 1000", idle::Clock::DivideBy1000),
    (">> 10", idle::Clock::ShiftBy10),
    ("nanoseconds", idle::Clock::Nanoseconds),
];

fn replayed(request: &Request<'_>, observer: &Observer) -> Result<Recording, Error> {
    let settings = &request.settings;
    let platform = platforms::idle_states(request.platforms, &settings.get(PLATFORM))?;
    let spreads = spreads(request)?;
    let progress = &observer.progress;
    progress.say("reading the trace");
    let traced = traced(settings.get(TRACE).as_deref())?;
    let tick_ns = 1_000_000_000 / settings.get(HZ);
    let seed = settings.get(SEED);
    let segments = Segments::new(&platform, &traced);
    let kinds = settings
        .get(GOVERNORS)
        .unwrap_or_else(|| idle::Kind::ALL.to_vec());
    let of_kind = |&kind| {
        let unsaid = Unsaid::of(kind, &traced, false).into_iter();
        unsaid.map(move |unsaid| (kind, unsaid))
    };
    let jobs = kinds.iter().flat_map(of_kind).collect_vec();
    progress.expect(jobs.len() as u64, "governors");

    let with = Replays {
        platform: &platform,
        traced: &traced,
        segments: &segments,
        spreads: &spreads,
        tick_ns,
        seed,
    };
    let changes = side_by_side(progress, &jobs, |&(kind, unsaid)| {
        Ok(with.changes(kind, unsaid))
    })?;

    let mut recording = Recording::new(header(World::Sim));
    for ((kind, unsaid), changed) in jobs.iter().zip(changes) {
        let mode = if jobs.len() > kinds.len() {
            unsaid.name()
        } else {
            String::new()
        };
        let series = recording.series(&kind.to_string(), "changed", &mode);
        let is_powered = platform.power.is_some();
        changed
            .iter()
            .for_each(|change| change.record(&mut recording, series, is_powered));
    }
    for (name, spread) in &spreads {
        let series = recording.series(name, "condition", "");
        recording.add(series, 0, metrics::CLOCK_READ, "average", spread.average);
    }
    let header = &mut recording.header;
    // Nothing is read on this machine.
    header.set_facts(&facts::Clocks::default());
    header.seed = seed;
    header.iterations = 1;
    header.platform = Some(recording::Platform {
        name: platform.name.clone(),
        text: platform.text.clone(),
        figures: toml::Table::new(),
    });
    header.notes.push(
        "A read before a stay delays it, and a read after it delays the work; both take place at active power. The kernel sees the stay and one of them."
            .to_owned(),
    );
    header.notes.extend(traced.notes.iter().cloned());
    Ok(recording)
}

/// Choices and energy that differ from those with the first clock and the first division, as
/// shares.
struct Change {
    /// Clock and conversion.
    condition: String,
    choices: f64,
    energy: f64,
}

impl Change {
    /// Adds its measures; the energy only where powers are known.
    fn record(&self, recording: &mut Recording, series: recording::Series, is_powered: bool) {
        recording.add(
            series,
            0,
            metrics::CHANGED_CHOICES,
            &self.condition,
            self.choices,
        );
        if is_powered {
            recording.add(
                series,
                0,
                metrics::CHANGED_ENERGY,
                &self.condition,
                self.energy,
            );
        }
    }
}

/// A trace that governors are replayed on, with reads of every clock.
struct Replays<'r> {
    platform: &'r Platform,
    traced: &'r TracedIntervals,
    segments: &'r Segments,
    spreads: &'r [(String, Spread)],
    tick_ns: u64,
    seed: u64,
}

impl Replays<'_> {
    /// Changes of a governor's choices under each condition; the first one is none.
    fn changes(&self, kind: idle::Kind, unsaid: Unsaid) -> Vec<Change> {
        let mut base = None;
        let mut changes = Vec::new();
        for (name, spread) in self.spreads {
            for (conversion, clock) in CONVERSIONS {
                let mut reads = Reads::new(*spread, clock, self.seed);
                let chooser = Chooser::Governor(kind);
                let replayed = replay(
                    self.platform,
                    self.traced,
                    chooser,
                    unsaid,
                    self.tick_ns,
                    &mut reads,
                );
                let energy = energy(self.platform, self.segments, &replayed)[MIDDLE];
                let (chosen, of) = base.get_or_insert_with(|| (replayed.chosen.clone(), energy));
                let pairs = || {
                    chosen
                        .iter()
                        .flatten()
                        .zip(replayed.chosen.iter().flatten())
                };
                let others = pairs().filter(|(a, b)| a != b).count();
                let choices = others as f64 / pairs().count().max(1) as f64;
                let energy = if *of == 0 {
                    0.0
                } else {
                    (energy as f64 - *of as f64) / *of as f64
                };
                changes.push(Change {
                    condition: format!("{name}, {conversion}"),
                    choices,
                    energy,
                });
            }
        }
        changes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_go_up_to_the_most() {
        assert_eq!(thread_counts(1), [1]);
        assert_eq!(thread_counts(3), [1, 2, 3]);
        assert_eq!(thread_counts(20), [1, 2, 3, 4, 5, 6, 7, 8, 16, 20]);
    }
}
