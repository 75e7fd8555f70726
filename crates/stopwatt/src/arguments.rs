//! The command line.

use crate::compare_command::CompareOptions;
use crate::import_command::ImportOptions;
use crate::qemu_commands::{LinuxBootOptions, MachineOptions, PsciCallsOptions};
use crate::report_command::ReportOptions;
use crate::what_if_command::WhatIfOptions;
use clap::{Args, Parser, Subcommand, ValueEnum};
pub use dataplane_commands::arguments::Format;
use dataplane_commands::arguments::{
    BatchOptions, CalibratePrefetchOptions, DataplaneOptions, ImportRuntimeOptions, PrefetchOptions,
};
use dataplane_commands::forward::ForwardOptions;
use std::path::PathBuf;

/// What `--help` shows: the commands by what they are for, and where to begin. A test holds it to the commands that there are.
const HELP: &str = "\
{about-with-newline}
{usage-heading} {usage}

Run, and leave a recording:
  run psci-latency    The six PSCI latency cases, on a simulated SoC or as firmware on QEMU
  run psci-calls      Instructions of every PSCI call, of real firmware on QEMU
  run linux-boot      Debian's kernel on the firmware: hotplug, idle states, reboot
  run dataplane       A graph of packet nodes at full load; also: run prefetch, run batch
  what-if             An experiment with every combination of some settings

Look:
  report              Tables, a page with the CPU timeline, a trace, of a recording
  list                Platforms, releases and experiments

Compare:
  compare             Recordings side by side: what changed, whether that can be said, and why
  import              Make a recording of what was measured elsewhere: UART log, RST, CSV, VPP

Fit and forward:
  calibrate           Fit a platform's costs to its declared reference cells
  calibrate-prefetch  Fit a modelled core to the stride study's declared cells
  dataplane           Forward packets between interfaces of this machine

Options:
{options}{after-help}";

/// Shows where time goes in low-level Arm system software, and why.
///
/// Real code (a PSCI library, a packet loop) runs in a world (a simulated SoC, an emulator, this machine); the world leaves
/// a recording; tables, pictures and causes are read from recordings.
#[derive(Parser)]
#[command(name = "stopwatt", version, max_term_width = 100, help_template = HELP)]
#[command(after_help = "A first hour:
  stopwatt list                                          1. what is there
  stopwatt run psci-latency --report latency.html        2. run, then open the page: who waited for whom
  stopwatt run psci-latency --set scp.channels=2 -o recordings/two
  stopwatt compare recordings/psci-latency recordings/two
                                                         3. what would a second channel change, and why
  stopwatt report recordings/psci-latency --out t.rst    4. take the tables along

Every command has examples: stopwatt COMMAND --help
Exit status: 0 when done, 1 when the answer is no (a regression, a check that fails), 2 when it cannot be done.")]
pub struct Arguments {
    /// Folder with `platforms` and `published`; by default the nearest one above the working folder.
    #[arg(long, global = true, value_name = "DIR", env = "STOPWATT_DATA")]
    pub data: Option<PathBuf>,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Subcommand)]
pub enum Command {
    /// Run an experiment and leave a recording.
    #[command(after_help = "Examples:
  stopwatt run psci-latency --report latency.html        tables, and a page with the CPU timeline
  stopwatt run psci-calls                                needs QEMU; builds the firmware
  stopwatt run dataplane --graph ip4-route               clocks per packet on this machine")]
    Run {
        /// Which one.
        #[command(subcommand)]
        experiment: Experiment,
    },
    /// Make a report of a recording: tables, a page with the CPU timeline, a trace.
    Report(ReportOptions),
    /// Fit a platform's costs to its declared reference cells.
    Calibrate(CalibrateOptions),
    /// Compare recordings: what changed, whether that can be said, and why.
    Compare(CompareOptions),
    /// Run an experiment with every combination of some settings.
    #[command(after_help = "Example:
  stopwatt what-if psci-latency --vary scp.channels=1,2,4 --vary topology.clusters=1..16")]
    WhatIf {
        /// Which one.
        #[command(subcommand)]
        experiment: WhatIf,
    },
    /// List platforms, releases and experiments.
    List(ListOptions),
    /// Forward packets between interfaces of this machine.
    #[command(after_help = "Example (docs/dataplane.md has a configuration):
  stopwatt dataplane --config forward.toml --prompt")]
    Dataplane(ForwardOptions),
    /// Fit a modelled core to the stride study's declared cells.
    #[command(after_help = "Examples:
  stopwatt calibrate-prefetch                            fit, and write the costs file
  stopwatt calibrate-prefetch --check                    compare with it and write nothing")]
    CalibratePrefetch(CalibratePrefetchOptions),
    /// Make a recording of what another program printed.
    #[command(after_help = "Examples:
  stopwatt import rt-instr uart.log --platform juno-r1 --variant my-board -o recordings/my-board
  stopwatt compare recordings/psci-latency@juno-v2.12 recordings/my-board")]
    Import {
        /// Of what.
        #[command(subcommand)]
        what: Import,
    },
}

