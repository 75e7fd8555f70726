//! Steps and deviations in words.

use crate::machine::{
    Deviation, HELD,
    Kind::{
        Answered, ClockPasses, Denied, Evict, ExclusiveFails, Fill, LateTick, LoadAge, LoadLate,
        MaintenanceDelay, Next, Pending, PowerOnFails, Preempt, Spurious, StoreDelay, StoreLeaves,
        TimesOut, WfiReturns,
    },
    Names,
    Operation::{
        Act, Action, Barrier, CachesOn, Fence, Flush, Load, Loaded, Maintain, Own, SendEvent,
        Store, Update, WaitForEvent,
    },
    Step,
};
use crate::search::{Account, Script, Subject};
use std::collections::{BTreeMap, BTreeSet};

/// The stores that explain a failure are told of so often at most.
const CAUSES_SHOWN: usize = 4;

/// Puts the steps and deviations of a run into words.
#[derive(Clone, Debug)]
pub struct Narrator<'s, C> {
    script: &'s C,
    names: Names,
    words_per_line: u16,
    last: &'static str,
}

impl<'s, C: Script> Narrator<'s, C> {
    /// A narrator of runs of a script; `last` names the process that is no CPU.
    pub fn new(script: &'s C, names: Names, words_per_line: u16, last: &'static str) -> Self {
        Self {
            script,
            names,
            words_per_line,
            last,
        }
    }

    /// A narrator of runs of a script on a subject's machine.
    pub fn of<S: Subject<Script = C>>(subject: &S, machine: S::Machine, script: &'s C) -> Self {
        let (names, words_per_line) = subject.names(machine, script);
        Self::new(script, names, words_per_line, S::LAST)
    }

    /// The name of a process.
    pub fn process(&self, process: u8) -> String {
        if usize::from(process) == self.script.cpus() {
            self.last.to_owned()
        } else {
            self.names.process(process)
        }
    }

    /// The step, as the rest of a sentence that starts with who did it.
    pub fn step(&self, step: &Step) -> String {
        let cell = |cell: u16| self.names.cell(cell);
        match step.did {
            Load { cell: word } => format!("loads {}", cell(word)),
            Loaded {
                cell: word,
                value,
                newest,
                cached,
                early,
            } => {
                let missed = newest.map_or_else(String::new, |(writer, newest)| {
                    let writer = self.names.writer(writer);
                    let why = match (early, cached) {
                        (true, _) => String::new(),
                        (_, true) => ": memory has that, and its caches an older line".to_owned(),
                        _ => format!(": a cache has that, and {writer} must clean the line first"),
                    };
                    format!(", while {writer} has stored {newest:#x}{why}")
                });
                format!("loads {}: {value:#x}{missed}", cell(word))
            }
            Store { cell: word, value } => {
                format!("stores {value:#x} to {}", cell(word))
            }
            Update {
                cell: word,
                what,
                value,
            } => format!("{what} {}: {value:#x}", cell(word)),
            Fence { fence } => format!("executes {}", fence.name()),
            Maintain {
                cell: word,
                invalidate,
            } => {
                let also = if invalidate { " and invalidates" } else { "" };
                format!("cleans{also} the line of {}", cell(word))
            }
            Barrier => "waits until its stores and maintenance are complete".to_owned(),
            WaitForEvent => "waits for an event".to_owned(),
            SendEvent => "sends an event".to_owned(),
            Flush { level } => {
                format!("flushes its caches up to level {level} and leaves coherency")
            }
            CachesOn => "joins coherency".to_owned(),
            Own => "works on its own hardware".to_owned(),
            Action { number } => self
                .script
                .action(usize::from(step.process), usize::from(number))
                .unwrap_or_else(|| "makes a call".to_owned()),
            Act { act, with } => act.words(with),
        }
    }

    /// What a deviation's process had done last before it, and what it does there.
    fn around(&self, steps: &[Step], deviation: &Deviation) -> (String, String) {
        let last = |is: &dyn Fn(&Step) -> bool| {
            steps
                .iter()
                .rev()
                .filter(|step| step.process == deviation.process)
                .find(|step| is(step))
        };
        let before = last(&|step| step.operation < deviation.operation);
        let here = last(&|step| step.operation == deviation.operation);
        let after = match before {
            Some(before) => format!(
                "after it {} (its operation {})",
                self.step(before),
                before.operation
            ),
            None => "before it does anything".to_owned(),
        };
        let doing = here.map_or_else(|| "acts".to_owned(), |here| self.step(here));
        (after, doing)
    }

