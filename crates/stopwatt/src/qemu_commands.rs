//! What runs on QEMU: `run psci-calls`, `run psci-latency --world qemu`, `run linux-boot`.

use crate::arguments::Format;
use crate::data::DataFolder;
use crate::{Answer, output};
use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use miette::{IntoDiagnostic, miette};
use psci_experiments::qemu as experiment;
use published::CallReference;
use qemu::{Build, Gic, Images, Machine, linux, payload};
use recording::Recording;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Version of the interrupt controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GicVersion {
    /// GICv2, at most 8 CPUs.
    #[value(name = "2")]
    V2,
    /// GICv3, clusters of 16.
    #[value(name = "3")]
    V3,
}

/// The emulated machine.
#[derive(Args, Clone, Debug)]
pub struct MachineOptions {
    /// CPUs of the emulated machine [default: 4].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=32))]
    pub cpus: Option<u8>,
    /// Its interrupt controller [default: 3].
    #[arg(long, value_name = "VERSION")]
    pub gic: Option<GicVersion>,
    /// Give its CPUs an EL2, in which the normal world then runs.
    #[arg(long)]
    pub virtualization: bool,
}

impl MachineOptions {
    /// Whether any was given.
    pub fn are_given(&self) -> bool {
        self.cpus.is_some() || self.gic.is_some() || self.virtualization
    }

    fn machine(&self, icount: Option<u8>) -> miette::Result<Machine> {
        let cpus = self.cpus.unwrap_or(4);
        let gic = match self.gic {
            Some(GicVersion::V2) if cpus > 8 => {
                return Err(miette!(help = "use --gic 3", "GICv2 has no more than 8 CPUs, not {cpus}"));
            }
            Some(GicVersion::V2) => Gic::V2,
            Some(GicVersion::V3) | None => Gic::V3,
        };
        Ok(Machine { cpus: usize::from(cpus), gic, virtualization: self.virtualization, icount })
    }
}

/// The worlds of the PSCI procedures' firmware.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CallsWorld {
    /// Real firmware on an emulated machine.
    Qemu,
}

/// Options of `run psci-calls`.
#[derive(Args)]
#[command(after_help = "Examples:
  stopwatt run psci-calls --world qemu
  stopwatt run psci-calls --gic 2 --count 100 --format json

The firmware is built when it is not up to date. Counts repeat to the instruction.")]
pub struct PsciCallsOptions {
    /// Where the firmware runs.
    #[arg(long, default_value = "qemu", value_name = "WORLD")]
    pub world: CallsWorld,
    /// The machine.
    #[command(flatten)]
    pub machine: MachineOptions,
    /// Calls of each kind.
    #[arg(long, default_value_t = 1000, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub count: u32,
    /// Folder of the recording; an older recording there is replaced.
    #[arg(short, long, default_value = "recordings/psci-calls", value_name = "DIR")]
    pub output: PathBuf,
    /// How to print the result.
    #[arg(long, default_value = "term", value_name = "FORMAT")]
    pub format: Format,
}

/// Who coordinates the states of power domains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SuspendMode {
    /// The firmware.
    Platform,
    /// The kernel, which asks for domain states itself.
    OsInitiated,
}

/// Options of `run linux-boot`.
#[derive(Args)]
#[command(after_help = "Examples:
  stopwatt run linux-boot
  stopwatt run linux-boot --cpus 8 --gic 2 --cycles 200
  stopwatt run linux-boot --suspend-mode os-initiated --trace linux.trace

Debian's kernel and busybox for arm64 are fetched once, with apt, into --cache; the machine's own packages stay as they are.
Exit status 1 if a CPU was lost, an idle state was never entered, or reboot or power-off failed.")]
pub struct LinuxBootOptions {
    /// The machine.
    #[command(flatten)]
    pub machine: MachineOptions,
    /// How often each CPU is taken off and on.
    #[arg(long, default_value_t = 5, value_name = "N")]
    pub cycles: u32,
    /// Seconds of idling in each state.
    #[arg(long, default_value_t = 1, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..=60))]
    pub stay: u32,
    /// Who coordinates the power domains.
    #[arg(long, default_value = "platform", value_name = "WHO")]
    pub suspend_mode: SuspendMode,
    /// Folder for kernel and busybox; by default `target/linux` of the checkout.
    #[arg(long, value_name = "DIR")]
    pub cache: Option<PathBuf>,
    /// Write the guest's ftrace text (cpu_idle, PSCI domains, scheduler) to this file.
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// Folder of the recording; an older recording there is replaced.
    #[arg(short, long, default_value = "recordings/linux-boot", value_name = "DIR")]
    pub output: PathBuf,
    /// How to print the result.
    #[arg(long, default_value = "term", value_name = "FORMAT")]
    pub format: Format,
}

