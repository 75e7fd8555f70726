//! PSCI latencies: of simulated boards, and of logs of the test framework.

use super::{first_number, is_printed, json, said, told, written};
use crate::law::holds;
use proptest::prelude::*;
use recording::Recording;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// Settings of a board that nobody measured.
fn board() -> impl Strategy<Value = Vec<String>> {
    let shape = prop::sample::select(vec![
        "1",
        "2",
        "3",
        "2x2",
        "1*cortex-a57",
        "1*cortex-a53+1*cortex-a57",
    ]);
    let order = prop::sample::select(vec!["inside-locks", "outside-locks"]);
    (1..5_u32, shape, order, 1..40_u32, 1..30_u32).prop_map(
        |(channels, shape, order, off, take)| {
            vec![
                format!("scp.channels={channels}"),
                format!("topology.clusters={shape}"),
                format!("psci.scp_send={order}"),
                format!("costs.scp.core_off={off} us"),
                format!("costs.scp.take={take} us"),
            ]
        },
    )
}

/// A run of a board: what it prints for machines. Its recording lies in the folder.
fn run(folder: &Path, more: &[&str], settings: &[String]) -> (String, Value) {
    let recording = folder.join("run").to_str().unwrap().to_owned();
    let mut arguments = vec!["run", "psci-latency", "--free-seeds", "0"];
    arguments.extend(["-o", &recording, "--replace"]);
    arguments.extend(more);
    arguments.extend(settings.iter().flat_map(|setting| ["--set", setting]));
    let json = json(&arguments);
    (recording, json)
}

/// The median over the iterations of the longest of each, by release, case and mode.
fn longest(recording: &Recording) -> BTreeMap<[String; 3], f64> {
    let mut each: BTreeMap<([String; 3], u32), f64> = BTreeMap::new();
    for measure in recording.measures() {
        let (release, case, mode) = recording.series_texts(measure.series);
        let metric = recording.text(measure.metric);
        let is_of = if case == "psci-version" {
            "latency"
        } else {
            "powerdown"
        };
        if metric == is_of && measure.cpu.is_some() {
            let key = [release, case, mode].map(str::to_owned);
            let us = measure.value
                * if recording.text(measure.unit) == "ns" {
                    1e-3
                } else {
                    1.0
                };
            let most = each.entry((key, measure.iteration)).or_insert(0.0);
            *most = most.max(us);
        }
    }
    let mut of: BTreeMap<[String; 3], Vec<f64>> = BTreeMap::new();
    each.into_iter()
        .for_each(|((key, _), us)| of.entry(key).or_default().push(us));
    let median = |(key, mut values): ([String; 3], Vec<f64>)| {
        values.sort_by(f64::total_cmp);
        let middle = (values.len() - 1) / 2;
        (key, values[middle])
    };
    of.into_iter().map(median).collect()
}

/// What the story says of a case, in words.
fn level(case: &str) -> &str {
    match case {
        "suspend-deepest" => "deepest level",
        "suspend-level0" => "power level 0",
        "cpu-off" => "CPU_OFF",
        "psci-version" => "PSCI_VERSION",
        other => other,
    }
}

/// The sentence has the longest of all cases, the table the longest of each, and its case is one of
/// those that take as long.
fn one_figure(recording: &str, json: &Value) -> Result<(), TestCaseError> {
    let of = longest(&Recording::read(Path::new(recording)).unwrap());
    let cases = json["cases"].as_array().unwrap();
    for case in cases {
        let key = ["release", "case", "mode"].map(|key| case[key].as_str().unwrap().to_owned());
        let is = case["longest"].as_f64().unwrap();
        prop_assert!((is - of[&key]).abs() < 1e-5, "{key:?}: {is}, {}", of[&key]);
    }
    prop_assert_eq!(cases.len(), of.len());
    let most = of.values().copied().fold(0.0, f64::max);
    let told = told(recording);
    let printed = first_number(&told, " takes ");
    prop_assert!(is_printed(printed, most), "{most}: {told}");
    let first = told.split(". ").next().unwrap();
    let longest = of.iter().filter(|(_, us)| **us > 0.994 * most);
    prop_assert!(
        longest
            .clone()
            .any(|([release, case, _], _)| first.contains(release) && first.contains(level(case))),
        "{first}"
    );
    Ok(())
}

