//! The example of a board of one's own, as its chapter of the documents has it: files alone make it
//! run, fit and report.

use crate::common::{error_of, stopwatt, stopwatt_on};
use serde_json::Value;
use std::path::{Path, PathBuf};

fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/examples/server-board")
}

/// The output of the command, which must succeed.
fn printed(data: &Path, arguments: &[&str]) -> String {
    let output = stopwatt_on(data, arguments);
    assert!(
        output.status.success(),
        "{arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

/// The cells of a run with these settings.
fn cells(settings: &[&str]) -> Vec<Value> {
    let folder = tempfile::tempdir().unwrap();
    let recording = folder.path().join("recording");
    let mut arguments = vec![
        "run",
        "psci-latency",
        "--platform",
        "example-server",
        "--format",
        "json",
    ];
    arguments.extend([
        "--free-seeds",
        "0",
        "--iterations",
        "3",
        "-o",
        recording.to_str().unwrap(),
    ]);
    for setting in settings {
        arguments.extend(["--set", setting]);
    }
    let json: Value = serde_json::from_str(&printed(&example(), &arguments)).unwrap();
    json["cells"].as_array().unwrap().clone()
}

/// The longest of a metric in a case, in microseconds.
fn longest(cells: &[Value], case: &str, mode: &str, metric: &str) -> f64 {
    let of_case = cells
        .iter()
        .filter(|cell| cell["case"] == case && cell["mode"] == mode && cell["metric"] == metric);
    // CPUs change places from one iteration to the next.
    of_case
        .map(|cell| cell["max"].as_f64().unwrap())
        .fold(0.0, f64::max)
}

#[test]
fn the_costs_of_the_example_are_what_a_fit_gives_and_the_fit_is_good() {
    let said = printed(
        &example(),
        &["calibrate", "--platform", "example-server", "--check"],
    );
    assert!(said.contains("the fit passes"), "{said}");
    let chapter = std::fs::read_to_string(example().join("../../platforms.md")).unwrap();
    let flat = chapter.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        flat.contains("0.03 us rms over 37 cells, which are 9 distinct values and determine 6.6 of the 18 parameters")
    );
    assert!(
        said.contains("37 cells used, rms residual 0.03 us"),
        "{said}"
    );
    assert!(
        said.contains("9 distinct values for 18 parameters, of which they determine 6.6"),
        "{said}"
    );
}

#[test]
fn the_example_is_listed_runs_and_is_reported() {
    assert!(printed(&example(), &["list"]).contains("example-server"));
    let folder = tempfile::tempdir().unwrap();
    let (recording, page) = (
        folder.path().join("recording"),
        folder.path().join("board.html"),
    );
    let (recording, shown) = (recording.to_str().unwrap(), page.to_str().unwrap());
    let run = [
        "run",
        "psci-latency",
        "--platform",
        "example-server",
        "-o",
        recording,
        "--all",
        "--report",
        shown,
    ];
    let said = printed(&example(), &run);
    assert!(
        said.contains("Accuracy\n") && !said.contains("bad fit"),
        "{said}"
    );
    assert!(std::fs::read_to_string(page).unwrap().contains("example-1"));
}

#[test]
fn a_suspend_sends_the_scp_a_message_only_where_the_release_says_so() {
    let waits = |settings: &[&str], case: &str, mode: &str| {
        let cells = cells(settings);
        let downs = cells.iter().filter(|cell| {
            cell["case"] == case && cell["mode"] == mode && cell["metric"] == "powerdown"
        });
        downs
            .filter(|cell| cell["causes"]["scp-wait"].as_f64().unwrap_or(0.0) > 0.0)
            .count()
    };
    // As the example has it: the three CPUs that are turned off send one each.
    assert_eq!(waits(&[], "suspend-deepest", "parallel"), 0);
    assert_eq!(waits(&[], "cpu-off", "serial"), 3);
    // Of a cluster, its last man alone; of a core, everybody; of nothing, nobody.
    let cluster = ["firmware.scp_messages.suspend=[1]"];
    assert_eq!(waits(&cluster, "suspend-deepest", "parallel"), 2);
    assert_eq!(waits(&cluster, "suspend-level0", "parallel"), 0);
    assert_eq!(
        waits(
            &["firmware.scp_messages.suspend=[0]"],
            "suspend-level0",
            "parallel"
        ),
        4
    );
    assert_eq!(
        waits(&["firmware.scp_messages.off=[]"], "cpu-off", "serial"),
        0
    );
}

#[test]
fn a_coherent_power_down_has_costs() {
    let usual = cells(&[]);
    let request = longest(&usual, "suspend-level0", "serial", "cache_flush");
    assert!((0.1..0.3).contains(&request), "{request}");
    // Hardware flushes after the WFI, so who goes down sees nothing of it; who waits for the SCP
    // behind it does.
    let behind = |settings: &[&str]| {
        let mut all = vec!["firmware.scp_messages.suspend=[0, 1]"];
        all.extend(settings);
        longest(&cells(&all), "suspend-level0", "parallel", "powerdown")
    };
    let (fast, slow) = (
        behind(&[]),
        behind(&["costs.cores.neoverse-n1.hardware_flush_line=4 ns"]),
    );
    // Of the four, the last waits for three flushes of 17408 lines, each line 3 ns slower.
    assert!(
        (slow - fast - 3.0 * 17408.0 * 0.003).abs() < 5.0,
        "{fast} and {slow}"
    );
    let parallel = |settings: &[&str]| {
        let mut all = vec![
            "firmware.scp_messages.suspend=[1]",
            "topology.domain.cluster1.cores=1",
        ];
        all.extend(settings);
        longest(&cells(&all), "suspend-deepest", "parallel", "powerdown")
    };
    // The cluster of one goes down first; the other's last man waits for its L3.
    let (small, large) = (
        parallel(&[]),
        parallel(&["topology.domain.cluster1.l3=4 MiB"]),
    );
    assert!(large - small > 30.0, "{small} and {large}");
}

#[test]
fn clusters_of_one_two_and_eight_run_every_case() {
    for (shape, cpus) in [("3x1", 3), ("2x2", 4), ("1x8", 8)] {
        let cells = cells(&[&format!("topology.clusters={shape}")]);
        // Three metrics in five cases, and one in the sixth.
        assert_eq!(cells.len(), cpus * 16, "{shape}");
    }
}

#[test]
fn what_does_not_go_together_is_refused_with_the_settings() {
    for (settings, said) in [
        (
            &["firmware.scp_messages.suspend=[3]"][..],
            "there is no power level 3",
        ),
        (
            &["psci.hardware_coherency=false", "psci.lock=bakery"],
            "software does not flush the private L2",
        ),
        (
            &["topology.domain.cluster0.l2=1 MiB"],
            "and the cluster has another",
        ),
        (&["psci.l2_flush.suspend=[1]"], "flush nothing"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let recording = folder.path().join("recording");
        let mut arguments = vec![
            "run",
            "psci-latency",
            "--platform",
            "example-server",
            "-o",
            recording.to_str().unwrap(),
        ];
        settings
            .iter()
            .for_each(|setting| arguments.extend(["--set", setting]));
        let output = stopwatt_on(&example(), &arguments);
        let error = String::from_utf8_lossy(&output.stderr)
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        let error = error.replace("│ ", "");
        assert!(
            !output.status.success() && error.contains(said),
            "{settings:?}: {error}"
        );
        assert!(
            settings.iter().all(|setting| error.contains(setting)),
            "{error}"
        );
        assert!(!recording.exists());
    }
}

/// Writes the kernel's files of four CPUs, a slow cluster and a fast one, and their energy model.
pub fn kernels_files(folder: &Path) -> [String; 2] {
    let mut model = String::new();
    for cpu in 0..4 {
        let (policy, scale) = if cpu < 2 { ("0 1", 1) } else { ("2 3", 2) };
        let write = |path: &str, text: String| {
            let path = folder.join(format!("cpu/cpu{cpu}/{path}"));
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text + "\n").unwrap();
        };
        for (state, (name, time)) in [("WFI", 1), ("cpu-sleep", 400), ("cluster-sleep", 1200)]
            .into_iter()
            .enumerate()
        {
            write(&format!("cpuidle/state{state}/name"), name.to_owned());
            write(&format!("cpuidle/state{state}/latency"), time.to_string());
            write(
                &format!("cpuidle/state{state}/residency"),
                (time * 3).to_string(),
            );
        }
        write("cpufreq/related_cpus", policy.to_owned());
        write("cpu_capacity", (512 * scale).to_string());
        for khz in [600_000 * scale, 1_200_000 * scale] {
            model += &format!(
                "/sys/kernel/debug/energy_model/pd{scale}/ps:{khz}/power:{}\n",
                khz / 10
            );
        }
        model += &format!(
            "/sys/kernel/debug/energy_model/pd{scale}/cpus:{}\n",
            policy.replace(' ', "-")
        );
    }
    let [board, dump] = ["cpu", "model.txt"].map(|name| folder.join(name).display().to_string());
    std::fs::write(&dump, model).unwrap();
    [board, dump]
}

#[test]
fn a_boards_own_files_make_a_platform_that_every_command_takes() {
    let folder = tempfile::tempdir().unwrap();
    let [board, dump] = kernels_files(folder.path());
    let [file, recording] =
        ["board.toml", "r"].map(|name| folder.path().join(name).display().to_string());
    let from =
        |more: &[&str]| stopwatt(&[&["platform", "from", &board, "-o", &file], more].concat());
    let said = from(&["--energy-model", &dump]);
    assert!(
        said.status.success(),
        "{}",
        String::from_utf8_lossy(&said.stderr)
    );
    assert!(String::from_utf8_lossy(&said.stdout).contains(&format!("--platform {file}")));
    let runs: [&[&str]; 3] = [
        &["idle-replay"],
        &["placement", "audio", "--seeds", "1", "--seconds", "1"],
        &["psci-latency", "--iterations", "2", "--free-seeds", "0"],
    ];
    for run in runs {
        let ran = stopwatt(
            &[
                &["run"],
                run,
                &["--platform", &file, "-o", &recording, "--replace"],
            ]
            .concat(),
        );
        assert!(
            ran.status.success(),
            "{run:?}: {}",
            String::from_utf8_lossy(&ran.stderr)
        );
    }
    // What is there stays, unless it is to be replaced, and by a whole file alone.
    let before = std::fs::read_to_string(&file).unwrap();
    assert!(error_of(&from(&[])).contains("add --replace"));
    assert!(error_of(&from(&["--replace", "--energy-model", &board])).contains("cannot be read"));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), before);
    assert!(from(&["--replace"]).status.success());
    let placed = error_of(&stopwatt(&[
        "run",
        "placement",
        "audio",
        "--platform",
        &file,
        "-o",
        &recording,
        "--replace",
    ]));
    assert!(placed.contains("has no operating points"), "{placed}");
    assert_eq!(
        std::fs::read_dir(folder.path()).unwrap().count(),
        4,
        "cpu, model.txt, board.toml and r"
    );
}

