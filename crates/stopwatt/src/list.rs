//! `stopwatt list`.

use crate::data::{Data, Part};
use crate::experiments::EXPERIMENTS;
use crate::output::Format;
use console::Console;
use dataplane_experiments::platform::CorePlatform;
use experiment::{About, Kind};
use itertools::Itertools;
use miette::Result;
use platforms::PlatformFiles;
use published::{PsciReference, StrideReference};
use serde_json::{Value, json};
use soc::config::{Platform, Release};
use std::fmt::Write;

/// Options of `list`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  stopwatt list --format json
  stopwatt list governors
  stopwatt list governors menu@6.12.117 menu@6.1.150")]
pub struct ListOptions {
    /// In place of everything, what changed in menu and teo from kernel to kernel.
    #[arg(value_enum, value_name = "WHAT")]
    what: Option<What>,
    /// With `governors`: the rules of these alone, such as menu@6.12.117.
    #[arg(value_name = "GOVERNOR", requires = "what")]
    pub governors: Vec<String>,
    /// The way to print the list.
    #[arg(long, default_value = "term", value_name = "FORMAT")]
    pub format: Format,
}

/// A part of what there is.
#[derive(Clone, PartialEq, clap::ValueEnum)]
enum What {
    /// menu and teo by kernel.
    Governors,
}

impl ListOptions {
    /// True if governors are asked for, and nothing else.
    pub fn has_governors(&self) -> bool {
        self.what == Some(What::Governors)
    }
}

/// Prints which data is in force, platforms with their releases, and experiments with their worlds
/// and cases.
pub fn run(console: &Console, data: &Data, options: &ListOptions) -> Result<()> {
    let (files, published) = (data.platforms(), data.published());
    let (platforms, cores) = (platforms(&files, &published)?, cores(&files, &published)?);
    let abouts = EXPERIMENTS
        .iter()
        .map(|experiment| experiment.about())
        .collect_vec();
    options.format.print(
        console,
        || {
            let platforms = platforms.iter().map(|(platform, releases)| {
                let releases = releases.iter().map(|(release, published)| {
                    json!({
                        "name": release.name, "title": release.title, "source": release.source,
                        "published_cells": published,
                    })
                });
                json!({
                    "name": platform.name, "title": platform.title, "cpus": platform.topology.cpus.len(),
                    "releases": releases.collect_vec(),
                })
            });
            let cores = cores.iter().map(|(core, published)| {
                let about = &core.platform;
                json!({ "name": about.name, "title": about.about, "core": core.core.name, "published_cells": published })
            });
            json!({
                "data": data.words(),
                "platforms": platforms.collect_vec(),
                "cores": cores.collect_vec(),
                "experiments": abouts.iter().map(|about| experiment_json(about)).collect_vec(),
            })
        },
        || as_text(data, &platforms, &cores, &abouts),
    )
}

fn as_text(
    data: &Data,
    platforms: &[ListedPlatform],
    cores: &[(CorePlatform, usize)],
    abouts: &[&About],
) -> String {
    let mut out = format!("data: {}\n", data.words());
    let _ = writeln!(out, "platforms (run psci-latency --platform NAME)");
    for (platform, releases) in platforms {
        let _ = writeln!(
            out,
            "  {}: {}, {} CPUs",
            platform.name,
            platform.title,
            platform.topology.cpus.len()
        );
        for (release, published) in releases {
            let _ = writeln!(
                out,
                "    {}: {}, {published} published cells",
                release.name, release.title
            );
        }
    }
    let _ = writeln!(out, "cores (run prefetch --world sim --platform NAME)");
    for (core, published) in cores {
        let about = &core.platform;
        let _ = writeln!(
            out,
            "  {}: {}, {published} published cells",
            about.name, about.about
        );
    }
    let _ = writeln!(out, "experiments (run NAME)");
    for about in abouts {
        let worlds = about
            .worlds
            .iter()
            .map(|(world, _)| world.name())
            .collect_vec();
        let _ = writeln!(
            out,
            "  {} [{}]: {}",
            about.name,
            worlds.join(", "),
            about.summary
        );
        if !about.cases.is_empty() {
            let _ = writeln!(out, "    {}", about.cases.join(", "));
        }
    }
    out
}

/// A platform with its releases, each with its number of published cells.
type ListedPlatform = (Platform, Vec<(Release, usize)>);

fn platforms(files: &Part, published: &Part) -> Result<Vec<ListedPlatform>> {
    let mut platforms = Vec::new();
    for name in PlatformFiles::names(files)? {
        let opened = PlatformFiles::open(files, &name)?;
        let platform = Platform::read(opened.document())?;
        let reference = PsciReference::for_platform(published, &name)?;
        let mut releases = Vec::new();
        for release in opened.releases()? {
            let release = Release::read(&opened.release(&release)?, &platform)?;
            let count = reference
                .as_ref()
                .map_or(&[][..], |reference| &reference.cells)
                .iter()
                .filter(|cell| cell.release == release.name)
                .count();
            releases.push((release, count));
        }
        platforms.push((platform, releases));
    }
    Ok(platforms)
}

/// Cores, each with its number of published cells.
fn cores(files: &Part, published: &Part) -> Result<Vec<(CorePlatform, usize)>> {
    let mut cores = Vec::new();
    for name in CorePlatform::names(files)? {
        let core = CorePlatform::read(files, &name)?;
        let cells = StrideReference::for_platform(published, &name)?
            .map_or(0, |reference| reference.cells.len());
        cores.push((core, cells));
    }
    Ok(cores)
}

fn experiment_json(about: &About) -> Value {
    let worlds = about.worlds.iter().map(
        |(world, about)| json!({ "name": world.name(), "about": about, "needs": world.needs() }),
    );
    let settings = about.settings.iter().map(|setting| {
        let described = setting.described();
        let worlds = described.worlds.iter().map(|world| world.name()).collect_vec();
        let kind = setting.kind();
        let choices = match &kind {
            Kind::Choice(choices) => choices.iter().map(|(name, _)| *name).collect(),
            _ => Vec::new(),
        };
        json!({
            "name": described.name, "about": described.about, "kind": kind.name(), "choices": choices,
            "value": kind.value_name(), "unit": described.unit, "default": setting.default(), "worlds": worlds,
        })
    });
    json!({
        "name": about.name, "title": about.summary, "cases": about.cases, "worlds": worlds.collect_vec(),
        "settings": settings.collect_vec(),
    })
}
