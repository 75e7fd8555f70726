//! The comparison itself.

use crate::functions;
use crate::idle::idle_tests;
use crate::inputs;
use crate::judgement::{judge, leave_open};
use crate::matching::{MatchedRows, has_runs, match_rows};
use crate::order::{leave_unjudged, other_orders};
use crate::paths::{paths, side_by_side};
use crate::releases::{choose, side};
use crate::request::{Error, Input, Options};
use crate::result::{Comparison, Row, Side};
use crate::runs::{self, is_one_run};
use crate::session::{leave_to_sessions, withhold_paths};
use crate::shift::shifts;
use crate::table::Table;
use crate::warnings::{dependent, describe, of_order, other_units, uneven, warnings};
use findings::Findings;
use recording::Header;
use std::collections::BTreeSet;

/// Refuses a metric that no recording has.
fn has_metrics(tables: &[Table], wanted: &[String]) -> Result<(), Error> {
    let rows = tables.iter().flat_map(|table| &table.rows);
    let known: BTreeSet<&str> = rows.map(|(key, _)| key.metric.as_str()).collect();
    match wanted
        .iter()
        .find(|metric| !known.contains(metric.as_str()))
    {
        None => Ok(()),
        Some(metric) => Err(Error::NoSuchMetric {
            metric: metric.clone(),
            known: known.into_iter().collect::<Vec<_>>().join(", "),
        }),
    }
}

/// Warnings about the rules of a policy that match no row.
fn idle_rules<'p>(
    policy: &'p crate::policy::Policy,
    used: &'p BTreeSet<usize>,
) -> impl Iterator<Item = String> + 'p {
    let idle = policy.rules.iter().enumerate();
    let idle = idle.filter(|(index, _)| !used.contains(index));
    idle.map(|(index, rule)| {
        let rule = describe(rule);
        format!("rule {} of the policy ({rule}) matches no row", index + 1)
    })
}

