//! The comparison itself.

use crate::bounds::bounded;
use crate::choices;
use crate::conditions::{differing, leave_unjudged, odd_runs, withhold_shifts};
use crate::functions;
use crate::idle::idle_tests;
use crate::inputs;
use crate::judgement::Judge;
use crate::paths::{paths, side_by_side};
use crate::releases::{choose, side};
use crate::request::{Error, Input, Options};
use crate::result::{Comparison, Side};
use crate::rows::{MatchedRows, SideRows, match_rows};
use crate::session::leave_to_sessions;
use crate::stand_ins::match_nodes;
use crate::table::Table;
use crate::warnings::{idle_rules, warnings};
use itertools::Itertools;
use std::collections::BTreeSet;

/// Refuses a metric that no recording has, and recordings that share no row.
fn has_rows(sides: &[SideRows], wanted: &[String], found: &MatchedRows<'_>) -> Result<(), Error> {
    let known: BTreeSet<&str> = sides
        .iter()
        .flat_map(|side| &side.table.rows)
        .map(|(key, _)| key.metric.as_str())
        .collect();
    let mut wanted = wanted.iter();
    let wrong = match wanted.find(|metric| !known.contains(metric.as_str())) {
        Some(metric) => format!(
            "no recording has the measure `{metric}`; they have: {}",
            known.into_iter().join(", ")
        ),
        None if sides.len() < 2 => {
            "there must be at least two recordings to compare: name another one, or the runs of another side after --with"
                .to_owned()
        }
        None if found.rows.is_empty() => {
            "the recordings have no row in common: no measure of the same case for the same CPU or role"
                .to_owned()
        }
        None => return Ok(()),
    };
    Err(Error(wrong))
}

