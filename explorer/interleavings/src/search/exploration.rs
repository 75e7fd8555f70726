//! Explorations: many runs of a subject, until one breaks an invariant.

use super::account::{Account, Sights};
use super::counterexample::Counterexample;
use super::coverage::{Access, Counter, Coverage, Kinds};
use super::run::{RunResult, Runs};
use super::script::Script;
use super::shrink::{Budget, shrink};
use crate::limits::Limits;
use crate::machine::{ChoiceSource, Dpor, Names, Step, Strategy};
use engine::SplitMix64;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// The subject of an exploration: code under test, and the machines that it runs on.
pub trait Subject {
    /// Options of a machine.
    type Machine: Copy + Debug + PartialEq + Serialize + DeserializeOwned + Send + Sync;
    /// The actions of CPUs in a run.
    type Script: Script + Serialize + DeserializeOwned + Send + Sync;

    /// Name of the subject in schedules and on the command line.
    const NAME: &'static str;
    /// The process that is no CPU.
    const LAST: &'static str;
    /// Runs on one machine before it is the next one's turn.
    const ROUND: u64;

    /// The machines on which it is tried, in turn. At least one.
    fn machines(&self) -> &[Self::Machine];

    /// Draws what CPUs do on this machine, into `script`.
    fn draw(&self, machine: Self::Machine, script: &mut Self::Script, random: &mut SplitMix64);

    /// Counters of every run, in the order of the counts.
    fn counted(&self) -> Vec<Counter>;

    /// The numbers of kinds of words, actors and branches there are to watch.
    fn kinds(&self) -> Kinds;

    /// Runs `use_it` on such a machine, ready for one run after the other.
    fn open<R>(
        &self,
        machine: Self::Machine,
        limits: Limits,
        use_it: impl FnOnce(&mut dyn Runs<Self::Script>) -> R,
    ) -> R;

    /// The names of what a run touches, and the words of a cache line.
    fn names(&self, machine: Self::Machine, script: &Self::Script) -> (Names, u16);

    /// Repeats a run, and returns what it did as well.
    fn replay(&self, found: &CounterexampleIn<Self>, limits: Limits) -> (RunResult, Vec<Step>) {
        self.open(found.machine, limits, |session| {
            session.keep_steps(true);
            let ran = session.run(&found.script, ChoiceSource::Schedule(&found.schedule));
            (ran, session.steps())
        })
    }

    /// Repeats a run for those who read it.
    fn account(&self, found: &CounterexampleIn<Self>, limits: Limits) -> (RunResult, Account) {
        self.open(found.machine, limits, |session| {
            session.keep_steps(true);
            let ran = session.run(&found.script, ChoiceSource::Schedule(&found.schedule));
            let cause = ran
                .failure
                .as_ref()
                .and_then(|failure| session.cause(failure));
            let (steps, seen) = (session.steps(), sights(session));
            let mut script = found.script.clone();
            let mut sound = Vec::new();
            for seed in 0..USUAL {
                let mut random = SplitMix64::fork(found.hash, seed);
                // First the plainest run of the same script, then runs of others.
                let by = match seed {
                    0 => ChoiceSource::Schedule(&[]),
                    _ => {
                        self.draw(found.machine, &mut script, &mut random);
                        ChoiceSource::RandomChoices(
                            Strategy::in_turn()[seed as usize % 3],
                            random.next(),
                        )
                    }
                };
                if session.run(&script, by).failure.is_none() {
                    sound.push(sights(session));
                }
            }
            (
                ran,
                Account {
                    steps,
                    cause,
                    unusual: seen.unusual(&sound),
                },
            )
        })
    }

    /// A short run that breaks the same invariant, and of which no deviation and no action can be
    /// left out.
    fn shrink(&self, found: &CounterexampleIn<Self>, limits: Limits) -> CounterexampleIn<Self> {
        self.open(found.machine, limits, |session| {
            shrink(&mut Budget::new(session), found)
        })
    }

    /// As [`Subject::shrink`], for a run whose script was drawn: where what is left is still long,
    /// other scripts are tried, and a shorter run that breaks the same invariant takes its place.
    fn simplest(&self, found: &CounterexampleIn<Self>, limits: Limits) -> CounterexampleIn<Self> {
        let mut best = self.shrink(found, limits);
        if best.schedule.len() <= READABLE {
            return best;
        }
        self.open(found.machine, limits, |session| {
            let mut script = Self::Script::default();
            let mut session = Budget::new(session);
            for seed in 0..OTHERS {
                let mut random = SplitMix64::fork(found.hash, seed + 1);
                self.draw(found.machine, &mut script, &mut random);
                let strategy = Strategy::Few(1 << random.below(4));
                let by = ChoiceSource::RandomChoices(strategy, random.next());
                let Some(other) = session.again(found, &script, by) else {
                    continue;
                };
                let other = shrink(&mut session, &other);
                if other.schedule.len() < best.schedule.len() {
                    best = other;
                    if best.schedule.len() <= READABLE {
                        break;
                    }
                }
            }
        });
        best
    }
}

