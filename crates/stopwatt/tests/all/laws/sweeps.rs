//! Reports of sweeps, over points that are drawn.

use super::{first_number, is_printed};
use crate::law::{cases, holds, told};
use proptest::prelude::*;
use report::{Format, Style, sweep_report};
use serde_json::Value as Json;
use sweep::{FailedPoint, PointSummary, Quantity, Summary, Value};

/// Points of two keys and some seeds; `figure` has that of a point by its keys and its draw.
fn swept(sizes: [i64; 2], seeds: i64, seed: u64, figure: impl Fn(i64, i64, f64) -> f64) -> Summary {
    let mut random = fastrand::Rng::with_seed(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let mut points = Vec::new();
    for a in 1..=sizes[0] {
        for b in 1..=sizes[1] {
            for draw in 1..=seeds {
                let noise = (0..12).map(|_| random.f64()).sum::<f64>() - 6.0;
                points.push(PointSummary {
                    number: points.len() as u64,
                    settings: [a, b, draw].map(|value| Some(Value::Whole(value))).to_vec(),
                    figures: vec![figure(a, b, noise)],
                });
            }
        }
    }
    let quantity = Quantity {
        variant: "juno-v2.12".to_owned(),
        case: "suspend-deepest".to_owned(),
        mode: "parallel".to_owned(),
        subject: String::new(),
        metric: "powerdown".to_owned(),
        unit: "us".to_owned(),
    };
    Summary {
        experiment: "psci-latency".to_owned(),
        world: "sim".to_owned(),
        keys: ["scp.channels", "topology.clusters", "seed"]
            .map(str::to_owned)
            .to_vec(),
        quantities: vec![quantity],
        planned: points.len() as u64,
        points,
        chunks: (4, 4),
        failed: Vec::new(),
        complaints: Vec::new(),
    }
}

/// The report of a sweep: its first screen in one line, and its JSON.
fn reported(summary: &Summary) -> (String, Json) {
    let of = |format| sweep_report(summary, "s", format, Style::PLAIN, false).unwrap();
    let text = String::from_utf8(of(Format::Text)).unwrap();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    (text, serde_json::from_slice(&of(Format::Json)).unwrap())
}

fn sizes() -> impl Strategy<Value = ([i64; 2], i64, u64)> {
    ([1..5_i64, 2..5_i64], 1..8_i64, any::<u64>())
}

#[test]
fn points_that_are_the_same_are_told_so() {
    holds(
        13,
        "sweep",
        100,
        (sizes(), 0.1..1e4_f64),
        |((sizes, seeds, seed), value)| {
            let (text, _) = reported(&swept(sizes, seeds, seed, |_, _, _| value));
            prop_assert!(text.contains(" is the same in all "), "{text}");
            Ok(())
        },
    );
}

#[test]
fn the_ends_of_a_sweep_are_those_of_its_points() {
    holds(
        14,
        "sweep",
        200,
        (sizes(), 0.0..0.3_f64),
        |((sizes, seeds, seed), slope)| {
            let summary = swept(sizes, seeds, seed, |a, b, noise| {
                (slope * a as f64 - 0.2 * b as f64 + 0.1 * noise).exp()
            });
            let (text, json) = reported(&summary);
            let values = || summary.points.iter().map(|point| point.figures[0]);
            let ends = [
                values().fold(f64::INFINITY, f64::min),
                values().fold(0.0, f64::max),
            ];
            for (end, key) in ends.iter().zip(["least", "greatest"]) {
                let value = json["quantities"][0][key]["value"].as_f64().unwrap();
                prop_assert!((value / end - 1.0).abs() < 1e-12, "{value} {end}");
            }
            if ends[1] / ends[0] < 1.0051 && text.contains(" is the same within 0.5 % ") {
                return Ok(());
            }
            prop_assert!(
                is_printed(first_number(&text, " goes from "), ends[0]),
                "{ends:?}: {text}"
            );
            let printed = first_number(text.split(" goes from ").nth(1).unwrap(), " to ");
            prop_assert!(is_printed(printed, ends[1]), "{ends:?}: {text}");
            if let Some((begin, mean)) = text.split_once(": its mean is ") {
                let key = begin.split(' ').next_back().unwrap();
                let effects = json["quantities"][0]["effects"].as_array().unwrap();
                let at = effects.iter().position(|effect| effect["key"] == key);
                prop_assert!(
                    begin.contains(" goes most with ") == (at == Some(0)),
                    "{text}"
                );
                let effect = &effects[at.unwrap()];
                prop_assert!(
                    is_printed(
                        first_number(mean, ""),
                        effect["least"]["mean"].as_f64().unwrap()
                    ),
                    "{text}"
                );
            }
            Ok(())
        },
    );
}

/// That points are missing or failed stands before any figure, and why on the first screen.
#[test]
fn what_a_sweep_lacks_is_told_first() {
    holds(
        6,
        "sweep",
        100,
        (sizes(), any::<bool>(), any::<bool>()),
        |((sizes, seeds, seed), has_failed, is_flat)| {
            let of = |a: i64, b: i64, noise: f64| {
                if is_flat {
                    7.0
                } else {
                    10.0 + (a * b) as f64 + 0.1 * noise
                }
            };
            let mut summary = swept(sizes, seeds, seed, of);
            summary.points.pop();
            if has_failed {
                summary.failed = vec![FailedPoint {
                    point: 3,
                    why: "no memory".to_owned(),
                }];
            } else {
                summary.chunks = (3, 4);
            }
            let (text, _) = reported(&summary);
            let first = text.split(". ").next().unwrap();
            let count = format!("{} of {} points", summary.points.len(), summary.planned);
            prop_assert!(first.contains(&count), "{text}");
            let why = if has_failed {
                "no memory"
            } else {
                "3 of 4 chunks are there"
            };
            prop_assert!(text.contains(why), "{text}");
            Ok(())
        },
    );
}

#[test]
fn other_orders_of_the_points_change_nothing() {
    holds(3, "sweep", 100, sizes(), |(sizes, seeds, seed)| {
        let mut summary = swept(sizes, seeds, seed, |a, b, noise| {
            (0.3 * a as f64 - 0.2 * b as f64 + 0.1 * noise).exp()
        });
        let (text, _) = reported(&summary);
        summary.points.reverse();
        let (other, _) = reported(&summary);
        let first = |text: &str| text.split(". ").next().unwrap().to_owned();
        prop_assert_eq!(first(&text), first(&other));
        Ok(())
    });
}

#[test]
fn chance_is_seldom_the_key_of_a_sweep() {
    let (mut broken, mut cells) = (Vec::new(), 0);
    for (sizes, seeds) in [([2, 2], 4), ([3, 4], 5), ([4, 4], 1), ([1, 4], 8)] {
        let all = cases(150) as u64;
        let claims = (0..all).filter(|seed| {
            let summary = swept(sizes, seeds, *seed, |_, _, noise| 100.0 + noise);
            reported(&summary).0.contains("It goes most with ")
        });
        let claims = claims.count() as f64;
        cells += 1;
        let all = all as f64;
        if claims > 0.05 * all + 2.0 * (0.0475 * all).sqrt() {
            broken.push(format!("{sizes:?}, {seeds} seeds: {claims} of {all}"));
        }
    }
    told(10, "sweep", cells, &broken);
}

#[test]
fn ten_times_is_the_key_of_a_sweep() {
    holds(
        9,
        "sweep",
        100,
        (2..5_i64, 3..8_i64, any::<u64>()),
        |(size, seeds, seed)| {
            let summary = swept([2, size], seeds, seed, |a, _, noise| {
                10_f64.powi(a as i32) * (1.0 + 0.05 * noise)
            });
            let (text, _) = reported(&summary);
            prop_assert!(text.contains("It goes most with scp.channels: "), "{text}");
            Ok(())
        },
    );
}
