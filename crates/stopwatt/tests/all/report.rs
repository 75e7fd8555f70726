//! `stopwatt report` in every format, as a user and other programs meet it.

use crate::common::{made_once, stopwatt, test_python};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr)
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}

/// A recording of all releases.
fn recording() -> PathBuf {
    let folder = made_once("report", |folder| {
        let recording = folder.join("recording");
        let run = [
            "run",
            "psci-latency",
            "--iterations",
            "3",
            "--free-seeds",
            "3",
            "-o",
        ];
        let output = stopwatt(&[&run[..], &[recording.to_str().unwrap()]].concat());
        assert!(output.status.success(), "{}", said(&output));
    });
    folder.join("recording")
}

fn report(more: &[&str]) -> String {
    let output = stopwatt(&[&["report", recording().to_str().unwrap()], more].concat());
    assert!(output.status.success(), "{more:?}: {}", said(&output));
    String::from_utf8(output.stdout).unwrap()
}

fn python_reads(script: &str, file: &Path) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests")
        .join(script);
    let output = Command::new(test_python())
        .arg(script)
        .arg(file)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn csv_has_a_row_a_cell_whose_causes_add_up() {
    let text = report(&["--format", "csv"]);
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let column = |name: &str| header.iter().position(|other| *other == name).unwrap();
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len(), 288);
    let mut explained = 0;
    for row in &rows {
        // Roles with a comma are quoted, so the columns after them are counted from the end.
        let from_end = |name: &str| row[row.len() + column(name) - header.len()];
        let causes = header
            .iter()
            .filter(|name| name.ends_with("_us"))
            .filter_map(|name| from_end(name).parse::<f64>().ok());
        let (sum, recorded): (f64, f64) = (causes.sum(), from_end("recorded").parse().unwrap());
        assert!(
            (sum - recorded).abs() < 1e-6,
            "{sum} of {recorded}: {row:?}"
        );
        explained += usize::from(from_end("waits").contains("lock-wait"));
    }
    assert!(explained > 20, "{explained} cells wait for a lock");
}

#[test]
fn markdown_and_text_have_every_table_and_its_source() {
    for format in ["markdown", "term"] {
        let text = report(&["--format", format, "--all"]);
        for part in [
            "juno-2017",
            "to power level 0, parallel",
            "juno-v2.12",
            "stopwatt run psci-latency --iterations 3",
            "seed 1",
            "2017 (TF",
            "Accuracy",
        ] {
            assert!(text.contains(part), "{part} is not in the {format}");
        }
        assert!(!text.contains('\u{1b}'), "NO_COLOR is respected");
    }
    assert!(report(&["--format", "markdown"]).contains("| 1.3 | 4th, last-man | 375.0 |"));
}

#[test]
fn every_case_has_its_answer_in_text_and_markdown() {
    let (text, markdown) = (report(&["--all"]), report(&["--format", "markdown"]));
    let answer = "go to the SCP, which serves five commands in turn.";
    let one_line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for text in [&one_line, &markdown] {
        assert!(
            text.contains(&format!(
                "355 of the 375 us that CPU 1.3 takes to power down {answer}"
            )),
            "{text}"
        );
    }
    // Each of the 18 cases has one, and those in which CPUs come up again another one for that.
    assert_eq!(
        markdown.matches("takes to power down").count(),
        15,
        "at the head the whole stands before it"
    );
    assert_eq!(markdown.matches("takes to wake up").count(), 15);
    assert_eq!(markdown.matches("takes for the call").count(), 3);
}

#[test]
fn the_page_is_one_file_that_asks_for_nothing() {
    let page = report(&["--format", "html"]);
    assert!(page.len() <= report::MOST_BYTES, "{} bytes", page.len());
    for outside in ["http:", "https:", "src=", "@import", "url(data", "<link"] {
        assert!(!page.contains(outside), "{outside} is in the page");
    }
    assert_eq!(page.matches("<figure class=timeline").count(), 18);
    // The answer comes before the picture.
    let case = &page[page.find("<article").unwrap()..];
    let told = &case[..case.find("<figure").unwrap()];
    assert!(
        told.contains("355 of the 375 us that CPU 1.3 takes to power down go to the SCP"),
        "{told}"
    );
    assert!(page.contains("other iterations are in the figures alone"));
}

