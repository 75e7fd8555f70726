//! `dataplane`: a graph of packet nodes at full load on this machine.

#[cfg(target_os = "linux")]
use crate::events::Events;
use crate::graphs::{self, Counted, GraphKind, Load};
#[cfg(target_os = "linux")]
use crate::rates::bench::{Driver, Plan};
#[cfg(target_os = "linux")]
use crate::rates::find::{LOADS, Search, find};
#[cfg(target_os = "linux")]
use crate::rates::search::Precision;
use crate::{frame_size, host_header, results};
use dataplane::buffers::Reuse;
use dataplane::graph::Graph;
use dataplane::plane::Settings;
use dataplane::show;
use dataplane::walk::{Shape, Strides};
use experiment::{About, Error, Example, Experiment, Kind, Request, Setting, Sink, World, WorldAbout};
use recording::{Picture, PictureKind, metrics};
use std::time::Duration;

/// Loads a graph and measures what each node takes.
pub struct Dataplane;

const SETTINGS: &[Setting] = &[
    Setting::new(
        "graph",
        Kind::Choice(&[
            ("l2-xconnect", "an L2 cross connect of two interfaces"),
            ("ip4-route", "IPv4 routing, three nodes"),
            ("ip4-fused", "IPv4 routing in one loop"),
        ]),
        "Graph.",
    )
    .or("ip4-route"),
    Setting::new("windows", Kind::Number { min: 1, max: 10_000 }, "Windows of load; with --find-rate, of full load.")
        .or("10"),
    Setting::new("window", Kind::Number { min: 1, max: 600_000 }, "Length of a window; with --find-rate, of a trial.")
        .unit("ms")
        .or("1000"),
    Setting::new("frame-size", Kind::Checked(frame_size, "N"), "Packets of a frame: 64, 128, 256, 512 or 1024.")
        .or("256"),
    Setting::new(
        "loop",
        Kind::Choice(&[
            ("single", "a packet per turn"),
            ("dual", "two packets per turn"),
            ("quad", "four packets per turn"),
        ]),
        "Shape of the nodes' loops.",
    )
    .or("quad"),
    Setting::new(
        "strides",
        Kind::Checked(strides, "S1[/S2]"),
        "Prefetch strides of the first node that reads packets, as 4 or 2/13; 0 is none.",
    )
    .or("0"),
    Setting::new("buffers", Kind::Number { min: 128, max: 1 << 22 }, "Buffers; at least those of two frames.").or("16384"),
    Setting::new("hot", Kind::Switch, "Hand out the buffer freed last, rather than cycle through all."),
    Setting::new("routes", Kind::Number { min: 1, max: 65_536 }, "Routes of the IPv4 graphs.").or("1000"),
    Setting::new(
        "outputs",
        Kind::Number { min: 1, max: 16 },
        "Interfaces to which the routes of the IPv4 graphs lead in turn: with many flows, packets of a frame part.",
    )
    .or("1"),
    Setting::new("flows", Kind::Number { min: 1, max: 1_000_000 }, "Flows.").or("1"),
    Setting::new("no-checksum", Kind::Switch, "Do not verify header checksums."),
    Setting::new(
        "workers",
        Kind::Number { min: 1, max: 32 },
        "Threads, each with a generator and a graph of its own over the same routes, on processors 0, 1, ...",
    )
    .or("1"),
    Setting::new("trace", Kind::Number { min: 0, max: 10_000 }, "Follow this many packets through the graph.").or("0"),
    Setting::new(
        "counters",
        Kind::Choice(&[
            ("hardware", "cycles, instructions, L1 and LLC misses, where the machine counts them"),
            ("software", "the kernel's: task clock, page faults, context switches, migrations"),
            ("none", "no events"),
        ]),
        "Events for each packet and node, counted by perf_event in a window of their own (Linux).",
    )
    .or("hardware"),
    Setting::new(
        "find-rate",
        Kind::Switch,
        "Search for the highest rate without loss, and measure latency, over interfaces in network namespaces that this makes \
         (Linux, root; needs `ip`).",
    ),
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
const OF_SEARCH: [&str; 5] = ["drivers", "forwarder", "loss", "precision", "trials"];
const NOT_OF_SEARCH: [&str; 7] = ["graph", "loop", "strides", "hot", "outputs", "trace", "counters"];

static ABOUT: About = About {
    name: "dataplane",
    summary: "A graph of packet nodes at full load on this machine",
    details: "",
    worlds: &[WorldAbout { world: World::Host, about: "real packets, the machine's own clock", needs: &[] }],
    settings: SETTINGS,
    cases: &["l2-xconnect", "ip4-route", "ip4-fused"],
    examples: &[
        Example { arguments: "--graph ip4-route", about: "clocks per packet of each node" },
        Example { arguments: "--graph ip4-route --frame-size 64 --loop single", about: "" },
        Example {
            arguments: "--find-rate --drivers kernel,packet,af-xdp,tap",
            about: "highest rate without loss, and latency (root)",
        },
    ],
    sweep_defaults: &[("windows", "3"), ("window", "200"), ("counters", "none")],
    shipped_sweeps: &[],
};

fn driver_names(text: &str) -> Result<(), String> {
    drivers(text).map(|_| ())
}

fn command_line(text: &str) -> Result<(), String> {
    if text.trim().is_empty() {
        Err("an empty command: give a program and its arguments, in quotes".to_owned())
    } else {
        Ok(())
    }
}

fn percent(text: &str) -> Result<(), String> {
    share(text).map(|_| ())
}

/// A percentage as a share.
fn share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|percent| (0.01..=50.0).contains(percent)).map(|percent: f64| percent / 100.0);
    share.ok_or_else(|| format!("`{text}` is no percentage from 0.01 to 50"))
}

