//! What-ifs: of simulated boards, and over seeds that are drawn.

use super::{first_number, is_printed, json, said};
use crate::law::{cases, holds, told};
use proptest::prelude::*;
use recording::Recording;
use report::{Style, WhatIf, WhatIfPoint, what_if_json};
use serde_json::Value;
use std::collections::BTreeMap;

const WHAT_IF: [&str; 4] = ["what-if", "psci-latency", "--free-seeds", "5"];

#[test]
fn a_what_if_says_the_figures_of_the_runs_of_its_settings() {
    let folder = tempfile::tempdir().unwrap();
    let inputs = (1..3_u32, 3..5_u32, 1..4_u32, 1..30_u32);
    holds(
        14,
        "what-if psci-latency",
        8,
        inputs,
        |(from, to, clusters, off)| {
            let vary = format!("scp.channels={from},{to}");
            let set = [
                format!("topology.clusters={clusters}"),
                format!("costs.scp.core_off={off} us"),
            ];
            let set = ["--set", &set[0], "--set", &set[1]];
            let facts = json(&[&WHAT_IF[..], &["--vary", &vary], &set].concat());
            for point in facts["points"].as_array().unwrap() {
                let channels = point["settings"]["scp.channels"].as_str().unwrap();
                let one = format!("scp.channels={channels}");
                let recording = folder.path().join(&one).display().to_string();
                let text = |key: &str| facts[key].as_str().unwrap();
                let run = [
                    "run",
                    "psci-latency",
                    "--free-seeds",
                    "5",
                    "--release",
                    "last",
                    "--case",
                    text("case"),
                    "--mode",
                    text("mode"),
                    "--set",
                    &one,
                    "--replace",
                    "-o",
                    &recording,
                ];
                said(&[&run[..], &set].concat());
                let recorded = Recording::read(std::path::Path::new(&recording)).unwrap();
                let mut most: BTreeMap<u32, f64> = BTreeMap::new();
                for of in recorded.measures() {
                    let (_, _, mode) = recorded.series_texts(of.series);
                    let is_drawn = recorded.header.seeded_modes.iter().any(|of| of == mode);
                    if is_drawn && recorded.text(of.metric) == "powerdown" {
                        let most = most.entry(of.iteration).or_insert(0.0);
                        *most = most.max(of.value);
                    }
                }
                let mut values: Vec<f64> = most.into_values().collect();
                values.sort_by(f64::total_cmp);
                prop_assert_eq!(values.len(), 5);
                prop_assert!(
                    (point["longest"].as_f64().unwrap() - values[2]).abs() < 1e-6,
                    "{point} {values:?}"
                );
            }
            Ok(())
        },
    );
}

#[test]
fn what_a_setting_does_not_touch_is_the_same() {
    let inputs = (1..4_u32, 2..5_u32, 1..4_u32);
    holds(
        13,
        "what-if psci-latency",
        10,
        inputs,
        |(from, more, clusters)| {
            // The version is told without a message to the SCP.
            let vary = format!("scp.channels={from},{}", from + more);
            let set = format!("topology.clusters={clusters}");
            let case = [
                "--case",
                "psci-version",
                "--mode",
                "parallel",
                "--metric",
                "latency",
            ];
            let facts = said(&[&WHAT_IF[..2], &case, &["--vary", &vary, "--set", &set]].concat());
            prop_assert!(facts.contains(" is the same with "), "{facts}");
            Ok(())
        },
    );
}

/// A what-if of one setting over combinations of another, by the seeds of each.
fn of_seeds(settings: &[&str], rest: usize, seeds: impl Fn(usize, usize) -> Vec<f64>) -> WhatIf {
    let point = |at: usize, setting: &str, of: usize| {
        let seeds = seeds(at, of);
        let mut sorted = seeds.clone();
        sorted.sort_by(f64::total_cmp);
        let longest = sorted[(sorted.len() - 1) / 2];
        WhatIfPoint {
            settings: vec![
                ("s.a".to_owned(), setting.to_owned()),
                ("s.b".to_owned(), of.to_string()),
            ],
            unit: "us".to_owned(),
            cpus: 1,
            shortest: longest,
            median: longest,
            longest,
            seeds,
            measured: Vec::new(),
            hung_on: None,
        }
    };
    let of = settings.iter().enumerate();
    WhatIf {
        release: "r".to_owned(),
        measured: ("case".to_owned(), "free".to_owned(), "powerdown".to_owned()),
        of: String::new(),
        points: of
            .flat_map(|(at, setting)| (0..rest).map(move |of| point(at, setting, of)))
            .collect(),
        draws: Some("free-seeds"),
    }
}

fn normal(random: &mut fastrand::Rng) -> f64 {
    (0..12).map(|_| random.f64()).sum::<f64>() - 6.0
}