#[test]
fn a_source_names_the_program_that_it_needs() {
    let folder = tempfile::tempdir().unwrap();
    for (text, program, package) in [
        ("/ { };\n", "`dtc`", "device-tree-compiler"),
        ("#include <x.h>\n/ { };\n", "`cpp`", "apt-get install cpp"),
    ] {
        let source = folder.path().join("board.dts");
        std::fs::write(&source, text).unwrap();
        let ran = std::process::Command::new(env!("CARGO_BIN_EXE_stopwatt"))
            .args(["platform", "from", source.to_str().unwrap()])
            .env("PATH", folder.path())
            .output();
        let error = error_of(&ran.unwrap());
        assert!(
            error.contains(program) && error.contains(package),
            "{error}"
        );
    }
}

/// What a platform rests on, and what a meter's powers say of its own.
#[test]
fn a_check_says_what_a_platform_rests_on() {
    let folder = tempfile::tempdir().unwrap();
    let table = folder.path().join("watts.csv");
    let table = table.to_str().unwrap();
    let head = "domain,clock_mhz,cores,watts\nlittle,533,1,0.396\n";
    let check = |rows: &str| {
        std::fs::write(table, format!("{head}{rows}")).unwrap();
        stopwatt(&["platform", "check", "hikey960", "--measured", table])
    };
    // (0.763 - 0.396) / 3 = 0.122 W, and 0.396 - 0.122 beside it.
    let output = check("little,533,4,0.763\n");
    let text = String::from_utf8(output.stdout).unwrap();
    for part in [
        "7 are assumed, 23 are declared",
        "picks little for a lone task of up to 369 of 1024",
        "a core takes 0.122 W, 4.26 times the platform's, all else 0.274 W",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    for (rows, parts) in [
        ("", ["watts.csv:2", "add one with more cores"]),
        (
            "little,533,4,0.763\nmiddle,533,2,1.0\n",
            ["watts.csv:4", "little, big"],
        ),
    ] {
        let error = error_of(&check(rows));
        for part in parts {
            assert!(error.contains(part), "{part}: {error}");
        }
    }
    let json = stopwatt(&["platform", "check", "hikey960", "--format", "json"]);
    let json: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(json["least_on"][1], 369);
}
