//! The PSCI library and the procedures on simulated machines.

use document::Document;
use psci_cases::{CASES, Case, Mode};
use soc::config::{Machine, Sources};
use soc::{Conditions, Order, RunOutcome};
use std::path::Path;

fn sources(release: &str) -> Sources {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../data/platforms");
    let open = |name: String| Document::open(&root.join(name)).unwrap();
    Sources {
        platform: open("juno-r1.toml".to_owned()),
        release: open(format!("juno-r1/releases/{release}.toml")),
        costs: open(format!("juno-r1/costs/{release}.toml")),
    }
}

fn machine(release: &str, settings: &[(&str, &str)]) -> Machine {
    let mut sources = sources(release);
    for (key, value) in settings {
        sources.set(key, value).unwrap();
    }
    sources.machine().unwrap()
}

fn conditions(case: Case, seed: u64) -> Conditions {
    Conditions {
        case,
        iterations: 1,
        seed,
        order: Default::default(),
        events: u32::MAX,
        spread: false,
    }
}

fn case(name: &str, mode: Mode) -> Case {
    CASES
        .into_iter()
        .find(|case| case.name == name && case.mode == mode)
        .unwrap()
}

/// Longest powerdown in microseconds.
fn longest_powerdown(machine: &Machine, outcome: &RunOutcome) -> f64 {
    let ticks = outcome
        .measured
        .iter()
        .map(|measured| measured.stamps[2] - measured.stamps[0])
        .max()
        .unwrap();
    ticks as f64 * 1e6 / machine.platform.counter_frequency as f64
}

#[test]
fn every_case_of_every_release_ends_without_a_stale_load() {
    for release in ["juno-2017", "juno-v2.11", "juno-v2.12"] {
        let machine = machine(release, &[]);
        for case in CASES {
            let outcome = soc::run(&machine, &conditions(case, 1)).unwrap();
            assert_eq!(
                outcome.measured.len(),
                6,
                "{release} {}: every CPU hands its stamps over",
                case.name
            );
            assert_eq!(
                outcome.stale_loads, 0,
                "{release} {}: a CPU read an old value",
                case.name
            );
        }
    }
}

/// Four times the CPUs make hardly more than four times the calls: each release of a lock wakes the
/// one whose turn it is, and a barrier wakes nobody before its time.
#[test]
fn calls_grow_with_the_cpus() {
    let coherent = [("psci.hardware_coherency", "true"), ("psci.lock", "ticket")];
    for (name, mode, most) in [
        ("suspend-level0", Mode::Serial, 5),
        ("suspend-level0", Mode::Parallel, 5),
        ("cpu-off", Mode::Serial, 5),
        ("psci-version", Mode::Parallel, 10),
    ] {
        let calls = [("32x4", 128), ("128x4", 512)].map(|(clusters, cpus)| {
            let machine = machine(
                "juno-v2.12",
                &[&coherent[..], &[("topology.clusters", clusters)]].concat(),
            );
            let outcome = soc::run(&machine, &conditions(case(name, mode), 1)).unwrap();
            assert_eq!(
                outcome.measured.len(),
                cpus,
                "{name}: every CPU hands its stamps over"
            );
            outcome.platform_calls
        });
        assert!(
            calls[1] < most * calls[0],
            "{name}: {calls:?} calls of 128 and 512 CPUs"
        );
    }
}

/// "The console output prevented some of the tests from executing in parallel" (PSCI on Juno, 2017,
/// section Method).
#[test]
fn a_console_that_all_share_keeps_cpus_from_acting_in_parallel() {
    let longest = |mode, message| {
        let machine = machine("juno-2017", &[("assumed.console_message", message)]);
        longest_powerdown(
            &machine,
            &soc::run(&machine, &conditions(case("suspend-level0", mode), 1)).unwrap(),
        )
    };
    let [together, apart, alone] = [
        (Mode::Parallel, "0 us"),
        (Mode::Parallel, "500 us"),
        (Mode::Serial, "0 us"),
    ]
    .map(|(m, t)| longest(m, t));
    assert!(
        together > 10.0 * alone,
        "{together} us together, {alone} us alone"
    );
    assert!(
        (apart - alone).abs() < 0.1 * alone,
        "{apart} us each after its message, {alone} us alone"
    );
}

