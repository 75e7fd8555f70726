//! `stopwatt import ftrace`.

use crate::output::{self, Format};
use clap::Args;
use console::Console;
use import::ftrace::{self, Trace};
use miette::miette;
use recording::Header;
use serde_json::json;
use std::fmt::Write as _;
use std::path::PathBuf;

/// Options of `import ftrace`.
#[derive(Args)]
#[command(after_help = "Examples:
  stopwatt import ftrace trace.txt
  ssh board 'cat /sys/kernel/tracing/trace | gzip' | stopwatt import ftrace - --output recordings/board
  stopwatt import ftrace trace.txt --output recordings/phone")]
pub struct ImportTraceOptions {
    /// The kernel's `trace` file, what `trace-cmd report` printed, a systrace page, trace.dat, or a
    /// trace of Perfetto. It may be packed with gzip, xz or zstd; - is standard input.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The name of what was traced: a kernel, a machine; by default the file's name.
    #[arg(long, value_name = "NAME")]
    variant: Option<String>,
    /// Leave malformed lines out, with a warning, instead of giving up.
    #[arg(long)]
    lenient: bool,
    /// Folder of the recording; an older recording there is replaced. Without it the file is only
    /// looked at.
    #[arg(short, long, visible_alias = "out", value_name = "DIR")]
    output: Option<PathBuf>,
    /// The way to print what was read.
    #[arg(long, default_value = "term", value_name = "FORMAT")]
    format: Format,
}

/// Reads the trace, writes the recording where one is wanted, and says what is in it.
pub fn run(console: &Console, options: &ImportTraceOptions) -> miette::Result<()> {
    let path = options.file.display();
    let file = import::open(&options.file, &path.to_string())?;
    let how = ftrace::Options { file: path.to_string(), lenient: options.lenient };
    let trace = match &options.output {
        None => ftrace::read(file, &how, None),
        Some(folder) => {
            let mut header = Header::new("ftrace", "import", "ns");
            header.versions.insert("stopwatt".to_owned(), env!("CARGO_PKG_VERSION").to_owned());
            header.run = provenance::this_run();
            // The trace was taken elsewhere; this machine only read it.
            (header.run.machine, header.run.kernel) = (None, None);
            let stem = options.file.file_stem().map(|name| name.to_string_lossy().into_owned());
            let variant = options.variant.clone().or(stem).unwrap_or_default();
            ftrace::record(file, &how, &variant, header, folder)
        }
    };
    let trace = trace.map_err(|error| match error {
        ftrace::Error::Import(error) => miette::Report::new(error),
        ftrace::Error::Recording(error) => miette!("{error}"),
    })?;
    for warning in &trace.warnings {
        console.note(&format!("warning: {warning}; left out"));
    }
    for doubt in &trace.doubts {
        console.note(&format!("warning: {path}: {doubt}"));
    }
    match options.format {
        Format::Json => output::print_json(console, &as_json(&trace, options)),
        Format::Term => output::print_text(console, &as_text(&trace, options)),
    }
}

fn as_text(trace: &Trace, options: &ImportTraceOptions) -> String {
    let mut text = String::new();
    if !trace.idle.is_empty() {
        let _ = writeln!(
            text,
            "  CPU  state    entered     total, ms    mean, us     min, us      max, us    above    below"
        );
    }
    for (cpu, states) in &trace.idle {
        for (state, idle) in states {
            let shortest_ns = if idle.entered == 0 { 0 } else { idle.shortest_ns };
            let _ = writeln!(
                text,
                "{cpu:>5} {state:>6} {:>10} {:>13.3} {:>11.1} {:>11.1} {:>12.1} {:>8} {:>8}",
                idle.entered,
                idle.total_ns as f64 / 1e6,
                idle.total_ns as f64 / 1e3 / idle.entered.max(1) as f64,
                shortest_ns as f64 / 1e3,
                idle.longest_ns as f64 / 1e3,
                idle.above,
                idle.below,
            );
        }
    }
    if !trace.others.is_empty() {
        let kinds: Vec<String> = trace.others.iter().map(|(name, count)| format!("{name} {count}")).collect();
        let _ = writeln!(text, "Counted, not kept: {}.", kinds.join(", "));
    }
    let span_s = trace.span_ns.map_or(0.0, |(first, last)| (last - first) as f64 / 1e9);
    let left_out = if trace.left_out > 0 { format!(", {} lines left out", trace.left_out) } else { String::new() };
    let _ = write!(text, "{}: {} events in {span_s:.3} s{left_out}.", trace.format, trace.events);
    match &options.output {
        Some(folder) => text += &format!(" Recording: {}\n", folder.display()),
        None => text += " No recording was written: name a folder with --output.\n",
    }
    text
}

fn as_json(trace: &Trace, options: &ImportTraceOptions) -> serde_json::Value {
    let idle = trace.idle.iter().flat_map(|(cpu, states)| states.iter().map(move |(state, of)| (cpu, state, of)));
    let idle: Vec<_> = idle
        .map(|(cpu, state, of)| {
            json!({
                "cpu": cpu, "state": state, "entered": of.entered, "total_ns": of.total_ns,
                "min_ns": (of.entered > 0).then_some(of.shortest_ns), "max_ns": of.longest_ns, "above": of.above, "below": of.below,
            })
        })
        .collect();
    let warnings: Vec<_> = trace
        .warnings
        .iter()
        .map(|warning| json!({ "file": warning.file, "line": warning.line, "message": warning.message, "help": warning.help }))
        .collect();
    json!({
        "recording": options.output.as_ref().map(|folder| folder.display().to_string()),
        "trace_format": trace.format,
        "clock": trace.clock,
        "events": trace.events,
        "others": trace.others,
        "span_ns": trace.span_ns.map(|(first, last)| [first, last]),
        "idle": idle,
        "doubts": trace.doubts,
        "left_out": trace.left_out,
        "warnings": warnings,
    })
}
