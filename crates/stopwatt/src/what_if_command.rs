//! `stopwatt what-if psci-latency`.

use crate::arguments::key_value;
use crate::data::DataFolder;
use crate::output;
use crate::run_psci_latency::{machine_with, progress};
use clap::{Args, ValueEnum};
use miette::{IntoDiagnostic, miette};
use psci_cases::{CASES, Case};
use psci_experiments::psci_latency::{self, Options, Release};
use psci_experiments::what_if::{self, SHIPPED, Settings, Vary};
use rayon::prelude::*;
use recording::{Platform, Recording};
use report::WhatIf;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Options of `what-if psci-latency`.
#[derive(Args)]
#[command(max_term_width = 100)]
#[command(after_help = "Examples:
  stopwatt what-if psci-latency --vary scp.channels=1,2,4 --vary topology.clusters=1..16
  stopwatt what-if psci-latency --shipped message-order
  stopwatt what-if psci-latency --vary psci.scp_send=inside-locks,outside-locks --case suspend-level0 --format csv

Every combination is simulated, the order of CPUs being free. Values are parted by commas; 1..16 stands for 1, 2, and so on to
16. Keys are those of `stopwatt run psci-latency --set`.")]
pub struct WhatIfOptions {
    /// A key and its values; may be given again.
    #[arg(long, value_name = "KEY=VALUES", required_unless_present = "shipped")]
    vary: Vec<Vary>,
    /// A what-if that comes with Stopwatt.
    #[arg(long, value_name = "NAME", conflicts_with = "vary", value_parser = SHIPPED.map(|shipped| shipped.name))]
    shipped: Option<String>,
    /// Name of a platform or path of a platform file.
    #[arg(long, default_value = "juno-r1", value_name = "NAME|FILE")]
    platform: String,
    /// The release to start from; the platform's last by default.
    #[arg(long, value_name = "NAME")]
    release: Option<String>,
    /// Override a key in every combination; may be given again.
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_value)]
    set: Vec<(String, String)>,
    /// The case.
    #[arg(long, default_value = "suspend-deepest", value_name = "CASE")]
    case: String,
    /// Its mode: parallel or serial.
    #[arg(long, default_value = "parallel", value_name = "MODE")]
    mode: String,
    /// What is measured: powerdown, wakeup, cache_flush or latency.
    #[arg(long, default_value = recording::metrics::POWERDOWN.name, value_name = "METRIC")]
    metric: String,
    /// Seed of all that is left to chance.
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// Repetitions of each combination.
    #[arg(long, default_value_t = 3, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    iterations: u32,
    /// Folder of a recording of all combinations, a release each; none is written without it.
    #[arg(short, long, visible_alias = "out", value_name = "DIR")]
    output: Option<PathBuf>,
    /// How to print the result.
    #[arg(long, default_value = "term", value_name = "FORMAT")]
    format: WhatIfFormat,
}

/// How a what-if is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum WhatIfFormat {
    /// A table and a chart for people.
    Term,
    /// For machines.
    Json,
    /// For spreadsheets.
    Csv,
}

