//! `stopwatt doctor`: what this machine can do, experiment by experiment, and what is missing.

use crate::data::Data;
use crate::experiments::EXPERIMENTS;
use crate::output::{self, Format};
use console::Console;
use experiment::World;
use itertools::Itertools;
use serde::Serialize;
use serde_json::json;
use std::path::Path;
use std::process::{Command, Stdio};

/// Options of `doctor`.
#[derive(clap::Args)]
#[command(after_help = "Example:
  stopwatt doctor --format json")]
pub struct DoctorOptions {
    /// The way to print the result.
    #[arg(long, default_value = "term", value_name = "FORMAT")]
    format: Format,
}

/// A thing that a machine may have.
#[derive(Serialize)]
struct Ability {
    name: &'static str,
    /// Experiments and commands that need it.
    of_use: &'static str,
    there: bool,
    /// The words about what is there.
    found: Option<String>,
    /// What to type for what is not there.
    remedy: Option<String>,
}

impl Ability {
    fn new(name: &'static str, of_use: &'static str, found: Result<String, String>) -> Self {
        Self {
            name,
            of_use,
            there: found.is_ok(),
            remedy: found.as_ref().err().cloned(),
            found: found.ok(),
        }
    }
}

/// An experiment in one of its worlds, and the abilities that it lacks.
#[derive(Serialize)]
struct Offer {
    name: &'static str,
    world: &'static str,
    runs: bool,
    missing: Vec<&'static str>,
}

/// Each experiment in each of its worlds.
fn experiments(abilities: &[Ability]) -> Vec<Offer> {
    let worlds = EXPERIMENTS.iter().flat_map(|experiment| {
        let about = experiment.about();
        about.worlds.iter().map(|(world, _)| (about.name, world))
    });
    worlds
        .map(|(name, world)| {
            let needed = match world {
                // A program that carries the firmware's images needs the emulator alone.
                World::Qemu if qemu::Images::are_carried() => &abilities[..1],
                World::Qemu => abilities,
                World::Host | World::Sim => &[],
            };
            let missing = needed.iter().filter(|ability| !ability.there);
            let missing = missing.map(|ability| ability.name).collect_vec();
            Offer {
                name,
                world: world.name(),
                runs: missing.is_empty(),
                missing,
            }
        })
        .collect()
}

/// Looks at the machine and prints what it can do.
pub fn run(console: &Console, data: &Data, options: &DoctorOptions) -> miette::Result<()> {
    let abilities = abilities(data);
    let experiments = experiments(&abilities);
    if options.format == Format::Json {
        let all = json!({ "machine": abilities, "experiments": experiments });
        return output::print_json(console, &all);
    }
    let can = experiments.iter().filter(|offer| offer.runs).count();
    let mut text = format!(
        "{can} of {} experiments, by their worlds, run here.\n",
        experiments.len()
    );
    let rows = experiments.iter().map(|offer| {
        let needs = match offer.runs {
            true => String::new(),
            false => format!("needs {}", offer.missing.join(", ")),
        };
        let name = format!("{} in {}", offer.name, offer.world);
        vec![name, yes(offer.runs), needs]
    });
    text += &report::table_text(&["experiment", "runs", ""], rows, 3, console.style);
    let rows = abilities.into_iter().map(|of| {
        let remedy = of.remedy.map(|remedy| format!("{}: {remedy}", of.of_use));
        let words = of.found.or(remedy).unwrap_or_default();
        vec![of.name.to_owned(), yes(of.there), words]
    });
    text += &report::table_text(&["machine", "there", ""], rows, 3, console.style);
    output::print_text(console, &text)
}

fn yes(is_there: bool) -> String {
    if is_there { "yes" } else { "no" }.to_owned()
}

/// What the world qemu needs, the emulator first; the other worlds need nothing.
fn abilities(data: &Data) -> Vec<Ability> {
    vec![
        Ability::new(
            "QEMU for Arm",
            "the world qemu",
            first_line("qemu-system-aarch64", &["--version"]).ok_or_else(|| {
                "apt-get install qemu-system-arm, or your system's package of it".to_owned()
            }),
        ),
        Ability::new(
            "checkout and Rust",
            "building the firmware",
            match (data.source_tree(), first_line("cargo", &["--version"])) {
                (Some(folder), Some(cargo)) => Ok(format!("{}, {cargo}", folder.display())),
                (None, _) => {
                    Err("run it in a checkout of Stopwatt, or name one with --data".to_owned())
                }
                (_, None) => Err("rustup.rs installs Rust".to_owned()),
            },
        ),
        Ability::new(
            "Rust's bare-metal target",
            "building the firmware",
            target(),
        ),
    ]
}

/// The first line that a program prints; `None` if it is not there.
fn first_line(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .next()
        .filter(|_| output.status.success())
        .map(document::printable)
}

fn target() -> Result<String, String> {
    const NAME: &str = "aarch64-unknown-none-softfloat";
    let folder = first_line("rustc", &["--print", "target-libdir", "--target", NAME]);
    if folder.is_some_and(|folder| Path::new(&folder).is_dir()) {
        Ok(NAME.to_owned())
    } else {
        Err(format!("rustup target add {NAME}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ability_that_lacks_has_a_remedy() {
        assert!(abilities(&Data::BuiltIn).iter().all(|ability| {
            ability.there
                || ability
                    .remedy
                    .as_ref()
                    .is_some_and(|remedy| !remedy.is_empty())
        }));
    }
}
