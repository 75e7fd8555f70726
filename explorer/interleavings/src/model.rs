//! Tests of one's own, on any platform: what each CPU does, explored as a library is.
//!
//! As everywhere on the engine, no value whose `Drop` matters may live across an operation of a
//! shared word: a run that fails is thrown away where it stands.

use crate::current::{self, TestMachine};
use crate::limits::Limits;
use crate::machine::{
    ChoiceSource, Core, Counting, Deviation, Dpor, Failure, Invariant, Machine, Names, OnMachine,
    Operation, Strategy, Wait, made_by, run_watched, watch,
};
use crate::operation::OperationIndex;
use crate::search::{Budget, Main, RunResult, Runs, Script, Tally, shrink};
use crate::story::Narrator;
use engine::{Runner, SplitMix64};
use std::cell::RefCell;
use std::fmt::Write as _;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

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
    /// Strategies. [`Strategy::Dpor`] goes first, for [`Config::operations`]; if it comes to no end, the
    /// others draw runs, in turn. Alone it has all the time that [`Config::schedules`] gives it. It
    /// is for tests that share nothing but words, as those of [`explore`] do; with others it only
    /// goes alone.
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
    /// True if all CPUs are in coherency from the start; otherwise their caches are off, and
    /// [`Machine::join`] turns them on.
    pub coherent: bool,
}

impl Default for Config {
    /// On each of [`Core::ALL`] every run that differs, up to 5 000 000 operations, and else 100 000
    /// drawn runs; in coherency.
    fn default() -> Self {
        let strategies = [vec![Strategy::Dpor], Strategy::in_turn()].concat();
        Self {
            strategies,
            schedules: 100_000,
            operations: 5_000_000,
            seed: 1,
            limits: Limits::default(),
            late_loads: true,
            coherent: true,
            threads: 4,
            cores: Core::ALL.to_vec(),
            folder: None,
        }
    }
}

/// The time on a CPU that code may take without an operation.
const PATIENCE: Duration = Duration::from_secs(20);

type Body<P> = Box<dyn Fn(&P)>;
type AtTheEnd<P> = (Box<dyn Fn(&P) -> bool>, &'static str);

/// A test on a platform: what each CPU does, and what must hold at the end.
pub struct Model<P> {
    bodies: Vec<Body<P>>,
    /// Number of the last bodies that start only when another one starts them.
    absent: usize,
    at_the_end: Vec<AtTheEnd<P>>,
}

impl<P> Default for Model<P> {
    fn default() -> Self {
        Self {
            bodies: Vec::new(),
            absent: 0,
            at_the_end: Vec::new(),
        }
    }
}

impl<P> Model<P> {
    /// Adds a CPU that does this.
    pub fn cpu(&mut self, body: impl Fn(&P) + 'static) {
        self.bodies.push(Box::new(body));
    }

    /// The property that must hold once all CPUs are done; `what` says what is wrong if it does
    /// not.
    pub fn at_the_end(&mut self, holds: impl Fn(&P) -> bool + 'static, what: &'static str) {
        self.at_the_end.push((Box::new(holds), what));
    }
}

impl Machine {
    /// A point at which another CPU may go first.
    pub fn pause(&self) {
        self.act(Operation::Own);
    }

    /// Ends the run with a failure if `holds` is false.
    pub fn check(&self, holds: bool, what: impl FnOnce() -> String) {
        if !holds {
            self.fail(Invariant::Own, what());
        }
    }

    /// This CPU's caches go on, and it is in coherency.
    pub fn join(&self) {
        self.act(Operation::CachesOn);
        let process = self.process();
        self.memory_mut().join(process);
    }

    /// This CPU cleans its caches, turns them off and leaves coherency.
    pub fn leave_with_flush(&self) {
        self.act(Operation::Flush { level: 1 });
        let process = self.process();
        self.memory_mut().flush(process, true);
        self.memory_mut().leave_coherency(process);
        self.wake_pollers();
    }
}

/// Runs a test that uses types like those of std, [`crate::sync`] and [`crate::thread`], under the
/// schedules that [`Config`] asks for. It is called anew for each run, and must do the same
/// whenever it is shown the same.
///
/// With the variable STOPWATT_REPLAY set to a file that an earlier failure left, that schedule
/// alone is run.
///
/// # Panics
/// A run fails: a thread panics, two accesses to plain data race, or nobody can go on. The message
/// has the schedule in sentences, and the file that repeats it: `NAME.schedule` in
/// [`Config::folder`], after the thread's name, which is that of the test.
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
    let own = config.clone();
    match run_watched(PATIENCE, move || explore_here(&own, test)) {
        Ok(Ok(tally)) => tally,
        Ok(Err(payload)) => resume_unwind(payload),
        Err((process, operation)) => panic!("{}", told_stuck(process, operation)),
    }
}

