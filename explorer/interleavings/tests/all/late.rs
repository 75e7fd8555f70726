//! Loads that come late: load buffering where Arm allows it, and releases that are missing after
//! reads.

use interleavings::sync::Arc;
use interleavings::sync::atomic::AtomicU64;
use interleavings::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use interleavings::{Config, Core, Strategy, explore, thread};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The words of a failed check; nothing if it finds nothing.
fn found(config: &Config, test: impl Fn() + Send + 'static) -> Option<String> {
    let result = catch_unwind(AssertUnwindSafe(|| explore(config, test)));
    result
        .err()
        .map(|text| *text.downcast::<String>().expect("a text"))
}

/// Two threads, the second with 1.
fn two(body: impl Fn(usize) + Clone + Send + 'static) {
    let other = body.clone();
    let thread = thread::spawn(move || other(1));
    body(0);
    thread.join().unwrap();
}

fn every() -> Config {
    Config {
        strategies: vec![Strategy::Dpor],
        schedules: 10_000_000,
        cores: vec![Core::LSE],
        ..Config::default()
    }
}

/// The work of a thread that loads its own word and stores the other one's; it returns what it saw.
type Side = fn(own: &AtomicU64, other: &AtomicU64) -> u64;

const PLAIN: Side = |own, other| {
    let seen = own.load(Relaxed);
    other.store(1, Relaxed);
    seen
};

const WITH_DATA: Side = |own, other| {
    let seen = own.load(Relaxed);
    other.store(seen, Relaxed);
    seen
};

const WITH_A_BRANCH: Side = |own, other| {
    let seen = own.load(Relaxed);
    if seen == 1 {
        other.store(1, Relaxed);
    }
    seen
};

const WITH_RELEASE: Side = |own, other| {
    let seen = own.load(Relaxed);
    other.store(1, Release);
    seen
};

const WITH_ACQUIRE: Side = |own, other| {
    let seen = own.load(SeqCst);
    other.store(1, Relaxed);
    seen
};

/// Load buffering: that both loads return 1 is asked about.
fn load_buffering(sides: [Side; 2]) {
    let words = Arc::new([0; 4].map(AtomicU64::new));
    let own = words.clone();
    two(move |thread| {
        let seen = sides[thread](&own[thread], &own[1 - thread]);
        own[2 + thread].store(seen, Relaxed);
    });
    let both = [2, 3].map(|word: usize| words[word].load(Relaxed));
    assert_ne!(both, [1, 1], "both loads are late");
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
        let found = found(&drawn, move || load_buffering(sides));
        assert_eq!(found.is_some(), shows, "{name}: {found:?}");
    }
    for (sides, shows) in [
        ([WITH_DATA, PLAIN], true),
        ([WITH_DATA, WITH_DATA], false),
        ([WITH_RELEASE, WITH_A_BRANCH], false),
    ] {
        let found = found(&every(), move || load_buffering(sides));
        assert_eq!(found.is_some(), shows, "{found:?}");
    }
    let off = Config {
        late_loads: false,
        ..drawn
    };
    assert_eq!(found(&off, || load_buffering([PLAIN, PLAIN])), None);
}

/// A ring of one slot: the consumer reads the slot and gives it free, with a release or without.
fn ring(releases: bool) {
    let words = Arc::new([0; 3].map(AtomicU64::new));
    two(move |thread| {
        let [slot, head, tail] = &*words;
        for number in 1..=2 {
            if thread == 1 {
                while head.load(SeqCst) + 1 != number {}
                slot.store(10 * number, Relaxed);
                tail.store(number, Release);
            } else {
                while tail.load(SeqCst) != number {}
                let seen = slot.load(Relaxed);
                head.store(number, if releases { Release } else { Relaxed });
                assert_eq!(seen, 10 * number);
            }
        }
    });
}

/// A ticket lock that lets go with a release or without; inside, a word is read and another thread
/// writes it.
fn ticket(releases: bool) {
    let words = Arc::new([0; 4].map(AtomicU64::new));
    two(move |thread| {
        let [next, serving, data, other] = &*words;
        let mine = next.fetch_add(1, AcqRel);
        while serving.load(Acquire) != mine {}
        let before = data.load(Relaxed);
        [other, data][thread].store(1, Relaxed);
        serving.store(mine + 1, if releases { Release } else { Relaxed });
        assert!(thread == 1 || before == mine, "{before} with ticket {mine}");
    });
}

#[test]
fn a_release_that_is_missing_after_reads_is_found() {
    let config = Config::default();
    for releases in [true, false] {
        let in_ring = found(&config, move || ring(releases));
        assert_eq!(in_ring.is_none(), releases, "{in_ring:?}");
        let in_lock = found(&config, move || ticket(releases));
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
