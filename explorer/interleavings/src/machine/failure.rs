//! The kinds of failures.

use crate::operation::OperationIndex;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

// A panic hook is the process's, and has no argument of ours: it finds here whose panic it is.
thread_local! {
    /// Code under test runs on this thread.
    static RUNS: Cell<bool> = const { Cell::new(false) };
    /// The place of its last panic.
    static PLACE: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Runs code under test. Its panics print nothing: the failure tells of one, if the run counts.
///
/// # Errors
/// It panicked.
pub fn run_quietly<R>(run: impl FnOnce() -> R) -> std::thread::Result<R> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let of_others = take_hook();
        set_hook(Box::new(move |panic| {
            match panic.location().filter(|_| RUNS.get()) {
                Some(place) => {
                    drop(PLACE.replace(format!(" in {}:{}", place.file(), place.line())))
                }
                None => of_others(panic),
            }
        }));
    });
    RUNS.set(true);
    let result = catch_unwind(AssertUnwindSafe(run));
    RUNS.set(false);
    result
}

crate::worded! {
    /// A property of the firmware that a run broke.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
    #[serde(rename_all = "kebab-case")]
    enum Invariant;
    /// Name of the invariant in files and on the command line.
    fn name;

    /// At most one CPU holds a lock.
    OneHolder = "one-holder",
    /// A CPU enters the normal world where it was asked to, with the argument that was given.
    EntryPoint = "entry-point",
    /// A CPU_ON that succeeds turns its target on, once; one that fails does not.
    OneCpuOnWins = "one-cpu-on-wins",
    /// No cluster has its port closed under a CPU that runs, and the system does not go down under
    /// one.
    DomainUp = "domain-up",
    /// AFFINITY_INFO and CPU_ON know whether a CPU is on, where that was plain during the whole
    /// call.
    Affinity = "affinity",
    /// Every CPU that sleeps or waits gets on.
    EverybodyWakes = "everybody-wakes",
    /// The run comes to an end.
    Livelock = "livelock",
    /// Nothing that was stored is lost.
    DirtyLineLost = "dirty-line-lost",
    /// Atomics are used in coherency only.
    Atomic = "atomic",
    /// Statistics count the stays that there were, no more and no fewer.
    Statistics = "statistics",
    /// A power domain is in the state that its CPUs asked for and in no other, and a CPU that wakes
    /// finds it as it was left.
    DomainState = "domain-state",
    /// A call is refused where it must be, and only there.
    Answer = "answer",
    /// All that is needed was done before a CPU loses its power, and before it goes on.
    Complete = "complete",
    /// No reader sees an object that was freed, and no callback is invoked while somebody reads who
    /// read when it was queued.
    ReadersSafe = "readers-safe",
    /// No callback is invoked twice.
    InvokedOnce = "invoked-once",
    /// Every callback is invoked in the end.
    NoCallbackLost = "no-callback-lost",
    /// A grace period ends after every CPU has passed a quiescent state in it, and every reader
    /// that it waits for has ended.
    GracePeriod = "grace-period",
    /// No callback waits for more grace periods than it must.
    SoonEnough = "soon-enough",
    /// No two CPUs access plain data, one of them to write it, unless something orders them.
    DataRace = "data-race",
    /// The property that a test of one's own asks for.
    Own = "own",
    /// The code under test does not panic.
    Panic = "panic",
}

/// A run that broke an invariant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The invariant that broke.
    pub invariant: Invariant,
    /// The failure, as a sentence without a full stop.
    pub what: String,
    /// The process that showed it.
    pub process: u8,
    /// Index of the process's operation.
    pub operation: OperationIndex,
}

/// The invariant that broke, and how, as a sentence without a full stop.
pub type Breach = (Invariant, String);

impl Failure {
    /// A failure of no process.
    pub fn new(invariant: Invariant, what: String) -> Self {
        Self {
            invariant,
            what,
            process: 0,
            operation: OperationIndex::default(),
        }
    }

    /// A panic of the code under test.
    pub(crate) fn of_panic(payload: &(dyn std::any::Any + Send)) -> Self {
        let text = payload
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| payload.downcast_ref::<&str>().copied())
            .unwrap_or("without a text");
        let what = format!("the code under test panicked{}: {text}", PLACE.take());
        Self::new(Invariant::Panic, what)
    }
}
