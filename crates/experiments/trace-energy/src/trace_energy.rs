//! The experiment, and its recording.

use crate::machine::Machine;
use crate::meter::{Meter, PARTS, Share};
use crate::told::Told;
use crate::what_if::answers;
use experiment::setting::{self, CheckedSetting, InputFile};
use experiment::{About, Error, Experiment, Observer, Request, World};
use idle_experiments::check_there;
use idle_experiments::trace::TraceFolder;
use import::ftrace::Point;
use itertools::Itertools;
use platforms::PlatformFiles;
use recording::facts::{self, KernelTrace, TraceOwner};
use recording::{Header, Lane, Reader, Recording, metrics};
use soc::config::{IdlePlatform, Platform};
use std::path::{Path, PathBuf};

/// The energy of a recorded trace.
pub struct TraceEnergy;

const TRACE: InputFile = InputFile::new(
    "trace",
    "The trace: a file that `import ftrace` reads, or a recording of one (a folder).",
)
.positional();

const PLATFORM: setting::Platform = setting::Platform::new(
    "platform",
    "Platform that the trace is from, with operating points, by name or file.",
);

const PER: CheckedSetting<String> = CheckedSetting::new(
    "per",
    "WORK",
    |text| Ok(text.to_owned()),
    "Divide by the work done: how often a mark was written whose text has this in it, or a task of this name woke up.",
);

static ABOUT: About = About {
    name: "trace-energy",
    summary: "Whose energy it is, on a trace of yours: tasks, interrupts, callbacks of RCU, idle states",
    details: "Powers are the platform's, at the clocks that the trace tells. A domain's shared power goes to its CPUs that run, in \
              equal parts; while all sleep, to its idle state. What a trace does not tell is a range.",
    worlds: &[(World::Sim, "the trace, with a platform's powers")],
    settings: &[&TRACE, &PLATFORM, &PER],
    examples: &[
        ("trace.dat --platform hikey960", "who took how much"),
        (
            "trace.txt --platform board.toml --per frame",
            "the same for each mark `frame`, on a board of yours",
        ),
    ],
    ..About::BARE
};

impl Experiment for TraceEnergy {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn check(&self, request: &Request<'_>) -> Result<(), Error> {
        let settings = &request.settings;
        check_there(settings.get(TRACE).as_deref())?;
        trace(request)?;
        machine(request).map(drop)
    }

    fn run(&self, request: &Request<'_>, observer: &Observer) -> Result<Recording, Error> {
        let (machine, idle) = machine(request)?;
        let progress = &observer.progress;
        progress.say("reading the trace");
        let folder = TraceFolder::open(&trace(request)?)?;
        progress.check()?;
        let read = Reader::open(folder.path())?.header().clone();
        // A trace that another program recorded says nothing of its kernel.
        let kernel: KernelTrace = read.facts().unwrap_or_default();
        let mut told = Told::new(&kernel);
        let mut kept = Vec::new();
        let mut count = 0;
        walk(folder.path(), |point, event| {
            told.event(&kernel, point, event);
            count += 1;
            if kept.len() < MOST_KEPT {
                kept.push((point, *event));
            }
        })?;
        let [first, last] = told.span_ns.unwrap_or_default();
        if first == last {
            return Err(Error::usage("no time passes in the trace", HELP));
        }
        let work = request.settings.get(PER).map(|name| work_done(name, &told));
        let mut meter = Meter::new(&machine, &told);
        if kept.len() == count {
            kept.iter()
                .for_each(|(point, event)| meter.event(*point, event));
        } else {
            walk(folder.path(), |point, event| meter.event(point, event))?;
        }
        meter.finish();

        let mut header = Header::new(ABOUT.name, World::Sim.name(), "ns");
        header.iterations = 1;
        // Another trace of the same work is another run of a real machine.
        header.repeatable = Some(false);
        header.notes.extend(read.notes);
        header.notes.extend(doubts(&machine, &told));
        let seconds = (last - first) as f64 / 1e9;
        let watts = idle.watts_per_unit().or(idle.running_unit.as_ref());
        header.notes.extend(watts.map(ToString::to_string));
        let mut facts = facts::TraceEnergy {
            title: idle.title.clone(),
            unit: watts.map_or("unit s", |_| "J").to_owned(),
            seconds,
            wall: watts
                .and_then(|watts| watts.wall.as_ref())
                .map(|of| [of.low, of.high]),
            work: work.transpose()?,
            ..facts::TraceEnergy::default()
        };
        let scale = watts.map_or(1.0, |watts| watts.value) / UNIT_NS;
        facts.what_ifs = answers(&machine, &kernel, &told, &meter, (seconds, scale));
        let mut recording = Recording::new(header);
        record(
            &mut recording,
            &machine,
            &kernel,
            &meter,
            (&mut facts, scale),
        );
        recording.header.set_facts(&facts);
        Ok(recording)
    }
}

