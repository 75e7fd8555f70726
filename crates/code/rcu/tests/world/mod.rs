//! A kernel whose CPUs are processes of the engine: at each access to a shared word, a chooser says which CPU goes on.
//!
//! Time is counted in jiffies. A clock moves on when every CPU has done its work of the jiffy, so a chooser may let a CPU stand still in the middle
//! of anything, but not for ever. Tasks wander between CPUs, read, are preempted while they read, and replace objects; threads of RCU are
//! stepped by whichever CPU comes by.

mod cpu;
mod oracle;
mod platform;

use engine::{Chooser, PctChooser, RandomChooser, Runner, Scheduler, SplitMix64};
use oracle::Oracle;
pub use platform::World;
use rcu::{Fault, Form, Rcu, Settings};

/// What is tried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Reference,
    Offload2013,
    EnforcedIdle,
    Both,
    OffloadModern,
    Lazy,
    Hotplug2013,
    HotplugModern,
}

impl Mode {
    pub const ALL: [Self; 8] = [
        Self::Reference,
        Self::Offload2013,
        Self::EnforcedIdle,
        Self::Both,
        Self::OffloadModern,
        Self::Lazy,
        Self::Hotplug2013,
        Self::HotplugModern,
    ];

    fn hotplug(self) -> bool {
        matches!(self, Self::Hotplug2013 | Self::HotplugModern)
    }

    fn settings(self, random: &mut SplitMix64) -> Settings {
        let form = match self {
            Self::Reference | Self::Offload2013 | Self::EnforcedIdle | Self::Both | Self::Hotplug2013 => Form::Y2013,
            Self::OffloadModern | Self::Lazy | Self::HotplugModern => Form::Modern,
        };
        let cpus = 2 + random.below(4) as usize;
        let mut settings = Settings::new(cpus, 24, form);
        // Small trees have all the levels of large ones.
        settings.leaf_fanout = [1, 2, 16][random.below(3) as usize];
        settings.interior_fanout = 2;
        settings.preemptible = random.below(2) == 0;
        if random.below(2) == 0 {
            (settings.blimit, settings.qhimark, settings.qlowmark) = (2, 6, 2);
        }
        if random.below(2) == 0 {
            settings.direct_per_jiffy = 2;
        }
        match self {
            Self::Reference => {}
            Self::Offload2013 => settings.offloaded = (1..cpus).collect(),
            Self::EnforcedIdle => settings.enforced_idle = (0..cpus).collect(),
            Self::Both | Self::Hotplug2013 => {
                settings.offloaded = (1..cpus).filter(|cpu| cpu % 2 == 1).collect();
                settings.enforced_idle = (0..cpus).collect();
            }
            Self::OffloadModern => settings.offloaded = (0..cpus).collect(),
            Self::Lazy | Self::HotplugModern => {
                settings.offloaded = (0..cpus).filter(|cpu| cpu % 2 == 0).collect();
                settings.lazy = true;
            }
        }
        settings
    }
}

/// How a run ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// What went wrong.
    pub failure: Option<String>,
    pub callbacks: u64,
    pub grace_periods: u64,
    /// Readers that were preempted inside a read section.
    pub preempted: u64,
    pub operations: u64,
}

/// One run. An odd seed is explored by equal chances, an even one by PCT.
pub fn run(mode: Mode, fault: Option<Fault>, seed: u64) -> Outcome {
    let mut random = SplitMix64::fork(seed, 1 << 40);
    let settings = Settings { fault, ..mode.settings(&mut random) };
    let cpus = settings.cpus;
    let world = World::new(cpus, seed, &mut random, mode.hotplug());
    let rcu = Rcu::new(settings).expect("settings that can be had");
    world.make_threads(&rcu.threads());
    let main = |process: usize, _entry: u32| {
        if process == cpus { world.clock() } else { world.cpu(&rcu, process) }
    };
    if seed % 2 == 1 {
        explore(&world, &main, RandomChooser::new(seed));
    } else {
        explore(&world, &main, PctChooser::new(seed, 2 + random.below(12) as usize, 4_000));
    }
    let oracle: &Oracle = &world.oracle;
    Outcome {
        failure: oracle.failure(),
        callbacks: oracle.callbacks(),
        grace_periods: rcu.grace_period_counters().grace_periods,
        preempted: world.preempted.get(),
        operations: world.scheduler.operations(),
    }
}

fn explore<'w>(world: &'w World, main: &'w impl Fn(usize, u32), chooser: impl Chooser + 'w) {
    let scheduler: &Scheduler = &world.scheduler;
    let mut runner = Runner::with_chooser(scheduler, main, chooser);
    (0..=world.cpus()).for_each(|process| runner.start(process, 0));
    if let Err(deadlock) = runner.run() {
        // After a failure the others are left where they stand.
        world.oracle.fail(|| deadlock.to_string());
    }
}
