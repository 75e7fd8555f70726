//! How often the test tells a change where there is none, and where there is one, over simulated
//! runs; ranks and words over drawn values.

use crate::law::{cases, holds, told};
use evidence::{Iterations, Rank, Runs, TestedMeasure, share_less, test, test_pairs};
use fastrand::Rng;
use proptest::prelude::*;

/// The noises of runs, in logarithms.
#[derive(Clone, Copy, Debug)]
enum Noise {
    Gaussian,
    HeavyTailed,
    Common,
    Drift,
}

const NOISES: [Noise; 4] = [
    Noise::Gaussian,
    Noise::HeavyTailed,
    Noise::Common,
    Noise::Drift,
];

fn normal(random: &mut Rng) -> f64 {
    (-2.0 * (1.0 - random.f64()).ln()).sqrt() * (std::f64::consts::TAU * random.f64()).cos()
}

/// Rows of runs of a side, each row as values.
fn side(random: &mut Rng, noise: Noise, rows: usize, runs: usize) -> Vec<Vec<f64>> {
    let shared: Vec<f64> = (0..runs).map(|_| normal(random)).collect();
    let mut value = |run: usize| match noise {
        Noise::Gaussian => 0.02 * normal(random),
        // Student's t of three degrees.
        Noise::HeavyTailed => {
            let squares: f64 = (0..3).map(|_| normal(random).powi(2)).sum();
            0.02 * normal(random) / (squares / 3.0).sqrt()
        }
        Noise::Common => 0.01 * normal(random) + 0.02 * shared[run],
        Noise::Drift => 0.02 * normal(random) + 0.005 * run as f64,
    };
    (0..rows)
        .map(|_| (0..runs).map(|run| 100.0 * value(run).exp()).collect())
        .collect()
}

fn tested(a: &[Vec<f64>], b: &[Vec<f64>]) -> TestedMeasure {
    let rows = a
        .iter()
        .zip(b)
        .map(|(a, b)| Runs {
            sides: [a, b],
            tick: 0.0,
        })
        .collect();
    test(&[rows], 0.05).remove(0)
}

/// Of `pairs` comparisons, how many tell the first row, and how many tell anything; the first row
/// of the other side is multiplied.
fn count(noise: Noise, rows: usize, runs: usize, factor: f64, pairs: usize) -> [usize; 2] {
    let mut random = Rng::with_seed(7 + rows as u64 * 1000 + runs as u64);
    let mut told = [0; 2];
    for _ in 0..pairs {
        let a = side(&mut random, noise, rows, runs);
        let mut b = side(&mut random, noise, rows, runs);
        b[0].iter_mut().for_each(|value| *value *= factor);
        let found = tested(&a, &b);
        let differs: Vec<bool> = found.rows.iter().map(|row| row.unwrap().differs).collect();
        told[0] += usize::from(differs[0]);
        told[1] +=
            usize::from(differs.contains(&true) || found.common.is_some_and(|it| it.differs));
    }
    told
}

#[test]
fn without_a_change_at_most_five_in_a_hundred_are_told() {
    let (mut broken, mut cells) = (Vec::new(), 0);
    for noise in NOISES {
        for (rows, runs, pairs) in [
            (1, 3, 1000),
            (20, 3, 400),
            (1, 10, 1000),
            (20, 10, 300),
            (20, 30, 100),
        ] {
            let [_, any] = count(noise, rows, runs, 1.0, pairs);
            // Two standard errors of a count above five in a hundred.
            let most = 0.05 * pairs as f64 + 2.0 * (0.0475 * pairs as f64).sqrt();
            cells += 1;
            if any as f64 > most {
                broken.push(format!(
                    "{noise:?}, {rows} rows, {runs} runs: {any} of {pairs}"
                ));
            }
        }
    }
    told(10, "runs", cells, &broken);
}

#[test]
fn ten_times_is_always_seen() {
    let (mut broken, mut cells) = (Vec::new(), 0);
    let pairs = cases(40);
    for noise in NOISES {
        for (rows, runs) in [(1, 3), (20, 3), (200, 3), (1, 5), (20, 10), (20, 30)] {
            let [seen, _] = count(noise, rows, runs, 10.0, pairs);
            cells += 1;
            if seen < pairs {
                broken.push(format!(
                    "{noise:?}, {rows} rows, {runs} runs: {seen} of {pairs}"
                ));
            }
        }
    }
    told(9, "runs", cells, &broken);
}