    /// A deviation as a sentence. `steps` are those of the run.
    pub fn deviation(&self, steps: &[Step], deviation: &Deviation) -> String {
        let who = self.process(deviation.process);
        let (after, doing) = self.around(steps, deviation);
        let value = deviation.value;
        let other = || self.process(value as u8);
        // The name of the first word of a line, whose number counts from 1.
        let line = || {
            let line = (value as u16).saturating_sub(1);
            self.names.cell(line.saturating_mul(self.words_per_line))
        };
        match deviation.kind {
            Preempt => format!("{who} stands still {after}, and {} goes on.", other()),
            Next => format!("{who} cannot go on {after}, and {} does.", other()),
            StoreDelay => match value {
                HELD => format!("{who} {doing}, and the others see a later store of it first."),
                value => format!(
                    "{who} {doing}, and the others see that up to {value} of its operations later."
                ),
            },
            MaintenanceDelay => {
                format!("{who} {doing}, which takes effect up to {value} of its operations later.")
            }
            LoadAge => {
                format!("{who} {doing}: the load was satisfied early, {value} values ago.")
            }
            LoadLate => {
                format!(
                    "{who} {doing}: the load is late, and {value:#x} is stored only afterwards."
                )
            }
            Evict => format!(
                "Before {who} {doing}, the line of {} leaves the caches.",
                line()
            ),
            Fill => {
                format!(
                    "Before {who} {doing}, the line of {} is read into the caches.",
                    line()
                )
            }
            Pending => format!("{who} finds an interrupt pending."),
            WfiReturns => format!("An interrupt ends the terminal WFI of {who}."),
            Denied => format!("The platform refuses {who}'s power-down."),
            Answered => {
                format!("The platform's answer for {who}'s call is its number {value}.")
            }
            PowerOnFails => format!("The power controller refuses what {who} asks for."),
            LateTick => format!("{who} {doing}, and its tick does not come yet."),
            ClockPasses => format!("{who} moves on, though a CPU stands still."),
            StoreLeaves => {
                format!("Before {who} {doing}, the others see a store that it made before.")
            }
            ExclusiveFails => format!("{who} {doing}, and that fails."),
            TimesOut => format!("{who} {doing}, and the time of its next wait ends at once."),
            Spurious => format!("{who}'s wait for an event ends without one."),
        }
    }

    /// Causes of a failure: the last values that the failed process loaded and that another one had
    /// stored, the latest first, and what those stores had overwritten; of `unusual` processes and
    /// words alone. Values that took the place of its own come first.
    pub fn causes(&self, steps: &[Step], unusual: &[(u8, u16)]) -> Vec<String> {
        let Some(last) = steps.last() else {
            return Vec::new();
        };
        // Of each word its last store, and what that took the place of; of each process its action.
        let mut stores = BTreeMap::new();
        let mut found: Vec<(bool, usize, usize, Option<usize>)> = Vec::new();
        for (at, step) in steps.iter().enumerate() {
            match step.did {
                Store { cell, .. } => {
                    let before = stores.get(&cell).map(|&(before, _)| before);
                    stores.insert(cell, (at, before));
                }
                Update { cell, .. } => {
                    stores.remove(&cell);
                }
                Loaded { cell, value, .. }
                    if step.process == last.process && unusual.contains(&(step.process, cell)) =>
                {
                    let Some(&(store, before)) = stores.get(&cell) else {
                        continue;
                    };
                    let stored =
                        |at: usize| matches!(steps[at].did, Store { value: of, .. } if of == value);
                    if steps[store].process == step.process || !stored(store) {
                        continue;
                    }
                    let took_own = before.is_some_and(|before| {
                        steps[before].process == step.process && !stored(before)
                    });
                    found.retain(
                        |&(_, load, ..)| !matches!(steps[load].did, Loaded { cell: of, .. } if of == cell),
                    );
                    found.push((took_own, at, store, before));
                }
                _ => {}
            }
        }
        found.sort_by_key(|&(took_own, at, ..)| std::cmp::Reverse((took_own, at)));
        found
            .iter()
            .take(if found.first().is_some_and(|&(took_own, ..)| took_own) {
                CAUSES_SHOWN
            } else {
                CAUSES_SHOWN / 2
            })
            .map(|&(_, load, store, before)| self.cause(steps, load, store, before))
            .collect()
    }

