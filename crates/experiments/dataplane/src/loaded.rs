//! `dataplane`: a graph of packet nodes at full load on this machine.

#[cfg(target_os = "linux")]
use crate::events::Events;
use crate::graphs::{self, Counted, GraphKind, Load};
use crate::{FRAME_SIZE, host_header, results};
use dataplane::buffers::Reuse;
use dataplane::graph::Graph;
use dataplane::plane::Settings;
use dataplane::show;
use dataplane::walk::{Shape, Strides};
use experiment::setting::{Checked, Choice, Number, Or, Switch};
use experiment::{About, Error, Example, Experiment, Request, Sink, World, WorldAbout};
use recording::{Picture, PictureKind, facts, metrics};
use std::time::Duration;

/// Loads a graph and measures what each node takes.
pub struct Dataplane;

const GRAPH: Or<Choice<GraphKind>> = Choice::new(
    "graph",
    &[
        ("l2-xconnect", GraphKind::L2CrossConnect, "an L2 cross connect of two interfaces"),
        ("ip4-route", GraphKind::Ip4Route, "IPv4 routing, three nodes"),
        ("ip4-fused", GraphKind::Ip4Fused, "IPv4 routing in one loop"),
    ],
    "Graph.",
)
.or(GraphKind::Ip4Route);

const WINDOWS: Or<Number<u32>> = Number::new("windows", 1..=10_000, "Windows of load.").or(10);

const WINDOW: Or<Number> = Number::new("window", 1..=600_000, "Length of a window.").unit("ms").or(1000);

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

const STRIDES: Or<Checked<Strides>> = Checked::new(
    "strides",
    "S1[/S2]",
    strides,
    "Prefetch strides of the first node that reads packets, as 4 or 2/13; 0 is none.",
)
.or((|| Strides::both(0), |_| "0".to_owned()));

const BUFFERS: Or<Number<usize>> =
    Number::new("buffers", 128..=1 << 22, "Buffers; at least those of two frames.").or(16_384);

const HOT: Switch = Switch::new("hot", "Hand out the buffer freed last, rather than cycle through all.");

const ROUTES: Or<Number<u32>> = Number::new("routes", 1..=65_536, "Routes of the IPv4 graphs.").or(1000);

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

const TRACE: Or<Number<usize>> = Number::new("trace", 0..=10_000, "Follow this many packets through the graph.").or(0);

/// The events that are counted for each packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Counting {
    Hardware,
    Software,
    Nothing,
}

const COUNTERS: Or<Choice<Counting>> = Choice::new(
    "counters",
    &[
        ("hardware", Counting::Hardware, "cycles, instructions, L1 and LLC misses, where the machine counts them"),
        ("software", Counting::Software, "the kernel's: task clock, page faults, context switches, migrations"),
        ("none", Counting::Nothing, "no events"),
    ],
    "Events for each packet and node, counted by perf_event in a window of their own (Linux).",
)
.or(Counting::Hardware);

static ABOUT: About = About {
    name: "dataplane",
    summary: "A graph of packet nodes at full load on this machine",
    details: "",
    worlds: &[WorldAbout { world: World::Host, about: "real packets, the machine's own clock", needs: &[] }],
    settings: &[
        &GRAPH,
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
        &TRACE,
        &COUNTERS,
    ],
    cases: &["l2-xconnect", "ip4-route", "ip4-fused"],
    examples: &[
        Example { arguments: "--graph ip4-route", about: "clocks per packet of each node" },
        Example { arguments: "--graph ip4-route --frame-size 64 --loop single", about: "" },
    ],
    sweep_defaults: &[(&WINDOWS, "3"), (&WINDOW, "200"), (&COUNTERS, "none")],
    shipped_sweeps: &[],
};

/// `4` or `2/13`.
fn strides(text: &str) -> Result<Strides, String> {
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
        let (buffers, frame) = (settings.get(BUFFERS), settings.get(FRAME_SIZE));
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
        let (kind, shape, strides) = (settings.get(GRAPH), settings.get(LOOP), settings.get(STRIDES));
        let load = Load {
            kind,
            settings: Settings {
                shape,
                strides,
                frame_size: settings.get(FRAME_SIZE),
                verify_checksum: !settings.get(NO_CHECKSUM),
            },
            buffers: settings.get(BUFFERS),
            reuse: if settings.get(HOT) { Reuse::Hot } else { Reuse::Cycle },
            routes: settings.get(ROUTES),
            outputs: settings.get(OUTPUTS),
            flows: settings.get(FLOWS),
        };
        if kind == GraphKind::L2CrossConnect && load.outputs > 1 {
            let message = "--outputs is of routes, which l2-xconnect has not".to_owned();
            return Err(Error::Usage { message, help: None });
        }
        let (windows, window) = (settings.get(WINDOWS), Duration::from_millis(settings.get(WINDOW)));
        let progress = sink.progress();
        progress.expect(windows.into(), "windows");

        let mut graphs = graphs::graphs(load, settings.get(WORKERS));
        let trace = settings.get(TRACE);
        if trace > 0 {
            graphs[0].tracer.add("pg-input", trace);
        }
        let next = || {
            progress.step();
            progress.check().is_ok()
        };
        let loaded = graphs::run(&mut graphs, windows as usize, window, next);
        progress.check()?;
        let (counted, no_counters) = count(&mut graphs, settings.get(COUNTERS), window);
        if let Some(wrong) = loaded.balances.iter().find(|balance| !balance.holds()) {
            return Err(Error::Failed(format!("packets do not add up: {wrong:?}")));
        }

        let mut header = host_header(ABOUT.name, windows);
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
fn count(graphs: &mut [Graph], counting: Counting, length: Duration) -> (Option<Counted>, Option<String>) {
    let (events, which) = match counting {
        Counting::Hardware => (Events::Hardware, "hardware"),
        Counting::Software => (Events::Software, "software"),
        Counting::Nothing => return (None, None),
    };
    match graphs::count(graphs, events, length) {
        Ok(counted) => (Some(counted), None),
        Err(why) => (None, Some(format!("No {which} events per packet: this machine counts none ({why})."))),
    }
}

#[cfg(not(target_os = "linux"))]
fn count(_graphs: &mut [Graph], counting: Counting, _length: Duration) -> (Option<Counted>, Option<String>) {
    let why =
        (counting != Counting::Nothing).then(|| "No events per packet: they are counted on Linux alone.".to_owned());
    (None, why)
}
