//! Runs the normal-world payload and reads what it prints.

use crate::{Error, Guest, Images, Load, Machine, Passages, Plugin, Result};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// The work that the payload is to run.
#[derive(Clone, Debug, PartialEq)]
pub enum Run {
    /// Counts calls.
    Calls,
    /// The measured procedures.
    Latency,
    /// The checks that must hold on the machine.
    Checks,
    /// Random SMCs.
    Fuzz,
    /// Warm and cold resets.
    Resets,
}

/// Options of a payload's run.
#[derive(Clone)]
pub struct Options {
    /// The subject.
    pub run: Run,
    /// Calls of each kind, iterations, or random calls.
    pub count: u64,
    /// Seed of random calls.
    pub seed: u64,
    /// The extended format of power_state.
    pub extended: bool,
    /// `power_state` of a standby of level 0; `None` for that of our firmware.
    pub standby: Option<u32>,
    /// `power_state` of a power-down of level 0; `None` for that of our firmware.
    pub power_down: Option<u32>,
    /// 1 or 2; `None` for the highest that the machine has.
    pub exception_level: Option<u8>,
    /// True if executions are counted by instruction, between the payload's marks: see
    /// [`Report::passages`].
    pub by_instruction: bool,
    /// When a guest that goes on is ended.
    pub limit: Duration,
}

impl Options {
    /// `count` of a run, as the firmware is by default.
    pub fn new(run: Run, count: u64) -> Self {
        Self {
            run,
            count,
            seed: 1,
            extended: false,
            standby: None,
            power_down: None,
            exception_level: None,
            by_instruction: false,
            limit: Duration::from_secs(120),
        }
    }
}

/// The stamps of one CPU in one iteration of a case, in counter ticks, by PMF id.
#[derive(Clone, Debug, PartialEq)]
pub struct Stamps {
    /// The case's name.
    pub case: String,
    /// `parallel` or `serial`.
    pub mode: String,
    /// From 0.
    pub iteration: u32,
    /// Aff1.
    pub cluster: u16,
    /// Aff0.
    pub core: u16,
    /// Enter PSCI, exit PSCI, enter low power, exit low power, enter flush, exit flush.
    pub stamps: [u64; 6],
}

/// The calls of one kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Calls {
    /// Which call.
    pub name: String,
    /// Ticks of all.
    pub ticks: u64,
    /// The count.
    pub count: u64,
    /// The value that the last one returned.
    pub returned: i64,
}

/// The output of a payload.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Every line, in order.
    pub lines: Vec<String>,
    /// Stamps of the procedures.
    pub stamps: Vec<Stamps>,
    /// Measurements of the calls.
    pub calls: Vec<Calls>,
    /// The executions in the calls of each kind, in the order of [`Report::calls`], where that
    /// was asked for. The way of a CPU that is turned on is not among them: two CPUs go it.
    pub passages: Vec<Passages>,
    /// What is missing, and why, where the guest did not come to its end after it had counted
    /// calls.
    pub gap: Option<String>,
}

impl Report {
    fn gap_after(&self, error: &Error) -> String {
        let last = self.calls.last().map_or("", |calls| calls.name.as_str());
        // A payload that somebody packed earlier does not say what it calls next.
        let call = self
            .lines
            .iter()
            .rev()
            .find_map(|line| line.strip_prefix("@calling "))
            .map_or_else(|| format!("the call after {last}"), str::to_owned);
        format!("{call} was not counted, nor was any call after it: {error}")
    }
}

/// The images that a machine is started with.
#[derive(Debug)]
pub struct Boot {
    /// For the start of the flash.
    pub flash: PathBuf,
    /// Files to put into memory, and where.
    pub loads: Vec<(PathBuf, u64)>,
    /// Options of our firmware; `None` for another.
    pub options: Option<String>,
    pub(crate) _folder: Option<tempfile::TempDir>,
}

impl Boot {
    /// Our images.
    pub fn ours(images: &Images, options: &Options) -> Self {
        let format = if options.extended {
            "extended"
        } else {
            "original"
        };
        let level = options
            .exception_level
            .map_or(String::new(), |level| format!("exception-level={level}\n"));
        Self {
            flash: images.firmware.clone(),
            loads: vec![(images.payload.clone(), Images::ENTRY)],
            options: Some(format!(
                "entry={:#x}\npower-state={format}\n{level}",
                Images::ENTRY
            )),
            _folder: None,
        }
    }
}

/// Runs the payload on our firmware until it is done.
///
/// # Errors
/// The guest hangs, or says that something failed.
pub fn run(images: &Images, machine: &Machine, options: &Options) -> Result<Report> {
    run_on(&Boot::ours(images, options), machine, options)
}