#[test]
fn a_boards_slowest_power_down_is_that_of_its_recording() {
    let folder = tempfile::tempdir().unwrap();
    let release = prop::sample::select(vec!["juno-2017", "juno-v2.11", "juno-v2.12"]);
    holds(
        14,
        "run psci-latency",
        20,
        (release, board()),
        |(release, board)| {
            let (recording, json) = run(
                folder.path(),
                &["--release", release, "--iterations", "3"],
                &board,
            );
            one_figure(&recording, &json)
        },
    );
}

#[test]
fn no_published_figure_stands_beside_a_board_that_nobody_measured() {
    let folder = tempfile::tempdir().unwrap();
    holds(
        19,
        "run psci-latency",
        12,
        (board(), 0..5_usize),
        |(board, of)| {
            let setting = &board[of..=of];
            let (recording, json) = run(
                folder.path(),
                &[
                    "--release",
                    "juno-v2.12",
                    "--order",
                    "free",
                    "--iterations",
                    "3",
                ],
                setting,
            );
            prop_assert_eq!(
                json["accuracy"].as_array().unwrap().len(),
                0,
                "{:?}",
                setting
            );
            prop_assert!(!told(&recording).contains("published"), "{setting:?}");
            Ok(())
        },
    );
}

#[test]
fn borrowed_costs_are_named_and_no_device_that_the_board_lacks() {
    let folder = tempfile::tempdir().unwrap();
    let inputs = (
        prop::sample::select(vec!["tc2", "hikey960", "exynos5422"]),
        1..6_u32,
        1..5_u32,
    );
    holds(
        16,
        "run psci-latency",
        12,
        inputs.clone(),
        |(platform, iterations, _)| {
            let iterations = iterations.to_string();
            let (recording, _) = run(
                folder.path(),
                &["--platform", platform, "--iterations", &iterations],
                &[],
            );
            let told = told(&recording);
            let sentence = told.split(" us").nth(1).unwrap();
            prop_assert!(sentence.starts_with(" with Juno"), "{told}");
            Ok(())
        },
    );
    holds(
        20,
        "run psci-latency",
        12,
        inputs,
        |(platform, _, channels)| {
            let set = [format!("scp.channels={channels}")];
            let (recording, _) = run(
                folder.path(),
                &["--platform", platform, "--iterations", "2"],
                &set,
            );
            let all = said(&["report", &recording, "--all"]);
            let (story, _) = all.split_once("command line").unwrap_or((&all, ""));
            prop_assert!(
                !story.replace("scp.channels", "").contains("SCP"),
                "{story}"
            );
            Ok(())
        },
    );
}

/// Powerdowns in nanoseconds, by iteration and by CPU.
type Log = Vec<Vec<u32>>;

fn log() -> impl Strategy<Value = Log> {
    prop::collection::vec(prop::collection::vec(1000..900_000_u32, 6), 1..9)
}

/// The places of the CPUs in iterations, or their names.
fn turns() -> impl Strategy<Value = Vec<Vec<usize>>> {
    prop::collection::vec(Just(vec![0_usize, 1, 2, 3, 4, 5]).prop_shuffle(), 9)
}

const PLACES: [(u16, u16); 6] = [(0, 0), (0, 1), (1, 0), (1, 1), (1, 2), (1, 3)];

