//! `stopwatt compare`.

use crate::answer::Answer;
use crate::data::Data;
use crate::on_board::on_board;
use crate::output;
use crate::recordings::NamedRecording;
use clap::{Args, ValueEnum};
use comparison::{BoardSessions, Comparison, Input, Options, Outcome, Policy, Unjudged};
use console::Console;
use document::Document;
use experiment::Files;
use itertools::Itertools;
use miette::{IntoDiagnostic, Result};
use published::PsciReference;
use recording::Recording;
use report::{Findings, PublishedChanges, Style};
use std::path::{Path, PathBuf};

/// Options of `compare`.
#[derive(Args)]
#[command(max_term_width = 100)]
#[command(after_help = "Examples:
  stopwatt run psci-latency && stopwatt compare recordings/psci-latency@juno-v2.11 recordings/psci-latency@juno-v2.12
  stopwatt compare recordings/before recordings/after --threshold 2 --format junit
  stopwatt compare recordings/before recordings/after --format html > changes.html
  stopwatt compare recordings/base recordings/today --policy ci.toml
  stopwatt compare base/counts counts --on juno-r1
  stopwatt compare base/1 base/2 base/3 --with today/1 today/2 today/3
  stopwatt compare origin/main:baseline/board recordings/today --format markdown
  stopwatt compare recordings/psci-latency@juno-v2.12 recordings/my-board recordings/other-board

Rows match by case, measure and CPU; in parallel suspends by role, since the order of locks decides which CPU has which
figure. Of what was measured, a recording is one run, whatever iterations it has, and a verdict needs three
runs a side: --with, or folders that hold recordings. A policy file:
  threshold = 1.0              # percent
  unjudged = \"fail\"            # or \"pass\": the exit status where runs are too few; 3 without it
  iterations = \"runs\"          # iterations are runs of their own, as in a log of several boots
  bounds = [\"above + below <= 8 %\", \"wakeup of domain-sleep <= 2 ms\"]   # in place of changes; of one recording, too
  [[rule]]
  case = \"suspend-deepest\"     # any of case, mode, metric, row; the first rule that matches counts
  metric = \"wakeup\"
  threshold = 5.0              # and least, in the row's unit; better = \"lower\", \"higher\", \"neither\"; ignore = true

Exit status: 0 without a regression or with all bounds held, 1 with one or a bound exceeded, 2 when the recordings cannot be compared, 3 when too few runs, or
two sessions of a board, stand behind a change to tell.")]
pub struct CompareOptions {
    /// Recordings, the first being the base; RECORDING@RELEASE picks one of its releases, and
    /// COMMIT:FOLDER is a recording in a commit of the git repository at hand. A folder of
    /// recordings has a run in each.
    #[arg(required = true, value_name = "RECORDING[@RELEASE]", value_parser = NamedRecording::parser())]
    recordings: Vec<NamedRecording>,
    /// Runs of the other side; then all recordings before this are runs of the base.
    #[arg(long, num_args = 1.., value_name = "RECORDING[@RELEASE]", value_parser = NamedRecording::parser())]
    with: Vec<NamedRecording>,
    /// Changes of fewer percent do not matter; 1 by default.
    #[arg(long, value_name = "PERCENT", value_parser = percent, allow_negative_numbers = true)]
    threshold: Option<f64>,
    /// TOML file with thresholds for some rows.
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// Measures to compare, all but time_in_state by default; may be given again.
    #[arg(long, value_name = "NAME")]
    metric: Vec<String>,
    /// Also tell whether a change of PSCI calls' instructions says something of time on a platform;
    /// alone, name the platforms of which something is known.
    #[arg(long, value_name = "PLATFORM", num_args = 0..=1, default_missing_value = "")]
    on: Option<String>,
    /// Print every table, with the rows that did not change.
    #[arg(long)]
    all: bool,
    /// The way to print the result.
    #[arg(long, default_value = "term", value_name = "FORMAT")]
    format: CompareFormat,
    /// Also write a report, such as changes.html; the ending says which: html, md, json, xml
    /// (JUnit) or txt.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
}

impl CompareFormat {
    /// The format that a report's name asks for.
    fn of_report(path: &Path) -> Result<Self> {
        Ok(
            match output::ending_of(path, &["html", "md", "json", "xml", "txt"])? {
                "html" => Self::Html,
                "md" => Self::Markdown,
                "json" => Self::Json,
                "xml" => Self::Junit,
                _ => Self::Term,
            },
        )
    }
}

/// Format in which a comparison is printed.
#[derive(Clone, Copy, ValueEnum)]
enum CompareFormat {
    /// Tables for people.
    Term,
    /// For machines.
    Json,
    /// Tables for a comment on a change.
    Markdown,
    /// One self-contained page, with how the values scatter.
    Html,
    /// JUnit's XML: a row that became worse has failed, and one that changed with too few runs to
    /// tell.
    Junit,
}

fn percent(text: &str) -> Result<f64, String> {
    text.trim_end_matches('%')
        .trim()
        .parse()
        .ok()
        .filter(|percent: &f64| percent.is_finite() && *percent >= 0.0)
        .ok_or_else(|| {
            format!("`{text}` is no threshold; expected percent from 0, such as 2 or 0.5")
        })
}

/// The runs of a side.
pub struct SideRuns {
    name: String,
    runs: Vec<Recording>,
    given_again: usize,
    variant: Option<String>,
}

impl SideRuns {
    /// Recordings under a name, of which one release or configuration is compared, if it is named.
    pub fn new(name: String, given: Vec<Recording>, variant: Option<String>) -> Self {
        let (runs, given_again) = comparison::runs_of(given);
        Self {
            name,
            runs,
            given_again,
            variant,
        }
    }

    fn findings(&self) -> Vec<Findings<'_>> {
        let runs = self.runs.iter();
        runs.map(|run| Findings::new(run, &self.name, None))
            .collect()
    }
}

