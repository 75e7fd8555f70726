//! `linux-rates`: which callbacks programs queue, on a real kernel.

use crate::guest;
use crate::queued::{QueuedCallbacks, of_program};
use experiment::setting::{Folder, Number, Or};
use experiment::{About, Error, Example, Experiment, Need, Request, Sink, World, WorldAbout};
use qemu::programs::Program;
use recording::{Header, Recording, metrics};

/// Runs programs in the guest and counts the callbacks that are queued meanwhile.
pub struct LinuxRates;

/// CPUs of the guest.
const CPUS: usize = 5;

/// The action that a program repeats so often that callbacks may come of it.
#[derive(Clone, Copy)]
enum Unit {
    /// Context switches, as the kernel counts them.
    Switch,
    /// Files that are opened and closed.
    Close(u32),
    /// Processes that are started one after the other.
    Life(u32),
    /// Seconds.
    Second,
}

/// A program: its name, its command line with `{s}` for the seconds that it is to take, and what it
/// does often.
struct Spec {
    name: &'static str,
    command: &'static str,
    /// Seconds that it takes; `None` for as many as were asked for.
    seconds: Option<u32>,
    unit: Unit,
}

const fn spec(name: &'static str, command: &'static str, seconds: Option<u32>, unit: Unit) -> Spec {
    Spec {
        name,
        command,
        seconds,
        unit,
    }
}

/// The first queues nothing itself: what comes while it runs is the system's.
static PROGRAMS: [Spec; 9] = [
    spec("sleep", "sleep {s}", None, Unit::Second),
    spec(
        "cyclictest-5",
        "cyclictest -q -t5 -a -i 1000 -D 3",
        Some(3),
        Unit::Switch,
    ),
    spec(
        "cyclictest-1",
        "cyclictest -q -t1 -l 3000",
        Some(3),
        Unit::Switch,
    ),
    spec(
        "sysbench-cpu",
        "sysbench cpu --threads=5 --time=4 run",
        Some(4),
        Unit::Switch,
    ),
    spec(
        "sysbench-mutex",
        "sysbench mutex --threads=5 run",
        Some(10),
        Unit::Switch,
    ),
    spec(
        "aplay",
        "aplay -q -D hw:0 -t raw -f S16_LE -r 48000 -c 2 -d {s} /dev/zero",
        None,
        Unit::Switch,
    ),
    spec(
        "aplay-20ms",
        "aplay -q -D hw:0 --period-time=20000 -t raw -f S16_LE -r 48000 -c 2 -d {s} /dev/zero",
        None,
        Unit::Switch,
    ),
    spec("lives", "lives 100", Some(1), Unit::Life(100)),
    spec("closes", "closes 1000", Some(1), Unit::Close(1000)),
];

const SECONDS: Or<Number<u32>> = Number::new("seconds", 1..=60, "How long sleep and aplay run.")
    .unit("s")
    .or(10);

const CACHE: Folder = Folder::new(
    "cache",
    "Folder for kernel and packages; by default `target/linux` of the checkout.",
);

static ABOUT: About = About {
    name: "linux-rates",
    summary: "Which callbacks real programs queue on a real kernel, and how many",
    details: "Debian's kernel runs cyclictest, sysbench, aplay, 100 short processes and 1000 file closes, one after the other, on the \
              firmware in an emulator whose time counts instructions. Probes on call_rcu and its other forms and on the start of grace \
              periods write a trace. The programs and their libraries are Debian's, aplay plays to a card that the kernel's module \
              snd-aloop makes. What does not run is named, with the reason.",
    worlds: &[WorldAbout {
        world: World::Qemu,
        about: "Debian's kernel on the firmware",
        needs: &[Need::Qemu, Need::SourceTree],
    }],
    settings: &[&SECONDS, &CACHE],
    examples: &[
        Example {
            arguments: "",
            about: "",
        },
        Example {
            arguments: "--format json",
            about: "",
        },
    ],
    ..About::BARE
};

