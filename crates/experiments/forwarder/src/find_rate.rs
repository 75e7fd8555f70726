//! `--find-rate`: what it was told, and what was found as a recording.

use recording::facts;
use std::time::Duration;

use dataplane_experiments::graphs::GraphKind;
use dataplane_experiments::{frame_size, host_header};
use experiment::setting::{Checked, Number, Or, Switch};
use experiment::{Error, Settings, Sink};

use crate::rates::bench::{Driver, Plan};
use crate::rates::find::{LOADS, Search, find};
use crate::rates::search::Precision;
use crate::results;

pub(crate) const WINDOWS: Or<Number<u32>> =
    Number::new("windows", 1..=10_000, "With --find-rate: windows of full load.").or(10);

pub(crate) const WINDOW: Or<Number> =
    Number::new("window", 1..=600_000, "With --find-rate: length of a window, and of a trial.").unit("ms").or(1000);

pub(crate) const FRAME_SIZE: Or<Checked<usize>> =
    Checked::new("frame-size", "N", frame_size, "With --find-rate: packets of a frame: 64, 128, 256, 512 or 1024.")
        .or((|| 256, usize::to_string));

pub(crate) const BUFFERS: Or<Number<usize>> =
    Number::new("buffers", 128..=1 << 22, "With --find-rate: buffers of a worker; at least those of two frames.")
        .or(16_384);

pub(crate) const ROUTES: Or<Number<u32>> = Number::new("routes", 1..=65_536, "With --find-rate: routes.").or(1000);

pub(crate) const FLOWS: Or<Number<u32>> = Number::new("flows", 1..=1_000_000, "With --find-rate: flows.").or(1);

pub(crate) const NO_CHECKSUM: Switch = Switch::new("no-checksum", "With --find-rate: do not verify header checksums.");

pub(crate) const WORKERS: Or<Number<usize>> =
    Number::new("workers", 1..=32, "With --find-rate: threads that forward, on processors 1, 2, ...").or(1);

pub(crate) const DRIVERS: Or<Checked<Vec<Driver>>> = Checked::new(
    "drivers",
    "LIST",
    drivers,
    "With --find-rate: what forwards, one after the other: kernel (its own forwarding), or our graph through packet \
     (packet sockets, TPACKET_V2), af-xdp, tap; or command, the program of --forwarder.",
)
.or((|| vec![Driver::Packet], |_| "packet".to_owned()));

pub(crate) const FORWARDER: Checked<String> = Checked::new(
    "forwarder",
    "COMMAND",
    command_line,
    "With --find-rate: a program of yours as the driver `command`. It runs between the interfaces in0 and out0, and sends what comes in \
     on one to 02:fe:00:00:00:bb on the other.",
);

pub(crate) const LOSS: Or<Checked<f64>> =
    Checked::new("loss", "PERCENT", percent, "With --find-rate: loss that the partial drop rate allows.")
        .unit("%")
        .or((|| 0.5, f64::to_string));

pub(crate) const PRECISION: Or<Checked<f64>> =
    Checked::new("precision", "PERCENT", percent, "With --find-rate: width between the bounds, of the upper one.")
        .unit("%")
        .or((|| 1.0, f64::to_string));

pub(crate) const TRIALS: Or<Number<usize>> =
    Number::new("trials", 1..=99, "With --find-rate: most trials of a load, of which the majority counts.").or(3);

fn percent(text: &str) -> Result<f64, String> {
    let percent = text.parse().ok().filter(|percent| (0.01..=50.0).contains(percent));
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
        let (driver, _) = driver.ok_or_else(|| format!("`{word}` is no driver; there are {}", known()))?;
        if found.contains(&driver) {
            return Err(format!("driver `{word}` is there twice"));
        }
        found.push(driver);
    }
    Ok(found)
}

/// Searches as `--find-rate` does, and records what was found, as a recording of the experiment
/// `name`.
///
/// # Errors
/// This needs root and `ip`; or the run is to stop.
pub fn run(name: &str, settings: &Settings, sink: &mut dyn Sink) -> Result<(), Error> {
    let (loss, window) = (settings.get(LOSS), settings.get(WINDOW));
    let plan = Plan {
        routes: settings.get(ROUTES),
        flows: settings.get(FLOWS),
        buffers: settings.get(BUFFERS),
        frame_size: settings.get(FRAME_SIZE),
        verify_checksum: !settings.get(NO_CHECKSUM),
        workers: settings.get(WORKERS),
    };
    let search = Search {
        drivers: settings.get(DRIVERS),
        command: settings.get(FORWARDER).unwrap_or_default(),
        plan,
        windows: settings.get(WINDOWS) as usize,
        window: Duration::from_millis(window),
        loss: loss / 100.0,
        precision: Precision { width: settings.get(PRECISION) / 100.0, trials: settings.get(TRIALS) },
    };
    let found = find(&search, &sink.progress())?;
    let mut header = host_header(name, search.windows as u32);
    let drivers =
        found.iter().map(|found| facts::Driver { name: found.driver.name().to_owned(), mode: found.hardware.clone() });
    header.set_facts(&facts::Rates {
        graph: GraphKind::Ip4Route.name().to_owned(),
        drivers: drivers.collect(),
        loss: loss.to_string(),
        trials: search.precision.trials as u64,
        window_ms: window,
        loads: LOADS.iter().map(|load| u64::from(*load)).collect(),
        frame_size: plan.frame_size as u64,
        buffers: plan.buffers as u64,
        routes: plan.routes.into(),
        flows: plan.flows.into(),
        workers: plan.workers as u64,
        checksum: plan.verify_checksum,
    });
    for found in &found {
        let goals = [(search.loss, "partial drop rate"), (0.0, "rate without loss")];
        for (goal, words) in goals {
            let divided = found.tried.iter().filter(|tried| tried.is_divided(goal)).count();
            if divided > 0 {
                header.notes.push(format!(
                    "{}, {words}: trials of {divided} of {} loads disagree, so the majority decided there.",
                    found.driver.name(),
                    found.tried.len()
                ));
            }
        }
        let short: usize = found.tried.iter().map(|tried| tried.short).sum();
        if short > 0 {
            header.notes.push(format!(
                "{}: {short} trials were repeated, because something held the generator up.",
                found.driver.name()
            ));
        }
        if found.untimed > 0 {
            header.notes.push(format!(
                "{}: {} packets with a time are in no percentile: the sink missed them, or the clock was set.",
                found.driver.name(),
                found.untimed
            ));
        }
    }
    let recording = results::rates(header, &found);
    sink.start(recording.header.clone())?;
    sink.append(&recording)
}
