//! The `stopwatt` command.
#![forbid(unsafe_code)]

mod arguments;
mod calibrate_command;
mod data;
mod list;
mod output;
mod provenance;
mod report_command;
mod run_psci_latency;

use arguments::{Arguments, Command, Experiment, Import};
use clap::Parser;
use miette::IntoDiagnostic;

fn main() -> miette::Result<()> {
    let arguments = Arguments::parse();
    let data = data::DataFolder::find(arguments.data.as_deref())?;
    match arguments.command {
        Command::Run { experiment: Experiment::PsciLatency(options) } => run_psci_latency::run(&data, &options),
        Command::Run { experiment: Experiment::Dataplane(options) } => print(options.run()),
        Command::Run { experiment: Experiment::Prefetch(options) } => print(options.run(data.root())),
        Command::Run { experiment: Experiment::Batch(options) } => print(options.run()),
        Command::Report(options) => report_command::run(&data, &options),
        Command::Dataplane(options) => print(options.run()),
        Command::CalibratePrefetch(options) => print(options.run(data.root())),
        Command::Import { what: Import::VppRuntime(options) } => print(options.run()),
        Command::Calibrate(options) => calibrate_command::run(&data, &options),
        Command::List(options) => list::run(&data, &options),
    }
}

/// Prints what a data-plane command has to say.
fn print(said: Result<String, dataplane_commands::error::Error>) -> miette::Result<()> {
    print!("{}", said.into_diagnostic()?);
    Ok(())
}
