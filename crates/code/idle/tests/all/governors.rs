//! Each governor in situations whose outcome is known, and properties that hold for all of them.

use idle::{
    Choice, Governor, Kind, KnownSituation, NEVER_NS, Outcome, SleepLength, State, States, TICK_NS,
};
use proptest::prelude::*;

/// The states of Juno r2: WFI, cpu-sleep, cluster-sleep.
fn juno() -> States {
    States::new(&[
        State::new(1_000, 1_000),
        State::new(1_500_000, 2_000_000),
        State::new(1_600_000, 2_500_000),
    ])
    .unwrap()
}

fn timer(timer_ns: u64, event_ns: u64) -> KnownSituation {
    KnownSituation::new(SleepLength { timer_ns, event_ns })
}

/// Repeats one situation with stays of one length, and returns the last choice.
fn settled(kind: Kind, states: &States, asked: KnownSituation, stay_ns: u64) -> Choice {
    let mut governor = Governor::new(kind, states, TICK_NS);
    let mut choice = Choice {
        state: 0,
        stop_tick: false,
    };
    for _ in 0..100 {
        choice = governor.select(states, &mut asked.clone());
        governor.reflect(states, &Outcome::stay(choice.state, stay_ns));
    }
    choice
}

const LINUX: [Kind; 5] = [
    Kind::menu(6, 1),
    Kind::menu(7, 1),
    Kind::teo(6, 10),
    Kind::teo(6, 11),
    Kind::teo(6, 18),
];

#[test]
fn a_timer_that_always_fires_is_believed() {
    for kind in LINUX {
        let choice = settled(kind, &juno(), timer(100_000_000, 100_000_000), 100_000_000);
        assert_eq!(
            choice,
            Choice {
                state: 2,
                stop_tick: true
            },
            "{kind:?}"
        );
    }
}

#[test]
fn a_near_timer_forbids_deep_states() {
    for kind in LINUX {
        assert_eq!(
            settled(kind, &juno(), timer(1_900_000, 1_900_000), 1_900_000).state,
            0,
            "{kind:?}"
        );
    }
}

#[test]
fn interrupts_that_come_early_are_learned() {
    // A timer that never fires, for an interrupt comes every 100 us.
    for kind in LINUX {
        let choice = settled(kind, &juno(), timer(1_000_000_000, TICK_NS), 100_000);
        assert_eq!(
            choice,
            Choice {
                state: 0,
                stop_tick: false
            },
            "{kind:?}"
        );
    }
}

#[test]
fn a_limit_on_latency_is_kept_by_all_that_know_one() {
    for kind in LINUX.into_iter().chain([Kind::Ladder]) {
        let asked = KnownSituation {
            latency_limit_ns: 1_550_000,
            ..timer(100_000_000, 100_000_000)
        };
        assert_eq!(
            settled(kind, &juno(), asked, 100_000_000).state,
            1,
            "{kind:?}"
        );
        let asked = KnownSituation {
            latency_limit_ns: 0,
            ..asked
        };
        assert_eq!(
            settled(kind, &juno(), asked, 100_000_000).state,
            0,
            "{kind:?}"
        );
    }
}

#[test]
fn menu_6_1_knows_nothing_at_first_and_takes_the_shallowest_state() {
    // Eight stays of length 0 are what it starts from, and they agree with each other.
    let mut governor = Governor::new(Kind::menu(6, 1), &juno(), TICK_NS);
    assert_eq!(
        governor
            .select(&juno(), &mut timer(NEVER_NS, TICK_NS))
            .state,
        0
    );
    let mut governor = Governor::new(Kind::menu(7, 1), &juno(), TICK_NS);
    assert_eq!(
        governor
            .select(&juno(), &mut timer(100_000_000, 100_000_000))
            .state,
        2
    );
}

#[test]
fn menu_6_1_is_cautious_while_tasks_wait_for_input() {
    let asked = timer(20_000_000, 20_000_000);
    assert_eq!(
        settled(Kind::menu(6, 1), &juno(), asked, 20_000_000).state,
        2
    );
    // 20 ms / 11 is 1.8 ms, more than cluster-sleep's latency; / 21 is less than cpu-sleep's.
    assert_eq!(
        settled(
            Kind::menu(6, 1),
            &juno(),
            KnownSituation {
                io_waiters: 1,
                ..asked
            },
            20_000_000
        )
        .state,
        2
    );
    assert_eq!(
        settled(
            Kind::menu(6, 1),
            &juno(),
            KnownSituation {
                io_waiters: 2,
                ..asked
            },
            20_000_000
        )
        .state,
        0
    );
    assert_eq!(
        settled(
            Kind::menu(7, 1),
            &juno(),
            KnownSituation {
                io_waiters: 2,
                ..asked
            },
            20_000_000
        )
        .state,
        2
    );
}

