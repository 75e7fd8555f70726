//! `--find-rate`: what it was told, and what was found as a recording.

use recording::facts;
use std::time::Duration;

use dataplane_experiments::graphs::GraphKind;
use dataplane_experiments::host_header;
use experiment::{Error, Settings, Sink};

use crate::rates::bench::{Driver, Plan};
use crate::rates::find::{LOADS, Search, find};
use crate::rates::search::Precision;
use crate::results;

/// A percentage as a share.
///
/// # Errors
/// The text is none.
pub fn share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|percent| (0.01..=50.0).contains(percent)).map(|percent: f64| percent / 100.0);
    share.ok_or_else(|| format!("`{text}` is no percentage from 0.01 to 50"))
}

/// The drivers of a list.
///
/// # Errors
/// One that is none, or that is there twice.
pub fn drivers(text: &str) -> Result<Vec<Driver>, String> {
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

/// Searches as `--find-rate` does, and records what was found, as a recording of the experiment `name`.
///
/// # Errors
/// This needs root and `ip`; or the run is to stop.
pub fn run(name: &str, settings: &Settings, sink: &mut dyn Sink) -> Result<(), Error> {
    let text = |name: &str| settings.text(name).unwrap_or_default();
    let wrong = |message: String| Error::Usage { message, help: None };
    let plan = Plan {
        routes: settings.number("routes") as u32,
        flows: settings.number("flows") as u32,
        buffers: settings.number("buffers") as usize,
        frame_size: settings.number("frame-size") as usize,
        verify_checksum: !settings.switch("no-checksum"),
        workers: settings.number("workers") as usize,
    };
    let search = Search {
        drivers: drivers(text("drivers")).map_err(wrong)?,
        command: text("forwarder").to_owned(),
        plan,
        windows: settings.number("windows") as usize,
        window: Duration::from_millis(settings.number("window")),
        loss: share(text("loss")).map_err(wrong)?,
        precision: Precision {
            width: share(text("precision")).map_err(wrong)?,
            trials: settings.number("trials") as usize,
        },
    };
    let found = find(&search, &sink.progress())?;
    let mut header = host_header(name, search.windows as u32);
    let drivers =
        found.iter().map(|found| facts::Driver { name: found.driver.name().to_owned(), mode: found.hardware.clone() });
    header.set_facts(&facts::Rates {
        graph: GraphKind::Ip4Route.name().to_owned(),
        drivers: drivers.collect(),
        loss: text("loss").to_owned(),
        trials: search.precision.trials as u64,
        window_ms: settings.number("window"),
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
