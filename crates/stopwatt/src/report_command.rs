//! `stopwatt report`.

use crate::answer::Answer;
use crate::data::Data;
use crate::output;
use crate::recordings::NamedRecording;
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use console::{Console, Style};
use miette::{Result, bail, miette};
use published::Published;
use recording::Recording;
use report::{Format, Report};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use sweep::Summary;

/// Reads the name of a format.
fn form() -> impl TypedValueParser<Value = Format> {
    let names = Format::ALL.map(|format| PossibleValue::new(format.name()).help(format.about()));
    PossibleValuesParser::new(names)
        .try_map(|name| Format::of_name(&name).ok_or("there is no such format"))
}

/// Options of `report`.
#[derive(Args)]
#[command(max_term_width = 100)]
#[command(after_help = "Examples:
  stopwatt report recordings/psci-latency                        the answers in the terminal
  stopwatt report recordings/psci-latency --all                  every table and cause
  stopwatt report recordings/psci-latency@v2.12                  the tables of one release
  stopwatt report recordings/psci-latency -o latency.html        one page with the CPU timeline
  stopwatt report recordings/psci-latency -o run.pftrace         a trace for ui.perfetto.dev
  stopwatt report recordings/psci-latency --format csv | head    a row per cell, causes in columns
  stopwatt report recordings/psci-calls --format folded          stacks, for flame graphs of other tools

Without --format the ending of --output decides: .txt .md .csv .json .html .pftrace .folded")]
pub struct ReportOptions {
    /// Folder of the recording; RECORDING@RELEASE picks one of its releases.
    #[arg(value_name = "RECORDING[@RELEASE]", value_parser = NamedRecording::parser())]
    pub recording: NamedRecording,
    /// The form of the result [default: what the ending of --output says, else term].
    #[arg(long, value_name = "FORMAT", value_parser = form())]
    pub format: Option<Format>,
    /// File to write, whole or not at all; standard output if not given.
    #[arg(short, long, visible_alias = "report", value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Print everything in the terminal, not the answers alone.
    #[arg(long)]
    pub all: bool,
    /// Exit with 0 though chunks of a sweep are missing.
    #[arg(long)]
    pub partial: bool,
}

/// Reads the recording and writes the report; the answer is no for a sweep of which chunks are
/// missing.
pub fn run(console: &Console, data: &Data, options: &ReportOptions) -> Result<Answer> {
    let format = match (options.format, &options.output) {
        (Some(format), _) => format,
        (None, None) => Format::Text,
        (None, Some(path)) => format_of(path)?,
    };
    if format == Format::Perfetto && options.output.is_none() && std::io::stdout().is_terminal() {
        bail!(
            help = "give --output FILE, or redirect the output",
            "a Perfetto trace is not for a terminal"
        );
    }
    if let Some(path) = &options.output {
        output::check_file(path)?;
    }
    let named = &options.recording;
    if named.release.is_none() && sweep::is_sweep(&named.folder) {
        let summary = sweep::summary(&named.folder)?;
        // The parts of one run are told as one run.
        if summary.has_points_to_compare() {
            return sweep_report(console, &summary, &named.folder, format, options);
        }
    }
    let recording = named.read_only()?;
    write(
        console,
        &Published::read(&data.published(), &recording.header.experiment)?,
        &recording,
        &named.folder,
        format,
        (options.output.as_deref(), options.all),
    )
    .map(|()| Answer::Yes)
}

/// Writes the report of a sweep.
fn sweep_report(
    console: &Console,
    summary: &Summary,
    folder: &Path,
    format: Format,
    options: &ReportOptions,
) -> Result<Answer> {
    let folder = folder.display().to_string();
    let out = (options.output.as_deref(), options.all);
    hand_out(console, format, out, |style, all| {
        report::sweep_report(summary, &folder, format, style, all).ok_or_else(|| {
            let name = format.name();
            miette!(
                help = "name one of its points: SWEEP@POINT, as `stopwatt compare` does",
                "{name} is of one run, and this is a sweep"
            )
        })
    })?;
    let (there, chunks) = summary.chunks;
    if there == chunks || options.partial {
        return Ok(Answer::Yes);
    }
    console.note(&format!(
        "{there} of {chunks} chunks are there; --partial takes that for enough"
    ));
    Ok(Answer::No)
}

/// The report that `--report` asks for beside what is printed, with its format; what would keep it
/// from being written is found here.
pub fn report_of(path: Option<&PathBuf>) -> Result<Option<(&Path, Format)>> {
    let Some(path) = path else { return Ok(None) };
    let format = format_of(path)?;
    output::check_file(path)?;
    Ok(Some((path, format)))
}

/// Writes the report that `--report` asks for of a recording that no experiment published figures
/// for.
pub fn write_beside(
    console: &Console,
    recording: &Recording,
    folder: &Path,
    path: Option<&PathBuf>,
) -> Result<()> {
    match report_of(path)? {
        Some((path, format)) => write(
            console,
            &Published::default(),
            recording,
            folder,
            format,
            (Some(path), true),
        ),
        None => Ok(()),
    }
}

