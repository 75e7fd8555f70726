//! `stopwatt import`.

use crate::data::Data;
use crate::output::{self, Format};
use crate::recordings;
use clap::Args;
use comparison::FEWEST_RUNS;
use console::Console;
use import::nodes::{self, Nodes};
use import::{Figures, Options};
use itertools::Itertools;
use platforms::PlatformFiles;
use recording::{Header, Platform, Recording, stats};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::io::BufReader;
use std::path::PathBuf;

/// Options of the three.
#[derive(Args)]
#[command(after_help = "Examples:
  stopwatt import rt-instr uart.log --platform juno-r1 --variant my-board -o recordings/my-board
  stopwatt import rst psci-performance.rst --prefix juno- -o recordings/published
  stopwatt import rst docs/perf/psci-performance-juno.rst --platform juno-r1 --prefix juno- -o r
  stopwatt import csv published/juno-psci.csv --platform juno-r1 -o recordings/published
  stopwatt import csv times.csv --variant v2 -o recordings/v2
  stopwatt import csv docs/perf/data/juno/current --platform juno-r1 -o recordings/current
  stopwatt compare recordings/psci-latency@juno-v2.12 recordings/my-board")]
pub struct ImportOptions {
    /// The file; every line that is not meant is passed over. CSV has at least the columns case,
    /// metric, value and unit. It may be packed with gzip, xz or zstd; - is standard input. For csv
    /// also a folder of TF-A's tables.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Name of what was measured, where the file names no release; by default the file's name.
    #[arg(long, value_name = "NAME", value_parser = output::variant)]
    variant: Option<String>,
    /// Put before a release that the file names: `juno-` makes juno-v2.12 of v2.12.
    #[arg(long, default_value = "", value_name = "TEXT")]
    prefix: String,
    /// Platform that was measured (see `stopwatt list`): numbers CPUs as it does and refuses those
    /// that it lacks.
    #[arg(long, value_name = "NAME|FILE")]
    platform: Option<String>,
    /// Unit of RST tables, ns, us or ms, whatever their captions say.
    #[arg(long, value_name = "UNIT", value_parser = ["ns", "us", "ms"])]
    unit: Option<String>,
    /// Read only RST tables below a heading that has this text, in upper or lower case.
    #[arg(long, value_name = "TEXT")]
    section: Option<String>,
    /// Leave malformed lines out, with a warning, instead of giving up.
    #[arg(long)]
    lenient: bool,
    #[command(flatten)]
    to: Target,
}

/// The recording that is made, and what is told of it.
#[derive(Args)]
struct Target {
    #[command(flatten)]
    measured: recordings::Measured,
    /// Folder of the recording; an older import there is replaced.
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// Replace a recording of a run that is there.
    #[arg(long)]
    replace: bool,
    /// The way to print what was read.
    #[arg(long, default_value = "term", value_name = "FORMAT")]
    format: Format,
}

/// The kind of the file.
#[derive(Clone, Copy)]
pub enum Kind {
    /// A UART log of the test framework.
    RtInstr,
    /// A document.
    Rst,
    /// CSV.
    Csv,
}