#[test]
fn a_page_of_many_events_and_cpus_is_no_longer_than_a_megabyte_and_says_what_it_leaves_out() {
    let folder = tempfile::tempdir().unwrap();
    let (recording, page) = (
        folder.path().join("recording"),
        folder.path().join("page.html"),
    );
    let run = |more: &[&str]| {
        let fixed = [
            "run",
            "psci-latency",
            "--release",
            "juno-v2.12",
            "--free-seeds",
            "0",
            "--replace",
            "-o",
        ];
        let output = stopwatt(
            &[
                &fixed[..],
                &[
                    recording.to_str().unwrap(),
                    "--report",
                    page.to_str().unwrap(),
                ],
                more,
            ]
            .concat(),
        );
        assert!(output.status.success(), "{}", said(&output));
        std::fs::read_to_string(&page).unwrap()
    };
    let many_cpus = run(&["--set", "topology.clusters=16x4", "--iterations", "1"]);
    assert!(
        many_cpus.len() <= report::MOST_BYTES,
        "{} bytes",
        many_cpus.len()
    );
    assert!(
        many_cpus.contains("Timelines leave out up to"),
        "it says so"
    );
    let many_iterations = run(&["--iterations", "120"]);
    assert!(
        many_iterations.len() <= report::MOST_BYTES,
        "{} bytes",
        many_iterations.len()
    );
    assert!(
        many_iterations.contains("other iterations are in the figures alone"),
        "{}",
        many_iterations.len()
    );
}

#[test]
fn the_text_of_many_cpus_has_a_row_for_each_of_the_last() {
    let folder = tempfile::tempdir().unwrap();
    let run = |clusters: &str| {
        let recording = folder.path().join(clusters);
        let fixed = [
            "run",
            "psci-latency",
            "--release",
            "juno-v2.12",
            "--free-seeds",
            "0",
            "--iterations",
            "1",
        ];
        let set = [
            "--case",
            "suspend-deepest",
            "--mode",
            "parallel",
            "--all",
            "--set",
            clusters,
            "-o",
            recording.to_str().unwrap(),
        ];
        let output = stopwatt(&[&fixed[..], &set].concat());
        assert!(output.status.success(), "{}", said(&output));
        String::from_utf8(output.stdout).unwrap()
    };
    let few = run("topology.clusters=16x4");
    assert!(few.contains("│ 15.3 "), "64 CPUs have a row each: {few}");
    let many = run("topology.clusters=17x4");
    assert!(many.contains("the last 64 of 68 CPUs"), "{many}");
}

#[test]
fn a_page_is_no_longer_than_a_megabyte_whatever_the_recording_holds() {
    let folder = tempfile::tempdir().unwrap();
    let page = |name: &str, variants: usize, text: &str, command: &str| {
        let path = folder.path().join(name);
        let mut header = recording::Header::new("psci-latency", "sim", "us");
        header.time.counter_hz = Some(50_000_000);
        header.run.command = vec!["stopwatt".to_owned(), command.to_owned()];
        let mut recording = recording::Recording::new(header);
        for variant in 0..variants {
            let series =
                recording.series(&format!("{text}{variant}"), "suspend-deepest", "parallel");
            for cpu in 0..4 {
                let measure =
                    recording.measure(series, 0, "powerdown", "us", 100.0 + f64::from(cpu));
                (measure.cpu, measure.cluster, measure.core) = (Some(cpu), Some(0), Some(cpu));
            }
            recording.measure(series, 0, "calls", "calls", 3.0);
        }
        recording.write(&path).unwrap();
        let output = stopwatt(&["report", path.to_str().unwrap(), "--format", "html"]);
        assert!(output.status.success(), "{}", said(&output));
        String::from_utf8(output.stdout).unwrap()
    };
    let many = page("many", 2000, "release ", "");
    assert!(many.len() <= report::MOST_BYTES, "{} bytes", many.len());
    assert!(
        many.contains("cases are left out altogether") && many.contains("release 0"),
        "it says so"
    );
    let wide = page(
        "wide",
        300,
        &"<long>".repeat(600),
        &"<long>".repeat(100_000),
    );
    assert!(wide.len() <= report::MOST_BYTES, "{} bytes", wide.len());
    assert!(wide.contains("What this page leaves out") && !wide.contains("<long>"));
}