/// The way in which a command tells of the recording that it leaves.
pub struct Telling<'t> {
    /// The file of `--report`, with its format.
    pub report: Option<(&'t Path, Format)>,
    /// True if JSON is printed.
    pub json: bool,
    /// True if everything is printed, not the answers alone.
    pub all: bool,
}

/// The options of a command that leaves a recording and tells of it.
#[derive(Args, Clone)]
pub struct TellingOptions {
    /// Replace a recording of another kind, or of another run, that is there.
    #[arg(long)]
    pub replace: bool,
    /// Also write a report, such as page.html; the ending says which (see `stopwatt report`).
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Print everything in the terminal, not the answers alone.
    #[arg(long)]
    pub all: bool,
    /// The way to print the result.
    #[arg(long, default_value = "term", value_name = "FORMAT")]
    pub format: output::Format,
}

impl TellingOptions {
    /// What they ask for.
    ///
    /// # Errors
    /// No report has the ending of the report's file.
    pub fn telling(&self) -> Result<Telling<'_>> {
        let report = report_of(self.report.as_ref())?;
        Ok(Telling {
            report,
            json: self.format == output::Format::Json,
            all: self.all,
        })
    }
}

/// Prints what a recording says and writes the report that is asked for. `left` is the folder with
/// what came of writing the recording there. What was computed is told even if it cannot be
/// written; that error is the result.
pub fn tell(
    console: &Console,
    published: &Published,
    recording: &Recording,
    left: Option<(&Path, Result<()>)>,
    how: &Telling<'_>,
) -> Result<()> {
    let folder = left
        .as_ref()
        .filter(|(_, written)| written.is_ok())
        .map(|(folder, _)| *folder);
    let reported = match how.report {
        Some((path, format)) => write(
            console,
            published,
            recording,
            folder.unwrap_or(Path::new("RECORDING")),
            format,
            (Some(path), true),
        ),
        None => Ok(()),
    };
    let shown = folder
        .map(|folder| folder.display().to_string())
        .unwrap_or_default();
    let told = Report::new(recording, &shown, published);
    if how.json {
        output::print_json(console, &told.run_json())?;
    } else {
        let mut text = match folder {
            Some(_) => told.run_text(console.style, how.all),
            None => told.story_text(console.style, how.all),
        };
        if left.is_none() {
            text.push_str("No recording was written: name a folder with --output.\n");
        }
        if let (Some((path, _)), Ok(())) = (how.report, &reported) {
            text.push_str(&format!("Report: {}\n", path.display()));
        }
        output::print_text(console, &text)?;
    }
    left.map_or(Ok(()), |(_, written)| written).and(reported)
}

/// The format that a file's name asks for.
pub fn format_of(path: &Path) -> Result<Format> {
    Format::of_extension(&output::ending(path)).ok_or_else(|| {
        let endings = Format::ALL
            .map(|format| format!(".{}", format.extension()))
            .join(", ");
        miette!(
            help = format!("end it in one of {endings}, or give --format to `stopwatt report`"),
            "the ending of {} does not say what to write",
            path.display()
        )
    })
}

/// Writes a report of a recording that lies in `folder`, to a file or to standard output.
pub fn write(
    console: &Console,
    published: &Published,
    recording: &Recording,
    folder: &Path,
    format: Format,
    out: (Option<&Path>, bool),
) -> Result<()> {
    if format == Format::Perfetto && recording.events().is_empty() {
        bail!(
            help = "its measures can be had with --format csv, json or html",
            "{} has no events, and a trace is made of nothing else",
            folder.display()
        );
    }
    if format == Format::Folded && report::folded_stacks(recording).is_empty() {
        bail!(
            help = "count by function: `stopwatt run psci-calls --by-function`",
            "{} was not counted by function, and stacks are of nothing else",
            folder.display()
        );
    }
    let shown = folder.display().to_string();
    let report = Report::new(recording, &shown, published);
    hand_out(console, format, out, |style, all| {
        Ok(report.render(format, style, all))
    })
}

/// Makes a report for a file or for standard output; there the answers alone unless `all` is to be
/// shown.
fn hand_out(
    console: &Console,
    format: Format,
    (out, all): (Option<&Path>, bool),
    report: impl FnOnce(Style, bool) -> Result<Vec<u8>>,
) -> Result<()> {
    // A file is no terminal, and has room for everything.
    let (style, all) = if out.is_some() {
        (Style::PLAIN, true)
    } else {
        (console.style, all)
    };
    let bytes = report(style, all)?;
    match out {
        Some(path) => output::write_file(console, path, &bytes),
        None if format == Format::Text => {
            output::print_text(console, &String::from_utf8_lossy(&bytes))
        }
        None => console.print(&bytes),
    }
}
