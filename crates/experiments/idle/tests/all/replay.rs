//! Properties that hold for every trace, every platform and every point of the range of what a
//! round trip costs.

use document::Document;
use idle::{Accounting, Kind, NEVER_NS, Usage};
use idle_experiments::energy::{Segments, energy};
use idle_experiments::oracle::{MIDDLE, Oracle};
use idle_experiments::platform::{POINTS, Platform, StateCost};
use idle_experiments::replay::{Agreement, Chooser, Ideal, Unsaid, replay};
use idle_experiments::trace::TracedIntervals;
use proptest::prelude::*;
use sleeps::{Reason, Sleep, SleepLength, Waker};
use std::collections::BTreeMap;

const TICK_NS: u64 = 4_000_000;

/// No timer is known.
const ENDLESS: Unsaid = Unsaid {
    is_endless: true,
    ..Unsaid::TIMER
};

pub(crate) fn platform(name: &str) -> Platform {
    let path = format!(
        "{}/../../../data/platforms/idle/{name}.toml",
        env!("CARGO_MANIFEST_DIR")
    );
    Platform::read(&Document::open(path.as_ref()).unwrap()).unwrap()
}

const PLATFORMS: [&str; 5] = ["juno-r1", "juno-r2", "tc2", "tc2-driver", "qemu-virt"];

pub(crate) fn sleep(
    cpu: u16,
    enter_ns: u64,
    exit_ns: u64,
    length: SleepLength,
    waker: Waker,
) -> Sleep {
    let got_tick = waker == Waker::Tick;
    Sleep {
        cpu,
        enter_ns,
        exit_ns,
        state: 0,
        length,
        waker,
        tick_stopped: None,
        sleeps_without_tick: None,
        utilised: None,
        got_tick: Some(got_tick),
        timer_armed_ns: None,
    }
}

pub(crate) fn known(timer_ns: u64) -> SleepLength {
    SleepLength::Known {
        timer_ns,
        tick_ns: Some(TICK_NS.min(timer_ns)),
    }
}

/// The length of a sleep that a timer ended which nobody saw armed.
pub(crate) fn equal(interval_ns: u64) -> SleepLength {
    SleepLength::Bounded {
        at_least_ns: interval_ns.saturating_sub(10_000),
        at_most_ns: interval_ns,
        tick_ns: None,
    }
}

/// Lengths at which something changes: what a stay counts as, or which of two states is cheaper at
/// the middle point.
fn turns() -> Vec<u64> {
    let mut turns = Vec::new();
    for domain in PLATFORMS
        .into_iter()
        .flat_map(|name| platform(name).domains)
    {
        for (a, cost_a) in domain.table.all().iter().zip(&domain.states) {
            turns.push(a.target_residency_ns);
            for (b, cost_b) in domain.table.all().iter().zip(&domain.states) {
                turns.push(a.exit_latency_ns + b.target_residency_ns);
                let trip = |cost: &StateCost| cost.core_round_trip.part(POINTS[MIDDLE]) as u64;
                if cost_a.core_power > cost_b.core_power && trip(cost_a) < trip(cost_b) {
                    turns.push(
                        (trip(cost_b) - trip(cost_a)) / (cost_a.core_power - cost_b.core_power),
                    );
                }
            }
        }
    }
    turns.sort_unstable();
    turns.dedup();
    turns
}

/// Traces of a few CPUs, whose intervals overlap in all ways.
fn traces() -> impl Strategy<Value = TracedIntervals> {
    let length = prop_oneof![
        (1_u64..20_000_000).prop_map(known),
        Just(known(NEVER_NS)),
        Just(equal(1_000_000)),
        Just(SleepLength::Bounded {
            at_least_ns: 0,
            at_most_ns: u64::MAX,
            tick_ns: None,
        }),
        Just(SleepLength::Unknown {
            reason: Reason::NoWaker,
            at_least_ns: 0
        }),
    ];
    let waker = prop_oneof![
        Just(Waker::Timer),
        Just(Waker::Tick),
        Just(Waker::Ipi),
        Just(Waker::Unknown)
    ];
    let at_turn = (proptest::sample::select(turns()), 0_u64..3)
        .prop_map(|(turn, more)| (turn + more).saturating_sub(1));
    let stay = prop_oneof![
        0_u64..1000,
        0_u64..100_000,
        0_u64..6_000_000,
        0_u64..100_000_000,
        at_turn.boxed()
    ];
    let one = (0_u16..9, 0_u64..3_000_000, stay, 0_u8..4, length, waker);
    proptest::collection::vec(one, 1..120).prop_map(|drawn| {
        let mut now = [0; 9];
        TracedIntervals::from_sleeps(drawn.into_iter().map(
            |(cpu, busy_ns, stay_ns, state, length, waker)| {
                let now = &mut now[usize::from(cpu)];
                let enter_ns = *now + busy_ns;
                *now = enter_ns + stay_ns;
                Sleep {
                    state,
                    ..sleep(cpu, enter_ns, *now, length, waker)
                }
            },
        ))
    })
}

