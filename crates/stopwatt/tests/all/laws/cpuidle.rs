//! `import cpuidle`: the kernel's counts of its idle states between two dumps, and tables of them.

use super::{asked, first_number, is_printed, json, said, told, written};
use crate::law::holds;
use proptest::prelude::*;
use serde_json::Value;
use std::path::Path;

/// What was counted of a state on a CPU: entries, microseconds, too deep and too shallow, each at most
/// so many thousandths of the entries.
type Count = (u32, u32, u32, u32);

const NAMES: [&str; 3] = ["WFI", "cpu-sleep", "cluster-sleep"];

/// Counts by CPU and state.
fn counts() -> impl Strategy<Value = Vec<Vec<Count>>> {
    let count = (1..1_000_000_u32, 1..900_000_u32, 0..300_u32, 0..300_u32);
    let states = prop::collection::vec(count, 3);
    prop::collection::vec(states, 1..6)
}

/// A dump, `times` the counts after an earlier one; `names` has the number of each CPU.
fn dump(counts: &[Vec<Count>], times: u64, names: &[usize]) -> String {
    let mut text = String::new();
    for (cpu, states) in counts.iter().enumerate() {
        for (state, &(entries, us, above, below)) in states.iter().enumerate() {
            let cpu = names[cpu];
            let entries = u64::from(entries);
            let [above, below] = [above, below].map(|of| entries * u64::from(of) / 1000);
            let path = format!("/sys/devices/system/cpu/cpu{cpu}/cpuidle/state{state}");
            let counters = [
                ("usage", entries),
                ("time", 20 * u64::from(us)),
                ("above", above),
                ("below", below),
                ("rejected", 0),
            ];
            text += &format!(
                "{path}/name:{}\n{path}/latency:{}\n{path}/residency:{}\n{path}/disable:0\n",
                NAMES[state],
                1 + 100 * state,
                1 + 900 * state
            );
            for (name, value) in counters {
                text += &format!("{path}/{name}:{}\n", 1_000_000 + times * value);
            }
        }
    }
    text
}

fn imported(folder: &Path, counts: &[Vec<Count>], times: u64, names: &[usize]) -> (Value, String) {
    let before = written(folder, "before", &dump(counts, 0, names));
    let after = written(folder, "after", &dump(counts, times, names));
    let recording = folder.join("import").to_str().unwrap().to_owned();
    let seconds = (60 * times).to_string();
    said(&[
        "import",
        "cpuidle",
        &before,
        &after,
        "--seconds",
        &seconds,
        "--variant",
        "v",
        "-o",
        &recording,
    ]);
    (
        json(&["report", &recording])["tests"][0].clone(),
        told(&recording),
    )
}

const USUAL: [usize; 6] = [0, 1, 2, 3, 4, 5];

#[test]
fn the_misses_of_a_dump_are_one_figure() {
    let folder = tempfile::tempdir().unwrap();
    holds(14, "import cpuidle", 60, counts(), |counts| {
        let (test, told) = imported(folder.path(), &counts, 1, &USUAL);
        let all = || counts.iter().flatten();
        let entries: u64 = all().map(|count| u64::from(count.0)).sum();
        let wrong: u64 = all()
            .map(|count| {
                [count.2, count.3]
                    .map(|of| u64::from(count.0) * u64::from(of) / 1000)
                    .iter()
                    .sum::<u64>()
            })
            .sum();
        let percent = 100.0 * wrong as f64 / entries as f64;
        let of_json = test["misses_percent"].as_f64().unwrap();
        prop_assert!((of_json - percent).abs() < 1e-9, "{of_json} {percent}");
        let printed = first_number(&told, " s; ");
        prop_assert!((printed - percent).abs() < 0.0051, "{percent}: {told}");
        let us = |at: usize| {
            counts
                .iter()
                .map(|states| f64::from(states[at].1))
                .sum::<f64>()
        };
        let idle: f64 = (0..3).map(us).sum();
        for (at, state) in test["states"].as_array().unwrap().iter().enumerate() {
            let share = 100.0 * us(at) / idle;
            prop_assert!((state["share_percent"].as_f64().unwrap() - share).abs() < 1e-9);
        }
        let most = (0..3).map(|at| 100.0 * us(at) / idle).fold(0.0, f64::max);
        if let Some((before, _)) = told.split_once(" % of the idle time was in ") {
            let printed: f64 = before.rsplit(' ').next().unwrap().parse().unwrap();
            prop_assert!(is_printed(printed, most), "{most}: {told}");
        }
        Ok(())
    });
}

#[test]
fn dumps_that_lie_farther_apart_are_told_alike() {
    let folder = tempfile::tempdir().unwrap();
    holds(
        2,
        "import cpuidle",
        60,
        (counts(), 2..9_u64),
        |(counts, times)| {
            let (one, _) = imported(folder.path(), &counts, 1, &USUAL);
            let (long, _) = imported(folder.path(), &counts, times, &USUAL);
            for key in ["above_percent", "below_percent", "misses_percent", "cpus"] {
                prop_assert_eq!(&one[key], &long[key], "{}", key);
            }
            let states = |test: &Value| test["states"].as_array().unwrap().clone();
            for (one, long) in states(&one).iter().zip(&states(&long)) {
                for key in ["share_percent", "mean_us", "entered_per_second"] {
                    let [a, b] = [one, long].map(|state| state[key].as_f64().unwrap());
                    prop_assert!((a - b).abs() <= 1e-9 * a, "{key}: {a} {b}");
                }
            }
            Ok(())
        },
    );
}

