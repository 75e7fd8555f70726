//! HMP's rules, one test each.

use crate::common::{FAST, MS, Machine, SLOW};
use placement::{CpuSet, Doing, Hmp, HmpSettings, Placement, Policy, View};

fn hmp() -> Hmp {
    Hmp::new(HmpSettings::default())
}

/// A machine with a task that has started, rested until nothing is left of its load, and was last
/// on `cpu`.
fn rested(policy: &mut Hmp, nice: i8, cpu: usize) -> (Machine, usize) {
    let mut machine = Machine::tc2();
    let task = machine.task(nice);
    machine.wake(policy, task);
    machine.set(policy, task, Doing::Nothing);
    machine.tasks[task].cpu = cpu;
    machine.pass(3_000);
    (machine, task)
}

/// Milliseconds of uninterrupted running after which a rested task has a load above 700 of 1024: 1
/// - y^n = 700/1024 at 53 periods.
const HEAVY: u64 = 60;
/// 1 - y^n = 512/1024 at 32 periods, which are 33.6 ms.
const BETWEEN: u64 = 45;

#[test]
fn a_new_task_of_a_user_starts_on_the_fast_cpus_and_counts_as_busy() {
    let mut policy = hmp();
    let mut machine = Machine::tc2();
    let (first, second) = (machine.task(0), machine.task(0));
    machine.tasks[first].cpu = 3;
    assert_eq!(machine.wake(&mut policy, first), 0);
    assert_eq!(
        machine.wake(&mut policy, second),
        1,
        "the least loaded of them"
    );
    machine.set(&mut policy, first, Doing::Nothing);
    machine.pass(20);
    assert_eq!(
        machine.wake(&mut policy, first),
        0,
        "20 ms later its load is still above 512"
    );
    machine.set(&mut policy, first, Doing::Nothing);
    machine.pass(40);
    assert!(
        SLOW.contains(&machine.wake(&mut policy, first)),
        "40 ms more, and it is not"
    );
}

#[test]
fn a_kernel_thread_starts_where_it_is_asked_for() {
    let mut policy = hmp();
    let mut machine = Machine::tc2();
    let thread = machine.task(0);
    machine.tasks[thread].is_kernel_thread = true;
    machine.tasks[thread].cpu = 3;
    assert_eq!(machine.wake(&mut policy, thread), 3);
}

#[test]
fn a_light_task_moves_down_when_it_wakes() {
    let mut policy = hmp();
    let (mut machine, task) = rested(&mut policy, 0, 0);
    assert_eq!(machine.wake(&mut policy, task), 2);
}

#[test]
fn a_heavy_task_moves_up_when_it_wakes() {
    let mut policy = hmp();
    let (mut machine, task) = rested(&mut policy, 0, 3);
    machine.ran(&mut policy, task, 3, HEAVY);
    assert_eq!(machine.wake(&mut policy, task), 0);
}

#[test]
fn between_the_thresholds_a_task_stays_on_its_kind_of_cpu() {
    for (cpu, kind) in [(3, &SLOW[..]), (1, &FAST[..])] {
        let mut policy = hmp();
        let (mut machine, task) = rested(&mut policy, 0, cpu);
        machine.ran(&mut policy, task, cpu, BETWEEN);
        let to = machine.wake(&mut policy, task);
        assert!(kind.contains(&to), "from {cpu} to {to}");
    }
}

#[test]
fn the_early_thresholds_are_lower() {
    let early = || Hmp::new(HmpSettings::early());
    let mut policy = early();
    let (mut machine, task) = rested(&mut policy, 0, 3);
    machine.ran(&mut policy, task, 3, BETWEEN);
    assert_eq!(machine.wake(&mut policy, task), 0, "up at 512");
    let mut policy = early();
    let (mut machine, task) = rested(&mut policy, 0, 1);
    // 1 - y^n = 358/1024 at 20 periods.
    machine.ran(&mut policy, task, 1, 20);
    assert_eq!(machine.wake(&mut policy, task), 1, "down at 256 only");
    let mut policy = hmp();
    let (mut machine, task) = rested(&mut policy, 0, 1);
    machine.ran(&mut policy, task, 1, 20);
    assert_eq!(machine.wake(&mut policy, task), 2);
}

#[test]
fn a_task_below_the_default_priority_does_not_move_up_and_moves_down_whatever_its_load() {
    for (nice, kind) in [(0, &FAST[..]), (-5, &FAST[..]), (1, &SLOW[..])] {
        let mut policy = hmp();
        let (mut machine, task) = rested(&mut policy, nice, 3);
        machine.ran(&mut policy, task, 3, HEAVY);
        let to = machine.wake(&mut policy, task);
        assert!(kind.contains(&to), "nice {nice}: {to}");
    }
    let mut policy = hmp();
    let (mut machine, task) = rested(&mut policy, 1, 0);
    machine.ran(&mut policy, task, 0, HEAVY);
    assert_eq!(machine.wake(&mut policy, task), 2);
}

