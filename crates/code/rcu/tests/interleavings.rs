//! RCU under interleavings chosen at random and by PCT: readers never see a freed object, and every callback is invoked exactly once, after a
//! grace period. Faults put in on purpose are found.

mod world;

use rcu::Fault;
use std::time::Instant;
use world::{Mode, Outcome, run};

/// Seeds that are tried in each mode without a fault, unless `RCU_SEEDS` asks for another number.
const SEEDS: u64 = 1000;

#[test]
fn readers_are_safe_and_no_callback_is_lost_in_any_mode() {
    let seeds = std::env::var("RCU_SEEDS").map_or(SEEDS, |seeds| seeds.parse().expect("RCU_SEEDS is a number"));
    for mode in Mode::ALL {
        let begin = Instant::now();
        let mut total = Outcome::default();
        for seed in 0..seeds {
            let outcome = run(mode, None, seed);
            assert_eq!(outcome.failure, None, "{mode:?}, seed {seed}");
            total.callbacks += outcome.callbacks;
            total.grace_periods += outcome.grace_periods;
            total.preempted += outcome.preempted;
            total.operations += outcome.operations;
        }
        println!("{mode:?}: {seeds} seeds in {:.1} s, {total:?}", begin.elapsed().as_secs_f64());
        assert!(
            total.callbacks > 10 * seeds && total.grace_periods > 3 * seeds && total.preempted > 20 * seeds,
            "{total:?}"
        );
    }
}

/// Seconds for which this thread has run, if the host says so (Linux does); else those since `begin`, which count others' work as well.
fn ran_s(begin: Instant) -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let ran: Option<u64> = text.split(' ').next().and_then(|ran| ran.parse().ok());
    ran.map_or(begin.elapsed().as_secs_f64(), |ns| ns as f64 / 1e9)
}

/// Tries seeds until the fault shows, for ten seconds of this CPU at most; then shows that the seed repeats it, and that without the fault no seed until then
/// finds anything.
fn is_found(fault: Fault, modes: &[Mode]) {
    let begin = Instant::now();
    let ran = ran_s(begin);
    for seed in 0.. {
        for &mode in modes {
            let outcome = run(mode, Some(fault), seed);
            if let Some(failure) = &outcome.failure {
                let after = ran_s(begin) - ran;
                println!("{fault:?}: {mode:?}, seed {seed}, after {after:.2} s: {failure}");
                assert_eq!(run(mode, Some(fault), seed), outcome, "a seed must repeat its run");
                assert_eq!(run(mode, None, seed).failure, None, "{mode:?}, seed {seed}, without the fault");
                return;
            }
        }
        assert!(ran_s(begin) - ran < 10.0, "{fault:?} was not found with {seed} seeds");
    }
}

#[test]
fn an_early_grace_period_is_found() {
    is_found(Fault::EarlyGracePeriod, &[Mode::Reference, Mode::OffloadModern]);
}

#[test]
fn a_lost_callback_is_found() {
    is_found(Fault::LostCallback, &[Mode::Reference, Mode::OffloadModern]);
}

#[test]
fn a_missed_quiescent_state_is_found() {
    is_found(Fault::MissedQuiescentState, &[Mode::Reference, Mode::Offload2013]);
}

#[test]
fn a_lost_wake_up_of_an_offload_thread_is_found() {
    is_found(Fault::LostOffloadWake, &[Mode::Offload2013]);
    is_found(Fault::LostOffloadWake, &[Mode::OffloadModern]);
}

#[test]
fn callbacks_lost_when_a_cpu_goes_off_are_found() {
    is_found(Fault::LostAtOffline, &[Mode::Hotplug2013, Mode::HotplugModern]);
}
