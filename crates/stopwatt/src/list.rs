//! `stopwatt list`.

use crate::arguments::{Experiment, Format, ListOptions};
use crate::data::DataFolder;
use crate::output;
use clap::Subcommand;
use dataplane_commands::data::{CorePlatform, core_platforms, read_published};
use dataplane_experiments::graphs::GraphKind;
use miette::IntoDiagnostic;
use psci_cases::CASES;
use serde_json::json;
use soc::config::{Platform, Release};
use std::fmt::Write;

/// An experiment and what it can be run on.
struct Listed {
    name: String,
    about: String,
    cases: Vec<String>,
}

/// The subcommands of `run`, as they describe themselves.
fn experiments() -> Vec<Listed> {
    let command = Experiment::augment_subcommands(clap::Command::new("run"));
    let listed = command.get_subcommands().map(|experiment| {
        let name = experiment.get_name().to_owned();
        let cases = match name.as_str() {
            "psci-latency" => CASES.iter().map(|case| format!("{} {}", case.name, case.mode.name())).collect(),
            "dataplane" => GraphKind::ALL.iter().map(|graph| graph.name().to_owned()).collect(),
            _ => Vec::new(),
        };
        Listed { name, about: experiment.get_about().map(ToString::to_string).unwrap_or_default(), cases }
    });
    listed.collect()
}

/// Prints platforms with their releases, and experiments with their cases.
pub fn run(data: &DataFolder, options: &ListOptions) -> miette::Result<()> {
    let mut platforms = Vec::new();
    for name in data.platforms()? {
        let platform = Platform::read(&data.platform(&name)?.1)?;
        let reference = data.psci_reference(&name)?;
        let mut releases = Vec::new();
        for release in data.releases(&name)? {
            let release = Release::read(&data.release(&name, &release)?, &platform)?;
            let published = reference
                .as_ref()
                .map_or(0, |reference| reference.cells.iter().filter(|cell| cell.release == release.name).count());
            releases.push((release, published));
        }
        platforms.push((platform, releases));
    }
    let cores = core_platforms(data.root())
        .and_then(|names| names.iter().map(|name| CorePlatform::read(data.root(), name)).collect::<Result<Vec<_>, _>>())
        .into_diagnostic()?;
    let strides = read_published(data.root()).into_diagnostic()?.len();
    match options.format {
        Format::Json => {
            let platforms: Vec<_> = platforms
                .iter()
                .map(|(platform, releases)| {
                    let releases: Vec<_> = releases
                        .iter()
                        .map(|(release, published)| {
                            json!({ "name": release.name, "title": release.title, "source": release.source, "published_cells": published })
                        })
                        .collect();
                    json!({
                        "name": platform.name, "title": platform.title, "cpus": platform.topology.cpus.len(),
                        "releases": releases,
                    })
                })
                .collect();
            let cores: Vec<_> = cores
                .iter()
                .map(|core| {
                    let about = &core.platform;
                    json!({ "name": about.name, "title": about.about, "core": core.core.name, "published_cells": strides })
                })
                .collect();
            let experiments: Vec<_> =
                experiments().iter().map(|e| json!({ "name": e.name, "title": e.about, "cases": e.cases })).collect();
            output::print_json(&json!({ "platforms": platforms, "cores": cores, "experiments": experiments }))
        }
        Format::Term => {
            let mut out = String::new();
            let _ = writeln!(out, "platforms (run psci-latency --platform NAME)");
            for (platform, releases) in &platforms {
                let _ = writeln!(out, "  {}: {}, {} CPUs", platform.name, platform.title, platform.topology.cpus.len());
                for (release, published) in releases {
                    let _ = writeln!(out, "    {}: {}, {published} published cells", release.name, release.title);
                }
            }
            let _ = writeln!(out, "cores (run prefetch --world sim --platform NAME)");
            for core in &cores {
                let _ = writeln!(out, "  {}: {}, {strides} published cells", core.platform.name, core.platform.about);
            }
            let _ = writeln!(out, "experiments (run NAME)");
            for experiment in experiments() {
                let _ = writeln!(out, "  {}: {}", experiment.name, experiment.about);
                if !experiment.cases.is_empty() {
                    let _ = writeln!(out, "    {}", experiment.cases.join(", "));
                }
            }
            output::print(out.as_bytes())
        }
    }
}
