//! `stopwatt-explore`, the program of `stopwatt explore`.
#![forbid(unsafe_code)]
// The console prints.
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod faults;
mod litmus;
mod options;
mod printout;
mod replay;
mod search;

use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};
use console::Console;
use printout::Form;
use std::{ffi::OsString, process::ExitCode};
use stopwatt::{
    Answer, Program, output,
    shell_commands::{self, CompletionsOptions, ManOptions},
};

/// Tries interleavings, memory orders and refusals of the hardware, until one breaks an invariant.
#[derive(Parser)]
#[command(name = "stopwatt-explore", bin_name = "stopwatt explore", version = provenance::VERSION, max_term_width = 100)]
#[command(subcommand_required = true, arg_required_else_help = true)]
#[command(after_help = "Examples:
  stopwatt explore psci --cpus 6 --for 60s
  stopwatt explore psci --fault rejected-cpu-on -o recordings/f
  stopwatt explore replay recordings/f
  stopwatt explore litmus MP.litmus")]
struct Arguments {
    /// Show no progress.
    #[arg(short, long, global = true)]
    quiet: bool,
    /// Tell each step on a line of its own.
    #[arg(short, long, global = true, conflicts_with = "quiet")]
    verbose: bool,
    #[command(subcommand)]
    what: Explore,
}

/// What can be explored, and what an installation adds to the system.
#[derive(Subcommand)]
enum Explore {
    /// Run the PSCI library under many interleavings, memory orders and refusals, until one breaks
    /// an invariant.
    Psci(options::PsciOptions),
    /// Run the RCU library under many interleavings and memory orders, until a reader is harmed or
    /// a callback lost.
    Rcu(options::RcuOptions),
    /// Run what was found again, and say what it does.
    Replay(replay::ReplayOptions),
    /// Answer stock litmus tests by Arm's memory model.
    Litmus(litmus::LitmusOptions),
    /// List the faults that the libraries can be given, to see that they are found.
    Faults(faults::FaultsOptions),
    /// Print completions for a shell.
    Completions(CompletionsOptions),
    /// Print the manual page, or write one per command.
    Man(ManOptions),
}

fn main() -> ExitCode {
    let program = Program {
        command: Arguments::command,
        check: |_| None,
        run,
    };
    let arguments: Vec<OsString> = std::env::args_os().collect();
    program.command_line(&arguments).into()
}

/// Explores and prints; the answer is no if something was found.
fn run(matches: &ArgMatches, console: &Console) -> miette::Result<Answer> {
    let given = Arguments::from_arg_matches(matches).unwrap_or_else(|error| error.exit());
    let console = &console.with(given.quiet, given.verbose);
    let printed = match &given.what {
        Explore::Psci(options) => search::search(console, &options.plan()?)?,
        Explore::Rcu(options) => search::search(console, &options.plan()?)?,
        Explore::Replay(options) => replay::replay(console, options)?,
        Explore::Litmus(options) => litmus::answer(options)?,
        Explore::Faults(options) => faults::faults(console, options)?,
        Explore::Completions(options) => {
            shell_commands::completions(console, Arguments::command(), options)?;
            return Ok(Answer::Yes);
        }
        Explore::Man(options) => {
            shell_commands::man(console, Arguments::command(), options)?;
            return Ok(Answer::Yes);
        }
    };
    match printed.form {
        Form::Text(text) => output::print_text(console, &text)?,
        Form::Json(value) => output::print_json(console, &value)?,
    }
    printed.answer
}
