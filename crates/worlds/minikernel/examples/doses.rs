//! Audio on a simulated TC2 with a kernel of 2013, and ever more callbacks beside it: what the
//! talk's configurations of RCU save.
//!
//! `cargo run --release -p minikernel --example doses`

#[path = "../tests/all/common.rs"]
mod common;

use common::*;
use minikernel::placement::StayPut;
use minikernel::*;

/// Name, offloaded CPUs, CPUs with enforced idle.
const CONFIGURATIONS: [(&str, &[usize], &[usize]); 4] = [
    ("reference", &[], &[]),
    ("offload", &[1, 2, 3, 4], &[]),
    ("enforced idle", &[], &[0, 1, 2, 3, 4]),
    ("both", &[1, 2, 3, 4], &[0]),
];

fn energy(
    per_second: u64,
    hz: u32,
    part: u64,
    offloaded: &[usize],
    enforced_idle: &[usize],
) -> u128 {
    let mut workload = audio();
    if let Some(mean) = SECOND.checked_div(per_second) {
        let actions = vec![Action::Sleep(Draw::Exponential { mean }), Action::FileClose];
        let closer =
            |cpu| TaskSpec::forever(&format!("closer-{cpu}"), actions.clone()).on(CpuSet::one(cpu));
        workload.tasks.extend((0..5).map(closer));
    }
    let mut settings = rcu::Settings::new(5, u64::from(hz), rcu::Form::Y2013);
    settings.offloaded = offloaded.to_vec();
    settings.enforced_idle = enforced_idle.to_vec();
    let little = CpuSet::from_cpus(LITTLE);
    let code = Rcu::new(
        settings,
        Affinities {
            grace_periods: little,
            offload: little,
        },
        false,
    )
    .expect("sound settings");
    let kernel = Settings {
        hz,
        ..Settings::of_2013()
    };
    let placement = Box::new(StayPut);
    let outcome = run(
        &tc2(part),
        &kernel,
        &workload,
        placement,
        Some(Box::new(code)),
        10 * SECOND,
    );
    outcome.expect("a sound workload").integral
}

fn main() {
    for hz in [100, 250] {
        for part in [0, 300, 1024] {
            println!(
                "HZ {hz}, round trips at {part}/1024 of their range: energy of the reference in units times seconds, and saved in %"
            );
            for per_second in [0, 1, 10, 100, 1000] {
                let all = CONFIGURATIONS.map(|(_, offloaded, idle)| {
                    energy(per_second, hz, part, offloaded, idle) as f64
                });
                print!("{per_second:6} callbacks/s a CPU {:10.1}", all[0] / 1e12);
                for ((name, ..), energy) in CONFIGURATIONS.iter().zip(all).skip(1) {
                    print!("   {name} {:6.2}", 100.0 * (1.0 - energy / all[0]));
                }
                println!();
            }
        }
    }
}