/// The recent stays have 100 us in common; the next event is 60 ms away.
fn menu_3_10_after_short_stays(stays_ns: [u64; 8]) -> Governor {
    let mut governor = Governor::new(Kind::Menu310, &juno(), TICK_NS);
    for stay_ns in stays_ns {
        governor.select(&juno(), &mut timer(60_000_000, 60_000_000));
        governor.reflect(&juno(), &Outcome::stay(0, stay_ns));
    }
    governor
}

#[test]
fn menu_3_10_asks_again_where_a_shallow_state_may_be_wrong() {
    let mut asked = timer(60_000_000, 60_000_000);
    let mut governor = menu_3_10_after_short_stays([100_000; 8]);
    assert_eq!(governor.select(&juno(), &mut asked).state, 0);
    assert_eq!(governor.ask_again_ns(), Some(2 * (100_000 + 60_000)));
    // Close events are not worth it: 4 times 320 us.
    assert_eq!(
        governor
            .select(&juno(), &mut timer(1_280_000, 1_280_000))
            .state,
        0
    );
    assert_eq!(governor.ask_again_ns(), None);
    // Nor is anything once the deepest state is chosen.
    let mut governor = menu_3_10_after_short_stays([60_000_000; 8]);
    assert_eq!(governor.select(&juno(), &mut asked).state, 2);
    assert_eq!(governor.ask_again_ns(), None);
}

#[test]
fn menu_3_10_forgets_a_correction_that_kept_a_cpu_shallow() {
    // Short stays that have nothing in common: the correction grows small.
    let spread = [
        10_000, 600_000, 30_000, 900_000, 20_000, 400_000, 50_000, 700_000,
    ];
    let mut asked = timer(60_000_000, 60_000_000);
    for (asked_again, state) in [(false, 0), (true, 2)] {
        let mut governor = menu_3_10_after_short_stays(spread);
        for stay_ns in spread.into_iter().cycle().take(64) {
            governor.select(&juno(), &mut asked);
            governor.reflect(&juno(), &Outcome::stay(0, stay_ns));
        }
        assert_eq!(governor.select(&juno(), &mut asked).state, 0);
        assert!(governor.ask_again_ns().is_some());
        governor.reflect(
            &juno(),
            &Outcome {
                asked_again,
                ..Outcome::stay(0, 2_000_000)
            },
        );
        assert_eq!(
            governor.select(&juno(), &mut asked).state,
            state,
            "{asked_again}"
        );
    }
}

#[test]
fn menu_3_10_keeps_a_loaded_cpu_shallow() {
    let mut governor = menu_3_10_after_short_stays([12_000_000; 8]);
    // 1.6 ms times 1 + 2 * 5, the load average of one task in its scale, is more than 12 ms.
    for (load, state) in [(0, 2), (1024, 0), (400, 2)] {
        let mut asked = KnownSituation {
            load,
            ..timer(60_000_000, 60_000_000)
        };
        assert_eq!(governor.select(&juno(), &mut asked).state, state, "{load}");
    }
}

#[test]
fn menu_takes_a_wake_up_by_the_tick_for_a_long_stay() {
    // It guesses short stays, keeps the tick, and each time the tick says that the stay would have
    // been long.
    let states = juno();
    for kind in [Kind::menu(6, 1), Kind::menu(7, 1)] {
        let mut governor = Governor::new(kind, &states, TICK_NS);
        let asked = timer(60_000_000, 3_900_000);
        for _ in 0..8 {
            let choice = governor.select(&states, &mut asked.clone());
            governor.reflect(&states, &Outcome::stay(choice.state, 100_000));
        }
        assert_eq!(
            governor.select(&states, &mut asked.clone()).state,
            0,
            "{kind:?}"
        );
        for _ in 0..8 {
            let choice = governor.select(&states, &mut asked.clone());
            governor.reflect(
                &states,
                &Outcome {
                    got_tick: true,
                    ..Outcome::stay(choice.state, 3_900_000)
                },
            );
        }
        assert_eq!(
            governor.select(&states, &mut asked.clone()),
            Choice {
                state: 2,
                stop_tick: true
            },
            "{kind:?}"
        );
    }
}

