//! `stopwatt import ftrace`.

use crate::output::{self, Format};
use crate::recordings;
use clap::Args;
use console::Console;
use import::ftrace::{self, Residency, Trace};
use itertools::Itertools;
use miette::{Result, miette};
use recording::Header;
use serde_json::json;
use std::fmt::Write as _;
use std::path::PathBuf;

/// Options of `import ftrace`.
#[derive(Args)]
#[command(after_help = "Examples:
  stopwatt import ftrace trace.txt
  stopwatt import ftrace trace.txt --cluster 0-3 --cluster 4-7
  ssh board 'cat /sys/kernel/tracing/trace | gzip' | stopwatt import ftrace - --output recordings/board
  stopwatt import ftrace trace.txt --output recordings/phone")]
pub struct ImportTraceOptions {
    /// The kernel's `trace` file, what `trace-cmd report` printed, a systrace page, trace.dat, or a
    /// trace of Perfetto. It may be packed with gzip, xz or zstd; - is standard input.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The name of what was traced: a kernel, a machine; by default the file's name.
    #[arg(long, value_name = "NAME", value_parser = output::variant)]
    variant: Option<String>,
    /// CPUs of a cluster, as 0-3 or 0,2; once for each cluster. Without it they are those that the
    /// trace names (idlestat's do), or else all CPUs are one.
    #[arg(long = "cluster", value_name = "CPUS", value_parser = ftrace::cpu_list)]
    clusters: Vec<Vec<u16>>,
    /// Leave malformed lines out, with a warning, instead of giving up.
    #[arg(long)]
    lenient: bool,
    #[command(flatten)]
    measured: recordings::Measured,
    /// Folder of the recording; an older import there is replaced. Without it the file is only
    /// looked at.
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Replace a recording of a run that is there.
    #[arg(long)]
    replace: bool,
    /// The way to print what was read.
    #[arg(long, default_value = "term", value_name = "FORMAT")]
    format: Format,
}