/// Reads the recordings of each side.
fn read_sides(options: &CompareOptions) -> Result<Vec<SideRuns>> {
    let sides: Vec<Vec<&NamedRecording>> = if options.with.is_empty() {
        options.recordings.iter().map(|given| vec![given]).collect()
    } else {
        vec![
            options.recordings.iter().collect(),
            options.with.iter().collect(),
        ]
    };
    let read = |side: Vec<&NamedRecording>| {
        let given: Vec<_> = side
            .iter()
            .map(|named| named.read_runs())
            .flatten_ok()
            .collect::<Result<_>>()?;
        let (runs, releases): (Vec<_>, Vec<_>) = given.into_iter().unzip();
        let release = releases.into_iter().next().flatten();
        Ok(SideRuns::new(side_name(&side).to_owned(), runs, release))
    };
    sides.into_iter().map(read).collect()
}

/// A name for the runs of a side: what their names begin with, to the last letter.
fn side_name<'o>(side: &[&'o NamedRecording]) -> &'o str {
    let first = side[0].given.as_str();
    let shared = (0..=first.len())
        .rev()
        .find(|len| {
            let start = first.get(..*len);
            start.is_some_and(|start| side.iter().all(|run| run.given.starts_with(start)))
        })
        .unwrap_or(0);
    let shared = first[..shared].trim_end_matches(|c: char| !c.is_alphabetic());
    if side.len() > 1 && !shared.is_empty() {
        shared
    } else {
        first
    }
}

/// The policy of a file, with the threshold of the command line.
fn policy_of(options: &CompareOptions) -> Result<Policy> {
    let mut policy = match &options.policy {
        Some(path) => Policy::read(&Document::open(path)?)?,
        None => Policy::default(),
    };
    policy.threshold = options.threshold.unwrap_or(policy.threshold);
    Ok(policy)
}

