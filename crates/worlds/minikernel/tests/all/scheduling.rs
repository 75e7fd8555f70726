//! The choice of who runs, on which CPU, and for how long.

use crate::common::*;
use minikernel::placement::{EvenSpread, Move, Placement, StayPut, View};
use minikernel::*;

fn busy(name: &str, cpus: CpuSet, policy: Policy) -> TaskSpec {
    let compute = vec![Action::Run {
        time: Draw::Fixed(MS),
        capacity: 430,
    }];
    TaskSpec {
        policy,
        ..TaskSpec::forever(name, compute).on(cpus)
    }
}

fn fair(nice: i8) -> Policy {
    Policy::Fair { nice }
}

fn workload(tasks: Vec<TaskSpec>) -> Workload {
    Workload {
        tasks,
        ..Workload::default()
    }
}

#[test]
fn fair_tasks_share_a_cpu_by_their_weights() {
    let cpu = CpuSet::one(2);
    let tasks = [("a", 0), ("b", 0), ("c", 5)].map(|(name, nice)| busy(name, cpu, fair(nice)));
    let outcome = run_put(
        &tc2(0),
        &Settings::default(),
        &workload(tasks.to_vec()),
        10 * SECOND,
    );
    let ran = |name: &str| outcome.task(name).unwrap().counts.ran as f64;
    assert!(
        (ran("a") / ran("b") - 1.0).abs() < 0.01,
        "{} and {}",
        ran("a"),
        ran("b")
    );
    // Five steps of a quarter each.
    let ratio = ran("a") / ran("c") / 1.25f64.powi(5);
    assert!((ratio - 1.0).abs() < 0.05, "{ratio}");
    assert!(ran("a") + ran("b") + ran("c") > 0.97 * outcome.time as f64);
}

#[test]
fn a_task_that_slept_does_not_make_up_for_all_of_it() {
    let cpu = CpuSet::one(2);
    let sleeper = vec![
        Action::Sleep(Draw::Fixed(5 * SECOND)),
        Action::Run {
            time: Draw::Fixed(10 * SECOND),
            capacity: 430,
        },
    ];
    let tasks = vec![
        busy("busy", cpu, fair(0)),
        TaskSpec::forever("sleeper", sleeper).on(cpu),
    ];
    let outcome = run_put(&tc2(0), &Settings::default(), &workload(tasks), 7 * SECOND);
    let sleeper = outcome.task("sleeper").unwrap().counts.ran as f64 / 1e12;
    assert!(
        (0.95..1.05).contains(&sleeper),
        "half of the last two seconds, and not all: {sleeper}"
    );
}

#[test]
fn real_time_tasks_go_before_fair_ones_and_by_priority() {
    let cpu = CpuSet::one(2);
    let periodic = |period| {
        vec![
            Action::Timer {
                timer: 0,
                period,
                relative: false,
            },
            Action::Run {
                time: Draw::Fixed(300 * US),
                capacity: 430,
            },
        ]
    };
    let tasks = vec![
        busy("busy", cpu, fair(-20)),
        TaskSpec {
            policy: Policy::RealTime { priority: 10 },
            ..TaskSpec::forever("low", periodic(MS)).on(cpu)
        },
        TaskSpec {
            policy: Policy::RealTime { priority: 20 },
            ..TaskSpec::forever("high", periodic(MS)).on(cpu)
        },
    ];
    let outcome = run_put(&tc2(0), &Settings::default(), &workload(tasks), SECOND);
    let worst = |name: &str| {
        outcome
            .task(name)
            .unwrap()
            .counts
            .latencies
            .iter()
            .max()
            .copied()
            .unwrap()
    };
    // Both timers fire at once: the high one waits for interrupt and switch, the low one for the
    // other's 300 us as well.
    assert!(worst("high") < 40_000, "{}", worst("high"));
    assert!(
        (300_000..350_000).contains(&worst("low")),
        "{}",
        worst("low")
    );
    assert_eq!(outcome.task("high").unwrap().counts.latencies.len(), 999);
}

