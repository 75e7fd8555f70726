//! `forward`: a forwarder between interfaces of this machine, or the search for the highest rate of
//! what forwards.

use std::path::PathBuf;

use document::Document;
use experiment::setting::{InputFile, Switch};
use experiment::{About, Error, Example, Experiment, Request, Setting, Settings, Sink, World, WorldAbout};

use crate::config::Config;
use crate::find_rate::{
    BUFFERS, DRIVERS, FLOWS, FORWARDER, FRAME_SIZE, LOSS, NO_CHECKSUM, PRECISION, ROUTES, TRIALS, WINDOW, WINDOWS,
    WORKERS,
};
use crate::rates::bench::Driver;
use crate::supervise::{BUSY, EXEC, PROMPT, SECONDS};
use crate::{find_rate, supervise};

/// Forwards packets between interfaces of this machine.
pub struct Forward;

const CONFIG: InputFile = InputFile::new("config", "Configuration: interfaces, neighbours, routes.");

const FIND_RATE: Switch = Switch::new(
    "find-rate",
    "Search for the highest rate without loss, and measure latency, over interfaces in network namespaces that this makes \
     (Linux, root; needs `ip`).",
);

/// The settings that mean something with `--find-rate` alone, and those that mean nothing with it.
const SEARCH: [&dyn Setting; 13] = [
    &WINDOWS,
    &WINDOW,
    &FRAME_SIZE,
    &BUFFERS,
    &ROUTES,
    &FLOWS,
    &NO_CHECKSUM,
    &WORKERS,
    &DRIVERS,
    &FORWARDER,
    &LOSS,
    &PRECISION,
    &TRIALS,
];
const NOT_SEARCH: [&dyn Setting; 5] = [&CONFIG, &SECONDS, &PROMPT, &EXEC, &BUSY];

static ABOUT: About = About {
    name: "forward",
    summary: "Forward packets between interfaces of this machine, or find the highest rate",
    details: "docs/forwarder.md has a configuration. Interfaces of this machine need the right to open packet sockets (root); capture \
              files need nothing.",
    worlds: &[WorldAbout { world: World::Host, about: "interfaces and capture files of this machine", needs: &[] }],
    settings: &[
        &CONFIG,
        &SECONDS,
        &PROMPT,
        &EXEC,
        &BUSY,
        &FIND_RATE,
        &WINDOWS,
        &WINDOW,
        &FRAME_SIZE,
        &BUFFERS,
        &ROUTES,
        &FLOWS,
        &NO_CHECKSUM,
        &WORKERS,
        &DRIVERS,
        &FORWARDER,
        &LOSS,
        &PRECISION,
        &TRIALS,
    ],
    cases: &[],
    examples: &[
        Example { arguments: "--config forward.toml --prompt", about: "" },
        Example {
            arguments: "--find-rate --drivers kernel,packet,af-xdp,tap",
            about: "highest rate without loss, and latency (root)",
        },
    ],
    sweep_defaults: &[],
    shipped_sweeps: &[],
};

impl Experiment for Forward {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn check(&self, request: &Request<'_>) -> Result<(), Error> {
        let settings = &request.settings;
        let searches = settings.get(FIND_RATE);
        let (wrong, help) = match searches {
            true => (&NOT_SEARCH[..], "--find-rate makes interfaces and a configuration of its own; leave it out"),
            false => (&SEARCH[..], "give --find-rate, too"),
        };
        if let Some(setting) = wrong.iter().find(|setting| settings.is_given(**setting)) {
            return Err(Error::usage(format!("--{} means nothing here", setting.name()), help));
        }
        if searches {
            return check_search(settings);
        }
        Config::read(&Document::open(&config(settings)?)?)?;
        Ok(())
    }

    fn run(&self, request: &Request<'_>, sink: &mut dyn Sink) -> Result<(), Error> {
        let settings = &request.settings;
        match settings.get(FIND_RATE) {
            true => find_rate::run(ABOUT.name, settings, sink),
            false => supervise::run(ABOUT.name, &config(settings)?, settings, sink),
        }
    }
}

fn config(settings: &Settings) -> Result<PathBuf, Error> {
    settings.get(CONFIG).ok_or_else(|| {
        Error::usage("a forwarder needs a configuration", "give --config FILE; docs/forwarder.md has one")
    })
}

fn check_search(settings: &Settings) -> Result<(), Error> {
    let has_driver = settings.get(DRIVERS).contains(&Driver::Command);
    match (has_driver, settings.is_given(&FORWARDER)) {
        (true, false) => {
            return Err(Error::usage("driver `command` has no command", "give --forwarder COMMAND, too"));
        }
        (false, true) => {
            let help = "name it among the drivers: --drivers packet,command";
            return Err(Error::usage("--forwarder means nothing without the driver `command`", help));
        }
        _ => {}
    }
    let (buffers, frame) = (settings.get(BUFFERS), settings.get(FRAME_SIZE));
    if buffers < 2 * frame {
        let message = format!("{buffers} buffers are less than two frames of {frame}");
        return Err(Error::usage(message, format!("give --buffers {} or more", 2 * frame)));
    }
    Ok(())
}
