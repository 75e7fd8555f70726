//! `stopwatt doctor`: what this machine can do, experiment by experiment, and what is missing.

use crate::data::Data;
use crate::experiments::EXPERIMENTS;
use crate::output::{self, Format};
use console::Console;
use experiment::{Need, World};
use itertools::Itertools;
use serde_json::json;
use std::fs;
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
    let has = |need: Need| {
        abilities
            .iter()
            .find(|ability| ability.name == name_of(need))
    };
    EXPERIMENTS
        .iter()
        .flat_map(|experiment| {
            let about = experiment.about();
            about.worlds.iter().map(move |world| (about.name, world))
        })
        .map(|(name, world)| {
            // A program that carries the firmware's images builds none.
            let needs = || {
                world
                    .needs
                    .iter()
                    .filter(|need| **need != Need::SourceTree || !qemu::Images::are_carried())
            };
            let mut missing = needs().filter_map(|need| has(*need)).collect_vec();
            // The firmware is built for a target of its own.
            if needs().any(|need| *need == Need::SourceTree) {
                missing.extend(abilities.iter().find(|ability| ability.name == TARGET));
            }
            missing.retain(|ability| ability.found.is_err());
            (name, world.world, missing)
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

const QEMU: &str = "QEMU for Arm";
const CHECKOUT: &str = "checkout and Rust";
const TARGET: &str = "Rust's bare-metal target";

fn name_of(need: Need) -> &'static str {
    match need {
        Need::Qemu => QEMU,
        Need::SourceTree => CHECKOUT,
    }
}

fn abilities(data: &Data) -> Vec<Ability> {
    let ability = |name, of_use, found| Ability {
        name,
        of_use,
        found,
    };
    let qemu = first_line("qemu-system-aarch64", &["--version"]);
    let version = qemu.as_deref().and_then(version_of);
    vec![
        ability(
            QEMU,
            "the world qemu",
            qemu.clone().ok_or_else(|| {
                "apt-get install qemu-system-arm, or your system's package of it".to_owned()
            }),
        ),
        ability(
            "counts by function",
            "psci-calls --by-function, count",
            match version {
                Some(version) if version >= (4, 2) => Ok("this QEMU loads the plugin".to_owned()),
                Some(_) => Err("QEMU 4.2 or later".to_owned()),
                None => Err("QEMU comes first".to_owned()),
            },
        ),
        ability(
            CHECKOUT,
            "building the firmware",
            match (data.source_tree(), first_line("cargo", &["--version"])) {
                (Some(folder), Some(cargo)) => Ok(format!("{}, {cargo}", folder.display())),
                (None, _) => {
                    Err("run it in a checkout of Stopwatt, or name one with --data".to_owned())
                }
                (_, None) => Err("rustup.rs installs Rust".to_owned()),
            },
        ),
        ability(TARGET, "building the firmware", target()),
        ability(
            "Debian's packages",
            "linux-boot and other guests fetch a kernel",
            apt(),
        ),
        ability(
            "hardware counters",
            "dataplane: cache misses and stalls beside the clocks",
            counters(),
        ),
        ability(
            "huge pages",
            "dataplane: fewer misses of the TLB",
            huge_pages(),
        ),
        ability("idle states", "capture cpuidle", idle_states()),
        ability(
            "git",
            "compare COMMIT:FOLDER",
            first_line("git", &["--version"]).ok_or_else(|| "apt-get install git".to_owned()),
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

/// The numbers of `QEMU emulator version 7.2.22 (...)`.
fn version_of(line: &str) -> Option<(u32, u32)> {
    let mut numbers = line
        .split("version ")
        .nth(1)?
        .split(['.', ' '])
        .map_while(|number| number.parse().ok());
    Some((numbers.next()?, numbers.next()?))
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

fn apt() -> Result<String, String> {
    match first_line("apt-get", &["--version"]) {
        Some(version) => Ok(version),
        None => Err("a system of Debian's family, or linux-boot --kernel FILE".to_owned()),
    }
}

fn counters() -> Result<String, String> {
    let device = fs::read_dir("/sys/bus/event_source/devices")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .find(|name| name == "cpu" || name.starts_with("cpu_") || name.starts_with("armv8"));
    let paranoid: Option<i32> = fs::read_to_string("/proc/sys/kernel/perf_event_paranoid")
        .ok()
        .and_then(|text| text.trim().parse().ok());
    match (device, paranoid) {
        (None, _) => Err("this machine, or its virtual one, shows none".to_owned()),
        (Some(_), Some(level)) if level > 2 && !is_root() => Err(format!(
            "sysctl kernel.perf_event_paranoid=2 (it is {level}), or run it as root"
        )),
        (Some(device), _) => Ok(device),
    }
}

fn huge_pages() -> Result<String, String> {
    let count = |text: String| {
        text.lines()
            .find_map(|line| line.strip_prefix("HugePages_Total:"))?
            .trim()
            .parse::<u64>()
            .ok()
            .filter(|count| *count > 0)
    };
    let reserved = fs::read_to_string("/proc/meminfo").ok().and_then(count);
    let transparent =
        fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled").unwrap_or_default();
    match reserved {
        Some(pages) => Ok(format!("{pages} reserved")),
        None if transparent.contains("[always]") || transparent.contains("[madvise]") => {
            Ok("transparent".to_owned())
        }
        None => Err("sysctl vm.nr_hugepages=64".to_owned()),
    }
}

/// The capabilities that this process has in force, a bit each.
fn capabilities() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0)
}

/// Bits of CAP_NET_ADMIN and CAP_NET_RAW (`linux/capability.h`).
const NETWORK: u64 = 1 << 12 | 1 << 13;

fn is_root() -> bool {
    capabilities() & NETWORK == NETWORK
}

fn idle_states() -> Result<String, String> {
    const FOLDER: &str = "/sys/devices/system/cpu/cpu0/cpuidle";
    let driver =
        fs::read_to_string("/sys/devices/system/cpu/cpuidle/current_driver").unwrap_or_default();
    if Path::new(FOLDER).join("state0").is_dir() {
        Ok(format!("driver {}", document::printable(driver.trim())))
    } else {
        Err(format!(
            "{FOLDER} has no states; virtual machines have none"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_read_from_what_qemu_prints() {
        let line = "QEMU emulator version 7.2.22 (Debian 1:7.2+dfsg-7+deb12u18)";
        assert_eq!(version_of(line), Some((7, 2)));
        assert_eq!(version_of("QEMU emulator version 10.0.2"), Some((10, 0)));
        assert_eq!(version_of("something else"), None);
    }

    #[test]
    fn every_need_has_an_ability_and_every_ability_that_lacks_a_remedy() {
        let abilities = abilities(&Data::BuiltIn);
        for need in [Need::Qemu, Need::SourceTree] {
            assert!(
                abilities
                    .iter()
                    .any(|ability| ability.name == name_of(need)),
                "{need:?}"
            );
        }
        assert!(abilities.iter().all(|ability| {
            ability
                .found
                .as_ref()
                .is_err_and(|remedy| !remedy.is_empty())
                || ability.found.is_ok()
        }));
    }
}