/// What is told of a log whose CPUs are called by the name of another: the facts of its case, and
/// the first screen.
fn imported(folder: &Path, log: &Log, names: &[usize]) -> (Value, String) {
    let line = |(cpu, ns): (usize, &u32)| {
        let (cluster, core) = PLACES[names[cpu]];
        format!(
            "<RT_INSTR:test_rt_instr_cpu_susp_parallel\t{cluster}\t{core}\t{ns}\t19500\t7300/>\n"
        )
    };
    let text: String = log
        .iter()
        .flat_map(|values| values.iter().enumerate().map(line))
        .collect();
    of_file(folder, &["rt-instr"], &written(folder, "log", &text))
}

fn of_file(folder: &Path, kind: &[&str], file: &str) -> (Value, String) {
    let recording = folder.join("import").to_str().unwrap().to_owned();
    said(
        &[
            &["import"],
            kind,
            &[file, "-o", &recording, "--platform", "juno-r1"],
        ]
        .concat(),
    );
    let facts = json(&["report", &recording])["cases"][0].clone();
    (facts, told(&recording))
}

const SAME: [usize; 6] = [0, 1, 2, 3, 4, 5];

fn same_but_cpus(one: &Value, other: &Value) -> Result<(), TestCaseError> {
    for key in ["longest", "range", "iterations"] {
        prop_assert_eq!(&one[key], &other[key], "{}", key);
    }
    Ok(())
}

#[test]
fn whoever_takes_which_place_changes_no_longest_of_a_log() {
    let folder = tempfile::tempdir().unwrap();
    holds(
        4,
        "import rt-instr",
        60,
        (log(), turns()),
        |(log, turns)| {
            let turn = |(values, turn): (&Vec<u32>, &Vec<usize>)| {
                turn.iter().map(|&at| values[at]).collect()
            };
            let turned: Log = log.iter().zip(&turns).map(turn).collect();
            let (one, told) = imported(folder.path(), &log, &SAME);
            let (other, told_of_other) = imported(folder.path(), &turned, &SAME);
            same_but_cpus(&one, &other)?;
            let sentence = |told: &str| told.split(". ").next().unwrap().to_owned();
            prop_assert_eq!(sentence(&told), sentence(&told_of_other));
            let mut most: Vec<u32> = log
                .iter()
                .map(|values| *values.iter().max().unwrap())
                .collect();
            most.sort_unstable();
            let us = f64::from(most[(most.len() - 1) / 2]) / 1e3;
            prop_assert_eq!(one["longest"].as_f64(), Some(us));
            prop_assert!(
                is_printed(first_number(&told, " takes "), us),
                "{}: {}",
                us,
                told
            );
            Ok(())
        },
    );
}

#[test]
fn other_names_of_cpus_permute_the_answer_of_a_log() {
    let folder = tempfile::tempdir().unwrap();
    holds(
        3,
        "import rt-instr",
        60,
        (log(), turns()),
        |(log, turns)| {
            let (one, _) = imported(folder.path(), &log, &SAME);
            let (other, _) = imported(folder.path(), &log, &turns[0]);
            same_but_cpus(&one, &other)?;
            prop_assert_eq!(&one["always_one"], &other["always_one"]);
            let named = |cpu: usize| format!("{}.{}", PLACES[cpu].0, PLACES[cpu].1);
            let renamed = |name: &Value| {
                let at = SAME.iter().position(|&cpu| *name == named(cpu)).unwrap();
                named(turns[0][at])
            };
            let mut renamed: Vec<String> = one["cpus"]
                .as_array()
                .unwrap()
                .iter()
                .map(renamed)
                .collect();
            renamed.sort();
            let mut cpus: Vec<String> = other["cpus"]
                .as_array()
                .unwrap()
                .iter()
                .map(|cpu| cpu.as_str().unwrap().to_owned())
                .collect();
            cpus.sort();
            prop_assert_eq!(renamed, cpus);
            Ok(())
        },
    );
}

