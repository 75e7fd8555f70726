//! The six cases.

use crate::{Depth, Failure, NormalWorld, STAMPS, Stamps, Word};
use smc::SMC64;

/// PMF: get a time stamp, 64-bit.
const PMF_GET_TIMESTAMP: u32 = smc::PMF_GET_TIMESTAMP | SMC64;
/// PMF: id of the first runtime instrumentation stamp (implementer 0x41, service 1).
const PMF_RT_INSTR: u64 = 0x41 << 24 | 1 << 10;
/// PMF: look past the caches. The firmware stores stamps with its caches off, and a read before may
/// have left an old copy.
const PMF_MAINTAIN: u64 = 1;

/// AFFINITY_INFO's answer for a CPU that is off.
const AFFINITY_OFF: u64 = 1;

/// The time that a suspended CPU sleeps before the shared timer fires, in microseconds: 15 ms as in
/// the framework, and a millisecond a CPU where there are more CPUs than can go down in that time.
fn sleep_us(cpus: usize) -> u64 {
    (cpus as u64 * 1_000).max(15_000)
}

/// The moments for which the lead of `cpu-off` waits before it goes down itself, so that the power
/// controller has finished with the CPU before: a millisecond at the 200 ns that Juno's platform
/// file assumes for one. No document describes such a wait. It is inferred from the published cell,
/// which has no wait for the controller, while the lead's cells of the suspend tables have one.
const SETTLE: u32 = 5_000;

/// A simulation of more CPUs than these leaves out details that no published figure shows; people
/// have seen figures of as many.
pub const MANY_CPUS: usize = 64;

/// The number of moments between two polls of a CPU that turns itself off. A call takes longer the
/// more CPUs there are, so polls are further apart with many of them.
fn moments(cpus: usize) -> u32 {
    (cpus / MANY_CPUS).max(1) as u32
}

/// The action of each CPU at its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// CPU_SUSPEND to a depth.
    Suspend(Depth),
    /// CPU_OFF on the non-lead CPUs, CPU_SUSPEND to the deepest state on the lead.
    Off,
    /// PSCI_VERSION.
    Version,
}

/// The order in which CPUs make a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// All CPUs call at once, after a barrier.
    Parallel,
    /// Each CPU calls after the one before has finished, the lead last.
    Serial,
}

impl Mode {
    /// The mode's name in recordings.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Parallel => "parallel",
            Self::Serial => "serial",
        }
    }
}

/// A measured procedure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Case {
    /// Name in recordings.
    pub name: &'static str,
    /// Together or one by one.
    pub mode: Mode,
    /// The call.
    pub action: Action,
}

/// The six cases of the documents, in their order.
pub const CASES: [Case; 6] = [
    Case {
        name: "suspend-deepest",
        mode: Mode::Parallel,
        action: Action::Suspend(Depth::Deepest),
    },
    Case {
        name: "suspend-level0",
        mode: Mode::Parallel,
        action: Action::Suspend(Depth::Level0),
    },
    Case {
        name: "suspend-deepest",
        mode: Mode::Serial,
        action: Action::Suspend(Depth::Deepest),
    },
    Case {
        name: "suspend-level0",
        mode: Mode::Serial,
        action: Action::Suspend(Depth::Level0),
    },
    Case {
        name: "cpu-off",
        mode: Mode::Serial,
        action: Action::Off,
    },
    Case {
        name: "psci-version",
        mode: Mode::Parallel,
        action: Action::Version,
    },
];

/// Runs a case from its lead CPU; the others must be off. On return they are off again.
///
/// # Errors
/// A call that the firmware refuses, or stamps out of order.
pub fn lead(world: &impl NormalWorld, case: Case) -> Result<(), Failure> {
    world.store(Word::Arrived, 0);
    world.store(Word::TimerClaims, 0);
    world.store(Word::Phase, 0);
    world.store(Word::Leaving, 0);
    match (case.mode, case.action) {
        (Mode::Parallel, _) => {
            for cpu in others(world) {
                start(world, cpu)?;
            }
            act(world, case)?;
            wait_until_off(world, world.cpu_count() as u64 - 1, others(world));
        }
        (Mode::Serial, Action::Off) => {
            one_by_one(world)?;
            world.relax(SETTLE);
            act(world, case)?;
            world.store(Word::Phase, 1);
            one_by_one(world)?;
        }
        (Mode::Serial, _) => {
            one_by_one(world)?;
            world.store(Word::TimerClaims, 0);
            act(world, case)?;
        }
    }
    Ok(())
}

/// The part of a CPU that [`lead`] turned on; it ends in CPU_OFF.
///
/// # Errors
/// As [`lead`]; CPU_OFF returned.
pub fn secondary(world: &impl NormalWorld, case: Case) -> Result<(), Failure> {
    match case.action {
        Action::Off if world.load(Word::Phase) == 0 => {}
        Action::Off => publish(world, true)?,
        _ => act(world, case)?,
    }
    world.fetch_add(Word::Leaving, 1);
    world.send_event();
    let code = world.smc(smc::CPU_OFF, [0; 3])[0] as i64;
    Err(Failure::Call {
        function: smc::CPU_OFF,
        code,
    })
}

