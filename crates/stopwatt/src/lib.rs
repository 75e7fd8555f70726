//! The `stopwatt` command as a library: the command is a line on top of it, and the Python package
//! uses the same.
#![forbid(unsafe_code)]
// The console prints.
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod answer;
mod arguments;
mod calibrate_command;
#[cfg(target_os = "linux")]
mod capture_command;
mod claims_command;
pub mod compare_command;
pub mod data;
mod doctor_command;
pub mod experiments;
mod explain_command;
mod explore_command;
mod import_command;
mod import_cpuidle;
mod import_trace;
mod list;
mod list_governors;
mod of_commit;
mod on_board;
pub mod output;
mod payload_command;
mod platform_check;
mod platform_command;
pub mod recordings;
pub mod report_command;
pub mod run;
mod run_arguments;
pub mod shell_commands;
pub mod sweep_command;
mod what_if;

pub use answer::Answer;
use arguments::{COMMANDS, Command, Import};
use clap::ArgMatches;
use clap::error::{ContextKind, ContextValue};
use console::Console;
use data::Data;
use itertools::Itertools;
use miette::{Result, bail, miette};
use std::ffi::OsString;
use std::path::PathBuf;

/// Does what the program's arguments say, of which the first is the program's name: 0 when done, 1
/// when the answer is no or memory is short, 2 when it cannot be done. A signal stops it from now
/// on, and then it ends by that signal.
pub fn command_line(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let arguments = arguments.into_iter().collect_vec();
    #[cfg(target_os = "linux")]
    if arguments
        .get(1)
        .is_some_and(|first| first == tune_experiments::WORKER)
    {
        // The process that runs somebody's loop, for `tune`; nobody types this.
        return tune_experiments::work();
    }
    #[cfg(target_os = "linux")]
    if arguments
        .get(1)
        .is_some_and(|first| first == dataplane_experiments::GRAPH_WORKER)
    {
        // The same for a graph with somebody's nodes.
        return dataplane_experiments::run_graph(arguments.get(2).map(OsString::as_os_str));
    }
    let program = Program {
        command: arguments::command,
        check: run_was_meant,
        run,
    };
    program.command_line(&arguments)
}

/// A program on this library.
pub struct Program {
    /// Its command line.
    pub command: fn() -> clap::Command,
    /// Finds an error that is better than the parser's.
    pub check: fn(&[OsString]) -> Option<miette::Report>,
    /// Does what was parsed.
    pub run: fn(&ArgMatches, &Console) -> Result<Answer>,
}

impl Program {
    /// Does what the arguments say, of which the first is the program's name, as [`command_line`].
    pub fn command_line(&self, arguments: &[OsString]) -> u8 {
        let console = Console::terminal();
        console.watch_signals();
        if let Some(error) = (self.check)(arguments) {
            console.error(&error);
            return 2;
        }
        let matches = match (self.command)().try_get_matches_from(arguments) {
            Ok(matches) => matches,
            Err(error) => match not_text(&error, arguments) {
                Some(error) => {
                    console.error(&error);
                    return 2;
                }
                None => self.with_nearest(error, arguments).exit(),
            },
        };
        let status = match (self.run)(&matches, &console) {
            Ok(answer) => answer.status(),
            Err(error) => {
                console.error(&error);
                if is_of_memory(&error) { 1 } else { 2 }
            }
        };
        // What came to its end although a signal asked it to stop has done its work.
        if status != 0 {
            console.end_as_signalled();
        }
        status
    }

    /// Adds to an error of the parser which subcommand was probably meant.
    fn with_nearest(&self, mut error: clap::Error, arguments: &[OsString]) -> clap::Error {
        if let Some(ContextValue::String(wrong)) = error.get(ContextKind::InvalidSubcommand) {
            let mut known = (self.command)();
            for argument in arguments.iter().filter_map(|argument| argument.to_str()) {
                if let Some(inner) = known.find_subcommand(argument).cloned() {
                    known = inner;
                }
            }
            let names = known.get_subcommands().map(clap::Command::get_name);
            if let Some(near) = document::nearest(wrong, names) {
                let near = ContextValue::Strings(vec![near.to_owned()]);
                error.insert(ContextKind::SuggestedSubcommand, near);
            }
        }
        error
    }
}

/// Does what arguments say, without the program's name, in a program of which this is a part, and
/// which has a console of its own.
///
/// # Errors
/// It cannot be done.
pub fn command(arguments: impl IntoIterator<Item = OsString>, console: &Console) -> Result<Answer> {
    let arguments = std::iter::once(OsString::from("stopwatt"))
        .chain(arguments)
        .collect_vec();
    let matches = arguments::command()
        .try_get_matches_from(arguments)
        .map_err(|error| {
            let text = error.to_string();
            miette!(
                "{}",
                text.strip_prefix("error: ").unwrap_or(&text).trim_end()
            )
        })?;
    if matches.subcommand_name() == Some("explore") {
        bail!(
            help = "run it in a shell",
            "`stopwatt explore` is a program of its own"
        );
    }
    run(&matches, console)
}

/// Says by what command this program is started again, for a program of which this is a part: some
/// experiments run what may crash in a process of its own.
pub fn start_with(command: Vec<OsString>) {
    #[cfg(target_os = "linux")]
    worker_process::start_with(command);
    #[cfg(not(target_os = "linux"))]
    drop(command);
}