#[test]
fn a_running_task_moves_up_in_the_tick_without_waking() {
    let mut policy = hmp();
    let (mut machine, task) = rested(&mut policy, 0, 3);
    machine.tasks[task].has_started = true;
    machine.runs(&mut policy, task, 3, BETWEEN);
    assert_eq!(machine.tick(&mut policy, 3), None);
    machine.runs(&mut policy, task, 3, HEAVY - BETWEEN);
    assert_eq!(
        machine
            .tick(&mut policy, 3)
            .map(|wanted| (wanted.task, wanted.to)),
        Some((task, 0))
    );
}

#[test]
fn a_task_settles_before_it_moves_again_in_the_same_direction_and_not_in_the_other() {
    let mut policy = hmp();
    let (mut machine, task) = rested(&mut policy, 0, 3);
    machine.ran(&mut policy, task, 3, 100);
    assert_eq!(machine.wake(&mut policy, task), 0);
    // Put back by force, it would move up again at once.
    machine.ran(&mut policy, task, 3, 1);
    assert!(
        SLOW.contains(&machine.wake(&mut policy, task)),
        "1 ms later it may not"
    );
    machine.ran(&mut policy, task, 3, 3);
    // 4096 units of 1024 ns are 4.19 ms.
    assert!(
        SLOW.contains(&machine.wake(&mut policy, task)),
        "nor 4 ms later"
    );
    machine.ran(&mut policy, task, 3, 1);
    assert_eq!(machine.wake(&mut policy, task), 0, "5 ms later it may");
    // The other direction is free at once: a task that drops its priority goes down in the next
    // wake-up.
    machine.set(&mut policy, task, Doing::Nothing);
    machine.pass(60);
    machine.tasks[task].cpu = 0;
    assert!(SLOW.contains(&machine.wake(&mut policy, task)));
    machine.ran(&mut policy, task, 0, 1);
    assert!(
        FAST.contains(&machine.wake(&mut policy, task)),
        "and not down again within 4 ms"
    );
}

#[test]
fn the_target_is_the_least_loaded_cpu_by_loads_without_weights() {
    let mut policy = hmp();
    let (mut machine, task) = rested(&mut policy, 0, 3);
    // On CPU 0 a task of little weight and a high load, on CPU 1 one of great weight and a low
    // load.
    let (heavy, light) = (machine.task(19), machine.task(-20));
    machine.runs(&mut policy, heavy, 0, HEAVY);
    machine.runs(&mut policy, light, 1, 5);
    machine.ran(&mut policy, task, 3, HEAVY);
    machine.set(&mut policy, light, Doing::Nothing);
    machine.pass(1);
    machine.set(&mut policy, light, Doing::Running);
    assert_eq!(machine.wake(&mut policy, task), 1);
}

#[test]
fn nobody_moves_up_to_cpus_that_are_full() {
    let full = |settings: HmpSettings| {
        let mut policy = Hmp::new(settings);
        let (mut machine, task) = rested(&mut policy, 0, 3);
        for cpu in FAST {
            let busy = machine.task(0);
            machine.runs(&mut policy, busy, cpu, 400);
        }
        // Both run to the end.
        machine.ran(&mut policy, task, 3, HEAVY);
        machine.wake(&mut policy, task)
    };
    assert!(SLOW.contains(&full(HmpSettings::default())));
    assert!(FAST.contains(&full(HmpSettings {
        room: None,
        ..HmpSettings::default()
    })));
}

#[test]
fn an_idle_fast_cpu_pulls_the_heaviest_that_may_move_up() {
    let mut policy = hmp();
    let mut machine = Machine::tc2();
    let tasks = [0, 0, 5].map(|nice| machine.task(nice));
    for (task, (cpu, ms)) in tasks
        .into_iter()
        .zip([(2, HEAVY), (3, 2 * HEAVY), (4, 4 * HEAVY)])
    {
        machine.runs(&mut policy, task, cpu, ms);
    }
    // The first has run on as well; what it has is more than the second's.
    assert_eq!(
        machine.pull(&mut policy, 2),
        None,
        "a slow CPU pulls nobody that runs"
    );
    assert_eq!(machine.pull(&mut policy, 0), Some(tasks[0]));
    machine.pass(10);
    assert_eq!(
        machine.pull(&mut policy, 1),
        Some(tasks[1]),
        "the third is of too low a priority"
    );
    machine.set(&mut policy, tasks[1], Doing::Nothing);
    assert_eq!(machine.pull(&mut policy, 1), None);
}

#[test]
fn nothing_is_balanced_between_fast_and_slow_cpus() {
    let mut policy = hmp();
    let mut machine = Machine::tc2();
    // Three light tasks wait for CPU 2, and all others idle.
    let tasks = [0; 4].map(|nice| machine.task(nice));
    for task in tasks {
        machine.tasks[task].cpu = 2;
        machine.set(&mut policy, task, Doing::Waiting);
    }
    machine.go_on(&mut policy, 2);
    assert_eq!(
        machine.pull(&mut policy, 0),
        None,
        "a fast CPU takes no light task"
    );
    assert!(
        machine.pull(&mut policy, 3).is_some(),
        "one of the same kind does"
    );
    assert_eq!(
        machine.tick(&mut policy, 2).map(|wanted| wanted.to),
        Some(4),
        "and gets one in the tick"
    );
    assert_eq!(
        machine.tick(&mut policy, 2),
        None,
        "then there are only fast ones idle"
    );
}

