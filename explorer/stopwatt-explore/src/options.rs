//! What `stopwatt explore psci` and `stopwatt explore rcu` are told, and the plan that it makes.

use clap::{Args, ValueEnum, value_parser};
use document::{Document, nearest};
use explorations::{Recordable, experiment};
use explore::{Exploration, Limits, MachineOptions, Mode, Psci, Rcu, Script, Strategy};
use miette::miette;
use seeded::Fault;
use std::{
    path::{Path, PathBuf},
    time::Duration,
};
use stopwatt::report_command::TellingOptions;

/// A search: what is explored and for how long, and where the finding goes.
pub struct Plan<S: Recordable> {
    pub subject: S,
    pub exploration: Exploration<S::Script>,
    pub time: Duration,
    pub threads: usize,
    /// The folder of the recording.
    pub folder: PathBuf,
    /// True if a search that finds nothing leaves a recording, too: the folder or a report was
    /// named.
    pub always_recorded: bool,
    pub told: TellingOptions,
}

/// The options that both commands take.
#[derive(Args)]
pub struct SearchOptions {
    /// The time to look for, such as 60s or 5m [default: 10s, without --schedules].
    #[arg(long = "for", value_name = "TIME", value_parser = duration)]
    time: Option<Duration>,
    /// The number of schedules to try.
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(1..))]
    schedules: Option<u64>,
    /// The way to choose: random, pct:N (N changes of priority), passing-over or few:N (about N
    /// deviations); may be given again [default: random, pct:3 and passing-over in turn]. dpor,
    /// alone: every run that differs from the others, one scenario after the other.
    #[arg(long, value_name = "STRATEGY")]
    strategy: Vec<Strategy>,
    /// Operations that a run may make before it counts as one that never ends [default: 10000, for
    /// RCU 200000].
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(i64::from(*Limits::STEPS.start())..=i64::from(*Limits::STEPS.end())))]
    steps: Option<u32>,
    /// Seed of everything that is drawn.
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// Threads that share what is drawn; what is found is the same, whatever their number is.
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = value_parser!(u8).range(1..=64))]
    threads: u8,
    /// File that says what the CPUs do.
    #[arg(long, value_name = "FILE")]
    scenario: Option<PathBuf>,
    /// Folder for what is found [default: recordings/explore-LIBRARY, with the fault's name].
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    #[command(flatten)]
    told: TellingOptions,
}

/// Options of `explore psci`.
#[derive(Args)]
#[command(max_term_width = 100)]
#[command(after_help = "Examples:
  stopwatt explore psci --cpus 6 --for 60s
  stopwatt explore psci --fault rejected-cpu-on -o recordings/f
  stopwatt explore psci --strategy pct:3 --seed 7 --schedules 1000000
  stopwatt explore psci --hooks port.so
  stopwatt explore psci --strategy dpor --scenario on-off.toml --for 5m