#[test]
fn an_imported_table_is_no_prediction_and_no_what_if() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("published");
    let path = path.to_str().unwrap();
    let import = [
        "import",
        "csv",
        "data/published/juno-psci.csv",
        "--platform",
        "juno-r1",
        "-o",
        path,
    ];
    let output = stopwatt(&import);
    assert!(output.status.success(), "{}", said(&output));
    for format in ["term", "markdown", "html"] {
        let text =
            String::from_utf8(stopwatt(&["report", path, "--all", "--format", format]).stdout)
                .unwrap();
        assert!(
            text.contains("375.0") && text.contains("1 iteration") && text.contains("+0.0"),
            "{format}: {text}"
        );
        for wrong in [
            "rediction",
            "What if",
            "used in the fit",
            "sim.",
            "seed",
            "went",
        ] {
            assert!(!text.contains(wrong), "{wrong} is in the {format}");
        }
    }
}

#[test]
fn a_board_that_nobody_measured_has_no_published_figures() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("recording");
    let path = path.to_str().unwrap();
    for set in [
        "scp.channels=2",
        "topology.clusters=2x4",
        "costs.scp.core_off=90 us",
    ] {
        let run = [
            "run",
            "psci-latency",
            "--release",
            "2017",
            "--iterations",
            "1",
        ];
        let more = ["--replace", "--set", set, "--all", "-o", path];
        let output = stopwatt(&[&run[..], &more].concat());
        assert!(output.status.success(), "{}", said(&output));
        for format in ["term", "markdown"] {
            let text = stopwatt(&["report", path, "--all", "--format", format]).stdout;
            let text = String::from_utf8(text).unwrap();
            assert!(
                !text.contains("publ") && !text.contains("redicted"),
                "{set} {format}: {text}"
            );
        }
    }
}

#[test]
fn a_trace_decodes_with_the_published_descriptors_and_nests() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("run.pftrace");
    report(&["--output", trace.to_str().unwrap()]);
    let text = python_reads("read_with_perfetto.py", &trace);
    let fact = |name: &str| {
        let found = text
            .split_whitespace()
            .find_map(|fact| fact.strip_prefix(&format!("{name}=")));
        found
            .unwrap_or_else(|| panic!("no {name} in {text}"))
            .to_owned()
    };
    let events = recording::Recording::read(recording()).unwrap();
    assert_eq!(
        fact("instants"),
        events.events().len().to_string(),
        "an instant an event"
    );
    let enters = events.find_point("enter-psci").unwrap();
    let count = events
        .events()
        .iter()
        .filter(|event| event.point == enters)
        .count();
    assert_eq!(fact("enter-psci"), count.to_string());
    let calls: usize = fact("calls").parse().unwrap();
    assert!(calls > count, "calls and wakeups: {calls}");
    assert_eq!(
        (fact("depth"), fact("unfilled")),
        ("2".to_owned(), "0".to_owned()),
        "causes fill their calls"
    );
    assert_eq!(fact("flows"), fact("ended"));
    assert!(fact("flows").parse::<usize>().unwrap() > 500, "{text}");
    assert!(
        text.contains("juno-2017 suspend-deepest parallel;"),
        "{text}"
    );
    assert!(
        text.contains("tracks=0.0 (CPU 4);0.1 (CPU 5);1.0 (CPU 0);1.1 (CPU 1);1.2 (CPU 2);1.3 (CPU 3);SCP, channel 0")
    );
}

/// A recording that declares lanes: what they show is in the page, and in the trace for Perfetto.
#[test]
fn declared_lanes_are_drawn_and_are_tracks_of_perfetto() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let guest = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../record/import/data/guest.trace"
    );
    let replay = [
        "run",
        "idle-replay",
        guest,
        "--platform",
        "juno-r2",
        "--output",
    ];
    let output = stopwatt(&[&replay[..], &[&at("replay")]].concat());
    assert!(output.status.success(), "{}", said(&output));
    let output = stopwatt(&["import", "ftrace", guest, "--output", &at("trace")]);
    assert!(output.status.success(), "{}", said(&output));
    for (name, rows) in [
        ("replay", ["CPU 1, trace", "CPU 1, menu@6.1"]),
        ("trace", ["CPU 0, idle state", "CPU 1, task"]),
    ] {
        let output = stopwatt(&["report", &at(name), "--format", "html"]);
        assert!(output.status.success(), "{}", said(&output));
        let page = String::from_utf8(output.stdout).unwrap();
        assert!(
            page.contains("Timeline") && rows.iter().all(|row| page.contains(row)),
            "{name}"
        );
        let recording = recording::Recording::read(at(name)).unwrap();
        let lanes = attribution::cpu_lanes(&recording);
        let stretches = lanes
            .iter()
            .flat_map(|lane| &lane.stretches)
            .filter(|stretch| stretch.from < stretch.to)
            .count();
        assert!(stretches > 50, "{name}: {stretches}");
        let trace = at(&format!("{name}.pftrace"));
        assert!(
            stopwatt(&["report", &at(name), "--output", &trace])
                .status
                .success()
        );
        let text = python_reads("read_with_perfetto.py", Path::new(&trace));
        assert!(
            text.contains(&format!("stretches={stretches}\n")),
            "{name}: {stretches}, {text}"
        );
    }
}

