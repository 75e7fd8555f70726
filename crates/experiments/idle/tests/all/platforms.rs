//! Files of platforms: those that come with Stopwatt, and those that are wrong.

use document::Document;
use experiment::Folder;
use idle_experiments::platform::{POINTS, Platform, Range};

fn files() -> Folder {
    Folder(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../data/platforms"))
}

#[test]
fn every_platform_can_be_read_and_goes_by_its_file_name() {
    use experiment::Files;
    let names = files().stems("idle").unwrap();
    assert!(names.len() >= 5, "{names:?}");
    for name in names {
        let platform = platforms::idle_states(&files(), &name).unwrap();
        assert_eq!(platform.name, name);
        for domain in &platform.domains {
            // The governor's table has the times of the file.
            for (cost, state) in domain.states.iter().zip(domain.table.all()) {
                assert_eq!(
                    cost.entry_ns + cost.exit_ns,
                    state.exit_latency_ns,
                    "{name}, {}",
                    cost.name
                );
                assert!(cost.core_round_trip.low <= cost.core_round_trip.high);
                assert!(cost.domain_round_trip.low <= cost.domain_round_trip.high);
            }
        }
    }
}

#[test]
fn the_range_of_a_round_trip_reaches_from_the_lowest_source_to_the_highest() {
    let platform = platforms::idle_states(&files(), "tc2").unwrap();
    let sleep = &platform.domains[0].states[1];
    // 45 units for 2 ms, and 1.7 ms at the core's and the cluster's active power.
    assert_eq!(
        sleep.core_round_trip,
        Range {
            low: 0,
            high: 2021 * 1_700_000
        }
    );
    assert_eq!(
        sleep.domain_round_trip,
        Range {
            low: 45 * 2_000_000,
            high: 7920 * 1_700_000
        }
    );
    let range = Range {
        low: 100,
        high: 1124,
    };
    assert_eq!(
        [
            range.part(POINTS[0]),
            range.part(POINTS[1]),
            range.part(POINTS[10]),
            range.part(POINTS[19])
        ],
        [100, 102, 148, 1124]
    );
}

const RIGHT: &str = "name = \"made\"\ntitle = \"\"\n[power]\nsource = \"\"\n[[domain]]\nname = \"d\"\ncpus = [0, 1]\nsource = \"\"\n\
    [[domain.state]]\nname = \"WFI\"\nentry_us = 0\nexit_us = 1\nresidency_us = 1\nsource = \"\"\n\
    [[domain.state]]\nname = \"sleep\"\nentry_us = 10\nexit_us = 20\nresidency_us = 100\nsource = \"\"\n";

fn wrong(from: &str, to: &str) -> String {
    assert!(RIGHT.contains(from));
    let error =
        Platform::read(&Document::new("made.toml", RIGHT.replacen(from, to, 1))).unwrap_err();
    format!("{error}; {}", error.help_text().unwrap_or_default())
}

#[test]
fn a_platform_may_have_the_traced_cpus_alone() {
    let platform = |cpus: &str| {
        Platform::read(&Document::new("made.toml", RIGHT.replace("[0, 1]", cpus))).unwrap()
    };
    let places = |cpus| {
        (0..6)
            .map(|cpu| platform(cpus).place(cpu).1)
            .collect::<Vec<_>>()
    };
    assert_eq!(places("[0, 1]"), [0, 0, 1, 1, 2, 2]);
    assert_eq!(
        places("[3]"),
        [1, 2, 3, 0, 5, 6],
        "each other CPU is on one of its own"
    );
}

#[test]
fn what_is_wrong_in_a_file_is_named() {
    assert!(Platform::read(&Document::new("made.toml", RIGHT)).is_ok());
    assert!(wrong("exit_us = 20", "exit = 20").starts_with("made.toml:18: unknown field `exit`"));
    assert!(wrong("cpus = [0, 1]", "cpus = []").contains("no CPU"));
    assert!(
        wrong("cpus = [0, 1]", "cpus = [0, 0]").starts_with("made.toml:7: CPU 0 is in two domains")
    );
    assert!(wrong("residency_us = 100", "residency_us = 0").contains("from shallow to deep"));
    assert!(wrong("residency_us = 100", "residency_us = 2000000000").contains("times are in us"));
    assert!(wrong("exit_us = 20", "exit_us = 2000000").starts_with(
        "made.toml:15: domain `d`, state `sleep`: entering or leaving takes longer than 1 s"
    ));
    assert!(
        wrong("exit_us = 20", "exit_us = 20\ncore_power = 2000000").contains("above 1000000 units")
    );
    let not_coupled =
        "exit_us = 20\nround_trip = [{ core_unit_us = 1, domain_unit_us = 1, source = \"\" }]";
    assert!(wrong("exit_us = 20", not_coupled).contains("coupled = true"));
    assert!(
        wrong("exit_us = 20", "exit_us = 20\nlast_entry_us = 50")
            .contains("only a state with coupled = true")
    );
    let watts = "[power]\nwatts_per_unit = { value = -1.0, source = \"\" }";
    assert!(wrong("[power]", watts).contains("a number above 0"));
}
