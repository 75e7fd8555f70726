//! `forward`: a forwarder between interfaces of this machine, or the search for the highest rate of what forwards.

use std::path::Path;

use dataplane_experiments::frame_size;
use experiment::{About, Error, Example, Experiment, Kind, Request, Setting, Settings, Sink, World, WorldAbout};

use crate::config::Config;
use crate::{find_rate, supervise};

/// Forwards packets between interfaces of this machine.
pub struct Forward;

const SETTINGS: &[Setting] = &[
    Setting::new("config", Kind::InputFile, "Configuration: interfaces, neighbours, routes."),
    Setting::new(
        "seconds",
        Kind::Number { min: 0, max: u64::MAX },
        "Seconds after which it stops; without it, at the end of the commands or never.",
    )
    .unit("s"),
    Setting::new(
        "prompt",
        Kind::Switch,
        "Read commands (show runtime, show interface, ...) from standard input; its end stops the forwarder.",
    ),
    Setting::new(
        "exec",
        Kind::InputFile,
        "Run the commands in a file, one per line, before the first packet: `trace add`, `run ROUNDS`, `show trace`. A line \
         that starts with # is a remark.",
    ),
    Setting::new("busy", Kind::Switch, "Poll without ever sleeping."),
    Setting::new(
        "find-rate",
        Kind::Switch,
        "Search for the highest rate without loss, and measure latency, over interfaces in network namespaces that this makes \
         (Linux, root; needs `ip`).",
    ),
    Setting::new("windows", Kind::Number { min: 1, max: 10_000 }, "With --find-rate: windows of full load.").or("10"),
    Setting::new("window", Kind::Number { min: 1, max: 600_000 }, "With --find-rate: length of a window, and of a trial.")
        .unit("ms")
        .or("1000"),
    Setting::new(
        "frame-size",
        Kind::Checked(frame_size, "N"),
        "With --find-rate: packets of a frame: 64, 128, 256, 512 or 1024.",
    )
    .or("256"),
    Setting::new(
        "buffers",
        Kind::Number { min: 128, max: 1 << 22 },
        "With --find-rate: buffers of a worker; at least those of two frames.",
    )
    .or("16384"),
    Setting::new("routes", Kind::Number { min: 1, max: 65_536 }, "With --find-rate: routes.").or("1000"),
    Setting::new("flows", Kind::Number { min: 1, max: 1_000_000 }, "With --find-rate: flows.").or("1"),
    Setting::new("no-checksum", Kind::Switch, "With --find-rate: do not verify header checksums."),
    Setting::new(
        "workers",
        Kind::Number { min: 1, max: 32 },
        "With --find-rate: threads that forward, on processors 1, 2, ...",
    )
    .or("1"),
    Setting::new(
        "drivers",
        Kind::Checked(driver_names, "LIST"),
        "With --find-rate: what forwards, one after the other: kernel (its own forwarding), or our graph through packet \
         (packet sockets, TPACKET_V3), af-xdp, tap; or command, the program of --forwarder.",
    )
    .or("packet"),
    Setting::new(
        "forwarder",
        Kind::Checked(command_line, "COMMAND"),
        "With --find-rate: a program of yours as the driver `command`. It runs between the interfaces in0 and out0, and sends what comes in \
         on one to 02:fe:00:00:00:bb on the other.",
    ),
    Setting::new("loss", Kind::Checked(percent, "PERCENT"), "With --find-rate: loss that the partial drop rate allows.")
        .unit("%")
        .or("0.5"),
    Setting::new(
        "precision",
        Kind::Checked(percent, "PERCENT"),
        "With --find-rate: width between the bounds, of the upper one.",
    )
    .unit("%")
    .or("1"),
    Setting::new(
        "trials",
        Kind::Number { min: 1, max: 99 },
        "With --find-rate: most trials of a load, of which the majority counts.",
    )
    .or("3"),
];

/// The settings that mean something with `--find-rate` alone, and those that mean nothing with it.
const SEARCH: [&str; 13] = [
    "windows",
    "window",
    "frame-size",
    "buffers",
    "routes",
    "flows",
    "no-checksum",
    "workers",
    "drivers",
    "forwarder",
    "loss",
    "precision",
    "trials",
];
const NOT_SEARCH: [&str; 5] = ["config", "seconds", "prompt", "exec", "busy"];

static ABOUT: About = About {
    name: "forward",
    summary: "Forward packets between interfaces of this machine, or find the highest rate",
    details: "docs/forwarder.md has a configuration. Interfaces of this machine need the right to open packet sockets (root); capture \
              files need nothing.",
    worlds: &[WorldAbout { world: World::Host, about: "interfaces and capture files of this machine", needs: &[] }],
    settings: SETTINGS,
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

fn driver_names(text: &str) -> Result<(), String> {
    find_rate::drivers(text).map(|_| ())
}

fn command_line(text: &str) -> Result<(), String> {
    if text.trim().is_empty() {
        Err("an empty command: give a program and its arguments, in quotes".to_owned())
    } else {
        Ok(())
    }
}

fn percent(text: &str) -> Result<(), String> {
    find_rate::share(text).map(|_| ())
}

impl Experiment for Forward {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn check(&self, request: &Request<'_>) -> Result<(), Error> {
        let settings = &request.settings;
        let searches = settings.switch("find-rate");
        let (wrong, help) = match searches {
            true => (&NOT_SEARCH[..], "--find-rate makes interfaces and a configuration of its own; leave it out"),
            false => (&SEARCH[..], "give --find-rate, too"),
        };
        if let Some(name) = wrong.iter().find(|name| settings.is_given(name)) {
            return Err(Error::usage(format!("--{name} means nothing here"), help));
        }
        if searches {
            return check_search(settings);
        }
        Config::read(config(settings)?)?;
        Ok(())
    }

    fn run(&self, request: &Request<'_>, sink: &mut dyn Sink) -> Result<(), Error> {
        let settings = &request.settings;
        match settings.switch("find-rate") {
            true => find_rate::run(ABOUT.name, settings, sink),
            false => supervise::run(ABOUT.name, config(settings)?, settings, sink),
        }
    }
}

fn config(settings: &Settings) -> Result<&Path, Error> {
    let given = settings.text("config").map(Path::new);
    given.ok_or_else(|| {
        Error::usage("a forwarder needs a configuration", "give --config FILE; docs/forwarder.md has one")
    })
}

fn check_search(settings: &Settings) -> Result<(), Error> {
    let has_driver = settings.text("drivers").is_some_and(|list| list.split(',').any(|word| word.trim() == "command"));
    match (has_driver, settings.is_given("forwarder")) {
        (true, false) => {
            return Err(Error::usage("driver `command` has no command", "give --forwarder COMMAND, too"));
        }
        (false, true) => {
            let help = "name it among the drivers: --drivers packet,command";
            return Err(Error::usage("--forwarder means nothing without the driver `command`", help));
        }
        _ => {}
    }
    let [buffers, frame] = ["buffers", "frame-size"].map(|name| settings.number(name));
    if buffers < 2 * frame {
        let message = format!("{buffers} buffers are less than two frames of {frame}");
        return Err(Error::usage(message, format!("give --buffers {} or more", 2 * frame)));
    }
    Ok(())
}
