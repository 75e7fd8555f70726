//! `stopwatt report`.

use crate::data::DataFolder;
use crate::output;
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use miette::{IntoDiagnostic, miette};
use recording::Recording;
use report::{Findings, Format};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

/// Reads the name of a format.
fn format() -> impl TypedValueParser<Value = Format> {
    let names = Format::ALL.map(|format| PossibleValue::new(format.name()).help(format.about()));
    PossibleValuesParser::new(names).try_map(|name| Format::of_name(&name).ok_or("there is no such format"))
}

/// Options of `report`.
#[derive(Args)]
#[command(max_term_width = 100)]
#[command(after_help = "Examples:
  stopwatt report recordings/psci-latency                        tables and causes in the terminal
  stopwatt report recordings/psci-latency --out latency.html     one page with the CPU timeline
  stopwatt report recordings/psci-latency --out tables.rst       the documents' tables, ready to paste
  stopwatt report recordings/psci-latency --out run.pftrace      a trace for ui.perfetto.dev
  stopwatt report recordings/psci-latency --format csv | head    a row a cell, causes in columns

Without --format the ending of --out decides: .txt .rst .md .csv .json .html .pftrace")]
pub struct ReportOptions {
    /// Folder of the recording.
    #[arg(value_name = "RECORDING")]
    pub recording: PathBuf,
    /// What to make of it [default: what the ending of --out says, else text].
    #[arg(long, value_name = "FORMAT", value_parser = format())]
    pub format: Option<Format>,
    /// File to write, whole or not at all; standard output if not given.
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// Reads the recording and writes the report.
pub fn run(data: &DataFolder, options: &ReportOptions) -> miette::Result<()> {
    let format = match (options.format, &options.out) {
        (Some(format), _) => format,
        (None, None) => Format::Text,
        (None, Some(path)) => format_of(path)?,
    };
    if format == Format::Perfetto && options.out.is_none() && std::io::stdout().is_terminal() {
        return Err(miette!(
            help = "give --out FILE, or redirect the output",
            "a Perfetto trace is not for a terminal"
        ));
    }
    let recording = Recording::read(&options.recording).into_diagnostic()?;
    write(data, &recording, &options.recording, format, options.out.as_deref())
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

/// Writes a report of a recording that lies in `folder`, to a file or to standard output.
pub fn write(
    data: &DataFolder,
    recording: &Recording,
    folder: &Path,
    format: Format,
    out: Option<&Path>,
) -> miette::Result<()> {
    let platform = recording.header.platform.as_ref();
    let reference = match platform {
        Some(platform) => data.psci_reference(&platform.name)?,
        None => None,
    };
    let document = Findings::new(recording, &folder.display().to_string(), reference.as_ref());
    // A file is no terminal.
    let style = if out.is_some() { report::Style::PLAIN } else { output::style() };
    let bytes = report::render(&document, format, style);
    match out {
        Some(path) => output::write_file(path, &bytes),
        None => output::print(&bytes),
    }
}