/// Events that are kept from the first pass for the second: reading them again takes longer. The rest of a longer trace is not
/// in memory.
const MOST_KEPT: usize = 4_000_000;

/// Nanoseconds in a second: energies are counted in units times nanoseconds.
const UNIT_NS: f64 = 1e9;

const HELP: &str = "record with the events that `stopwatt capture trace --print` names";

fn trace(request: &Request<'_>) -> Result<PathBuf, Error> {
    let trace = request.settings.get(TRACE);
    trace.ok_or_else(|| Error::usage("no trace is named", HELP))
}

/// The machine that the request names, and its idle states.
fn machine(request: &Request<'_>) -> Result<(Machine, IdlePlatform), Error> {
    let given = request.settings.get(PLATFORM).ok_or_else(|| {
        let help = "add --platform NAME or FILE; `stopwatt platform from` makes a file of a board's device tree and energy model";
        Error::usage("no platform says what the trace's CPUs take", help)
    })?;
    let files = PlatformFiles::open(request.platforms, &given)?;
    let idle = platforms::idle_states(request.platforms, &files.idle_states()?)?;
    let machine = Machine::new(&Platform::read(files.document())?, &idle).map_err(|domain| {
        let help = "give it an `operating_point` table with clock, capacity, core_power and domain_power; platforms/hikey960.toml has two";
        Error::usage(
            format!("{given}: domain `{domain}` has no operating points"),
            help,
        )
    })?;
    Ok((machine, idle))
}

fn walk(folder: &Path, each: impl FnMut(Point, &recording::Event)) -> Result<(), Error> {
    sleeps::events(folder, each).map_err(Error::failed)
}

/// How often some work was done.
fn work_done(name: String, told: &Told) -> Result<(String, u64), Error> {
    let known = told.work.iter();
    let count = known
        .filter(|(known, _)| known.contains(&name))
        .map(|(_, count)| count);
    match count.sum() {
        0 => {
            let most = told
                .work
                .iter()
                .sorted_by_key(|(_, count)| std::cmp::Reverse(**count));
            let most = most.take(5).map(|(name, _)| name).join(", ");
            let help = if most.is_empty() {
                "the trace has no marks and no sched_wakeup".to_owned()
            } else {
                format!("the most frequent are {most}")
            };
            Err(Error::usage(
                format!("--per {name}: no mark or task of the trace has this name"),
                help,
            ))
        }
        count => Ok((name, count)),
    }
}

/// What a reader must know of the trace, a sentence each.
fn doubts(machine: &Machine, told: &Told) -> Vec<String> {
    let mut strangers = told
        .cpus
        .keys()
        .filter(|cpu| machine.domains.iter().all(|of| !of.cpus.contains(*cpu)));
    let strangers = strangers.join(", ");
    let mut doubts = Vec::new();
    if !strangers.is_empty() {
        doubts.push(format!(
            "The platform has no CPU {strangers}: their energy is in no figure."
        ));
    }
    if !told.has(&[Point::IrqEnter, Point::SoftirqEnter]) {
        doubts.push(
            "The trace has no events of interrupts: they are in what they interrupt.".to_owned(),
        );
    }
    doubts
}

