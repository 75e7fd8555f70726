//! A workload under each policy of placement, equal tasks with an energy model and without, and the
//! savings of RCU's configurations.

use super::{first_number, is_printed, json, said, told, written};
use crate::law::holds;
use proptest::prelude::*;
use serde_json::Value;
use std::path::Path;

/// A task: microseconds of work, its period, and whether it may run on CPU 0 alone.
type Task = (u32, u32, bool);

fn tasks() -> impl Strategy<Value = Vec<Task>> + Clone {
    let task = (200..9000_u32, 4000..20_000_u32, any::<bool>());
    prop::collection::vec(task, 1..4)
}

/// What a run of some tasks says, in JSON and on its first screen.
fn run(folder: &Path, tasks: &[Task], names: &[&str], policies: &str) -> (Value, String) {
    let task = |((run, period, pinned), name): (&Task, &&str)| {
        let cpus = if *pinned { "\"cpus\": [0], " } else { "" };
        format!(
            "\"{name}\": {{ {cpus}\"run\": {run}, \"timer\": {{ \"ref\": \"unique\", \"period\": {period} }} }}"
        )
    };
    let each: Vec<String> = tasks.iter().zip(names).map(task).collect();
    let text = format!(
        "{{ \"global\": {{ \"duration\": 1 }}, \"tasks\": {{ {} }} }}",
        each.join(", ")
    );
    let file = written(folder, "w.json", &text);
    let recording = folder.join("run").to_str().unwrap().to_owned();
    let arguments = [
        "run",
        "placement",
        &file,
        "--policies",
        policies,
        "--seeds",
        "2",
        "--replace",
        "-o",
        &recording,
    ];
    (json(&arguments), told(&recording))
}

const NAMES: [&str; 3] = ["one", "two", "three"];

/// The periods of each task that a policy did.
fn periods(policy: &Value) -> Vec<f64> {
    let tasks = policy["tasks"].as_object().unwrap();
    tasks
        .values()
        .map(|task| task["periods"].as_f64().unwrap())
        .collect()
}

#[test]
fn no_energy_is_ranked_of_a_policy_that_does_less() {
    let folder = tempfile::tempdir().unwrap();
    holds(15, "run placement", 12, tasks(), |tasks| {
        let (json, told) = run(folder.path(), &tasks, &NAMES, "all-big,hmp,even");
        let policies = json["policies"].as_array().unwrap();
        let of = |name: &Value| {
            periods(
                policies
                    .iter()
                    .find(|policy| policy["name"] == *name)
                    .unwrap(),
            )
        };
        let winners = json["wins"]["energy"].as_array().unwrap();
        for winner in winners {
            for policy in policies {
                for (own, other) in of(winner).iter().zip(periods(policy)) {
                    prop_assert!(
                        *own >= 0.9 * other - 2.0,
                        "{winner}: {own} of {other} periods; {told}"
                    );
                }
            }
        }
        let first = told.split(". ").next().unwrap();
        let undone = policies
            .iter()
            .any(|policy| policy["unfinished_share"].as_f64().unwrap() > 0.2);
        prop_assert!(
            !undone || first.contains("undone") || first.contains(" late "),
            "{told}"
        );
        Ok(())
    });
}

#[test]
fn policies_that_take_the_same_energy_are_told_so() {
    let folder = tempfile::tempdir().unwrap();
    holds(13, "run placement", 12, tasks(), |mut tasks| {
        tasks.truncate(2);
        tasks
            .iter_mut()
            .for_each(|task| *task = (task.0.min(task.1 / 5), task.1, true));
        let (json, told) = run(folder.path(), &tasks, &NAMES, "hmp,even");
        let energy = |at: usize| {
            json["policies"][at]["energy_unit_s"]["median"]
                .as_f64()
                .unwrap()
        };
        let is_same = (energy(0) / energy(1) - 1.0).abs() < 0.004;
        prop_assert!(
            !is_same || !told.contains("least energy") && told.contains("the same energy"),
            "{told}"
        );
        Ok(())
    });
}