/// A time in which all CPUs of a domain are idle, with the interval of each.
struct Together {
    domain: usize,
    ns: u64,
    spanning: Vec<(usize, usize)>,
}

/// All of them, nanosecond by nanosecond between the ends of intervals.
fn together(platform: &Platform, traced: &TracedIntervals) -> Vec<Together> {
    let mut groups: BTreeMap<(usize, u16), Vec<usize>> = BTreeMap::new();
    for (cpu, _) in traced
        .cpus
        .iter()
        .enumerate()
        .filter(|(_, sleeps)| !sleeps.is_empty())
    {
        groups
            .entry(platform.place(cpu as u16))
            .or_default()
            .push(cpu);
    }
    let mut all: Vec<Together> = Vec::new();
    for ((domain, _), cpus) in groups {
        let mut edges: Vec<u64> = cpus
            .iter()
            .flat_map(|&cpu| &traced.cpus[cpu])
            .flat_map(|s| [s.enter_ns, s.exit_ns])
            .collect();
        edges.sort_unstable();
        edges.dedup();
        let mut last = false;
        for pair in edges.windows(2) {
            // Which interval of each CPU spans this piece, if one does.
            let of_cpu = |&cpu: &usize| {
                let spans = |s: &Sleep| s.enter_ns <= pair[0] && pair[1] <= s.exit_ns;
                Some((cpu, traced.cpus[cpu].iter().position(spans)?))
            };
            let spanning: Option<Vec<_>> = cpus.iter().map(of_cpu).collect();
            let goes_on = last;
            last = spanning.is_some();
            let Some(spanning) = spanning else { continue };
            let ns = pair[1] - pair[0];
            match all.last_mut() {
                Some(known) if goes_on && known.domain == domain && known.spanning == spanning => {
                    known.ns += ns
                }
                _ => all.push(Together {
                    domain,
                    ns,
                    spanning,
                }),
            }
        }
    }
    all
}

fn core_cost(platform: &Platform, cpu: usize, state: usize, ns: u64, point: usize) -> u128 {
    let cost = &platform.domains[platform.place(cpu as u16).0].states[state];
    u128::from(cost.core_power) * u128::from(ns) + cost.core_round_trip.part(POINTS[point])
}

fn domain_cost(platform: &Platform, domain: usize, state: usize, ns: u64, point: usize) -> u128 {
    let cost = &platform.domains[domain].states[state];
    u128::from(cost.domain_power) * u128::from(ns) + cost.domain_round_trip.part(POINTS[point])
}

/// The energy of chosen states at a point, interval by interval.
fn by_hand(
    platform: &Platform,
    traced: &TracedIntervals,
    chosen: &[Vec<u8>],
    point: usize,
) -> u128 {
    let of_cores =
        traced
            .cpus
            .iter()
            .zip(chosen)
            .enumerate()
            .flat_map(|(cpu, (sleeps, chosen))| {
                let cost = move |(sleep, &state): (&Sleep, &u8)| {
                    core_cost(
                        platform,
                        cpu,
                        usize::from(state),
                        sleep.interval_ns(),
                        point,
                    )
                };
                sleeps.iter().zip(chosen).map(cost)
            });
    let of_domains = together(platform, traced).into_iter().map(|all_idle| {
        let level = all_idle
            .spanning
            .iter()
            .map(|&(cpu, at)| chosen[cpu][at])
            .min()
            .unwrap();
        domain_cost(
            platform,
            all_idle.domain,
            usize::from(level),
            all_idle.ns,
            point,
        )
    });
    of_cores.sum::<u128>() + of_domains.sum::<u128>()
}