/// Adds the owners, and the timeline of who owned each CPU. Energies are multiplied by `scale`.
fn record(
    recording: &mut Recording,
    machine: &Machine,
    kernel: &KernelTrace,
    meter: &Meter<'_>,
    (facts, scale): (&mut facts::TraceEnergy, f64),
) {
    let names = meter
        .shares
        .iter()
        .map(|share| name(share, machine, kernel));
    let names = names.collect_vec();
    let by_name = recording::grouped(names.iter().cloned().zip(&meter.shares));
    let energy = |shares: &[&Share], end: usize| -> u128 {
        shares.iter().map(|share| share.of.energy[end]).sum()
    };
    let all = ("everything".to_owned(), meter.shares.iter().collect_vec());
    let owners = by_name
        .into_iter()
        .filter(|(_, shares)| energy(shares, 1) > 0)
        .sorted_by_key(|(_, shares)| std::cmp::Reverse(energy(shares, 0) + energy(shares, 1)))
        .collect_vec();
    // One quantity, so that a comparison has one row for each owner and end.
    let (metric, unit, per) = match (&facts.work, facts.unit.as_str()) {
        (Some((_, count)), unit) => (metrics::ENERGY_PER_WORK, unit, *count as f64),
        (None, "J") => (metrics::OWNED_POWER, "W", facts.seconds),
        (None, _) => (metrics::OWNED_POWER, "unit", facts.seconds),
    };
    for (end, mode) in facts::TraceEnergy::ENDS.into_iter().enumerate() {
        let series = recording.series("trace", "owners", mode);
        if energy(&all.1, end) != meter.total.energy[end] {
            let note = format!("The owners' energies, {mode}, do not add up to the integral.");
            recording.header.notes.push(note);
        }
        for (name, shares) in [&all].into_iter().chain(&owners) {
            let value = energy(shares, end) as f64 * scale / per;
            let subject = Some(recording.name(name));
            recording
                .measure(series, 0, metric.name, unit, value)
                .subject = subject;
        }
    }
    facts.energy = meter.total.energy.map(|energy| energy as f64 * scale);
    let part_s = facts.seconds / PARTS as f64;
    facts.owners = owners
        .into_iter()
        .map(|(name, shares)| TraceOwner {
            is_work: shares[0].owner.is_work(),
            energy: [0, 1].map(|end| energy(&shares, end) as f64 * scale),
            cpu_s: shares
                .iter()
                .map(|share| share.of.ns as f64 / UNIT_NS)
                .sum(),
            power_over_time: (0..PARTS)
                .map(|part| {
                    let both: u128 = shares.iter().map(|share| share.parts[part]).sum();
                    both as f64 / 2.0 * scale / part_s
                })
                .collect(),
            name,
        })
        .collect();

    timeline(recording, meter, names);
}

/// Adds who owned each CPU.
fn timeline(recording: &mut Recording, meter: &Meter<'_>, names: Vec<String>) {
    let timeline = recording.series("trace", "timeline", "");
    let point = recording.point_with("owner", Some("owner"));
    for &(time_ns, cpu, share) in &meter.changes {
        recording.event(timeline, 0, cpu, time_ns, 0, point, share as u32);
    }
    recording.header.lanes = vec![Lane {
        title: "owner".to_owned(),
        begin: "owner".to_owned(),
        names: (0..).zip(names).collect(),
        ..Lane::default()
    }];
}

fn name(share: &Share, machine: &Machine, kernel: &KernelTrace) -> String {
    let domain = &machine.domains[share.domain];
    let states = domain.states.iter().map(|state| state.name.clone());
    share
        .owner
        .name(kernel, &domain.name, &states.collect_vec())
}
