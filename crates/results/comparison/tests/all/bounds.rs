//! Bounds of a policy: what holds, what does not, and what cannot be told.

use comparison::{Comparison, Error, Input, Options, Outcome, Policy, compare};
use document::Document;
use findings::Findings;
use recording::facts::{IdleCounts, Replay};
use recording::{Header, Recording, metrics};

/// A kernel's counts: entries, above and below of two states on two CPUs.
fn counted(above: f64, below: f64) -> Recording {
    let mut recording = Recording::new(Header::new("cpuidle", "import", "us"));
    recording.header.set_facts(&IdleCounts::default());
    let series = recording.series("kernel", "cpuidle", "");
    for cpu in 0..2 {
        for (state, counts) in [("C1", [60.0, 0.0, below]), ("C6", [40.0, above, 0.0])] {
            let all = [
                metrics::IDLE_ENTERED,
                metrics::IDLE_ABOVE,
                metrics::IDLE_BELOW,
            ];
            for (metric, value) in all.into_iter().zip(counts) {
                recording.add(series, 0, metric, state, value).cpu = Some(cpu);
            }
        }
    }
    recording
}

/// A table of wake-ups, in a unit of time.
fn woken(unit: &str, value: f64) -> Recording {
    let mut recording = Recording::new(Header::new("table", "import", "us"));
    let series = recording.series("v", "probe", "");
    for (state, by) in [("cpu-sleep", 0.1), ("domain-sleep", 1.0)] {
        let subject = recording.name(state);
        let measure = recording.measure(series, 0, "wake-up", unit, value * by);
        measure.subject = Some(subject);
    }
    recording
}

fn policy(bounds: &[&str]) -> Policy {
    Policy::read(&Document::new("p.toml", format!("bounds = {bounds:?}"))).unwrap()
}

fn compared(sides: &[&[&Recording]], bounds: &[&str]) -> Result<Comparison, Error> {
    let findings = sides.iter().map(|runs| {
        let runs = runs.iter().map(|run| Findings::new(run, "", None));
        runs.collect::<Vec<_>>()
    });
    let findings: Vec<_> = findings.collect();
    let inputs = findings.iter().map(|runs| Input {
        runs,
        ..Input::default()
    });
    let options = Options {
        policy: policy(bounds),
        ..Options::default()
    };
    compare(&inputs.collect::<Vec<_>>(), &options)
}

fn outcome(sides: &[&[&Recording]], bound: &str) -> Outcome {
    compared(sides, &[bound]).unwrap().outcome()
}

use Outcome::{Exceeded, Held, Unjudged};

#[test]
fn a_share_is_of_all_entries_whatever_the_base_is() {
    let (few, many) = (counted(4.0, 3.0), counted(6.0, 5.0));
    let held = compared(&[&[&many], &[&few]], &["above + below <= 8 %"]).unwrap();
    let row = &held.bounds[0].rows[0];
    assert_eq!(
        (row.row.as_str(), row.interval),
        ("kernel cpuidle", Some([7.0; 2]))
    );
    for (bound, few_is, many_is) in [
        ("above + below <= 8 %", Held, Exceeded),
        ("idle_above + Below <= 8%", Held, Exceeded),
        ("above + below of C6 <= 5 %", Held, Exceeded),
        ("above of C6 <= 5%", Held, Exceeded),
        ("below of cpuidle <= 4 %", Held, Exceeded),
        ("rejected <= 1 %", Unjudged, Unjudged),
        ("above of C7 <= 1 %", Unjudged, Unjudged),
    ] {
        // No base, this base, that base: only the recording that is judged counts.
        for base in [&[][..], &[&[&few][..]], &[&[&many]]] {
            let of = |it| outcome(&[base, &[&[it][..]]].concat(), bound);
            let found = (of(&few), of(&many));
            assert_eq!(
                format!("{found:?}"),
                format!("{:?}", (&few_is, &many_is)),
                "{bound}"
            );
        }
    }
}

