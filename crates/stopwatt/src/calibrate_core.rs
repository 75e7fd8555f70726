//! `stopwatt calibrate-core`: this machine's core as a file.

use crate::output::{self, Format};
use console::Console;
use experiment::Progress;
use miette::IntoDiagnostic;
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::Arc;
use tune_experiments::{CoreFile, calibrate};

/// Options of `calibrate-core`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  stopwatt calibrate-core                          into core.toml
  stopwatt calibrate-core -o my-core.toml
  stopwatt tune --node study --core my-core.toml

It takes half a minute: each part is measured until two passes agree. A part that does not repeat itself, or that no core
can have, is marked in the file and printed; no other command uses it. The file holds for the machine that it was made on, and names its processor.")]
pub struct CalibrateCoreOptions {
    /// The file to write.
    #[arg(short, long, value_name = "FILE", default_value = "core.toml")]
    output: PathBuf,
    /// The way to print the result.
    #[arg(long, default_value = "term", value_name = "FORMAT")]
    format: Format,
}

/// Measures, writes and prints.
pub fn run(console: &Console, options: &CalibrateCoreOptions) -> miette::Result<()> {
    let progress: Arc<Progress> = Arc::default();
    progress.say("measuring this core");
    let shown = console.show_only(Arc::clone(&progress));
    let core = calibrate("stopwatt calibrate-core", &progress)?;
    drop(shown);
    let text = toml::to_string(&core).into_diagnostic()?;
    let text = format!(
        "# Written by `stopwatt calibrate-core` on {}; times are in ticks.\n{text}",
        core.core.name
    );
    output::write_file(console, &options.output, text.as_bytes())?;
    match options.format {
        Format::Json => {
            output::print_json(console, &serde_json::to_value(&core).into_diagnostic()?)
        }
        Format::Term => output::print_text(console, &shown_core(&core)),
    }
}

fn shown_core(core: &CoreFile) -> String {
    let mut text = String::new();
    let _ = writeln!(
        text,
        "{}: ticks of the {} at {} MHz",
        core.core.name,
        core.core.counter,
        core.core.counter_hz / 1_000_000
    );
    let _ = writeln!(
        text,
        "\nbytes gone through    huge pages   small pages   (ticks per dependent load)"
    );
    let mut sizes: Vec<u64> = core.latency.iter().map(|of| of.bytes).collect();
    sizes.sort_unstable();
    sizes.dedup();
    for (at, bytes) in sizes.iter().enumerate() {
        // Halves of the list are the two kinds of pages, in the order of their sizes.
        let of = |kind: usize| {
            core.latency
                .get(kind * sizes.len() + at)
                .map_or(String::new(), |of| format!("{:.1}", of.ticks))
        };
        let shown = if *bytes >= 1 << 20 {
            format!("{} MB", bytes >> 20)
        } else {
            format!("{} kB", bytes >> 10)
        };
        let _ = writeln!(text, "{shown:>18} {:>13} {:>13}", of(0), of(1));
    }
    let under_way = core.under_way;
    let _ = writeln!(
        text,
        "\nunder way at once     {:.1} lines of loads, {:.1} lines of prefetches",
        under_way.loads, under_way.prefetches
    );
    let _ = writeln!(
        text,
        "a prefetch            {:.2} ticks",
        core.prefetch.ticks
    );
    let _ = writeln!(
        text,
        "the line beside       {:.1} ticks; lines one behind the other {:.1} each",
        core.by_itself.beside_ticks, core.by_itself.stream_ticks
    );
    let pages: Vec<String> = core
        .pages
        .iter()
        .map(|step| format!("{} {:.1}", step.count, step.ticks))
        .collect();
    let _ = writeln!(text, "small pages, ticks    {}", pages.join(", "));
    for failed in &core.failed {
        let _ = writeln!(text, "not to be believed    {failed}");
    }
    text
}
