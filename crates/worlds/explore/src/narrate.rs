//! Steps and deviations in words.

use crate::choice::{Deviation, Kind};
use crate::names::{self, Names};
use crate::options::MachineOptions;
use crate::scenario::Scenario;
use crate::step::{Did, Step};

/// The name of a process on a machine with so many CPUs.
pub fn process(cpus: usize, process: u8) -> String {
    if usize::from(process) == cpus { "the power controller".to_owned() } else { format!("CPU {process}") }
}

/// Puts the steps and deviations of a run into words.
#[derive(Clone, Copy, Debug)]
pub struct Narrator<'s> {
    scenario: &'s Scenario,
    names: Names,
    words_per_line: u16,
}

impl<'s> Narrator<'s> {
    /// Of a run of the PSCI library on a machine of this kind.
    pub fn of_library(scenario: &'s Scenario, machine: MachineOptions) -> Self {
        Self { scenario, names: Names::Library(scenario.cpus.len()), words_per_line: machine.cells_per_line as u16 }
    }

    /// Of a run of a model; its scenario has no calls.
    pub(crate) fn of_model(scenario: &'s Scenario) -> Self {
        Self { scenario, names: Names::Numbers, words_per_line: 1 }
    }

    /// What a step did, as the rest of a sentence that starts with who did it.
    pub fn step(&self, step: &Step) -> String {
        let scenario = self.scenario;
        let cell = |cell: u16| self.names.cell(cell);
        match step.did {
            Did::Load { cell: word } => format!("loads {}", cell(word)),
            Did::Loaded { cell: word, value, newest: None, .. } => format!("loads {}: {value:#x}", cell(word)),
            Did::Loaded { cell: word, value, newest: Some((writer, newest)), .. } => {
                format!("loads {}: {value:#x}, while {} has stored {newest:#x}", cell(word), names::writer(writer))
            }
            Did::Store { cell: word, value } => format!("stores {value:#x} to {}", cell(word)),
            Did::FetchAdd { cell: word, value } => format!("adds {value:#x} to {}", cell(word)),
            Did::Maintain { cell: word, invalidate: false } => format!("cleans the line of {}", cell(word)),
            Did::Maintain { cell: word, invalidate: true } => {
                format!("cleans and invalidates the line of {}", cell(word))
            }
            Did::Barrier => "waits until its stores and maintenance are complete".to_owned(),
            Did::WaitForEvent => "waits for an event".to_owned(),
            Did::SendEvent => "sends an event".to_owned(),
            Did::Flush { level } => format!("flushes its caches up to level {level} and leaves coherency"),
            Did::CachesOn => "joins coherency".to_owned(),
            Did::PowerDown => "tells the power controller that it goes down".to_owned(),
            Did::TurnOn { cpu } => format!("asks the power controller to turn CPU {cpu} on"),
            Did::WaitForPowerDown => "waits to be powered down".to_owned(),
            Did::Reset => "comes out of reset".to_owned(),
            Did::Standby => "waits for an interrupt".to_owned(),
            Did::PoweredUp => "opens what was down".to_owned(),
            Did::Own => "works on its own hardware".to_owned(),
            Did::Call { number } => {
                let asks = scenario.cpus.get(usize::from(step.process)).and_then(|asks| asks.get(usize::from(number)));
                asks.map_or_else(|| "makes a call".to_owned(), |ask| format!("calls {ask}"))
            }
            Did::Returned { x0 } => format!("gets {} back", x0 as i64),
            Did::Entered { pc } => format!("enters the normal world at {pc:#x}"),
            Did::PowerOff { cpu, cluster: false } => format!("turns CPU {cpu} off"),
            Did::PowerOff { cpu, cluster: true } => {
                format!("turns CPU {cpu} off, with its cluster if nobody else runs there")
            }
            Did::PowerOn { cpu } => format!("turns CPU {cpu} on"),
        }
    }

    /// A deviation as a sentence. `steps` are those of the run.
    pub fn deviation(&self, steps: &[Step], deviation: &Deviation) -> String {
        let cpus = self.scenario.cpus.len();
        let who = process(cpus, deviation.process);
        let at = |step: &&Step| step.process == deviation.process && step.operation <= deviation.operation;
        let before = steps.iter().rev().find(|step| at(step) && step.operation < deviation.operation);
        let here = steps.iter().rev().find(|step| at(step) && step.operation == deviation.operation);
        let after = match before {
            Some(before) => format!("after it {}", self.step_past(before)),
            None => "before it does anything".to_owned(),
        };
        let doing = here.map_or_else(|| "acts".to_owned(), |here| self.step(here));
        // The first word of the line.
        let word = |line: u16| self.names.cell(line.saturating_sub(1).saturating_mul(self.words_per_line));
        match deviation.kind {
            Kind::Preempt => {
                format!("{who} stands still {after}, and {} goes on.", process(cpus, deviation.value as u8))
            }
            Kind::Next => format!("{who} cannot go on {after}, and {} does.", process(cpus, deviation.value as u8)),
            Kind::StoreDelay => {
                format!("{who} {doing}, and the others see that up to {} of its operations later.", deviation.value)
            }
            Kind::MaintenanceDelay => {
                format!("{who} {doing}, which takes effect up to {} of its operations later.", deviation.value)
            }
            Kind::LoadAge => format!("{who} {doing}: the load was satisfied early, {} values ago.", deviation.value),
            Kind::Evict => format!("Before {who} {doing}, the line of {} leaves the caches.", word(deviation.value)),
            Kind::Fill => {
                format!("Before {who} {doing}, the line of {} is read into the caches.", word(deviation.value))
            }
            Kind::Pending => format!("{who} finds an interrupt pending."),
            Kind::WfiReturns => format!("An interrupt ends the terminal WFI of {who}."),
            Kind::Denied => format!("The platform refuses {who}'s power-down."),
            Kind::PowerOnFails => format!("The power controller refuses what {who} asks for."),
            Kind::Spurious => format!("{who}'s wait for an event ends without one."),
        }
    }

    /// What a step's load missed, and the maintenance that would have shown it; `None` for a step that missed nothing.
    pub fn missed(&self, steps: &[Step], at: usize) -> Option<String> {
        let cpus = self.scenario.cpus.len();
        let here = steps.get(at)?;
        let Did::Loaded { newest: Some((writer, _)), cached, early, .. } = here.did else { return None };
        let who = process(cpus, here.process);
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

    /// What each CPU asks for, a sentence for each that asks for anything.
    pub fn calls(&self) -> Vec<String> {
        let scenario = self.scenario;
        let mut sentences = Vec::new();
        for (cpu, asks) in scenario.cpus.iter().enumerate() {
            let off = if scenario.off.contains(&(cpu as u8)) { ", which is off at the start," } else { "" };
            if !asks.is_empty() {
                let calls: Vec<String> = asks.iter().map(ToString::to_string).collect();
                sentences.push(format!("CPU {cpu}{off} calls {}.", calls.join(", then ")));
            }
        }
        let coordinates = if scenario.os_initiated { "The OS coordinates." } else { "The platform coordinates." };
        sentences.push(coordinates.to_owned());
        sentences
    }

    fn step_past(&self, past: &Step) -> String {
        format!("{} (its operation {})", self.step(past), past.operation)
    }
}
