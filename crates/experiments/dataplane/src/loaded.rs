//! `dataplane`: a graph of packet nodes at full load on this machine.

use crate::events::Events;
use crate::graphs::{Asked, GraphAsked, GraphKind, Load};
use crate::{FRAME_SIZE, host_header, parse_strides, results};
use dataplane::buffers::Reuse;
use dataplane::inputs::Arrivals;
use dataplane::plane::Settings;
use dataplane::walk::{Shape, Strides};
use experiment::setting::{CheckedSetting, Choice, InputFile, Number, Or, Switch};
use experiment::{About, Error, Experiment, Observer, Request, Result, Settings as Given, World};
use recording::Recording;
use std::path::PathBuf;
use std::time::Duration;

/// Loads a graph and measures what each node takes.
pub struct Dataplane;

/// `ip4-route`, or a file.
fn graph_asked(text: &str) -> Result<GraphAsked, String> {
    match GraphKind::ALL.into_iter().find(|kind| kind.name() == text) {
        Some(kind) => Ok(GraphAsked::Ours(kind)),
        None if text.ends_with(".toml") => Ok(GraphAsked::File(text.into())),
        None => Err(format!(
            "one of {}, or a file FILE.toml",
            GraphKind::ALL.map(GraphKind::name).join(", ")
        )),
    }
}

const GRAPH: Or<CheckedSetting<GraphAsked>> = CheckedSetting::new(
    "graph",
    "WHICH|FILE.toml",
    graph_asked,
    "Graph: l2-xconnect, an L2 cross connect of two interfaces; ip4-route, IPv4 routing in three nodes; \
     or a file with a graph of your own (docs/own-graph.md).",
)
.or(GraphKind::Ip4Route.name());

const NODES: CheckedSetting<Vec<PathBuf>> = CheckedSetting::new(
    "nodes",
    "FILE.so[,FILE.so]",
    |text| {
        Ok(text
            .split(',')
            .filter(|part| !part.is_empty())
            .map(PathBuf::from)
            .collect())
    },
    "Shared objects with nodes for a graph of your own: see stopwatt_node.h.",
);

const PATIENCE: Or<Number<u64>> = Number::new(
    "patience",
    1..=3600,
    "The longest that nodes of shared objects may take beyond a window.",
)
.unit("s")
.or(30);

const WINDOWS: Or<Number<u32>> = Number::new("windows", 1..=10_000, "Windows of load.").or(10);

const WINDOW: Or<Number> = Number::new("window", 1..=600_000, "Length of a window.")
    .unit("ms")
    .or(200);

const LOOP: Or<Choice<Shape>> = Choice::new(
    "loop",
    &[
        ("single", Shape::Single, "a packet per turn"),
        ("dual", Shape::Dual, "two packets per turn"),
        ("quad", Shape::Quad, "four packets per turn"),
    ],
    "Shape of the nodes' loops.",
)
.or(Shape::Quad);

const STRIDES: Or<CheckedSetting<Strides>> = CheckedSetting::new(
    "strides",
    "S1[/S2]",
    strides,
    "Prefetch strides of the first node that reads packets, as 4 or 2/13; 0 is none.",
)
.or("0");

const BUFFERS: Or<Number<usize>> = Number::new(
    "buffers",
    128..=1 << 22,
    "Buffers; at least those of two frames.",
)
.or(16_384);

const HOT: Switch = Switch::new(
    "hot",
    "Hand out the buffer freed last, rather than cycle through all.",
);

const ROUTES: Or<Number<u32>> =
    Number::new("routes", 1..=65_536, "Routes of the IPv4 graphs.").or(1000);

const OUTPUTS: Or<Number<u16>> = Number::new(
    "outputs",
    1..=16,
    "Interfaces to which the routes of the IPv4 graphs lead in turn: with many flows, packets of a frame part.",
)
.or(1);

const FLOWS: Or<Number<u32>> = Number::new("flows", 1..=1_000_000, "Flows.").or(1);

const NO_CHECKSUM: Switch = Switch::new("no-checksum", "Do not verify header checksums.");

const WORKERS: Or<Number<usize>> = Number::new(
    "workers",
    1..=32,
    "Threads, each with a generator and a graph of its own over the same routes, on processors 0, 1, ...",
)
.or(1);

const RATE: Number = Number::new(
    "rate",
    1..=1_000_000_000,
    "Packets a second that come to each worker's device, whoever takes them [default: as many as the graph can take].",
)
.unit("packets/s");

const RING: Or<Number> = Number::new(
    "ring",
    1..=1 << 20,
    "Packets that the device holds until the graph takes them; more are lost. It means something with --rate.",
)
.or(1024);

const RECEIVE: InputFile = InputFile::new(
    "receive",
    "Take the packets of a capture file (pcap) again and again, in place of generated ones.",
);

const TRACE: Or<Number<usize>> = Number::new(
    "trace",
    0..=10_000,
    "Follow this many packets through the graph.",
)
.or(0);

const COUNTERS: Or<Choice<Option<Events>>> = Choice::new(
    "counters",
    &[
        (
            "hardware",
            Some(Events::Hardware),
            "cycles, instructions, L1 and LLC misses, where the machine counts them",
        ),
        (
            "software",
            Some(Events::Software),
            "the kernel's: task clock, page faults, context switches, migrations",
        ),
        ("none", None, "no events"),
    ],
    "Events for each packet and node, counted by perf_event in a window of their own (Linux).",
)
.or(Some(Events::Hardware));

