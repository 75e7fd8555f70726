//! The kernel's files of its CPUs.

use super::what::{Board, Cpu, State};
use document::{Error, Result, printable};
use import::cpuidle;
use std::path::Path;

/// The whole number of a file.
pub fn number(place: &str, text: &str) -> Result<u64> {
    let help = "it should be a whole number from 0";
    text.parse()
        .map_err(|_| Error::new(format!("{place} is `{}`", printable(text)), help))
}

/// The board of a folder such as `/sys/devices/system/cpu`, or of a dump of cpuidle.
pub fn board(file: &str, path: &Path) -> Result<Board> {
    let dump = cpuidle::read_states(path).map_err(|error| {
        let help = "name a device tree (.dts, .dtb), or a copy of /sys/devices/system/cpu";
        Error::new(error.to_string(), error.help).with_help(help)
    })?;
    let folder = ["", "cpu", "devices/system/cpu", "sys/devices/system/cpu"]
        .map(|part| path.join(part))
        .into_iter()
        .find(|folder| folder.join("cpu0").is_dir())
        .unwrap_or_else(|| path.to_owned());
    let mut board = Board {
        file: file.to_owned(),
        title: file.to_owned(),
        is_numbered: true,
        ..Board::default()
    };
    let unsaid = [
        "entering takes no time, and exit_us is the whole latency",
        "no timer stops",
    ];
    board.assumed.extend(unsaid.map(str::to_owned));
    board
        .assumed
        .push("CPUs go down together in states with `cluster` in their name".to_owned());
    for (id, states) in &dump.cpus {
        let place = |name: &str| format!("cpu{id}/{name}");
        let text = |name: &str| {
            disk::text(&folder.join(place(name)))
                .unwrap_or_default()
                .trim()
                .to_owned()
        };
        let parts = [
            "cpufreq/related_cpus",
            "topology/cluster_id",
            "topology/physical_package_id",
        ]
        .map(text);
        let capacity = Some(text("cpu_capacity")).filter(|text| !text.is_empty());
        let mut cpu = Cpu {
            number: *id,
            source: format!("cpu{id}"),
            cluster: parts.join("/"),
            core: "cpu".to_owned(),
            capacity: capacity
                .map(|text| number(&place("cpu_capacity"), &text))
                .transpose()?,
            ..Cpu::default()
        };
        cpu.states = idle_states(file, *id, states)?;
        for name in [
            "cpufreq/cpuinfo_max_freq",
            "cpufreq/scaling_available_frequencies",
        ] {
            for khz in text(name).split_whitespace() {
                cpu.add((number(&place(name), khz)?, None, None));
                cpu.points_source = place(name);
            }
        }
        board.cpus.push(cpu);
    }
    Ok(board)
}

/// The idle states of a CPU.
fn idle_states(file: &str, id: u16, states: &[cpuidle::State]) -> Result<Vec<State>> {
    let mut found = Vec::new();
    for state in states {
        let missing = || {
            format!(
                "{file}: {} of CPU {id} has no latency or no residency",
                state.name
            )
        };
        let missing = || Error::new(missing(), "copy the whole folder");
        let (exit, residency) = state
            .latency_us
            .zip(state.residency_us)
            .ok_or_else(missing)?;
        let disabled = if state.disabled {
            ", where it was disabled"
        } else {
            ""
        };
        found.push(State {
            name: state.name.clone(),
            times: [0, exit, residency],
            coupled: state.name.to_lowercase().contains("cluster"),
            source: format!("cpuidle/state{}{disabled}", found.len()),
            ..State::default()
        });
    }
    Ok(found)
}