#[test]
fn the_same_work_takes_as_long_as_the_core_is_slow() {
    let work = vec![Action::Run {
        time: Draw::Fixed(SECOND),
        capacity: 430,
    }];
    let outcome = |cpu: usize, frequency: Frequency| {
        let task = TaskSpec::forever("work", work.clone())
            .on(CpuSet::one(cpu))
            .times(1);
        let settings = Settings {
            frequency,
            costs: free(),
            ..Settings::default()
        };
        run_put(&tc2(0), &settings, &workload(vec![task]), 10 * SECOND)
    };
    let ran = |cpu, frequency| outcome(cpu, frequency).task("work").unwrap().counts.ran;
    let work = 430 * 1_000_000_000_000_u64;
    assert_eq!(
        [
            ran(2, Frequency::Highest),
            ran(2, Frequency::Lowest),
            ran(0, Frequency::Highest),
            ran(0, Frequency::Lowest)
        ],
        [430, 150, 1024, 426].map(|capacity| work.div_ceil(capacity))
    );
    // Core energy of the same work at the top points: "slower, but more efficient", by the table
    // alone.
    let core = |cpu, power: u64| u128::from(ran(cpu, Frequency::Highest)) * u128::from(power);
    let ratio = core(0, 6997) as f64 / core(2, 1024) as f64;
    assert!(
        (ratio - 6997.0 / 1024.0 / (1024.0 / 430.0)).abs() < 1e-6,
        "{ratio}"
    );
}

#[test]
fn eight_busy_tasks_keep_five_cpus_busy() {
    let tasks = (0..8)
        .map(|number| busy(&number.to_string(), CpuSet::ALL, fair(0)))
        .collect();
    let outcome = run_with(
        &tc2(0),
        &Settings::default(),
        &workload(tasks),
        EvenSpread::new(1),
        2 * SECOND,
    );
    let ran: u64 = outcome.tasks.iter().map(|task| task.counts.ran).sum();
    assert!(
        ran > 5 * outcome.time / 100 * 98,
        "{ran} of {}",
        5 * outcome.time
    );
    assert!(
        outcome
            .domains
            .iter()
            .all(|domain| domain.running > outcome.time / 1000 * 999)
    );
}

#[test]
fn a_task_that_wakes_seldom_does_not_wait_for_one_that_computes() {
    let cpu = CpuSet::one(2);
    let seldom = vec![
        Action::Timer {
            timer: 0,
            period: 20 * MS,
            relative: false,
        },
        Action::Run {
            time: Draw::Fixed(100 * US),
            capacity: 430,
        },
    ];
    let tasks = vec![
        busy("busy", cpu, fair(0)),
        TaskSpec::forever("seldom", seldom).on(cpu),
    ];
    let outcome = run_put(&tc2(0), &Settings::default(), &workload(tasks), SECOND);
    let latencies = &outcome.task("seldom").unwrap().counts.latencies;
    // Slack, interrupt, wake-up and switch, and no share of the other's.
    assert!(
        latencies.len() == 49 && latencies.iter().all(|&ns| ns < 100_000),
        "{latencies:?}"
    );
}

/// Wakes tasks where they were; only idle CPUs pull.
struct PullOnly;

impl Placement for PullOnly {
    fn wake(&mut self, _view: &dyn View, _task: TaskId, previous: usize) -> usize {
        previous
    }
    fn pull(&mut self, view: &dyn View, cpu: usize) -> Option<TaskId> {
        EvenSpread::new(1).pull(view, cpu)
    }
}

/// Wakes tasks where they were; only ticks move them.
struct TickOnly;

impl Placement for TickOnly {
    fn wake(&mut self, _view: &dyn View, _task: TaskId, previous: usize) -> usize {
        previous
    }
    fn tick(&mut self, view: &dyn View, cpu: usize) -> Option<Move> {
        EvenSpread::new(1).tick(view, cpu)
    }
}

#[test]
fn a_busy_cpu_hands_what_waits_to_an_idle_one() {
    let tasks = ["a", "b"].map(|name| busy(name, CpuSet::from_cpus([2, 3]), fair(0)));
    let outcome = run_with(
        &tc2(0),
        &Settings::default(),
        &workload(tasks.to_vec()),
        TickOnly,
        SECOND,
    );
    assert!(
        outcome
            .tasks
            .iter()
            .all(|task| task.counts.ran > outcome.time / 100 * 97)
    );
    assert_eq!(
        outcome
            .tasks
            .iter()
            .map(|task| task.counts.moves)
            .sum::<u64>(),
        1
    );
}