fn strides(text: &str) -> Result<(), String> {
    parse_strides(text).map(|_| ())
}

/// `4` or `2/13`.
fn parse_strides(text: &str) -> Result<Strides, String> {
    let number = |text: &str| {
        let stride = text.parse::<usize>().ok().filter(|stride| *stride <= 64);
        stride.ok_or_else(|| format!("`{text}` is no stride: a whole number up to 64, or two as in 2/13"))
    };
    match text.split_once('/') {
        Some((header, data)) => Ok(Strides { header: number(header)?, data: number(data)? }),
        None => number(text).map(Strides::both),
    }
}

impl Experiment for Dataplane {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn check(&self, request: &Request<'_>) -> Result<(), Error> {
        let settings = &request.settings;
        let searches = settings.switch("find-rate");
        let (wrong, help) = match searches {
            true => (&NOT_OF_SEARCH[..], "--find-rate forwards through the standard graph; leave it out"),
            false => (&OF_SEARCH[..], "give --find-rate, too"),
        };
        if let Some(name) = wrong.iter().find(|name| settings.is_given(name)) {
            return Err(Error::usage(format!("--{name} means nothing here"), help));
        }
        let has_driver =
            settings.text("drivers").is_some_and(|list| list.split(',').any(|word| word.trim() == "command"));
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
        match buffers < 2 * frame {
            true => {
                let message = format!("{buffers} buffers are less than two frames of {frame}");
                Err(Error::usage(message, format!("give --buffers {} or more", 2 * frame)))
            }
            false => Ok(()),
        }
    }