/// Runs the payload on any firmware until it is done.
///
/// # Errors
/// The guest hangs, or says that something failed.
pub fn run_on(boot: &Boot, machine: &Machine, options: &Options) -> Result<Report> {
    const SILENCE: Duration = Duration::from_secs(60);
    let run = match options.run {
        Run::Calls => "calls",
        Run::Latency => "latency",
        Run::Checks => "checks",
        Run::Fuzz => "fuzz",
        Run::Resets => "resets",
    };
    let Options { count, seed, .. } = options;
    let (extended, cpus) = (u8::from(options.extended), machine.cpus);
    let mut payload_options =
        format!("run={run}\ncount={count}\nseed={seed}\ncpus={cpus}\nextended={extended}\n");
    // A payload that somebody packed earlier may not know the option.
    if machine.memory_mib != Machine::MEMORY_MIB {
        payload_options.push_str(&format!("memory-end={}\n", machine.memory_end()));
    }
    for (key, state) in [
        ("standby", options.standby),
        ("power-down", options.power_down),
    ] {
        if let Some(state) = state {
            payload_options.push_str(&format!("{key}={state}\n"));
        }
    }
    let loads: Vec<_> = boot
        .loads
        .iter()
        .map(|(file, address)| Load {
            file,
            address: *address,
        })
        .collect();
    let mut files = vec![("opt/stopwatt/payload", payload_options.as_str())];
    files.extend(
        boot.options
            .as_deref()
            .map(|options| ("opt/stopwatt/firmware", options)),
    );
    let limit = options.limit;
    let plugin = options.by_instruction.then(Plugin::new).transpose()?;
    let mut guest = Guest::start(
        machine,
        &boot.flash,
        &loads,
        &files,
        plugin.as_ref(),
        SILENCE.min(limit),
        limit,
    )?;
    let mut report = Report::default();
    let ended = listen(&mut guest, &mut report);
    if let Some(plugin) = &plugin {
        if let Some(error) = guest.not_loaded(plugin) {
            return Err(error);
        }
        report.passages = plugin.read()?;
    }
    match ended {
        // What was counted before it stands.
        Err(error) if !report.calls.is_empty() => report.gap = Some(report.gap_after(&error)),
        ended => ended?,
    }
    Ok(report)
}

/// Reads the console of a guest until it is done.
fn listen(guest: &mut Guest, report: &mut Report) -> Result {
    while let Some(line) = guest.line()? {
        if line == "@done" {
            report.lines.push(line);
            return Ok(());
        }
        if let Some(cause) = complaint(&line) {
            // What follows belongs to it: registers, the reason.
            guest.hear_out();
            return Err(guest.failed(cause));
        }
        let understood = match line.split_once(' ') {
            Some(("@stamps", rest)) => stamps_of(rest).map(|stamps| report.stamps.push(stamps)),
            Some(("@call", rest)) => calls_of(rest).map(|calls| report.calls.push(calls)),
            _ => Some(()),
        };
        if understood.is_none() {
            return Err(guest.failed(format!("a line that cannot be read: {line}")));
        }
        report.lines.push(line);
    }
    Err(guest.failed("it ended before it was done"))
}

/// The complaint in a line that no good run prints.
fn complaint(line: &str) -> Option<String> {
    if let Some(rest) = line.strip_prefix("stopwatt: ") {
        // The lines of a good boot.
        return (!rest.contains("normal world at EL") && !rest.contains("(MEM_PROTECT)"))
            .then(|| rest.to_owned());
    }
    ["@failed", "@failure", "@panic"]
        .iter()
        .any(|word| line.starts_with(word))
        .then(|| line.to_owned())
}

/// The next of some words.
fn next<'w, T: FromStr>(words: &mut impl Iterator<Item = &'w str>) -> Option<T> {
    words.next()?.parse().ok()
}

fn stamps_of(text: &str) -> Option<Stamps> {
    let words = &mut text.split(' ');
    let mut read = Stamps {
        case: next(words)?,
        mode: next(words)?,
        iteration: next(words)?,
        cluster: next(words)?,
        core: next(words)?,
        stamps: [0; 6],
    };
    for stamp in &mut read.stamps {
        *stamp = next(words)?;
    }
    Some(read)
}

fn calls_of(text: &str) -> Option<Calls> {
    let (name, rest) = text.rsplit_once(": ")?;
    let words = &mut rest.split(' ');
    Some(Calls {
        name: name.to_owned(),
        ticks: next(words)?,
        count: next(words)?,
        returned: next(words)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_the_payload_prints() {
        let stamps = stamps_of("cpu-off serial 2 1 3 10 60 30 50 0 0").unwrap();
        assert_eq!((stamps.iteration, stamps.cluster, stamps.core), (2, 1, 3));
        assert_eq!(stamps.stamps, [10, 60, 30, 50, 0, 0]);
        let calls = calls_of("CPU_ON, already on: 12063 1000 -4").unwrap();
        assert_eq!(
            (calls.name.as_str(), calls.ticks, calls.returned),
            ("CPU_ON, already on", 12063, -4)
        );
        assert_eq!(stamps_of("cpu-off serial 2 1"), None);
        assert_eq!(calls_of("CPU_ON 5"), None);
    }

    #[test]
    fn knows_a_complaint() {
        assert_eq!(
            complaint("stopwatt: 4 CPUs, V3, normal world at EL1, 0x60000000"),
            None
        );
        assert_eq!(complaint("@call PSCI_VERSION: 1 1 1"), None);
        assert!(
            complaint("stopwatt: EL3: synchronous exception from EL3 on CPU 1, which stops here")
                .is_some()
        );
        assert!(complaint("@failed: see above").is_some());
    }
}