#[test]
fn a_log_that_says_the_same_twice_is_told_as_once() {
    let folder = tempfile::tempdir().unwrap();
    holds(
        2,
        "import rt-instr",
        40,
        (log(), 2..4_usize),
        |(log, times)| {
            let (one, told) = imported(folder.path(), &log, &SAME);
            let (other, told_of_long) =
                imported(folder.path(), &vec![log.clone(); times].concat(), &SAME);
            prop_assert_eq!(
                (&one["longest"], &one["range"]),
                (&other["longest"], &other["range"])
            );
            prop_assert_eq!(told, told_of_long);
            Ok(())
        },
    );
}

#[test]
fn units_of_a_table_give_one_answer() {
    let folder = tempfile::tempdir().unwrap();
    let units = prop::sample::select(vec![("us", 1e-3), ("µs", 1e-3), ("ms", 1e-6)]);
    holds(
        8,
        "import csv",
        40,
        (log(), units),
        |(log, (unit, factor))| {
            let table = |unit: &str, factor: f64| {
                let row = |(cpu, ns): (usize, &u32)| {
                    let (cluster, core) = PLACES[cpu];
                    format!(
                        "v,suspend-deepest,parallel,{cluster},{core},powerdown,{},{unit}\n",
                        f64::from(*ns) * factor
                    )
                };
                let rows: String = log[0].iter().enumerate().map(row).collect();
                let text = format!("release,case,mode,cluster,core,metric,value,unit\n{rows}");
                of_file(
                    folder.path(),
                    &["csv"],
                    &written(folder.path(), "table.csv", &text),
                )
            };
            let ((one, told), (other, told_of_other)) = (table("ns", 1.0), table(unit, factor));
            let close =
                (one["longest"].as_f64().unwrap() / other["longest"].as_f64().unwrap() - 1.0).abs();
            prop_assert!(close < 1e-6, "{one} {other}");
            prop_assert_eq!(told, told_of_other);
            Ok(())
        },
    );
}

#[test]
fn an_iteration_that_lacks_a_cpu_gives_no_longest() {
    let folder = tempfile::tempdir().unwrap();
    let gone = prop::collection::vec((0..9_usize, 0..6_usize), 0..4);
    holds(6, "import rt-instr", 40, (log(), gone), |(log, gone)| {
        // The first iteration is whole.
        let lacks = |at: usize, cpu: usize| at > 0 && gone.contains(&(at, cpu));
        let line = |at: usize, cpu: usize| {
            let (cluster, core) = PLACES[cpu];
            let ns = log[at][cpu];
            let line = format!(
                "<RT_INSTR:test_rt_instr_cpu_susp_parallel\t{cluster}\t{core}\t{ns}\t19500\t7300/>\n"
            );
            if lacks(at, cpu) { String::new() } else { line }
        };
        let text: String = (0..log.len())
            .flat_map(|at| (0..6).map(move |cpu| (at, cpu)))
            .map(|(at, cpu)| line(at, cpu))
            .collect();
        let recording = folder.path().join("import").to_str().unwrap().to_owned();
        let file = written(folder.path(), "log", &text);
        let noted = said(&[
            "import",
            "rt-instr",
            &file,
            "-o",
            &recording,
            "--platform",
            "juno-r1",
        ]);
        let facts = json(&["report", &recording])["cases"][0].clone();
        let whole = |at: &usize| (0..6).all(|cpu| !lacks(*at, cpu));
        let longest = (0..log.len())
            .filter(whole)
            .map(|at| *log[at].iter().max().unwrap());
        let mut longest: Vec<u32> = longest.collect();
        longest.sort_unstable();
        prop_assert_eq!(
            facts["longest"].as_f64(),
            Some(f64::from(longest[(longest.len() - 1) / 2]) / 1e3),
            "{}",
            noted
        );
        prop_assert_eq!(facts["iterations"].as_u64(), Some(longest.len() as u64));
        let all_there = longest.len() == log.len();
        prop_assert!(all_there || noted.contains("has no line of CPU"), "{noted}");
        Ok(())
    });
}