#[test]
fn a_kept_tick_must_be_far_enough_for_the_state() {
    // Stays of 2.6 ms make menu choose cluster-sleep, which the tick in 2.2 ms does not allow;
    // cpu-sleep it does.
    for kind in [Kind::menu(6, 1), Kind::menu(7, 1)] {
        let choice = settled(kind, &juno(), timer(100_000_000, 2_200_000), 5_000_000);
        assert_eq!(
            choice,
            Choice {
                state: 1,
                stop_tick: false
            },
            "{kind:?}"
        );
    }
}

#[test]
fn menu_and_teo_do_without_the_timer_after_short_stays() {
    let states = juno();
    for (kind, asks) in [
        (Kind::menu(6, 1), true),
        (Kind::menu(7, 1), false),
        (Kind::teo(6, 11), true),
        (Kind::teo(6, 10), false),
        (Kind::teo(6, 18), false),
    ] {
        let mut governor = Governor::new(kind, &states, TICK_NS);
        let mut asked = timer(1_000_000_000, TICK_NS);
        for _ in 0..40 {
            asked.asked = false;
            let choice = governor.select(&states, &mut asked);
            governor.reflect(&states, &Outcome::stay(choice.state, 5_000));
        }
        assert_eq!(asked.asked, asks, "{kind:?}");
    }
}

#[test]
fn the_fix_of_november_2025_keeps_the_tick_when_stays_end_before_it() {
    // At 100 Hz all states of the board of the published case pay within a tick; interrupts come
    // after 3 ms, timers are far.
    let states = States::new(&[
        State::new(1_000, 1_000),
        State::new(250_000, 900_000),
        State::new(500_000, 2_000_000),
    ])
    .unwrap();
    let stops = |kind| {
        let mut governor = Governor::new(kind, &states, 10_000_000);
        let mut choice = Choice {
            state: 0,
            stop_tick: false,
        };
        for _ in 0..100 {
            choice = governor.select(&states, &mut timer(1_000_000_000, 8_000_000));
            governor.reflect(&states, &Outcome::stay(choice.state, 3_000_000));
        }
        choice
    };
    // Stays of 3 ms lie in the last bin, as the timer does, so both count them as hits. A mix with
    // shorter ones tells them apart.
    assert_eq!(
        stops(Kind::teo(6, 18)).stop_tick,
        stops(Kind::teo(6, 19)).stop_tick
    );
    let mixed = |kind| {
        let mut governor = Governor::new(kind, &states, 10_000_000);
        let mut kept = 0;
        for round in 0..400 {
            let choice = governor.select(&states, &mut timer(1_000_000_000, 8_000_000));
            kept += u32::from(!choice.stop_tick && choice.state > 0);
            governor.reflect(
                &states,
                &Outcome::stay(
                    choice.state,
                    if round % 4 == 3 { 3_000_000 } else { 1_500_000 },
                ),
            );
        }
        kept
    };
    assert_eq!(mixed(Kind::teo(6, 18)), 0);
    assert!(mixed(Kind::teo(6, 19)) > 300, "{}", mixed(Kind::teo(6, 19)));
}

/// The choices of ladder before each of these stays, in microseconds.
fn ladder(stays_us: &[u64]) -> Vec<usize> {
    let states = juno();
    let mut governor = Governor::new(Kind::Ladder, &states, TICK_NS);
    let mut chosen = Vec::new();
    for stay_us in stays_us {
        let choice = governor.select(&states, &mut timer(NEVER_NS, TICK_NS));
        chosen.push(choice.state);
        governor.reflect(&states, &Outcome::stay(choice.state, stay_us * 1_000));
    }
    chosen
}

#[test]
fn ladder_climbs_after_four_long_stays_and_falls_after_one_short_one() {
    // cpu-sleep's latency is 1500 us: 2900 us less that are too short, 3100 us are long enough. A
    // first choice has no stay before it, and less than nothing counts as long.
    assert_eq!(ladder(&[1000; 5]), [0, 0, 0, 1, 1]);
    assert_eq!(
        ladder(&[1000, 1000, 1000, 2900, 1000, 1000]),
        [0, 0, 0, 1, 0, 0]
    );
    assert_eq!(
        ladder(&[1000, 1000, 1000, 3100, 3100, 3100, 3100, 9000]),
        [0, 0, 0, 1, 1, 1, 1, 2]
    );
}

