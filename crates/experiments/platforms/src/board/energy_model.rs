//! Dumps of the kernel's energy model, from Linux 5.1 on: the unit of its powers, and which CPUs of
//! a device tree its numbers mean (`kernel/power/energy_model.c`, `drivers/opp/of.c`).

use super::kernel_files::number;
use super::what::{Board, Cpu};
use document::{Error, Result, printable};
use import::ftrace;
use itertools::Itertools;

/// The greatest power of a core that is believed, and the least at its highest clock, in
/// microwatts: between them a figure may be microwatts as well as milliwatts.
const BELIEVED: [u64; 2] = [5_000, 20_000_000];

/// A dump, line by line: the domain, the rest of the path, and the content.
struct Dump<'t> {
    file: &'t str,
    lines: Vec<[&'t str; 3]>,
}

/// A domain of a dump.
struct Domain {
    name: String,
    cpus: Vec<u16>,
    /// Clock in kHz, capacity and power in microwatts, as they are handed to CPUs.
    cpu: Cpu,
}

impl<'t> Dump<'t> {
    /// Lines may be quoted in a mail.
    fn read(file: &'t str, text: &'t str) -> Self {
        let line = |line: &'t str| {
            let (path, content) =
                str::trim_matches(line, ['>', ' ', '\t', '\r']).rsplit_once(':')?;
            let (domain, rest) = path
                .rsplit_once("energy_model/")
                .map_or(path, |(_, path)| path)
                .trim_start_matches("./")
                .split_once('/')?;
            Some([domain, rest, content])
        };
        let lines = text.lines().filter_map(line).collect();
        Self { file, lines }
    }

    fn text(&self, domain: &str, rest: &str) -> Option<&'t str> {
        let is_it = |line: &&[&str; 3]| line[0] == domain && line[1] == rest;
        self.lines.iter().find(is_it).map(|line| line[2])
    }

    fn number(&self, domain: &str, rest: &str) -> Result<Option<u64>> {
        let place = || format!("{}: {domain}/{rest}", self.file);
        let text = self.text(domain, rest);
        text.map(|text| number(&place(), text)).transpose()
    }

    /// Microwatts of the unit of a domain's powers, and why.
    fn unit(&self, domain: &str, rows: &[Row], asked: Option<u64>) -> Result<(u64, &'static str)> {
        let no_watts = |what: String| {
            let help = "give --power-unit with the microwatts of a unit, if they are known";
            Error::new(
                format!("{}: powers of {domain} are {what}", self.file),
                help,
            )
        };
        let flags = self
            .text(domain, "flags")
            .map(|text| u64::from_str_radix(text.trim_start_matches("0x"), 16).unwrap_or_default());
        let top = rows.iter().map(|row| row.power).max().unwrap_or(0);
        let fastest = rows.last().map_or(0, |row| row.khz);
        let by_cost = rows.iter().find_map(|row| {
            let cost = row.cost.filter(|_| row.power > 0)?;
            Some(cost as f64 * row.khz as f64 / (row.power as f64 * fastest as f64))
        });
        Ok(match (asked, self.text(domain, "units"), flags) {
            (Some(unit), ..) => (unit, "as --power-unit says"),
            (_, Some("milliWatts"), _) => (1000, "as `units` says"),
            (_, Some("microWatts"), _) => (1, "as `units` says"),
            (_, Some(other), _) => return Err(no_watts(format!("in {}", printable(other)))),
            (_, _, Some(flags)) if flags & 4 != 0 => {
                return Err(no_watts("of no unit, as their flags say".to_owned()));
            }
            _ if rows.iter().any(|row| row.performance.is_some()) => {
                (1, "as from Linux 6.9 on, which writes `performance`")
            }
            _ if by_cost.is_some_and(|times| times > 100.0) => (
                1000,
                "as in Linux 5.15 to 5.19, whose costs are a thousandfold",
            ),
            _ if rows.iter().any(|row| row.name.starts_with("cs:")) => {
                (1000, "as before Linux 5.9, which writes `cs:`")
            }
            _ if flags.is_some() && by_cost.is_some() => {
                (1, "as in Linux 6.0 to 6.8, by flags and costs")
            }
            _ if top < BELIEVED[0] => (1000, "since a core takes more than so many microwatts"),
            _ if top.saturating_mul(1000) > BELIEVED[1] => {
                (1, "since no core takes so many milliwatts")
            }
            _ => {
                let help = "take the whole dump: grep -r . /sys/kernel/debug/energy_model; or give --power-unit 1 for microwatts, \
                            1000 for milliwatts";
                let what = format!(
                    "{}: powers of {domain} may be microwatts or milliwatts, up to {top}",
                    self.file
                );
                return Err(Error::new(what, help));
            }
        })
    }

    /// The domains, and what their units are taken for.
    fn domains(&self, asked: Option<u64>) -> Result<(Vec<Domain>, Vec<String>)> {
        let (mut domains, mut units) = (Vec::new(), Vec::new());
        for [name, _, listed] in self.lines.iter().filter(|[_, rest, _]| *rest == "cpus") {
            let mut rows = Vec::new();
            let states = self.lines.iter().filter(|[of, ..]| of == name);
            for state in states.filter_map(|[_, rest, _]| rest.strip_suffix("/power")) {
                let of = |rest: &str| self.number(name, &format!("{state}/{rest}"));
                let khz = state.split(':').nth(1).unwrap_or_default();
                rows.push(Row {
                    name: state.to_owned(),
                    khz: number(&format!("{}: {name}/{state}", self.file), khz)?,
                    performance: of("performance")?,
                    power: of("power")?.unwrap_or(0),
                    cost: of("cost")?,
                });
            }
            if rows.is_empty() {
                continue;
            }
            rows.sort_by_key(|row| row.khz);
            let (unit, why) = self.unit(name, &rows, asked)?;
            units.push(format!(
                "powers of the energy model are {}, {why}",
                if unit == 1 {
                    "microwatts"
                } else {
                    "milliwatts"
                }
            ));
            let mut cpu = Cpu {
                points_source: format!("{}: {name}", self.file),
                ..Cpu::default()
            };
            for row in &rows {
                let power = row.power.saturating_mul(unit);
                cpu.add((row.khz, row.performance, Some(power)));
            }
            let wrong = |_| {
                let what = format!("{}: {name}/cpus is `{}`", self.file, printable(listed));
                Error::new(what, "it lists CPUs, such as 0-3")
            };
            domains.push(Domain {
                name: (*name).to_owned(),
                cpus: ftrace::cpu_list(listed).map_err(wrong)?,
                cpu,
            });
        }
        units.dedup();
        Ok((domains, units))
    }
}

