//! The idle loop: ticks, states, the way through the firmware, and who wakes whom.

use crate::common::*;
use minikernel::*;

fn periodic(name: &str, cpu: usize, period: u64) -> TaskSpec {
    let actions = vec![
        Action::Timer {
            timer: 0,
            period,
            relative: false,
        },
        Action::Run {
            time: Draw::Fixed(100 * US),
            capacity: 430,
        },
    ];
    TaskSpec::forever(name, actions).on(CpuSet::one(cpu))
}

fn workload(tasks: Vec<TaskSpec>) -> Workload {
    Workload {
        tasks,
        ..Workload::default()
    }
}

#[test]
fn a_machine_with_nothing_to_do_sleeps_and_does_not_tick() {
    for form in [Form::Modern, Form::Y2013] {
        let outcome = run_put(
            &tc2(0),
            &Settings {
                form,
                ..Settings::default()
            },
            &Workload::default(),
            SECOND,
        );
        assert!(
            outcome
                .cpus
                .iter()
                .all(|cpu| cpu.idle_ticks + cpu.busy_ticks == 0)
        );
        for domain in &outcome.domains {
            assert_eq!(domain.downs[1], 1, "{}", domain.name);
            assert!(domain.idle[1] > outcome.time / 1000 * 998);
        }
        // A stay that never ends is one of the CPU's all the same.
        for cpu in &outcome.cpus {
            assert_eq!(cpu.idle.iter().map(|usage| usage.entered).sum::<u64>(), 1);
            assert!(cpu.idle[1].time_ns > outcome.time / 1_000_000 * 998);
        }
    }
}

#[test]
fn a_cluster_sleeps_when_its_last_cpu_does_and_each_way_costs() {
    let settings = Settings::default();
    let tasks = workload(vec![periodic("a", 2, 20 * MS), periodic("b", 3, 20 * MS)]);
    let dear = run_put(&tc2(1024), &settings, &tasks, SECOND);
    let cheap = run_put(&tc2(0), &settings, &tasks, SECOND);
    let downs = dear.domains[1].downs[1];
    assert!(
        (48..=51).contains(&downs),
        "both wake at once, 49 times: {downs}"
    );
    // Per way: of the domain 1.5 ms at 2967 units, and each core's 187; or the 15 units that
    // 2.5 ms save.
    let entered: u64 = dear.cpus[2..].iter().map(|cpu| cpu.idle[1].entered).sum();
    assert!(entered >= 2 * downs, "{entered}");
    let difference = dear.energy(Owner::Transition) - cheap.energy(Owner::Transition);
    let big = u128::from(dear.domains[0].downs[1]);
    let big_entered: u64 = dear.cpus[..2].iter().map(|cpu| cpu.idle[1].entered).sum();
    let us = 1_000_000_u128;
    let of_domains =
        u128::from(downs) * (1500 * 2967 - 6000) * us + big * (1700 * 7920 - 90_000) * us;
    let of_cores = (u128::from(entered) * 1500 * 187 + u128::from(big_entered) * 1700 * 2021) * us;
    assert_eq!(difference - of_domains, of_cores);
}

#[test]
fn the_firmware_is_called_for_deep_states_and_takes_its_time() {
    let tasks = workload(vec![periodic("a", 2, 20 * MS)]);
    let firmware = Settings {
        record: true,
        ..Settings::default()
    };
    let names = |outcome: &Outcome| {
        let of = |name: &str| {
            outcome
                .events
                .iter()
                .filter(|event| soc::point_name(event.point) == name && event.cpu == 2)
                .count()
        };
        [of("enter-psci"), of("power-off"), of("power-on")]
    };
    let through = run_put(&tc2(0), &firmware, &tasks, SECOND);
    assert!(
        names(&through).iter().all(|&count| count >= 49),
        "{:?}",
        names(&through)
    );
    let cluster_off =
        |event: &&soc::Event| soc::point_name(event.point) == "power-off" && event.argument == 1;
    let clusters = through.events.iter().filter(cluster_off).count() as u64;
    assert_eq!(
        clusters,
        through.domains.iter().map(|domain| domain.downs[1]).sum(),
        "the cluster is off when the meter says so"
    );
    // A latency limit keeps the CPU in WFI, where the firmware is not asked.
    let shallow = run_put(
        &tc2(0),
        &Settings {
            latency_limit_ns: 1_000,
            ..firmware
        },
        &tasks,
        SECOND,
    );
    assert!(
        names(&shallow)[0] <= 1,
        "the CPU_ON that started it: {:?}",
        names(&shallow)
    );
    assert!(shallow.cpus.iter().all(|cpu| cpu.idle[1].entered == 0));
    let late = |outcome: &Outcome| {
        outcome
            .task("a")
            .unwrap()
            .counts
            .latencies
            .iter()
            .copied()
            .max()
            .unwrap()
    };
    assert!(
        late(&shallow) < 70_000 && late(&through) > 100_000,
        "{} {}",
        late(&shallow),
        late(&through)
    );
}

