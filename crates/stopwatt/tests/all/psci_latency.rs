//! `stopwatt run psci-latency` and `stopwatt calibrate`, as a user meets them.

use crate::common::{root, stopwatt_on};
use serde_json::Value;
use std::path::Path;

fn cells(data: &Path, output: &Path, more: &[&str]) -> Vec<Value> {
    let mut arguments = vec![
        "run",
        "psci-latency",
        "--format",
        "json",
        "--free-seeds",
        "0",
        "-o",
        output.to_str().unwrap(),
    ];
    arguments.extend(more);
    let output = stopwatt_on(data, &arguments);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    json["cells"].as_array().unwrap().clone()
}

fn number(cell: &Value, key: &str) -> f64 {
    cell[key]
        .as_f64()
        .unwrap_or_else(|| panic!("{key} of {cell}"))
}

/// A copy of the data in a folder of its own.
fn copy() -> tempfile::TempDir {
    fn copy_folder(from: &Path, to: &Path) {
        std::fs::create_dir_all(to).unwrap();
        for entry in std::fs::read_dir(from).unwrap() {
            let entry = entry.unwrap();
            let target = to.join(entry.file_name());
            if entry.file_type().unwrap().is_dir() {
                copy_folder(&entry.path(), &target);
            } else {
                std::fs::copy(entry.path(), target).unwrap();
            }
        }
    }
    let folder = tempfile::tempdir().unwrap();
    for name in ["platforms", "published"] {
        copy_folder(&root().join("data").join(name), &folder.path().join(name));
    }
    folder
}

#[test]
fn predictions_are_as_good_as_the_documents_say() {
    let folder = tempfile::tempdir().unwrap();
    let cells = cells(&root(), &folder.path().join("recording"), &[]);
    assert_eq!(cells.len(), 288, "every published cell and no other");
    for release in ["juno-2017", "juno-v2.11", "juno-v2.12"] {
        let errors = |metrics: &[&str]| {
            let predicted = cells.iter().filter(|cell| {
                cell["release"] == release
                    && cell["mode"] == "parallel"
                    && cell["used_in_fit"] == false
                    && metrics.contains(&cell["metric"].as_str().unwrap())
            });
            let mut errors: Vec<(f64, f64)> = predicted
                .map(|cell| {
                    (
                        number(cell, "error_percent").abs(),
                        (number(cell, "simulated") - number(cell, "published")).abs(),
                    )
                })
                .collect();
            errors.sort_by(|a, b| a.0.total_cmp(&b.0));
            errors
        };
        let powerdown = errors(&["powerdown", "cache_flush"]);
        assert_eq!(powerdown.len(), 21, "{release}");
        assert!(
            powerdown[10].0 <= 3.0,
            "{release}: median {:.2} %",
            powerdown[10].0
        );
        let within = powerdown
            .iter()
            .filter(|(percent, microseconds)| *percent <= 10.0 || *microseconds <= 1.0)
            .count();
        assert!(
            within * 10 >= powerdown.len() * 9,
            "{release}: {within} of 21"
        );
        let wakeup = errors(&["wakeup"]);
        assert!(
            (wakeup[5].0 + wakeup[6].0) / 2.0 <= 15.0,
            "{release}: wakeup"
        );
    }
}

#[test]
fn accuracy_stands_beside_what_the_tables_alone_foretell_and_the_deepest_wakeups_apart() {
    let folder = tempfile::tempdir().unwrap();
    let recording = folder.path().join("recording");
    let (recording, release) = (recording.to_str().unwrap(), ["--release", "v2.12"]);
    let run = [
        "run",
        "psci-latency",
        "--format",
        "json",
        "--free-seeds",
        "0",
        "-o",
        recording,
    ];
    let output = stopwatt_on(&root(), &[&run[..], &release].concat());
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows = json["accuracy"].as_array().unwrap();
    let what: Vec<_> = rows
        .iter()
        .map(|row| {
            (
                row["what"].as_str().unwrap(),
                row["cells"].as_u64().unwrap(),
            )
        })
        .collect();
    let expected = [
        ("powerdown and cache flush", 21),
        ("wakeup, level 0", 6),
        ("wakeup, deepest", 5),
        ("cpu-off", 2),
        ("PSCI_VERSION", 3),
    ];
    assert_eq!(what, expected);
    assert!(
        rows[3..]
            .iter()
            .all(|row| number(row, "worst_error_percent") < 5.0),
        "{rows:?}"
    );
    for row in rows {
        assert!(
            number(&row["guess"], "median_error_percent")
                <= number(&row["guess"], "worst_error_percent")
        );
    }
    let beaten = number(&rows[0], "median_error_percent")
        < number(&rows[0]["guess"], "median_error_percent");
    assert!(beaten, "the model is worse than the guess: {}", rows[0]);
    let text =
        String::from_utf8(stopwatt_on(&root(), &["report", recording, "--all"]).stdout).unwrap();
    assert!(
        text.contains("uess: what the tables alone foretell"),
        "{text}"
    );
}

