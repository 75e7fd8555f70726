//! The waits of tasks: for each other, for timers, for devices.

use crate::common::*;
use minikernel::*;

fn compute(ms: u64) -> Action {
    Action::Run {
        time: Draw::Fixed(ms * MS),
        capacity: 430,
    }
}

fn free_settings() -> Settings {
    Settings {
        costs: free(),
        latency_limit_ns: 1_000,
        timer_slack_ns: 0,
        ..Settings::default()
    }
}

/// Tasks on CPUs 2, 3 and 4 in turn, each once through its actions; they start a microsecond apart.
fn once(actions: Vec<Vec<Action>>, objects: Workload) -> Outcome {
    let tasks = actions.into_iter().enumerate().map(|(number, actions)| {
        let task = TaskSpec::forever(&number.to_string(), actions)
            .on(CpuSet::one(LITTLE[number % 3]))
            .times(1);
        TaskSpec {
            start: Start::At(number as u64 * US),
            ..task
        }
    });
    let workload = Workload {
        tasks: tasks.collect(),
        ..objects
    };
    run_put(&tc2(0), &free_settings(), &workload, 10 * SECOND)
}

/// When each task ended, in whole milliseconds.
fn ends(outcome: &Outcome) -> Vec<Option<u64>> {
    outcome
        .tasks
        .iter()
        .map(|task| task.counts.ended.map(|ps| ps / 1_000_000_000))
        .collect()
}

#[test]
fn a_mutex_is_held_by_one_at_a_time() {
    let section = vec![Action::Lock(0), compute(10), Action::Unlock(0), compute(1)];
    let outcome = once(
        vec![section.clone(), section.clone(), section],
        Workload {
            mutexes: vec!["m".to_owned()],
            ..Workload::default()
        },
    );
    assert_eq!(ends(&outcome), [Some(11), Some(21), Some(31)]);
}

#[test]
fn a_semaphore_remembers_but_resume_does_not() {
    let objects = Workload {
        semaphores: vec![1],
        ..Workload::default()
    };
    let waits = vec![
        Action::SemWait(0),
        compute(10),
        Action::SemWait(0),
        compute(1),
    ];
    let posts = vec![compute(5), Action::SemPost(0), compute(45)];
    assert_eq!(
        ends(&once(vec![waits, posts], objects)),
        [Some(11), Some(50)]
    );
    // The resume at 5 ms comes while the other computes and is lost; the one at 50 ms is not.
    let suspends = vec![compute(10), Action::Suspend(0), compute(1)];
    let one = || Workload {
        conditions: 1,
        ..Workload::default()
    };
    let resumes = vec![
        compute(5),
        Action::Resume(0),
        compute(45),
        Action::Resume(0),
        compute(10),
    ];
    assert_eq!(
        ends(&once(vec![suspends.clone(), resumes.clone()], one())),
        [Some(51), Some(60)]
    );
    let sleeps = vec![Action::Sleep(Draw::Fixed(100 * MS)), compute(1)];
    assert_eq!(
        ends(&once(vec![sleeps, resumes.clone()], one())),
        [Some(101), Some(60)],
        "who sleeps is not suspended"
    );
    let first = vec![Action::Suspend(0), compute(1)];
    assert_eq!(
        ends(&once(vec![first, suspends, resumes], one())),
        [Some(6), Some(51), Some(60)],
        "each resume is for all that are suspended then"
    );
}