/// All CPUs but the caller, in their order.
fn others(world: &impl NormalWorld) -> impl Iterator<Item = usize> {
    let lead = world.this_cpu();
    (0..world.cpu_count()).filter(move |&cpu| cpu != lead)
}

fn start(world: &impl NormalWorld, cpu: usize) -> Result<(), Failure> {
    succeeded(smc::CPU_ON | SMC64, world.cpu_on(cpu))
}

/// Starts each other CPU when the one before it is off.
fn one_by_one(world: &impl NormalWorld) -> Result<(), Failure> {
    world.store(Word::Leaving, 0);
    for (before, cpu) in others(world).enumerate() {
        world.store(Word::TimerClaims, 0);
        start(world, cpu)?;
        wait_until_off(world, before as u64 + 1, core::iter::once(cpu));
    }
    Ok(())
}

/// Waits until `leaving` CPUs are about to turn themselves off and then until `cpus` are off. The
/// framework calls AFFINITY_INFO all the time; those calls that cannot but find the CPU on are left
/// out here.
fn wait_until_off(world: &impl NormalWorld, leaving: u64, cpus: impl Iterator<Item = usize>) {
    world.wait_until(Word::Leaving, leaving);
    for cpu in cpus {
        while world.smc(smc::AFFINITY_INFO | SMC64, [world.mpidr(cpu), 0, 0])[0] != AFFINITY_OFF {
            world.relax(moments(world.cpu_count()));
        }
    }
}

/// A CPU's turn: the barrier where CPUs act together, the message of a debug build, the call, the
/// stamps.
fn act(world: &impl NormalWorld, case: Case) -> Result<(), Failure> {
    if case.mode == Mode::Parallel {
        world.fetch_add(Word::Arrived, 1);
        world.send_event();
        world.wait_until(Word::Arrived, world.cpu_count() as u64);
    }
    world.say_what_comes();
    match case.action {
        Action::Suspend(depth) => suspend(world, depth, case.mode)?,
        Action::Off => suspend(world, Depth::Deepest, Mode::Serial)?,
        Action::Version => {
            world.smc(smc::PSCI_VERSION, [0; 3]);
        }
    }
    publish(world, !matches!(case.action, Action::Version))
}

/// The shared timer belongs to the first who asks for it: its deadline is the earliest.
fn suspend(world: &impl NormalWorld, depth: Depth, mode: Mode) -> Result<(), Failure> {
    if world.fetch_add(Word::TimerClaims, 1) == 0 {
        world.start_timer(sleep_us(world.cpu_count()));
    }
    succeeded(
        smc::CPU_SUSPEND | SMC64,
        world.suspend(world.power_state(depth)),
    )?;
    let owns_the_timer = world.take_interrupt();
    if owns_the_timer && mode == Mode::Parallel {
        let this = world.this_cpu();
        for cpu in (0..world.cpu_count())
            .map(|place| world.woken_at(place))
            .filter(|&cpu| cpu != this)
        {
            world.interrupt(cpu);
        }
    }
    Ok(())
}

/// Reads the calling CPU's stamps through the PMF calls and hands them over.
fn publish(world: &impl NormalWorld, power_down: bool) -> Result<(), Failure> {
    let cpu = world.this_cpu();
    let mut stamps: Stamps = [0; STAMPS];
    for (id, stamp) in stamps.iter_mut().enumerate() {
        let result = world.smc(
            PMF_GET_TIMESTAMP,
            [PMF_RT_INSTR | id as u64, world.mpidr(cpu), PMF_MAINTAIN],
        );
        succeeded(PMF_GET_TIMESTAMP, result[0] as i64)?;
        *stamp = result[1];
    }
    let [enter, exit, low_power, awake, flush, flushed] = stamps;
    if power_down && low_power == 0 {
        return Err(Failure::LeftEarly { cpu });
    }
    let in_order = if power_down {
        // Firmware on a machine that stays coherent flushes nothing and leaves both flush stamps at
        // 0.
        let flushes = flush != 0 || flushed != 0;
        let flush_in_order =
            !flushes || (enter <= flush && flush <= flushed && flushed <= low_power);
        flush_in_order && enter <= low_power && low_power <= awake && awake <= exit
    } else {
        enter <= exit
    };
    if !in_order {
        return Err(Failure::StampOrder { cpu, stamps });
    }
    world.publish(stamps);
    Ok(())
}

fn succeeded(function: u32, code: i64) -> Result<(), Failure> {
    if code == 0 {
        Ok(())
    } else {
        Err(Failure::Call { function, code })
    }
}
