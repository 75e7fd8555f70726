//! `find-rate`: the highest rate without loss of what forwards, and latencies, in networks of this
//! command's own.

use crate::graphs::{GraphKind, Load};
use crate::loaded::{BUFFERS, FLOWS, NO_CHECKSUM, ROUTES, WINDOWS, buffers_hold_frames};
use crate::rates::bench::Driver;
use crate::rates::find::{DriverRates, LOADS, Search, find};
use crate::rates::search::Precision;
use crate::{FRAME_SIZE, host_header, results};
use dataplane::buffers::Reuse;
use dataplane::plane::Settings as LoopSettings;
use experiment::setting::{CheckedSetting, Choice, Number, Or};
use experiment::{About, Error, Example, Experiment, Request, Settings, Sink, World, WorldAbout};
use recording::facts;
use std::time::Duration;

/// Searches for the highest rate without loss.
pub struct FindRate;

const GRAPH: Or<Choice<GraphKind>> = Choice::new(
    "graph",
    &[
        (
            "l2-xconnect",
            GraphKind::L2CrossConnect,
            "an L2 cross connect of the two interfaces",
        ),
        (
            "ip4-route",
            GraphKind::Ip4Route,
            "IPv4 routing in three nodes",
        ),
    ],
    "Graph of the driver `packet`.",
)
.or(GraphKind::Ip4Route);

const DRIVERS: Or<CheckedSetting<Vec<Driver>>> = CheckedSetting::new(
    "drivers",
    "LIST",
    drivers,
    "What forwards, one after the other: kernel (its own IPv4 forwarding), packet (our graph through packet sockets), or \
     command, the program of --forwarder.",
)
.or((|| vec![Driver::Packet], |_| "packet".to_owned()));

const FORWARDER: CheckedSetting<String> = CheckedSetting::new(
    "forwarder",
    "COMMAND",
    command_line,
    "A program of yours as the driver `command`. It runs between the interfaces in0 and out0, and sends what comes in on one \
     to 02:fe:00:00:01:02 on the other.",
);

const WINDOW: Or<Number> = Number::new("window", 1..=600_000, "Length of a trial.")
    .unit("ms")
    .or(1000);

const LOSS: Or<CheckedSetting<f64>> = CheckedSetting::new(
    "loss",
    "PERCENT",
    percent,
    "Loss that the partial drop rate allows.",
)
.unit("%")
.or((|| 0.5, f64::to_string));

const PRECISION: Or<CheckedSetting<f64>> = CheckedSetting::new(
    "precision",
    "PERCENT",
    percent,
    "Width between the bounds, of the upper one.",
)
.unit("%")
.or((|| 1.0, f64::to_string));

const TRIALS: Or<Number<usize>> = Number::new(
    "trials",
    1..=99,
    "Most trials of a load, of which the majority counts.",
)
.or(3);

static ABOUT: About = About {
    name: "find-rate",
    summary: "The highest rate without loss of what forwards between two interfaces, and latencies",
    details: "It makes network namespaces that are joined by veth, which needs root and the program `ip`; they are gone when it is.",
    worlds: &[WorldAbout {
        world: World::Host,
        about: "interfaces in network namespaces of this machine",
        needs: &[],
    }],
    settings: &[
        &GRAPH,
        &DRIVERS,
        &FORWARDER,
        &WINDOWS,
        &WINDOW,
        &FRAME_SIZE,
        &BUFFERS,
        &ROUTES,
        &FLOWS,
        &NO_CHECKSUM,
        &LOSS,
        &PRECISION,
        &TRIALS,
    ],
    examples: &[
        Example {
            arguments: "--drivers kernel,packet",
            about: "the kernel's forwarding beside our graph",
        },
        Example {
            arguments: "--drivers command --forwarder ./forward.sh",
            about: "a program of yours",
        },
    ],
    ..About::BARE
};

impl Experiment for FindRate {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn check(&self, request: &Request<'_>) -> Result<(), Error> {
        let settings = &request.settings;
        match (
            settings.get(DRIVERS).contains(&Driver::Command),
            settings.is_given(&FORWARDER),
        ) {
            (true, false) => Err(Error::usage(
                "driver `command` has no command",
                "give --forwarder COMMAND, too",
            )),
            (false, true) => {
                let help = "name it among the drivers: --drivers packet,command";
                Err(Error::usage(
                    "--forwarder means nothing without the driver `command`",
                    help,
                ))
            }
            _ => buffers_hold_frames(settings),
        }
    }

