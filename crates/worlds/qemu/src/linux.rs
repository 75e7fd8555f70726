//! Boots a stock Linux on the EL3 image and has it use PSCI.

use crate::debian::{self, Packages, create_folder, unpacked};
use crate::debian_programs;
use crate::initramfs::{self, Entry};
use crate::{Error, Guest, Images, Load, Machine, Result};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Bytes from the kernel's start to the end of memory. With a gigabyte the kernel starts at
/// [`Images::ENTRY`].
const ROOM: u64 = 512 << 20;
/// Bytes from the kernel's start to that of the initramfs: more than any kernel has.
const TO_INITRAMFS: u64 = 128 << 20;
/// The first process, which the host talks to.
static INIT: &str = include_str!("../../../../firmware/linux/init");
/// Programs that the first process calls, all of them busybox.
const PROGRAMS: &str = "sh mount cat ls sed sort wc echo stty uname sleep tail dmesg grep mkfifo taskset reboot poweroff";

/// A kernel and what it boots into.
pub struct Linux {
    /// The kernel's image.
    pub kernel: PathBuf,
    /// Package and version of the kernel.
    pub kernel_version: String,
    /// Package and version of busybox.
    pub busybox_version: String,
    /// Packages and versions of further programs.
    pub program_versions: Vec<String>,
    initramfs: PathBuf,
}

/// Fetches Debian's kernel and static busybox for arm64 into `cache`, with an apt configuration of
/// their own: the machine's dpkg architectures stay as they are. The programs of a workload are in
/// the initramfs. What is there already is not fetched again.
///
/// # Errors
/// apt-get is missing or cannot fetch; a package has no program of the workload, or a library of it
/// is not there.
pub fn fetch(workload: Option<Workload>, cache: &Path) -> Result<Linux> {
    let workload = workload.map(Workload::facts);
    let program = workload.and_then(|(name, program)| Some((name, program?)));
    let name = program.map_or("initramfs", |(name, _)| name);
    let (mut linux, mut files) = parts(cache, cache.join(format!("initramfs/{name}.gz")))?;
    if let Some((name, program)) = program {
        let (version, program) = debian_programs::files(name, program, cache)?;
        linux.program_versions.extend(version);
        files.extend(program);
    }
    initramfs::write(&linux.initramfs, &files)?;
    Ok(linux)
}

/// The kernel, and the files that every initramfs has.
fn parts(cache: &Path, initramfs: PathBuf) -> Result<(Linux, Vec<Entry>)> {
    let packages = Packages::open(cache, "packages")?;
    create_folder(&cache.join("initramfs"))?;
    if packages.find("busybox-static_")?.is_none() {
        packages.update()?;
        let depends = packages.depends("linux-image-arm64")?;
        let kernel = depends
            .iter()
            .find(|name| name.starts_with("linux-image-"))
            .ok_or_else(|| {
                let depends = depends.join(", ");
                Error::fetch("linux-image-arm64", format!("it depends on {depends}"))
            })?;
        // busybox last: its package stands for both being there.
        packages.download(kernel)?;
        packages.download("busybox-static")?;
    }
    let missing = |what| Error::fetch(what, "the package is not there");
    let kernel_package = packages
        .find("linux-image-")?
        .ok_or_else(|| missing("linux-image"))?;
    let busybox_package = packages
        .find("busybox-static_")?
        .ok_or_else(|| missing("busybox-static"))?;
    let unpacked = unpacked(cache);
    for package in [&kernel_package, &busybox_package] {
        debian::unpack(package, &unpacked)?;
    }
    let kernel =
        debian::find(&unpacked.join("boot"), "vmlinuz-")?.ok_or_else(|| missing("vmlinuz"))?;
    let files = initramfs::basic(PROGRAMS, &unpacked.join("bin/busybox"), INIT)?;
    let linux = Linux {
        kernel,
        kernel_version: debian::version(&kernel_package),
        busybox_version: debian::version(&busybox_package),
        program_versions: Vec::new(),
        initramfs,
    };
    Ok((linux, files))
}

/// The options of a Linux guest.
#[derive(Clone)]
pub struct Options {
    /// The number of times that each CPU is taken off and on.
    pub cycles: u32,
    /// The time that the CPUs idle in each state, in seconds.
    pub stay: u32,
    /// The tree describes power domains, and the kernel coordinates.
    pub os_initiated: bool,
    /// 1 or 2; `None` for the highest that the machine has.
    pub exception_level: Option<u8>,
    /// The events that are traced; by default a quiet second, and of its events only those of idle
    /// states and the scheduler.
    pub trace: Option<Tracing>,
}

