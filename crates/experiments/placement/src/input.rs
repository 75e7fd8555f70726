//! The request, read and checked.

use crate::workloads;
use document::{Document, one_of};
use experiment::setting::{self, CheckedSetting, Choice, InputFile, Keys, Number, Or};
use experiment::{Error, Files, Request, Result};
use minikernel::placement::Kind;
use minikernel::{Affinities, Costs, CpuSet, Frequency, Hardware, Rcu, Settings};
use platforms::{DISABLE, PlatformFiles};
use soc::config::{IdlePlatform, Machine};

/// The workload where none is named.
const USUAL: &str = "ui-render";
/// The time that a workload runs that says nothing about it, in seconds.
const USUAL_SECONDS: u64 = 20;
/// The policies in the order in which they are shown: what others are compared with comes first.
const POLICIES: [Kind; 6] = [
    Kind::AllBig,
    Kind::Hmp,
    Kind::HmpEarly,
    Kind::Even,
    Kind::Switcher,
    Kind::EnergyAware,
];
/// The least time between changes of a frequency that follows the load, in nanoseconds.
pub const RATE_LIMIT_NS: u64 = 10_000_000;

/// Configuration of RCU.
#[derive(Clone, Copy, PartialEq)]
pub enum RcuChoice {
    /// Each CPU invokes its callbacks, and keeps its tick while it has some.
    Ordinary,
    /// Threads invoke the callbacks of all CPUs.
    Offloaded,
}

pub const WORKLOAD: InputFile = InputFile::new(
    "workload",
    "A file of rt-app, or one that comes with the command: andebench2, andebench8, audio, audio-bbench, closes, cyclictest, sysbench, \
     ui-render [default: ui-render].",
)
.positional();

pub const PLATFORM: Or<setting::Platform> = setting::Platform::new(
    "platform",
    "Platform with operating points; the `name` in a file says whose firmware costs count. With --tasks several, parted by commas, and \
     juno-r2-a72,juno-r2-a57 where none is named.",
)
.or("tc2");

pub const IDLE: setting::Platform = setting::Platform::new(
    "idle",
    "Idle states and what they cost, of this name or in this file [default: the platform's].",
);

pub const WANTED: CheckedSetting<Vec<Kind>> = CheckedSetting::new(
    "policies",
    "NAMES",
    policies,
    "Policies, parted by commas [default: all]; all-big, hmp, hmp-early, even, switcher, energy-aware.",
);

pub const FREQUENCY: Or<Choice<Frequency>> = Choice::new(
    "frequency",
    &[
        (
            "highest",
            Frequency::Highest,
            "each domain stays at its highest operating point",
        ),
        (
            "schedutil",
            Frequency::Schedutil {
                rate_limit_ns: RATE_LIMIT_NS,
            },
            "the lowest point that holds 1.25 times what the domain's busiest CPU does",
        ),
    ],
    "How frequencies are chosen.",
)
.or(Frequency::Highest);

pub const RCU: Or<Choice<RcuChoice>> = Choice::new(
    "rcu",
    &[
        (
            "ordinary",
            RcuChoice::Ordinary,
            "each CPU invokes its callbacks, and keeps its tick while it has some",
        ),
        (
            "offloaded",
            RcuChoice::Offloaded,
            "threads invoke the callbacks of all CPUs",
        ),
    ],
    "How RCU is configured.",
)
.or(RcuChoice::Ordinary);

pub const SECONDS: Number = Number::new(
    "seconds",
    1..=3600,
    "How long a run lasts; sooner over if its main tasks are [default: what the workload says, or 20].",
)
.unit("s");

pub const SEEDS: Or<Number<u32>> =
    Number::new("seeds", 1..=1000, "How many seeds each policy runs with.").or(20);

pub const SEED: Or<Number<u32>> = Number::new("seed", 0..=u32::MAX, "The first of them.").or(1);

pub const ROUND_TRIP: Or<Number> = Number::new(
    "round-trip",
    0..=1024,
    "What entering and leaving idle states costs, within the range that the platform's sources give: 0 is the lowest, 1024 the highest.",
)
.or(300);

pub const LATENCY_LIMIT: Number = Number::new(
    "latency-limit",
    0..=1_000_000_000,
    "The longest exit latency that idle states may have (/dev/cpu_dma_latency) [default: no limit].",
)
.unit("us");

pub const MEMORY_RATE: Number = Number::new(
    "memory-bytes-per-us",
    1..=1_000_000,
    "What `mem` and `memrun` of the workload write in a microsecond (MB/s) on the core that `run` is calibrated on.",
);

pub const DEVICE_RATE: Number = Number::new(
    "device-bytes-per-us",
    1..=1_000_000,
    "What `iorun` of the workload writes in a microsecond of computing on that core.",
);

pub const SET: Keys = Keys::new(
    "set",
    "A setting of the workload (its `stopwatt_settings`), or a key of the platform's files, which has a dot in it.",
);