/// The choices of a governor beside those of the traced kernel.
pub fn agreed(platform: &Platform, traced: &TracedIntervals, kind: Kind) -> Agreement {
    let (chooser, past) = (Chooser::Governor(kind), Unsaid::TAUGHT);
    let taught = replay(platform, traced, chooser, past, TICK_NS, &mut Ideal);
    Agreement::new(platform, traced, &taught)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Nothing beats the oracle, the shallowest state is never above, the deepest never below, and
    /// energies are exact sums.
    #[test]
    fn what_holds_for_every_trace(traced in traces()) {
        for name in PLATFORMS {
            let platform = platform(name);
            let segments = Segments::new(&platform, &traced);
            let oracle = Oracle::new(&platform, &segments, &traced);
            for kind in Kind::ALL.map(Chooser::Governor).into_iter().chain([Chooser::Recorded]) {
                for unsaid in [Unsaid::TIMER, ENDLESS, Unsaid { is_taught: true, ..Unsaid::TIMER }] {
                    let replayed = replay(&platform, &traced, kind, unsaid, TICK_NS, &mut Ideal);
                    let energies = energy(&platform, &segments, &replayed);
                    for (point, energy) in energies.iter().enumerate() {
                        prop_assert!(oracle.energy[point] <= *energy, "{name}, {kind:?}, {unsaid:?}, point {point}");
                    }
                    // It enters more than one state in an interval.
                    if kind != Chooser::Governor(Kind::Menu310) {
                        for point in [0, 7, POINTS.len() - 1] {
                            prop_assert_eq!(energies[point], by_hand(&platform, &traced, &replayed.chosen, point));
                        }
                    }
                    let above: u64 = replayed.states.iter().map(|usage| usage.above).sum();
                    let below: u64 = replayed.states.iter().map(|usage| usage.below).sum();
                    prop_assert!(kind != Chooser::Governor(Kind::NeverDeep) || above == 0);
                    prop_assert!(kind != Chooser::Governor(Kind::AlwaysDeepest) || below == 0);
                    let idle: u64 = traced.all().map(Sleep::interval_ns).sum();
                    prop_assert_eq!(replayed.states.iter().map(|usage| usage.time_ns).sum::<u64>(), idle);
                }
            }
        }
    }

    /// The oracle takes the cheapest state of each interval and of each time that a domain idles,
    /// and counts what it chose.
    #[test]
    fn an_oracle_is_the_best_of_each_interval(traced in traces()) {
        for name in PLATFORMS {
            let platform = platform(name);
            let oracle = Oracle::new(&platform, &Segments::new(&platform, &traced), &traced);
            let states = 0..platform.domains[0].states.len();
            if platform.power.is_some() {
                for point in 0..POINTS.len() {
                    let best = |cost: &dyn Fn(usize) -> u128| states.clone().map(cost).min().unwrap();
                    let of_cores = traced.all().map(|sleep| {
                        best(&|state| core_cost(&platform, usize::from(sleep.cpu), state, sleep.interval_ns(), point))
                    });
                    let of_domains = together(&platform, &traced).into_iter().map(|all_idle| {
                        best(&|state| domain_cost(&platform, all_idle.domain, state, all_idle.ns, point))
                    });
                    prop_assert_eq!(oracle.energy[point], of_cores.sum::<u128>() + of_domains.sum::<u128>(), "{}", name);
                }
            }
            let mut counted = vec![Usage::default(); states.end];
            let mut least_delay_us = u64::MAX;
            for (cpu, (sleeps, chosen)) in traced.cpus.iter().zip(&oracle.chosen).enumerate() {
                let domain = &platform.domains[platform.place(cpu as u16).0];
                let mut accounting = Accounting::default();
                for (sleep, &state) in sleeps.iter().zip(chosen) {
                    let ns = sleep.interval_ns();
                    accounting.leave(&domain.table, usize::from(state), ns);
                    let cost = |state| core_cost(&platform, cpu, state, ns, MIDDLE);
                    prop_assert!(states.clone().all(|other| cost(usize::from(state)) <= cost(other)), "{}", name);
                    let state = &domain.states[usize::from(state)];
                    least_delay_us = least_delay_us.min((state.exit_ns + state.entry_ns.saturating_sub(ns)).div_ceil(1000));
                }
                for (number, sum) in counted.iter_mut().enumerate() {
                    let of_cpu = accounting.usage(number);
                    sum.entered += of_cpu.entered;
                    sum.time_ns += of_cpu.time_ns;
                    sum.above += of_cpu.above;
                    sum.below += of_cpu.below;
                }
            }
            prop_assert_eq!(&oracle.states[MIDDLE], &counted, "{}", name);
            prop_assert!(oracle.delay_us[1][1] >= least_delay_us);
        }
    }

    /// The unknown of a trace matters only where it is unknown.
    #[test]
    fn a_known_length_needs_one_replay(traced in traces()) {
        let known_only = TracedIntervals::from_sleeps(traced.all().map(|sleep| Sleep { length: known(5_000_000), ..*sleep }));
        let platform = platform("juno-r2");
        for kind in Kind::ALL {
            let [a, b] = [Unsaid::TIMER, ENDLESS].map(|unsaid| replay(&platform, &known_only, Chooser::Governor(kind), unsaid, TICK_NS, &mut Ideal));
            prop_assert_eq!(a.chosen, b.chosen);
        }
    }
}

