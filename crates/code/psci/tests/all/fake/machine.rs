//! The fake machine's state.

use super::asymmetric::Asymmetric;
use super::board::Board;
use psci::CpuIndex;
use psci::Endianness;
use psci::Error;
use psci::PowerStateFormat;
use psci::TrustedOs;
use psci::{MessageOrder, OptionalCalls, SuspendModeChange};
use std::boxed::Box;
use std::cell::Cell as StdCell;
use std::format;
use std::string::String;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::vec::Vec;

/// Ticks of the fake machine's counter in a microsecond.
pub const TICKS_PER_US: u64 = 50;

/// The kind of machine.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// True if caches stay coherent while a CPU powers down.
    pub coherent: bool,
    /// When the power controller is told.
    pub order: MessageOrder,
    /// Layout of `power_state`.
    pub format: PowerStateFormat,
    /// The optional calls.
    pub optional: OptionalCalls,
    /// True if SYSTEM_SUSPEND is offered, if the board has a state for it.
    pub system_suspend: bool,
    /// True if CPU_DEFAULT_SUSPEND is offered, if the board has a state for it.
    pub default_suspend: bool,
    /// The Trusted OS.
    pub trusted_os: TrustedOs,
    /// When the mode may be changed.
    pub suspend_mode_change: SuspendModeChange,
}

impl Default for Options {
    /// Not coherent, the message inside the locks, original format, OS-initiated mode and
    /// SYSTEM_SUSPEND offered.
    fn default() -> Self {
        Self {
            coherent: false,
            order: MessageOrder::InsideLocks,
            format: PowerStateFormat::Original,
            optional: OptionalCalls {
                os_initiated: true,
                ..OptionalCalls::NONE
            },
            system_suspend: true,
            default_suspend: false,
            trusted_os: TrustedOs::Absent,
            suspend_mode_change: SuspendModeChange::WhileNobodySleeps,
        }
    }
}

/// The payload that unwinds a CPU which loses its stack.
pub(super) struct PoweredDown;

/// The action of other CPUs while one waits.
pub type Action = Box<dyn FnOnce() + Send>;

/// A fake machine with a board.
pub struct Fake<B: Board = Asymmetric> {
    /// The kind of machine.
    pub options: Options,
    /// True if a word that is touched with the wrong maintenance panics; off for tests in which
    /// threads race on purpose.
    pub strict: AtomicBool,
    /// True if an interrupt is pending, by CPU.
    pub interrupt: Vec<AtomicBool>,
    /// The power controller refuses power-downs: the terminal WFI returns.
    pub refuse: AtomicBool,
    /// The action of others while a CPU is in its next terminal WFI.
    pub at_wfi: Mutex<Option<Action>>,
    /// The action of others while the power controller gets its next message about a power-down.
    pub at_message: Mutex<Option<Action>>,
    /// The action of others while the power controller is asked to turn a CPU on.
    pub at_power_on: Mutex<Option<Action>>,
    /// The action of others while a CPU waits for its next event.
    pub at_wait: Mutex<Option<Action>>,
    /// The action of others while a CPU is in its next standby.
    pub in_standby: Mutex<Option<Action>>,
    /// The power controller's answer to CPU_ON, if it refuses.
    pub power_on_error: Mutex<Option<Error>>,
    /// The platform refuses power-downs before anything has changed.
    pub veto: AtomicBool,
    /// Byte order of the normal world's data, on every CPU; `None` if the machine has only one.
    pub endianness: Mutex<Option<Endianness>>,
    pub(super) board: B,
    pub(super) now: AtomicU64,
    pub(super) caches: Vec<AtomicBool>,
    pub(super) interrupts: Vec<AtomicBool>,
    pub(super) saved: Vec<AtomicBool>,
    /// True if a CPU has asked for maintenance of a line that no barrier has completed yet.
    pub(super) maintaining: Vec<AtomicBool>,
    log: Mutex<Vec<String>>,
}

std::thread_local! {
    static CPU: StdCell<u16> = const { StdCell::new(0) };
}

/// A test that panicked on one thread must not hide its message behind another's.
pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<B: Board> Fake<B> {
    /// A machine of which CPU 0 has come out of its cold boot, and the others are off.
    pub fn new(board: B, options: Options) -> Self {
        let count = board.topology().cpus.len();
        let flags = |value: bool| {
            (0..count)
                .map(|_| AtomicBool::new(value))
                .collect::<Vec<_>>()
        };
        let fake = Self {
            options,
            strict: AtomicBool::new(true),
            interrupt: flags(false),
            refuse: AtomicBool::new(false),
            at_wfi: Mutex::new(None),
            at_message: Mutex::new(None),
            at_power_on: Mutex::new(None),
            at_wait: Mutex::new(None),
            in_standby: Mutex::new(None),
            power_on_error: Mutex::new(None),
            veto: AtomicBool::new(false),
            endianness: Mutex::new(None),
            board,
            now: AtomicU64::new(1000),
            caches: flags(options.coherent),
            interrupts: flags(false),
            saved: flags(false),
            maintaining: flags(false),
            log: Mutex::new(Vec::new()),
        };
        if count > 0 {
            fake.set_cache(0, true);
            fake.interrupts[0].store(true, SeqCst);
        }
        fake
    }

    /// The CPU on whose behalf this thread runs.
    pub(super) fn cpu(&self) -> CpuIndex {
        CpuIndex(CPU.get())
    }

    /// Makes this thread run on behalf of `cpu`.
    pub(super) fn become_cpu(cpu: u16) {
        CPU.set(cpu);
    }

    pub(super) fn cache_is_on(&self) -> bool {
        self.caches[self.cpu().get()].load(SeqCst)
    }

    /// Checks that no maintenance of the present CPU is left without its barrier.
    pub(super) fn check_barrier(&self) {
        if self.strict.load(SeqCst) {
            assert!(
                !self.maintaining[self.cpu().get()].load(SeqCst),
                "maintenance without a barrier after it"
            );
        }
    }

    /// Turns the caches of a CPU on or off, for tests of locks.
    pub fn set_cache(&self, cpu: u16, on: bool) {
        self.caches[usize::from(cpu)].store(on, SeqCst);
    }

    /// Lets other CPUs do what a test has prepared.
    pub(super) fn run_prepared(&self, action: &Mutex<Option<Action>>) {
        let action = locked(action).take();
        if let Some(action) = action {
            let cpu = CPU.get();
            action();
            CPU.set(cpu);
        }
    }

    /// Adds a line to the log.
    pub(super) fn note(&self, line: impl Into<String>) {
        locked(&self.log).push(line.into());
    }

    /// Switches a part of the present CPU, which must not be in that position already.
    pub(super) fn switch(&self, part: &[AtomicBool], name: &str, on: bool) {
        let position = if on { "on" } else { "off" };
        let was = part[self.cpu().get()].swap(on, SeqCst);
        assert_ne!(was, on, "{name} already {position}");
        self.note(format!("{name} {position}"));
    }

    /// The log, in order: operations of the machine, and the points that were stamped.
    pub fn log(&self) -> Vec<String> {
        locked(&self.log).clone()
    }

    /// Empties the log.
    pub fn clear_log(&self) {
        locked(&self.log).clear();
    }
}
