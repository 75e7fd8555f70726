//! PSCI for EL3 firmware (work in progress: documentation and tests follow).
#![no_std]
#![forbid(unsafe_code)]

mod affinity;
mod calls;
mod error;
mod features;
pub mod lock;
mod on_off;
pub mod platform;
mod pmf;
pub mod points;
mod power_down;
mod power_state;
pub mod shared;
mod stats;
mod storage;
mod suspend;
mod suspend_mode;
mod system;
mod topology;
mod tree;
mod warm_boot;

pub use calls::{Call, EntryPoint, Outcome, PSCI_VERSION, SMCCC_VERSION, id};
pub use error::Error;
pub use platform::*;
pub use power_state::PowerState;
pub use storage::{CpuRecord, DomainRecord, Storage, StorageRef, SystemRecord};
pub use topology::{ConfigError, CpuDesc, DomainDesc, MAX_LEVEL, Topology};

use lock::BakeryWord;
use storage::Affinity;

/// The PSCI implementation of one machine, shared by all its CPUs.
pub struct Psci<'a, P: Platform> {
    platform: &'a P,
    cpus: &'a [CpuRecord<P>],
    domains: &'a [DomainRecord<P>],
    words: &'a [BakeryWord<P>],
    system: &'a SystemRecord<P>,
    top: Level,
}

impl<'a, P: Platform> Psci<'a, P> {
    /// Checks `topology` and sets up `storage` for it. Performs no operation of the platform: it may run before any CPU
    /// does. All CPUs are off until [`Psci::boot`].
    ///
    /// # Errors
    /// What is wrong with the topology, the storage's size or the platform's settings.
    pub fn new(platform: &'a P, topology: &Topology<'_>, mut storage: StorageRef<'a, P>) -> Result<Self, ConfigError> {
        topology.check(platform)?;
        storage.adopt(topology)?;
        let StorageRef { cpus, domains, words, system } = storage;
        Ok(Self { platform, cpus, domains, words, system, top: topology.top() })
    }

    /// Marks the calling CPU, the one of the cold boot, and its ancestors as running, with its caches on and before
    /// any other CPU runs.
    ///
    /// The shared words are brought to memory here. What is set once and only read afterwards (this value, the plain
    /// fields of the records) the firmware cleans to memory itself, as all of its data, before another CPU runs with its
    /// caches off.
    pub fn boot(&self) {
        // The cells were made with caches on; others will read and write them with theirs off.
        for record in self.cpus {
            record.affinity.publish(self.platform);
            record.down.publish(self.platform);
            for stamp in &record.stamps {
                stamp.evict(self.platform);
            }
        }
        for domain in self.domains {
            domain.state.publish(self.platform);
        }
        for word in self.words {
            word.publish(self.platform);
        }
        let Some(me) = self.caller() else { return };
        let down = me.record.down.load(self.platform);
        let found = self.found(me, down);
        self.set_running(me, &found, self.top, None);
        me.record.affinity.store(self.platform, Affinity::On);
    }

    /// The machine.
    pub fn platform(&self) -> &'a P {
        self.platform
    }

    /// The highest power level of the tree.
    pub fn top_level(&self) -> Level {
        self.top
    }
}
