//! `stopwatt what-if --from DIR`: the same table, chart and page of a data set that a sweep left.

use crate::completion;
use crate::experiments::EXPERIMENTS;
use crate::output;
use crate::what_if::{self, FORMATS};
use clap::{Arg, ArgMatches, Command, value_parser};
use console::Console;
use document::one_of;
use miette::miette;
use recording::{Recording, Series};
use report::{Findings, WhatIf};
use std::collections::BTreeSet;
use std::path::PathBuf;
use sweep::PointRecording;

/// Gives the command the options that stand in place of an experiment's name.
pub fn with_options(command: Command) -> Command {
    let from = Arg::new("from")
        .long("from")
        .value_name("DIR")
        .required(true)
        .add(completion::recordings())
        .value_parser(value_parser!(PathBuf))
        .help("The folder of a data set that `stopwatt sweep` left; nothing is run. Seeds and repetitions count as iterations, of which seeds show where chance puts a figure.");
    let one_of = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).requires("from").help(help)
    };
    command
        .subcommand_negates_reqs(true)
        .args_conflicts_with_subcommands(true)
        .arg(from)
        .arg(one_of("release", "NAME", "The release that is shown, where the data set has several."))
        .arg(one_of(
            "case",
            "CASE",
            "The case that is shown; by default the one that a what-if of the experiment runs.",
        ))
        .arg(one_of("mode", "MODE", "The mode of the case."))
        .arg(what_if::metric_argument().requires("from"))
        .arg(what_if::report_argument().requires("from"))
        .arg(output::format_argument(&FORMATS))
        .arg(output::all_argument())
}

/// Reads the data set and prints what came out.
pub fn run(console: &Console, matches: &ArgMatches) -> miette::Result<()> {
    let wanted = what_if::wanted_metric(matches)?;
    let folder: &PathBuf = matches.get_one("from").ok_or_else(|| miette!("--from is missing"))?;
    if !sweep::is_sweep(folder) {
        return Err(miette!(
            help = "stopwatt sweep PLAN -o DIR makes one; stopwatt report and compare read recordings",
            "`{}` is no data set of a sweep",
            folder.display()
        ));
    }
    let (points, note) = sweep::points(folder)?;
    if let Some(note) = note {
        console.note(&note);
    }
    let chosen = Selection::new(&points, matches)?;

    let mut of_settings: Vec<(Vec<(String, String)>, Recording)> = Vec::new();
    for PointRecording { number, mut settings, mut recording } in points {
        let varied = settings.iter().any(|(key, _)| key == "seed");
        settings.retain(|(key, _)| key != "seed");
        if varied && recording.header.iterations == 1 && !recording.header.seeded_modes.contains(&chosen.mode) {
            // One iteration of each seed: a sample of what chance does.
            recording.header.seeded_modes.push(chosen.mode.clone());
        }
        let kept: Vec<Series> =
            recording.all_series().filter(|series| chosen.is(recording.series_texts(*series))).collect();
        if kept.is_empty() {
            continue;
        }
        recording.keep_series(&kept);
        let at = of_settings.iter().position(|(known, _)| *known == settings).unwrap_or_else(|| {
            of_settings.push((settings, Recording::new(recording.header.clone())));
            of_settings.len() - 1
        });
        of_settings[at].1.append_as(&recording, |variant| format!("{variant} point={number}"));
    }

    let (mut points, mut metric) = (Vec::new(), String::new());
    for (settings, recording) in of_settings {
        metric = what_if::metric_of(&recording, wanted)?;
        let point = report::what_if_point(&Findings::new(&recording, "", None), &metric, &settings)
            .ok_or_else(|| miette!("{}", what_if::missing(&recording, &metric)))?;
        points.push(point);
    }
    let Selection { release, case, mode } = chosen;
    what_if::print(console, &WhatIf { release, measured: (case, mode, metric), points }, matches, None)
}

/// The release, case and mode that are shown.
struct Selection {
    release: String,
    case: String,
    mode: String,
}

impl Selection {
    /// The metric that is asked for; else the one that there is alone; else what a what-if of the
    /// experiment has by default.
    fn new(points: &[PointRecording], matches: &ArgMatches) -> miette::Result<Self> {
        let mut known: BTreeSet<(String, String, String)> = BTreeSet::new();
        for point in points {
            known.extend(point.recording.all_series().map(|series| {
                let (release, case, mode) = point.recording.series_texts(series);
                (release.to_owned(), case.to_owned(), mode.to_owned())
            }));
        }
        let experiment = points.first().map_or("", |point| point.recording.header.experiment.as_str());
        let about = EXPERIMENTS.iter().map(|known| known.about()).find(|about| about.name == experiment);
        let usual = |name: &str| {
            let defaults = about.map_or(&[][..], |about| about.sweep_defaults);
            defaults.iter().find(|(setting, _)| setting.name() == name).map(|(_, value)| *value)
        };
        let pick = |name: &'static str, there: BTreeSet<&str>| -> miette::Result<String> {
            let list = || there.iter().copied().collect::<Vec<_>>().join(", ");
            if let Some(asked) = matches.get_one::<String>(name) {
                let short = |known: &&&str| known.ends_with(&format!("-{asked}"));
                let found = there.get(asked.as_str()).or_else(|| there.iter().find(short));
                return found.map(|found| (*found).to_owned()).ok_or_else(|| {
                    let known: Vec<&str> = there.iter().copied().collect();
                    miette!(help = one_of(asked, &known), "the data set has no {name} `{asked}`")
                });
            }
            match (there.len(), usual(name).filter(|usual| there.contains(usual))) {
                (1, _) => Ok(there.iter().copied().collect()),
                (_, Some(usual)) => Ok(usual.to_owned()),
                _ => {
                    Err(miette!(help = format!("--{name} picks one of {}", list()), "the data set has several {name}s"))
                }
            }
        };
        let release = pick("release", known.iter().map(|(release, _, _)| release.as_str()).collect())?;
        let of_release = || known.iter().filter(|(of, _, _)| *of == release);
        let case = pick("case", of_release().map(|(_, case, _)| case.as_str()).collect())?;
        let mode =
            pick("mode", of_release().filter(|(_, of, _)| *of == case).map(|(_, _, mode)| mode.as_str()).collect())?;
        Ok(Self { release, case, mode })
    }

    fn is(&self, (release, case, mode): (&str, &str, &str)) -> bool {
        (release, case, mode) == (self.release.as_str(), self.case.as_str(), self.mode.as_str())
    }
}