#[test]
fn a_condition_gives_the_mutex_away_and_takes_it_back() {
    let objects = || Workload {
        mutexes: vec!["m".to_owned()],
        conditions: 1,
        ..Workload::default()
    };
    let waits = vec![
        Action::Lock(0),
        Action::Wait {
            condition: 0,
            mutex: 0,
        },
        compute(10),
        Action::Unlock(0),
    ];
    // Signals at 20 ms, but holds the mutex until 30 ms.
    let signals = vec![
        compute(5),
        Action::Lock(0),
        compute(15),
        Action::Signal(0),
        compute(10),
        Action::Unlock(0),
    ];
    assert_eq!(
        ends(&once(vec![waits.clone(), signals], objects())),
        [Some(40), Some(30)]
    );
    let broadcasts = vec![compute(20), Action::Broadcast(0)];
    assert_eq!(
        ends(&once(
            vec![waits.clone(), waits.clone(), broadcasts.clone()],
            objects()
        )),
        [Some(30), Some(40), Some(20)]
    );
    let signal_one = vec![
        compute(20),
        Action::Signal(0),
        compute(30),
        Action::Signal(0),
    ];
    assert_eq!(
        ends(&once(vec![waits.clone(), waits, signal_one], objects())),
        [Some(30), Some(60), Some(50)]
    );
    let sync = vec![
        Action::Lock(0),
        Action::Sync {
            condition: 0,
            mutex: 0,
        },
        Action::Unlock(0),
    ];
    let outcome = once(vec![sync.clone(), sync, broadcasts], objects());
    // The second one's sync lets the first go, and waits for the broadcast itself.
    assert_eq!(ends(&outcome), [Some(0), Some(20), Some(20)]);
}

#[test]
fn a_barrier_opens_for_all() {
    let party = |ms| vec![compute(ms), Action::Barrier(0), compute(1)];
    let outcome = once(
        vec![party(10), party(30), party(20)],
        Workload {
            barriers: vec![3],
            ..Workload::default()
        },
    );
    assert_eq!(ends(&outcome), [Some(31), Some(31), Some(31)]);
}

#[test]
fn periods_catch_up_or_start_anew() {
    let periodic = |relative| {
        let timer = Action::Timer {
            timer: 0,
            period: 10 * MS,
            relative,
        };
        // Too long once, then short.
        vec![
            timer,
            compute(25),
            timer,
            compute(1),
            timer,
            compute(1),
            timer,
            compute(1),
        ]
    };
    let outcome = once(vec![periodic(false), periodic(true)], Workload::default());
    // From 10 to 35; periods of 20 and 30 are over; the one at 40 is not.
    // Or anew from 35: not over at 36 is the one at 45, nor that at 55.
    assert_eq!(ends(&outcome), [Some(41), Some(56)]);
}

#[test]
fn a_timer_that_tasks_share_is_moved_on_by_each_of_them() {
    let timer = Action::SharedTimer {
        timer: 0,
        period: 10 * MS,
        relative: false,
    };
    let outcome = once(
        vec![vec![timer; 2], vec![timer; 2]],
        Workload {
            timers: 1,
            ..Workload::default()
        },
    );
    // The first waits until 10 ms and then until 30, the second until 20 and then until 40.
    assert_eq!(ends(&outcome), [Some(30), Some(40)]);
}

#[test]
fn forks_run_beside_their_parent_and_belong_to_what_they_copy() {
    let child = TaskSpec {
        start: Start::ByFork,
        ..TaskSpec::forever("child", vec![compute(10)])
            .on(CpuSet::one(3))
            .times(1)
    };
    let parent = vec![Action::Fork(1), compute(1), Action::Fork(1), compute(50)];
    let tasks = vec![
        TaskSpec::forever("parent", parent)
            .on(CpuSet::one(2))
            .times(1),
        child,
    ];
    let outcome = run_put(
        &tc2(0),
        &free_settings(),
        &Workload {
            tasks,
            ..Workload::default()
        },
        SECOND,
    );
    assert_eq!(outcome.tasks.len(), 4);
    let ran: Vec<_> = outcome
        .tasks
        .iter()
        .map(|task| task.counts.ran / 1_000_000_000)
        .collect();
    assert_eq!(ran, [51, 0, 10, 10]);
    assert!(outcome.energy(Owner::Task(1)) > 20 * 1_000_000_000 * 1024);
    assert_eq!(
        outcome.tasks[1].counts.ended, None,
        "the original never starts"
    );
}

#[test]
fn copies_that_have_ended_do_not_count_against_the_limit() {
    let child = TaskSpec {
        start: Start::ByFork,
        ..TaskSpec::forever("child", vec![Action::Exit]).on(CpuSet::one(3))
    };
    let parent = TaskSpec::forever(
        "parent",
        vec![Action::Fork(1), Action::Sleep(Draw::Fixed(100 * US))],
    );
    let tasks = vec![parent.on(CpuSet::one(2)).times(5_000), child];
    let outcome = run_put(
        &tc2(0),
        &free_settings(),
        &Workload {
            tasks,
            ..Workload::default()
        },
        10 * SECOND,
    );
    assert_eq!(outcome.tasks.len(), 5_002);
}