/// Draws of a combination; side 1 is the base times `by`.
fn draws(seed: u64, count: usize, by: f64) -> impl Fn(usize, usize) -> Vec<f64> {
    move |at, of| {
        let number = seed.wrapping_mul(31).wrapping_add((at * 100 + of) as u64);
        let mut random = fastrand::Rng::with_seed(number.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let by = if at == 0 { 1.0 } else { by };
        (0..count)
            .map(|_| 100.0 * by * (0.02 * normal(&mut random)).exp())
            .collect()
    }
}

/// Without an effect at most 5 in 100 what-ifs tell one, however many combinations there are.
#[test]
fn chance_is_seldom_an_effect_of_a_what_if() {
    let (mut broken, mut cells) = (Vec::new(), 0);
    for (rest, seeds) in [(1, 6), (1, 20), (4, 20), (16, 20), (16, 6)] {
        let all = cases(1000);
        let claims = (0..all as u64).filter(|seed| {
            let what_if = of_seeds(&["1", "2"], rest, draws(*seed, seeds, 1.0));
            what_if.effects().iter().any(|effect| effect.told > 0)
        });
        let claims = claims.count() as f64;
        cells += 1;
        if claims > 0.05 * all as f64 + 2.0 * (0.0475 * all as f64).sqrt() {
            broken.push(format!(
                "{rest} combinations, {seeds} seeds: {claims} of {all}"
            ));
        }
    }
    told(10, "what-if", cells, &broken);
}

#[test]
fn ten_times_is_an_effect_of_a_what_if() {
    holds(
        9,
        "what-if",
        200,
        (any::<u64>(), 1..17_usize, 6..30_usize),
        |(seed, rest, seeds)| {
            let effects = of_seeds(&["1", "2"], rest, draws(seed, seeds, 10.0)).effects();
            prop_assert_eq!((effects[0].told, effects[0].of), (rest, rest));
            let [low, high] = effects[0].times.unwrap();
            prop_assert!(low > 9.0 && high < 11.1, "{low} {high}");
            Ok(())
        },
    );
}

#[test]
fn values_that_change_places_turn_the_effect_round() {
    let inputs = (any::<u64>(), 1..5_usize, 6..30_usize, 0.5..2.0_f64);
    holds(7, "what-if", 200, inputs, |(seed, rest, seeds, by)| {
        let draws = draws(seed, seeds, by);
        let one = of_seeds(&["1", "2"], rest, &draws).effects();
        let other = of_seeds(&["2", "1"], rest, |at, of| draws(1 - at, of)).effects();
        prop_assert_eq!(one[0].told, other[0].told);
        let turned = other[0].times.map(|[low, high]| [1.0 / high, 1.0 / low]);
        match (one[0].times, turned) {
            (Some(a), Some(b)) => prop_assert!(
                a.iter().zip(b).all(|(a, b)| (a / b - 1.0).abs() < 1e-9),
                "{a:?} {b:?}"
            ),
            (a, b) => prop_assert_eq!(a, b),
        }
        Ok(())
    });
}

#[test]
fn the_sentence_of_a_what_if_has_the_figures_of_its_points() {
    let inputs = (any::<u64>(), 6..30_usize, 1.5..5.0_f64);
    holds(14, "what-if", 200, inputs, |(seed, seeds, by)| {
        let what_if = of_seeds(&["1", "2"], 1, draws(seed, seeds, by));
        let json: Value = what_if_json(&what_if);
        let points = json["points"].as_array().unwrap();
        let text = report::what_if(&what_if)
            .text(false, Style::PLAIN)
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        let longest = |at: usize| points[at]["longest"].as_f64().unwrap();
        prop_assert!(
            is_printed(first_number(&text, "It takes "), longest(0)),
            "{text}"
        );
        prop_assert!(
            is_printed(first_number(&text, "with 1, and "), longest(1)),
            "{text}"
        );
        let effect = &json["effects"][0]["times"];
        let quotient = longest(1) / longest(0);
        prop_assert!(
            (effect[0].as_f64().unwrap() / quotient - 1.0).abs() < 1e-9,
            "{effect} {quotient}"
        );
        Ok(())
    });
}

/// What is asked for next is more than there was.
#[test]
fn a_what_if_that_cannot_tell_asks_for_more_seeds() {
    holds(
        12,
        "what-if",
        100,
        (any::<u64>(), 2..200_usize),
        |(seed, seeds)| {
            let what_if = of_seeds(&["1", "2"], 1, draws(seed, seeds, 1.0));
            let text = report::what_if(&what_if).text(false, Style::PLAIN);
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            if text.contains("cannot be told") {
                prop_assert!(
                    first_number(&text, "`--free-seeds ") as usize > seeds,
                    "{text}"
                );
            }
            Ok(())
        },
    );
}
