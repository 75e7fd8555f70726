//! The memory that the library works in. The caller provides it: arrays in firmware ([`Storage`]),
//! vectors in a simulator ([`StorageRef`] over slices).

use crate::call::{Endianness, EntryPoint};
use crate::cell::Scalar;
use crate::cpu_index::CpuIndex;
use crate::lock::{BakeryWord, Ticket};
use crate::platform::Platform;
use crate::shared::{Coherent, MaintainedWord, StampCell};
use crate::state::{CPU_LEVEL, LEVELS, Level, LocalState};
use crate::statistics::Statistics;
use crate::topology::{ConfigError, Topology};
use crate::transition::PowerUp;
use core::array;

/// The state of a CPU as CPU_ON, CPU_OFF and AFFINITY_INFO know it; the numbers are those
/// AFFINITY_INFO returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Affinity {
    On = 0,
    Off = 1,
    OnPending = 2,
}

impl Scalar for Affinity {
    #[inline(always)]
    fn to_word(self) -> u64 {
        self as u64
    }
    #[inline(always)]
    fn from_word(word: u64) -> Self {
        match word {
            0 => Self::On,
            2 => Self::OnPending,
            _ => Self::Off,
        }
    }
}

/// Call by which a CPU goes down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sleep {
    /// CPU_OFF, SYSTEM_SUSPEND, CPU_DEFAULT_SUSPEND, or it was never on.
    Other = 0,
    /// CPU_SUSPEND, which PSCI_SET_SUSPEND_MODE asks for.
    Suspend = 1,
}

/// The record that a CPU leaves for its own wake-up: its state, and the highest level that it may
/// find powered down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WakeRecord {
    pub state: LocalState,
    /// Highest level whose locks the wake-up takes. Nobody takes a higher level down without them.
    pub locks_to: Level,
    pub why: Sleep,
}

impl WakeRecord {
    pub const RUNNING: Self = Self {
        state: LocalState::RUN,
        locks_to: CPU_LEVEL,
        why: Sleep::Other,
    };
}

impl Scalar for WakeRecord {
    #[inline(always)]
    fn to_word(self) -> u64 {
        (self.why as u64) << 16 | u64::from(self.locks_to) << 8 | self.state.to_word()
    }
    #[inline(always)]
    fn from_word(word: u64) -> Self {
        let why = if word >> 16 & 1 != 0 {
            Sleep::Suspend
        } else {
            Sleep::Other
        };
        Self {
            state: LocalState::from_word(word & 0xff),
            locks_to: (word >> 8) as Level,
            why,
        }
    }
}

/// Entry point of a CPU: address and argument, touched with caches on only.
pub(crate) struct EntrySlot<P: Platform> {
    pub pc: Coherent<u64, P>,
    pub context_id: Coherent<u64, P>,
    /// Kept only where [`Platform::caller_endianness`] tells.
    pub endianness: Coherent<bool, P>,
}

impl<P: Platform> EntrySlot<P> {
    fn new() -> Self {
        Self {
            pc: Coherent::new(0),
            context_id: Coherent::new(0),
            endianness: Coherent::new(false),
        }
    }

    #[inline(always)]
    pub fn store(&self, platform: &P, entry: (u64, u64)) {
        self.pc.store(platform, entry.0);
        self.context_id.store(platform, entry.1);
        if let Some(endianness) = platform.caller_endianness() {
            self.endianness
                .store(platform, endianness == Endianness::Big);
        }
    }

    /// Reads the entry point that the CPU takes after `after`.
    pub fn load(&self, platform: &P, after: PowerUp) -> EntryPoint {
        let big = platform.caller_endianness().is_some() && self.endianness.load(platform);
        EntryPoint {
            pc: self.pc.load(platform),
            context_id: self.context_id.load(platform),
            after,
            endianness: if big {
                Endianness::Big
            } else {
                Endianness::Little
            },
        }
    }
}

/// Number of time stamps that PMF serves for each CPU.
pub(crate) const STAMPS: usize = 6;

/// All that the library keeps for one CPU.
pub struct CpuRecord<P: Platform> {
    // Set once by `Psci::new`.
    pub(crate) mpidr: u64,
    pub(crate) ancestors: [u16; LEVELS - 1],

    /// Guards `affinity` and `on_entry` between callers of CPU_ON.
    pub(crate) lock: Ticket<P>,
    pub(crate) affinity: MaintainedWord<Affinity, P>,
    pub(crate) wake_record: MaintainedWord<WakeRecord, P>,
    /// The address to which CPU_ON sends this CPU. Written by other CPUs, and only while this one
    /// is off.
    pub(crate) on_entry: EntrySlot<P>,
    /// Entry point of a resume from suspend. Only this CPU writes it: a CPU_ON that is rejected
    /// cannot reach it.
    pub(crate) resume_entry: EntrySlot<P>,
    /// The states that the CPU asks of its ancestors, level 1 first. Under the ancestor's lock.
    pub(crate) requests: [Coherent<LocalState, P>; LEVELS - 1],
    pub(crate) stamps: [StampCell<P>; STAMPS],
    pub(crate) statistics: Statistics<P>,
}

impl<P: Platform> CpuRecord<P> {
    /// The record of a CPU that is off.
    pub fn new(platform: &P) -> Self {
        let off = platform.off_state();
        Self {
            mpidr: 0,
            ancestors: [0; LEVELS - 1],
            lock: Ticket::default(),
            affinity: MaintainedWord::new(Affinity::Off),
            // Nobody knows the tree yet; a level above its top locks nothing.
            wake_record: MaintainedWord::new(WakeRecord {
                state: off.at(CPU_LEVEL),
                locks_to: LEVELS as Level - 1,
                why: Sleep::Other,
            }),
            on_entry: EntrySlot::new(),
            resume_entry: EntrySlot::new(),
            requests: array::from_fn(|i| Coherent::new(off.at(i as Level + 1))),
            stamps: array::from_fn(|_| StampCell::new()),
            statistics: Statistics::new(),
        }
    }