/// Everything that a run needs.
pub struct Input {
    /// The workload's name: that of one that comes with the command, or a file's path.
    pub workload_name: String,
    /// The text of the workload.
    pub workload_text: String,
    /// The workload.
    pub workload: minikernel::Workload,
    /// The machine.
    pub hardware: Hardware,
    /// The idle states that it is made of, and what its powers are.
    pub idle: IdlePlatform,
    /// The platform's name.
    pub platform: String,
    /// The text of the platform's file.
    pub platform_text: String,
    /// The policies.
    pub policies: Vec<Kind>,
    /// The costs of the kernel's own work.
    pub(crate) costs: Costs,
    /// Governor of the frequency.
    pub frequency: Frequency,
    /// Configuration of RCU.
    pub rcu: RcuChoice,
    /// The time that a run lasts, in nanoseconds; it ends sooner if its main tasks do.
    pub time_ns: u64,
    /// The longest exit latency that idle states may have, in nanoseconds.
    pub(crate) latency_limit_ns: u64,
    /// The first seed, and how many.
    pub seeds: (u64, u32),
    /// The notes that a reader needs about the input, a sentence each.
    pub notes: Vec<String>,
}

/// The policies of a list of names.
pub fn policies(text: &str) -> Result<Vec<Kind>, String> {
    let asked = text
        .split(',')
        .map(|name| name.trim().parse::<Kind>())
        .collect::<Result<Vec<_>, _>>()?;
    Ok(POLICIES
        .into_iter()
        .filter(|kind| asked.contains(kind))
        .collect())
}

/// The options with which a workload is read; its own settings are whole numbers.
fn workload_options(
    settings: &experiment::Settings,
    own: Vec<(String, String)>,
    cpus: usize,
) -> Result<workload::Options> {
    let numbers = own.into_iter().map(|(key, value)| match value.parse() {
            Ok(number) => Ok((key, number)),
            Err(_) => Err(Error::usage(
                format!("--set {key}={value}: `{value}` is no whole number"),
                "settings of a workload are whole numbers; those of a platform have a dot in their names",
            )),
        });
    Ok(workload::Options {
        settings: numbers.collect::<Result<_, _>>()?,
        cpus,
        memory_bytes_per_us: settings.get(MEMORY_RATE),
        device_bytes_per_us: settings.get(DEVICE_RATE),
        ..workload::Options::default()
    })
}

impl Input {
    /// Reads what a request names.
    ///
    /// # Errors
    /// The workload, the platform or a setting is wrong; the error names the place.
    pub fn read(request: &Request<'_>) -> Result<Self> {
        let settings = &request.settings;
        let (of_platform, of_workload): (Vec<_>, Vec<_>) = settings
            .get(SET)
            .into_iter()
            .partition(|(key, _)| key.contains('.'));

        let part = settings.get(ROUND_TRIP);
        let platform = settings.get(PLATFORM);
        let board = Board::read(
            request.platforms,
            &platform,
            settings.get(IDLE),
            &settings.get(DISABLE).unwrap_or_default(),
            part,
            &of_platform,
        )?;
        let Board {
            name: platform,
            text: platform_text,
            hardware,
            idle,
        } = board;

        let path = settings.get(WORKLOAD);
        let name = path.map_or_else(|| USUAL.to_owned(), |path| path.display().to_string());
        let text = workload_text(&name)?;
        let options = workload_options(settings, of_workload, hardware.cpus())?;
        let costs = platforms::kernel_costs(request.platforms)?;
        let costs = Costs::new(&Costs::read(&costs)?);
        let file = workload::read(&Document::new(name.as_str(), text.as_str()), &options)?;
        let seconds = settings.get(SECONDS).map(|seconds| seconds * 1_000_000_000);
        let mut notes = vec![format!(
            "Transitions into idle states and back cost {:.0} % of the range between the lowest and the highest source of {}.",
            100.0 * part as f64 / 1024.0,
            idle.name
        )];
        if !file.no_effect.is_empty() {
            notes.push(format!(
                "Of `global` these have no effect here: {}.",
                file.no_effect.join(", ")
            ));
        }
        notes.extend(file.warnings);
        Ok(Self {
            workload_name: name,
            workload_text: text,
            workload: file.workload,
            hardware,
            idle,
            platform,
            platform_text,
            policies: settings.get(WANTED).unwrap_or_else(|| POLICIES.to_vec()),
            frequency: settings.get(FREQUENCY),
            rcu: settings.get(RCU),
            costs,
            time_ns: seconds
                .or(file.duration_ns)
                .unwrap_or(USUAL_SECONDS * 1_000_000_000),
            latency_limit_ns: settings.get(LATENCY_LIMIT).map_or(u64::MAX, |us| us * 1000),
            seeds: (settings.get(SEED).into(), settings.get(SEEDS)),
            notes,
        })
    }