/// Compares recordings with the first of them.
///
/// # Errors
/// Fewer than two; a release or a measure that is not there; nothing in common.
pub fn compare(inputs: &[Input<'_>], options: &Options) -> Result<Comparison, Error> {
    if inputs.len() < 2 {
        return Err(Error::TooFew);
    }
    let (chosen, policy) = (choose(inputs)?, &options.policy);
    let read = inputs.iter().enumerate().map(|(side, input)| {
        let variant = |variant: &str| chosen.key(variant).filter(|_| chosen.takes(side, variant));
        let of_run = |findings: &Findings<'_>| Table::new(&findings.timelines, variant);
        let table = runs::table(input, policy, of_run);
        (table, paths(&input.findings.timelines, variant))
    });
    let (tables, paths): (Vec<Table>, Vec<_>) = read.unzip();
    has_metrics(&tables, &options.metrics)?;
    let headers: Vec<&Header> = inputs.iter().map(Input::header).collect();
    let sides = (0..inputs.len()).map(|at| side(at, &inputs[at], &chosen));
    let sides: Vec<Side> = sides.collect();
    let mut rules_used = BTreeSet::new();
    let one_run = inputs.iter().map(|input| is_one_run(input, policy));
    let one_run: Vec<bool> = one_run.collect();
    let MatchedRows {
        mut rows,
        unmatched,
        tests,
        row_alpha,
    } = match_rows(&tables, (&headers, &one_run), options, &mut rules_used);
    if rows.is_empty() {
        return Err(Error::NoRowInCommon);
    }
    let orders = other_orders(&tables, &headers);
    leave_unjudged(&mut rows, &orders);
    judge(&mut rows, policy, row_alpha);
    let is_run = |side: usize| has_runs(&headers, &one_run, side);
    let shifts = shifts(&rows, policy, is_run);
    leave_open(&mut rows, &shifts, policy, is_run);
    let sessions = leave_to_sessions(&mut rows, &headers, &sides);
    let mut warnings = warnings(&sides, &headers);
    warnings.extend(orders.iter().map(|order| of_order(order, &sides, &headers)));
    warnings.extend(other_units(&tables));
    warnings.extend(idle_rules(policy, &rules_used));
    warnings.extend(dependent(&rows));
    let measured = (0..sides.len()).filter(|side| !headers[*side].is_repeatable());
    warnings.extend(measured.filter_map(|at| uneven(&sides[at].name, &tables[at])));
    // With several releases in each recording, the first that they share speaks for the inputs.
    let first = |side: &Side| side.variants.first().cloned().unwrap_or_default();
    let variants: Vec<String> = sides.iter().map(first).collect();
    let rows: Vec<Row> = rows.into_iter().map(|it| it.row).collect();
    let paths = withhold_paths(side_by_side(&rows, &paths), &sessions);
    let idle = idle_tests(inputs, &chosen, &mut warnings);
    let functions = functions::functions(&sides, inputs, &mut warnings);
    Ok(Comparison {
        differences: inputs::differences(&headers, &variants),
        warnings,
        paths,
        rows,
        shifts,
        orders,
        sessions,
        functions,
        idle,
        on_board: None,
        unmatched,
        tests,
        alpha: policy.alpha,
        row_alpha,
        unjudged: policy.unjudged,
        threshold: policy.threshold,
        sides,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Policy;
    use crate::result::{Basis, Verdict};
    use crate::statistics::rank_test;
    use crate::testing::try_compare;
    use findings::Findings;
    use recording::Recording;

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
        let known = "mine, powerdown, time_in_state".to_owned();
        assert_eq!(
            of(&["mine", "wakeup"]).unwrap_err(),
            Error::NoSuchMetric {
                metric: "wakeup".to_owned(),
                known
            }
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
        let unmatched: Vec<_> = comparison
            .unmatched
            .iter()
            .map(|(side, key)| (*side, key.row()))
            .collect();
        assert_eq!(
            unmatched,
            [(0, "CPU 1".to_owned()), (1, "CPU 3".to_owned())]
        );
        assert_eq!(
            comparison.warnings,
            ["rule 4 of the policy (case = x) matches no row"]
        );
        let nothing = compared(
            &recording(&[("powerdown", 0, 1.0)]),
            &recording(&[("powerdown", 1, 1.0)]),
            &options,
        );
        assert_eq!(nothing.unwrap_err(), Error::NoRowInCommon);
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
                    ..Input::new(name, findings)
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
            assert_eq!((found, comparison.unmatched), (expected, vec![]));
        }
        let known = "A has v1, v2, v4; B has v3".to_owned();
        assert_eq!(
            compared([(&both, None), (&other, None)]).unwrap_err(),
            Error::NothingInCommon { known }
        );
        let (name, variant, known) = ("B".to_owned(), "v9".to_owned(), "v3".to_owned());
        let wrong = compared([(&one, None), (&other, Some("v9"))]).unwrap_err();
        assert_eq!(
            wrong,
            Error::NoSuchVariant {
                name,
                variant,
                known
            }
        );
    }

    /// The intervals are corrected for the tests that are made: a row that the third recording
    /// lacks is tested once, and one that it has in a unit of its own as well.
    #[test]
    fn a_row_that_a_recording_lacks_makes_no_interval_wider() {
        let with = |unit: &str, by: f64| {
            let mut recording = Recording::new(Header::new("e", "host", "ns"));
            let series = recording.series("v", "c", "");
            for iteration in 0..40 {
                recording.measure(
                    series,
                    iteration,
                    "m",
                    unit,
                    by + f64::from(iteration * 7 % 40),
                );
            }
            recording
        };
        let (a, b, lacks, bytes) = (
            with("us", 100.0),
            with("us", 110.0),
            recording(&[("n", 0, 1.0)]),
            with("bytes", 1.0),
        );
        let of = |recordings: &[&Recording]| {
            let comparison = try_compare(recordings, &Options::default()).unwrap();
            let Basis::Sampled { interval, .. } = comparison.changes().next().unwrap().1.basis
            else {
                panic!()
            };
            (interval.unwrap(), comparison.interval_level())
        };
        let alone = of(&[&a, &b]);
        assert_eq!(alone.1, 0.95);
        assert_eq!(
            (of(&[&a, &b, &lacks]), of(&[&a, &b, &bytes])),
            (alone, alone)
        );
        let (twice, level) = of(&[&a, &b, &b]);
        assert_eq!(level, 0.975);
        assert!(
            twice.0 < alone.0.0 && alone.0.1 < twice.1,
            "{twice:?} is not wider than {alone:?}"
        );
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
        assert_eq!((comparison.tests, comparison.has_regression()), (0, true));
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
        let input = Input::new("A", &findings);
        let of = |count| {
            compare(&vec![input.clone(); count], &Options::default())
                .map(|comparison| comparison.sides.len())
        };
        assert_eq!((of(1), of(2), of(3)), (Err(Error::TooFew), Ok(2), Ok(3)));
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
            row.cells[1].map(|cell| cell.median),
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

    /// A log in nanoseconds beside one in microseconds, with iterations that hang together: all in
    /// the base's unit, and the interval about the change of a tenth.
    #[test]
    fn samples_are_converted_and_their_interval_lies_about_the_change() {
        let with = |unit: &str, level: f64| {
            let mut recording = Recording::new(Header::new("e", "host", "ns"));
            let series = recording.series("v", "c", "serial");
            for iteration in 0..80_u32 {
                // A slow wave of 1 %.
                let wave = f64::from((iteration % 40).abs_diff(20)) / 20.0 - 0.5;
                recording.measure(series, iteration, "m", unit, level * (1.0 + wave / 100.0));
            }
            recording
        };
        for (other, level) in [("us", 110.0), ("ns", 110_000.0)] {
            let comparison =
                compared(&with("us", 100.0), &with(other, level), &Options::default()).unwrap();
            let (row, change) = comparison.changes().next().unwrap();
            assert!(
                (change.absolute - 10.0).abs() < 1e-9
                    && (change.percent.unwrap() - 10.0).abs() < 1e-9,
                "{change:?}"
            );
            let cell = row.cells[1].unwrap();
            assert!(
                109.0 < cell.min && cell.max < 111.0 && (row.values[1][0] - 110.55).abs() < 1e-9,
                "{cell:?}"
            );
            let Basis::Sampled {
                interval: Some((low, high)),
                values_per_independent,
                ..
            } = change.basis
            else {
                panic!("{change:?}");
            };
            assert!(values_per_independent > 5.0, "{change:?}");
            assert!(
                8.0 < low && low < 9.9 && 10.1 < high && high < 12.0,
                "{change:?}"
            );
            assert!(
                comparison
                    .warnings
                    .iter()
                    .any(|text| text.starts_with("iterations of 1 changes depend"))
            );
        }
    }

    /// Nothing is corrected where each value says as much as any other: the p-value is the rank
    /// test's own.
    #[test]
    fn iterations_that_do_not_hang_together_are_taken_as_they_are() {
        let values =
            |by: f64| -> Vec<f64> { (0..12).map(|n| by + f64::from(n * 7 % 12)).collect() };
        let with = |by| {
            let mut recording = Recording::new(Header::new("e", "host", "ns"));
            let series = recording.series("v", "c", "");
            for (iteration, value) in (0..).zip(values(by)) {
                recording.measure(series, iteration, "m", "us", value);
            }
            recording
        };
        let comparison = compared(&with(100.0), &with(103.5), &Options::default()).unwrap();
        let Basis::Sampled {
            p,
            values_per_independent,
            ..
        } = comparison.changes().next().unwrap().1.basis
        else {
            panic!()
        };
        assert_eq!(
            (values_per_independent, p),
            (1.0, rank_test(&values(100.0), &values(103.5)))
        );
    }

    /// The rows of a simulation are as even as they are; only of what was measured it is told
    /// whether it begins unlike the rest.
    #[test]
    fn only_what_was_measured_is_looked_at_for_evenness() {
        let with = |world: &str| {
            let mut recording = Recording::new(Header::new("e", world, "ns"));
            let series = recording.series("v", "c", "serial");
            for iteration in 0..20 {
                let value = if iteration == 10 {
                    900.0
                } else {
                    100.0 + f64::from(iteration * 7 % 10)
                };
                recording.measure(series, iteration, "m", "us", value);
            }
            recording
        };
        let warned = |world| {
            let recording = with(world);
            compared(&recording, &recording, &Options::default())
                .unwrap()
                .warnings
                .len()
        };
        assert_eq!((warned("sim"), warned("host")), (0, 2), "one for each side");
    }
}
