//! Tests of one's own, on any platform: what each CPU does, explored as a library is.
//!
//! As everywhere on the engine, no value whose `Drop` matters may live across an operation of a
//! shared word: a run that fails is thrown away where it stands.

use crate::{
    current::{self, TestMachine},
    limits::Limits,
    machine::{
        ChoiceSource, Core, Counting, Dpor, Failure, Invariant, Machine, Names, OnMachine,
        Strategy, Wait, run_watched,
    },
    operation::OperationIndex,
    regression::{ANEW, File, test_of},
    search::{Budget, Main, RunResult, Runs, Script, Tally, shrink},
    story::Narrator,
};
use engine::{Runner, SplitMix64};
use std::{
    fmt::Write as _,
    ops::Range,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    path::PathBuf,
    time::Duration,
};

/// Settings of the exploration of a test.
///
/// ```
/// use interleavings::sync::atomic::{AtomicU32, Ordering::Relaxed};
/// use interleavings::{Config, Core, Strategy, explore};
///
/// let config = Config {
///     strategies: vec![Strategy::Random],
///     schedules: 100,
///     cores: vec![Core::LSE],
///     ..Config::default()
/// };
/// let tally = explore(&config, || AtomicU32::new(1).store(2, Relaxed));
/// assert_eq!((tally.schedules, tally.complete), (100, false));
/// ```
#[derive(Clone, Debug)]
pub struct Config {
    /// Strategies. [`Strategy::Dpor`] goes first, for [`Config::operations`]; if it comes to no end,
    /// the others draw runs, in turn. Alone it has all the runs that [`Config::schedules`] gives it.
    pub strategies: Vec<Strategy>,
    /// Number of drawn runs, on all cores together. For [`Strategy::Dpor`], the most on each core.
    pub schedules: u64,
    /// The most operations of all runs that differ, for each core, where other strategies are
    /// left.
    pub operations: u64,
    /// Seed of all random choices.
    pub seed: u64,
    /// The limits of a run.
    pub limits: Limits,
    /// A relaxed load may be late: it may return what is stored only afterwards.
    /// [`Strategy::Dpor`] tries all runs again with the values that were stored, until there are no
    /// new ones.
    pub late_loads: bool,
    /// With types like those of std: the threads that a test may have, the first one among them; 1
    /// to [`MOST_CPUS`](crate::MOST_CPUS).
    pub threads: usize,
    /// The cores on which the test is tried, by their instructions for atomics.
    pub cores: Vec<Core>,
    /// The folder for the schedule of a failure. Without one it is that of the variable
    /// STOPWATT_SCHEDULES; else `target/explore` for what Cargo has built, and the present folder
    /// for other programs.
    pub folder: Option<PathBuf>,
}

impl Default for Config {
    /// On each of [`Core::ALL`] every run that differs, up to 5 000 000 operations, and else 100 000
    /// drawn runs.
    fn default() -> Self {
        let strategies = [vec![Strategy::Dpor], Strategy::in_turn()].concat();
        Self {
            strategies,
            schedules: 100_000,
            operations: 5_000_000,
            seed: 1,
            limits: Limits::default(),
            late_loads: true,
            threads: 4,
            cores: Core::ALL.to_vec(),
            folder: None,
        }
    }
}

impl Config {
    /// The settings, with those that the environment has in their place.
    ///
    /// # Panics
    /// A variable is no number that fits.
    fn of_environment(&self) -> Self {
        let number = |name: &str, least: u64, or: u64| {
            let Some(value) = std::env::var_os(name) else {
                return or;
            };
            let value = value.to_string_lossy();
            let number = value.parse().ok().filter(|number| *number >= least);
            number.unwrap_or_else(|| panic!("{name}={value} is no whole number from {least} on"))
        };
        Self {
            seed: number("STOPWATT_SEED", 0, self.seed),
            schedules: number("STOPWATT_RUNS", 1, self.schedules),
            ..self.clone()
        }
    }

    /// The settings that the environment can have, as a sentence without a full stop.
    fn budget(&self) -> String {
        let (seed, runs) = (self.seed, self.schedules);
        format!("STOPWATT_SEED={seed} and STOPWATT_RUNS={runs} draw the same runs again")
    }
}

