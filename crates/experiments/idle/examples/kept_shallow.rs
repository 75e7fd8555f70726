//! Loads on which teo of 6.12 stays in WFI and that of 6.6 does not: `cargo run --release -p
//! idle-experiments --example kept_shallow`. A report of MT8196 has such a load, and says little of
//! it; this looks for one among what could be.

use idle::{Kind, State, States};
use idle_experiments::closed_loop::{Load, Phase, Range, Times};

const US: u64 = 1_000;
const KERNELS: [&str; 4] = ["teo@6.6", "teo@6.12", "teo@6.18", "teo@6.19"];

fn main() -> Result<(), idle::StatesError> {
    let kinds: Vec<Kind> = KERNELS.iter().filter_map(|name| Kind::find(name)).collect();
    let mut tried = 0;
    println!("tick, residency, timers, interrupts (us); share of time in WFI (%): {}", KERNELS.join(", "));
    for tick in [1_000, 10_000] {
        for residency in [1_500, 2_500, 4_000, 6_000] {
            let deep = |exit: u64| State::new(exit * US, residency * US);
            let states = States::new(&[State::new(US, US), deep(300), deep(301)])?;
            for timers in [900, 2_000, 5_000, 9_000, 16_000, 50_000, 250_000] {
                for gap in [500, 1_500, 3_000, 8_000, 20_000, 60_000] {
                    let load = Load { states, tick_ns: tick * US, phases: phases(timers, gap), seed: 1 };
                    let wfi = |kind: &Kind| {
                        let lived = load.live(*kind);
                        100.0 * lived.states[0].time_ns as f64 / lived.sum(|usage| usage.time_ns) as f64
                    };
                    let shares: Vec<f64> = kinds.iter().map(wfi).collect();
                    tried += 1;
                    if shares[1] > 60.0 && shares[0] < 30.0 {
                        println!("{tick} {residency} {timers} {gap}: {shares:.1?}");
                    }
                }
            }
        }
    }
    println!("{tried} loads tried");
    Ok(())
}

/// Two seconds of use, and half a minute with interrupts that are `gap` apart in the mean.
fn phases(timers: u64, gap: u64) -> Vec<Phase> {
    let phase = |least: u64, spread: u64, length: u64| Phase {
        period_ns: timers * US,
        work_ns: 50 * US,
        interrupts: Some(Times(vec![Range { weight: 1, least_ns: least * US, spread_ns: spread * US }])),
        answers: None,
        length_ns: length * US,
    };
    vec![phase(100, 300, 2_000_000), phase(0, 2 * gap, 32_000_000)]
}