/// `run psci-calls`.
pub fn psci_calls(data: &DataFolder, options: &PsciCallsOptions) -> miette::Result<()> {
    Recording::check_target(&options.output).into_diagnostic()?;
    // One instruction is a nanosecond of the machine's time: the finest that its counter shows over many calls.
    let machine = options.machine.machine(Some(0))?;
    let mut reports = Vec::new();
    for (name, build) in [("plain", Build::Plain), ("instrumented", Build::Instrumented)] {
        let wait = spinner(&format!("building and running the {name} firmware"));
        let images = Images::build(data.root(), build).into_diagnostic()?;
        let run = payload::Options::new(payload::Run::Calls, u64::from(options.count));
        reports.push((name, payload::run(&images, &machine, &run).into_diagnostic()?));
        wait.finish_and_clear();
    }
    let builds: Vec<_> = reports.iter().map(|(name, report)| (*name, report)).collect();
    let recording = write(experiment::calls(&machine, &builds), &options.output)?;
    let reference = CallReference::read(&data.path("published/psci-calls-qemu.toml")).into_diagnostic()?;
    let calls = report::counted_calls(&recording);
    match options.format {
        Format::Json => output::print(
            format!("{:#}\n", report::psci_calls_json(&calls, Some(&reference), &options.output)).as_bytes(),
        ),
        Format::Term => {
            let table = report::psci_calls_text(&calls, Some(&reference), output::style());
            output::print(format!("{table}Recording: {}\n", options.output.display()).as_bytes())
        }
    }
}

/// `run psci-latency --world qemu`; returns what was recorded.
pub fn psci_latency(
    data: &DataFolder,
    machine: &MachineOptions,
    iterations: u32,
    folder: &Path,
    format: Format,
) -> miette::Result<Recording> {
    // One instruction is a tick of the counter, so that each single stamp is exact.
    let machine = machine.machine(Some(4))?;
    let wait = spinner("building and running the firmware");
    let images = Images::build(data.root(), Build::Instrumented).into_diagnostic()?;
    let mut run = payload::Options::new(payload::Run::Latency, u64::from(iterations));
    run.limit = Duration::from_secs(120 + u64::from(iterations) * machine.cpus as u64);
    let ran = payload::run(&images, &machine, &run).into_diagnostic()?;
    wait.finish_and_clear();
    let recording = write(experiment::latency(&machine, &ran, iterations), folder)?;
    let document = report::Findings::new(&recording, &folder.display().to_string(), None);
    match format {
        Format::Json => output::print(&report::render(&document, report::Format::Json, output::style()))?,
        Format::Term => {
            output::print(&report::render(&document, report::Format::Text, output::style()))?;
            output::print(
                b"Parallel cases ran, and their stamps were in order; they have no durations here, because\n\
                instructions of all CPUs are counted together.\n",
            )?;
        }
    }
    drop(document);
    Ok(recording)
}

/// `run linux-boot`; the answer is no where the kernel met what it should not have.
pub fn linux_boot(data: &DataFolder, options: &LinuxBootOptions) -> miette::Result<Answer> {
    Recording::check_target(&options.output).into_diagnostic()?;
    let machine = options.machine.machine(None)?;
    let wait = spinner("building the firmware");
    let images = Images::build(data.root(), Build::Instrumented).into_diagnostic()?;
    wait.set_message("fetching kernel and busybox");
    let cache = options.cache.clone().unwrap_or_else(|| data.path("target/linux"));
    let system = linux::fetch(data.root(), &cache).into_diagnostic()?;
    wait.set_message(format!("booting {}", system.kernel_version));
    let work = linux::Options {
        cycles: options.cycles,
        stay: options.stay,
        os_initiated: options.suspend_mode == SuspendMode::OsInitiated,
        exception_level: None,
    };
    let saw =
        linux::run(&images, &system, &machine, &work, |line| wait.set_message(line.to_owned())).into_diagnostic()?;
    wait.finish_and_clear();
    if let Some(path) = &options.trace {
        output::write_file(path, (saw.trace.join("\n") + "\n").as_bytes())?;
    }
    let recording = write(experiment::linux_boot(&machine, &system, &work, &saw), &options.output)?;
    let complaints = saw.complaints(&machine);
    match options.format {
        Format::Json => {
            let document = report::Findings::new(&recording, &options.output.display().to_string(), None);
            let mut json = report::json(&document);
            json["kernel"] = system.kernel_version.clone().into();
            json["rebooted"] = saw.rebooted.into();
            json["powered_off"] = saw.powered_off.into();
            json["trace_lines"] = saw.trace.len().into();
            json["complaints"] = complaints.clone().into();
            output::print(format!("{json:#}\n").as_bytes())?;
        }
        Format::Term => {
            let mut text = format!(
                "{}, {}: {} CPUs up, {} hotplug cycles a CPU, {} failures\n",
                system.kernel_version, system.busybox_version, saw.cpus, saw.hotplug.0, saw.hotplug.1
            );
            text.push_str(&report::idle_states_text(&recording, output::style()));
            if !saw.events.1.is_empty() {
                text.push_str(&format!("This kernel has no event {}.\n", saw.events.1.join(", ")));
            }
            let yes = |it: bool| if it { "yes" } else { "no" };
            text.push_str(&format!(
                "Rebooted: {}. Powered off: {}. Trace: {} lines.\nRecording: {}\n",
                yes(saw.rebooted),
                yes(saw.powered_off),
                saw.trace.len(),
                options.output.display()
            ));
            output::print(text.as_bytes())?;
        }
    }
    match complaints.is_empty() {
        true => Ok(Answer::Yes),
        false => Ok(Answer::no(&miette!("{}", complaints.join("\n")))),
    }
}

fn write(mut recording: Recording, output: &Path) -> miette::Result<Recording> {
    recording.header.run = provenance::this_run();
    recording.write(output).into_diagnostic()?;
    Ok(recording)
}

/// Shows what is going on, where there is a terminal.
fn spinner(message: &str) -> ProgressBar {
    let bar = ProgressBar::new_spinner();
    let style = ProgressStyle::with_template("{spinner} {msg} {elapsed}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
    bar.enable_steady_tick(Duration::from_millis(120));
    bar.set_message(message.to_owned());
    bar
}
