//! A schedule as text.

use explore::{Deviation, Failure, Found, Invariant, Limits, MachineOptions, Scenario, Strategy, Subject};
use serde::{Deserialize, Serialize};

/// The key of the recording's texts under which the schedule stands.
pub const SCHEDULE: &str = "schedule";

/// The version of the text.
const FORMAT: u32 = 1;

/// All that repeats a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Schedule {
    /// The version of this text.
    format: u32,
    /// What was run: `psci`.
    subject: String,
    /// The sources of the library, as a number that changes with them.
    sources: String,
    /// The fault that it had.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fault: Option<String>,
    /// Operations that a run may make.
    steps: u32,
    /// The strategy that found it, and the number of the run.
    strategy: String,
    run: u64,
    /// What it broke, and how.
    invariant: Invariant,
    what: String,
    process: u8,
    operation: u32,
    /// What the run did, as a number: another run with the same number did the same.
    hash: String,
    machine: MachineOptions,
    scenario: Scenario,
    #[serde(default)]
    deviation: Vec<Deviation>,
}

/// Why a schedule cannot be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScheduleError {
    /// The text is no schedule, or is cut short.
    #[error("the schedule cannot be read: {0}")]
    Text(String),
    /// It is for another version of this program.
    #[error("the schedule has format {0}, and this program reads format {FORMAT}")]
    Format(u32),
    /// It is for something that is not there.
    #[error("the schedule is for `{0}`, and there is only `psci`")]
    Subject(String),
    /// The library has changed since.
    #[error(
        "the schedule is for a library whose sources are {found}, and this program has {own}: the same operations may mean something else"
    )]
    Sources {
        /// What the schedule is for.
        found: String,
        /// What this program has.
        own: String,
    },
    /// The fault is not there.
    #[error("there is no fault `{0}`")]
    Fault(String),
    /// What does not fit together.
    #[error("{0}")]
    Scenario(String),
}

fn own_sources() -> String {
    format!("{:016x}", psci_faults::SOURCES)
}

impl Schedule {
    /// The schedule of what was found.
    pub fn of(found: &Found, subject: &Subject, limits: Limits) -> Self {
        Self {
            format: FORMAT,
            subject: "psci".to_owned(),
            sources: own_sources(),
            fault: subject.fault.map(|fault| fault.name.to_owned()),
            steps: limits.steps,
            strategy: found.strategy.to_string(),
            run: found.run,
            invariant: found.failure.invariant,
            what: found.failure.what.clone(),
            process: found.failure.process,
            operation: found.failure.operation,
            hash: format!("{:016x}", found.hash),
            machine: found.machine,
            scenario: found.scenario.clone(),
            deviation: found.schedule.clone(),
        }
    }

    /// The text.
    pub fn text(&self) -> String {
        toml::to_string(self).unwrap_or_else(|error| unreachable!("a schedule is plain data: {error}"))
    }

    /// Reads the text.
    ///
    /// # Errors
    /// It is no schedule, or one of another version.
    pub fn parse(text: &str) -> Result<Self, ScheduleError> {
        let schedule: Self =
            toml::from_str(text).map_err(|error| ScheduleError::Text(error.to_string().trim_end().to_owned()))?;
        if schedule.format != FORMAT {
            return Err(ScheduleError::Format(schedule.format));
        }
        if schedule.subject != "psci" {
            return Err(ScheduleError::Subject(schedule.subject));
        }
        Ok(schedule)
    }

    /// What is run, what was found, and what a run may take. With `anyway`, a library whose sources have changed is no error.
    ///
    /// # Errors
    /// It is for another build, or its parts do not fit together.
    pub fn open(&self, anyway: bool) -> Result<(Subject, Found, Limits), ScheduleError> {
        if !anyway && self.sources != own_sources() {
            return Err(ScheduleError::Sources { found: self.sources.clone(), own: own_sources() });
        }
        let fault =
            self.fault.as_ref().map(|name| psci_faults::find(name).ok_or_else(|| ScheduleError::Fault(name.clone())));
        self.scenario.check().map_err(|error| ScheduleError::Scenario(error.to_string()))?;
        let cpus = self.scenario.cpus.len();
        if let Some(deviation) = self.deviation.iter().find(|deviation| usize::from(deviation.process) > cpus) {
            let what = format!("a deviation is of process {}, and the scenario has {cpus} CPUs", deviation.process);
            return Err(ScheduleError::Scenario(what));
        }
        let strategy: Strategy = self.strategy.parse().map_err(ScheduleError::Scenario)?;
        let hash = u64::from_str_radix(&self.hash, 16)
            .map_err(|_| ScheduleError::Scenario(format!("`{}` is no hash", self.hash)))?;
        if !(1..=64).contains(&self.machine.cells_per_line) {
            return Err(ScheduleError::Scenario(format!(
                "a line holds 1 to 64 words, not {}",
                self.machine.cells_per_line
            )));
        }
        if self.machine.ticket && !self.machine.coherent {
            return Err(ScheduleError::Scenario("ticket locks need a machine that stays coherent".to_owned()));
        }
        if !Limits::STEPS.contains(&self.steps) {
            let (least, most) = (Limits::STEPS.start(), Limits::STEPS.end());
            return Err(ScheduleError::Scenario(format!(
                "a run may make {least} to {most} operations, not {}",
                self.steps
            )));
        }
        let failure = Failure {
            invariant: self.invariant,
            what: self.what.clone(),
            process: self.process,
            operation: self.operation,
        };
        let found = Found {
            failure,
            machine: self.machine,
            scenario: self.scenario.clone(),
            schedule: self.deviation.clone(),
            hash,
            steps: 0,
            strategy,
            run: self.run,
        };
        Ok((
            Subject { cpus, machines: vec![self.machine], fault: fault.transpose()? },
            found,
            Limits { steps: self.steps },
        ))
    }
}
