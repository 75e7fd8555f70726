//! The text of a platform file.

use super::what::{Board, Cpu, State};
use document::Error;
use itertools::Itertools;

/// The end of a platform file: settings of the machine that no file of a board has.
const ASSUMED_MACHINE: &str = include_str!("machine.toml");

/// The platform of which a board borrows releases and costs.
const LENDER: &str = "tc2";
/// The powers that a meter at the mains shows, for each that Linux's coefficients give.
const WALL: &str = include_str!("wall.toml");
/// The greatest power that a platform file takes, in units.
const MOST_POWER: u64 = 1_000_000;

/// The core of the lender of which a core borrows costs.
fn lender_of(core: &str, is_fastest: bool) -> &'static str {
    if is_fastest && !is_in_order(core) {
        "cortex-a15"
    } else {
        "cortex-a7"
    }
}

/// A text that can stand in double quotes.
fn plain(text: &str) -> String {
    text.replace(['"', '\\'], "'")
        .replace(char::is_control, " ")
}

/// The board's platform file.
pub fn text(board: &Board, name: &str) -> Result<String, Error> {
    if board
        .cpus
        .iter()
        .all(|cpu| cpu.states.iter().all(|state| state.name == "WFI"))
    {
        let help = "a tree has cpu-idle-states of CPUs, or domain-idle-states of their power domains; firmware may add them \
                    when the board starts: look into its /sys/firmware/fdt, or /sys/devices/system/cpu";
        return Err(Error::new(
            format!("{}: no CPU has an idle state in it, but WFI", board.file),
            help,
        ));
    }
    let most = board
        .cpus
        .iter()
        .flat_map(|cpu| &cpu.points)
        .filter_map(|(_, _, power)| *power)
        .max()
        .unwrap_or(0);
    let unit = (1..19)
        .map(|zeros| 10_u64.pow(zeros))
        .find(|unit| most / unit < MOST_POWER)
        .unwrap_or(10);
    let assumed: String = board
        .assumed
        .iter()
        .cloned()
        .chain(without_cpuidle(board))
        .map(|it| format!("# Assumed: {it}.\n"))
        .collect();
    let (file, title) = (plain(&board.file), plain(&board.title));
    let running_unit = match most {
        0 => String::new(),
        _ => format!(
            "running_unit = {{ value = {}, source = \"{file}\", {} }}\n",
            unit as f64 / 1e6,
            WALL.trim_end()
        ),
    };
    let mut text = format!(
        "# Written by `stopwatt platform from {file}`. Each `source` says where in it the values stand; what stands nowhere is called assumed.\n\
         # Nobody says what idle states, clusters and transitions take, so idle states have no joules. A unit of power is {unit} uW.\n\
         # Assumed: calls of the firmware take what they take on {LENDER}.\n{assumed}\n\
         name = \"{name}\"\ntitle = \"{title}\"\nborrows = \"{LENDER}\"\n{running_unit}\n[topology]\n\
         source = \"{file}: a domain for the CPUs of a cluster that have the same core, clocks and idle states\"\n\n\
         [[topology.domain]]\nname = \"system\"\n"
    );
    let groups = board.groups();
    for cluster in 0..groups.len() {
        text += &group(&groups, cluster, unit);
    }
    Ok(text + &power_domains(board) + ASSUMED_MACHINE)
}

/// A sentence of the CPUs that have no idle state but WFI, where others have one.
fn without_cpuidle(board: &Board) -> Option<String> {
    let none = |cpu: &&Cpu| cpu.states.iter().all(|state| state.name == "WFI");
    let cpus = board
        .cpus
        .iter()
        .filter(none)
        .map(|cpu| cpu.number)
        .collect_vec();
    (!cpus.is_empty()).then(|| {
        format!(
            "CPUs {cpus:?} have no idle state but WFI in it, and so Linux has no cpuidle for them"
        )
    })
}

