//! Steps and deviations in words.

use crate::choice::{Deviation, Kind};
use crate::names::{self, Names};
use crate::script::Script;
use crate::step::{Did, Step};

/// The name of a process on a machine with `cpus` CPUs; `last` is the name of the one that is no
/// CPU.
pub fn process(cpus: usize, last: &str, process: u8) -> String {
    if usize::from(process) == cpus { last.to_owned() } else { format!("CPU {process}") }
}

/// Puts the steps and deviations of a run into words.
#[derive(Clone, Copy, Debug)]
pub struct Narrator<'s, C> {
    script: &'s C,
    names: Names,
    words_per_line: u16,
    last: &'static str,
}

impl<'s, C: Script> Narrator<'s, C> {
    /// Of a run of this script; `last` is the name of the process that is no CPU.
    pub fn new(script: &'s C, names: Names, words_per_line: u16, last: &'static str) -> Self {
        Self { script, names, words_per_line, last }
    }

    /// The name of a process.
    pub fn process(&self, process: u8) -> String {
        self::process(self.script.cpus(), self.last, process)
    }

    /// The step, as the rest of a sentence that starts with who did it.
    pub fn step(&self, step: &Step) -> String {
        let cell = |cell: u16| self.names.cell(cell);
        match step.did {
            Did::Load { cell: word } => format!("loads {}", cell(word)),
            Did::Loaded { cell: word, value, newest: None, .. } => format!("loads {}: {value:#x}", cell(word)),
            Did::Loaded { cell: word, value, newest: Some((writer, newest)), .. } => {
                format!("loads {}: {value:#x}, while {} has stored {newest:#x}", cell(word), names::writer(writer))
            }
            Did::Store { cell: word, value } => format!("stores {value:#x} to {}", cell(word)),
            Did::FetchAdd { cell: word, value } => format!("adds {value:#x} to {}", cell(word)),
            Did::Swap { cell: word, value } => format!("puts {value:#x} in the place of {}", cell(word)),
            Did::CompareExchange { cell: word, value } => {
                format!("puts {value:#x} in the place of {} if it holds what is expected", cell(word))
            }
            Did::Update { cell: word, what, value } => format!("{what} {}: {value:#x}", cell(word)),
            Did::StoreExclusive { cell: word, value } => format!("stores {value:#x} to {} exclusively", cell(word)),
            Did::Fence { fence } => format!("executes {}", fence.name()),
            Did::Maintain { cell: word, invalidate: false } => format!("cleans the line of {}", cell(word)),
            Did::Maintain { cell: word, invalidate: true } => {
                format!("cleans and invalidates the line of {}", cell(word))
            }
            Did::Barrier => "waits until its stores and maintenance are complete".to_owned(),
            Did::WaitForEvent => "waits for an event".to_owned(),
            Did::SendEvent => "sends an event".to_owned(),
            Did::Flush { level } => format!("flushes its caches up to level {level} and leaves coherency"),
            Did::CachesOn => "joins coherency".to_owned(),
            Did::Own => "works on its own hardware".to_owned(),
            Did::Action { number } => {
                let action = self.script.action(usize::from(step.process), usize::from(number));
                action.unwrap_or_else(|| "makes a call".to_owned())
            }
            Did::Act { act, with } => act.words(with),
        }
    }

    /// A deviation as a sentence. `steps` are those of the run.
    pub fn deviation(&self, steps: &[Step], deviation: &Deviation) -> String {
        let who = self.process(deviation.process);
        let at = |step: &&Step| step.process == deviation.process && step.operation <= deviation.operation;
        let before = steps.iter().rev().find(|step| at(step) && step.operation < deviation.operation);
        let here = steps.iter().rev().find(|step| at(step) && step.operation == deviation.operation);
        let after = match before {
            Some(before) => format!("after it {}", self.step_past(before)),
            None => "before it does anything".to_owned(),
        };
        let doing = here.map_or_else(|| "acts".to_owned(), |here| self.step(here));
        // The first word of the line.
        let word = |line: u64| self.names.cell((line as u16).saturating_sub(1).saturating_mul(self.words_per_line));
        match deviation.kind {
            Kind::Preempt => {
                format!("{who} stands still {after}, and {} goes on.", self.process(deviation.value as u8))
            }
            Kind::Next => format!("{who} cannot go on {after}, and {} does.", self.process(deviation.value as u8)),
            Kind::StoreDelay => {
                format!("{who} {doing}, and the others see that up to {} of its operations later.", deviation.value)
            }
            Kind::MaintenanceDelay => {
                format!("{who} {doing}, which takes effect up to {} of its operations later.", deviation.value)
            }
            Kind::LoadAge => format!("{who} {doing}: the load was satisfied early, {} values ago.", deviation.value),
            Kind::LoadLate => {
                format!("{who} {doing}: the load is late, and {:#x} is stored only afterwards.", deviation.value)
            }
            Kind::Evict => format!("Before {who} {doing}, the line of {} leaves the caches.", word(deviation.value)),
            Kind::Fill => {
                format!("Before {who} {doing}, the line of {} is read into the caches.", word(deviation.value))
            }
            Kind::Pending => format!("{who} finds an interrupt pending."),
            Kind::WfiReturns => format!("An interrupt ends the terminal WFI of {who}."),
            Kind::Denied => format!("The platform refuses {who}'s power-down."),
            Kind::PowerOnFails => format!("The power controller refuses what {who} asks for."),
            Kind::LateTick => format!("{who} {doing}, and its tick does not come yet."),
            Kind::ExclusiveFails => format!("{who} {doing}, and that fails."),
            Kind::Spurious => format!("{who}'s wait for an event ends without one."),
        }
    }

    /// The value that a step's load missed, and the maintenance that would have shown it; `None`
    /// for a step that missed nothing.
    pub fn missed(&self, steps: &[Step], at: usize) -> Option<String> {
        let here = steps.get(at)?;
        let Did::Loaded { newest: Some((writer, _)), cached, early, .. } = here.did else { return None };
        let who = self.process(here.process);
        let why = match (early, cached) {
            (true, _) => "the load was satisfied early, and nothing orders it after that store".to_owned(),
            (false, true) => {
                format!("the value lies in memory, and {who}'s caches have an older line: it must be invalidated first")
            }
            (false, false) => {
                format!(
                    "the value lies in a cache, and {who} looks at memory: {} must clean the line first",
                    names::writer(writer)
                )
            }
        };
        Some(format!("{who} {} (its operation {}): {why}.", self.step(here), here.operation))
    }

    fn step_past(&self, past: &Step) -> String {
        format!("{} (its operation {})", self.step(past), past.operation)
    }
}
