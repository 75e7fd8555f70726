//! `stopwatt import cpuidle`.

use crate::data::Data;
use crate::output;
use crate::recordings;
use crate::report_command::{self, Telling, TellingOptions};
use clap::Args;
use console::Console;
use import::cpuidle::{self, Between, Content, Counts, Dump, read_path};
use miette::{Result, bail};
use published::Published;
use recording::Header;
use std::path::{Path, PathBuf};

/// Options of `import cpuidle`.
#[derive(Args)]
#[command(after_help = "Examples:
  stopwatt import cpuidle before.tar.xz after.tar.xz --seconds 60 -o recordings/menu
  stopwatt import cpuidle before.txt after.txt --variant 6.18
  stopwatt import cpuidle now.txt
  stopwatt import cpuidle published/cpuidle-oracle.csv -o recordings/oracle

A dump is a folder or a tar archive of /sys/devices/system/cpu/cpu*/cpuidle, or what one of these printed:
  grep . /sys/devices/system/cpu/cpu*/cpuidle/state*/*
  cat /sys/devices/system/cpu/cpu*/cpuidle/state*/*
  cpupower -c all idle-info
  grep . /sys/kernel/debug/pm_genpd/*/idle_states
A table is what turbostat, cpupower monitor, powertop --csv, a hist trigger, bpftrace or perf stat printed,
or CSV or JSON with the columns kernel, cpu, state, name, usage, time_us.")]
pub struct ImportCpuidleOptions {
    /// The dump before the measurement, or a table of what was counted; - is standard input.
    #[arg(value_name = "BEFORE|TABLE")]
    before: PathBuf,
    /// The dump after it; - is standard input. A table needs none; one dump alone counts from the
    /// start of the machine.
    #[arg(value_name = "AFTER")]
    after: Option<PathBuf>,
    /// The name of what was measured: a kernel, a machine; by default the name of the last file.
    #[arg(long, value_name = "NAME", value_parser = output::variant)]
    variant: Option<String>,
    /// The seconds between the dumps, for rates.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    seconds: Option<f64>,
    #[command(flatten)]
    measured: recordings::Measured,
    /// Folder of the recording; an older import there is replaced. Without it the files are
    /// only looked at.
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    #[command(flatten)]
    told: TellingOptions,
}

/// The case of a measurement that has no name.
const CASE: &str = "cpuidle";

/// The case of one dump alone.
const SINCE_START: &str = "since the start";

fn seconds(text: &str) -> Result<f64, String> {
    text.trim_end_matches('s')
        .trim()
        .parse()
        .ok()
        .filter(|seconds: &f64| seconds.is_finite() && *seconds > 0.0)
        .ok_or_else(|| format!("`{text}` is no time; expected seconds above 0, such as 60 or 2.5"))
}

/// Reads the dumps, writes the recording where one is wanted, and says what was counted. Nothing is
/// written when a dump cannot be read, or the two do not belong together.
pub fn run(console: &Console, data: &Data, options: &ImportCpuidleOptions) -> Result<()> {
    if options.after.as_deref() == Some(Path::new("-")) && options.before == Path::new("-") {
        bail!(
            help = "write one of the dumps into a file",
            "both dumps cannot come from standard input"
        );
    }
    let how = options.told.telling()?;
    if let Some(folder) = &options.output {
        recordings::check_import(folder, options.told.replace)?;
    }
    let first = read_path(&options.before)?;
    let last = options.after.as_deref().map(read_path).transpose()?;
    let (counts, between) = counted(options, &import::shown(&options.before), first, last)?;
    let mut header = Header::new("cpuidle", "import", "us");
    options.measured.note(&mut header);
    finish(
        console,
        data,
        (header, &counts, &between),
        (options.output.as_deref(), &how),
    )
}

/// The name of a measurement: the file's, up to its first dot.
fn name(options: &ImportCpuidleOptions) -> String {
    let name = options
        .after
        .as_ref()
        .unwrap_or(&options.before)
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    let stem = name.split('.').next().unwrap_or_default();
    if matches!(stem, "" | "-") {
        CASE.to_owned()
    } else {
        stem.to_owned()
    }
}

/// What was counted: between two dumps, since the machine started, or in a table.
fn counted(
    options: &ImportCpuidleOptions,
    before: &str,
    first: Content,
    last: Option<Content>,
) -> Result<(Vec<Counts>, Between)> {
    let variant = options.variant.clone().unwrap_or_else(|| name(options));
    Ok(match (first, last) {
        (Content::Dump(before), Some(Content::Dump(after))) => {
            two(&before, &after, &variant, options.seconds)?
        }
        (Content::Table(mut counts), None) => {
            for of in &mut counts {
                of.seconds = options.seconds;
                for (name, usual) in [(&mut of.variant, variant.as_str()), (&mut of.case, CASE)] {
                    if name.is_empty() {
                        usual.clone_into(name);
                    }
                }
            }
            (counts, Between::default())
        }
        (Content::Dump(dump), None) => {
            let (mut counts, mut between) =
                two(&dump.at_start(), &dump, &variant, options.seconds)?;
            counts
                .iter_mut()
                .filter(|of| of.case == CASE)
                .for_each(|of| of.case = SINCE_START.to_owned());
            between.doubts.insert(
                0,
                format!("{before} is one dump: it counts from the start of the machine"),
            );
            (counts, between)
        }
        (Content::Table(_), Some(_)) => {
            bail!(
                help = "give the table alone",
                "{before} is a table of what was counted, and no dump"
            );
        }
        (Content::Dump(_), Some(Content::Table(_))) => {
            let after = options.after.as_deref().unwrap_or(Path::new("")).display();
            bail!(
                help = "give two dumps, or a table alone",
                "{after} is a table, and {before} a dump"
            );
        }
    })
}

/// The counts between two dumps, as one measurement.
pub fn two(
    before: &Dump,
    after: &Dump,
    variant: &str,
    seconds: Option<f64>,
) -> Result<(Vec<Counts>, Between)> {
    Ok(cpuidle::counts_between(
        before,
        after,
        (variant, CASE),
        seconds,
    )?)
}

/// Writes the recording where one is wanted, and prints its story with the report that is asked
/// for.
pub fn finish(
    console: &Console,
    data: &Data,
    (header, counts, between): (Header, &[Counts], &Between),
    (output, how): (Option<&Path>, &Telling<'_>),
) -> Result<()> {
    let mut recording = cpuidle::record(header, counts, &between.clusters);
    let left = output.map(|folder| (folder, recordings::write(&mut recording, folder)));
    for doubt in between.doubts.iter().take(20) {
        console.note(&format!("warning: {doubt}"));
    }
    report_command::tell(
        console,
        &Published::read(&data.published(), &recording.header.experiment)?,
        &recording,
        left,
        how,
    )
}
