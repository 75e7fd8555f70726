//! The cost of a simulated minute: `cargo bench -p minikernel`. Target: 60 s of audio in at most 1
//! s.

#[path = "../tests/all/common.rs"]
mod common;

use common::*;
use minikernel::*;

fn main() {
    divan::main();
}

const MINUTE: u64 = 60 * SECOND;

fn audio_for_a_minute(settings: &Settings) -> Outcome {
    run_put(&tc2(300), settings, &audio(), MINUTE)
}

#[divan::bench(sample_count = 5)]
fn audio_of_2013_through_the_firmware() -> Outcome {
    audio_for_a_minute(&Settings::of_2013())
}

#[divan::bench(sample_count = 5)]
fn audio_through_the_firmware() -> Outcome {
    audio_for_a_minute(&Settings::default())
}

/// Audio, and a hundred files closed per second on each CPU.
#[divan::bench(sample_count = 5)]
fn audio_with_callbacks() -> Outcome {
    callbacks_for_a_minute(audio(), SECOND / 100)
}

/// A sleep of 200 us on average before each callback, on each CPU: more than a million callbacks,
/// and as many wake-ups.
#[divan::bench(sample_count = 5)]
fn a_million_callbacks() -> Outcome {
    let outcome = callbacks_for_a_minute(Workload::default(), SECOND / 5_000);
    assert!(
        outcome
            .cpus
            .iter()
            .map(|cpu| cpu.invoked_in_softirq)
            .sum::<u64>()
            > 1_000_000
    );
    outcome
}

fn callbacks_for_a_minute(mut workload: Workload, mean: u64) -> Outcome {
    let actions = vec![Action::Sleep(Draw::Exponential { mean }), Action::FileClose];
    let closer =
        |cpu| TaskSpec::forever(&format!("closer-{cpu}"), actions.clone()).on(CpuSet::one(cpu));
    workload.tasks.extend((0..5).map(closer));
    let affinities = Affinities {
        grace_periods: CpuSet::ALL,
        offload: CpuSet::ALL,
    };
    let code = Rcu::new(
        rcu::Settings::new(5, 250, rcu::Form::Modern),
        affinities,
        false,
    )
    .expect("sound settings");
    let placement = Box::new(placement::StayPut);
    run(
        &tc2(300),
        &Settings::default(),
        &workload,
        placement,
        Some(Box::new(code)),
        MINUTE,
    )
    .expect("a sound workload")
}

#[divan::bench(sample_count = 5)]
fn five_busy_cpus() -> Outcome {
    let compute = vec![Action::Run {
        time: Draw::Fixed(MS),
        capacity: 430,
    }];
    let tasks = (0..8).map(|number| TaskSpec::forever(&format!("busy-{number}"), compute.clone()));
    let workload = Workload {
        tasks: tasks.collect(),
        ..Workload::default()
    };
    run_with(
        &tc2(300),
        &Settings::default(),
        &workload,
        placement::EvenSpread::new(1),
        MINUTE,
    )
}

#[divan::bench(sample_count = 5)]
fn cyclictest_on_five_cpus() -> Outcome {
    let tasks = (0..5).map(|cpu| {
        let period = MS + cpu as u64 * 500 * US;
        let actions = vec![
            Action::Timer {
                timer: 0,
                period,
                relative: false,
            },
            Action::Run {
                time: Draw::Fixed(10 * US),
                capacity: 430,
            },
        ];
        TaskSpec {
            policy: Policy::RealTime { priority: 80 },
            ..TaskSpec::forever(&format!("cyclictest-{cpu}"), actions).on(CpuSet::one(cpu))
        }
    });
    let workload = Workload {
        tasks: tasks.collect(),
        ..Workload::default()
    };
    run_put(&tc2(300), &Settings::default(), &workload, MINUTE)
}