/// Reads the file, writes the recording and says what is in it. Nothing is written when the file
/// cannot be read.
pub fn run(
    console: &Console,
    data: &Data,
    kind: Kind,
    options: &ImportOptions,
) -> miette::Result<()> {
    let files = data.platforms();
    let platform = options
        .platform
        .as_deref()
        .map(|name| PlatformFiles::open(&files, name))
        .transpose()?;
    let described = platform
        .as_ref()
        .map(|platform| soc::config::Platform::read(platform.document()))
        .transpose()?;
    let file = import::shown(&options.file);
    let how = Options {
        variant: recordings::variant(options.variant.as_ref(), &file),
        file,
        prefix: options.prefix.clone(),
        unit: options.unit.clone(),
        section: options.section.clone(),
        cpus: described.map(|platform| platform.topology.places()),
        beside: options.file.parent().map(Into::into),
        lenient: options.lenient,
    };
    let file = || import::open(&options.file, &how.file).map(BufReader::new);
    let (name, figures) = match kind {
        Kind::RtInstr => ("rt-instr", import::rt_instr(file()?, &how)),
        Kind::Rst => ("rst", import::rst(file()?, &how)),
        Kind::Csv if options.file.is_dir() => ("csv", import::csv_tables(&options.file, &how)),
        Kind::Csv => ("csv", import::csv_table(file()?, &how)),
    };
    recordings::check_import(&options.to.output, options.to.replace)?;
    let figures = figures?;
    let mut recording = import::record(&figures, &how, name);
    options.to.measured.note(&mut recording.header);
    recording.header.platform = platform.map(|platform| Platform {
        name: platform.name().to_owned(),
        text: platform.document().text().to_owned(),
        figures: Default::default(),
    });
    recordings::write(&mut recording, &options.to.output)?;
    for warning in &figures.warnings {
        console.note(&format!("warning: {warning}; left out"));
    }
    for doubt in &figures.doubts {
        console.note(&format!("warning: {doubt}; {}", doubt.help));
    }
    options.to.format.print(
        console,
        || as_json(&recording, &figures, options),
        || as_text(&recording, &figures, options),
    )
}

/// Release, case and mode with the CPUs and the metrics, in their units, that were read for it.
type Tables = BTreeMap<(String, String, String), (BTreeSet<u16>, BTreeSet<String>, u32)>;

fn tables(recording: &Recording) -> Tables {
    let mut tables = Tables::new();
    for measure in recording.measures() {
        let metric = recording.text(measure.metric);
        if metric.ends_with(recording::metrics::PRINTED_CHANGE) {
            continue;
        }
        let (variant, case, mode) = recording.series_texts(measure.series);
        let table = tables
            .entry((variant.to_owned(), case.to_owned(), mode.to_owned()))
            .or_default();
        table.0.extend(measure.cpu);
        table
            .1
            .insert(format!("{metric} ({})", recording.text(measure.unit)));
        table.2 = table.2.max(measure.iteration + 1);
    }
    tables
}

fn as_text(recording: &Recording, figures: &Figures, options: &ImportOptions) -> String {
    let tables = tables(recording);
    let mut text = String::new();
    for ((variant, case, mode), (cpus, metrics, iterations)) in &tables {
        let metrics = metrics.iter().map(String::as_str).collect_vec();
        text += &format!(
            "{variant}: {}, {}{iterations} iteration{}, {}\n",
            format!("{case} {mode}").trim_end(),
            if cpus.is_empty() {
                String::new()
            } else {
                format!("{} CPUs, ", cpus.len())
            },
            if *iterations == 1 { "" } else { "s" },
            metrics.join(", ")
        );
    }
    let left_out = if figures.left_out > 0 {
        format!(", {} left out", figures.left_out)
    } else {
        String::new()
    };
    text += &format!(
        "{} figures in {} tables{left_out}. Recording: {}\n",
        figures.figures.len(),
        tables.len(),
        options.to.output.display()
    );
    let rows = comparison::row_count(recording);
    text + &format!(
        "One run: `stopwatt compare` needs {FEWEST_RUNS} runs a side for a verdict on its {rows} rows.\n"
    )
}

fn as_json(recording: &Recording, figures: &Figures, options: &ImportOptions) -> serde_json::Value {
    let tables = tables(recording)
        .into_iter()
        .map(|((variant, case, mode), (cpus, metrics, iterations))| {
            json!({
                "release": variant, "case": case, "mode": mode, "cpus": cpus.len(), "iterations": iterations,
                "metrics": metrics,
            })
        })
        .collect_vec();
    json!({
        "recording": options.to.output.display().to_string(),
        "figures": figures.figures.len(),
        "left_out": figures.left_out,
        "rows": comparison::row_count(recording),
        "runs_needed": FEWEST_RUNS,
        "tables": tables,
        "warnings": figures.warnings,
        "doubts": figures.doubts,
    })
}

