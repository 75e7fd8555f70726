//! `stopwatt capture`.

use crate::data::Data;
use crate::import_cpuidle;
use crate::output;
use crate::recordings::{self, Request};
use crate::report_command::TellingOptions;
use clap::{Args, Subcommand};
use console::Console;
use import::cpuidle::{Dump, read_live};
use miette::{IntoDiagnostic, Result, WrapErr, bail, miette};
use recording::Header;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// The counters of this machine that can be taken around a command.
#[derive(Subcommand)]
pub enum Capture {
    /// The kernel's counts of its idle states.
    Cpuidle(CaptureCpuidleOptions),
}

/// Options of `capture cpuidle`.
#[derive(Args)]
#[command(after_help = "Examples:
  stopwatt capture cpuidle -- sleep 10
  stopwatt capture cpuidle --variant teo -o recordings/teo -- fio --name=read --rw=randread --size=1G")]
pub struct CaptureCpuidleOptions {
    /// The command to measure, with its arguments.
    #[arg(required = true, last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
    /// The name of what is measured: a kernel, a governor; by default the kernel's release.
    #[arg(long, value_name = "NAME", value_parser = output::variant)]
    variant: Option<String>,
    /// The folder of the CPUs.
    #[arg(long, default_value = "/sys/devices/system/cpu", value_name = "DIR")]
    sysfs: PathBuf,
    /// Folder of the recording; an older one of the same kind there is replaced.
    #[arg(short, long, value_name = "DIR", default_value = "recordings/cpuidle")]
    output: PathBuf,
    #[command(flatten)]
    told: TellingOptions,
}

/// Takes the counters, runs the command, takes them again, and says what was counted in between.
pub fn run(console: &Console, data: &Data, what: &Capture) -> Result<()> {
    let Capture::Cpuidle(options) = what;
    // Whether the recording can be written is known before a command that may take hours.
    recordings::check_target(
        &options.output,
        "cpuidle",
        "host",
        &Request::new(),
        options.told.replace,
    )?;
    let how = options.told.telling()?;
    let [program, arguments @ ..] = options.command.as_slice() else {
        bail!(
            help = "stopwatt capture cpuidle -- sleep 10",
            "no command is named"
        );
    };
    let before = dump(&options.sysfs)?;
    let start = Instant::now();
    let shown = Path::new(program).display();
    let status = Command::new(program)
        .args(arguments)
        .status()
        .into_diagnostic()
        .wrap_err_with(|| format!("cannot run {shown}; nothing was recorded"))?;
    let seconds = start.elapsed().as_secs_f64();
    let after = dump(&options.sysfs)?;
    if before.counts_as(&after) {
        let help = "a CPU counts a stay when it wakes up: measure for longer, or look at \
                    cpu*/cpuidle/state*/disable and the kernel's command line (idle=poll, cpuidle.off=1)";
        bail!(
            help = help,
            "no CPU came out of an idle state in {seconds:.3} s; nothing was recorded"
        );
    }
    let mut header = Header::new("cpuidle", "host", "us");
    header.run = provenance::this_measurement();
    if !status.success() {
        header
            .notes
            .push(format!("The command ended with {status}."));
    }
    let variant = options
        .variant
        .clone()
        .or_else(|| header.run.kernel.clone())
        .unwrap_or_else(|| "this machine".to_owned());
    let (counts, between) = import_cpuidle::two(&before, &after, &variant, Some(seconds))?;
    import_cpuidle::finish(
        console,
        data,
        (header, &counts, &between),
        (Some(&options.output), &how),
    )
}

/// The counters of this machine.
fn dump(folder: &Path) -> Result<Dump> {
    read_live(folder)?.ok_or_else(|| {
        miette!(
            help = "most virtual machines have none, and a kernel without CONFIG_CPU_IDLE has none: run the command on the machine \
                    itself, or import dumps of another with stopwatt import cpuidle",
            "this machine counts no idle states: there is no cpu*/cpuidle/state*/usage below {}",
            folder.display()
        )
    })
}