fn told_stuck(process: u8, operation: OperationIndex) -> String {
    format!(
        "CPU {process} has made no operation since its operation {operation}, for {PATIENCE:?} on a CPU: the test cannot go on"
    )
}

fn explore_here(config: &Config, test: impl Fn() + 'static) -> Tally<(), Bodies> {
    assert!(
        (1..=crate::MOST_CPUS).contains(&config.threads),
        "a test has 1 to {} threads",
        crate::MOST_CPUS
    );
    let lasting = TestMachine::new(config.threads);
    lasting.machine().memory_mut().watch_all_plain();
    lasting.machine().settings().spins.set(true);
    lasting.machine().settings().counts.set(Counting::Unseen);
    let mut model = Model::default();
    model.cpu(move |_| {
        test();
        current::end(0);
    });
    (1..config.threads).for_each(|thread| model.cpu(move |_| current::run(thread)));
    model.absent = config.threads - 1;
    let model = Rc::new(model);
    // Its words are made in the middle of a run.
    let build = || {
        current::begin(config.threads);
        (Rc::clone(&model), Vec::new())
    };
    try_and_tell(config, &lasting, &build)
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
    let tally = explore(&Config::default(), test);
    let complete = if tally.complete {
        ""
    } else {
        "; the search is not complete"
    };
    println!("Nothing was found{complete}. {}.", tally.covered.join("; "));
}

/// Explores a test on a platform that `make` makes of the number of CPUs and what the words hold
/// first. `set_up` makes the words and says what each CPU does; it is called before each run.
///
/// # Panics
/// As [`explore`].
pub fn check_on<P: OnMachine>(
    config: &Config,
    make: impl FnOnce(usize, &[u64]) -> P,
    set_up: impl Fn(&mut Model<P>),
) -> Tally<(), Bodies> {
    let build = || {
        made_by(|| {
            let mut model = Model::default();
            set_up(&mut model);
            Rc::new(model)
        })
    };
    let (model, values) = build();
    try_and_tell(config, &make(model.bodies.len(), &values), &build)
}

/// Explores what `build` makes for each run.
fn try_and_tell<P: OnMachine>(
    config: &Config,
    on: &P,
    build: &dyn Fn() -> (Rc<Model<P>>, Vec<u64>),
) -> Tally<(), Bodies> {
    let cpus = on.machine().cpus().len();
    assert!(
        (1..=crate::MOST_CPUS).contains(&cpus),
        "a model has 1 to {} CPUs, not {cpus}",
        crate::MOST_CPUS
    );
    let machine = on.machine();
    machine.settings().set_names(Names::numbers());
    machine.settings().late_loads.set(config.late_loads);
    machine.settings().limits.set(config.limits);
    machine.settings().length.set(100);
    let model = RefCell::new(Rc::new(Model::default()));
    let main: Main<'_> = &|process, _| frame(on, &model, process);
    let runner = Runner::with_chooser(machine.scheduler(), &main, || machine.take_next());
    let _watchdog = watch(PATIENCE, |process, operation| {
        eprintln!("{}", told_stuck(process, operation));
        std::process::exit(2);
    });
    let mut session = ModelSession {
        on,
        model: &model,
        runner,
        build,
        config,
    };
    let script = Bodies(cpus);
    if let Some(path) = std::env::var_os("STOPWATT_REPLAY").map(PathBuf::from) {
        return replay(&path, &mut session, &script);
    }
    let tally = try_all(config, &mut session, &script);
    if let Some(found) = &tally.found {
        // What is left out of a run may not change what all runs are.
        let counts = &machine.settings().counts;
        if counts.get() == Counting::Unseen {
            counts.set(Counting::Avoided);
        }
        let shrunk = shrink(&mut Budget::new(&mut session), found);
        session.keep_steps(true);
        session.run(&script, ChoiceSource::Schedule(&shrunk.schedule));
        let core = machine.settings().core.get();
        let file = leave(&shrunk.schedule, core, cpus, config.folder.as_ref());
        panic!(
            "{}",
            story(&session, &shrunk.failure, &shrunk.schedule, Some(&file))
        );
    }
    tally
}

