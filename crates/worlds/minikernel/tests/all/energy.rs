//! Energy by owner, to the last unit.

use crate::common::*;
use minikernel::*;

#[test]
fn one_periodic_task_by_hand() {
    // 1 ms of work every 6 ms on CPU 2, nothing else in the machine, and the kernel's own work
    // takes no time but for system calls.
    let task = vec![
        Action::Timer {
            timer: 0,
            period: 6 * MS,
            relative: false,
        },
        Action::Run {
            time: Draw::Fixed(MS),
            capacity: 430,
        },
    ];
    let workload = Workload {
        tasks: vec![TaskSpec::forever("task", task).on(CpuSet::one(2))],
        ..Workload::default()
    };
    // No deep states: only WFI.
    let settings = Settings {
        costs: free(),
        latency_limit_ns: 1_000,
        timer_slack_ns: 0,
        ..Settings::default()
    };
    let outcome = run_put(&tc2(0), &settings, &workload, 600 * MS);
    let task = outcome.task("task").unwrap();
    assert_eq!(task.counts.ran, 99 * 1_000_000_000, "at 6 ms to 594 ms");
    // Each wait for the timer is a system call of 10 ns at capacity 1024, here at 430; to compute
    // is none.
    let calls = 100 * (10_000 * 1024_u128).div_ceil(430);
    let ran = u128::from(task.counts.ran);
    // Core and cluster at the top operating point: nobody else runs in the cluster.
    assert_eq!(
        outcome.energy(Owner::Task(0)),
        (ran + calls) * (1024 + 4905)
    );
    let little = &outcome.domains[1];
    assert_eq!(u128::from(little.running), ran + calls);
    let rest = 600_000_000_000 - ran - calls;
    // The core's way out of WFI takes 1 us each time, in which the cluster's power is WFI's.
    let idle = outcome.energy(Owner::Idle(0)) + outcome.energy(Owner::Transition);
    assert_eq!(
        idle,
        rest * 25 + 600_000_000_000 * 70,
        "the big cluster idles throughout"
    );
    for owner in [
        Owner::Kernel,
        Owner::Interrupt,
        Owner::Callbacks,
        Owner::TickForRcu,
        Owner::RcuThread,
    ] {
        assert_eq!(outcome.energy(owner), 0, "{owner:?}");
    }
}

#[test]
fn audio_on_two_cpus_adds_up_to_the_last_unit() {
    for settings in [
        Settings::default(),
        Settings::of_2013(),
        Settings {
            hz: 100,
            ..Settings::of_2013()
        },
    ] {
        for part in [0, 300, 1024] {
            let outcome = run_put(&tc2(part), &settings, &audio(), 3 * SECOND);
            assert!(outcome.energy(Owner::Task(1)) > outcome.energy(Owner::Task(0)));
            assert!(outcome.energy(Owner::Task(0)) > 0);
            assert_eq!(
                outcome.energy(Owner::Callbacks) + outcome.energy(Owner::RcuThread),
                0
            );
            let times: u64 = outcome.domains[1].running
                + outcome.domains[1]
                    .idle
                    .iter()
                    .chain(&outcome.domains[1].moving)
                    .sum::<u64>();
            assert_eq!(times, outcome.time);
        }
    }
}
