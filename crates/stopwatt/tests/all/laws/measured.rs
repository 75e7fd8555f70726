//! Reports of what was measured on a host: recordings that are drawn after stored ones.

use super::{first_number, is_printed, json};
use crate::common::root;
use crate::law::{cases, holds, told};
use proptest::prelude::*;
use recording::{Measure, Recording};
use serde_json::Value;
use std::path::Path;

/// A stored recording of a story.
fn stored(name: &str) -> Recording {
    let folder = root().join("crates/results/report/tests/recordings");
    Recording::read(folder.join(name)).unwrap()
}

/// The measures of the first iteration of a recording, in so many iterations with other values: what
/// the report of it says, and its JSON.
fn remeasured(
    folder: &Path,
    of: &Recording,
    iterations: u32,
    mut value: impl FnMut(&Recording, &Measure, u32) -> f64,
) -> (String, Value) {
    let mut drawn = Recording::new(of.header.clone());
    drawn.header.files.clear();
    drawn.header.iterations = iterations;
    for iteration in 0..iterations {
        for measure in of
            .measures()
            .iter()
            .filter(|measure| measure.iteration == 0)
        {
            let (variant, case, mode) = of.series_texts(measure.series);
            let series = drawn.series(variant, case, mode);
            let names = [measure.subject, measure.role]
                .map(|name| name.map(|name| of.text(name).to_owned()));
            let names = names.map(|name| name.map(|name| drawn.name(&name)));
            let (metric, unit) = (of.text(measure.metric), of.text(measure.unit));
            let value = value(of, measure, iteration);
            let added = drawn.measure(series, iteration, metric, unit, value);
            (added.cpu, added.subject, added.role) = (measure.cpu, names[0], names[1]);
        }
    }
    let path = folder.join("drawn");
    let _ = std::fs::remove_dir_all(&path);
    drawn.write(&path).unwrap();
    let path = path.to_str().unwrap();
    (super::told(path), json(&["report", path]))
}

fn normal(random: &mut fastrand::Rng) -> f64 {
    (0..12).map(|_| random.f64()).sum::<f64>() - 6.0
}

fn random(seed: u64) -> fastrand::Rng {
    fastrand::Rng::with_seed(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15))
}

/// A tuned loop whose cells all take as long, but that today's values take `times` as long; each
/// round has a noise that its cells have in common, and each cell one of its own.
fn tuned(
    folder: &Path,
    of: &Recording,
    seed: u64,
    rounds: u32,
    times: f64,
    noise: f64,
) -> (String, Value) {
    let mut random = random(seed);
    let (mut round, mut common) = (u32::MAX, 0.0);
    remeasured(folder, of, rounds, |of, measure, iteration| {
        if std::mem::replace(&mut round, iteration) != iteration {
            common = 0.05 * normal(&mut random);
        }
        let subject = measure.subject.map_or("", |name| of.text(name));
        let is_today = subject.contains("header 0, flow 0");
        let times = if is_today { times } else { 1.0 };
        100.0 * times * (common + noise * normal(&mut random)).exp()
    })
}

#[test]
fn chance_is_seldom_a_better_distance() {
    let (folder, of) = (tempfile::tempdir().unwrap(), stored("tune"));
    let (mut broken, mut cells) = (Vec::new(), 0);
    for rounds in [8, 14] {
        let all = cases(40);
        let claims = (0..all as u64).filter(|seed| {
            let (_, json) = tuned(folder.path(), &of, *seed, rounds, 1.0, 0.02);
            let less = &json["best"]["less_than_today"]["interval"];
            less[0].as_f64().is_some_and(|low| low > 0.0)
        });
        let claims = claims.count() as f64;
        cells += 1;
        let all = all as f64;
        if claims > 0.05 * all + 2.0 * (0.0475 * all).sqrt() {
            broken.push(format!("{rounds} rounds: {claims} of {all}"));
        }
    }
    told(10, "tune", cells, &broken);
}

#[test]
fn half_the_time_is_a_better_distance_and_the_same_time_is_none() {
    let (folder, of) = (tempfile::tempdir().unwrap(), stored("tune"));
    holds(
        9,
        "tune",
        12,
        (any::<u64>(), 6..16_u32),
        |(seed, rounds)| {
            let (told, json) = tuned(folder.path(), &of, seed, rounds, 10.0, 0.02);
            let less = json["best"]["less_than_today"]["percent"].as_f64().unwrap();
            prop_assert!(
                (less - 90.0).abs() < 1.0 && told.contains("takes the least time"),
                "{less}: {told}"
            );
            Ok(())
        },
    );
    holds(
        13,
        "tune",
        12,
        (any::<u64>(), 6..16_u32),
        |(seed, rounds)| {
            let (told, _) = tuned(folder.path(), &of, seed, rounds, 1.0, 0.0);
            let is_same = told.contains("takes the same time")
                || told.starts_with("Nothing that was tried takes less");
            prop_assert!(is_same, "{told}");
            Ok(())
        },
    );
    holds(
        14,
        "tune",
        12,
        (any::<u64>(), 6..16_u32, 0.5..2.0_f64),
        |(seed, rounds, times)| {
            let (told, json) = tuned(folder.path(), &of, seed, rounds, times, 0.01);
            let clocks = json["best"]["clocks"].as_f64().unwrap();
            let printed = told
                .split(" clocks per record")
                .next()
                .unwrap()
                .rsplit(' ')
                .next()
                .unwrap();
            let is_range = told.starts_with("Whether ");
            prop_assert!(
                is_range || is_printed(printed.parse().unwrap(), clocks),
                "{clocks}: {told}"
            );
            Ok(())
        },
    );
}

