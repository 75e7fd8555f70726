//! `dataplane`: a graph of packet nodes at full load on this machine.

#[cfg(target_os = "linux")]
use crate::events::Events;
use crate::graphs::{self, Counted, GraphKind, Load};
use crate::{frame_size, host_header, results};
use dataplane::buffers::Reuse;
use dataplane::graph::Graph;
use dataplane::plane::Settings;
use dataplane::show;
use dataplane::walk::{Shape, Strides};
use experiment::{About, Error, Example, Experiment, Kind, Request, Setting, Sink, World, WorldAbout};
use recording::{Picture, PictureKind, facts, metrics};
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
    Setting::new("windows", Kind::Number { min: 1, max: 10_000 }, "Windows of load.").or("10"),
    Setting::new("window", Kind::Number { min: 1, max: 600_000 }, "Length of a window.").unit("ms").or("1000"),
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
    Setting::new("buffers", Kind::Number { min: 128, max: 1 << 22 }, "Buffers; at least those of two frames.")
        .or("16384"),
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
];

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
    ],
    sweep_defaults: &[("windows", "3"), ("window", "200"), ("counters", "none")],
    shipped_sweeps: &[],
};

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
        header.set_facts(&facts::Loaded {
            graph: kind.name().to_owned(),
            frame_size: load.settings.frame_size as u64,
            shape: shape.name().to_owned(),
            strides: format!("{}/{}", strides.header, strides.data),
            buffers: load.buffers as u64,
            reuse: if load.reuse == Reuse::Hot { "hot" } else { "cycle" }.to_owned(),
            routes: load.routes.into(),
            outputs: load.outputs as u64,
            flows: load.flows.into(),
            workers: graphs.len() as u64,
            checksum: load.settings.verify_checksum,
            driver: "memory of this process".to_owned(),
            trace: (trace > 0).then(|| show::trace(&[graphs[0].report()], 50)),
        });
        header.pictures.push(Picture {
            title: "Clocks per packet, by node".to_owned(),
            metric: metrics::CLOCKS_PER_PACKET.name.to_owned(),
            case: Some(results::LOADED_CASE.to_owned()),
            kind: PictureKind::StackedBars,
        });
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