#[test]
fn a_recording_of_another_experiment_gives_its_measures_in_every_format() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("other");
    let mut other = recording::Recording::new(recording::Header::new("of-nobody", "sim", "ticks"));
    let series = other.series("macchiatobin", "loop|shape", "");
    for value in [3.0, 5.0, 4.5] {
        let subject = other.name("<stride> 4");
        other.measure(series, 0, "clocks", "clk", value).subject = Some(subject);
    }
    other.write(&path).unwrap();
    for format in ["term", "markdown", "csv", "json", "html"] {
        let output = stopwatt(&[
            "report",
            path.to_str().unwrap(),
            "--all",
            "--format",
            format,
        ]);
        assert!(output.status.success(), "{format}: {}", said(&output));
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(
            text.contains("clocks") && text.contains("4.5") && text.contains("clk"),
            "{format}: {text}"
        );
        assert_eq!(
            text.contains("<stride>"),
            format != "html",
            "{format}: {text}"
        );
    }
    let output = stopwatt(&["report", path.to_str().unwrap(), "--format", "perfetto"]);
    // A trace without a packet opens in no viewer.
    assert_eq!(output.status.code(), Some(2));
    assert!(
        output.stdout.is_empty() && said(&output).contains("has no events"),
        "{}",
        said(&output)
    );
}

#[test]
fn what_is_wrong_is_said_with_the_file_and_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("page.html");
    let missing = folder.path().join("nothing");
    let cut = folder.path().join("cut");
    std::fs::create_dir(&cut).unwrap();
    for file in ["recording.toml", "events.parquet", "measures.parquet"] {
        let bytes = std::fs::read(recording().join(file)).unwrap();
        let keep = if file == "events.parquet" {
            bytes.len() / 2
        } else {
            bytes.len()
        };
        std::fs::write(cut.join(file), &bytes[..keep]).unwrap();
    }
    let good = recording();
    let good = good.to_str().unwrap();
    let (out, missing, cut) = (
        out.to_str().unwrap(),
        missing.to_str().unwrap(),
        cut.to_str().unwrap(),
    );
    let nowhere = format!("{missing}/page.html");
    let is_folder = folder.path().to_str().unwrap();
    let wrong: [(&[&str], &[&str]); 6] = [
        (&[missing, "--output", out], &["there is no recording"]),
        (&[cut, "--output", out], &["events.parquet", "cut short"]),
        (
            &[good, "--output", "latency.pdf"],
            &["latency.pdf", ".html"],
        ),
        (
            &[good, "--output", &nowhere],
            &["cannot write", "page.html", "make the folder"],
        ),
        (
            &[good, "--format", "html", "--output", is_folder],
            &["is a folder"],
        ),
        (&[good, "--format", "pdf"], &["pdf", "markdown"]),
    ];
    for (arguments, parts) in wrong {
        let output = stopwatt(&[&["report"], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?} was taken");
        // Lines are broken where the terminal ends, also within a path.
        let said: String = String::from_utf8_lossy(&output.stderr).replace(['│', '\n', ' '], "");
        for part in parts {
            assert!(
                said.contains(&part.replace(' ', "")),
                "{arguments:?}: {part} is not in {said}"
            );
        }
    }
    let left: Vec<_> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(left, ["cut"], "nothing but what was there");
    // A run whose report cannot be named is not started.
    let output = stopwatt(&["run", "psci-latency", "--report", "page.pdf", "-o", missing]);
    assert!(!output.status.success() && !Path::new(missing).exists());
}

#[test]
fn help_teaches_with_examples() {
    let text = String::from_utf8(stopwatt(&["report", "--help"]).stdout).unwrap();
    for part in ["Examples:", "latency.html", "ui.perfetto.dev", ".pftrace"] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
}
