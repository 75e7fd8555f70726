//! `stopwatt what-if`: an experiment with every combination of some settings.

use crate::data::Data;
use crate::output;
use crate::report_command::TellingOptions;
use crate::run::{self, OutputOptions};
use crate::run_arguments::{self, given, world};
use clap::{ArgMatches, Args, Command, FromArgMatches, ValueEnum};
use console::Console;
use document::nearest;
use experiment::sweep::{self, Settings as Combination, Vary};
use experiment::{About, Conditions, Experiment, Observer, Progress, Request, Settings, World};
use itertools::Itertools;
use miette::{IntoDiagnostic, Result, bail, miette};
use rayon::prelude::*;
use recording::{Recording, metrics};
use report::{Findings, Style, WhatIf};
use std::path::PathBuf;
use std::sync::Arc;

/// A form in which a what-if is printed.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Form {
    /// A table and a chart for people.
    Term,
    /// One self-contained page, with how the CPUs scatter.
    Html,
    /// For machines.
    Json,
}

/// What a what-if is told beside what a run of the experiment is.
#[derive(Args)]
struct WhatIfOptions {
    /// A key and its values; may be given again.
    #[arg(long, value_name = "KEY=VALUES")]
    vary: Vec<Vary>,
    /// What is measured; by default what the cases are about, such as powerdown.
    #[arg(long, value_name = "METRIC", help_heading = "Output")]
    metric: Option<String>,
    /// Also write a report, such as page.html; the ending says which: html, json or txt.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    report: Option<PathBuf>,
    /// The way to print the result.
    #[arg(
        long,
        default_value = "term",
        value_name = "FORMAT",
        help_heading = "Output"
    )]
    format: Form,
    /// Print everything in the terminal, not the answers alone.
    #[arg(long, help_heading = "Output")]
    all: bool,
}

/// The command that varies an experiment's settings.
pub fn command(experiment: &dyn Experiment) -> Command {
    let about = experiment.about();
    let own = about.keys();
    let example = match own {
        Some(_) => "--vary scp.channels=1,2,4 --vary topology.clusters=1..16",
        None => "--vary KEY=VALUES",
    };
    let built = Command::new(about.name)
        .max_term_width(100)
        .after_help(format!(
        "Example:\n  stopwatt what-if {} {example}\n\n\
         Every combination is run. Values are separated by commas; 1..16 stands for 1, 2, and so on to 16. A key is a setting of \
         the experiment{}.",
        about.name,
        if own.is_some() {
            ", or a key of the platform as --set of `stopwatt run` takes it"
        } else {
            ""
        }
    ));
    WhatIfOptions::augment_args(built)
        .about(about.summary)
        .args(run_arguments::arguments(about, Some(about.sweep_defaults)))
}

/// Runs every combination, side by side on all cores of this machine, and prints what came out.
pub fn run(
    console: &Console,
    data: &Data,
    experiment: &'static dyn Experiment,
    matches: &ArgMatches,
) -> Result<()> {
    let about = experiment.about();
    let options = WhatIfOptions::from_arg_matches(matches).into_diagnostic()?;
    let (vary, base) = (&options.vary, base(about, matches, &options.vary)?);
    if let [Vary { key, text, .. }] = &vary[..]
        && text.contains("..")
        && about
            .setting(key)
            .is_some_and(|setting| setting.check(text).is_ok())
    {
        // The setting takes a range itself: one run tells where in it something changes.
        let told = base.into_iter().chain([(key.clone(), text.clone())]);
        return run::with(
            console,
            data,
            experiment,
            world(about, matches),
            Settings::new(about, world(about, matches), told)?,
            &options.of_run(),
        )
        .map(drop);
    }
    let wanted = options.wanted_metric()?;
    // What keeps the report from being written is said before the runs.
    options.report()?;

    let (platforms, tree) = (data.platforms(), data.source_tree());
    let request = |settings: Settings| Request {
        world: world(about, matches),
        settings,
        platforms: &platforms,
        conditions: Conditions::default(),
        source_tree: tree.as_deref(),
        kept: None,
    };
    let mut requests = Vec::new();
    for combination in sweep::combinations(vary).into_diagnostic()? {
        let request = request(settings_of(about, matches, &base, &combination)?);
        // All requests are checked before the first runs: what is wrong is said at once.
        experiment.check(&request)?;
        requests.push((combination, request));
    }

    let results = all(console, experiment, &requests, wanted);
    let (mut points, mut measured) = (Vec::new(), None);
    for result in results {
        let (point, what_if) = result?;
        points.push(point);
        measured = measured.or(what_if);
    }
    let what_if = measured.ok_or_else(|| miette!("there is no combination"))?;
    let what_if = WhatIf { points, ..what_if };
    options.print(console, &what_if)
}