    /// The kernel's settings for a seed.
    pub(crate) fn kernel(&self, seed: u64, record: bool) -> Settings {
        Settings {
            seed,
            frequency: self.frequency,
            latency_limit_ns: self.latency_limit_ns,
            costs: self.costs,
            record,
            ..Settings::default()
        }
    }

    /// RCU as configured.
    pub(crate) fn rcu(&self, settings: &Settings) -> Result<Rcu> {
        rcu_of(settings, self.hardware.cpus(), self.rcu)
    }

    /// The domain with the fastest core.
    pub fn big(&self) -> usize {
        fastest(&self.hardware)
    }
}

/// The domain with the fastest core.
pub fn fastest(hardware: &Hardware) -> usize {
    let top = |domain: &minikernel::Domain| domain.points.last().map_or(0, |point| point.capacity);
    let most = hardware.domains.iter().map(top).max();
    hardware
        .domains
        .iter()
        .position(|domain| Some(top(domain)) == most)
        .unwrap_or(0)
}

/// RCU of today, configured in one of its ways.
pub fn rcu_of(settings: &Settings, cpus: usize, choice: RcuChoice) -> Result<Rcu> {
    let mut of_rcu = rcu::Settings::new(cpus, u64::from(settings.hz), rcu::Form::Modern);
    if choice == RcuChoice::Offloaded {
        of_rcu.offloaded = (0..cpus).collect();
    }
    let affinities = Affinities {
        grace_periods: CpuSet::ALL,
        offload: CpuSet::ALL,
    };
    Rcu::new(of_rcu, affinities, settings.record).map_err(Error::failed)
}

/// A machine with its idle states.
pub struct Board {
    /// The platform's name.
    pub(crate) name: String,
    /// The text of its file.
    pub(crate) text: String,
    pub(crate) hardware: Hardware,
    pub(crate) idle: IdlePlatform,
}

impl Board {
    /// Reads the platform of a name or a file, with idle states of another name or file where one
    /// is given, without those that are `disabled`. `part` is where in its range a round trip into
    /// an idle state lies, of 1024; `set` are keys of the platform's files.
    pub fn read(
        platforms: &dyn Files,
        given: &str,
        idle: Option<String>,
        disabled: &[String],
        part: u64,
        set: &[(String, String)],
    ) -> Result<Self> {
        let files = PlatformFiles::open(platforms, given)?;
        let mut sources = files.sources(&files.release_name("last")?)?;
        let text = sources.platform.text().to_owned();
        let was_sound = sources.machine().is_ok();
        for (key, value) in set {
            platforms::set_key(&mut sources, key, value)?;
        }
        let machine = sources
            .machine()
            .map_err(|wrong| platforms::while_set(set, was_sound && !set.is_empty(), wrong))?;
        let given = idle.map_or_else(|| files.idle_states(), Ok)?;
        let mut idle = platforms::idle_states(platforms, &given)?;
        platforms::disable(&mut idle, disabled)?;
        let hardware = Hardware::new(&machine, &idle, part).map_err(|wrong| {
            let is_path = given.contains(['/', '.']);
            let shown = if is_path {
                given.clone()
            } else {
                platforms.shown(&format!("idle/{given}.toml"))
            };
            no_hardware(
                &machine,
                &sources.platform,
                &Document::new(shown, idle.text.clone()),
                &wrong,
            )
        })?;
        Ok(Self {
            name: files.name().to_owned(),
            text,
            hardware,
            idle,
        })
    }
}

/// Why a platform and its idle states make no machine, with the place.
fn no_hardware(machine: &Machine, platform: &Document, idle: &Document, wrong: &str) -> Error {
    let topology = &machine.platform.topology;
    let without = topology
        .domains
        .iter()
        .enumerate()
        .find(|(number, domain)| {
            domain.operating_points.is_empty()
                && topology.cpus.iter().any(|cpu| cpu.domain == *number)
        });
    if let Some((_, domain)) = without {
        let what = format!("domain `{}` has no operating points", domain.name);
        let help = "give it an `operating_point` table with clock, capacity, core_power and domain_power, and their `operating_points_source`; platforms/tc2.toml has two";
        let name = format!("name = \"{}\"", domain.name);
        let at = platform
            .text()
            .find(&name)
            .map_or(0..0, |at| at..at + name.len());
        return Error::file(platform.wrong(at, what, help));
    }
    let (start, help) = (
        "[[domain]]",
        "its domains have the CPUs of the platform's, numbered in the same order",
    );
    let at = idle
        .text()
        .find(start)
        .map_or(0..0, |at| at..at + start.len());
    Error::file(idle.wrong(
        at,
        format!("it does not fit {}: {wrong}", platform.name()),
        help,
    ))
}

fn workload_text(name: &str) -> Result<String> {
    if let Some(text) = workloads::find(name) {
        return Ok(text.to_owned());
    }
    disk::text(std::path::Path::new(name)).map_err(|error| {
        let help = format!(
            "{}; or name a file of rt-app",
            one_of(name, workloads::NAMES)
        );
        Error::usage(format!("cannot read {name}: {error}"), help)
    })
}