#[test]
fn the_same_inputs_give_the_same_run_and_another_seed_another() {
    let machine = machine("juno-v2.12", &[]);
    let case = case("suspend-deepest", Mode::Parallel);
    let run = |seed| soc::run(&machine, &conditions(case, seed)).unwrap().events;
    assert_eq!(run(3), run(3));
    assert_ne!(run(3), run(4));
}

#[test]
fn who_arrives_first_is_drawn_only_where_a_run_asks_for_it() {
    let machine = machine("juno-v2.12", &[]);
    let orders = |spread: bool| {
        let orders = (0..30).map(|seed| {
            let conditions = Conditions {
                spread,
                ..conditions(case("suspend-level0", Mode::Parallel), seed)
            };
            let mut measured = soc::run(&machine, &conditions).unwrap().measured;
            let times = |stamps: [usize; 2]| {
                move |it: &soc::ProcedureStamps| it.stamps[stamps[0]] - it.stamps[stamps[1]]
            };
            // Who goes down first, and how long the wakeups take.
            measured.sort_by_key(times([2, 0]));
            let down: Vec<usize> = measured.iter().map(|it| it.cpu).collect();
            measured.sort_by_key(|it| it.stamps[3]);
            (down, measured.iter().map(|it| it.cpu).collect::<Vec<_>>())
        });
        let (down, awake): (std::collections::BTreeSet<_>, std::collections::BTreeSet<_>) =
            orders.unzip();
        (down.len(), awake.len())
    };
    let (down, awake) = orders(false);
    assert!(
        down <= 3 && awake <= 6,
        "{down} and {awake} orders without the spread"
    );
    let (down, awake) = orders(true);
    // Chance decides which CPU wakes first and which one its first interrupt reaches; the SCP
    // orders the rest.
    assert!(
        down > 10 && awake > 4,
        "{down} and {awake} orders with the spread"
    );
}

#[test]
fn a_declared_order_is_kept_and_an_unusual_one_runs() {
    let machine = machine("juno-v2.12", &[]);
    for order in [
        vec![0, 1, 2, 3, 4, 5],
        vec![5, 3, 4, 2, 1, 0],
        vec![2, 5],
        vec![4, 4, 99],
    ] {
        let declared = Order {
            scp: order.clone(),
            ..Order::default()
        };
        let declared = Conditions {
            order: declared,
            ..conditions(case("suspend-level0", Mode::Parallel), 1)
        };
        let outcome =
            soc::run(&machine, &declared).unwrap_or_else(|error| panic!("{order:?}: {error}"));
        if order.len() == 6 {
            let mut by_powerdown: Vec<_> = outcome
                .measured
                .iter()
                .map(|measured| (measured.stamps[2] - measured.stamps[0], measured.cpu))
                .collect();
            by_powerdown.sort_unstable();
            assert_eq!(
                by_powerdown.iter().map(|&(_, cpu)| cpu).collect::<Vec<_>>(),
                order
            );
        }
    }
}

