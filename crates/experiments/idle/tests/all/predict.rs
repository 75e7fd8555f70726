//! Predictions of a governor on a trace of another.

use idle::Kind;
use idle_experiments::platform::Platform;
use idle_experiments::predict::{Latencies, Unknown, predict, recorded};
use idle_experiments::replay::Unsaid;
use idle_experiments::trace::TracedIntervals;
use sleeps::{Sleep, SleepLength, Waker};
use std::path::Path;

const TICK_NS: u64 = 4_000_000;
const UNKNOWN: Unknown = Unknown {
    unsaid: Unsaid::TIMER,
    latencies: Latencies::Short,
};

fn platform() -> Platform {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let file = root
        .join("data/platforms/idle/qemu-virt.toml")
        .display()
        .to_string();
    platforms::idle_states(&experiment::Folder(root), &file).unwrap()
}

/// Sleeps of 22 ms, with work of a millisecond after each, from which a timer wakes that the work
/// armed.
fn long_sleeps() -> TracedIntervals {
    TracedIntervals::from_sleeps((0..200).map(|number| {
        let enter_ns = number * 23_000_000 + 1_000_000;
        Sleep {
            cpu: 0,
            enter_ns,
            exit_ns: enter_ns + 22_003_000,
            state: 5,
            length: SleepLength::Known {
                timer_ns: 22_000_000,
                tick_ns: Some(TICK_NS - enter_ns % TICK_NS),
            },
            waker: Waker::Timer,
            tick_stopped: Some(false),
            utilised: None,
            got_tick: false,
            timer_armed_ns: Some(enter_ns - 100_000),
            sleeps_without_tick: None,
        }
    }))
}

#[test]
fn a_tick_that_is_kept_ends_a_long_sleep() {
    let (platform, traced) = (platform(), long_sleeps());
    // Governors that foresee the timer stop the tick.
    let stopped = predict(&platform, &traced, Kind::AlwaysDeepest, UNKNOWN, TICK_NS);
    assert_eq!(stopped.stays(), 200);
    assert_eq!(stopped.states[5].entered, 200);
    // menu takes sleeps that a hundred times ended after 60 us for short ones, keeps the tick, and
    // so is woken by it from the first long sleep.
    let mut sleeps = long_sleeps().cpus.remove(0);
    let mut at = 0;
    for sleep in &mut sleeps[..100] {
        (sleep.enter_ns, sleep.exit_ns) = (at + 100_000, at + 160_000);
        (sleep.waker, sleep.timer_armed_ns) = (Waker::Ipi, None);
        at += 200_000;
    }
    let menu = predict(
        &platform,
        &TracedIntervals::from_sleeps(sleeps),
        Kind::Menu61,
        UNKNOWN,
        TICK_NS,
    );
    assert!(menu.stays() > 200, "{}", menu.stays());
}

#[test]
fn sleeps_that_only_ticks_parted_are_one_without_ticks() {
    // Every sleep parted in two by a tick that took 10 us.
    let parted = long_sleeps().cpus.remove(0).into_iter().flat_map(|whole| {
        let tick_ns = TICK_NS - whole.enter_ns % TICK_NS;
        let tick = whole.enter_ns + tick_ns;
        let SleepLength::Known { timer_ns, .. } = whole.length else {
            unreachable!()
        };
        let first = Sleep {
            exit_ns: tick + 2_000,
            waker: Waker::Tick,
            got_tick: true,
            state: 1,
            ..whole
        };
        let enter_ns = tick + 12_000;
        let length = SleepLength::Known {
            timer_ns: timer_ns - (enter_ns - whole.enter_ns),
            tick_ns: None,
        };
        [
            first,
            Sleep {
                enter_ns,
                length,
                tick_stopped: Some(true),
                ..whole
            },
        ]
    });
    let traced = TracedIntervals::from_sleeps(parted.collect::<Vec<_>>());
    assert_eq!(recorded(&platform(), &traced).stays(), 400);
    assert_eq!(
        predict(&platform(), &traced, Kind::AlwaysDeepest, UNKNOWN, TICK_NS).stays(),
        200
    );
}

#[test]
fn a_cpu_waits_for_the_one_that_goes_down_after_it_has_woken_it() {
    // Two CPUs wake each other every 50 us and sleep at once; both were in a shallow state.
    let turns = (1..1000).map(|turn| Sleep {
        cpu: (turn % 2) as u16,
        enter_ns: turn * 50_000,
        exit_ns: turn * 50_000 + 51_000,
        state: 1,
        length: SleepLength::Known {
            timer_ns: 900_000_000,
            tick_ns: Some(TICK_NS),
        },
        waker: Waker::Ipi,
        tick_stopped: Some(false),
        utilised: None,
        got_tick: false,
        timer_armed_ns: None,
        sleeps_without_tick: None,
    });
    let traced = TracedIntervals::from_sleeps(turns.collect::<Vec<_>>());
    let mean_us = |platform: &Platform| {
        let deepest = predict(platform, &traced, Kind::AlwaysDeepest, UNKNOWN, TICK_NS).states[5];
        assert!(deepest.entered > 990, "{deepest:?}");
        deepest.time_ns / deepest.entered / 1000
    };
    let mut platform = platform();
    platform.domains[0]
        .states
        .iter_mut()
        .for_each(|state| state.exit_ns = 1000);
    assert!(mean_us(&platform) >= 134, "{}", mean_us(&platform));
    let mut without = platform;
    without.domains[0]
        .states
        .iter_mut()
        .for_each(|state| state.last_entry_ns = 0);
    assert!(mean_us(&without) < 60, "{}", mean_us(&without));
}

#[test]
fn the_governor_that_was_traced_is_predicted_to_do_what_it_did() {
    let (platform, traced) = (platform(), TracedIntervals::sample().unwrap());
    assert!(traced.has_states_of(platform.state_names()));
    let (known, foretold) = (
        recorded(&platform, &traced),
        predict(&platform, &traced, Kind::Menu61, UNKNOWN, TICK_NS),
    );
    // A hundred sleeps, and a governor that begins without its past.
    let (shares, misses) = foretold.errors(&known);
    assert!(
        shares < 15.0,
        "{shares}: {:?} and {:?}",
        foretold.states,
        known.states
    );
    assert!(
        misses.abs() < 40.0,
        "{misses}: {:?} and {:?}",
        foretold.states,
        known.states
    );
    assert!(
        foretold.stays().abs_diff(known.stays()) * 10 <= known.stays(),
        "{} of {}",
        foretold.stays(),
        known.stays()
    );
}