/// Values of which each has much to do with the one before.
#[test]
fn dependent_values_raise_few_alarms_and_ten_percent_are_found() {
    for (runs, least) in [(30, 90), (100, 190)] {
        let mut random = Rng::with_seed(11);
        let mut row = |by: f64| {
            let mut state = normal(&mut random);
            let value = |_| {
                state = 0.8 * state + 0.6 * normal(&mut random);
                vec![by * (100.0 + 3.0 * state)]
            };
            vec![(0..runs).flat_map(value).collect::<Vec<f64>>()]
        };
        let mut told = [0; 2];
        for _ in 0..200 {
            let base = row(1.0);
            for (told, by) in told.iter_mut().zip([1.0, 1.1]) {
                *told += usize::from(tested(&base, &row(by)).rows[0].unwrap().differs);
            }
        }
        assert!(
            told[0] <= 20 && told[1] >= least,
            "{runs} values: {told:?} of 200"
        );
    }
}

/// The size that is told as seen in 80 of 100 is, and a row of 20 that moved by a tenth mostly.
#[test]
fn the_power_is_what_it_is_told_to_be() {
    for (rows, runs, percent) in [(1, 3, 6.7), (20, 3, 9.0), (20, 5, 6.3), (20, 10, 4.3)] {
        let mut random = Rng::with_seed(3);
        let told: f64 = (0..40)
            .map(|_| {
                let [a, b] = [(); 2].map(|()| side(&mut random, Noise::Gaussian, rows, runs));
                tested(&a, &b).rows[0].unwrap().seen_from
            })
            .sum::<f64>()
            / 40.0;
        let size = told.exp_m1() * 100.0;
        assert!(
            (size / percent - 1.0).abs() < 0.2,
            "{rows} rows, {runs} runs: {size} %"
        );
        let [seen, _] = count(Noise::Gaussian, rows, runs, told.exp(), 200);
        assert!(
            (135..=190).contains(&seen),
            "{rows} rows, {runs} runs: {seen} of 200"
        );
    }
}

#[test]
fn pairs_of_a_seed_are_tested_by_their_ratios() {
    let pairs = |by: [f64; 4]| {
        [10.0, 500.0, 3.0, 77.0]
            .map(|base| base)
            .into_iter()
            .zip(by)
            .map(|(base, by)| [base, base * by])
            .collect::<Vec<_>>()
    };
    let found = test_pairs(&pairs([1.1, 1.101, 1.099, 1.1]), 0.05).unwrap();
    assert!(
        found.differs && (found.change.exp() - 1.1).abs() < 1e-3,
        "{found:?}"
    );
    assert!(
        !test_pairs(&pairs([1.5, 0.7, 1.1, 0.9]), 0.05)
            .unwrap()
            .differs
    );
    assert!(test_pairs(&pairs([1.1; 4])[..2], 0.05).is_none());
    let same = test_pairs(&pairs([1.0; 4]), 0.05).unwrap();
    assert!(!same.differs && same.change == 0.0, "{same:?}");
}

/// Sides that change places change the signs, a unit changes nothing, and the interval holds 0 where
/// nothing is told.
#[test]
fn sides_and_units_change_no_verdict() {
    let sides = (any::<u64>(), 1_usize..6, 3_usize..9, 0.5_f64..2.0);
    holds(7, "runs", 200, sides, |(seed, rows, runs, by)| {
        let [a, b] = changed(seed, rows, runs, by);
        for (one, other) in tested(&a, &b).rows.iter().zip(&tested(&b, &a).rows) {
            let (one, other) = (one.unwrap(), other.unwrap());
            prop_assert!((one.change + other.change).abs() < 1e-9 && one.differs == other.differs);
            prop_assert!((one.interval[0] + other.interval[1]).abs() < 1e-6);
            let holds = one.interval[0] <= 0.0 && one.interval[1] >= 0.0;
            prop_assert_eq!(holds, !one.differs, "{:?}", one);
        }
        Ok(())
    });
    let units = prop::sample::select(vec![1e-3, 1.0, 1e3]);
    let sides = (any::<u64>(), 1_usize..6, 3_usize..9, 0.5_f64..2.0, units);
    holds(8, "runs", 200, sides, |(seed, rows, runs, by, unit)| {
        let sides = changed(seed, rows, runs, by);
        let scaled = |side: &Vec<Vec<f64>>| -> Vec<Vec<f64>> {
            let row = |row: &Vec<f64>| row.iter().map(|value| value * unit).collect();
            side.iter().map(row).collect()
        };
        let [a, b] = sides.each_ref().map(scaled);
        let (one, in_unit) = (tested(&sides[0], &sides[1]), tested(&a, &b));
        for (one, other) in one.rows.iter().zip(&in_unit.rows) {
            let (one, other) = (one.unwrap(), other.unwrap());
            prop_assert_eq!(one.differs, other.differs);
            prop_assert!((one.change - other.change).abs() < 1e-9);
        }
        Ok(())
    });
}