/// The guest's work while it is traced.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Workload {
    /// Periodic tasks, tasks that wake each other through pipes, and bursts.
    Mixed,
    /// Nothing: a console on which nobody types.
    Idle,
    /// Bursts of messages between eight tasks, by hackbench.
    Hackbench,
    /// A transaction of a database in memory every few milliseconds, by sqlite.
    Sqlite,
    /// Reads and writes of files in memory with time to think, by fio.
    Fio,
}

impl Workload {
    /// Name of the workload, which the guest's first process knows too.
    pub fn name(self) -> &'static str {
        self.facts().0
    }

    /// Its name, and the package of Debian that has its program, with the program's path in it.
    fn facts(self) -> (&'static str, Option<[&'static str; 2]>) {
        match self {
            Self::Mixed => ("mixed", None),
            Self::Idle => ("idle", None),
            Self::Hackbench => ("hackbench", Some(["rt-tests", "usr/bin/hackbench"])),
            Self::Sqlite => ("sqlite", Some(["sqlite3", "usr/bin/sqlite3"])),
            Self::Fio => ("fio", Some(["fio", "usr/bin/fio"])),
        }
    }
}

/// A trace that holds all that a replay of idle states needs: events of idle states, timers, ticks,
/// interrupts and the scheduler.
#[derive(Clone)]
pub struct Tracing {
    /// The guest's work meanwhile.
    pub workload: Workload,
    /// The cpuidle governors, one after the other: Debian's kernels have `menu` and `ladder`.
    pub governors: Vec<String>,
    /// The time that each takes, in seconds.
    pub seconds: u32,
}

/// The number of times that a CPU entered an idle state.
#[derive(Clone, Debug)]
pub struct Usage {
    /// The CPU.
    pub cpu: u16,
    /// The state's name.
    pub state: String,
    /// The number of times that the CPU entered it while no other was allowed.
    pub entered: u64,
    /// Microseconds in it.
    pub microseconds: u64,
    /// The number of times that the kernel saw the call return without a power-down: an interrupt
    /// was pending.
    pub rejected: u64,
}

/// The number of times that a power domain took a state of its own, by the kernel's coordination.
#[derive(Clone, Debug)]
pub struct DomainUsage {
    /// Node of the device tree that has the number.
    pub domain: String,
    /// The state, as the kernel numbers them.
    pub state: String,
    /// The number of times that it was entered.
    pub entered: u64,
}

/// The counts that Linux saw.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// `uname -r`.
    pub release: String,
    /// CPUs that came up.
    pub cpus: usize,
    /// The physical address of the kernel's code.
    pub kernel_at: u64,
    /// True if the kernel lies at a random virtual address (KASLR).
    pub randomized: bool,
    /// Hotplug cycles of each CPU, and how many of their halves failed.
    pub hotplug: (u32, u32),
    /// Each idle state of each CPU, while it was the only one allowed.
    pub usage: Vec<Usage>,
    /// Domains, in OS-initiated mode.
    pub domains: Vec<DomainUsage>,
    /// Lines of dmesg that speak of trouble.
    pub errors: Vec<String>,
    /// PSCI's file in debugfs.
    pub psci: Vec<String>,
    /// Events that were recorded, and those that this kernel does not have.
    pub events: (Vec<String>, Vec<String>),
    /// The ftrace texts: one for each governor that was asked for, or one.
    pub traces: Vec<Vec<String>>,
    /// The number of times that the kernel came up.
    pub boots: u32,
    /// It went off by SYSTEM_OFF.
    pub powered_off: bool,
}

impl Report {
    /// True if the machine came up again after SYSTEM_RESET, and after SYSTEM_RESET2.
    pub fn rebooted(&self) -> bool {
        self.boots > 2
    }