#[test]
fn the_latency_that_is_told_is_that_of_the_run() {
    let folder = tempfile::tempdir().unwrap();
    holds(14, "run placement", 12, tasks(), |tasks| {
        let (json, told) = run(folder.path(), &tasks, &NAMES, "all-big,hmp,even");
        if !told.contains("The modelled p95 of ") {
            return Ok(());
        }
        let task = json["task"].as_str().unwrap();
        let policies = json["policies"].as_array().unwrap().iter();
        let p95 = policies.map(|policy| {
            policy["tasks"][task]["response_ms"]["p95"]
                .as_f64()
                .unwrap()
        });
        let least = p95.fold(f64::INFINITY, f64::min);
        prop_assert!(
            is_printed(
                first_number(&told, &format!("The modelled p95 of {task} is ")),
                least
            ),
            "{least}: {told}"
        );
        Ok(())
    });
}

#[test]
fn other_names_of_tasks_change_no_figure() {
    let folder = tempfile::tempdir().unwrap();
    holds(3, "run placement", 8, tasks(), |tasks| {
        let (one, told) = run(folder.path(), &tasks, &NAMES, "hmp,even");
        let (other, told_of_other) = run(folder.path(), &tasks, &["uno", "due", "tre"], "hmp,even");
        let energy = |json: &Value, at: usize| json["policies"][at]["energy_unit_s"].clone();
        for at in 0..2 {
            prop_assert_eq!(energy(&one, at), energy(&other, at));
        }
        let renamed = told_of_other
            .replace("uno", "one")
            .replace("due", "two")
            .replace("tre", "three");
        prop_assert_eq!(
            told.split(" Energy ").next(),
            renamed.split(" Energy ").next()
        );
        Ok(())
    });
}

/// The savings of an energy model, and the first screen.
fn saved(folder: &Path, tasks: u32, platform: &str, more: &[&str]) -> (Value, String) {
    let recording = folder.join("eas").to_str().unwrap().to_owned();
    let tasks = tasks.to_string();
    let arguments = [
        "run",
        "placement",
        "--tasks",
        &tasks,
        "--platform",
        platform,
        "--rules",
        "eas,off",
        "--seconds",
        "1",
        "--replace",
        "-o",
        &recording,
    ];
    let json = json(&[&arguments[..], more].concat());
    (json["boards"][0].clone(), told(&recording))
}

#[test]
fn a_short_run_of_equal_tasks_tells_no_more_than_the_full_one() {
    let folder = tempfile::tempdir().unwrap();
    let platform = prop::sample::select(vec!["hikey960", "juno-r2-a72", "exynos5422"]);
    holds(
        12,
        "run placement --tasks",
        4,
        (1..7_u32, platform),
        |(tasks, platform)| {
            let (short, told) = saved(folder.path(), tasks, platform, &[]);
            let (full, told_of_full) = saved(folder.path(), tasks, platform, &["--full"]);
            let gain = |board: &Value| {
                ["low", "high"].map(|end| board["gain_percent"][end].as_f64().unwrap())
            };
            let ([low, high], [least, most]) = (gain(&short), gain(&full));
            prop_assert!(
                least <= low && high <= most,
                "{low} to {high}, {least} to {most}"
            );
            prop_assert!(told.contains("cannot be told yet"), "{told}");
            let is_known = least > 0.0 || most < 0.0;
            prop_assert_eq!(
                !told_of_full.contains("Which it is hangs on"),
                is_known,
                "{}",
                told_of_full
            );
            Ok(())
        },
    );
}

#[test]
fn a_few_draws_of_rcu_tell_no_saving() {
    let folder = tempfile::tempdir().unwrap();
    let inputs = (
        1..4_u32,
        prop::sample::select(vec!["andebench2", "cyclictest"]),
        5..60_u32,
    );
    holds(
        12,
        "run rcu-energy",
        4,
        inputs,
        |(draws, benchmark, rate)| {
            let recording = folder.path().join("rcu").to_str().unwrap().to_owned();
            let (draws, rate) = (draws.to_string(), format!("callbacks.rate={rate}"));
            said(&[
                "run",
                "rcu-energy",
                "--draws",
                &draws,
                "--benchmarks",
                benchmark,
                "--set",
                &rate,
                "--replace",
                "-o",
                &recording,
            ]);
            let told = told(&recording);
            let first = told.split(". ").take(2).collect::<Vec<_>>().join(". ");
            prop_assert!(first.contains("too few to tell a saving"), "{told}");
            Ok(())
        },
    );
}
