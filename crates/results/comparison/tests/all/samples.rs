//! Noisy worlds, and how rows of different recordings find each other.

use comparison::{
    Basis, Better, Comparison, Condition, Input, Iterations, Lack, Options, Outcome, Policy,
    Verdict, Who, compare,
};
use document::Document;
use fastrand::Rng;
use findings::Findings;
use recording::{Header, Platform, Recording};
use std::slice::from_ref;

/// About normal, with mean 0 and standard deviation 1: the sum of twelve uniform deviates.
fn policy(text: &str) -> Policy {
    Policy {
        iterations: Iterations::Runs,
        ..Policy::read(&Document::new("p", text)).unwrap()
    }
}

fn normal(random: &mut Rng) -> f64 {
    (0..12).map(|_| random.f64()).sum::<f64>() - 6.0
}

fn board() -> Recording {
    Recording::new(Header::new("psci-latency", "import", "ticks"))
}

/// Rows of a serial case on a board: `n` values of mean 100 us, shifted and scattered by percent.
fn noisy(random: &mut Rng, rows: u16, n: u32, shift: f64, sd: f64) -> Recording {
    let mut recording = board();
    let series = recording.series("r", "suspend-level0", "serial");
    for core in 0..rows {
        for iteration in 0..n {
            let value = 100.0 + shift + sd * normal(random);
            let measure = recording.measure(series, iteration, "powerdown", "us", value);
            (measure.cpu, measure.cluster, measure.core) = (Some(core), Some(0), Some(core));
        }
    }
    recording
}

fn verdicts(a: &Recording, b: &Recording, options: &Options) -> Vec<Verdict> {
    let comparison = compared(&[a, b], options);
    comparison
        .changes()
        .map(|(_, change)| change.verdict)
        .collect()
}

/// Compares recordings that are called A, B and so on.
fn compared(recordings: &[&Recording], options: &Options) -> Comparison {
    let findings: Vec<_> = recordings
        .iter()
        .map(|recording| Findings::new(recording, "", None))
        .collect();
    let name = |side: usize| char::from(b'A' + side as u8).to_string();
    let inputs: Vec<_> = findings
        .iter()
        .enumerate()
        .map(|(side, findings)| Input {
            name: name(side),
            runs: from_ref(findings),
            ..Input::default()
        })
        .collect();
    compare(&inputs, options).unwrap()
}

/// Options by which iterations count as runs.
fn quick() -> Options {
    let policy = Policy {
        iterations: Iterations::Runs,
        ..Policy::default()
    };
    Options {
        policy,
        ..Options::default()
    }
}

#[test]
fn equal_distributions_give_at_most_5_percent_false_alarms_over_1000_comparisons() {
    // A false alarm is any verdict but "same" and "unclear", with the smallest change counted: no
    // threshold helps.
    let policy = Policy {
        threshold: 0.0,
        ..quick().policy
    };
    for (rows, seed, comparisons) in [(1, 1, 1000), (4, 2, 1000), (20, 7, 200)] {
        let mut random = Rng::with_seed(seed);
        let mut alarms = 0;
        for _ in 0..comparisons {
            let (a, b) = (
                noisy(&mut random, rows, 30, 0.0, 3.0),
                noisy(&mut random, rows, 30, 0.0, 3.0),
            );
            let options = Options {
                policy: policy.clone(),
                ..quick()
            };
            let verdicts = verdicts(&a, &b, &options);
            assert_eq!(verdicts.len(), usize::from(rows));
            let alarm = verdicts
                .iter()
                .any(|verdict| !matches!(verdict, Verdict::Same | Verdict::Unclear));
            alarms += u32::from(alarm);
        }
        assert!(
            alarms * 20 <= comparisons,
            "{alarms} of {comparisons} comparisons of {rows} rows raised a false alarm"
        );
        assert!(
            alarms > 0,
            "a test at 5 % that never errs in {comparisons} comparisons is not one at 5 %"
        );
    }
}

