//! Loads that come late: load buffering where Arm allows it, and releases that are missing after
//! reads.

use interleavings::subject::cells::SharedWord;
use interleavings::subject::{Bodies, Invariant, Machine, Model, Tally, Word, check_on};
use interleavings::{Config, Core, Strategy};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

fn words(count: usize) -> Rc<Vec<Word<u64>>> {
    Rc::new(
        (0..count)
            .map(|_| SharedWord::<u64, Machine>::new(0))
            .collect(),
    )
}

/// Ends the run with a failure if something does not hold.
fn hold(machine: &Machine, holds: bool, what: impl Fn() -> String) {
    machine.hold(holds.then_some(()).ok_or_else(|| (Invariant::Own, what())));
}

fn check(config: &Config, set_up: impl Fn(&mut Model<Machine>)) -> Tally<(), Bodies> {
    check_on(config, |cpus, values| Machine::new(cpus, values, 1), set_up)
}

/// The words of a failed check; nothing if it finds nothing.
fn found(config: &Config, set_up: impl Fn(&mut Model<Machine>)) -> Option<String> {
    let result = catch_unwind(AssertUnwindSafe(|| check(config, set_up)));
    result
        .err()
        .map(|text| *text.downcast::<String>().expect("a text"))
}

fn every() -> Config {
    Config {
        strategies: vec![Strategy::Dpor],
        schedules: 10_000_000,
        cores: vec![Core::LSE],
        ..Config::default()
    }
}

/// The work of a CPU that loads its own word and stores the other one's; it returns what it saw.
type Side = fn(&Machine, own: &Word<u64>, other: &Word<u64>) -> u64;

const PLAIN: Side = |machine, own, other| {
    let seen = own.load_relaxed(machine);
    other.store_relaxed(machine, 1);
    seen
};

const WITH_DATA: Side = |machine, own, other| {
    let seen = own.load_relaxed(machine);
    other.store_relaxed(machine, seen);
    seen
};

const WITH_A_BRANCH: Side = |machine, own, other| {
    let seen = own.load_relaxed(machine);
    if seen == 1 {
        other.store_relaxed(machine, 1);
    }
    seen
};

const WITH_RELEASE: Side = |machine, own, other| {
    let seen = own.load_relaxed(machine);
    other.store(machine, 1);
    seen
};

const WITH_ACQUIRE: Side = |machine, own, other| {
    let seen = own.load(machine);
    other.store_relaxed(machine, 1);
    seen
};

/// Load buffering: that both loads return 1 is asked about.
fn load_buffering(model: &mut Model<Machine>, sides: [Side; 2]) {
    let words = words(4);
    for (cpu, side) in sides.into_iter().enumerate() {
        let words = words.clone();
        model.cpu(move |machine| {
            let seen = side(machine, &words[cpu], &words[1 - cpu]);
            words[2 + cpu].store_relaxed(machine, seen);
        });
    }
    model.at_the_end(
        move |machine| {
            (
                words[2].load_at_the_end(machine),
                words[3].load_at_the_end(machine),
            ) != (1, 1)
        },
        "both loads are late",
    );
}

#[test]
fn load_buffering_shows_where_nothing_orders_it() {
    let drawn = Config {
        schedules: 40_000,
        ..Config::default()
    };
    let orders: [(&str, Side); 4] = [
        ("data", WITH_DATA),
        ("branch", WITH_A_BRANCH),
        ("release", WITH_RELEASE),
        ("acquire", WITH_ACQUIRE),
    ];
    let mut cases = vec![("nothing".to_owned(), [PLAIN, PLAIN], true)];
    for (name, side) in orders {
        cases.push((format!("{name} on one side"), [side, PLAIN], true));
        for (other_name, other) in orders {
            cases.push((format!("{name} and {other_name}"), [side, other], false));
        }
    }
    for (name, sides, shows) in cases {
        let found = found(&drawn, |model| load_buffering(model, sides));
        assert_eq!(found.is_some(), shows, "{name}: {found:?}");
    }
    for (sides, shows) in [
        ([WITH_DATA, PLAIN], true),
        ([WITH_DATA, WITH_DATA], false),
        ([WITH_RELEASE, WITH_A_BRANCH], false),
    ] {
        let found = found(&every(), |model| load_buffering(model, sides));
        assert_eq!(found.is_some(), shows, "{found:?}");
    }
    let off = Config {
        late_loads: false,
        ..drawn
    };
    assert_eq!(
        found(&off, |model| load_buffering(model, [PLAIN, PLAIN])),
        None
    );
}

/// A ring of one slot: the consumer reads the slot and gives it free, with a release or without.
fn ring(model: &mut Model<Machine>, releases: bool) {
    let words = words(3);
    let (producer, consumer) = (words.clone(), words);
    model.cpu(move |machine| {
        for number in 1..=2 {
            while producer[1].load(machine) + 1 != number {}
            producer[0].store_relaxed(machine, 10 * number);
            producer[2].store(machine, number);
        }
    });
    model.cpu(move |machine| {
        for number in 1..=2 {
            while consumer[2].load(machine) != number {}
            let seen = consumer[0].load_relaxed(machine);
            match releases {
                true => consumer[1].store(machine, number),
                false => consumer[1].store_relaxed(machine, number),
            }
            hold(machine, seen == 10 * number, || {
                format!("item {number} is {seen}")
            });
        }
    });
}

/// A ticket lock that lets go with a release or without; inside, a word is read and another CPU
/// writes it.
fn ticket(model: &mut Model<Machine>, releases: bool) {
    let words = words(4);
    for cpu in 0..2 {
        let words = words.clone();
        model.cpu(move |machine| {
            let mine = words[0].fetch_add(machine, 1);
            while words[1].load(machine) != mine {}
            let before = words[2].load_relaxed(machine);
            if cpu == 1 {
                words[2].store_relaxed(machine, 1);
            } else {
                words[3].store_relaxed(machine, mine);
            }
            match releases {
                true => words[1].store(machine, mine + 1),
                false => words[1].store_relaxed(machine, mine + 1),
            }
            hold(machine, cpu == 1 || before == mine, || {
                format!("the CPU with ticket {mine} saw {before}")
            });
        });
    }
}

#[test]
fn a_release_that_is_missing_after_reads_is_found() {
    let config = Config::default();
    for releases in [true, false] {
        let in_ring = found(&config, |model| ring(model, releases));
        assert_eq!(in_ring.is_none(), releases, "{in_ring:?}");
        let in_lock = found(&config, |model| ticket(model, releases));
        assert_eq!(in_lock.is_none(), releases, "{in_lock:?}");
        if !releases {
            let text = in_ring.unwrap();
            assert!(
                text.contains("the load is late, and 0x14 is stored only afterwards"),
                "{text}"
            );
        }
    }
}