#[test]
fn an_idle_cpu_pulls_what_waits_elsewhere() {
    let start = |name: &str| TaskSpec {
        cpus: CpuSet::from_cpus([2, 3]),
        ..busy(name, CpuSet::ALL, fair(0))
    };
    let stay = run_put(
        &tc2(0),
        &Settings::default(),
        &workload(vec![start("a"), start("b")]),
        SECOND,
    );
    // CPU 3 looks once it has had something to do itself.
    let tasks = vec![
        start("a"),
        start("b"),
        TaskSpec::forever("c", vec![Action::Exit]).on(CpuSet::one(3)),
    ];
    let tasks = workload(tasks.into_iter().rev().collect());
    let pull = run_with(&tc2(0), &Settings::default(), &tasks, PullOnly, SECOND);
    let ran = |outcome: &Outcome| {
        outcome
            .tasks
            .iter()
            .map(|task| task.counts.ran)
            .sum::<u64>()
    };
    assert!(
        ran(&stay) < stay.time && ran(&pull) > 19 * pull.time / 10,
        "{} {}",
        ran(&stay),
        ran(&pull)
    );
}

/// Moves the running task to and fro in every tick.
struct Restless;

impl Placement for Restless {
    fn wake(&mut self, _view: &dyn View, _task: TaskId, previous: usize) -> usize {
        previous
    }
    fn tick(&mut self, view: &dyn View, cpu: usize) -> Option<Move> {
        let task = view.running(cpu)?;
        Some(Move {
            task,
            to: if cpu == 0 { 2 } else { 0 },
        })
    }
}

#[test]
fn a_policy_can_move_the_task_that_runs() {
    let tasks = || workload(vec![busy("moved", CpuSet::from_cpus([0, 2]), fair(0))]);
    let outcome = run_with(&tc2(0), &Settings::default(), &tasks(), Restless, SECOND);
    let moved = &outcome.task("moved").unwrap().counts;
    assert!(
        (245..=250).contains(&moved.moves),
        "once a tick, at 250 Hz: {}",
        moved.moves
    );
    // Half of the time each, in two clusters.
    for domain in &outcome.domains {
        assert!(
            (domain.running as f64 / outcome.time as f64 - 0.5).abs() < 0.02,
            "{domain:?}"
        );
    }
    let pinned = run_with(
        &tc2(0),
        &Settings::default(),
        &workload(vec![busy("put", CpuSet::one(2), fair(0))]),
        Restless,
        SECOND,
    );
    assert_eq!(
        pinned.task("put").unwrap().counts.moves,
        0,
        "not where it may not run"
    );
}

#[test]
fn frequencies_follow_the_load_and_no_work_is_lost_on_the_way() {
    let work = Action::Run {
        time: Draw::Fixed(100 * MS),
        capacity: 430,
    };
    let task = TaskSpec::forever("work", vec![work, Action::Sleep(Draw::Fixed(100 * MS))])
        .on(CpuSet::one(2))
        .times(5);
    let at = |frequency| {
        let settings = Settings {
            frequency,
            costs: free(),
            ..Settings::default()
        };
        run_put(
            &tc2(0),
            &settings,
            &workload(vec![task.clone()]),
            10 * SECOND,
        )
    };
    let (top, low, chosen) = (
        at(Frequency::Highest),
        at(Frequency::Lowest),
        at(Frequency::Schedutil { rate_limit_ns: MS }),
    );
    let ran = |outcome: &Outcome| outcome.task("work").unwrap().counts.ran;
    assert_eq!(ran(&top), 5 * 100_000_000_000);
    assert!(
        ran(&chosen) > ran(&top) && ran(&chosen) < ran(&low),
        "{} {} {}",
        ran(&top),
        ran(&chosen),
        ran(&low)
    );
    // Without an account of load a CPU is either idle or full: it starts low and is at the top
    // after a millisecond or a tick.
    assert!(
        ran(&chosen) < ran(&top) + 5 * 6_000_000_000,
        "{}",
        ran(&chosen) - ran(&top)
    );
}

/// A policy that knows a load of nothing at first and of everything from a time on.
struct FullFrom(u64);

impl Placement for FullFrom {
    fn wake(&mut self, _view: &dyn View, _task: TaskId, previous: usize) -> usize {
        previous
    }
    fn utilisation(&self, view: &dyn View, _cpu: usize) -> Option<u32> {
        Some(if view.now() < self.0 { 0 } else { 1024 })
    }
}

