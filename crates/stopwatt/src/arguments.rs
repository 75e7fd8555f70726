//! The command line.

use crate::calibrate_command::CalibrateOptions;
#[cfg(target_os = "linux")]
use crate::capture_command::Capture;
use crate::claims_command::ClaimsOptions;
use crate::compare_command::CompareOptions;
use crate::doctor_command::DoctorOptions;
use crate::experiments::EXPERIMENTS;
use crate::explain_command::ExplainOptions;
use crate::import_command::{ImportOptions, ImportRuntimeOptions};
use crate::import_cpuidle::ImportCpuidleOptions;
use crate::import_trace::ImportTraceOptions;
use crate::list::ListOptions;
use crate::payload_command::PayloadOptions;
use crate::platform_command::PlatformAction;
use crate::report_command::ReportOptions;
use crate::shell_commands::{CompletionsOptions, ManOptions};
use crate::sweep_command::SweepOptions;
use crate::{run, what_if};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use std::ffi::OsString;
use std::path::PathBuf;

/// The text of `--help`: the commands by what they are for, and where to start. A test holds it to
/// the commands that there are.
const HELP: &str = "\
{about-with-newline}
{usage-heading} {usage}

Run, and leave a recording:
EXPERIMENTS
  what-if             An experiment with every combination of some settings
  sweep               A plan of many points: on all cores, or in shards on a cluster
  capture             The kernel's counts of idle states around a command on this machine
  tune                Prefetch distances and choices of a loop that you wrote (run tune)
  count               Instructions of a function of any bare-metal image, by function, on QEMU
  payload             Write the normal world that measures your own firmware (run psci-calls --firmware)

Explore:
  explore             Interleavings and memory orders of the PSCI library: find, replay, shrink

Look:
  report              Tables, a page with the CPU timeline, a trace, of a recording
  list                Data in force, platforms, releases and experiments
  doctor              What this machine can do, and what to type for what is missing
  explain             What PSCI refused in a log and why; a power_state or a code in words

Compare:
  claims              What five published documents state, and whether it holds here
  compare             Recordings side by side: what changed, whether that can be said, and why
  import              Make a recording of what was measured elsewhere: UART log, RST, CSV, VPP, ftrace,
                      dumps of cpuidle

Describe a board:
  platform            A platform file of a device tree, or of the kernel's files of the CPUs

Fit:
  calibrate           Fit a platform's costs to its declared reference cells

Install:
  completions         Completions for a shell
  man                 The manual page

Options:
{options}{after-help}";

/// Shows where time and energy go in low-level Arm system software, and why.
///
/// Real code (a PSCI library, idle governors, RCU, packet nodes) runs in a world: a simulated SoC,
/// real firmware on an emulator, this machine, or an explorer of interleavings. Each world leaves a
/// recording; answers, pictures and tables are read from recordings.
#[derive(Parser)]
#[command(name = "stopwatt", version = provenance::VERSION, max_term_width = 100)]
#[command(after_help = "A first hour, a question of each story:
  stopwatt run psci-latency --report latency.html   who waits for whom when CPUs power down? open the page
  stopwatt run psci-latency --set scp.channels=2 -o recordings/two
  stopwatt compare recordings/psci-latency recordings/two
                                                    what would a second channel to the SCP change, and why?
  stopwatt run idle-replay                          would another idle governor have saved energy on a trace?
  stopwatt run placement                            which joule is whose on big.LITTLE, and what does HMP cost?
  stopwatt run dataplane                            how many clocks does a packet take, and in which node?
  stopwatt explore psci --for 10s                   which interleaving breaks the firmware?