#[test]
fn cores_that_wake_together_get_power_one_after_the_other() {
    let run = |settings: &[(&str, &str)], order: Order| {
        let machine = machine("juno-v2.12", settings);
        let conditions = Conditions {
            order,
            ..conditions(case("suspend-deepest", Mode::Parallel), 1)
        };
        let outcome = soc::run(&machine, &conditions).unwrap();
        // When each CPU got its power for the second time: the first was its CPU_ON.
        let mut awake: Vec<(u64, usize)> = (0..6)
            .filter_map(|cpu| {
                let ups = outcome.events.iter().filter(|it| {
                    usize::from(it.cpu) == cpu && soc::point_name(it.point) == "power-on"
                });
                ups.map(|it| (it.time, cpu)).next_back()
            })
            .collect();
        awake.sort_unstable();
        awake
    };
    let gaps = |awake: &[(u64, usize)]| -> Vec<u64> {
        awake.windows(2).map(|two| two[1].0 - two[0].0).collect()
    };
    let cpus = |awake: &[(u64, usize)]| awake.iter().map(|&(_, cpu)| cpu).collect::<Vec<_>>();
    // CPUs 4 and 5 are 0.0 and 0.1, so they come before 1.1 and those after it.
    let timer = |cpu: usize| Order {
        timer: Some(cpu),
        ..Order::default()
    };
    let awake = run(&[], timer(2));
    assert_eq!(cpus(&awake), [2, 0, 4, 5, 1, 3]);
    let core_on = machine("juno-v2.12", &[]).costs.scp.core_on.unwrap();
    assert!(gaps(&awake).iter().all(|&gap| gap >= core_on), "{awake:?}");
    // The owner's first interrupt reaches an SCP that has nothing else to do.
    let first = Order {
        wakes: vec![3, 0, 1, 2, 4, 5],
        ..timer(2)
    };
    assert_eq!(cpus(&run(&[], first)), [2, 3, 4, 5, 0, 1]);
    // Hardware that powers each core up by itself lets none wait.
    let at_once = run(&[("scp.power_ups", "at-once")], timer(2));
    assert!(
        gaps(&at_once)[1..].iter().sum::<u64>() < core_on,
        "{at_once:?}"
    );
}

#[test]
fn machines_of_other_shapes_run() {
    for shape in ["1", "3", "4x1", "1x8", "16x4", "1*cortex-a57+3*cortex-a53"] {
        let machine = machine("juno-v2.12", &[("topology.clusters", shape)]);
        for case in CASES {
            let outcome = soc::run(&machine, &conditions(case, 1))
                .unwrap_or_else(|error| panic!("{shape}: {error}"));
            assert_eq!(
                outcome.measured.len(),
                machine.platform.topology.cpus.len(),
                "{shape} {}",
                case.name
            );
            assert_eq!(outcome.stale_loads, 0, "{shape} {}", case.name);
        }
    }
}

#[test]
fn a_machine_that_stays_coherent_flushes_nothing() {
    let settings = [("psci.hardware_coherency", "true"), ("psci.lock", "ticket")];
    let machine = machine("juno-v2.12", &settings);
    for case in CASES {
        let outcome = soc::run(&machine, &conditions(case, 1)).unwrap();
        let flushed = outcome
            .measured
            .iter()
            .map(|measured| measured.stamps[5] - measured.stamps[4]);
        let most = flushed.into_iter().max();
        assert!(
            most <= Some(1),
            "{}: {most:?} ticks between the flush stamps",
            case.name
        );
    }
}

#[test]
fn a_release_chooses_which_cpus_flush_their_l2() {
    // Levels that CPU_SUSPEND asks for, then CPU_OFF: 1 is the cluster.
    let flushes = |policy: [&str; 2], name: &str, mode| {
        let machine = machine(
            "juno-v2.12",
            &[
                ("psci.l2_flush.suspend", policy[0]),
                ("psci.l2_flush.off", policy[1]),
            ],
        );
        let outcome = soc::run(&machine, &conditions(case(name, mode), 1)).unwrap();
        assert_eq!(outcome.stale_loads, 0, "{policy:?} {name}");
        // Of the measured call alone: CPUs turn themselves off after a suspend.
        let in_call = |measured: &&soc::ProcedureStamps| {
            outcome.events.iter().any(|event| {
                usize::from(event.cpu) == measured.cpu
                    && soc::point_name(event.point) == "flushed-l2-lines"
                    && (measured.stamps[4]..=measured.stamps[5]).contains(&event.ticks)
            })
        };
        outcome.measured.iter().filter(in_call).count()
    };
    for (policy, deepest, level0, off) in [
        (["[]", "[]"], 2, 0, 3),
        (["[1]", "[]"], 6, 0, 3),
        (["[1]", "[1]"], 6, 0, 6),
        (["[0]", "[]"], 2, 6, 3),
    ] {
        assert_eq!(
            flushes(policy, "suspend-deepest", Mode::Parallel),
            deepest,
            "{policy:?}"
        );
        assert_eq!(
            flushes(policy, "suspend-level0", Mode::Parallel),
            level0,
            "{policy:?}"
        );
        assert_eq!(flushes(policy, "cpu-off", Mode::Serial), off, "{policy:?}");
    }
    let mut coherent = sources("juno-v2.12");
    for (key, value) in [
        ("psci.hardware_coherency", "true"),
        ("psci.l2_flush.suspend", "[1]"),
    ] {
        coherent.set(key, value).unwrap();
    }
    assert!(
        coherent
            .machine()
            .unwrap_err()
            .to_string()
            .contains("flush nothing")
    );
}

