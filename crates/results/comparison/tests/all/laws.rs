//! Laws of a comparison over generated runs: what it says of one input follows from what it says of
//! another.

use crate::law::{holds, told};
use comparison::{
    Basis, Comparison, Condition, Input, Iterations, Options, Outcome, Policy, Verdict, compare,
    runs_of,
};
use fastrand::Rng;
use findings::Findings;
use proptest::prelude::*;
use recording::{Header, Recording};

/// Rows of a run: case, value in microseconds.
type Rows = Vec<(String, f64)>;

fn normal(random: &mut Rng) -> f64 {
    (0..12).map(|_| random.f64()).sum::<f64>() - 6.0
}

/// Runs of a side, whose rows are in `unit`, with 1 % of noise.
fn runs(seed: u64, count: usize, rows: usize, by: &[f64]) -> Vec<Rows> {
    // Neighbouring seeds must not give neighbouring noise.
    let mut random = Rng::with_seed(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let mut row = |row: usize| {
        let usual = 100.0 * 1.7_f64.powi(row as i32 % 7);
        let value = usual * by.get(row).unwrap_or(&1.0) * (0.01 * normal(&mut random)).exp();
        (format!("row {row}"), value)
    };
    let mut run = |_| (0..rows).map(&mut row).collect();
    (0..count).map(&mut run).collect()
}

/// A log of a run, each row `times` over.
fn recorded(rows: &Rows, (unit, factor): (&str, f64), times: u32) -> Recording {
    let mut recording = Recording::new(Header::new("table", "import", "us"));
    for (case, value) in rows {
        let series = recording.series("v", case, "");
        for iteration in 0..times {
            recording.measure(series, iteration, "time", unit, value * factor);
        }
    }
    recording
}

fn logs(runs: &[Rows]) -> Vec<Recording> {
    let log = |rows: &Rows| recorded(rows, ("us", 1.0), 1);
    runs.iter().map(log).collect()
}

fn compared(sides: [&[Recording]; 2], policy: Policy) -> Comparison {
    let findings = sides.map(|runs| {
        let findings = runs.iter().map(|run| Findings::new(run, "", None));
        findings.collect::<Vec<_>>()
    });
    let named = findings.iter().zip(["A", "B"]);
    let inputs: Vec<Input<'_>> = named
        .map(|(runs, name)| Input {
            name: name.to_string(),
            runs,
            ..Input::default()
        })
        .collect();
    let options = Options {
        policy,
        ..Options::default()
    };
    compare(&inputs, &options).unwrap()
}

fn of(a: &[Recording], b: &[Recording]) -> Comparison {
    compared([a, b], Policy::default())
}

/// Each row's verdict and change, by its label.
fn said(comparison: &Comparison) -> Vec<(String, Verdict, f64)> {
    let changes = comparison.changes();
    let said = changes.map(|(row, change)| {
        let percent = (change.percent.unwrap_or(0.0) * 1e6).round() / 1e6;
        (row.key.label(), change.verdict, percent)
    });
    said.collect()
}

const fn mirrored(verdict: Verdict) -> Verdict {
    match verdict {
        Verdict::Better => Verdict::Worse,
        Verdict::Worse => Verdict::Better,
        same => same,
    }
}

#[test]
fn a_measurement_given_again_counts_once() {
    let inputs = (any::<u64>(), 1_usize..5, 1_usize..4, 0.2_f64..5.0);
    holds(1, "compare", 60, inputs, |(seed, count, again, by)| {
        let (a, b) = (
            logs(&runs(seed, count, 3, &[])),
            logs(&runs(seed ^ 1, count, 3, &[by])),
        );
        let once = of(&a, &b);
        let twice: Vec<Recording> = a.iter().cycle().take(count * again).cloned().collect();
        let other: Vec<Recording> = b.iter().cycle().take(count + again).cloned().collect();
        let [(a, of_a), (b, of_b)] = [twice, other].map(runs_of);
        let more = of(&a, &b);
        prop_assert_eq!((said(&once), once.outcome()), (said(&more), more.outcome()));
        prop_assert_eq!((of_a, of_b), (count * (again - 1), again));
        Ok(())
    });
}

/// Of runs each says as much with one iteration as with many of the same.
#[test]
fn longer_runs_change_no_verdict() {
    let inputs = (any::<u64>(), 3_usize..6, 2_u32..9, 0.5_f64..2.0);
    holds(2, "compare", 60, inputs, |(seed, count, times, by)| {
        let (a, b) = (runs(seed, count, 3, &[]), runs(seed ^ 1, count, 3, &[by]));
        let long: Vec<Recording> = b
            .iter()
            .map(|rows| recorded(rows, ("us", 1.0), times))
            .collect();
        let (short, long) = (of(&logs(&a), &logs(&b)), of(&logs(&a), &long));
        prop_assert_eq!(
            (said(&short), short.outcome()),
            (said(&long), long.outcome())
        );
        Ok(())
    });
}

#[test]
fn names_and_their_order_permute_the_answer() {
    let inputs = (any::<u64>(), 2_usize..7, 0.5_f64..2.0);
    holds(3, "compare", 60, inputs, |(seed, rows, by)| {
        let (a, b) = (
            runs(seed, 4, rows, &[]),
            runs(seed ^ 1, 4, rows, &[by, 1.0 / by]),
        );
        let renamed = |runs: &[Rows]| -> Vec<Recording> {
            let turned = runs.iter().map(|run| {
                run.iter()
                    .rev()
                    .map(|(name, value)| (name.replace("row", "other"), *value))
                    .collect()
            });
            logs(&turned.collect::<Vec<_>>())
        };
        let (one, other) = (of(&logs(&a), &logs(&b)), of(&renamed(&a), &renamed(&b)));
        let mut permuted = said(&other);
        permuted.reverse();
        permuted
            .iter_mut()
            .for_each(|of| of.0 = of.0.replace("other", "row"));
        prop_assert_eq!((said(&one), one.outcome()), (permuted, other.outcome()));
        Ok(())
    });
}

#[test]
fn what_a_side_lacks_is_told_and_no_success() {
    let inputs = (
        any::<u64>(),
        2_usize..7,
        0_usize..7,
        0_usize..2,
        any::<bool>(),
    );
    holds(
        6,
        "compare",
        60,
        inputs,
        |(seed, rows, gone, side, one_run)| {
            let mut sides = [runs(seed, 3, rows, &[]), runs(seed ^ 1, 3, rows, &[])];
            let gone = gone % rows;
            let lacking = if one_run { 1 } else { 3 };
            for run in &mut sides[side][..lacking] {
                run.remove(gone);
            }
            let found = of(&logs(&sides[0]), &logs(&sides[1]));
            prop_assert_ne!(found.outcome(), Outcome::NoRegression);
            prop_assert_eq!(found.missing.len(), 1);
            prop_assert_eq!(
                (found.missing[0].side, found.missing[0].key.case.clone()),
                (side, format!("row {gone}"))
            );
            let policy = Policy::read(&document::Document::new(
                "p",
                format!("[[rule]]\ncase = \"row {gone}\"\nignore = true\n"),
            ))
            .unwrap();
            prop_assert_eq!(
                compared([&logs(&sides[0]), &logs(&sides[1])], policy)
                    .missing
                    .len(),
                0
            );
            Ok(())
        },
    );
}

#[test]
fn sides_that_change_places_change_signs() {
    let inputs = (any::<u64>(), 1_usize..7, 0.3_f64..3.0);
    holds(7, "compare", 60, inputs, |(seed, count, by)| {
        let (a, b) = (
            logs(&runs(seed, count, 4, &[])),
            logs(&runs(seed ^ 1, count, 4, &[by])),
        );
        let (one, other) = (of(&a, &b), of(&b, &a));
        for ((_, verdict, percent), (_, back, percent_back)) in
            said(&one).into_iter().zip(said(&other))
        {
            prop_assert_eq!(verdict, mirrored(back));
            prop_assert!(
                ((1.0 + percent / 100.0) * (1.0 + percent_back / 100.0) - 1.0).abs() < 1e-6
            );
        }
        prop_assert_eq!(
            one.shifts.iter().map(|it| it.verdict).collect::<Vec<_>>(),
            other
                .shifts
                .iter()
                .map(|it| mirrored(it.verdict))
                .collect::<Vec<_>>()
        );
        Ok(())
    });
}

#[test]
fn units_of_time_give_one_answer() {
    let inputs = (
        any::<u64>(),
        0.3_f64..3.0,
        prop::sample::select(vec![
            ("ns", 1e3),
            ("µs", 1.0),
            ("μs", 1.0),
            ("ms", 1e-3),
            ("s", 1e-6),
        ]),
    );
    holds(8, "compare", 60, inputs, |(seed, by, unit)| {
        let (a, b) = (runs(seed, 3, 3, &[]), runs(seed ^ 1, 3, 3, &[by]));
        let in_unit: Vec<Recording> = b.iter().map(|rows| recorded(rows, unit, 1)).collect();
        let (one, other) = (of(&logs(&a), &logs(&b)), of(&logs(&a), &in_unit));
        prop_assert_eq!(said(&one), said(&other));
        prop_assert_eq!(other.missing.len(), 0);
        Ok(())
    });
}

/// Ten times is seen from three runs on, whatever drifts within the sides, and from one run it
/// is large and unproven.
#[test]
fn ten_times_is_seen() {
    let inputs = (any::<u64>(), 1_usize..12, 1_usize..20, 0.0_f64..0.05);
    holds(9, "compare", 60, inputs, |(seed, count, rows, drift)| {
        let mut sides = [
            runs(seed, count, rows, &[]),
            runs(seed ^ 1, count, rows, &[10.0]),
        ];
        for side in &mut sides {
            for (place, run) in side.iter_mut().enumerate() {
                run.iter_mut()
                    .for_each(|(_, value)| *value *= 1.0 + drift * place as f64 / count as f64);
            }
        }
        let found = of(&logs(&sides[0]), &logs(&sides[1]));
        let expected = if count < 3 {
            (Verdict::Large, Outcome::Unjudged)
        } else {
            (Verdict::Worse, Outcome::Regression)
        };
        prop_assert_eq!((said(&found)[0].1, found.outcome()), expected);
        Ok(())
    });
}

/// Rows that all moved alike beside one that did not: the common change has no verdict.
#[test]
fn the_effect_is_that_of_the_rows_that_changed() {
    let inputs = (any::<u64>(), 2_usize..8, 0.2_f64..0.6);
    holds(14, "compare", 60, inputs, |(seed, rows, by)| {
        let found = of(
            &logs(&runs(seed, 3, rows, &[])),
            &logs(&runs(seed ^ 1, 3, rows, &[by])),
        );
        let (_, verdict, percent) = &said(&found)[0];
        prop_assert_eq!(*verdict, Verdict::Better);
        prop_assert!((percent / 100.0 + 1.0 - by).abs() < 0.06);
        prop_assert!(
            found
                .shifts
                .iter()
                .all(|shift| shift.verdict == Verdict::Unclear)
        );
        Ok(())
    });
}

#[test]
fn a_run_unlike_the_others_is_named() {
    let inputs = (
        any::<u64>(),
        4_usize..8,
        0_usize..8,
        prop::sample::select(vec![0.1, 0.4, 2.5, 10.0]),
    );
    holds(14, "compare", 60, inputs, |(seed, count, odd, by)| {
        let mut a = runs(seed, count, 5, &[]);
        let odd = odd % count;
        a[odd].iter_mut().for_each(|(_, value)| *value *= by);
        let found = of(&logs(&a), &logs(&runs(seed ^ 1, count, 5, &[])));
        prop_assert_eq!(
            found
                .odd_runs
                .iter()
                .map(|of| (of.side, of.run))
                .collect::<Vec<_>>(),
            [(0, odd + 1)]
        );
        Ok(())
    });
}

#[test]
fn another_machine_takes_the_verdict() {
    let inputs = (any::<u64>(), 0.3_f64..3.0);
    holds(11, "compare", 60, inputs, |(seed, by)| {
        let on = |runs: Vec<Rows>, machine: &str| {
            let mut logs = logs(&runs);
            for log in &mut logs {
                log.header.world = "host".to_owned();
                log.header.run.machine = Some(machine.to_owned());
            }
            logs
        };
        let (a, b) = (runs(seed, 3, 3, &[]), runs(seed ^ 1, 3, 3, &[by]));
        let found = of(&on(a, "one"), &on(b, "two"));
        prop_assert!(said(&found).iter().all(|(_, verdict, _)| matches!(
            verdict,
            Verdict::Same | Verdict::Unjudged(Condition::Machine)
        )));
        prop_assert!(!found.has_regression());
        Ok(())
    });
}

/// A simulation's wake-up and powerdown, whose timer is a CPU's.
#[test]
fn another_owner_of_the_timer_takes_the_verdict_of_wake_ups() {
    let with = |owner: &str, us: f64| {
        let mut recording = Recording::new(Header::new("psci-latency", "sim", "ps"));
        let series = recording.series("v", "suspend-level0", "serial");
        for metric in ["wakeup", "powerdown"] {
            recording.measure(series, 0, metric, "us", us).cpu = Some(0);
        }
        let table = "v/suspend-level0/serial";
        recording
            .header
            .set_condition(table, recording::conditions::TIMER, owner);
        recording
    };
    let verdicts = |a: &str, b: &str| {
        let found = of(&[with(a, 10.0)], &[with(b, 20.0)]);
        let verdicts = found.changes().map(|(_, change)| change.verdict);
        (verdicts.collect::<Vec<_>>(), found.outcome())
    };
    assert_eq!(
        verdicts("0.1", "0.1"),
        (vec![Verdict::Worse, Verdict::Worse], Outcome::Regression)
    );
    let timer = Verdict::Unjudged(Condition::Timer);
    assert_eq!(
        verdicts("0.1", "1.0"),
        (vec![timer, Verdict::Worse], Outcome::Regression)
    );
}

/// Without a change at most five in a hundred comparisons say that there is one, and a job that
/// counts what cannot be judged as a failure is red no more often.
#[test]
fn without_a_change_few_jobs_are_red() {
    let mut broken = Vec::new();
    for (count, rows, pairs) in [(3, 1, 400), (3, 20, 200), (5, 6, 200), (10, 20, 60)] {
        let mut claims = 0;
        for seed in 0..pairs {
            let found = of(
                &logs(&runs(2 * seed, count, rows, &[])),
                &logs(&runs(2 * seed + 1, count, rows, &[])),
            );
            claims += u64::from(
                found.outcome() != Outcome::NoRegression
                    || found
                        .changes()
                        .any(|(_, change)| change.verdict == Verdict::Better),
            );
        }
        let most = 0.05 * pairs as f64 + 2.0 * (0.0475 * pairs as f64).sqrt();
        if claims as f64 > most {
            broken.push(format!("{rows} rows, {count} runs: {claims} of {pairs}"));
        }
    }
    told(10, "compare", 4, &broken);
}

/// No change and no verdict are told apart by the size that would have been seen.
#[test]
fn a_row_without_a_verdict_tells_its_power() {
    let found = of(&logs(&runs(1, 3, 20, &[1.02])), &logs(&runs(2, 3, 20, &[])));
    for (_, change) in found.changes() {
        let Basis::Runs {
            seen_from,
            interval,
            ..
        } = change.basis
        else {
            panic!("{change:?}")
        };
        assert!(
            (2.0..15.0).contains(&seen_from) && interval[0] < interval[1],
            "{change:?}"
        );
    }
    let policy = Policy {
        iterations: Iterations::Runs,
        ..Policy::default()
    };
    let whole: Rows = runs(3, 1, 1, &[]).remove(0);
    let one = recorded(&whole, ("us", 1.0), 1);
    assert_eq!(
        compared([std::slice::from_ref(&one); 2], policy).outcome(),
        Outcome::NoRegression
    );
}
