//! What a simulated minute costs: `cargo bench -p minikernel`. Target: 60 s of audio in at most 1 s.

#[path = "../tests/common/mod.rs"]
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
fn audio_direct() -> Outcome {
    audio_for_a_minute(&Settings { idle_path: IdlePath::Direct, ..Settings::default() })
}

#[divan::bench(sample_count = 5)]
fn audio_of_2013_through_the_firmware() -> Outcome {
    audio_for_a_minute(&Settings::of_2013())
}

#[divan::bench(sample_count = 5)]
fn audio_through_the_firmware() -> Outcome {
    audio_for_a_minute(&Settings::default())
}

#[divan::bench(sample_count = 5)]
fn five_busy_cpus() -> Outcome {
    let compute = vec![Action::Run { time: Draw::Fixed(MS), capacity: 430 }];
    let tasks = (0..8).map(|number| TaskSpec::forever(&format!("busy-{number}"), compute.clone()));
    let workload = Workload { tasks: tasks.collect(), ..Workload::default() };
    run_with(&tc2(300), &Settings::default(), &workload, placement::EvenSpread, MINUTE)
}

#[divan::bench(sample_count = 5)]
fn cyclictest_on_five_cpus() -> Outcome {
    let tasks = (0..5).map(|cpu| {
        let period = MS + cpu as u64 * 500 * US;
        let actions = vec![
            Action::Timer { timer: 0, period, relative: false },
            Action::Run { time: Draw::Fixed(10 * US), capacity: 430 },
        ];
        let task = TaskSpec::forever(&format!("cyclictest-{cpu}"), actions).on(CpuSet::one(cpu));
        task.with_policy(Policy::RealTime { priority: 80 })
    });
    let workload = Workload { tasks: tasks.collect(), ..Workload::default() };
    run_put(&tc2(300), &Settings::default(), &workload, MINUTE)
}
