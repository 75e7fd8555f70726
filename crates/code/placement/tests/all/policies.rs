//! Even spread, all-big, the switcher, energy-aware placement.

use crate::common::{FAST, Machine, SLOW};
use placement::{
    AllBig, CpuSet, Doing, EnergyAware, EvenSpread, Kind, Placement, Policy, StayPut, Switcher,
};

/// Starts tasks until every CPU that the policy uses has one; where they are.
fn placed(policy: &mut dyn Placement, count: usize) -> Vec<usize> {
    let mut machine = Machine::tc2();
    let tasks: Vec<_> = (0..count).map(|_| machine.task(0)).collect();
    tasks
        .into_iter()
        .map(|task| machine.wake(policy, task))
        .collect()
}

#[test]
fn each_spreads_over_its_own_cpus() {
    assert_eq!(placed(&mut AllBig, 5), [0, 1, 0, 1, 0]);
    assert_eq!(placed(&mut StayPut, 3), [0, 0, 0]);
    // Pairs 0 and 2, 1 and 3; all slow at first, and CPU 4 has no partner.
    assert_eq!(placed(&mut Switcher::new(), 5), [2, 3, 2, 3, 2]);
}

#[test]
fn names_are_those_of_the_command_line() {
    for kind in Kind::ALL {
        assert_eq!(kind.name().parse(), Ok(kind));
        assert_eq!(kind.to_string(), kind.name());
    }
    let error = "big".parse::<Kind>().unwrap_err();
    assert!(
        error.contains("`big`")
            && error.contains("hmp, hmp-early, even, all-big, switcher, energy-aware")
    );
}

#[test]
fn all_big_puts_a_task_elsewhere_only_if_it_must() {
    let mut machine = Machine::tc2();
    let task = machine.task(0);
    machine.tasks[task].allowed = CpuSet::from_cpus([3, 4]);
    assert_eq!(machine.wake(&mut AllBig, task), 3);
    let others = [0; 3].map(|nice| machine.task(nice));
    for other in others {
        machine.wake(&mut AllBig, other);
    }
    assert_eq!(
        machine.pull(&mut AllBig, 4),
        None,
        "a slow CPU takes nobody"
    );
    assert_eq!(machine.tick(&mut AllBig, 0), None, "and gets nobody");
}

#[test]
fn a_pair_switches_with_its_load_and_its_tasks_follow() {
    let mut policy = Switcher::new();
    let mut machine = Machine::tc2();
    let task = machine.task(0);
    assert_eq!(machine.wake(&mut policy, task), 2);
    machine.runs(&mut policy, task, 2, 200);
    let second = machine.task(0);
    machine.tasks[second].cpu = 2;
    machine.set(&mut policy, second, Doing::Waiting);
    // 1.25 times what it uses is more than the slow side has.
    assert_eq!(
        machine
            .tick(&mut policy, 2)
            .map(|wanted| (wanted.task, wanted.to)),
        Some((task, 0))
    );
    assert_eq!(
        machine.pull(&mut policy, 0),
        Some(second),
        "who is left behind is pulled, though it runs there by now"
    );
    assert_eq!(
        machine.pull(&mut policy, 1),
        None,
        "the side that is off takes nobody"
    );
    assert_eq!(
        machine.pull(&mut policy, 3),
        Some(second),
        "the other pair takes who waits"
    );
    machine.set(&mut policy, task, Doing::Nothing);
    machine.set(&mut policy, second, Doing::Nothing);
    machine.pass(500);
    assert_eq!(
        machine.wake(&mut policy, task),
        2,
        "and back when little is used"
    );
}

#[test]
fn a_pair_stays_on_a_side_for_a_while() {
    let mut policy = Switcher::new();
    let mut machine = Machine::tc2();
    let task = machine.task(0);
    machine.wake(&mut policy, task);
    machine.runs(&mut policy, task, 2, 200);
    assert!(machine.tick(&mut policy, 2).is_some());
    // From 1.25 times 430 units to less than 344 in 3 ms would take a miracle; taking the task away
    // is one.
    machine.tasks[task].cpu = 4;
    machine.set(&mut policy, task, Doing::Running);
    machine.pass(3);
    let other = machine.task(0);
    machine.tasks[other].cpu = 2;
    assert_eq!(
        machine.wake(&mut policy, other),
        0,
        "3 ms later it is still the fast side"
    );
    machine.set(&mut policy, other, Doing::Nothing);
    machine.pass(1);
    assert_eq!(machine.wake(&mut policy, other), 2, "4 ms later it is not");
}

/// A task that has used this many milliseconds in the last 500 ms, in turns, and blocks on `cpu`.
fn with_use(policy: &mut dyn Placement, machine: &mut Machine, cpu: usize, of_ten: u64) -> usize {
    let task = machine.task(0);
    machine.tasks[task].has_started = true;
    for _ in 0..50 {
        machine.ran(policy, task, cpu, of_ten);
        machine.pass(10 - of_ten);
    }
    task
}

#[test]
fn a_small_task_wakes_where_it_costs_least() {
    let mut policy = EnergyAware::new(Machine::model());
    let mut machine = Machine::tc2();
    let task = with_use(&mut policy, &mut machine, 0, 1);
    assert!(SLOW.contains(&machine.wake(&mut policy, task)));
}

