//! Random workloads under random settings: the owners' sum is the integral, tasks run no longer
//! than there is time, and the same inputs give the same run.

use crate::common::*;
use minikernel::placement::{EvenSpread, Placement, StayPut};
use minikernel::*;
use proptest::prelude::*;

fn draw() -> impl Strategy<Value = Draw> {
    prop_oneof![
        (0..3 * MS).prop_map(Draw::Fixed),
        (0..MS, MS..5 * MS).prop_map(|(low, high)| Draw::Uniform { low, high }),
        (1..4 * MS).prop_map(|mean| Draw::Exponential { mean }),
    ]
}

fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        4 => draw().prop_map(|time| Action::Run { time, capacity: 430 }),
        4 => draw().prop_map(Action::Sleep),
        1 => draw().prop_map(Action::RunTime),
        3 => (0..3_usize, MS..20 * MS, any::<bool>())
            .prop_map(|(timer, period, relative)| Action::Timer { timer, period, relative }),
        1 => (1..20 * MS, any::<bool>()).prop_map(|(period, relative)| Action::SharedTimer { timer: 0, period, relative }),
        1 => Just(Action::SemPost(0)),
        1 => Just(Action::SemWait(0)),
        1 => (0..2_usize).prop_map(Action::Resume),
        1 => (0..2_usize).prop_map(Action::Suspend),
        1 => Just(Action::Signal(0)),
        1 => Just(Action::Broadcast(0)),
        1 => Just(Action::Lock(0)),
        1 => Just(Action::Unlock(0)),
        1 => Just(Action::Wait { condition: 0, mutex: 0 }),
        1 => Just(Action::Sync { condition: 0, mutex: 0 }),
        1 => Just(Action::Barrier(0)),
        1 => Just(Action::Yield),
        1 => Just(Action::FileClose),
    ]
}

fn task() -> impl Strategy<Value = TaskSpec> {
    let policy = prop_oneof![
        3 => (-20..20_i8).prop_map(|nice| Policy::Fair { nice }),
        1 => (1..99_u8).prop_map(|priority| Policy::RealTime { priority }),
    ];
    let phase = (
        prop::collection::vec(action(), 1..5),
        prop::option::of(0..3_usize),
    )
        .prop_map(|(actions, group)| Phase {
            group,
            ..Phase::once(actions)
        });
    (
        policy,
        1..32_u64,
        0..20 * MS,
        prop::collection::vec(phase, 1..3),
    )
        .prop_map(|(policy, cpus, at, phases)| {
            let task = TaskSpec::forever("task", Vec::new()).on(CpuSet(cpus));
            TaskSpec {
                policy,
                start: Start::At(at),
                phases,
                ..task
            }
        })
}

fn workload() -> impl Strategy<Value = Workload> {
    let device = (draw(), 0..5_usize).prop_map(|(gap, cpu)| DeviceSpec {
        name: "device".to_owned(),
        // Handlers must leave the CPU some time.
        gap: Draw::Fixed(gap.next(&mut engine::SplitMix64::new(1)) + MS / 10),
        cpu,
        handler_ns: 2_000,
    });
    (
        prop::collection::vec(task(), 3..7),
        prop::collection::vec(device, 0..2),
    )
        .prop_map(|(tasks, devices)| Workload {
            timers: 1,
            tasks,
            devices,
            mutexes: vec!["m".to_owned()],
            conditions: 2,
            semaphores: vec![1],
            barriers: vec![2],
            groups: vec![
                GroupSpec {
                    name: "outer".to_owned(),
                    parent: 0,
                },
                GroupSpec {
                    name: "inner".to_owned(),
                    parent: 1,
                },
            ],
        })
}

fn settings() -> impl Strategy<Value = Settings> {
    let frequency = prop_oneof![
        Just(Frequency::Highest),
        Just(Frequency::Lowest),
        Just(Frequency::Schedutil { rate_limit_ns: MS }),
        Just(Frequency::Ondemand {
            sampling_ns: 20 * MS
        }),
    ];
    let either = (any::<bool>(), any::<bool>());
    let home = prop::option::of(0..5_usize);
    (
        either,
        frequency,
        0..idle::Kind::ALL.len(),
        home,
        any::<u64>(),
    )
        .prop_map(
            |((modern, fast), frequency, governor, timers_to, seed)| Settings {
                form: if modern { Form::Modern } else { Form::Y2013 },
                hz: if fast { 250 } else { 100 },
                governor: idle::Kind::ALL[governor],
                frequency,
                timers_to,
                seed,
                ..Settings::default()
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn energy_adds_up_and_runs_repeat(workload in workload(), settings in settings(), spread in any::<bool>()) {
        let hardware = tc2(300);
        let once = || {
            let placement: Box<dyn Placement> = if spread { Box::new(EvenSpread::new(1)) } else { Box::new(StayPut) };
            run(&hardware, &settings, &workload, placement, None, 200 * MS).unwrap()
        };
        let outcome = once();
        prop_assert_eq!(outcome.total(), outcome.integral);
        for domain in &outcome.domains {
            prop_assert_eq!(domain.running + domain.idle.iter().chain(&domain.moving).sum::<u64>(), outcome.time);
        }
        let ran: u64 = outcome.tasks.iter().map(|task| task.counts.ran).sum();
        let idle: u64 = outcome.cpus.iter().flat_map(|cpu| &cpu.idle).map(|usage| usage.time_ns * 1_000).sum();
        prop_assert!(ran + idle <= 5 * outcome.time + 5 * 3_000_000_000, "{} {}", ran, idle);
        prop_assert_eq!(outcome.time, 200 * MS * 1_000);
        prop_assert_eq!(once(), outcome);
    }
}
