//! The `stopwatt` command.
#![forbid(unsafe_code)]

mod arguments;
mod calibrate_command;
mod data;
mod list;
mod provenance;
mod run_psci_latency;

use arguments::{Arguments, Command, Experiment};
use clap::Parser;

fn main() -> miette::Result<()> {
    let arguments = Arguments::parse();
    let data = data::DataFolder::find(arguments.data.as_deref())?;
    match arguments.command {
        Command::Run { experiment: Experiment::PsciLatency(options) } => run_psci_latency::run(&data, &options),
        Command::Calibrate(options) => calibrate_command::run(&data, &options),
        Command::List(options) => list::run(&data, &options),
    }
}
