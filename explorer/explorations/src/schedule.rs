//! A schedule as text.

use crate::{port::load_port, recorded::Recordable};
use document::Document;
use explore::{
    Counterexample, CounterexampleIn, Deviation, Failure, HooksFile, Invariant, Limits,
    OperationIndex, Port, Script,
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

/// The version of the text.
const FORMAT: u32 = 2;

/// All that repeats a run.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, bound = "")]
pub struct Schedule<S: Recordable> {
    /// The version of this text.
    format: u32,
    /// The subject: `psci` or `rcu`.
    subject: String,
    /// The sources of the library, as a number that changes with them.
    sources: String,
    /// The fault that it had.
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<String>,
    /// Operations that a run may make.
    steps: u32,
    /// The strategy that found it, and the number of the run.
    strategy: String,
    run: u64,
    /// The invariant that it broke.
    invariant: Invariant,
    what: String,
    process: u8,
    operation: OperationIndex,
    /// The hash of the run: another run with the same hash did the same.
    hash: String,
    /// The hooks of a port that it had.
    #[serde(skip_serializing_if = "Option::is_none")]
    hooks: Option<HooksFile>,
    machine: S::Machine,
    scenario: S::Script,
    #[serde(default)]
    deviation: Vec<Deviation>,
}

fn read<T: DeserializeOwned>(schedule: &Document) -> Result<T, String> {
    schedule.read().map_err(|error| error.to_string())
}

fn own_sources<S: Recordable>() -> String {
    format!("{:016x}", S::SOURCES)
}

/// The subject that a schedule's text is for: its `NAME`.
///
/// # Errors
/// It is no schedule, or one of another version.
pub fn subject_of(schedule: &Document) -> Result<String, String> {
    #[derive(Deserialize)]
    struct Head {
        format: u32,
        subject: String,
    }
    let head: Head = read(schedule)?;
    if head.format != FORMAT {
        return Err(format!(
            "the schedule has format {}, and this program reads format {FORMAT}",
            head.format
        ));
    }
    Ok(head.subject)
}

impl<S: Recordable> Schedule<S> {
    /// The schedule of what was found.
    pub fn new(found: &CounterexampleIn<S>, subject: &S, limits: Limits) -> Self {
        Self {
            format: FORMAT,
            subject: S::NAME.to_owned(),
            sources: own_sources::<S>(),
            fault: subject.fault().map(|fault| fault.name.to_owned()),
            steps: limits.steps,
            strategy: found.strategy.to_string(),
            run: found.run,
            invariant: found.failure.invariant,
            what: found.failure.what.clone(),
            process: found.failure.process,
            operation: found.failure.operation,
            hash: format!("{:016x}", found.hash),
            hooks: subject.port().map(|port| port.about().file.clone()),
            machine: found.machine,
            scenario: found.script.clone(),
            deviation: found.schedule.clone(),
        }
    }

    /// The text.
    pub fn text(&self) -> String {
        toml::to_string(self)
            .unwrap_or_else(|error| unreachable!("a schedule is plain data: {error}"))
    }

    /// Opens a schedule by its text: its subject, its finding, and the limits of a run. With
    /// `anyway`, a library or a port that has changed since is no error.
    ///
    /// # Errors
    /// It is no schedule of this subject, or for another build, or its parts do not fit together: a
    /// sentence that says what is wrong.
    pub fn open(text: &Document, anyway: bool) -> Result<(S, CounterexampleIn<S>, Limits), String> {
        let schedule: Self = read(text)?;
        let own = own_sources::<S>();
        if !anyway && schedule.sources != own {
            return Err(format!(
                "the schedule is for a library whose sources are {}, and this program has {own}: the same operations may mean something else; find it again with this program, or add --anyway",
                schedule.sources
            ));
        }
        let fault = schedule.fault.as_ref().map(|name| {
            seeded::find(S::FAULTS, name).ok_or_else(|| format!("there is no fault `{name}`"))
        });
        schedule.scenario.check()?;
        S::check_machine(&schedule.machine)?;
        let cpus = schedule.scenario.cpus();
        if let Some(deviation) = schedule
            .deviation
            .iter()
            .find(|deviation| deviation.process as usize > cpus)
        {
            return Err(format!(
                "a deviation is of process {}, and the scenario has {cpus} CPUs",
                deviation.process
            ));
        }
        let port = schedule.port(anyway)?;
        let found = schedule.finding()?;
        if !Limits::STEPS.contains(&schedule.steps) {
            let (least, most) = (Limits::STEPS.start(), Limits::STEPS.end());
            return Err(format!(
                "a run may make {least} to {most} operations, not {}",
                schedule.steps
            ));
        }
        Ok((
            S::with(cpus, schedule.machine, fault.transpose()?, port),
            found,
            Limits {
                steps: schedule.steps,
            },
        ))
    }

    /// Loads the port that the finding was made with, if it was made with one.
    fn port(&self, anyway: bool) -> Result<Option<&'static dyn Port>, String> {
        let Some(HooksFile { file, crc32 }) = &self.hooks else {
            return Ok(None);
        };
        let port = load_port(file).map_err(|wrong| wrong.message)?;
        if !anyway && port.about().file.crc32 != *crc32 {
            let why = "has changed since: find it again with this port, or add --anyway";
            return Err(format!("{} {why}", file.display()));
        }
        Ok(Some(port))
    }

    /// The finding that the schedule leads to.
    fn finding(&self) -> Result<CounterexampleIn<S>, String> {
        let strategy = self.strategy.parse()?;
        let hash = u64::from_str_radix(&self.hash, 16)
            .map_err(|_| format!("`{}` is no hash", self.hash))?;
        let failure = Failure {
            invariant: self.invariant,
            what: self.what.clone(),
            process: self.process,
            operation: self.operation,
        };
        Ok(Counterexample {
            failure,
            machine: self.machine,
            script: self.scenario.clone(),
            schedule: self.deviation.clone(),
            hash,
            steps: 0,
            strategy,
            run: self.run,
        })
    }
}