#[test]
fn other_numbers_of_cpus_permute_the_counts() {
    let folder = tempfile::tempdir().unwrap();
    let turn = Just(USUAL.to_vec()).prop_shuffle();
    holds(
        3,
        "import cpuidle",
        60,
        (counts(), turn),
        |(counts, turn)| {
            let (mut one, told) = imported(folder.path(), &counts, 1, &USUAL);
            let (mut other, told_of_other) = imported(folder.path(), &counts, 1, &turn);
            let first = |text: &str| text.split(". ").take(2).collect::<Vec<_>>().join(". ");
            prop_assert_eq!(first(&told), first(&told_of_other));
            let of_cpus = |test: &mut Value| match test["states_of_cpus"].take() {
                Value::Array(states) => states,
                _ => Vec::new(),
            };
            let (of_one, of_other) = (of_cpus(&mut one), of_cpus(&mut other));
            prop_assert_eq!(&one, &other);
            for mut state in of_one {
                let cpu = state["cpu"].as_u64().unwrap() as usize;
                state["cpu"] = turn[cpu].into();
                prop_assert!(of_other.contains(&state), "{state}");
            }
            Ok(())
        },
    );
}

#[test]
fn a_cpu_moves_the_misses_by_at_most_its_share_of_the_entries() {
    let folder = tempfile::tempdir().unwrap();
    let rare = (1..200_u32, 1..900_u32, 0..500_u32, 0..500_u32);
    holds(
        5,
        "import cpuidle",
        40,
        (counts(), rare),
        |(counts, rare)| {
            let (one, _) = imported(folder.path(), &counts, 1, &USUAL);
            let mut more = counts.clone();
            more.push(vec![rare; 3]);
            let (other, _) = imported(folder.path(), &more, 1, &USUAL);
            let of = |test: &Value, key: &str| test[key].as_f64().unwrap();
            let share = (of(&other, "entered") - of(&one, "entered")) / of(&other, "entered");
            let moved = (of(&one, "misses_percent") - of(&other, "misses_percent")).abs();
            prop_assert!(moved <= 100.0 * share + 1e-9, "{moved} {share}");
            Ok(())
        },
    );
}

#[test]
fn a_cpu_or_a_state_in_one_dump_alone_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    holds(
        6,
        "import cpuidle",
        40,
        (counts(), 0..6_usize, any::<bool>(), any::<bool>()),
        |(counts, gone, of_cpu, side)| {
            let gone = gone % counts.len();
            prop_assume!(!of_cpu || counts.len() > 1);
            let part = if of_cpu {
                format!("/cpu{gone}/")
            } else {
                format!("/cpu{gone}/cpuidle/state2/")
            };
            let [before, after] = [0, 1].map(|times| {
                let whole = dump(&counts, times, &USUAL);
                let kept: String = whole
                    .lines()
                    .filter(|line| (times == 1) != side || !line.contains(&part))
                    .map(|line| format!("{line}\n"))
                    .collect();
                written(folder.path(), ["before", "after"][times as usize], &kept)
            });
            let (status, text) = asked(&["import", "cpuidle", &before, &after]);
            prop_assert!(
                status != 0 && text.contains(&gone.to_string()),
                "{status}: {text}"
            );
            Ok(())
        },
    );
}

/// A table of several kernels that counted the same.
#[test]
fn kernels_that_counted_the_same_are_told_as_the_same() {
    let folder = tempfile::tempdir().unwrap();
    holds(
        13,
        "import cpuidle",
        30,
        (counts(), 2..5_usize),
        |(counts, kernels)| {
            let mut text = "kernel,state,name,usage,time_us,above,below\n".to_owned();
            for kernel in 0..kernels {
                for (at, &(entries, us, above, below)) in counts[0].iter().enumerate() {
                    let [above, below] =
                        [above, below].map(|of| u64::from(entries) * u64::from(of) / 1000);
                    text += &format!(
                        "kernel-{kernel},{at},{},{entries},{us},{above},{below}\n",
                        NAMES[at]
                    );
                }
            }
            let table = written(folder.path(), "table.csv", &text);
            let recording = folder.path().join("table").to_str().unwrap().to_owned();
            said(&["import", "cpuidle", &table, "-o", &recording]);
            let told = told(&recording);
            prop_assert!(told.contains("the same in all"), "{told}");
            Ok(())
        },
    );
}

/// Entries that the hardware refused are on the first screen, with their number.
#[test]
fn what_the_hardware_refused_is_told() {
    let folder = tempfile::tempdir().unwrap();
    holds(
        6,
        "import cpuidle",
        30,
        (counts(), 0..100_000_u64),
        |(counts, refused)| {
            let before = written(folder.path(), "before", &dump(&counts, 0, &USUAL));
            let after = dump(&counts, 1, &USUAL).replacen(
                "rejected:1000000",
                &format!("rejected:{}", 1_000_000 + refused),
                1,
            );
            let after = written(folder.path(), "after", &after);
            let recording = folder.path().join("import").to_str().unwrap().to_owned();
            said(&["import", "cpuidle", &before, &after, "-o", &recording]);
            let told = told(&recording);
            // Where they are many they stand first.
            let first = told.split("Firmware rejected ").nth(1);
            let number: String = first
                .or(told.split("the hardware refused ").nth(1))
                .unwrap_or_default()
                .split(|c: char| !c.is_ascii_digit() && c != ' ')
                .next()
                .unwrap()
                .split(' ')
                .collect();
            prop_assert_eq!(number.parse().unwrap_or(0), refused, "{}", told);
            Ok(())
        },
    );
}