/// A performance state of a domain.
struct Row {
    name: String,
    khz: u64,
    performance: Option<u64>,
    power: u64,
    cost: Option<u64>,
}

/// Gives the CPUs of a dump of `energy_model` its operating points; `unit` is the microwatts of its
/// powers' unit, where that is known from elsewhere.
pub fn take(board: &mut Board, file: &str, text: &str, unit: Option<u64>) -> Result {
    let (domains, units) = Dump::read(file, text).domains(unit)?;
    if domains.is_empty() {
        let help = "take it by: grep -r . /sys/kernel/debug/energy_model";
        return Err(Error::new(
            format!("{file}: no power of CPUs is in it: cpu0/cpus and cpu0/ps:KHZ/power"),
            help,
        ));
    }
    let count = board.cpus.len() as u16;
    let boots = if board.is_numbered { 0..1 } else { 0..count };
    let mut why = None;
    for boot in boots {
        let numbers = (0..count).map(|at| match at.cmp(&boot) {
            std::cmp::Ordering::Less => at + 1,
            std::cmp::Ordering::Equal => 0,
            std::cmp::Ordering::Greater => at,
        });
        let numbers = if board.is_numbered {
            board.cpus.iter().map(|cpu| cpu.number).collect_vec()
        } else {
            numbers.collect_vec()
        };
        match wrong_domain(board, &domains, &numbers) {
            None => {
                hand_out(board, &domains, &numbers);
                board.assumed.extend(units);
                return Ok(());
            }
            Some(wrong) => why = why.or(Some(wrong)),
        }
    }
    let whatever = if board.is_numbered {
        ""
    } else {
        ", whichever CPU boots"
    };
    let what = format!("{file}: {}{whatever}", why.unwrap_or_default());
    let help = format!(
        "give the dump of this board, {}; `cpus` lists CPUs, such as 0-3",
        board.file
    );
    Err(Error::new(what, help))
}

/// Why the CPUs cannot have these numbers: a domain has CPUs that are not there, or of two kinds, or
/// is faster than one of faster cores.
fn wrong_domain(board: &Board, domains: &[Domain], numbers: &[u16]) -> Option<String> {
    let at = |number: &u16| numbers.iter().position(|known| known == number);
    let mut rated = Vec::new();
    for domain in domains {
        let cpus: Option<Vec<&Cpu>> = domain
            .cpus
            .iter()
            .map(|cpu| Some(&board.cpus[at(cpu)?]))
            .collect();
        let Some(cpus) = cpus.filter(|cpus| !cpus.is_empty()) else {
            return Some(format!("{}/cpus has CPUs that are not there", domain.name));
        };
        let kind = |cpu: &Cpu| {
            (
                cpu.cluster.clone(),
                cpu.core.clone(),
                cpu.capacity,
                cpu.per_khz,
            )
        };
        if !cpus.iter().map(|cpu| kind(cpu)).all_equal() {
            return Some(format!(
                "{}/cpus has CPUs of two clusters or kinds",
                domain.name
            ));
        }
        let top = domain.cpu.points.last()?;
        rated.extend(top.1.zip(cpus[0].per_khz.map(|per| u64::from(per) * top.0)));
    }
    rated.sort_unstable();
    let is_rising = rated
        .iter()
        .tuple_windows()
        .all(|(a, b)| a.0 == b.0 || a.1 <= b.1);
    (!is_rising).then(|| "its performances contradict capacity-dmips-mhz".to_owned())
}

/// Gives CPUs their numbers, and the points of their domain.
fn hand_out(board: &mut Board, domains: &[Domain], numbers: &[u16]) {
    if !board.is_numbered {
        board
            .assumed
            .retain(|it| !it.starts_with("CPUs have the tree's order"));
        let boot = numbers.iter().position(|number| *number == 0).unwrap_or(0);
        board.assumed.push(format!(
            "{} boots and is CPU 0, as the energy model's CPUs need it",
            board.cpus[boot].source
        ));
    }
    for (cpu, number) in board.cpus.iter_mut().zip(numbers) {
        cpu.number = *number;
        if let Some(domain) = domains.iter().find(|domain| domain.cpus.contains(number)) {
            cpu.points.clone_from(&domain.cpu.points);
            cpu.points_source.clone_from(&domain.cpu.points_source);
        }
    }
    board.cpus.sort_by_key(|cpu| cpu.number);
    if !board.is_numbered {
        board.rate();
    }
    board.is_numbered = true;
}
