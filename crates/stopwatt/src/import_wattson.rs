//! `stopwatt import wattson`: the power curves of a phone as a platform.

use crate::output;
use clap::Args;
use console::Console;
use import::wattson::{Curves, Policy, exit_us};
use miette::miette;
use platforms::{ASSUMED_MACHINE, LENDER, lender_of};
use std::fmt::Write;
use std::path::PathBuf;

/// Options of `import wattson`.
#[derive(Args)]
#[command(after_help = "Examples:
  stopwatt import wattson perfetto/src/trace_processor/plugins/wattson/data/Tensor --cpus 8 --capacities 0=124,4=427,6=1024 -o phone.toml
  stopwatt run placement --platform phone.toml --frequency schedutil
  stopwatt run placement --tasks 10,20,30 --platform phone.toml --rules eas,off

A device's folder holds cpu_1d.csv, cpu_2d.csv or both; l3.csv is not read. It does not say how fast the CPUs are: capacities are those that
the device shows in /sys/devices/system/cpu/cpu*/cpu_capacity.")]
pub struct ImportWattsonOptions {
    /// The device's folder.
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
    /// The number of CPUs, 1 to 64.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..=64))]
    cpus: u16,
    /// For the first CPU of each policy its capacity at the highest clock, such as
    /// 0=124,4=427,6=1024.
    #[arg(long, value_name = "CPU=CAPACITY,…", value_parser = capacities)]
    capacities: Capacities,
    /// Name of the platform; by default that of the device.
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// File to write, which `--platform` then names; it must not exist.
    #[arg(short, long, visible_alias = "out", value_name = "FILE")]
    output: PathBuf,
}

/// Capacities by CPU.
#[derive(Clone, Debug)]
struct Capacities(Vec<(u16, u32)>);

fn capacities(text: &str) -> Result<Capacities, String> {
    let parse = |part: &str| {
        let (cpu, capacity) = part.trim().split_once('=')?;
        let capacity = capacity.parse().ok().filter(|capacity| (1..=1024).contains(capacity))?;
        Some((cpu.parse().ok()?, capacity))
    };
    let all: Option<Vec<(u16, u32)>> = text.split(',').map(parse).collect();
    let help =
        || format!("`{text}` is no list of capacities; expected CPU=CAPACITY, from 1 to 1024, such as 0=124,4=427");
    all.map(Capacities).ok_or_else(help)
}

/// A unit of power in the written files is 10 uW.
const UNITS_PER_MW: f64 = 100.0;
/// The time for which a deep idle state must last to be worth it, in us: assumed.
const RESIDENCY_US: u64 = 1_000;
/// A policy with what the files need to know of it.
struct Domain<'c> {
    policy: &'c Policy,
    cpus: std::ops::Range<u16>,
    capacity: u32,
}

/// Reads the curves, writes a platform's file and says how to run it.
pub fn run(console: &Console, options: &ImportWattsonOptions) -> miette::Result<()> {
    let curves = Curves::read(&options.folder)?;
    let domains = domains(&curves, options)?;
    let usual = curves.device.to_lowercase().replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    let name = options.name.clone().unwrap_or(usual);
    if name.is_empty() || name.contains(|c: char| !c.is_ascii_alphanumeric() && c != '-') {
        return Err(miette!(help = "letters, digits and `-` make a name", "`{name}` is no name of a platform"));
    }
    output::ending_of(&options.output, &["toml"])?;
    if options.output.exists() {
        let help = "name a file that does not exist yet";
        return Err(miette!(help = help, "{} is there already", options.output.display()));
    }
    let text = machine(&curves, &name, &domains)? + &idle(&curves, &domains);
    output::write_file(console, &options.output, text.as_bytes())?;
    let output = options.output.display();
    let mut said = format!("{}: {} policies, {} CPUs, in milliwatts.\n", curves.device, domains.len(), options.cpus);
    for domain in &domains {
        let rows = curves.lowest_rows(domain.policy);
        if let (Some(low), Some(high)) = (rows.first(), rows.last()) {
            let _ = writeln!(
                said,
                "  CPUs {} to {}: {} clocks from {} to {} kHz, a running core {} to {} mW",
                domain.cpus.start,
                domain.cpus.end - 1,
                rows.len(),
                low.khz,
                high.khz,
                low.active_mw,
                high.active_mw
            );
        }
    }
    let _ = writeln!(said, "Platform: {output}. Run it with: stopwatt run placement --platform {output}");
    output::print_text(console, &said)
}