#[test]
fn a_crowded_fast_cpu_hands_its_lightest_starving_task_to_an_idle_slow_one() {
    let crowded = |settings: HmpSettings, shared: bool| {
        let mut policy = Hmp::new(settings);
        let mut machine = Machine::tc2();
        let tasks = [0; 3].map(|nice| machine.task(nice));
        let cpus = [0, 1, if shared { 0 } else { 2 }];
        for (task, cpu) in tasks.into_iter().zip(cpus) {
            machine.tasks[task].cpu = cpu;
            machine.set(&mut policy, task, Doing::Waiting);
            machine.go_on(&mut policy, cpu);
        }
        // The two on CPU 0 take turns of 4 ms.
        for turn in 0..50 {
            machine.pass(4);
            let two = [tasks[0], tasks[2]];
            machine.set(&mut policy, tasks[1], Doing::Running);
            if shared {
                machine.set(&mut policy, two[turn % 2], Doing::Waiting);
                machine.set(&mut policy, two[1 - turn % 2], Doing::Running);
            }
        }
        let wanted = policy.tick(&machine, 0);
        wanted.map(|wanted| wanted.to)
    };
    assert_eq!(crowded(HmpSettings::default(), true), Some(2));
    assert_eq!(
        crowded(
            HmpSettings {
                offload: false,
                ..HmpSettings::default()
            },
            true
        ),
        None
    );
    assert_eq!(crowded(HmpSettings::default(), false), None, "nobody waits");
}

#[test]
fn real_time_tasks_are_not_touched() {
    let mut policy = hmp();
    let mut machine = Machine::tc2();
    let task = machine.task(0);
    machine.tasks[task].policy = Policy::RealTime { priority: 50 };
    machine.tasks[task].cpu = 3;
    assert_eq!(
        machine.wake(&mut policy, task),
        3,
        "it starts where it is asked for"
    );
    machine.runs(&mut policy, task, 3, 200);
    assert_eq!(machine.tick(&mut policy, 3), None);
    assert_eq!(machine.pull(&mut policy, 0), None);
    machine.ran(&mut policy, task, 3, 1);
    assert_eq!(machine.wake(&mut policy, task), 3);
    machine.ran(&mut policy, task, 0, 1);
    machine.pass(1_000);
    assert_eq!(machine.wake(&mut policy, task), 0);
    // A second one of the same priority goes elsewhere, wherever that is.
    let other = machine.task(0);
    machine.tasks[other].policy = Policy::RealTime { priority: 50 };
    assert_eq!(machine.wake(&mut policy, other), 1);
}

#[test]
fn a_task_goes_only_where_it_may() {
    let mut policy = hmp();
    let (mut machine, task) = rested(&mut policy, 0, 3);
    machine.tasks[task].allowed = CpuSet::from_cpus([3, 4]);
    machine.runs(&mut policy, task, 3, 200);
    assert_eq!(machine.tick(&mut policy, 3), None);
    assert_eq!(machine.pull(&mut policy, 0), None);
    machine.set(&mut policy, task, Doing::Nothing);
    assert!([3, 4].contains(&machine.wake(&mut policy, task)));
    machine.tasks[task].allowed = CpuSet::one(1);
    machine.set(&mut policy, task, Doing::Nothing);
    machine.pass(3_000);
    assert_eq!(machine.wake(&mut policy, task), 1);
    assert_eq!(machine.now % MS, 0);
    assert_eq!(machine.running(1), Some(task));
}

#[test]
fn a_move_down_allows_one_up_at_once() {
    let mut policy = hmp();
    let (mut machine, task) = rested(&mut policy, 0, 3);
    machine.ran(&mut policy, task, 3, 100);
    assert_eq!(machine.wake(&mut policy, task), 0);
    // Its priority drops, and rises again.
    machine.set(&mut policy, task, Doing::Nothing);
    machine.tasks[task].policy = Policy::Fair { nice: 1 };
    assert!(SLOW.contains(&machine.wake(&mut policy, task)));
    machine.set(&mut policy, task, Doing::Nothing);
    machine.tasks[task].policy = Policy::Fair { nice: 0 };
    machine.pass(1);
    assert_eq!(machine.wake(&mut policy, task), 0);
}

#[test]
fn of_three_kinds_of_cpus_the_next_faster_and_the_next_slower_are_the_targets() {
    let mut policy = hmp();
    let (mut machine, task) = rested(&mut policy, 0, 3);
    machine.tops = vec![1024, 700, 700, 430, 430];
    machine.ran(&mut policy, task, 3, 100);
    assert_eq!(machine.wake(&mut policy, task), 1);
    machine.ran(&mut policy, task, 1, 1);
    machine.set(&mut policy, task, Doing::Nothing);
    machine.pass(2_000);
    machine.tasks[task].cpu = 0;
    assert_eq!(machine.wake(&mut policy, task), 1);
}