    /// The state that the CPU asks of its ancestor at `level`.
    #[inline(always)]
    pub(crate) fn request(&self, level: Level) -> Option<&Coherent<LocalState, P>> {
        self.requests.get(usize::from(level).wrapping_sub(1))
    }
}

/// All that the library keeps for one power domain above the CPUs.
pub struct DomainRecord<P: Platform> {
    // Set once by `Psci::new`.
    pub(crate) first: CpuIndex,
    pub(crate) cpus: u16,

    pub(crate) lock: Ticket<P>,
    /// The domain's state, under its lock. A CPU that wakes reads it before its caches are on.
    pub(crate) state: MaintainedWord<LocalState, P>,
    pub(crate) statistics: Statistics<P>,
}

impl<P: Platform> DomainRecord<P> {
    /// The record of a domain at `level` in which all CPUs are off.
    pub fn new(platform: &P, level: Level) -> Self {
        Self {
            first: CpuIndex(0),
            cpus: 0,
            lock: Ticket::default(),
            state: MaintainedWord::new(platform.off_state().at(level)),
            statistics: Statistics::new(),
        }
    }
}

/// The record that the library keeps for the whole system.
pub struct SystemRecord<P: Platform> {
    /// Suspend mode: 0 platform-coordinated, 1 OS-initiated. Written under the lock of the domain
    /// at the top.
    pub(crate) mode: Coherent<u8, P>,
    /// True if CPU_SUSPEND was called since the mode last changed; kept for
    /// [`SuspendModeChange::BeforeAnySuspend`].
    ///
    /// [`SuspendModeChange::BeforeAnySuspend`]: crate::SuspendModeChange::BeforeAnySuspend
    pub(crate) suspended: Coherent<bool, P>,
}

impl<P: Platform> Default for SystemRecord<P> {
    /// Platform-coordinated mode, nobody has suspended yet.
    fn default() -> Self {
        Self {
            mode: Coherent::new(0),
            suspended: Coherent::new(false),
        }
    }
}

/// Borrowed storage, as [`Psci::new`](crate::Psci::new) takes it.
pub struct StorageRef<'a, P: Platform> {
    /// Records of the CPUs, one for each.
    pub cpus: &'a mut [CpuRecord<P>],
    /// Records of the domains, one for each, made for the domain's level.
    pub domains: &'a mut [DomainRecord<P>],
    /// Words of the bakery locks, at least CPUs x the tree's top level: each CPU has a word in the
    /// bakery of each of its ancestors.
    pub words: &'a [BakeryWord<P>],
    /// Record of the whole system.
    pub system: &'a SystemRecord<P>,
}

/// Storage of a fixed size, for firmware.
pub struct Storage<P: Platform, const CPUS: usize, const DOMAINS: usize> {
    cpus: [CpuRecord<P>; CPUS],
    domains: [DomainRecord<P>; DOMAINS],
    words: [[BakeryWord<P>; CPUS]; LEVELS - 1],
    system: SystemRecord<P>,
}

impl<P: Platform, const CPUS: usize, const DOMAINS: usize> Storage<P, CPUS, DOMAINS> {
    /// Storage for `topology`, with all CPUs off.
    pub fn new(platform: &P, topology: &Topology<'_>) -> Self {
        Self {
            cpus: array::from_fn(|_| CpuRecord::new(platform)),
            domains: array::from_fn(|i| {
                DomainRecord::new(
                    platform,
                    topology.domains.get(i).map_or(CPU_LEVEL, |desc| desc.level),
                )
            }),
            words: array::from_fn(|_| array::from_fn(|_| BakeryWord::default())),
            system: SystemRecord::default(),
        }
    }

    /// The storage as [`crate::Psci::new`] takes it.
    pub fn borrow(&mut self) -> StorageRef<'_, P> {
        StorageRef {
            cpus: &mut self.cpus,
            domains: &mut self.domains,
            words: self.words.as_flattened(),
            system: &self.system,
        }
    }
}

impl<P: Platform> StorageRef<'_, P> {
    /// Sets the records up for a topology that has been checked.
    pub(crate) fn initialize(&mut self, topology: &Topology<'_>) -> Result<(), ConfigError> {
        let words = topology.cpus.len() * usize::from(topology.top());
        if self.cpus.len() != topology.cpus.len()
            || self.domains.len() != topology.domains.len()
            || self.words.len() < words
        {
            return Err(ConfigError::Storage);
        }
        for domain in self.domains.iter_mut() {
            domain.cpus = 0;
        }
        for ((index, desc), record) in (0u16..).zip(topology.cpus).zip(self.cpus.iter_mut()) {
            record.mpidr = desc.mpidr;
            for (slot, id) in record.ancestors.iter_mut().zip(topology.ancestors(desc)) {
                *slot = id;
                let Some(domain) = self.domains.get_mut(usize::from(id)) else {
                    return Err(ConfigError::Storage);
                };
                if domain.cpus == 0 {
                    domain.first = CpuIndex(index);
                } else if domain.first.0 + domain.cpus != index {
                    return Err(ConfigError::NotConsecutive { domain: id });
                }
                domain.cpus += 1;
            }
        }
        match (0u16..)
            .zip(self.domains.iter())
            .find(|(_, domain)| domain.cpus == 0)
        {
            Some((domain, _)) => Err(ConfigError::Empty { domain }),
            None => Ok(()),
        }
    }
}