/// Repeats the run of a file.
///
/// # Panics
/// The run fails again, or the file cannot be read.
fn replay(path: &Path, session: &mut dyn Runs<Bodies>, script: &Bodies) -> Tally<(), Bodies> {
    let (core, schedule) = read(path, script.0);
    session.machine().settings().core.set(core);
    session.keep_steps(true);
    let ran = session.run(script, ChoiceSource::Schedule(&schedule));
    if let Some(failure) = ran.failure {
        panic!("{}", story(session, &failure, &session.schedule(), None));
    }
    Tally {
        schedules: 1,
        steps: u64::from(ran.steps),
        ..Tally::default()
    }
}

/// Tries a test on each core. What a test of [`check_on`] keeps outside of shared words is not
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
    let core = session.machine().settings().core.get();
    tally.covered.push(match (ends, differ) {
        (true, _) => format!(
            "{core}: all {differ} runs that differ, with one chance failure in each at most"
        ),
        (false, 0) => format!("{core}: {runs} drawn runs"),
        (false, _) if drawn.is_empty() => format!("{core}: {differ} of the runs that differ"),
        (false, _) => format!("{core}: {differ} of the runs that differ, and {runs} drawn ones"),
    });
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
    let mut coherent = config.coherent;
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

fn frame<P: OnMachine>(on: &P, model: &RefCell<Rc<Model<P>>>, process: usize) {
    let machine = on.machine();
    // Nobody powers anything off here.
    if machine.is_over() || process == machine.last_process() {
        machine.stay();
    }
    // A frame that is thrown away keeps its model: that is memory which a failed run costs.
    let model = Rc::clone(&model.borrow());
    let body = catch_unwind(AssertUnwindSafe(|| (model.bodies[process])(on)));
    drop(model);
    machine.settle();
    machine.drain();
    if let Err(payload) = body {
        machine.fail_by_panic(&*payload);
    }
    machine.leave();
}

struct ModelSession<'s, P> {
    on: &'s P,
    model: &'s RefCell<Rc<Model<P>>>,
    runner: Runner<'s, Main<'s>>,
    build: &'s dyn Fn() -> (Rc<Model<P>>, Vec<u64>),
    config: &'s Config,
}

impl<P: OnMachine> ModelSession<'_, P> {
    /// The failure of a run in which nothing failed before its end: a process that still waits, or
    /// a condition that does not hold.
    fn failure_at_the_end(&self) -> Option<Failure> {
        let machine = self.on.machine();
        if machine.is_pruned() {
            return None;
        }
        let is_stuck = machine
            .cpus()
            .iter()
            .any(|cpu| !matches!(cpu.waits(), Wait::Done | Wait::Absent));
        if is_stuck {
            let what = format!("nobody is left to go on: {}", machine.describe_waits());
            return Some(Failure::new(Invariant::EverybodyWakes, what));
        }
        let model = Rc::clone(&self.model.borrow());
        model
            .at_the_end
            .iter()
            .find(|(holds, _)| !holds(self.on))
            .map(|(_, what)| Failure {
                operation: machine.operation_of(0),
                ..Failure::new(Invariant::Own, (*what).to_owned())
            })
    }
}

