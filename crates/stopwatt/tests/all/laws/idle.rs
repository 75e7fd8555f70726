//! Traces of a kernel: their counts, and governors that are replayed on them.

use super::{json, said, told, written};
use crate::law::holds;
use proptest::prelude::*;
use serde_json::Value;
use std::path::Path;

/// A stay: state, microseconds, microseconds of work behind it, and whether a timer ends it.
type Stay = (u8, u32, u32, bool);

const STATES: [(&str, u32, u32); 3] = [
    ("WFI", 1, 1),
    ("cpu-sleep", 350, 750),
    ("cluster-sleep", 1200, 3000),
];

/// Stays by CPU.
fn stays() -> impl Strategy<Value = Vec<Vec<Stay>>> + Clone {
    let stay = (
        0..3_u8,
        prop_oneof![20..400_u32, 400..9000_u32],
        30..900_u32,
        any::<bool>(),
    );
    prop::collection::vec(prop::collection::vec(stay, 4..30), 1..3)
}

/// Groups of events that a trace may lack.
const GROUPS: [&str; 4] = ["hrtimer_", "irq_handler_", "sched_switch", "sched_wakeup"];

/// The text of a trace; `names` has the number of each CPU, and events of groups that are `gone` are
/// left out.
fn trace(stays: &[Vec<Stay>], names: &[usize], from_us: u64, gone: &[&str]) -> String {
    let mut lines: Vec<(u64, String)> = Vec::new();
    for (place, stays) in stays.iter().enumerate() {
        let cpu = names[place];
        let mut at = from_us + 7 * place as u64;
        let mut line = |us: u64, what: String| {
            if !gone.iter().any(|group| what.starts_with(group)) {
                lines.push((
                    us,
                    format!(
                        "          <idle>-0       [{cpu:03}] d..1. {}.{:06}: {what}\n",
                        us / 1_000_000,
                        us % 1_000_000
                    ),
                ));
            }
        };
        for &(state, sleep, run, by_timer) in stays {
            let end = at + 4 + u64::from(sleep);
            if by_timer {
                line(
                    at,
                    format!(
                        "hrtimer_start: hrtimer=00000000{cpu:08x} function=hrtimer_wakeup expires={0} softexpires={0} mode=ABS was_armed=0",
                        end * 1000
                    ),
                );
            }
            line(
                at + 2,
                format!(
                    "sched_switch: prev_comm=w prev_pid={0} prev_prio=120 prev_state=S ==> next_comm=swapper/{cpu} next_pid=0 next_prio=120",
                    20 + cpu
                ),
            );
            line(at + 4, format!("cpu_idle: state={state} cpu_id={cpu}"));
            line(end, format!("cpu_idle: state=4294967295 cpu_id={cpu}"));
            let (irq, name) = if by_timer {
                (11, "arch_timer")
            } else {
                (150, "eth0")
            };
            line(end + 1, format!("irq_handler_entry: irq={irq} name={name}"));
            if by_timer {
                line(
                    end + 2,
                    format!(
                        "hrtimer_expire_entry: hrtimer=00000000{cpu:08x} function=hrtimer_wakeup now={}",
                        (end + 2) * 1000
                    ),
                );
            }
            line(
                end + 3,
                format!(
                    "sched_wakeup: comm=w pid={} prio=120 target_cpu={cpu:03}",
                    20 + cpu
                ),
            );
            line(end + 4, format!("irq_handler_exit: irq={irq} ret=handled"));
            line(
                end + 5,
                format!(
                    "sched_switch: prev_comm=swapper/{cpu} prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=w next_pid={} next_prio=120",
                    20 + cpu
                ),
            );
            at = end + 5 + u64::from(run);
        }
    }
    lines.sort();
    lines.into_iter().map(|(_, line)| line).collect()
}

fn header() -> String {
    let state = |(at, (name, exit, residency)): (usize, &(&str, u32, u32))| {
        format!("# idle-state: {at} {name} latency {exit} us residency {residency} us\n")
    };
    let states: String = STATES.iter().enumerate().map(state).collect();
    format!("# kernel-release: 6.12.0\n# idle-governor: menu\n{states}# tracer: nop\n#\n")
}

const FROM: u64 = 100_000_000;

