//! The RCU library with its readers: its second compilation, whose branches are
//! counted, and which does the same as the first while no fault is on.

use super::scenario::Mode::*;
use super::scenario::{KernelScenario, Mode, stall_s};
use interleavings::subject::Counter;
use rcu_faults::{Form, Platform, Rcu, Reader, Settings};

/// The library with its readers. Readers have numbers: the tasks, then one for each CPU that stands
/// for its idle task and for threads.
pub(crate) struct Library<K: Platform> {
    pub(crate) rcu: Rcu<K>,
    pub(crate) readers: Vec<Reader>,
}

impl<K: Platform> Library<K> {
    /// RCU as the mode and the scenario have it, with the given number of readers.
    pub(crate) fn new(mode: Mode, scenario: &KernelScenario, readers: usize) -> Self {
        let cpus = scenario.cpus.len();
        let form = match mode {
            OffloadModern | Lazy | HotplugModern => Form::Modern,
            _ => Form::Y2013,
        };
        let mut settings = Settings::new(cpus, HZ, form);
        settings.leaf_fanout = usize::from(scenario.leaf_fanout.max(1));
        // Small trees have all the levels of large ones.
        settings.interior_fanout = 2;
        settings.preemptible = scenario.preemptible;
        settings.stall_s = stall_s(scenario);
        if scenario.crowded {
            (settings.blimit, settings.qhimark, settings.qlowmark) = (2, 6, 2);
            settings.direct_per_jiffy = 2;
        }
        match mode {
            Reference => {}
            Offload2013 => settings.offloaded = (1..cpus).collect(),
            EnforcedIdle => settings.enforced_idle = (0..cpus).collect(),
            Both | Hotplug2013 => {
                settings.offloaded = (1..cpus).filter(|cpu| cpu % 2 == 1).collect();
                settings.enforced_idle = (0..cpus).collect();
            }
            OffloadModern => settings.offloaded = (0..cpus).collect(),
            Lazy | HotplugModern => {
                settings.offloaded = (0..cpus).filter(|cpu| cpu % 2 == 0).collect();
                settings.lazy = true;
            }
        }
        let rcu = Rcu::new(settings)
            .unwrap_or_else(|error| unreachable!("the settings are sound: {error}"));
        Self {
            rcu,
            readers: (0..readers as u32).map(Reader::new).collect(),
        }
    }

    pub(crate) fn read_lock(&self, reader: usize) {
        self.rcu.read_lock(&self.readers[reader]);
    }

    pub(crate) fn read_unlock(&self, kernel: &K, reader: usize) {
        self.rcu.read_unlock(kernel, &self.readers[reader]);
    }

    pub(crate) fn context_switch(&self, kernel: &K, from: usize) {
        self.rcu.context_switch(kernel, &self.readers[from]);
    }

    pub(crate) fn counts(&self) -> Counts {
        let of_periods = self.rcu.grace_period_counters();
        let mut counts = Counts::default();
        counts[Count::Ended as usize] = of_periods.grace_periods;
        counts[Count::Looks as usize] = of_periods.force_quiescent_states;
        for cpu in 0..self.rcu.settings().cpus {
            let counters = self.rcu.counters(cpu);
            let of_cpu = [
                counters.queued,
                counters.invoked_softirq,
                counters.invoked_thread,
                self.rcu.callbacks(cpu) as u64,
                counters.queued_lazy,
                counters.queued_bypass,
                counters.adopted,
                0,
                0,
                counters.quiescent_reported,
                counters.quiescent_forced,
                counters.resched,
                counters.grace_period_wakes,
                counters.offload_wakes,
                counters.deferred_wakes,
                counters.softirqs_raised,
                counters.core_runs,
            ];
            counts
                .iter_mut()
                .zip(of_cpu)
                .for_each(|(sum, own)| *sum += own);
        }
        counts
    }
}

interleavings::worded! {
    /// The counters that the library keeps, each as what it counts and what of that.
    #[derive(Clone, Copy, PartialEq)]
    enum Count;
    /// Both, behind each other.
    fn words;

    Queued = "callbacks, queued",
    BySoftirq = "callbacks, invoked by the softirq",
    ByThread = "callbacks, invoked by a thread",
    Left = "callbacks, left",
    Lazy = "callbacks, queued at leisure",
    Bypass = "callbacks, queued in a bypass list",
    Adopted = "callbacks, taken over from a CPU that is off",
    Ended = "grace periods, ended",
    Looks = "grace periods, with a look at who holds them up",
    Reported = "quiescent states, reported by the CPU",
    Forced = "quiescent states, reported for an idle CPU",
    Interrupts = "quiescent states, asked for by an interrupt",
    GracePeriodWakes = "wake-ups, of the grace-period thread",
    OffloadWakes = "wake-ups, of offload threads",
    DeferredWakes = "wake-ups, put off",
    Softirqs = "softirqs, raised",
    SoftirqRuns = "softirqs, run",
}

/// A number for each counter.
pub type Counts = [u64; Count::ALL.len()];

/// All counters.
pub fn counted() -> Vec<Counter> {
    let counter = |count: Count| {
        let (of, what) = count.words().split_once(", ").unwrap_or_default();
        let group = "what RCU did";
        Counter { group, of, what }
    };
    Count::ALL.map(counter).to_vec()
}

/// Jiffies in a second.
pub const HZ: u64 = 24;