    /// The complaints about what is not as it should be, in words; none when all is well.
    pub fn complaints(&self, machine: &Machine) -> Vec<String> {
        let never = self.usage.iter().filter(|usage| usage.entered == 0);
        let never = never.map(|never| format!("CPU {} never entered {}", never.cpu, never.state));
        let of_machine = [
            (
                self.cpus != machine.cpus,
                format!("{} of {} CPUs came up", self.cpus, machine.cpus),
            ),
            (
                self.hotplug.1 > 0,
                format!("{} hotplug operations failed", self.hotplug.1),
            ),
            (
                !self.rebooted(),
                "the machine did not come up again after a cold and a warm reset".to_owned(),
            ),
            (
                !self.powered_off,
                "the machine did not power off".to_owned(),
            ),
            (
                self.usage.is_empty(),
                "the kernel has no idle states".to_owned(),
            ),
        ];
        let errors = format!("dmesg: {}", self.errors.join("; "));
        let told = of_machine.into_iter().filter(|(is_wrong, _)| *is_wrong);
        let told = told.map(|(_, what)| what).chain(never);
        told.chain((!self.errors.is_empty()).then_some(errors))
            .collect()
    }
}

/// Boots, works, reboots, powers off.
///
/// `progress` is told of each line that speaks to us.
///
/// # Errors
/// The guest hangs or ends too early. What Linux saw go wrong is in [`Report::complaints`].
pub fn run(
    images: &Images,
    linux: &Linux,
    machine: &Machine,
    options: &Options,
    mut progress: impl FnMut(&str),
) -> Result<Report> {
    let mut firmware_options = String::new();
    if options.os_initiated {
        firmware_options.push_str("suspend-mode=os-initiated\npower-state=extended\n");
    }
    if let Some(level) = options.exception_level {
        firmware_options.push_str(&format!("exception-level={level}\n"));
    }
    // A cycle of a CPU takes a fifth of a second where the host is busy with other things.
    let traced = options.trace.as_ref().map_or(0, |trace| {
        60 * u64::from(trace.seconds) * trace.governors.len() as u64
    });
    let work =
        u64::from(options.cycles) * machine.cpus as u64 + 60 * u64::from(options.stay) + traced;
    // A CPU on which callbacks of RCU wait keeps its tick, and tells its governor the time to it.
    // No event says so, so that a replay could not know: while the guest is traced, threads look
    // after callbacks.
    let bootargs = if options.trace.is_some() {
        offload_all(machine)
    } else {
        String::new()
    };
    let mut guest = boot(images, linux, machine, &bootargs, &firmware_options, work)?;
    let mut told = Transcript {
        options,
        report: Report::default(),
        before: Vec::new(),
        section: None,
        off: false,
    };
    while let Some(line) = guest.line()? {
        // An echo of what was typed, or a kernel message, may stand before it.
        match line
            .find('@')
            .filter(|&at| at == 0 || told.section.is_none())
        {
            Some(at) => told.word(&mut guest, &line[at..], &mut progress)?,
            None => told.other_line(&mut guest, line)?,
        }
    }
    // The emulator ends by itself when the machine is off, and only then: a hung one was ended
    // above.
    Ok(Report {
        powered_off: told.off,
        ..told.report
    })
}

/// The lines of a guest's console as they come, and the report that they make.
struct Transcript<'o> {
    options: &'o Options,
    report: Report,
    /// Usage before the work, to be subtracted from that after it.
    before: Vec<Usage>,
    /// The section that the lines are of: a trace, or what the driver of PSCI says.
    section: Option<&'static str>,
    /// True once the guest has said that it powers off.
    off: bool,
}

