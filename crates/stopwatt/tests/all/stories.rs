//! Text of `run` is read from the recording, so `report` of the recording says the same in every
//! format.

use crate::common::stopwatt;
use std::path::Path;

/// Runs of each kind of story that need neither a guest nor a minute.
const RUNS: [&[&str]; 5] = [
    &[
        "rcu-energy",
        "--draws",
        "0",
        "--benchmarks",
        "andebench2",
        "--set",
        "callbacks.rate=35",
        "--set",
        "transition=9",
    ],
    &[
        "placement",
        "--policies",
        "all-big,hmp",
        "--seeds",
        "2",
        "--seconds",
        "2",
    ],
    &[
        "idle-replay",
        concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../record/import/data/guest.trace"
        ),
        "--platform",
        "juno-r2",
    ],
    &[
        "idle-clock",
        "--world",
        "sim",
        concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../record/import/data/guest.trace"
        ),
        "--platform",
        "juno-r2",
    ],
    &["prefetch", "--world", "sim", "--platform", "macchiatobin"],
];

fn said(arguments: &[&str]) -> String {
    let output = stopwatt(arguments);
    assert!(
        output.status.success(),
        "{arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

/// The words of a text, without what tables and pages are drawn with.
fn words(text: &str) -> Vec<String> {
    let text = text
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&")
        .replace('\\', "");
    let is_word = |word: &&str| word.chars().any(char::is_alphanumeric);
    text.split(|c: char| c.is_whitespace() || "│┆┌┐└┘─═╞╡|*`".contains(c))
        .filter(is_word)
        .map(str::to_owned)
        .collect()
}

/// A page without its tags.
fn without_tags(page: &str) -> String {
    let parts = page
        .split('<')
        .map(|part| part.split_once('>').map_or(part, |(_, text)| text));
    parts.collect::<Vec<_>>().join(" ")
}

#[test]
fn a_report_says_what_the_run_printed() {
    let folder = tempfile::tempdir().unwrap();
    for run in RUNS {
        let at = folder.path().join(run[0]).display().to_string();
        let printed = said(&[&["run"], run, &["--all", "-o", &at]].concat());
        let (story, _) = printed.rsplit_once("Recording: ").unwrap();
        // A report has more to show behind the story.
        let told = said(&["report", &at, "--all"]);
        assert!(
            told.contains(story),
            "{run:?}: the report is\n{told}\nand the run printed\n{printed}"
        );
        // Elsewhere tables are drawn otherwise: every word of the story is there.
        for format in ["markdown", "html"] {
            let report = said(&["report", &at, "--format", format]);
            let report = if format == "html" {
                without_tags(&report)
            } else {
                report
            };
            let there: std::collections::HashSet<String> = words(&report).into_iter().collect();
            // A picture is drawn otherwise on a page: the rows of tables are there.
            let rows: String = story
                .lines()
                .filter(|line| line.starts_with('│'))
                .map(|line| format!("{line}\n"))
                .collect();
            let missing: Vec<String> = words(&rows)
                .into_iter()
                .filter(|word| !there.contains(word))
                .collect();
            assert!(
                missing.is_empty(),
                "{run:?}, {format}: {missing:?} of\n{story}"
            );
        }
    }
}

#[test]
fn a_run_answers_first_and_on_one_screen() {
    let folder = tempfile::tempdir().unwrap();
    let latency: &[&str] = &["psci-latency", "--platform", "juno-r1"];
    for run in RUNS.into_iter().chain([latency]) {
        let at = folder.path().join(run[0]).display().to_string();
        let printed = said(&[&["run"], run, &["-o", &at]].concat());
        assert!(
            printed.lines().count() <= 20,
            "{run:?}: {} lines\n{printed}",
            printed.lines().count()
        );
        let first = printed.lines().next().unwrap();
        assert!(
            first.starts_with(char::is_alphanumeric),
            "{run:?} begins with a picture or a table: {first}"
        );
        // The answer ends with its sentence and has figures.
        let answer: Vec<&str> = printed
            .lines()
            .take_while(|line| !line.starts_with(['┌', ' ', '#']))
            .take(4)
            .collect();
        assert!(
            answer.concat().contains(|c: char| c.is_ascii_digit()),
            "{run:?}: {answer:?}"
        );
        let all = said(&[&["run"], run, &["-o", &at, "--all"]].concat());
        assert!(
            all.lines().count() >= printed.lines().count() - 1,
            "{run:?}: --all is shorter"
        );
    }
}

#[test]
fn json_of_a_report_has_the_keys_of_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("r").display().to_string();
    let json = |text: String| serde_json::from_str::<serde_json::Value>(&text).unwrap();
    let run = json(said(
        &[&["run"], RUNS[0], &["-o", &at, "--format", "json"]].concat(),
    ));
    let report = json(said(&["report", &at, "--format", "json"]));
    for (key, value) in run.as_object().unwrap() {
        assert_eq!(&report[key], value, "{key}");
    }
    assert!(report["source"].is_object() && report["measures"].is_array());
}

#[test]
fn the_timeline_of_a_benchmark_has_tasks_idle_states_callbacks_and_grace_periods() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("r").display().to_string();
    said(&[
        "run",
        "rcu-energy",
        "--draws",
        "0",
        "--benchmarks",
        "audio",
        "--set",
        "callbacks.rate=35",
        "--set",
        "transition=9",
        "-o",
        &at,
    ]);
    let recording = recording::Recording::read(Path::new(&at)).unwrap();
    let lanes = attribution::cpu_lanes(&recording);
    for configuration in ["reference", "rcu-offload", "enforced-idle", "both"] {
        let of = |title: &str| {
            let of_title = |lane: &&attribution::CpuLane<'_>| {
                lane.lane.title == title
                    && recording.series_texts(lane.series) == (configuration, "audio", "timeline")
            };
            lanes
                .iter()
                .filter(of_title)
                .flat_map(|lane| &lane.stretches)
                .collect::<Vec<_>>()
        };
        for title in ["task", "idle state", "callbacks", "grace periods"] {
            let stretches = of(title);
            assert!(!stretches.is_empty(), "{configuration}: {title}");
            // A fifth of a second from 1 s on, in nanoseconds.
            let window = 1_000_000_000..=1_200_000_000;
            assert!(
                stretches
                    .iter()
                    .all(|of| window.contains(&of.from) && window.contains(&of.to)),
                "{title}"
            );
        }
        // A CPU that idles runs no task, and the other way round.
        let busy = |cpu: u16, title: &str| -> u64 {
            let of_cpu = |lane: &&attribution::CpuLane<'_>| {
                lane.cpu == Some(cpu)
                    && lane.lane.title == title
                    && recording.series_texts(lane.series).0 == configuration
            };
            lanes
                .iter()
                .filter(of_cpu)
                .flat_map(|lane| &lane.stretches)
                .map(|of| of.to - of.from)
                .sum()
        };
        for cpu in 0..5 {
            let both = busy(cpu, "task") + busy(cpu, "idle state");
            assert!(
                (190_000_000..=200_000_000).contains(&both),
                "{configuration}, CPU {cpu}: {both}"
            );
        }
    }
    let page = said(&["report", &at, "--format", "html"]);
    for said in [
        "grace periods",
        "callbacks",
        "energy by owner",
        "where the time of the clusters went",
    ] {
        assert!(page.contains(said), "{said}");
    }
}

