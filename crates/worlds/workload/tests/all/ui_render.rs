//! A user interface's frames under policies of placement: what `workloads/ui-render.md` says comes
//! out.

use document::Document;
use minikernel::{Frequency, Hardware, Settings, run};
use placement::Kind;
use soc::config::{IdlePlatform, Sources};
use std::path::Path;
use workload::{Options, read};

/// The 95th percentile of the frames' latencies in ns, and energy.
fn measure(kind: Kind, frequency: &Frequency) -> (f64, f64) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let open = |name: &str| Document::open(&root.join("data/platforms").join(name)).unwrap();
    let sources = Sources {
        platform: open("tc2.toml"),
        release: open("tc2/releases/tc2-borrowed.toml"),
        costs: open("tc2/costs/tc2-borrowed.toml"),
    };
    let idle = IdlePlatform::read(&open("idle/tc2.toml")).unwrap();
    let hardware = Hardware::new(&sources.machine().unwrap(), &idle, 300).unwrap();
    let file = Document::open(&root.join("data/workloads/ui-render.json")).unwrap();
    let file = read(&file, &Options::default()).unwrap();
    let (mut frames, mut energy) = (Vec::new(), 0.0);
    for seed in 1..=6 {
        let settings = Settings {
            seed,
            frequency: *frequency,
            ..Settings::default()
        };
        let policy = kind.policy(&hardware.energy_model().unwrap(), seed);
        let outcome = run(
            &hardware,
            &settings,
            &file.workload,
            policy,
            None,
            10_000_000_000,
        )
        .unwrap();
        assert_eq!(outcome.total(), outcome.integral);
        frames.extend(outcome.task("render").unwrap().counts.responses.clone());
        energy += outcome.integral as f64;
    }
    frames.sort_unstable();
    (frames[frames.len() * 95 / 100] as f64, energy)
}

#[test]
fn at_the_highest_points_early_hmp_rivals_all_big_and_even_spread_does_not() {
    let of = |kind| measure(kind, &Frequency::Highest);
    let (all_big, early, even, late) = (
        of(Kind::AllBig),
        of(Kind::HmpEarly),
        of(Kind::Even),
        of(Kind::Hmp),
    );
    assert!(
        early.0 < 1.1 * all_big.0 && early.1 < 0.97 * all_big.1,
        "{early:?} {all_big:?}"
    );
    assert!(even.0 > 1.5 * all_big.0, "{even:?} {all_big:?}");
    // The thresholds of vendors' trees let the thread down several times a second: its load there
    // is less than a half.
    assert!(
        late.0 > 1.5 * all_big.0 && late.1 < early.1,
        "the note says otherwise: {late:?} {all_big:?}"
    );
}

#[test]
fn where_frequencies_follow_the_load_hmp_rivals_all_big_and_saves_nothing() {
    let of = |kind| {
        measure(
            kind,
            &Frequency::Schedutil {
                rate_limit_ns: 10_000_000,
            },
        )
    };
    let (all_big, hmp, even) = (of(Kind::AllBig), of(Kind::Hmp), of(Kind::Even));
    assert!(hmp.0 < 1.1 * all_big.0, "{hmp:?} {all_big:?}");
    assert!(even.0 > 1.5 * all_big.0, "{even:?} {all_big:?}");
    assert!(
        hmp.1 > all_big.1,
        "the note says otherwise: {hmp:?} {all_big:?}"
    );
}