impl Transcript<'_> {
    /// A line that does not speak to us: one of a section, or a message.
    fn other_line(&mut self, guest: &mut Guest, line: String) -> Result {
        match self.section {
            Some("trace") => self
                .report
                .traces
                .last_mut()
                .into_iter()
                .for_each(|trace| trace.push(line.clone())),
            Some("psci") => self.report.psci.push(line),
            _ => guest.check_line(line)?,
        }
        Ok(())
    }

    /// A line of the guest's first process, by its first word.
    fn word(&mut self, guest: &mut Guest, line: &str, progress: &mut impl FnMut(&str)) -> Result {
        let report = &mut self.report;
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let words: Vec<&str> = rest.split(' ').collect();
        let number = |index: usize| {
            words
                .get(index)
                .and_then(|word| word.parse().ok())
                .unwrap_or(0_u64)
        };
        if ["@linux", "@lost", "@hotplug", "@rebooting", "@powering-off"].contains(&word) {
            progress(line);
        }
        match word {
            "@linux" => {
                report.boots += 1;
                match report.boots {
                    1 => {
                        report.release = words[0].to_owned();
                        report.cpus = number(1) as usize;
                        guest.type_line(&self.options.work())?;
                    }
                    2 => guest.type_line("warm")?,
                    _ => guest.type_line("off")?,
                }
            }
            "@kernel" => {
                report.kernel_at = u64::from_str_radix(words[0], 16).unwrap_or(0);
                report.randomized = rest.ends_with("KASLR enabled");
            }
            "@hotplug" => report.hotplug = (number(0) as u32, number(1) as u32),
            "@usage" => {
                let usage = Usage {
                    cpu: number(1) as u16,
                    state: words.get(2).copied().unwrap_or_default().to_owned(),
                    entered: number(3),
                    microseconds: number(4),
                    rejected: number(5),
                };
                take_usage(report, &mut self.before, words[0], usage);
            }
            "@domain" => report.domains.push(DomainUsage {
                domain: words[0].to_owned(),
                state: words.get(1).copied().unwrap_or_default().to_owned(),
                entered: number(3),
            }),
            "@event" if report.traces.is_empty() => report.events.0.push(rest.to_owned()),
            "@event-missing" if report.traces.is_empty() => report.events.1.push(rest.to_owned()),
            "@error" => report.errors.push(rest.to_owned()),
            "@trace-begin" => {
                self.section = Some("trace");
                report.traces.push(Vec::new());
            }
            "@psci-begin" => self.section = Some("psci"),
            "@trace-end" | "@psci-end" => self.section = None,
            "@powering-off" => self.off = true,
            "@failed:" => return Err(guest.failed(rest)),
            _ => {}
        }
        Ok(())
    }
}

impl Options {
    /// The line that tells the guest its work.
    fn work(&self) -> String {
        let traced = match &self.trace {
            Some(trace) => format!(
                "{} {} {}",
                trace.seconds,
                trace.workload.name(),
                trace.governors.join(" ")
            ),
            None => "1 idle none".to_owned(),
        };
        format!("work {} {} {traced}", self.cycles, self.stay)
    }
}

/// Starts the kernel with more words on its command line and more options of the firmware. It is
/// given up when it says nothing for its time and three minutes.
pub(crate) fn boot(
    images: &Images,
    linux: &Linux,
    machine: &Machine,
    bootargs: &str,
    firmware_options: &str,
    work: u64,
) -> Result<Guest> {
    let length = std::fs::metadata(&linux.initramfs)
        .map_err(Error::file(&linux.initramfs))?
        .len();
    let entry = machine.memory_end() - ROOM;
    let initramfs = entry + TO_INITRAMFS;
    Guest::start(
        machine,
        &images.firmware,
        &[
            Load {
                file: &linux.kernel,
                address: entry,
            },
            Load {
                file: &linux.initramfs,
                address: initramfs,
            },
        ],
        &[(
            "opt/stopwatt/firmware",
            &format!(
                "entry={entry:#x}\ninitrd={initramfs:#x}..{:#x}\nbootargs=console=ttyAMA0 panic=1 {bootargs}\n{firmware_options}",
                initramfs + length
            ),
        )],
        None,
        Duration::from_secs(180 + work),
        Duration::from_secs(600 + 2 * work),
    )
}

/// The kernel's argument by which threads invoke the callbacks of all CPUs.
fn offload_all(machine: &Machine) -> String {
    format!("rcu_nocbs=0-{}", machine.cpus - 1)
}

/// Keeps the growth of one state's counters while that state was the only one allowed: `before-N`
/// and `after-N` name it.
fn take_usage(report: &mut Report, before: &mut Vec<Usage>, when: &str, usage: Usage) {
    let Some((half, _)) = when.split_once('-') else {
        return;
    };
    let is_same =
        |known: &Usage, usage: &Usage| (known.cpu, &known.state) == (usage.cpu, &usage.state);
    if half == "before" {
        before.retain(|known| !is_same(known, &usage));
        before.push(usage);
        return;
    }
    let Some(was) = before.iter().find(|known| is_same(known, &usage)) else {
        return;
    };
    let grown = Usage {
        entered: usage.entered.saturating_sub(was.entered),
        microseconds: usage.microseconds.saturating_sub(was.microseconds),
        rejected: usage.rejected.saturating_sub(was.rejected),
        ..usage
    };
    match report.usage.iter_mut().find(|known| is_same(known, &grown)) {
        Some(known) if known.entered < grown.entered => *known = grown,
        Some(_) => {}
        None => report.usage.push(grown),
    }
}