Every command has examples: stopwatt COMMAND --help
Exit status: 0 when done, 1 when the answer is no (a regression, a check that fails), 2 when it cannot be done, 3 when the answer cannot be told.")]
pub struct Arguments {
    /// Folder with `platforms` and `published`; by default the nearest one above the working
    /// folder, or what is built in.
    #[arg(long, global = true, value_name = "DIR", env = "STOPWATT_DATA")]
    pub data: Option<PathBuf>,
    /// Show no progress.
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Tell each step on a line of its own: the data that is in force, what is done, what is
    /// written.
    #[arg(short, long, global = true, conflicts_with = "quiet")]
    pub verbose: bool,
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands whose options are fixed. Those of `run`, `what-if` and `tune` come from the
/// experiments' descriptions.
#[derive(Subcommand)]
pub enum Command {
    /// Make a report of a recording: tables, a page with the CPU timeline, a trace.
    Report(ReportOptions),
    /// Fit a platform's costs to its declared reference cells.
    Calibrate(CalibrateOptions),
    /// Run an experiment at every point of a plan, and leave one data set.
    Sweep(SweepOptions),
    /// Compare recordings: what changed, whether that can be said, and why.
    Compare(CompareOptions),
    /// Show what published documents state, and whether it holds here.
    Claims(ClaimsOptions),
    /// List the data in force, platforms, releases and experiments.
    List(ListOptions),
    /// Make a recording of what another program printed.
    #[command(after_help = "Examples:
  stopwatt import rt-instr uart.log --platform juno-r1 --variant my-board -o recordings/my-board
  stopwatt compare recordings/psci-latency@v2.12 recordings/my-board")]
    Import {
        /// Of what.
        #[command(subcommand)]
        what: Import,
    },
    /// Take the kernel's counters around a command on this machine, or measure its wake-ups.
    #[command(after_help = "Example:
  stopwatt capture cpuidle --variant teo -o recordings/teo -- sleep 10")]
    Capture {
        /// Of what.
        #[command(subcommand)]
        what: Capture,
    },
    /// Try interleavings, memory orders and refusals of the hardware, until one breaks an
    /// invariant: starts the program stopwatt-explore, which lies beside this one.
    #[command(
        disable_help_flag = true,
        after_help = "Examples:
  stopwatt explore psci --cpus 6 --for 60s
  stopwatt explore psci --fault rejected-cpu-on -o recordings/f
  stopwatt explore replay recordings/f
  stopwatt explore litmus MP.litmus"
    )]
    Explore {
        /// The arguments of stopwatt-explore; --help lists them.
        #[arg(
            value_name = "ARGUMENT",
            trailing_var_arg = true,
            allow_hyphen_values = true
        )]
        arguments: Vec<OsString>,
    },
    /// Say what PSCI refused in a log, by which rule and why; or what a power_state or a code means.
    Explain(ExplainOptions),
    /// Say what this machine can do, and what to type for what is missing.
    Doctor(DoctorOptions),
    /// Write the program that measures firmware from the normal world, for your own build to pack.
    Payload(PayloadOptions),
    /// Describe a board of your own.
    #[command(after_help = "Example:
  stopwatt platform from board.dtb -o board.toml")]
    Platform {
        /// What to do.
        #[command(subcommand)]
        what: PlatformAction,
    },
    /// Print completions for a shell.
    Completions(CompletionsOptions),
    /// Print the manual page, or write one per command.
    Man(ManOptions),
}

/// The formats that can be imported.
#[derive(Subcommand)]
pub enum Import {
    /// UART log of the Trusted Firmware-A test framework: its <RT_INSTR:…> lines.
    RtInstr(ImportOptions),
    /// Tables of a reStructuredText document.
    Rst(ImportOptions),
    /// CSV with the columns release, case, mode, cluster, core, metric, value, unit; or TF-A's
    /// tables.
    Csv(ImportOptions),
    /// What packet nodes did: VPP's show commands, tables of rte_graph and grout, CSIT's JSON.
    #[command(visible_alias = "nodes")]
    VppRuntime(ImportRuntimeOptions),
    /// Trace of the Linux kernel: idle states, timers, interrupts, scheduler.
    Ftrace(ImportTraceOptions),
    /// Two dumps of the kernel's counts of idle states, or a table of what was counted.
    Cpuidle(ImportCpuidleOptions),
}