#[test]
fn a_time_is_the_same_in_every_unit() {
    for (unit, value) in [
        ("us", 1500.0),
        ("\u{b5}s", 1500.0),
        ("ns", 1.5e6),
        ("ms", 1.5),
    ] {
        let table = woken(unit, value);
        for (bound, expected) in [
            ("wake-up of domain-sleep <= 2 ms", Held),
            ("wakeup of domain-sleep <= 1500 us", Held),
            ("wake-up of domain-sleep <= 1499999 ns", Exceeded),
            ("wake-up of cpu-sleep <= 0.15 ms", Held),
            ("wake-up <= 1 ms", Exceeded),
            ("wake-up of other <= 1 ms", Unjudged),
            ("wake-up <= 8 %", Unjudged),
        ] {
            assert_eq!(
                outcome(&[&[&table]], bound),
                expected,
                "{bound} of {value} {unit}"
            );
        }
    }
}

/// A row holds if it holds in every run; where one run lacks it, nothing is told.
#[test]
fn runs_that_straddle_a_bound_do_not_tell() {
    let [low, high, other] = [1.0, 3.0, 1.0].map(|of| woken("ms", of));
    let bound = |limit: &str| format!("wake-up of domain-sleep <= {limit} ms");
    let of = |runs: &[&Recording], limit| outcome(&[&[&other], runs], &bound(limit));
    assert_eq!(
        [of(&[&low, &high], "2"), of(&[&low, &high], "3")],
        [Unjudged, Held]
    );
    assert_eq!(of(&[&low, &high], "0.9"), Exceeded);
    assert_eq!(of(&[&low, &counted(1.0, 1.0)], "2"), Unjudged);
    let both = compared(&[&[&low]], &["wake-up <= 2 ms", "wake-up of x <= 2 ms"]).unwrap();
    assert_eq!(
        both.outcome(),
        Unjudged,
        "one bound holds and the other has no row"
    );
}

/// What a replay leaves open is an interval, and both of its ends count.
#[test]
fn the_ends_of_a_replay_are_one_interval() {
    let mut recording = Recording::new(Header::new("idle-replay", "sim", "ns"));
    recording.header.set_facts(&Replay::default());
    for (mode, above) in [("", 5.0), ("least", 2.0), ("most", 10.0)] {
        let series = recording.series("menu@6.1", "idle-replay", mode);
        let all = Replay::ALL_STATES;
        recording.add(series, 0, metrics::IDLE_ENTERED, "WFI", 100.0);
        recording.add(series, 0, metrics::IDLE_ABOVE, all, above);
        recording.add(series, 0, metrics::IDLE_BELOW, all, 1.0);
        recording.add(series, 0, metrics::IDLE_DELAY, "p99", above);
    }
    for (bound, expected) in [
        ("above + below of menu@6.1 <= 11 %", Held),
        ("above + below <= 8 %", Unjudged),
        ("above + below <= 2.9 %", Exceeded),
        ("delay of p99 <= 10 us", Held),
        ("delay of p99 <= 0.005 ms", Unjudged),
        ("delay of p99 <= 1999 ns", Exceeded),
    ] {
        assert_eq!(outcome(&[&[&recording]], bound), expected, "{bound}");
    }
}

#[test]
fn a_wrong_bound_is_told_with_its_line() {
    for bound in [
        "above < 8 %",
        "above <= much",
        "<= 8 %",
        "above <= 8 % of it",
        "above <= 8 parsecs",
    ] {
        let text = format!("threshold = 1\nbounds = [\n\"below <= 1 %\",\n\"{bound}\"]\n");
        let error = Policy::read(&Document::new("p.toml", text))
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with(&format!("p.toml:2: `{bound}` is no bound")),
            "{error}"
        );
        assert!(error.contains("`above + below <= 8 %`"), "{error}");
    }
}