#[test]
fn nine_of_ten_intervals_hold_the_published_value_and_are_no_wider_than_the_tables_own() {
    let folder = tempfile::tempdir().unwrap();
    let recording = folder.path().join("recording");
    let output = stopwatt_on(
        &root(),
        &[
            "run",
            "psci-latency",
            "--format",
            "json",
            "-o",
            recording.to_str().unwrap(),
        ],
    );
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let cells = json["cells"].as_array().unwrap();
    let predicted: Vec<&Value> = cells
        .iter()
        .filter(|cell| {
            cell["mode"] == "parallel"
                && cell["used_in_fit"] == false
                && cell["metric"] != "latency"
        })
        .collect();
    let held = predicted.iter().filter(|cell| {
        let ends: Vec<f64> = cell["interval"]
            .as_array()
            .unwrap()
            .iter()
            .map(|end| end.as_f64().unwrap())
            .collect();
        (ends[0]..=ends[1]).contains(&number(cell, "published"))
    });
    let held = held.count();
    assert_eq!(predicted.len(), 96);
    assert!(
        (85..=97).contains(&(held * 100 / predicted.len())),
        "{held} of 96"
    );
    let rows = json["accuracy"].as_array().unwrap();
    let all = rows
        .iter()
        .find(|row| row["what"] == "parallel suspends")
        .unwrap();
    assert_eq!(all["cells"], 96);
    assert_eq!(all["intervals"]["held"], held as u64);
    assert!(
        number(&all["intervals"], "width_against_guess") <= 1.5,
        "{all}"
    );
    // Of the deepest wakeups, where it decides whose timer fires, four in five are within 10 %.
    let deepest = rows
        .iter()
        .find(|row| row["release"] == "all" && row["what"] == "wakeup, deepest")
        .unwrap();
    assert_eq!(deepest["cells"], 15);
    assert!(number(deepest, "within_10_percent") >= 12.0, "{deepest}");
    assert!(number(deepest, "median_error_percent") <= 4.0, "{deepest}");
    assert!(number(&deepest["intervals"], "held") >= 12.0, "{deepest}");
    // Not knowing whose timer fires, the intervals of each owner hold as many, and are narrower.
    let unknown = rows
        .iter()
        .find(|row| row["release"] == "all" && row["what"] == "- timer unknown")
        .unwrap();
    assert!(number(&unknown["intervals"], "held") >= 12.0, "{unknown}");
    let width = |row: &Value| number(&row["intervals"], "width_against_guess");
    assert!(width(unknown) <= width(deepest), "{unknown}");
    // Nobody waits in the serial cases, and nothing is drawn of them.
    assert!(
        cells
            .iter()
            .filter(|cell| cell["mode"] == "serial")
            .all(|cell| cell["interval"].is_null())
    );
    // Who arrives first is left to chance where the order is free.
    let free = json["free_running"].as_array().unwrap();
    assert!(
        free.iter().all(|case| case["orders"].as_u64() > Some(20)),
        "{free:?}"
    );
}

/// The deepest wakeups of a release, in the order of its CPUs, and what was said of the owners of
/// its timer.
fn deepest_wakeups(data: &Path, release: &str) -> (Vec<Value>, Value) {
    let folder = tempfile::tempdir().unwrap();
    let recording = folder.path().join("recording");
    let run = [
        "run",
        "psci-latency",
        "--format",
        "json",
        "--release",
        release,
        "--case",
        "suspend-deepest",
    ];
    let output = stopwatt_on(
        data,
        &[
            &run[..],
            &["--mode", "parallel", "-o", recording.to_str().unwrap()],
        ]
        .concat(),
    );
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut cells = json["cells"].as_array().unwrap().clone();
    cells.retain(|cell| cell["metric"] == "wakeup");
    cells.sort_by_key(|cell| cell["cpu"].as_u64());
    (cells, json["timer_owners"].clone())
}

