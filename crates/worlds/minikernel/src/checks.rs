//! True if a workload and settings make sense, and what would be right.

use crate::hardware::Hardware;
use crate::random::Draw;
use crate::settings::Settings;
use crate::task::{Action, DeviceSpec, Phase, Policy, TaskSpec, Workload};
use soc::MAX_DEVICES;

/// The shortest gap between a device's interrupts, on average, in ns: with a shorter one there
/// would be time for nothing else.
const SHORTEST_GAP: u64 = 2_000;
/// The longest a run may be, in ns: ten hours.
const LONGEST: u64 = 36_000_000_000_000;

/// Checks all of it.
pub fn check(
    hardware: &Hardware,
    settings: &Settings,
    workload: &Workload,
    time_ns: u64,
) -> Result<(), String> {
    if time_ns == 0 || time_ns > LONGEST {
        return Err(format!(
            "a run of {time_ns} ns; it lasts from 1 ns to ten hours"
        ));
    }
    check_settings(hardware, settings)?;
    if workload.devices.len() > MAX_DEVICES {
        return Err(format!(
            "{} devices; there can be {MAX_DEVICES}",
            workload.devices.len()
        ));
    }
    workload
        .devices
        .iter()
        .try_for_each(|device| check_device(hardware, device))?;
    for (at, group) in workload.groups.iter().enumerate() {
        if group.parent > at {
            return Err(format!(
                "group {} comes before the one that it is in",
                group.name
            ));
        }
    }
    workload.tasks.iter().try_for_each(|task| {
        check_task(hardware, workload, task).map_err(|what| format!("task {}: {what}", task.name))
    })
}

fn check_settings(hardware: &Hardware, settings: &Settings) -> Result<(), String> {
    let last = hardware.cpus() - 1;
    if !(24..=1000).contains(&settings.hz) {
        return Err(format!(
            "hz is {}; a kernel has 24 to 1000 ticks a second, most often 100 or 250",
            settings.hz
        ));
    }
    if let Some(cpu) = settings.timers_to.filter(|&cpu| cpu > last) {
        return Err(format!(
            "unpinned timers go to CPU {cpu}; CPUs are 0 to {last}"
        ));
    }
    Ok(())
}

fn check_device(hardware: &Hardware, device: &DeviceSpec) -> Result<(), String> {
    let wrong = |what: String| Err(format!("device {}: {what}", device.name));
    if device.cpu >= hardware.cpus() {
        return wrong(format!(
            "its interrupts go to CPU {}; CPUs are 0 to {}",
            device.cpu,
            hardware.cpus() - 1
        ));
    }
    if !device.gap.is_sound() || device.gap.mean() < SHORTEST_GAP {
        return wrong(format!(
            "{:?} is no gap between interrupts; it is {SHORTEST_GAP} ns to an hour on average",
            device.gap
        ));
    }
    Ok(())
}

fn check_task(hardware: &Hardware, workload: &Workload, task: &TaskSpec) -> Result<(), String> {
    let sets = task
        .phases
        .iter()
        .filter_map(|phase| phase.cpus)
        .chain([task.cpus]);
    if sets
        .into_iter()
        .any(|cpus| cpus.iter(hardware.cpus()).next().is_none())
    {
        return Err(format!(
            "it may run on no CPU; CPUs are 0 to {}",
            hardware.cpus() - 1
        ));
    }
    if let Some(group) = task.phases.iter().filter_map(|phase| phase.group).max()
        && group > workload.groups.len()
    {
        return Err(format!(
            "there is no group {group}; the workload has {}",
            workload.groups.len()
        ));
    }
    match task.policy {
        Policy::Fair { nice } if !(-20..=19).contains(&nice) => {
            return Err(format!("nice {nice}; it is from -20 to 19"));
        }
        Policy::RealTime { priority } if !(1..=99).contains(&priority) => {
            return Err(format!("priority {priority}; it is from 1 to 99"));
        }
        _ => {}
    }
    task.phases
        .iter()
        .flat_map(|phase| &phase.actions)
        .try_for_each(|&action| check_action(workload, action))?;
    let stands_still =
        |phase: &Phase| !phase.actions.is_empty() && !phase.actions.iter().any(takes_time);
    if task
        .phases
        .iter()
        .any(|phase| phase.loops.is_none() && stands_still(phase))
        || !task.phases.is_empty() && task.loops.is_none() && task.phases.iter().all(stands_still)
    {
        return Err(
            "nothing that it does takes time, and it does it for ever; give it a run or a sleep of a microsecond or more".to_owned(),
        );
    }
    Ok(())
}

/// True if an action takes time, as every system call does.
fn takes_time(action: &Action) -> bool {
    match action {
        Action::Run { time, .. } | Action::RunTime(time) | Action::Sleep(time) => time.mean() > 0,
        Action::Timer { period, .. } | Action::SharedTimer { period, .. } => *period > 0,
        _ => true,
    }
}

fn check_action(workload: &Workload, action: Action) -> Result<(), String> {
    let draw = |draw: Draw| {
        if draw.is_sound() {
            Ok(())
        } else {
            Err(format!(
                "{draw:?} cannot be drawn; times go up to an hour, and `low` is not above `high`"
            ))
        }
    };
    let there = |what: &str, number: usize, count: usize| {
        if number < count {
            Ok(())
        } else {
            Err(format!(
                "there is no {what} {number}; the workload has {count}"
            ))
        }
    };
    match action {
        Action::Run { capacity: 0, .. } => Err("work for a core of capacity 0 is none".to_owned()),
        Action::Run { capacity, .. } if capacity > 1_000_000 => Err(format!(
            "no core has a capacity of {capacity}; the fastest of a platform usually has 1024"
        )),
        Action::Run { time, .. } | Action::RunTime(time) | Action::Sleep(time) => draw(time),
        Action::Timer { period, .. } => draw(Draw::Fixed(period)),
        Action::SharedTimer { timer, period, .. } => {
            there("timer", timer, workload.timers)?;
            draw(Draw::Fixed(period))
        }
        Action::Lock(number) | Action::Unlock(number) => {
            there("mutex", number, workload.mutexes.len())
        }
        Action::Wait { condition, mutex } | Action::Sync { condition, mutex } => {
            there("mutex", mutex, workload.mutexes.len())?;
            there("condition", condition, workload.conditions)
        }
        Action::Signal(number)
        | Action::Broadcast(number)
        | Action::Suspend(number)
        | Action::Resume(number) => there("condition", number, workload.conditions),
        Action::SemPost(number) | Action::SemWait(number) => {
            there("semaphore", number, workload.semaphores.len())
        }
        Action::Barrier(number) => there("barrier", number, workload.barriers.len()),
        Action::Fork(number) => there("task", number, workload.tasks.len()),
        _ => Ok(()),
    }
}