/// What the last run saw, whose steps were kept.
fn sights<C>(session: &dyn Runs<C>) -> Sights {
    let mut sights = Sights::default();
    session.accesses(&mut |access| sights.note(access));
    sights
}

/// The finding of an exploration of a subject.
pub type CounterexampleIn<S> = Counterexample<<S as Subject>::Machine, <S as Subject>::Script>;

/// The progress of an exploration of a subject.
pub type TallyOf<S> = Tally<<S as Subject>::Machine, <S as Subject>::Script>;

/// The exploration that is tried.
#[derive(Clone, Debug)]
pub struct Exploration<C> {
    /// Taken in turn.
    pub strategies: Vec<Strategy>,
    /// Draws everything that is drawn.
    pub seed: u64,
    /// The limits of a run.
    pub limits: Limits,
    /// The script of the CPUs; drawn anew for each run if there is none.
    pub script: Option<C>,
    /// Runs at most.
    pub schedules: u64,
}

/// The progress of an exploration.
///
/// ```
/// use interleavings::sync::Mutex;
/// use interleavings::{Config, Core, Strategy, explore};
///
/// let config = Config { strategies: vec![Strategy::Dpor], cores: vec![Core::LSE], ..Config::default() };
/// let tally = explore(&config, || *Mutex::new(0).lock().unwrap() += 1);
/// // Nobody else is there, so there is one run.
/// assert!(tally.complete && tally.found.is_none());
/// assert_eq!(tally.schedules, 1);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tally<M, C> {
    /// Runs so far.
    pub schedules: u64,
    /// Runs that were cut, since they would have repeated others.
    pub repeated: u64,
    /// Operations of all runs.
    pub steps: u64,
    /// The first run that broke an invariant.
    pub found: Option<Counterexample<M, C>>,
    /// All runs were tried that the strategy allows.
    pub complete: bool,
    /// The reach of the runs.
    pub coverage: Coverage,
    /// What was tried of a test on each core, in words.
    pub covered: Vec<String>,
}

impl<M, C> Default for Tally<M, C> {
    fn default() -> Self {
        let coverage = Coverage::default();
        Self {
            schedules: 0,
            repeated: 0,
            steps: 0,
            found: None,
            complete: false,
            coverage,
            covered: Vec::new(),
        }
    }
}

/// A schedule of that number of deviations is read without pains.
const READABLE: usize = 8;

/// Runs of which those that break nothing show what is usual.
const USUAL: u64 = 3_000;

/// Other scripts that are tried for the sake of a shorter schedule.
const OTHERS: u64 = 20_000;

/// One of this number of rounds on a machine is watched, which costs time.
const WATCHED_EVERY: u64 = 16;

/// Runs between two looks at whether to go on.
const BATCH: u64 = 64;