/// The power domains that Linux switches, each with the CPUs below it.
fn power_domains(board: &Board) -> String {
    let mut text = String::new();
    let mut seen = vec![""];
    for domain in board
        .cpus
        .iter()
        .flat_map(|cpu| &cpu.states)
        .map(|state| state.domain.as_str())
    {
        if seen.contains(&domain) {
            continue;
        }
        seen.push(domain);
        let below = || {
            board
                .cpus
                .iter()
                .filter(|cpu| cpu.states.iter().any(|state| state.domain == domain))
        };
        let cpus = below().map(|cpu| cpu.number).collect_vec();
        let (source, name) = (
            plain(domain),
            plain(domain.rsplit('/').next().unwrap_or(domain)),
        );
        text += &format!(
            "\n[[power_domain]]\nname = \"{name}\"\ncpus = {cpus:?}\nsource = \"{source}\"\n"
        );
        for state in below()
            .next()
            .map(|cpu| by_residency(cpu, domain))
            .unwrap_or_default()
        {
            let State {
                name,
                times: [entry, exit, residency],
                source,
                ..
            } = state;
            let (name, source) = (plain(name), plain(source));
            text += &format!(
                "\n[[power_domain.state]]\nname = \"{name}\"\nentry_us = {entry}\nexit_us = {exit}\nresidency_us = {residency}\n\
                 source = \"{source}\"\n"
            );
        }
    }
    text
}

/// The states of a CPU by residency: those of a domain, or its own where that is empty.
fn by_residency<'c>(cpu: &'c Cpu, domain: &str) -> Vec<&'c State> {
    let mut states = cpu
        .states
        .iter()
        .filter(|state| state.domain == domain)
        .collect_vec();
    states.sort_by_key(|state| state.times[2]);
    states
}

/// The tables of a group of CPUs, which is one of several.
fn group(groups: &[Vec<&Cpu>], cluster: usize, unit: u64) -> String {
    let (cpus, first) = (&groups[cluster], groups[cluster][0]);
    let is_alone = groups
        .iter()
        .filter(|group| group[0].core == first.core)
        .count()
        == 1;
    let name = if is_alone {
        first.core.clone()
    } else {
        format!("{}-cpu{}", first.core, first.number)
    };
    let (top, clocks) = first
        .points
        .last()
        .map_or((1_000_000, "the clock is assumed"), |of| {
            (of.0, &*first.points_source)
        });
    let [l1, l3] = first
        .l1_and_l3
        .map(|bytes| bytes.filter(|bytes| *bytes > 0));
    let is_own = (cpus.len() > 1 || l3.is_some())
        && !(1..cpus.len()).any(|at| cpus[..at].iter().any(|other| other.l2 == cpus[at].l2));
    let cache = |level: &str, bytes: Option<u32>| {
        bytes
            .map(|bytes| format!("{level} = \"{bytes} B\"\n"))
            .unwrap_or_default()
    };
    let l2 = cache("l2", first.l2.as_ref().map(|(_, bytes)| *bytes));
    let (own_l2, shared_l2) = if is_own {
        (l2, String::new())
    } else {
        (String::new(), l2)
    };
    let fastest = groups.iter().filter_map(|group| group[0].capacity).max();
    let numbers = cpus.iter().map(|cpu| cpu.number).collect_vec();
    let (count, source, clocks) = (cpus.len(), plain(&first.source), plain(clocks));
    let (states, points) = (states(groups, first), points(first, top, unit));
    let (l1, assumed) = l1.map_or((32 << 10, "; the L1 is assumed"), |l1| (l1, ""));
    let (l3, lent) = (
        cache("l3", l3),
        lender_of(&first.core, first.capacity == fastest),
    );
    format!(
        "\n[[domain]]\nname = \"{name}\"\ncpus = {numbers:?}\nsource = \"{source}\"\n{states}\n\
         [cores.{name}]\nclock = \"{top} kHz\"\nl1_data = \"{l1} B\"\n{own_l2}borrows = \"{lent}\"\nsource = \"{clocks}{assumed}\"\n\n\
         [[topology.domain]]\nname = \"{name}\"\nparent = \"system\"\ncluster = {cluster}\ncore = \"{name}\"\ncores = {count}\n{shared_l2}{l3}{points}\n"
    )
}

