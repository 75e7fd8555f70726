//! Three seconds of something like music on a simulated TC2, and whose the energy is.
//!
//! `cargo run --release -p minikernel --example owners`

#[path = "../tests/all/common.rs"]
mod common;

use common::*;
use minikernel::*;

fn main() {
    for (name, settings) in [
        ("modern", Settings::default()),
        ("2013", Settings::of_2013()),
    ] {
        let outcome = run_put(&tc2(300), &settings, &audio(), 3 * SECOND);
        println!("{name}\n  energy, units of the table times seconds");
        for &owner in &outcome.owners {
            println!("  {:>12.3}  {owner:?}", outcome.energy(owner) as f64 / 1e12);
        }
        println!("  {:>12.3}  all", outcome.integral as f64 / 1e12);
        for domain in &outcome.domains {
            let idle: Vec<_> = domain.idle.iter().map(|&ps| ps / 1_000_000_000).collect();
            println!(
                "  {:6} runs {} ms, idle {idle:?} ms, down {:?}",
                domain.name,
                domain.running / 1_000_000_000,
                domain.downs
            );
        }
        for (number, cpu) in outcome.cpus.iter().enumerate() {
            let causes = WakeCause::NAMES.iter().zip(cpu.wake_ups);
            let causes: Vec<_> = causes
                .filter(|(_, count)| *count > 0)
                .map(|(cause, count)| format!("{count} {cause}"))
                .collect();
            let idle: Vec<_> = cpu
                .idle
                .iter()
                .map(|usage| (usage.entered, usage.time_ns / 1_000_000))
                .collect();
            println!(
                "  CPU {number}: woken by {}; ticks {} busy, {} idle; states {idle:?}",
                causes.join(", "),
                cpu.busy_ticks,
                cpu.idle_ticks
            );
        }
        for task in &outcome.tasks {
            let mut late = task.counts.latencies.clone();
            late.sort_unstable();
            println!(
                "  {}: ran {} ms, late by up to {:?} ns, half of the times {:?}",
                task.name,
                task.counts.ran / 1_000_000_000,
                late.last(),
                late.get(late.len() / 2)
            );
        }
        println!();
    }
}