#[test]
fn a_domain_goes_down_only_with_all_of_its_cpus() {
    let platform = platform("tc2");
    // CPUs 0 and 1 are the big cluster: 10 ms together, and CPU 0 alone for 10 ms before.
    let traced = TracedIntervals::from_sleeps([
        sleep(0, 0, 20_000_000, known(20_000_000), Waker::Timer),
        sleep(1, 10_000_000, 20_000_000, known(10_000_000), Waker::Timer),
    ]);
    let segments = Segments::new(&platform, &traced);
    let at_lowest = |kind| {
        let replayed = replay(
            &platform,
            &traced,
            Chooser::Governor(kind),
            Unsaid::TIMER,
            TICK_NS,
            &mut Ideal,
        );
        energy(&platform, &segments, &replayed)[0]
    };
    // WFI is 70 units for 10 ms; sleep is 25, and one round trip of 90 unit ms.
    assert_eq!(at_lowest(Kind::NeverDeep), 70 * 10_000_000);
    assert_eq!(at_lowest(Kind::AlwaysDeepest), 25 * 10_000_000 + 90_000_000);
    let oracle = Oracle::new(&platform, &segments, &traced);
    assert_eq!(oracle.energy[0], 25 * 10_000_000 + 90_000_000);
    assert_eq!(oracle.energy[POINTS.len() - 1], 70 * 10_000_000);
}

#[test]
fn more_cpus_than_the_platform_has_are_a_second_platform() {
    let platform = platform("juno-r2");
    assert_eq!(
        (
            platform.cpus(),
            platform.place(5),
            platform.place(6),
            platform.place(7)
        ),
        (6, (0, 0), (0, 1), (1, 1))
    );
    // CPU 0 and CPU 6 are both in a little domain, but not in the same one: each goes down alone.
    let both = TracedIntervals::from_sleeps(
        [0, 6].map(|cpu| sleep(cpu, 0, 50_000_000, known(50_000_000), Waker::Timer)),
    );
    let one =
        TracedIntervals::from_sleeps([sleep(0, 0, 50_000_000, known(50_000_000), Waker::Timer)]);
    let energy_of = |traced: &TracedIntervals| {
        let segments = Segments::new(&platform, traced);
        let chooser = Chooser::Governor(Kind::AlwaysDeepest);
        energy(
            &platform,
            &segments,
            &replay(
                &platform,
                traced,
                chooser,
                Unsaid::TIMER,
                TICK_NS,
                &mut Ideal,
            ),
        )
    };
    assert_eq!(energy_of(&both)[3], 2 * energy_of(&one)[3]);
}

#[test]
fn a_late_wake_up_counts_the_entry_that_had_begun() {
    let platform = platform("juno-r2");
    let delay_us = |stay_ns| {
        let traced =
            TracedIntervals::from_sleeps([sleep(0, 0, stay_ns, known(stay_ns), Waker::Ipi)]);
        let chooser = Chooser::Governor(Kind::AlwaysDeepest);
        replay(
            &platform,
            &traced,
            chooser,
            Unsaid::TIMER,
            TICK_NS,
            &mut Ideal,
        )
        .delays
        .quantile_us(50)
    };
    // cluster-sleep takes 400 us to enter and 1200 us to leave.
    assert_eq!(
        [
            delay_us(0),
            delay_us(100_000),
            delay_us(400_000),
            delay_us(9_000_000)
        ],
        [1600, 1500, 1200, 1200]
    );
}

