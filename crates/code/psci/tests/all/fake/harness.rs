//! The library on a fake machine, driven by a test.

use super::asymmetric::Asymmetric;
use super::board::Board;
use super::machine::{Fake, Options, PoweredDown};
use psci::Error;
use psci::PowerUp;
use psci::Psci;
use psci::id;
use psci::lock::BakeryWord;
use psci::{Call, EntryPoint, Outcome};
use psci::{ConfigError, Topology};
use psci::{CpuRecord, DomainRecord, StorageRef, SystemRecord};
use std::any::Any;
use std::boxed::Box;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::string::String;
use std::sync::atomic::Ordering::SeqCst;
use std::vec::Vec;

/// Entry point and context id of [`Harness::turn_on`].
pub const CPU_ON_ENTRY: (u64, u64) = (0x6000_0000, 0x1234);

/// The code that a successful call returns.
pub const SUCCESS: u64 = 0;

/// An error as a call returns it.
pub fn code(error: Error) -> u64 {
    i64::from(error.code()) as u64
}

/// A call that returned `x0` and zeros.
pub fn returned(x0: u64) -> Ending<Outcome> {
    Ending::Returned(Outcome::Return([x0, 0, 0, 0]))
}

/// A value for the rest of the process: tests make few machines, and their parts refer to each
/// other.
pub fn leak<T>(value: T) -> &'static mut T {
    Box::leak(Box::new(value))
}

/// Storage for a topology, as a simulator allocates it.
pub fn storage<B: Board>(
    fake: &'static Fake<B>,
    topology: &Topology<'_>,
) -> StorageRef<'static, Fake<B>> {
    let words = topology.cpus.len() * usize::from(topology.top());
    StorageRef {
        cpus: leak(
            topology
                .cpus
                .iter()
                .map(|_| CpuRecord::new(fake))
                .collect::<Vec<_>>(),
        ),
        domains: leak(
            topology
                .domains
                .iter()
                .map(|domain| DomainRecord::new(fake, domain.level))
                .collect::<Vec<_>>(),
        ),
        words: leak(
            (0..words)
                .map(|_| BakeryWord::default())
                .collect::<Vec<_>>(),
        ),
        system: leak(SystemRecord::default()),
    }
}

/// The end of what a CPU did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending<T> {
    /// It returned.
    Returned(T),
    /// The CPU powered down and lost its stack.
    PoweredDown,
}

impl<T: std::fmt::Debug> Ending<T> {
    /// The value that was returned.
    ///
    /// # Panics
    /// If the CPU powered down.
    pub fn returned(self) -> T {
        match self {
            Self::Returned(value) => value,
            Self::PoweredDown => panic!("the CPU powered down"),
        }
    }

    /// Checks that the CPU powered down.
    ///
    /// # Panics
    /// If it did not.
    pub fn powered_down(self) {
        assert!(
            matches!(self, Self::PoweredDown),
            "the CPU did not power down: {self:?}"
        );
    }
}

/// The library on a fake machine.
pub struct Harness<B: Board = Asymmetric> {
    /// The machine.
    pub fake: &'static Fake<B>,
    /// The library.
    pub psci: Psci<'static, Fake<B>>,
}

impl<B: Board> Harness<B> {
    /// The library on a machine with this board, with CPU 0 booted and an empty log.
    ///
    /// # Errors
    /// The library refuses the board.
    pub fn on_board(board: B, options: Options) -> Result<Self, ConfigError> {
        let topology = board.topology();
        let fake: &'static Fake<B> = leak(Fake::new(board, options));
        let psci = Psci::new(fake, &topology, storage(fake, &topology))?;
        let harness = Self { fake, psci };
        harness.run_on(0, || harness.psci.boot()).returned();
        harness.clear_log();
        Ok(harness)
    }

    /// Runs `body` on a CPU.
    pub fn run_on<T>(&self, cpu: u16, body: impl FnOnce() -> T) -> Ending<T> {
        Fake::<B>::become_cpu(cpu);
        match catch_unwind(AssertUnwindSafe(body)) {
            Ok(value) => Ending::Returned(value),
            Err(payload) if (*payload).is::<PoweredDown>() => Ending::PoweredDown,
            Err(payload) => resume_unwind(payload as Box<dyn Any + Send>),
        }
    }