/// The time that code may take without an operation; waiting for a CPU is no part of it.
const PATIENCE: Duration = Duration::from_secs(20);

/// Runs a test that uses types like those of std, [`crate::sync`] and [`crate::thread`], under the
/// schedules that [`Config`] asks for. It is called anew for each run, and must do the same
/// whenever it is shown the same.
///
/// With the variable STOPWATT_REPLAY set to a file that an earlier failure of this test left, that
/// schedule is run first. STOPWATT_SEED and STOPWATT_RUNS take the place of [`Config::seed`] and
/// [`Config::schedules`].
///
/// # Panics
/// A run fails: a thread panics, two accesses to plain data race, or nobody can go on. The message
/// has the schedule in sentences, and the file that repeats it: `NAME.schedule` in
/// [`Config::folder`], after the test.
///
/// ```
/// use interleavings::sync::Arc;
/// use interleavings::sync::atomic::{AtomicU32, Ordering::Relaxed};
/// use interleavings::{Config, explore, thread};
///
/// // Two threads that load and then store: one of the additions may be lost.
/// let config = Config { folder: Some(std::env::temp_dir()), ..Config::default() };
/// let lost = std::panic::catch_unwind(|| {
///     explore(&config, || {
///         let count = Arc::new(AtomicU32::new(0));
///         let other = count.clone();
///         let adds = thread::spawn(move || other.store(other.load(Relaxed) + 1, Relaxed));
///         count.store(count.load(Relaxed) + 1, Relaxed);
///         adds.join().unwrap();
///         assert_eq!(count.load(Relaxed), 2);
///     });
/// });
/// let story = *lost.unwrap_err().downcast::<String>().unwrap();
/// assert!(story.contains("left: 1") && story.contains("loads word 0 (count)"), "{story}");
/// ```
pub fn explore(config: &Config, test: impl Fn() + Send + 'static) -> Tally<(), Bodies> {
    let (config, name) = (config.of_environment(), test_of(&test));
    on_a_thread(move || with_types(&config, test, |session| search(&config, &name, session)))
}

/// Runs the schedule that an earlier failure of a test left, as a test of its own: it passes when
/// the failure is gone, and prints why that is known.
///
/// ```no_run
/// # const SCHEDULE: &str = "";
/// // const SCHEDULE: &str = include_str!("lost_wakeup.schedule");
/// interleavings::replay(SCHEDULE, || { /* the code of the test that left it */ });
/// ```
///
/// # Panics
/// The run fails again, with its story. The text is no schedule, or the test has changed, so that
/// the schedule does not fit it.
pub fn replay(schedule: &str, test: impl Fn() + Send + 'static) {
    let file = File::read("the schedule", schedule);
    let config = Config {
        threads: file.threads,
        ..Config::default()
    };
    let gone = on_a_thread(move || {
        with_types(&config, test, |session| {
            repeat("the schedule", &file, session)
        })
    });
    println!("{gone}");
}

/// Does the work of a test, on a thread that is left alone if it loops.
fn on_a_thread<R: Send + 'static>(work: impl FnOnce() -> R + Send + 'static) -> R {
    match run_watched(PATIENCE, work) {
        Ok(done) => done.unwrap_or_else(|payload| resume_unwind(payload)),
        Err((process, operation)) => panic!("{}", told_stuck(process, operation)),
    }
}

fn told_stuck(process: u8, operation: OperationIndex) -> String {
    format!(
        "thread {process} has made no operation since its operation {operation}, for {PATIENCE:?}: the test cannot go on"
    )
}

/// Calls a function with the session of a test that uses types like those of std.
fn with_types<R>(
    config: &Config,
    test: impl Fn() + 'static,
    act: impl FnOnce(&mut dyn Runs<Bodies>) -> R,
) -> R {
    assert!(
        (1..=crate::MOST_CPUS).contains(&config.threads),
        "a test has 1 to {} threads",
        crate::MOST_CPUS
    );
    let lasting = TestMachine::new(config.threads);
    lasting.machine().memory_mut().watch_all_plain();
    lasting.machine().settings().spins.set(true);
    lasting.machine().settings().counts.set(Counting::Unseen);
    lasting.machine().settings().rests_on.take();
    let machine = lasting.machine();
    machine.settings().set_names(Names {
        who: "thread",
        ..Names::numbers()
    });
    machine.settings().late_loads.set(config.late_loads);
    machine.settings().limits.set(config.limits);
    machine.settings().length.set(100);
    let main: Main<'_> = &|thread, _| frame(machine, thread, &test);
    let runner = Runner::with_chooser(machine.scheduler(), &main, || machine.take_next());
    act(&mut TestSession { machine, runner })
}

