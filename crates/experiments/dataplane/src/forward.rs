//! `forward`: a forwarder between interfaces of this machine.

mod config;

pub use config::{Config, ConfigError, InterfaceConfig, NeighbourConfig, RouteConfig};

use std::io::{self, BufRead, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use dataplane::graph::Graph;
use dataplane::show;
use experiment::{About, Error, Example, Experiment, Kind, Request, Setting, Sink, World, WorldAbout};
use recording::{Picture, PictureKind, metrics};

use crate::{host_header, results};

/// Forwards packets between interfaces of this machine.
pub struct Forward;

const SETTINGS: &[Setting] = &[
    Setting::new("config", Kind::InputFile, "Configuration: interfaces, neighbours, routes."),
    Setting::new(
        "seconds",
        Kind::Number { min: 0, max: u64::MAX },
        "Stop after so many seconds; without it, at the end of the commands or never.",
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
];

static ABOUT: About = About {
    name: "forward",
    summary: "Forward packets between interfaces of this machine",
    details: "docs/dataplane.md has a configuration. Interfaces of this machine need the right to open packet sockets (root); capture \
              files need nothing.",
    worlds: &[WorldAbout { world: World::Host, about: "interfaces and capture files of this machine", needs: &[] }],
    settings: SETTINGS,
    cases: &[],
    examples: &[Example { arguments: "--config forward.toml --prompt", about: "" }],
    sweep_defaults: &[],
    shipped_sweeps: &[],
};

impl From<ConfigError> for Error {
    fn from(wrong: ConfigError) -> Self {
        Self::Failed(wrong.to_string())
    }
}

impl Experiment for Forward {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn check(&self, request: &Request<'_>) -> Result<(), Error> {
        Config::read(config(request)?)?;
        Ok(())
    }

    fn run(&self, request: &Request<'_>, sink: &mut dyn Sink) -> Result<(), Error> {
        let (settings, path, progress) = (&request.settings, config(request)?, sink.progress());
        let mut graph = Config::read(path)?.graph()?;
        let mut header = host_header(ABOUT.name, 1);
        if let Some(script) = settings.text("exec") {
            let answers = execute(&mut graph, Path::new(script))?;
            header.texts.insert("exec".to_owned(), answers);
        }
        let commands = settings.switch("prompt").then(read_lines);
        let length = settings.number_if_given("seconds").map(Duration::from_secs);
        // Whoever stops a forwarder wants to see what it did.
        forward(&mut graph, length, settings.switch("busy"), commands, || progress.check().is_ok());
        if length.is_some() && progress.check().is_err() {
            header.notes.push("Cut short: a signal stopped the forwarder before its time was over.".to_owned());
        }
        let balance = graph.balance();
        if !balance.holds() {
            header.complaints.push(format!("packets do not add up: {balance:?}"));
        }
        header.settings.insert("config".to_owned(), path.display().to_string());
        header.pictures.push(Picture {
            title: "Clocks per packet, by node".to_owned(),
            metric: metrics::CLOCKS_PER_PACKET.name.to_owned(),
            case: Some(ABOUT.name.to_owned()),
            kind: PictureKind::StackedBars,
        });
        let name = path.file_stem().map_or_else(|| ABOUT.name.into(), |stem| stem.to_string_lossy());
        let recording = results::forwarder(header, &name, &graph);
        sink.start(recording.header.clone())?;
        sink.append(&recording)
    }
}

fn config<'r>(request: &'r Request<'_>) -> Result<&'r Path, Error> {
    let given = request.settings.text("config").map(Path::new);
    given.ok_or_else(|| {
        Error::usage("a forwarder needs a configuration", "give --config FILE; docs/dataplane.md has one")
    })
}

/// Runs a script's commands and returns their answers; a wrong one ends it.
fn execute(graph: &mut Graph, script: &Path) -> Result<String, ConfigError> {
    let mut answers = String::new();
    let text = disk::text(script).map_err(ConfigError::io(script))?;
    for (number, line) in text.lines().enumerate() {
        if line.trim().is_empty() || line.trim_start().starts_with('#') {
            continue;
        }
        let answer = show::command(graph, line)
            .map_err(|message| ConfigError::data(script, format!("line {}: {message}", number + 1)))?;
        answers.push_str(&answer);
    }
    Ok(answers)
}

/// Prints an answer. Whoever asked may have gone, which is no reason to stop forwarding.
fn say(answer: &str) {
    let mut out = io::stdout().lock();
    let _ = out.write_all(answer.as_bytes()).and_then(|()| out.flush());
}

/// Lines of standard input, from a thread of their own.
fn read_lines() -> Receiver<String> {
    let (lines, received) = channel();
    std::thread::spawn(move || {
        for line in io::stdin().lock().lines() {
            let Ok(line) = line else { break };
            if lines.send(line).is_err() {
                break;
            }
        }
    });
    received
}

/// Runs the graph, and commands between its rounds, for as long as `goes_on` says.
fn forward(
    graph: &mut Graph,
    length: Option<Duration>,
    busy: bool,
    commands: Option<Receiver<String>>,
    goes_on: impl Fn() -> bool,
) {
    use std::sync::mpsc::TryRecvError;
    /// Empty rounds after which the forwarder sleeps a little.
    const PATIENCE: u32 = 64;
    const NAP: Duration = Duration::from_micros(50);
    let start = Instant::now();
    let mut idle = 0;
    let mut rounds = 0_u32;
    loop {
        if graph.is_done() && commands.is_none() {
            // Capture files alone, and they are at their end.
            return;
        }
        idle = if graph.run_once() == 0 { idle + 1 } else { 0 };
        rounds = rounds.wrapping_add(1);
        if idle >= PATIENCE && !busy {
            std::thread::sleep(NAP);
        }
        if idle == 0 && !rounds.is_multiple_of(64) {
            continue;
        }
        if length.is_some_and(|length| start.elapsed() >= length) || !goes_on() {
            return;
        }
        match commands.as_ref().map(Receiver::try_recv) {
            Some(Ok(line)) => {
                let answer = show::command(graph, &line).unwrap_or_else(|message| format!("{message}\n"));
                say(&answer);
            }
            // Commands that are at an end stop a forwarder that was given no time.
            Some(Err(TryRecvError::Disconnected)) if length.is_none() => return,
            _ => {}
        }
    }
}