/// Two sides of some rows, of which the first differs.
fn changed(seed: u64, rows: usize, runs: usize, by: f64) -> [Vec<Vec<f64>>; 2] {
    let mut random = Rng::with_seed(seed);
    let a = side(&mut random, Noise::Gaussian, rows, runs);
    let mut b = side(&mut random, Noise::Gaussian, rows, runs + 1);
    b[0].iter_mut().for_each(|value| *value *= by);
    [a, b]
}

fn iterations(all: &[Vec<f64>]) -> Iterations<usize, u16> {
    let all = all.iter().enumerate();
    all.flat_map(|(at, values)| (0..).zip(values).map(move |(cpu, us)| (at, cpu, *us)))
        .collect()
}

/// The values of `all`, those of an iteration in the order of its turn.
fn turned(all: &[Vec<f64>], turns: &[Vec<usize>]) -> Vec<Vec<f64>> {
    let turn =
        |(values, turn): (&Vec<f64>, &Vec<usize>)| turn.iter().map(|&at| values[at]).collect();
    all.iter().zip(turns.iter().cycle()).map(turn).collect()
}

/// Whoever takes which place, and whatever the CPUs are called, a rank has its value.
#[test]
fn places_and_names_change_no_rank() {
    let values = prop::collection::vec(prop::collection::vec(0.1..1e4_f64, 4), 1..20);
    let turns = prop::collection::vec(Just(vec![0_usize, 1, 2, 3]).prop_shuffle(), 20);
    let inputs = (values, turns, 0..4_usize);
    holds(4, "ranks", 200, inputs.clone(), |(all, turns, place)| {
        let other = iterations(&turned(&all, &turns));
        for rank in [Rank::Shortest, Rank::Nth(place), Rank::Longest] {
            let (is, was) = (
                other.ranked(rank).unwrap(),
                iterations(&all).ranked(rank).unwrap(),
            );
            prop_assert_eq!(
                (is.median, is.ends, is.each),
                (was.median, was.ends, was.each)
            );
        }
        Ok(())
    });
    holds(3, "ranks", 200, inputs, |(all, turns, place)| {
        let renamed = iterations(&turned(&all, &turns[..1]));
        for rank in [Rank::Shortest, Rank::Nth(place), Rank::Longest] {
            let (is, was) = (
                renamed.ranked(rank).unwrap(),
                iterations(&all).ranked(rank).unwrap(),
            );
            prop_assert_eq!(is.median, was.median);
            let names = is.who.iter().map(|&cpu| turns[0][usize::from(cpu)]);
            prop_assert_eq!(
                names.collect::<Vec<_>>(),
                was.who
                    .iter()
                    .map(|&cpu| usize::from(cpu))
                    .collect::<Vec<_>>()
            );
        }
        Ok(())
    });
}

#[test]
fn the_mirror_image_of_a_share_changes_the_words_alone() {
    holds(
        7,
        "shares",
        200,
        (-0.9..3.0_f64, -0.9..3.0_f64),
        |(a, b)| {
            let swapped = |text: &str| {
                text.replace("more", "_")
                    .replace("less", "more")
                    .replace('_', "less")
            };
            let (one, other) = (share_less([a, b]), share_less([-a, -b]));
            if a * b > 0.0 {
                prop_assert_eq!(swapped(&one), other);
            } else {
                prop_assert!(one.contains("more") && one.contains("less"));
            }
            Ok(())
        },
    );
}
