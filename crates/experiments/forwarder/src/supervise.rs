//! A forwarder that runs: its workers forward, and commands are answered meanwhile.

use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use dataplane::graph::{Graph, Report};
use dataplane_experiments::host_header;
use document::Document;
use experiment::setting::{InputFile, Number, Switch};
use experiment::{Error, Settings, Sink};
use forwarder::control::Control;
use forwarder::prompt::{self, Command};
use forwarder::workers::Workers;
use recording::{Picture, PictureKind, facts, metrics};

use crate::config::{Config, Router};
use crate::lines::{self, Lines};
use crate::results;

pub(crate) const SECONDS: Number = Number::new(
    "seconds",
    0..=u64::MAX,
    "Seconds after which it stops; without it, at the end of the commands or never.",
)
.unit("s");

pub(crate) const PROMPT: Switch = Switch::new(
    "prompt",
    "Read commands (show runtime, show interface, ...) from standard input; its end stops the forwarder.",
);

pub(crate) const EXEC: InputFile = InputFile::new(
    "exec",
    "Run the commands in a file, one per line, before the first packet: `trace add`, `run ROUNDS`, `show trace`. A line \
     that starts with # is a remark.",
);

pub(crate) const BUSY: Switch = Switch::new("busy", "Poll without ever sleeping.");

/// Forwards as a configuration says until it is told to stop, and records what was done, as a
/// recording of the experiment `name`.
///
/// # Errors
/// The configuration is wrong, an interface cannot be used, or a worker ended.
pub fn run(name: &str, path: &Path, settings: &Settings, sink: &mut dyn Sink) -> Result<(), Error> {
    let progress = sink.progress();
    let config = Config::read(&Document::open(path)?)?;
    let Router { mut graphs, control } = config.router()?;
    let mut header = host_header(name, 1);
    let exec = settings.get(EXEC).map(|script| execute(&mut graphs, &control, &script)).transpose()?;
    let length = settings.get(SECONDS).map(Duration::from_secs);
    let inputs = graphs.first().map(prompt::inputs).unwrap_or_default();
    let workers =
        Workers::start(graphs, config.cpus(), settings.get(BUSY)).map_err(|error| Error::Failed(error.to_string()))?;
    let prompt = settings.get(PROMPT);
    if prompt && lines::are_typed() {
        progress.leave_terminal();
        // What is drawn there is taken away at the next look.
        std::thread::sleep(Duration::from_millis(150));
    }
    let commands = prompt.then(|| Lines::read(inputs));
    // Whoever stops a forwarder wants to see what it did.
    supervise(&workers, &control, length, commands, || progress.check().is_ok());
    let threads = workers.threads();
    let graphs = workers.stop().map_err(|gone| Error::Failed(gone.to_string()))?;
    let reports: Vec<Report> = graphs.iter().map(Graph::report).collect();
    header.set_facts(&facts::Forwarded { config: path.display().to_string(), exec, threads });
    if length.is_some() && progress.check().is_err() {
        header.notes.push("Cut short: a signal stopped the forwarder before its time was over.".to_owned());
    }
    for report in reports.iter().filter(|report| !report.balance.holds()) {
        header.complaints.push(format!("packets do not add up: {:?}", report.balance));
    }
    header.pictures.push(Picture {
        title: "Clocks per packet, by node".to_owned(),
        metric: metrics::CLOCKS_PER_PACKET.name.to_owned(),
        case: Some(name.to_owned()),
        kind: PictureKind::StackedBars,
    });
    let variant = path.file_stem().map_or_else(|| name.into(), |stem| stem.to_string_lossy());
    let recording = results::forwarder(header, &variant, &reports);
    sink.start(recording.header.clone())?;
    sink.append(&recording)
}

/// Runs a script's commands and returns their answers; a wrong one ends it.
fn execute(graphs: &mut [Graph], control: &Control, script: &Path) -> Result<String, document::Error> {
    let mut answers = String::new();
    let script = Document::open(script)?;
    for (number, line) in script.text().lines().enumerate() {
        let wrong = |message: String| script.wrong_line(number + 1, message, "docs/forwarder.md has the commands");
        let command = prompt::parse(line).map_err(wrong)?;
        for graph in graphs.iter_mut() {
            prompt::apply(graph, &command).map_err(wrong)?;
        }
        let reports: Vec<Report> = graphs.iter().map(Graph::report).collect();
        answers.push_str(&prompt::answer(&reports, control, "no worker has started yet\n", &command));
    }
    Ok(answers)
}

/// Prints an answer. Whoever asked may have gone, which is no reason to stop forwarding.
fn say(answer: &str) {
    let mut out = io::stdout().lock();
    let _ = out.write_all(answer.as_bytes()).and_then(|()| out.flush());
}

/// The answer to a line of the prompt; `None` if it asks to stop.
fn answered(workers: &Workers, control: &Control, line: &str) -> Option<String> {
    let command = match prompt::parse(line) {
        Ok(Command::Quit) => return None,
        Ok(Command::Run(_)) => {
            return Some("the workers make the rounds: `run` is for a file of commands\n".to_owned());
        }
        Ok(command) => command,
        Err(message) => return Some(format!("{message}\n")),
    };
    let asked = command.clone();
    let done = workers.each(move |graph| prompt::apply(graph, &asked).map(|()| graph.report()));
    let reports: Result<Vec<Report>, String> = match done {
        Ok(reports) => reports.into_iter().collect(),
        Err(gone) => Err(gone.to_string()),
    };
    Some(match reports {
        Ok(reports) => prompt::answer(&reports, control, &workers.threads(), &command),
        Err(message) => format!("{message}\n"),
    })
}

/// Answers commands while the workers forward, for as long as `goes_on` says.
fn supervise(
    workers: &Workers,
    control: &Control,
    length: Option<Duration>,
    mut commands: Option<Lines>,
    goes_on: impl Fn() -> bool,
) {
    use std::sync::mpsc::RecvTimeoutError;
    /// The time that a stop may wait.
    const LOOK: Duration = Duration::from_millis(10);
    let start = Instant::now();
    while goes_on() && !workers.is_one_gone() && length.is_none_or(|length| start.elapsed() < length) {
        let Some(lines) = &commands else {
            if workers.are_done() {
                // Capture files alone, and they are at their end.
                return;
            }
            std::thread::sleep(LOOK);
            continue;
        };
        match lines.receiver().recv_timeout(LOOK) {
            Ok(line) => match answered(workers, control, &line.text) {
                Some(answer) => say(&answer),
                None => return,
            },
            Err(RecvTimeoutError::Timeout) => {}
            // Commands that are at an end stop a forwarder that was given no time.
            Err(RecvTimeoutError::Disconnected) if length.is_none() => return,
            Err(RecvTimeoutError::Disconnected) => commands = None,
        }
    }
}
