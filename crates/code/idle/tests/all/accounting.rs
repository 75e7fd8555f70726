//! The accounting at each of its boundaries.

use idle::{Accounting, Clock, MAX_STATES, State, States};
use proptest::prelude::*;

/// Latencies and residencies of Juno r2 (device tree): WFI, cpu-sleep, cluster-sleep.
fn juno() -> [State; 3] {
    [
        State::new(1_000, 1_000),
        State::new(1_500_000, 2_000_000),
        State::new(1_600_000, 2_500_000),
    ]
}

/// `above` and `below` of one stay.
fn judged(states: &[State], entered: usize, stay_ns: u64) -> (u64, u64) {
    let mut accounting = Accounting::default();
    accounting.leave(&States::new(states).unwrap(), entered, stay_ns);
    let usage = accounting.usage(entered);
    assert_eq!(
        (usage.entered, usage.time_ns, usage.rejected),
        (1, stay_ns, 0)
    );
    (usage.above, usage.below)
}

#[test]
fn a_stay_of_exactly_the_target_residency_is_not_too_short() {
    assert_eq!(judged(&juno(), 1, 1_999_999), (1, 0));
    assert_eq!(judged(&juno(), 1, 2_000_000), (0, 0));
    assert_eq!(judged(&juno(), 2, 2_499_999), (1, 0));
    assert_eq!(judged(&juno(), 2, 2_500_000), (0, 0));
}

#[test]
fn a_deeper_state_must_pay_for_what_is_left_after_the_exit_latency() {
    // WFI's exit latency is 1 us, and cpu-sleep pays from 2 ms on.
    assert_eq!(judged(&juno(), 0, 2_000_999), (0, 0));
    assert_eq!(judged(&juno(), 0, 2_001_000), (0, 1));
    // From cpu-sleep only the next state counts: 2.5 ms after a latency of 1.5 ms.
    assert_eq!(judged(&juno(), 1, 3_999_999), (0, 0));
    assert_eq!(judged(&juno(), 1, 4_000_000), (0, 1));
}

#[test]
fn a_stay_of_exactly_the_exit_latency_is_never_below() {
    // A residency of 0 on both sides leaves the comparison with the latency alone.
    let states = [State::new(1_000, 0), State::new(2_000, 0)];
    assert_eq!(judged(&states, 0, 1_000), (0, 0));
    assert_eq!(judged(&states, 0, 1_001), (0, 1));
}

#[test]
fn only_the_next_deeper_state_that_is_enabled_counts() {
    let [wfi, cpu, cluster] = juno();
    assert_eq!(
        judged(&[wfi, cpu.disabled(), cluster], 0, 2_400_000),
        (0, 0)
    );
    assert_eq!(
        judged(&[wfi, cpu.disabled(), cluster], 0, 2_501_000),
        (0, 1)
    );
    assert_eq!(
        judged(&[wfi, cpu.disabled(), cluster.disabled()], 0, u64::MAX),
        (0, 0)
    );
    // The next state does not pay, so the one behind it is not looked at, though it would.
    let odd = [State::new(0, 0), State::new(0, 5_000), State::new(0, 5_000)];
    assert_eq!(judged(&odd, 0, 4_999), (0, 0));
}

#[test]
fn a_state_is_above_only_if_a_shallower_one_is_enabled() {
    let [wfi, cpu, cluster] = juno();
    assert_eq!(judged(&[wfi, cpu, cluster], 0, 10), (0, 0));
    assert_eq!(judged(&[wfi.disabled(), cpu, cluster], 1, 10), (0, 0));
    assert_eq!(judged(&[wfi.disabled(), cpu, cluster], 2, 10), (1, 0));
}

#[test]
fn polling_is_a_state_like_others() {
    let states = [State::polling(), State::new(1_000, 1_000)];
    assert_eq!(judged(&states, 0, 0), (0, 0));
    assert_eq!(judged(&states, 0, 999), (0, 0));
    assert_eq!(judged(&states, 0, 1_000), (0, 1));
    assert_eq!(judged(&states, 1, 999), (1, 0));
}

#[test]
fn a_refusal_counts_for_the_state_that_was_asked_for_and_for_nothing_else() {
    let states = States::new(&juno()).unwrap();
    let mut accounting = Accounting::default();
    accounting.refused(&states, 2);
    let usage = accounting.usage(2);
    assert_eq!(
        (
            usage.entered,
            usage.time_ns,
            usage.above,
            usage.below,
            usage.rejected
        ),
        (0, 0, 0, 0, 1)
    );
}

#[test]
fn microseconds_end_where_an_int_does() {
    for clock in [Clock::DivideBy1000, Clock::ShiftBy10] {
        let unit = if clock == Clock::ShiftBy10 {
            1024
        } else {
            1000
        };
        let last = i32::MAX as u64;
        assert_eq!(clock.count(last * unit - 1), last - 1);
        assert_eq!(clock.count(last * unit), last);
        assert_eq!(clock.count((1 << 31) * unit), last);
        assert_eq!(clock.count(u64::MAX), last);
        assert_eq!(clock.residency_ns(u64::MAX), last * 1000);
    }
    assert_eq!(Clock::Nanoseconds.count(u64::MAX), u64::MAX);
}

#[test]
fn a_shift_by_10_gives_the_whole_numbers_of_the_published_table() {
    let shifted = [1_000, 1_000_000, 1_000_000_000].map(|ns| Clock::ShiftBy10.count(ns));
    assert_eq!(shifted, [0, 976, 976_562]);
    let divided = [1_000, 1_000_000, 1_000_000_000].map(|ns| Clock::DivideBy1000.count(ns));
    assert_eq!(divided, [1, 1_000, 1_000_000]);
}

/// Tables of states as hardware might have them, the times of an order in which boundaries meet.
fn tables() -> impl Strategy<Value = Vec<State>> {
    let state = (0_u64..50, 0_u64..20, any::<bool>());
    proptest::collection::vec(state, 1..=MAX_STATES).prop_map(|drawn| {
        let mut residency = 0;
        let of = |(latency, more, disabled)| {
            residency += more;
            State {
                disabled,
                ..State::new(latency, residency)
            }
        };
        drawn.into_iter().map(of).collect()
    })
}

proptest! {
    /// Against the kernel's rules written down as loops over indices.
    #[test]
    fn every_stay_is_judged_as_the_kernel_judges_it(table in tables(), at in 0..MAX_STATES, stay in 0_u64..300) {
        let entered = at % table.len();
        let (mut above, mut below) = (0, 0);
        if stay < table[entered].target_residency_ns {
            let mut index = entered;
            while index > 0 {
                index -= 1;
                if !table[index].disabled {
                    above = 1;
                    break;
                }
            }
        } else if stay > table[entered].exit_latency_ns {
            for deeper in &table[entered + 1..] {
                if deeper.disabled {
                    continue;
                }
                if stay - table[entered].exit_latency_ns >= deeper.target_residency_ns {
                    below = 1;
                }
                break;
            }
        }
        prop_assert_eq!(judged(&table, entered, stay), (above, below));
    }

    /// The clocks differ by the factor that the document gives, and by less than a unit more.
    #[test]
    fn a_shift_counts_2_34_percent_less(stay_ns in 0_u64..1 << 40) {
        let (divided, shifted) = (Clock::DivideBy1000.count(stay_ns), Clock::ShiftBy10.count(stay_ns));
        prop_assert!(shifted <= divided);
        // 1000/1024 is 0.9765625: 2.34375 % less.
        prop_assert!((divided * 9_765_625 / 10_000_000).abs_diff(shifted) <= 1);
    }
}