/// Options of `import vpp-runtime`.
#[derive(Args)]
#[command(after_help = "Examples:
  stopwatt import vpp-runtime show-runtime.txt --output recordings/vpp
  stopwatt import vpp-runtime runtime.txt cache-data.txt errors.txt -o recordings/after
  stopwatt import nodes rte-graph.txt --variant l3fwd -o recordings/l3fwd")]
pub struct ImportRuntimeOptions {
    /// The output of VPP's `show runtime`, `show perfmon statistics` and `show errors`, rte_graph's
    /// or grout's table, telemetry as OpenMetrics, or CSIT's JSON of a test. A session, a log or a
    /// mail may stand around it. It may be packed with gzip, xz or zstd; - is standard input. Of
    /// several files, one has the clocks, and the others what was counted beside them.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// The name of what was measured: a version, a machine.
    #[arg(long, default_value = "vpp", value_name = "NAME", value_parser = output::variant)]
    variant: String,
    /// Frequency of the counter that the clocks count, where it is known.
    #[arg(long, value_name = "HZ")]
    counter_hz: Option<u64>,
    #[command(flatten)]
    to: Target,
}

/// Reads what VPP showed, writes the recording and says what is in it.
pub fn vpp_runtime(console: &Console, options: &ImportRuntimeOptions) -> miette::Result<()> {
    recordings::check_import(&options.to.output, options.to.replace)?;
    let mut runtime = Nodes::default();
    for file in &options.files {
        let path = import::shown(file);
        runtime = nodes::read(runtime, import::open(file, &path)?, &path)?;
    }
    let mut header = Header::new("vpp-runtime", "import", "ticks");
    header.iterations = 1;
    options.to.measured.note(&mut header);
    header.time.counter_hz = options.counter_hz;
    let mut recording = nodes::record(header, &options.variant, &runtime);
    recordings::write(&mut recording, &options.to.output)?;
    let (total, folder) = (runtime.clocks_per_packet(), options.to.output.display());
    options.to.format.print(
        console,
        || json!({ "nodes": runtime.rows, "clocks_per_packet": total, "recording": options.to.output }),
        || format!("{} Recording: {folder}\n", of_runtime(&runtime)),
    )
}

/// What a packet takes, on which threads, and what else the threads did.
fn of_runtime(runtime: &Nodes) -> String {
    let threads = runtime.by_thread();
    let takes = runtime.clocks_per_packet();
    let mut said = match (takes > 0.0, &*runtime.rates) {
        (true, _) => format!("A packet takes {takes:.2} clocks over all nodes"),
        (_, [rates @ .., last]) => {
            let mean = (rates.iter().sum::<f64>() + last) / runtime.rates.len() as f64;
            format!("{mean:.3} million packets came in each second")
        }
        _ => match runtime.samples.shares().first() {
            Some((place, share)) => {
                let (place, percent) = (place.label(), 100.0 * share);
                let of = runtime.samples.count;
                format!("{place} has {percent:.0} % of {of} samples, by what they cost")
            }
            None => "The clocks of a packet are not known".to_owned(),
        },
    };
    if takes > 0.0 && threads.len() > 1 {
        let [low, high] = stats::ends(threads.iter().copied());
        let of = threads.len();
        said += &match high - low < 0.005 {
            true => format!(", and so on each of {of} threads"),
            false => format!("; on {of} threads, each with its own packets, {low:.2} to {high:.2}"),
        };
    }
    said += ".";
    if let Some((polls, node)) = runtime.empty_polls() {
        said += &format!(
            " {node} polls at least {polls:.0} times in vain for each packet, and is left out."
        );
    }
    let dropped = 100.0 * runtime.dropped / runtime.packets();
    if dropped > 0.0 {
        said += &format!(" {dropped:.2} % of the packets were dropped.");
    }
    if let Some(of) = runtime.reasons.iter().max_by_key(|of| of.count) {
        let (node, reason, count) = (&of.node, &of.reason, of.count);
        said += &format!(" {node} counted `{reason}` most often: {count} times.");
    }
    if !runtime.skipped.is_empty() {
        said += &format!(" Skipped columns: {}.", runtime.skipped.join(", "));
    }
    said
}