#[test]
fn a_shift_of_5_percent_at_30_values_with_sd_3_percent_is_found_in_95_percent() {
    for (rows, seed) in [(1_u16, 3), (20, 4)] {
        let mut random = Rng::with_seed(seed);
        let (mut found, comparisons) = (0, if rows == 1 { 200 } else { 20 });
        for _ in 0..comparisons {
            let (a, b) = (
                noisy(&mut random, rows, 30, 0.0, 3.0),
                noisy(&mut random, rows, 30, 5.0, 3.0),
            );
            found += verdicts(&a, &b, &quick())
                .iter()
                .filter(|verdict| **verdict == Verdict::Worse)
                .count();
        }
        let of = comparisons * usize::from(rows);
        assert!(
            found * 100 >= of * 95,
            "{found} of {of} shifts were found, {rows} rows a comparison"
        );
    }
}

#[test]
fn too_few_values_say_nothing_however_far_apart() {
    let mut random = Rng::with_seed(5);
    for n in 1..3 {
        let (a, b) = (
            noisy(&mut random, 1, n, 0.0, 0.1),
            noisy(&mut random, 1, n, 50.0, 0.1),
        );
        assert_eq!(verdicts(&a, &b, &quick()), [Verdict::TooFew], "n = {n}");
    }
    let (a, b) = (
        noisy(&mut random, 1, 4, 0.0, 0.1),
        noisy(&mut random, 1, 4, 50.0, 0.1),
    );
    assert_eq!(
        verdicts(&a, &b, &quick()),
        [Verdict::Worse],
        "four and four can"
    );
}

#[test]
fn a_change_below_the_threshold_is_named_and_no_regression() {
    let mut random = Rng::with_seed(6);
    let (a, b) = (
        noisy(&mut random, 1, 200, 0.0, 0.2),
        noisy(&mut random, 1, 200, 0.5, 0.2),
    );
    assert_eq!(verdicts(&a, &b, &quick()), [Verdict::Small]);
    let strict = Options {
        policy: policy("[[rule]]\nmetric = \"powerdown\"\nthreshold = 0.2"),
        ..quick()
    };
    assert_eq!(verdicts(&a, &b, &strict), [Verdict::Worse]);
    let floor = Options {
        policy: policy("threshold = 0.2\n[[rule]]\nleast = 1.0"),
        ..quick()
    };
    assert_eq!(verdicts(&a, &b, &floor), [Verdict::Small], "less than 1 us");
    let higher = Options {
        policy: policy("threshold = 0.2\n[[rule]]\nbetter = \"higher\""),
        ..quick()
    };
    assert_eq!(verdicts(&a, &b, &higher), [Verdict::Better]);
}

#[test]
fn an_interval_within_the_threshold_says_that_nothing_changed() {
    let mut random = Rng::with_seed(10);
    let (a, b) = (
        noisy(&mut random, 1, 200, 0.0, 0.5),
        noisy(&mut random, 1, 200, 0.0, 0.5),
    );
    assert_eq!(verdicts(&a, &b, &quick()), [Verdict::Same]);
    let (a, b) = (
        noisy(&mut random, 1, 12, 0.0, 8.0),
        noisy(&mut random, 1, 12, 0.0, 8.0),
    );
    assert_eq!(
        verdicts(&a, &b, &quick()),
        [Verdict::Unclear],
        "neither a change nor none"
    );
}

/// Parallel powerdowns of the four CPUs of a cluster, one value each, in a case.
fn parallel(case: &str, values: [f64; 4], unit: &str, repeatable: bool) -> Recording {
    let mut recording = board();
    recording.header.repeatable = Some(repeatable);
    let series = recording.series("r", case, "parallel");
    for (core, value) in (0..).zip(values) {
        let measure = recording.measure(series, 0, "powerdown", unit, value);
        (measure.cpu, measure.cluster, measure.core) = (Some(core), Some(1), Some(core));
    }
    recording
}

