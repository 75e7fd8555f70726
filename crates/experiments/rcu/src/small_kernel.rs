//! The doses in the small kernel, in its modern form, with the points of an imported trace.

use experiment::Error;
use import::ftrace::Point;
use minikernel::placement::StayPut;
use minikernel::{
    Action, Affinities, Costs, CpuSet, Draw, Hardware, IdlePath, Rcu, Settings, TaskSpec,
    WakeCause, Workload, events, run,
};
use qemu::linux::Handling;
use recording::facts::KernelTrace;
use recording::{Header, Recording};

/// Wake-ups that Linux leaves to the timer of the tick, which stands for the timer wheel while the
/// tick is stopped.
const BY_THE_TICKS_TIMER: [WakeCause; 4] = [
    WakeCause::Tick,
    WakeCause::TickForRcu,
    WakeCause::WheelTimer,
    WakeCause::RcuTimer,
];

/// The CPU whose task closes files.
pub const CLOSER: usize = 1;

/// Runs a task that closes a number of files per second on one CPU, with callbacks handled in one
/// way.
///
/// # Errors
/// The kernel refuses.
pub fn dose(
    hardware: &Hardware,
    costs: Costs,
    cpus: usize,
    per_second: f64,
    seconds: u32,
    handling: Handling,
) -> Result<Recording, Error> {
    let mut workload = Workload::default();
    if per_second > 0.0 {
        let period = (1e9 / per_second) as u64;
        let actions = vec![Action::Sleep(Draw::Fixed(period)), Action::FileClose];
        workload
            .tasks
            .push(TaskSpec::forever("closer", actions).on(CpuSet::one(CLOSER)));
    }
    let settings = Settings {
        record: true,
        idle_path: IdlePath::Direct,
        costs,
        ..Settings::default()
    };
    let mut of_rcu = rcu::Settings::new(cpus, u64::from(settings.hz), rcu::Form::Modern);
    // Debian's kernel is not preempted (PREEMPT_VOLUNTARY).
    of_rcu.preemptible = false;
    of_rcu.offloaded = if handling == Handling::Ordinary {
        Vec::new()
    } else {
        (0..cpus).collect()
    };
    of_rcu.lazy = handling == Handling::Lazy;
    // As in the guest.
    let affinities = Affinities {
        grace_periods: CpuSet::one(0),
        offload: CpuSet::one(2),
    };
    let code = Rcu::new(of_rcu, affinities, false).map_err(Error::failed)?;
    let time_ns = u64::from(seconds) * 1_000_000_000;
    let outcome = run(
        hardware,
        &settings,
        &workload,
        Box::new(StayPut),
        Some(Box::new(code)),
        time_ns,
    )
    .map_err(Error::failed)?;

    let mut recording = Recording::new(Header::new("minikernel", "sim", "ns"));
    let tasks = (1..)
        .zip(outcome.tasks.iter().map(|task| task.name.clone()))
        .collect();
    recording.header.set_facts(&KernelTrace {
        tasks,
        ..KernelTrace::default()
    });
    let series = recording.series("small kernel", "", "");
    let of = [
        (events::IDLE_ENTER, Point::IdleEnter),
        (events::IDLE_LEAVE, Point::IdleExit),
        (events::TASK_SWITCH, Point::SchedSwitch),
        (events::CALLBACKS_QUEUED, Point::RcuCallback),
        (events::CALLBACKS_INVOKED, Point::RcuInvokeCallback),
    ];
    for event in &outcome.events {
        let Some((own, point)) = of.iter().find(|(own, _)| own.id() == event.point) else {
            continue;
        };
        let many = *own == events::CALLBACKS_QUEUED || *own == events::CALLBACKS_INVOKED;
        let time_ns = event.time.saturating_sub(outcome.begin) / 1000;
        let name = recording.point(point.name());
        // Callbacks have no functions here.
        let (count, argument) = if many {
            (event.argument, 0)
        } else {
            (1, event.argument)
        };
        for _ in 0..count {
            recording.event(series, 0, event.cpu, time_ns, 0, name, argument);
        }
        let by_tick = BY_THE_TICKS_TIMER
            .iter()
            .any(|cause| *cause as u32 == event.argument);
        if *own == events::IDLE_LEAVE && by_tick {
            let tick = recording.point(Point::TickExpire.name());
            recording.event(series, 0, event.cpu, time_ns, 0, tick, 0);
        }
    }
    Ok(recording)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counting::count;
    use experiment::Folder;

    #[test]
    fn closes_keep_ticks_or_wake_threads_and_none_do_nothing() {
        let platforms =
            Folder(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../data/platforms").into());
        let hardware = crate::rcu_doses::hardware(&platforms).unwrap();
        let counted = |per_second: f64, handling| {
            let (counts, _) = count(
                &dose(&hardware, Costs::default(), 5, per_second, 2, handling).unwrap(),
                5,
            );
            let others = |of: fn(&crate::CpuCounts) -> u64| -> u64 {
                counts
                    .iter()
                    .enumerate()
                    .filter(|(cpu, _)| *cpu != CLOSER)
                    .map(|(_, counts)| of(counts))
                    .sum()
            };
            let all = |of: fn(&crate::CpuCounts) -> u64| -> u64 { counts.iter().map(of).sum() };
            (
                others(|counts| counts.wake_ups),
                all(|counts| counts.in_softirq),
                all(|counts| counts.in_threads),
            )
        };
        for handling in [Handling::Ordinary, Handling::Offloaded, Handling::Lazy] {
            assert_eq!(counted(0.0, handling), (0, 0, 0));
        }
        let (ordinary, in_softirq, in_threads) = counted(100.0, Handling::Ordinary);
        assert!(
            in_softirq > 180 && in_threads == 0,
            "{in_softirq} in softirqs, {in_threads} in threads"
        );
        let (offloaded, in_softirq, in_threads) = counted(100.0, Handling::Offloaded);
        assert!(
            in_softirq == 0 && in_threads > 180,
            "{in_softirq} in softirqs, {in_threads} in threads"
        );
        assert!(
            offloaded > ordinary && ordinary > 100,
            "{ordinary} wake-ups, {offloaded} where all are offloaded"
        );
        let (lazy, in_softirq, in_threads) = counted(100.0, Handling::Lazy);
        assert_eq!(
            (in_softirq, in_threads),
            (0, 0),
            "within two seconds all of them wait"
        );
        assert!(
            lazy < ordinary / 5,
            "{lazy} wake-ups where callbacks may wait"
        );
    }
}
