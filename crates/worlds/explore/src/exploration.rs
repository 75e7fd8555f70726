//! Explorations: many runs, until one breaks an invariant.

use crate::found::Found;
use crate::library::{with_faults, with_sound};
use crate::options::{Limits, MachineOptions};
use crate::run::{By, Ran, Runs, with_session};
use crate::scenario::Scenario;
use crate::step::Step;
use crate::strategy::{Every, Strategy};
use engine::SplitMix64;
use psci_faults::Fault;

/// What is explored.
#[derive(Clone, Debug)]
pub struct Subject {
    /// Number of CPUs, 1 to [`crate::MOST_CPUS`].
    pub cpus: usize,
    /// How the machines are built on which it is tried, in turn. At least one.
    pub machines: Vec<MachineOptions>,
    /// The fault that the library has, if any.
    pub fault: Option<&'static Fault>,
}

/// What is tried on it.
#[derive(Clone, Debug)]
pub struct Exploration {
    /// Taken in turn.
    pub strategies: Vec<Strategy>,
    /// Draws everything that is drawn.
    pub seed: u64,
    /// What a run may take.
    pub limits: Limits,
    /// What the CPUs do; drawn anew for each run if there is none.
    pub scenario: Option<Scenario>,
    /// Runs at most.
    pub schedules: u64,
}

/// How far an exploration has come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Runs so far.
    pub schedules: u64,
    /// Operations of all runs.
    pub steps: u64,
    /// The first run that broke an invariant.
    pub found: Option<Found>,
    /// All runs were tried that the strategy allows.
    pub complete: bool,
}

/// Runs between two looks at whether to go on.
const BATCH: u64 = 64;

/// Runs on one machine before it is the next one's turn.
const ROUND: u64 = 16 * BATCH;

impl Subject {
    /// Runs `use_it` with the machine and the library of this subject.
    fn with<R>(&self, options: MachineOptions, limits: Limits, use_it: impl FnOnce(&mut dyn Runs) -> R) -> R {
        let mut options = options;
        match self.fault.map(|fault| fault.name) {
            Some("outside-locks") => options.outside_locks = true,
            Some("shared-line") => options.cells_per_line = 2,
            _ => {}
        }
        psci_faults::set(self.fault);
        let result = match self.fault {
            None => with_sound(self.cpus, options, |machine, library| with_session(machine, library, limits, use_it)),
            Some(_) => {
                with_faults(self.cpus, options, |machine, library| with_session(machine, library, limits, use_it))
            }
        };
        psci_faults::set(None);
        result
    }

    /// Explores until a run breaks an invariant or `goes_on` says no; it is asked now and then.
    pub fn explore(&self, exploration: &Exploration, mut goes_on: impl FnMut(&Tally) -> bool) -> Tally {
        let mut tally = Tally::default();
        if let [Strategy::Every(preemptions)] = exploration.strategies[..] {
            self.explore_every(exploration, preemptions, &mut tally, &mut goes_on);
            return tally;
        }
        let mut ended = exploration.schedules == 0;
        while !ended {
            for machine in &self.machines {
                self.with(*machine, exploration.limits, |session| {
                    let last = tally.schedules + ROUND;
                    while !ended && tally.schedules < last {
                        self.explore_once(exploration, *machine, session, &mut tally);
                        ended = tally.found.is_some()
                            || tally.schedules >= exploration.schedules
                            || tally.schedules.is_multiple_of(BATCH) && !goes_on(&tally);
                    }
                });
                if ended {
                    break;
                }
            }
        }
        tally
    }

    /// Every run of a scenario with at most so many preemptions, on each machine; without a scenario, of one that is drawn after the other.
    fn explore_every(
        &self,
        exploration: &Exploration,
        preemptions: u32,
        tally: &mut Tally,
        goes_on: &mut dyn FnMut(&Tally) -> bool,
    ) {
        for number in 1.. {
            let mut scenario = exploration.scenario.clone().unwrap_or_default();
            if exploration.scenario.is_none() {
                scenario.draw(&mut SplitMix64::fork(exploration.seed, number), self.cpus);
            }
            for machine in &self.machines {
                let all = self.with(*machine, exploration.limits, |session| {
                    let mut every = Every::new(preemptions);
                    loop {
                        let ran = session.run(&scenario, By::Every(every));
                        tally.schedules += 1;
                        tally.steps += u64::from(ran.steps);
                        if let Some(failure) = ran.failure {
                            tally.found = Some(Found {
                                failure,
                                machine: *machine,
                                scenario: session.scenario(),
                                schedule: session.schedule(),
                                hash: ran.hash,
                                steps: ran.steps,
                                strategy: Strategy::Every(preemptions),
                                run: tally.schedules - 1,
                            });
                            return false;
                        }
                        let Some(tape) = session.take_every() else { return false };
                        every = tape;
                        if !every.advance() {
                            return true;
                        }
                        let looks_up = tally.schedules.is_multiple_of(BATCH) && !goes_on(tally);
                        if tally.schedules >= exploration.schedules || looks_up {
                            return false;
                        }
                    }
                });
                if !all {
                    return;
                }
            }
            if exploration.scenario.is_some() {
                tally.complete = true;
                return;
            }
        }
    }

    fn explore_once(
        &self,
        exploration: &Exploration,
        machine: MachineOptions,
        session: &mut dyn Runs,
        tally: &mut Tally,
    ) {
        let run = tally.schedules;
        let mut random = SplitMix64::fork(exploration.seed, run + 1);
        let mut scenario = exploration.scenario.clone().unwrap_or_default();
        if exploration.scenario.is_none() {
            scenario.draw(&mut random, self.cpus);
        }
        let strategy = exploration.strategies[(run % exploration.strategies.len() as u64) as usize];
        let Ran { failure, steps, hash } = session.run(&scenario, By::Drawn(strategy, random.next()));
        tally.schedules += 1;
        tally.steps += u64::from(steps);
        if let Some(failure) = failure {
            let (scenario, schedule) = (session.scenario(), session.schedule());
            tally.found = Some(Found { failure, machine, scenario, schedule, hash, steps, strategy, run });
        }
    }

    /// Repeats a run, and returns what it did as well.
    pub fn replay(&self, found: &Found, limits: Limits) -> (Ran, Vec<Step>) {
        self.with(found.machine, limits, |session| {
            session.keep_steps(true);
            let ran = session.run(&found.scenario, By::Schedule(&found.schedule));
            (ran, session.steps())
        })
    }

    /// A short run that breaks the same invariant, and of which no deviation and no call can be left out.
    pub fn shrink(&self, found: &Found, limits: Limits) -> Found {
        self.with(found.machine, limits, |session| crate::shrink::shrink(session, found))
    }
}