#[test]
fn coherent_machines_run_every_case_of_every_release_again_and_again() {
    for release in ["juno-2017", "juno-v2.11", "juno-v2.12"] {
        for lock in ["ticket", "bakery"] {
            let machine = machine(
                release,
                &[("psci.hardware_coherency", "true"), ("psci.lock", lock)],
            );
            for case in CASES {
                let what = format!("{release} {lock} {} {}", case.name, case.mode.name());
                let conditions = Conditions {
                    iterations: 12,
                    events: 0,
                    ..conditions(case, 1)
                };
                let outcome = soc::run(&machine, &conditions)
                    .unwrap_or_else(|error| panic!("{what}: {error}"));
                assert_eq!(outcome.measured.len(), 6 * 12, "{what}");
                assert_eq!(outcome.stale_loads, 0, "{what}");
            }
        }
    }
}

#[test]
fn a_second_channel_and_a_message_outside_the_locks_shorten_the_last_powerdown() {
    let case = case("suspend-deepest", Mode::Parallel);
    let longest = |settings: &[(&str, &str)]| {
        let machine = machine("juno-v2.12", settings);
        longest_powerdown(&machine, &soc::run(&machine, &conditions(case, 1)).unwrap())
    };
    let today = longest(&[]);
    let (channels, outside) = (
        longest(&[("scp.channels", "2")]),
        longest(&[("psci.scp_send", "outside-locks")]),
    );
    assert!(channels < today, "two channels {channels}, today {today}");
    assert!(
        outside < today,
        "outside the locks {outside}, today {today}"
    );
}

#[test]
fn a_faster_core_takes_as_many_cycles_and_the_scp_keeps_its_time() {
    let usual = machine("juno-v2.12", &[]);
    let fast = machine("juno-v2.12", &[("cores.cortex-a53.clock", "1300 MHz")]);
    let [before, after] = [&usual, &fast].map(|machine| machine.costs.cores["cortex-a53"]);
    assert_eq!(after.context_save, before.context_save / 2);
    assert_eq!(after.flush_l2_line, before.flush_l2_line / 2);
    assert_eq!(after.warm_reset, before.warm_reset, "its caches are off");
    assert_eq!(fast.costs.scp, usual.costs.scp);
    assert_eq!(
        fast.costs.cores["cortex-a57"],
        usual.costs.cores["cortex-a57"]
    );
}

#[test]
fn a_flush_takes_longer_beside_others_and_with_more_to_flush() {
    let case = case("suspend-level0", Mode::Parallel);
    let flush = |settings: &[(&str, &str)]| {
        let outcome = soc::run(&machine("juno-v2.12", settings), &conditions(case, 1)).unwrap();
        outcome
            .measured
            .iter()
            .map(|measured| measured.stamps[5] - measured.stamps[4])
            .max()
            .unwrap()
    };
    let today = flush(&[]);
    assert!(flush(&[("costs.shared.flush_port_share", "0.0")]) < today);
    assert!(
        flush(&[
            ("cores.cortex-a53.l1_data", "64 KiB"),
            ("cores.cortex-a57.l1_data", "64 KiB")
        ]) > today
    );
}

#[test]
fn the_time_in_each_state_adds_up() {
    let machine = machine("juno-2017", &[]);
    let outcome = soc::run(&machine, &conditions(case("cpu-off", Mode::Serial), 1)).unwrap();
    for times in &outcome.state_times {
        assert_eq!(times.iter().sum::<u64>(), outcome.end);
    }
    assert!(
        outcome.state_times.iter().all(|times| times[0] > 0),
        "every CPU ran at some time"
    );
}