    /// A load of a value, the store of it, and the store that this one took the place of.
    fn cause(&self, steps: &[Step], load: usize, store: usize, before: Option<usize>) -> String {
        let writer = &steps[store];
        let who = self.process(steps[load].process);
        let call = writer
            .operation
            .action()
            .and_then(|number| self.script.action(usize::from(writer.process), number));
        let of_call = call.map_or_else(String::new, |call| {
            format!(" when it {call}{}", self.answer(steps, store))
        });
        let over = match before.map(|before| &steps[before]) {
            Some(Step {
                process,
                did: Store { value, .. },
                ..
            }) => {
                format!(", over the {value:#x} of {}", self.process(*process))
            }
            _ => String::new(),
        };
        let value = match writer.did {
            Store { value, .. } => value,
            _ => 0,
        };
        format!(
            "{who} {}; {} had stored {value:#x}{of_call} (its operation {}){over}.",
            self.step(&steps[load]),
            self.process(writer.process),
            writer.operation
        )
    }

    /// The end of the call in which a step was made, if it has ended.
    fn answer(&self, steps: &[Step], within: usize) -> String {
        for step in steps[within..]
            .iter()
            .filter(|step| step.process == steps[within].process)
        {
            match step.did {
                Act { act, with } if act.ends_action => {
                    return format!(", for which it {}", act.words(with));
                }
                Action { .. } => break,
                _ => {}
            }
        }
        String::new()
    }
}

/// The number of the step that a deviation is drawn at: where it is, or else the last one of
/// its process before, if the run ends there.
pub fn step_of(steps: &[Step], deviation: &Deviation) -> Option<usize> {
    let own = || {
        steps
            .iter()
            .enumerate()
            .filter(|(_, step)| step.process == deviation.process)
    };
    let at = own()
        .find(|(_, step)| step.operation >= deviation.operation)
        .or_else(|| own().next_back());
    at.map(|(at, _)| at)
}

/// The numbers of the steps of a run on so many CPUs that matter, in order, `most` at most: all of
/// a run that has no more. Of a longer one calls, what the hardware did, and, from the failure
/// back, loads of who failed, the stores that they saw, what those who stored had loaded before,
/// and so on; deviations and the cause are always among them, of the rest the latest.
pub fn that_matter(
    account: &Account,
    cpus: usize,
    schedule: &[Deviation],
    most: usize,
) -> Vec<usize> {
    let steps = &account.steps[..];
    let Some(last) = steps.last().filter(|_| steps.len() > most) else {
        return (0..steps.len()).collect();
    };
    // Processes whose loads matter, and words whose last store before here does.
    let cpus = cpus as u8;
    let mut processes = if last.process == cpus {
        (0..cpus).collect()
    } else {
        vec![last.process]
    };
    let mut cells = BTreeSet::new();
    let deviations: Vec<usize> = schedule
        .iter()
        .filter_map(|by| step_of(steps, by))
        .collect();
    let (mut always, mut told, mut aside) = (Vec::new(), Vec::new(), Vec::new());
    for (at, step) in steps.iter().enumerate().rev() {
        let matters = match step.did {
            Load { .. } => false,
            Loaded { cell, .. } => processes.contains(&step.process) && cells.insert(cell),
            Store { cell, .. } | Update { cell, .. } => {
                let seen = cells.remove(&cell);
                if seen && !processes.contains(&step.process) {
                    processes.push(step.process);
                }
                seen
            }
            Action { .. } | Act { .. } => true,
            _ => {
                aside.extend(processes.contains(&step.process).then_some(at));
                false
            }
        };
        let shows =
            at + 1 == steps.len() || account.cause.as_ref().is_some_and(|cause| cause.step == at);
        if shows || deviations.contains(&at) {
            always.push(at);
        } else if matters {
            told.push(at);
        }
    }
    let mut kept: Vec<usize> = always.into_iter().chain(told).chain(aside).collect();
    kept.dedup();
    kept.truncate(most);
    kept.sort_unstable();
    kept.dedup();
    kept
}
