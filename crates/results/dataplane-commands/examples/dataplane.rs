//! Drives the data plane's commands as the `stopwatt` command does.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use dataplane_commands::arguments::{
    BatchOptions, CalibratePrefetchOptions, DataplaneOptions, ImportRuntimeOptions, PrefetchOptions,
};
use dataplane_commands::forward::ForwardOptions;

#[derive(Parser)]
struct Arguments {
    /// Folder with `platforms` and `references`.
    #[arg(long, default_value = ".")]
    data: PathBuf,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run an experiment.
    #[command(subcommand)]
    Run(Experiment),
    /// Fit the modelled core.
    CalibratePrefetch(CalibratePrefetchOptions),
    /// Forward between interfaces of this machine.
    Dataplane(ForwardOptions),
    /// Import VPP's `show runtime`.
    ImportVppRuntime(ImportRuntimeOptions),
}

#[derive(Subcommand)]
enum Experiment {
    /// A graph at full load.
    Dataplane(DataplaneOptions),
    /// Loop shapes and prefetch strides.
    Prefetch(PrefetchOptions),
    /// Frame sizes.
    Batch(BatchOptions),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let result = match &arguments.command {
        Command::Run(Experiment::Dataplane(options)) => options.run(),
        Command::Run(Experiment::Prefetch(options)) => options.run(&arguments.data),
        Command::Run(Experiment::Batch(options)) => options.run(),
        Command::Dataplane(options) => options.run(),
        Command::ImportVppRuntime(options) => options.run(),
        Command::CalibratePrefetch(options) => options.run(&arguments.data),
    };
    match result {
        Ok(text) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
