//! The kernel's files of its CPUs, and dumps of its energy model.

use super::what::{Board, Cpu, State};
use document::{Error, printable};
use import::{cpuidle, ftrace};
use std::path::Path;

fn number(place: &str, text: &str) -> Result<u64, Error> {
    let help = "it should be a whole number from 0";
    text.parse()
        .map_err(|_| Error::new(format!("{place} is `{}`", printable(text)), help))
}

/// The board of a folder such as `/sys/devices/system/cpu`, or of a dump of cpuidle.
pub fn board(file: &str, path: &Path) -> Result<Board, Error> {
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
fn idle_states(file: &str, id: u16, states: &[cpuidle::State]) -> Result<Vec<State>, Error> {
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

/// The domain of a line of a dump, what follows it in the path, and the content.
fn energy_line(line: &str) -> Option<[&str; 3]> {
    let (path, content) = str::trim_matches(line, ['>', ' ', '\t', '\r']).rsplit_once(':')?;
    let (domain, rest) = path
        .rsplit_once("energy_model/")
        .map_or(path, |(_, path)| path)
        .trim_start_matches("./")
        .split_once('/')?;
    ["cpus", "/power", "/performance"]
        .iter()
        .any(|end| rest.ends_with(end))
        .then_some([domain, rest, content])
}

/// Gives the CPUs of a dump of `energy_model` its operating points. Lines may be quoted in a mail.
pub fn take_energy_model(board: &mut Board, file: &str, text: &str) -> Result<(), Error> {
    let all: Vec<[&str; 3]> = text.lines().filter_map(energy_line).collect();
    let mut taken = false;
    for [domain, _, listed] in all.iter().filter(|[_, rest, _]| *rest == "cpus") {
        let mut model = Cpu {
            points_source: format!("{file}: {domain}"),
            ..Cpu::default()
        };
        let read = |rest: &str| {
            all.iter()
                .find(|[of, path, _]| of == domain && *path == rest)
                .map(|[.., text]| number(&format!("{file}: {domain}/{rest}"), text))
                .transpose()
        };
        for state in all
            .iter()
            .filter(|[of, ..]| of == domain)
            .filter_map(|[_, rest, _]| rest.strip_suffix("/power"))
        {
            let khz = number(
                &format!("{file}: {domain}/{state}"),
                state.split(':').nth(1).unwrap_or_default(),
            )?;
            model.add((
                khz,
                read(&format!("{state}/performance"))?,
                read(&format!("{state}/power"))?,
            ));
        }
        let what = format!(
            "{file}: {domain}/cpus is `{}`, not CPUs of {}",
            printable(listed),
            board.file
        );
        let wrong = || {
            Error::new(
                &what,
                "give the dump of this board; `cpus` lists CPUs, such as 0-3",
            )
        };
        for number in ftrace::cpu_list(listed).map_err(|_| wrong())? {
            let at = board
                .cpus
                .iter()
                .position(|cpu| cpu.number == number)
                .ok_or_else(wrong)?;
            board.cpus[at].points.clone_from(&model.points);
            board.cpus[at]
                .points_source
                .clone_from(&model.points_source);
        }
        taken |= !model.points.is_empty();
    }
    if !taken {
        let help = "take it by: grep -r . /sys/kernel/debug/energy_model";
        return Err(Error::new(
            format!("{file}: no power of CPUs is in it: cpu0/cpus and cpu0/ps:KHZ/power"),
            help,
        ));
    }
    board
        .assumed
        .push("powers of the energy model are microwatts, as from Linux 5.19 on".to_owned());
    Ok(())
}