#[test]
fn polling_ends_at_its_limit_and_the_rest_is_chosen_anew() {
    let platform = made(&[(10, 50)], true);
    let polled = |stay_ns| {
        let stays = (0..10).map(|at| {
            sleep(
                0,
                at * 1_000_000_000,
                at * 1_000_000_000 + stay_ns,
                known(20_000),
                Waker::Ipi,
            )
        });
        let chooser = Chooser::Governor(Kind::NeverDeep);
        let replayed = replay(
            &platform,
            &TracedIntervals::from_sleeps(stays),
            chooser,
            Unsaid::TIMER,
            TICK_NS,
            &mut Ideal,
        );
        let total: u64 = replayed.states.iter().map(|usage| usage.time_ns).sum();
        assert_eq!(total, 10 * stay_ns);
        replayed.states[0].entered
    };
    // It polls 50 us at most: until the other state would have paid.
    assert_eq!(
        (polled(40_000), polled(80_000), polled(120_000)),
        (10, 20, 30)
    );
}

#[test]
fn agreement_leaves_out_the_first_intervals_and_those_that_are_not_known() {
    let platform = platform("juno-r2");
    let of = |number: u64, length| Sleep {
        state: 2,
        ..sleep(
            0,
            number * 20_000_000,
            number * 20_000_000 + 10_000_000,
            length,
            Waker::Timer,
        )
    };
    let traced = TracedIntervals::from_sleeps((0..150).map(|number| {
        of(
            number,
            if number < 100 {
                known(10_000_000)
            } else {
                equal(10_000_000)
            },
        )
    }));
    let agreement = agreed(&platform, &traced, Kind::menu(6, 1));
    assert_eq!(
        (agreement.all(), agreement.same(), agreement.balanced()),
        (50, Some(1.0), Some(1.0))
    );
    assert_eq!(agreement.commonest(), Some(1.0));
    let never = agreed(&platform, &traced, Kind::NeverDeep);
    assert_eq!((never.same(), never.balanced()), (Some(0.0), Some(0.0)));
}

/// Sums of `above` and of `below`.
fn errors(platform: &Platform, traced: &TracedIntervals, kind: Kind, tick_ns: u64) -> (u64, u64) {
    let replayed = replay(
        platform,
        traced,
        Chooser::Governor(kind),
        ENDLESS,
        tick_ns,
        &mut Ideal,
    );
    let sum = |of: fn(&idle::Usage) -> u64| replayed.states.iter().map(of).sum();
    (sum(|usage| usage.above), sum(|usage| usage.below))
}

fn made(states: &[(u64, u64)], polling: bool) -> Platform {
    let mut text = String::from(
        "name = \"made\"\ntitle = \"\"\n[[domain]]\nname = \"d\"\ncpus = [0]\nsource = \"\"\n",
    );
    if polling {
        text.push_str("[[domain.state]]\nname = \"poll\"\nentry_us = 0\nexit_us = 0\nresidency_us = 0\npolling = true\nsource = \"\"\n");
    }
    for (exit, residency) in states {
        text.push_str(&format!("[[domain.state]]\nname = \"s{residency}\"\nentry_us = 0\nexit_us = {exit}\nresidency_us = {residency}\nsource = \"\"\n"));
    }
    Platform::read(&Document::new("made", text)).unwrap()
}

/// Wake-ups through a pipe, some 34 us apart, with a polling state and one that pays from 120 us
/// on: menu and ladder choose too deep, teo does not (linux-pm, October 2024).
#[test]
fn short_pipe_wake_ups_mislead_ladder_and_menu_but_not_teo() {
    let platform = made(&[(12, 120)], true);
    let wakes = (0..5000_u64).map(|at| {
        let enter_ns = at * 60_000;
        sleep(
            0,
            enter_ns,
            enter_ns + 33_000 + at * 7 % 2_000,
            known(3_000_000),
            Waker::Ipi,
        )
    });
    let traced = TracedIntervals::from_sleeps(wakes);
    let [menu, ladder, teo] = [Kind::menu(6, 1), Kind::Ladder, Kind::teo(6, 11)]
        .map(|kind| errors(&platform, &traced, kind, TICK_NS).0);
    println!("above of 5000: menu {menu}, ladder {ladder}, teo {teo}");
    assert!(
        ladder >= menu && menu > teo,
        "above: ladder {ladder}, menu {menu}, teo {teo}"
    );
}