/// A loaded graph: each value of each window times a noise, and those of a node times a factor.
fn loaded(
    folder: &Path,
    of: &Recording,
    windows: u32,
    value: impl Fn(&str, &str, u32) -> f64,
) -> (String, Value) {
    remeasured(folder, of, windows, |of, measure, window| {
        let (metric, subject) = (
            of.text(measure.metric),
            measure.subject.map_or("", |name| of.text(name)),
        );
        measure.value * value(metric, subject, window)
    })
}

#[test]
fn the_rate_and_the_clocks_of_a_graph_are_one_figure() {
    let (folder, of) = (tempfile::tempdir().unwrap(), stored("dataplane"));
    holds(
        14,
        "run dataplane",
        40,
        (1..8_u32, 0.5..2.0_f64),
        |(windows, times)| {
            let (told, json) = loaded(
                folder.path(),
                &of,
                windows,
                |metric, _, window| match metric {
                    "rate" => times * (1.0 + 0.001 * f64::from(window)),
                    "clocks-per-packet" => (1.0 - 0.001 * f64::from(window)) / times,
                    _ => 1.0,
                },
            );
            prop_assert!(
                is_printed(
                    first_number(&told, " sends "),
                    json["mpps"].as_f64().unwrap()
                ),
                "{told}"
            );
            prop_assert!(
                is_printed(
                    first_number(&told, "A packet takes "),
                    json["clocks_per_packet"].as_f64().unwrap()
                ),
                "{told}"
            );
            Ok(())
        },
    );
}

#[test]
fn a_node_that_met_few_packets_leads_no_graph() {
    let (folder, of) = (tempfile::tempdir().unwrap(), stored("dataplane"));
    let nodes = prop::sample::select(vec!["pg-input", "ip4-input", "ip4-lookup", "pg1-tx"]);
    holds(
        5,
        "run dataplane",
        40,
        (nodes, 1.0..50.0_f64),
        |(node, clocks)| {
            // One packet in a million, each with many clocks.
            let (told, json) = loaded(folder.path(), &of, 3, |metric, subject, _| match metric {
                "vectors" if subject == node => 1e-6,
                "clocks-per-packet" if subject == node => clocks,
                _ => 1.0,
            });
            prop_assert!(!told.contains(&format!("of them in {node}")), "{told}");
            let nodes = json["nodes"].as_array().unwrap();
            let rare = nodes.iter().find(|of| of["name"] == node).unwrap();
            prop_assert!(rare["clocks_of_path"].as_f64().unwrap() < 0.01, "{rare}");
            Ok(())
        },
    );
}

#[test]
fn as_many_windows_again_are_told_alike() {
    let (folder, of) = (tempfile::tempdir().unwrap(), stored("dataplane"));
    holds(
        2,
        "run dataplane",
        40,
        (1..5_u32, 2..4_u32, any::<u64>()),
        |(windows, times, seed)| {
            let value = |metric: &str, _: &str, window: u32| {
                let mut random = random(seed ^ u64::from(window % windows));
                let by = 1.0 + 0.01 * random.f64();
                match metric {
                    "rate" => by,
                    "clocks-per-packet" => 1.0 / by,
                    _ => 1.0,
                }
            };
            let (one, _) = loaded(folder.path(), &of, windows, value);
            let (long, _) = loaded(folder.path(), &of, windows * times, value);
            let answer = |told: &str| {
                told.split(" Clocks per packet, by node")
                    .next()
                    .unwrap()
                    .to_owned()
            };
            prop_assert_eq!(answer(&one), answer(&long));
            Ok(())
        },
    );
}

/// Policies whose energies are alike but for chance, and one that takes half.
#[test]
fn chance_is_seldom_the_least_energy() {
    let (folder, of) = (tempfile::tempdir().unwrap(), stored("placement"));
    let (mut broken, mut cells) = (Vec::new(), 0);
    for seeds in [2, 3, 6] {
        let all = cases(40);
        let drawn = |seed: u64, times: f64| {
            let mut random = random(seed);
            let mut drawn = of.clone();
            drawn
                .header
                .settings
                .insert("seeds".to_owned(), seeds.to_string());
            remeasured(folder.path(), &drawn, seeds, |of, measure, _| {
                let (policy, ..) = of.series_texts(measure.series);
                match of.text(measure.metric) {
                    "energy" => {
                        (0.02 * normal(&mut random)).exp()
                            * if policy == "hmp" { times } else { 1.0 }
                    }
                    _ => measure.value,
                }
            })
        };
        let claims = (0..all as u64).filter(|seed| {
            drawn(*seed, 1.0)
                .0
                .contains("takes the least energy of all")
        });
        let claims = claims.count() as f64;
        cells += 1;
        let all = all as f64;
        if claims > 0.05 * all + 2.0 * (0.0475 * all).sqrt() {
            broken.push(format!("{seeds} seeds: {claims} of {all}"));
        }
        let (told, _) = drawn(1, 0.1);
        let is_told = told.contains("hmp takes the least energy of all");
        if is_told != (seeds > 2) || !is_told && !told.contains("`--seeds 20` may tell") {
            broken.push(format!("{seeds} seeds, a tenth: {told}"));
        }
    }
    told(10, "placement", cells, &broken);
}