#[test]
fn an_unknown_owner_of_the_timer_is_weighed_by_other_sessions_and_never_by_its_own() {
    let (cells, owners) = deepest_wakeups(&root(), FITTED);
    assert!(
        owners[0]["sessions"].as_object().unwrap().len() > 1
            && !owners.to_string().contains("2017"),
        "{owners}"
    );
    for cell in &cells {
        let modes = cell["modes"].as_array().unwrap();
        let weights: Vec<f64> = modes.iter().map(|mode| number(mode, "weight")).collect();
        assert!(
            (weights.iter().sum::<f64>() - 1.0).abs() < 1e-9
                && weights.iter().all(|&weight| weight > 0.0)
        );
        let ends = |mode: &Value| [0, 1].map(|end| mode["interval"][end].as_f64().unwrap());
        let apart = modes.iter().enumerate().all(|(at, mode)| {
            modes[..at]
                .iter()
                .all(|other| ends(mode)[0] > ends(other)[1] || ends(other)[0] > ends(mode)[1])
        });
        assert!(apart, "{cell}");
    }

    // Another declared owner moves what is simulated, and no mode.
    let data = copy();
    let path = data.path().join("published/juno-psci.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    let (before, after) = text.split_once("timer = [1, 0]").unwrap();
    std::fs::write(&path, format!("{before}timer = [1, 3]{after}")).unwrap();
    let (moved, same) = deepest_wakeups(data.path(), FITTED);
    assert_eq!(owners, same);
    let of = |cells: &[Value], key: &str| {
        cells
            .iter()
            .map(|cell| cell[key].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(of(&cells, "modes"), of(&moved, "modes"));
    assert_ne!(of(&cells, "simulated"), of(&moved, "simulated"));

    // Without one the run is that of the likeliest.
    std::fs::write(&path, format!("{before}{after}")).unwrap();
    let (unknown, _) = deepest_wakeups(data.path(), FITTED);
    for cell in &unknown {
        let likeliest = number(&cell["modes"][0], "figure");
        assert!(
            (number(cell, "simulated") - likeliest).abs() <= 0.02 * likeliest,
            "{cell}"
        );
    }
}

#[test]
fn causes_add_up_and_tell_the_commentary_of_2017() {
    let folder = tempfile::tempdir().unwrap();
    let cells = cells(
        &root(),
        &folder.path().join("recording"),
        &["--release", "juno-2017"],
    );
    for cell in &cells {
        let sum: f64 = cell["causes"]
            .as_object()
            .unwrap()
            .values()
            .map(|value| value.as_f64().unwrap())
            .sum();
        let scale = if cell["unit"] == "ns" { 1e3 } else { 1.0 };
        assert!(
            (sum * scale - number(cell, "simulated")).abs() < 1e-3,
            "{cell}"
        );
    }
    let find = |case: &str, core: u64, metric: &str| {
        cells
            .iter()
            .find(|cell| {
                cell["case"] == case
                    && cell["mode"] == "parallel"
                    && cell["cluster"] == 1
                    && cell["core"] == core
                    && cell["metric"] == metric
            })
            .unwrap()
    };
    let cause = |cell: &Value, name: &str| cell["causes"][name].as_f64().unwrap_or(0.0);
    // "CPU 3 has to wait for the 3 other CPUs in the cluster to complete PSCI_ENTRY and release the
    // lock".
    let last = find("suspend-deepest", 3, "powerdown");
    assert!(cause(last, "lock-wait") > 100.0, "{last}");
    let holders: Vec<_> = last["waits"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|wait| wait["cause"] == "lock-wait")
        .collect();
    assert_eq!(holders.len(), 3, "it waits for the three others: {last}");
    // Its flush is longer because it is the last of its cluster: the L2 is flushed as well.
    assert!(cause(find("suspend-deepest", 3, "cache_flush"), "cache-flush-l2") > 50.0);
    assert_eq!(
        cause(find("suspend-deepest", 1, "cache_flush"), "cache-flush-l2"),
        0.0
    );
    // At level 0 there is no lock of a power domain, and the SCP's channel serialises.
    let level0 = find("suspend-level0", 3, "powerdown");
    assert_eq!(cause(level0, "lock-wait"), 0.0);
    assert!(
        cause(level0, "scp-channel-wait")
            + cause(level0, "scp-wait")
            + cause(level0, "declared-order")
            > 300.0,
        "{level0}"
    );
}

/// Multiplies the published value of each row by what `factor` says of its number and of whether a
/// fit uses it.
fn scale(data: &Path, factor: impl Fn(usize, bool) -> f64) {
    let files = experiment::Folder(data.join("published"));
    let reference = published::PsciReference::read(&files, "juno-psci.toml").unwrap();
    let path = data.join("published/juno-psci.csv");
    let text = std::fs::read_to_string(&path).unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for (number, (cell, line)) in reference
        .cells
        .iter()
        .zip(lines.iter_mut().skip(1))
        .enumerate()
    {
        let factor = factor(number, cell.used_in_fit);
        if factor != 1.0 {
            let mut fields: Vec<String> = line.split(',').map(str::to_owned).collect();
            // Exactly representable, and not below the resolution that the figure had.
            let digits = fields[6]
                .split_once('.')
                .map_or(0, |(_, decimals)| decimals.len());
            fields[6] = format!("{:.digits$}", cell.published * factor);
            *line = fields.join(",");
        }
    }
    std::fs::write(path, lines.join("\n") + "\n").unwrap();
}

/// The release whose fit is made anew. `cargo xtask judge costs` fits all of them.
const FITTED: &str = "juno-v2.12";

fn costs(data: &Path) -> String {
    std::fs::read_to_string(data.join(format!("platforms/juno-r1/costs/{FITTED}.toml"))).unwrap()
}

fn simulated(data: &Path) -> Vec<f64> {
    let folder = tempfile::tempdir().unwrap();
    let mut cells = cells(
        data,
        &folder.path().join("recording"),
        &["--iterations", "1", "--release", FITTED],
    );
    // By CPU, not by the published cell that it is compared with.
    cells.sort_by_key(|cell| {
        format!(
            "{}{}{}{}{}",
            cell["release"], cell["case"], cell["mode"], cell["cpu"], cell["metric"]
        )
    });
    cells.iter().map(|cell| number(cell, "simulated")).collect()
}

#[test]
fn no_published_figure_leaks_into_a_prediction() {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let seed = u64::from(now.unwrap().subsec_nanos());
    println!("seed {seed}");
    let data = copy();
    scale(data.path(), |number, _| {
        1.5 + (random::scramble(seed ^ number as u64) % 1000) as f64 / 1000.0
    });
    assert_eq!(
        simulated(data.path()),
        simulated(&root()),
        "a published figure changed a simulated one, without a fit; seed {seed}"
    );
}

#[test]
fn a_fit_sees_no_cell_that_it_does_not_declare() {
    let untouched = costs(&root().join("data"));
    let before = simulated(&root());

    let data = copy();
    scale(data.path(), |_, used| if used { 1.0 } else { 1.5 });
    let output = stopwatt_on(data.path(), &["calibrate", "--release", FITTED]);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(
        costs(data.path()),
        untouched,
        "cells that no fit uses changed a cost, or the tree's costs are not a fit's"
    );
    assert_eq!(
        simulated(data.path()),
        before,
        "cells that no fit uses changed a simulated figure"
    );

    let data = copy();
    scale(data.path(), |_, used| if used { 1.5 } else { 1.0 });
    let output = stopwatt_on(data.path(), &["calibrate", "--release", FITTED]);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert_ne!(costs(data.path()), untouched, "a used cell changed no cost");
    assert_ne!(
        simulated(data.path()),
        before,
        "a used cell changed no simulated figure"
    );
}

#[test]
fn a_fit_to_cells_that_contradict_each_other_is_told_as_a_bad_one() {
    let data = copy();
    // Every fourth cell, if a fit uses it, contradicts its neighbours.
    scale(
        data.path(),
        |number, used| {
            if used && number % 4 == 0 { 4.0 } else { 1.0 }
        },
    );
    let refused = stopwatt_on(data.path(), &["calibrate", "--release", FITTED]);
    let said = String::from_utf8_lossy(&refused.stderr).replace("\n  │ ", " ");
    assert!(
        !refused.status.success() && said.contains("a fit cannot be trusted, so its file stays"),
        "{said}"
    );
    // As that error says, to have it written all the same.
    std::fs::remove_file(
        data.path()
            .join(format!("platforms/juno-r1/costs/{FITTED}.toml")),
    )
    .unwrap();
    let output = stopwatt_on(data.path(), &["calibrate", "--release", FITTED]);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("a BAD FIT: residuals are"), "{said}");
    for part in [
        "distinct values for",
        "degrees of freedom",
        "leave one out:",
        "costs that ended at 0:",
    ] {
        assert!(said.contains(part), "`{part}` is not in: {said}");
    }
    let costs: toml::Table = toml::from_str(&costs(data.path())).unwrap();
    assert_eq!(costs["fit"]["gate"]["passed"].as_bool(), Some(false));
}

#[test]
fn costs_of_a_bad_fit_say_so_in_every_output_of_a_run_on_them() {
    let data = copy();
    let path = data
        .path()
        .join(format!("platforms/juno-r1/costs/{FITTED}.toml"));
    let good = std::fs::read_to_string(&path).unwrap();
    let bad = good.replace("passed = true", "passed = false");
    assert_ne!(good, bad);
    std::fs::write(path, bad).unwrap();

    const WARNING: &str = "the costs of juno-v2.12 are a bad fit";
    let run = |more: &[&str]| {
        let page = data.path().join("page.html");
        let mut arguments = vec![
            "run",
            "psci-latency",
            "--iterations",
            "1",
            "--free-seeds",
            "0",
            "--replace",
        ];
        arguments.extend(["-o", "recording", "--report", page.to_str().unwrap()]);
        arguments.extend(more);
        let output = stopwatt_on(data.path(), &arguments);
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        (
            String::from_utf8_lossy(&output.stdout).into_owned(),
            std::fs::read_to_string(page).unwrap(),
        )
    };
    let (text, page) = run(&[]);
    assert!(text.contains(WARNING) && page.contains(WARNING), "{text}");
    assert!(
        !text.contains("juno-2017 are a bad fit"),
        "its costs are those of the tree"
    );
    let json: Value = serde_json::from_str(&run(&["--format", "json"]).0).unwrap();
    assert!(
        json["warnings"][0]
            .as_str()
            .is_some_and(|warning| warning.contains(WARNING)),
        "{}",
        json["warnings"]
    );
    for format in ["term", "markdown", "json"] {
        let output = stopwatt_on(data.path(), &["report", "recording", "--format", format]);
        let shown = String::from_utf8_lossy(&output.stdout).into_owned();
        let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            shown.contains("are a bad fit, so its figures are no predictions"),
            "{format}: {shown}"
        );
    }
    let (text, page) = run(&["--release", "2017"]);
    assert!(
        !text.contains("bad fit") && !page.contains("bad fit"),
        "a good fit is not warned of"
    );
}

#[test]
fn what_is_wrong_on_the_command_line_is_said_and_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let output_folder = folder.path().join("recording");
    let path = output_folder.to_str().unwrap();
    let wrong: [(&[&str], &[&str]); 10] = [
        (
            &["--set", "scp.chanels=2"],
            &["unknown field `chanels`", "`channels`"],
        ),
        (
            &["--set", "counter.frequency=50 us"],
            &["cannot set counter.frequency", "not a unit of a frequency"],
        ),
        (
            &["--set", "costs.scp.core_off=-1 us"],
            &["cannot set costs.scp.core_off", "negative"],
        ),
        (
            &["--set", "psci.scp_send=sideways"],
            &["cannot set psci.scp_send", "inside-locks"],
        ),
        (&["--set", "channels"], &["KEY=VALUE"]),
        (
            &["--platform", "juno-r9"],
            &["no platform `juno-r9`", "juno-r1"],
        ),
        (
            &["--release", "juno-v9"],
            &["no release `juno-v9`", "juno-v2.12"],
        ),
        (&["--cpus", "8"], &["--world qemu", "topology.clusters"]),
        (
            &["--world", "qemu", "--seed", "3"],
            &["--seed means nothing in the world qemu", "--world sim"],
        ),
        (
            &["--world", "qemu", "--gic", "2", "--cpus", "9"],
            &["no more than 8 CPUs", "--gic 3"],
        ),
    ];
    for (arguments, parts) in wrong {
        let output = stopwatt_on(
            &root(),
            &[&["run", "psci-latency", "-o", path], arguments].concat(),
        );
        let said = String::from_utf8_lossy(&output.stderr).replace("\n  │ ", " ");
        assert_eq!(output.status.code(), Some(2), "{arguments:?} was taken");
        for part in parts {
            let said: String = said.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(
                said.contains(part),
                "{arguments:?}: `{part}` is not in: {said}"
            );
        }
        assert!(
            !output_folder.exists(),
            "{arguments:?} left something behind"
        );
    }
}

#[test]
fn tables_fit_the_terminal_and_name_the_recording() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("recording");
    let output = stopwatt_on(
        &root(),
        &[
            "run",
            "psci-latency",
            "-o",
            path.to_str().unwrap(),
            "--free-seeds",
            "3",
            "--all",
        ],
    );
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("Accuracy\n") && text.contains(path.to_str().unwrap()));
    assert!(!text.contains('\u{1b}'), "NO_COLOR is respected");
    for part in ["lock wait", "In free order"] {
        assert!(text.contains(part), "`{part}` is not in the output");
    }
    for file in ["events.parquet", "measures.parquet", "recording.toml"] {
        assert!(path.join(file).is_file(), "{file}");
    }
}