A scenario is a TOML file; without one, each run draws its own:
  os_initiated = false                                  # whether the OS coordinates
  off = [2]                                             # CPUs that are off at the start
  cpus = [[{ on = 2 }, { affinity = 2 }],               # the calls of CPU 0, of CPU 1, ...
          [{ suspend = { states = [2, 2, 0] } }, \"off\"],
          []]
States are those of the CPU, its cluster and the system: 0 runs, 1 keeps its contents, 2 loses them (the system: 1).

Exit status: 0 when nothing was found, 1 when something was, 2 when it cannot be done.")]
pub struct PsciOptions {
    /// CPUs of the machine, in clusters of two or as a port says [default: 6, or those of the
    /// scenario].
    #[arg(long, value_name = "N", value_parser = value_parser!(u8).range(1..=explore::MOST_CPUS as i64))]
    cpus: Option<u8>,
    /// Give the library a fault: `stopwatt explore faults` lists them.
    #[arg(long, value_name = "NAME", value_parser = |name: &str| find_fault(psci_faults::FAULTS, name))]
    fault: Option<&'static Fault>,
    /// Platform hooks of a port of TF-A's shape: a shared object in C, by stopwatt_hooks.h
    /// (docs/explore-hooks.md).
    #[arg(long, value_name = "FILE", conflicts_with = "fault")]
    hooks: Option<PathBuf>,
    /// The kind of machine; may be given again [default: all in turn].
    #[arg(long, value_name = "KIND")]
    machine: Vec<MachineKind>,
    #[command(flatten)]
    pub search: SearchOptions,
}

/// Kinds of machine, in the order of [`MachineOptions::all`].
#[derive(Clone, Copy, ValueEnum)]
enum MachineKind {
    /// CPUs leave coherency when they power down; bakeries.
    Leaves,
    /// CPUs stay coherent; bakeries.
    Coherent,
    /// CPUs stay coherent; ticket locks.
    CoherentTicket,
}

/// Options of `explore rcu`.
#[derive(Args)]
#[command(max_term_width = 100)]
#[command(after_help = "Examples:
  stopwatt explore rcu --for 60s
  stopwatt explore rcu --mode lazy --fault timer-not-set-again -o recordings/t
  stopwatt explore rcu --scenario two.toml --mode reference --schedules 100000

A scenario is a TOML file; without one, each run draws its own:
  leaf_fanout = 2                                   # CPUs of a leaf of RCU's tree
  preemptible = true
  cpus = [[{ read = 0 }, \"jiffy\", \"leave\"],      # the actions of CPU 0, of CPU 1, ...
          [{ replace = { pointer = 0 } }, { thread = { which = 0, steps = 8 } }, \"jiffy\", { idle = { jiffies = 2 } }]]
Actions: read, leave, replace, switch, thread, idle, off, jiffy; docs/explore.md says what each does.

Exit status: 0 when nothing was found, 1 when something was, 2 when it cannot be done.")]
pub struct RcuOptions {
    /// CPUs of the machine [default: 4, or those of the scenario].
    #[arg(long, value_name = "N", value_parser = value_parser!(u8).range(2..=explore::MOST_CPUS as i64))]
    cpus: Option<u8>,
    /// Give the library a fault: `stopwatt explore faults` lists them.
    #[arg(long, value_name = "NAME", value_parser = |name: &str| find_fault(rcu_faults::FAULTS, name))]
    fault: Option<&'static Fault>,
    /// The way in which RCU is configured; may be given again [default: all in turn].
    #[arg(long, value_name = "MODE", value_parser = mode)]
    mode: Vec<Mode>,
    #[command(flatten)]
    pub search: SearchOptions,
}

impl PsciOptions {
    /// The search for a failure of the PSCI library.
    ///
    /// # Errors
    /// The scenario is wrong, or the options contradict each other.
    pub fn plan(&self) -> miette::Result<Plan<Psci>> {
        let scenario = scenario(&self.search, Psci::read)?;
        let cpus = cpus(self.cpus, scenario.as_ref(), 6)?;
        let all = MachineOptions::all();
        let machines = match &self.machine[..] {
            [] => all,
            given => given.iter().map(|&kind| all[kind as usize]).collect(),
        };
        let load = |hooks: &PathBuf| -> miette::Result<_> {
            self.search.check_for_hooks()?;
            explorations::load_port(hooks)
                .map_err(|wrong| miette!(help = wrong.help, "{}", wrong.message))
        };
        let subject = Psci {
            cpus,
            machines,
            fault: self.fault,
            port: self.hooks.as_ref().map(load).transpose()?,
        };
        self.search.plan(subject, scenario, Limits::default())
    }
}

impl RcuOptions {
    /// The search for a failure of the RCU library.
    ///
    /// # Errors
    /// The scenario is wrong, or the options contradict each other.
    pub fn plan(&self) -> miette::Result<Plan<Rcu>> {
        let scenario = scenario(&self.search, Rcu::read)?;
        let cpus = cpus(self.cpus, scenario.as_ref(), 4)?;
        let modes = match &self.mode[..] {
            [] => &Mode::ALL[..],
            given => given,
        };
        let subject = Rcu {
            cpus,
            modes: modes.to_vec(),
            fault: self.fault,
        };
        self.search.plan(subject, scenario, Rcu::LIMITS)
    }
}

impl SearchOptions {
    fn check_for_hooks(&self) -> miette::Result<()> {
        if self.threads > 1 || self.strategy.contains(&Strategy::Dpor) {
            return Err(miette!(
                help = "leave --threads and --strategy dpor out",
                "--hooks runs on one thread, and draws: the plain variables of C are there once, and dpor, which does not see them, would call a search complete that is not"
            ));
        }
        Ok(())
    }

    fn plan<S: Recordable>(
        &self,
        subject: S,
        scenario: Option<S::Script>,
        limits: Limits,
    ) -> miette::Result<Plan<S>> {
        let strategies = match &self.strategy[..] {
            [] => Strategy::in_turn(),
            given => given.to_vec(),
        };
        if strategies.len() > 1 && strategies.contains(&Strategy::Dpor) {
            return Err(miette!(
                help = "give it alone",
                "dpor tries every run in turn, so no other strategy can have a turn"
            ));
        }
        let limits = self.steps.map_or(limits, |steps| Limits { steps });
        let schedules = self.schedules.unwrap_or(u64::MAX);
        let exploration = Exploration {
            strategies,
            seed: self.seed,
            limits,
            script: scenario,
            schedules,
        };
        let time = match (self.time, self.schedules) {
            (Some(time), _) => time,
            (None, Some(_)) => Duration::MAX,
            (None, None) => Duration::from_secs(10),
        };
        let name = experiment::<S>();
        let name = match subject.fault() {
            Some(fault) => format!("{name}-{}", fault.name),
            None => name,
        };
        let folder = self
            .output
            .clone()
            .unwrap_or_else(|| Path::new("recordings").join(name));
        let told = self.told.clone();
        let always_recorded = self.output.is_some() || told.report.is_some();
        Ok(Plan {
            subject,
            exploration,
            time,
            threads: self.threads.into(),
            folder,
            always_recorded,
            told,
        })
    }
}

/// The fault of a name; an error names the nearest one.
fn find_fault(faults: &'static [Fault], name: &str) -> Result<&'static Fault, String> {
    seeded::find(faults, name).ok_or_else(|| {
        let near = nearest(name, faults.iter().map(|fault| fault.name));
        let near = near.map_or_else(String::new, |near| format!(" (did you mean {near}?)"));
        format!("there is no fault `{name}`{near}; `stopwatt explore faults` lists them")
    })
}

/// The scenario of the CPUs, if a file gives one.
fn scenario<C>(
    options: &SearchOptions,
    read: fn(&Document) -> Result<C, document::Error>,
) -> Result<Option<C>, document::Error> {
    let file = options.scenario.as_deref();
    file.map(|file| read(&Document::open(file)?)).transpose()
}

fn cpus(
    asked: Option<u8>,
    scenario: Option<&impl Script>,
    otherwise: usize,
) -> miette::Result<usize> {
    match (scenario.map(Script::cpus), asked) {
        (Some(have), Some(cpus)) if have != cpus as usize => Err(miette!(
            help = "leave --cpus out, or give the scenario that many",
            "--cpus is {cpus}, and the scenario has {have} CPUs"
        )),
        (Some(have), _) => Ok(have),
        (None, cpus) => Ok(cpus.map_or(otherwise, usize::from)),
    }
}

fn duration(text: &str) -> Result<Duration, String> {
    humantime::parse_duration(text)
        .ok()
        .filter(|duration| !duration.is_zero())
        .ok_or_else(|| format!("`{text}` is no time; 60s or 5m would be right"))
}

fn mode(name: &str) -> Result<Mode, String> {
    Mode::ALL
        .into_iter()
        .find(|mode| mode.name() == name)
        .ok_or_else(|| {
            let names = Mode::ALL.map(Mode::name).join(", ");
            format!("there is no mode `{name}`; {names} are right")
        })
}
