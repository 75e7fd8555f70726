//! The talk's configurations of RCU.

/// A configuration of RCU.
#[derive(Clone, Copy)]
pub enum Configuration {
    /// Callbacks are invoked where they were queued, and an idle CPU that has some keeps its tick.
    Reference,
    /// Threads on LITTLE CPUs invoke the callbacks of all CPUs but 0.
    Offload,
    /// A CPU with callbacks stops its tick and wakes up at multiples of four jiffies.
    EnforcedIdle,
    /// Offloaded where that is possible, enforced idle elsewhere.
    Both,
}

impl Configuration {
    /// All of them.
    pub const ALL: [Self; 4] = [
        Self::Reference,
        Self::Offload,
        Self::EnforcedIdle,
        Self::Both,
    ];

    /// Name of the configuration in recordings.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reference => "reference",
            Self::Offload => "rcu-offload",
            Self::EnforcedIdle => "enforced-idle",
            Self::Both => "both",
        }
    }

    /// RCU as of 2013, when CPU 0 could not be offloaded.
    pub fn settings(self, cpus: usize, hz: u32) -> rcu::Settings {
        let mut settings = rcu::Settings::new(cpus, u64::from(hz), rcu::Form::Y2013);
        if matches!(self, Self::Offload | Self::Both) {
            settings.offloaded = (1..cpus).collect();
        }
        settings.enforced_idle = match self {
            Self::EnforcedIdle => (0..cpus).collect(),
            Self::Both => vec![0],
            Self::Reference | Self::Offload => Vec::new(),
        };
        settings
    }
}
