//! `stopwatt report`.

use crate::data::Data;
use crate::output;
use crate::recordings::Named;
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use console::{Console, Style};
use miette::miette;
use published::Published;
use recording::Recording;
use report::{Format, Report};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

/// Reads the name of a format.
fn format() -> impl TypedValueParser<Value = Format> {
    let names = Format::ALL.map(|format| {
        let value = PossibleValue::new(format.name()).help(format.about());
        if format == Format::Text { value.alias("text") } else { value }
    });
    PossibleValuesParser::new(names).try_map(|name| match name.as_str() {
        "text" => Ok(Format::Text),
        name => Format::of_name(name).ok_or("there is no such format"),
    })
}

/// Options of `report`.
#[derive(Args)]
#[command(max_term_width = 100)]
#[command(after_help = "Examples:
  stopwatt report recordings/psci-latency                        the answers in the terminal
  stopwatt report recordings/psci-latency --all                  every table and cause
  stopwatt report recordings/psci-latency@v2.12                  the tables of one release
  stopwatt report recordings/psci-latency -o latency.html        one page with the CPU timeline
  stopwatt report recordings/psci-latency -o tables.rst          the documents' tables, ready to paste
  stopwatt report recordings/psci-latency -o run.pftrace         a trace for ui.perfetto.dev
  stopwatt report recordings/psci-latency --format csv | head    a row per cell, causes in columns
  stopwatt report recordings/psci-calls --format folded          stacks, for flame graphs of other tools

Without --format the ending of --output decides: .txt .rst .md .csv .json .html .pftrace .folded")]
pub struct ReportOptions {
    /// Folder of the recording; RECORDING@RELEASE picks one of its releases.
    #[arg(value_name = "RECORDING[@RELEASE]")]
    pub recording: String,
    /// The form of the result [default: what the ending of --output says, else term].
    #[arg(long, value_name = "FORMAT", value_parser = format())]
    pub format: Option<Format>,
    /// File to write, whole or not at all; standard output if not given.
    #[arg(short, long, visible_alias = "out", value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Print everything in the terminal, not the answers alone.
    #[arg(long)]
    pub all: bool,
}

/// Reads the recording and writes the report.
pub fn run(console: &Console, data: &Data, options: &ReportOptions) -> miette::Result<()> {
    let format = match (options.format, &options.output) {
        (Some(format), _) => format,
        (None, None) => Format::Text,
        (None, Some(path)) => format_of(path)?,
    };
    if format == Format::Perfetto && options.output.is_none() && std::io::stdout().is_terminal() {
        return Err(miette!(
            help = "give --output FILE, or redirect the output",
            "a Perfetto trace is not for a terminal"
        ));
    }
    if let Some(path) = &options.output {
        output::check_file(path)?;
    }
    let named = Named::parse(&options.recording);
    let recording = named.read_only()?;
    let published = Published::read(&data.published(), &recording.header.experiment)?;
    let out = (options.output.as_deref(), options.all);
    write(console, &published, &recording, &named.folder, format, out)
}

/// The format that a file's name asks for.
pub fn format_of(path: &Path) -> miette::Result<Format> {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_lowercase();
    Format::of_extension(&ending).ok_or_else(|| {
        let endings = Format::ALL.map(|format| format!(".{}", format.extension())).join(", ");
        miette!(
            help = format!("end it in one of {endings}, or give --format to `stopwatt report`"),
            "the ending of {} does not say what to write",
            path.display()
        )
    })
}

/// Writes a report of a recording that lies in `folder`, to a file or to standard output; there the
/// answers alone unless `all` is to be shown.
pub fn write(
    console: &Console,
    published: &Published,
    recording: &Recording,
    folder: &Path,
    format: Format,
    (out, all): (Option<&Path>, bool),
) -> miette::Result<()> {
    if format == Format::Perfetto && recording.events().is_empty() {
        return Err(miette!(
            help = "its measures can be had with --format csv, json or html",
            "{} has no events, and a trace is made of nothing else",
            folder.display()
        ));
    }
    if format == Format::Folded && report::folded_stacks(recording).is_empty() {
        return Err(miette!(
            help = "count by function: `stopwatt run psci-calls --by-function`, or `stopwatt count`",
            "{} was not counted by function, and stacks are of nothing else",
            folder.display()
        ));
    }
    let report = Report::new(recording, &folder.display().to_string(), published);
    // A file is no terminal, and has room for everything.
    let (style, all) = if out.is_some() { (Style::PLAIN, true) } else { (console.style(), all) };
    let bytes = report.render(format, style, all);
    match out {
        Some(path) => output::write_file(console, path, &bytes),
        None if format == Format::Text => output::print_text(console, &String::from_utf8_lossy(&bytes)),
        None => console.print(&bytes),
    }
}
