//! Utilisation, estimates, and the search for the cheapest CPU.

use crate::common::{MS, Machine};
use placement::{CpuSet, CpuUse, Doing, FairLoads, Model, Rules, TaskId, WakingTask, cheapest};

/// A task runs on a CPU for some ms every 16 ms, with a note each ms.
fn periodic(
    loads: &mut FairLoads,
    machine: &mut Machine,
    task: TaskId,
    cpu: usize,
    ms: u64,
    times: u64,
) {
    for _ in 0..times {
        machine.tasks[task].cpu = cpu;
        loads.note(machine, task, cpu, Doing::Nothing, Doing::Running);
        for _ in 0..ms {
            machine.now += MS;
            loads.note(machine, task, cpu, Doing::Running, Doing::Running);
        }
        loads.note(machine, task, cpu, Doing::Running, Doing::Nothing);
        machine.pass(16 - ms);
    }
}

#[test]
fn the_same_work_counts_the_same_on_a_slow_cpu() {
    // 2 ms of 1024 are nearly 5 ms of 430.
    let used = |cpu, ms| {
        let (mut loads, mut machine) = (FairLoads::default(), Machine::tc2());
        let task = machine.task(0);
        periodic(&mut loads, &mut machine, task, cpu, ms, 100);
        loads.task(&machine, task)
    };
    let (fast, slow) = (used(0, 2), used(2, 5));
    assert!(
        (90..150).contains(&fast),
        "an eighth of 1024, seen at the end of a period: {fast}"
    );
    assert!(fast.abs_diff(slow) * 10 < fast, "{fast} and {slow}");
}

#[test]
fn a_cpu_that_is_always_busy_goes_beyond_its_capacity_and_loses_no_time() {
    let (mut loads, mut machine) = (FairLoads::default(), Machine::tc2());
    let task = machine.task(0);
    periodic(&mut loads, &mut machine, task, 2, 16, 200);
    let used = loads.task(&machine, task);
    assert!(used > 900, "the work is not known to end: {used}");
    assert_eq!(
        loads.used(&machine, 2),
        430,
        "a CPU is used by no more than it has"
    );
}

#[test]
fn an_estimate_rises_at_once_and_falls_by_a_quarter() {
    let (mut loads, mut machine) = (FairLoads::default(), Machine::tc2());
    let task = machine.task(0);
    periodic(&mut loads, &mut machine, task, 0, 2, 50);
    let small = loads.estimate(task);
    periodic(&mut loads, &mut machine, task, 0, 14, 30);
    let large = loads.estimate(task);
    assert!(large > 800 && small < 200, "{small} and {large}");
    machine.pass(1_000);
    periodic(&mut loads, &mut machine, task, 0, 1, 1);
    let fallen = loads.estimate(task);
    // A task that slept for a second has used nearly nothing.
    assert!(fallen.abs_diff(large * 3 / 4) < 15, "{large} to {fallen}");
}

#[test]
fn a_cpu_is_used_by_what_waits_there_and_a_task_takes_its_use_along() {
    let (mut loads, mut machine) = (FairLoads::default(), Machine::tc2());
    let task = machine.task(0);
    periodic(&mut loads, &mut machine, task, 0, 8, 100);
    machine.pass(500);
    assert!(loads.used(&machine, 0) < 5, "it has faded");
    loads.note(&machine, task, 1, Doing::Nothing, Doing::Waiting);
    assert_eq!((loads.utilisation(&machine, 0), loads.estimated(0)), (0, 0));
    assert_eq!(
        loads.used(&machine, 1),
        loads.estimate(task),
        "its estimate counts as soon as it waits"
    );
    loads.note(&machine, task, 1, Doing::Waiting, Doing::Nothing);
    assert_eq!(loads.estimated(1), 0);
}

#[test]
fn a_new_task_has_half_of_what_is_spare() {
    let (mut loads, mut machine) = (FairLoads::default(), Machine::tc2());
    let (first, second) = (machine.task(0), machine.task(0));
    loads.begin(&machine, first, 2);
    assert!(
        (210..=215).contains(&loads.task(&machine, first)),
        "{}",
        loads.task(&machine, first)
    );
    loads.begin(&machine, second, 2);
    assert!(
        loads.task(&machine, second) <= 110,
        "half of what the first left: {}",
        loads.task(&machine, second)
    );
}

const BIG: [(u64, u32, u32); 2] = [(600_000_000, 512, 182), (1_200_000_000, 1024, 540)];
const LITTLE: [(u64, u32, u32); 2] = [(450_000_000, 181, 42), (950_000_000, 383, 133)];

fn model() -> Model {
    Model::new(&[(&[0, 1], &LITTLE), (&[2, 3], &BIG)]).unwrap()
}

fn cpus(used: [u32; 4]) -> Vec<CpuUse> {
    let capacity = [383, 383, 1024, 1024];
    let of = |cpu: usize| CpuUse {
        utilisation: used[cpu],
        estimated: 0,
        capacity: capacity[cpu],
        left: capacity[cpu],
    };
    (0..4).map(of).collect()
}

fn waking(previous: usize) -> WakingTask {
    WakingTask {
        utilisation: 51,
        estimate: 51,
        previous,
        allowed: CpuSet::ALL,
    }
}

#[test]
fn until_2022_a_small_saving_moves_nobody_while_much_else_runs() {
    // On the big CPU the task costs 18, on a LITTLE one 11; much else makes the margin more than 7.
    let busy = cpus([140, 140, 400, 51]);
    assert_eq!(cheapest(Rules::Until2022, &model(), &busy, &waking(3)), 3);
    assert_eq!(
        cheapest(
            Rules::Since2022,
            &model(),
            &cpus([60, 60, 400, 51]),
            &waking(3)
        ),
        0
    );
    // Alone on the machine it saves nearly half.
    assert_eq!(
        cheapest(Rules::Until2022, &model(), &cpus([0, 0, 0, 51]), &waking(3)),
        0
    );
}

#[test]
fn what_fits_nowhere_stays_and_what_costs_nothing_too() {
    for rules in [Rules::Until2022, Rules::Since2022] {
        assert_eq!(
            cheapest(rules, &model(), &cpus([383, 383, 1024, 1024]), &waking(1)),
            1
        );
        let nothing = WakingTask {
            utilisation: 0,
            estimate: 0,
            ..waking(3)
        };
        assert_eq!(cheapest(rules, &model(), &cpus([0; 4]), &nothing), 3);
        let only = WakingTask {
            allowed: CpuSet::one(1),
            ..waking(3)
        };
        assert_eq!(
            cheapest(rules, &model(), &cpus([0, 0, 0, 51]), &only),
            1,
            "the only CPU that is allowed"
        );
    }
}