#[test]
fn where_lock_order_decides_rows_match_by_role_and_units_are_converted() {
    let a = parallel("suspend-deepest", [10.0, 20.0, 30.0, 99.0], "us", true);
    let interchanged = parallel(
        "suspend-deepest",
        [99_000.0, 20_000.0, 10_000.0, 30_000.0],
        "ns",
        true,
    );
    let comparison = compared(&[&a, &interchanged], &quick());
    let rows: Vec<_> = comparison.rows.iter().map(|row| row.key.row()).collect();
    assert_eq!(rows, ["1st of 1", "2nd of 1", "3rd of 1", "last man of 1"]);
    assert_eq!(comparison.count(Verdict::Same), 4, "{:?}", comparison.rows);

    // A fifth CPU does not turn the last man into a fourth one.
    let mut larger = parallel("suspend-deepest", [10.0, 20.0, 30.0, 40.0], "us", true);
    let series = larger.all_series().next().unwrap();
    let measure = larger.measure(series, 0, "powerdown", "us", 99.0);
    (measure.cpu, measure.cluster, measure.core) = (Some(4), Some(1), Some(4));
    let comparison = compared(&[&a, &larger], &quick());
    assert_eq!(comparison.count(Verdict::Same), 4);
    assert_eq!(comparison.missing.len(), 1);
    let missing = &comparison.missing[0];
    assert_eq!((missing.side, &missing.lack), (0, &Lack::Row));
    assert_eq!(missing.key.who, Who::Nth { cluster: 1, n: 4 });

    // At level 0 nobody takes the cluster down, and other cases match by number.
    let level0 = parallel("suspend-level0", [10.0, 20.0, 30.0, 99.0], "us", true);
    let rows: Vec<_> = compared(&[&level0, &level0], &quick())
        .rows
        .iter()
        .map(|row| row.key.row())
        .collect();
    assert_eq!(rows, ["1st of 1", "2nd of 1", "3rd of 1", "4th of 1"]);
    let (a, b) = (
        parallel("psci-version", [1.0, 2.0, 3.0, 4.0], "us", true),
        parallel("psci-version", [2.0, 1.0, 3.0, 4.0], "us", true),
    );
    let comparison = compared(&[&a, &b], &quick());
    assert_eq!(
        (
            comparison.rows[0].key.row().as_str(),
            comparison.count(Verdict::Worse),
            comparison.count(Verdict::Better)
        ),
        ("1.0", 1, 1)
    );
}

#[test]
fn only_what_repeats_itself_is_exact() {
    let slower = |repeatable| {
        parallel(
            "suspend-deepest",
            [10.0, 20.0, 30.0, 100.0],
            "us",
            repeatable,
        )
    };
    let how = |a: &Recording, b: &Recording| {
        let comparison = compared(&[a, b], &quick());
        let (row, change) = comparison.changes().last().unwrap();
        (change.basis == Basis::Exact, change.verdict, row.better)
    };
    let base = parallel("suspend-deepest", [10.0, 20.0, 30.0, 50.0], "us", true);
    assert_eq!(
        how(&base, &slower(true)),
        (true, Verdict::Worse, Better::Lower)
    );
    assert_eq!(
        how(&base, &slower(false)),
        (false, Verdict::Large, Better::Lower),
        "one value of a board says nothing"
    );
    let mut reseeded = slower(true);
    reseeded.header.seed = 9;
    assert!(!how(&base, &reseeded).0, "another seed is another draw");
    let mut drawn = slower(true);
    drawn.header.seeded_modes = vec!["parallel".to_owned()];
    assert!(!how(&base, &drawn).0);
}

#[test]
fn a_tick_is_no_change_and_two_are() {
    let with_counter = |last: f64| {
        let mut recording = parallel("suspend-deepest", [10.0, 20.0, 30.0, last], "us", true);
        recording.header.time.counter_hz = Some(50_000_000);
        recording
    };
    let options = Options {
        policy: Policy {
            threshold: 0.0,
            ..quick().policy
        },
        ..quick()
    };
    assert_eq!(
        verdicts(&with_counter(99.0), &with_counter(99.02), &options)[3],
        Verdict::Same
    );
    assert_eq!(
        verdicts(&with_counter(99.0), &with_counter(99.04), &options)[3],
        Verdict::Worse
    );
}

