//! `stopwatt run psci-latency`.

use crate::arguments::{Format, Order, PsciLatencyOptions, World};
use crate::data::DataFolder;
use crate::{output, report_command};
use indicatif::{ProgressBar, ProgressStyle};
use miette::{IntoDiagnostic, WrapErr, miette};
use psci_cases::CASES;
use psci_experiments::psci_latency::{self, FREE_RUNNING, Options, Release};
use published::PsciReference;
use recording::{Platform, Recording};
use soc::config::{Machine, Sources};
use std::collections::BTreeMap;

/// Runs the experiment, writes the recording and prints what is read from it.
pub fn run(data: &DataFolder, options: &PsciLatencyOptions) -> miette::Result<()> {
    // What cannot be written is found before the run, not after it.
    let report = match &options.report {
        Some(path) => Some((path, report_command::format_of(path)?)),
        None => None,
    };
    Recording::check_target(&options.output).into_diagnostic()?;
    if options.world == World::Qemu {
        let given = [
            ("--set", !options.set.is_empty()),
            ("--release", !options.release.is_empty()),
            ("--order", options.order.is_some()),
            ("--platform", options.platform.is_some()),
            ("--seed", options.seed.is_some()),
            ("--free-seeds", options.free_seeds.is_some()),
        ];
        if let Some((name, _)) = given.iter().find(|(_, given)| *given) {
            return Err(miette!(
                help = "it belongs to the simulation: leave it out, or leave out --world qemu",
                "{name} says nothing to real firmware"
            ));
        }
        let PsciLatencyOptions { machine, iterations, output, format, .. } = options;
        let recording = crate::qemu_commands::psci_latency(data, machine, *iterations, output, *format)?;
        return match report {
            Some((path, format)) => report_command::write(data, &recording, output, format, Some(path)),
            None => Ok(()),
        };
    }
    if options.machine.are_given() {
        return Err(miette!(
            help = "add --world qemu, or set the simulated machine's shape with --set topology.clusters=...",
            "--cpus, --gic and --virtualization are of the emulated machine"
        ));
    }
    let platform = data.platform(options.platform.as_deref().unwrap_or("juno-r1"))?;
    let reference = data.psci_reference(&platform.0)?;
    let names = match options.release.is_empty() {
        true => data.releases(&platform.0)?,
        false => options.release.clone(),
    };
    let order = options.order.unwrap_or(if options.set.is_empty() { Order::Declared } else { Order::Free });

    let mut sources = Vec::new();
    let mut releases = Vec::new();
    for name in &names {
        let mut source = data.sources(&platform, name)?;
        let machine = machine_with(&mut source, options.set.iter())?;
        let orders = match (&reference, order) {
            (Some(reference), Order::Declared) => declared_orders(&machine, reference)?,
            _ => BTreeMap::new(),
        };
        sources.push(source);
        releases.push(Release { machine, orders });
    }

    let experiment = Options {
        iterations: options.iterations,
        seed: options.seed.unwrap_or(1),
        free_seeds: options.free_seeds.unwrap_or(100),
    };
    let progress = progress(psci_latency::simulations(&releases, &experiment));
    let result = psci_latency::run(&releases, &experiment, || progress.inc(1));
    progress.finish_and_clear();
    let mut recording = result.into_diagnostic()?;
    describe(&mut recording, &sources, &releases, options);
    recording.write(&options.output).into_diagnostic()?;
    if let Some((path, format)) = report {
        report_command::write(data, &recording, &options.output, format, Some(path))?;
    }
    // Figures of a board say nothing about a machine of another shape.
    let same_shape = releases.iter().all(|release| !release.machine.platform.topology.reshaped);
    print(&recording, reference.as_ref().filter(|_| same_shape), options)
}

/// The machine of a release with some settings. What is wrong then is at a line of a file, or of what a setting made of it, so the settings
/// are named.
pub(crate) fn machine_with<'s>(
    sources: &mut Sources,
    settings: impl Iterator<Item = &'s (String, String)>,
) -> miette::Result<Machine> {
    let mut given = Vec::new();
    for (key, value) in settings {
        given.push(format!("{key}={value}"));
        sources.set(key, value).map_err(miette::Report::from).wrap_err_with(|| format!("cannot set {key}={value}"))?;
    }
    match given.as_slice() {
        [] => Ok(sources.machine()?),
        _ => sources.machine().map_err(miette::Report::from).wrap_err_with(|| format!("with {} set", given.join(", "))),
    }
}

/// The orders that a reference declares for a release, as CPU numbers.
fn declared_orders(machine: &Machine, reference: &PsciReference) -> miette::Result<BTreeMap<String, Vec<usize>>> {
    let cpus = &machine.platform.topology.cpus;
    let mut orders = BTreeMap::new();
    for case in CASES {
        let declared = reference.scp_order(&machine.release.name, case.name, case.mode.name());
        let mut order = Vec::new();
        for &(cluster, core) in declared {
            let cpu = cpus.iter().position(|cpu| (cpu.cluster, cpu.core) == (cluster, core)).ok_or_else(|| {
                miette!(
                    help = "run with --order free, or on the platform that the reference is of",
                    "the declared order of {} names core {core} of cluster {cluster}, which {} does not have",
                    machine.release.name,
                    machine.platform.name
                )
            })?;
            order.push(cpu);
        }
        if !order.is_empty() {
            orders.insert(case.name.to_owned(), order);
        }
    }
    Ok(orders)
}

/// Adds to a recording's header what the experiment was not told.
fn describe(recording: &mut Recording, sources: &[Sources], releases: &[Release], options: &PsciLatencyOptions) {
    let header = &mut recording.header;
    header.settings = options.set.iter().cloned().collect();
    for (source, release) in sources.iter().zip(releases) {
        let name = &release.machine.release.name;
        // Both were read as TOML to build the machine.
        let table = |text: &str| toml::from_str(text).unwrap_or_default();
        header.costs.insert(name.clone(), table(source.costs.text()));
        let figures = header.platform.get_or_insert_with(|| Platform {
            name: release.machine.platform.name.clone(),
            text: source.platform.text().to_owned(),
            figures: toml::Table::new(),
        });
        figures.figures.insert(name.clone(), toml::Value::Table(table(source.release.text())));
    }
    header.run = provenance::this_run();
}

fn print(recording: &Recording, reference: Option<&PsciReference>, options: &PsciLatencyOptions) -> miette::Result<()> {
    let cells = attribution::cells(recording).into_iter().filter(|cell| cell.mode != FREE_RUNNING).collect();
    let compared = report::compare(cells, reference);
    let spreads = report::spread(recording, FREE_RUNNING);
    let text = match options.format {
        Format::Json => format!("{:#}\n", report::psci_latency_json(&compared, &spreads, Some(&options.output))),
        Format::Term => {
            let text = report::psci_latency_text(&compared, &spreads, output::style());
            let what_if = match options.set.is_empty() {
                true => "",
                false => "What if: settings differ from the published run, so errors are differences.\n",
            };
            let report =
                options.report.as_ref().map_or_else(String::new, |path| format!("Report: {}\n", path.display()));
            format!("{text}{what_if}Recording: {}\n{report}", options.output.display())
        }
    };
    output::print(text.as_bytes())
}

pub(crate) fn progress(simulations: usize) -> ProgressBar {
    let bar = ProgressBar::new(simulations as u64);
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} simulations, {eta} left");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar
}