/// The same recording without a part of its measures, as one that somebody else has made.
fn with_holes(whole: &recording::Recording, seed: u64) -> recording::Recording {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let mut holes = recording::Recording::new(whole.header.clone());
    // One of the variants is gone altogether, and so is one of the metrics.
    let [no_variant, no_metric] = [random() % 8, random() % 16];
    for measure in whole.measures() {
        let (variant, case, mode) = whole.series_texts(measure.series);
        let hash = |text: &str| {
            text.bytes().fold(7_u64, |sum, byte| {
                sum.wrapping_mul(31).wrapping_add(u64::from(byte))
            })
        };
        let metric = whole.text(measure.metric);
        if hash(variant) % 8 == no_variant || hash(metric) % 16 == no_metric || random() % 4 == 0 {
            continue;
        }
        let series = holes.series(variant, case, mode);
        let [subject, role] = [measure.subject, measure.role]
            .map(|name| name.map(|name| holes.name(whole.text(name))));
        let unit = whole.text(measure.unit);
        let value = [0.0, f64::NAN, -1.0, measure.value][(random() % 32).clamp(0, 3) as usize];
        let new = holes.measure(series, measure.iteration, metric, unit, value);
        (new.cpu, new.cluster, new.core) = (measure.cpu, measure.cluster, measure.core);
        (new.subject, new.role) = (subject, role);
    }
    holes
}

#[test]
fn a_recording_with_holes_is_told_as_far_as_it_goes() {
    let folder = tempfile::tempdir().unwrap();
    for run in RUNS {
        let at = folder.path().join(run[0]);
        said(&[&["run"], run, &["-o", at.to_str().unwrap()]].concat());
        let whole = recording::Recording::read(&at).unwrap();
        for seed in 1..=12 {
            let at = folder.path().join(format!("{}-{seed}", run[0]));
            with_holes(&whole, seed).write(&at).unwrap();
            for format in ["term", "json"] {
                let output = stopwatt(&["report", at.to_str().unwrap(), "--format", format]);
                let words = String::from_utf8_lossy(&output.stderr);
                assert!(
                    !words.contains("panicked"),
                    "{run:?}, seed {seed}, {format}: {words}"
                );
            }
        }
    }
}