#[test]
fn other_platforms_machines_and_idle_rules_are_warned_of() {
    let mut a = parallel("suspend-level0", [1.0, 2.0, 3.0, 4.0], "us", false);
    let mut b = a.clone();
    a.header.world = "host".to_owned();
    b.header.world = "host".to_owned();
    let platform = |name: &str| {
        Some(Platform {
            name: name.to_owned(),
            text: String::new(),
            figures: Default::default(),
        })
    };
    (a.header.platform, b.header.platform) = (platform("juno-r1"), platform("my-board"));
    (a.header.run.machine, b.header.run.machine) = (Some("one".to_owned()), Some("two".to_owned()));
    let policy = policy("[[rule]]\nmetric = \"powrdown\"");
    let comparison = compared(&[&a, &b], &Options { policy, ..quick() });
    let warnings = comparison.warnings.join("\n");
    for part in [
        "platforms differ: juno-r1 (A), my-board (B)",
        "metric = powrdown) matches no row",
    ] {
        assert!(warnings.contains(part), "`{part}` is not in: {warnings}");
    }
    let [of] = &comparison.conditions[..] else {
        panic!("{:?}", comparison.conditions)
    };
    assert_eq!(
        (of.condition, &of.values[1]),
        (Condition::Machine, &"two".to_owned())
    );
    let comparison = compared(&[&a, &a], &quick());
    assert!(comparison.warnings.is_empty(), "{:?}", comparison.warnings);
}

#[test]
fn three_recordings_are_compared_with_the_first() {
    let base = parallel("suspend-deepest", [10.0, 20.0, 30.0, 50.0], "us", true);
    let worse = parallel("suspend-deepest", [10.0, 20.0, 30.0, 60.0], "us", true);
    let better = parallel("suspend-deepest", [10.0, 20.0, 30.0, 40.0], "us", true);
    let comparison = compared(&[&base, &worse, &better], &quick());
    let last: Vec<_> = comparison.rows[3]
        .changes
        .iter()
        .flatten()
        .map(|change| (change.verdict, change.percent))
        .collect();
    assert_eq!(
        last,
        [(Verdict::Worse, Some(20.0)), (Verdict::Better, Some(-20.0))]
    );
}

/// A run of three measures, each with six rows a case: the figure of each row is `by` times its
/// usual one, scattered by percent in common and each by itself.
fn one_of_runs(random: &mut Rng, cases: usize, by: f64, (common, own): (f64, f64)) -> Recording {
    let mut recording = board();
    let common = 1.0 + common / 100.0 * normal(random);
    let all = [
        "suspend-level0",
        "suspend-deepest",
        "cpu-off",
        "psci-version",
        "cpu-on",
    ];
    for case in &all[..cases] {
        let series = recording.series("r", case, "serial");
        for (metric, usual) in [("powerdown", 100.0), ("wakeup", 20.0), ("cache_flush", 5.0)] {
            for core in 0..6 {
                let value = usual * by * common * (1.0 + own / 100.0 * normal(random));
                let measure = recording.measure(series, 0, metric, "us", value);
                (measure.cpu, measure.cluster, measure.core) = (Some(core), Some(0), Some(core));
            }
        }
    }
    recording
}

/// Compares sides of several recordings each.
fn compared_runs(sides: [&[Recording]; 2], options: &Options) -> Comparison {
    let findings = sides.map(|runs| {
        runs.iter()
            .map(|run| Findings::new(run, "", None))
            .collect::<Vec<_>>()
    });
    let named = findings.iter().zip(["A", "B"]);
    let inputs: Vec<Input<'_>> = named
        .map(|(runs, name)| Input {
            name: name.to_string(),
            runs,
            ..Input::default()
        })
        .collect();
    compare(&inputs, options).unwrap()
}

/// Runs of two sides, the second `by` times as slow, and what they come to.
fn outcome(
    random: &mut Rng,
    (runs, cases): (usize, usize),
    by: f64,
    scatter: (f64, f64),
) -> Comparison {
    let [a, b] = [1.0, by].map(|by| {
        (0..runs)
            .map(|_| one_of_runs(random, cases, by, scatter))
            .collect::<Vec<_>>()
    });
    let policy = Policy {
        threshold: 2.0,
        ..Policy::default()
    };
    compared_runs(
        [&a, &b],
        &Options {
            policy,
            ..Options::default()
        },
    )
}

#[test]
fn ten_times_slower_in_90_rows_is_a_regression_from_three_runs_on() {
    let mut random = Rng::with_seed(21);
    for runs in 1..9 {
        let comparison = outcome(&mut random, (runs, 5), 10.0, (0.0, 1.0));
        assert_eq!(comparison.rows.len(), 90);
        let expected = if runs < 3 {
            Outcome::Unjudged
        } else {
            Outcome::Regression
        };
        assert_eq!(comparison.outcome(), expected, "{runs} runs a side");
        let beyond = comparison
            .changes()
            .filter(|(_, change)| !change.below)
            .count();
        assert_eq!(beyond, 90);
        if runs >= 3 {
            assert_eq!(comparison.shifts.len(), 3);
            for shift in &comparison.shifts {
                assert!(
                    (shift.percent - 900.0).abs() < 20.0 && shift.verdict == Verdict::Worse,
                    "{shift:?}"
                );
            }
        }
    }
}