fn domains<'c>(curves: &'c Curves, options: &ImportWattsonOptions) -> miette::Result<Vec<Domain<'c>>> {
    let first: Vec<u16> = curves.policies.iter().map(|policy| policy.first_cpu).collect();
    let shown = || first.iter().map(u16::to_string).collect::<Vec<_>>().join(", ");
    if first.first() != Some(&0) || first.last().is_none_or(|last| *last >= options.cpus) {
        let help = "a device's first policy begins with CPU 0, and --cpus counts the CPUs of all";
        return Err(miette!(
            help = help,
            "{} has policies of CPUs {}, and {} CPUs",
            curves.device,
            shown(),
            options.cpus
        ));
    }
    if let Some((cpu, _)) = options.capacities.0.iter().find(|(cpu, _)| !first.contains(cpu)) {
        return Err(miette!(help = format!("policies begin with CPUs {}", shown()), "no policy begins with CPU {cpu}"));
    }
    let domain = |(at, policy): (usize, &'c Policy)| {
        let found = options.capacities.0.iter().find(|(cpu, _)| *cpu == policy.first_cpu);
        let Some(&(_, capacity)) = found else {
            let help = "take it from /sys/devices/system/cpu/cpu*/cpu_capacity of the device";
            return Err(miette!(help = help, "--capacities has none for CPU {}", policy.first_cpu));
        };
        let next = first.get(at + 1).copied().unwrap_or(options.cpus);
        Ok(Domain { policy, cpus: policy.first_cpu..next, capacity })
    };
    curves.policies.iter().enumerate().map(domain).collect()
}

fn units(milliwatts: f64) -> u64 {
    (milliwatts * UNITS_PER_MW).round() as u64
}

impl Domain<'_> {
    fn name(&self) -> String {
        format!("policy{}", self.policy.first_cpu)
    }
}