/// Reads the trace, writes the recording where one is wanted, and says what is in it.
pub fn run(console: &Console, options: &ImportTraceOptions) -> Result<()> {
    let path = import::shown(&options.file);
    let file = import::open(&options.file, &path)?;
    let how = ftrace::Options {
        file: path.clone(),
        lenient: options.lenient,
        clusters: options.clusters.clone(),
    };
    let trace = match &options.output {
        None => ftrace::read(file, &how, None),
        Some(folder) => {
            recordings::check_import(folder, options.replace)?;
            let mut header = Header::new("ftrace", "import", "ns");
            options.measured.note(&mut header);
            ftrace::record(
                file,
                &how,
                &recordings::variant(options.variant.as_ref(), &path),
                header,
                folder,
            )
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
    options.format.print(
        console,
        || as_json(&trace, options),
        || as_text(&trace, options),
    )
}

/// CPUs as the kernel lists them: `0-3,6`.
fn ranges(cpus: &[u16]) -> String {
    let mut parts: Vec<(u16, u16)> = Vec::new();
    for &cpu in cpus {
        match parts.last_mut() {
            Some((_, last)) if *last + 1 == cpu => *last = cpu,
            _ => parts.push((cpu, cpu)),
        }
    }
    parts
        .into_iter()
        .map(|(first, last)| {
            if first == last {
                format!("{first}")
            } else {
                format!("{first}-{last}")
            }
        })
        .join(",")
}

/// Causes of wake-ups that are printed; a recording's report has the others.
const MOST_CAUSES: usize = 10;

/// The idle states of CPUs, clusters and power domains.
fn idle_text(out: &mut String, trace: &Trace) {
    if !trace.idle.is_empty() {
        let _ = writeln!(
            out,
            "  CPU  state    entered     total, ms    mean, us     min, us      max, us    above    below"
        );
    }
    let times = |state: u8, idle: &Residency| {
        let shortest_ns = if idle.entered == 0 {
            0
        } else {
            idle.shortest_ns
        };
        format!(
            "{state:>6} {:>10} {:>13.3} {:>11.1} {:>11.1} {:>12.1}",
            idle.entered,
            idle.total_ns as f64 / 1e6,
            idle.total_ns as f64 / 1e3 / idle.entered.max(1) as f64,
            shortest_ns as f64 / 1e3,
            idle.longest_ns as f64 / 1e3,
        )
    };
    for (cpu, states) in &trace.idle {
        for (state, idle) in states {
            let _ = writeln!(
                out,
                "{cpu:>5} {} {:>8} {:>8}",
                times(*state, idle),
                idle.above,
                idle.below
            );
        }
    }
    for cluster in &trace.clusters {
        let idle_ns: u64 = cluster.states.values().map(|idle| idle.total_ns).sum();
        let share = 100.0 * idle_ns as f64
            / trace
                .span_ns
                .map_or(1, |(first, last)| (last - first).max(1)) as f64;
        let _ = writeln!(
            out,
            "CPUs {} idle together, {share:.1} % of the time, by the shallowest of their states:",
            ranges(&cluster.cpus)
        );
        for (state, idle) in &cluster.states {
            let _ = writeln!(out, "      {}", times(*state, idle));
        }
    }
    for row in &trace.kernel.domains {
        let _ = writeln!(
            out,
            "CPUs {}: {}, {:.3} ms",
            ranges(&row.cpus),
            row.what,
            row.total_ns as f64 / 1e6
        );
    }
}

fn as_text(trace: &Trace, options: &ImportTraceOptions) -> String {
    let mut text = String::new();
    idle_text(&mut text, trace);
    if let Some(wake_ups) = &trace.kernel.wake_ups {
        text += "Wake-ups by cause:\n";
        for row in wake_ups.causes.iter().take(MOST_CAUSES) {
            let _ = writeln!(text, "{:>12}  {}", row.count, row.cause);
        }
        if !wake_ups.unseen.is_empty() {
            let _ = writeln!(text, "Not in the trace: {}.", wake_ups.unseen.join("; "));
        }
    }
    let callbacks = ("RCU's callbacks that were queued", &trace.callbacks);
    for (what, counts) in [callbacks, ("Counted, not kept", &trace.others)] {
        if !counts.is_empty() {
            let counts = counts.iter().map(|(name, count)| format!("{name} {count}"));
            let _ = writeln!(text, "{what}: {}.", counts.format(", "));
        }
    }
    let span_s = trace
        .span_ns
        .map_or(0.0, |(first, last)| (last - first) as f64 / 1e9);
    let left_out = if trace.left_out > 0 {
        format!(", {} lines left out", trace.left_out)
    } else {
        String::new()
    };
    let _ = write!(
        text,
        "{}: {} events in {span_s:.3} s{left_out}.",
        trace.format, trace.events
    );
    match &options.output {
        Some(folder) => text += &format!(" Recording: {}\n", folder.display()),
        None => text += " No recording was written: name a folder with --output.\n",
    }
    text
}

fn as_json(trace: &Trace, options: &ImportTraceOptions) -> serde_json::Value {
    let idle = trace
        .idle
        .iter()
        .flat_map(|(cpu, states)| states.iter().map(move |(state, of)| (cpu, state, of)))
        .map(|(cpu, state, of)| {
            json!({
                "cpu": cpu, "state": state, "entered": of.entered, "total_ns": of.total_ns,
                "min_ns": (of.entered > 0).then_some(of.shortest_ns), "max_ns": of.longest_ns, "above": of.above, "below": of.below,
            })
        })
        .collect_vec();
    let clusters = trace
        .clusters
        .iter()
        .map(|cluster| {
            json!({ "cpus": cluster.cpus, "states": cluster.states.iter().map(|(state, of)| {
                json!({
                    "state": state, "entered": of.entered, "total_ns": of.total_ns, "min_ns": of.shortest_ns, "max_ns": of.longest_ns,
                })
            }).collect_vec() })
        })
        .collect_vec();
    json!({
        "recording": options.output.as_ref().map(|folder| folder.display().to_string()),
        "trace_format": trace.format,
        "clock": trace.clock,
        "events": trace.events,
        "rcu_callbacks": trace.callbacks, "others": trace.others,
        "span_ns": trace.span_ns.map(|(first, last)| [first, last]),
        "idle": idle,
        "clusters": clusters,
        "domains": trace.kernel.domains,
        "wake_ups": trace.kernel.wake_ups,
        "doubts": trace.doubts,
        "left_out": trace.left_out,
        "warnings": trace.warnings,
    })
}
