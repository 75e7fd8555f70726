//! Every fault is found, repeated and shrunk; the library without one breaks nothing.

use explore::{
    CounterexampleIn, Exploration, Limits, MachineOptions, Psci, Scenario, Strategy, Subject,
    explore_on,
};
use psci_faults::FAULTS;
use seeded::Fault;

fn subject(fault: Option<&'static Fault>) -> Psci {
    Psci {
        cpus: 6,
        machines: MachineOptions::all(),
        fault,
        port: None,
    }
}

fn exploration(seed: u64, schedules: u64) -> Exploration<Scenario> {
    let strategies = vec![Strategy::Random, Strategy::Pct(3), Strategy::PassingOver];
    Exploration {
        strategies,
        seed,
        limits: Limits::default(),
        script: None,
        schedules,
    }
}

/// Far more than any of them needs; it bounds the test where one is not found.
const SCHEDULES: u64 = 250_000;

fn find(fault: &'static Fault, seed: u64) -> CounterexampleIn<Psci> {
    let tally = explore_on(
        &subject(Some(fault)),
        &exploration(seed, SCHEDULES),
        1,
        |_| true,
    );
    tally.found.unwrap_or_else(|| {
        panic!(
            "{}: not found in {} schedules with seed {seed}",
            fault.name, tally.schedules
        )
    })
}

#[test]
fn every_fault_is_found_and_what_was_found_repeats_itself() {
    for fault in FAULTS {
        let found = find(fault, 1);
        for _ in 0..100 {
            let (again, _) = subject(Some(fault)).replay(&found, Limits::default());
            assert_eq!(again.hash, found.hash, "{}", fault.name);
            assert_eq!(
                again.failure.as_ref(),
                Some(&found.failure),
                "{}",
                fault.name
            );
        }
    }
}

#[test]
fn a_shrunk_schedule_is_short_and_needs_each_of_its_deviations() {
    for fault in FAULTS {
        let subject = subject(Some(fault));
        let shrunk = subject.simplest(&find(fault, 2), Limits::default());
        assert!(
            shrunk.schedule.len() <= 12,
            "{}: {} deviations",
            fault.name,
            shrunk.schedule.len()
        );
        for left_out in 0..shrunk.schedule.len() {
            let mut less = shrunk.clone();
            less.schedule.remove(left_out);
            let (ran, _) = subject.replay(&less, Limits::default());
            let same = ran
                .failure
                .is_some_and(|failure| failure.invariant == shrunk.failure.invariant);
            assert!(
                !same,
                "{}: {:?} is not needed",
                fault.name, shrunk.schedule[left_out]
            );
        }
        // A boot that fails has no calls that could be left out.
        let mut idle = shrunk.clone();
        idle.script.cpus.iter_mut().for_each(Vec::clear);
        let (ran, _) = subject.replay(&idle, Limits::default());
        let boots = ran
            .failure
            .is_none_or(|failure| failure.invariant != shrunk.failure.invariant);
        for cpu in (0..subject.cpus).filter(|_| boots) {
            for left_out in 0..shrunk.script.cpus[cpu].len() {
                let mut less = shrunk.clone();
                less.script.cpus[cpu].remove(left_out);
                let (ran, _) = subject.replay(&less, Limits::default());
                let same = ran
                    .failure
                    .is_some_and(|failure| failure.invariant == shrunk.failure.invariant);
                assert!(
                    !same,
                    "{}: call {left_out} of CPU {cpu} is not needed: {:?}",
                    fault.name, shrunk.script
                );
            }
        }
    }
}

/// A lock that two hold is told first; what caches lose is no fault of a lock.
#[test]
fn causes_name_the_lock_that_two_hold() {
    for (name, has_lock) in [
        ("bakery-order", true),
        ("no-choosing", true),
        ("shared-line", false),
        ("no-clean", false),
    ] {
        let fault = psci_faults::find(name).unwrap();
        let subject = subject(Some(fault));
        let found = explore_on(&subject, &exploration(2, SCHEDULES), 1, |_| true)
            .found
            .unwrap();
        let shrunk = subject.simplest(&found, Limits::default());
        let (_, account) = subject.account(&shrunk, Limits::default());
        let cause = account.cause.map(|cause| cause.what);
        assert_eq!(
            cause
                .as_ref()
                .is_some_and(|what| what.contains("takes it as well")),
            has_lock,
            "{name}: {cause:?}"
        );
    }
}

