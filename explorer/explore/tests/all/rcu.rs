//! The RCU library: every fault is found, repeated and shrunk; without one nothing breaks.

use explore::{
    Account, Action, CounterexampleIn, Exploration, Invariant, KernelScenario, Limits, Mode, Rcu,
    Script, Strategy, Subject, Urgency, explore_on,
};
use rcu_faults::FAULTS;
use seeded::Fault;

fn subject(fault: Option<&'static Fault>) -> Rcu {
    Rcu {
        cpus: 4,
        modes: Mode::ALL.to_vec(),
        fault,
    }
}

const LIMITS: Limits = Limits { steps: 200_000 };

fn exploration(seed: u64, schedules: u64) -> Exploration<KernelScenario> {
    let strategies = vec![Strategy::Random, Strategy::Pct(3), Strategy::PassingOver];
    Exploration {
        strategies,
        seed,
        limits: LIMITS,
        script: None,
        schedules,
    }
}

/// Far more than any of them needs; it bounds the test where one is not found.
const SCHEDULES: u64 = 200_000;

fn find(fault: &'static Fault, seed: u64) -> CounterexampleIn<Rcu> {
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
fn the_library_breaks_nothing() {
    for (seed, cpus) in [(1, 4), (2, 2), (3, 5)] {
        let subject = Rcu {
            cpus,
            ..subject(None)
        };
        let tally = explore_on(&subject, &exploration(seed, 8 * 512), 1, |_| true);
        assert_eq!(
            tally.found.map(|found| found.failure),
            None,
            "{cpus} CPUs, seed {seed}"
        );
        assert_eq!(tally.schedules, 8 * 512);
    }
}

#[test]
fn every_fault_is_found_and_what_was_found_repeats_itself() {
    for fault in FAULTS {
        let found = find(fault, 1);
        for _ in 0..100 {
            let (again, _) = subject(Some(fault)).replay(&found, LIMITS);
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
fn a_shrunk_schedule_is_short_and_needs_each_of_its_deviations_and_actions() {
    for fault in FAULTS.iter().step_by(4) {
        let subject = subject(Some(fault));
        let shrunk = subject.simplest(&find(fault, 2), LIMITS);
        assert!(
            shrunk.schedule.len() <= 12,
            "{}: {} deviations",
            fault.name,
            shrunk.schedule.len()
        );
        let still_fails = |less: &CounterexampleIn<Rcu>| {
            let (ran, _) = subject.replay(less, LIMITS);
            ran.failure
                .is_some_and(|failure| failure.invariant == shrunk.failure.invariant)
        };
        for left_out in 0..shrunk.schedule.len() {
            let mut less = shrunk.clone();
            less.schedule.remove(left_out);
            assert!(
                !still_fails(&less),
                "{}: {:?} is not needed",
                fault.name,
                shrunk.schedule[left_out]
            );
        }
        for cpu in 0..subject.cpus {
            for left_out in 0..shrunk.script.actions(cpu) {
                let mut less = shrunk.clone();
                less.script.leave_out(cpu, left_out..left_out + 1);
                assert!(
                    !still_fails(&less),
                    "{}: action {left_out} of CPU {cpu} is not needed",
                    fault.name
                );
            }
        }
    }
}

/// A callback whose reader never leaves: a kernel that would not see it sees nothing.
#[test]
fn a_reader_that_stays_holds_its_callback_back() {
    let fault = rcu_faults::find("early-grace-period");
    let replace = Action::Replace {
        pointer: 0,
        urgency: Urgency::Plain,
        atomic: false,
    };
    // The quiescent state of the switch is older than any grace period.
    let mut first = vec![Action::Switch(0), Action::Read(0)];
    first.extend([Action::Jiffy; 12]);
    let mut second = vec![replace];
    for _ in 0..12 {
        second.extend([Action::Thread { which: 0, steps: 8 }, Action::Jiffy]);
    }
    let script = KernelScenario {
        leaf_fanout: 2,
        cpus: vec![first, second],
        ..KernelScenario::default()
    };
    let exploration = Exploration {
        script: Some(script),
        ..exploration(1, 2_000)
    };
    let broken = |fault| {
        let subject = Rcu {
            cpus: 2,
            modes: vec![Mode::Reference],
            fault,
        };
        let tally = explore_on(&subject, &exploration, 1, |_| true);
        tally.found.map(|found| found.failure.invariant)
    };
    assert_eq!(broken(None), None);
    assert!(matches!(
        broken(fault),
        Some(Invariant::ReadersSafe | Invariant::GracePeriod)
    ));
}

/// A list that is read outside its lock changes nothing that happens, so only the clocks see it:
/// both accesses are named.
#[test]
fn plain_data_outside_its_lock_is_a_data_race() {
    let fault = rcu_faults::find("unlocked-look").unwrap();
    for seed in 1..4 {
        let failure = find(fault, seed).failure;
        assert_eq!(failure.invariant, Invariant::DataRace);
        let what = failure.what;
        assert!(what.contains("'s list of callbacks: CPU "), "{what}");
        assert!(
            what.contains("reads in offload_threads.rs after its operation"),
            "{what}"
        );
        assert_eq!(what.matches(" after its operation ").count(), 2, "{what}");
    }
}

/// An acquire that is too weak is found, and a release.
#[test]
fn a_lock_that_orders_too_little_is_a_data_race() {
    for name in ["relaxed-lock", "relaxed-unlock"] {
        let fault = rcu_faults::find(name).unwrap();
        for seed in 1..4 {
            assert_eq!(
                find(fault, seed).failure.invariant,
                Invariant::DataRace,
                "{name}"
            );
        }
    }
}

/// The sentence of a finding's cause, if it has one.
fn cause(name: &str, seed: u64) -> Option<String> {
    let fault = rcu_faults::find(name).unwrap();
    let (_, account) = subject(Some(fault)).account(&find(fault, seed), LIMITS);
    account.cause.map(|cause| cause.what)
}

/// A lock that orders too little is the cause of the race, and a callback that is lost was last in
/// some list.
#[test]
fn causes_name_the_lock_and_the_list() {
    for (name, says) in [
        ("relaxed-lock", "does not order what it guards: CPU "),
        ("relaxed-unlock", "does not order what it guards: CPU "),
        (
            "lost-callback",
            "list, waiting for the end of a grace period; no list has it after CPU ",
        ),
        ("missed-quiescent-state", " since CPU "),
    ] {
        for seed in 1..4 {
            let cause = cause(name, seed);
            assert!(
                cause.as_ref().is_some_and(|what| what.contains(says)),
                "{name}, seed {seed}: {cause:?}"
            );
        }
    }
    assert_eq!(cause("early-grace-period", 1), None);
}

/// A run of more than 2000 operations keeps its end and what led there, in order.
#[test]
fn a_long_run_is_cut_to_what_matters() {
    let fault = rcu_faults::find("lost-at-offline").unwrap();
    let runs = (1..30).map(|seed| {
        let found = find(fault, seed);
        let (_, steps) = subject(Some(fault)).replay(&found, LIMITS);
        (found, steps)
    });
    let long = runs.into_iter().find(|(_, steps)| steps.len() > 2_000);
    let (found, steps) = long.expect("some run has more than 2000 operations");
    let account = Account {
        steps: steps.clone(),
        ..Account::default()
    };
    let kept = explore::story::that_matter(&account, found.script.cpus(), &found.schedule, 2_000);
    assert!(
        kept.len() <= 2_000 && kept.len() * 2 < steps.len() + 2_000,
        "{} of {}",
        kept.len(),
        steps.len()
    );
    assert!(
        kept.is_sorted() && kept.last().is_some_and(|&last| last + 50 > steps.len()),
        "{:?}",
        kept.last()
    );
    // Of 2000 that would be the last, many are loads that nobody needs: those are left out.
    let last = steps.len() - 2_000;
    assert!(
        kept.first().is_some_and(|&first| first < last),
        "{:?} of {}",
        kept.first(),
        steps.len()
    );
}

/// Which crates may see the faults: nothing that is measured.
#[test]
fn only_the_explorer_has_the_faults() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let workspace = std::fs::read_to_string(root.join("Cargo.lock")).unwrap();
    let with_faults: Vec<&str> = workspace
        .split("[[package]]")
        .filter(|package| package.contains("\n \"rcu-faults\""))
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