    fn run(&self, request: &Request<'_>, sink: &mut dyn Sink) -> Result<(), Error> {
        run(&request.settings, sink)
    }
}

fn percent(text: &str) -> Result<f64, String> {
    let percent = text
        .parse()
        .ok()
        .filter(|percent| (0.01..=50.0).contains(percent));
    percent.ok_or_else(|| format!("`{text}` is no percentage from 0.01 to 50"))
}

fn command_line(text: &str) -> Result<String, String> {
    if text.trim().is_empty() {
        Err("an empty command: give a program and its arguments, in quotes".to_owned())
    } else {
        Ok(text.to_owned())
    }
}

/// The drivers of a list.
///
/// # Errors
/// One that is none, or that is there twice.
fn drivers(text: &str) -> Result<Vec<Driver>, String> {
    let known = || Driver::ALL.map(|(_, name)| name).join(", ");
    let mut found: Vec<Driver> = Vec::new();
    for word in text.split(',').map(str::trim) {
        let driver = Driver::ALL.into_iter().find(|(_, name)| *name == word);
        let (driver, _) =
            driver.ok_or_else(|| format!("`{word}` is no driver; there are {}", known()))?;
        if found.contains(&driver) {
            return Err(format!("driver `{word}` is there twice"));
        }
        found.push(driver);
    }
    Ok(found)
}

fn run(settings: &Settings, sink: &mut dyn Sink) -> Result<(), Error> {
    let (loss, window) = (settings.get(LOSS), settings.get(WINDOW));
    let load = Load {
        settings: LoopSettings {
            frame_size: settings.get(FRAME_SIZE),
            verify_checksum: !settings.get(NO_CHECKSUM),
            ..LoopSettings::default()
        },
        buffers: settings.get(BUFFERS),
        reuse: Reuse::Hot,
        routes: settings.get(ROUTES),
        flows: settings.get(FLOWS),
        ..Load::new(settings.get(GRAPH))
    };
    let search = Search {
        drivers: settings.get(DRIVERS),
        command: settings.get(FORWARDER).unwrap_or_default(),
        load,
        windows: settings.get(WINDOWS) as usize,
        window: Duration::from_millis(window),
        loss: loss / 100.0,
        precision: Precision {
            width: settings.get(PRECISION) / 100.0,
            trials: settings.get(TRIALS),
        },
    };
    let found = find(&search, &sink.progress())?;
    let mut header = host_header(ABOUT.name, search.windows as u32);
    let drivers = found.iter().map(|found| facts::Driver {
        name: found.driver.name().to_owned(),
        mode: found.hardware.clone(),
    });
    header.set_facts(&facts::Rates {
        graph: load.kind.name().to_owned(),
        drivers: drivers.collect(),
        loss: loss.to_string(),
        trials: search.precision.trials as u64,
        window_ms: window,
        loads: LOADS.iter().map(|load| u64::from(*load)).collect(),
        frame_size: load.settings.frame_size as u64,
        buffers: load.buffers as u64,
        routes: load.routes.into(),
        flows: load.flows.into(),
        workers: 1,
        checksum: load.settings.verify_checksum,
    });
    header
        .notes
        .extend(found.iter().flat_map(|found| notes(found, search.loss)));
    let recording = results::rates(header, &found);
    sink.start(recording.header.clone())?;
    sink.append(&recording)
}

/// Notes on a driver's trials.
fn notes(found: &DriverRates, loss: f64) -> Vec<String> {
    let (mut notes, name) = (Vec::new(), found.driver.name());
    for (goal, words) in [(loss, "partial drop rate"), (0.0, "rate without loss")] {
        let divided = found
            .tried
            .iter()
            .filter(|tried| tried.is_divided(goal))
            .count();
        if divided > 0 {
            let all = found.tried.len();
            let words = format!("{words}: trials of {divided} of {all} loads disagree");
            notes.push(format!("{name}, {words}, so the majority decided there."));
        }
    }
    let short: usize = found.tried.iter().map(|tried| tried.short).sum();
    if short > 0 {
        notes.push(format!(
            "{name}: {short} trials were repeated, because something held the generator or our graph up."
        ));
    }
    if found.untimed > 0 {
        let why = "are in no percentile: the sink missed them, or the clock was set.";
        notes.push(format!(
            "{name}: {} packets with a time {why}",
            found.untimed
        ));
    }
    notes
}