#[test]
fn a_task_stays_among_equally_cheap_cpus_and_joins_none_that_would_need_a_higher_point() {
    let mut policy = EnergyAware::new(Machine::model());
    let mut machine = Machine::tc2();
    let (first, second) = (machine.task(0), machine.task(0));
    for _ in 0..50 {
        machine.ran(&mut policy, first, 3, 3);
        machine.ran(&mut policy, second, 4, 3);
        machine.pass(4);
    }
    machine.tasks[first].has_started = true;
    machine.tasks[second].has_started = true;
    assert_eq!(machine.wake(&mut policy, first), 3, "where it was");
    // Both on one CPU would need the domain's higher point.
    machine.tasks[second].cpu = 3;
    assert_ne!(machine.wake(&mut policy, second), 3);
}

#[test]
fn what_does_not_fit_a_slow_cpu_goes_to_a_fast_one() {
    let mut policy = EnergyAware::new(Machine::model());
    let mut machine = Machine::tc2();
    // Half of a fast CPU is more than 80 % of 430.
    let task = with_use(&mut policy, &mut machine, 0, 5);
    machine.tasks[task].cpu = 0;
    assert!(FAST.contains(&machine.wake(&mut policy, task)));
}

#[test]
fn an_overutilised_machine_spreads_and_moves_misfits() {
    let mut policy = EnergyAware::new(Machine::model());
    let mut machine = Machine::tc2();
    let small = with_use(&mut policy, &mut machine, 2, 1);
    let busy = machine.task(0);
    machine.tasks[busy].has_started = true;
    machine.runs(&mut policy, busy, 2, 300);
    assert_eq!(
        machine
            .tick(&mut policy, 2)
            .map(|wanted| (wanted.task, wanted.to)),
        Some((busy, 0))
    );
    machine.tasks[small].cpu = 0;
    assert_eq!(
        machine.wake(&mut policy, small),
        1,
        "the next idle CPU upwards, though others cost less"
    );
    machine.set(&mut policy, small, Doing::Nothing);
    machine.set(&mut policy, busy, Doing::Nothing);
    machine.pass(200);
    machine.pull(&mut policy, 0);
    machine.tasks[small].cpu = 3;
    machine.tasks[busy].cpu = 0;
    assert!(
        SLOW.contains(&machine.wake(&mut policy, small)),
        "balancing found that energy counts again"
    );
    let mut policy = EnergyAware::new(Machine::model());
    let mut machine = Machine::tc2();
    let busy = machine.task(0);
    machine.runs(&mut policy, busy, 2, 300);
    assert_eq!(machine.pull(&mut policy, 0), None, "nobody has noticed yet");
    policy.tick(&machine, 2);
    assert_eq!(machine.pull(&mut policy, 3), None, "no equal CPU pulls it");
    assert_eq!(machine.pull(&mut policy, 0), Some(busy));
}

#[test]
fn below_the_limit_nothing_is_balanced() {
    let mut policy = EnergyAware::new(Machine::model());
    let mut machine = Machine::tc2();
    let tasks = [0; 2].map(|_| with_use(&mut policy, &mut machine, 2, 1));
    for task in tasks {
        machine.tasks[task].cpu = 2;
        machine.set(&mut policy, task, Doing::Waiting);
    }
    machine.go_on(&mut policy, 2);
    assert_eq!(
        (machine.tick(&mut policy, 2), machine.pull(&mut policy, 3)),
        (None, None)
    );
}

#[test]
fn of_equally_cheap_cpus_the_one_where_it_was_is_taken() {
    let mut policy = EnergyAware::new(Machine::model());
    let mut machine = Machine::tc2();
    let (task, other) = (machine.task(0), machine.task(0));
    for _ in 0..50 {
        machine.ran(&mut policy, task, 3, 1);
        machine.ran(&mut policy, other, 3, 1);
        machine.pass(8);
    }
    machine.tasks[task].has_started = true;
    assert_eq!(
        machine.wake(&mut policy, task),
        3,
        "though others have more to spare"
    );
}

#[test]
fn real_time_tasks_are_not_handed_over() {
    let mut machine = Machine::tc2();
    let tasks = [machine.task(0), machine.task(0)];
    for task in tasks {
        machine.tasks[task].policy = Policy::RealTime { priority: 5 };
        machine.set(&mut EvenSpread::new(1), task, Doing::Waiting);
    }
    machine.go_on(&mut EvenSpread::new(1), 0);
    assert_eq!(
        (
            machine.tick(&mut EvenSpread::new(1), 0),
            machine.pull(&mut EvenSpread::new(1), 1)
        ),
        (None, None)
    );
}

#[test]
fn a_cpu_that_is_about_to_run_its_only_task_keeps_it() {
    for mut policy in Kind::ALL.map(|kind| kind.policy(&Machine::model(), 1)) {
        let mut machine = Machine::tc2();
        let task = machine.task(0);
        machine.tasks[task].cpu = 2;
        machine.set(&mut *policy, task, Doing::Waiting);
        assert_eq!((0..5).find_map(|cpu| policy.pull(&machine, cpu)), None);
    }
}

#[test]
fn a_start_that_has_no_reason_for_any_cpu_is_on_any_of_the_emptiest() {
    let mut counts = [0; 5];
    for seed in 0..500 {
        let places = placed(&mut EvenSpread::new(seed), 5);
        counts[places[0]] += 1;
        let all: std::collections::BTreeSet<_> = places.into_iter().collect();
        assert_eq!(all.len(), 5, "each on a CPU of its own");
    }
    assert!(
        counts.iter().all(|count| (70..130).contains(count)),
        "{counts:?}"
    );
}