fn imported(folder: &Path, text: &str) -> (Value, String) {
    let file = written(folder, "a.trace", &(header() + text));
    let recording = folder.join("import").to_str().unwrap().to_owned();
    said(&[
        "import",
        "ftrace",
        &file,
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

/// Entries and microseconds of a state over all CPUs.
fn of_state(stays: &[Vec<Stay>], state: u8) -> (f64, f64) {
    let of = || stays.iter().flatten().filter(|stay| stay.0 == state);
    (
        of().count() as f64,
        of().map(|stay| f64::from(stay.1)).sum(),
    )
}

#[test]
fn the_counts_of_a_trace_are_those_of_its_stays() {
    let folder = tempfile::tempdir().unwrap();
    holds(14, "import ftrace", 40, stays(), |stays| {
        let (test, told) = imported(folder.path(), &trace(&stays, &[0, 1], FROM, &[]));
        let all: f64 = (0..3).map(|state| of_state(&stays, state).1).sum();
        for state in test["states"].as_array().unwrap() {
            let number = STATES.iter().position(|of| state["state"] == of.0).unwrap();
            let (entered, us) = of_state(&stays, number as u8);
            prop_assert_eq!(
                (state["entered"].as_f64(), state["time_us"].as_f64()),
                (Some(entered), Some(us))
            );
            prop_assert!(
                (state["share_percent"].as_f64().unwrap() - 100.0 * us / all).abs() < 1e-6
            );
        }
        let count: usize = stays.iter().map(Vec::len).sum();
        prop_assert!(
            told.contains(&format!("entered idle states {count} times")),
            "{told}"
        );
        Ok(())
    });
}

#[test]
fn a_trace_that_goes_on_alike_is_told_alike() {
    let folder = tempfile::tempdir().unwrap();
    holds(
        2,
        "import ftrace",
        40,
        (stays(), 2..5_u64),
        |(stays, times)| {
            let one = trace(&stays, &[0, 1], FROM, &[]);
            let long: String = (0..times)
                .map(|time| trace(&stays, &[0, 1], FROM + 1_000_000 * time, &[]))
                .collect();
            let (one, long) = (
                imported(folder.path(), &one).0,
                imported(folder.path(), &long).0,
            );
            for (one, long) in one["states"]
                .as_array()
                .unwrap()
                .iter()
                .zip(long["states"].as_array().unwrap())
            {
                prop_assert_eq!(&one["state"], &long["state"]);
                for key in ["share_percent", "mean_us"] {
                    let [a, b] = [one, long].map(|of| of[key].as_f64());
                    prop_assert!(
                        a.zip(b).is_none_or(|(a, b)| (a - b).abs() < 1e-6 * a),
                        "{key}: {a:?} {b:?}"
                    );
                }
            }
            Ok(())
        },
    );
}

#[test]
fn other_numbers_of_cpus_permute_the_counts_of_a_trace() {
    let folder = tempfile::tempdir().unwrap();
    holds(
        3,
        "import ftrace",
        40,
        (stays(), Just(vec![0, 1]).prop_shuffle()),
        |(stays, names)| {
            let (mut one, told) = imported(folder.path(), &trace(&stays, &[0, 1], FROM, &[]));
            let (mut other, told_of_other) =
                imported(folder.path(), &trace(&stays, &names, FROM, &[]));
            for test in [&mut one, &mut other] {
                test["states_of_cpus"].take();
                test["seconds"].take();
                test["states"]
                    .as_array_mut()
                    .unwrap()
                    .iter_mut()
                    .for_each(|state| state["entered_per_second"] = Value::Null);
            }
            prop_assert_eq!(one, other);
            let first = |text: &str| {
                text.split(" s; ")
                    .nth(1)
                    .unwrap_or_default()
                    .split(". ")
                    .next()
                    .unwrap()
                    .to_owned()
            };
            prop_assert_eq!(first(&told), first(&told_of_other));
            Ok(())
        },
    );
}

#[test]
fn a_cpu_that_one_trace_lacks_is_told_first() {
    let folder = tempfile::tempdir().unwrap();
    holds(
        6,
        "compare of ftrace",
        16,
        (stays(), any::<bool>()),
        |(stays, side)| {
            prop_assume!(stays.len() == 2);
            let [a, b] = [&stays[..], &stays[..1]].map(|of| {
                let file = written(
                    folder.path(),
                    "a.trace",
                    &(header() + &trace(of, &[0, 1], FROM, &[])),
                );
                let recording = folder
                    .path()
                    .join(format!("r{}", of.len()))
                    .to_str()
                    .unwrap()
                    .to_owned();
                said(&[
                    "import",
                    "ftrace",
                    &file,
                    "--variant",
                    "v",
                    "-o",
                    &recording,
                ]);
                recording
            });
            let sides = if side { [&a, &b] } else { [&b, &a] };
            let (status, text) = super::asked(&["compare", sides[0], sides[1]]);
            prop_assert!(
                status != 0 && text.lines().take(3).any(|line| line.contains("CPU")),
                "{status}: {text}"
            );
            Ok(())
        },
    );
}

/// What a replay finds.
fn replayed(folder: &Path, text: &str, more: &[&str]) -> (Value, String) {
    let file = written(folder, "replay.trace", text);
    let recording = folder.join("replay").to_str().unwrap().to_owned();
    let arguments = [
        &["run", "idle-replay", &file, "--replace", "-o", &recording],
        more,
    ]
    .concat();
    (json(&arguments), told(&recording))
}

/// Both ends of a figure.
fn ends(figure: &Value) -> Option<[f64; 2]> {
    let end = |key: &str| figure[key].as_f64();
    figure
        .as_f64()
        .map(|known| [known; 2])
        .or_else(|| Some([end("low")?, end("high")?]))
}

/// Without a group of events the counts of a governor lie within wider bounds, but for an interval in
/// which the past of the replay decides; and no saving is claimed that the whole trace denies.
#[test]
fn a_trace_that_says_less_has_wider_bounds() {
    let folder = tempfile::tempdir().unwrap();
    let inputs = (stays(), prop::sample::subsequence(GROUPS.to_vec(), 1..4));
    holds(12, "run idle-replay", 8, inputs, |(stays, gone)| {
        let of = |gone: &[&str]| {
            replayed(
                folder.path(),
                &(header() + &trace(&stays, &[0, 1], FROM, gone)),
                &[],
            )
            .0
        };
        let (whole, less) = (of(&[]), of(&gone));
        for (whole, less) in whole["governors"]
            .as_array()
            .unwrap()
            .iter()
            .zip(less["governors"].as_array().unwrap())
        {
            prop_assert_eq!(&whole["name"], &less["name"]);
            for key in ["above", "below"] {
                let Some(([low, high], outer)) = ends(&whole[key]).zip(ends(&less[key])) else {
                    continue;
                };
                prop_assert!(
                    outer[0] <= low + 1.0 && high <= outer[1] + 1.0,
                    "{} {key}: {low} to {high} within {outer:?}",
                    whole["name"]
                );
            }
        }
        let said = |replay: &Value| {
            let verdict = &replay["verdict"];
            (
                verdict["best"].clone(),
                verdict["reference"].clone(),
                ends(&verdict["saving"]),
            )
        };
        let ((best, reference, of_whole), (best_of_less, reference_of_less, of_less)) =
            (said(&whole), said(&less));
        if (best, reference) == (best_of_less, reference_of_less)
            && let Some(([low, high], of_less)) = of_whole.zip(of_less)
        {
            prop_assert!(
                low <= of_less[1] && of_less[0] <= high,
                "{low} to {high}, {of_less:?}"
            );
        }
        Ok(())
    });
}

/// All that is known of a governor's choices, the power domains under it among them.
fn choices(replay: &Value, name: &Value) -> Vec<Value> {
    let governor = replay["governors"]
        .as_array()
        .unwrap()
        .iter()
        .find(|of| of["name"] == *name);
    let mut all: Vec<Value> = governor
        .into_iter()
        .map(|of| of["states"].clone())
        .collect();
    let domains = replay["power_domains"].as_array().into_iter().flatten();
    all.extend(
        domains
            .filter(|of| of["governor"] == *name)
            .map(|of| of["states"].clone()),
    );
    all
}

#[test]
fn governors_that_are_called_alike_are_so_in_all_domains() {
    let folder = tempfile::tempdir().unwrap();
    let platform = prop::sample::select(vec!["juno-r2", "qemu-virt-osi"]);
    let inputs = (stays(), platform, any::<bool>());
    for law in [13, 17] {
        holds(
            law,
            "run idle-replay",
            16,
            inputs.clone(),
            |(mut stays, platform, long)| {
                if long {
                    // Every governor that knows the timer goes deep.
                    stays
                        .iter_mut()
                        .flatten()
                        .for_each(|stay| (stay.1, stay.3) = (stay.1 + 40_000, true));
                }
                let text = header() + &trace(&stays, &[0, 1], FROM, &[]);
                let (replay, told) = replayed(folder.path(), &text, &["--platform", platform]);
                let alike = replay["verdict"]["alike"].as_array().unwrap();
                let first = alike.first().map(|name| choices(&replay, name));
                for name in alike {
                    prop_assert_eq!(Some(choices(&replay, name)), first.clone());
                }
                let wrong = |name: &Value| {
                    let governors = replay["governors"].as_array().unwrap();
                    let of = governors.iter().find(|of| of["name"] == *name);
                    of.and_then(|of| of["wrong_percent"].as_f64())
                };
                let verdict = &replay["verdict"];
                let [best, other] = ["best", "reference"].map(|who| wrong(&verdict[who]));
                prop_assert!(
                    best.is_none()
                        || best != other
                        || !told.contains("wrong less often on this trace cannot"),
                    "{told}"
                );
                if law == 13 {
                    prop_assert_eq!(
                        told.contains("enter the same states in all"),
                        alike.len() > 1,
                        "{}",
                        told
                    );
                }
                Ok(())
            },
        );
    }
}

/// What is said of the choices that a clock changes is what the replays counted.
#[test]
fn the_choices_that_a_clock_changes_are_one_count() {
    let folder = tempfile::tempdir().unwrap();
    holds(14, "run idle-clock", 8, stays(), |stays| {
        let file = written(
            folder.path(),
            "clock.trace",
            &(header() + &trace(&stays, &[0, 1], FROM, &[])),
        );
        let recording = folder.path().join("clock").to_str().unwrap().to_owned();
        let facts = json(&[
            "run",
            "idle-clock",
            "--world",
            "sim",
            &file,
            "--replace",
            "-o",
            &recording,
        ]);
        let told = told(&recording);
        let changes = facts["changes"].as_array().unwrap();
        let changed = changes
            .iter()
            .any(|change| change["changed_choices"].as_f64().unwrap() > 0.0);
        prop_assert_eq!(
            told.starts_with("No choice changes with another clock"),
            !changed,
            "{}",
            told
        );
        prop_assert!(
            told.contains(&format!("in {} replays", changes.len())) || changed,
            "{told}"
        );
        Ok(())
    });
}