/// The experiments.
#[derive(Subcommand)]
pub enum Experiment {
    /// The six PSCI latency procedures, on a simulated SoC or as firmware on QEMU.
    PsciLatency(PsciLatencyOptions),
    /// Instructions of every PSCI call, of real firmware on QEMU.
    PsciCalls(PsciCallsOptions),
    /// Debian's kernel on the firmware: hotplug, idle states, reboot, power-off.
    LinuxBoot(LinuxBootOptions),
    /// A graph of packet nodes at full load on this machine.
    #[command(after_help = "Example:
  stopwatt run dataplane --graph ip4-route --frame-size 256 --loop dual")]
    Dataplane(DataplaneOptions),
    /// Loop shapes and prefetch strides, on this machine or a modelled core.
    #[command(after_help = "Examples:
  stopwatt run prefetch --world sim --platform macchiatobin
  stopwatt run prefetch --world host")]
    Prefetch(PrefetchOptions),
    /// Frame sizes, on this machine.
    #[command(after_help = "Example:
  stopwatt run batch")]
    Batch(BatchOptions),
}

/// What can be asked what-if of.
#[derive(Subcommand)]
pub enum WhatIf {
    /// A case of the PSCI latency procedures, on simulated SoCs.
    PsciLatency(WhatIfOptions),
}

/// What can be imported.
#[derive(Subcommand)]
pub enum Import {
    /// UART log of the Trusted Firmware-A test framework: its <RT_INSTR:…> lines.
    RtInstr(ImportOptions),
    /// Tables of a reStructuredText document.
    Rst(ImportOptions),
    /// CSV with the columns release, case, mode, cluster, core, metric, value, unit.
    Csv(ImportOptions),
    /// VPP's `show runtime`, old or new.
    #[command(after_help = "Example:
  stopwatt import vpp-runtime show-runtime.txt --output recordings/vpp")]
    VppRuntime(ImportRuntimeOptions),
}

/// The worlds of the PSCI procedures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum World {
    /// A simulated SoC.
    Sim,
    /// Real firmware on an emulated machine; needs QEMU.
    Qemu,
}

/// Who decides in which order CPUs reach the SCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Order {
    /// The published run's order, as its reference declares it.
    Declared,
    /// Whatever comes.
    Free,
}

/// Options of `run psci-latency`.
#[derive(Args)]
#[command(max_term_width = 100)]
#[command(after_help = "Examples:
  stopwatt run psci-latency --platform juno-r1 --release juno-2017
  stopwatt run psci-latency --report latency.html        also a page with the CPU timeline
  stopwatt run psci-latency --set psci.scp_send=outside-locks --format json
  stopwatt run psci-latency --set topology.clusters=64x4 --iterations 1 -o recordings/big
  stopwatt run psci-latency --world qemu --cpus 4 --iterations 3