/// Loops that take as long at every stride, and one that takes a tenth.
#[test]
fn chance_is_seldom_the_loop_with_the_least_time() {
    let (folder, of) = (tempfile::tempdir().unwrap(), stored("prefetch-host"));
    let (mut broken, mut cells) = (Vec::new(), 0);
    for repetitions in [3, 5, 11] {
        let all = cases(60);
        let drawn = |seed: u64, times: f64| {
            let mut random = random(seed);
            remeasured(folder.path(), &of, repetitions, |of, measure, _| {
                let subject = measure.subject.map_or("", |name| of.text(name));
                let times = if subject.starts_with("quad+") {
                    times
                } else {
                    1.0
                };
                100.0 * times * (0.02 * normal(&mut random)).exp()
            })
            .0
        };
        let is_told = |told: &str| {
            let is_first = told.contains("The loop ") && told.contains(" takes the least time");
            is_first || told.contains(" times as fast")
        };
        let claims = (0..all as u64)
            .filter(|seed| is_told(&drawn(*seed, 1.0)))
            .count() as f64;
        cells += 1;
        let all = all as f64;
        if claims > 0.05 * all + 2.0 * (0.0475 * all).sqrt() {
            broken.push(format!("{repetitions} repetitions: {claims} of {all}"));
        }
        let tenth = drawn(1, 0.1);
        if !tenth.contains("The loop quad takes the least time") {
            broken.push(format!("{repetitions} repetitions, a tenth: {tenth}"));
        }
    }
    told(10, "run prefetch", cells, &broken);
}

/// Loops of the modelled core with other clocks: one is least only by more than the model misses.
#[test]
fn a_modelled_loop_is_least_by_more_than_the_model_misses() {
    let (folder, of) = (tempfile::tempdir().unwrap(), stored("prefetch-sim"));
    let names = ["single", "dual", "quad", "single-split"];
    let times = prop::array::uniform4(0.9..1.1_f64);
    holds(20, "run prefetch, sim", 20, times, |times| {
        let (told, json) = remeasured(folder.path(), &of, 1, |of, measure, _| {
            let subject = measure.subject.map_or("", |name| of.text(name));
            let of_loop = subject.split('+').next().unwrap_or_default();
            let place = names.iter().position(|name| *name == of_loop);
            measure.value * place.map_or(1.0, |place| times[place])
        });
        let missed = json["missed_percent"].as_f64().unwrap() / 100.0;
        prop_assert!(missed > 0.0);
        let mut clocks = json["gains"].as_array().unwrap().clone();
        let clocks_of = |gain: &Value| gain["clocks"].as_f64().unwrap();
        clocks.sort_by(|a, b| clocks_of(a).total_cmp(&clocks_of(b)));
        let [first, second] = [&clocks[0], &clocks[1]].map(clocks_of);
        let name = clocks[0]["loop"].as_str().unwrap();
        let is_told = told.starts_with(&format!("The loop {name} takes the least time"));
        let is_apart = first * (1.0 + missed) < second * (1.0 - missed);
        prop_assert!(is_told == is_apart, "{first} and {second}: {told}");
        Ok(())
    });
}

/// Clocks of this machine whose reads take other times.
#[test]
fn the_fastest_clock_is_named_with_the_time_of_its_table() {
    let (folder, of) = (tempfile::tempdir().unwrap(), stored("idle-clock-host"));
    let times = (any::<u64>(), 0.2..5.0_f64);
    holds(14, "run idle-clock", 20, times, |(seed, spread)| {
        let mut random = random(seed);
        let mut factors = std::collections::BTreeMap::new();
        let (told, json) = remeasured(folder.path(), &of, 1, |of, measure, _| {
            let clock = of.series_texts(measure.series);
            let factor = factors
                .entry(format!("{clock:?}"))
                .or_insert_with(|| (spread * normal(&mut random)).exp());
            measure.value * *factor
        });
        let clocks = json["clocks"].as_array().unwrap().iter();
        let alone = clocks.filter(|clock| clock["threads"] == 1);
        let usual = |clock: &&Value| clock["p50_ns"].as_f64().unwrap();
        let least = alone.min_by(|a, b| usual(a).total_cmp(&usual(b))).unwrap();
        let name = least["name"].as_str().unwrap();
        let printed = first_number(&told, "A read takes ");
        prop_assert!(is_printed(printed, usual(&least)), "{told}");
        prop_assert!(told.contains(&format!(") of {name}")), "{name}: {told}");
        Ok(())
    });
}