impl<P: OnMachine> Runs<Bodies> for ModelSession<'_, P> {
    fn run_once(&mut self, _: &Bodies, by: ChoiceSource<'_>) -> RunResult {
        let machine = self.on.machine();
        let cpus = machine.cpus().len();
        // What an earlier run has left of its frames goes before its words and bodies do.
        (0..=cpus).for_each(|process| self.runner.stop(process));
        let (model, values) = (self.build)();
        assert_eq!(
            model.bodies.len(),
            cpus,
            "the model has as many CPUs in every run"
        );
        machine.memory_mut().begin(&values);
        if self.config.coherent {
            (0..cpus).for_each(|cpu| machine.memory_mut().join(cpu));
        }
        self.model.replace(model);
        machine.forget_run(by);
        for cpu in machine.cpus() {
            cpu.begin(Wait::Nothing);
        }
        let present = cpus - self.model.borrow().absent;
        machine.cpus()[present..]
            .iter()
            .for_each(|cpu| cpu.begin(Wait::Absent));
        (0..present).for_each(|cpu| {
            self.runner.start(cpu, 0);
            machine.can_go(cpu);
        });
        machine.run(|| self.runner.run());
        machine.result(|| self.failure_at_the_end())
    }

    fn script(&self) -> Bodies {
        Bodies(self.on.machine().cpus().len())
    }

    fn machine(&self) -> &Machine {
        self.on.machine()
    }
}

/// A number of CPUs, each with a body of its own: nothing of what they do can be left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bodies(usize);

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
fn story(
    session: &dyn Runs<Bodies>,
    failure: &Failure,
    schedule: &[Deviation],
    file: Option<&PathBuf>,
) -> String {
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
    for (number, deviation) in (1..).zip(schedule) {
        let _ = writeln!(text, "  {number}. {}", narrator.deviation(steps, deviation));
    }
    if let Some(file) = file {
        let _ = writeln!(text, "Again: STOPWATT_REPLAY={}", file.display());
    }
    text
}

#[derive(serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    cpus: usize,
    core: Core,
    #[serde(default)]
    deviation: Vec<Deviation>,
}

/// Leaves a schedule, whole or not at all.
fn leave(schedule: &[Deviation], core: Core, cpus: usize, folder: Option<&PathBuf>) -> PathBuf {
    let name = std::thread::current()
        .name()
        .unwrap_or("test")
        .replace("::", "-");
    let folder = folder
        .cloned()
        .or_else(|| std::env::var_os("STOPWATT_SCHEDULES").map(PathBuf::from));
    // What Cargo builds lies below a folder with this file, wherever that is; anything else leaves
    // its schedules where it runs.
    let program = std::env::current_exe().unwrap_or_default();
    let target = program
        .ancestors()
        .find(|folder| folder.join("CACHEDIR.TAG").is_file());
    let folder =
        folder.unwrap_or_else(|| target.map_or_else(PathBuf::new, |target| target.join("explore")));
    let path = folder.join(format!("{name}.schedule"));
    let text = toml::to_string(&File {
        cpus,
        core,
        deviation: schedule.to_vec(),
    })
    .unwrap_or_else(|error| unreachable!("a schedule is plain data: {error}"));
    let partial = folder.join(format!(".{name}.partial-{}", std::process::id()));
    let written = std::fs::create_dir_all(&folder)
        .and_then(|()| std::fs::write(&partial, text))
        .and_then(|()| std::fs::rename(&partial, &path));
    if let Err(error) = written {
        eprintln!("cannot leave {}: {error}", path.display());
    }
    std::path::absolute(&path).unwrap_or(path)
}

fn read(path: &Path, cpus: usize) -> (Core, Vec<Deviation>) {
    let text = std::fs::read_to_string(path)
        .unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()));
    let file: File = toml::from_str(&text)
        .unwrap_or_else(|error| panic!("{} is no schedule: {error}", path.display()));
    assert_eq!(
        file.cpus,
        cpus,
        "{} is for {} CPUs, and the model has {cpus}",
        path.display(),
        file.cpus
    );
    (file.core, file.deviation)
}