Keys of --set: any of the platform file (scp.channels, cores.cortex-a53.clock, topology.domain.little.cores),
of the release (psci.scp_send, psci.lock, firmware.scp_protocol, lead) and of the costs (costs.scp.core_off).
topology.clusters takes 4, 16x4 or 4*cortex-a53+2*cortex-a57.")]
pub struct PsciLatencyOptions {
    /// Where the procedures run.
    #[arg(long, default_value = "sim", value_name = "WORLD")]
    pub world: World,
    /// The machine of the world `qemu`.
    #[command(flatten, next_help_heading = "World qemu")]
    pub machine: MachineOptions,
    /// Name of a platform (see `stopwatt list`) or path of a platform file [default: juno-r1].
    #[arg(long, value_name = "NAME|FILE")]
    pub platform: Option<String>,
    /// A release of the platform; may be given again. All by default.
    #[arg(long, value_name = "NAME")]
    pub release: Vec<String>,
    /// Override a key of the platform, release or costs; may be given again.
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_value)]
    pub set: Vec<(String, String)>,
    /// Seed of all that is left to chance [default: 1].
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Repetitions of each case.
    #[arg(long, default_value_t = 11, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub iterations: u32,
    /// Seeds with which the parallel suspends also run freely, to show the spread [default: 100].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=100_000))]
    pub free_seeds: Option<u32>,
    /// Order in which CPUs reach the SCP in the compared run; declared by default, free with --set.
    #[arg(long, value_name = "WHO")]
    pub order: Option<Order>,
    /// Folder of the recording; an older recording there is replaced.
    #[arg(short, long, default_value = "recordings/psci-latency", value_name = "DIR")]
    pub output: PathBuf,
    /// How to print the result.
    #[arg(long, default_value = "term", value_name = "FORMAT")]
    pub format: Format,
    /// Also write a report, such as latency.html (the endings are those of `stopwatt report`).
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
}

/// Options of `calibrate`.
#[derive(Args)]
#[command(after_help = "Examples:
  stopwatt calibrate --platform juno-r1                  fit all releases and write their costs files
  stopwatt calibrate --release juno-v2.12 --check        exit with 1 if the costs file is not what a fit gives")]
pub struct CalibrateOptions {
    /// Name of the platform.
    #[arg(long, default_value = "juno-r1", value_name = "NAME")]
    pub platform: String,
    /// A release; may be given again. All by default.
    #[arg(long, value_name = "NAME")]
    pub release: Vec<String>,
    /// Compare with the costs files and write nothing.
    #[arg(long)]
    pub check: bool,
    /// How to print the result.
    #[arg(long, default_value = "term", value_name = "FORMAT")]
    pub format: Format,
}

/// Options of `list`.
#[derive(Args)]
#[command(after_help = "Example:
  stopwatt list --format json")]
pub struct ListOptions {
    /// How to print the list.
    #[arg(long, default_value = "term", value_name = "FORMAT")]
    pub format: Format,
}

pub(crate) fn key_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => Ok((key.trim().to_owned(), value.trim().to_owned())),
        _ => Err("expected KEY=VALUE, such as scp.channels=2".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::{Arguments, HELP};
    use clap::{Command, CommandFactory};

    fn all(command: &Command) -> Vec<&Command> {
        std::iter::once(command).chain(command.get_subcommands().flat_map(all)).collect()
    }

    #[test]
    fn every_command_has_an_example_that_is_a_command() {
        let root = Arguments::command();
        for command in all(&root) {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let lines: Vec<&str> = help.lines().filter(|line| line.starts_with("  stopwatt ")).collect();
            assert!(!lines.is_empty(), "{} has no example", command.get_name());
            for line in lines {
                // What stands after the command, parted by blanks, is said about it.
                for example in line.split(" && ") {
                    let example =
                        example.trim().split("  ").next().unwrap_or_default().split(" | ").next().unwrap_or_default();
                    let parsed = root.clone().try_get_matches_from(example.split_whitespace());
                    assert!(parsed.is_ok(), "{}: `{example}`: {}", command.get_name(), parsed.unwrap_err());
                }
            }
        }
    }

    #[test]
    fn the_groups_name_every_command() {
        for command in Arguments::command().get_subcommands() {
            let name = format!("\n  {} ", command.get_name());
            assert!(HELP.contains(&name), "{} is in no group", command.get_name());
        }
    }
}
