//! The library on one machine: its state, and how it starts.

use crate::lock::BakeryWord;
use crate::platform::Platform;
use crate::state::Level;
use crate::storage::{Affinity, CpuRecord, DomainRecord, StorageRef, SystemRecord};
use crate::topology::{ConfigError, Topology};

/// The PSCI implementation of one machine, shared by all its CPUs.
pub struct Psci<'a, P: Platform> {
    pub(crate) platform: &'a P,
    pub(crate) cpus: &'a [CpuRecord<P>],
    pub(crate) domains: &'a [DomainRecord<P>],
    pub(crate) words: &'a [BakeryWord<P>],
    pub(crate) system: &'a SystemRecord<P>,
    pub(crate) top: Level,
}

impl<'a, P: Platform> Psci<'a, P> {
    /// Checks `topology` and sets up `storage` for it. Performs no operation of the platform: it
    /// may run before any CPU does. All CPUs are off until [`Psci::boot`].
    ///
    /// # Errors
    /// The topology, the storage's size or a setting of the platform is wrong.
    pub fn new(
        platform: &'a P,
        topology: &Topology<'_>,
        mut storage: StorageRef<'a, P>,
    ) -> Result<Self, ConfigError> {
        topology.check(platform)?;
        storage.initialize(topology)?;
        let StorageRef {
            cpus,
            domains,
            words,
            system,
        } = storage;
        Ok(Self {
            platform,
            cpus,
            domains,
            words,
            system,
            top: topology.top(),
        })
    }

    /// Marks the calling CPU, the one of the cold boot, and its ancestors as running, with its
    /// caches on and before any other CPU runs.
    ///
    /// The shared words are brought to memory here. What is set once and only read afterwards (this
    /// value, the plain fields of the records) the firmware cleans to memory itself, as all of its
    /// data, before another CPU runs with its caches off.
    pub fn boot(&self) {
        // The cells were made with caches on; others will read and write them with theirs off.
        for record in self.cpus {
            record.affinity.publish(self.platform);
            record.wake_record.publish(self.platform);
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
        let down = me.record.wake_record.load(self.platform);
        let wake_state = self.wake_state(me, down);
        self.set_running(me, &wake_state, self.top, None);
        me.record.affinity.store(self.platform, Affinity::On);
    }

    /// The platform that the library runs on.
    pub fn platform(&self) -> &'a P {
        self.platform
    }

    /// The highest power level of the tree.
    pub fn top_level(&self) -> Level {
        self.top
    }
}