/// Simulates every combination on all cores of this machine, and prints what came out.
pub fn run(data: &DataFolder, options: &WhatIfOptions) -> miette::Result<()> {
    let platform = data.platform(&options.platform)?;
    let release = match &options.release {
        Some(release) => release.clone(),
        None => data.releases(&platform.0)?.pop().ok_or_else(|| miette!("{} has no release", platform.0))?,
    };
    let case = case(options)?;
    let shipped = SHIPPED.iter().find(|shipped| Some(shipped.name) == options.shipped.as_deref());
    let vary = match shipped {
        Some(shipped) => {
            shipped.vary.iter().map(|text| text.parse()).collect::<Result<Vec<Vary>, _>>().into_diagnostic()?
        }
        None => options.vary.clone(),
    };
    if let Some(vary) = vary.iter().find(|vary| options.set.iter().any(|(key, _)| *key == vary.key)) {
        return Err(miette!(help = "leave one of them out", "`{}` is set and varied", vary.key));
    }
    if let Some(output) = &options.output {
        Recording::check_target(output).into_diagnostic()?;
    }
    let mut machines = Vec::new();
    for settings in what_if::combinations(&vary).into_diagnostic()? {
        // All machines are built before the first runs: what is wrong is said at once.
        let mut sources = data.sources(&platform, &release)?;
        let mut machine = machine_with(&mut sources, options.set.iter().chain(&settings))?;
        let label = label(&release, &settings);
        machine.release.name.clone_from(&label);
        machines.push((settings, sources, Release { machine, orders: BTreeMap::new() }));
    }

    let how = Options { iterations: options.iterations, seed: options.seed, free_seeds: 0 };
    let bar = progress(machines.len());
    let results: Vec<miette::Result<_>> = machines
        .par_iter()
        .map(|(settings, _, release)| {
            let recording = psci_latency::run_case(release, case, &how).into_diagnostic()?;
            bar.inc(1);
            let point = report::what_if_point(&recording, &options.metric, settings).ok_or_else(|| {
                miette!(
                    help = "suspends and cpu-off have powerdown, wakeup and cache_flush; psci-version has latency",
                    "{} {} has no {}",
                    options.case,
                    options.mode,
                    options.metric
                )
            })?;
            Ok((point, options.output.is_some().then_some(recording)))
        })
        .collect();
    bar.finish_and_clear();

    let mut points = Vec::new();
    let mut whole: Option<Recording> = None;
    for (result, (settings, sources, release)) in results.into_iter().zip(&machines) {
        let (point, recording) = result?;
        points.push(point);
        let Some(recording) = recording else { continue };
        let whole = whole.get_or_insert_with(|| Recording::new(recording.header.clone()));
        let costs = sources.costs.text().parse().unwrap_or_default();
        let name = &release.machine.release.name;
        whole.header.costs.insert(name.clone(), costs);
        let described = whole.header.platform.get_or_insert_with(|| Platform {
            name: platform.0.clone(),
            text: platform.1.text().to_owned(),
            figures: toml::Table::new(),
        });
        // The release with the combination's settings under their whole keys: what a comparison names as the inputs that differ.
        let mut figures: toml::Table = sources.release.text().parse().unwrap_or_default();
        figures.extend(settings.iter().map(|(key, value)| (key.clone(), toml::Value::String(value.clone()))));
        described.figures.insert(name.clone(), toml::Value::Table(figures));
        whole.header.versions.insert(name.clone(), release.machine.release.title.clone());
        whole.append(&recording);
    }
    if let (Some(mut whole), Some(output)) = (whole, &options.output) {
        whole.header.settings = options.set.iter().cloned().collect();
        whole.header.run = provenance::this_run();
        whole.write(output).into_diagnostic()?;
    }
    let measured = (options.case.clone(), options.mode.clone(), options.metric.clone());
    let what_if = WhatIf { release, measured, points };
    let text = match options.format {
        WhatIfFormat::Term => {
            let asked = shipped.map_or_else(String::new, |shipped| format!("What if: {}\n", shipped.what));
            asked + &report::what_if_text(&what_if, output::style())
        }
        WhatIfFormat::Json => format!("{:#}\n", report::what_if_json(&what_if)),
        WhatIfFormat::Csv => report::what_if_csv(&what_if).into_diagnostic()?,
    };
    output::print(text.as_bytes())
}

fn case(options: &WhatIfOptions) -> miette::Result<Case> {
    let found = CASES.into_iter().find(|case| case.name == options.case && case.mode.name() == options.mode);
    found.ok_or_else(|| {
        let known = CASES.map(|case| format!("{} {}", case.name, case.mode.name())).join(", ");
        miette!(help = format!("there are: {known}"), "there is no case {} {}", options.case, options.mode)
    })
}

/// What a combination is called in a recording.
fn label(release: &str, settings: &Settings) -> String {
    let parts = settings.iter().map(|(key, value)| format!(" {key}={value}"));
    std::iter::once(release.to_owned()).chain(parts).collect()
}