static ABOUT: About = About {
    name: "dataplane",
    summary: "A graph of packet nodes at full load on this machine",
    worlds: &[(World::Host, "real packets, the machine's own clock")],
    settings: &[
        &GRAPH,
        &NODES,
        &PATIENCE,
        &WINDOWS,
        &WINDOW,
        &FRAME_SIZE,
        &LOOP,
        &STRIDES,
        &BUFFERS,
        &HOT,
        &ROUTES,
        &OUTPUTS,
        &FLOWS,
        &NO_CHECKSUM,
        &WORKERS,
        &RATE,
        &RING,
        &RECEIVE,
        &TRACE,
        &COUNTERS,
    ],
    cases: &["l2-xconnect", "ip4-route"],
    examples: &[
        ("--graph ip4-route", "clocks per packet of each node"),
        ("--graph ip4-route --frame-size 64 --loop single", ""),
        (
            "--graph ip4-route --rate 1000000",
            "vectors per call at a device's rate",
        ),
        (
            "--graph ip4-route --receive capture.pcap",
            "packets of a capture file",
        ),
        (
            "--graph acl.toml --nodes acl.so --trace 2 --all",
            "a graph of your own",
        ),
    ],
    sweep_defaults: &[(&WINDOWS, "3"), (&WINDOW, "200"), (&COUNTERS, "none")],
    ..About::BARE
};

/// `4` or `2/13`.
fn strides(text: &str) -> Result<Strides, String> {
    parse_strides(text, |text| {
        text.parse()
            .ok()
            .filter(|stride| *stride <= 64)
            .ok_or_else(|| {
                format!("`{text}` is no stride: a whole number up to 64, or two as in 2/13")
            })
    })
}

/// Says if there are too few buffers.
///
/// # Errors
/// They are less than those of two frames.
fn buffers_hold_frames(settings: &Given) -> Result {
    let (buffers, frame) = (settings.get(BUFFERS), settings.get(FRAME_SIZE));
    if buffers < 2 * frame {
        Err(Error::usage(
            format!("{buffers} buffers are less than two frames of {frame}"),
            format!("give --buffers {} or more", 2 * frame),
        ))
    } else {
        Ok(())
    }
}

/// Says if something is asked for that the graph has not.
fn check_graph(settings: &Given) -> Result {
    match settings.get(GRAPH) {
        GraphAsked::Ours(kind) if settings.is_given(&NODES) => {
            let ours = kind.name();
            Err(Error::usage(
                format!("--nodes is for a graph of your own, and {ours} is ours"),
                "name its file: --graph FILE.toml",
            ))
        }
        GraphAsked::Ours(GraphKind::L2CrossConnect) if settings.get(OUTPUTS) > 1 => {
            Err(Error::usage(
                "--outputs is of routes, which l2-xconnect has not",
                "--graph ip4-route",
            ))
        }
        _ => Ok(()),
    }
}

/// Says if packets of a capture file are asked for where they mean nothing.
fn check_received(settings: &Given) -> Result {
    if !settings.is_given(&RECEIVE) {
        return Ok(());
    }
    if matches!(settings.get(GRAPH), GraphAsked::File(_)) {
        return Err(Error::usage(
            "--receive is for a graph of ours",
            "a graph of your own names a capture file in its [packets]",
        ));
    }
    if settings.get(WORKERS) > 1 {
        Err(Error::usage(
            "--receive is for one worker",
            "leave --workers out",
        ))
    } else {
        Ok(())
    }
}

impl Experiment for Dataplane {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn check(&self, request: &Request<'_>) -> Result {
        let settings = &request.settings;
        if settings.is_given(&RING) && settings.get(RATE).is_none() {
            return Err(Error::usage(
                "--ring without --rate: packets come as fast as the graph takes them, so no ring fills",
                "add --rate, the packets a second that come",
            ));
        }
        buffers_hold_frames(settings)?;
        check_graph(settings)?;
        check_received(settings)
    }

    fn run(&self, request: &Request<'_>, observer: &Observer) -> Result<Recording> {
        let asked = asked(&request.settings);
        let ran = asked.run(&observer.progress)?;
        Ok(results::graph(
            host_header(ABOUT.name, asked.windows),
            &asked,
            &ran,
        ))
    }
}

/// Reads the settings.
fn asked(settings: &Given) -> Asked {
    let graph = settings.get(GRAPH);
    Asked {
        load: load_of(settings, &graph),
        graph,
        objects: settings.get(NODES).unwrap_or_default(),
        patience: Duration::from_secs(settings.get(PATIENCE)),
        receive: settings.get(RECEIVE),
        workers: settings.get(WORKERS),
        trace: settings.get(TRACE),
        windows: settings.get(WINDOWS),
        window: Duration::from_millis(settings.get(WINDOW)),
        events: settings.get(COUNTERS),
    }
}

/// The load that the settings describe; for a graph of a file its kind means nothing.
fn load_of(settings: &Given, graph: &GraphAsked) -> Load {
    Load {
        kind: if let GraphAsked::Ours(kind) = graph {
            *kind
        } else {
            GraphKind::Ip4Route
        },
        settings: Settings {
            shape: settings.get(LOOP),
            strides: settings.get(STRIDES),
            frame_size: settings.get(FRAME_SIZE),
            verify_checksum: !settings.get(NO_CHECKSUM),
        },
        buffers: settings.get(BUFFERS),
        reuse: if settings.get(HOT) {
            Reuse::Hot
        } else {
            Reuse::Cycle
        },
        routes: settings.get(ROUTES),
        outputs: settings.get(OUTPUTS),
        flows: settings.get(FLOWS),
        arrivals: settings.get(RATE).map(|rate| Arrivals {
            rate,
            ring: settings.get(RING),
        }),
    }
}