#[test]
fn work_goes_on_at_the_new_speed_from_where_it_was_at_the_old() {
    let work = vec![Action::Run {
        time: Draw::Fixed(100 * MS),
        capacity: 430,
    }];
    // The change comes with CPU 2's tick, while CPU 3 computes; and the other way round.
    let on = |cpu: usize| {
        TaskSpec::forever(&format!("on-{cpu}"), work.clone())
            .on(CpuSet::one(cpu))
            .times(1)
    };
    let task = workload(vec![on(2), on(3), on(4)]);
    let settings = Settings {
        frequency: Frequency::Schedutil { rate_limit_ns: 0 },
        costs: free(),
        ..Settings::default()
    };
    let begin = run_put(&tc2(0), &settings, &task, SECOND).begin;
    let outcome = run_with(
        &tc2(0),
        &settings,
        &task,
        FullFrom(begin + 50_000_000_000),
        SECOND,
    );
    // At capacity 150 until the tick at 52 ms, then at 430.
    let rest = (430_u64 * 100_000_000_000 - 150 * 52_000_000_000).div_ceil(430);
    for task in &outcome.tasks {
        assert_eq!(task.counts.ran, 52_000_000_000 + rest, "{}", task.name);
    }
}

#[test]
fn the_run_ends_with_the_last_main_task() {
    let work = |ms| {
        vec![Action::Run {
            time: Draw::Fixed(ms * MS),
            capacity: 430,
        }]
    };
    let tasks = vec![
        TaskSpec::forever("short", work(10))
            .on(CpuSet::one(2))
            .times(1),
        TaskSpec::forever("long", work(10))
            .on(CpuSet::one(3))
            .times(7),
        TaskSpec::forever("other", work(10)).on(CpuSet::one(4)),
    ];
    let outcome = run_put(&tc2(0), &Settings::default(), &workload(tasks), 10 * SECOND);
    assert_eq!(
        outcome.task("long").unwrap().counts.ended,
        Some(outcome.time)
    );
    assert!(
        (70..72).contains(&(outcome.time / 1_000_000_000)),
        "{}",
        outcome.time
    );
    assert!(outcome.task("short").unwrap().counts.ended < Some(12_000_000_000));
    assert!(outcome.task("other").unwrap().counts.ran <= outcome.time);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let refused = |workload: &Workload, settings: &Settings| {
        run(&tc2(0), settings, workload, Box::new(StayPut), None, SECOND)
            .unwrap_err()
            .to_string()
    };
    let with = |action| workload(vec![TaskSpec::forever("t", vec![action])]);
    let settings = Settings::default();
    assert!(
        refused(&with(Action::Lock(0)), &settings)
            .contains("task t: there is no mutex 0; the workload has 0")
    );
    assert!(refused(&with(Action::Resume(4)), &settings).contains("there is no condition 4"));
    assert!(refused(&with(Action::Barrier(1)), &settings).contains("there is no barrier 1"));
    let nowhere = workload(vec![
        TaskSpec::forever("t", vec![Action::Yield]).on(CpuSet::one(7)),
    ]);
    assert!(refused(&nowhere, &settings).contains("it may run on no CPU; CPUs are 0 to 4"));
    let with_settings = |change: fn(&mut Settings)| {
        let mut settings = Settings::default();
        change(&mut settings);
        refused(&with(Action::Yield), &settings)
    };
    assert!(with_settings(|settings| settings.hz = 0).contains("24 to 1000"));
    assert!(with_settings(|settings| settings.timers_to = Some(9)).contains("CPUs are 0 to 4"));
    let draw = Draw::Uniform { low: 2, high: 1 };
    assert!(refused(&with(Action::Sleep(draw)), &settings).contains("cannot be drawn"));
    for action in [
        Action::Sleep(Draw::Fixed(0)),
        Action::RunTime(Draw::Fixed(0)),
    ] {
        assert!(
            refused(&with(action), &settings).contains("task t: nothing that it does takes time")
        );
    }
    let device = DeviceSpec {
        name: "d".to_owned(),
        gap: Draw::Fixed(10),
        cpu: 0,
        handler_ns: 0,
    };
    let storm = Workload {
        devices: vec![device],
        ..Workload::default()
    };
    assert!(refused(&storm, &settings).contains("2000 ns to an hour"));
    let bomb = workload(vec![TaskSpec::forever("bomb", vec![Action::Fork(0)])]);
    assert!(
        refused(&bomb, &settings).contains("task bomb: more than 4096 copies of tasks at once")
    );
}