/// True if something could not be done since there is too little memory.
pub fn is_of_memory(error: &miette::Report) -> bool {
    error.chain().any(|cause| {
        let of_sweep = match cause.downcast_ref() {
            Some(sweep::Error::Recording(error)) => error.is_of_memory(),
            _ => false,
        };
        of_sweep
            || matches!(cause.downcast_ref(), Some(console::Cancellation::Short(_)))
            || cause
                .downcast_ref()
                .is_some_and(experiment::Error::is_of_memory)
            || cause
                .downcast_ref()
                .is_some_and(recording::Error::is_of_memory)
    })
}

/// An error that names the argument that is no UTF-8, if that is what is wrong.
fn not_text(error: &clap::Error, arguments: &[OsString]) -> Option<miette::Report> {
    let is_it = error.kind() == clap::error::ErrorKind::InvalidUtf8;
    let argument = arguments
        .iter()
        .find(|argument| is_it && argument.to_str().is_none())?;
    Some(miette!(
        help = "give the file or the folder another name; compare and report take recordings of any name",
        "the argument `{}` is not text (UTF-8)",
        argument.display()
    ))
}

/// An error for a command line that starts with the name of an experiment: `run` stands before it.
fn run_was_meant(arguments: &[OsString]) -> Option<miette::Report> {
    let mut words = arguments
        .iter()
        .skip(1)
        .filter_map(|argument| argument.to_str());
    let first = words.by_ref().find(|word| !word.starts_with('-'))?;
    let names = |command: &clap::Command| {
        command.get_name() == first || command.get_all_aliases().any(|name| name == first)
    };
    let whole = arguments::command();
    let is_command = first == "help" || whole.get_subcommands().any(names);
    // A command that is as near is meant rather, which the parser says.
    let known = whole
        .get_subcommands()
        .map(clap::Command::get_name)
        .chain(experiments::names());
    let near = document::nearest(first, known).filter(|_| !is_command)?;
    let name = experiments::names()
        .into_iter()
        .find(|name| *name == near)?;
    let rest: String = words.map(|word| format!(" {word}")).collect();
    Some(miette!(
        help = format!("stopwatt run {name}{rest}"),
        "`{first}` is no command; `{name}` is an experiment"
    ))
}

fn run(matches: &ArgMatches, console: &Console) -> Result<Answer> {
    let console = &console.with(matches.get_flag("quiet"), matches.get_flag("verbose"));
    let given = matches.get_one::<PathBuf>("data").map(PathBuf::as_path);
    let data = Data::find(given)?;
    console.tell(&format!("data: {}", data.words()));
    match matches.subcommand() {
        Some(("run", matches)) => {
            let (name, matches) = chosen(matches)?;
            return run::run(console, &data, experiment(name)?, matches);
        }
        Some((name, matches)) if COMMANDS.contains(&name) => {
            return run::run(console, &data, experiment(name)?, matches);
        }
        Some(("what-if", matches)) => {
            let (name, matches) = chosen(matches)?;
            what_if::run(console, &data, experiment(name)?, matches)?;
            return Ok(Answer::Yes);
        }
        _ => {}
    }
    let given = arguments::fixed(matches);
    match &given.command {
        Command::Report(options) => return report_command::run(console, &data, options),
        Command::Import { what } => import(console, &data, what),
        Command::Capture { what } => capture_command::run(console, &data, what),
        Command::Explore { arguments } => {
            return Err(explore_command::start(
                arguments,
                given.quiet,
                given.verbose,
            ));
        }
        Command::Sweep(options) => return sweep_command::run(console, &data, options),
        Command::Calibrate(options) => return calibrate_command::run(console, &data, options),
        Command::Compare(options) => return compare_command::run(console, &data, options),
        Command::List(options) if options.has_governors() => list_governors::run(console, options),
        Command::List(options) => list::run(console, &data, options),
        Command::Claims(options) => return claims_command::run(console, &data, options),
        Command::Explain(options) => explain_command::run(console, options),
        Command::Doctor(options) => doctor_command::run(console, &data, options),
        Command::Platform { what } => platform_command::run(console, &data, what),
        Command::Payload(options) => payload_command::run(console, &data, options),
        Command::Completions(options) => {
            shell_commands::completions(console, arguments::command(), options)
        }
        // The page of `stopwatt explore` is that of its own program.
        Command::Man(options) => shell_commands::man(
            console,
            arguments::command().mut_subcommand("explore", |explore| explore.hide(true)),
            options,
        ),
    }?;
    Ok(Answer::Yes)
}

fn import(console: &Console, data: &Data, what: &Import) -> Result<()> {
    match what {
        Import::VppRuntime(options) => import_command::vpp_runtime(console, options),
        Import::Ftrace(options) => import_trace::run(console, options),
        Import::Cpuidle(options) => import_cpuidle::run(console, data, options),
        Import::RtInstr(options) => {
            import_command::run(console, data, import_command::Kind::RtInstr, options)
        }
        Import::Rst(options) => {
            import_command::run(console, data, import_command::Kind::Rst, options)
        }
        Import::Csv(options) => {
            import_command::run(console, data, import_command::Kind::Csv, options)
        }
    }
}

/// The experiment's name and its arguments.
fn chosen(matches: &ArgMatches) -> Result<(&str, &ArgMatches)> {
    matches
        .subcommand()
        .ok_or_else(|| miette!(help = "stopwatt list names them", "no experiment is named"))
}

fn experiment(name: &str) -> Result<&'static dyn experiment::Experiment> {
    experiments::find(name).ok_or_else(|| {
        miette!(
            help = "stopwatt list names them",
            "there is no experiment `{name}`"
        )
    })
}
