//! The kernel's files of its CPUs, and dumps of its energy model.

use super::what::{Board, Cpu, State};
use document::{Error, printable};
use import::cpuidle;
use std::path::Path;

/// CPUs as the kernel lists them: `0-3,6` or `0 1 2`.
fn cpus(text: &str) -> Option<Vec<u16>> {
    let mut all = Vec::new();
    for part in text.split([',', ' ']).filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        all.extend(first.parse::<u16>().ok()?..=last.parse().ok()?);
    }
    Some(all)
}

fn number(place: &str, text: &str) -> Result<u64, Error> {
    let help = "it should be a whole number from 0";
    text.parse().map_err(|_| Error::new(format!("{place} is `{}`", printable(text)), help))
}

/// The board of a folder such as `/sys/devices/system/cpu`, or of a dump of cpuidle.
pub(super) fn board(file: &str, path: &Path) -> Result<Board, Error> {
    let dump = cpuidle::read_states(path).map_err(|error| {
        let help = "name a device tree (.dts, .dtb), or a copy of /sys/devices/system/cpu";
        Error::new(error.to_string(), error.help).with_help(help)
    })?;
    let within = ["", "cpu", "devices/system/cpu", "sys/devices/system/cpu"].map(|part| path.join(part));
    let folder = within.iter().find(|folder| folder.join("cpu0").is_dir()).map_or(path, |folder| folder);
    let mut board = Board { file: file.to_owned(), title: file.to_owned(), ..Board::default() };
    board.assumed.push("entering takes no time: the kernel's files have one latency, which is exit_us here".to_owned());
    board.assumed.push("no timer stops, and CPUs go down together in states with `cluster` in their name".to_owned());
    for (number_of, states) in &dump.cpus {
        let place = |name: &str| format!("cpu{number_of}/{name}");
        let text = |name: &str| disk::text(&folder.join(place(name))).unwrap_or_default().trim().to_owned();
        let parts = ["cpufreq/related_cpus", "topology/cluster_id", "topology/physical_package_id"].map(text);
        let capacity = Some(text("cpu_capacity")).filter(|text| !text.is_empty());
        let mut cpu = Cpu {
            number: *number_of,
            source: format!("cpu{number_of}"),
            cluster: parts.join("/"),
            core: "cpu".to_owned(),
            capacity: capacity.map(|text| number(&place("cpu_capacity"), &text)).transpose()?,
            ..Cpu::default()
        };
        for state in states {
            let missing = || {
                Error::new(
                    format!("{file}: {} of CPU {number_of} has no latency or no residency", state.name),
                    "copy the whole folder",
                )
            };
            let (exit, residency) = state.latency_us.zip(state.residency_us).ok_or_else(missing)?;
            let disabled = if state.disabled { ", where it was disabled" } else { "" };
            cpu.states.push(State {
                name: state.name.clone(),
                times: [0, exit, residency],
                coupled: state.name.to_lowercase().contains("cluster"),
                source: format!("cpuidle/state{}{disabled}", cpu.states.len()),
                ..State::default()
            });
        }
        for name in ["cpufreq/cpuinfo_max_freq", "cpufreq/scaling_available_frequencies"] {
            for khz in text(name).split_whitespace() {
                cpu.add((number(&place(name), khz)?, None, None));
                cpu.points_source = place(name);
            }
        }
        board.cpus.push(cpu);
    }
    Ok(board)
}

/// Gives the CPUs of a dump of `energy_model` its operating points. Lines may be quoted in a mail.
pub(super) fn take_energy_model(board: &mut Board, file: &str, text: &str) -> Result<(), Error> {
    // Each line has a domain's name, what follows it in the path, and the content.
    let parts = |line: &'_ str| -> Option<[String; 3]> {
        let (path, content) = line.trim_start_matches(['>', ' ', '\t']).trim_end().rsplit_once(':')?;
        let of = path.rsplit_once("energy_model/").map_or(path, |(_, of)| of).trim_start_matches("./");
        let (domain, rest) = of.split_once('/')?;
        Some([domain, rest, content].map(str::to_owned))
    };
    let all: Vec<[String; 3]> = text.lines().filter_map(parts).collect();
    let mut taken = false;
    for [domain, _, listed] in all.iter().filter(|[_, rest, _]| rest == "cpus") {
        let mut model = Cpu { points_source: format!("{file}: {domain}"), ..Cpu::default() };
        for [_, rest, power] in all.iter().filter(|[of, ..]| of == domain) {
            let Some(state) = rest.strip_suffix("/power") else { continue };
            let place = |name: &str| format!("{file}: {domain}/{state}/{name}");
            let performance = all.iter().find(|[of, rest, _]| of == domain && *rest == format!("{state}/performance"));
            let capacity = performance.map(|[.., text]| number(&place("performance"), text)).transpose()?;
            let khz = number(&place(""), state.split(':').nth(1).unwrap_or_default())?;
            model.add((khz, capacity, Some(number(&place("power"), power)?)));
        }
        let help = "give the dump of this board; `cpus` lists CPUs, such as 0-3";
        let wrong = || {
            Error::new(format!("{file}: {domain}/cpus is `{}`, not CPUs of {}", printable(listed), board.file), help)
        };
        for number in cpus(listed).ok_or_else(wrong)? {
            let at = board.cpus.iter().position(|cpu| cpu.number == number).ok_or_else(wrong)?;
            board.cpus[at].points.clone_from(&model.points);
            board.cpus[at].points_source.clone_from(&model.points_source);
        }
        taken |= !model.points.is_empty();
    }
    if !taken {
        let help = "take it by: grep -r . /sys/kernel/debug/energy_model";
        return Err(Error::new(format!("{file}: no power of CPUs is in it: cpu0/cpus and cpu0/ps:KHZ/power"), help));
    }
    board
        .assumed
        .push("powers of the energy model are microwatts, as from Linux 5.19 on: a dump has no unit".to_owned());
    Ok(())
}