#[test]
fn the_library_breaks_nothing() {
    for (seed, cpus) in [(1, 6), (2, 2), (3, 5)] {
        let subject = Psci {
            cpus,
            ..subject(None)
        };
        let tally = explore_on(&subject, &exploration(seed, 20_000), 1, |_| true);
        assert_eq!(tally.found, None, "{cpus} CPUs, seed {seed}");
        assert_eq!(tally.schedules, 20_000);
    }
}

/// Which crates may see the faults: neither the firmware nor what is measured.
#[test]
fn only_the_explorer_has_the_faults() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let image = std::fs::read_to_string(root.join("firmware/Cargo.lock")).unwrap();
    assert!(image.contains("stopwatt-psci") && !image.contains("psci-faults"));
    let workspace = std::fs::read_to_string(root.join("Cargo.lock")).unwrap();
    let with_faults: Vec<&str> = workspace
        .split("[[package]]")
        .filter(|package| package.contains("\n \"psci-faults\""))
        .filter_map(|package| {
            package
                .lines()
                .find_map(|line| line.strip_prefix("name = "))
        })
        .collect();
    assert_eq!(
        with_faults,
        ["\"explorations\"", "\"explore\"", "\"stopwatt-explore\""]
    );
}

/// The machine keeps each word in a line of its own, as the image does.
#[test]
fn words_lie_in_lines_as_they_do_in_the_image() {
    let memory = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../firmware/el3/src/memory.rs"
    );
    let text = std::fs::read_to_string(memory).unwrap();
    assert!(
        text.contains("#[repr(align(64))]\npub struct Word(AtomicU64);")
            && text.contains("const LINE: usize = 64;")
    );
    assert!(
        MachineOptions::all()
            .iter()
            .all(|machine| machine.cells_per_line == 1)
    );
}

/// Stays that began while the machine was set up are counted as well: here cluster 0 goes down with
/// CPU 0 before the run starts.
#[test]
fn a_cluster_that_was_down_at_the_start_is_counted_once() {
    use explore::Ask;
    let cpus = vec![Vec::new(), Vec::new(), vec![Ask::On(0)], Vec::new()];
    let scenario = Scenario {
        os_initiated: false,
        cpus,
        off: vec![0, 1],
        resident: None,
    };
    let exploration = Exploration {
        script: Some(scenario),
        ..exploration(1, 3_000)
    };
    let subject = Psci {
        cpus: 4,
        ..subject(None)
    };
    let tally = explore_on(&subject, &exploration, 1, |_| true);
    assert_eq!(tally.found, None);
}

/// Runs come to every outcome that a call can have and to every state, under either coordinator;
/// what they reach is told the same way twice.
#[test]
fn runs_reach_every_outcome_and_every_state() {
    let explored = || explore_on(&subject(None), &exploration(1, 60_000), 1, |_| true).coverage;
    let coverage = explored();
    let counted = coverage.counted.iter().zip(&coverage.counts);
    let never: Vec<_> = counted
        .filter(|(what, count)| **count == 0 && what.what != "something else")
        .collect();
    assert!(never.is_empty(), "never reached: {never:?}");
    assert!(
        coverage.places_taken() * 2 > coverage.places.len(),
        "{} branches",
        coverage.places_taken()
    );
    assert!(coverage.pairs().any(|both| both));
    assert_eq!(coverage, explored());
}