fn machine(curves: &Curves, name: &str, domains: &[Domain<'_>]) -> miette::Result<String> {
    let source = format!("Perfetto's Wattson, curves of {}", curves.device);
    let mut text = format!(
        "# {} for questions of energy: written by `stopwatt import wattson`. A unit of power is 10 uW. Where a policy's power depends on the clock\n\
         # of another one, its lowest clock counts here. Capacities were given by hand, and times of caches and counters are assumed.\n\n\
         name = \"{name}\"\ntitle = \"{}\"\nborrows = \"{LENDER}\"\n",
        curves.device, curves.device
    );
    let most = domains.iter().map(|domain| domain.capacity).max();
    for domain in domains {
        let top = domain.policy.rows.last().map_or(0, |row| row.khz);
        let _ = write!(
            text,
            "\n[cores.{}-core]\nclock = \"{} kHz\"\nl1_data = \"64 KiB\"\nborrows = \"{}\"\nsource = \"{source}; the L1 is assumed\"\n",
            domain.name(),
            top,
            lender_of(Some(domain.capacity) == most)
        );
    }
    text += "\n[topology]\nsource = \"the device's policies\"\n\n[[topology.domain]]\nname = \"system\"\n";
    for (cluster, domain) in domains.iter().enumerate() {
        let _ = write!(
            text,
            "\n[[topology.domain]]\nname = \"{0}\"\nparent = \"system\"\ncluster = {cluster}\ncore = \"{0}-core\"\ncores = {1}\nl2 = \"512 KiB\"\n\
             operating_points_source = \"{source}; capacity at the highest clock by hand\"\noperating_point = [\n",
            domain.name(),
            domain.cpus.len()
        );
        let rows = curves.lowest_rows(domain.policy);
        let top = rows.last().map_or(1, |row| row.khz);
        let mut below = 0;
        for row in &rows {
            let capacity = u64::from(domain.capacity) * row.khz / top;
            if capacity == below {
                continue;
            }
            below = capacity;
            let _ = writeln!(
                text,
                "    {{ clock = \"{} kHz\", capacity = {capacity}, core_power = {}, domain_power = {} }},",
                row.khz,
                units(row.active_mw),
                units(row.fixed_mw + row.interconnect_mw)
            );
        }
        if below == 0 {
            return Err(miette!(
                help = "give a greater capacity",
                "a capacity of {} leaves {} no clock",
                domain.capacity,
                domain.name()
            ));
        }
        text += "]\n";
    }
    text += ASSUMED_MACHINE;
    Ok(text)
}

fn idle(curves: &Curves, domains: &[Domain<'_>]) -> String {
    let mut text = format!(
        "\n# Idle states and what they cost.\n\n\
         [power]\nsource = \"Perfetto's Wattson, curves of {0}\"\n\
         assumed = \"idle power is that at the lowest clock; what a round trip costs, and that a deep state is worth it after {RESIDENCY_US} us, is assumed\"\n\
         watts_per_unit = {{ value = 0.00001, source = \"by definition: milliwatts times 100\" }}\n",
        curves.device
    );
    for domain in domains {
        let rows = curves.lowest_rows(domain.policy);
        let (Some(low), Some(high)) = (rows.first(), rows.last()) else { continue };
        let fixed = units(low.fixed_mw + low.interconnect_mw);
        let exit = exit_us(&curves.device, domain.cpus.start);
        let cpus: Vec<String> = domain.cpus.clone().map(|cpu| cpu.to_string()).collect();
        let _ = write!(
            text,
            "\n[[domain]]\nname = \"{}\"\ncpus = [{}]\ncore_active = {}\ndomain_active = {}\nsource = \"the curves, at the highest clock\"\n\n\
             [[domain.state]]\nname = \"idle0\"\nentry_us = 0\nexit_us = 1\nresidency_us = 1\ncore_power = {}\ndomain_power = {fixed}\nsource = \"idle0 and static of the curves\"\n\n\
             [[domain.state]]\nname = \"idle1\"\nentry_us = 0\nexit_us = {}\nresidency_us = {}\ncore_power = {}\ndomain_power = {fixed}\n\
             source = \"idle1 and static of the curves; Wattson lengthens running by {exit} us after it\"\n\n\
             [[domain.state.round_trip]]\ncore_unit_us = {}\ndomain_unit_us = 0\nsource = \"what Wattson counts: {exit} us at active power, at the lowest clock\"\n\n\
             [[domain.state.round_trip]]\ncore_unit_us = {}\ndomain_unit_us = 0\nsource = \"what a residency of {RESIDENCY_US} us implies at break-even, and {exit} us at active power\"\n",
            domain.name(),
            cpus.join(", "),
            units(high.active_mw),
            units(high.fixed_mw + high.interconnect_mw),
            units(low.idle_mw[0]),
            exit.max(1),
            RESIDENCY_US.max(2 * exit),
            units(low.idle_mw[1]),
            units(low.active_mw) * exit,
            units(low.active_mw) * exit + units(low.idle_mw[0]) * RESIDENCY_US,
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capacities_are_checked() {
        assert_eq!(capacities("0=124, 4=427").unwrap().0, [(0, 124), (4, 427)]);
        for wrong in ["", "0", "0=0", "0=2000", "x=1"] {
            assert!(capacities(wrong).unwrap_err().contains("0=124,4=427"), "{wrong}");
        }
    }
}