/// The settings of a combination.
fn settings_of(
    about: &'static About,
    matches: &ArgMatches,
    base: &[(String, String)],
    combination: &Combination,
) -> Result<Settings> {
    let varied = combination
        .iter()
        .map(|(key, value)| about.given(key, value));
    Ok(Settings::new(
        about,
        world(about, matches),
        base.iter().cloned().chain(varied),
    )?)
}

/// What every run of a what-if is told: what a run takes, and what stands in for the rest here.
fn base(
    about: &'static About,
    matches: &ArgMatches,
    vary: &[Vary],
) -> Result<Vec<(String, String)>> {
    if vary.is_empty() {
        bail!(
            help = "give --vary KEY=VALUES, such as --vary iterations=1,10",
            "there is nothing to vary"
        );
    }
    let mut base = given(about, matches);
    if let Some(vary) = vary.iter().find(|vary| {
        base.iter()
            .any(|(name, value)| is_about(name, value, &vary.key))
    }) {
        bail!(
            help = "leave one of them out",
            "`{}` is set and varied",
            vary.key
        );
    }
    for (setting, value) in about.sweep_defaults {
        let name = setting.name();
        if base.iter().all(|(known, _)| known != name) && vary.iter().all(|vary| vary.key != name) {
            base.push((name.to_owned(), (*value).to_owned()));
        }
    }
    Ok(base)
}

/// A combination's point, and what is measured.
type CombinationRun = (report::WhatIfPoint, Option<WhatIf>);

