//! The services that a procedure asks of the normal world it runs in.

/// Number of runtime instrumentation stamps of a CPU: the PMF ids 0 to 5.
pub const STAMPS: usize = 6;

/// A CPU's stamps in counter ticks, by PMF id: enter PSCI, exit PSCI, enter low power, exit low
/// power, enter flush, exit flush.
pub type Stamps = [u64; STAMPS];

/// A power state that a procedure asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// The CPU alone: power level 0.
    Level0,
    /// The deepest power-down state that CPU_SUSPEND offers.
    Deepest,
}

/// A word of normal-world memory that the CPUs of a procedure share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// The number of CPUs that came to the barrier.
    Arrived,
    /// The number of CPUs that have asked for the shared timer; the first owns it.
    TimerClaims,
    /// Which part of the cpu-off procedure runs: 0 turns CPUs off, 1 collects their stamps.
    Phase,
    /// The number of CPUs that are about to turn themselves off.
    Leaving,
}

impl Word {
    /// Number of words.
    pub const COUNT: usize = 4;
}

/// Why a procedure stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// A call returned an error code.
    Call {
        /// The SMC function id.
        function: u32,
        /// The code that it returned.
        code: i64,
    },
    /// An interrupt came before the CPU was down: there is nothing to measure.
    LeftEarly {
        /// The CPU.
        cpu: usize,
    },
    /// The stamps of a CPU are out of order.
    StampOrder {
        /// The CPU.
        cpu: usize,
        /// Stamps of that CPU.
        stamps: Stamps,
    },
}

impl core::fmt::Display for Failure {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Call { function, code } => write!(f, "SMC {function:#010x} returned {code}"),
            Self::LeftEarly { cpu } => write!(f, "an interrupt came before CPU {cpu} was down"),
            Self::StampOrder { cpu, stamps } => {
                write!(f, "the stamps of CPU {cpu} are out of order: {stamps:?}")
            }
        }
    }
}

impl core::error::Error for Failure {}

/// The normal world of a machine with PSCI firmware: what an operating system's lowest layer
/// offers.
///
/// Methods act on the CPU that calls them.
pub trait NormalWorld {
    /// Dense number of the calling CPU.
    fn this_cpu(&self) -> usize;

    /// Number of CPUs; the procedures use all of them.
    fn cpu_count(&self) -> usize;

    /// Affinity fields of a CPU, as PSCI takes them.
    fn mpidr(&self, cpu: usize) -> u64;

    /// The `power_state` parameter for a depth, in the firmware's format.
    fn power_state(&self, depth: Depth) -> u32;

    /// Issues an SMC. For a call that does not return here (CPU_OFF), this does not return.
    fn smc(&self, function: u32, arguments: [u64; 3]) -> [u64; 4];

    /// CPU_SUSPEND with the caller's context kept: returns when the call returns, and likewise when
    /// the CPU comes back through the entry point after a power-down. The value is PSCI's return
    /// code.
    fn suspend(&self, power_state: u32) -> i64;

    /// CPU_ON with an entry point that runs [`crate::secondary`] of the running case. The value is
    /// PSCI's return code.
    fn cpu_on(&self, cpu: usize) -> i64;

    /// Reads a shared word.
    fn load(&self, word: Word) -> u64;

    /// Writes a shared word.
    fn store(&self, word: Word, value: u64);

    /// Adds to a shared word and returns the value before.
    fn fetch_add(&self, word: Word, value: u64) -> u64;

    /// Waits until another CPU sends an event, or returns at once (WFE).
    fn wait_event(&self);

    /// Waits until a word is `least` or more, which whoever changes it makes known by an event.
    fn wait_until(&self, word: Word, least: u64) {
        while self.load(word) < least {
            self.wait_event();
        }
    }

    /// Wakes all CPUs that wait for an event (SEV).
    fn send_event(&self);

    /// Lets a little time pass between two calls of a polling loop, and `moments` times as much.
    fn relax(&self, moments: u32);

    /// Prints a line on the console that all CPUs share, where the framework is built to say what
    /// it does. Returns when the line is out.
    fn say_what_comes(&self) {}

    /// Programs the one shared timer to interrupt this CPU.
    fn start_timer(&self, microseconds: u64);

    /// The CPU that the timer's owner wakes at a place, counted from 0; itself is among them.
    fn woken_at(&self, place: usize) -> usize {
        place
    }

    /// Sends a software interrupt to another CPU.
    fn interrupt(&self, cpu: usize);

    /// Takes the interrupt that ended a suspend; true if it was the timer's.
    fn take_interrupt(&self) -> bool;

    /// Hands over the stamps of the calling CPU.
    fn publish(&self, stamps: Stamps);
}