#[test]
fn a_group_has_one_share_however_many_tasks_it_has() {
    let in_group = |name: &str, group| {
        let work = vec![Action::Run {
            time: Draw::Fixed(MS),
            capacity: 430,
        }];
        let task = TaskSpec::forever(name, Vec::new()).on(CpuSet::one(2));
        TaskSpec {
            phases: vec![Phase {
                group: Some(group),
                ..Phase::once(work)
            }],
            ..task
        }
    };
    let group = |name: &str, parent| GroupSpec {
        name: name.to_owned(),
        parent,
    };
    let ran = |tasks: Vec<TaskSpec>| {
        let workload = Workload {
            tasks,
            groups: vec![group("outer", 0), group("inner", 1)],
            ..Workload::default()
        };
        let outcome = run_put(&tc2(0), &Settings::default(), &workload, 10 * SECOND);
        outcome
            .tasks
            .iter()
            .map(|task| task.counts.ran as f64 / 1e11)
            .collect::<Vec<_>>()
    };
    let close = |found: Vec<f64>, percent: [f64; 4]| {
        assert!(
            found
                .iter()
                .zip(percent)
                .all(|(found, percent)| (found - percent).abs() < 1.0),
            "{found:?}"
        );
    };
    close(
        ran(vec![
            in_group("a", 0),
            in_group("b", 1),
            in_group("c", 1),
            in_group("d", 1),
        ]),
        [50.0, 16.7, 16.7, 16.7],
    );
    // Half is the root's own task's; of the other half, one half is a task's and one the inner
    // group's.
    close(
        ran(vec![
            in_group("a", 0),
            in_group("b", 1),
            in_group("c", 2),
            in_group("d", 2),
        ]),
        [50.0, 25.0, 12.5, 12.5],
    );
}

#[test]
fn short_work_in_a_row_is_the_same_work() {
    let outcome = |count: usize, us: u64| {
        let work = Action::Run {
            time: Draw::Fixed(us * US),
            capacity: 430,
        };
        let task = TaskSpec::forever("t", vec![work; count])
            .on(CpuSet::one(2))
            .times(1);
        run_put(&tc2(0), &Settings::default(), &workload(vec![task]), SECOND).tasks[0]
            .counts
            .clone()
    };
    let (one, many) = (outcome(1, 5_000), outcome(5_000, 1));
    assert_eq!(
        (one.ended.map(|ps| ps / 1_000), one.ran / 1_000),
        (many.ended.map(|ps| ps / 1_000), many.ran / 1_000)
    );
}

#[test]
fn ondemand_goes_up_at_once_and_down_by_the_load_in_ticks_only() {
    // A window holds many periods of the work, so that it matters little at which part of a period
    // it starts. With a window of two periods the governor itself goes up and down.
    let settings = Settings {
        frequency: Frequency::Ondemand {
            sampling_ns: 200 * MS,
        },
        ..Settings::default()
    };
    let run_with = |actions: Vec<Action>| {
        let tasks = vec![TaskSpec::forever("t", actions).on(CpuSet::one(2))];
        run_put(&tc2(0), &settings, &workload(tasks), 4 * SECOND).tasks[0]
            .counts
            .clone()
    };
    let share = |counts: &TaskCounts, point: usize| {
        counts.ran_at.get(&(2, point)).copied().unwrap_or(0) as f64 / counts.ran as f64
    };
    let busy = run_with(vec![Action::Run {
        time: Draw::Fixed(MS),
        capacity: 430,
    }]);
    // The first window, a twentieth of the run, is at the lowest point.
    assert!(share(&busy, 7) > 0.94, "always busy: {:?}", busy.ran_at);
    // 40 % of the time at the highest point, of which 92 % would be busy at 435 MHz.
    let part = Action::Run {
        time: Draw::Fixed(4 * MS),
        capacity: 430,
    };
    let timer = Action::Timer {
        timer: 0,
        period: 10 * MS,
        relative: false,
    };
    let some = run_with(vec![timer, part]);
    assert!(
        share(&some, 2) > 0.6,
        "500 MHz is the lowest that does: {:?}",
        some.ran_at
    );
    // Woken once per second for a moment: few ticks, and it stays at the lowest point.
    let rare = run_with(vec![
        Action::Sleep(Draw::Fixed(SECOND)),
        Action::Run {
            time: Draw::Fixed(MS),
            capacity: 430,
        },
    ]);
    assert!(share(&rare, 0) > 0.99, "{:?}", rare.ran_at);
}