/// Explores a test as [`explore`] does by default: on cores with LSE, with LL/SC and with RCpc,
/// every run that differs from the others where that ends within 5 000 000 operations each, and
/// drawn runs where it does not. What was covered is printed.
///
/// # Panics
/// A run fails, as for [`explore`].
///
/// ```
/// use interleavings::sync::Arc;
/// use interleavings::sync::atomic::{AtomicBool, AtomicU32, Ordering::*};
/// use interleavings::thread;
///
/// interleavings::model(|| {
///     let words = Arc::new((AtomicU32::new(0), AtomicBool::new(false)));
///     let other = words.clone();
///     let writer = thread::spawn(move || {
///         other.0.store(42, Relaxed);
///         other.1.store(true, Release);
///     });
///     if words.1.load(Acquire) {
///         assert_eq!(words.0.load(Relaxed), 42);
///     }
///     writer.join().unwrap();
/// });
/// ```
pub fn model(test: impl Fn() + Send + 'static) {
    let config = Config::default().of_environment();
    let tally = explore(&config, test);
    let complete = if tally.complete {
        ""
    } else {
        "; the search is not complete"
    };
    let covered = tally.covered.join("; ");
    println!(
        "Nothing was found{complete}. {covered}. {}.",
        config.budget()
    );
}

/// Repeats the run of STOPWATT_REPLAY, if it is of this test, and searches for others.
///
/// # Panics
/// A run fails.
pub fn search(config: &Config, name: &str, session: &mut dyn Runs<Bodies>) -> Tally<(), Bodies> {
    if let Some(path) = std::env::var_os("STOPWATT_REPLAY").map(PathBuf::from) {
        let path_name = path.display().to_string();
        let text = std::fs::read_to_string(&path)
            .unwrap_or_else(|error| panic!("cannot read {path_name}: {error}"));
        let file = File::read(&path_name, &text);
        let said = if file.is_of(name) {
            repeat(&path_name, &file, session)
        } else {
            format!("{path_name} is of the test {}", file.test)
        };
        println!("{said}; {name} is explored as without it.");
    }
    let script = session.script();
    let tally = try_all(config, session, &script);
    if let Some(found) = &tally.found {
        // What is left out of a run may not change what all runs are.
        let counts = &session.machine().settings().counts;
        if counts.get() == Counting::Unseen {
            counts.set(Counting::Avoided);
        }
        let shrunk = shrink(&mut Budget::new(session), found);
        session.keep_steps(true);
        session.run(&script, ChoiceSource::Schedule(&shrunk.schedule));
        let path = File::of(name, session).leave(config.folder.as_ref());
        panic!(
            "{}{}\nAgain: STOPWATT_REPLAY={}\n",
            story(session, &shrunk.failure),
            config.budget(),
            path.display()
        );
    }
    tally
}

/// Repeats the run of a file, and returns why its failure is gone.
///
/// # Panics
/// It is not: the run fails again, or the schedule does not fit the test any more.
fn repeat(name: &str, file: &File, session: &mut dyn Runs<Bodies>) -> String {
    let script = session.script();
    let (own, cpus) = (file.threads, script.0);
    assert!(
        own == cpus,
        "{name} is of {own} threads, and the test has {cpus}; {ANEW}"
    );
    let settings = session.machine().settings();
    settings.core.set(file.core);
    settings.counts.set(file.counting());
    session.keep_steps(true);
    let ran = session.run(&script, ChoiceSource::Schedule(&file.schedule()));
    if let Some(failure) = ran.failure {
        panic!("{}", story(session, &failure));
    }
    let gone = file.gone(session);
    session.keep_steps(false);
    session.machine().settings().counts.set(Counting::Unseen);
    match gone {
        Ok(why) => format!("{name}: the failure of {} is gone: {why}", file.test),
        Err(differs) => {
            panic!("{name} is stale, and says nothing of the test: {differs}; {ANEW}")
        }
    }
}