#[test]
fn idle_latencies_of_other_platforms_are_refused() {
    let error = hardware("tc2", "tc2-borrowed", "juno-r2", 0).unwrap_err();
    assert!(
        error.contains("juno-r2") && error.contains("there is no domain of CPUs 0..2"),
        "{error}"
    );
    let error = hardware("juno-r1", "juno-v2.12", "juno-r1", 0).unwrap_err();
    assert!(
        error.contains("juno-r1: domain `little` has no operating points"),
        "{error}"
    );
}

#[test]
fn unpinned_timers_can_be_moved_to_another_cpu() {
    let roams = TaskSpec {
        cpus: CpuSet::from_cpus([0, 2]),
        ..periodic("a", 0, 20 * MS)
    };
    let put = run_put(
        &tc2(100),
        &Settings::default(),
        &workload(vec![roams.clone()]),
        SECOND,
    );
    let moved = run_put(
        &tc2(100),
        &Settings {
            timers_to: Some(2),
            ..Settings::default()
        },
        &workload(vec![roams]),
        SECOND,
    );
    assert_eq!(
        [
            put.cpus[0].woken_by(WakeCause::Timer),
            put.cpus[2].woken_by(WakeCause::Timer)
        ],
        [49, 0]
    );
    assert_eq!(moved.cpus[0].woken_by(WakeCause::Timer), 0);
    assert_eq!(moved.cpus[2].woken_by(WakeCause::Timer), 49);
    assert_eq!(moved.cpus[0].woken_by(WakeCause::Task), 49);
    assert!(moved.cpus[2].woken_by(WakeCause::RemoteTimer) > 40);
}

#[test]
fn what_a_cpu_counts_as_idle_is_what_it_does_not_run() {
    let settings = Settings::default();
    let outcome = run_put(&tc2(0), &settings, &audio(), 2 * SECOND);
    for cpu in [2, 3] {
        let idle: u64 = outcome.cpus[cpu]
            .idle
            .iter()
            .map(|usage| usage.time_ns * 1_000)
            .sum();
        let ran = outcome.tasks[cpu - 2].counts.ran;
        let rest = outcome.time - ran - idle;
        assert!(
            rest < outcome.time / 25,
            "CPU {cpu} ran {ran}, idled {idle}"
        );
    }
}

#[test]
fn a_busy_cpu_ticks_and_hz_says_how_often() {
    let busy = vec![Action::Run {
        time: Draw::Fixed(MS),
        capacity: 430,
    }];
    let tasks = workload(vec![TaskSpec::forever("busy", busy).on(CpuSet::one(2))]);
    for hz in [100, 250, 1000] {
        let outcome = run_put(
            &tc2(0),
            &Settings {
                hz,
                ..Settings::default()
            },
            &tasks,
            SECOND + 500 * US,
        );
        assert_eq!(outcome.cpus[2].busy_ticks, u64::from(hz));
        assert_eq!(outcome.cpus[2].idle_ticks, 0);
    }
}

/// Ten short pauses and then a long one, over and over: what recent stays have in common is wrong
/// about the long one, and no tick comes.
#[test]
fn the_menu_of_2013_does_not_leave_a_cpu_in_wfi_by_mistake() {
    let pause = |time| Action::Sleep(Draw::Fixed(time));
    let run = || Action::Run {
        time: Draw::Fixed(20 * US),
        capacity: 430,
    };
    let mut actions: Vec<Action> = (0..10).flat_map(|_| [run(), pause(300 * US)]).collect();
    actions.push(pause(200 * MS));
    let tasks = workload(vec![
        TaskSpec::forever("bursts", actions).on(CpuSet::one(3)),
    ]);
    let settings = Settings::of_2013();
    let own = run_put(&tc2(0), &settings, &tasks, 4 * SECOND);
    let later = run_put(
        &tc2(0),
        &Settings {
            governor: idle::Kind::menu(6, 1),
            ..settings
        },
        &tasks,
        4 * SECOND,
    );
    let [wfi, wfi_later] = [&own, &later].map(|outcome| outcome.cpus[3].idle[0].time_ns);
    assert!(
        own.cpus[3].woken_by(WakeCause::Limit) >= 15,
        "{:?}",
        own.cpus[3].wake_ups
    );
    assert_eq!(later.cpus[3].woken_by(WakeCause::Limit), 0);
    // It asks again some 24 times in each long pause: what it then takes for typical only doubles.
    assert!(
        2 * wfi < wfi_later && wfi_later > 3 * SECOND,
        "{wfi} {wfi_later}"
    );
}
