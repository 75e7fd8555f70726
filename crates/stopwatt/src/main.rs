//! The `stopwatt` command.
#![forbid(unsafe_code)]
// `output` prints: it knows what to do when nobody reads on.
#![deny(clippy::print_stdout)]

mod arguments;
mod calibrate_command;
mod compare_command;
mod data;
mod import_command;
mod list;
mod output;
mod qemu_commands;
mod report_command;
mod run_psci_latency;
mod what_if_command;

use arguments::{Arguments, Command, Experiment, Import, WhatIf};
use clap::Parser;
use miette::IntoDiagnostic;
use std::process::ExitCode;

/// 0 when done, 1 when the answer is no, 2 when it cannot be done.
fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(answer) => answer.into(),
        Err(error) => {
            eprintln!("Error: {error:?}");
            ExitCode::from(2)
        }
    }
}

/// What a command that was done has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    /// Nothing that speaks against it.
    Yes,
    /// A regression, a check that fails; it has been printed.
    No,
}

impl From<Answer> for ExitCode {
    fn from(answer: Answer) -> Self {
        match answer {
            Answer::Yes => Self::SUCCESS,
            Answer::No => Self::FAILURE,
        }
    }
}

impl Answer {
    /// No, for a reason that is printed as errors are.
    fn no(reason: &miette::Report) -> Self {
        eprintln!("Error: {reason:?}");
        Self::No
    }
}

fn run(arguments: &Arguments) -> miette::Result<Answer> {
    if let Command::Compare(options) = &arguments.command {
        // Recordings can be compared where there is no data.
        return compare_command::run(arguments.data.as_deref(), options);
    }
    let data = data::DataFolder::find(arguments.data.as_deref())?;
    match &arguments.command {
        Command::Run { experiment: Experiment::PsciLatency(options) } => run_psci_latency::run(&data, options),
        Command::Run { experiment: Experiment::PsciCalls(options) } => qemu_commands::psci_calls(&data, options),
        Command::Run { experiment: Experiment::LinuxBoot(options) } => {
            return qemu_commands::linux_boot(&data, options);
        }
        Command::Run { experiment: Experiment::Dataplane(options) } => return print(options.run()),
        Command::Run { experiment: Experiment::Prefetch(options) } => return print(options.run(data.root())),
        Command::Run { experiment: Experiment::Batch(options) } => return print(options.run()),
        Command::Report(options) => report_command::run(&data, options),
        Command::Dataplane(options) => return print(options.run()),
        Command::CalibratePrefetch(options) => return print(options.run(data.root())),
        Command::Import { what: Import::VppRuntime(options) } => return print(options.run()),
        Command::Import { what: Import::RtInstr(options) } => {
            import_command::run(&data, import_command::Kind::RtInstr, options)
        }
        Command::Import { what: Import::Rst(options) } => {
            import_command::run(&data, import_command::Kind::Rst, options)
        }
        Command::Import { what: Import::Csv(options) } => {
            import_command::run(&data, import_command::Kind::Csv, options)
        }
        Command::Calibrate(options) => return calibrate_command::run(&data, options),
        Command::WhatIf { experiment: WhatIf::PsciLatency(options) } => what_if_command::run(&data, options),
        // Compared above.
        Command::Compare(_) => Ok(()),
        Command::List(options) => list::run(&data, options),
    }?;
    Ok(Answer::Yes)
}

/// Prints what a data-plane command has to say.
fn print(said: Result<String, dataplane_commands::error::Error>) -> miette::Result<Answer> {
    match said {
        Err(failed @ dataplane_commands::error::Error::CheckFailed(_)) => Ok(Answer::no(&miette::miette!("{failed}"))),
        said => output::print(said.into_diagnostic()?.as_bytes()).map(|()| Answer::Yes),
    }
}