#[test]
fn yield_lets_the_other_run() {
    let actions = |times: usize| vec![[compute(1), Action::Yield]; times].concat();
    let task = |name: &str| {
        TaskSpec::forever(name, actions(10))
            .on(CpuSet::one(2))
            .times(1)
    };
    let workload = Workload {
        tasks: vec![task("a"), task("b")],
        ..Workload::default()
    };
    let outcome = run_put(&tc2(0), &free_settings(), &workload, SECOND);
    let ends = ends(&outcome);
    assert_eq!(ends, [Some(20), Some(20)], "they take turns to the end");
}

#[test]
fn a_device_interrupts_its_cpu_alone() {
    let device = DeviceSpec {
        name: "dma".to_owned(),
        gap: Draw::Fixed(10 * MS),
        cpu: 4,
        handler_ns: 5_000,
    };
    let workload = Workload {
        devices: vec![device],
        ..Workload::default()
    };
    let outcome = run_put(&tc2(0), &Settings::default(), &workload, SECOND - MS);
    assert_eq!(outcome.cpus[4].woken_by(WakeCause::Device), 99);
    assert_eq!(outcome.cpus[3].interrupts, 0);
    let elsewhere = Workload {
        devices: vec![DeviceSpec {
            cpu: 0,
            ..workload.devices[0].clone()
        }],
        ..workload.clone()
    };
    let moved = run_put(&tc2(0), &Settings::default(), &elsewhere, SECOND - MS);
    assert_eq!(
        (
            moved.cpus[4].woken_by(WakeCause::Device),
            moved.cpus[0].woken_by(WakeCause::Device)
        ),
        (0, 99)
    );
    assert!(moved.total() > outcome.total(), "it wakes a big CPU then");
}

#[test]
fn sleeps_have_slack() {
    let sleeper = |timer_slack_ns| {
        let actions = vec![Action::Sleep(Draw::Fixed(MS))];
        let task = TaskSpec::forever("t", actions).on(CpuSet::one(2)).times(1);
        let workload = Workload {
            tasks: vec![task],
            ..Workload::default()
        };
        run_put(
            &tc2(0),
            &Settings {
                timer_slack_ns,
                ..free_settings()
            },
            &workload,
            SECOND,
        )
        .time
            / 1_000_000
    };
    assert_eq!(sleeper(50_000) - sleeper(0), 50);
}

#[test]
fn a_response_runs_from_the_beginning_of_a_period_to_the_end_of_its_work() {
    let responses = |relative: bool| {
        // The second period's work takes longer than the period.
        let timer = Action::Timer {
            timer: 0,
            period: 10 * MS,
            relative,
        };
        let work = |ms| Action::Run {
            time: Draw::Fixed(ms * MS),
            capacity: 430,
        };
        let actions = vec![timer, work(2), timer, work(14), timer, work(3), timer];
        let task = TaskSpec::forever("frames", actions)
            .on(CpuSet::one(2))
            .times(1);
        let settings = Settings {
            costs: free(),
            timer_slack_ns: 0,
            ..Settings::default()
        };
        let workload = Workload {
            tasks: vec![task],
            ..Workload::default()
        };
        let outcome = run_put(&tc2(0), &settings, &workload, SECOND);
        outcome
            .task("frames")
            .unwrap()
            .counts
            .responses
            .iter()
            .map(|ns| (ns + 500_000) / 1_000_000)
            .collect::<Vec<_>>()
    };
    // The third period begins on time, 4 ms before the second's work is done; or when it is done.
    assert_eq!(responses(false), [2, 14, 7]);
    assert_eq!(responses(true), [2, 14, 3]);
}