impl Experiment for LinuxRates {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn run(&self, request: &Request<'_>, sink: &mut dyn Sink) -> Result<(), Error> {
        let settings = &request.settings;
        let asked = settings.get(SECONDS);
        let programs: Vec<Program> = PROGRAMS
            .iter()
            .map(|spec| {
                let seconds = spec.seconds.unwrap_or(asked);
                let command = spec.command.replace("{s}", &seconds.to_string());
                Program {
                    name: spec.name.to_owned(),
                    command,
                    seconds,
                }
            })
            .collect();
        let progress = sink.progress();
        progress.say("booting");
        let ran = guest::programs(
            request.source_tree,
            settings.get(CACHE),
            CPUS,
            &programs,
            |line| progress.say(line),
        )?;
        progress.check()?;

        let mut header = Header::new(ABOUT.name, World::Qemu.name(), "ns");
        header.iterations = 1;
        header
            .versions
            .insert("linux".to_owned(), ran.report.release.clone());
        for version in &ran.packages {
            let (name, version) = version.split_once(' ').unwrap_or((version, ""));
            header.versions.insert(name.to_owned(), version.to_owned());
        }
        for program in &programs {
            header
                .notes
                .push(format!("{}: {}", program.name, program.command));
        }
        header
            .notes
            .push(format!("Probed: {}.", ran.report.probes.join(", ")));
        if !ran.report.missing.is_empty() {
            header.notes.push(format!(
                "This kernel does not have: {}.",
                ran.report.missing.join(", ")
            ));
        }
        header.notes.extend(
            ran.report
                .failures
                .iter()
                .map(|failure| format!("The guest says: {failure}.")),
        );

        let mut recording = Recording::new(header);
        for ((spec, program), ran) in PROGRAMS.iter().zip(&programs).zip(&ran.report.ran) {
            if ran.status != 0 {
                let output = ran.output.join(" / ");
                recording.header.notes.push(format!(
                    "{} did not run: `{}` ended with status {}: {output}",
                    spec.name, program.command, ran.status
                ));
                continue;
            }
            let queued =
                of_program(&guest::imported(&guest::text(&ran.lines))?).map_err(Error::Failed)?;
            add(&mut recording, spec, &queued, ran.switches, ran.forks);
        }
        sink.start(recording.header.clone())?;
        sink.append(&recording)
    }
}

/// Adds what a program queued: in all, by function, and what it did meanwhile.
fn add(
    recording: &mut Recording,
    spec: &Spec,
    queued: &QueuedCallbacks,
    switches: u64,
    forks: u64,
) {
    let series = recording.series("guest", spec.name, "");
    let (unit, units) = match spec.unit {
        Unit::Switch => ("switches", switches as f64),
        Unit::Close(count) => ("closes", f64::from(count)),
        Unit::Life(count) => ("lives", f64::from(count)),
        Unit::Second => ("seconds", queued.seconds),
    };
    let rows = [
        (metrics::RUN_TIME, queued.seconds),
        (metrics::CALLBACKS_QUEUED, queued.total() as f64),
        (
            metrics::CALLBACK_RATE,
            queued.total() as f64 / queued.seconds,
        ),
        (metrics::GRACE_PERIODS, queued.grace_periods as f64),
        (metrics::CONTEXT_SWITCHES, switches as f64),
        (metrics::FORKS, forks as f64),
    ];
    for (metric, value) in rows {
        recording.add(series, 0, metric, "", value);
    }
    // A program that is over sooner has no middle.
    if let Some(rate) = queued.steady_rate() {
        recording.add(series, 0, metrics::STEADY_CALLBACK_RATE, "", rate);
    }
    recording.measure(series, 0, metrics::UNITS_OF_WORK.name, unit, units);
    for (function, count) in &queued.by_function {
        recording.add(
            series,
            0,
            metrics::CALLBACKS_QUEUED,
            function,
            *count as f64,
        );
    }
}