/// The states of a CPU by residency; where other CPUs have more, the last one stands repeatedly.
fn states(groups: &[Vec<&Cpu>], cpu: &Cpu) -> String {
    let states = by_residency(cpu, "");
    let most = groups
        .iter()
        .map(|group| by_residency(group[0], "").len())
        .max()
        .unwrap_or(0);
    (0..most).map(|at| {
        let state = states[at.min(states.len() - 1)];
        let more = if at < states.len() {
            ""
        } else {
            "; assumed: repeated, as other CPUs have more"
        };
        let State {
            name,
            times: [entry, exit, residency],
            coupled,
            stops_timer,
            source,
            ..
        } = state;
        let (name, source, polling) = (
            plain(name),
            plain(source),
            name.eq_ignore_ascii_case("poll"),
        );
        format!(
            "\n[[domain.state]]\nname = \"{name}\"\nentry_us = {entry}\nexit_us = {exit}\nresidency_us = {residency}\n\
             coupled = {coupled}\npolling = {polling}\nstops_timer = {stops_timer}\nsource = \"{source}{more}\"\n"
        )
    }).collect()
}

/// True if a core executes in order, as small ones do.
fn is_in_order(core: &str) -> bool {
    const IN_ORDER: [&str; 8] = ["a5", "a7", "a32", "a34", "a35", "a53", "a55", "a510"];
    core.strip_prefix("cortex-")
        .is_some_and(|name| IN_ORDER.contains(&name))
}

/// What a cluster shares takes, as a share of what one of its cores takes, and why. Four cores over
/// one took 1.9 to 3.1 times at the mains with in-order cores (sbc-bench, Efficiency_Graphing.md),
/// and 2.9 to 3.9 times with Cortex-A76 (its results 8acvqG and Au3jaA): 2.5 and 3.4 here.
fn shape(core: &str) -> (f64, &'static str) {
    if is_in_order(core) {
        (
            1.0,
            "; assumed: what the cluster shares takes as much as a core (0.4 to 2.3 times: sbc-bench measured four cores over one)",
        )
    } else {
        (
            0.25,
            "; assumed: what the cluster shares takes a quarter of a core (0 to 0.6: sbc-bench measured four Cortex-A76 over one)",
        )
    }
}

/// The clocks of points that Linux leaves out, from 5.16 on: a faster one takes no more for the same
/// work.
pub fn inefficient(cpu: &Cpu) -> Vec<u64> {
    let mut least = f64::INFINITY;
    let mut found = Vec::new();
    for (khz, capacity, power) in cpu.points.iter().rev() {
        let Some(power) = power else { continue };
        let cost = *power as f64 / capacity.unwrap_or(*khz).max(1) as f64;
        if cost >= least {
            found.push(*khz);
        }
        least = least.min(cost);
    }
    found
}

/// The operating points of a CPU: as a comment where a power is not known.
fn points(cpu: &Cpu, top: u64, unit: u64) -> String {
    let (mut below, mut rows, mut mark) = (0, String::new(), "");
    let (share, shape) = shape(&cpu.core);
    let slow = inefficient(cpu);
    for (khz, capacity, power) in &cpu.points {
        let capacity = capacity.unwrap_or(cpu.capacity.unwrap_or(1024).saturating_mul(*khz) / top);
        mark = if power.is_none() { "# " } else { mark };
        // Where capacity does not rise, the slower clock stands for both.
        if capacity > below {
            let in_units = |times: f64| {
                power.map_or("?".to_owned(), |power| {
                    (power as f64 * times / unit as f64).round().to_string()
                })
            };
            let note = if slow.contains(khz) {
                " # inefficient: a faster point takes less for the same work"
            } else {
                ""
            };
            rows += &format!(
                "    {{ clock = \"{khz} kHz\", capacity = {capacity}, core_power = {}, domain_power = {} }},{note}\n",
                in_units(1.0),
                in_units(share)
            );
            below = capacity;
        }
    }
    let rest = match (rows.is_empty(), mark) {
        (true, _) => return "# No operating points are known.".to_owned(),
        (_, "") => shape,
        _ => "; write powers where the question marks are, and take the `#` away",
    };
    format!(
        "operating_points_source = \"{}{rest}\"\noperating_point = [\n{rows}]",
        plain(&cpu.points_source)
    )
    .lines()
    .map(|line| format!("{mark}{line}"))
    .join("\n")
}
