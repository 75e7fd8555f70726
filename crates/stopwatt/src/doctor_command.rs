//! `stopwatt doctor`: what this machine can do, experiment by experiment, and what is missing.

use crate::data::Data;
use crate::experiments::EXPERIMENTS;
use crate::output::{self, Format};
use console::Console;
use experiment::World;
use itertools::Itertools;
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
struct Ability {
    name: &'static str,
    /// Experiments and commands that need it.
    of_use: &'static str,
    /// The words about what is there, or else what to type for it.
    found: Result<String, String>,
}

/// Each experiment in each of its worlds, with the abilities that it lacks.
fn experiments(abilities: &[Ability]) -> Vec<(&'static str, World, Vec<&Ability>)> {
    let worlds = EXPERIMENTS.iter().flat_map(|experiment| {
        let about = experiment.about();
        about
            .worlds
            .iter()
            .map(move |(world, _)| (about.name, *world))
    });
    worlds
        .map(|(name, world)| {
            let needed = match world {
                // A program that carries the firmware's images needs the emulator alone.
                World::Qemu if qemu::Images::are_carried() => &abilities[..1],
                World::Qemu => abilities,
                World::Host | World::Sim => &[],
            };
            let is_missing = |ability: &&Ability| ability.found.is_err();
            (name, world, needed.iter().filter(is_missing).collect_vec())
        })
        .collect()
}

/// Looks at the machine and prints what it can do.
pub fn run(console: &Console, data: &Data, options: &DoctorOptions) -> miette::Result<()> {
    let abilities = abilities(data);
    let experiments = experiments(&abilities);
    if options.format == Format::Json {
        let abilities = abilities
            .iter()
            .map(|ability| {
                json!({
                    "name": ability.name, "of_use": ability.of_use, "there": ability.found.is_ok(),
                    "found": ability.found.as_ref().ok(), "remedy": ability.found.as_ref().err(),
                })
            })
            .collect_vec();
        let experiments = experiments
            .iter()
            .map(|(name, world, missing)| {
                let missing = missing.iter().map(|ability| ability.name).collect_vec();
                json!({ "name": name, "world": world.name(), "runs": missing.is_empty(), "missing": missing })
            })
            .collect_vec();
        return output::print_json(
            console,
            &json!({ "machine": abilities, "experiments": experiments }),
        );
    }
    let can = experiments
        .iter()
        .filter(|(_, _, missing)| missing.is_empty())
        .count();
    let mut text = format!(
        "{can} of {} experiments, by their worlds, run here.\n",
        experiments.len()
    );
    let row = |name: String, is_there: bool, words: String| vec![name, yes(is_there), words];
    let rows = experiments.iter().map(|(name, world, missing)| {
        let words = missing.iter().map(|ability| ability.name).collect_vec();
        let words = if words.is_empty() {
            String::new()
        } else {
            format!("needs {}", words.join(", "))
        };
        row(
            format!("{name} in {}", world.name()),
            missing.is_empty(),
            words,
        )
    });
    text += &report::table_text(&["experiment", "runs", ""], rows, 3, console.style);
    let rows = abilities.iter().map(|ability| {
        let words = match &ability.found {
            Ok(found) => found.clone(),
            Err(remedy) => format!("{}: {remedy}", ability.of_use),
        };
        row(ability.name.to_owned(), ability.found.is_ok(), words)
    });
    text += &report::table_text(&["machine", "there", ""], rows, 3, console.style);
    output::print_text(console, &text)
}

fn yes(is_there: bool) -> String {
    if is_there { "yes" } else { "no" }.to_owned()
}

/// What the world qemu needs, the emulator first; the other worlds need nothing.
fn abilities(data: &Data) -> Vec<Ability> {
    let ability = |name, of_use, found| Ability {
        name,
        of_use,
        found,
    };
    vec![
        ability(
            "QEMU for Arm",
            "the world qemu",
            first_line("qemu-system-aarch64", &["--version"]).ok_or_else(|| {
                "apt-get install qemu-system-arm, or your system's package of it".to_owned()
            }),
        ),
        ability(
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
        ability(
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
            ability
                .found
                .as_ref()
                .is_err_and(|remedy| !remedy.is_empty())
                || ability.found.is_ok()
        }));
    }
}