/// Runs all combinations, side by side.
fn all(
    console: &Console,
    experiment: &'static dyn Experiment,
    requests: &[(Combination, Request<'_>)],
    wanted: Option<&str>,
) -> Vec<Result<CombinationRun>> {
    let about = experiment.about();
    let progress: Arc<Progress> = Arc::default();
    let shown = console.show(progress.clone());
    progress.expect(requests.len() as u64, "combinations");
    let one = |(combination, request): &(Combination, Request<'_>)| {
        progress.check()?;
        // A run's own steps are not those of the sweep.
        let observer = Observer::new(Progress::of_part(&progress));
        let recording = experiment.run(request, &observer)?;
        progress.step();
        let metric = metric_of(&recording, wanted)?;
        let point =
            report::what_if_point(&Findings::new(&recording, "", None), &metric, combination)
                .ok_or_else(|| miette!("{} {}", about.name, missing(&recording, &metric)))?;
        Ok((point, what_is_measured(&recording, metric, about)))
    };
    // What is measured on this machine would be disturbed by others at its side.
    let is_measured = requests
        .iter()
        .any(|(_, request)| request.world == World::Host);
    let results = if is_measured {
        requests.iter().map(one).collect()
    } else {
        requests.par_iter().map(one).collect()
    };
    drop(shown);
    results
}

impl WhatIfOptions {
    /// What a single run is told that stands for the what-if.
    fn of_run(&self) -> OutputOptions {
        let format = match self.format {
            Form::Json => output::Format::Json,
            Form::Term | Form::Html => output::Format::Term,
        };
        OutputOptions {
            output: None,
            told: TellingOptions {
                replace: false,
                report: self.report.clone(),
                all: self.all,
                format,
            },
        }
    }

    /// The file of `--report`, if it is given, with its form; it can be written.
    fn report(&self) -> Result<Option<(&PathBuf, Form)>> {
        let Some(path) = &self.report else {
            return Ok(None);
        };
        let form = match output::ending_of(path, &["html", "json", "txt"])? {
            "html" => Form::Html,
            "json" => Form::Json,
            _ => Form::Term,
        };
        output::check_file(path)?;
        Ok(Some((path, form)))
    }

    /// Prints a what-if, the answers alone or all, and writes its report.
    fn print(&self, console: &Console, what_if: &WhatIf) -> Result<()> {
        let text = |form: Form, style: Style| match form {
            Form::Json => format!("{:#}\n", report::what_if_json(what_if)),
            Form::Html => report::what_if(what_if).html(),
            Form::Term => report::what_if(what_if).text(self.all, style),
        };
        if let Some((path, form)) = self.report()? {
            output::write_file(console, path, text(form, Style::PLAIN).as_bytes())?;
        }
        let text = text(self.format, console.style);
        if self.format == Form::Term {
            output::print_text(console, &text)
        } else {
            console.print(text.as_bytes())
        }
    }

    /// The metric that is asked for; something measures it.
    fn wanted_metric(&self) -> Result<Option<&str>> {
        let wanted = self.metric.as_deref();
        if let Some(wanted) = wanted.filter(|wanted| metrics::by_name(wanted).is_none()) {
            let near = nearest(wanted, metrics::METRICS.iter().map(|metric| metric.name));
            let help = near.map_or_else(
                || "see docs/recording.md".to_owned(),
                |near| format!("did you mean {near}?"),
            );
            bail!(help = help, "nothing measures `{wanted}`");
        }
        Ok(wanted)
    }
}

/// True if a setting that was given is the key that is to be varied.
fn is_about(name: &str, value: &str, key: &str) -> bool {
    name == key
        || (name == "set"
            && value
                .split_once('=')
                .is_some_and(|(known, _)| known.trim() == key))
}

/// The metric that is asked for, or what the recording's cases are about.
fn metric_of(recording: &Recording, wanted: Option<&str>) -> Result<String> {
    let names = || {
        recording
            .measures()
            .iter()
            .map(|measure| recording.text(measure.metric))
    };
    if let Some(wanted) = wanted {
        return if names().any(|name| name == wanted) {
            Ok(wanted.to_owned())
        } else {
            Err(miette!("{}", missing(recording, wanted)))
        };
    }
    let measured = metrics::METRICS
        .iter()
        .filter(|metric| names().any(|name| name == metric.name));
    let first = measured
        .clone()
        .find(|metric| metric.principal)
        .map(|metric| metric.name)
        .or_else(|| names().next())
        .ok_or_else(|| miette!("the run measured nothing"))?;
    // A count of what was there says nothing of what a setting does.
    let is_neither = |metric: &&metrics::Metric| metric.better == metrics::Better::Neither;
    let directed = measured.clone().filter(|metric| !is_neither(metric));
    if measured
        .filter(is_neither)
        .any(|metric| metric.name == first)
        && directed.clone().next().is_some()
    {
        bail!(
            help = format!(
                "give --metric, one of {}",
                directed.map(|metric| metric.name).join(", ")
            ),
            "a run measures several things"
        );
    }
    Ok(first.to_owned())
}

/// Why there is no such metric, and which there are.
fn missing(recording: &Recording, metric: &str) -> String {
    let measures = recording.measures().iter();
    let names = measures.map(|measure| recording.text(measure.metric));
    let mut known = names.sorted_unstable().dedup();
    let (_, case, mode) = recording
        .all_series()
        .next()
        .map_or(("", "", ""), |series| recording.series_texts(series));
    format!("{case} {mode} has no {metric}; it has {}", known.join(", "))
}

/// A what-if without its points: the release, case, mode and metric that are measured, and what of.
fn what_is_measured(recording: &Recording, metric: String, about: &About) -> Option<WhatIf> {
    let first = report::measured(recording, &metric, |_| true)?;
    let (variant, case, mode) = recording.series_texts(first.series);
    let all = recording
        .measures()
        .iter()
        .filter(|of| of.metric == first.metric);
    let subject = first.subject.map_or("", |subject| recording.text(subject));
    let variants = all
        .clone()
        .any(|of| recording.series_texts(of.series).0 != variant);
    let of = [
        (all.clone().any(|of| of.subject != first.subject), subject),
        (variants, variant),
    ]
    .into_iter()
    .filter(|(several, name)| *several && !name.is_empty());
    // What experiments call the number of their draws.
    let draws = ["free-seeds", "seeds", "rounds", "repetitions", "iterations"]
        .into_iter()
        .find(|name| about.setting(name).is_some());
    Some(WhatIf {
        of: of.map(|(_, name)| format!(" of {name}")).collect(),
        release: variant.to_owned(),
        measured: (case.to_owned(), mode.to_owned(), metric),
        points: Vec::new(),
        draws,
    })
}
