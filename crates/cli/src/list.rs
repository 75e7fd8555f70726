//! `stopwatt list`.

use crate::arguments::{Arguments, Format, ListOptions};
use crate::data::DataFolder;
use crate::output;
use clap::CommandFactory;
use procedures::CASES;
use serde_json::json;
use soc::config::{Platform, Release};

const PSCI_LATENCY: &str = "psci-latency";

/// What `run` can run, with what it says of itself.
fn experiments() -> Vec<(String, String)> {
    let commands = Arguments::command();
    let run = commands.find_subcommand("run").into_iter().flat_map(clap::Command::get_subcommands);
    run.map(|command| (command.get_name().to_owned(), command.get_about().map(ToString::to_string).unwrap_or_default()))
        .collect()
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
    let experiments = experiments();
    let cases: Vec<String> = CASES.iter().map(|case| format!("{} {}", case.name, case.mode.name())).collect();
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
            let experiments: Vec<_> = experiments
                .iter()
                .map(|(name, about)| match name.as_str() {
                    PSCI_LATENCY => json!({ "name": name, "what": about, "cases": cases }),
                    _ => json!({ "name": name, "what": about }),
                })
                .collect();
            let json = json!({ "platforms": platforms, "experiments": experiments });
            output::print(format!("{json:#}\n").as_bytes())
        }
        Format::Term => {
            let mut text = "platforms\n".to_owned();
            for (platform, releases) in &platforms {
                text += &format!("  {}: {}, {} CPUs\n", platform.name, platform.title, platform.topology.cpus.len());
                for (release, published) in releases {
                    text += &format!("    {}: {}, {published} published cells\n", release.name, release.title);
                }
            }
            text += "experiments\n";
            for (name, about) in &experiments {
                text += &format!("  {name}: {about}\n");
                if name == PSCI_LATENCY {
                    text += &format!("    cases: {}\n", cases.join(", "));
                }
            }
            output::print(text.as_bytes())
        }
    }
}