/// Tries a test on each core. What a test with another session keeps outside of shared words is not
/// watched, and which runs differ in it is not known: they are all drawn, unless the strategy is
/// asked for alone.
fn try_all(config: &Config, session: &mut dyn Runs<Bodies>, script: &Bodies) -> Tally<(), Bodies> {
    let mut tally = Tally::default();
    let drawn: Vec<Strategy> = config
        .strategies
        .iter()
        .copied()
        .filter(|by| *by != Strategy::Dpor)
        .collect();
    let mut complete = true;
    for core in &config.cores {
        session.machine().settings().core.set(*core);
        // Where a run looks at counts of references, those before it were of another test.
        let (begin, counts) = (tally.clone(), session.machine().settings().counts.get());
        let mut ends = try_core(config, &drawn, session, script, &mut tally);
        if session.machine().settings().counts.get() != counts {
            tally = begin;
            ends = try_core(config, &drawn, session, script, &mut tally);
        }
        if tally.found.is_some() {
            return tally;
        }
        complete &= ends;
    }
    tally.complete = complete;
    tally
}

/// Tries a test on the core that the machine has. True if all runs were tried.
fn try_core(
    config: &Config,
    drawn: &[Strategy],
    session: &mut dyn Runs<Bodies>,
    script: &Bodies,
    tally: &mut Tally<(), Bodies>,
) -> bool {
    session.machine().memory_mut().forget_stored();
    let begin = tally.schedules;
    let is_watched = drawn.is_empty() || session.machine().settings().spins.get();
    let tries_all = config.strategies.contains(&Strategy::Dpor) && is_watched;
    let ends = tries_all && try_all_that_differ(config, !drawn.is_empty(), session, script, tally);
    let differ = tally.schedules - begin;
    let runs = config.schedules.div_ceil(config.cores.len() as u64);
    if !ends && tally.found.is_none() && !drawn.is_empty() {
        draw(config.seed, runs, drawn, session, script, tally);
    }
    let settings = session.machine().settings();
    let core = settings.core.get();
    let mut covered = match (ends, differ) {
        (true, _) => format!(
            "{core}: all {differ} runs that differ, with one chance failure in each at most"
        ),
        (false, 0) => format!("{core}: {runs} drawn runs"),
        (false, _) if drawn.is_empty() => format!("{core}: {differ} of the runs that differ"),
        (false, _) => format!("{core}: {differ} of the runs that differ, and {runs} drawn ones"),
    };
    if let Some(word) = settings.rests_on.take() {
        covered += &format!(
            ", where what lies behind {word} is ordered by its address: Arm keeps that order, and Rust's model knows it only if the load acquires"
        );
    }
    tally.covered.push(covered);
    ends
}

/// Draws runs, by strategies that take turns.
fn draw(
    seed: u64,
    runs: u64,
    strategies: &[Strategy],
    session: &mut dyn Runs<Bodies>,
    script: &Bodies,
    tally: &mut Tally<(), Bodies>,
) {
    let counts = session.machine().settings().counts.get();
    for (run, &strategy) in (1..=runs).zip(strategies.iter().cycle()) {
        let by = ChoiceSource::RandomChoices(strategy, SplitMix64::fork(seed, run).next());
        let ran = session.run(script, by);
        tally.note(session, (), ran, strategy);
        if tally.found.is_some() || session.machine().settings().counts.get() != counts {
            return;
        }
    }
}

/// Every run that differs from the others, once more with late loads until they bring no new
/// values; `within` the operations of the configuration, or as many as it takes. True if there is no
/// other: also of caches, which do nothing on their own here, so that all CPUs must be in
/// coherency.
fn try_all_that_differ(
    config: &Config,
    within: bool,
    session: &mut dyn Runs<Bodies>,
    script: &Bodies,
    tally: &mut Tally<(), Bodies>,
) -> bool {
    let mut dpor = Box::new(Dpor::new());
    let mut later = Vec::new();
    let last = tally.schedules.saturating_add(config.schedules);
    let most = tally.steps.saturating_add(config.operations);
    let counts = session.machine().settings().counts.get();
    let mut coherent = true;
    while tally.schedules < last && !(within && tally.steps >= most) {
        let ran = session.run(script, ChoiceSource::Dpor(dpor));
        tally.note(session, (), ran, Strategy::Dpor);
        let Some(tape) = session.machine().take_dpor().filter(|_| {
            tally.found.is_none() && session.machine().settings().counts.get() == counts
        }) else {
            return false;
        };
        dpor = tape;
        coherent &= (0..script.0).all(|cpu| session.machine().memory().is_coherent(cpu));
        if dpor.advance() {
            continue;
        }
        let stored = session.machine().memory().all_later_values();
        match (config.late_loads, stored) {
            (true, None) => return false,
            (true, Some(stored))
                if stored != later && stored.iter().any(|values| !values.is_empty()) =>
            {
                dpor = Box::new(Dpor::again_with_later_values(stored.clone()));
                later = stored;
            }
            _ => return coherent,
        }
    }
    false
}