/// Compares recordings with the first of them.
///
/// # Errors
/// Fewer than two; a release or a measure that is not there; nothing in common.
pub fn compare(inputs: &[Input<'_>], options: &Options) -> Result<Comparison, Error> {
    let (chosen, policy) = (choose(inputs)?, &options.policy);
    let read = inputs.iter().enumerate().map(|(side, input)| {
        let variant = |variant: &str| chosen.key(variant).filter(|_| chosen.takes(side, variant));
        let rows = SideRows::new(input, policy, |findings| {
            Table::new(&findings.timelines, variant)
        });
        (rows, paths(&input.runs[0].timelines, variant))
    });
    let (mut read, paths): (Vec<SideRows>, Vec<_>) = read.unzip();
    let stand_ins = match_nodes(&mut read);
    let headers = inputs.iter().map(Input::header).collect_vec();
    let sides = inputs
        .iter()
        .enumerate()
        .map(|(at, input)| side(at, input, &chosen, &read[at]))
        .collect_vec();
    let matched = match_rows(&read, options);
    if policy.bounds.is_empty() {
        has_rows(&read, &options.metrics, &matched)?;
    }
    let judge = Judge {
        headers: &headers,
        sides: &read,
        policy,
    };
    let (mut rows, mut shifts) = judge.judge(&matched.rows);
    let tables = read.iter().map(|side| &side.table).collect_vec();
    let conditions = differing(&tables, &headers, &sides);
    leave_unjudged(&mut rows, &conditions);
    let sessions = leave_to_sessions(&mut rows, &headers, &sides, options.sessions.as_ref());
    withhold_shifts(&mut shifts, &rows);
    let mut warnings = warnings(&sides, &headers);
    warnings.extend(idle_rules(policy, &matched.rules_used));
    // With several releases in each recording, the first that they share speaks for the inputs.
    let first = |side: &Side| side.variants.first().cloned().unwrap_or_default();
    let variants = sides.iter().map(first).collect_vec();
    let odd = (0..sides.len()).filter(|side| read[*side].has_runs);
    // The base counts where it is alone.
    let bounded = inputs
        .iter()
        .enumerate()
        .skip(usize::from(inputs.len() > 1))
        .flat_map(|(side, input)| {
            bounded(&policy.bounds, side, input.runs, input.variant.as_ref())
        });
    Ok(Comparison {
        differences: inputs::differences(&headers, &variants),
        odd_runs: odd
            .flat_map(|side| odd_runs(&rows, side, read[side].runs))
            .collect(),
        paths: side_by_side(&rows, &paths),
        functions: functions::functions(&sides, inputs, &mut warnings),
        idle: idle_tests(inputs, &chosen, &mut warnings),
        choices: choices::changed(inputs, &rows),
        warnings,
        stand_ins,
        missing: matched.missing,
        conditions,
        rows,
        shifts,
        sessions,
        on_board: None,
        bounds: bounded.collect(),
        alpha: policy.alpha,
        unjudged: policy.unjudged,
        threshold: policy.threshold,
        sides,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Policy;
    use crate::result::{Basis, Outcome, Verdict};
    use crate::testing::try_compare;
    use findings::Findings;
    use recording::{Header, Recording};
    use std::slice::from_ref;

    /// A simulation's values, by metric and CPU, in microseconds.
    fn recording(values: &[(&str, u16, f64)]) -> Recording {
        let mut recording = Recording::new(Header::new("e", "sim", "ps"));
        let series = recording.series("v", "c", "serial");
        for &(metric, cpu, value) in values {
            recording.measure(series, 0, metric, "us", value).cpu = Some(cpu);
        }
        recording
    }

    fn compared(a: &Recording, b: &Recording, options: &Options) -> Result<Comparison, Error> {
        try_compare(&[a, b], options)
    }

    fn with_policy(text: &str) -> Options {
        Options {
            policy: Policy::read(&document::Document::new("p", text)).unwrap(),
            ..Options::default()
        }
    }

    fn labels(comparison: &Comparison) -> Vec<String> {
        comparison.rows.iter().map(|row| row.key.label()).collect()
    }

    #[test]
    fn measures_that_follow_from_others_are_compared_if_they_are_asked_for() {
        let both = recording(&[
            ("powerdown", 0, 1.0),
            ("time_in_state", 0, 2.0),
            ("mine", 0, 3.0),
        ]);
        let of = |metrics: &[&str]| {
            let metrics = metrics.iter().map(|&metric| metric.to_owned()).collect();
            compared(
                &both,
                &both,
                &Options {
                    metrics,
                    ..Options::default()
                },
            )
        };
        assert_eq!(
            labels(&of(&[]).unwrap()),
            ["c serial, powerdown, CPU 0", "c serial, mine, CPU 0"]
        );
        assert_eq!(
            labels(&of(&["time_in_state"]).unwrap()),
            ["c serial, time_in_state, CPU 0"]
        );
        assert_eq!(
            of(&["mine", "wakeup"]).unwrap_err().to_string(),
            "no recording has the measure `wakeup`; they have: mine, powerdown, time_in_state"
        );
    }

    #[test]
    fn rows_of_one_side_are_named_with_it_and_ignored_ones_are_not() {
        let a = recording(&[
            ("powerdown", 0, 1.0),
            ("powerdown", 1, 1.0),
            ("powerdown", 2, 1.0),
            ("wakeup", 0, 1.0),
        ]);
        let b = recording(&[
            ("powerdown", 0, 1.0),
            ("powerdown", 3, 1.0),
            ("powerdown", 4, 1.0),
            ("wakeup", 0, 1.0),
        ]);
        let rules = ["CPU 2", "CPU 4"]
            .map(|row| format!("[[rule]]\nrow = \"{row}\"\nignore = true\n"))
            .concat();
        let options = with_policy(&format!(
            "{rules}[[rule]]\nmetric = \"wakeup\"\nignore = true\n[[rule]]\ncase = \"x\"\n"
        ));
        let comparison = compared(&a, &b, &options).unwrap();
        assert_eq!(labels(&comparison), ["c serial, powerdown, CPU 0"]);
        let missing = comparison.missing.iter();
        let missing: Vec<_> = missing.map(|of| (of.side, of.key.row())).collect();
        assert_eq!(
            missing,
            [(0, "CPU 3".to_owned()), (1, "CPU 1".to_owned())],
            "with the side that lacks it"
        );
        assert_eq!(comparison.outcome(), Outcome::Unjudged);
        assert_eq!(
            comparison.warnings,
            ["rule 4 of the policy (case = x) matches no row"]
        );
        let nothing = compared(
            &recording(&[("powerdown", 0, 1.0)]),
            &recording(&[("powerdown", 1, 1.0)]),
            &options,
        );
        assert!(
            nothing
                .unwrap_err()
                .to_string()
                .contains("no row in common")
        );
    }

    /// Releases, each with a value in two cases: 1 in the first release that is named, 2 in the
    /// second, and so on.
    fn releases(named: &[&str]) -> Recording {
        let mut recording = Recording::new(Header::new("e", "sim", "ps"));
        for (value, release) in (1..).zip(named) {
            for case in ["c", "d"] {
                let series = recording.series(release, case, "");
                recording.measure(series, 0, "m", "us", f64::from(value));
            }
        }
        recording
    }

    /// Labels have a release only where several are compared, and a release that is not compared is
    /// in no row.
    #[test]
    fn releases_that_are_named_or_alone_or_shared_are_compared() {
        let (both, more) = (releases(&["v1", "v2", "v4"]), releases(&["v5", "v2", "v1"]));
        let (one, other) = (releases(&["v1"]), releases(&["v3"]));
        let (v1, v2) = (Some("v1"), Some("v2"));
        type Asked<'a> = (&'a Recording, Option<&'a str>);
        let compared = |asked: [Asked<'_>; 2]| {
            let findings = asked.map(|(recording, _)| Findings::new(recording, "", None));
            let named = ["A", "B"].into_iter().zip(&findings).zip(asked);
            let inputs: Vec<_> = named
                .map(|((name, findings), (_, variant))| Input {
                    variant: variant.map(str::to_owned),
                    name: name.to_owned(),
                    runs: from_ref(findings),
                    ..Input::default()
                })
                .collect();
            compare(&inputs, &Options::default())
        };
        // What is asked for, the releases of each side, and rows with a value of each.
        type Case<'a> = (
            [Asked<'a>; 2],
            [&'a [&'a str]; 2],
            &'a [(&'a str, f64, f64)],
        );
        let cases: [Case<'_>; 4] = [
            (
                [(&both, v1), (&both, v2)],
                [&["v1"], &["v2"]],
                &[("c, m", 1.0, 2.0), ("d, m", 1.0, 2.0)],
            ),
            (
                [(&both, v2), (&other, None)],
                [&["v2"], &["v3"]],
                &[("c, m", 2.0, 1.0), ("d, m", 2.0, 1.0)],
            ),
            (
                [(&both, None), (&one, None)],
                [&["v1"], &["v1"]],
                &[("c, m", 1.0, 1.0), ("d, m", 1.0, 1.0)],
            ),
            (
                [(&both, None), (&more, None)],
                [&["v1", "v2"], &["v2", "v1"]],
                &[
                    ("v1 c, m", 1.0, 3.0),
                    ("v1 d, m", 1.0, 3.0),
                    ("v2 c, m", 2.0, 2.0),
                    ("v2 d, m", 2.0, 2.0),
                ],
            ),
        ];
        for (asked, releases, rows) in cases {
            let comparison = compared(asked).unwrap();
            let of_sides: Vec<_> = comparison
                .sides
                .iter()
                .map(|side| &side.variants[..])
                .collect();
            assert_eq!(of_sides, releases);
            let found: Vec<_> = comparison
                .rows
                .iter()
                .map(|row| (row.key.label(), row.values.clone()))
                .collect();
            let expected: Vec<_> = rows
                .iter()
                .map(|(label, a, b)| ((*label).to_owned(), vec![vec![*a], vec![*b]]))
                .collect();
            assert_eq!((found, comparison.missing), (expected, vec![]));
        }
        let wrong = compared([(&both, None), (&other, None)]).unwrap_err();
        let known = "RECORDING@RELEASE: A has v1, v2, v4; B has v3";
        assert!(wrong.to_string().ends_with(known), "{wrong}");
        let wrong = compared([(&one, None), (&other, Some("v9"))]).unwrap_err();
        assert_eq!(wrong.to_string(), "B has no release `v9`; it has: v3");
    }

    /// A change is in percent of the base's size, and there is none of nothing.
    #[test]
    fn a_change_is_the_other_minus_the_base() {
        let a = recording(&[
            ("m", 0, 10.0),
            ("m", 1, -10.0),
            ("m", 2, 0.0),
            ("m", 3, 5.0),
        ]);
        let b = recording(&[
            ("m", 0, 12.0),
            ("m", 1, -12.0),
            ("m", 2, 1.0),
            ("m", 3, 5.0),
        ]);
        let comparison = compared(&a, &b, &Options::default()).unwrap();
        let found: Vec<_> = comparison
            .changes()
            .map(|(_, change)| (change.absolute, change.percent, change.verdict))
            .collect();
        assert_eq!(
            found,
            [
                (2.0, Some(20.0), Verdict::Worse),
                (-2.0, Some(-20.0), Verdict::Better),
                (1.0, None, Verdict::Worse),
                (0.0, Some(0.0), Verdict::Same),
            ]
        );
        assert!(
            comparison
                .changes()
                .all(|(_, change)| change.basis == Basis::Exact)
        );
        assert!(comparison.has_regression());
        assert_eq!(
            [Verdict::Worse, Verdict::Better, Verdict::Small].map(|of| comparison.count(of)),
            [2, 1, 0]
        );
        assert!(
            !compared(&a, &a, &Options::default())
                .unwrap()
                .has_regression()
        );
        let findings = Findings::new(&a, "", None);
        let input = Input {
            name: "A".to_owned(),
            runs: from_ref(&findings),
            ..Input::default()
        };
        let of = |count| {
            compare(&vec![input.clone(); count], &Options::default())
                .map(|comparison| comparison.sides.len())
        };
        assert!(of(1).is_err());
        assert_eq!((of(2), of(3)), (Ok(2), Ok(3)));
    }

    /// Two simulations, the second of which was recorded in nanoseconds.
    #[test]
    fn a_median_that_occurred_is_told_in_the_bases_unit() {
        let with = |unit: &str, values: [f64; 2]| {
            let mut recording = Recording::new(Header::new("e", "sim", "ps"));
            let series = recording.series("v", "c", "");
            for (iteration, value) in (0..).zip(values) {
                recording.measure(series, iteration, "m", unit, value);
            }
            recording
        };
        let comparison = compared(
            &with("us", [3.0, 4.0]),
            &with("ns", [6000.0, 5000.0]),
            &Options::default(),
        )
        .unwrap();
        let (row, change) = comparison.changes().next().unwrap();
        let found = (
            row.cells[1].map(|cell| cell.value),
            change.absolute,
            change.basis,
        );
        assert_eq!(
            found,
            (Some(5.0), 2.0, Basis::Exact),
            "the lower of the middle two of each"
        );
    }

    /// A board's counter of 50 MHz ticks each 0.02 us, also where a row is in nanoseconds; the
    /// coarser of two counters counts.
    #[test]
    fn a_tick_is_told_in_the_rows_unit() {
        for (unit, per_us) in [("us", 1.0), ("ns", 1000.0)] {
            let with = |hz, value: f64| {
                let mut recording = Recording::new(Header::new("e", "sim", "ps"));
                recording.header.time.counter_hz = hz;
                let series = recording.series("v", "c", "serial");
                recording.measure(series, 0, "m", unit, value * per_us);
                recording
            };
            let verdict = |one, other, by| {
                let comparison = compared(
                    &with(one, 10.0),
                    &with(other, 10.0 + by),
                    &with_policy("threshold = 0"),
                )
                .unwrap();
                comparison.changes().next().unwrap().1.verdict
            };
            let (fine, coarse) = (Some(1_000_000_000), Some(50_000_000));
            for (one, other) in [
                (coarse, coarse),
                (fine, coarse),
                (coarse, fine),
                (coarse, None),
            ] {
                let found = (verdict(one, other, 0.02), verdict(one, other, 0.03));
                assert_eq!(
                    found,
                    (Verdict::Same, Verdict::Worse),
                    "{unit}, {one:?} and {other:?}"
                );
            }
            assert_eq!(verdict(fine, fine, 0.02), Verdict::Worse, "{unit}");
        }
    }
}