/// Names of the experiments that are commands of their own, too.
pub const COMMANDS: [&str; 1] = ["tune"];

/// The whole command line.
pub fn command() -> clap::Command {
    let experiments = EXPERIMENTS.iter().map(|experiment| {
        let about = experiment.about();
        format!("  run {:<15} {}\n", about.name, about.summary)
    });
    let help = HELP.replace("EXPERIMENTS\n", &experiments.collect::<String>());
    let subcommands = |command: clap::Command| {
        command
            .subcommand_required(true)
            .arg_required_else_help(true)
    };
    let mut run = subcommands(clap::Command::new("run"))
        .about("Run an experiment and leave a recording")
        .after_help(
            "Examples:
  stopwatt run psci-latency --report latency.html        tables, and a page with the CPU timeline
  stopwatt run psci-calls                                needs QEMU; builds the firmware
  stopwatt run dataplane --graph ip4-route               clocks per packet on this machine",
        );
    let mut sweep = subcommands(clap::Command::new("what-if"))
        .about("Run an experiment with every combination of some settings")
        .after_help(
            "Example:\n  stopwatt what-if psci-latency --vary scp.channels=1,2,4 --vary topology.clusters=1..16",
        );
    let mut whole = Arguments::command().help_template(help);
    for experiment in EXPERIMENTS {
        let name = experiment.about().name;
        run = run.subcommand(run::command(*experiment, &format!("stopwatt run {name}")));
        if COMMANDS.contains(&name) {
            whole = whole.subcommand(run::command(*experiment, &format!("stopwatt {name}")));
        } else {
            sweep = sweep.subcommand(what_if::command(*experiment));
        }
    }
    whole.subcommand(run).subcommand(sweep)
}

/// The fixed commands' options, from what was parsed.
pub fn fixed(matches: &clap::ArgMatches) -> Arguments {
    Arguments::from_arg_matches(matches).unwrap_or_else(|error| error.exit())
}

#[cfg(test)]
mod tests {
    use super::{HELP, command};
    use clap::Command;
    use clap::error::ErrorKind;
    use std::path::Path;

    fn all(command: &Command) -> Vec<&Command> {
        std::iter::once(command)
            .chain(command.get_subcommands().flat_map(all))
            .collect()
    }

    #[test]
    fn every_command_has_an_example_that_is_a_command() {
        let root = command();
        for command in all(&root) {
            let help = command
                .get_after_help()
                .map(ToString::to_string)
                .unwrap_or_default();
            let lines: Vec<&str> = help
                .lines()
                .filter(|line| line.starts_with("  stopwatt "))
                .collect();
            assert!(!lines.is_empty(), "{} has no example", command.get_name());
            for line in lines {
                // What stands after the command, two blanks away, is said about it.
                for example in line.split(" && ") {
                    let example = example
                        .trim()
                        .split("  ")
                        .next()
                        .unwrap_or_default()
                        .split(" | ")
                        .next()
                        .unwrap_or_default();
                    let example = example.split(" > ").next().unwrap_or_default();
                    let parsed = root
                        .clone()
                        .try_get_matches_from(example.split_whitespace());
                    assert!(
                        parsed.is_ok(),
                        "{}: `{example}`: {}",
                        command.get_name(),
                        parsed.unwrap_err()
                    );
                }
            }
        }
    }

    /// The commands among what stands in backticks in a text.
    fn commands_in(text: &str) -> impl Iterator<Item = &str> {
        text.split('`')
            .skip(1)
            .step_by(2)
            .filter(|part| part.starts_with("stopwatt ") && !part.contains('\n'))
    }