/// 32 bits of nanoseconds end at 4.3 s.
#[test]
fn a_response_of_nine_seconds_is_recorded_whole() {
    let timer = Action::Timer {
        timer: 0,
        period: 10 * MS,
        relative: true,
    };
    let actions = vec![
        timer,
        Action::Run {
            time: Draw::Fixed(9 * SECOND),
            capacity: 430,
        },
        timer,
    ];
    let task = TaskSpec::forever("frames", actions)
        .on(CpuSet::one(2))
        .times(1);
    let settings = Settings {
        costs: free(),
        timer_slack_ns: 0,
        ..Settings::default()
    };
    let workload = Workload {
        tasks: vec![task],
        ..Workload::default()
    };
    let outcome = run_put(&tc2(0), &settings, &workload, 20 * SECOND);
    let responses = &outcome.task("frames").unwrap().counts.responses;
    assert_eq!(
        responses
            .iter()
            .map(|ns| (ns + 500_000_000) / 1_000_000_000)
            .collect::<Vec<_>>(),
        [9]
    );
}

#[test]
fn a_deadlock_of_mutexes_is_named_once() {
    let names = |names: &[&str]| Workload {
        mutexes: names.iter().map(|name| (*name).to_owned()).collect(),
        ..Workload::default()
    };
    let both = |first, second| vec![Action::Lock(first), compute(10), Action::Lock(second)];
    let told = |outcome: Outcome| {
        outcome
            .deadlocks
            .into_iter()
            .map(|(_, words)| words)
            .collect::<Vec<_>>()
    };
    let crossed = once(
        vec![both(0, 1), both(1, 0), vec![compute(20), Action::Lock(1)]],
        names(&["a", "b"]),
    );
    assert_eq!(
        told(crossed),
        ["1 waits for the mutex a, which 0 holds; 0 waits for the mutex b, which 1 holds"],
        "the third waits too, and is in no circle"
    );
    let again = once(vec![vec![Action::Lock(0), Action::Lock(0)]], names(&["a"]));
    assert_eq!(
        told(again),
        ["0 waits for the mutex a, which it itself holds"]
    );
    let left = vec![
        vec![Action::Lock(0), compute(5)],
        vec![compute(1), Action::Lock(0)],
    ];
    assert_eq!(
        told(once(left, names(&["a"]))),
        ["1 waits for the mutex a, which 0 holds and has ended"],
        "who ends keeps what it holds"
    );
    let fine = [
        both(0, 1),
        vec![compute(1), Action::Lock(0), Action::Unlock(0)],
    ];
    assert!(
        told(once(
            vec![
                [fine[0].clone(), vec![Action::Unlock(1), Action::Unlock(0)]].concat(),
                fine[1].clone()
            ],
            names(&["a", "b"])
        ))
        .is_empty()
    );
}

#[test]
fn periods_that_were_missed_and_skipped_are_counted() {
    let periodic = |relative| {
        let timer = Action::Timer {
            timer: 0,
            period: 10 * MS,
            relative,
        };
        vec![
            timer,
            compute(35),
            timer,
            compute(1),
            timer,
            compute(1),
            timer,
        ]
    };
    let outcome = once(vec![periodic(false), periodic(true)], Workload::default());
    let counted: Vec<_> = outcome
        .tasks
        .iter()
        .map(|task| (task.counts.misses, task.counts.skipped))
        .collect();
    // From 10 to 45: the periods that begin at 20, 30 and 40 are late; or 20 is, and two are left
    // out.
    assert_eq!(counted, [(3, 0), (1, 2)]);
}

#[test]
fn a_task_has_run_where_and_as_fast_as_it_did() {
    let tasks = vec![
        TaskSpec::forever("t", vec![compute(10)])
            .on(CpuSet::one(3))
            .times(1),
    ];
    let settings = Settings {
        frequency: Frequency::Lowest,
        ..free_settings()
    };
    let outcome = run_put(
        &tc2(0),
        &settings,
        &Workload {
            tasks,
            ..Workload::default()
        },
        SECOND,
    );
    let counts = &outcome.tasks[0].counts;
    assert_eq!(
        counts
            .ran_at
            .iter()
            .map(|(at, time)| (*at, *time))
            .collect::<Vec<_>>(),
        [((3, 0), counts.ran)]
    );
    assert_eq!(counts.wake_ups, 1);
}