/// Runs that scatter by 2 % in common, which iterations of one run do not show.
#[test]
fn runs_that_scatter_in_common_raise_no_more_alarms_than_the_level() {
    let mut random = Rng::with_seed(23);
    let mut alarms = [0; 3];
    for _ in 0..200 {
        for (runs, alarms) in [1, 3, 6].into_iter().zip(&mut alarms) {
            *alarms += u32::from(outcome(&mut random, (runs, 1), 1.0, (2.0, 0.2)).has_regression());
        }
    }
    assert!(
        alarms[0] == 0 && alarms.iter().all(|alarms| *alarms <= 10),
        "{alarms:?} of 200"
    );
}

/// One row among 90 is half as slow again: it is told by itself, and the others are not.
#[test]
fn a_row_alone_is_told_from_three_runs_on() {
    let mut random = Rng::with_seed(24);
    for runs in [3, 5, 9] {
        let mut sides = [0, 1].map(|_| {
            (0..runs)
                .map(|_| one_of_runs(&mut random, 5, 1.0, (0.0, 1.0)))
                .collect::<Vec<_>>()
        });
        for run in &mut sides[1] {
            let series = run.all_series().next().unwrap();
            run.measure(series, 0, "alone", "us", 150.0 + normal(&mut random));
        }
        for run in &mut sides[0] {
            let series = run.all_series().next().unwrap();
            run.measure(series, 0, "alone", "us", 100.0 + normal(&mut random));
        }
        let comparison = compared_runs(
            [&sides[0], &sides[1]],
            &Options {
                ..Options::default()
            },
        );
        let worse: Vec<_> = comparison
            .changes()
            .filter(|(_, change)| change.verdict == Verdict::Worse)
            .collect();
        assert_eq!(
            worse
                .iter()
                .map(|(row, _)| row.key.metric.as_str())
                .collect::<Vec<_>>(),
            ["alone"],
            "{runs} runs"
        );
        assert_eq!(comparison.outcome(), Outcome::Regression);
    }
}

#[test]
fn iterations_of_one_run_that_was_measured_judge_nothing() {
    let mut random = Rng::with_seed(25);
    let (a, b) = (
        noisy(&mut random, 4, 30, 0.0, 0.5),
        noisy(&mut random, 4, 30, 10.0, 0.5),
    );
    let default = Options {
        ..Options::default()
    };
    let comparison = compared(&[&a, &b], &default);
    assert_eq!(
        (comparison.count(Verdict::TooFew), comparison.outcome()),
        (4, Outcome::Unjudged)
    );
    assert_eq!(
        compared(&[&a, &b], &quick()).outcome(),
        Outcome::Regression,
        "the policy says that they are runs"
    );
    assert_eq!(
        compared(&[&a, &a], &default).outcome(),
        Outcome::NoRegression,
        "what is equal needs no judge"
    );
}

/// Runs of one side may each have a name, as logs by the names of their files.
#[test]
fn runs_are_matched_whatever_their_releases_are_called() {
    let named = |name: &str, value: f64| {
        let mut recording = board();
        let series = recording.series(name, "suspend-level0", "serial");
        recording.measure(series, 0, "powerdown", "us", value);
        recording
    };
    let a = [
        named("log-1", 10.0),
        named("log-2", 10.1),
        named("log-3", 9.9),
    ];
    let b = [
        named("log-4", 20.0),
        named("log-5", 20.1),
        named("log-6", 19.9),
    ];
    let comparison = compared_runs([&a, &b], &Options::default());
    assert_eq!(
        (comparison.rows[0].values[0].len(), comparison.outcome()),
        (3, Outcome::Regression)
    );
    assert_eq!(
        comparison
            .sides
            .iter()
            .map(|side| side.runs)
            .collect::<Vec<_>>(),
        [3, 3]
    );
}