    fn run(&self, request: &Request<'_>, sink: &mut dyn Sink) -> Result<(), Error> {
        let settings = &request.settings;
        if settings.switch("find-rate") {
            return search(settings, sink);
        }
        let text = |name: &str| settings.text(name).unwrap_or_default();
        let wrong = |message: String| Error::Usage { message, help: None };
        let kind: GraphKind = text("graph").parse().map_err(wrong)?;
        let shape: Shape = text("loop").parse().map_err(wrong)?;
        let strides = parse_strides(text("strides")).map_err(wrong)?;
        let load = Load {
            kind,
            settings: Settings {
                shape,
                strides,
                frame_size: settings.number("frame-size") as usize,
                verify_checksum: !settings.switch("no-checksum"),
            },
            buffers: settings.number("buffers") as usize,
            reuse: if settings.switch("hot") { Reuse::Hot } else { Reuse::Cycle },
            routes: settings.number("routes") as u32,
            outputs: settings.number("outputs") as u16,
            flows: settings.number("flows") as u32,
        };
        if kind == GraphKind::L2CrossConnect && load.outputs > 1 {
            return Err(wrong("--outputs is of routes, which l2-xconnect has not".to_owned()));
        }
        let windows = settings.number("windows");
        let progress = sink.progress();
        progress.expect(windows, "windows");

        let mut graphs = graphs::graphs(load, settings.number("workers") as usize);
        let trace = settings.number("trace") as usize;
        if trace > 0 {
            graphs[0].tracer.add("pg-input", trace);
        }
        let next = || {
            progress.step();
            progress.check().is_ok()
        };
        let loaded = graphs::run(&mut graphs, windows as usize, Duration::from_millis(settings.number("window")), next);
        progress.check()?;
        let (counted, no_counters) =
            count(&mut graphs, text("counters"), Duration::from_millis(settings.number("window")));
        if let Some(wrong) = loaded.balances.iter().find(|balance| !balance.holds()) {
            return Err(Error::Failed(format!("packets do not add up: {wrong:?}")));
        }

        let mut header = host_header(ABOUT.name, windows as u32);
        for (key, value) in [
            ("graph", kind.name().to_owned()),
            ("frame_size", load.settings.frame_size.to_string()),
            ("loop", shape.name().to_owned()),
            ("strides", format!("{}/{}", strides.header, strides.data)),
            ("buffers", load.buffers.to_string()),
            ("reuse", if load.reuse == Reuse::Hot { "hot" } else { "cycle" }.to_owned()),
            ("routes", load.routes.to_string()),
            ("outputs", load.outputs.to_string()),
            ("flows", load.flows.to_string()),
            ("workers", graphs.len().to_string()),
            ("checksum", load.settings.verify_checksum.to_string()),
            ("driver", "memory of this process".to_owned()),
        ] {
            header.settings.insert(key.to_owned(), value);
        }
        header.pictures.push(Picture {
            title: "Clocks per packet, by node".to_owned(),
            metric: metrics::CLOCKS_PER_PACKET.name.to_owned(),
            case: Some(results::LOADED_CASE.to_owned()),
            kind: PictureKind::StackedBars,
        });
        if trace > 0 {
            header.texts.insert("trace".to_owned(), show::trace(&[graphs[0].report()], 50));
        }
        header.notes.extend(no_counters);
        let recording = results::graph(header, kind, &loaded, counted.as_ref());
        sink.start(recording.header.clone())?;
        sink.append(&recording)
    }
}

/// Events of nodes, or a line that says why there are none.
#[cfg(target_os = "linux")]
fn count(graphs: &mut [Graph], which: &str, length: Duration) -> (Option<Counted>, Option<String>) {
    let events = match which {
        "hardware" => Events::Hardware,
        "software" => Events::Software,
        _ => return (None, None),
    };
    match graphs::count(graphs, events, length) {
        Ok(counted) => (Some(counted), None),
        Err(why) => (None, Some(format!("No {which} events per packet: this machine counts none ({why})."))),
    }
}

#[cfg(not(target_os = "linux"))]
fn count(_graphs: &mut [Graph], which: &str, _length: Duration) -> (Option<Counted>, Option<String>) {
    let why = (which != "none").then(|| "No events per packet: they are counted on Linux alone.".to_owned());
    (None, why)
}

#[cfg(target_os = "linux")]
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

#[cfg(not(target_os = "linux"))]
fn drivers(_text: &str) -> Result<(), String> {
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn search(_settings: &experiment::Settings, _sink: &mut dyn Sink) -> Result<(), Error> {
    Err(Error::usage("--find-rate needs network namespaces, which Linux alone has", "run it on Linux"))
}

/// `--find-rate`.
#[cfg(target_os = "linux")]
fn search(settings: &experiment::Settings, sink: &mut dyn Sink) -> Result<(), Error> {
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
    let mut header = host_header(ABOUT.name, search.windows as u32);
    for (key, value) in [
        ("graph", GraphKind::Ip4Route.name().to_owned()),
        ("find_rate", "true".to_owned()),
        ("drivers", text("drivers").to_owned()),
        ("loss", text("loss").to_owned()),
        ("trials", text("trials").to_owned()),
        ("window", text("window").to_owned()),
        ("loads", LOADS.map(|load| load.to_string()).join(",")),
        ("frame_size", plan.frame_size.to_string()),
        ("buffers", plan.buffers.to_string()),
        ("routes", plan.routes.to_string()),
        ("flows", plan.flows.to_string()),
        ("workers", plan.workers.to_string()),
        ("checksum", plan.verify_checksum.to_string()),
    ] {
        header.settings.insert(key.to_owned(), value);
    }
    for found in &found {
        header.settings.insert(format!("driver_{}", found.driver.name()), found.hardware.clone());
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