    /// Why the command line does not take a command; a word in capitals stands for something.
    fn refused(root: &Command, command: &str) -> Option<String> {
        let command = command
            .split(" > ")
            .next()?
            .split(" | ")
            .next()?
            .replace("\\\"", "\"");
        let is_open = |word: &str| {
            word.contains(['{', '…']) || (word.len() > 1 && word == word.to_uppercase())
        };
        // In quotes a blank parts no words.
        let parts = command.split('"').enumerate();
        let words: Vec<String> = parts
            .map(|(at, part)| {
                if at % 2 == 1 {
                    part.replace(' ', "_")
                } else {
                    part.to_owned()
                }
            })
            .collect::<String>()
            .split_whitespace()
            .map(str::to_owned)
            .collect();
        let is_open = words.iter().any(|word| is_open(word))
            || words.last().is_some_and(|last| last.starts_with("--"));
        let error = root.clone().try_get_matches_from(words).err()?;
        match error.kind() {
            ErrorKind::MissingRequiredArgument
            | ErrorKind::MissingSubcommand
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
            | ErrorKind::DisplayHelp => None,
            ErrorKind::InvalidSubcommand | ErrorKind::InvalidValue | ErrorKind::ValueValidation
                if is_open =>
            {
                None
            }
            _ => Some(format!("`{command}`: {error}")),
        }
    }

    /// What a program prints stands in its sources; a comment shows what it means.
    #[test]
    fn every_command_in_a_message_or_a_document_is_one() {
        let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut open = vec![
            checkout.join("crates"),
            checkout.join("docs"),
            checkout.join("README.md"),
        ];
        let (root, mut checked, mut wrong) = (command(), 0, Vec::new());
        while let Some(path) = open.pop() {
            if path.is_dir() {
                let inside = std::fs::read_dir(&path)
                    .unwrap()
                    .map(|entry| entry.unwrap().path());
                open.extend(inside.filter(|path| {
                    ["tests", "adr", "examples"]
                        .iter()
                        .all(|name| !path.ends_with(name))
                }));
            } else if path
                .extension()
                .is_some_and(|ending| ending == "rs" || ending == "md")
            {
                let text = std::fs::read_to_string(&path).unwrap();
                // A line that ends in a backslash goes on, and a document breaks lines anywhere.
                let text = text.replace("\\\n", " ").replace("```", "");
                for paragraph in text.split("\n\n") {
                    let paragraph = paragraph.replace("\n/// ", " ").replace("\n//! ", " ");
                    let paragraph = if path.extension().is_some_and(|ending| ending == "md") {
                        paragraph.replace('\n', " ")
                    } else {
                        paragraph
                    };
                    for command in commands_in(&paragraph) {
                        checked += 1;
                        wrong.extend(
                            refused(&root, command).map(|why| format!("{}: {why}", path.display())),
                        );
                    }
                }
            }
        }
        assert!(
            checked > 100 && wrong.is_empty(),
            "of {checked}:\n{}",
            wrong.join("\n")
        );
    }

    /// The answers alone end with the advice to add `--all` or `--report`.
    #[test]
    fn what_prints_all_writes_a_report() {
        for command in all(&command()) {
            let takes = |long: &str| {
                command.get_arguments().any(|argument| {
                    argument
                        .get_long_and_visible_aliases()
                        .is_some_and(|names| names.contains(&long))
                })
            };
            assert!(
                !takes("all") || takes("report"),
                "{} takes --all and no --report",
                command.get_name()
            );
        }
    }

    #[test]
    fn the_groups_name_every_command() {
        for command in command().get_subcommands() {
            let name = format!("\n  {} ", command.get_name());
            assert!(
                HELP.contains(&name) || command.get_name() == "run",
                "{} is in no group",
                command.get_name()
            );
        }
    }

    #[test]
    fn options_have_one_spelling() {
        for command in all(&command()) {
            for argument in command.get_arguments() {
                let long = argument.get_long().unwrap_or_default();
                if long == "output" {
                    assert_eq!(argument.get_short(), Some('o'), "{}", command.get_name());
                }
                if long == "format" && command.get_name() != "report" {
                    let first = argument
                        .get_default_values()
                        .first()
                        .map(|value| value.to_string_lossy().into_owned());
                    assert_eq!(first.as_deref(), Some("term"), "{}", command.get_name());
                }
            }
        }
    }
}