    /// An SMC of a CPU.
    pub fn smc(&self, cpu: u16, function: u32, args: [u64; 3]) -> Ending<Outcome> {
        let entered = points::Sink::now(self.fake);
        self.run_on(cpu, || {
            self.psci.handle_smc(Call {
                function,
                args,
                entered,
            })
        })
    }

    /// X0 of an SMC that returns.
    ///
    /// # Panics
    /// If it does not return.
    pub fn call(&self, cpu: u16, function: u32, args: [u64; 3]) -> u64 {
        match self.smc(cpu, function, args).returned() {
            Outcome::Return([x0, ..]) => x0,
            Outcome::Enter(entry) => panic!("entered {entry:?}"),
        }
    }

    fn mpidr(&self, cpu: u16) -> u64 {
        self.fake.board.topology().cpus[usize::from(cpu)].mpidr
    }

    /// CPU_ON of `target` by `caller`, with an entry point and a context id.
    pub fn cpu_on(&self, caller: u16, target: u16, entry: (u64, u64)) -> u64 {
        self.call(
            caller,
            id::CPU_ON | id::SMC64,
            [self.mpidr(target), entry.0, entry.1],
        )
    }

    /// CPU 0 turns a CPU on, which then boots.
    ///
    /// # Panics
    /// If it cannot.
    pub fn turn_on(&self, cpu: u16) {
        assert_eq!(self.cpu_on(0, cpu, CPU_ON_ENTRY), SUCCESS);
        assert_eq!(self.wake(cpu).after, PowerUp::On);
    }

    /// CPU_OFF.
    pub fn turn_off(&self, cpu: u16) -> Ending<Outcome> {
        self.smc(cpu, id::CPU_OFF, [0; 3])
    }

    /// The warm boot of a CPU.
    ///
    /// # Panics
    /// If the CPU was off and nobody had turned it on.
    pub fn wake(&self, cpu: u16) -> EntryPoint {
        // A reset turns them off on every machine; `warm_reset` turns them on where CPUs stay
        // coherent.
        self.fake.set_cache(cpu, false);
        self.run_on(cpu, || self.psci.warm_boot()).returned()
    }

    /// AFFINITY_INFO of a CPU, asked by CPU 0.
    pub fn affinity(&self, cpu: u16) -> u64 {
        self.affinity_by(0, cpu)
    }

    /// AFFINITY_INFO by the CPU itself, whose caches the fake machine takes as on for the moment;
    /// for tests that do not know which CPU runs.
    pub fn affinity_of(&self, cpu: u16) -> u64 {
        let was = self.fake.caches[usize::from(cpu)].swap(true, SeqCst);
        let state = self.affinity_by(cpu, cpu);
        self.fake.caches[usize::from(cpu)].store(was, SeqCst);
        state
    }

    fn affinity_by(&self, caller: u16, cpu: u16) -> u64 {
        self.call(caller, id::AFFINITY_INFO, [self.mpidr(cpu), 0, 0])
    }

    /// A time stamp of the runtime instrumentation, read by CPU 0 with cache maintenance.
    ///
    /// # Panics
    /// If there is no such stamp.
    pub fn time_stamp(&self, cpu: u16, stamp: u64) -> u64 {
        let args = [0x4100_0400 | stamp, self.mpidr(cpu), 1];
        match self
            .smc(0, id::PMF_GET_TIMESTAMP | id::SMC64, args)
            .returned()
        {
            Outcome::Return([0, ticks, ..]) => ticks,
            other => panic!("{other:?}"),
        }
    }

    /// The last line of the log that starts with `prefix`; empty if there is none.
    pub fn last_logged(&self, prefix: &str) -> String {
        self.log()
            .into_iter()
            .rev()
            .find(|line| line.starts_with(prefix))
            .unwrap_or_default()
    }

    /// The last message to the power controller about a power-down: the states asked for, and why.
    pub fn last_power_down(&self) -> String {
        self.last_logged("power_down")
    }

    /// The log, in order: operations of the machine, and the points that were stamped.
    pub fn log(&self) -> Vec<String> {
        self.fake.log()
    }

    /// Empties the log.
    pub fn clear_log(&self) {
        self.fake.clear_log();
    }
}