/// Compares and prints what came out; the answer is no with a regression, and unknown with too few
/// runs.
pub fn run(console: &Console, data: &Data, options: &CompareOptions) -> Result<Answer> {
    let policy = policy_of(options)?;
    let report = options
        .report
        .as_ref()
        .map(|path| Ok::<_, miette::Report>((path, CompareFormat::of_report(path)?)))
        .transpose()?;
    if let Some((path, _)) = report {
        output::check_file(path)?;
    }
    let sides = read_sides(options)?;
    let (mut comparison, published) = compared(data, &sides, policy, options.metric.clone())?;
    options
        .on
        .as_ref()
        .map_or(Ok(()), |board| on_board(data, board, &mut comparison))?;
    let told = || report::comparison(&comparison, published.as_ref(), options.all);
    let text = |format: CompareFormat, style: Style| match format {
        CompareFormat::Term => told().text(options.all, style),
        CompareFormat::Json => format!(
            "{:#}\n",
            report::comparison_json(&comparison, published.as_ref())
        ),
        CompareFormat::Markdown => told().markdown(),
        CompareFormat::Html => told().html(),
        CompareFormat::Junit => report::junit(&comparison),
    };
    if let Some((path, format)) = report {
        output::write_file(console, path, text(format, Style::PLAIN).as_bytes())?;
    }
    let text = text(options.format, console.style);
    match options.format {
        CompareFormat::Term => output::print_text(console, &text)?,
        _ => console.print(text.as_bytes())?,
    }
    use Outcome::{Exceeded, Held, NoRegression, Regression};
    Ok(match (comparison.outcome(), comparison.unjudged) {
        (Regression | Exceeded, _) | (Outcome::Unjudged, Unjudged::Fail) => Answer::No,
        (NoRegression | Held, _) | (Outcome::Unjudged, Unjudged::Pass) => Answer::Yes,
        (Outcome::Unjudged, Unjudged::Tell) => Answer::Unknown,
    })
}

/// Compares sides, and finds what a document prints of their changes.
///
/// # Errors
/// The sides cannot be compared, or published figures cannot be read.
pub fn compared(
    data: &Data,
    sides: &[SideRuns],
    policy: Policy,
    metrics: Vec<String>,
) -> Result<(Comparison, Option<PublishedChanges>)> {
    let findings = sides.iter().map(SideRuns::findings).collect_vec();
    let inputs = sides
        .iter()
        .zip(&findings)
        .filter(|(_, runs)| !runs.is_empty())
        .map(|(side, runs)| Input {
            name: side.name.clone(),
            runs,
            given_again: side.given_again,
            variant: side.variant.clone(),
        })
        .collect_vec();
    let base = inputs.first().map(|base| &base.runs[0].recording.header);
    let options = Options {
        policy,
        metrics,
        sessions: sessions(data, base.and_then(|base| base.platform_name()))?,
    };
    let comparison = comparison::compare(&inputs, &options).into_diagnostic()?;
    let published = published(data, &comparison)?;
    Ok((comparison, published))
}

/// One release that was measured in two sessions of a platform, where the data have one.
fn sessions(data: &Data, platform: Option<&str>) -> Result<Option<BoardSessions>> {
    let files = data.published();
    for name in files
        .list("")
        .into_diagnostic()?
        .iter()
        .filter(|name| name.ends_with("sessions.toml"))
    {
        let read = BoardSessions::read(&files.document(name).into_diagnostic()?, |name| {
            files.read(name).unwrap_or_default()
        })?;
        if platform == Some(read.platform()) {
            return Ok(Some(read));
        }
    }
    Ok(None)
}

/// The changes that a document prints between the two releases that are compared, where there is
/// one that does.
fn published(data: &Data, comparison: &Comparison) -> Result<Option<PublishedChanges>> {
    let [base, other] = comparison.sides.as_slice() else {
        return Ok(None);
    };
    let ([from], [to]) = (base.variants.as_slice(), other.variants.as_slice()) else {
        return Ok(None);
    };
    if from == to {
        return Ok(None);
    }
    let Some(platform) = base
        .platform
        .as_deref()
        .filter(|_| base.platform == other.platform)
    else {
        return Ok(None);
    };
    let reference = PsciReference::for_platform(&data.published(), platform)?;
    Ok(reference.and_then(|reference| report::published_changes(&reference, from, to)))
}