#[test]
fn a_stay_shorter_than_the_exit_latency_counts_as_long_for_ladder() {
    // As Linux compares: four stays of 100 us in cpu-sleep lead to cluster-sleep.
    assert_eq!(
        ladder(&[1000, 1000, 1000, 100, 100, 100, 100, 100]),
        [0, 0, 0, 1, 1, 1, 1, 2]
    );
}

#[test]
fn ladder_leaves_out_polling() {
    let states = States::new(&[
        State::polling(),
        State::new(1_000, 1_000),
        State::new(100_000, 200_000),
    ])
    .unwrap();
    assert_eq!(
        settled(Kind::Ladder, &states, timer(NEVER_NS, TICK_NS), 1_500).state,
        1
    );
}

#[test]
fn the_yardsticks_are_what_they_are_called() {
    let [wfi, cpu, cluster] = [0, 1, 2].map(|state| *juno().get(state));
    let states = States::new(&[wfi.disabled(), cpu, cluster.disabled()]).unwrap();
    for kind in [Kind::NeverDeep, Kind::AlwaysDeepest] {
        assert_eq!(settled(kind, &states, timer(1, 1), 1).state, 1, "{kind:?}");
    }
    assert_eq!(
        settled(
            Kind::NeverDeep,
            &juno(),
            timer(NEVER_NS, NEVER_NS),
            NEVER_NS
        )
        .state,
        0
    );
    assert_eq!(
        settled(Kind::AlwaysDeepest, &juno(), timer(1, 1), 1).state,
        2
    );
}

#[test]
fn names_lead_back_to_governors() {
    for kind in Kind::ALL {
        assert_eq!(Kind::find(&kind.to_string()), Some(kind));
    }
    assert_eq!(Kind::find("menu"), None);
}

fn tables() -> impl Strategy<Value = States> {
    let state = (
        0_u64..2_000_000,
        0_u64..2_000_000,
        proptest::bool::weighted(0.2),
    );
    (proptest::collection::vec(state, 1..6), any::<bool>()).prop_map(|(drawn, polls)| {
        let mut residency = 0;
        let mut table: Vec<State> = drawn
            .into_iter()
            .map(|(latency, more, disabled)| {
                residency += more;
                State {
                    disabled,
                    ..State::new(latency, residency)
                }
            })
            .collect();
        if polls {
            table[0] = State::polling();
        }
        States::new(&table).unwrap()
    })
}

fn situations() -> impl Strategy<Value = (KnownSituation, u64, [bool; 3])> {
    let time = prop_oneof![
        0_u64..10_000,
        0_u64..10_000_000,
        Just(NEVER_NS),
        any::<u64>()
    ];
    (
        time.clone(),
        time.clone(),
        time,
        0_u32..3,
        any::<[bool; 2]>(),
        any::<[bool; 3]>(),
        0_u64..20_000_000,
        any::<u32>(),
    )
        .prop_map(
            |(
                timer_ns,
                event_ns,
                latency_limit_ns,
                io_waiters,
                [tick_stopped, utilised],
                flags,
                stay_ns,
                load,
            )| {
                let sleep_length = SleepLength { timer_ns, event_ns };
                (
                    KnownSituation {
                        sleep_length,
                        latency_limit_ns,
                        io_waiters,
                        load,
                        tick_stopped,
                        utilised,
                        asked: false,
                    },
                    stay_ns,
                    flags,
                )
            },
        )
}

proptest! {
    /// Whatever happens, no governor panics, and each chooses a state that there is and that is
    /// enabled, if any is.
    #[test]
    fn every_choice_is_a_state_that_may_be_chosen(states in tables(), life in proptest::collection::vec(situations(), 1..60)) {
        let any_enabled = states.all().iter().any(|state| !state.disabled);
        for kind in Kind::ALL {
            let mut governor = Governor::new(kind, &states, TICK_NS);
            for (asked, stay_ns, [refused, got_tick, polled_to_limit]) in &life {
                let choice = governor.select(&states, &mut asked.clone());
                prop_assert!(choice.state < states.len());
                // ladder takes state 0 unseen, and so does the kernel where a latency of 0 is asked
                // for.
                let sees = kind != Kind::Ladder && choice.state > 0;
                prop_assert!(!sees || !any_enabled || !states.is_disabled(choice.state), "{kind:?} chose {}", choice.state);
                governor.reflect(&states, &match refused {
                    true => Outcome::refused(),
                    false => Outcome { got_tick: *got_tick, polled_to_limit: *polled_to_limit, ..Outcome::stay(choice.state, *stay_ns) },
                });
            }
        }
    }
}