fn frame(machine: &Machine, thread: usize, test: &dyn Fn()) {
    let body = catch_unwind(AssertUnwindSafe(|| match thread {
        0 => {
            test();
            current::end(0);
        }
        _ => current::run(thread),
    }));
    machine.settle();
    machine.drain();
    if let Err(payload) = body {
        machine.fail_by_panic(&*payload);
    }
    machine.leave();
}

/// The runs of a test. It makes its words in the middle of a run.
struct TestSession<'s> {
    machine: &'s Machine,
    runner: Runner<'s, Main<'s>>,
}

impl Runs<Bodies> for TestSession<'_> {
    fn run_once(&mut self, script: &Bodies, by: ChoiceSource<'_>) -> RunResult {
        // What an earlier run has left of its frames goes before its words do.
        (0..script.0).for_each(|thread| self.runner.stop(thread));
        current::begin(script.0);
        self.machine.begin_bodies(by, &[], 1);
        self.runner.start(0, 0);
        self.machine.run(|| self.runner.run());
        self.machine.result(|| self.machine.failure_of_waits())
    }

    fn script(&self) -> Bodies {
        Bodies(self.machine.cpus().len())
    }

    fn machine(&self) -> &Machine {
        self.machine
    }
}

impl Machine {
    /// Starts a run of CPUs in coherency, of which the first few are present.
    pub fn begin_bodies(&self, by: ChoiceSource<'_>, values: &[u64], present: usize) {
        self.memory_mut().begin(values);
        self.forget_run(by);
        for (number, cpu) in self.cpus().iter().enumerate() {
            self.memory_mut().join(number);
            if number < present {
                cpu.begin(Wait::Nothing);
                self.can_go(number);
            } else {
                cpu.begin(Wait::Absent);
            }
        }
    }

    /// The failure of a run in which nothing failed before its end: a process that still waits.
    pub fn failure_of_waits(&self) -> Option<Failure> {
        let mut waits = self.cpus().iter().map(|cpu| cpu.waits());
        if self.is_pruned() || waits.all(|waits| matches!(waits, Wait::Done | Wait::Absent)) {
            return None;
        }
        let what = format!("nobody is left to go on: {}", self.describe_waits());
        Some(Failure::new(Invariant::EverybodyWakes, what))
    }
}

/// A number of CPUs, each with a body of its own: nothing of what they do can be left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bodies(pub usize);

impl Script for Bodies {
    fn cpus(&self) -> usize {
        self.0
    }

    fn actions(&self, _: usize) -> usize {
        0
    }

    fn action(&self, _: usize, _: usize) -> Option<String> {
        None
    }

    fn leave_out(&mut self, _: usize, _: Range<usize>) {}

    fn sentences(&self) -> Vec<String> {
        Vec::new()
    }
}

/// The failure of the last run in words.
fn story(session: &dyn Runs<Bodies>, failure: &Failure) -> String {
    let schedule = session.schedule();
    let (script, machine) = (session.script(), session.machine());
    let steps = &session.steps()[..];
    let narrator = Narrator::new(&script, machine.names(), 1, "nobody");
    let core = machine.settings().core.get();
    let mut text = format!("{} ({})\n", failure.what, failure.invariant.name());
    let _ = writeln!(
        text,
        "{} deviations from the plainest run, in {} operations, on a core with {core}:",
        schedule.len(),
        steps.len()
    );
    for (number, deviation) in (1..).zip(&schedule) {
        let _ = writeln!(text, "  {number}. {}", narrator.deviation(steps, deviation));
    }
    text
}