/// Every run of a script that differs from the others, on each machine; without a script, of one
/// that is drawn after the other.
fn explore_every<S: Subject + ?Sized>(
    subject: &S,
    exploration: &Exploration<S::Script>,
    tally: &mut TallyOf<S>,
    goes_on: &mut dyn FnMut(&TallyOf<S>) -> bool,
) {
    for number in 1.. {
        for &machine in subject.machines() {
            let mut script = exploration.script.clone().unwrap_or_default();
            if exploration.script.is_none() {
                subject.draw(
                    machine,
                    &mut script,
                    &mut SplitMix64::fork(exploration.seed, number),
                );
            }
            let all = subject.open(machine, exploration.limits, |session| {
                let mut by = ChoiceSource::Dpor(Box::new(Dpor::new()));
                loop {
                    let watched = tally.schedules.is_multiple_of(WATCHED_EVERY);
                    session.keep_steps(watched);
                    let ran = session.run(&script, by);
                    tally.note(session, machine, ran, exploration.strategies[0]);
                    tally.watch(session, watched);
                    session.take_counts(&mut tally.coverage.counts);
                    if tally.found.is_some() {
                        return false;
                    }
                    match session.machine().take_next_choices() {
                        Some(next) => by = next,
                        None => return true,
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
        if exploration.script.is_some() {
            tally.complete = true;
            return;
        }
    }
}

/// Explores on several threads until a run breaks an invariant or `goes_on` says no; it is asked
/// now and then. The findings are the same, whatever the number of threads is: runs are numbered and
/// dealt in turns of [`Subject::ROUND`], no turn knows of another, and the finding of the earliest
/// one counts.
pub fn explore_on<S: Subject + Sync + ?Sized>(
    subject: &S,
    exploration: &Exploration<S::Script>,
    threads: usize,
    mut goes_on: impl FnMut(&TallyOf<S>) -> bool,
) -> TallyOf<S> {
    let fresh = || Tally {
        coverage: Coverage::new(subject.counted(), subject.kinds()),
        ..Tally::default()
    };
    let mut tally = fresh();
    if let [Strategy::Dpor] = exploration.strategies[..] {
        explore_every(subject, exploration, &mut tally, &mut goes_on);
        return tally;
    }
    // Turns from `end` on are not wanted: an earlier one has found something, or it is over.
    let next = AtomicU64::new(0);
    let end = AtomicU64::new(exploration.schedules.div_ceil(S::ROUND));
    let work = |done: mpsc::Sender<(u64, TallyOf<S>)>| {
        while let turn = next.fetch_add(1, Relaxed)
            && turn < end.load(Relaxed)
        {
            let own = take_turn(subject, exploration, turn, fresh(), &|| {
                turn < end.load(Relaxed)
            });
            if own.found.is_some() {
                end.fetch_min(turn + 1, Relaxed);
            }
            // Somebody hears of it: the end is waited for.
            let _ = done.send((turn, own));
        }
    };
    // Turns that wait for an earlier one.
    let mut turns = BTreeMap::new();
    thread::scope(|scope| {
        let (done, heard) = mpsc::channel();
        for _ in 0..threads {
            let done = done.clone();
            scope.spawn(move || work(done));
        }
        drop(done);
        let mut merged = 0;
        loop {
            match heard.recv_timeout(Duration::from_millis(50)) {
                Ok((turn, own)) => {
                    turns.insert(turn, own);
                }
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
                Err(mpsc::RecvTimeoutError::Timeout) => {}
            }
            while let Some(own) = turns.remove(&merged) {
                tally.add(own);
                merged += 1;
            }
            if !goes_on(&tally) {
                end.store(0, Relaxed);
            }
        }
    });
    // Those that were begun when it was to end.
    turns.into_values().for_each(|own| tally.add(own));
    tally
}

/// Runs that are numbered one after the other, on one machine.
fn take_turn<S: Subject + ?Sized>(
    subject: &S,
    exploration: &Exploration<S::Script>,
    turn: u64,
    mut tally: TallyOf<S>,
    goes_on: &dyn Fn() -> bool,
) -> TallyOf<S> {
    let machines = subject.machines().len() as u64;
    let machine = subject.machines()[(turn % machines) as usize];
    // Every machine has its turn at being watched, from the first on.
    let watched = (turn / machines).is_multiple_of(WATCHED_EVERY);
    let first = turn * S::ROUND;
    let last = (first + S::ROUND).min(exploration.schedules);
    let strategies = &exploration.strategies;
    tally.schedules = first;
    subject.open(machine, exploration.limits, |session| {
        session.keep_steps(watched);
        let mut script = exploration.script.clone().unwrap_or_default();
        while tally.found.is_none() && tally.schedules < last {
            let run = tally.schedules;
            if run.is_multiple_of(BATCH) && !goes_on() {
                break;
            }
            let mut random = SplitMix64::fork(exploration.seed, run + 1);
            if exploration.script.is_none() {
                subject.draw(machine, &mut script, &mut random);
            }
            let strategy = strategies[(run % strategies.len() as u64) as usize];
            let by = ChoiceSource::RandomChoices(strategy, random.next());
            let ran = session.run(&script, by);
            tally.note(session, machine, ran, strategy);
            tally.watch(session, watched);
        }
        session.take_counts(&mut tally.coverage.counts);
    });
    tally.schedules -= first;
    tally
}

impl<M, C> Tally<M, C> {
    /// Adds the turn that comes next, unless something was found before it.
    fn add(&mut self, turn: Self) {
        if self.found.is_none() {
            self.schedules += turn.schedules;
            self.repeated += turn.repeated;
            self.steps += turn.steps;
            self.found = turn.found;
            self.coverage.add(&turn.coverage);
        }
    }

    /// Notes what the last run has reached.
    fn watch(&mut self, session: &mut dyn Runs<C>, watched: bool) {
        self.coverage.note_schedule(&session.machine().schedule());
        if !watched {
            return;
        }
        self.coverage.begin_run();
        let places = &mut self.coverage.places;
        session.take_reached(&mut |place| places[place] += 1);
        let coverage = &mut self.coverage;
        session.accesses(&mut |access: Access| coverage.note_access(access));
    }

    /// Counts a run, and keeps it if it broke something.
    pub fn note(&mut self, session: &dyn Runs<C>, machine: M, ran: RunResult, strategy: Strategy) {
        let RunResult {
            failure,
            steps,
            hash,
        } = ran;
        let run = self.schedules;
        self.schedules += 1;
        self.repeated += u64::from(session.machine().is_pruned());
        self.steps += u64::from(steps);
        if let Some(failure) = failure {
            let (script, schedule) = (session.script(), session.schedule());
            self.found = Some(Counterexample {
                failure,
                machine,
                script,
                schedule,
                hash,
                steps,
                strategy,
                run,
            });
        }
    }
}