/// A run after PSCI_SET_SUSPEND_MODE takes clusters and the system down, where the platform
/// coordinated first.
#[test]
fn the_system_goes_down_after_a_change_of_mode() {
    use explore::Ask;
    let deep = |last| Ask::Suspend {
        states: [2, 2, if last == 2 { 1 } else { 0 }],
        last,
    };
    let cpus = vec![
        vec![Ask::Mode(1), deep(2)],
        vec![Ask::Suspend {
            states: [2, 0, 0],
            last: 0,
        }],
        vec![deep(1)],
        vec![],
    ];
    let scenario = Scenario {
        os_initiated: false,
        cpus,
        off: vec![3],
        resident: None,
    };
    let exploration = Exploration {
        script: Some(scenario),
        ..exploration(1, 3_000)
    };
    let subject = Psci {
        cpus: 4,
        ..subject(None)
    };
    let tally = explore_on(&subject, &exploration, 1, |_| true);
    assert_eq!(tally.found, None);
    let granted = |of: &str, what: &str| {
        let at = tally
            .coverage
            .counted
            .iter()
            .position(|counted| counted.of == of && counted.what == what);
        tally.coverage.counts[at.expect("it is counted")]
    };
    assert!(granted("the OS coordinates", "2.2.1") > 0);
}

/// The table of questions in the reference has every method of `Platform` that has an answer, and
/// names for each a fault whose change takes a call of it out of the library.
#[test]
fn for_every_question_of_the_platform_a_fault_leaves_it_out() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |path: &str| std::fs::read_to_string(root.join(path)).unwrap();
    let platform = read("crates/code/psci/src/platform.rs");
    let body = platform.split_once("pub trait Platform").unwrap().1;
    let methods = body.split("\n    fn ").skip(1).filter_map(|method| {
        let ends = [";\n", " {"].map(|end| method.find(end).unwrap_or(method.len()));
        let head = &method[..ends[0].min(ends[1])];
        head.contains("->").then(|| head.split_once('(').unwrap().0)
    });
    let list = read("explorer/psci-faults/faults.toml");
    let page = read("docs/explore-reference.md");
    let table = page
        .split_once("| question |")
        .unwrap()
        .1
        .split_once("\n\n")
        .unwrap()
        .0;
    let rows: Vec<Vec<&str>> = table
        .lines()
        .map(|line| line.split('`').skip(1).step_by(2).collect())
        .collect();
    let mut in_table = 0;
    for method in methods {
        let row = rows.iter().find(|row| row.first() == Some(&method));
        let faults = &row.unwrap_or_else(|| panic!("the table has no question `{method}`"))[1..];
        assert!(!faults.is_empty(), "no fault leaves `{method}` out");
        for fault in faults {
            assert!(
                psci_faults::find(fault).is_some(),
                "there is no fault `{fault}`"
            );
            let head = format!("\nname = \"{fault}\"\n");
            let text = list
                .split("[[fault]]")
                .find(|fault| fault.starts_with(&head));
            let mut places = text
                .unwrap()
                .split("\nbefore =")
                .skip(1)
                .filter_map(|part| part.split("\nafter").next());
            let left_out = places.any(|before| {
                let before: String = before.split_whitespace().collect();
                before.contains(&format!("platform.{method}("))
            });
            assert!(
                left_out,
                "`{fault}` changes no place at which `{method}` is asked"
            );
        }
        in_table += 1;
    }
    assert_eq!(
        rows.iter().filter(|row| !row.is_empty()).count(),
        in_table,
        "the table has questions that there are not"
    );
}

/// What is found, and what is reached, does not depend on the number of threads.
#[test]
fn several_threads_find_the_same() {
    let late = psci_faults::find("optional-calls-unasked").unwrap();
    for (fault, schedules) in [(None, 10_000), (None, 5 * 1024), (Some(late), SCHEDULES)] {
        let (subject, exploration) = (subject(fault), exploration(3, schedules));
        let alone = explore_on(&subject, &exploration, 1, |_| true);
        assert_eq!(alone.found.is_some(), fault.is_some());
        for threads in [2, 3, 8] {
            let together = explore_on(&subject, &exploration, threads, |_| true);
            assert_eq!(alone, together, "{threads} threads");
        }
    }
}
